"""Time on task: how much of the time between the painting of an item and its answer counts.

The browser notes, raw, every stretch without a sign of the reviewer (key, pointer, wheel) of 15 s or more, and every
stretch in which the page was hidden. What is made of them is decided here, and can be decided again.
"""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

IDLE_LIMIT_MS = 60_000  # so much of a stretch without a sign of the reviewer counts: they may be looking
HIDDEN, IDLE = "hidden", "idle"


def time_on_task(dwell_ms: int, view: Mapping[str, Any]) -> int:
    """Milliseconds that a reviewer spent on an item.

    Parameters
    ----------
    dwell_ms : int
        From painting to answer, by the clock.
    view : mapping
        `pauses`: a list of [start, length, why], in ms since painting; why is "hidden" (none of it counts) or "idle"
        (the first 60 s count). Anything else in it is passed over: it comes from a browser.

    Returns
    -------
    int
        From 0 to `dwell_ms`.

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
    """The median time on task in seconds; None of nothing."""
    times = list(times_ms)
    return median(times) / 1000 if times else None


def _pauses(view: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    pauses = view.get("pauses")
    for pause in pauses if isinstance(pauses, list) else []:
        match pause:
            case [int(), int(length), str(why)] if length > 0 and why in (HIDDEN, IDLE):
                yield length, why
