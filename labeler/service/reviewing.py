"""For reviewers. Nothing here returns another rater's label, a verdict, a name of an item, or why it was assigned."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from labeler.errors import AnswerRefused, NotAllowed, NotAssigned
from labeler.model import Answer, Category, Label, Role, State, Submission, Task
from labeler.service import drawing, identity
from labeler.store import Database, assignments, labels, studies

MIN_DWELL_MS = 250
N_OFFERED = 2  # the item on the screen and the one fetched ahead
MAX_TEXT_LENGTH, MAX_VIEW_LENGTH = 64, 2000
CATEGORIES = frozenset(Answer(category) for category in Category)


@dataclass(frozen=True)
class OwnProgress:
    """How far the reviewer is; `n_not_sure` of the rest were answered "not sure"."""

    n_done: int
    n_assigned: int
    n_not_sure: int


@dataclass(frozen=True)
class OwnLabel:
    """One of the reviewer's own items with the answer that stands."""

    task: Task
    created_utc: str
    n_revisions: int


def question(db: Database) -> str:
    """What the study asks."""
    return studies.get(db).question


def offers(db: Database, reviewer_id: int) -> list[Task]:
    """The next tasks, at most two: open ones in planned order, then once again those answered "not sure"."""
    identity.require(db, reviewer_id, Role.REVIEWER)
    return _offered(assignments.tasks_of(db, reviewer_id))


def task_by_code(db: Database, reviewer_id: int, code: str) -> Task:
    """One of the reviewer's own answered tasks; raises NotAssigned for any other."""
    task = assignments.task_by_code(db, reviewer_id, code)
    if task is None or task.answer is None:
        raise NotAssigned(f"Item {code[:20]} is none of yours.")
    return task


def last_answered(db: Database, reviewer_id: int) -> Task | None:
    """The task whose answer an undo takes back: the one answered last of those that have an answer standing."""
    standing = {task.code: task for task in assignments.tasks_of(db, reviewer_id) if _stands(task)}
    answered = [code for code, *_ in labels.own_answers(db, reviewer_id) if code in standing]
    return standing[answered[-1]] if answered else None


def own_progress(db: Database, reviewer_id: int) -> OwnProgress:
    """Counts of the reviewer's own tasks."""
    tasks = assignments.tasks_of(db, reviewer_id)
    n_done = sum(task.answer in CATEGORIES for task in tasks)
    return OwnProgress(n_done, len(tasks), sum(task.answer == Answer.NOT_SURE for task in tasks))


def own_labels(db: Database, reviewer_id: int) -> list[OwnLabel]:
    """The reviewer's own tasks that have an answer standing, the one answered last first."""
    identity.require(db, reviewer_id, Role.REVIEWER)
    tasks = {task.code: task for task in assignments.tasks_of(db, reviewer_id) if _stands(task)}
    times = {code: created for code, _, _, created in labels.own_answers(db, reviewer_id)}  # the last one stays
    order = list(dict.fromkeys(code for code, *_ in reversed(labels.own_answers(db, reviewer_id)) if code in tasks))
    return [OwnLabel(tasks[code], times[code], tasks[code].revision - 1) for code in order]


def picture(db: Database, task: Task) -> Mapping[str, Any]:
    """What the screen draws of a task: its code, and bins without anything that tells what was measured."""
    study = studies.get(db)
    payload = drawing.payload_of_item(db, task.item_id)
    return {"code": task.code, "revision": task.revision, "axis_rule": study.axis_rule, "picture": payload}


def submission_from(event: object) -> Submission:
    """Read an event as the screen sends it.

    Parameters
    ----------
    event : object
        A mapping with event_id, code, revision, answer, and optionally dwell_ms and view; comes from a browser, so
        anything may stand there.

    Returns
    -------
    Submission

    Raises
    ------
    AnswerRefused
        If it is not such a mapping, or a value is of the wrong type or too long.
    """
    unreadable = AnswerRefused("The browser sent an answer that cannot be read. Reload to go on.")
    if not isinstance(event, dict):
        raise unreadable
    match event:
        case {"event_id": str(event_id), "code": str(code), "revision": int(revision), "answer": str(answer)}:
            dwell_ms, view = event.get("dwell_ms"), event.get("view", {})
        case _:
            raise unreadable
    texts_fit = all(text.isascii() and 0 < len(text) <= MAX_TEXT_LENGTH for text in (event_id, code))
    counts_fit = _is_count(revision) and (dwell_ms is None or _is_count(dwell_ms))
    if not (texts_fit and counts_fit and _is_view(view) and answer in set(Answer)):
        raise unreadable
    return Submission(event_id, code, revision, Answer(answer), dwell_ms, view)


def submit(db: Database, reviewer_id: int, submission: Submission, *, now: datetime) -> None:
    """Keep a reviewer's answer. The same event twice keeps it once.

    Raises
    ------
    NotAllowed
        If the study is not open, or this is no reviewer.
    NotAssigned
        If the item is not on offer to this reviewer, nor one of their own answered items.
    AnswerRefused
        If it came faster than a person can look, or the item was answered elsewhere meanwhile.
    """
    with db.atomic():
        identity.require(db, reviewer_id, Role.REVIEWER)
        task = assignments.task_by_code(db, reviewer_id, submission.code)
        known = labels.event(db, submission.event_id)
        if known is not None:
            if task is None or known != (task.assignment_id, submission.answer):
                raise AnswerRefused("This answer carries the mark of another one. Reload to go on.")
            return
        if studies.get(db).state is not State.OPEN:
            raise NotAllowed("The study is not open for labelling at the moment.")
        if task is None or not (_stands(task) or task.code in _codes_on_offer(db, reviewer_id)):
            raise NotAssigned(f"Item {submission.code[:20]} is not yours to label now. Reload to go on.")
        _check(task, submission, last_answered(db, reviewer_id))
        labels.add(
            db,
            Label(
                task.assignment_id, submission.revision, submission.event_id, submission.answer, now,
                submission.dwell_ms, submission.view, submission.confidence, submission.flag, submission.comment,
            ),
        )  # fmt: skip


def _check(task: Task, submission: Submission, last: Task | None) -> None:
    if submission.revision != task.revision:
        raise AnswerRefused(f"Item {task.code} was answered in another window meanwhile. Reload to go on.")
    if submission.answer is Answer.WITHDRAWN:
        if not _stands(task):
            raise AnswerRefused(f"Item {task.code} has no answer to take back.")
        if last is None or last.code != task.code:
            raise AnswerRefused(f"Item {task.code} is not the one you answered last. Change it under My labels.")
    elif submission.dwell_ms is None or submission.dwell_ms < MIN_DWELL_MS:
        raise AnswerRefused(f"Item {task.code} was on the screen for less than {MIN_DWELL_MS} ms. Look again.")


def _is_view(value: object) -> bool:
    try:
        return isinstance(value, dict) and len(json.dumps(value, allow_nan=False)) <= MAX_VIEW_LENGTH
    except (ValueError, RecursionError):
        return False


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _stands(task: Task) -> bool:
    return task.answer is not None and task.answer is not Answer.WITHDRAWN


def _offered(tasks: list[Task]) -> list[Task]:
    still_open = [task for task in tasks if not _stands(task)]
    once_more = [task for task in tasks if task.answer is Answer.NOT_SURE and task.n_not_sure == 1]
    return (still_open + once_more)[:N_OFFERED]


def _codes_on_offer(db: Database, reviewer_id: int) -> set[str]:
    return {task.code for task in _offered(assignments.tasks_of(db, reviewer_id))}
