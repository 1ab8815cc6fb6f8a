"""Run tests on samples, and compute intervals and ratios in words. An undefined result has a reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, frexp, inf, ldexp, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.arrays import Floats
from analysis.runs.benchmark import in_direction
from analysis.statistics.intervals import Estimate

NO_VARIATION = "no variation"


@dataclass(frozen=True)
class Test:
    """The result of a test."""

    # None if the test is undefined; `reason` says why. If all values are equal, p is 1, and `reason` says so.
    p: float | None
    statistic: float | None = None
    reason: str | None = None

    __test__ = False  # prevents pytest from collecting the class


@dataclass(frozen=True)
class KruskalWallis(Test):
    """The Kruskal-Wallis test over several groups, with the effect size.

    References
    ----------
    .. [1] Tomczak, Tomczak (2014), Trends in Sport Sciences 1(21):19-25
    """

    # The share of the variation of ranks that is between the groups: H / (N - 1), in [0, 1] [1]_.
    epsilon2: float | None = None
    n: int = 0  # number of values in all groups


def kruskal(groups: Sequence[ArrayLike]) -> KruskalWallis:
    """Test whether values in one group tend to be larger than in another, by the Kruskal-Wallis test [1]_.

    Raises ValueError if a group is not a series of finite values.

    `groups` (shape (n_values,)): finite values in any unit. The test is corrected for ties. No p if fewer than two
    groups have a value. If all values are equal, p is 1 and epsilon2 is 0.

    References
    ----------
    .. [1] Kruskal, Wallis (1952), J. Am. Stat. Assoc. 47:583-621, doi:10.1080/01621459.1952.10483441
    """
    samples = [sample for group in groups if len(sample := _values(group, "groups"))]
    n = sum(map(len, samples))
    if len(samples) < 2:
        return KruskalWallis(None, reason="at least two groups with values are needed", n=n)
    pooled = np.concatenate(samples)
    if pooled.min() == pooled.max():
        return KruskalWallis(1.0, 0.0, NO_VARIATION, 0.0, n)
    _, level, size = np.unique(pooled, return_inverse=True, return_counts=True)
    ranks = (size.cumsum() - (size - 1) / 2)[level] - (n + 1) / 2
    ends = np.cumsum([len(sample) for sample in samples])[:-1]
    between = sum(part.sum() ** 2 / len(part) for part in np.split(ranks, ends))
    epsilon2 = min(1.0, float(between / (ranks**2).sum()))  # using the variance of the actual ranks corrects for ties
    h = (n - 1) * epsilon2
    return KruskalWallis(float(special.chdtrc(len(samples) - 1, h)), h, None, epsilon2, n)


def welch(x: ArrayLike, y: ArrayLike) -> Test:
    """Run Welch's two-sided test [1]_ of two means, which does not assume equal variances.

    Raises ValueError if a sample is not a series of finite values.

    `x` and `y` (shape (n_values,)). There is no p if a sample has fewer than two values. If neither sample varies, p is
    1 if the means are equal, and otherwise 0.

    References
    ----------
    .. [1] Welch (1947), Biometrika 34:28-35, doi:10.1093/biomet/34.1-2.28
    """
    a, b = _values(x, "x"), _values(y, "y")
    if min(len(a), len(b)) < 2:
        return Test(None, reason="each sample needs at least two values")
    _, (a, b) = _scaled(a, b)
    # The variance of a constant sample is 0, but rounding of the mean can leave more.
    va, vb = (0.0 if s.min() == s.max() else float(s.var(ddof=1)) / len(s) for s in (a, b))
    if va + vb == 0:
        return Test(float(a[0] == b[0]), reason=NO_VARIATION)
    t = float(a.mean() - b.mean()) / sqrt(va + vb)
    share_a, share_b = va / (va + vb), vb / (va + vb)
    df = 1 / (share_a**2 / (len(a) - 1) + share_b**2 / (len(b) - 1))
    return Test(float(2 * special.stdtr(df, -abs(t))), t)


def rank_sum(x: ArrayLike, y: ArrayLike) -> Test:
    """Run Wilcoxon's two-sided rank-sum test, which is equivalent to the Mann-Whitney U test [1]_.

    The test is exact if both samples have fewer than 50 values and there are no ties. Otherwise it uses the normal
    approximation, corrected for ties and continuity. Raises ValueError if a sample is not a series of finite values.

    `x` and `y` (shape (n_values,)). The statistic is U of `x`. No p if a sample is empty; p is 1 if all values are
    equal.

    References
    ----------
    .. [1] Mann, Whitney (1947), Ann. Math. Stat. 18:50-60, doi:10.1214/aoms/1177730491
    """
    a, b = _values(x, "x"), _values(y, "y")
    if not min(len(a), len(b)):
        return Test(None, reason="a sample is empty")
    pooled = np.concatenate([a, b])
    if pooled.min() == pooled.max():
        return Test(1.0, len(a) * len(b) / 2, NO_VARIATION)
    exact = max(len(a), len(b)) < 50 and len(np.unique(pooled)) == len(pooled)
    from scipy import stats  # slow to import

    result = stats.mannwhitneyu(a, b, alternative="two-sided", method="exact" if exact else "asymptotic")
    return Test(float(result.pvalue), float(result.statistic))


def smallest_rank_sum_p(n_x: int, n_y: int) -> float:
    """Compute the smallest possible p of the exact rank-sum test for these sample sizes.

    This p is 2 / C(n_x + n_y, n_x), but at most 1. Raises ValueError if a size is negative.
    """
    if min(n_x, n_y) < 0:
        raise ValueError(f"n_x and n_y must not be negative, got {n_x} and {n_y}")
    return min(1.0, 2 / comb(n_x + n_y, n_x))


def mean_interval(x: ArrayLike, level: float = 0.95) -> Estimate:
    """Compute the mean and its Student's interval.

    Raises ValueError if `x` is not a series of finite values, or `level` is not within (0, 1).

    `x` (shape (n_values,)): independent values, such as one number per run. The result is undefined if there are no
    values. There is no interval if there is a single value, or if a limit overflows. If all values are equal, the
    interval has width 0.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    exponent, (a,) = _scaled(_values(x, "x"))
    if not len(a):
        return Estimate(None, reason="no values")
    if a.min() == a.max():
        value = ldexp(a[0], exponent)
        single = Estimate(value, reason="an interval needs at least two values")
        return single if len(a) == 1 else Estimate(value, 0.0, value, value, NO_VARIATION)
    mean, se = float(a.mean()), float(a.std(ddof=1)) / sqrt(len(a))
    half = float(special.stdtrit(len(a) - 1, (1 + level) / 2)) * se
    try:
        low, high = ldexp(mean - half, exponent), ldexp(mean + half, exponent)
    except OverflowError:
        return Estimate(
            ldexp(mean, exponent), reason="a limit of the interval is too large for a floating-point number"
        )
    return Estimate(ldexp(mean, exponent), ldexp(se, exponent), low, high)


def describe_change(ratio: float, better: str = "lower", *, who: str = "the candidate") -> str:
    """Describe the ratio of candidate to baseline as a change of the measurements.

    Raises ValueError if the ratio is negative or not finite, or `better` is invalid.

    `ratio`: candidate / baseline, >= 0; `better`: "lower" for times, "higher" for rates such as ops/s, "" if unknown.
    Returns the change of the time or rate as a share of the baseline, with its direction. A change below 0.001 % or
    above a million % is described as "less than" or "more than" this limit.
    """
    if not 0 <= ratio < inf:
        raise ValueError(f"ratio must be a finite number >= 0, got {ratio}")
    word = in_direction(ratio < 1, better)
    return "no change" if ratio == 1 else f"{who} is {_in_digits(100 * abs(float(ratio) - 1))} % {word}"


def _in_digits(share: float) -> str:
    """Format a number with three digits, never with an exponent; show all digits before the decimal point."""
    if share < 0.001:
        return "less than 0.001"
    if share > 1e6:
        return "more than 1000000"
    return f"{share:.3g}" if share < 999.5 else f"{share:.0f}"


def _scaled(*samples: Floats) -> tuple[int, list[Floats]]:
    """Divide samples by a power of two, and return the samples and the exponent.

    The division is exact and avoids overflow of squares.
    """
    largest = max((float(np.abs(sample).max()) for sample in samples if len(sample)), default=0.0)
    exponent = frexp(largest)[1]
    return exponent, [np.ldexp(sample, -exponent) for sample in samples]


def _values(sample: ArrayLike, name: str) -> Floats:
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"{name} must be a series of values, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite values, got {values[~np.isfinite(values)][0]}")
    return values
