"""Reviewers in separate processes label one study at the same time; they are killed one after the other."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from labeler.model import PlanParameters, Submission
from labeler.store import open_database, people
from tests.browser import studies
from tests.reliability import _writers as writers
from tests.reliability._deeds import BackUp, Deed, ImportFile, ReplaceGuest
from tests.reliability._ledger import Ledger, Sent
from tests.reliability._writers import GUESTS, Writer
from tests.reliability.outcome import Case

REVIEWERS = ("ada", "ben", "cleo", "dan")
N_ITEMS = 200
SPREAD_S = 0.04  # a label takes about 10 ms: a kill comes at any moment within several labels
AIMED, COMMIT_S = 0.5, 0.004  # some kills come this soon after the reviewer's process began to commit
BEGIN_LIMIT_S = 180
CHECK_EVERY, OTHERS_EVERY = 50, 20


@dataclass
class Desk:
    """A reviewer, the process that labels for the reviewer, and the unacknowledged answer."""

    name: str
    reviewer_id: int
    writer: Writer
    waiting: Submission | None = None
    has_told: bool = False
    is_committing: bool = False


class Broken(Exception):
    """A process behaved in a way that must not happen, so the test cannot continue."""


class Kills:
    """The study, its reviewers, and the results of the kills so far.

    `n_inside` kills came between sending an answer and its acknowledgement; `n_committed` of these answers were in the
    file.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.study, self.rng, self.ledger = folder / "kills.study", random.Random(seed), Ledger()
        self.n_kills = self.n_inside = self.n_committed = self.n_busy = 0
        plan = PlanParameters(seed, per_item=len(REVIEWERS) + 1, overlap=0, retest=0)
        studies.make(self.study, studies.many(N_ITEMS), reviewers=(*REVIEWERS, GUESTS[0]), parameters=plan)
        self.deeds: list[Deed] = [
            BackUp(self.study, folder, self.ledger),
            ReplaceGuest(self.study, folder, self.ledger),
            ImportFile.into_new_study(folder, self.ledger),
        ]
        self.desks = [self._desk(name) for name in REVIEWERS]
        self.ledger.listen = lambda: self._listen(0)

    def run(self, n_kills: int) -> None:
        """Kill label transactions, and sometimes a process that does something else."""
        try:
            for number in range(1, n_kills + 1):
                self._kill_one()
                if number % OTHERS_EVERY == 0 or number == n_kills:
                    for deed in self.deeds:
                        self._listen(0)
                        deed.kill_one(self.rng)
                if number % CHECK_EVERY == 0:
                    self.ledger.check(self.study)
        except Broken as error:
            self.ledger.fault(str(error))
        for desk in self.desks:
            self._stop(desk)
        self.ledger.check(self.study)

    def _desk(self, name: str) -> Desk:
        with open_database(self.study) as db:
            person = people.by_name(db, name)
        assert person is not None
        return Desk(name, person.person_id, self._start(person.person_id, None))

    def _start(self, reviewer_id: int, again: Submission | None) -> Writer:
        return Writer.start(writers.reviewer, self.study, reviewer_id, again, self.rng.getrandbits(32))

    def _kill_one(self) -> None:
        desk = self.rng.choice(self.desks)
        self._wait(lambda: desk.has_told, "sent nothing")
        self._listen(self.rng.uniform(0, SPREAD_S))
        if self.rng.random() < AIMED:
            self._wait(lambda: not desk.is_committing, "ended no transaction")
            self._wait(lambda: desk.is_committing, "began to commit nothing")
            self._listen(self.rng.uniform(0, COMMIT_S))
        self._stop(desk)
        self.n_kills += 1
        kept = self.ledger.look(self.study)
        if desk.waiting is not None:
            self.n_inside += 1
            self.n_committed += desk.waiting.event_id in kept
        desk.writer = self._start(desk.reviewer_id, desk.waiting)
        desk.has_told = desk.is_committing = False

    def _stop(self, desk: Desk) -> None:
        for word, said in desk.writer.kill():
            self._take(desk, word, said)

    def _wait(self, holds: Callable[[], bool], what: str) -> None:
        self._listen(BEGIN_LIMIT_S, holds)
        if not holds():
            raise Broken(f"a reviewer's process {what} within {BEGIN_LIMIT_S} s")

    def _listen(self, seconds: float, holds: Callable[[], bool] = lambda: False) -> None:
        """Read the messages of all processes, for some time or until a condition is true."""
        until = time.monotonic() + seconds
        while not holds():
            left = until - time.monotonic()
            by_pipe = {desk.writer.hear: desk for desk in self.desks if not desk.writer.hear.closed}
            ready = wait(list(by_pipe), max(0.0, left))
            for desk in (desk for pipe, desk in by_pipe.items() if pipe in ready):
                self._hear(desk)
            if left <= 0:
                return

    def _hear(self, desk: Desk) -> None:
        try:
            for word, said in desk.writer.told():
                self._take(desk, word, said)
        except EOFError:
            raise Broken(f"the process of {desk.name} ended by itself") from None

    def _take(self, desk: Desk, word: str, said: Any) -> None:
        desk.has_told, desk.is_committing = True, word == "commits"
        if word == "commits":
            return
        if word == "sent":
            desk.waiting = said
            self.ledger.sent[said.event_id] = Sent(desk.name, said.code, said.revision, said.answer)
        elif word == "acknowledged":
            desk.waiting = None
            self.ledger.acknowledged.add(said)
        elif word == "busy":
            self.n_busy += 1
        else:
            self.ledger.fault(f"an answer of {desk.name} was refused: {said}")


def cases(folder: Path, n_kills: int, seed: int) -> Iterator[Case]:
    """Yield the cases: kills of all kinds, and the content of the files afterwards."""
    kills = Kills(folder, seed)
    kills.run(n_kills)
    ledger = kills.ledger
    yield Case(
        "label transactions killed",
        f"{kills.n_kills} kills of {len(REVIEWERS)} processes that label at once, {kills.n_inside} between an answer "
        f"and its acknowledgement, {kills.n_committed} of these committed; {len(ledger.sent)} answers sent, "
        f"{len(ledger.acknowledged)} acknowledged, {kills.n_busy} times busy; read the file {ledger.n_looks} "
        f"times, checked it completely {ledger.n_checks} times; {ledger.found}",
        not ledger.faults and kills.n_kills == n_kills and kills.n_inside > 0,
    )
    for deed in kills.deeds:
        passed = not deed.faults and deed.n_inside > 0
        yield Case(f"{deed.what} killed while others label", deed.figures, passed)
