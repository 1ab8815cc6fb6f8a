"""Define the result type `Estimate`, compute intervals of proportions and of means over items, and test pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.results import Result, number

MIN_GROUPS = 20  # with fewer groups, cluster-robust standard errors are too small
LEAST_GROUPS = 5  # with fewer groups, there is no interval at all
ENOUGH_GROUPS = 10  # with fewer groups, a claim must also hold if items are counted one by one
LEAST_DIFFERING = 5  # groups in which two properties differ; with fewer, McNemar's test of groups has no p value
WIDENED = 1.15  # the likelihood ratio of several cells needs a larger limit than that of one parameter
ONE_SIDED = "one-sided"  # the reason of a one-sided bound starts with this word

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
    if not (0 <= x <= n):
        raise ValueError(f"x must be within 0..n, got x = {x}, n = {n}")
    checked_level(level)
    if n == 0:
        return Estimate(None, reason="no observations")
    from scipy import special

    p, z = x / n, float(special.ndtri((1 + level) / 2))
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5 / (1 + z**2 / n)
    # At x = 0 and x = n, the limits are exactly 0 and 1, without rounding errors.
    return Estimate(p, low=0.0 if x == 0 else centre - half, high=1.0 if x == n else centre + half)


def unanimous(n: int, level: float = 0.95) -> float:
    """Return the largest share of exceptions that n observations without an exception do not exclude.

    The share is 1 - (1 - level)^(1/n), the exact one-sided limit. For n = 10, up to 26 % can be exceptions.
    """
    return float(1 - (1 - checked_level(level)) ** (1 / n))


def one_sided(
    value: float, n: int, units: str, level: float = 0.95, *, scale: float = 1.0, lowest: float = -1.0
) -> Estimate:
    """Return a statistic of n unanimous units with the one-sided bound value - scale * unanimous(n)."""
    low = max(value - scale * unanimous(n, level), lowest)
    return Estimate(value, low=low, high=value, reason=f"{ONE_SIDED}: all {n} {units} are unanimous")


def linearised(
    value: float,
    terms: NDArray[np.float64],
    level: float = 0.95,
    *,
    groups: Groups | None = None,
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    lowest: float = -1.0,
    highest: float = 1.0,
) -> Estimate:
    """Return a statistic with a linearised standard error, computed from one linear term per item [1]_.

    Raises ValueError if there is not one group per item.

    `terms` (shape (n_items,)): the linear terms x_i of the paper. Their mean estimates the statistic, and items are
    independent. `level`: confidence level of the interval (t distribution, n_items - 1 degrees of freedom); `groups`:
    groups of possibly related items, such as applications. With at least 20 groups, the standard error is
    cluster-robust [2]_, G/(G-1) sum_g (sum_{i in g} (x_i - value))^2 / n^2, and t has G - 1 degrees of freedom. With 5
    to 19 groups, it is the jackknife over groups, also with G - 1 degrees of freedom. With fewer groups, there is no
    interval, and `reason` says so. Items without a group form one group. `statistic`: computes the statistic from item
    weights of shape (m, n_items), for the jackknife; by default, the weighted mean of the terms; `lowest` and
    `highest`: range of the statistic; the interval is truncated to it. If there is one item, or if items (or groups) do
    not vary, there is no standard error and no interval, because an interval of width 0 would suggest certainty.
    `reason` says so.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600
    .. [2] Cameron, Miller (2015), J. Human Resources 50:317-372, doi:10.3368/jhr.50.2.317
    """
    from scipy import special

    n = len(terms)
    numbers, m = (None, n) if groups is None else group_numbers(n, groups)
    if n < 2:
        return Estimate(value, reason="one item: no standard error")
    if numbers is not None and m < LEAST_GROUPS:
        return Estimate(value, reason=f"fewer than {LEAST_GROUPS} groups ({m}): no interval")
    if numbers is not None and m < MIN_GROUPS:
        weights = (numbers != np.arange(m)[:, None]).astype(float)
        left = weights @ terms / weights.sum(axis=1) if statistic is None else statistic(weights)
        se = float(np.sqrt((m - 1) / m * ((left - left.mean()) ** 2).sum()))
        if not np.isfinite(se):
            return Estimate(value, reason="undefined without one of the groups: no interval")
    else:
        deviations = terms - value
        deviations[np.abs(deviations) < 1e-9] = 0.0  # equal terms can differ by rounding errors, which are ignored
        sums = deviations if numbers is None else np.bincount(numbers, weights=deviations)
        se = float(np.sqrt(m / (m - 1) * (sums**2).sum()) / n)
    if se < 1e-12:
        return Estimate(
            value, reason=f"no variation between {'items' if numbers is None else 'groups'}: no standard error"
        )
    half = float(special.stdtrit(m - 1, (1 + checked_level(level)) / 2)) * se
    return Estimate(value, se, max(value - half, lowest), min(value + half, highest))


def clustered_share(x: NDArray[np.float64], n: NDArray[np.float64], level: float = 0.95) -> Estimate:
    """Return the share sum(x) / sum(n) of groups of related items, with Wilson's score interval [1]_.

    The effective number of items is n divided by the design effect: the ratio of the variance between groups (jackknife
    over groups) to the binomial variance, at least 1. The quantile is Student's t with G - 1 degrees of freedom. If all
    items or no items have the property, the effective number is the number of groups.

    `x` and `n` (shape (n_groups,)): number of items with the property, and number of items, of each group. The result
    is undefined without items. With fewer than 5 groups that have items, there is no interval.

    References
    ----------
    .. [1] Korn, Graubard (1998), Survey Methodology 24:193-201
    """
    from scipy import special

    x, n = x[n > 0], n[n > 0]
    m, total = len(n), float(n.sum())
    if not m:
        return Estimate(None, reason="no observations")
    value = float(x.sum() / total)
    if m < LEAST_GROUPS:
        return Estimate(value, reason=f"fewer than {LEAST_GROUPS} groups ({m}): no interval")
    left = (x.sum() - x) / (total - n)
    variance = (m - 1) / m * float(((left - left.mean()) ** 2).sum())
    binomial = value * (1 - value) / total
    effective = total / max(variance / binomial, 1.0) if binomial else float(m)
    t2 = float(special.stdtrit(m - 1, (1 + checked_level(level)) / 2)) ** 2
    middle = (value * effective + t2 / 2) / (effective + t2)
    half = float(np.sqrt(t2 * (value * (1 - value) * effective + t2 / 4))) / (effective + t2)
    low, high = 0.0 if value == 0 else middle - half, 1.0 if value == 1 else middle + half
    return Estimate(value, variance**0.5 or None, low, high)


def paired_difference(both: int, only_a: int, only_b: int, neither: int, *, level: float = 0.95) -> Estimate:
    """Estimate the difference between two proportions of the same items.

    The interval is Newcombe's paired score interval (method 10) [1]_. Raises ValueError if a number is negative or
    `level` is not within (0, 1).

    `both`, `only_a`, `only_b` and `neither`: numbers of items with the property in both, in only one, or in neither.
    Returns (only_a - only_b) / n in [-1, 1]. There is an interval even if all items agree. Undefined without items.

    References
    ----------
    .. [1] Newcombe (1998), Statistics in Medicine 17:2635-2650,
       doi:10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C
    """
    n = both + only_a + only_b + neither
    a, b = wilson(both + only_a, n, level), wilson(both + only_b, n, level)
    if a.ends is None or b.ends is None:
        return Estimate(None, reason=a.reason)
    (pa, la, ua), (pb, lb, ub) = a.ends, b.ends
    phi = _phi(both, only_a, only_b, neither)
    below = (pa - la) ** 2 - 2 * phi * (pa - la) * (ub - pb) + (ub - pb) ** 2
    above = (ua - pa) ** 2 - 2 * phi * (ua - pa) * (pb - lb) + (pb - lb) ** 2
    value = (only_a - only_b) / n
    # Rounding can make a sum of squares negative, and the published interval can exceed the range.
    low, high = value - max(below, 0.0) ** 0.5, value + max(above, 0.0) ** 0.5
    return Estimate(value, low=max(low, -1.0), high=min(high, 1.0))


def _phi(both: int, only_a: int, only_b: int, neither: int) -> float:
    """Return the correlation (phi) of the two properties, which the interval needs.

    A positive correlation includes the published continuity correction.
    """
    n = both + only_a + only_b + neither
    product = float(both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    excess = both * neither - only_a * only_b
    corrected = max(excess - n / 2, 0.0) if excess > 0 else excess
    return float(corrected / product**0.5) if product else 0.0


@dataclass(frozen=True, repr=False)
class McNemar(Result):
    """McNemar's test that two proportions of the same items are equal.

    Attributes
    ----------
    b, c : int
        Numbers of discordant pairs in each direction.
    p : float or None
        Exact two-sided p-value; 1 if there is no discordant pair. None if too few groups differ.
    p_mid : float or None
        Mid-p value [1]_, which reports use because the exact value is too large for few discordant pairs.
    chi2 : float or None
        The large-sample statistic (b - c)^2 / (b + c) with 1 degree of freedom, for comparison with published values.
        The p values do not use it. None if there is no discordant pair.
    reason : str or None
        Why `chi2` or the p values are None.

    References
    ----------
    .. [1] Fagerland, Lydersen, Laake (2013), BMC Med. Res. Methodol. 13:91, doi:10.1186/1471-2288-13-91
    """

    b: int
    c: int
    p: float | None
    p_mid: float | None
    chi2: float | None
    reason: str | None = None


def mcnemar(b: int, c: int) -> McNemar:
    """Test with McNemar's exact test [1]_ whether both kinds of discordant pairs are equally likely.

    The test assumes independent pairs; `mcnemar_by_group` does not.

    Parameters
    ----------
    b, c : int
        Numbers of discordant pairs in each direction, >= 0.

    Returns
    -------
    McNemar
        p is twice the smaller tail of the binomial distribution (b + c, 1/2), at most 1, and 1 if b + c = 0. The mid-p
        value gives half weight to the observed result: p_mid = p - P(b), or 1 if b = c.

    Raises
    ------
    ValueError
        If b or c is negative or not a whole number.

    References
    ----------
    .. [1] McNemar (1947), Psychometrika 12:153-157, doi:10.1007/BF02295996

    Examples
    --------
    >>> round(mcnemar(1, 5).p, 6)
    0.21875
    """
    for name, count in (("b", b), ("c", c)):
        if count < 0 or count != int(count):
            raise ValueError(f"{name} must be a whole number >= 0, got {count}")
    if b + c == 0:
        return McNemar(0, 0, 1.0, 1.0, None, "no discordant pair")
    from scipy import stats  # slow to import, like the next module
    from statsmodels.stats import contingency_tables

    p = float(contingency_tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue)
    p_mid = 1.0 if b == c else p - float(stats.binom.pmf(b, b + c, 0.5))
    return McNemar(int(b), int(c), min(1.0, p), p_mid, float((b - c) ** 2 / (b + c)))


def mcnemar_by_group(b: Sequence[int], c: Sequence[int]) -> McNemar:
    """Test whether both kinds of discordant pairs are equally likely, if the pairs of a group can be related.

    Under the hypothesis, the difference D = b - c of each group is as likely as -D. The p values are those of the sum
    of D if the sign of each D is random: exact, by convolution. With one pair in each group, this is McNemar's test.
    With fewer than ten groups, the p values are at least those of McNemar's test.

    `b` and `c`: numbers of discordant pairs in each direction, one entry for each group. There is no p value if fewer
    than five groups have a difference, because fewer signs cannot show much. Plain tests are wrong here: if each of 10
    to 30 groups has its own tendency, they find a difference in about half of the studies without one [1]_ [2]_.

    References
    ----------
    .. [1] Obuchowski (1998), Statistics in Medicine 17:1495-1507
    .. [2] Durkalski et al. (2003), Statistics in Medicine 22:2417-2428

    Examples
    --------
    >>> mcnemar_by_group([3, 1, 1, 2, 1], [0, 0, 0, 0, 0]).p_mid
    0.03125
    """
    plain = mcnemar(sum(b), sum(c))
    differences = [abs(x - y) for x, y in zip(b, c, strict=True) if x != y]
    if len(differences) < LEAST_DIFFERING:
        return McNemar(plain.b, plain.c, None, None, plain.chi2, "too few applications differ for a test")
    chances = np.ones(1)  # of the sums from -t to t, where t is the sum of the differences so far
    for difference in differences:
        chances = (np.pad(chances, (0, 2 * difference)) + np.pad(chances, (2 * difference, 0))) / 2
    reached = np.abs(np.arange(len(chances)) - len(chances) // 2)
    observed = abs(plain.b - plain.c)
    beyond, equal = float(chances[reached > observed].sum()), float(chances[reached == observed].sum())
    p, p_mid = min(1.0, beyond + equal), 1.0 if observed == 0 else beyond + equal / 2
    if len(b) < ENOUGH_GROUPS:
        p, p_mid = max(p, plain.p or 0.0), max(p_mid, plain.p_mid or 0.0)
    return McNemar(plain.b, plain.c, p, p_mid, plain.chi2, plain.reason)


def mcnemar_of(only_a: NDArray[np.bool_], only_b: NDArray[np.bool_], group: NDArray[np.intp] | None) -> McNemar:
    """Test whether as many items have only the one property as only the other; `group`: number of each item's group."""
    if group is None:
        return mcnemar(int(only_a.sum()), int(only_b.sum()))
    names = np.unique(group, return_inverse=True)[1]
    n = int(names.max(initial=-1)) + 1
    b, c = (np.bincount(names[only], minlength=n).tolist() for only in (only_a, only_b))
    return mcnemar_by_group(b, c)


def group_numbers(n_items: int, groups: Groups) -> tuple[NDArray[np.intp], int]:
    """Return the group number of each item and the number of groups; items without a group form one group.

    Raises ValueError if there is not one group per item.
    """
    if len(groups) != n_items:
        raise ValueError(f"groups has {len(groups)} entries for {n_items} items")
    import pandas as pd

    numbers, names = pd.factorize(pd.Series(list(groups), dtype=object), use_na_sentinel=False)
    return numbers, len(names)
