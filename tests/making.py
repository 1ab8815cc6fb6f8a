"""What the tests of several folders need: benchmarks, result files, studies at several stages, actions of people."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from analysis.document import json_values
from labeler.files.formats import DEFAULTS, ReadOptions, Source
from labeler.studies.course import coordinating, course
from labeler.studies.items import importing
from labeler.studies.labelling import reviewing
from labeler.studies.model import Label, NewLabel, PlanParameters, Role, Task
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting
from labeler.studies.results.reporting import QUICK, STANDARD, ReportOptions, gathered_files
from labeler.studies.store import Database, actions, events, items, labels, open_database, people, runs

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
REVIEWERS = ("ada", "ben", "cleo", "dan")
PARAMETERS = PlanParameters(seed=1, overlap=0.25, retest=0)
WHO: Any = {"actor": "carol", "now": NOW}  # who acts, and when, unless a test says otherwise


def series(seed: int, n_runs: int = 3, n_iterations: int = 60) -> list[list[float]]:
    """Runs of positive noise, always the same for the same seed."""
    return np.random.default_rng(seed).uniform(1, 1.2, (n_runs, n_iterations)).tolist()


def item_name(number: int) -> str:
    return f"example__app{number % 2}#bench_{number}#size={number}"


def result_file(name: str, runs: Sequence[Sequence[float]]) -> Source:
    """Return a result file in the ICPE format, as a browser sends it."""
    return importing.upload(f"{name}.json", json.dumps([list(run) for run in runs]).encode())


def look_into(source: Source, options: ReadOptions = DEFAULTS) -> importing.FileResult:
    """Return a dry run of importing one file."""
    results = list(importing.look_into_files([source], options))
    benchmarks = tuple(benchmark for result in results for benchmark in result.benchmarks)
    return importing.FileResult(source.name, benchmarks, next((r.refused for r in results if r.refused), ""))


def report_of_files(
    label_file: Path, verdict_file: Path | None, notes: tuple[str, ...] = (), options: ReportOptions = STANDARD
) -> dict[str, Any]:
    """Return the numbers of the report of two tables."""
    return json_values(gathered_files(label_file, verdict_file, notes, options).report())


def report_of(db: Database, options: ReportOptions = QUICK) -> dict[str, Any]:
    """Return the numbers of the report of a study."""
    return json_values(reporting.gathered_study(db, options, actor="owner", now=NOW).report())


def import_all(db: Database, *files: Source, as_new: bool = False) -> list[importing.FileResult]:
    return list(importing.import_files(db, files, as_new=as_new, **WHO))


def lines(*rows: str, header: str = "item,reviewer,label") -> str:
    """Return the text of a table: by default, of labels."""
    return "\n".join([header, *rows]) + "\n"


def runs_by_item(db: Database) -> dict[str, tuple[list[list[float]], dict[str, tuple[str, ...]]]]:
    """Return the stored runs of each item and their conditions, by the name of the item."""
    return {
        item.name: ([run.tolist() for run in runs.of_item(db, item.item_id)], runs.conditions_of_item(db, item.item_id))
        for item in items.all_items(db)
    }


def make_study(
    path: Path,
    *,
    n_items: int = 8,
    reviewers: Sequence[str] = REVIEWERS,
    plan: bool | PlanParameters = False,
    name: str = "Caches",
    created: datetime = NOW,
) -> Path:
    """Eight items in two applications, 3 runs of 60 iterations each; four reviewers; carol is the coordinator."""
    coordinating.create_study(
        path, name=name, question="Are these runs alike?", coordinator="carol", plan_secret="", now=created
    )
    with open_database(path) as db:
        import_all(db, *(result_file(item_name(number), series(number)) for number in range(n_items)))
        for name in reviewers:
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        if plan:
            assigning.confirm_plan(db, PARAMETERS if plan is True else plan, **WHO)
    return path


@contextmanager
def new_study(path: Path, **options: Any) -> Iterator[Database]:
    """Make a study with the options of `make_study`, and open it."""
    with open_database(make_study(path, **options)) as db:
        yield db


@contextmanager
def copy_of(master: Path, folder: Path) -> Iterator[Database]:
    target = folder / master.name
    shutil.copy(master, target)
    with open_database(target) as db:
        yield db


def id_of(db: Database, name: str) -> int:
    person = people.by_name(db, name)
    assert person is not None
    return person.person_id


def submission(task: Task, answer: str, event_id: str = "", *, dwell_ms: int | None = 900) -> NewLabel:
    """The submission of the screen for a task; the event id is made from task, revision and answer unless given."""
    event_id = event_id or f"{task.code}-{task.revision}-{answer}"
    view = {"axis": "core", **({"whole": True} if answer.startswith("[") or answer == "no change" else {})}
    return NewLabel(event_id, task.code, task.revision, answer, dwell_ms, view)


def offers(db: Database, reviewer: str) -> list[Task]:
    """Return the tasks that the screen of a reviewer shows next."""
    return list(reviewing.review_queue(db, id_of(db, reviewer)).offers)


def submit(
    db: Database, reviewer: str, task: Task, answer: str = "similar", event_id: str = "",
    *, now: datetime = NOW, dwell_ms: int | None = 900, **more: Any,
) -> None:  # fmt: skip
    """Submit an answer to a task; `more` is what else the screen sends, such as a comment."""
    sent = replace(submission(task, answer, event_id, dwell_ms=dwell_ms), **more)
    reviewing.submit(db, id_of(db, reviewer), sent, now=now)


def answer_next(db: Database, reviewer: str, answer: str, *, now: datetime = NOW) -> Task:
    """Answer the first offered task."""
    task = offers(db, reviewer)[0]
    submit(db, reviewer, task, answer, now=now)
    return task


def answer_everything(db: Database, says: dict[str, str]) -> None:
    """Every reviewer gives the same answer, stated beside the name, to all tasks."""
    for name, answer in says.items():
        for _ in range(200):
            if not offers(db, name):
                break
            answer_next(db, name, answer)
        else:
            raise AssertionError(f"there is no end to the tasks of {name}")


def end_study(db: Database) -> None:
    """Close and unblind a study."""
    for step in (Step.CLOSE, Step.UNBLIND):
        course.change_state(db, step, why="done", **WHO)


def log(db: Database) -> list[tuple[str, str]]:
    """Return the rows of the log: person and action."""
    return list(events.table(db)[["actor", "action"]].itertuples(index=False, name=None))


def last_event(db: Database) -> tuple[str, str, Any]:
    """Return who did what last, with the details in the log."""
    event = events.of_actions(db, actions.ACTIONS.values())[-1]
    return event.actor, event.action, event.details


@dataclass(frozen=True)
class SavedAnswer:
    """An answer with its item and reviewer; only imported answers have a `source_key`."""

    code: str
    item: str
    reviewer: str
    label: Label
    source_key: str | None


def saved_answers(db: Database) -> list[SavedAnswer]:
    """Return all answers in the order in which they were stored."""
    rows = db.execute(
        """SELECT a.code, i.name, p.name, s.source_key, l.assignment_id, l.event_id
           FROM labels l JOIN assignments a USING (assignment_id) JOIN items i USING (item_id)
                JOIN people p USING (person_id) LEFT JOIN imported_labels s USING (label_id)
           ORDER BY l.label_id"""
    ).fetchall()  # first, because others may label meanwhile
    by_mark = {
        (label.assignment_id, label.event_id): label
        for person in people.all_people(db)
        for label in labels.own_answers(db, person.person_id)
    }
    return [
        SavedAnswer(code, item, reviewer, by_mark[tuple(mark)], source) for code, item, reviewer, source, *mark in rows
    ]
