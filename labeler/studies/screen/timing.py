"""Compute the time on task, which is the time from the display of an item to the answer, without pauses.

The browser records each stretch of 15 s or more without input (key, pointer, wheel), and each stretch in which the page
was hidden. The study stores these raw times. Only this module decides which times count, so the rule can be changed
later.
"""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

SINCE_SENT = "since_sent_ms"  # in a view, set by the server: None if the picture was never sent; missing if unknown
IDLE_LIMIT_MS = 60_000  # the part of a stretch without input that counts: the reviewer may be looking
HIDDEN, IDLE = "hidden", "idle"


def time_on_task(dwell_ms: int | None, view: Mapping[str, Any]) -> int | None:
    """Return the time that a reviewer spent on an item, in milliseconds; None if it is unknown.

    `dwell_ms` is the time from the display of the item to the answer, with pauses. `view["pauses"]` is a list of
    [start, length, reason], in ms since the display. The reason is "hidden" (nothing counts) or "idle" (the first 60 s
    count). Other entries are ignored, because the data come from a browser. The server adds how long ago it sent the
    picture: a longer claim is cut, and there is no time for a picture that it never sent.

    Examples
    --------
    >>> time_on_task(200_000, {"pauses": [[5_000, 150_000, "idle"]]})
    110000
    >>> time_on_task(200_000, {"pauses": [[5_000, 150_000, "hidden"]]})
    50000
    """
    if dwell_ms is None or is_unseen(view):
        return None
    since_sent = view.get(SINCE_SENT)
    dwell_ms = min(dwell_ms, since_sent) if isinstance(since_sent, int) else dwell_ms
    away = sum(length if why == HIDDEN else max(length - IDLE_LIMIT_MS, 0) for length, why in _pauses(view))
    return max(dwell_ms - away, 0)


def is_unseen(view: Mapping[str, Any]) -> bool:
    """Return whether the server knows that it never sent the picture before this answer."""
    return SINCE_SENT in view and view[SINCE_SENT] is None


def typical(times_ms: Iterable[int | None]) -> float | None:
    """Return the median time on task in seconds; unknown times are left out. Return None if there are no times."""
    times = [time for time in times_ms if time is not None]
    return median(times) / 1000 if times else None


def _pauses(view: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    pauses = view.get("pauses")
    for pause in pauses if isinstance(pauses, list) else []:
        match pause:
            case [int(), int(length), str(why)] if length > 0 and why in (HIDDEN, IDLE):
                yield length, why
