"""The box that says what a coordinator should do now, and what waits."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from labeler.model import State, counted, describe_minutes
from labeler.plan.lifecycle import Action, Step
from labeler.service.labelling import inbox
from labeler.service.overview.facts import (
    ADD,
    ALL_ITEMS,
    BUTTONS,
    COMMENTS,
    PEOPLE,
    PLAN,
    REFERENCE,
    REPORT,
    RESUME,
    SPLITS,
    Act,
    Box,
    Facts,
    Line,
    calibration,
    day_in_words,
    n_unanswered,
    n_undecided,
)
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.study import calibrating, progress
from labeler.service.verdicts import computing

N_STALLED = 3  # the box names at most this many people who have stopped labelling
MAX_QUOTE = 90  # characters of a comment in the box


def box_of(facts: Facts) -> Box:
    study = facts.study
    if study.state is State.PAUSED:
        since = facts.since(State.PAUSED)
        heading = f"Paused since {day_in_words(since.date(), facts.now)}" if since else "The study is paused"
        return Box(heading, "Nobody can label until you resume the study.", Act(RESUME, Step.OPEN))
    if study.phase is State.DRAFT:
        return _box_of_draft(facts)
    if study.phase is State.CALIBRATION:
        return _box_of_calibration(facts)
    if study.phase in (State.OPEN, State.THIRD):
        return _box_of_labelling(facts)
    if study.phase is State.CLOSED:
        return _box_of_closed(facts)
    return Box("The report is ready", "You see names, verdicts and the report.", Act("Read the report", place=REPORT))


def _box_of_draft(facts: Facts) -> Box:
    status = facts.status
    if not status.n_items:
        return Box(
            "Next: add items", "You need benchmark results, each measured several times.", Act("Add items", place=ADD)
        )
    if status.n_reviewers < 2:
        return Box(
            "Next: invite people", "You send the links yourself: the application sends no e-mail.",
            Act("Invite people", place=PEOPLE),
        )  # fmt: skip
    if status.n_answers:
        return Box("Next: open the study", "The study has imported labels.", Act(BUTTONS[Step.OPEN], Step.OPEN))
    return Box(
        "Next: make the plan",
        "The plan decides who labels which items. You see hours and precision before you confirm.",
        Act("Make the plan", place=PLAN),
    )


def _box_of_calibration(facts: Facts) -> Box:
    reference = () if facts.status.n_answers else (Act("Set reference labels", place=REFERENCE),)
    if not facts.is_complete:
        n_finished = sum(row.n_done >= row.n_assigned for row in facts.status.reviewers)
        n_items = max((row.n_assigned for row in facts.status.reviewers), default=0)
        text = (
            f"{n_finished} of {len(facts.status.reviewers)} have finished the {counted(n_items, 'item')} of the "
            "calibration round."
        )
        return _with_waiting(facts, Box("Nothing waits for you", text, also=reference))
    result = calibration(facts)
    if result is None or not result.not_passed:
        text = (
            "All reviewers have finished the calibration round. Those who wait see within 10 seconds that they can "
            "label."
        )
        return Box("Next: open the study", text, Act(BUTTONS[Step.OPEN], Step.OPEN))
    why = f"All reviewers have finished, but calibration was not passed: {'; '.join(result.not_passed)}."
    again = calibrating.n_in_second_round(facts.db)
    if not again:
        return Box("Calibration was not passed", f"{why} No items are left for a second round.")
    text = (
        f"{why} Talk about the items below, which people judged differently. A second round takes "
        f"{counted(again, 'other item')}."
    )
    return Box("Next: talk, then calibrate once more", text, Act("Start a second round", is_second_round=True))


def _box_of_labelling(facts: Facts) -> Box:
    study = facts.study
    if not facts.is_complete:
        return _with_waiting(facts, Box("Nothing waits for you", _come_back(facts)))
    if study.phase is State.OPEN and facts.status.n_reviewers > (study.plan_parameters or {}).get("per_item", 2):
        text = (
            "All first labels are given. One more reviewer labels each split item, hidden among as many agreed items."
        )
        return Box("Next: settle the split items", text, Act(BUTTONS[Step.THIRD], Step.THIRD))
    text = "Nobody can label any more. You can reopen the study until you unblind it."
    return Box(
        "Next: close the study", text, Act(BUTTONS[Step.CLOSE], Step.CLOSE), tick=tick_of_closing(facts.n_missing)
    )


def tick_of_closing(n_missing: int) -> str:
    """Return what a coordinator must tick before closing; return "" if no label is missing."""
    return (
        f"I know that {counted(n_missing, 'label')} {'stays' if n_missing == 1 else 'stay'} missing."
        if n_missing
        else ""
    )


def _come_back(facts: Facts) -> str:
    """Return when it is worth coming back."""
    ends = [pace.estimated_end for pace in facts.paces if pace.estimated_end]
    if not ends or not facts.n_assigned:
        return "Reviewers are labelling."
    when = facts.now.date() + max(timedelta(days=1), (max(ends) - facts.now.date()) / 2)
    begin = facts.since(State.OPEN) or facts.now
    per_day = facts.n_done / max((facts.now - begin).total_seconds() / 86400, 1)
    share = min(1.0, (facts.n_done + per_day * (when - facts.now.date()).days) / facts.n_assigned)
    return f"Reviewers are labelling. Come back on {when:%A}: about {100 * share:.0f} % will be done."


def _box_of_closed(facts: Facts) -> Box:
    db, person = facts.db, facts.person
    n_left = n_undecided(db, person)
    if n_left:
        text = f"{'It has' if n_left == 1 else 'They have'} no majority."
        return Box(
            f"Next: decide {counted(n_left, 'split item')}",
            text,
            Act(f"Decide {counted(n_left, 'item')}", place=SPLITS),
        )
    lines, asks = [], ""
    if not identity.why_hidden(db, person, Action.SEE_AGREEMENT):
        found = splits.split_items(db)
        n_open = sum(split.remains for split in found)
        n_decided = sum(split.decision is not None for split in found)
        if n_open:
            lines.append(Line(f"{counted(n_open, 'split item')} without majority and decision.", sign="!"))
            asks = "Why unblind before all split items are decided?"
        elif found:
            how = f"{len(found) - n_decided} by majority, {n_decided} by decision"
            lines.append(Line(f"{counted(len(found), 'split item')}, all settled: {how}.", sign="✓"))
        n_waiting = n_unanswered(db, person)
        if n_waiting:
            lines.append(
                Line(f"{counted(n_waiting, 'comment')} without an answer.", act=Act("Answer", place=COMMENTS), sign="!")
            )
    n_not_sure = sum(row.n_not_sure for row in facts.status.reviewers)
    if facts.n_missing:
        parts = f"{n_not_sure} “not sure”, {facts.n_missing - n_not_sure} never given"
        lines.append(
            Line(f"{counted(facts.n_missing, 'label')} of {facts.n_assigned} {'is' if facts.n_missing == 1 else 'are'} "
                 f"missing: {parts}.", sign="!")
        )  # fmt: skip
    stays = f" and that {tick_of_closing(facts.n_missing).removeprefix('I know that ')}" if facts.n_missing else "."
    return Box(
        "Next: unblind the study",
        "You will see who gave which label and what the classifiers say, and the report is written. Reviewers notice "
        "nothing.",
        Act(BUTTONS[Step.UNBLIND], Step.UNBLIND), lines=tuple(lines),
        tick=f"I know that this cannot be undone{stays}", asks_why=asks,
    )  # fmt: skip


def _with_waiting(facts: Facts, box: Box) -> Box:
    """Return the box with what waits for the coordinator, each with a button; the first button is the primary one."""
    lines = tuple(_waiting(facts))
    if not lines:
        return box
    n = len(lines)
    return replace(box, heading=f"{n} {'thing waits' if n == 1 else 'things wait'} for you", text="", lines=lines)


def _waiting(facts: Facts) -> Iterator[Line]:
    db, person = facts.db, facts.person
    if not identity.reviews_too(db, person):
        unanswered = [message for message in inbox.messages(db) if not message.is_answered]
        if unanswered:
            comment = unanswered[0].comment or ""
            quote = (
                f"“{comment[:MAX_QUOTE]}{'…' if len(comment) > MAX_QUOTE else ''}”"
                if comment
                else "It has only a flag."
            )
            n = len(unanswered)
            subject = "A comment on an item." if n == 1 else f"{n} comments on items."
            words = "Answer the comment" if n == 1 else "Answer the comments"
            yield Line(quote, subject, Act(words, place=COMMENTS))
    takes_part = [pace for pace in facts.paces if pace.takes_part and not pace.paused]
    stalled = [pace for pace in takes_part if pace.stalled and pace.last_seen_utc is not None]
    for pace in stalled[:N_STALLED]:
        since = f"has not labelled since {day_in_words(pace.stalled_since, facts.now)}" if pace.stalled_since else ""
        left = f" {describe_minutes(pace.minutes_left).capitalize()} left." if pace.minutes_left else ""
        yield Line(f"{since}.{left}", pace.name, Act("Write a reminder", place=PEOPLE, person=pace.reviewer))
    if len(stalled) > N_STALLED:
        n = len(stalled) - N_STALLED
        yield Line(f"{'has' if n == 1 else 'have'} not labelled for {progress.STALLED_DAYS} days or more.",
                   f"{n} more {'reviewer' if n == 1 else 'reviewers'}", Act("See people", place=PEOPLE))  # fmt: skip
    unopened = [pace for pace in takes_part if pace.last_seen_utc is None and pace.n_left]
    if unopened:
        who = unopened[0].name if len(unopened) == 1 else f"{len(unopened)} reviewers"
        have = "has not opened the link yet." if len(unopened) == 1 else "have not opened their link yet."
        yield Line(have, who, Act("See the message", place=PEOPLE, person=unopened[0].reviewer))
    for pace in takes_part:
        if pace.is_fast:
            yield Line(f"needs only {pace.time_on_task_s:.1f} s per item. Ask whether the pictures load.",
                       pace.name, Act("Write a message", place=PEOPLE, person=pace.reviewer))  # fmt: skip
    job = computing.latest_job(db)
    if job is not None and job.finished_utc is not None and job.error:
        yield Line("The last computation failed.", "Verdicts of the classifiers.", Act("Look at it", place=ALL_ITEMS))
