"""Describe kappa in words, and warn if kappa is unreliable."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.intervals import Estimate
from analysis.results import Result
from analysis.tables import Ratings, checked_counts

ENOUGH = 5  # smallest number of items with disagreement, and with expected chance agreement on the rarer category

_BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))


def band(kappa: float | None) -> str | None:
    """Return Landis and Koch's band of a kappa [1]_.

    A report should show the bands of both limits of the interval, and not the band of the value.

    Parameters
    ----------
    kappa : float or None
        In [-1, 1]. The published table leaves out [0, 0.01); here it is "slight".

    Returns
    -------
    str or None
        poor, slight, fair, moderate, substantial or almost perfect; None if `kappa` is None.

    References
    ----------
    .. [1] Landis, Koch (1977), Biometrics 33:159-174, doi:10.2307/2529310

    Examples
    --------
    >>> band(0.098)
    'slight'
    """
    if kappa is None:
        return None
    if kappa < 0:
        return "poor"
    return next(word for upper, word in _BANDS if kappa <= upper)


@dataclass(frozen=True, repr=False)
class BandMembership(Result):
    """The probability that a kappa is in each band of Landis and Koch.

    Attributes
    ----------
    band : tuple of str
        The bands, from almost perfect down to poor.
    low, high : tuple of float
        Limits of each band.
    probability : tuple of float
        Probability that kappa is in each band; the sum is 1. Empty if undefined.
    cumulative : tuple of float
        Probability that kappa is in each band or in a higher band.
    benchmark : str or None
        The highest band that kappa reaches with the required probability.
    reason : str or None
        Why there are no probabilities.
    """

    band: tuple[str, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    probability: tuple[float, ...] = ()
    cumulative: tuple[float, ...] = ()
    benchmark: str | None = None
    reason: str | None = None


def band_membership(kappa: Estimate, *, wanted: float = 0.95) -> BandMembership:
    """Compute the probability that a kappa is in each band of Landis and Koch, given its standard error [1]_.

    The band of the value alone ignores the precision. With few items, a kappa of 0.62 can be almost as likely
    "moderate" as "substantial".

    Parameters
    ----------
    kappa : Estimate
        Any coefficient in [-1, 1] with a standard error. A normal distribution, truncated at -1 and 1, is assumed.
    wanted : float
        Required probability for the benchmark, in (0, 1).

    Returns
    -------
    BandMembership
        Undefined if kappa or its standard error is undefined.

    Raises
    ------
    ValueError
        If `wanted` is not within (0, 1).

    References
    ----------
    .. [1] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 6

    Examples
    --------
    >>> membership = band_membership(Estimate(0.62, se=0.1))
    >>> membership.benchmark, [round(p, 2) for p in membership.probability]
    ('moderate', [0.04, 0.54, 0.41, 0.01, 0.0, 0.0])
    """
    if not 0 < wanted < 1:
        raise ValueError(f"wanted must be within (0, 1), got {wanted}")
    if kappa.value is None or not kappa.se:
        return BandMembership(reason=kappa.reason or "no standard error")
    ends = np.array([-1.0, 0.0, *(upper for upper, _ in _BANDS)])
    below = special.ndtr((ends - kappa.value) / kappa.se)
    probability = (np.diff(below) / (below[-1] - below[0]))[::-1]
    cumulative = np.minimum(np.cumsum(probability), 1.0)
    words = (*(word for _, word in reversed(_BANDS)), "poor")
    benchmark = words[int(np.argmax(cumulative >= wanted))]
    low, high = ends[-2::-1], ends[:0:-1]
    columns = [tuple(column.tolist()) for column in (low, high, probability, cumulative)]
    return BandMembership(words, columns[0], columns[1], columns[2], columns[3], benchmark)


def minority_warning(ratings: Ratings, categories: Sequence[Hashable] | None = None) -> str | None:
    """Return a warning if too few items are informative for a reliable interval of a coefficient; otherwise None.

    There is a warning in two cases. By chance, two raters would agree on the rarer category for fewer than five items
    (number of items times the squared share of the category). Or raters disagree on one to four items. In both cases, a
    95 % interval may cover the true value in fewer than 92 % of studies (docs/consensus.md).

    Examples
    --------
    >>> minority_warning([[2, 0]] * 40 + [[1, 1]] * 3)
    'interval unreliable: only 3 items have a label of the rarer category'
    """
    r = checked_counts(ratings, categories)
    r = r[r.sum(axis=1) >= 2]
    used = r[:, r.sum(axis=0) > 0]
    if used.shape[1] < 2:
        return None
    rarest = int(np.argmin(used.sum(axis=0)))
    if len(used) * (used[:, rarest].sum() / used.sum()) ** 2 < ENOUGH:
        rare = "rarer" if used.shape[1] == 2 else "rarest"
        n_rare = int((used[:, rarest] > 0).sum())
        return f"interval unreliable: only {n_rare} {_items(n_rare)} a label of the {rare} category"
    n_split = int((used.max(axis=1) < used.sum(axis=1)).sum())
    if 0 < n_split < ENOUGH:
        return f"interval unreliable: only {n_split} {_items(n_split)} different labels"
    return None


def _items(n: int) -> str:
    return "item has" if n == 1 else "items have"
