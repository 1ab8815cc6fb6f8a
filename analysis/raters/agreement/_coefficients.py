"""Compute percent agreement and chance-corrected coefficients for any number of raters.

The formulas are at the end of the module. Each formula has three arguments: the checked count table r, the weight of
each item (`times`, shape (..., n_items)), and the category weights w. All item weights are 1 for the table itself; the
bootstrap passes one row of item weights per draw.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize, special

from analysis.arrays import Floats
from analysis.raters.tables import Ratings, counts_of
from analysis.statistics.intervals import (
    LEAST_GROUPS,
    Estimate,
    Groups,
    checked_level,
    group_numbers,
    linearised,
    one_sided,
    wilson,
)

FEW_ITEMS = 20  # up to this number of items, the linearised interval of a coefficient covers too little
MOST_CELLS = 300  # with more possible rows than this, only the observed rows and unanimous rows are considered
_MAX_STEPS, _TOLERANCE = 200, 1e-7  # settings of the search for the limits

Functional = Callable[[Floats], tuple[float, Floats]]  # probabilities of the cells -> value and its gradient


def likelihood_ends(counts: Floats, functional: Functional, limit: float) -> tuple[float, float]:
    """Return the smallest and largest value that the counts do not exclude, from all tables of probabilities.

    A table p is not excluded if the mean of log(counts / n / p) over items is at most `limit`. These tables form a
    convex set. Each step approximates the functional by a linear function, and moves towards the table with the
    smallest value of this function (for the lower end) or the largest value (for the upper end).
    """
    observed, ends = counts / counts.sum(), []
    for sign in (-1.0, 1.0):
        p = observed
        value, gradient = functional(p)
        for _ in range(_MAX_STEPS):
            way = _best_table(observed, sign * gradient, limit) - p
            steps = ((p + 0.5**k * way, *functional(p + 0.5**k * way)) for k in range(12))
            better = next((step for step in steps if sign * (step[1] - value) > _TOLERANCE), None)
            if better is None:
                break
            p, value, gradient = better
        ends.append(value)
    return ends[0], ends[1]


def possible_rows(r: Floats) -> tuple[Floats, Floats]:
    """Return the rows that count tables with the same numbers of ratings could contain, and how often each occurs."""
    q = r.shape[1]
    sizes = np.unique(r.sum(axis=1)).astype(int)
    if sum(comb(int(size) + q - 1, q - 1) for size in sizes) <= MOST_CELLS:
        chosen = [row for size in sizes for row in combinations_with_replacement(range(q), int(size))]
        rows = np.array([np.bincount(row, minlength=q) for row in chosen], dtype=float)
    else:
        rows = np.unique(np.vstack([r, *(size * np.eye(q) for size in sizes)]), axis=0)
    distinct, n = np.unique(r, axis=0, return_counts=True)
    counts = np.zeros(len(rows))
    for row, times in zip(distinct, n, strict=True):
        counts[(rows == row).all(axis=1)] = times
    return rows, counts


def _best_table(p: Floats, gradient: Floats, limit: float) -> Floats:
    """Return the table q with the largest sum of gradient * q, with the sum of p log(p / q) at most `limit`.

    Where p > 0, q is proportional to p / (nu - gradient). If an empty cell has the largest gradient, it gets the
    remaining probability.
    """
    used = p > 0
    x, g = p[used], gradient[used]
    most = float(gradient.max())

    def room(log_distance: float) -> float:
        weights = x / (most + np.exp(log_distance) - g)
        return limit + float((x * np.log(weights / weights.sum() / x)).sum())

    best, q = most > g.max() + 1e-9, np.zeros_like(p)
    distance = -25.0
    if not best and g.max() - g.min() < 1e-12:
        return p
    if room(distance) < 0:
        distance = optimize.brentq(room, distance, 25.0, xtol=1e-9)
    weights = x / (most + np.exp(distance) - g)
    share = np.exp(-room(distance)) if best else 1.0
    q[used] = share * weights / weights.sum()
    empty = ~used & (gradient > most - 1e-9)
    q[empty] += (1 - share) / max(empty.sum(), 1)
    return q


NO_PAIR = "no item has two labels"
ONE_CATEGORY = "only one category was used: expected agreement is 1"
LEAST_RARE = 3  # kappa and alpha have no interval if fewer items have a label of the rarer category

Categories = Sequence[Hashable]
Weights = str | ArrayLike | None


def percent_agreement(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = None,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute the share of pairs of ratings of an item that agree, averaged over items.

    This share is the observed agreement.

    Parameters
    ----------
    ratings, categories, weights
        As in `fleiss_kappa`. Items with fewer than two ratings are ignored.
    level : float
        Confidence level. If each used item has exactly two ratings and there are no weights or groups, the result is a
        share of items and the interval is Wilson's. Otherwise, the interval is as in `fleiss_kappa` [1]_.
    groups : sequence of hashable, one per item, optional
        As in `fleiss_kappa`.

    Returns
    -------
    Estimate
        In [0, 1]. Undefined if no item has two ratings.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> percent_agreement([[2, 0], [2, 0], [0, 2], [1, 1]]).value
    0.75
    """
    r, groups = rated(ratings, groups, categories, at_least=2)
    w = category_weights(weights, r.shape[1])
    if not len(r):
        return Estimate(None, reason=NO_PAIR)
    pa, pa_i = _observed(r, np.ones(len(r)), w)
    if groups is None and weights is None and pa < 1 and (r.sum(axis=1) == 2).all():
        return wilson(float(pa_i.sum()), len(r), level)
    return _with_interval(_observed, float(pa), pa_i, r, w, level, groups, lowest=0.0)


def fleiss_kappa(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = None,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute Fleiss' kappa, (pa - pe) / (1 - pe) [1]_, for any number of raters per item [2]_.

    Parameters
    ----------
    ratings : DataFrame or array_like
        One of three forms. A count table (n_items, n_categories) contains the number of raters by item and category. A
        label table is a DataFrame with the columns item, rater, category. Wide ratings (n_items, n_raters) contain the
        category that each rater gave, or a missing value. `analysis.raters.tables.counts_of` describes how the form is
        recognised. Items may have different raters; items without a rating are left out. For two raters, the result is
        Scott's pi.
    categories : sequence of hashable, optional
        All declared categories in their order. By default, they are the columns of a count table, and otherwise similar
        and dissimilar.
    weights : str or array_like of float, shape (n_categories, n_categories), optional
        How much two ordinal categories agree: "linear", "quadratic", or a table of weights with 1 on the diagonal. By
        default, different categories disagree completely.
    level : float
        Confidence level of the interval. With more than 20 items, it is linearised (t distribution, n_items - 1 degrees
        of freedom). Up to 20 items, it is the profile likelihood interval over the shares of all possible rows [3]_;
        `se` is still the linearised one.
    groups : sequence of hashable, one per item, optional
        Groups of similar items, such as applications. With at least 20 groups, the standard error is cluster-robust;
        with 5 to 19 groups, it is a jackknife over groups; both have G - 1 degrees of freedom. With fewer groups, there
        is no interval, and `reason` says so.

    Returns
    -------
    Estimate
        1 for full agreement, 0 for chance agreement. Undefined if no item has two ratings. Also undefined if only one
        category was used: pe is then 1, and a correction for chance has no meaning. If all items are unanimous, the
        interval is a one-sided bound, which `reason` says: at most 1 - (1 - level)^(1/n) of the items can disagree. If
        fewer than three items have a label of the rarer category, there is no interval.

    Raises
    ------
    ValueError
        If `ratings` has none of the three forms, or the number of groups differs from the number of items.

    References
    ----------
    .. [1] Fleiss (1971), Psychological Bulletin 76(5):378-382, doi:10.1037/h0031619
    .. [2] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600
    .. [3] Venzon, Moolgavkar (1988), Applied Statistics 37:87-94, doi:10.2307/2347496

    Examples
    --------
    >>> round(fleiss_kappa([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 4)
    0.4667
    >>> wide = [["similar", "similar"], ["similar", "similar"], ["dissimilar", "dissimilar"], ["similar", "dissimilar"]]
    >>> round(fleiss_kappa(wide).value, 4)
    0.4667
    """
    return _estimate(_fleiss, ratings, categories, weights, level, groups, needs_rare=True)


def gwet_ac1(
    ratings: Ratings, categories: Categories | None = None, *, level: float = 0.95, groups: Groups | None = None
) -> Estimate:
    """Compute Gwet's AC1 [1]_.

    Chance agreement depends on how uncertain raters are, and not only on how often they use each category.

    Parameters
    ----------
    ratings, categories, level, groups
        As in `fleiss_kappa`. The number of declared categories matters, including unused categories.

    Returns
    -------
    Estimate
        In [-1, 1]. Unlike kappa, the result is defined, and is 1, if all raters always use the same category. Undefined
        if no item has two ratings.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> round(gwet_ac1([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 4)
    0.5294
    """
    return _estimate(_ac, ratings, categories, None, level, groups)


def gwet_ac2(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = "linear",
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute Gwet's AC2 [1]_, which is AC1 for ordinal categories: neighbouring categories partly agree.

    Parameters
    ----------
    ratings, categories, weights, level, groups
        As in `fleiss_kappa`.

    Returns
    -------
    Estimate
        As `gwet_ac1`. If there are no weights, AC2 is equal to AC1.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 3 and 5

    Examples
    --------
    >>> sure = [["low", "low"], ["low", "high"], ["high", "high"], ["medium", "high"]]
    >>> round(gwet_ac2(sure, ["low", "medium", "high"], weights="quadratic").value, 4)
    0.2308
    """
    return _estimate(_ac, ratings, categories, weights, level, groups)


def brennan_prediger(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = None,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute the Brennan-Prediger coefficient: agreement corrected for uniform guessing among categories [1]_.

    The coefficient is (pa - 1/q) / (1 - 1/q), which is PABAK for q = 2 [2]_.

    Parameters
    ----------
    ratings, categories, weights, level, groups
        As in `fleiss_kappa`. The number of declared categories matters, including unused categories.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined if no item has two ratings.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Brennan, Prediger (1981), Educ. Psychol. Meas. 41:687-699, doi:10.1177/001316448104100307
    .. [2] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V

    Examples
    --------
    >>> brennan_prediger([[2, 0], [2, 0], [0, 2], [1, 1]]).value
    0.5
    """
    return _estimate(_brennan_prediger, ratings, categories, weights, level, groups)


def krippendorff_alpha(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = None,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute Krippendorff's alpha with missing ratings [1]_.

    Parameters
    ----------
    ratings, categories, weights, level, groups
        As in `fleiss_kappa`. Items with fewer than two ratings are ignored. Quadratic weights give the alpha
        of interval data with categories at equal distances.

    Returns
    -------
    Estimate
        1 for full agreement, 0 for chance agreement. Undefined if no item has two ratings or only one category was
        used.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
       https://repository.upenn.edu/handle/20.500.14332/2089
    .. [2] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed. (standard error)

    Examples
    --------
    >>> round(krippendorff_alpha([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 4)
    0.5333
    """
    return _estimate(_alpha, ratings, categories, weights, level, groups, at_least=2, needs_rare=True)


def category_weights(weights: Weights, q: int) -> Floats:
    """Return a table of weights: how much each pair of q ordered categories counts as agreement.

    Raises ValueError if a table of weights has another shape, is not symmetric or within [0, 1], or is not 1 on the
    diagonal.

    `weights` None: 1 for the same category, else 0. "linear": 1 - |k - l| / (q - 1). "quadratic": 1 - (k - l)^2 / (q -
    1)^2. The result has shape (q, q).
    """
    if weights is None:
        return np.eye(q)
    if isinstance(weights, str):
        powers = {"linear": 1, "quadratic": 2}
        if weights not in powers:
            raise ValueError(f"weights must be linear, quadratic or a table, got {weights!r}")
        apart: Floats = np.abs(np.subtract.outer(np.arange(q), np.arange(q))) / (q - 1)
        return 1 - apart ** powers[weights]
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (q, q):
        raise ValueError(f"weights must have shape ({q}, {q}), one row per category, got {w.shape}")
    if not (
        np.isfinite(w).all() and (w == w.T).all() and (w >= 0).all() and (w <= 1).all() and (np.diag(w) == 1).all()
    ):
        raise ValueError(f"weights must be symmetric, within [0, 1], and 1 on the diagonal, got {w.tolist()}")
    return w


def rated(
    ratings: Ratings, groups: Groups | None = None, categories: Categories | None = None, *, at_least: int = 1
) -> tuple[Floats, pd.Series | None]:
    """Check ratings; return the rows of their count table with enough ratings, and the groups of these rows."""
    counts = counts_of(ratings, categories)
    enough = counts.sum(axis=1) >= at_least
    if groups is None:
        return counts[enough], None
    if len(groups) != len(counts):
        raise ValueError(f"groups has {len(groups)} entries for {len(counts)} rows of counts")
    return counts[enough], pd.Series(list(groups), dtype=object)[enough]


Formula = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]


def _estimate(
    formula: Formula,
    ratings: Ratings,
    categories: Categories | None,
    weights: Weights,
    level: float,
    groups: Groups | None,
    *,
    at_least: int = 1,
    needs_rare: bool = False,
) -> Estimate:
    r, groups = rated(ratings, groups, categories, at_least=at_least)
    w = category_weights(weights, r.shape[1])
    if not (r.sum(axis=1) >= 2).any():
        return Estimate(None, reason=NO_PAIR)
    with np.errstate(divide="ignore", invalid="ignore"):
        value, x_i = formula(r, np.ones(len(r)), w)
    if np.isnan(value):
        return Estimate(None, reason=ONE_CATEGORY)
    few = too_few_rare((r < r.sum(axis=1, keepdims=True)).sum(axis=0)) if needs_rare else None
    if few is not None:
        return Estimate(float(value), reason=few)
    return _with_interval(formula, float(value), x_i, r, w, level, groups)


def too_few_rare(n_others: Floats) -> str | None:
    """Return the reason for no interval if fewer than three items have a label other than the most common one.

    `n_others` is the number of items with a label other than each category.
    """
    n_rare = int(n_others.min())
    if n_rare >= LEAST_RARE:
        return None
    items = "item has" if n_rare == 1 else "items have"
    return f"only {n_rare} {items} a label of the rarer category: no interval"


def _with_interval(
    formula: Formula,
    value: float,
    x_i: Floats,
    r: Floats,
    w: Floats,
    level: float,
    groups: Groups | None,
    lowest: float = -1.0,
) -> Estimate:
    """Return a coefficient with the interval that its number of items and groups allows."""

    def statistic(weights: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return formula(r, weights, w)[0]

    shared = r[r.sum(axis=1) >= 2]
    n_units, units = len(shared), "items"
    if groups is not None:
        n_units, units = group_numbers(len(r), groups)[1], "groups of items"
    if (np.count_nonzero(shared, axis=1) == 1).all() and n_units >= (2 if groups is None else LEAST_GROUPS):
        scale = _per_disagreement(formula, r, w)
        return one_sided(1.0, n_units, units, level, scale=scale, lowest=lowest)
    estimate = linearised(value, x_i, level, groups=groups, statistic=statistic, lowest=lowest)
    if groups is not None or len(r) > FEW_ITEMS or len(r) < 2:
        return estimate
    rows, counts = possible_rows(r)
    n = len(r)

    def functional(p: Floats) -> tuple[float, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            at, terms = formula(rows, n * p, w)
        return float(at), np.where(np.isfinite(terms), terms, 0.0) - float(at)

    limit = float(special.stdtrit(n - 1, (1 + checked_level(level)) / 2)) ** 2 / (2 * n)
    low, high = likelihood_ends(counts, functional, limit)
    return replace(estimate, low=max(low, lowest), high=min(high, 1.0))


def _per_disagreement(formula: Formula, r: Floats, w: Floats) -> float:
    """Return by how much a coefficient decreases per share of disagreeing items: 1 / (1 - pe)."""
    if formula is _observed:
        return 1.0
    p_k = category_shares(r)
    chance = formula.args[0] if isinstance(formula, partial) else _fleiss_chance
    return float(1 / (1 - p_k @ chance(p_k, w)))


def category_shares(r: Floats, times: Floats | None = None) -> Floats:
    """Return p_k, shape (..., n_categories): the share of ratings in category k, averaged over items."""
    times = np.ones(len(r)) if times is None else times
    shares: Floats = times @ (r / r.sum(axis=1, keepdims=True)) / times.sum(axis=-1, keepdims=True)
    return shares


def _observed(r: Floats, times: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return the observed agreement pa, and its terms pa_i.

    pa_i is the share of agreeing pairs among the ratings of item i, or 0 if the item has fewer than two ratings.
    """
    r_i = r.sum(axis=1)
    shared = r_i >= 2
    pa_i = np.zeros(len(r))
    np.divide((r * (r @ w - 1)).sum(axis=1), r_i * (r_i - 1), out=pa_i, where=shared)
    pa: Floats = (times @ pa_i) / (times @ shared)
    return pa, pa_i


def _chance_corrected(
    chance: Callable[[Floats, Floats], Floats], r: Floats, times: Floats, w: Floats
) -> tuple[Floats, Floats]:
    """Return a chance-corrected coefficient and its linear terms x_i [Gwet 2008]; `chance` maps p_k to pe."""
    r_i = r.sum(axis=1)
    shared = r_i >= 2
    n, n2 = times.sum(axis=-1, keepdims=True), (times @ shared)[..., None]
    p_k = category_shares(r, times)
    pe_k = chance(p_k, w)
    pe = (p_k * pe_k).sum(axis=-1, keepdims=True)
    pe_i = pe_k @ (r / r_i[:, None]).T
    pa, pa_i = _observed(r, times, w)
    by_skill = np.where(1 - pe < 1e-12, np.nan, 1 - pe)
    kappa = (pa[..., None] - pe) / by_skill
    k_i = n / n2 * (pa_i - pe * shared) / by_skill
    x_i = k_i - 2 * (1 - kappa) * (pe_i - pe) / by_skill
    return kappa[..., 0], x_i


def _fleiss_chance(p_k: Floats, w: Floats) -> Floats:
    """Return the chance agreement of two ratings drawn from all ratings: pe = sum over k and l of w_kl p_k p_l."""
    return p_k @ w


def _ac_chance(p_k: Floats, w: Floats) -> Floats:
    """Return Gwet's chance agreement: pe = sum w_kl / (q (q - 1)) times the sum of p_k (1 - p_k)."""
    q = len(w)
    scaled: Floats = w.sum() / (q * (q - 1)) * (1 - p_k)
    return scaled


def _even_chance(p_k: Floats, w: Floats) -> Floats:
    """Return the chance agreement of uniform guessing among the categories: pe = sum w_kl / q^2."""
    return np.full(p_k.shape, w.mean())


_fleiss = partial(_chance_corrected, _fleiss_chance)
_ac = partial(_chance_corrected, _ac_chance)
_brennan_prediger = partial(_chance_corrected, _even_chance)


def _alpha(r: Floats, times: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return Krippendorff's alpha and Gwet's linear terms.

    The linear terms use `prime`, which leaves out the small-sample term.
    """
    shared = r.sum(axis=1) >= 2
    r, times = r[shared], times[..., shared]
    r_i, n_k, n = r.sum(axis=1), times @ r, times.sum(axis=-1, keepdims=True)
    n_all = n_k.sum(axis=-1, keepdims=True)  # N in Krippendorff's notation
    disagreeing = (times @ ((r * (r @ (1 - w))).sum(axis=1) / (r_i - 1)))[..., None]
    expected = (n_k * (n_k @ (1 - w))).sum(axis=-1, keepdims=True)
    alpha = 1 - (n_all - 1) * disagreeing / np.where(expected == 0, np.nan, expected)
    mean_r, p_k = n_all / n, n_k / n_all
    pe, weight = 1 - expected / n_all**2, (r_i - mean_r) / mean_r
    agreeing = (r * (r @ w - 1)).sum(axis=1) / (mean_r * (r_i - 1))
    mean_agreeing = (times * agreeing).sum(axis=-1, keepdims=True) / n
    prime = (mean_agreeing - pe) / (1 - pe)
    k_i = (agreeing - mean_agreeing * weight - pe) / (1 - pe)
    pe_i = (p_k @ w) @ r.T / mean_r - pe * weight
    terms = k_i - 2 * (1 - prime) * (pe_i - pe) / (1 - pe)
    return alpha[..., 0], terms - (times * terms).sum(axis=-1, keepdims=True) / n + alpha


FORMULAS: dict[Callable[..., Estimate], Formula] = {
    percent_agreement: _observed,
    fleiss_kappa: _fleiss,
    gwet_ac1: _ac,
    gwet_ac2: _ac,
    brennan_prediger: _brennan_prediger,
    krippendorff_alpha: _alpha,
}
"""Formula of each coefficient, for the bootstrap."""
