"""Compute the median with a distribution-free interval."""

from functools import lru_cache
from math import ceil, floor, log2, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.intervals import Estimate
from analysis.runs import Floats

COMPAT = ("ordersage",)
PUBLISHED_LEVEL = 0.95  # confidence level of each test in the published tool


def median_interval(values: ArrayLike, level: float = 0.95, *, compat: str | None = None) -> Estimate:
    """Compute the median and its exact interval from order statistics [1]_.

    The interval goes from the j-th smallest to the j-th largest value. The coverage of this interval is at least 1 - 2
    P(B < j) for any distribution, where B is binomial (n, 1/2). j is the largest number for which this is at least
    `level`. Raises ValueError if `values` is not a one-dimensional series of finite numbers, or `level` or `compat` is
    invalid.

    Parameters
    ----------
    values : array_like of float, shape (n_values,)
        Independent values in any unit, such as one per run.
    compat : str, optional
        "ordersage": use the ranks of the tool published with [2]_. The tool treats ranks of the normal approximation,
        which start at 1, as if they started at 0, so both limits are one value too high. The tool gives an interval for
        any n.

    Returns
    -------
    Estimate
        In the unit of `values`. Undefined if there are no values. If n is too small for the level, there is a reason
        instead of an interval. If all values are equal, the interval has zero width.

    References
    ----------
    .. [1] Le Boudec (2010), Performance Evaluation of Computer and Communication Systems, EPFL Press, section 2.2
    .. [2] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin

    Examples
    --------
    >>> median_interval([3, 1, 4, 2, 6, 5])
    Estimate(3.5, 1 to 6)
    >>> median_interval([3, 1, 4]).reason
    '3 values are too few for an interval of 95 %: 6 are needed'
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
    """Compute the median of at least one value.

    Values are halved before they are added, which avoids overflow.
    """
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
