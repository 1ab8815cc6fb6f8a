"""Test whether raters place the same items equally far up a scale of ordered categories."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from analysis.agreement._coefficients import Categories
from analysis.results import Result
from analysis.tables import wide_labels


@dataclass(frozen=True, repr=False)
class RankTest(Result):
    """Test that all raters use a scale alike on the same items."""

    # For each rater, the mean over split items of 2 (rank - mean rank) / number of labels, in (-1, 1): above 0,
    # the rater chooses later categories than the other raters of the same items. None without a split item.
    mean_ranks: dict[str, float | None]
    chi2: float | None  # the test statistic; like df and p, None if the test is undefined
    df: int | None
    p: float | None
    n_split: int  # Number of items on which raters differ. Only these items contain information.
    reason: str | None = None  # why there is no test


def rank_test(labels: pd.DataFrame, categories: Categories) -> RankTest:
    """Rank the labels of each item and compare the rank sums of the raters [1]_, for any number of labels per item.

    For complete data without ties, it is Friedman's test; for two categories, it is Cochran's Q.

    `labels`: label table: columns item, rater, category; at most one label per (item, rater); `categories`: the
    declared categories in their order. The result is undefined if raters do not differ on any item.

    References
    ----------
    .. [1] Prentice (1979), Biometrika 66:167-170, doi:10.1093/biomet/66.1.167

    Examples
    --------
    >>> labels = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "rater": ["ada", "ben"] * 3, "category": list("abacbb")})
    >>> round(rank_test(labels, list("abc")).p, 4)
    0.1573
    """
    from scipy import stats  # imported here, because coefficients need no tests

    raters, codes = wide_labels(labels, categories)
    split = codes[[len(np.unique(row[~np.isnan(row)])) > 1 for row in codes]] if len(codes) else codes
    sums, covariance, scores = np.zeros(len(raters)), np.zeros((len(raters), len(raters))), np.full(split.shape, np.nan)
    for row, out in zip(split, scores, strict=True):
        of = np.flatnonzero(~np.isnan(row))
        m = len(of)
        a = 2 / m * (stats.rankdata(row[of]) - (m + 1) / 2)
        out[of], sums[of] = a, sums[of] + a
        covariance[np.ix_(of, of)] += (a @ a) / (m - 1) * (np.eye(m) - 1 / m)
    means = {
        name: float(np.nanmean(column)) if (~np.isnan(column)).any() else None
        for name, column in zip(raters, scores.T, strict=True)
    }
    if not len(split):
        return RankTest(means, None, None, None, 0, "raters do not differ on any item")
    df = int(np.linalg.matrix_rank(covariance))
    chi2 = float(sums @ np.linalg.pinv(covariance, hermitian=True) @ sums)
    return RankTest(means, chi2, df, float(special.chdtrc(df, chi2)), len(split))
