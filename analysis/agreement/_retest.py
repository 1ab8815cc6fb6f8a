"""Measure test-retest agreement: how often a reviewer gives the same label to the same item again."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement._coefficients import Categories
from analysis.agreement._pairs import cohen_kappa, pair_table
from analysis.agreement._two_by_two import TwoByTwo, bias_index, pabak_of, two_by_two
from analysis.categories import CATEGORIES
from analysis.evaluation import McNemar, mcnemar
from analysis.intervals import Estimate, wilson
from analysis.results import Result
from analysis.tables import Floats, checked_columns, positive_category


@dataclass(frozen=True, repr=False)
class RetestAgreement(Result):
    """Agreement of a rater's first and second labels on the same items.

    Attributes
    ----------
    rater : str
    n : int
    table : TwoByTwo
        `b` counts the items whose first label only is dissimilar, `c` the items whose second label only is dissimilar.
    percent, cohen_kappa, pabak : Estimate
    drift : McNemar
        Test of the hypothesis that the rater's strictness did not change.
    change : Estimate
        Share of dissimilar second labels minus share of dissimilar first labels.
    """

    rater: str
    n: int
    table: TwoByTwo
    percent: Estimate
    cohen_kappa: Estimate
    pabak: Estimate
    drift: McNemar
    change: Estimate


def retest_agreement(
    pairs: pd.DataFrame,
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> list[RetestAgreement]:
    """Compute the agreement between each rater's first and second labels (test-retest agreement).

    Parameters
    ----------
    pairs : DataFrame
        One row per item labelled twice by the same rater: columns rater, first, second.
    categories : sequence of hashable
        The declared categories.
    positive : hashable, optional
        The category of `table`, `drift` and `change`; by default the last of two, required if there are more.
    level : float
        Confidence level; the interval of the share is Wilson's.

    Returns
    -------
    list of RetestAgreement
        Sorted by rater; raters without a pair are left out. Kappa is undefined if only one category was used.

    Raises
    ------
    ValueError
        If a column or an entry is missing, or a label is not one of the categories.

    Examples
    --------
    >>> pairs = pd.DataFrame({"rater": "ada", "first": ["similar", "dissimilar"], "second": ["similar", "similar"]})
    >>> retest_agreement(pairs)[0].percent.value
    0.5
    """
    table = checked_columns(pairs, ("rater", "first", "second"), "retest table")
    k = tuple(categories).index(positive_category(categories, positive))
    rows = table.groupby("rater", sort=True)[["first", "second"]]
    return [_of_rater(str(rater), pair_table(labels.to_numpy(object), categories), k, level) for rater, labels in rows]


def _of_rater(rater: str, cells: Floats, k: int, level: float) -> RetestAgreement:
    table = two_by_two(cells, k)
    percent = wilson(int(np.trace(cells)), table.n, level)
    return RetestAgreement(
        rater=rater,
        n=table.n,
        table=table,
        percent=percent,
        cohen_kappa=cohen_kappa(cells, level=level),
        pabak=pabak_of(percent, len(cells)),
        drift=mcnemar(table.b, table.c),
        change=bias_index(TwoByTwo(table.a, table.c, table.b, table.d), level=level),
    )
