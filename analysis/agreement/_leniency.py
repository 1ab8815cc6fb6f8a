"""Measure leniency: does a reviewer choose *dissimilar* more often than others on the same items?"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from analysis.agreement import _conditional as conditional
from analysis.agreement._coefficients import Categories
from analysis.agreement._conditional import Fit, Informative
from analysis.agreement._pairs import TwoByTwo, bias_index, tables_of, two_by_two
from analysis.categories import CATEGORIES
from analysis.evaluation import McNemar, mcnemar
from analysis.intervals import Estimate, checked_level, wilson
from analysis.multiple import holm
from analysis.results import Result
from analysis.tables import Floats, positive_category, wide_labels

NEVER_DIFFERS = "this rater does not differ from another rater on any item"
LIKELIHOOD_RATIO, SCORE = "likelihood ratio", "score"


@dataclass(frozen=True, repr=False)
class RaterLeniency(Result):
    """How often a rater chooses dissimilar (or another positive category)."""

    rater: str
    n: int  # number of labels
    # Share of dissimilar labels with Wilson's interval. Raters who saw different items cannot be compared by this
    # share.
    dissimilar: Estimate
    # Leniency on the same items: log odds of dissimilar relative to the mean of the connected raters.
    log_odds: Estimate


@dataclass(frozen=True, repr=False)
class PairLeniency(Result):
    """The leniency of two raters on the items that both labelled."""

    a: str
    b: str
    # `b` counts the items that only rater a calls dissimilar, `c` the items that only rater b calls dissimilar.
    table: TwoByTwo
    difference: Estimate  # share of dissimilar labels of rater a minus the share of rater b
    mcnemar: McNemar
    p_holm: float  # the mid-p value of McNemar's test after Holm's correction for all pairs


@dataclass(frozen=True, repr=False)
class LeniencyTest(Result):
    """Test of the hypothesis that all raters are equally lenient on the same items."""

    # "likelihood ratio", or "score" if the best-fitting leniency of a rater is infinite; None if there is no
    # test.
    test: str | None
    chi2: float | None  # None if the test is undefined; `reason` then says why
    df: int | None
    p: float | None
    n_split: int  # Number of items on which raters differ. Only these items contain information.
    reason: str | None = None  # why there is no test, or what the test leaves out


@dataclass(frozen=True, repr=False)
class Leniency(Result):
    """The leniency of each rater and of each pair of raters, and the overall test."""

    rows_of = "raters"

    raters: tuple[RaterLeniency, ...]
    pairs: tuple[PairLeniency, ...]
    overall: LeniencyTest


def leniency(
    labels: pd.DataFrame,
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> Leniency:
    """Compare how often raters choose dissimilar, for each rater, for each pair (McNemar [1]_) and overall.

    The overall test is the likelihood ratio test of a conditional logit model with items as strata [2]_. With R raters,
    it has R - 1 degrees of freedom. If the raters form C sets that have no split items in common, it has R - C degrees
    of freedom.

    If a rater differs from others in only one direction, the best-fitting leniency is infinite [3]_. In this case, the
    score test of the same hypothesis is used; for complete data, this test is Cochran's Q [4]_.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category; at most one label per (item, rater).
    categories : sequence of hashable
        The declared categories.
    positive : hashable, optional
        The positive category; by default the last of two, required if there are more.
    level : float
        Confidence level of all intervals.

    Returns
    -------
    Leniency
        Raters are sorted by name. Pairs without a common item are left out. A pair that agrees on every item has p = 1.

    Raises
    ------
    ValueError
        If the label table is invalid (`analysis.tables.checked_labels`), or `positive` is not one of the categories.

    References
    ----------
    .. [1] McNemar (1947), Psychometrika 12:153-157, doi:10.1007/BF02295996
    .. [2] Andersen (1970), J. R. Stat. Soc. B 32:283-301, doi:10.1111/j.2517-6161.1970.tb00842.x
    .. [3] Fischer (1981), Psychometrika 46:59-77, doi:10.1007/BF02293919
    .. [4] Cochran (1950), Biometrika 37:256-266, doi:10.1093/biomet/37.3-4.256

    Examples
    --------
    >>> labels = pd.DataFrame({"item": [1, 2, 3, 4] * 2, "rater": ["ada"] * 4 + ["ben"] * 4,
    ...     "category": ["dissimilar"] * 3 + ["similar"] * 4 + ["dissimilar"]})
    >>> leniency(labels).pairs[0].mcnemar.p
    0.625
    """
    names, codes = wide_labels(labels, categories)
    k = list(categories).index(positive_category(categories, positive))
    y = np.where(np.isnan(codes), np.nan, codes == k)
    data = conditional.informative(y)
    fit = conditional.maximise(data) if data.has_maximum else None
    shares = [wilson(float(np.nansum(column)), int((~np.isnan(column)).sum()), level) for column in y.T]
    raters = tuple(
        RaterLeniency(name, int((~np.isnan(column)).sum()), share, log_odds)
        for name, column, share, log_odds in zip(names, y.T, shares, _log_odds(data, fit, level), strict=True)
    )
    return Leniency(raters, _pairs(names, y, level), _overall(data, fit, names))


def _pairs(raters: Sequence[str], y: Floats, level: float) -> tuple[PairLeniency, ...]:
    tables = {pair: two_by_two(cells) for pair, cells in tables_of(raters, y, 2).items()}
    tests = [mcnemar(table.b, table.c) for table in tables.values()]
    corrected = holm([test.p_mid for test in tests])
    return tuple(
        PairLeniency(a, b, table, bias_index(table, level=level), test, p if p is not None else test.p_mid)
        for ((a, b), table), test, p in zip(tables.items(), tests, corrected, strict=True)
    )


def _overall(data: Informative, fit: Fit | None, raters: Sequence[str]) -> LeniencyTest:
    n_split = len(data.y)
    if n_split == 0:
        return LeniencyTest(None, None, None, None, 0, "raters do not differ on any item")
    test, chi2 = (SCORE, conditional.score_chi2(data)) if fit is None else (LIKELIHOOD_RATIO, fit.chi2)
    n_sets, _ = data.components
    chi2, df = max(chi2, 0.0), len(raters) - n_sets
    return LeniencyTest(test, chi2, df, float(special.chdtrc(df, chi2)), n_split, _left_out(data, raters))


def _left_out(data: Informative, raters: Sequence[str]) -> str | None:
    """Describe which raters the overall test leaves out, or why another test replaces it; None if neither applies."""
    never = [rater for rater, compared in zip(raters, _compared(data), strict=True) if not compared]
    n_sets = data.components[0] - len(never)
    reasons = [f"raters who do not differ from others on any item are left out: {', '.join(never)}"] if never else []
    if n_sets > 1:
        reasons.append(
            f"the raters form {n_sets} separate sets without common split items; raters are compared only within a set"
        )
    if not data.has_maximum:
        reasons.append(
            "score test, because some raters differ from others in one direction only and the best fit is infinite"
        )
    return "; ".join(reasons) or None


def _log_odds(data: Informative, fit: Fit | None, level: float) -> list[Estimate]:
    compared = _compared(data)
    if fit is None:
        one_way = "some raters differ from others in only one direction, so there is no finite estimate"
        return [Estimate(None, reason=one_way if involved else NEVER_DIFFERS) for involved in compared]
    se = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))  # rounding can leave a value such as -1e-18
    half = float(special.ndtri((1 + checked_level(level)) / 2)) * se
    return [
        Estimate(float(b), float(s), float(b - h), float(b + h)) if involved else Estimate(None, reason=NEVER_DIFFERS)
        for b, s, h, involved in zip(fit.beta, se, half, compared, strict=True)
    ]


def _compared(data: Informative) -> list[bool]:
    """Return which raters differ from another rater on at least one item."""
    involved: list[bool] = (data.against.sum(axis=0) + data.against.sum(axis=1) > 0).tolist()
    return involved
