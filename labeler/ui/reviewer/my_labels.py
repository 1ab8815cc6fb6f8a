"""The page where reviewers see their own labels and revise them; never anything of others."""

import streamlit as st

from labeler import stills
from labeler.service import reviewing
from labeler.service.reviewing import OwnLabel
from labeler.store import Database
from labeler.ui.reviewer import own_words, revise

PAGE_SIZE = 20


def render(db: Database, reviewer_id: int) -> None:
    """The reviewer's own labels, newest first; choosing one brings its picture and the two answers."""
    chosen = st.session_state.get("chosen")
    if chosen is not None:
        revise.render(db, reviewer_id, chosen)
        return
    own, progress = reviewing.own_labels(db, reviewer_id), reviewing.desk(db, reviewer_id).progress
    st.subheader("My labels")
    st.caption(own_words.pace(progress, reviewing.typical_time_s(own)))
    if not own:
        st.info("You have not labelled anything yet.")
        return
    counts = {name: sum(map(keeps, own)) for name, keeps in own_words.FILTERS.items()}
    name = st.radio("Show", list(counts), format_func=lambda name: f"{name} ({counts[name]})", horizontal=True)
    kept = [one for one in own if own_words.FILTERS[name](one)]
    n_pages = max(1, -(-len(kept) // PAGE_SIZE))
    number = st.number_input(f"Page of {n_pages}, newest first", 1, n_pages) if n_pages > 1 else 1
    rule = reviewing.brief(db).protocol.axis_rule
    for one in kept[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]:
        row(db, one, rule)


def row(db: Database, own: OwnLabel, rule: str) -> None:
    """One own label: number and code, thumbnail, answer, when, how long, what was said beside it."""
    code, picture, answer, more, change = st.columns([2, 3, 2, 4, 2], vertical_alignment="center")
    code.markdown(f"{own.number}. Item {own.task.code}")
    drawing = reviewing.picture(db, own.task.item_id)
    if drawing:
        picture.image(stills.svg(drawing, rule=rule, label=f"The runs of item {own.task.code}"))
    sure = f", {('a guess', 'fairly sure', 'certain')[own.confidence - 1]}" if own.confidence else ""
    answer.markdown(f"**{own.task.answer}**{sure}" + (" · flagged" if own.flag else ""))
    when = f"{own.created_utc[:16].replace('T', ' ')} UTC"
    seconds = [] if own.time_on_task_ms is None else [own_words.seconds(own.time_on_task_ms / 1000)]
    more.text(" · ".join([when, *seconds, *(["revised"] if own.n_revisions else [])]))
    if own.comment:
        more.text(f"“{own.comment}”")
    for reply in own.replies:
        more.text(f"Answer of the coordinator: {reply}")
    if drawing and change.button("Look and revise", key=f"revise-{own.task.code}"):
        st.session_state["chosen"] = own.task.code
        st.rerun()
