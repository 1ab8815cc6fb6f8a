"""The place Decide: what only a coordinator can settle."""

from collections import Counter
from datetime import UTC, datetime

import streamlit as st

from analysis.text import counted, minute
from labeler import marks
from labeler.studies.course import calibrating, coordinating
from labeler.studies.course.calibrating import CalibrationResult
from labeler.studies.items import as_seen, browsing, drawing
from labeler.studies.labelling import inbox
from labeler.studies.labelling.inbox import Message
from labeler.studies.model import CalibrationGate, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import ALLOWED, Action
from labeler.studies.preparing.mark_consensus import MarksOfItem
from labeler.studies.results import splits
from labeler.studies.results.splits import ItemOutcome, SplitLabel
from labeler.studies.store import Database
from labeler.studies.ui import component
from labeler.studies.ui.component import Decides
from labeler.studies.ui.coordinator import one_item, queue
from labeler.studies.ui.coordinator.shared import done, errors_here, escape_markdown, fold, fresh, go_to

SPLITS, LAST_DECIDED, AGAIN = "split", "last-decided", "u"
REASONS = (
    "another level",
    "a step within runs",
    "warm-up only",
    "single spikes",
    "wider spread",
    "only noise",
)
AS_SEEN = "split-as-seen"  # key in the session state: the item and the label whose picture is shown
AS_SEEN_CAPTION = "runs numbered as this reviewer saw them"
SHOW_AS_SEEN = "Number the runs as this reviewer saw them"
COMMENTS = "inbox"
ANSWERS = ("Thank you. I have read this.", "Label it as you see it.", "The measurements are correct.")
REFERENCE = "reference"
MAX_DISPUTED, DISPUTED_PX = 12, (34, 26)
NO_GATE = "finished"
GATES = {
    NO_GATE: "all reviewers have finished the round",
    "reference": "each reviewer agrees with the reference labels",
    "reviewers": "the reviewers agree with each other",
}


def render_splits(db: Database, person: str) -> None:
    """Show the split items and their decisions; before the study is closed, show only the progress of first labels."""
    study = coordinating.get_study(db)
    hidden = identity.why_hidden(db, person, Action.SEE_AGREEMENT)
    if hidden:
        n_complete, n_all = splits.n_complete(db)
        so_far = f" {n_complete} of {counted(n_all, 'item')} have all first labels." if n_all else ""
        st.write(f"Splits appear here after you close the study.{so_far}")
        if identity.reviews_too(db, person):
            st.caption(hidden)
        return
    by_name = {split.item.name: split for split in splits.split_items(db)}
    n_left = sum(split.remains for split in by_name.values())
    if not by_name:
        st.info("Nothing to decide: no item is split.")
        return
    if not n_left:
        st.write(f"Nothing to decide: each of the {counted(len(by_name), 'split item')} has a majority or a decision.")
    names = list(by_name)
    name = queue.current(SPLITS, names)
    show_split(db, by_name[name], names, person, can_decide=study.phase is State.CLOSED)
    with fold(f"All {counted(len(names), 'split item')}", "fold-split-items") as part:
        if part.open:  # created only when shown: there may be thousands of items
            rows = [split.json_values() for split in by_name.values()]
            st.dataframe(rows, hide_index=True, placeholder="—", alt="All split items with their labels and decisions")


def show_split(db: Database, split: ItemOutcome, names: list[str], person: str, *, can_decide: bool) -> None:
    """Show the runs and the labels of a split item, without names.

    While the study is closed, the person chooses a category and a reason by key or click; the reason saves.
    """
    if split.marks is not None:
        show_marks(db, split, split.marks, names, person, can_decide=can_decide)
        return
    name, question = split.item.name, coordinating.get_study(db).question
    why_not = splits.why_not_decide(db, person) if can_decide else ""
    seen = _label_as_seen(split)
    may_decide = can_decide and not why_not and seen is None
    decides = Decides("split", queue.categories_of(question), REASONS) if may_decide else None
    keys = {**(queue.choices_of(question) if decides else {}), **queue.MOVES}
    if decides and LAST_DECIDED in st.session_state:
        keys[AGAIN] = "Change the last decision"
    counts = Counter(str(label.category) for label in split.labels)
    labels = ", ".join(f"{n} {category}" for category, n in counts.items())
    caption = (
        f"{queue.place(names, name)} · labels: {labels}" if seen is None else f"“{seen.comment}”: {AS_SEEN_CAPTION}"
    )
    panels = None if seen is None else as_seen.panels_of_answer(db, split.item, seen.view, seen.swapped)
    pressed = queue.look(db, SPLITS, split.item, title=name, caption=caption, keys=keys, decides=decides, panels=panels)
    if pressed and pressed.key == AGAIN and st.session_state.get(LAST_DECIDED) in names:
        queue.put(SPLITS, st.session_state.pop(LAST_DECIDED))
        st.rerun()
    queue.move(SPLITS, names, name, pressed)
    if split.decision and queue.was_decided(SPLITS, name, pressed):
        st.session_state[LAST_DECIDED] = name
        go_on(db, names, name, split.decision.category)
    list_labels(split)
    if why_not:
        st.info(why_not)
    elif decides:
        st.caption("The reason saves the decision and shows the next item. A later decision replaces an earlier one.")


def _label_as_seen(split: ItemOutcome) -> SplitLabel | None:
    """Return the label whose picture is shown instead of the picture of the item."""
    name, number = st.session_state.get(AS_SEEN, ("", 0))
    return split.labels[number] if name == split.item.name and number < len(split.labels) else None


def _show_as_seen(name: str, number: int | None) -> None:
    if number is None:
        st.session_state.pop(AS_SEEN, None)
    else:
        st.session_state[AS_SEEN] = name, number


def go_on(db: Database, names: list[str], name: str, decision: str) -> None:
    """After a decision on an item, show the next item that needs one."""
    left = [other.item.name for other in splits.split_items(db) if other.remains]
    queue.put(SPLITS, left[0] if left else names[(names.index(name) + 1) % len(names)])
    done(f"Saved: {marks.describe(decision)}. {len(left) or 'None'} left.", stays=True)


def list_labels(split: ItemOutcome) -> None:
    """List the labels and comments without names, and the decision.

    A comment may name a run by its number on the reviewer's screen, so a button shows the picture of this reviewer.
    """
    seen, name = _label_as_seen(split), split.item.name
    for number, label in enumerate(split.labels):
        third, comment = " (third label)" if label.is_third else "", f": {label.comment}" if label.comment else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{marks.describe(label.category)}{third}{comment}", width="content")
            if label.comment:
                other = None if label is seen else number
                words = "Back to the item" if other is None else "Number the runs as this reviewer saw them"
                st.button(
                    words, key=f"seen-{name}-{number}", type="tertiary", on_click=_show_as_seen, args=(name, other)
                )
    if split.decision:
        st.text(f"Decided: {marks.describe(split.decision.category)}. Reason: {split.decision.why}")


def show_marks(
    db: Database, split: ItemOutcome, found: MarksOfItem, names: list[str], person: str, *, can_decide: bool
) -> None:
    """Show a series with the places that people marked; while the study is closed, the person chooses which count."""
    name = split.item.name
    why_not = splits.why_not_decide(db, person) if can_decide else ""
    shown = [(cluster.mark, cluster.share) for cluster in found.clusters]
    pressed = queue.look(db, SPLITS, split.item, title=name, caption=queue.place(names, name), marks=shown)
    queue.move(SPLITS, names, name, pressed)
    may_decide = can_decide and not why_not
    decided = marks.read(split.decision.category) if split.decision else None
    chosen = [
        cluster
        for number, cluster in enumerate(found.clusters)
        if st.checkbox(
            f"Point {cluster.describe()}",
            value=cluster in found.agreed if decided is None else cluster.mark in decided,
            disabled=not may_decide,
            key=f"mark-{name}-{number}",
        )
    ]
    if may_decide:
        answer = splits.answer_of(split, chosen)
        why = st.text_input("Reason", key=fresh(f"why-{name}"), max_chars=900)
        if st.button(f"Save {marks.describe(answer)}", type="primary", disabled=not why.strip()):
            decision = {"kind": "split", "item": name, "category": answer, "why": why}
            splits.save_decision(db, decision, actor=person, now=datetime.now(UTC))
            go_on(db, names, name, answer)
        st.caption("The choice begins with the places that more than half of the people marked.")
    list_labels(split)
    if why_not:
        st.info(why_not)


def render_comments(db: Database, person: str) -> None:
    """Show one message at a time with its picture and an answer form; the unanswered messages come first."""
    if identity.reviews_too(db, person):
        st.info(
            "You are also a reviewer of this study: you see the flags and comments of others only after the study is "
            "unblinded, so that they cannot influence your labels."
        )
        return
    messages = {message.code: message for message in inbox.messages(db)}
    if not messages:
        st.info("Nothing to decide. Flags and comments appear here when reviewers write them.")
        return
    n_unanswered = sum(not message.is_answered for message in messages.values())
    st.caption(f"Unanswered flags and comments: {n_unanswered} of {len(messages)}. They come first.")
    codes = list(messages)
    code = queue.current(COMMENTS, codes)
    with_name = not identity.why_hidden(db, person, Action.SEE_NAMES)
    show_message(db, messages[code], codes, with_name=with_name)
    answer_message(db, messages[code], codes, person)


def show_message(db: Database, message: Message, codes: list[str], *, with_name: bool) -> None:
    """Show one message as plain text under the picture of its item."""
    item = browsing.item_named(db, message.item)
    title, where = f"Item {message.code}: {message.item}", queue.place(codes, message.code)
    panels = as_seen.panels_of_answer(db, item, message.view, message.swapped)
    caption = f"{where} · {AS_SEEN_CAPTION}"
    pressed = queue.look(db, COMMENTS, item, name=message.code, title=title, caption=caption, panels=panels)
    queue.move(COMMENTS, codes, message.code, pressed)
    sender = [message.reviewer] if with_name else []
    marks = [*(["flagged"] if message.flag else []), *([] if message.is_answered else ["not answered"])]
    st.text(" · ".join([f"{minute(message.created_utc)} UTC", *sender, *marks]))
    if message.comment:
        st.text(f"“{message.comment}”")
    if st.button("Open the item, for example to exclude it", key=f"open-{message.code}", type="tertiary"):
        st.session_state[one_item.MOVED_TO] = message.item
        go_to("Item")
    for reply in message.replies:
        st.text(f"{reply.written_by}, {minute(reply.created_utc)} UTC: {reply.text}")


def answer_message(db: Database, message: Message, codes: list[str], person: str) -> None:
    """Show the standard answers, which keys choose, and the field for own words.

    After the answer is sent, the next unanswered message is shown.
    """
    key = f"{message.code}-{len(message.replies)}"
    with st.container(horizontal=True):
        for number, words in enumerate(ANSWERS, 1):
            st.button(words, key=f"ready-{number}-{key}", shortcut=str(number), on_click=_choose, args=(key, words))
    text = st.text_area("Answer", max_chars=inbox.MAX_REPLY_LENGTH, key=f"answer-{key}")
    st.caption("The reviewer sees the answer under My labels. Do not mention benchmarks, verdicts or labels of others.")
    if st.button("Send the answer", type="primary", key=f"send-{key}"):
        with errors_here():
            inbox.reply(db, message.code, text.strip(), actor=person, now=datetime.now(UTC))
            left = [other.code for other in inbox.messages(db) if not other.is_answered]
            queue.put(COMMENTS, left[0] if left else message.code)
            done(f"Answer sent. {len(left) or 'None'} of {len(codes)} left.", stays=True)


def _choose(key: str, words: str) -> None:
    """Put a standard answer before the words that the person types."""
    own = st.session_state.get(f"answer-{key}", "").strip()
    st.session_state[f"answer-{key}"] = f"{words} {own}".strip()


def render_calibration(db: Database, person: str) -> None:
    """Show the required agreement (the gate), the progress of each reviewer, and the reference labels.

    The agreement is shown only to a person who may see it.
    """
    st.caption("All reviewers label the same few items before the study. No result uses these labels.")
    result = calibrating.result(db)
    if not result.n_items:
        status = coordinating.status(db)
        can_plan = status.study.phase in ALLOWED[Action.PLAN] and not status.n_answers
        how = " Choose their number in the plan; the round then appears here." if can_plan else ""
        st.info(f"The plan has no calibration items.{how}")
        return
    hidden = identity.why_hidden(db, person, Action.SEE_CALIBRATION)
    can_change = coordinating.get_study(db).phase in ALLOWED[Action.CALIBRATE]
    set_gate(db, result, person, can_change=can_change)
    reached(db, result, hidden)
    if can_change and not hidden:
        if calibrating.has_begun(db):
            st.caption("The calibration round has begun, so reference labels can no longer be changed.")
        else:
            set_reference(db, result)


def reached(db: Database, result: CalibrationResult, hidden: str) -> None:
    """Show the progress of each reviewer in the calibration round.

    The agreement, with its intervals, is shown only to a person who may see it.
    """
    st.header("Result", anchor=False)
    rows = [
        {"reviewer": reviewer.reviewer, "labelled": f"{reviewer.n_done} of {reviewer.n_assigned}"}
        for reviewer in result.reviewers
    ]
    if hidden:
        st.dataframe(rows, hide_index=True)
        st.caption(hidden)
        return
    for row, reviewer in zip(rows, result.reviewers, strict=True):
        shared = reviewer.with_reference
        row["agreement with the reference (95 % interval)"] = (
            "—" if shared.value is None else calibrating.describe_share(shared)
        )
    st.dataframe(rows, hide_index=True)
    if result.percent.value is not None:
        st.write(escape_markdown(f"Percent agreement between reviewers: {calibrating.describe_share(result.percent)}"))
        st.write(escape_markdown(f"Fleiss' kappa between reviewers: {calibrating.describe_share(result.kappa)}"))
    st.write(escape_markdown(calibrating.outcome(result)))
    disputed(db)


def disputed(db: Database) -> None:
    """List the calibration items that people judged differently, with pictures and links, if there are any."""
    found = calibrating.disputed(db)
    if not found:
        return
    st.header("Where they disagree", anchor=False)
    for name, counts in found[:MAX_DISPUTED]:
        item = browsing.item_named(db, name)
        with st.container(horizontal=True, vertical_alignment="center"):
            if item.n_runs:
                words = f"The runs of {name}"
                component.still(drawing.thumbnail_of_item(db, item.item_id, label=words, panel=DISPUTED_PX), words)
            labels = ", ".join(f"{n} {category}" for category, n in counts.items() if n)
            st.text(f"{name}\n{labels}", width="stretch")
            if st.button("Open the item", key=f"disputed-{name}"):
                st.session_state[one_item.MOVED_TO] = name
                go_to("Item")
    if len(found) > MAX_DISPUTED:
        st.caption(f"And {counted(len(found) - MAX_DISPUTED, 'more item')}.")


def set_gate(db: Database, result: CalibrationResult, person: str, *, can_change: bool) -> None:
    """Show the gate, which is the agreement that the round requires.

    While there are no answers, each change is saved at once.
    """
    st.header("Required agreement", anchor=False)
    gate, begun = result.gate, any(reviewer.n_done for reviewer in result.reviewers)
    fixed = not can_change or begun
    names = list(GATES)
    on = st.radio(
        "The study opens once", names, names.index(gate.on if gate else NO_GATE), GATES.__getitem__, disabled=fixed
    )
    least = gate.least if gate else 0.8
    if on != NO_GATE:
        percent = st.slider("in at least this share of items", 0, 100, round(100 * least), 5, "%d %%", disabled=fixed)
        least = percent / 100 if percent != round(100 * least) else least
    if fixed:
        st.caption(
            "The round has begun, so the required agreement can no longer be changed."
            if begun
            else "The round is over."
        )
    elif (wanted := None if on == NO_GATE else CalibrationGate(str(on), least)) != gate:
        calibrating.set_gate(db, wanted, actor=person, now=datetime.now(UTC))
        share = "" if wanted is None else f" in {100 * least:.0f} % or more"
        done(f"Required agreement saved: the study opens once {GATES[on]}{share}.", stays=True)


def set_reference(db: Database, result: CalibrationResult) -> None:
    """Show the calibration items one by one with their pictures.

    If the person presses the key of a category, the component saves a reference label of the item. Then the page runs.
    """
    question = coordinating.get_study(db).question
    st.header("Reference labels", anchor=False)
    st.write(
        f"Items with a reference label: {result.n_reference} of {result.n_items}. Press {queue.keys_of(question)} on a "
        "picture to set it."
    )
    names, reference = calibrating.item_names(db), calibrating.reference(db)
    name = queue.current(REFERENCE, names)
    label = reference.get(name)
    caption = f"{queue.place(names, name)} · {f'reference: {label}' if label else 'no reference label yet'}"
    keys = {**queue.choices_of(question), **queue.MOVES}
    item = browsing.item_named(db, name)
    decides = Decides("reference", queue.categories_of(question))
    pressed = queue.look(db, REFERENCE, item, title=name, caption=caption, keys=keys, decides=decides)
    queue.move(REFERENCE, names, name, pressed)
    if queue.was_decided(REFERENCE, name, pressed):
        left = [other for other in names if other not in reference]
        queue.put(REFERENCE, left[0] if left else name)
        done(f"Saved: {label}. {len(left) or 'None'} left.", stays=True)
