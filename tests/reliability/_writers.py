"""Processes that write to a study without pause until they are killed, and report on a pipe.

None of them ends by itself; if nobody reads the pipe, reporting fails and they end.
"""

import itertools
import multiprocessing
import random
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
from labeler.studies.course import coordinating, staffing
from labeler.studies.items import importing
from labeler.studies.labelling import reviewing
from labeler.studies.model import Submission
from labeler.studies.questions import NOT_SURE, WITHDRAWN
from labeler.studies.store import Database, open_database

ACTOR = "carol"
GUESTS = ("gus", "hal")
N_IN_FILE, N_RUNS = 3, 5
DWELL_MS = 700
END_LIMIT_S = 120
ANSWERS = ("similar", "dissimilar", NOT_SURE)
VIEW = {"axis": "core", "log": False, "overlay": False, "run": None, "width": 1280, "height": 625, "density": 1}

CONTEXT = multiprocessing.get_context("forkserver")
# Each process is a fork of a process that has imported everything that the script imports.
CONTEXT.set_forkserver_preload(["tests.reliability._transactions", "tests.reliability._outages"])


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

    def one_word(self, limit_s: float) -> tuple[str, Any]:
        """The next report; raises TimeoutError if it takes too long, EOFError if the process is gone."""
        if not self.hear.poll(limit_s):
            raise TimeoutError(f"a process told nothing within {limit_s} s")
        return self.hear.recv()

    def told(self) -> Iterator[tuple[str, Any]]:
        """Yield the reports since the last call; raises EOFError after the last report of an ended process."""
        while self.hear.poll():
            yield self.hear.recv()

    def kill(self) -> list[tuple[str, Any]]:
        """Kill the process with SIGKILL; returns its last reports."""
        self.process.kill()
        self.process.join(END_LIMIT_S)
        words: list[tuple[str, Any]] = []
        try:
            words.extend(self.told())
        except EOFError:
            pass
        finally:
            self.hear.close()
        return words


def reviewer(study: Path, reviewer_id: int, again: Submission | None, seed: int, tell: Connection) -> None:
    """Label as the page does, with one connection per label; first send unacknowledged answers again."""
    rng, submission = random.Random(seed), again
    while True:
        if submission is not None:
            tell.send(("sent", submission))
        with open_database(study) as db:
            db._connection.set_trace_callback(lambda sql: tell.send(("commits", None)) if sql == "COMMIT" else None)
            try:
                if submission is not None:
                    reviewing.submit(db, reviewer_id, submission, now=datetime.now(UTC))
            except StudyError as error:  # the screen keeps the answer and sends it again
                tell.send(("busy", str(error)))
                continue
            except LabelerError as error:
                tell.send(("refused", str(error)))
                return
            desk = reviewing.review_queue(db, reviewer_id)  # the acknowledgement comes with the next item
            if submission is not None:
                tell.send(("acknowledged", submission.event_id))
        submission = _next(desk, rng)


def _next(desk: reviewing.ReviewQueue, rng: random.Random) -> Submission:
    """Answer the offered item; after the last item, undo the last answer, so that an item is offered again."""
    if desk.offers:
        task = desk.offers[0]
        return Submission(uuid4().hex, task.code, task.revision, rng.choice(ANSWERS), DWELL_MS, VIEW)
    if desk.last is None:
        raise RuntimeError(f"there is nothing to label: {desk.closed}")
    return Submission(uuid4().hex, desk.last.code, desk.last.revision, WITHDRAWN, None, VIEW)


def doing(act: Callable[[Database, Path, int], None], study: Path, folder: Path, first: int, tell: Connection) -> None:
    """Do one action after another, with numbers."""
    for number in itertools.count(first):
        tell.send(("began", number))
        with open_database(study) as db:
            act(db, folder, number)
        tell.send(("done", number))


def back_up(db: Database, folder: Path, number: int) -> None:
    """Copy the study to a file with this number."""
    coordinating.back_up(db, backup_file(folder, number), actor=ACTOR, now=datetime.now(UTC))


def backup_file(folder: Path, number: int) -> Path:
    return folder / f"backup-{number}.study"


def replace_guest(db: Database, _folder: Path, number: int) -> None:
    """All open items of one guest move to the other guest, who takes part from then on."""
    leaving, heir = taking_turns(number)
    staffing.replace(db, leaving, heir, why="they take turns", actor=ACTOR, now=datetime.now(UTC))


def taking_turns(number: int) -> tuple[str, str]:
    """Return the guest who leaves with a change, and the guest who joins."""
    return GUESTS[number % 2], GUESTS[1 - number % 2]


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
