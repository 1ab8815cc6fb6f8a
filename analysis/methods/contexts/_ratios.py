"""Compute the speed-up in each measurement context, and quartiles, means and tests over the contexts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.arrays import Floats
from analysis.runs.benchmark import in_direction
from analysis.runs.samples import NO_VARIATION, Test, describe_change
from analysis.statistics.intervals import Estimate

NOT_POSITIVE = "a number is not above zero, so it has no logarithm"
NO_CONTEXTS = "no contexts"
EXACT_UP_TO = 50  # maximum number of differences for an exact p; beyond it, the distribution is close to normal
TINY = 1e-12  # smaller relative differences are rounding errors


@dataclass(frozen=True)
class Quartiles:
    """Quartiles of the speed-ups of the contexts.

    References
    ----------
    .. [1] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, doi:10.1145/1508244.1508275
    """

    n: int  # number of contexts
    lowest: float | None = None  # None if there are no contexts
    q1: float | None = None
    median: float | None = None
    q3: float | None = None
    highest: float | None = None
    straddles: bool = False  # whether lowest < 1 < highest, so that the context decides which version looks faster [1]_


@dataclass(frozen=True)
class MeanRatios:
    """Mean speed-ups of the candidate and of the baseline.

    Noise inflates both means, so neither is a valid estimate.
    """

    of_candidate: float | None  # mean speed-up of the candidate
    # Mean speed-up of the baseline. The product of both means is at least 1; it is 1 only if the ratios do not
    # vary.
    of_baseline: float | None = None
    both_faster: bool = False  # whether each version seems faster than the other
    reason: str | None = None


@dataclass(frozen=True)
class StandardError:
    """The standard error of a mean over contexts, and the degrees of freedom of this standard error."""

    se: float
    df: float

    def half_width(self, level: float) -> float:
        """Return half the width of Student's interval of the mean at this confidence level."""
        return float(stats.t.ppf((1 + level) / 2, self.df)) * self.se

    def p(self, mean: float) -> float:
        """Return the two-sided p of the t test that the true mean is zero."""
        return float(2 * stats.t.sf(abs(mean) / self.se, self.df)) if self.se else float(mean == 0)


def speedups(baseline: ArrayLike, candidate: ArrayLike, *, better: str = "lower") -> Floats:
    """Compute the speed-up of the candidate in each context; a value above 1 means that the candidate is faster.

    Raises ValueError if the shapes differ, a number is not finite and above 0, or `better` is invalid.

    `baseline` and `candidate` (shape (n_contexts,)): the number of each version in each context, > 0; `better`: "lower"
    for times: the speed-up is baseline / candidate. "higher" for rates such as ops/s: the speed-up is candidate /
    baseline. "" if the better direction is unknown: the result is candidate / baseline, and a value above 1 means
    higher, not faster. The result has shape (n_contexts,).
    """
    in_direction(True, better)  # raises ValueError if `better` is invalid
    a, b = paired(baseline, candidate)
    for name, values in (("baseline", a), ("candidate", b)):
        if (values <= 0).any():
            raise ValueError(f"{name} must be above 0 in every context, got {values.min():g}")
    return a / b if better == "lower" else b / a


def describe_speedup(speedup: float, better: str = "lower") -> str:
    """Describe a speed-up > 0 as a change of the measured value.

    The value is a time if `better` is "lower", and a rate if `better` is "higher".
    """
    return describe_change(1 / speedup if better == "lower" else speedup, better)


def quartiles(ratios: ArrayLike) -> Quartiles:
    """Compute the minimum, the quartiles (by linear interpolation) and the maximum of ratios, shape (n_contexts,)."""
    values = series(ratios, "ratios")
    if not len(values):
        return Quartiles(0)
    lowest, q1, median, q3, highest = map(float, np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
    return Quartiles(len(values), lowest, q1, median, q3, highest, lowest < 1 < highest)


def geometric_mean(ratios: ArrayLike, level: float = 0.95, *, noise: StandardError | None = None) -> Estimate:
    """Compute the geometric mean of ratios with Student's interval of their logarithms.

    `ratios` (shape (n_contexts,)); `noise`: noise of the runs in the mean logarithm. The interval is then at least as
    long as this noise alone requires. `se` is the standard error of the mean logarithm, so `se` is a share of the
    value. The value is undefined if there are no ratios, or if a ratio is not above zero. A single ratio has no
    interval. If the ratios do not vary, the interval has zero width.
    """
    values = series(ratios, "ratios")
    if not len(values):
        return Estimate(None, reason=NO_CONTEXTS)
    if values.min() <= 0:
        return Estimate(None, reason=NOT_POSITIVE)
    if len(values) == 1:
        return Estimate(float(values[0]), reason="an interval needs at least two contexts")
    if np.ptp(values) <= TINY * values.max() and noise is None:
        return _without_variation(float(values[0]))
    logs = np.log(values)
    spread = _between(logs)
    centre, widest = float(logs.mean()), max((spread, noise or spread), key=lambda of: of.half_width(level))
    half = widest.half_width(level)
    return Estimate(float(np.exp(centre)), widest.se, float(np.exp(centre - half)), float(np.exp(centre + half)))


def paired_ratio(x: ArrayLike, y: ArrayLike, level: float = 0.95) -> Estimate:
    """Compute mean(x) / mean(y) of pairs with Fieller's interval [1]_.

    Contexts with larger numbers have more weight. Raises ValueError if the shapes differ or a number is not finite.

    `x` and `y` (shape (n_contexts,)): one pair per context, in the same unit. The result is undefined if there are no
    pairs, or if the mean of `y` is zero. A single pair has no interval. There is also no interval if `y` varies so much
    that its mean may be zero at this level, because the ratio then has no limit. If the pairs do not vary, the interval
    has zero width.

    References
    ----------
    .. [1] Fieller (1954), J. R. Stat. Soc. B 16:175-185, doi:10.1111/j.2517-6161.1954.tb00159.x
    """
    a, b = paired(x, y, ("x", "y"))
    if not len(a):
        return Estimate(None, reason=NO_CONTEXTS)
    if b.mean() == 0:
        return Estimate(None, reason="the mean in the denominator is zero")
    ratio = float(a.mean() / b.mean())
    if len(a) == 1:
        return Estimate(ratio, reason="an interval needs at least two contexts")
    a, b = a / b.mean(), b / b.mean()
    residuals = a - ratio * b
    if np.abs(residuals).max() <= TINY * max(1.0, np.abs(a).max()):
        return _without_variation(ratio)
    (v_a, v_ab), (_, v_b) = np.cov(a, b) / len(a)
    t2 = float(stats.t.ppf((1 + level) / 2, len(a) - 1)) ** 2
    leading, middle = 1 - t2 * v_b, ratio - t2 * v_ab
    if leading <= 0:
        return Estimate(ratio, reason="the contexts differ so much that the interval has no limit")
    root = float(np.sqrt(max(0.0, middle**2 - leading * (ratio**2 - t2 * v_a))))
    se = float(residuals.std(ddof=1) / np.sqrt(len(a)))
    low, high = float((middle - root) / leading), float((middle + root) / leading)
    if ratio > 0 and low <= 0:  # a ratio of times is above 0
        return Estimate(ratio, se, reason="no finite interval: the contexts are few or differ too much")
    return Estimate(ratio, se, low, high)


def mean_ratios(ratios: ArrayLike) -> MeanRatios:
    """Compute the mean of ratios, shape (n_contexts,), and the mean of their inverses. Noise inflates both means."""
    values = series(ratios, "ratios")
    if not len(values):
        return MeanRatios(None, reason=NO_CONTEXTS)
    if values.min() <= 0:
        return MeanRatios(None, reason=NOT_POSITIVE)
    of_candidate, of_baseline = float(values.mean()), float((1 / values).mean())
    return MeanRatios(of_candidate, of_baseline, min(of_candidate, of_baseline) > 1 + TINY)


def _between(values: Floats) -> StandardError:
    """Compute the standard error of the mean from the differences between contexts."""
    return StandardError(float(values.std(ddof=1) / np.sqrt(len(values))), len(values) - 1)


def noise_of_runs(
    baseline: Sequence[Sequence[float]], candidate: Sequence[Sequence[float]], *, logs: bool = False
) -> StandardError | None:
    """Estimate the part of the standard error of a mean difference of two versions that is noise of the runs.

    `baseline` and `candidate`: one number per run, grouped by context. If `logs` is true, all numbers must be above 0.
    `logs`: estimate the noise in the mean logarithm of the ratio of both versions (delta method). Returns the noise
    with Welch-Satterthwaite degrees of freedom [1]_. None if a version has a single run in a context, because the noise
    is then unknown, or if all runs are equal.

    References
    ----------
    .. [1] Satterthwaite (1946), Biometrics Bulletin 2(6):110-114, doi:10.2307/3002019

    Examples
    --------
    >>> noise_of_runs([[1.0, 3.0], [2.0, 2.0]], [[2.0, 2.0], [2.0, 2.0]])
    StandardError(se=0.5, df=1.0)
    """
    cells = [np.sort(np.asarray(runs, dtype=np.float64)) for side in (baseline, candidate) for runs in side]
    if min(map(len, cells)) < 2:
        return None
    squares = np.array([runs.var(ddof=1) / len(runs) / (runs.mean() ** 2 if logs else 1.0) for runs in cells])
    total = float(squares.sum())
    if not total:
        return None
    df = total**2 / float((squares**2 / (np.array(list(map(len, cells))) - 1)).sum())
    return StandardError(float(np.sqrt(total)) / len(baseline), df)


def paired_t(x: ArrayLike, y: ArrayLike, *, noise: StandardError | None = None) -> Test:
    """Test whether the mean difference of pairs is zero, with the two-sided paired t test [1]_.

    Both arrays have shape (n_contexts,).

    `x` and `y` (shape (n_contexts,)); `noise`: noise of the runs in the mean difference. p is then the larger p of two
    t tests: one with the standard error from the differences between contexts, one with the standard error from the
    runs. If a few contexts are close together by chance, the first test alone would find significant differences that
    are only noise of the runs. There is no p if there are fewer than two pairs. If all differences are equal and there
    is no noise, p is 1 if the differences are zero, and otherwise 0.

    References
    ----------
    .. [1] Student (1908), Biometrika 6:1-25, doi:10.1093/biomet/6.1.1
    """
    a, b = paired(x, y, ("x", "y"))
    if len(a) < 2:
        return Test(None, reason="at least two contexts are needed")
    d = a - b
    if d.min() == d.max() and noise is None:
        return Test(float(d[0] == 0), reason=NO_VARIATION)
    mean, spread = float(d.mean()), _between(d)
    p, of = max(((of.p(mean), of) for of in (spread, noise or spread)), key=lambda row: row[0])
    return Test(p, mean / of.se if of.se else None)


def signed_rank(x: ArrayLike, y: ArrayLike) -> Test:
    """Run Wilcoxon's two-sided signed-rank test [1]_ on pairs; both arrays have shape (n_contexts,).

    Pairs without a difference are left out. For up to 50 differences, p is exact, with or without ties, because the
    ranks are fixed and both signs are equally likely. For more differences, p is a normal approximation that is
    corrected for ties and continuity.

    The statistic is the sum of the ranks of positive differences. No p if there are no pairs; p is 1 if no pair
    differs.

    References
    ----------
    .. [1] Wilcoxon (1945), Biometrics Bulletin 1:80-83, doi:10.2307/3001968
    """
    a, b = paired(x, y, ("x", "y"))
    if not len(a):
        return Test(None, reason=NO_CONTEXTS)
    d = (a - b)[a != b]
    if not len(d):
        return Test(1.0, 0.0, NO_VARIATION)
    ranks = stats.rankdata(np.abs(d))
    positive = float(ranks[d > 0].sum())
    total = float(ranks.sum())
    if len(d) > EXACT_UP_TO:
        distance = max(0.0, abs(positive - total / 2) - 0.5)
        return Test(float(2 * stats.norm.sf(distance / np.sqrt((ranks**2).sum() / 4))), positive)
    smaller = min(positive, total - positive)
    return Test(min(1.0, 2 * _share_of_signs(ranks, smaller)), positive)


def _share_of_signs(ranks: Floats, at_most: float) -> float:
    """Return the share of the 2^n sign patterns whose positive rank sum is at most `at_most`.

    Ties have mid-ranks, which are multiples of one half.
    """
    doubled = np.rint(2 * ranks).astype(int)
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
        ways /= 2
    return float(ways[: round(2 * at_most) + 1].sum())


def _without_variation(value: float) -> Estimate:
    return Estimate(value, 0.0, value, value, NO_VARIATION)


def paired(x: ArrayLike, y: ArrayLike, names: tuple[str, str] = ("baseline", "candidate")) -> tuple[Floats, Floats]:
    """Return both inputs as arrays; raise ValueError if their lengths differ."""
    a, b = series(x, names[0]), series(y, names[1])
    if len(a) != len(b):
        raise ValueError(f"{names[0]} and {names[1]} must be pairs, got {len(a)} and {len(b)} values")
    return a, b


def series(values: ArrayLike, name: str) -> Floats:
    """Return the values as a one-dimensional array of finite numbers; raise ValueError if this is impossible."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a series of finite numbers, got shape {array.shape}: {array}")
    return array
