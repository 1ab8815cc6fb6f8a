"""Measure the progress and pace of each reviewer, and warn about inactive reviewers.

The results never contain answers.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import exp, sqrt
from typing import Any

from analysis.text import minute
from labeler.studies.model import Kind, Person, State, Task
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import ALLOWED, Action
from labeler.studies.questions import NOT_SURE, WITHDRAWN, is_label
from labeler.studies.screen import timing
from labeler.studies.store import Database, actions, assignments, events, labels, people, studies
from labeler.studies.store.actions import LogAction
from labeler.studies.store.labels import AnswerTime
from labeler.studies.store.log_state import Event

STALLED_DAYS = 3
MAX_DAYS_AHEAD = 3650  # if the estimated finish is more days away than this, no date is shown
FAST_S, N_FOR_FAST = 1.5, 10  # seconds; a person needs more time to look at ten runs
N_DAYS = 60
HOURLY_UP_TO = timedelta(
    days=3
)  # in studies up to this length, labels are counted per hour; in longer studies, per day
Z_80 = 1.2816  # for an 80 % interval
# events that give work to every reviewer, and events that give work to the person whom a field names
_FOR_ALL = (actions.DRAW_PLAN, actions.OPEN_STUDY, actions.THIRD_ROUND)
_FOR_ONE: Mapping[LogAction[...], str] = {
    actions.ADD_PERSON: "name", actions.RESUME_REVIEWER: "name", actions.REPLACE_REVIEWER: "successor",
}  # fmt: skip


@dataclass(frozen=True)
class Pace:
    """Progress and pace of one reviewer in the current round: calibration or the study itself."""

    reviewer: str
    takes_part: bool
    paused: bool
    is_open: bool  # whether reviewers can label in the study now
    # The number of assigned items without excluded items, the number of labelled items, and the number of items
    # whose answer is "not sure".
    n_assigned: int
    n_done: int
    n_not_sure: int
    # Number of items that the reviewer will still see. An item is shown again after the first "not sure" answer.
    n_left: int
    time_on_task_s: float | None  # median time on task over the reviewer's answers; None if nothing was timed
    # Mean number of labels per day, over the days (UTC) with an answer; None before the first answer.
    labels_per_day: float | None
    hours_left: float | None  # estimated hours for the remaining items, computed from the median time on task
    last_seen_utc: str | None  # time of the last answer or the last sign-in, whichever is later
    # The estimated day of the last label, computed from the labels per calendar day since the first answer; None
    # if this is unknown or no work is left.
    estimated_end: date | None
    # An 80 % interval for `estimated_end`, computed from the variation of labels per day; None before the second
    # day.
    end_between: tuple[date, date] | None
    # The day on which the reviewer was last active, if the reviewer can label but has been inactive for at least
    # `STALLED_DAYS` days; otherwise None.
    stalled_since: date | None
    # Whether the median time on task is implausibly short, which means below `FAST_S` for at least `N_FOR_FAST`
    # answers.
    is_fast: bool = False
    n_unseen: int = 0  # answers to items whose picture the server never sent
    # Number of labels on each calendar day (UTC), from the first answer in the round until today; at most
    # `N_DAYS` days.
    by_day: tuple[int, ...] = ()
    shown: str = ""  # the name that pages show, if the person was renamed

    @property
    def name(self) -> str:
        """The name that pages show."""
        return self.shown or self.reviewer

    @property
    def minutes_left(self) -> float | None:
        """Estimated minutes for the remaining items; None if this is unknown."""
        return None if self.hours_left is None else 60 * self.hours_left

    @property
    def stalled(self) -> bool:
        """Whether the reviewer has stopped labelling, so that a coordinator should write to the reviewer."""
        return self.stalled_since is not None


def reviewer_paces(db: Database, *, now: datetime) -> list[Pace]:
    """Return the progress and pace of each reviewer in the current round, sorted by name."""
    study = studies.get(db)
    calibrating, is_open = study.phase is State.CALIBRATION, study.state in ALLOWED[Action.LABEL]
    log = events.of_actions(db, [*_FOR_ALL, *_FOR_ONE, actions.SIGN_IN])
    answer_times: dict[str, list[AnswerTime]] = defaultdict(list)
    for answer in labels.answer_times(db, calibration=calibrating):
        answer_times[answer.reviewer].append(answer)
    days = _by_day(labels.n_by_hour(db, calibration=calibrating), now.astimezone(UTC).date())
    shown = identity.shown_names(db)
    return [
        _pace(
            person,
            shown.get(person.name, ""),
            assignments.tasks_of(db, person.person_id, calibration=calibrating),
            answer_times[person.name],
            [event for event in log if _concerns(event, person.name)],
            is_open=is_open,
            by_day=days.get(person.name, ()),
            now=now.astimezone(UTC),
        )
        for person in people.reviewers(db)
    ]


def describe(pace: Pace) -> str:
    """Return the state of a reviewer in a few words, such as "working" or "done"."""
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
    """Return the progress of each reviewer as a row of a table."""
    return [
        {
            "reviewer": pace.reviewer,
            "done": pace.n_done,
            "assigned": pace.n_assigned,
            "not sure": pace.n_not_sure,
            "seconds per item": _rounded(pace.time_on_task_s),
            "without picture": pace.n_unseen,
            "labels per day": _rounded(pace.labels_per_day),
            "last seen (UTC)": pace.last_seen_utc and minute(pace.last_seen_utc),
            "hours left": _rounded(pace.hours_left),
            "estimated finish": _finish(pace),
            "state": describe(pace),
        }
        for pace in paces
    ]


def finish(paces: Iterable[Pace]) -> tuple[date | None, tuple[date, date] | None]:
    """Return the day on which the last reviewer will probably finish, with an interval; None if this is unknown."""
    waiting = [pace for pace in paces if pace.takes_part and not pace.paused and pace.n_left and pace.is_open]
    ends = [pace.estimated_end for pace in waiting if pace.estimated_end is not None]
    between = [pace.end_between for pace in waiting if pace.end_between is not None]
    if not ends or len(ends) < len(waiting):
        return None, None
    if len(between) < len(waiting):
        return max(ends), None
    return max(ends), (max(low for low, _ in between), max(high for _, high in between))


def describe_finish(pace: Pace) -> str:
    """Return when a reviewer will finish, or why this is not known."""
    if pace.estimated_end is not None:
        return f"{pace.estimated_end:%a} {short_date(pace.estimated_end)}"
    return describe(pace) if pace.stalled_since is None else "not known"


def describe_day(at_utc: str | None, today: date) -> str:
    """Return the day of a time as people say it, such as "today" or "Mon 23 Nov"; a dash if it is unknown."""
    if at_utc is None:
        return "—"
    day = datetime.fromisoformat(at_utc).astimezone(UTC).date()
    return {0: "today", 1: "yesterday"}.get((today - day).days, f"{day:%a} {short_date(day)}")


def short_date(day: date) -> str:
    """Return a day without its year, such as "3 Nov"."""
    return f"{day.day} {day:%b}"


def time_on_task(db: Database) -> list[float]:
    """Return the time on task, in seconds, of each answer in the current round that was timed."""
    calibrating = studies.get(db).phase is State.CALIBRATION
    in_round = [answer for answer in labels.answer_times(db, calibration=calibrating) if answer.in_round]
    return [time / 1000 for answer in in_round if (time := _time_of(answer)) is not None]


def _time_of(answer: AnswerTime) -> int | None:
    return timing.time_on_task(answer.dwell_ms, json.loads(answer.view))


def warning(paces: Iterable[Pace]) -> str:
    """Return a warning about inactive reviewers, with advice; return "" if there are no such reviewers."""
    names = ", ".join(f"{pace.reviewer} since {pace.stalled_since}" for pace in paces if pace.stalled)
    if not names:
        return ""
    return (
        f"These reviewers have open items, but have not answered or signed in for {STALLED_DAYS} days or more: "
        f"{names}. Write to them, or pause or replace them on the People page."
    )


def _pace(
    person: Person,
    shown: str,
    tasks: Sequence[Task],
    answer_times: Sequence[AnswerTime],
    log: Sequence[Event],
    *,
    is_open: bool,
    by_day: tuple[int, ...],
    now: datetime,
) -> Pace:
    own = [answer for answer in answer_times if answer.in_round]
    n_labels, days = sum(answer.is_label for answer in own), {_time(answer.created_utc).date() for answer in own}
    times = [time for answer in own if (time := _time_of(answer)) is not None]
    n_left, typical, last_seen = sum(map(is_left, tasks)), timing.typical(times), _last_seen(answer_times, log)
    task_times = [_time(event.at_utc) for event in log if event.action != actions.SIGN_IN.name]
    waits = is_open and person.active and not person.paused and n_left > 0
    return Pace(
        reviewer=person.name,
        takes_part=person.active,
        paused=person.paused,
        is_open=is_open,
        n_assigned=len(tasks),
        n_done=sum(is_label(task.answer) for task in tasks),
        n_not_sure=sum(task.answer == NOT_SURE for task in tasks),
        n_left=n_left,
        time_on_task_s=typical,
        labels_per_day=n_labels / len(days) if days else None,
        hours_left=None if typical is None else n_left * typical / 3600,
        last_seen_utc=None if last_seen is None else last_seen.isoformat(),
        estimated_end=_end(n_left, n_labels, min(days), now) if waits and days else None,
        end_between=_end_between(n_left, own, now) if waits and days else None,
        stalled_since=_stalled([*task_times, *filter(None, [last_seen])], now) if waits else None,
        is_fast=typical is not None and typical < FAST_S and len(times) >= N_FOR_FAST,
        n_unseen=sum(timing.is_unseen(json.loads(answer.view)) for answer in own),
        by_day=by_day,
        shown=shown,
    )


def _last_seen(answer_times: Sequence[AnswerTime], log: Sequence[Event]) -> datetime | None:
    signs = [answer.created_utc for answer in answer_times] + [
        event.at_utc for event in log if event.action == actions.SIGN_IN.name
    ]
    return max(map(_time, signs), default=None)


def is_left(task: Task) -> bool:
    """Return whether the reviewer will still see the item of this task."""
    is_open = task.answer in (None, WITHDRAWN)
    return is_open or (task.answer == NOT_SURE and task.n_not_sure == 1)


def _end(n_left: int, n_labels: int, first: date, now: datetime) -> date | None:
    n_days = (now.date() - first).days + 1
    days_ahead = n_left * n_days / n_labels if n_labels else MAX_DAYS_AHEAD + 1
    return (now + timedelta(days=days_ahead)).date() if days_ahead <= MAX_DAYS_AHEAD else None


def _end_between(n_left: int, own: Sequence[AnswerTime], now: datetime) -> tuple[date, date] | None:
    """Return an 80 % interval for the day on which a reviewer will finish; return None if there are too few days.

    The labels per day are treated as quasi-Poisson counts: their variance is the mean times a dispersion, which is
    estimated from the days and is at least 1. The interval uses the normal approximation for the logarithm of the
    mean [1]_.

    .. [1] McCullagh & Nelder (1989), Generalized Linear Models, 2nd ed., chapter 9, doi:10.1007/978-1-4899-3242-6
    """
    times = [_time(answer.created_utc).date() for answer in own if answer.is_label]
    if not times:
        return None
    n_days = (now.date() - min(times)).days + 1
    if n_days < 2:
        return None
    counts = Counter(times)
    mean = len(times) / n_days
    squares = sum((counts[min(times) + timedelta(days=day)] - mean) ** 2 for day in range(n_days))
    dispersion = max(1.0, squares / (n_days - 1) / mean)
    spread = exp(Z_80 * sqrt(dispersion / len(times)))
    soon, late = n_left / mean / spread, n_left / mean * spread
    return (now + timedelta(days=soon)).date(), (now + timedelta(days=min(late, MAX_DAYS_AHEAD))).date()


def _by_day(counts: Iterable[tuple[str, str, int]], today: date) -> dict[str, tuple[int, ...]]:
    """Return the number of labels of each reviewer on each day, from the first day with any label until today."""
    by_reviewer: dict[str, Counter[date]] = defaultdict(Counter)
    for reviewer, hour, n in counts:
        by_reviewer[reviewer][date.fromisoformat(hour[:10])] += n
    days = [day for counter in by_reviewer.values() for day in counter]
    if not days:
        return {}
    first = max(min(days), today - timedelta(days=N_DAYS - 1))
    shown = [first + timedelta(days=number) for number in range((max(today, max(days)) - first).days + 1)]
    return {reviewer: tuple(counter[day] for day in shown) for reviewer, counter in by_reviewer.items()}


def _finish(pace: Pace) -> str | None:
    if pace.estimated_end is None:
        return None
    if pace.end_between is None or pace.end_between[0] == pace.end_between[1]:
        return pace.estimated_end.isoformat()
    low, high = pace.end_between
    return f"{pace.estimated_end} ({low} to {high})"


def _stalled(signs: Sequence[datetime], now: datetime) -> date | None:
    last = max(signs, default=now)
    return last.date() if now - last >= timedelta(days=STALLED_DAYS) else None


def _concerns(event: Event, name: str) -> bool:
    """Return whether an event restarts the time without activity: a sign-in of this reviewer, or new work."""
    if event.action == actions.SIGN_IN.name:
        return event.actor == name
    action = actions.ACTIONS[event.action]
    return action in _FOR_ALL or event.details.get(_FOR_ONE[action]) == name


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def third_labels(db: Database) -> tuple[int, int]:
    """Return how many of the assigned third labels were given, and the number of assigned third labels."""
    return labels.n_of_kind(db, Kind.THIRD)


def labels_over_time(db: Database, *, calibration: bool | None = None) -> list[tuple[datetime, int]]:
    """Return the number of current labels in each hour; in a longer study, return the number in each day.

    The labels are from the calibration round, from the study itself, or from both.
    """
    counts: Counter[datetime] = Counter()
    for _, hour, n in labels.n_by_hour(db, calibration=calibration):
        counts[datetime.fromisoformat(f"{hour}:00:00+00:00")] += n
    if not counts or max(counts) - min(counts) <= HOURLY_UP_TO:
        return sorted(counts.items())
    by_day: Counter[datetime] = Counter()
    for at, n in counts.items():
        by_day[at.replace(hour=0)] += n
    return sorted(by_day.items())
