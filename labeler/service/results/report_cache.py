"""Cache the report for pages.

A separate process computes the report. Pages show the cached report until the study changes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from labeler.service.results import reporting
from labeler.store import Database, events, labels

MAX_KEPT = 4  # maximum number of reports in the server's memory
LOOK_EVERY_S = 0.2
EXPECTED_S = {True: 4.0, False: 12.0}  # expected seconds for the first report, by whether the report is quick
_NO_CHANGE = ("report", "look", "sign in", "sign out", "backup", "invite", "revoke", "list flags", "answer comment")

Version = tuple[Path, int, int, bool]
_kept: dict[Version, "CachedReport"] = {}
_took_s: dict[tuple[Path, bool], float] = {}
_making = Lock()


@dataclass(frozen=True)
class CachedReport:
    """A cached report: the documents by name, and the time when the report was computed."""

    files: dict[str, str]
    made: datetime


def cached(db: Database, *, quick: bool) -> CachedReport | None:
    """Return the cached report of the study; return None if there is none or the study has changed since."""
    return _kept.get(_version(db, quick))


def make(db: Database, *, quick: bool, actor: str, waiting: Callable[[float, float], object]) -> CachedReport:
    """Compute the report, store it in the cache and return it.

    If another request is already computing the same report, wait for the result of that request. Raises InputError if
    the report cannot be computed.

    Parameters
    ----------
    quick : bool
        Whether to leave out numbers that need resampling, which take long.
    waiting : callable
        Called several times per second with the elapsed seconds and the seconds that the previous computation took.
        If this function raises an error, the computation is stopped.
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
            _kept[version] = CachedReport(files, datetime.now(UTC))
        return _kept[version]
    finally:
        _making.release()


def is_being_made() -> bool:
    """Return whether this server is computing a report now."""
    return _making.locked()


def forget(db: Database, *, quick: bool) -> None:
    """Remove the report from the cache, so that it is computed again."""
    _kept.pop(_version(db, quick), None)


def _version(db: Database, quick: bool) -> Version:
    """Return a value that changes whenever the report may change.

    The value contains the numbers of events and answers, because each change of a study adds an event or an answer.
    """
    return db.path, labels.n_labels(db), events.last_id(db, without=_NO_CHANGE), quick
