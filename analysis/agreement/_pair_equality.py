"""Test whether all pairs of raters agree equally often, in any design, and find who differs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.agreement._coefficients import Categories
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, linearised, wilson
from analysis.results import Result
from analysis.tables import Floats, wide_labels

# Each pair needs this many expected agreements and disagreements. With fewer, the test can reject in more than 6 % of
# studies in which all pairs agree equally often (docs/results/consensus.md).
LEAST_EXPECTED = 8
MOST_ENUMERATED = 8  # with more raters than this, only one division into two groups is tried, but all are counted
_NOTHING = 1e-9  # eigenvalues below this share of the largest one count as 0
PAIR, GROUPS, RATER = "pair", "groups", "reviewer"
TOO_FEW = "too few items to compare pairs"

Bools = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class PairShare(Result):
    """How often two raters agree on the items that both of them labelled."""

    a: str
    b: str
    n: int
    agree: Estimate


@dataclass(frozen=True, repr=False)
class Contrast(Result):
    """The division of pairs that explains best why pairs agree unequally often."""

    kind: str  # "pair": one pair against all others; "reviewer": one rater against the rest; "groups": two groups
    first: tuple[str, ...]  # the pair, the one rater, or the first group
    second: tuple[str, ...]  # all other raters
    # Agreement of the pair, of all raters but one among themselves, or inside both groups.
    within: Estimate
    # Agreement of all other pairs, of the one rater with the rest, or between both groups.
    across: Estimate
    p: float  # of the difference, times the number of divisions that were or could have been tried
    chance_across: float  # agreement of the pairs in `across` that their shares of each category alone would give
    # Agreement inside each of the two groups; None for the other kinds.
    within_first: Estimate | None = None
    within_second: Estimate | None = None


@dataclass(frozen=True, repr=False)
class PairEquality(Result):
    """Test of the hypothesis that all pairs of raters agree equally often; `p` is None if there is no test."""

    statistic: float | None  # F
    df1: int | None
    df2: int | None
    p: float | None
    n_items: int  # number of items with at least two labels
    pairs: tuple[PairShare, ...]
    contrast: Contrast | None = None  # only if the test rejects and one division explains it
    reason: str | None = None  # why there is no test


def pair_equality(labels: pd.DataFrame, categories: Categories = CATEGORIES, *, level: float = 0.95) -> PairEquality:
    """Test whether all pairs of raters agree equally often; items may have any number of labels.

    The shares of agreement of all pairs are means over items, so their covariance follows from the terms of each item.
    The terms are centred at the agreement of all pairs together, because a pair that always agrees would otherwise have
    no variance. The quadratic form of the differences is compared with F(k, n - k), where k is its rank.

    If the test rejects, the result also names the division of the raters that explains the differences best, if it is
    significant after correction for all divisions: one pair, one rater or two groups. Raises ValueError if the label
    table is invalid.

    `level`: confidence level of the intervals; the tests are at 1 - level. There is no test with fewer than two pairs,
    if all pairs always agree or never agree, or if a pair has fewer than eight expected agreements or disagreements.

    Examples
    --------
    >>> rows = [(i, r, "similar" if r == "c" and i % 3 else "dissimilar") for i in range(60) for r in "abc"]
    >>> found = pair_equality(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    >>> found.contrast.kind, found.contrast.first, round(found.contrast.across.value, 2)
    ('pair', ('a', 'b'), 0.33)
    """
    raters, wide = wide_labels(labels, categories)
    wide = wide[(~np.isnan(wide)).sum(axis=1) >= 2]
    n = len(wide)
    names = list(combinations(range(len(raters)), 2))
    first, second = np.array(names, dtype=int).reshape(-1, 2).T
    n_common = np.array([np.count_nonzero(~np.isnan(wide[:, i] + wide[:, j])) for i, j in names], dtype=float)
    used = n_common > 0
    first, second, n_common = first[used], second[used], n_common[used]
    n_agree = np.array([np.count_nonzero(wide[:, i] == wide[:, j]) for i, j in zip(first, second, strict=True)])
    pairs = tuple(
        PairShare(str(raters[i]), str(raters[j]), int(m), wilson(int(x), int(m), level))
        for i, j, m, x in zip(first, second, n_common, n_agree, strict=True)
    )
    if len(pairs) < 2:
        return PairEquality(None, None, None, None, n, pairs, reason="fewer than two pairs share items")
    rate = float(n_agree.sum() / n_common.sum())
    if rate in (0, 1):
        reason = f"all pairs {'always' if rate else 'never'} agree"
        return PairEquality(None, None, None, None, n, pairs, reason=reason)
    if n_common.min() * min(rate, 1 - rate) < LEAST_EXPECTED:
        return PairEquality(None, None, None, None, n, pairs, reason=TOO_FEW)
    seen = ~np.isnan(wide[:, first] + wide[:, second])
    agree = (wide[:, first] == wide[:, second]).astype(float)
    terms = (agree - rate * seen) / n_common
    contrasts = terms - terms @ np.tile(n_common[:, None] / n_common.sum(), len(pairs))
    values, vectors = np.linalg.eigh(contrasts.T @ contrasts * n / (n - 1))
    kept = values > _NOTHING * values.max()
    k = int(kept.sum())
    if k >= n:
        return PairEquality(None, None, None, None, n, pairs, reason=TOO_FEW)
    way = vectors[:, kept].T @ (n_agree / n_common - rate)
    statistic = float((way**2 / values[kept]).sum()) * (n - k) / (k * (n - 1))
    p = float(special.fdtrc(k, n - k, statistic))
    contrast = _explained(raters, wide, first, second, agree, seen, rate, level) if p <= 1 - level + 1e-12 else None
    return PairEquality(statistic, k, n - k, p, n, pairs, contrast)


def _explained(
    raters: Sequence[str],
    wide: Floats,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    agree: Floats,
    seen: Bools,
    rate: float,
    level: float,
) -> Contrast | None:
    """Return the division that explains most, or None if it is not significant after correction for all divisions."""
    n, best, most, z = len(wide), None, 0.0, 0.0
    groups, n_tried = _divisions(len(raters), first, second, agree, seen, rate)
    for kind, members in groups:
        inside = np.isin(first, members).astype(int) + np.isin(second, members)
        is_within = {PAIR: inside == 2, RATER: inside == 0, GROUPS: inside != 1}[kind]
        if is_within.all() or not is_within.any():
            continue
        sides = [(agree[:, side].sum(axis=1), seen[:, side].sum(axis=1)) for side in (is_within, ~is_within)]
        (a, s), (b, t) = sides
        share, other_share = a.sum() / s.sum(), b.sum() / t.sum()
        # The division is the one that explains most of the differences between pairs (sum of squares).
        explained = s.sum() * (share - rate) ** 2 + t.sum() * (other_share - rate) ** 2
        if (kind != GROUPS or share > other_share) and explained > most:
            terms = (a - rate * s) / s.sum() - (b - rate * t) / t.sum()
            z = abs(share - other_share) / np.sqrt((terms**2).sum() * n / (n - 1))
            best, most = (kind, members, is_within, sides), explained
    p = min(1.0, 2 * float(special.stdtr(n - 1, -z)) * n_tried)
    if best is None or p > 1 - level:
        return None
    kind, members, is_within, sides = best
    within, across = (_share(x, m, level) for x, m in sides)
    shares = [_shares(wide[:, rater]) for rater in range(len(raters))]
    chance = [float((shares[i] * shares[j]).sum()) for i, j in zip(first[~is_within], second[~is_within], strict=True)]
    each: list[Estimate | None] = [None, None]
    if kind == GROUPS:
        for place, one in enumerate((members, [r for r in range(len(raters)) if r not in members])):
            of_one = np.isin(first, one) & np.isin(second, one)
            each[place] = _share(agree[:, of_one].sum(axis=1), seen[:, of_one].sum(axis=1), level)
    chosen = tuple(str(raters[r]) for r in members)
    others = tuple(str(raters[r]) for r in range(len(raters)) if r not in members)
    weight = seen[:, ~is_within].sum(axis=0)
    return Contrast(kind, chosen, others, within, across, p, float(np.average(chance, weights=weight)), *each)


def _divisions(
    n_raters: int, first: NDArray[np.int64], second: NDArray[np.int64], agree: Floats, seen: Bools, rate: float
) -> tuple[list[tuple[str, list[int]]], int]:
    """Return the divisions to try, and the number of divisions to correct for."""
    found: list[tuple[str, list[int]]] = [(PAIR, [int(i), int(j)]) for i, j in zip(first, second, strict=True)]
    if n_raters > 3:  # of three raters, a pair against the other pairs is one rater against the rest
        found += [(RATER, [r]) for r in range(n_raters)]
    if n_raters <= MOST_ENUMERATED:
        found += [(GROUPS, members) for members in _bipartitions(n_raters)]
        return found, len(found)
    excess = np.zeros((n_raters, n_raters))
    excess[first, second] = excess[second, first] = (agree - rate * seen).sum(axis=0)
    lead = np.linalg.eigh(excess)[1][:, -1]
    members = np.flatnonzero(lead > 0).tolist()
    if 2 <= len(members) <= n_raters - 2:
        found.append((GROUPS, members))
    return found, len(found) + 2 ** (n_raters - 1)


def _bipartitions(n_raters: int) -> Iterator[list[int]]:
    """Yield the group with the first rater, for each division into two groups of at least two."""
    for size in range(1, n_raters - 2):
        for others in combinations(range(1, n_raters), size):
            yield [0, *others]


def _share(x: Floats, m: Floats, level: float) -> Estimate:
    """Return sum(x) / sum(m) over items, with Wilson's interval if each item has at most one pair."""
    if not m.sum():
        return Estimate(None, reason="no common items")
    if m.max() <= 1:
        return wilson(int(x.sum()), int(m.sum()), level)
    x, m = x[m > 0], m[m > 0]
    value = float(x.sum() / m.sum())
    return linearised(value, value + (x - value * m) / m.mean(), level, lowest=0.0)


def _shares(codes: Floats) -> Floats:
    """Return the share of each category among the labels of one rater."""
    given = codes[~np.isnan(codes)].astype(int)
    return np.bincount(given, minlength=64) / max(len(given), 1)
