"""What coefficients of agreement share: a row with all that is known of each, its estimate, interval and formulas.

The formulas are at the end of the module. Each formula of counts has three arguments: the checked count table r, the
weight of each item (`times`, shape (..., n_items)), and the category weights w. All item weights are 1 for the table
itself; the bootstrap passes one row of item weights per draw.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations_with_replacement
from math import comb
from typing import Protocol, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize, special

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.tables import Ratings, counts_of
from analysis.statistics.intervals import (
    LEAST_GROUPS,
    WIDENED,
    Estimate,
    Groups,
    group_numbers,
    linearised,
    one_sided,
    wilson,
)
from analysis.statistics.likelihood import likelihood_ends, likelihood_limit

MOST_CELLS = 300  # with more possible rows than this, only the observed rows and unanimous rows are considered


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


NO_PAIR = "no item has two labels"
ONE_CATEGORY = "only one category was used: expected agreement is 1"
LEAST_RARE = 3  # kappa and alpha have no interval if fewer items have a label of the rarer category

Categories = Sequence[Hashable]
Weights = str | ArrayLike | None


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


class CountFormula(Protocol):
    """Compute a coefficient from how many raters put each item in each category."""

    def __call__(self, counts: Floats, times: Floats, weights: Floats, /) -> tuple[Floats, Floats]:
        """Return the value for each row of item weights `times`, and the linear term of each item."""


class RaterFormula(Protocol):
    """Compute a coefficient that depends on who gave which label."""

    def __call__(self, labels: pd.DataFrame, categories: Sequence[Hashable], level: float, /) -> Estimate:
        """Return the coefficient of a label table."""


class Chance(Protocol):
    """Compute the agreement that is expected by chance."""

    def __call__(self, shares: Floats, weights: Floats, /) -> Floats:
        """Return the probability that a rating by chance agrees with each category, given the categories' shares."""


class Needs(Enum):
    """The labels that a coefficient needs."""

    ANY = "any labels"
    TWO_A_ITEM = "items with two labels or more"  # the formula leaves out all other items
    RATERS = "who gave which label"
    TWO_RATERS = "two raters"


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient of agreement, with all that the report, the commands and the documentation say of it."""

    name: str  # key in JSON; the name of its public function
    title: str
    option: str  # its name in options of commands
    formula: CountFormula | RaterFormula  # a `RaterFormula` if it needs to know the raters
    chance: Chance | None  # expected agreement by counts; None if it is not corrected, or needs to know the raters
    sentence: str  # what it corrects for
    source: str  # DOI or address
    needs: Needs = Needs.ANY
    weights: bool = False  # whether it accepts linear and quadratic weights
    ordered: bool = False  # whether it is for ordered categories only; weights are linear by default
    # Whether it is undefined if only one category was used. It then has no interval if fewer than three items have a
    # label of the rarer category.
    needs_two_categories: bool = False

    @property
    def of_counts(self) -> CountFormula | None:
        """The formula of count tables; None if the coefficient needs to know the raters."""
        if self.needs in (Needs.RATERS, Needs.TWO_RATERS):
            return None
        return cast(CountFormula, self.formula)

    @property
    def is_corrected(self) -> bool:
        """Whether the coefficient is corrected for chance, so that 0 is agreement by chance."""
        return self.chance is not None or self.of_counts is None

    def __call__(
        self,
        ratings: Ratings,
        categories: Categories | None = None,
        *,
        weights: Weights = None,
        level: float = 0.95,
        groups: Groups | None = None,
    ) -> Estimate:
        """Compute the coefficient; the arguments are those of `fleiss_kappa`.

        A coefficient that needs to know the raters takes a label table, and neither weights nor groups. Raises
        ValueError for weights or groups that the coefficient does not take.
        """
        if weights is not None and not self.weights:
            raise ValueError(f"{self.title} takes no weights, got {weights!r}")
        if self.of_counts is None:
            if groups is not None or weights is not None:
                raise ValueError(f"{self.title} of a label table takes neither weights nor groups")
            declared = CATEGORIES if categories is None else categories
            return cast(RaterFormula, self.formula)(cast(pd.DataFrame, ratings), declared, level)
        return self.estimate(ratings, categories, "linear" if self.ordered and weights is None else weights,
                             level, groups)  # fmt: skip

    def estimate(
        self,
        ratings: Ratings,
        categories: Categories | None,
        weights: Weights,
        level: float,
        groups: Groups | None,
    ) -> Estimate:
        """Compute a coefficient of counts with the interval that the number of items and groups allows."""
        formula = self.of_counts
        if formula is None:
            raise ValueError(f"{self.title} needs a label table: a count table does not show who gave which label")
        r, groups = rated(ratings, groups, categories, at_least=2 if self.needs is Needs.TWO_A_ITEM else 1)
        w = category_weights(weights, r.shape[1])
        if not (r.sum(axis=1) >= 2).any():
            return Estimate(None, reason=NO_PAIR)
        with np.errstate(divide="ignore", invalid="ignore"):
            value, x_i = formula(r, np.ones(len(r)), w)
        if np.isnan(value):
            return Estimate(None, reason=ONE_CATEGORY)
        if self._is_share_of_items(r, x_i, weights, groups) and value < 1:
            return wilson(float(x_i.sum()), len(r), level)
        few = too_few_rare((r < r.sum(axis=1, keepdims=True)).sum(axis=0)) if self.needs_two_categories else None
        if few is not None:
            return Estimate(float(value), reason=few)
        lowest = 0.0 if self.chance is None else -1.0
        return _with_interval(formula, self.chance, float(value), x_i, r, w, level, groups, lowest)

    def _is_share_of_items(self, r: Floats, x_i: Floats, weights: Weights, groups: Groups | None) -> bool:
        """Return whether the value is the share of items whose two labels are equal."""
        is_plain = self.chance is None and weights is None and groups is None
        return bool(is_plain and (r.sum(axis=1) == 2).all() and np.isin(x_i, (0, 1)).all())


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
    formula: CountFormula,
    chance: Chance | None,
    value: float,
    x_i: Floats,
    r: Floats,
    w: Floats,
    level: float,
    groups: Groups | None,
    lowest: float,
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
        scale = _per_disagreement(chance, r, w)
        return one_sided(1.0, n_units, units, level, scale=scale, lowest=lowest)
    estimate = linearised(value, x_i, level, groups=groups, statistic=statistic, lowest=lowest)
    n, factor, df = len(r), 1.0, None
    if n < 2 or (groups is not None and estimate.low is None):
        return estimate
    if groups is not None:  # fewer independent items: the limit grows by the design effect
        alone = linearised(value, x_i, level).se
        factor, df = max(1.0, ((estimate.se or 0.0) / alone) ** 2) if alone else 1.0, n_units - 1
    limit = factor * likelihood_limit(n, level, df)
    is_pair = chance is fleiss_chance and r.shape[1] == 2 and bool((r.sum(axis=1) == 2).all())
    rows, counts = possible_rows(r)

    def functional(p: Floats) -> tuple[float, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            at, terms = formula(rows, n * p, w)
        return float(at), np.where(np.isfinite(terms), terms, 0.0) - float(at)

    low, high = likelihood_ends(counts, functional, limit if is_pair else WIDENED * limit)
    if is_pair:
        quantile = float(special.ndtri((1 + level) / 2)) ** 2 if groups is None else 2 * n * limit
        others = [float(formula(rows, table, w)[0]) for table in _goodness_of_fit(r, quantile)]
        low, high = min(low, *others), max(high, *others)
    return replace(estimate, low=max(low, lowest), high=min(high, 1.0))


def _goodness_of_fit(r: Floats, limit: float) -> tuple[Floats, Floats]:
    """Return two tables of expected numbers of items, for the rows (2, 0), (1, 1) and (0, 2) [1]_.

    Both have the observed shares of the two categories, and the smallest and the largest kappa with a chi-squared of at
    most `limit`.

    References
    ----------
    .. [1] Donner, Eliasziw (1992), Statistics in Medicine 11:1511-1519, doi:10.1002/sim.4780111109
    """
    observed = np.array([(r[:, 0] == k).sum() for k in (2, 1, 0)], dtype=float)
    n = observed.sum()
    p = (2 * observed[0] + observed[1]) / (2 * n)
    q = 1 - p

    def expected(kappa: float) -> Floats:
        table: Floats = n * np.array([p**2 + p * q * kappa, 2 * p * q * (1 - kappa), q**2 + p * q * kappa])
        return table

    def room(kappa: float) -> float:
        e = expected(kappa)
        used = e > 0
        return limit - float(((observed - e)[used] ** 2 / e[used]).sum())

    best = 1 - observed[1] / (2 * n * p * q)
    ends = []
    for furthest in (-min(p, q) / max(p, q), 1.0):
        at = furthest + 1e-9 * (best - furthest)
        ends.append(expected(optimize.brentq(room, best, at) if room(at) < 0 else at))
    return ends[0], ends[1]


def _per_disagreement(chance: Chance | None, r: Floats, w: Floats) -> float:
    """Return by how much a coefficient decreases per share of disagreeing items: 1 / (1 - pe), or 1 without chance."""
    if chance is None:
        return 1.0
    p_k = category_shares(r)
    return float(1 / (1 - p_k @ chance(p_k, w)))


def category_shares(r: Floats, times: Floats | None = None) -> Floats:
    """Return p_k, shape (..., n_categories): the share of ratings in category k, averaged over items."""
    times = np.ones(len(r)) if times is None else times
    shares: Floats = times @ (r / r.sum(axis=1, keepdims=True)) / times.sum(axis=-1, keepdims=True)
    return shares


def observed(r: Floats, times: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return the observed agreement pa, and its terms pa_i.

    pa_i is the share of agreeing pairs among the ratings of item i, or 0 if the item has fewer than two ratings.
    """
    r_i = r.sum(axis=1)
    shared = r_i >= 2
    pa_i = np.zeros(len(r))
    np.divide((r * (r @ w - 1)).sum(axis=1), r_i * (r_i - 1), out=pa_i, where=shared)
    pa: Floats = (times @ pa_i) / (times @ shared)
    return pa, pa_i


def chance_corrected(chance: Chance, r: Floats, times: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return a chance-corrected coefficient and its linear terms x_i [Gwet 2008]; `chance` maps p_k to pe."""
    r_i = r.sum(axis=1)
    shared = r_i >= 2
    n, n2 = times.sum(axis=-1, keepdims=True), (times @ shared)[..., None]
    p_k = category_shares(r, times)
    pe_k = chance(p_k, w)
    pe = (p_k * pe_k).sum(axis=-1, keepdims=True)
    pe_i = pe_k @ (r / r_i[:, None]).T
    pa, pa_i = observed(r, times, w)
    by_skill = np.where(1 - pe < 1e-12, np.nan, 1 - pe)
    kappa = (pa[..., None] - pe) / by_skill
    k_i = n / n2 * (pa_i - pe * shared) / by_skill
    x_i = k_i - 2 * (1 - kappa) * (pe_i - pe) / by_skill
    return kappa[..., 0], x_i


def fleiss_chance(p_k: Floats, w: Floats) -> Floats:
    """Return the chance agreement of two ratings drawn from all ratings: pe = sum over k and l of w_kl p_k p_l."""
    return p_k @ w


def ac_chance(p_k: Floats, w: Floats) -> Floats:
    """Return Gwet's chance agreement: pe = sum w_kl / (q (q - 1)) times the sum of p_k (1 - p_k)."""
    q = len(w)
    scaled: Floats = w.sum() / (q * (q - 1)) * (1 - p_k)
    return scaled


def even_chance(p_k: Floats, w: Floats) -> Floats:
    """Return the chance agreement of uniform guessing among the categories: pe = sum w_kl / q^2."""
    return np.full(p_k.shape, w.mean())


def alpha(r: Floats, times: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return Krippendorff's alpha and Gwet's linear terms.

    The linear terms use `prime`, which leaves out the small-sample term.
    """
    shared = r.sum(axis=1) >= 2
    r, times = r[shared], times[..., shared]
    r_i, n_k, n = r.sum(axis=1), times @ r, times.sum(axis=-1, keepdims=True)
    n_all = n_k.sum(axis=-1, keepdims=True)  # N in Krippendorff's notation
    disagreeing = (times @ ((r * (r @ (1 - w))).sum(axis=1) / (r_i - 1)))[..., None]
    expected = (n_k * (n_k @ (1 - w))).sum(axis=-1, keepdims=True)
    value = 1 - (n_all - 1) * disagreeing / np.where(expected == 0, np.nan, expected)
    mean_r, p_k = n_all / n, n_k / n_all
    pe, weight = 1 - expected / n_all**2, (r_i - mean_r) / mean_r
    agreeing = (r * (r @ w - 1)).sum(axis=1) / (mean_r * (r_i - 1))
    mean_agreeing = (times * agreeing).sum(axis=-1, keepdims=True) / n
    prime = (mean_agreeing - pe) / (1 - pe)
    k_i = (agreeing - mean_agreeing * weight - pe) / (1 - pe)
    pe_i = (p_k @ w) @ r.T / mean_r - pe * weight
    terms = k_i - 2 * (1 - prime) * (pe_i - pe) / (1 - pe)
    return value[..., 0], terms - (times * terms).sum(axis=-1, keepdims=True) / n + value
