"""Create a finished demo study for a built-in question: measured items with known changes, and simulated labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np

from labeler.errors import InputError, Refused
from labeler.formats import Source, tables
from labeler.model import Role, Submission
from labeler.plan.lifecycle import Step
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
from labeler.service.labelling import reviewing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results import splits
from labeler.service.study import coordinating, course
from labeler.store import Database, open_database, people

N_ITERATIONS = 600  # of each run, so that the demo begins quickly
STRICTNESS = 0.3  # a change of a level counts from this share of what makes runs dissimilar
CAREFUL = MadeUp(0.05, 0.0, 0.0, 0.0)  # who decides split items

Judge = Callable[[Payload, float], str]


@dataclass(frozen=True)
class QuestionDemo:
    """The measurements of a demo, and how a simulated reviewer with a tolerance judges what an item shows."""

    sources: Callable[[Path], list[Source]]
    judge: Judge
    selection: Selection = importing.ALL_RUNS


def build(path: Path, data: Path, name: str, *, now: datetime) -> None:
    """Create a demo study of this built-in question that is closed and unblinded, with labels of the last week.

    `data` is the folder of measurements included in the package. Raises InputError if there is no demo of the question,
    and StudyError if the file exists or cannot be made.
    """
    if name not in DEMOS:
        raise InputError(f"There is no demo of the question {name!r}. Choose one of: {', '.join(DEMOS)}.")
    demo, begin = DEMOS[name], now - timedelta(days=7)
    coordinating.create_study(
        path, name=f"Demo: {name}, simulated labels", question=QUESTIONS[name], coordinator=COORDINATOR, plan_secret="",
        now=begin,
    )  # fmt: skip
    with open_database(path) as db:
        for result in importing.import_files(db, demo.sources(data), selection=demo.selection, actor="demo", now=begin):
            if result.refused:
                raise Refused(result.file, result.refused)
        for reviewer in MADE_UP_REVIEWERS:
            identity.add_person(db, reviewer, [Role.REVIEWER], actor="demo", now=begin)
        assigning.confirm_plan(db, FINISHED_PARAMETERS, actor="demo", now=begin)
        rng = np.random.default_rng(SEED)
        _label(db, demo.judge, begin + timedelta(days=1), rng)
        _move(db, Step.THIRD, begin + timedelta(days=4))
        _label(db, demo.judge, begin + timedelta(days=4, hours=1), rng)
        _move(db, Step.CLOSE, begin + timedelta(days=5))
        for split in splits.split_items(db):
            if split.remains:
                answer = demo.judge(drawing.payload_of_item(db, split.item.item_id), CAREFUL.tolerance * STRICTNESS)
                at = begin + timedelta(days=5, hours=1)
                splits.adjudicate(db, split.item.name, answer, MADE_UP, actor=COORDINATOR, now=at)
        _move(db, Step.UNBLIND, begin + timedelta(days=6))


def _label(db: Database, judge: Judge, begin: datetime, rng: np.random.Generator) -> None:
    """Store the answers of each simulated reviewer, who sees the same pictures as a person."""
    names = list(coordinating.get_study(db).question.names)
    for name, reviewer in MADE_UP_REVIEWERS.items():
        person, at = people.by_name(db, name), begin
        while person and (offers := reviewing.review_queue(db, person.person_id).offers):
            task = offers[0]
            seconds = reviewer.seconds * float(rng.lognormal(0.0, 0.5))
            at += timedelta(seconds=seconds)
            answer = judge(reviewing.picture(db, task) or {}, reviewer.tolerance * STRICTNESS)
            if rng.random() < reviewer.slip:
                answer = str(rng.choice([other for other in names if other != answer]))
            event_id = str(UUID(bytes=rng.bytes(16), version=4))
            given = Submission(event_id, task.code, task.revision, answer, round(1000 * seconds), {"axis": "levels"})
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
    "change": QuestionDemo(_changed_runs, _judge_change, Selection(before="before", after="after")),
    "triage": QuestionDemo(
        lambda data: [Source("histories.parquet", data / "histories" / "histories.parquet")], _judge_history
    ),
    "warmed-up": QuestionDemo(_measured, _judge_run, Selection(runs_per_benchmark=1, seed=SEED)),
}
