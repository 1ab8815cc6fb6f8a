"""Reviewers in separate processes label one study at the same time; they are killed one after the other."""

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, ClassVar

from labeler.errors import LabelerError
from labeler.studies.course import coordinating
from labeler.studies.model import PlanParameters, Submission
from labeler.studies.preparing import assigning
from labeler.studies.store import Database, events, open_database, people
from tests.browser import studies
from tests.reliability import _writers as writers
from tests.reliability._ledger import Ledger, Sent, in_words, unsound
from tests.reliability._writers import ACTOR, GUESTS, N_IN_FILE, N_RUNS, Writer
from tests.reliability.outcome import Case

WHOLE_FILE = (N_IN_FILE, N_IN_FILE * N_RUNS, N_IN_FILE)
DONE_LIMIT_S = 180


@dataclass
class Deed(ABC):
    """One kind of action. `n_inside` kills came during an action; `n_whole` of these actions were completed."""

    study: Path
    folder: Path
    ledger: Ledger
    first: int = 0
    n_kills: int = 0
    n_inside: int = 0
    n_whole: int = 0
    faults: dict[str, None] = field(default_factory=dict)

    what: ClassVar[str]
    act: "ClassVar[staticmethod[[Database, Path, int], None]]"

    def start(self) -> Writer:
        """A process that does one action after another."""
        return Writer.start(writers.doing, type(self).act, self.study, self.folder, self.first)

    def kill_one(self, rng: random.Random) -> None:
        """Start a process, kill it at a random moment after its first action, and check the result."""
        before = set(self.ledger.acknowledged)
        writer = self.start()
        try:
            words = [writer.one_word(DONE_LIMIT_S)]
            begun_at = time.monotonic()
            words += [writer.one_word(DONE_LIMIT_S)]
            took_s = time.monotonic() - begun_at
            time.sleep(rng.uniform(0, 1.2 * took_s))  # waits for nothing: this is the moment of the kill
            words += writer.kill()
            self._after(words, before)
        except (EOFError, TimeoutError):
            writer.kill()
            self.fault("a process ended by itself, or did nothing")
        except LabelerError as error:
            self.fault(f"a file cannot be read: {error}")

    def _after(self, words: list[tuple[str, int]], acknowledged: set[str]) -> None:
        begun = max(number for word, number in words if word == "began")
        done = {number for word, number in words if word == "done"}
        self.n_kills += 1
        is_whole = self.left(begun, done, acknowledged)
        if begun not in done:
            self.n_inside += 1
            self.n_whole += is_whole
        self.first = begun + is_whole

    @property
    def figures(self) -> str:
        """The results as a sentence."""
        return (
            f"{self.n_kills} kills, {self.n_inside} during an action, {self.n_whole} of these completed; "
            f"{self.first} completed in all; {in_words(self.faults) or 'each complete or without effect'}"
        )

    def fault(self, what: str) -> None:
        """Add a fault if it is new."""
        self.faults[what] = None

    @abstractmethod
    def left(self, begun: int, done: set[int], acknowledged: set[str]) -> bool:
        """Check the state after the kill; returns whether action number `begun` was completed."""


class BackUp(Deed):
    """A backup under its final name is sound and has everything that was acknowledged before it began."""

    what = "backup"
    act = staticmethod(writers.back_up)
    n_partial = 0

    def left(self, begun: int, done: set[int], acknowledged: set[str]) -> bool:
        names = {writers.backup_file(self.folder, number).name for number in done}
        found = {path.name for path in self.folder.glob("backup-*.study")}
        with open_database(self.study) as db:
            logged = {event.details["file"] for event in events.of_actions(db, {"backup"})}
        if not names <= found & logged:
            self.fault(f"reported, but not there or not in the log: {sorted(names - (found & logged))}")
        for name in found:
            self._look(self.folder / name, acknowledged)
            (self.folder / name).unlink()
        self.n_partial += any(self.folder.glob("backup-*.partial"))
        return writers.backup_file(self.folder, begun).name in found

    @property
    def figures(self) -> str:
        return f"{super().figures}; {self.n_partial} kills left a partial file under a temporary name"

    def _look(self, copy: Path, acknowledged: set[str]) -> None:
        with open_database(copy) as db:
            for fault in unsound(db):
                self.fault(fault)
            kept = {event_id for (event_id,) in db.execute("SELECT event_id FROM labels").fetchall()}
        if acknowledged - kept:
            self.fault(f"{len(acknowledged - kept)} answers acknowledged before it began are not in it")


class ReplaceGuest(Deed):
    """A change of people is in the log with the resulting plan, or has no effect."""

    what = "change of people"
    act = staticmethod(writers.replace_guest)

    def left(self, begun: int, done: set[int], acknowledged: set[str]) -> bool:
        with open_database(self.study) as db:
            log = events.of_actions(db, {"replace reviewer"})
            active = [name for name in writers.GUESTS if (who := people.by_name(db, name)) is not None and who.active]
            plan_hash = assigning.active_plan(db).hash
        n = len(log)
        if n not in (begun, begun + 1) or (begun in done and n == begun):
            self.fault(f"change {begun} began, and {n} are in the log")
        if n and (active != [log[-1].details["successor"]] or plan_hash != log[-1].details["hash"]):
            self.fault(f"after change {n}, {active} take part, and the plan is another one than logged")
        return n == begun + 1


class ImportFile(Deed):
    """A file is in the study with all items, runs and bins and its log entry, or not at all."""

    what = "import"
    act = staticmethod(writers.import_file)

    @classmethod
    def into_new_study(cls, folder: Path, ledger: Ledger) -> "ImportFile":
        """Files are imported before a plan is drawn, so this is a separate study."""
        study = folder / "draft.study"
        now = datetime.now(UTC)
        coordinating.create_study(study, name="Draft", question="Alike?", coordinator=ACTOR, now=now)
        return cls(study, folder, ledger)

    def left(self, begun: int, done: set[int], acknowledged: set[str]) -> bool:
        with open_database(self.study) as db:
            rows = db.execute(
                """SELECT f.name, count(*), sum((SELECT count(*) FROM runs r WHERE r.item_id = i.item_id)),
                          sum((SELECT count(*) FROM bins b WHERE b.item_id = i.item_id))
                   FROM files f LEFT JOIN items i USING (file_id) GROUP BY file_id"""
            ).fetchall()
            logged = [event.details["file"] for event in events.of_actions(db, {"import file"})]
            n_items = db.execute("SELECT count(*) FROM items").fetchone()[0]
            for fault in unsound(db):
                self.fault(fault)
        n = len(rows)
        if n not in (begun, begun + 1) or (begun in done and n == begun):
            self.fault(f"file {begun} began, and {n} are in the study")
        names = sorted(f"{number}.csv" for number in range(n))
        if sorted(logged) != names or sorted(row[0] for row in rows) != names or n_items != n * N_IN_FILE:
            self.fault(f"{n} files, {len(logged)} in the log, {n_items} items")
        for name, *counts in rows:
            if tuple(counts) != WHOLE_FILE:
                self.fault(f"{name} is there in part: items, runs, bins {counts}")
        return n == begun + 1


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
