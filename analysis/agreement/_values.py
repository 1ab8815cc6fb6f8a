"""The coefficients as plain values of weighted items: the one place of their formulas.

Each function takes a checked count table r, shape (n_items, n_categories), no row without a rating, and weights,
shape (m, n_items): how often each item counts in each of m tables, all 1 for the table itself. It returns m values,
NaN where the coefficient is undefined; only bootstrap draws see them so.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def item_agreement(r: Floats) -> Floats:
    """pa_i: the share of agreeing pairs of ratings of each item; 0 where there is no pair."""
    r_i = r.sum(axis=1)
    pairs = r_i * (r_i - 1)
    return divided((r * (r - 1)).sum(axis=1), pairs, empty=0.0)


def observed(r: Floats, weights: Floats) -> Floats:
    """pa: the mean of pa_i over the items with two ratings or more."""
    shared = (r.sum(axis=1) >= 2).astype(float)
    return divided(weights @ item_agreement(r), weights @ shared)


def category_shares(r: Floats, weights: Floats) -> Floats:
    """p_k, shape (m, n_categories): the mean over items of the share of their ratings in category k."""
    return divided(weights @ (r / r.sum(axis=1, keepdims=True)), weights.sum(axis=1, keepdims=True))


def corrected(pa: Floats, pe: Floats) -> Floats:
    """(pa - pe) / (1 - pe); NaN where chance alone agrees always."""
    possible = 1 - pe
    return divided(pa - pe, np.where(possible < 1e-12, 0.0, possible))


def fleiss_chance(p_k: Floats) -> Floats:
    """pe of Fleiss: two ratings drawn from all ratings agree."""
    pe: Floats = (p_k**2).sum(axis=-1)
    return pe


def ac1_chance(p_k: Floats) -> Floats:
    """pe of Gwet's AC1."""
    pe: Floats = (p_k * (1 - p_k)).sum(axis=-1) / (p_k.shape[-1] - 1)
    return pe


def even_chance(p_k: Floats) -> Floats:
    """pe of Brennan and Prediger: guessing evenly among the categories."""
    return np.full(p_k.shape[:-1], 1 / p_k.shape[-1])


def fleiss_values(r: Floats, weights: Floats) -> Floats:
    """Fleiss' kappa."""
    return corrected(observed(r, weights), fleiss_chance(category_shares(r, weights)))


def ac1_values(r: Floats, weights: Floats) -> Floats:
    """Gwet's AC1."""
    return corrected(observed(r, weights), ac1_chance(category_shares(r, weights)))


def brennan_prediger_values(r: Floats, weights: Floats) -> Floats:
    """Brennan and Prediger's coefficient."""
    return corrected(observed(r, weights), even_chance(category_shares(r, weights)))


def alpha_values(r: Floats, weights: Floats) -> Floats:
    """Krippendorff's alpha; items with one rating do not enter."""
    shared = r.sum(axis=1) >= 2
    r, weights = r[shared], weights[:, shared]
    r_i, n_k = r.sum(axis=1), weights @ r
    total = n_k.sum(axis=1)  # N of the source
    disagreeing = weights @ ((r * (r_i[:, None] - r)).sum(axis=1) / (r_i - 1))
    return 1 - divided((total - 1) * disagreeing, total**2 - (n_k**2).sum(axis=1))


def cohen_values(tables: Floats) -> Floats:
    """Cohen's kappa of tables of two raters, shape (m, n_categories, n_categories)."""
    p = divided(tables, tables.sum(axis=(1, 2), keepdims=True))
    pe = (p.sum(axis=2) * p.sum(axis=1)).sum(axis=1)
    return corrected(np.trace(p, axis1=1, axis2=2), pe)


def divided(a: Floats, b: Floats, *, empty: float = np.nan) -> Floats:
    """a / b, `empty` where b is 0."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    quotient: Floats = np.divide(a, b, out=np.full(shape, empty), where=np.broadcast_to(b, shape) != 0)
    return quotient
