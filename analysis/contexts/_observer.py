"""Does measuring change what is measured? The speed-up at each level of instrumentation against that of the least."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.benchmark import HIGHER
from analysis.contexts._ratios import TINY, geometric_mean, series, speedups
from analysis.intervals import Estimate
from analysis.runs import Floats

Cells = Mapping[str, tuple[ArrayLike, ArrayLike]]


@dataclass(frozen=True)
class InstrumentationLevel:
    """The speed-up at one level of instrumentation.

    Attributes
    ----------
    level : str
    n_contexts : int
        Other contexts measured both at this level and at the least.
    speedup : Estimate
        Geometric mean over these contexts.
    against_least : float or None
        That divided by the speed-up in the same contexts at the least level.
    low, high : float or None
        Inter-run range: the speed-ups that single runs at the least level could have shown in these contexts.
    exceeds : bool or None
        The speed-up lies outside the range: more than runs alone explain. None where that cannot be said.
    reason : str or None
    """

    level: str
    n_contexts: int
    speedup: Estimate
    against_least: float | None = None
    low: float | None = None
    high: float | None = None
    exceeds: bool | None = None
    reason: str | None = None


@dataclass(frozen=True)
class ObserverEffect:
    """The levels of instrumentation, the least first.

    Attributes
    ----------
    least : str or None
    levels : tuple of InstrumentationLevel
    n_exceeding : int
    reason : str or None
        Why nothing can be compared.
    """

    least: str | None
    levels: tuple[InstrumentationLevel, ...] = ()
    n_exceeding: int = 0
    reason: str | None = None


def observer_effect(runs: Mapping[str, Cells], *, better: str = "lower", level: float = 0.95) -> ObserverEffect:
    """The speed-up at each level of instrumentation against that at the least [1]_.

    The range that runs alone explain goes from the worst run of the one version against the best of the other to the
    reverse, geometric mean over contexts; it is wide on purpose, so that what exceeds it is no accident of the runs.

    Parameters
    ----------
    runs : mapping of str to mapping of str to (array_like of float, array_like of float)
        Level of instrumentation -> other context -> one number a run, > 0, of baseline and of candidate. The least
        level is the smallest number, or the first if not all levels are numbers.
    better : str
        "lower" or "higher", as in `speedups`.
    level : float
        Of the intervals.

    Returns
    -------
    ObserverEffect
        With a reason instead of levels where there are fewer than two. A level that shares no context with the least,
        or whose contexts have one run of each version there, is not flagged but given a reason.

    Raises
    ------
    ValueError
        If a number is not above 0, a cell has no runs, or `better` is another word.

    References
    ----------
    .. [1] Mytkowicz, Sweeney, Hauswirth, Diwan (2008), Technical Report CU-CS-1042-08, University of Colorado

    Examples
    --------
    >>> effect = observer_effect({"0": {"": ([2.0, 2.2], [1.0, 1.1])}, "8": {"": ([3.0, 3.0], [1.0, 1.0])}})
    >>> round(effect.levels[1].against_least, 3), round(effect.levels[1].high, 3), effect.levels[1].exceeds
    (1.5, 2.2, True)
    """
    ordered = by_size(list(runs))
    if len(ordered) < 2:
        return ObserverEffect(next(iter(ordered), None), reason="fewer than two levels of instrumentation")
    least = runs[ordered[0]]
    levels = tuple(_compared(name, runs[name], least, better, level) for name in ordered)
    return ObserverEffect(ordered[0], levels, sum(found.exceeds is True for found in levels))


def by_size(levels: Sequence[str]) -> list[str]:
    """Ascending if all are numbers, else as they come.

    Examples
    --------
    >>> by_size(["10", "2"]), by_size(["on", "off"])
    (['2', '10'], ['on', 'off'])
    """
    numbers = [as_number(level) for level in levels]
    if any(number is None for number in numbers):
        return list(levels)
    return [level for _, level in sorted(zip(numbers, levels, strict=True), key=lambda pair: pair[0] or 0.0)]


def as_number(text: str) -> float | None:
    """The finite number that a text writes; None if it writes none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _compared(name: str, cells: Cells, least: Cells, better: str, level: float) -> InstrumentationLevel:
    shared = [context for context in cells if context in least]
    if not shared:
        nothing = "no context in common with the least level"
        return InstrumentationLevel(name, 0, Estimate(None, reason=nothing), reason=nothing)
    here, there = (_speedups([side[context] for context in shared], better) for side in (cells, least))
    found = len(shared), geometric_mean(here, level)
    centre = float(np.log(here).mean())
    against = float(np.exp(centre - np.log(there).mean()))
    if not any(_repeated(least[context]) for context in shared):
        reason = "one run of each version at the least level: no range"
        return InstrumentationLevel(name, *found, against, reason=reason)
    low, high = np.log([_ends(*least[context], better) for context in shared]).mean(axis=0)
    exceeds = not low - TINY <= centre <= high + TINY
    return InstrumentationLevel(name, *found, against, float(np.exp(low)), float(np.exp(high)), exceeds)


def _speedups(cells: Sequence[tuple[ArrayLike, ArrayLike]], better: str) -> Floats:
    means = np.array([[_runs(side).mean() for side in cell] for cell in cells])
    return speedups(means[:, 0], means[:, 1], better=better)


def _ends(baseline: ArrayLike, candidate: ArrayLike, better: str) -> tuple[float, float]:
    """The lowest and highest speed-up of one run of each version."""
    a, b = _runs(baseline), _runs(candidate)
    return (b.min() / a.max(), b.max() / a.min()) if better == HIGHER else (a.min() / b.max(), a.max() / b.min())


def _repeated(cell: tuple[ArrayLike, ArrayLike]) -> bool:
    return any(len(_runs(side)) > 1 for side in cell)


def _runs(side: ArrayLike) -> Floats:
    values = series(side, "runs")
    if not len(values) or values.min() <= 0:
        raise ValueError(f"runs must be above 0 and at least one in every context, got {values}")
    return values
