"""Has a benchmark changed? The runs of a candidate against those of a baseline, by one number a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.intervals import Estimate
from analysis.measured import EVERY_ITERATION, Measured, Sampling
from analysis.multiple import bonferroni, holm
from analysis.samples import NO_VARIATION, change_in_words, welch

SLOWER, FASTER, NOT_SHOWN = "slower", "faster", "no change shown"


@dataclass(frozen=True)
class Change:
    """One benchmark in the baseline and in the candidate.

    Attributes
    ----------
    name : str
    n_baseline, n_candidate : int
        Runs on each side.
    ratio : Estimate
        Mean of the candidate's runs over that of the baseline's, with Fieller's interval.
    p, p_holm, p_bonferroni : float or None
        Welch's test on one number a run, and corrected over all benchmarks that were compared.
    verdict : str or None
        "slower", "faster" or "no change shown"; None if nothing can be said, and `reason` says why.
    words : str
        The ratio with its direction.
    reason : str or None
    """

    name: str
    n_baseline: int
    n_candidate: int
    ratio: Estimate
    p: float | None = None
    p_holm: float | None = None
    p_bonferroni: float | None = None
    verdict: str | None = None
    words: str = ""
    reason: str | None = None

    @property
    def has_changed(self) -> bool:
        """Whether a change is shown, to the better or to the worse."""
        return self.verdict in (SLOWER, FASTER)


def compare(
    pairs: Sequence[tuple[Measured, Measured]], *, sampling: Sampling = EVERY_ITERATION, alpha: float = 0.05
) -> list[Change]:
    """Which benchmarks have changed.

    A run is the unit of independence: what is compared is one number a run, never the iterations of all runs together.

    Parameters
    ----------
    pairs : sequence of (Measured, Measured)
        Baseline and candidate of each benchmark.
    sampling : Sampling
        How a run becomes one number.
    alpha : float
        A change is shown where Holm's corrected p is at most alpha.

    Returns
    -------
    list of Change
        In the order of the pairs. Without a verdict where units or directions differ or a side has fewer than two runs.

    References
    ----------
    .. [1] Holm (1979), Scandinavian Journal of Statistics 6:65-70, https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> before = Measured("parse", tuple(np.full(3, mean) for mean in (1.00, 1.01, 0.99, 1.00)))
    >>> after = Measured("parse", tuple(np.full(3, mean) for mean in (1.20, 1.21, 1.19, 1.20)))
    >>> change = compare([(before, after)])[0]
    >>> change.verdict, change.words
    ('slower', 'the candidate is 20 % slower')
    """
    changes = [_compared(baseline, candidate, sampling, alpha) for baseline, candidate in pairs]
    ps = [change.p for change in changes]
    corrected = zip(changes, holm(ps), bonferroni(ps), pairs, strict=True)
    return [
        replace(change, p_holm=p_holm, p_bonferroni=p_bonferroni, verdict=_verdict(change, p_holm, alpha, pair[1]))
        for change, p_holm, p_bonferroni, pair in corrected
    ]


def ratio_of_means(x: ArrayLike, y: ArrayLike, level: float = 0.95) -> Estimate:
    """mean(x) / mean(y) of two independent samples with Fieller's interval [1]_.

    The interval holds 1 exactly when Welch's test does not reject at 1 - level: its degrees of freedom are used.

    Parameters
    ----------
    x, y : array_like of float, shape (n_values,)
    level : float

    Returns
    -------
    Estimate
        Undefined if a sample is empty or the mean of `y` is not positive. Without interval if a sample has fewer than
        two values, or `y` is so variable that the interval has no end. No variation: an interval of zero width.

    References
    ----------
    .. [1] Fieller (1954), J. R. Stat. Soc. B 16:175-185, doi:10.1111/j.2517-6161.1954.tb00159.x
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not min(len(a), len(b)):
        return Estimate(None, reason="no values")
    ma, mb = float(a.mean()), float(b.mean())
    if not mb > 0:
        return Estimate(None, reason="the mean of the baseline is not positive")
    if min(len(a), len(b)) < 2:
        return Estimate(ma / mb, reason="one run has no interval")
    va, vb = (0.0 if s.min() == s.max() else float(s.var(ddof=1)) / len(s) for s in (a / mb, b / mb))
    ratio = ma / mb
    if va + vb == 0:
        return Estimate(ratio, 0.0, ratio, ratio, NO_VARIATION)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    t2 = float(stats.t.ppf((1 + level) / 2, df)) ** 2
    leading = 1 - t2 * vb
    if leading <= 0:
        return Estimate(ratio, reason="the baseline varies so much that the interval has no end")
    root = float(np.sqrt(max(0.0, ratio**2 - leading * (ratio**2 - t2 * va))))
    se = float(np.sqrt(va + ratio**2 * vb))
    return Estimate(ratio, se, (ratio - root) / leading, (ratio + root) / leading)


def _compared(baseline: Measured, candidate: Measured, sampling: Sampling, alpha: float) -> Change:
    sizes = candidate.name, len(baseline.runs), len(candidate.runs)
    if (baseline.unit, baseline.better) != (candidate.unit, candidate.better):
        said = f"the baseline is in {baseline.unit or 'no unit'}, the candidate in {candidate.unit or 'no unit'}"
        return Change(*sizes, Estimate(None, reason=said), reason=said)
    a, b = sampling.values(candidate.runs), sampling.values(baseline.runs)
    ratio, test = ratio_of_means(a, b, 1 - alpha), welch(a, b)
    words = "" if ratio.value is None else change_in_words(ratio.value, candidate.better)
    return Change(*sizes, ratio, test.p, words=words, reason=test.reason if test.p is None else ratio.reason)


def _verdict(change: Change, p_holm: float | None, alpha: float, candidate: Measured) -> str | None:
    if p_holm is None or change.ratio.value is None:
        return None
    if p_holm > alpha or change.ratio.value == 1:
        return NOT_SHOWN
    return FASTER if (change.ratio.value < 1) == (candidate.better == "lower") else SLOWER
