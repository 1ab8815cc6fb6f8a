"""Functions for reviewers.

These functions never reveal other people's labels, verdicts, names of items, or why an item was assigned.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from analysis.text import counted
from labeler import marks
from labeler.errors import AnswerRefused, NotAllowed, NotAssigned
from labeler.studies.audit import receipts
from labeler.studies.course import calibrating, coordinating
from labeler.studies.items import as_seen, drawing
from labeler.studies.model import (
    Item,
    Label,
    LabelOrigin,
    NewLabel,
    Person,
    Protocol,
    Question,
    Role,
    State,
    Study,
    Task,
)
from labeler.studies.people import identity
from labeler.studies.plan.design import MIN_RETEST_GAP
from labeler.studies.questions import NOT_SURE, WITHDRAWN, is_label
from labeler.studies.screen import binning, timing
from labeler.studies.screen.kinds import ItemKind, kind_of
from labeler.studies.store import (
    Database,
    actions,
    assignments,
    decisions,
    events,
    items,
    labels,
    replies,
    studies,
)
from labeler.studies.store.events import Deed
from labeler.text import is_storable

MIN_DWELL_MS = 250
N_OFFERED = 20  # the item on the screen, and the items that can be labelled without a connection
NO_FACTS: Mapping[str, int | None] = {}
USUAL_S, N_TIMED = 15.0, 10  # seconds per label before a reviewer has this number of timed answers
MAX_TEXT_LENGTH, MAX_VIEW_LENGTH, MAX_COMMENT_LENGTH = 64, 2000, 2000
CONFIDENCES = (1, 2, 3)
# A retest comes at least MIN_RETEST_GAP places after its item. By then the reviewer's list no longer shows the earlier
# picture or any other picture of that age. Hiding only the pictures of retests would reveal which items are retests.
LOOK_BACK = MIN_RETEST_GAP // 2
_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip


@dataclass(frozen=True)
class OwnProgress:
    """The progress of a reviewer.

    `n_not_sure` is the number of open items whose current answer is "not sure".
    """

    n_done: int
    n_assigned: int
    n_not_sure: int


@dataclass(frozen=True)
class Brief:
    """The question of the study, and the protocol for showing items."""

    question: Question
    protocol: Protocol

    @property
    def kind(self) -> ItemKind:
        """What an item shows."""
        return kind_of(self.question)


@dataclass(frozen=True)
class Desk:
    """What one transaction reads for a reviewer; all decisions of the transaction follow from it.

    Nothing in it depends on the rows of other people.
    """

    study: Study
    secret: str = field(repr=False)  # of the study; determines how pictures vary
    person: Person
    work: assignments.OwnWork  # the reviewer's work in the present round

    @property
    def closed(self) -> str:
        """The reason why the reviewer can label nothing now; "" if labelling is possible."""
        return _why_closed(self.study, self.person)

    @property
    def offers(self) -> list[Task]:
        """The next open tasks, at most `N_OFFERED`; tasks with one "not sure" answer come last."""
        again = (task for task in self.work.not_sure if task.n_not_sure == 1)
        return [*self.work.open, *again][:N_OFFERED]

    @property
    def undoable(self) -> Task | None:
        """The task whose answer the reviewer can undo; None if there is none.

        Undoing again and again would show all earlier plots once more, which the page My labels hides. Therefore, only
        the reviewer's latest items can be undone.
        """
        return self.work.last if self.work.n_begun_after < LOOK_BACK else None

    def read_again(self, db: Database) -> "Desk":
        """Return the desk with the present work, such as after an answer."""
        return replace(self, work=_work(db, self.study, self.person))


@dataclass(frozen=True)
class ReviewQueue:
    """The next tasks of a reviewer, and the task whose answer the key U undoes.

    `closed` is the reason why the reviewer can label nothing now; "" if labelling is possible. `end` is the message at
    the end of a calibration round.
    """

    progress: OwnProgress
    offers: tuple[Task, ...]
    last: Task | None
    closed: str
    end: str = ""


@dataclass(frozen=True)
class LabelComparison:
    """A reviewer's label in the calibration round, and the reference label of the item.

    The reference label is None if the item has no reference label.
    """

    task: Task
    reference: str | None

    @property
    def is_equal(self) -> bool:
        """Whether the label equals the reference label."""
        return self.reference is not None and self.task.answer == self.reference


@dataclass(frozen=True)
class Feedback:
    """The feedback that a reviewer gets after the calibration round.

    `with_others` is the share of the other reviewers' labels that equal this reviewer's label on the same item. It is
    None if other reviewers gave no labels.
    """

    rows: tuple[LabelComparison, ...]
    with_others: float | None


@dataclass(frozen=True)
class OwnLabel:
    """An item that the reviewer has answered, with the current answer."""

    task: Task
    number: int  # position among the reviewer's items, in order of first answer; starts at 1
    created_utc: str  # time of the current answer
    n_revisions: int  # number of answers after the first; an answer that was undone at once does not count
    # Total time on task for all answers to the item (see `labeler.studies.screen.timing`); None if nothing was timed.
    time_on_task_ms: int | None
    confidence: int | None  # values of the current answer
    flag: bool
    comment: str | None
    replies: tuple[str, ...] = ()  # texts of the coordinators' replies to the flag or comment, in order of time
    # Whether the reviewer can see the picture again and revise the label. This is possible for the latest items,
    # and for all items once the reviewer has answered everything.
    can_look_again: bool = True


@dataclass(frozen=True)
class BrowserMark:
    """A reviewer and the reviewer's newest stored answer, as the browser receives them.

    The browser uses these values to check whether the study has all answers that the browser sent.
    """

    # An opaque id. It is the same in all backups of the study, and different for each reviewer and study.
    reviewer: str
    last_event: str | None  # the event id of the reviewer's newest stored answer


def desk(db: Database, reviewer_id: int, *, code: str = "", event_id: str = "") -> Desk:
    """Return the desk of a reviewer. `code` and `event_id` ask for one of the reviewer's tasks and answers.

    Raises NotAllowed if the person is not an active reviewer.
    """
    study, secret, somebody = studies.for_person(db, reviewer_id)
    person = identity.required(somebody, Role.REVIEWER)
    return Desk(study, secret, person, _work(db, study, person, code, event_id))


def _work(db: Database, study: Study, person: Person, code: str = "", event_id: str = "") -> assignments.OwnWork:
    return assignments.own_work(
        db, person.person_id, calibration=_is_calibrating(study), n_open=N_OFFERED, code=code, event_id=event_id
    )


def browser_mark(desk: Desk) -> BrowserMark:
    """Return the mark that identifies a reviewer in the browser's storage, with the newest stored answer."""
    return BrowserMark(browser_owner(desk.study, desk.person), desk.work.last_event)


def browser_owner(study: Study, person: Person) -> str:
    """Return the opaque id of a person in the browser's storage."""
    whose = f"{study.created_utc} {person.person_id} {person.name}"
    return hashlib.sha256(whose.encode()).hexdigest()[:32]


def brief(db: Database) -> Brief:
    """Return the question and the protocol of the study."""
    study = studies.get(db)
    return Brief(study.question, study.protocol)


def study_name(db: Database) -> str:
    """Return the name of the study."""
    return studies.get(db).name


def describe_work(db: Database, reviewer_id: int) -> str:
    """Return the name of the study, how much the reviewer still has to do, and until when."""
    left = describe_left(db, reviewer_id)
    parts = [study_name(db), *([left] if left else [])]
    day = coordinating.finish_by(db)
    return " · ".join([*parts, *([f"please finish by {day:%-d %B %Y}"] if day else [])])


def describe_left(db: Database, reviewer_id: int) -> str:
    """Return how much the reviewer still has to do; return "" if nothing is left."""
    progress = review_queue(db, reviewer_id).progress
    n_left = progress.n_assigned - progress.n_done
    if not n_left:
        return ""
    minutes = _minutes(n_left, seconds_per_label(db, reviewer_id))
    return f"{counted(n_left, 'item')}{_to_practise(db)}, about {minutes}{_after_that(db, reviewer_id)}"


def round_note(db: Database, reviewer_id: int) -> str:
    """Return what a reviewer must know about the calibration round; "" outside of it."""
    identity.require(db, reviewer_id, Role.REVIEWER)
    if not _is_calibrating(studies.get(db)):
        return ""
    progress = review_queue(db, reviewer_id).progress
    n_items = progress.n_assigned - progress.n_done
    if not n_items:
        return ""
    again = bool(events.of_actions(db, [actions.CALIBRATE_AGAIN]))
    begun = f"This is the calibration round{' again, with other items' if again else ''}"
    return (
        f"{begun}: {counted(n_items, 'item')}{_to_practise(db)}. No result uses these labels"
        f"{_after_that(db, reviewer_id)}."
    )


def _to_practise(db: Database) -> str:
    return " to practise judging together" if _is_calibrating(studies.get(db)) else ""


def _after_that(db: Database, reviewer_id: int) -> str:
    """Return what follows the calibration round; "" outside of it."""
    if not _is_calibrating(studies.get(db)):
        return ""
    n_items = len(assignments.tasks_of(db, reviewer_id))
    minutes = _minutes(n_items, seconds_per_label(db, reviewer_id))
    return f"; then the study with {counted(n_items, 'item')}, about {minutes}" if n_items else ""


def _minutes(n_items: int, seconds: float) -> str:
    minutes = int(n_items * seconds / 60 + 0.5)  # a half is rounded up, as in the browser
    return counted(max(1, minutes), "minute")


def seconds_per_label(db: Database, reviewer_id: int) -> float:
    """Return the reviewer's usual time per label, from the reviewer's last answers; at first, that of most people."""
    identity.require(db, reviewer_id, Role.REVIEWER)
    times = [timing.time_on_task(label.dwell_ms, label.view) for label in labels.own_answers(db, reviewer_id)]
    timed = [time for time in times if time is not None]
    return timing.typical(timed[-N_TIMED:]) or USUAL_S if len(timed) >= N_TIMED else USUAL_S


def is_through(desk: Desk) -> bool:
    """Return whether the reviewer at a desk has answered every item of the study itself."""
    return not _is_calibrating(desk.study) and bool(desk.work.n_by_answer) and not desk.offers


def codes_at(desk: Desk) -> list[str]:
    """Return the codes of the items that the reviewer at a desk can answer, or could undo."""
    last = desk.work.last
    return [task.code for task in (*desk.offers, *((last,) if last else ()))]


def review_queue(db: Database, reviewer_id: int) -> ReviewQueue:
    """Return what the labelling screen needs: the reviewer's progress and next tasks."""
    return queue_of(desk(db, reviewer_id))


def queue_of(desk: Desk) -> ReviewQueue:
    """Return the progress and the next tasks of the reviewer at a desk."""
    n, offers = desk.work.n_by_answer, tuple(desk.offers)
    progress = OwnProgress(sum(number for answer, number in n.items() if is_label(answer)), n.total(), n[NOT_SURE])
    end = _CALIBRATED if _is_calibrating(desk.study) and not offers else ""
    return ReviewQueue(progress, offers, None if desk.closed else desk.undoable, desk.closed, end)


def is_first_visit(db: Database, reviewer_id: int) -> bool:
    """Return whether to show the introduction to a reviewer.

    The introduction is shown until the reviewer has finished it or has answered an item.
    """
    own = desk(db, reviewer_id)
    if own.work.last_event is not None or own.closed:
        return False
    return all(event.actor != own.person.name for event in events.of_actions(db, [actions.FIRST_VISIT]))


def finish_introduction(db: Database, reviewer_id: int, *, now: datetime) -> None:
    """Record that a reviewer has finished the introduction; the next visit starts with an item."""
    with db.atomic():
        person = identity.require(db, reviewer_id, Role.REVIEWER)
        if is_first_visit(db, reviewer_id):
            Deed(db, person.name, now).log(actions.FIRST_VISIT)


def has_feedback(db: Database, reviewer_id: int) -> bool:
    """Return whether `feedback` has something to show to a reviewer after the calibration round.

    Raises NotAllowed if the person is not an active reviewer.
    """
    identity.require(db, reviewer_id, Role.REVIEWER)
    if studies.get(db).phase in (State.DRAFT, State.CALIBRATION):
        return False
    return any(is_label(task.answer) for task in assignments.tasks_of(db, reviewer_id, calibration=True))


def question(db: Database) -> str:
    """Return the question as reviewers see it, with the number of runs if it names one and all items have the same."""
    n_runs = {item.n_runs for item in items.all_items(db) if item.n_runs}
    number = f"{_describe_number(n_runs.pop())} " if len(n_runs) == 1 else ""
    return brief(db).question.text.replace("{runs} ", number).replace("{runs}", number.strip())


def _describe_number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


def feedback(db: Database, reviewer_id: int) -> Feedback | None:
    """Compare a reviewer's labels in the calibration round with the reference labels and other reviewers' labels.

    Return None before the round is over, or if the reviewer gave no labels in the round.
    """
    person, study = identity.require(db, reviewer_id, Role.REVIEWER), studies.get(db)
    own = [task for task in assignments.tasks_of(db, reviewer_id, calibration=True) if is_label(task.answer)]
    if study.phase in (State.DRAFT, State.CALIBRATION) or not own:
        return None
    reference, names = decisions.reference_labels(db), {item.item_id: item.name for item in items.all_items(db)}
    question, secret = study.question, studies.picture_secret(db)
    rows = []
    for task in own:
        label = reference.get(names[task.item_id])
        seen = (
            question.mirrored(label) if label is not None and as_seen.is_swapped(question, secret, task.code) else label
        )
        rows.append(LabelComparison(_as_shown(secret, task, question), seen))
    return Feedback(tuple(rows), calibrating.share_with_others(db, person.name))


def task_by_code(db: Database, reviewer_id: int, code: str) -> Task:
    """Return an answered task that the reviewer can open again; raises NotAssigned for any other task."""
    hidden = {label.task.code for label in own_labels(db, reviewer_id) if not label.can_look_again}
    own = desk(db, reviewer_id, code=code)
    task = own.work.asked
    if task is None or task.answer is None or code in hidden or not own.work.is_in_play:
        raise NotAssigned(
            f"You cannot open item {code[:20]} now. The page My labels lists the items that you can open."
        )
    return _as_shown(own.secret, task, own.study.question)


def receipt(db: Database, reviewer_id: int, *, now: datetime) -> str:
    """Return a receipt for a reviewer: JSON text with the reviewer's own labels and their hashes.

    An audit can later check whether the study still has these labels.
    """
    study, secret, somebody = studies.for_person(db, reviewer_id)
    identity.required(somebody, Role.REVIEWER)
    question = study.question

    def as_shown(code: str, answer: str) -> str:
        return question.mirrored(answer) if as_seen.is_swapped(question, secret, code) else answer

    return receipts.receipt(db, reviewer_id, now=now, as_shown=as_shown)


def own_labels(db: Database, reviewer_id: int) -> list[OwnLabel]:
    """Return the items that the reviewer answered in the current round; the newest answer comes first."""
    own = desk(db, reviewer_id)
    is_over = own.study.phase in (State.CLOSED, State.UNBLINDED) or not own.offers
    in_round = assignments.tasks_of(db, reviewer_id, calibration=_is_calibrating(own.study))
    of_round = {task.code: task for task in in_round}
    tasks = {code: _as_shown(own.secret, task, own.study.question) for code, task in of_round.items() if _stands(task)}
    answers = [answer for answer in labels.own_answers(db, reviewer_id) if answer.code in of_round]
    by_code: dict[str, list[Label]] = {}
    for answer in answers:
        by_code.setdefault(answer.code, []).append(answer)
    numbers = {code: number for number, code in enumerate(by_code, start=1)}
    first_shown = 1 if is_over else len(numbers) - LOOK_BACK + 1
    order = dict.fromkeys(answer.code for answer in reversed(answers))
    replies_to = replies.of_assignments(db, [task.assignment_id for task in tasks.values()])
    return [
        replace(
            _own_label(tasks[code], numbers[code], by_code[code], replies_to.get(tasks[code].assignment_id, ())),
            can_look_again=numbers[code] >= first_shown,
        )
        for code in order
        if code in tasks
    ]


def replies_in_calibration(db: Database, reviewer_id: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the coordinators' replies to the reviewer's comments in the calibration round, once the round is over.

    Each entry has the code of the item, the reviewer's comment, and the texts of the replies.
    """
    identity.require(db, reviewer_id, Role.REVIEWER)
    if _is_calibrating(studies.get(db)):
        return []  # `own_labels` has them
    tasks = [task for task in assignments.tasks_of(db, reviewer_id, calibration=True) if _stands(task)]
    replies_to = replies.of_assignments(db, [task.assignment_id for task in tasks])
    return [
        (task.code, task.remarks.comment or "", tuple(reply.text for reply in replies_to[task.assignment_id]))
        for task in tasks
        if task.assignment_id in replies_to
    ]


def typical_time_s(own: list[OwnLabel]) -> float | None:
    """Return the median time on task of the reviewer's labels in seconds; return None if nothing was timed."""
    return timing.typical(label.time_on_task_ms for label in own if label.time_on_task_ms is not None)


def picture(db: Database, task: Task) -> Mapping[str, Any] | None:
    """Return the payload of an item as a reviewer sees it; return None if the item has no measurements."""
    return as_seen.picture(db, *_shown(db, task))


def panels(db: Database, task: Task) -> list[dict[str, Any]]:
    """Return the panels from which the screen draws an item; return no panel if the item has no measurements."""
    return as_seen.panels(db, *_shown(db, task))


def _shown(db: Database, task: Task) -> tuple[Study, Item, as_seen.Look]:
    study, item = studies.get(db), items.by_id(db, task.item_id)
    return study, item, as_seen.look_of(study, studies.picture_secret(db), task.code, item.n_runs)


def panels_on_offer(db: Database, desk: Desk, codes: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the panels of those codes that are offered to the reviewer at a desk.

    Stored payloads of an older version are computed only once.
    """
    tasks = {task.code: task for task in (() if desk.closed else desk.offers) if task.code in codes}
    there = desk.work.items
    stored = drawing.renewed(db, [there[task.item_id] for task in tasks.values()], desk.study)

    def drawn(task: Task) -> list[dict[str, Any]]:
        item = there[task.item_id]
        look = as_seen.look_of(desk.study, desk.secret, task.code, item.n_runs)
        return as_seen.panels(db, desk.study, item, look, stored.get(task.item_id))

    return {code: drawn(tasks[code]) for code in codes if code in tasks}


def thumbnail(db: Database, task: Task, words: str, panel: tuple[int, int] | None = None) -> str | None:
    """Return a small picture of an item as a reviewer sees it, as SVG; return None if there are no measurements.

    `panel` is the size of a run in pixels, if it is not small. If points are marked, the picture has the reviewer's
    marks.
    """
    payload, question = picture(db, task), studies.get(db).question
    if payload is None:
        return None
    size = {} if panel is None else {"panel": panel}
    own = {"marks": [mark.at for mark in marks.read(task.answer or "")]} if question.is_marked else {}
    return kind_of(question).thumbnail(payload, label=words, **size, **own)


def task_data(db: Database, task: Task) -> Mapping[str, Any]:
    """Return the data of a task for the screen, with its panels (see `task_at`)."""
    study, secret = studies.get(db), studies.picture_secret(db)
    return {**_task_data(study, secret, items.by_id(db, task.item_id), task), "panels": panels(db, task)}


def task_at(desk: Desk, task: Task) -> Mapping[str, Any]:
    """Return the data of a task for the screen: code, revision, and the reviewer's latest answer and remarks, if any.

    The screen asks for pictures in another request.
    """
    return _task_data(desk.study, desk.secret, desk.work.items[task.item_id], task)


def _task_data(study: Study, secret: str, item: Item, task: Task) -> dict[str, Any]:
    question = study.question
    said = {
        "before": _as_shown(secret, task, question).answer if _stands(task) else None,
        "confidence": task.remarks.confidence,
        "flag": task.remarks.flag,
        "comment": task.remarks.comment,
        "extra": task.remarks.extra if question.extra else None,
        "facts": _facts(item, question),
    }
    return {"code": task.code, "revision": task.revision, **{name: value for name, value in said.items() if value}}


def _facts(item: Item, question: Question) -> list[tuple[str, str]]:
    """Return the facts that stand beside the picture, each with its name; versions are in the picture itself."""
    texts = {"application": item.application, "benchmark": item.benchmark, "unit": item.unit}
    return [(name, texts[name]) for name in question.facts if texts.get(name)]


def _as_shown(secret: str, task: Task, question: Question) -> Task:
    """Return a task with its answer as the reviewer gave it, in terms of the sides that the picture shows."""
    if task.answer is None or not as_seen.is_swapped(question, secret, task.code):
        return task
    return replace(task, answer=question.mirrored(task.answer))


def submission_from(event: object) -> NewLabel:
    """Convert an event from the screen into a submission.

    The event has event_id, code, revision, answer, and optionally dwell_ms, view, confidence, flag and comment. It
    comes from a browser, so it may contain anything. Raises AnswerRefused if the event is not such a mapping, or a
    value has the wrong type or is too long.
    """
    match event:
        case {"event_id": str(event_id), "code": str(code), "revision": int(revision), "answer": str(answer), **others}:
            more: dict[str, Any] = {str(name): value for name, value in others.items() if name in _MORE}
        case _:
            raise AnswerRefused(_UNREADABLE)
    fits = (
        all(text.isascii() and 0 < len(text) <= MAX_TEXT_LENGTH for text in (event_id, code))
        and 0 < len(answer) <= (marks.MAX_LENGTH if marks.are_marks(answer) else MAX_TEXT_LENGTH)
        and _is_count(revision)
        and all(_MORE[name](value) for name, value in more.items())
    )
    if not fits:
        raise AnswerRefused(_UNREADABLE)
    comment = (more.pop("comment", None) or "").strip() or None
    return NewLabel(event_id, code, revision, answer, comment=comment, **more)


def submit(
    db: Database,
    reviewer_id: int,
    submission: NewLabel,
    *,
    now: datetime,
    session: str | None = None,
    facts: Mapping[str, int | None] = NO_FACTS,
) -> Desk:
    """Store a reviewer's answer, and the session in which the answer was given; return the desk before the answer.

    `facts` is what the server knows of the time when the picture was sent.

    If the study already has an answer with this event id, nothing is stored. Raises NotAllowed if the study or this
    reviewer cannot label anything now, or the person is not a reviewer. Raises NotAssigned if the item is neither
    offered to this reviewer nor answered by this reviewer. Raises AnswerRefused if the answer was too fast, or the item
    was answered in another window.
    """
    with db.atomic():
        own = desk(db, reviewer_id, code=submission.code, event_id=submission.event_id)
        study, task = own.study, own.work.asked
        if not study.question.is_answer(submission.answer):
            raise AnswerRefused(_UNREADABLE)
        answer = study.question.checked_answer(submission.answer)
        is_swapped = task is not None and as_seen.is_swapped(study.question, own.secret, task.code)
        submission = replace(submission, answer=study.question.mirrored(answer) if is_swapped else answer)
        if own.work.event is not None:
            if task is None or own.work.event != (task.assignment_id, submission.answer):
                raise _not_open(submission)
            return own
        if own.closed:
            raise NotAllowed(f"{own.closed} Nothing was saved.")
        on_offer = {offered.code for offered in own.offers}
        is_open = task is not None and own.work.is_in_play and (_stands(task) or task.code in on_offer)
        if task is None or not (is_open or own.work.is_moved):
            raise _not_open(submission)
        _check(own, task, submission)
        item = own.work.items[task.item_id]
        if study.question.is_marked and study.question.is_label(submission.answer):
            _check_marks(study.question, submission, drawing.n_points(db, item, study))
        variation = as_seen.look_of(study, own.secret, task.code, item.n_runs).variation
        view = {
            **{name: value for name, value in submission.view.items() if name not in _OF_SERVER},
            **facts,
            "rule": study.protocol.axis_rule,
            "rule_version": binning.RULE_VERSIONS[study.protocol.axis_rule],
            "drawing": kind_of(study.question).version,
            "min_span": study.protocol.min_span,
            **({"picture": variation.json_values()} if variation else {}),
        }
        given = vars(submission) | {
            "view": view,
            "confidence": submission.confidence if study.protocol.asks_confidence else None,
            "extra": submission.extra if _has_extra(study.question, submission) else None,
        }
        label = Label(
            **given, assignment_id=task.assignment_id, created=now, origin=LabelOrigin.SCREEN, session=session,
            swapped=is_swapped if study.question.blind_side else None,
        )  # fmt: skip
        labels.add(db, label)
    return own


def _has_extra(question: Question, submission: NewLabel) -> bool:
    return question.extra is not None and submission.extra in question.extra.answers


def _not_open(submission: NewLabel) -> NotAssigned:
    """Return the error for an item that the reviewer cannot label; its text does not reveal the reason."""
    return NotAssigned(f"You cannot label item {submission.code[:20]} now. Reload the page to continue.")


def _check(desk: Desk, task: Task, submission: NewLabel) -> None:
    """Raise AnswerRefused with the first reason for which an answer to an open task is not stored."""
    code, is_undo, undoable = task.code, submission.answer == WITHDRAWN, desk.undoable
    is_too_fast = submission.dwell_ms is None or submission.dwell_ms < MIN_DWELL_MS
    lacks_confidence = desk.study.protocol.asks_confidence and submission.confidence is None
    shown = _as_shown(desk.secret, task, desk.study.question).answer
    which = f", {marks.describe(shown)}," if shown and _stands(task) else ""
    answered_elsewhere = f"Item {code} was answered in another window in the meantime. That answer{which} is kept."
    nothing_to_undo = f"Item {code} has no answer to undo."
    not_the_last = (
        f"U undoes only your last answer, and only within your latest {LOOK_BACK} items. You can change your latest "
        "answers on the page My labels."
    )
    too_fast = f"Item {code} was on the screen for less than {MIN_DWELL_MS} ms. Answer it again."
    how_sure = f"Press 1, 2 or 3 to say how sure you are about item {code}."
    refusals = (
        (submission.revision != task.revision, answered_elsewhere),
        (is_undo and not _stands(task), nothing_to_undo),
        (is_undo and not desk.work.is_moved and (undoable is None or undoable.code != code), not_the_last),
        (is_too_fast and not is_undo, too_fast),
        (lacks_confidence and is_label(submission.answer), how_sure),
    )
    why = next((why for applies, why in refusals if applies), None)
    if why is not None:
        raise AnswerRefused(why)


def _check_marks(question: Question, submission: NewLabel, n: int | None) -> None:
    """Raise AnswerRefused if marks are not points of the series, or the reviewer has not seen the whole series."""
    try:
        question.checked_label(submission.answer, n)
    except ValueError as error:
        raise AnswerRefused(f"Item {submission.code}: {error}. Mark it again.") from None
    if submission.view.get("whole") is not True:
        raise AnswerRefused(f"Item {submission.code}: the whole series was not on the screen. Answer it again.")


def _own_label(task: Task, number: int, answers: list[Label], answered: tuple[replies.Reply, ...]) -> OwnLabel:
    """Return a task with its answers, for the page My labels.

    The given answers must be in order of time, so that the last one is current.
    """
    times = [time for answer in answers if (time := timing.time_on_task(answer.dwell_ms, answer.view)) is not None]
    last = answers[-1]
    n_taken_back = sum(answer.answer == WITHDRAWN for answer in answers)
    n_kept = len(answers) - 2 * n_taken_back
    return OwnLabel(
        task, number, last.created.isoformat(), n_kept - 1, sum(times) if times else None, last.confidence,
        last.flag, last.comment, tuple(reply.text for reply in answered),
    )  # fmt: skip


def _is_comment(value: object) -> bool:
    return value is None or (isinstance(value, str) and len(value) <= MAX_COMMENT_LENGTH and is_storable(value))


def _is_view(value: object) -> bool:
    try:
        return isinstance(value, dict) and len(json.dumps(value, allow_nan=False)) <= MAX_VIEW_LENGTH
    except (ValueError, RecursionError):
        return False


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _stands(task: Task) -> bool:
    return task.answer is not None and task.answer != WITHDRAWN


def _is_calibrating(study: Study) -> bool:
    return study.phase is State.CALIBRATION


def _why_closed(study: Study, person: Person) -> str:
    if person.paused and study.phase not in (State.CLOSED, State.UNBLINDED):
        return "You are paused at the moment. Your labels are kept. Your coordinator will tell you when to continue."
    return _CLOSED.get(study.state, "")


_CLOSED: Mapping[State, str] = {
    State.DRAFT: "The study has not begun yet. Items will appear here when the coordinator opens the study.",
    State.PAUSED: "The study is paused at the moment. Your labels are kept. Come back later.",
    State.CLOSED: "The study is closed for labelling. Thank you!",
    State.UNBLINDED: "The study is closed for labelling. Thank you!",
}  # reasons why nothing can be labelled
_CALIBRATED = "Calibration finished. The study continues when the coordinator opens it."
_UNREADABLE = "The browser sent an answer that cannot be read. Reload the page to continue."
_OF_SERVER = frozenset(("picture", timing.SINCE_SENT))  # parts of a view that a browser cannot set
_MORE: Mapping[str, Callable[[Any], bool]] = {
    "dwell_ms": lambda value: value is None or _is_count(value),
    "view": _is_view,
    "confidence": lambda value: value is None or (_is_count(value) and value in CONFIDENCES),
    "flag": lambda value: isinstance(value, bool),
    "comment": _is_comment,
    "extra": lambda value: value is None or (isinstance(value, str) and 0 < len(value) <= MAX_TEXT_LENGTH),
}  # optional fields of an event, each with a function that checks the value
