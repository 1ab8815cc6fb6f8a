"""Define the result type `Estimate`, and compute confidence intervals for proportions and for means over items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.results import Result, number

MIN_GROUPS = 20  # with fewer groups, cluster-robust standard errors are too small

if TYPE_CHECKING:
    import pandas as pd

    Groups = Sequence[object] | pd.Series | NDArray[np.generic]
else:  # only for types, because pandas takes a second to import
    Groups = Sequence[object] | NDArray[np.generic]


@dataclass(frozen=True, repr=False)
class Estimate(Result):
    """A statistic with its interval. If the statistic is undefined, `value` is None and `reason` says why.

    `reason` can also say why a defined value has no standard error or no interval.

    Examples
    --------
    >>> Estimate(0.0981, se=0.0412, low=0.0172, high=0.179)
    Estimate(0.0981, 0.0172 to 0.179)
    >>> Estimate(0.0981, low=0.0172, high=0.179).to_frame().columns.tolist()
    ['value', 'se', 'low', 'high', 'reason']
    """

    value: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def __repr__(self) -> str:
        """Return the value with its interval; if the value is undefined, return the reason."""
        if self.value is None:
            return f"Estimate(undefined: {self.reason})"
        interval = "" if self.low is None or self.high is None else f", {number(self.low)} to {number(self.high)}"
        return f"Estimate({number(self.value)}{interval}{f': {self.reason}' if self.reason else ''})"

    @property
    def ends(self) -> tuple[float, float, float] | None:
        """Return (value, low, high); None if a number is missing."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return self.value, self.low, self.high

    @property
    def half_width(self) -> float | None:
        """Return half the width of the interval, or None if there is no interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def checked_level(level: float) -> float:
    """Return the level of an interval; raise ValueError if it is not within (0, 1)."""
    if not 0 < level < 1:
        raise ValueError(f"level must be within (0, 1), got {level}")
    return level


def wilson(x: float, n: float, level: float = 0.95) -> Estimate:
    """Compute the proportion x / n with Wilson's score interval [1]_.

    All simple shares in this package have this interval.

    Parameters
    ----------
    x : float
        Number of successes, 0 <= x <= n. Usually a whole number; planning uses expected numbers.
    n : float
        Number of trials, >= 0.
    level : float
        Confidence level of the two-sided interval, in (0, 1).

    Returns
    -------
    Estimate
        Value and interval in [0, 1]. Undefined for n = 0.

    Raises
    ------
    ValueError
        If x is not within 0..n, or `level` not within (0, 1).

    References
    ----------
    .. [1] Newcombe (1998), Statistics in Medicine 17:857-872,
       doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E

    Examples
    --------
    >>> wilson(81, 263)
    Estimate(0.308, 0.2553 to 0.3662)
    """
    return _proportion(x, n, level, "wilson")


def clopper_pearson(x: float, n: float, level: float = 0.95) -> Estimate:
    """Compute the proportion x / n with the exact Clopper-Pearson interval [1]_.

    The coverage of this interval is never below the confidence level.

    Parameters
    ----------
    x, n, level
        As in `wilson`.

    Returns
    -------
    Estimate
        Value and interval in [0, 1]. Undefined for n = 0.

    Raises
    ------
    ValueError
        If x is not within 0..n, or `level` not within (0, 1).

    References
    ----------
    .. [1] Clopper, Pearson (1934), Biometrika 26:404-413, doi:10.1093/biomet/26.4.404

    Examples
    --------
    >>> clopper_pearson(0, 20)
    Estimate(0, 0 to 0.1684)
    """
    return _proportion(x, n, level, "beta")


def linearised(
    value: float,
    terms: NDArray[np.float64],
    level: float = 0.95,
    *,
    groups: Groups | None = None,
    lowest: float = -1.0,
    highest: float = 1.0,
) -> Estimate:
    """Return a statistic with a linearised standard error, computed from one linear term per item [1]_.

    Parameters
    ----------
    value : float
        The statistic.
    terms : ndarray of float, shape (n_items,)
        The linear terms x_i of the paper. Their mean estimates the statistic, and items are independent.
    level : float
        Confidence level of the interval (t distribution, n_items - 1 degrees of freedom).
    groups : sequence of hashable, one per item, optional
        Groups of possibly related items, such as applications. With at least 20 groups, the standard error is
        cluster-robust [2]_, G/(G-1) sum_g (sum_{i in g} (x_i - value))^2 / n^2, and t has G - 1 degrees of freedom.
        With fewer groups, the standard error is the ordinary one, and `reason` says so. Items without a group form one
        group.
    lowest, highest : float
        Range of the statistic; the interval is truncated to it.

    Returns
    -------
    Estimate
        If there is one item, or if items (or groups) do not vary, there is no standard error and no interval, because
        an interval of width 0 would suggest certainty. `reason` says so.

    Raises
    ------
    ValueError
        If there is not one group per item.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600
    .. [2] Cameron, Miller (2015), J. Human Resources 50:317-372, doi:10.3368/jhr.50.2.317
    """
    from scipy import special

    n = len(terms)
    numbers, reason = numbered_groups(n, groups)
    if n < 2:
        return Estimate(value, reason="one item: no standard error")
    deviations = terms - value
    deviations[np.abs(deviations) < 1e-9] = 0.0  # equal terms can differ by rounding errors, which are ignored
    sums = deviations if numbers is None else np.bincount(numbers, weights=deviations)
    m = len(sums)
    se = float(np.sqrt(m / (m - 1) * (sums**2).sum()) / n)
    if se < 1e-12:
        return Estimate(
            value, reason=f"no variation between {'items' if numbers is None else 'groups'}: no standard error"
        )
    half = float(special.stdtrit(m - 1, (1 + checked_level(level)) / 2)) * se
    return Estimate(value, se, max(value - half, lowest), min(value + half, highest), reason)


def numbered_groups(n_items: int, groups: Groups | None) -> tuple[NDArray[np.intp] | None, str | None]:
    """Return the group number of each item; if there are too few groups, return None and a reason.

    Parameters
    ----------
    n_items : int
    groups : sequence of hashable, one per item, optional
        Items without a group form one group.

    Returns
    -------
    tuple of (ndarray of int, shape (n_items,), or None) and (str or None)
        Both None without groups.

    Raises
    ------
    ValueError
        If there is not one group per item.
    """
    if groups is None:
        return None, None
    numbers, n_groups = group_numbers(n_items, groups)
    if n_groups < MIN_GROUPS:
        return None, f"fewer than {MIN_GROUPS} groups ({n_groups}): standard error as if items were independent"
    return numbers, None


def group_numbers(n_items: int, groups: Groups) -> tuple[NDArray[np.intp], int]:
    """Return the group number of each item and the number of groups.

    Raise ValueError for the same reasons as `numbered_groups`.
    """
    if len(groups) != n_items:
        raise ValueError(f"groups has {len(groups)} entries for {n_items} items")
    import pandas as pd

    numbers, names = pd.factorize(pd.Series(list(groups), dtype=object), use_na_sentinel=False)
    return numbers, len(names)


def _proportion(x: float, n: float, level: float, method: str) -> Estimate:
    if not (0 <= x <= n):
        raise ValueError(f"x must be within 0..n, got x = {x}, n = {n}")
    checked_level(level)
    if n == 0:
        return Estimate(None, reason="no observations")
    from statsmodels.stats.proportion import proportion_confint  # slow to import

    low, high = proportion_confint(x, n, alpha=1 - level, method=method)
    # At x = 0 and x = n, the limits are exactly 0 and 1, without rounding errors.
    return Estimate(x / n, low=0.0 if x == 0 else float(low), high=1.0 if x == n else float(high))
