"""Create a finished demo study for a built-in question: measured items with known changes, and simulated labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np

from labeler import marks
from labeler.errors import InputError, Refused
from labeler.formats import Source, tables
from labeler.marks import Mark
from labeler.model import PlanParameters, Role, Series, Submission
from labeler.plan.lifecycle import Step
from labeler.questions import enumeration
from labeler.screen import binning
from labeler.screen.kinds import QUESTIONS, Payload
from labeler.service.demo import (
    CHANGES,
    COORDINATOR,
    FINISHED_PARAMETERS,
    MADE_UP,
    MADE_UP_REVIEWERS,
    MEASUREMENTS,
    SEED,
    MadeUp,
)
from labeler.service.items import drawing, importing
from labeler.service.items.importing import Selection
from labeler.service.labelling import own_result, reviewing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results import splits
from labeler.service.results.splits import Split
from labeler.service.study import coordinating, course
from labeler.service.verdicts import computing
from labeler.store import Database, events, open_database, people

VIEW = {"axis": "levels", "whole": True}
N_ITERATIONS = 600  # of each run, so that the demo begins quickly
NO_CHANGE = str(QUESTIONS["mark-changes"].no_mark)
STRICTNESS = 0.3  # a change of a level counts from this share of what makes runs dissimilar
CAREFUL = MadeUp(0.05, 0.0, 0.0, 0.0)  # who decides split items

MARKS_PARAMETERS = PlanParameters(seed=2026, per_item=5, overlap=1.0, retest=3)
HISTORIES = "histories/histories.parquet", "histories/changes.csv"
LEAST_STAY = 3  # versions of a level that a simulated reviewer takes for a new level
NOISE_PER_DIFFERENCE = 0.954  # median absolute difference of two values with a standard deviation of 1

Judge = Callable[[Payload, float], str]
Answer = Callable[[Payload, np.random.Generator], str]


@dataclass(frozen=True)
class QuestionDemo:
    """The measurements of a demo, and its simulated reviewers."""

    sources: Callable[[Path], list[Source]]
    reviewers: Mapping[str, tuple[Answer, float]]  # name -> how the reviewer answers, and typical seconds per item
    decide: Callable[[Split, Payload], str]  # how split items are decided
    selection: Selection = importing.ALL_RUNS
    is_judged: bool = False  # whether classifiers judge the items, too
    parameters: PlanParameters = FINISHED_PARAMETERS
    known_changes: Callable[[Path], Mapping[str, str]] = lambda _data: {}  # item -> its known changes in words


def build(path: Path, data: Path, name: str, *, fresh: bool = False, now: datetime) -> None:
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
        for result in importing.import_files(db, demo.sources(data), selection=demo.selection, actor="demo", now=begin):
            if result.refused:
                raise Refused(result.file, result.refused)
        changes = demo.known_changes(data)
        if changes:
            with events.by(db, "demo", begin) as deed:
                deed.log(own_result.KNOWN_CHANGES, benchmarks=dict(changes))
        for reviewer in demo.reviewers:
            identity.add_person(db, reviewer, [Role.REVIEWER], actor="demo", now=begin)
        assigning.confirm_plan(db, demo.parameters, actor="demo", now=begin)
        if demo.is_judged:
            computing.compute_verdicts(db, actor="demo")
        if fresh:
            return
        rng = np.random.default_rng(SEED)
        _label(db, demo, begin + timedelta(days=1), rng)
        if len(demo.reviewers) > demo.parameters.per_item:
            _move(db, Step.THIRD, begin + timedelta(days=4))
            _label(db, demo, begin + timedelta(days=4, hours=1), rng)
        _move(db, Step.CLOSE, begin + timedelta(days=5))
        for split in splits.split_items(db):
            if split.remains:
                answer = demo.decide(split, drawing.payload_of_item(db, split.item.item_id))
                at = begin + timedelta(days=5, hours=1)
                splits.adjudicate(db, split.item.name, answer, MADE_UP, actor=COORDINATOR, now=at)
        _move(db, Step.UNBLIND, begin + timedelta(days=6))


def _label(db: Database, demo: QuestionDemo, begin: datetime, rng: np.random.Generator) -> None:
    """Store the answers of each simulated reviewer, who sees the same pictures as a person."""
    for name, (answer_of, typical_s) in demo.reviewers.items():
        person, at = people.by_name(db, name), begin
        while person and (offers := reviewing.review_queue(db, person.person_id).offers):
            task = offers[0]
            seconds = typical_s * float(rng.lognormal(0.0, 0.5))
            at += timedelta(seconds=seconds)
            answer = answer_of(reviewing.picture(db, task) or {}, rng)
            event_id = str(UUID(bytes=rng.bytes(16), version=4))
            given = Submission(event_id, task.code, task.revision, answer, round(1000 * seconds), VIEW)
            reviewing.submit(db, person.person_id, given, now=at)


def _move(db: Database, step: Step, now: datetime) -> None:
    course.change_state(db, step, why=MADE_UP, actor=COORDINATOR, now=now)


def _measured(data: Path) -> list[Source]:
    return [Source(file, data / file) for file in MEASUREMENTS]


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
        str(benchmark): enumeration(
            [
                f"{100 * abs(float(change)):g} % {'slower' if float(change) > 0 else 'faster'} from {version} on"
                for version, change in zip(rows["version"], rows["change"], strict=True)
            ],
            "and",
        )
        for benchmark, rows in table.groupby("benchmark")
    }


def _judged(question: str, judge: Judge) -> Mapping[str, tuple[Answer, float]]:
    """Return the reviewers who judge by a tolerance, and sometimes choose another category by mistake."""
    names = QUESTIONS[question].names

    def answer_of(reviewer: MadeUp) -> Answer:
        def answer(payload: Payload, rng: np.random.Generator) -> str:
            given = judge(payload, reviewer.tolerance * STRICTNESS)
            if rng.random() < reviewer.slip:
                given = str(rng.choice([other for other in names if other != given]))
            return given

        return answer

    return {name: (answer_of(reviewer), reviewer.seconds) for name, reviewer in MADE_UP_REVIEWERS.items()}


def _carefully(judge: Judge) -> Callable[[Split, Payload], str]:
    return lambda _split, payload: judge(payload, CAREFUL.tolerance * STRICTNESS)


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


def _with_ties(split: Split, _payload: Payload) -> str:
    """Return the marks of at least half of the people."""
    return splits.answer_of(split, (*split.marks.agreed, *split.marks.ties)) if split.marks else NO_CHANGE


def _judge_change(payload: Payload, tolerance: float) -> str:
    means, sides = np.array(payload["means"]), np.array(payload["sides"])
    first, second = (float(np.median(means[sides == side])) for side in (0, 1))
    by = second / first - 1
    return "slower" if by > tolerance else "faster" if by < -tolerance else "no change"


def _judge_history(payload: Payload, tolerance: float) -> str:
    line = binning.series_of(payload, payload, "middles")
    level = float(np.median(line))
    noise = float(np.median(np.abs(np.diff(line)))) / level
    places = range(3, len(line) - 2)
    steps = [float(np.median(line[place:]) - np.median(line[:place])) / level for place in places]
    step = max(steps, key=abs, default=0.0)
    smallest = max(tolerance, 4 * noise)
    if abs(step) > smallest:
        return "regression" if step > 0 else "improvement"
    if noise > 2 * tolerance:
        return "unstable"
    return "spike" if float(np.abs(line - level).max()) / level > 3 * smallest else "stable"


def _judge_run(payload: Payload, tolerance: float) -> str:
    line = binning.series_of(payload, payload, "middles")
    n = len(line)
    begin, before, end = (float(np.median(part)) for part in (line[: max(n // 20, 1)], line[-n // 3 : -n // 6],
                                                               line[-n // 6 :]))  # fmt: skip
    if abs(end / before - 1) > tolerance:
        return "no steady state"
    return "warm-up" if begin / end - 1 > tolerance else "slowdown" if end / begin - 1 > tolerance else "flat"


DEMOS: Mapping[str, QuestionDemo] = {
    "change": QuestionDemo(
        _changed_runs, _judged("change", _judge_change), _carefully(_judge_change),
        Selection(before="before", after="after"), is_judged=True,
    ),
    "triage": QuestionDemo(_histories, _judged("triage", _judge_history), _carefully(_judge_history)),
    "warmed-up": QuestionDemo(
        _measured, _judged("warmed-up", _judge_run), _carefully(_judge_run),
        Selection(runs_per_benchmark=1, seed=SEED),
    ),
    "mark-changes": QuestionDemo(
        _histories, MARKERS, _with_ties, parameters=MARKS_PARAMETERS, known_changes=_changes_of_histories
    ),
}  # fmt: skip
