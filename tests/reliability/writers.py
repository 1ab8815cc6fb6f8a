"""Processes that write to a study without pause until they are killed, and report on a pipe, with the time.

None of them ends by itself; if nobody reads the pipe, reporting fails and they end.
"""

import itertools
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from labeler.errors import LabelerError, StudyError
from labeler.studies.course import coordinating, course, staffing
from labeler.studies.items import browsing, importing
from labeler.studies.labelling import reviewing
from labeler.studies.model import NewLabel, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.questions import NOT_SURE, WITHDRAWN
from labeler.studies.store import Database, open_database
from tests.browser import studies
from tests.making import item_name

ACTOR = "carol"
GUESTS = ("gus", "hal")
N_IN_FILE, N_RUNS = 3, 5
DWELL_MS, AFTER_REFUSAL_S, LOCK_EVERY_S = 700, 0.01, 0.2
END_LIMIT_S = 120
ANSWERS = ("similar", "dissimilar", NOT_SURE)
VIEW = {"axis": "core", "log": False, "overlay": False, "run": None, "width": 1280, "height": 625, "density": 1}

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.reliability.writers"])  # each process is a fork of one that has imported this

Report = tuple[str, Any, float]  # a word, what it is about, and when
Act = Callable[[Database, Path, int], None]  # an action with a number


@dataclass
class Writer:
    """A writing process, and the pipe on which it reports."""

    process: BaseProcess
    hear: Connection

    @classmethod
    def start(cls, function: Callable[..., None], *arguments: Any) -> "Writer":
        """Run a function of this module in a separate process; its last parameter is the pipe."""
        hear, tell = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=function, args=(*arguments, tell), daemon=True)
        process.start()
        tell.close()
        return cls(process, hear)

    def told(self) -> Iterator[Report]:
        """Yield the reports since the last call; raises EOFError after the last report of an ended process."""
        while self.hear.poll():
            yield self.hear.recv()

    def kill(self) -> list[Report]:
        """Kill the process with SIGKILL; returns its last reports."""
        self.process.kill()
        self.process.join(END_LIMIT_S)
        reports: list[Report] = []
        try:
            reports.extend(self.told())
        except EOFError:
            pass
        finally:
            self.hear.close()
        return reports


def reviewer(study: Path, reviewer_id: int, again: NewLabel | None, seed: int, pipe: Connection) -> None:
    """Label as the page does, with one connection per label; first send unacknowledged answers again."""
    rng, submission = random.Random(seed), again

    def tell(word: str, value: object = None) -> None:
        pipe.send((word, value, time.monotonic()))

    while True:
        if submission is not None:
            tell("sent", submission)
        with open_database(study) as db:
            db._connection.set_trace_callback(lambda sql: tell("commits") if sql == "COMMIT" else None)
            try:
                if submission is not None:
                    reviewing.submit(db, reviewer_id, submission, now=datetime.now(UTC))
                queue = reviewing.review_queue(db, reviewer_id)  # the acknowledgement comes with the next item
                if submission is not None:
                    tell("acknowledged", submission.event_id)
                submission = _next(queue, rng)
            except StudyError as error:  # the screen keeps the answer and sends it again
                tell("busy", str(error))
            except LabelerError as error:
                tell("refused", (submission.event_id if submission else "", str(error)))
                submission = None
                time.sleep(AFTER_REFUSAL_S)


def _next(queue: reviewing.ReviewQueue, rng: random.Random) -> NewLabel | None:
    """Answer the offered item; after the last one, undo the last answer. None while a pause leaves neither."""
    if queue.offers:
        task = queue.offers[0]
        return NewLabel(uuid4().hex, task.code, task.revision, rng.choice(ANSWERS), DWELL_MS, VIEW)
    if queue.last is None and queue.closed:
        time.sleep(AFTER_REFUSAL_S)
        return None
    if queue.last is None:
        raise RuntimeError("there is nothing to label")
    return NewLabel(uuid4().hex, queue.last.code, queue.last.revision, WITHDRAWN, None, VIEW)


def asking_for_lock(study: Path, pipe: Connection) -> None:
    """Request and release the write lock; each time on a new connection: an open one would keep the log file."""
    while True:
        try:
            with open_database(study) as db:
                begun = time.perf_counter()
                db.execute("BEGIN IMMEDIATE")
                pipe.send(("waited", 1e3 * (time.perf_counter() - begun), time.monotonic()))
                db.execute("ROLLBACK")
        except StudyError as error:
            pipe.send(("refused", str(error), time.monotonic()))
        time.sleep(LOCK_EVERY_S)


def doing(act: Act, study: Path, folder: Path, first: int, every_s: float, pipe: Connection) -> None:
    """Do one action after another, with numbers, each on a new connection."""
    for number in itertools.count(first):
        due = time.monotonic() + every_s
        pipe.send(("began", number, time.monotonic()))
        try:
            with open_database(study) as db:
                act(db, folder, number)
            pipe.send(("done", number, time.monotonic()))
        except LabelerError as error:
            pipe.send(("failed", f"{number}: {error!r}", time.monotonic()))
        time.sleep(max(0.0, due - time.monotonic()))  # the requested interval


# Actions


def back_up(db: Database, folder: Path, number: int) -> None:
    """Copy the study to a file with this number."""
    coordinating.back_up(db, backup_file(folder, number), actor=ACTOR, now=datetime.now(UTC))


def backup_file(folder: Path, number: int) -> Path:
    return folder / f"backup-{number}.study"


def replace_guest(db: Database, _folder: Path, number: int) -> None:
    """All open items of one guest move to the other guest, who takes part from then on."""
    leaving, heir = GUESTS[number % 2], GUESTS[1 - number % 2]
    staffing.replace(db, leaving, heir, why="they take turns", actor=ACTOR, now=datetime.now(UTC))


def import_file(db: Database, _folder: Path, number: int) -> None:
    """Import a file with several benchmarks."""
    list(importing.import_files(db, [measured(number)], actor=ACTOR, now=datetime.now(UTC)))


def measured(number: int) -> importing.File:
    """Return a file of noise, always the same for the same number."""
    rng = np.random.default_rng(number)
    lines = ["benchmark,run,iteration,value,unit"]
    for benchmark, run, iteration in itertools.product(range(N_IN_FILE), range(N_RUNS), range(40)):
        lines.append(f"bench{benchmark}#file={number},{run},{iteration},{rng.uniform(1, 1.2)!r},s")
    return importing.upload(f"{number}.csv", "\n".join(lines).encode())


def change(db: Database, _folder: Path, number: int) -> None:
    """Pause and open, exclude and include, let people join and leave, create links, in turn."""
    steps = len(CHANGES)
    CHANGES[number % steps](db, f"joiner {number // steps}", {"actor": ACTOR, "now": datetime.now(UTC)})


CHANGES: tuple[Callable[[Database, str, Any], object], ...] = (
    lambda db, _, by: course.change_state(db, Step.PAUSE, why="a break", **by),
    lambda db, _, by: course.change_state(db, Step.OPEN, why="on it goes", **by),
    lambda db, _, by: browsing.exclude(db, item_name(0), "a broken build", **by),
    lambda db, name, by: staffing.add(db, name, [Role.REVIEWER], **by),
    lambda db, name, by: identity.invite(db, name, Role.REVIEWER, **by),
    lambda db, _, by: browsing.include(db, item_name(0), "it was none", **by),
    lambda db, name, by: staffing.remove(db, name, why="no time", **by),
    lambda db, name, by: coordinating.describe_study(db, f"Backups {name}", studies.QUESTION, **by),
)
