"""The report as pages show it: computed once in a process of its own, and kept while nothing it depends on changes."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from labeler.service.results import reporting
from labeler.store import Database, events, labels

MAX_KEPT = 4  # reports in the server's memory
LOOK_EVERY_S = 0.2
EXPECTED_S = {True: 4.0, False: 12.0}  # before the first report was made, by whether it is a quick one
_NO_CHANGE = ("report", "look", "sign in", "sign out", "backup", "invite", "revoke", "list flags", "answer comment")

Version = tuple[Path, int, int, bool]
_kept: dict[Version, "Kept"] = {}
_took_s: dict[tuple[Path, bool], float] = {}
_making = Lock()


@dataclass(frozen=True)
class Kept:
    """A report's documents by name, and when they were made."""

    files: dict[str, str]
    made: datetime


def kept(db: Database, *, quick: bool) -> Kept | None:
    """The report of the study as it is now, if it was made before in this server."""
    return _kept.get(_version(db, quick))


def make(db: Database, *, quick: bool, actor: str, waiting: Callable[[float, float], object]) -> Kept:
    """Make the report, or take the one that somebody else is making.

    Parameters
    ----------
    db : Database
    quick : bool
        Whether to leave out what is resampled.
    actor : str
    waiting : callable
        Called several times a second with the seconds so far and those it took last time. If it raises, the
        computation is stopped.

    Raises
    ------
    InputError
        If the report cannot be made.
    """
    started, expected = time.monotonic(), _took_s.get((db.path, quick), EXPECTED_S[quick])
    while not _making.acquire(timeout=LOOK_EVERY_S):
        waiting(time.monotonic() - started, expected)
    try:
        version = _version(db, quick)
        if version not in _kept:
            begun = time.monotonic()
            files = reporting.files_for_page(
                db, quick=quick, actor=actor, waiting=lambda seconds: waiting(seconds, expected)
            )
            _took_s[db.path, quick] = time.monotonic() - begun
            while len(_kept) >= MAX_KEPT:
                _kept.pop(next(iter(_kept)))
            _kept[version] = Kept(files, datetime.now(UTC))
        return _kept[version]
    finally:
        _making.release()


def is_being_made() -> bool:
    """Whether a report is being computed in this server."""
    return _making.locked()


def forget(db: Database, *, quick: bool) -> None:
    """Let the report be made again."""
    _kept.pop(_version(db, quick), None)


def _version(db: Database, quick: bool) -> Version:
    """What stays the same as long as the report does: every change of the study is an event, or an answer."""
    return db.path, labels.n_labels(db), events.last_id(db, without=_NO_CHANGE), quick
