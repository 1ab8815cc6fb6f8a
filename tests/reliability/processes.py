"""Scene: reviewers in separate processes label one study at the same time, without a server.

They are killed one after the other, others who change or copy the study are killed, or the study is backed up each
second while it changes. A kill is SIGKILL: the process cannot close or write anything.
"""

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, ClassVar

from analysis.text import counted
from labeler.errors import LabelerError
from labeler.studies.course import coordinating
from labeler.studies.model import NewLabel, PlanParameters
from labeler.studies.preparing import assigning, verifying
from labeler.studies.store import actions, events, labels, open_database, people
from tests.browser import studies
from tests.making import id_of, item_name, series
from tests.reliability import writers
from tests.reliability.cases import Case, Room, case, in_words
from tests.reliability.ledger import Ledger, Sent, goes_on, unsound
from tests.reliability.writers import ACTOR, GUESTS, N_IN_FILE, N_RUNS, Act, Report, Writer, backup_file

REVIEWERS = ("ada", "ben", "cleo", "dan")
WHOLE_FILE = (N_IN_FILE, N_IN_FILE * N_RUNS, N_IN_FILE)
SPREAD_S = 0.04  # a label takes about 10 ms: a kill comes at any moment within several labels
AIMED, COMMIT_S = 0.5, 0.004  # some kills come this soon after the reviewer's process began to commit
BEGIN_LIMIT_S, DONE_LIMIT_S = 180, 180
CHECK_EVERY = 50
BACKUP_EVERY_S, CHANGE_EVERY_S = 1.0, 0.25


class Broken(RuntimeError):
    """A process behaved in a way that must not happen, so the row cannot continue."""


@dataclass
class Reviewer:
    """A reviewer, the process that labels for the reviewer, and the unacknowledged answer."""

    name: str
    reviewer_id: int
    writer: Writer
    waiting: NewLabel | None = None
    has_told: bool = False
    is_committing: bool = False


@dataclass
class Processes:
    """The study, its reviewers, and what they reported.

    `n_inside` kills came between sending an answer and its acknowledgement, or during an action; `n_whole` of these
    answers or actions were in the file.
    """

    room: Room
    study: Path
    rng: random.Random
    folder: Path  # of the backups
    ledger: Ledger = field(default_factory=Ledger)
    reviewers: list[Reviewer] = field(default_factory=list)
    n_kills: int = 0
    n_inside: int = 0
    n_whole: int = 0
    n_busy: int = 0
    figures: list[str] = field(default_factory=list)
    backups: dict[int, tuple[float, float]] = field(default_factory=dict)  # number -> begun and ended

    def begin(self, name: str) -> None:
        """Start a reviewer's process."""
        with open_database(self.study) as db:
            reviewer_id = id_of(db, name)
        self.reviewers.append(Reviewer(name, reviewer_id, self._start(reviewer_id, None)))

    def _start(self, reviewer_id: int, again: NewLabel | None) -> Writer:
        return Writer.start(writers.reviewer, self.study, reviewer_id, again, self.rng.getrandbits(32))

    def kill_one(self) -> None:
        """Kill one reviewer's process, look at the file, and start it again with its unacknowledged answer."""
        one = self.rng.choice(self.reviewers)
        self.wait(lambda: one.has_told, "sent nothing")
        self.listen(self.rng.uniform(0, SPREAD_S))
        if self.rng.random() < AIMED:
            self.wait(lambda: not one.is_committing, "ended no transaction")
            self.wait(lambda: one.is_committing, "began to commit nothing")
            self.listen(self.rng.uniform(0, COMMIT_S))
        self.stop(one)
        self.n_kills += 1
        kept = self.ledger.look(self.study)
        if one.waiting is not None:
            self.n_inside += 1
            self.n_whole += one.waiting.event_id in kept
        one.writer = self._start(one.reviewer_id, one.waiting)
        one.has_told = one.is_committing = False

    def stop(self, one: Reviewer) -> None:
        for report in one.writer.kill():
            self._take(one, *report)

    def stop_all(self) -> None:
        """Kill all reviewers' processes for good, and check the study."""
        for one in self.reviewers:
            self.stop(one)
        self.reviewers.clear()
        self.ledger.check(self.study)

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        self.listen(BEGIN_LIMIT_S, holds)
        if not holds():
            raise Broken(f"a reviewer's process {what} within {BEGIN_LIMIT_S} s")

    def listen(self, seconds: float, holds: Callable[[], bool] = lambda: False) -> None:
        """Read the reports of all reviewers, for some time or until a condition is true."""
        until = time.monotonic() + seconds
        while not holds():
            left = until - time.monotonic()
            by_pipe: dict[Any, Reviewer] = {
                one.writer.hear: one for one in self.reviewers if not one.writer.hear.closed
            }
            ready = wait(list(by_pipe), max(0.0, left))
            for one in (one for pipe, one in by_pipe.items() if pipe in ready):
                try:
                    for report in one.writer.told():
                        self._take(one, *report)
                except EOFError:
                    raise Broken(f"the process of {one.name} ended by itself") from None
            if left <= 0:
                return

    def _take(self, one: Reviewer, word: str, said: Any, at: float) -> None:
        one.has_told, one.is_committing = True, word == "commits"
        if word == "sent":
            one.waiting = said
            self.ledger.send(said.event_id, Sent(one.name, said.code, said.revision, said.answer), at)
        elif word == "acknowledged":
            one.waiting = None
            self.ledger.acknowledge(said, at)
        elif word == "refused":
            one.waiting = None
            self.ledger.refused[said[0]] = said[1]
        self.n_busy += word == "busy"


def labelling(
    n_items: int = 200, n_runs: int = 3, n_iterations: int = 60
) -> Callable[[Room], AbstractContextManager[Processes]]:
    """Four reviewers label without pause in processes of their own; a guest has the same items."""

    @contextmanager
    def scene(room: Room) -> Iterator[Processes]:
        study, rng = room.new_folder() / "processes.study", random.Random(room.seed)
        plan = PlanParameters(room.seed, per_item=len(REVIEWERS) + 1, overlap=0, retest=0)
        items = {item_name(n): series(n, n_runs, n_iterations) for n in range(room.n(n_items, 60))}
        studies.make(study, items, reviewers=(*REVIEWERS, GUESTS[0]), parameters=plan)
        world = Processes(room, study, rng, room.new_folder())
        world.ledger.listen = lambda: world.listen(0)
        try:
            for name in REVIEWERS:
                world.begin(name)
            world.wait(lambda: len(world.ledger.acknowledged) > len(REVIEWERS), "saved nothing")
            yield world
        finally:
            for one in world.reviewers:
                one.writer.kill()

    return scene


# Accidents: kills


def reviewers_killed(n: int, quick: int) -> Callable[[Processes], None]:
    """One reviewer's process after the other is killed and started again."""

    def happens(world: Processes) -> None:
        for number in range(1, world.room.n(n, quick) + 1):
            world.kill_one()
            if number % CHECK_EVERY == 0:
                world.ledger.check(world.study)
        world.stop_all()

    return happens


@dataclass
class Deed(ABC):
    """One kind of action that is killed; its faults are those of the reviewers' ledger."""

    world: Processes
    folder: Path
    study: Path
    first: int = 0

    act: ClassVar["staticmethod[[Any, Path, int], None]"]

    @classmethod
    def study_of(cls, world: Processes, _folder: Path) -> Path:
        """The study in which the action happens: that of the reviewers."""
        return world.study

    def kill_one(self) -> None:
        """Start a process, kill it at a random moment after its first action, and check the result."""
        before = set(self.world.ledger.acknowledged)
        writer = Writer.start(writers.doing, type(self).act, self.study, self.folder, self.first, 0.0)
        reports: list[Report] = []
        try:
            while len(reports) < 2:
                self.world.listen(0.002)
                reports += writer.told()
                if reports and time.monotonic() > reports[0][2] + DONE_LIMIT_S:
                    raise Broken("an action did not end")
            took_s = reports[1][2] - reports[0][2]
            self.world.listen(self.world.rng.uniform(0, 1.2 * took_s))  # this is the moment of the kill
        except EOFError:
            raise Broken("a process that acts ended by itself") from None
        finally:
            reports += writer.kill()
        begun = max(number for word, number, _ in reports if word == "began")
        done = {number for word, number, _ in reports if word == "done"}
        for why in (value for word, value, _ in reports if word == "failed"):
            self.fault(f"an action failed: {why}")
        self.world.n_kills += 1
        try:
            is_whole = self.left(begun, done, before)
        except LabelerError as error:
            self.fault(f"a file cannot be read: {error}")
            is_whole = False
        if begun not in done:
            self.world.n_inside += 1
            self.world.n_whole += is_whole
        self.first = begun + is_whole

    def fault(self, what: str) -> None:
        self.world.ledger.fault(what)

    @abstractmethod
    def left(self, begun: int, done: set[int], acknowledged: set[str]) -> bool:
        """Check the state after the kill; returns whether action number `begun` was completed."""


class BackUp(Deed):
    """A backup under its final name is sound and has everything that was acknowledged before it began."""

    act = staticmethod(writers.back_up)

    def left(self, begun: int, done: set[int], acknowledged: set[str]) -> bool:
        names = {backup_file(self.folder, number).name for number in done}
        found = {path.name for path in self.folder.glob("backup-*.study")}
        with open_database(self.study) as db:
            logged = {event.details["file"] for event in events.of_actions(db, [actions.BACKUP])}
        if not names <= found & logged:
            self.fault(f"reported, but not there or not in the log: {sorted(names - (found & logged))}")
        for name in found:
            with open_database(self.folder / name) as db:
                for fault in unsound(db):
                    self.fault(fault)
                kept = {event_id for (event_id,) in db.execute("SELECT event_id FROM labels").fetchall()}
            if acknowledged - kept:
                self.fault(f"{len(acknowledged - kept)} answers acknowledged before a backup began are not in it")
            (self.folder / name).unlink()
        return backup_file(self.folder, begun).name in found


class ReplaceGuest(Deed):
    """A change of people is in the log with the resulting plan, or has no effect."""

    act = staticmethod(writers.replace_guest)

    def left(self, begun: int, done: set[int], acknowledged: set[str]) -> bool:
        with open_database(self.study) as db:
            log = events.of_actions(db, [actions.REPLACE_REVIEWER])
            active = [name for name in GUESTS if (who := people.by_name(db, name)) is not None and who.active]
            plan_hash = assigning.active_plan(db).hash
        n = len(log)
        if n not in (begun, begun + 1) or (begun in done and n == begun):
            self.fault(f"change {begun} began, and {n} are in the log")
        if n and (active != [log[-1].details["successor"]] or plan_hash != log[-1].details["hash"]):
            self.fault(f"after change {n}, {active} take part, and the plan is another one than logged")
        return n == begun + 1


class ImportFile(Deed):
    """A file is in the study with all items, runs and bins and its log entry, or not at all."""

    act = staticmethod(writers.import_file)

    @classmethod
    def study_of(cls, _world: Processes, folder: Path) -> Path:
        """A separate study, because files are imported before a plan is drawn."""
        study = folder / "draft.study"
        coordinating.create_study(study, name="Draft", question="Alike?", coordinator=ACTOR, now=datetime.now(UTC))
        return study

    def left(self, begun: int, done: set[int], acknowledged: set[str]) -> bool:
        with open_database(self.study) as db:
            rows = db.execute(
                """SELECT f.name, count(*), sum((SELECT count(*) FROM runs r WHERE r.item_id = i.item_id)),
                          sum((SELECT count(*) FROM bins b WHERE b.item_id = i.item_id))
                   FROM files f LEFT JOIN items i USING (file_id) GROUP BY file_id"""
            ).fetchall()
            logged = [event.details["files"][0][0] for event in events.of_actions(db, [actions.IMPORT_FILE])]
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


def killed(kind: type[Deed], n: int, quick: int) -> Callable[[Processes], None]:
    """A process that does this without pause is killed again and again while the reviewers label."""

    def happens(world: Processes) -> None:
        folder = world.room.new_folder()
        deed = kind(world, folder, kind.study_of(world, folder))
        for _ in range(world.room.n(n, quick)):
            deed.kill_one()
        n_partial = len(list(deed.folder.glob("*.partial")))
        world.figures.append(f"{deed.first} completed in all; {n_partial} files left under a temporary name")
        world.stop_all()

    return happens


# Accidents: backups while the study changes


def backed_up_each_second(world: Processes) -> None:
    """A backup each second while people, items and states change."""
    seconds = world.room.n(60, 8)
    world.wait(
        lambda: len({world.ledger.sent[one].reviewer for one in world.ledger.acknowledged}) == 4, "saved nothing"
    )
    changing = _doing(writers.change, world, CHANGE_EVERY_S)
    backing = _doing(writers.back_up, world, BACKUP_EVERY_S)
    world.listen(seconds)
    begun: dict[int, float] = {}
    for word, number, at in backing.kill():
        if word == "began":
            begun[number] = at
        elif word == "done":
            world.backups[number] = begun[number], at
    reports = changing.kill()
    world.figures.append(f"{sum(word == 'done' for word, *_ in reports)} changes")
    for why in (value for word, value, _ in reports if word == "failed"):
        world.ledger.fault(f"a change failed: {why}")
    for one in world.reviewers:
        world.stop(one)
    world.reviewers.clear()


def _doing(act: Act, world: Processes, every_s: float) -> Writer:
    return Writer.start(writers.doing, act, world.study, world.folder, 0, every_s)


# Counts


def nothing_lost(world: Processes) -> Case:
    """Every acknowledged answer is stored once, as it was sent; each action is complete or without effect."""
    ledger, problems = world.ledger, []
    if ledger.refused:
        problems.append(f"{len(ledger.refused)} answers refused: {in_words(set(ledger.refused.values()))}")
    if not world.n_inside:
        problems.append("no kill came in time")
    figures = (
        f"{world.n_kills} kills, {world.n_inside} inside, {world.n_whole} of these complete in the file; "
        f"{len(ledger.sent)} answers sent, {len(ledger.acknowledged)} acknowledged, {world.n_busy} times busy; read "
        f"the file {counted(ledger.n_looks, 'time')}, checked it completely {counted(ledger.n_checks, 'time')}"
    )
    return case("", "; ".join([figures, *world.figures]), [*problems, *ledger.faults])


def no_error(world: Processes) -> Case:
    """There was a load, and nothing failed under it; answers are refused only while paused or reassigned."""
    ledger = world.ledger
    problems = list(ledger.faults) + ([] if ledger.acknowledged else ["no load"])
    problems += [f"{world.n_busy} times busy"] if world.n_busy else []
    figures = f"{len(ledger.acknowledged)} answers kept, {len(ledger.refused)} refused while paused or reassigned"
    return case("no error under load", "; ".join([figures, *world.figures]), problems)


def every_backup_is_of_a_moment(world: Processes) -> Case:
    """Each has the first answers of each reviewer: all acknowledged before it began, none sent after it ended."""
    problems = [problem for number in world.backups for problem in _wrong(world, number)]
    if not world.backups:
        problems.append("no backup")
    return case("every backup is sound, of one moment, verifies and goes on", f"{len(world.backups)} backups", problems)


def _wrong(world: Processes, number: int) -> list[str]:
    path, (begun, ended) = backup_file(world.folder, number), world.backups[number]
    problems = []
    try:
        with open_database(path) as db:
            problems += unsound(db)
            stored = labels.table(db)
            problems += verifying.verify_plan(db).problems
        for name in REVIEWERS:
            of_reviewer = stored.loc[stored["reviewer"] == name, "event_id"].tolist()
            problems += _not_first(world.ledger, name, of_reviewer, begun, ended)
        problems += goes_on(path, REVIEWERS)
    except LabelerError as error:
        problems.append(repr(error))
    return [f"backup {number}: {problem}" for problem in problems]


def _not_first(ledger: Ledger, name: str, stored: list[str], begun: float, ended: float) -> list[str]:
    """The fault in the answers of one reviewer in a backup."""
    given = [one for one, answer in ledger.sent.items() if answer.reviewer == name and one not in ledger.refused]
    if stored != given[: len(stored)]:
        return [f"{name}: other answers than the first so many"]
    n_before = sum(ledger.acknowledged.get(one, ended) < begun for one in given)
    n_until = sum(ledger.sent_at[one] <= ended for one in given)
    if not n_before <= len(stored) <= n_until:
        return [f"{name}: {len(stored)} answers, and {n_before} to {n_until} were given"]
    return []
