"""Kill coordinators' actions while others label: each action is completed or has no effect."""

import random
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from labeler.errors import LabelerError
from labeler.service.plan import assigning
from labeler.service.study import coordinating
from labeler.store import Database, events, open_database, people
from tests.reliability import _writers as writers
from tests.reliability._ledger import Ledger, in_words, unsound
from tests.reliability._writers import ACTOR, N_IN_FILE, N_RUNS, Writer

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
