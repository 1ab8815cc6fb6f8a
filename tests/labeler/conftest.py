"""Shared parts of the tests of the application: small studies at several stages, and actions of people."""

import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.document import json_values
from labeler.formats import DEFAULTS, ReadOptions, Source
from labeler.model import PlanParameters, Role, Submission, Task
from labeler.service.items import importing
from labeler.service.labelling import reviewing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results.reporting import STANDARD, ReportOptions, gathered_files
from labeler.service.study import coordinating
from labeler.store import Database, events, open_database, people
from tests.labeler.packages import Site

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
REVIEWERS = ("ada", "ben", "cleo", "dan")
PARAMETERS = PlanParameters(seed=1, overlap=0.25, retest=0)
NOBODY, ENTER = 65534, 0o011


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


def import_all(db: Database, *files: Source, as_new: bool = False) -> list[importing.FileResult]:
    return list(importing.import_files(db, files, as_new=as_new, actor="carol", now=NOW))


def make_study(path: Path, *, n_items: int = 8, reviewers: Sequence[str] = REVIEWERS, plan: bool = False) -> None:
    """Eight items in two applications, 3 runs of 60 iterations each; four reviewers; carol is the coordinator."""
    coordinating.create_study(
        path, name="Caches", question="Are these runs alike?", coordinator="carol", plan_secret="", now=NOW
    )
    with open_database(path) as db:
        import_all(db, *(result_file(item_name(number), series(number)) for number in range(n_items)))
        for name in reviewers:
            identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=NOW)
        if plan:
            assigning.confirm_plan(db, PARAMETERS, actor="carol", now=NOW)


@pytest.fixture(scope="session")
def masters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One closed file per stage, to be copied."""
    folder = tmp_path_factory.mktemp("masters")
    made = {stage: folder / f"{stage}.study" for stage in ("empty", "unplanned", "planned")}
    make_study(made["empty"], n_items=0, reviewers=())
    make_study(made["unplanned"])
    make_study(made["planned"], plan=True)
    return made


@pytest.fixture
def study_path(tmp_path: Path) -> Path:
    """The path for a new study."""
    return tmp_path / "new.study"


@contextmanager
def copy_of(master: Path, folder: Path) -> Iterator[Database]:
    target = folder / master.name
    shutil.copy(master, target)
    with open_database(target) as db:
        yield db


@pytest.fixture
def db(masters: dict[str, Path], tmp_path: Path) -> Iterator[Database]:
    """A new study with one coordinator and nothing else."""
    with copy_of(masters["empty"], tmp_path) as opened:
        yield opened


@pytest.fixture
def study(masters: dict[str, Path], tmp_path: Path) -> Iterator[Database]:
    """A study with 8 items and 4 reviewers, and no plan."""
    with copy_of(masters["unplanned"], tmp_path) as opened:
        yield opened


@pytest.fixture
def planned(masters: dict[str, Path], tmp_path: Path) -> Iterator[Database]:
    """The same study, planned and open: 5 assignments per reviewer, 2 items seen by all."""
    with copy_of(masters["planned"], tmp_path) as opened:
        yield opened


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder for other packages, which this process and its child processes find."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
    installed = Site(folder)
    yield installed
    installed.clear()


def id_of(db: Database, name: str) -> int:
    person = people.by_name(db, name)
    assert person is not None
    return person.person_id


def submission(task: Task, answer: str, event_id: str = "", *, dwell_ms: int | None = 900) -> Submission:
    """The submission of the screen for a task; the event id is made from task, revision and answer unless given."""
    event_id = event_id or f"{task.code}-{task.revision}-{answer}"
    view = {"axis": "core", **({"whole": True} if answer.startswith("[") or answer == "no change" else {})}
    return Submission(event_id, task.code, task.revision, answer, dwell_ms, view)


def answer_next(db: Database, reviewer: str, answer: str, *, now: datetime = NOW) -> Task:
    """Answer the first offered task."""
    reviewer_id = id_of(db, reviewer)
    task = reviewing.review_queue(db, reviewer_id).offers[0]
    reviewing.submit(db, reviewer_id, submission(task, answer), now=now)
    return task


def answer_everything(db: Database, says: dict[str, str]) -> None:
    """Every reviewer gives the same answer, stated beside the name, to all tasks."""
    for name, answer in says.items():
        for _ in range(200):
            if not reviewing.review_queue(db, id_of(db, name)).offers:
                break
            answer_next(db, name, answer)
        else:
            raise AssertionError(f"there is no end to the tasks of {name}")


def log(db: Database) -> list[tuple[str, str]]:
    """Return the rows of the log: person and action."""
    return list(events.table(db)[["actor", "action"]].itertuples(index=False, name=None))


@contextmanager
def unprivileged(folder: Path) -> Iterator[None]:
    """Drop root's rights, keeping access to the folder, because permissions do not restrict root."""
    if os.geteuid() != 0:
        yield
        return
    modes = {parent: stat.S_IMODE(parent.stat().st_mode) for parent in folder.resolve().parents}
    closed = {parent: mode for parent, mode in modes.items() if mode & ENTER != ENTER}
    try:
        for parent, mode in closed.items():
            parent.chmod(mode | ENTER)
        os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)
    finally:
        for parent, mode in closed.items():
            parent.chmod(mode)
