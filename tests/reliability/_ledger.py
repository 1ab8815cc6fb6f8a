"""A record of sent and acknowledged answers, to compare with the study file."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from labeler.errors import LabelerError
from labeler.studies.preparing import verifying
from labeler.studies.store import Database, open_database
from tests.making import SavedAnswer, saved_answers

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
    """The reviewers' record of their answers, by event id."""

    sent: dict[str, Sent] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    faults: dict[str, None] = field(default_factory=dict)  # sentences, each once
    listen: Callable[[], None] = lambda: None  # gets later reports of reviewers: called before the file is compared
    n_looks: int = 0  # how often the file was read, and how often it was checked as a whole
    n_checks: int = 0

    @property
    def unacknowledged(self) -> set[str]:
        """The answers that were sent and may or may not be in the file."""
        return self.sent.keys() - self.acknowledged

    @property
    def found(self) -> str:
        """The faults that were found, as sentences."""
        return in_words(self.faults) or "nothing lost or duplicated, file sound, plan verified"

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


def in_words(faults: Collection[str]) -> str:
    """Return the first few, and the number of the others."""
    more = [f"and {len(faults) - EXAMPLES} more"] if len(faults) > EXAMPLES else []
    return "; ".join([*list(faults)[:EXAMPLES], *more])


def unsound(db: Database) -> list[str]:
    """The faults that SQLite finds in a file."""
    words = [row[0] for row in db.execute("PRAGMA integrity_check").fetchall()]
    broken = db.execute("PRAGMA foreign_key_check").fetchall()
    return [f"integrity_check: {word}" for word in words if word != "ok"] + [f"foreign_key_check: {r}" for r in broken]


def _as_sent(one: SavedAnswer) -> Sent:
    return Sent(one.reviewer, one.code, one.label.revision, one.label.answer)


def _unnumbered(kept: list[SavedAnswer]) -> set[str]:
    """The codes of the items whose answers are not numbered 0, 1, 2, ... in order."""
    revisions: dict[str, list[int]] = defaultdict(list)
    for one in kept:
        revisions[one.code].append(one.label.revision)
    return {code for code, found in revisions.items() if found != list(range(len(found)))}
