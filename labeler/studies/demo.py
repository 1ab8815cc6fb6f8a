"""Create the demo studies: measured items with known changes, and simulated labels."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from threading import Thread
from uuid import UUID

import numpy as np

from analysis.arrays import Series
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.runs.benchmark import Benchmark
from analysis.text import joined
from labeler import marks
from labeler.errors import InputError, LabelerError, Refused
from labeler.files.formats import Source, tables, writing
from labeler.marks import Mark
from labeler.studies.course import coordinating, course, progress
from labeler.studies.items import browsing, drawing, importing, measured
from labeler.studies.items.importing import RunSelection
from labeler.studies.labelling import own_result, reviewing
from labeler.studies.model import NewLabel, PlanParameters, Role, State, Task
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import splits, written_reports
from labeler.studies.results.splits import ItemOutcome
from labeler.studies.screen import binning
from labeler.studies.screen.kinds import QUESTIONS, Payload
from labeler.studies.store import Database, actions, assignments, events, open_database, people, runs
from labeler.studies.verdicts import computing

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
VIEW_OF_PICTURE = {"axis": "levels", "whole": True}
N_ITERATIONS = 600  # of each run, so that the demo begins quickly
NO_CHANGE = str(QUESTIONS["mark-changes"].no_mark)
STRICTNESS = 0.3  # a change of a level counts from this share of what makes runs dissimilar

MARKS_PARAMETERS = PlanParameters(seed=2026, per_item=5, overlap=1.0, retest=3)
HISTORIES = "histories/histories.parquet", "histories/changes.csv"
LEAST_STAY = 3  # versions of a level that a simulated reviewer takes for a new level
NOISE_PER_DIFFERENCE = 0.954  # median absolute difference of two values with a standard deviation of 1

Answer = Callable[[Payload, np.random.Generator], str]


@dataclass(frozen=True)
class DemoLinks:
    """The addresses that the demo shows on the page Your result: the finished study's report, and ten more items."""

    report: str | None = None
    more: str | None = None


@dataclass(frozen=True)
class SimulatedReviewer:
    """A simulated reviewer.

    The reviewer labels an item dissimilar if the runs seem to differ by more than a tolerance. Everybody sees the
    medians; slow iterations, which the means contain, disturb some reviewers more than others.
    """

    tolerance: float  # largest difference that counts as similar, as a share of the smallest value
    tails: float  # weight of the difference between means beyond the difference between medians
    slip: float  # share of answers that are reversed at random
    seconds: float  # typical time per item


SIMULATED_REVIEWERS = {
    "ada": SimulatedReviewer(0.05, 1.0, 0.05, 9.0),
    "ben": SimulatedReviewer(0.10, 0.7, 0.05, 14.0),
    "cleo": SimulatedReviewer(0.10, 0.5, 0.05, 7.0),
    "dan": SimulatedReviewer(0.40, 0.3, 0.05, 11.0),
}
CAREFUL = SimulatedReviewer(0.05, 0.0, 0.0, 0.0)  # who decides split items


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
                seen = DISSIMILAR if _apart(db, split.item.item_id) > 0.08 else SIMILAR
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
        measurements = _as_source(measured.benchmark_of(db, browsing.item_named(db, name)) for name in chosen)
    coordinating.create_study(path, name=YOURS, coordinator=COORDINATOR, now=now)
    with open_database(path) as db:
        _import(db, [measurements], now)
        computing.compute_verdicts(db, actor="demo")
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


def unblind_when_labelled(path: Path, *, clock: Callable[[], datetime]) -> None:
    """Wait in the background until the reviewer "you" has labelled all items, and call `reveal` then."""

    def wait() -> None:
        with suppress(LabelerError):
            while True:
                with open_database(path) as db:
                    if reveal(db, now=clock()):
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
        written_reports.begin_report(db, quick=False, actor="demo")


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
        _import(db, [Source(file, data / file) for file in measurements], now)
        names = {item.name for item in coordinating.list_items(db)}
        _log_changes(db, {name: done for name, done in _changes(data / CHANGES).items() if name in names}, now)
        for reviewer in REVIEWERS:
            identity.add_person(db, reviewer, [Role.REVIEWER], actor="demo", now=now)


def _as_source(benchmarks: Iterable[Benchmark]) -> Source:
    """Return a file with these benchmarks, as if it were uploaded."""
    file, names = BytesIO(), writing.columns([])
    with writing.parquet_writer(file, names) as writer:
        for benchmark in benchmarks:
            writer.write_table(writing.rows(benchmark, names))
    return importing.upload("ten-items.parquet", file.getvalue())


def _import(db: Database, files: Sequence[Source], now: datetime, selection: RunSelection = importing.ALL_RUNS) -> None:
    for result in importing.import_files(db, files, selection=selection, actor="demo", now=now):
        if result.refused:
            raise Refused(result.file, result.refused)


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
        deed.log(actions.KNOWN_CHANGES, benchmarks=dict(changes))


def simulate_labels(db: Database, begin: datetime, rng: np.random.Generator, *, limit: int = 1000) -> None:
    """Store answers of each simulated reviewer, for at most `limit` items per reviewer."""
    for name, reviewer in SIMULATED_REVIEWERS.items():
        person = people.by_name(db, name)
        if person is None:
            continue
        at = begin
        for task in _offered(db, person.person_id, limit):
            seconds = reviewer.seconds * float(rng.lognormal(0.0, 0.5))
            at += timedelta(seconds=seconds)
            is_apart = _apart(db, task.item_id, reviewer.tails) > reviewer.tolerance
            answer = DISSIMILAR if is_apart != (rng.random() < reviewer.slip) else SIMILAR
            event_id = str(UUID(bytes=rng.bytes(16), version=4))
            given = NewLabel(event_id, task.code, task.revision, answer, round(1000 * seconds), {"axis": "core"})
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


@dataclass(frozen=True)
class QuestionDemo:
    """The measurements of a demo, and its simulated reviewers."""

    sources: Callable[[Path], list[Source]]
    reviewers: Mapping[str, tuple[Answer, float]]  # name -> how the reviewer answers, and typical seconds per item
    decide: Callable[[ItemOutcome, Payload], str]  # how split items are decided
    selection: RunSelection = importing.ALL_RUNS
    is_judged: bool = False  # whether classifiers judge the items, too
    parameters: PlanParameters = FINISHED_PARAMETERS
    known_changes: Callable[[Path], Mapping[str, str]] = lambda _data: {}  # item -> its known changes in words


def build_for_question(path: Path, data: Path, name: str, *, fresh: bool = False, now: datetime) -> None:
    """Create a demo study of this built-in question that is closed and unblinded, with labels of the last week.

    If `fresh`, the study is open and has no labels.

    `data` is the folder of measurements included in the package. Raises InputError if there is no demo of the question,
    and StudyError if the file exists or cannot be made.
    """
    if name not in DEMOS:
        raise InputError(f"There is no demo of the question {name!r}. Choose one of: {', '.join(DEMOS)}.")
    demo, begin = DEMOS[name], now if fresh else now - timedelta(days=7)
    title = f"Demo: {name}" if fresh else f"Demo: {name}, simulated labels"
    coordinating.create_study(
        path, name=title, question=QUESTIONS[name], coordinator=COORDINATOR, plan_secret="", now=begin
    )
    with open_database(path) as db:
        _import(db, demo.sources(data), begin, demo.selection)
        changes = demo.known_changes(data)
        if changes:
            _log_changes(db, changes, begin)
        for reviewer in demo.reviewers:
            identity.add_person(db, reviewer, [Role.REVIEWER], actor="demo", now=begin)
        assigning.confirm_plan(db, demo.parameters, actor="demo", now=begin)
        if demo.is_judged:
            computing.compute_verdicts(db, actor="demo")
        if fresh:
            return
        rng = np.random.default_rng(SEED)
        _label_by_picture(db, demo, begin + timedelta(days=1), rng)
        if len(demo.reviewers) > demo.parameters.per_item:
            _move(db, Step.THIRD, begin + timedelta(days=4))
            _label_by_picture(db, demo, begin + timedelta(days=4, hours=1), rng)
        _move(db, Step.CLOSE, begin + timedelta(days=5))
        for split in splits.split_items(db):
            if split.remains:
                answer = demo.decide(split, drawing.payload_of_item(db, split.item.item_id))
                at = begin + timedelta(days=5, hours=1)
                splits.adjudicate(db, split.item.name, answer, MADE_UP, actor=COORDINATOR, now=at)
        _move(db, Step.UNBLIND, begin + timedelta(days=6))


def _label_by_picture(db: Database, demo: QuestionDemo, begin: datetime, rng: np.random.Generator) -> None:
    """Store the answers of each simulated reviewer, who sees the same pictures as a person."""
    for name, (answer_of, typical_s) in demo.reviewers.items():
        person, at = people.by_name(db, name), begin
        while person and (offers := reviewing.review_queue(db, person.person_id).offers):
            task = offers[0]
            seconds = typical_s * float(rng.lognormal(0.0, 0.5))
            at += timedelta(seconds=seconds)
            answer = answer_of(reviewing.picture(db, task) or {}, rng)
            event_id = str(UUID(bytes=rng.bytes(16), version=4))
            given = NewLabel(event_id, task.code, task.revision, answer, round(1000 * seconds), VIEW_OF_PICTURE)
            reviewing.submit(db, person.person_id, given, now=at)


def _changed_runs(data: Path) -> list[Source]:
    """Return a table with two versions of each benchmark of the demo: without its known change, and with it.

    A benchmark without a known change was measured only once; its first five runs are one version, the others another.
    """
    import pandas as pd

    known = tables.read_table(Source(CHANGES, data / CHANGES), ("benchmark", "run", "intervention", "amount"))
    changed = {str(name): set(map(str, rows["run"])) for name, rows in known.groupby("benchmark")}
    parts = []
    for file in MEASUREMENTS:
        table = pd.read_parquet(data / file)
        table = table[table["iteration"] < N_ITERATIONS]
        for name, rows in table.groupby("benchmark", sort=False):
            labels = rows["run"].astype(str)
            after = changed.get(str(name), set(sorted(labels.unique(), key=int)[5:]))
            parts.append(rows.assign(version=np.where(labels.isin(after), "after", "before")))
    content = tables.write(pd.concat(parts, ignore_index=True))
    return [importing.upload("changes.csv", content.encode())]


def _histories(data: Path) -> list[Source]:
    return [Source("histories.parquet", data / HISTORIES[0])]


def _changes_of_histories(data: Path) -> dict[str, str]:
    table = tables.read_table(Source(HISTORIES[1], data / HISTORIES[1]), ("benchmark", "version", "change"))
    return {
        str(benchmark): joined(
            [
                f"{100 * abs(float(change)):g} % {'slower' if float(change) > 0 else 'faster'} from {version} on"
                for version, change in zip(rows["version"], rows["change"], strict=True)
            ],
        )
        for benchmark, rows in table.groupby("benchmark")
    }


@dataclass(frozen=True)
class Marker:
    """A simulated reviewer who marks where a history changes.

    The reviewer looks for the clearest step, and then for further steps on both sides of it. Some reviewers mark small
    steps that others take for noise, and some are less exact about the place.
    """

    clearness: float  # smallest step that the reviewer sees, in standard errors
    least: float  # smallest step that is worth a mark, as a share of the level
    error: float  # standard deviation of the place, in versions
    slip: float  # share of steps that are overlooked

    def answer(self, payload: Payload, rng: np.random.Generator) -> str:
        """Return the marks in a history, or "no change"."""
        levels = binning.series_of(payload, payload, "middles")
        steps = [step for step in self._steps(levels, 0) if rng.random() >= self.slip]
        errors = np.rint(rng.normal(0, self.error, len(steps))).astype(int).tolist()
        places = {min(max(step + off, 1), len(levels) - 1) for step, off in zip(steps, errors, strict=True)}
        return marks.write(Mark(place, place) for place in sorted(places)) if places else NO_CHANGE

    def _steps(self, levels: Series, start: int) -> list[int]:
        """Return the first version of each new level; `levels` begins with version `start`."""
        n, noise = len(levels), float(np.median(np.abs(np.diff(levels)))) / NOISE_PER_DIFFERENCE
        splits_at = range(LEAST_STAY, n - LEAST_STAY + 1)
        if not splits_at or noise == 0:
            return []
        jumps = np.array([levels[at:].mean() - levels[:at].mean() for at in splits_at])
        clear = np.abs(jumps) / (noise * np.sqrt([1 / at + 1 / (n - at) for at in splits_at]))
        best = int(np.argmax(clear))
        if clear[best] < self.clearness or abs(jumps[best]) < self.least * abs(float(levels.mean())):
            return []
        at = splits_at[best]
        return [*self._steps(levels[:at], start), start + at, *self._steps(levels[at:], start + at)]


MARKERS: Mapping[str, tuple[Answer, float]] = {
    "ada": (Marker(5.0, 0.02, 0.3, 0.02).answer, 18.0),
    "ben": (Marker(6.0, 0.04, 0.6, 0.05).answer, 11.0),
    "cleo": (Marker(3.5, 0.01, 0.5, 0.02).answer, 25.0),
    "dan": (Marker(8.0, 0.08, 1.0, 0.05).answer, 8.0),
    "eve": (Marker(5.0, 0.03, 2.0, 0.10).answer, 14.0),
}


def _with_ties(split: ItemOutcome, _payload: Payload) -> str:
    """Return the marks of at least half of the people."""
    return splits.answer_of(split, (*split.marks.agreed, *split.marks.ties)) if split.marks else NO_CHANGE


def _judge_change(payload: Payload, tolerance: float) -> str:
    means, sides = np.array(payload["means"]), np.array(payload["sides"])
    first, second = (float(np.median(means[sides == side])) for side in (0, 1))
    by = second / first - 1
    return "slower" if by > tolerance else "faster" if by < -tolerance else "no change"


def _change_answer(reviewer: SimulatedReviewer) -> Answer:
    """Return how a reviewer judges a change by a tolerance, and sometimes chooses another category by mistake."""

    def answer(payload: Payload, rng: np.random.Generator) -> str:
        category = _judge_change(payload, reviewer.tolerance * STRICTNESS)
        if rng.random() < reviewer.slip:
            category = str(rng.choice([other for other in QUESTIONS["change"].names if other != category]))
        return category

    return answer


def _decide_change(_split: ItemOutcome, payload: Payload) -> str:
    return _judge_change(payload, CAREFUL.tolerance * STRICTNESS)


DEMOS: Mapping[str, QuestionDemo] = {
    "change": QuestionDemo(
        _changed_runs,
        {name: (_change_answer(reviewer), reviewer.seconds) for name, reviewer in SIMULATED_REVIEWERS.items()},
        _decide_change, RunSelection(before="before", after="after"), is_judged=True,
    ),
    "mark-changes": QuestionDemo(
        _histories, MARKERS, _with_ties, parameters=MARKS_PARAMETERS, known_changes=_changes_of_histories
    ),
}  # fmt: skip
