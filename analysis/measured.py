"""What the methods work on: the runs of a benchmark with the conditions under which each was made, and their values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from analysis.runs import Floats, checked_drop, n_warmup

# what may be known of a run beside its measurements; any other name is as good
RUN, VERSION, CONTEXT = "run", "version", "context"
ORDER_TYPE, ORDER_POSITION, ALTERED = "order_type", "order_position", "altered"
FACTOR = "factor:"  # in front of the column of any other condition
CONDITIONS = (RUN, VERSION, CONTEXT, ORDER_TYPE, ORDER_POSITION, ALTERED)

AGGREGATES: Mapping[str, Callable[[Floats], Any]] = {"mean": np.mean, "median": np.median, "min": np.min}


@dataclass(frozen=True)
class Failure:
    """A run that gave no measurement: its conditions and, in words, why."""

    conditions: Mapping[str, str]
    reason: str = ""


@dataclass(frozen=True)
class LeftOut:
    """What a method could not use, by name, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Measured:
    """The runs of one benchmark.

    Attributes
    ----------
    name : str
    runs : tuple of ndarray of float, each of shape (n_iterations,)
        At least one; finite measurements, at least one each; lengths may differ.
    application : str
        The software it belongs to; "" if unknown.
    unit : str
        "s" for times.
    better : str
        "lower" or "higher".
    conditions : mapping of str to tuple of str
        What is known of the runs: a name, as in `CONDITIONS`, and one text a run, "" where it is not known.
    failures : tuple of Failure
        Runs that gave nothing.

    Raises
    ------
    ValueError
        If there is no run, a run is empty or not finite, a condition does not have one entry a run, or `better` is
        another word.

    Examples
    --------
    >>> runs = np.array([1.0, 2.0]), np.array([3.0])
    >>> Measured("parse", runs, conditions={"version": ("old", "new")}).levels("version")
    ('old', 'new')
    """

    name: str
    runs: tuple[Floats, ...]
    application: str = ""
    unit: str = "s"
    better: str = "lower"
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no method can use."""
        if not self.runs:
            raise ValueError(f"benchmark {self.name!r} has no runs")
        for index, run in enumerate(self.runs):
            if np.ndim(run) != 1 or not len(run) or not np.isfinite(run).all():
                raise ValueError(f"benchmark {self.name!r}, run {index}: not a series of finite measurements")
        for name, entries in self.conditions.items():
            if len(entries) != len(self.runs):
                raise ValueError(f"benchmark {self.name!r}: {len(entries)} entries of {name} for {len(self.runs)} runs")
        if self.better not in ("lower", "higher"):
            raise ValueError(f"benchmark {self.name!r}: better is {self.better!r}, not 'lower' or 'higher'")

    def of(self, condition: str) -> tuple[str, ...]:
        """The entries of a condition, "" where nothing is known."""
        return self.conditions.get(condition, ("",) * len(self.runs))

    def levels(self, condition: str) -> tuple[str, ...]:
        """The different entries of a condition in order of first appearance, without ""."""
        return tuple(dict.fromkeys(entry for entry in self.of(condition) if entry))

    def where(self, **wanted: str) -> "Measured | None":
        """Only the runs, and failures, whose conditions are these; None if there are no such runs."""
        kept = [
            run for run in range(len(self.runs)) if all(self.of(name)[run] == entry for name, entry in wanted.items())
        ]
        failures = tuple(
            one for one in self.failures if all(one.conditions.get(name, "") == entry for name, entry in wanted.items())
        )
        return replace(self.take(kept), failures=failures) if kept else None

    def take(self, kept: Sequence[int]) -> "Measured":
        """Only the runs of these numbers, in this order, and all failures."""
        conditions = {name: tuple(entries[run] for run in kept) for name, entries in self.conditions.items()}
        return replace(self, runs=tuple(self.runs[run] for run in kept), conditions=conditions)


@dataclass(frozen=True)
class Sampling:
    """How a run becomes one number.

    Attributes
    ----------
    warmup : int or float
        Left out at the start of each run: a number of iterations, or, below 1, a share of the run's length.
    aggregate : str
        "mean", "median" or "min" of the remaining iterations.

    Raises
    ------
    ValueError
        If `warmup` is negative or no such number, or the aggregate is another.

    Examples
    --------
    >>> Sampling(warmup=1, aggregate="median").values([[9.0, 1.0, 2.0, 6.0]]).tolist()
    [2.0]
    """

    warmup: float = 0
    aggregate: str = "mean"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        try:
            checked_drop(self.warmup)
        except ValueError:
            wanted = "a number of iterations or a share below 1"
            raise ValueError(f"warmup must be {wanted}, got {self.warmup}") from None
        if self.aggregate not in AGGREGATES:
            raise ValueError(f"aggregate must be one of {', '.join(AGGREGATES)}, got {self.aggregate!r}")

    def steady(self, run: ArrayLike) -> Floats:
        """The run behind its warm-up; raises ValueError if nothing is left."""
        values = np.asarray(run, dtype=np.float64)
        return values[n_warmup(len(values), self.warmup) :]

    def value(self, run: ArrayLike) -> float:
        """The one number of a run, in its unit."""
        return float(AGGREGATES[self.aggregate](self.steady(run)))

    def values(self, runs: Sequence[ArrayLike]) -> Floats:
        """One number a run, shape (n_runs,)."""
        return np.array([self.value(run) for run in runs])


def by_level(benchmark: Measured, conditions: Sequence[str] = (ALTERED, VERSION, CONTEXT)) -> list[Measured]:
    """The runs apart by what must not be mixed in one sample: versions of the software, measurement contexts.

    Parameters
    ----------
    benchmark : Measured
    conditions : sequence of str
        Those whose levels are told apart.

    Returns
    -------
    list of Measured
        In order of first appearance, named `NAME @ LEVEL`; the benchmark alone if it has one level of each.

    Examples
    --------
    >>> runs = (np.array([1.0]), np.array([2.0]))
    >>> [one.name for one in by_level(Measured("b", runs, conditions={"version": ("old", "new")}))]
    ['b @ old', 'b @ new']
    """
    varied = [name for name in conditions if len(set(benchmark.of(name))) > 1]
    if not varied:
        return [benchmark]
    levels = dict.fromkeys(zip(*map(benchmark.of, varied), strict=True))
    return [
        replace(runs, name=f"{benchmark.name} @ {' @ '.join(entry or '?' for entry in level)}")
        for level in levels
        if (runs := benchmark.where(**dict(zip(varied, level, strict=True))))
    ]


Advance = Callable[[int, int], None]  # told how many are done, of how many


def unwatched(done: int, total: int) -> None:
    """Nobody asks how far it is."""


EVERY_ITERATION = Sampling()


def from_table(table: pd.DataFrame) -> list[Measured]:
    """The benchmarks of a long table, one row a measurement.

    Parameters
    ----------
    table : DataFrame
        Columns benchmark, run, value, and optionally iteration (rows are put in its order), application, unit, better,
        version, context, order_type, order_position, altered, and factor:NAME for any other condition. Runs are told
        apart by run and all conditions together.

    Returns
    -------
    list of Measured
        In order of first appearance.

    Raises
    ------
    ValueError
        If a column is missing, a row names no benchmark, a value is no finite number, an iteration no number, or a
        benchmark has two units or directions.

    Examples
    --------
    >>> table = pd.DataFrame({"benchmark": "b", "run": [0, 0, 1], "value": [1.0, 2.0, 3.0], "version": "new"})
    >>> from_table(table)[0].runs, from_table(table)[0].conditions
    ((array([1., 2.]), array([3.])), {'run': ('0', '1'), 'version': ('new', 'new')})
    """
    missing = [name for name in ("benchmark", "run", "value") if name not in table.columns]
    if missing:
        raise ValueError(f"the table lacks the column {', '.join(missing)}; it has {', '.join(map(str, table))}")
    if table["benchmark"].isna().any():
        raise ValueError(f"row {int(table['benchmark'].isna().argmax())} of the table names no benchmark")
    groups = [name for name in ("application", "benchmark") if name in table.columns]
    by_benchmark = table.groupby(groups, sort=False, dropna=False, observed=True)
    return [_benchmark(dict(zip(groups, map(_text, key), strict=True)), rows) for key, rows in by_benchmark]


def _benchmark(named: Mapping[str, str], rows: pd.DataFrame) -> Measured:
    factors = [str(column) for column in rows.columns if str(column).startswith(FACTOR)]
    names = [name for name in CONDITIONS if name in rows.columns] + factors
    runs, conditions = [], []
    for key, run in rows.groupby(names, sort=False, dropna=False, observed=True):
        ordered = run.sort_values("iteration", kind="stable", key=pd.to_numeric) if "iteration" in run.columns else run
        runs.append(ordered["value"].to_numpy(dtype=np.float64))
        conditions.append([_text(entry) for entry in key])
    return Measured(
        name=named["benchmark"],
        runs=tuple(runs),
        application=named.get("application", ""),
        unit=_constant(rows, "unit", "s"),
        better=_constant(rows, "better", "lower"),
        conditions={
            name.removeprefix(FACTOR): tuple(entries) for name, *entries in zip(names, *conditions, strict=True)
        },
    )


def _constant(rows: pd.DataFrame, column: str, otherwise: str) -> str:
    found = sorted(map(str, rows[column].dropna().unique())) if column in rows.columns else []
    if len(found) > 1:
        raise ValueError(f"benchmark {rows['benchmark'].iloc[0]!r} has more than one {column}: {', '.join(found)}")
    return found[0] if found else otherwise


def _text(entry: Any) -> str:
    """A cell as a text: "" where it is missing, and 3 for 3.0, as numbers beside missing cells are written."""
    if pd.isna(entry):
        return ""
    return str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry)
