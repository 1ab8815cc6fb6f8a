"""The page My labels, on which reviewers see and revise their own labels.

The page shows nothing of other people.
"""

from collections.abc import Callable
from datetime import UTC, datetime

import streamlit as st

from labeler import marks
from labeler.errors import NotAssigned
from labeler.model import Question
from labeler.questions import NOT_SURE, enumeration
from labeler.service.labelling import reviewing
from labeler.service.labelling.reviewing import OwnLabel, OwnProgress
from labeler.store import Database
from labeler.ui import component
from labeler.ui.reviewer import label

PAGE_SIZE = 20
OTHER_FILTERS: dict[str, Callable[[OwnLabel], bool]] = {
    "flagged": lambda own: own.flag,
    "with a comment": lambda own: bool(own.comment),
    "with a reply": lambda own: bool(own.replies),
    "revised": lambda own: own.n_revisions > 0,
}


def filters(question: Question) -> dict[str, Callable[[OwnLabel], bool]]:
    """Return what the list can be limited to."""

    def given(answer: str) -> Callable[[OwnLabel], bool]:
        return lambda own: question.class_of(own.task.answer or "") == answer

    answers = (*question.classes, *([NOT_SURE] if question.not_sure else []))
    return {"all": lambda _own: True, **{str(answer): given(answer) for answer in answers}, **OTHER_FILTERS}


def render(db: Database, reviewer_id: int) -> None:
    """List the reviewer's labels, newest first.

    If the reviewer chooses an item, show its picture and the possible answers.
    """
    chosen = st.session_state.get("chosen")
    if chosen is not None:
        revise(db, reviewer_id, chosen)
        return
    label.deliver(db, reviewer_id)
    own, queue = reviewing.own_labels(db, reviewer_id), reviewing.review_queue(db, reviewer_id)
    st.title("My labels", anchor=False)
    st.caption(pace(queue.progress, reviewing.typical_time_s(own)))
    for code, comment, answers in reviewing.replies_in_calibration(db, reviewer_id):
        st.text(f"Item {code} of the calibration round: “{comment}”")
        for answer in answers:
            st.text(f"Reply from the coordinator: {answer}")
    wants_receipt = st.toggle("Show a receipt for your labels", disabled=not own)
    if not own:
        st.info("You have not labelled anything yet.")
        return
    if wants_receipt:
        show_receipt(db, reviewer_id)
    choices = filters(reviewing.brief(db).question)
    counts = {name: sum(map(keeps, own)) for name, keeps in choices.items()}
    name = st.radio("Show", list(counts), format_func=lambda name: f"{name} ({counts[name]})", horizontal=True)
    matches = [own_label for own_label in own if choices[name](own_label)]
    n_pages = max(1, -(-len(matches) // PAGE_SIZE))
    number = st.number_input(f"Page of {n_pages}, newest first", 1, n_pages) if n_pages > 1 else 1
    if not all(own_label.can_look_again for own_label in own):
        st.caption(
            f"You can open and revise your latest {reviewing.LOOK_BACK} items. You can open the others after you have "
            "answered everything."
        )
    for own_label in matches[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]:
        row(db, own_label, can_revise=not queue.closed)


def show_receipt(db: Database, reviewer_id: int) -> None:
    """Show the reviewer's own labels with the hash of each label, ready to copy."""
    st.caption(
        "Copy this text into a file and keep the file. With `labeler audit --against FILE`, the coordinator can "
        "later check that nobody changed your labels."
    )
    st.code(reviewing.receipt(db, reviewer_id, now=datetime.now(UTC)), language="json")


def row(db: Database, own: OwnLabel, *, can_revise: bool) -> None:
    """Show one label as a row with its item, picture, answer, times, comment and replies."""
    code, picture, answer, more, change = st.columns([2, 3, 2, 4, 3], vertical_alignment="center")
    code.markdown(f"{own.number}. Item {own.task.code}")
    words = f"The runs of item {own.task.code}"
    still = reviewing.thumbnail(db, own.task, words) if own.can_look_again else None
    if still:
        with picture:
            component.still(still, words)
    sure = f", {('a guess', 'fairly sure', 'certain')[own.confidence - 1]}" if own.confidence else ""
    answer.markdown(f"**{marks.describe(own.task.answer or '')}**{sure}" + (" · flagged" if own.flag else ""))
    when = f"{own.created_utc[:16].replace('T', ' ')} UTC"
    looked = [] if own.time_on_task_ms is None else [seconds(own.time_on_task_ms / 1000)]
    more.text(" · ".join([when, *looked, *(["revised"] if own.n_revisions else [])]))
    if own.comment:
        more.text(f"“{own.comment}”")
    for reply in own.replies:
        more.text(f"Reply from the coordinator: {reply}")
    if still and can_revise and change.button(f"Look and revise {own.task.code}", key=f"revise-{own.task.code}"):
        st.session_state["chosen"] = own.task.code
        st.rerun()


def revise(db: Database, reviewer_id: int, code: str) -> None:
    """Show one of the reviewer's items again, so that the reviewer can change the answer.

    The study keeps the earlier answers.
    """
    key = f"revision-{code}"
    change = component.change_of(key)
    # the change may belong to another item, which must not close this item
    if isinstance(change, dict) and change.get("saved") == code:
        del st.session_state["chosen"]
        st.rerun()
    try:
        task = reviewing.task_by_code(db, reviewer_id, code)
    except NotAssigned:
        del st.session_state["chosen"]  # so that the next page run shows the list
        raise
    question = reviewing.brief(db).question
    keys = enumeration([category.key.upper() for category in question.categories])
    how = (
        "Change the marks, then press Space. To change only the flag or comment, press Space."
        if question.is_marked
        else f"Press {keys} to change it. To change only the flag or comment, press the same key again."
    )
    st.write(f"Your label: **{marks.describe(task.answer or '')}**. {how}")
    if st.button("Back to my labels", key="back"):
        del st.session_state["chosen"]
        st.rerun()
    component.show(key, label.screen(db, reviewer_id, only=task))


def seconds(time_s: float) -> str:
    """Return a time on task as text; a time below 10 s has one decimal."""
    return f"{time_s:.1f} s" if time_s < 10 else f"{time_s:.0f} s"


def pace(progress: OwnProgress, typical_s: float | None) -> str:
    """Return the progress and the median time per item as text."""
    words = f"{progress.n_done} of {progress.n_assigned} done, {progress.n_not_sure} not sure."
    n_left = progress.n_assigned - progress.n_done
    if typical_s is None:
        return words
    left = f" Time left at this pace: about {max(round(n_left * typical_s / 60), 1)} min." if n_left else ""
    return f"{words} Median time per item: {seconds(typical_s)}, without pauses.{left}"
