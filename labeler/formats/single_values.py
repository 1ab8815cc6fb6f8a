"""Build benchmarks from files that have one number per process, usually a mean."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.benchmark import LOWER, UNKNOWN, Benchmark, Failure
from labeler.formats.naming import missing_benchmarks
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


def with_failures(singles: Iterable[Single], failed: Iterable[tuple[str, str]]) -> Iterator[Benchmark]:
    """Yield the benchmarks with the failures that the tool printed, and with a failure where a process lacks them."""
    values = list(singles)
    failures: dict[str, list[str]] = defaultdict(list)
    for name, reason in failed:
        failures[name.strip()].append(reason)
    n_absent = Counter(
        name for name, _process in missing_benchmarks(_processes([name for name, _value, _unit in values]))
    )
    for name, n in n_absent.items():
        failures[name] += ["missing in the output of a process"] * (n - len(failures[name]))
    for benchmark in benchmarks(values):
        reasons = failures.pop(benchmark.name, ())
        yield replace(benchmark, failures=tuple(Failure({}, reason) for reason in reasons))
    for name, reasons in failures.items():
        yield Benchmark(name, (), failures=tuple(Failure({}, reason) for reason in reasons))


def _processes(names: Sequence[str]) -> list[set[str]]:
    """Return the benchmarks of each process whose output is in a file, or nothing if this cannot be known.

    All processes print their benchmarks in the same order, so another process begins where a name is not after the
    previous one. If this gives more processes than the most frequent name has, the file has another order.
    """
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    processes: list[set[str]] = []
    last = len(order)
    for name in names:
        if order[name] <= last:
            processes.append(set())
        processes[-1].add(name)
        last = order[name]
    return processes if len(processes) == max(Counter(names).values(), default=0) else []


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
