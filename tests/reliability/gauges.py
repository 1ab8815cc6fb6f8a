"""Measure the server while people work: memory, threads, files, sizes, and how long the write lock is held."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np

from labeler.errors import StudyError
from labeler.studies.store import open_database
from tests.performance.measuring import memory_mb

PROBE_EVERY_S = 0.2
PROBE_START_S, PROBE_END_S = 180.0, 120.0


@dataclass(frozen=True)
class Sample:
    """One look at the server, and at the study without opening it."""

    n_labels: int
    mb: float
    n_threads: int
    n_files: int
    study_mb: float
    log_mb: float


@dataclass
class Locks:
    """The time that another writer waited for the lock, and the number of timeouts."""

    ms: list[float] = field(default_factory=list)
    n_refused: int = 0


def look(pid: int, study: Path, n_labels: int) -> Sample:
    """Return the state of the server now."""
    log = study.with_name(study.name + "-wal")
    n_threads, n_files = (sum(1 for _ in Path(f"/proc/{pid}/{kind}").iterdir()) for kind in ("task", "fd"))
    return Sample(n_labels, memory_mb(pid), n_threads, n_files, size_mb(study), size_mb(log))


def size_mb(file: Path) -> float:
    """The size in MB; 0 if the file is missing: SQLite removes its log with the last connection."""
    try:
        return file.stat().st_size / 2**20
    except FileNotFoundError:
        return 0.0


async def watch(pid: int, study: Path, events: list[str], every_s: float, samples: list[Sample]) -> None:
    """Sample until cancelled; `events` are the labels acknowledged so far."""
    while True:
        samples.append(look(pid, study, len(events)))
        await asyncio.sleep(every_s)


def slope(samples: list[Sample]) -> float:
    """MB per 1000 labels, fitted over the second half of the labels; NaN if there are too few."""
    later = [sample for sample in samples if sample.n_labels >= samples[-1].n_labels / 2]
    labels = np.array([sample.n_labels for sample in later]) / 1000
    return float(np.polyfit(labels, [sample.mb for sample in later], 1)[0]) if np.ptp(labels) else float("nan")


def between(samples: list[Sample], first: int, last: int) -> float:
    """Return the difference in MB between two numbers of labels."""
    at = np.interp([first, last], [sample.n_labels for sample in samples], [sample.mb for sample in samples])
    return float(at[1] - at[0])


@contextmanager
def probing(study: Path) -> Iterator[Locks]:
    """A separate process requests and releases the write lock five times per second; the result is set at the end."""
    context, locks = get_context("spawn"), Locks()
    ours, theirs = context.Pipe(duplex=False)
    done = context.Event()
    process = context.Process(target=_probe, args=(study, done, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(PROBE_START_S) or ours.recv() != "begun":
            raise TimeoutError(f"the process that asks for the lock did not begin within {PROBE_START_S:.0f} s")
        yield locks
        done.set()
        if not ours.poll(PROBE_END_S):
            raise TimeoutError(f"the process that asks for the lock did not end within {PROBE_END_S:.0f} s")
        locks.ms, locks.n_refused = ours.recv()
    finally:
        done.set()
        process.join(PROBE_END_S)
        process.kill()  # it may have ended already


def _probe(study: Path, done: Event, out: Connection) -> None:
    """Open the study anew each time, as the server does: an open connection would keep the log file."""
    waits, n_refused = [], 0
    out.send("begun")
    while not done.wait(PROBE_EVERY_S):
        begun = time.perf_counter()
        try:
            with open_database(study) as db:
                begun = time.perf_counter()
                db.execute("BEGIN IMMEDIATE")
                waits.append(1e3 * (time.perf_counter() - begun))
                db.execute("ROLLBACK")
        except StudyError:
            n_refused += 1
    out.send((waits, n_refused))
