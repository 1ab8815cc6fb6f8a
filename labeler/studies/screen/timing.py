"""Compute the time on task, which is the time from the display of an item to the answer, without pauses.

The browser records each stretch of 15 s or more without input (key, pointer, wheel), and each stretch in which the page
was hidden. The study stores these raw times. Only this module decides which times count, so the rule can be changed
later.
"""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

IDLE_LIMIT_MS = 60_000  # the part of a stretch without input that counts: the reviewer may be looking
HIDDEN, IDLE = "hidden", "idle"


def time_on_task(dwell_ms: int, view: Mapping[str, Any]) -> int:
    """Return the time that a reviewer spent on an item, in milliseconds.

    `dwell_ms` is the time from the display of the item to the answer, with pauses. `view["pauses"]` is a list of
    [start, length, reason], in ms since the display. The reason is "hidden" (nothing counts) or "idle" (the first 60 s
    count). Other entries are ignored, because the data come from a browser.

    Examples
    --------
    >>> time_on_task(200_000, {"pauses": [[5_000, 150_000, "idle"]]})
    110000
    >>> time_on_task(200_000, {"pauses": [[5_000, 150_000, "hidden"]]})
    50000
    """
    away = sum(length if why == HIDDEN else max(length - IDLE_LIMIT_MS, 0) for length, why in _pauses(view))
    return max(dwell_ms - away, 0)


def typical(times_ms: Iterable[int]) -> float | None:
    """Return the median time on task in seconds; return None if there are no times."""
    times = list(times_ms)
    return median(times) / 1000 if times else None


def _pauses(view: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    pauses = view.get("pauses")
    for pause in pauses if isinstance(pauses, list) else []:
        match pause:
            case [int(), int(length), str(why)] if length > 0 and why in (HIDDEN, IDLE):
                yield length, why
