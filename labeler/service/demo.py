"""Create the demo studies, which have real measurements and simulated labels."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread
from uuid import UUID

import numpy as np

from labeler.errors import LabelerError, Refused
from labeler.formats import Source, tables
from labeler.model import Category, PlanParameters, Role, State, Submission, Task
from labeler.plan.lifecycle import Step
from labeler.service.handover import triage
from labeler.service.items import importing
from labeler.service.labelling import own_result, reviewing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results import reporting, splits
from labeler.service.study import coordinating, course, progress
from labeler.service.verdicts import computing
from labeler.store import Database, assignments, events, open_database, people, runs

COORDINATOR, YOU = "coordinator", "you"
REVIEWERS = ("ada", "ben", "cleo", "dan")
PARAMETERS = PlanParameters(seed=2026, overlap=0.2, retest=0)
FINISHED_PARAMETERS = PlanParameters(seed=2026, overlap=0.5, retest=2)
N_YOURS = 10
SEED = 2026
LOOK_EVERY_S = 0.5
MEASUREMENTS, CHANGES = ("demo.parquet", "more.parquet"), "interventions.csv"
MADE_UP = "simulated labels of the demo"
FINISHED, YOURS = "Demo: measured benchmarks, simulated labels", "Demo: label ten items yourself"
YOUR_GUIDE = (
    "Four simulated reviewers have already labelled these ten items. After your tenth label, the study is unblinded, "
    "and the page Your result compares your labels with those of these reviewers and of the classifiers."
)


@dataclass(frozen=True)
class MadeUp:
    """A simulated reviewer.

    The reviewer labels an item dissimilar if the runs seem to differ by more than a tolerance. Everybody sees the
    medians; slow iterations, which the means contain, disturb some reviewers more than others.
    """

    tolerance: float  # largest difference that counts as similar, as a share of the smallest value
    tails: float  # weight of the difference between means beyond the difference between medians
    slip: float  # share of answers that are reversed at random
    seconds: float  # typical time per item


MADE_UP_REVIEWERS = {
    "ada": MadeUp(0.05, 1.0, 0.05, 9.0),
    "ben": MadeUp(0.10, 0.7, 0.05, 14.0),
    "cleo": MadeUp(0.10, 0.5, 0.05, 7.0),
    "dan": MadeUp(0.40, 0.3, 0.05, 11.0),
}


def build(path: Path, data: Path, *, advance: computing.Advance, now: datetime) -> None:
    """Create a demo study of half of the benchmarks in a new file, ready for labelling and without answers.

    `data` is the folder of measurements included in the package; `advance` is called with (finished items, all items)
    while verdicts are computed. Raises StudyError if the file exists or cannot be made.
    """
    _begin(path, data, MEASUREMENTS[:1], "Demo study", now)
    with open_database(path) as db:
        assigning.confirm_plan(db, PARAMETERS, actor="demo", now=now)
        computing.compute_verdicts(db, advance=advance, actor="demo")


def build_finished(path: Path, data: Path, *, advance: computing.Advance, now: datetime) -> None:
    """Create a demo study of all benchmarks that is closed and unblinded.

    The labels come from simulated reviewers and are dated in the last week. Parameters and errors are the same as for
    `build`.
    """
    begin = now - timedelta(days=7)
    _begin(path, data, MEASUREMENTS, FINISHED, begin)
    rng = np.random.default_rng(SEED)
    with open_database(path) as db:
        assigning.confirm_plan(db, FINISHED_PARAMETERS, actor="demo", now=begin + timedelta(hours=1))
        computing.compute_verdicts(db, advance=advance, actor="demo")
        for day in range(1, 4):
            simulate_labels(db, begin + timedelta(days=day), rng, limit=8)
        simulate_labels(db, begin + timedelta(days=4), rng)
        _move(db, Step.THIRD, begin + timedelta(days=5))
        simulate_labels(db, begin + timedelta(days=5, hours=2), rng)
        _move(db, Step.CLOSE, begin + timedelta(days=6))
        for split in splits.split_items(db):
            if split.remains:
                seen = Category.DISSIMILAR if _apart(db, split.item.item_id) > 0.08 else Category.SIMILAR
                at = begin + timedelta(days=6, hours=1)
                splits.adjudicate(db, split.item.name, seen, MADE_UP, actor=COORDINATOR, now=at)
        _move(db, Step.UNBLIND, begin + timedelta(days=6, hours=2))


def build_yours(finished: Path, path: Path, *, which: int = 0, now: datetime) -> None:
    """Create a study with ten items of the finished study, in which the reviewer called "you" can label.

    The simulated reviewers have already labelled all ten items. `finished` is the study that `build_finished` created;
    each value of `which` chooses other items. Raises StudyError if the file exists or cannot be made.
    """
    with open_database(finished) as db:
        names = [item.name for item in coordinating.list_items(db)]
        chosen = names[which :: max(1, len(names) // N_YOURS)][:N_YOURS]
        changes = {name: words for name, words in own_result.known_changes(db).items() if name in chosen}
        triage.make_study(db, chosen, path, name=YOURS, coordinator=COORDINATOR, actor="demo", now=now)
    with open_database(path) as db:
        protocol = coordinating.get_study(db).protocol
        coordinating.set_protocol(db, replace(protocol, instructions=YOUR_GUIDE), actor="demo", now=now)
        for name in REVIEWERS:
            identity.add_person(db, name, [Role.REVIEWER], actor="demo", now=now)
        identity.add_person(db, YOU, [Role.REVIEWER], actor="demo", now=now)
        n_reviewers = len(REVIEWERS) + 1
        parameters = PlanParameters(SEED, per_item=n_reviewers, overlap=1.0, retest=0)
        assigning.confirm_plan(db, parameters, actor="demo", now=now)
        _log_changes(db, changes, now)
        own_result.allow(db, YOU, True, actor="demo", now=now)
        simulate_labels(db, now, np.random.default_rng(SEED))


def unblind_when_labelled(path: Path, *, then: Callable[[], object], clock: Callable[[], datetime]) -> None:
    """Wait in the background until the reviewer "you" has labelled all items; call `reveal`, then `then`."""

    def wait() -> None:
        with suppress(LabelerError):
            while True:
                with open_database(path) as db:
                    if reveal(db, now=clock()):
                        then()
                        return
                time.sleep(LOOK_EVERY_S)

    Thread(target=wait, daemon=True).start()


def reveal(db: Database, *, now: datetime) -> bool:
    """Close and unblind the study if the reviewer "you" has labelled all items; return whether it is unblinded now."""
    if coordinating.get_study(db).phase is State.UNBLINDED:
        return True
    person = people.by_name(db, YOU)
    if person is None or any(progress.is_left(task) for task in assignments.tasks_of(db, person.person_id)):
        return False
    for step in (Step.CLOSE, Step.UNBLIND):
        course.change_state(db, step, why="every item is labelled", actor="demo", now=now)
    return True


def is_yours(db: Database) -> bool:
    """Return whether this is the study in which a visitor of the demo labels ten items."""
    return coordinating.get_study(db).name == YOURS


def prepare_report(path: Path) -> None:
    """Start to compute the report of a study in the background, so that the page Report opens quickly."""
    with open_database(path) as db:
        reporting.begin_report(db, quick=False, actor="demo")


def invitations(db: Database, *, now: datetime) -> dict[str, str]:
    """Create a new sign-in secret for the coordinator and for each reviewer; return name -> secret."""
    secrets = {}
    for person in identity.everyone(db):
        role = Role.COORDINATOR if Role.COORDINATOR in person.roles else Role.REVIEWER
        secrets[person.name] = identity.invite(db, person.name, role, actor="demo", now=now)
    return secrets


def _begin(path: Path, data: Path, measurements: Sequence[str], name: str, now: datetime) -> None:
    """Create a study with the demo measurements and simulated reviewers; no items are assigned yet."""
    coordinating.create_study(
        path,
        name=name,
        coordinator=COORDINATOR,
        plan_secret="",  # made-up people need no secret, and without it each demo shows the same numbers
        now=now,
    )
    with open_database(path) as db:
        files = [Source(file, data / file) for file in measurements]
        for result in importing.import_files(db, files, actor="demo", now=now):
            if result.refused:
                raise Refused(result.file, result.refused)
        names = {item.name for item in coordinating.list_items(db)}
        _log_changes(db, {name: done for name, done in _changes(data / CHANGES).items() if name in names}, now)
        for reviewer in REVIEWERS:
            identity.add_person(db, reviewer, [Role.REVIEWER], actor="demo", now=now)


def _changes(file: Path) -> dict[str, str]:
    """Return benchmark -> what was done to some of its runs, in words."""
    table = tables.read_table(Source(file.name, file), ("benchmark", "run", "intervention", "amount"))
    return {
        str(benchmark): _describe(str(rows["intervention"].iloc[0]), float(rows["amount"].iloc[0]), len(rows))
        for benchmark, rows in table.groupby("benchmark")
    }


def _describe(intervention: str, amount: float, n_runs: int) -> str:
    share = f"{100 * amount:g} %"
    does, do = {
        "slowdown": (f"is {share} slower", f"are {share} slower"),
        "drifting level": (f"slows down by {share} while it runs", f"slow down by {share} while they run"),
        "competing process": ("shared its core with another process", "shared their core with another process"),
        "cold start": ("was measured without warm-up", "were measured without warm-up"),
        "garbage collection off": ("ran without garbage collection", "ran without garbage collection"),
        "environment size": ("had large environment variables", "had large environment variables"),
    }[intervention]
    return f"one run {does}" if n_runs == 1 else f"{n_runs} runs {do}"


def _log_changes(db: Database, changes: Mapping[str, str], now: datetime) -> None:
    """Write into the study what was done to the benchmarks before they were measured."""
    with events.by(db, "demo", now) as deed:
        deed.log(own_result.KNOWN_CHANGES, benchmarks=dict(changes))


def simulate_labels(db: Database, begin: datetime, rng: np.random.Generator, *, limit: int = 1000) -> None:
    """Store answers of each simulated reviewer, for at most `limit` items per reviewer."""
    for name, reviewer in MADE_UP_REVIEWERS.items():
        person = people.by_name(db, name)
        if person is None:
            continue
        at = begin
        for task in _offered(db, person.person_id, limit):
            seconds = reviewer.seconds * float(rng.lognormal(0.0, 0.5))
            at += timedelta(seconds=seconds)
            is_apart = _apart(db, task.item_id, reviewer.tails) > reviewer.tolerance
            answer = Category.DISSIMILAR if is_apart != (rng.random() < reviewer.slip) else Category.SIMILAR
            event_id = str(UUID(bytes=rng.bytes(16), version=4))
            given = Submission(event_id, task.code, task.revision, answer, round(1000 * seconds), {"axis": "core"})
            reviewing.submit(db, person.person_id, given, now=at)


def _offered(db: Database, person_id: int, limit: int) -> Iterator[Task]:
    """Yield the next task of a reviewer, up to `limit` times; the caller must answer each task."""
    for _ in range(limit):
        offers = reviewing.review_queue(db, person_id).offers
        if not offers:
            return
        yield offers[0]


def _apart(db: Database, item_id: int, tails: float = 0.0) -> float:
    """Return how far an item's runs seem apart: the range of the medians, and of the means beyond it, weighted."""
    measured = runs.of_item(db, item_id)
    by_median, by_mean = (_range([float(of(run)) for run in measured]) for of in (np.median, np.mean))
    return by_median + tails * max(0.0, by_mean - by_median)


def _range(values: Sequence[float]) -> float:
    """Return how much larger the largest value is than the smallest, as a share of the smallest."""
    return max(values) / min(values) - 1


def _move(db: Database, step: Step, now: datetime) -> None:
    course.change_state(db, step, why=MADE_UP, actor=COORDINATOR, now=now)
