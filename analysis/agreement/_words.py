"""A kappa in words, and a warning where it cannot be trusted."""

import numpy as np
from numpy.typing import ArrayLike

from analysis.tables import checked_counts

FEW_MINORITY_ITEMS = 10

_BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))


def band(kappa: float | None) -> str | None:
    """Landis and Koch's word for a kappa [1]_; show it for both ends of the interval, not for the value.

    Parameters
    ----------
    kappa : float or None
        In [-1, 1]. Their table leaves [0, 0.01) open; here it is "slight".

    Returns
    -------
    str or None
        poor, slight, fair, moderate, substantial or almost perfect; None for None.

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


def minority_warning(counts: ArrayLike) -> str | None:
    """A warning where so few items have a label of the rarer category that intervals of kappa cannot be trusted.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_categories)
        As in `fleiss_kappa`.

    Returns
    -------
    str or None
        With fewer than ten such items the true coverage of a 95 % interval falls to about 70 %.
    """
    r = checked_counts(counts)
    r = r[r.sum(axis=1) >= 2]
    if not len(r):
        return None
    used = r[:, r.sum(axis=0) > 0]
    if used.shape[1] < 2:
        return None
    n_minority = int((r[:, int(np.argmin(np.where(r.sum(axis=0) > 0, r.sum(axis=0), np.inf)))] > 0).sum())
    if n_minority >= FEW_MINORITY_ITEMS:
        return None
    return f"interval unreliable: only {n_minority} items have a label of the rarer category"
