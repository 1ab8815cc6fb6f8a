"""Units of measurements: times are converted to seconds, and other measurements keep their unit."""

import math
import re

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import FAILURES, HIGHER, LOWER, UNKNOWN

MAX_UNIT = 50  # longer units are not interpreted
MAX_NAME = 300  # characters of a metric's name that are interpreted
# What is counted per second if more is better. Any other unit may count what is good or bad, such as widgets/s.
_COUNTED = (
    r"[kmgtp]?i?(?:b|bit|byte|op|elem|flop|pixel|hash)|operation|it|iter|iteration|i|element|item|req|request|quer(?:y|ies)|"
    r"call|row|record|message|msg|event|transaction|txn|tx|frame|packet|key|line|doc|document|token|step|insert|update|delete|scan|fetch|commit|read|"
    r"write|lookup|job|task|file|page|image|sample|point|block|word|char|run|execution|invocation|connection|hashes|"
    r"pixels|reply|replies|response"
)
_SOME_COUNTED = (
    "bytes", "operations", "iterations", "requests", "queries", "calls", "items", "rows", "messages", "events",
    "transactions", "frames", "packets", "tokens", "jobs", "samples",
)  # fmt: skip
_RATE = re.compile(
    rf"ops?/\S+|(?:{_COUNTED})s?\s*(?:/|per )\s*(?:s|sec|second|ms|us|µs|ns|min|minute)s?|[kmg]?i?(b|bit|byte|op)s?ps|"
    r"[kmg]?(?:hz|fps|rps|qps|tps)",
    re.IGNORECASE,
)
# Words for what fails or is wasted: lower is better, whatever the unit.
FAILURE_WORDS = (
    "abort", "alloc", "allocation", "crash", "drop", "error", "eviction", "exception", "fail", "failure", "fault", "gc",
    "leak", "loss", "lost", "miss", "overrun", "reject", "rejection", "refused", "retry", "timeout", "violation",
)  # fmt: skip
# What is better, and of what, as `labeler formats --directions` lists it.
BETTER_OF = (
    (LOWER, "times, and costs of an operation"),
    (LOWER, f"units and metrics that name one of: {', '.join(FAILURE_WORDS)} (also as errors, failed, retries)"),
    (HIGHER, f"what is counted per second: {', '.join(_SOME_COUNTED)}, and the like"),
    (UNKNOWN, "everything else, unless --better METRIC=lower or METRIC=higher says so"),
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ENDINGS = ("s", "es", "ed", "ped", "ing", "ping")
_PER_OPERATION = re.compile(r"(.*?)\s*(?:/|per )\s*(?:op|ops|iter|iteration|call|run|operation)s?", re.IGNORECASE)
_WORDS = {"nanosecond": "ns", "microsecond": "us", "millisecond": "ms", "second": "s", "sec": "s", "minute": "min"}

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0}


def to_seconds(unit: str) -> tuple[str, float]:
    """Return the unit in which values are stored, and the factor that converts values to this unit.

    Examples
    --------
    >>> to_seconds("ms"), to_seconds("byte")
    (('s', 0.001), ('byte', 1.0))
    """
    return ("s", SECONDS[unit]) if unit in SECONDS else (unit, 1.0)


def stored_unit(unit: str) -> tuple[str, float, str]:
    """Like `to_seconds`, also for units in words or per operation; and the better direction.

    Examples
    --------
    >>> stored_unit("ns/iter"), stored_unit("ops/sec"), stored_unit("MB")
    (('s', 1e-09, 'lower'), ('ops/sec', 1.0, 'higher'), ('MB', 1.0, ''))
    """
    if len(unit) > MAX_UNIT:
        return unit, 1.0, UNKNOWN
    match = _PER_OPERATION.fullmatch(unit)
    time = (match[1] if match else unit).strip()
    time = _WORDS.get(time.lower().removesuffix("s"), time)
    if time in SECONDS:
        return "s", SECONDS[time], LOWER
    return unit, 1.0, direction(unit)


def direction(unit: str) -> str:
    """Return whether lower or higher values are better, or "" if nobody knows.

    Lower is better for seconds and for what fails, and higher for known rates.

    Examples
    --------
    >>> direction("s"), direction("ops/ms"), direction("MB/s"), direction("errors/s"), direction("widgets/s")
    ('lower', 'higher', 'higher', 'lower', '')
    """
    if unit == "s" or unit in FAILURES or names_failures(unit):
        return LOWER
    return HIGHER if len(unit) <= MAX_UNIT and _RATE.fullmatch(unit) else UNKNOWN


def names_failures(metric: str) -> bool:
    """Return whether a metric or unit counts what fails or is wasted, by its words.

    Examples
    --------
    >>> [names_failures(name) for name in ("errors", "dropped_iterations", "gcCount", "retries/s", "hits", "gchq")]
    [True, True, True, True, False, False]
    """
    return any(_root(word.lower()) in FAILURE_WORDS for word in _WORD.findall(metric[:MAX_NAME]))


def _root(word: str) -> str:
    if word in FAILURE_WORDS:
        return word
    if word.endswith(("ries", "ried")):
        return f"{word[:-3]}y"
    return next(
        (word.removesuffix(end) for end in _ENDINGS if word.endswith(end) and word.removesuffix(end) in FAILURE_WORDS),
        word,
    )


def scaled(series: Series, factor: float) -> Series:
    """Convert measurements to the stored unit; a value that overflows becomes infinite, which readers refuse."""
    with np.errstate(over="ignore"):
        return series * factor


def finite(text: str, place: str) -> float:
    """Parse a number without separators (see `labeler.files.formats.numerals`); raise ValueError for other texts."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{place}: {text[:30]!r} is not a finite number")
    return value
