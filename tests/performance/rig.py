"""A study of real measurements with many items per reviewer, and a server for it."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import orjson

from labeler.config import bundled
from labeler.formats import Source
from labeler.model import PlanParameters, Role
from labeler.service.items import importing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.study import coordinating
from labeler.store import items, open_database, runs
from tests.browser.conftest import Served, free_port, start_server, stop_server, wait_until_served, welcome

ACTOR = "bench"


@dataclass(frozen=True)
class Made:
    """A study file with one sign-in secret per reviewer."""

    study: Path
    secrets: dict[str, str]
    n_items: int


def sources() -> list[Source]:
    """Return the benchmarks of LABELER_ICPE_DIR, or the bundled demo data."""
    named = os.environ.get("LABELER_ICPE_DIR")
    folder = Path(named) / "timeseries" if named else bundled("data", "demo", "demo.parquet")
    return list(importing.files_below([folder]))


def make_study(study: Path, n_reviewers: int, *, n_items: int = 0) -> Made:
    """A study in which every reviewer labels every item; for more items, the runs are repeated with a little noise."""
    now = datetime.now(UTC)
    coordinating.create_study(study, name=ACTOR, question="Similar?", coordinator=ACTOR, now=now)
    with open_database(study) as db:
        list(importing.import_files(db, sources(), actor=ACTOR, now=now))
        measured = [(item.name, runs.of_item(db, item.item_id)) for item in items.all_items(db)]
        for copy in range(1, -(-n_items // len(measured))):
            made = [_noisy(name, series, copy) for name, series in measured]
            list(importing.import_files(db, made, actor=ACTOR, now=now))
        names = [f"r{number:02}" for number in range(max(n_reviewers, 2))]
        for name in names:
            identity.add_person(db, name, [Role.REVIEWER], actor=ACTOR, now=now)
        plan = PlanParameters(1, per_item=len(names), overlap=0, retest=0)
        assigning.confirm_plan(db, plan, actor=ACTOR, now=now)
        secrets = {name: identity.invite(db, name, Role.REVIEWER, actor=ACTOR, now=now) for name in names}
        welcome(db)
        return Made(study, secrets, len(items.all_items(db)))


def _noisy(name: str, series: Sequence[np.ndarray], copy: int) -> Source:
    rng = np.random.default_rng(copy)
    again = [np.abs(run * (1 + 0.001 * rng.normal(size=len(run)))).tolist() for run in series]
    return Source(f"{name}~{copy}.json", data=orjson.dumps(again))


@contextmanager
def running(command: Sequence[str | Path], port: int) -> Iterator[str]:
    """Start a server in a separate process; returns its address once it responds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_until_served(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        stop_server(process)


@contextmanager
def serving(made: Made) -> Iterator[Served]:
    """Run `labeler serve` in a separate process, on a free port."""
    port = free_port()
    process = start_server(made.study, port)
    try:
        yield Served(made.study, f"http://127.0.0.1:{port}", made.secrets, process)
    finally:
        stop_server(process)
