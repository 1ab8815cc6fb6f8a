"""Build benchmarks from files that have one number per process, usually a mean."""

import math
import re
from collections.abc import Iterable, Iterator

import numpy as np

from analysis.benchmark import LOWER, UNKNOWN, Benchmark
from labeler.formats.units import MAX_UNIT, SECONDS, direction

Single = tuple[str, float, str]  # name, value, unit of the value

_GROUPS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
_PER_OPERATION = re.compile(r"(.*?)\s*(?:/|per )\s*(?:op|ops|iter|iteration|call|run|operation)s?", re.IGNORECASE)
_WORDS = {"nanosecond": "ns", "microsecond": "us", "millisecond": "ms", "second": "s", "sec": "s", "minute": "min"}


def benchmarks(values: Iterable[Single]) -> Iterator[Benchmark]:
    """Yield one benchmark per name, in order of first appearance.

    If a name occurs several times, each value is a run of another process. Raises ValueError if a name has two units,
    or a value is not finite.
    """
    runs: dict[str, list[tuple[float, str]]] = {}
    for name, value, unit in values:
        runs.setdefault(name, []).append((value, unit))
    for name, found in runs.items():
        units = list(dict.fromkeys(unit for _value, unit in found))
        kinds = {in_unit(unit)[::2] for unit in units}
        if len(kinds) > 1:
            raise ValueError(f"benchmark {name!r} has more than one unit: {', '.join(map(repr, units))}")
        stored, _factor, better = in_unit(units[0])
        series = [np.array([value * in_unit(unit)[1]]) for value, unit in found]
        yield Benchmark.of_series(name, series, unit=stored, better=better)


def in_unit(unit: str) -> tuple[str, float, str]:
    """Return the unit in which values are stored, the factor that converts values, and the better direction.

    Examples
    --------
    >>> in_unit("ns/iter"), in_unit("ops/sec"), in_unit("MB")
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


def finite(text: str, place: str) -> float:
    """Parse a number, which may have separators as in `16,092.5`; raise ValueError if the text is not a number."""
    try:
        value = float(text.replace(",", "") if _GROUPS.fullmatch(text) else text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{place}: {text[:30]!r} is not a finite number")
    return value
