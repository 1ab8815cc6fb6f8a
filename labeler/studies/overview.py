"""Describe a study to a coordinator: the line of steps, the box with what to do now, and the numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from analysis.text import counted, joined
from labeler.studies.course import calibrating, coordinating, joining, progress
from labeler.studies.course.calibrating import CalibrationResult
from labeler.studies.course.progress import Pace, short_date
from labeler.studies.labelling import inbox, reviewing
from labeler.studies.model import Person, Role, State, Study, describe_minutes
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import ALLOWED, STATE_PHRASES, Action, Step, possible
from labeler.studies.questions import SIMILAR
from labeler.studies.results import splits
from labeler.studies.store import Database, actions, events
from labeler.studies.store.log_state import Event
from labeler.studies.verdicts import computing

BUTTONS = {
    Step.OPEN: "Open the study",
    Step.PAUSE: "Pause the study",
    Step.THIRD: "Assign third labels",
    Step.CLOSE: "Close the study",
    Step.REOPEN: "Reopen the study",
    Step.UNBLIND: "Unblind the study",
}
RESUME = "Resume the study"
Place = tuple[str, str]  # a place of the workplace and a view of it
ADD, PEOPLE, PLAN, GUIDE = ("Items", "Add"), ("People", ""), ("Study", "Plan"), ("Study", "Guide")
SPLITS, COMMENTS, REFERENCE = ("Decide", "Splits"), ("Decide", "Comments"), ("Decide", "Calibration")
ALL_ITEMS, REPORT = ("Items", "All items"), ("Results", "Report")
N_STALLED = 3  # the box names at most this many people who have stopped labelling
MAX_QUOTE = 90  # characters of a comment in the box


@dataclass(frozen=True)
class Button:
    """A button: its text, and the step that it takes or the place that it opens."""

    words: str
    step: Step | None = None
    place: Place | None = None
    person: str = ""  # the person to choose on the page People
    is_second_round: bool = False  # whether the button starts another calibration round


@dataclass(frozen=True)
class Line:
    """A sentence in the box or in the list of parts, with a sign or a button."""

    text: str
    subject: str = ""  # shown in bold before the text
    act: Button | None = None
    sign: str = ""


@dataclass(frozen=True)
class Box:
    """What the coordinator should do now. The button works after the box with the text `tick` is ticked."""

    heading: str
    text: str = ""
    act: Button | None = None
    also: tuple[Button, ...] = ()
    lines: tuple[Line, ...] = ()
    tick: str = ""
    asks_why: str = ""  # why a reason is needed; "" if none is needed


@dataclass(frozen=True)
class Stage:
    """One step of the line: its name, a fact, whether it is done, now or next, and the share done."""

    name: str
    fact: str
    when: str
    share: float = 0.0


@dataclass(frozen=True)
class Number:
    """One of the three numbers: label, value, and a line below."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Overview:
    """An overview of a study for its coordinator, without anything that is hidden from this coordinator."""

    study: Study
    n_assigned: int  # labels of the current round
    n_done: int
    stages: tuple[Stage, ...]
    box: Box
    parts: tuple[Line, ...]  # what has to be set up; empty after that
    numbers: tuple[Number, ...]
    hidden: str  # until when and why the agreement is hidden; "" if it is shown
    others: tuple[Step, ...]  # other steps that are possible and useful now
    paces: tuple[Pace, ...]


@dataclass(frozen=True)
class Facts:
    """What the overview is made of."""

    db: Database
    person: str
    now: datetime
    status: coordinating.Status
    paces: tuple[Pace, ...]
    is_complete: bool
    log: tuple[Event, ...]

    @property
    def study(self) -> Study:
        return self.status.study

    @property
    def n_assigned(self) -> int:
        return sum(row.n_assigned for row in self.status.reviewers)

    @property
    def n_done(self) -> int:
        return sum(row.n_done for row in self.status.reviewers)

    @property
    def n_missing(self) -> int:
        """The number of planned labels that nobody gave."""
        return self.n_assigned - self.n_done

    def since(self, state: State) -> datetime | None:
        """Return when the study last came into a state."""
        found = [event for event in self.log if event.details.get("to") == state]
        if state in (State.OPEN, State.CALIBRATION) and not found:
            found = [event for event in self.log if event.action == actions.DRAW_PLAN.name]
        return datetime.fromisoformat(found[-1].at_utc) if found else None


def is_complete(paces: Sequence[Pace]) -> bool:
    """Return whether no reviewer has an item left to label; return False if no items are assigned."""
    return any(pace.n_assigned for pace in paces) and not any(pace.n_left for pace in paces)


def calibrates(study: Study) -> bool:
    return study.phase is State.CALIBRATION or bool((study.plan_parameters or {}).get("calibration"))


def calibration(facts: Facts) -> CalibrationResult | None:
    """Return the result of the calibration round, if this coordinator may see it."""
    if not calibrates(facts.study) or identity.why_hidden(facts.db, facts.person, Action.SEE_CALIBRATION):
        return None
    return calibrating.result(facts.db)


def n_to_decide(db: Database, person: str) -> int:
    """Return how many comments and split items wait for this coordinator."""
    return n_unanswered(db, person) + n_undecided(db, person)


def n_unanswered(db: Database, person: str) -> int:
    """Return the number of flags and comments without an answer; 0 for a coordinator who may not read them."""
    return 0 if identity.reviews_too(db, person) else sum(not message.is_answered for message in inbox.messages(db))


def n_undecided(db: Database, person: str) -> int:
    """Return the number of split items that this coordinator can decide and that need a decision."""
    is_closed = coordinating.get_study(db).phase in ALLOWED[Action.ADJUDICATE]
    if not is_closed or identity.why_hidden(db, person, Action.SEE_AGREEMENT):
        return 0
    n_left = sum(split.remains for split in splits.split_items(db))
    return n_left if n_left and not splits.why_not_decide(db, person) else 0


def day_in_words(day: date, now: datetime) -> str:
    """Return a day as people say it, such as "Monday"; an earlier day with its date."""
    if (now.date() - day).days < 1:
        return "today"
    return f"{day:%A}" if (now.date() - day).days < 7 else short_date(day)


def overview(db: Database, person: str, *, now: datetime) -> Overview:
    """Return the overview that a coordinator sees."""
    status, paces = coordinating.status(db), tuple(progress.reviewer_paces(db, now=now))
    log = tuple(events.of_actions(db, [actions.DRAW_PLAN, *actions.in_history("steps")]))
    facts = Facts(db, person, now, status, paces, is_complete(paces), log)
    hidden = identity.why_hidden(db, person, Action.SEE_AGREEMENT)
    is_over = status.study.phase in (State.CLOSED, State.UNBLINDED)
    setting_up = status.study.phase is State.DRAFT
    return Overview(
        status.study, facts.n_assigned, facts.n_done, stages_of(facts), box := box_of(facts),
        parts_of(facts) if setting_up else (),
        () if setting_up else _results(facts) if is_over and not hidden else _progress_numbers(facts),
        hidden, _others(facts, box), paces,
    )  # fmt: skip


# The numbers


def summary(db: Database, person: Person, *, now: datetime) -> dict[str, str]:
    """Return what a list of studies says: the names of study and person, the roles, the state, and what waits."""
    study, left = coordinating.get_study(db), ""
    if Role.REVIEWER in person.roles:
        left = reviewing.describe_left(db, person.person_id)
    waits = f"Left: {left}." if left else "Nothing waits for you."
    if Role.COORDINATOR in person.roles and not left:
        waits = f"{overview(db, person.name, now=now).box.heading.rstrip('.')}."
    return {
        "name": study.name,
        "person": identity.shown_name(db, person.name),
        "roles": joined(sorted(person.roles)),
        "state": STATE_PHRASES[study.state],
        "waits": waits,
    }


def _progress_numbers(facts: Facts) -> tuple[Number, ...]:
    waiting = [pace for pace in facts.paces if pace.takes_part and not pace.paused and pace.n_left and pace.is_open]
    end, between = progress.finish(facts.paces)
    value, note = "—", "known when everybody has begun"
    if facts.n_assigned and not waiting:
        value, note = ("all done" if facts.is_complete else "—"), ""
    elif end is not None:
        value, note = f"{end:%a} {short_date(end)}", "an interval follows after two days"
        if between is not None:
            low, high = between
            note = f"likely {short_date(low)} to {short_date(high)}" if low != high else ""
    minutes = [pace.minutes_left for pace in waiting if pace.minutes_left is not None]
    left = describe_minutes(sum(minutes)) if minutes else "—"
    return (
        Number("Labels", f"{facts.n_done} of {facts.n_assigned}" if facts.n_assigned else "—"),
        Number("Expected finish", value, note),
        Number("Time left", left, "all reviewers together" if minutes else ""),
    )


def _results(facts: Facts) -> tuple[Number, ...]:
    from analysis.document import number  # slow to import, and needed only once labelling is over
    from labeler.studies.results import reporting

    result = reporting.current_report(facts.db)
    percent, kappa = result.agreement.percent, result.agreement.fleiss_kappa
    n_items = result.consensus.agreed + result.consensus.split
    share = (
        f"{100 * percent.low:.0f} to {100 * percent.high:.0f} %"
        if percent.low is not None and percent.high is not None
        else ""
    )
    between = "" if kappa.low is None else f"{number(kappa.low, 2)} to {number(kappa.high, 2)}"
    return (
        Number("Agreement", "—" if percent.value is None else f"{100 * percent.value:.0f} %", share),
        Number("Fleiss' kappa", "—" if kappa.value is None else number(kappa.value, 2), between),
        Number("Labels", f"{facts.n_done} of {facts.n_assigned}", f"on {counted(n_items, 'item')}"),
    )


def _others(facts: Facts, box: Box) -> tuple[Step, ...]:
    """Return the useful steps other than the recommended next action."""
    study = facts.study
    pointless = {box.act.step if box.act else None}
    if study.phase is State.CALIBRATION and identity.reviews_too(facts.db, facts.person):
        pointless.discard(Step.OPEN)  # the coordinator must not learn whether the calibration round was passed
    if study.phase in (State.DRAFT, State.UNBLINDED):
        pointless.add(Step.PAUSE)
    if study.phase is State.DRAFT:
        pointless.add(Step.OPEN)
    if not facts.is_complete:
        pointless.add(Step.THIRD)
    return tuple(step for step in possible(study) if step not in pointless)


def stages_of(facts: Facts) -> tuple[Stage, ...]:
    """Return the steps of the study; without a calibration round, there are four."""
    order = [State.DRAFT, State.CALIBRATION, State.OPEN, State.CLOSED, State.UNBLINDED]
    phase = facts.study.phase
    now = order.index(State.OPEN if phase is State.THIRD and not facts.is_complete else phase) if phase in order else 2
    if phase is State.THIRD or (phase is State.OPEN and facts.is_complete):
        now = order.index(State.CLOSED)
    stages = []
    for place, (name, fact) in enumerate(_STAGES.items()):
        if name == "Calibrate" and not calibrates(facts.study):
            continue
        when = "now" if place == now else "done" if place < now else "next"
        text, share = fact(facts, when)
        if when == "now" and facts.study.state is State.PAUSED:
            since = facts.since(State.PAUSED)
            text = f"Paused since {day_in_words(since.date(), facts.now)}" if since else "Paused"
        stages.append(Stage(name, text, when, 1.0 if when == "done" else share))
    return tuple(stages)


def _set_up(facts: Facts, when: str) -> tuple[str, float]:
    if when == "now":
        parts = parts_of(facts)
        n_done = sum(part.sign == "✓" for part in parts)
        return f"{n_done} of {len(parts)} done", n_done / len(parts)
    people = counted(facts.status.n_reviewers, "person", "people")
    return f"{counted(facts.status.n_items, 'item')}, {people}", 0.0


def _calibrate(facts: Facts, when: str) -> tuple[str, float]:
    n_items = int((facts.study.plan_parameters or {}).get("calibration", 0))
    if when == "next":
        return f"{counted(n_items, 'item')} each", 0.0
    if when == "now":
        finished = [row for row in facts.status.reviewers if row.n_done >= row.n_assigned]
        share = facts.n_done / facts.n_assigned if facts.n_assigned else 0.0
        result = calibration(facts)
        if result is not None and facts.is_complete and result.percent.value is not None:
            needed = f", needs {100 * result.gate.least:.0f} %" if result.gate else ""
            return f"{100 * result.percent.value:.0f} %{needed}", share
        return f"{len(finished)} of {len(facts.status.reviewers)} have finished", share
    opened = [
        event for event in facts.log if event.action == actions.OPEN_STUDY.name and "calibration" in event.details
    ]
    was_passed = not opened or opened[-1].details["calibration"] == "passed"
    result = calibration(facts)
    if result is None:
        return "finished", 1.0
    share_words = f": {100 * result.percent.value:.0f} %" if result.percent.value is not None else ""
    return f"{'passed' if was_passed else 'not passed'}{share_words}", 1.0


def _label(facts: Facts, when: str) -> tuple[str, float]:
    begin = facts.since(State.OPEN)
    if when == "next":
        return "every label on its own", 0.0
    if when == "now":
        share = facts.n_done / facts.n_assigned if facts.n_assigned else 0.0
        day = (facts.now - begin).days + 1 if begin else 1
        return f"Day {day}, {100 * share:.0f} % of the labels", share
    end = facts.since(State.CLOSED) or facts.now
    return counted((end - begin).days + 1 if begin else 1, "day"), 1.0


def _settle(facts: Facts, when: str) -> tuple[str, float]:
    if when == "next":
        return "third labels, decisions", 0.0
    if facts.study.phase is State.OPEN:
        return "all first labels are given", 0.0
    if facts.study.phase is State.THIRD:
        n_done, n_assigned = progress.third_labels(facts.db)
        share = n_done / n_assigned if n_assigned else 1.0
        return f"third labels: {100 * share:.0f} % given", share  # their number would tell how many items are split
    if identity.why_hidden(facts.db, facts.person, Action.SEE_AGREEMENT):
        return "closed", 0.5
    found = splits.split_items(facts.db)
    n_left = sum(split.remains for split in found)
    if when == "done":
        return splits.describe_split_items(found), 1.0
    settled = "closed, all splits settled" if found else "closed, no item is split"
    return f"closed, {counted(n_left, 'item')} to decide" if n_left else settled, 0.5 if n_left else 0.9


def _report(facts: Facts, when: str) -> tuple[str, float]:
    since = facts.since(State.UNBLINDED)
    if when == "now" and since is not None:
        return f"unblinded on {short_date(since.date())}", 1.0
    return "unblind, publish", 0.0


_STAGES: Mapping[str, Callable[[Facts, str], tuple[str, float]]] = {
    "Set up": _set_up, "Calibrate": _calibrate, "Label": _label, "Settle": _settle, "Report": _report,
}  # fmt: skip


def parts_of(facts: Facts) -> tuple[Line, ...]:
    status, study = facts.status, facts.study
    standard = study.question == SIMILAR
    opened = sum(pace.last_seen_utc is not None for pace in facts.paces)
    people = f"{counted(status.n_reviewers, 'reviewer')}, {opened} signed in so far"
    has_instructions = "with" if study.protocol.instructions else "without"
    items = counted(status.n_items, "item") if status.n_items else "None yet"
    return (
        Line(items, "Items", Button("See items", place=ALL_ITEMS) if status.n_items else Button("Add items", place=ADD),
             _sign(status.n_items > 0)),
        Line(f"{'Standard' if standard else 'Own'} question, {has_instructions} instructions of your own",
             "Question and guide", Button("Change", place=GUIDE), _sign(True)),
        Line(people, "People", Button("Invite people", place=PEOPLE), _sign(status.n_reviewers >= 2)),
        Line("Made" if study.plan_hash else "Not made yet", "Plan", Button("Look at the plan", place=PLAN),
             _sign(study.plan_hash is not None)),
    )  # fmt: skip


def _sign(is_done: bool) -> str:
    return "✓" if is_done else "○"


def box_of(facts: Facts) -> Box:
    study = facts.study
    if study.state is State.PAUSED:
        since = facts.since(State.PAUSED)
        heading = f"Paused since {day_in_words(since.date(), facts.now)}" if since else "The study is paused"
        return Box(heading, "Nobody can label until you resume the study.", Button(RESUME, Step.OPEN))
    if study.phase is State.DRAFT:
        return _box_of_draft(facts)
    if study.phase is State.CALIBRATION:
        return _box_of_calibration(facts)
    if study.phase in (State.OPEN, State.THIRD):
        return _box_of_labelling(facts)
    if study.phase is State.CLOSED:
        return _box_of_closed(facts)
    return Box(
        "The report is ready", "You see names, verdicts and the report.", Button("Read the report", place=REPORT)
    )


def _box_of_draft(facts: Facts) -> Box:
    status = facts.status
    if not status.n_items:
        return Box(
            "Next: add items",
            "You need benchmark results, each measured several times.",
            Button("Add items", place=ADD),
        )
    if status.n_reviewers < 2:
        return Box("Next: invite people", "Everybody gets a link of their own.", Button("Invite people", place=PEOPLE))
    if status.n_answers:
        return Box("Next: open the study", "The study has imported labels.", Button(BUTTONS[Step.OPEN], Step.OPEN))
    return Box(
        "Next: make the plan",
        "The plan decides who labels which items. You see hours and precision before you confirm.",
        Button("Make the plan", place=PLAN),
    )


def _box_of_calibration(facts: Facts) -> Box:
    reference = () if facts.status.n_answers else (Button("Set reference labels", place=REFERENCE),)
    if not facts.is_complete:
        n_finished = sum(row.n_done >= row.n_assigned for row in facts.status.reviewers)
        n_items = max((row.n_assigned for row in facts.status.reviewers), default=0)
        text = (
            f"{n_finished} of {len(facts.status.reviewers)} have finished the {counted(n_items, 'item')} of the "
            "calibration round."
        )
        return _with_waiting(facts, Box("Nothing waits for you", text, also=reference))
    result = calibration(facts)
    if result is None and calibrating.result(facts.db).gate:
        text = (
            "You do not see whether the required agreement was reached, because you are also a reviewer. Another "
            "coordinator opens the study, or you open it below and give a reason."
        )
        return Box("All reviewers have finished the calibration round", text)
    if result is None or not result.not_passed:
        text = (
            "All reviewers have finished the calibration round. Those who wait see within 10 seconds that they can "
            "label."
        )
        return Box("Next: open the study", text, Button(BUTTONS[Step.OPEN], Step.OPEN))
    why = f"All reviewers have finished, but calibration was not passed: {'; '.join(result.not_passed)}."
    again = calibrating.n_in_second_round(facts.db)
    if not again:
        return Box("Calibration was not passed", f"{why} No items are left for a second round.")
    text = (
        f"{why} Discuss the items below, which people judged differently. A second round takes "
        f"{counted(again, 'other item')}."
    )
    return Box(
        "Next: discuss the items, then calibrate again", text, Button("Start a second round", is_second_round=True)
    )


def _box_of_labelling(facts: Facts) -> Box:
    study = facts.study
    if not facts.is_complete:
        return _with_waiting(facts, Box("Nothing waits for you", _come_back(facts)))
    if study.phase is State.OPEN and facts.status.n_reviewers > (study.plan_parameters or {}).get("per_item", 2):
        text = (
            "All first labels are given. One more reviewer labels each split item, hidden among as many agreed items."
        )
        return Box("Next: settle the split items", text, Button(BUTTONS[Step.THIRD], Step.THIRD))
    text = "Nobody can label any more. You can reopen the study until you unblind it."
    return Box(
        "Next: close the study", text, Button(BUTTONS[Step.CLOSE], Step.CLOSE), tick=tick_of_closing(facts.n_missing)
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
    how_many = "probably all labels" if share > 0.995 else f"about {100 * share:.0f} % of the labels"
    return f"Reviewers are labelling. Come back on {when:%A}: {how_many} will be done."


def _box_of_closed(facts: Facts) -> Box:
    db, person = facts.db, facts.person
    n_left = n_undecided(db, person)
    if n_left:
        text = f"{'It has' if n_left == 1 else 'They have'} no majority."
        return Box(
            f"Next: decide {counted(n_left, 'split item')}",
            text,
            Button(f"Decide {counted(n_left, 'item')}", place=SPLITS),
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
            lines.append(Line(f"{splits.describe_split_items(found)}, all settled: {how}.", sign="✓"))
        n_waiting = n_unanswered(db, person)
        if n_waiting:
            lines.append(
                Line(
                    f"{counted(n_waiting, 'comment')} without an answer.",
                    act=Button("Answer", place=COMMENTS),
                    sign="!",
                )
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
        Button(BUTTONS[Step.UNBLIND], Step.UNBLIND), lines=tuple(lines),
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
    n_requests = len(joining.current(db).requests)
    if n_requests:
        yield Line(f"{'waits' if n_requests == 1 else 'wait'} to be admitted.",
                   counted(n_requests, "person", "people"), Button("See who", place=PEOPLE))  # fmt: skip
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
            yield Line(quote, subject, Button(words, place=COMMENTS))
    takes_part = [pace for pace in facts.paces if pace.takes_part and not pace.paused]
    stalled = [pace for pace in takes_part if pace.stalled and pace.last_seen_utc is not None]
    for pace in stalled[:N_STALLED]:
        since = f"has not labelled since {day_in_words(pace.stalled_since, facts.now)}" if pace.stalled_since else ""
        left = f" {describe_minutes(pace.minutes_left).capitalize()} left." if pace.minutes_left else ""
        yield Line(f"{since}.{left}", pace.name, Button("Write a reminder", place=PEOPLE, person=pace.reviewer))
    if len(stalled) > N_STALLED:
        n = len(stalled) - N_STALLED
        yield Line(f"{'has' if n == 1 else 'have'} not labelled for {progress.STALLED_DAYS} days or more.",
                   f"{n} more {'reviewer' if n == 1 else 'reviewers'}", Button("See people", place=PEOPLE))  # fmt: skip
    unopened = [pace for pace in takes_part if pace.last_seen_utc is None and pace.n_left]
    if unopened:
        who = unopened[0].name if len(unopened) == 1 else f"{len(unopened)} reviewers"
        have = "has not opened the link yet." if len(unopened) == 1 else "have not opened their link yet."
        yield Line(have, who, Button("See the message", place=PEOPLE, person=unopened[0].reviewer))
    for pace in takes_part:
        if pace.n_unseen:
            yield Line(f"gave {counted(pace.n_unseen, 'answer')} without asking the server for the picture. Ask how.",
                       pace.name, Button("Write a message", place=PEOPLE, person=pace.reviewer))  # fmt: skip
        if pace.is_fast:
            yield Line(f"needs only {pace.time_on_task_s:.1f} s per item. Ask whether the pictures load.",
                       pace.name, Button("Write a message", place=PEOPLE, person=pace.reviewer))  # fmt: skip
    job = computing.latest_job(db)
    if job is not None and job.finished_utc is not None and job.error:
        yield Line(
            "The last computation failed.", "Verdicts of the classifiers.", Button("Look at it", place=ALL_ITEMS)
        )
