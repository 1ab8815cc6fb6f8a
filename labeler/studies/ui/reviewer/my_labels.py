"""The pages on which reviewers see their own labels: My labels, Feedback after calibration, and Your result.

My labels shows nothing of other people.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape

import streamlit as st

from analysis.text import counted, joined, minute
from labeler import marks
from labeler.errors import NotAssigned
from labeler.program import program
from labeler.studies.labelling import own_result, reviewing
from labeler.studies.labelling.own_result import ComparedItem, FoundChanges, OwnResult, Rank, SameLabel
from labeler.studies.labelling.reviewing import OwnLabel, OwnProgress
from labeler.studies.model import Question
from labeler.studies.questions import NOT_SURE
from labeler.studies.store import Database
from labeler.studies.ui import component
from labeler.studies.ui.reviewer import label

PAGE_SIZE = 20
OTHER_FILTERS: dict[str, Callable[[OwnLabel], bool]] = {
    "flagged": lambda own: own.flag,
    "with a comment": lambda own: bool(own.comment),
    "with a reply": lambda own: bool(own.replies),
    "revised": lambda own: own.n_revisions > 0,
}
MOST_SHOWN, N_BESIDE = 6, 2  # items with a picture, and pictures beside each other
LARGE_PANEL = 98, 66  # pixels of a run in these pictures
OWN_STUDY = "serve --study runs.study"


def filters(question: Question) -> dict[str, Callable[[OwnLabel], bool]]:
    """Return what the list can be limited to."""

    def given(answer: str) -> Callable[[OwnLabel], bool]:
        return lambda own: question.class_of(own.task.answer or "") == answer

    answers = (*question.classes, *([NOT_SURE] if question.not_sure else []))
    return {"all": lambda _own: True, **{str(answer): given(answer) for answer in answers}, **OTHER_FILTERS}


def render_my_labels(db: Database, reviewer_id: int) -> None:
    """List the reviewer's labels, newest first.

    If the reviewer chooses an item, show its picture and the possible answers.
    """
    chosen = st.session_state.get("chosen")
    if chosen is not None:
        show_revision(db, reviewer_id, chosen)
        return
    label.deliver(db, reviewer_id)
    own, queue = reviewing.own_labels(db, reviewer_id), reviewing.review_queue(db, reviewer_id)
    st.title("My labels", anchor=False)
    st.caption(describe_pace(queue.progress, reviewing.typical_time_s(own)))
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
        show_row(db, own_label, can_revise=not queue.closed)


def show_receipt(db: Database, reviewer_id: int) -> None:
    """Show the reviewer's own labels with the hash of each label, ready to copy."""
    st.caption(
        "Copy this text into a file and keep the file. If you send it to the coordinator later, the coordinator can "
        "check that nobody changed your labels."
    )
    st.code(reviewing.receipt(db, reviewer_id, now=datetime.now(UTC)), language="json", wrap_lines=True)


def show_row(db: Database, own: OwnLabel, *, can_revise: bool) -> None:
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
    looked = [] if own.time_on_task_ms is None else [describe_seconds(own.time_on_task_ms / 1000)]
    more.text(" · ".join([f"{minute(own.created_utc)} UTC", *looked, *(["revised"] if own.n_revisions else [])]))
    if own.comment:
        more.text(f"“{own.comment}”")
    for reply in own.replies:
        more.text(f"Reply from the coordinator: {reply}")
    if still and can_revise and change.button(f"Look and revise {own.task.code}", key=f"revise-{own.task.code}"):
        st.session_state["chosen"] = own.task.code
        st.rerun()


def show_revision(db: Database, reviewer_id: int, code: str) -> None:
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
    keys = joined([category.key.upper() for category in question.categories], "or")
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


def describe_seconds(time_s: float) -> str:
    """Return a time on task as text; a time below 10 s has one decimal."""
    return f"{time_s:.1f} s" if time_s < 10 else f"{time_s:.0f} s"


def describe_pace(progress: OwnProgress, typical_s: float | None) -> str:
    """Return the progress and the median time per item as text."""
    words = f"{progress.n_done} of {progress.n_assigned} done, {progress.n_not_sure} not sure."
    n_left = progress.n_assigned - progress.n_done
    if typical_s is None:
        return words
    left = f" Time left at this pace: about {max(round(n_left * typical_s / 60), 1)} min." if n_left else ""
    return f"{words} Median time per item: {describe_seconds(typical_s)}, without pauses.{left}"


def render_feedback(db: Database, reviewer_id: int) -> None:
    """Show each label that the reviewer gave in the calibration round, with the picture of the item.

    If the item has a reference label, show this label too.
    """
    label.deliver(db, reviewer_id)
    st.title("Feedback", anchor=False)
    st.write("Compare your labels of the calibration round with the reference labels and with other reviewers' labels.")
    comparison = reviewing.feedback(db, reviewer_id)
    if comparison is None:
        st.info("The comparison appears here after the calibration round.")
        return
    compared = [row for row in comparison.rows if row.reference]
    n_equal = sum(row.is_equal for row in compared)
    if compared:
        st.write(
            f"{n_equal} of your {len(compared)} labels match the reference labels. No result uses your labels of this "
            f"round."
        )
    if comparison.with_others is not None:
        st.write(f"{comparison.with_others:.0%} of the other reviewers' labels for these items are the same as yours.")
    for row in comparison.rows:
        picture, words = st.columns([2, 5], vertical_alignment="center")
        name = f"The runs of item {row.task.code}"
        still = reviewing.thumbnail(db, row.task, name)
        if still:
            with picture:
                component.still(still, name)
        words.text(f"Item {row.task.code}: your label is {row.task.answer}; {describe_comparison(row)}.")


def describe_comparison(row: reviewing.LabelComparison) -> str:
    """Return a clause that says whether the label matches the reference label of the item."""
    if row.reference is None:
        return "the item has no reference label"
    return f"the reference label is {'also ' if row.is_equal else ''}{row.reference}"


def render_result(db: Database, reviewer_id: int, report: str | None = None, more: str | None = None) -> None:
    """Show how the reviewer's labels compare with those of the others and of the classifiers.

    `report` and `more` are the addresses of the whole study's report and of ten more items, in the demo. Only the demo
    shows names.
    """
    is_demo = report is not None
    found = own_result.own_result(db, reviewer_id, with_names=is_demo)
    st.title(with_majority(found).removesuffix("."), anchor=False)
    if found.place is not None:
        st.write(f"{describe_place(found.place)} The others are simulated reviewers; the measurements are real.")
    show_links(report, more)
    if found.alone:
        st.header("Where you stood alone", anchor=False)
        show_pictures(db, found.alone, has_changes=found.changes is not None)
    elif found.divided:
        st.header("You never stood alone", anchor=False)
        st.write("The other reviewers agreed least on these items:")
        show_pictures(db, found.divided, has_changes=found.changes is not None)
    if found.changes is not None:
        st.write(describe_changes(found.changes))
        with st.expander("What was done to your items", type="compact"):
            for item in found.items:
                if item.change:
                    st.text(f"{shown_name(item)}: {item.change}. Your label is {item.label}; {of_others(item)}.")
    st.header("How often you gave the same label", anchor=False)
    st.html(same_labels([("reviewer", found.reviewers), ("classifier", found.classifiers)]))
    st.header("How strict you are", anchor=False)
    for line in strictness(found):
        st.text(line)
    st.header("Start your own study", anchor=False)
    st.write("This command creates an empty study and prints the link with which you set it up:")
    st.code(f"{program()} {OWN_STUDY}", wrap_lines=True)


def with_majority(found: OwnResult) -> str:
    """Return the sentence that says on how many items the reviewer agrees with the majority of the others."""
    if not found.items:
        return "You have not labelled an item that others labelled, too."
    if not found.n_with_a_majority:
        return "The others have no majority on any of your items."
    return f"You agree with the majority on {found.n_with_majority} of {counted(found.n_with_a_majority, 'item')}."


def describe_place(place: Rank) -> str:
    """Return the sentence that says where the reviewer stands among the people."""
    shared = f", shared with {joined(place.shared_with)}" if place.shared_with else ""
    return f"That is place {place.place} of {place.n_people}{shared}."


def describe_changes(found: FoundChanges) -> str:
    """Return how many known changes the reviewer, the best of the others and the best classifier found."""
    parts = []
    if found.reviewers:
        parts.append(f"the best other reviewer found {max(found.reviewers)}")
    if found.classifiers:
        most = max(found.classifiers.values())
        parts.append(f"{joined([name for name, n in found.classifiers.items() if n == most])} found {most}")
    beside = f"; {joined(parts)}" if parts else ""
    have = "has" if found.n == 1 else "have"
    return (
        f"{found.n} of your items {have} a known change. You found {found.own} of {found.n}, with the label "
        f"{found.category}{beside}."
    )


def shown_name(item: ComparedItem) -> str:
    """Return the benchmark, or, if names are hidden, the code of the item."""
    return item.name or f"Item {item.task.code}"


def show_links(report: str | None, more: str | None) -> None:
    """Show the links of the demo."""
    if report is None:
        return
    with st.container(horizontal=True):
        st.link_button("See what the whole study found", report, type="primary")
        if more is not None:
            st.link_button("Label ten more", more)


def show_pictures(db: Database, shown: Sequence[ComparedItem], *, has_changes: bool) -> None:
    """Show items with large pictures and labels, the most disputed two first.

    `has_changes`: whether it is known what was done to the runs, so that nothing was done to the other items.
    """
    most_first = sorted(shown, key=lambda item: -max(item.others.values(), default=0))
    for at in range(0, min(len(most_first), MOST_SHOWN), N_BESIDE):
        for item, column in zip(most_first[at : at + N_BESIDE], st.columns(N_BESIDE, gap="large"), strict=False):
            with column:
                words = f"The runs of {shown_name(item)}"
                if still := reviewing.thumbnail(db, item.task, words, LARGE_PANEL):
                    component.still(still, words)
                st.html(f"<b>{escape(shown_name(item))}</b>")
                st.text(f"You: {item.label}. {capitalised(of_others(item))}.")
                if item.change:
                    st.text(f"What was done: {item.change}.")
                elif has_changes:
                    st.text("Nothing was done: these runs are repetitions.")
    if len(shown) > MOST_SHOWN:
        st.text(f"And {counted(len(shown) - MOST_SHOWN, 'more item')}.")


def of_others(item: ComparedItem) -> str:
    """Return a clause with the labels of the others."""
    labels = sorted(item.others.items(), key=lambda row: (-row[1], row[0]))
    if not labels:
        return "nobody else labelled it"
    if len(labels) == 1:
        ((label, n),) = labels
        return f"the other reviewer says {label}" if n == 1 else f"all {n} others say {label}"
    return "of the others, " + " and ".join(f"{n} {'says' if n == 1 else 'say'} {label}" for label, n in labels)


def capitalised(clause: str) -> str:
    """Return a clause as the start of a sentence."""
    return f"{clause[:1].upper()}{clause[1:]}"


def same_labels(kinds: Sequence[tuple[str, Sequence[SameLabel]]]) -> str:
    """Return a table, as HTML, with how many labels of each rater are those of the reviewer."""
    rows = [
        f"<tr><th>{escape(row.rater)}</th><td>{kind}</td>"
        f'<td><span class="bar" style="--share: {100 * row.n_same / row.n:.0f}%"></span></td>'
        f"<td>{row.n_same} of {row.n}</td></tr>"
        for kind, of_kind in kinds
        for row in of_kind
    ]
    if not rows:
        return "<p>Nobody else has labels on your items.</p>"
    return f'<table class="same"><tbody>{"".join(rows)}</tbody></table>'


def strictness(found: OwnResult) -> list[str]:
    """Return a sentence for each label: the reviewer's share and the share of the others."""
    return [
        f"You labelled {100 * own:.0f} % of your items {label}; the others gave this label in {100 * others:.0f} %."
        for label, (own, others) in found.shares.items()
    ]
