"""A record of sent and acknowledged answers, to compare with the study file; and a look at a file as a whole."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from labeler.errors import LabelerError
from labeler.studies.course import coordinating, course
from labeler.studies.labelling import reviewing
from labeler.studies.model import NewLabel, State
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import verifying
from labeler.studies.store import Database, labels, open_database
from tests.making import SavedAnswer, id_of, saved_answers

EXAMPLES = 3


@dataclass(frozen=True)
class Sent:
    """An answer as a reviewer sent it."""

    reviewer: str
    code: str
    revision: int
    answer: str


@dataclass
class Ledger:
    """The reviewers' record of their answers, by event id; times are of the clock that all processes share."""

    sent: dict[str, Sent] = field(default_factory=dict)
    sent_at: dict[str, float] = field(default_factory=dict)
    acknowledged: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # event id -> the message
    faults: dict[str, None] = field(default_factory=dict)  # sentences, each once
    listen: Callable[[], None] = lambda: None  # gets later reports of reviewers: called before the file is compared
    n_looks: int = 0  # how often the file was read, and how often it was checked as a whole
    n_checks: int = 0

    def send(self, event_id: str, answer: Sent, at: float | None = None) -> None:
        """Record that an answer was sent, perhaps again."""
        if self.sent.setdefault(event_id, answer) != answer:
            self.fault(f"{answer.reviewer} sent another answer with the mark of an earlier one")
        self.sent_at.setdefault(event_id, time.monotonic() if at is None else at)

    def acknowledge(self, event_id: str, at: float | None = None) -> None:
        self.acknowledged.setdefault(event_id, time.monotonic() if at is None else at)

    @property
    def unacknowledged(self) -> set[str]:
        """The answers that were sent and may or may not be in the file."""
        return self.sent.keys() - self.acknowledged.keys() - self.refused.keys()

    def fault(self, what: str) -> None:
        self.faults[what] = None

    def look(self, study: Path, *, deep: bool = False) -> set[str]:
        """Open the study as the application does: every acknowledged answer is there once, and no unsent answer.

        A deep look also runs SQLite's check of the file. Returns the events in the file.
        """
        self.n_looks += 1
        acknowledged = set(self.acknowledged)
        try:
            with open_database(study) as db:
                rows = db.execute("SELECT event_id FROM labels").fetchall()
                for fault in unsound(db) if deep else ():
                    self.fault(fault)
        except LabelerError as error:
            self.fault(f"the file cannot be read: {error}")
            return set()
        self.listen()
        kept = Counter(event_id for (event_id,) in rows)
        self._compare("acknowledged, but not in the file", acknowledged - kept.keys())
        self._compare("in the file more than once", {event_id for event_id, n in kept.items() if n > 1})
        self._compare("in the file, but never sent", kept.keys() - self.sent.keys())
        self._compare("refused, but in the file", kept.keys() & self.refused.keys())
        return set(kept)

    def check(self, study: Path) -> None:
        """Check everything: the file is sound, its plan verifies, and each answer in it is the answer that was sent."""
        self.n_checks += 1
        self.look(study, deep=True)
        try:
            with open_database(study) as db:
                for problem in verifying.verify_plan(db).problems:
                    self.fault(f"the plan does not verify: {problem}")
                kept = saved_answers(db)
        except LabelerError as error:
            self.fault(f"the file cannot be checked: {error}")
            return
        self.listen()
        others = {one.label.event_id for one in kept if self.sent.get(one.label.event_id) != _as_sent(one)}
        self._compare("in the file otherwise than sent", others)
        self._compare("revisions twice or left out", _unnumbered(kept))

    def _compare(self, what: str, found: set[str]) -> None:
        if found:
            self.fault(f"{len(found)} {what}, such as {', '.join(sorted(found)[:EXAMPLES])}")


def unsound(db: Database) -> list[str]:
    """The faults that SQLite finds in a file."""
    words = [row[0] for row in db.execute("PRAGMA integrity_check").fetchall()]
    broken = db.execute("PRAGMA foreign_key_check").fetchall()
    return [f"integrity_check: {word}" for word in words if word != "ok"] + [f"foreign_key_check: {r}" for r in broken]


def goes_on(study: Path, names: Collection[str]) -> list[str]:
    """The faults when each of these reviewers gives one more answer in a file; a paused study is opened first."""
    with open_database(study) as db:
        if coordinating.get_study(db).state is State.PAUSED:
            course.change_state(db, Step.OPEN, why="restored", actor="carol", now=datetime.now(UTC))
        before = labels.n_labels(db)
        for name in names:
            queue = reviewing.review_queue(db, id_of(db, name))
            task = queue.offers[0] if queue.offers else reviewing.own_labels(db, id_of(db, name))[0].task
            answer = NewLabel(f"restored-{name}", task.code, task.revision, "similar", 900, {"axis": "core"})
            reviewing.submit(db, id_of(db, name), answer, now=datetime.now(UTC))
        n_new = labels.n_labels(db) - before
        problems = list(verifying.verify_plan(db).problems)
    return problems + ([] if n_new == len(names) else [f"{n_new} new labels of {len(names)}"])


def _as_sent(one: SavedAnswer) -> Sent:
    return Sent(one.reviewer, one.code, one.label.revision, one.label.answer)


def _unnumbered(kept: list[SavedAnswer]) -> set[str]:
    """The codes of the items whose answers are not numbered 0, 1, 2, ... in order."""
    revisions: dict[str, list[int]] = defaultdict(list)
    for one in kept:
        revisions[one.code].append(one.label.revision)
    return {code for code, found in revisions.items() if found != list(range(len(found)))}
