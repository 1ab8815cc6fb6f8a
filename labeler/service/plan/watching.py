"""How far everyone is, how fast, and who has stopped; never what they said."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from labeler.model import Answer, Person, State, Task
from labeler.plan.lifecycle import ALLOWED, Action
from labeler.screen import timing
from labeler.store import Database, assignments, events, labels, people, studies
from labeler.store.events import Event
from labeler.store.labels import AnswerTime

STALLED_DAYS = 3
SIGN_IN = "sign in"
MAX_DAYS_AHEAD = 3650  # an end beyond that is not worth a date
_FOR_ALL = frozenset(("draw plan", "open study", "third round"))
_FOR_ONE = {"add person": "name", "resume reviewer": "name", "replace reviewer": "successor"}


@dataclass(frozen=True)
class Pace:
    """How far one reviewer is in the round that is on: the calibration round, or what comes after it.

    Attributes
    ----------
    reviewer : str
    takes_part, paused : bool
    is_open : bool
        Whether the study can be labelled at the moment.
    n_assigned, n_done, n_not_sure : int
        Items that count, those labelled, and those whose answer is "not sure".
    n_left : int
        Items still to be put before the reviewer; one answered "not sure" once is put again.
    time_on_task_s : float or None
        Median over the reviewer's own answers; None if nothing was timed.
    labels_per_day : float or None
        Labels per day (UTC) with at least one answer; None before the first.
    hours_left : float or None
        What is left at the time on task.
    last_seen_utc : str or None
        The later of the last answer and the last sign-in.
    estimated_end : date or None
        At the labels per calendar day since the first answer; None where unknown, or nothing is left to wait for.
    stalled_since : date or None
        Since when a reviewer who could label has neither answered nor signed in; None if not for `STALLED_DAYS`.
    """

    reviewer: str
    takes_part: bool
    paused: bool
    is_open: bool
    n_assigned: int
    n_done: int
    n_not_sure: int
    n_left: int
    time_on_task_s: float | None
    labels_per_day: float | None
    hours_left: float | None
    last_seen_utc: str | None
    estimated_end: date | None
    stalled_since: date | None

    @property
    def stalled(self) -> bool:
        """Whether somebody should ask what is the matter."""
        return self.stalled_since is not None


def progress(db: Database, *, now: datetime) -> list[Pace]:
    """Every reviewer's pace in the round that is on, in order of name."""
    study = studies.get(db)
    calibrating, is_open = study.phase is State.CALIBRATION, study.state in ALLOWED[Action.LABEL]
    log = events.of_actions(db, {*_FOR_ALL, *_FOR_ONE, SIGN_IN})
    answer_times: dict[str, list[AnswerTime]] = defaultdict(list)
    for answer in labels.answer_times(db, calibration=calibrating):
        answer_times[answer.reviewer].append(answer)
    return [
        _pace(
            person,
            assignments.tasks_of(db, person.person_id, calibration=calibrating),
            answer_times[person.name],
            [event for event in log if _concerns(event, person.name)],
            is_open=is_open,
            now=now.astimezone(UTC),
        )
        for person in people.reviewers(db)
    ]


def in_words(pace: Pace) -> str:
    """One word, or a few, for where a reviewer stands."""
    if not pace.takes_part:
        return "left"
    if not pace.n_assigned:
        return "nothing assigned"
    if not pace.n_left:
        return "done"
    if pace.paused:
        return "paused"
    if pace.stalled_since is not None:
        return f"stalled since {pace.stalled_since}"
    return "working" if pace.is_open else "unfinished"


def rows(paces: Iterable[Pace]) -> list[dict[str, Any]]:
    """The same as a table to be shown."""
    return [
        {
            "reviewer": pace.reviewer,
            "done": pace.n_done,
            "assigned": pace.n_assigned,
            "not sure": pace.n_not_sure,
            "s an item": _rounded(pace.time_on_task_s),
            "labels a day": _rounded(pace.labels_per_day),
            "last seen (UTC)": pace.last_seen_utc and pace.last_seen_utc[:16].replace("T", " "),
            "hours left": _rounded(pace.hours_left),
            "estimated end": pace.estimated_end and pace.estimated_end.isoformat(),
            "state": in_words(pace),
        }
        for pace in paces
    ]


def warning(paces: Iterable[Pace]) -> str:
    """Who has stalled and what can be done; empty if nobody has."""
    names = ", ".join(f"{pace.reviewer} since {pace.stalled_since}" for pace in paces if pace.stalled)
    if not names:
        return ""
    return (
        f"Items are open, but neither an answer nor a sign-in came for {STALLED_DAYS} days or more: {names}. Write to "
        "them; on the page People they can be paused, or replaced by somebody who goes on with their items."
    )


def _pace(
    person: Person,
    tasks: Sequence[Task],
    answer_times: Sequence[AnswerTime],
    log: Sequence[Event],
    *,
    is_open: bool,
    now: datetime,
) -> Pace:
    own = [answer for answer in answer_times if answer.in_round]
    n_labels, days = sum(answer.is_label for answer in own), {_time(answer.created_utc).date() for answer in own}
    n_left, typical, last_seen = sum(map(is_left, tasks)), _typical(own), _last_seen(answer_times, log)
    task_times = [_time(event.at_utc) for event in log if event.action != SIGN_IN]
    waits = is_open and person.active and not person.paused and n_left > 0
    return Pace(
        reviewer=person.name,
        takes_part=person.active,
        paused=person.paused,
        is_open=is_open,
        n_assigned=len(tasks),
        n_done=sum(task.answer in (Answer.SIMILAR, Answer.DISSIMILAR) for task in tasks),
        n_not_sure=sum(task.answer is Answer.NOT_SURE for task in tasks),
        n_left=n_left,
        time_on_task_s=typical,
        labels_per_day=n_labels / len(days) if days else None,
        hours_left=None if typical is None else n_left * typical / 3600,
        last_seen_utc=None if last_seen is None else last_seen.isoformat(),
        estimated_end=_end(n_left, n_labels, min(days), now) if waits and days else None,
        stalled_since=_stalled([*task_times, *filter(None, [last_seen])], now) if waits else None,
    )


def _typical(own: Sequence[AnswerTime]) -> float | None:
    timed = ((answer.dwell_ms, json.loads(answer.view)) for answer in own)
    return timing.typical(timing.time_on_task(dwell_ms, view) for dwell_ms, view in timed if dwell_ms is not None)


def _last_seen(answer_times: Sequence[AnswerTime], log: Sequence[Event]) -> datetime | None:
    signs = [answer.created_utc for answer in answer_times] + [event.at_utc for event in log if event.action == SIGN_IN]
    return max(map(_time, signs), default=None)


def is_left(task: Task) -> bool:
    """Whether the item is put before the reviewer once more."""
    is_open = task.answer in (None, Answer.WITHDRAWN)
    return is_open or (task.answer is Answer.NOT_SURE and task.n_not_sure == 1)


def _end(n_left: int, n_labels: int, first: date, now: datetime) -> date | None:
    n_days = (now.date() - first).days + 1
    days_ahead = n_left * n_days / n_labels if n_labels else MAX_DAYS_AHEAD + 1
    return (now + timedelta(days=days_ahead)).date() if days_ahead <= MAX_DAYS_AHEAD else None


def _stalled(signs: Sequence[datetime], now: datetime) -> date | None:
    last = max(signs, default=now)
    return last.date() if now - last >= timedelta(days=STALLED_DAYS) else None


def _concerns(event: Event, name: str) -> bool:
    """Whether an event is a sign of this reviewer, or gave them something to do."""
    if event.action == SIGN_IN:
        return event.actor == name
    return event.action in _FOR_ALL or event.details[_FOR_ONE[event.action]] == name


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
