"""Check a suspected cause: do contexts still differ when the cause is held fixed?"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.contexts._ratios import NOT_POSITIVE, TINY, series
from analysis.runs import Floats
from analysis.samples import NO_VARIATION, Test

SMALLER, LARGER, NOT_SHOWN = "smaller", "larger", "no difference shown"


@dataclass(frozen=True)
class ContextDispersion:
    """The spread over contexts: how much a number differs between contexts."""

    n: int  # number of contexts
    # Mean absolute deviation of the logarithms from their median, roughly the typical relative deviation.
    deviation: float | None = None
    highest_over_lowest: float | None = None


@dataclass(frozen=True)
class DispersionComparison:
    """Comparison of the spread over contexts with the suspected cause free, and with the cause held fixed."""

    quantity: str = field(metadata={"key": "of"})  # the compared numbers: "speed-up", "baseline" or "candidate"
    free: ContextDispersion
    fixed: ContextDispersion
    # Deviation with the cause held fixed / deviation with the cause free; None if the deviation with the cause
    # free is 0.
    ratio: float | None
    test: Test  # the Brown-Forsythe test of the logarithms
    # "smaller", "larger" or "no difference shown" at significance level alpha; None if the test gave no p.
    outcome: str | None = field(default=None, metadata={"key": "verdict"})
    p_holm: float | None = None  # p corrected for the number of comparisons; the verdict then uses Holm's p
    p_bonferroni: float | None = None


def brown_forsythe(x: ArrayLike, y: ArrayLike) -> Test:
    """Test whether two spreads differ, with the Brown-Forsythe test [1]_.

    The test is an analysis of variance of the absolute deviations from the medians.

    `x` and `y` (shape (n_values,)). There is no p if a sample has fewer than three values. p is 1 if neither sample
    varies. p is 0 if the deviations are equal within each sample but differ between the samples.

    References
    ----------
    .. [1] Brown, Forsythe (1974), J. Am. Stat. Assoc. 69:364-367, doi:10.1080/01621459.1974.10482955

    Examples
    --------
    >>> brown_forsythe([1, 2, 3, 4, 5], [10, 20, 30, 40, 50])  # F = 291.6 / 35.35
    Test(p=0.0207..., statistic=8.248..., reason=None)
    """
    samples = series(x, "x"), series(y, "y")
    if min(map(len, samples)) < 3:
        return Test(None, reason="at least three contexts are needed on each side")
    rounding = TINY * max(float(np.abs(sample).max()) for sample in samples)
    z = [np.abs(sample - np.median(sample)) for sample in samples]
    pooled = np.concatenate(z)
    if np.ptp(pooled) <= rounding:
        return Test(1.0, 0.0, NO_VARIATION)
    if max(float(np.ptp(part)) for part in z) <= rounding:
        return Test(0.0, reason="the deviations do not vary within the samples")
    within = sum(float(((part - part.mean()) ** 2).sum()) for part in z) / (len(pooled) - 2)
    between = sum(len(part) * float(part.mean() - pooled.mean()) ** 2 for part in z)
    return Test(float(stats.f.sf(between / within, 1, len(pooled) - 2)), between / within)


def compare_spreads(
    free: ArrayLike, fixed: ArrayLike, *, quantity: str = "speed-up", alpha: float = 0.05
) -> DispersionComparison:
    """Compare the spread over contexts with the suspected cause free and with the cause held fixed [1]_.

    If the suspected cause is the true cause, holding it fixed makes the contexts equal.

    `free` and `fixed` (shape (n_contexts,)): Speed-ups, or the numbers of one version; the contexts and their number
    may differ; `quantity`: what the numbers are: "speed-up", "baseline" or "candidate". If a number is not above zero,
    or if `free` or `fixed` has fewer than three numbers, there is no verdict, and `test` contains the reason.

    References
    ----------
    .. [1] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, doi:10.1145/1508244.1508275

    Examples
    --------
    >>> result = compare_spreads([1.0, 2.0, 4.0, 8.0, 16.0], [2.0, 2.1, 2.2, 2.1, 2.0])
    >>> result.outcome, round(result.ratio, 3), result.free.highest_over_lowest
    ('smaller', 0.035, 16.0)
    """
    sides = series(free, "free"), series(fixed, "fixed")
    if any((side <= 0).any() for side in sides):
        return DispersionComparison(
            quantity,
            ContextDispersion(len(sides[0])),
            ContextDispersion(len(sides[1])),
            None,
            Test(None, reason=NOT_POSITIVE),
        )
    before, after = map(_spread, sides)
    test = brown_forsythe(np.log(sides[0]), np.log(sides[1]))
    ratio = after.deviation / before.deviation if before.deviation and after.deviation is not None else None
    return DispersionComparison(quantity, before, after, ratio, test, outcome_of(before, after, test.p, alpha))


def outcome_of(free: ContextDispersion, fixed: ContextDispersion, p: float | None, alpha: float) -> str | None:
    """Return the verdict on two spreads from the p of their test; return None if p or a spread is undefined."""
    if p is None or free.deviation is None or fixed.deviation is None:
        return None
    if p > alpha:
        return NOT_SHOWN
    return SMALLER if fixed.deviation < free.deviation else LARGER


def _spread(values: Floats) -> ContextDispersion:
    if not len(values):
        return ContextDispersion(0)
    logs = np.log(values)
    deviation = 0.0 if np.ptp(logs) <= TINY else float(np.abs(logs - np.median(logs)).mean())
    return ContextDispersion(len(values), deviation, float(values.max() / values.min()))
