"""Compare the runs of a benchmark in fixed order with its runs in random order, also for two versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil, floor, frexp, isfinite, ldexp, log2, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.arrays import Floats
from analysis.runs.benchmark import in_direction
from analysis.runs.samples import KruskalWallis, describe_change, kruskal
from analysis.runs.spread import cv
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import bonferroni, holm

COMPAT = ("ordersage",)
PUBLISHED_LEVEL = 0.95  # confidence level of each test in the published tool


def median_interval(values: ArrayLike, level: float = 0.95, *, compat: str | None = None) -> Estimate:
    """Compute the median and its exact interval from order statistics [1]_.

    The interval goes from the j-th smallest to the j-th largest value. The coverage of this interval is at least 1 - 2
    P(B < j) for any distribution, where B is binomial (n, 1/2). j is the largest number for which this is at least
    `level`. Raises ValueError if `values` is not a one-dimensional series of finite numbers, or `level` or `compat` is
    invalid.

    `values` (shape (n_values,)): independent values in any unit, such as one per run; `compat`: "ordersage": use the
    ranks of the tool published with [2]_. The tool treats ranks of the normal approximation, which start at 1, as if
    they started at 0, so both limits are one value too high. The tool gives an interval for any n. The result is in the
    unit of `values`. Undefined if there are no values. If n is too small for the level, there is a reason instead of an
    interval. If all values are equal, the interval has zero width.

    References
    ----------
    .. [1] Le Boudec (2010), Performance Evaluation of Computer and Communication Systems, EPFL Press, section 2.2
    .. [2] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be within (0, 1), got {level}")
    checked_compat(compat)
    ascending = np.sort(np.asarray(values, dtype=np.float64))
    if ascending.ndim != 1 or not np.isfinite(ascending).all():
        raise ValueError(f"values must be a one-dimensional series of finite numbers, got shape {ascending.shape}")
    n = len(ascending)
    if not n:
        return Estimate(None, reason="no values")
    median = middle(ascending)
    ranks = _published_ranks(n, level) if compat else _exact_ranks(n, level)
    if ranks is None:
        needed = ceil(1 - log2(1 - level) - 1e-9)
        few = f"{n} value{'s are' if n > 1 else ' is'} too few"
        return Estimate(median, reason=f"{few} for an interval of {100 * level:.4g} %: {needed} are needed")
    low, high = ranks
    return Estimate(median, low=float(ascending[low]), high=float(ascending[high]))


def checked_compat(compat: str | None) -> str | None:
    """Return `compat`; raise ValueError if it is invalid."""
    if compat is not None and compat not in COMPAT:
        raise ValueError(f"compat must be one of {', '.join(COMPAT)}, or None, got {compat!r}")
    return compat


def middle(ascending: Floats) -> float:
    """Compute the median of at least one value. Values are halved before they are added, which avoids overflow."""
    low, high = float(ascending[(len(ascending) - 1) // 2]), float(ascending[len(ascending) // 2])
    return low if low == high else low / 2 + high / 2


@lru_cache(maxsize=1024)  # cached, because a suite has few different numbers of runs
def _exact_ranks(n: int, level: float) -> tuple[int, int] | None:
    """Return the indices of both limits, counted from 0.

    Return None if even the interval from the smallest to the largest value does not reach the level.
    """
    holds = 1 - 2 * stats.binom.cdf(np.arange((n + 1) // 2), n, 0.5)
    j = int((holds >= level - 1e-12).sum())  # rounding errors are ignored, so that a level such as 0.75 is reached
    return (j - 1, n - j) if j else None


def _published_ranks(n: int, level: float) -> tuple[int, int]:
    half = float(stats.norm.ppf((1 + level) / 2)) * sqrt(n) / 2
    return max(floor(n / 2 - half), 0), min(ceil(n / 2 + half) + 1, n - 1)


RED_FLAG, UNLIKELY, EXAMINE = 1, 2, 3


@dataclass(frozen=True)
class Side:
    """The runs of a benchmark in one of the two orders."""

    values: tuple[float, ...]  # one number per run, in the benchmark's unit
    mean: float
    variation: Estimate  # the coefficient of variation
    median: Estimate  # median with an interval at the confidence level of the survey


@dataclass(frozen=True)
class OneVersion:
    """One version of a benchmark."""

    benchmark: str
    application: str
    version: str  # "" if unknown
    unit: str
    better: str


@dataclass(frozen=True)
class OrderComparison(OneVersion):
    """The result of one test that compares fixed and random order for one version of a benchmark."""

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
class Cell(OneVersion):
    """The input of one test: the values of one version of a benchmark in both orders."""

    fixed: Floats
    random: Floats


def delta_percent(fixed: ArrayLike, random: ArrayLike) -> Estimate:
    """Compute the difference between the means in percent of the fixed order: (fixed - random) / fixed * 100 [1]_.

    `fixed` and `random` (shape (n_values,)): one number per run, all in the same unit. Returns a number of percent,
    without an interval. It is negative if the random order has the larger mean. Undefined if the mean of the fixed
    order is not positive, if the mean of the random order is negative, or if there are no values.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin
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

    `compat`: "ordersage": use the rule of the tool published with [1]_. By this rule, a median that equals a limit of
    the other interval is outside the interval, unless the interval of the random order has the higher upper limit. Case
    1 is a red flag: the intervals do not overlap. Case 2: a median is within the other interval, so order is unlikely
    to change a conclusion. Case 3: the intervals overlap, but neither median is within the other interval, so somebody
    should examine the data. None if an interval is missing.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin
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
    """
    p = kruskal([np.arange(n_fixed), np.arange(n_random) + n_fixed]).p
    return 1.0 if p is None else p


def compared(
    cells: Sequence[Cell], *, alpha: float, ci_level: float, compat: str | None
) -> tuple[OrderComparison, ...]:
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
) -> OrderComparison:
    fixed, random = (_side(values, ci_level, compat) for values in (cell.fixed, cell.random))
    published = [median_interval(values, PUBLISHED_LEVEL, compat=COMPAT[0]) for values in (cell.fixed, cell.random)]
    delta = delta_percent(np.sort(cell.fixed), np.sort(cell.random))
    p_bonferroni, p_holm = corrected
    change = None
    if delta.value is not None:
        change = describe_change(random.mean / fixed.mean, cell.better, who="the random order")
    return OrderComparison(
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


UNDECIDED = "undecided"
SAME, AMBER, RED = "same", "amber", "red flag"


@dataclass(frozen=True)
class Conclusion:
    """The conclusions about two versions of a benchmark in fixed and in random order."""

    benchmark: str
    application: str
    baseline: str
    candidate: str
    fixed: str | None  # conclusion about the candidate; see `conclusion`
    random: str | None
    # Median of candidate / median of baseline; undefined if the baseline is <= 0 or the candidate < 0.
    ratio_fixed: Estimate
    ratio_random: Estimate
    change_fixed: str | None  # the ratios in words
    change_random: str | None
    flag: str | None  # result of `flag`
    reason: str | None  # why there is no flag


def conclusion(baseline: Estimate, candidate: Estimate, *, better: str = "lower") -> str | None:
    """Return the conclusion about the candidate from two medians.

    The medians differ if their intervals do not overlap.

    `better`: "lower" for times, "higher" for rates, "" if unknown. Returns "faster" or "slower" ("higher" or "lower" if
    the better direction is unknown), or "undecided"; None if an interval is missing.
    """
    if baseline.ends is None or candidate.ends is None:
        return None
    (_, a_low, a_high), (_, b_low, b_high) = baseline.ends, candidate.ends
    if a_low <= b_high and b_low <= a_high:
        return UNDECIDED
    return in_direction(b_high < a_low, better)


def flag(fixed: str | None, random: str | None) -> str | None:
    """Compare the conclusions from the two orders [1]_.

    Returns "red flag" if the conclusions are opposite, "amber" if one of them is undecided, otherwise "same"; None if
    one of them is None.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin
    """
    if fixed is None or random is None:
        return None
    if fixed == random:
        return SAME
    return AMBER if UNDECIDED in (fixed, random) else RED


def count_flags(conclusions: Sequence[Conclusion]) -> dict[str, int]:
    """Count the conclusions by flag; the key "none" counts conclusions without a flag."""
    counts = {RED: 0, AMBER: 0, SAME: 0, "none": 0}
    for row in conclusions:
        counts[row.flag or "none"] += 1
    return counts


def conclusions(tests: Sequence[OrderComparison], pair: tuple[str, str]) -> tuple[Conclusion, ...]:
    """Return a conclusion for each benchmark that was measured with both versions in both orders."""
    return tuple(_conclusions({(test.application, test.benchmark, test.version): test for test in tests}, pair))


def _conclusions(tests: dict[tuple[str, str, str], OrderComparison], pair: tuple[str, str]) -> Iterator[Conclusion]:
    for (application, benchmark, version), a in tests.items():
        b = tests.get((application, benchmark, pair[1]))
        if version != pair[0] or b is None:
            continue
        fixed = conclusion(a.fixed.median, b.fixed.median, better=a.better)
        random = conclusion(a.random.median, b.random.median, better=a.better)
        ratio_fixed, ratio_random = _ratio(a.fixed, b.fixed), _ratio(a.random, b.random)
        flagged = flag(fixed, random)
        yield Conclusion(
            benchmark, application, *pair, fixed, random, ratio_fixed, ratio_random,
            change_fixed=_describe(ratio_fixed, a.better),
            change_random=_describe(ratio_random, a.better),
            flag=flagged,
            reason="too few runs for the interval of a median" if flagged is None else None,
        )  # fmt: skip


def _describe(ratio: Estimate, better: str) -> str | None:
    return None if ratio.value is None else describe_change(ratio.value, better)


def _ratio(baseline: Side, candidate: Side) -> Estimate:
    a, b = baseline.median.value, candidate.median.value
    if a is None or b is None or a <= 0:
        return Estimate(None, reason="the median of the baseline is not positive")
    if b < 0:
        return Estimate(None, reason="the median of the candidate is negative")
    return (
        Estimate(b / a)
        if isfinite(b / a)
        else Estimate(None, reason="the ratio is too large for a floating-point number")
    )
