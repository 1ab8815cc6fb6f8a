"""Compare the runs of a benchmark in fixed order with its runs in random order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import frexp, isfinite, ldexp

import numpy as np
from numpy.typing import ArrayLike

from analysis.intervals import Estimate
from analysis.multiple import bonferroni, holm
from analysis.order._medians import COMPAT, PUBLISHED_LEVEL, median_interval
from analysis.runs import Floats
from analysis.samples import KruskalWallis, describe_change, kruskal
from analysis.spread import cv

RED_FLAG, UNLIKELY, EXAMINE = 1, 2, 3


@dataclass(frozen=True)
class Side:
    """The runs of a benchmark in one of the two orders."""

    values: tuple[float, ...]  # one number per run, in the benchmark's unit
    mean: float
    variation: Estimate  # the coefficient of variation
    median: Estimate  # median with an interval at the confidence level of the survey


@dataclass(frozen=True)
class Comparison:
    """The result of one test that compares fixed and random order for one version of a benchmark."""

    benchmark: str  # the version is "" if unknown
    application: str
    version: str
    unit: str
    better: str
    fixed: Side
    random: Side
    test: KruskalWallis
    # The smallest p that this number of runs can reach, which is the p if the values of both orders do not
    # overlap and no values are equal.
    min_attainable_p: float = field(metadata={"key": "smallest_p"})
    p_bonferroni: float | None  # p corrected for all tests of the survey
    p_holm: float | None
    differs: bool  # whether p < alpha / |T| (Bonferroni), whether the corrected p < alpha (Holm), and whether p < alpha
    differs_holm: bool
    differs_uncorrected: bool
    delta_percent: Estimate  # (mean fixed - mean random) / mean fixed, in percent
    change: str | None  # the change in words: random order compared with fixed order
    case: int | None  # result of `interval_case`
    # The case that the published tool reports. The tool has its own ranks and rule, and uses 95 % intervals for
    # each test.
    published_case: int


@dataclass(frozen=True)
class Cell:
    """The input of one test: the values of one version of a benchmark in both orders."""

    benchmark: str
    application: str
    version: str
    unit: str
    better: str
    fixed: Floats
    random: Floats


def delta_percent(fixed: ArrayLike, random: ArrayLike) -> Estimate:
    """Compute the difference between the means in percent of the fixed order: (fixed - random) / fixed * 100 [1]_.

    Parameters
    ----------
    fixed, random : array_like of float, shape (n_values,)
        One number per run, all in the same unit.

    Returns
    -------
    Estimate
        A number of percent, without an interval. It is negative if the random order has the larger mean. Undefined if
        the mean of the fixed order is not positive, if the mean of the random order is negative, or if there are no
        values.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin

    Examples
    --------
    >>> delta_percent([10, 10], [9, 10]).value
    5.0
    """
    a, b = np.asarray(fixed, dtype=np.float64), np.asarray(random, dtype=np.float64)
    if not len(a) or not len(b):
        return Estimate(None, reason="no values in one of the orders")
    mean_a, mean_b = _mean(a), _mean(b)
    if mean_a <= 0:
        return Estimate(None, reason="the mean of the fixed order is not positive")
    if mean_b < 0:
        return Estimate(None, reason="the mean of the random order is negative")
    delta = (mean_a - mean_b) / mean_a * 100
    return (
        Estimate(delta)
        if isfinite(delta)
        else Estimate(None, reason="the difference is too large for a floating-point number")
    )


def interval_case(fixed: Estimate, random: Estimate, *, compat: str | None = None) -> int | None:
    """Classify how the intervals of two medians overlap, into one of three cases [1]_.

    Parameters
    ----------
    compat : str, optional
        "ordersage": use the rule of the tool published with [1]_. By this rule, a median that equals a limit of the
        other interval is outside the interval, unless the interval of the random order has the higher upper limit.

    Returns
    -------
    int or None
        1 is a red flag: the intervals do not overlap. 2: a median is within the other interval, so order is unlikely to
        change a conclusion. 3: the intervals overlap, but neither median is within the other interval, so somebody
        should examine the data. None if an interval is missing.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin

    Examples
    --------
    >>> a = Estimate(2, low=1, high=3)
    >>> others = Estimate(5, low=4, high=6), Estimate(3, low=2, high=6), Estimate(5, low=2.5, high=6)
    >>> [interval_case(a, b) for b in others]
    [1, 2, 3]
    """
    if fixed.ends is None or random.ends is None:
        return None
    (a, a_low, a_high), (b, b_low, b_high) = fixed.ends, random.ends
    if a_high < b_low or b_high < a_low:
        return RED_FLAG
    if compat and b_high <= a_high:
        return UNLIKELY if b > a_low or a < b_high else EXAMINE
    return UNLIKELY if b_low <= a <= b_high or a_low <= b <= a_high else EXAMINE


@lru_cache(maxsize=1024)  # cached, because a suite has few different numbers of runs
def min_attainable_p(n_fixed: int, n_random: int) -> float:
    """Compute the smallest p that `kruskal` can reach for two samples of these sizes.

    The samples that give this p do not overlap and have no equal values.

    Examples
    --------
    >>> round(min_attainable_p(3, 3), 4)
    0.0495
    """
    p = kruskal([np.arange(n_fixed), np.arange(n_random) + n_fixed]).p
    return 1.0 if p is None else p


def compared(cells: Sequence[Cell], *, alpha: float, ci_level: float, compat: str | None) -> tuple[Comparison, ...]:
    """Run one test per cell, correct p for the number of tests, and compute intervals at `ci_level`."""
    tests = [kruskal([np.sort(cell.fixed), np.sort(cell.random)]) for cell in cells]
    p = [test.p for test in tests]
    return tuple(
        _comparison(cell, test, corrected, alpha=alpha, n_tests=len(cells), ci_level=ci_level, compat=compat)
        for cell, test, *corrected in zip(cells, tests, bonferroni(p), holm(p), strict=True)
    )


def below(p: float | None, threshold: float) -> bool:
    """Return whether p is known and below the threshold."""
    return p is not None and p < threshold


def _comparison(
    cell: Cell,
    test: KruskalWallis,
    corrected: Sequence[float | None],
    *,
    alpha: float,
    n_tests: int,
    ci_level: float,
    compat: str | None,
) -> Comparison:
    fixed, random = (_side(values, ci_level, compat) for values in (cell.fixed, cell.random))
    published = [median_interval(values, PUBLISHED_LEVEL, compat=COMPAT[0]) for values in (cell.fixed, cell.random)]
    delta = delta_percent(np.sort(cell.fixed), np.sort(cell.random))
    p_bonferroni, p_holm = corrected
    change = None
    if delta.value is not None:
        change = describe_change(random.mean / fixed.mean, cell.better, who="the random order")
    return Comparison(
        cell.benchmark, cell.application, cell.version, cell.unit, cell.better, fixed, random, test,
        min_attainable_p=min_attainable_p(len(cell.fixed), len(cell.random)),
        p_bonferroni=p_bonferroni,
        p_holm=p_holm,
        differs=below(test.p, alpha / n_tests),
        differs_holm=below(p_holm, alpha),
        differs_uncorrected=below(test.p, alpha),
        delta_percent=delta,
        change=change,
        case=interval_case(fixed.median, random.median, compat=compat),
        published_case=interval_case(*published, compat=COMPAT[0]) or EXAMINE,
    )  # fmt: skip


def _side(values: Floats, level: float, compat: str | None) -> Side:
    ordered = np.sort(values)  # another order of the runs changes not even the last digit
    median = median_interval(ordered, level, compat=compat)
    return Side(tuple(map(float, values)), _mean(ordered), cv(ordered), median)


def _mean(values: Floats) -> float:
    """Compute the mean; the result is exact if all values are equal, and large values do not overflow."""
    if values.min() == values.max():
        return float(values[0])
    exponent, scaled = _scaled(values)
    return ldexp(float(scaled.mean()), exponent)


def _scaled(values: Floats) -> tuple[int, Floats]:
    """Divide the values by a power of two, which is exact; return the values and the exponent."""
    exponent = frexp(np.abs(values).max())[1]
    return exponent, np.ldexp(values, -exponent)
