"""Does a reviewer agree with themselves?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement._pairs import cohen_kappa
from analysis.agreement._two_by_two import TwoByTwo, bias_index, pabak
from analysis.categories import CATEGORIES, DISSIMILAR
from analysis.evaluation import McNemar, mcnemar
from analysis.intervals import Estimate, wilson


@dataclass(frozen=True)
class RetestAgreement:
    """Agreement of a rater's second labels with the first ones on the same items.

    Attributes
    ----------
    rater : str
    n : int
    table : TwoByTwo
        `b` counts the items dissimilar at first only, `c` those dissimilar at the second time only.
    percent, cohen_kappa, pabak : Estimate
    drift : McNemar
        Test of "the rater became neither stricter nor milder".
    change : Estimate
        Share of dissimilar, second time minus first.
    """

    rater: str
    n: int
    table: TwoByTwo
    percent: Estimate
    cohen_kappa: Estimate
    pabak: Estimate
    drift: McNemar
    change: Estimate


def retest_agreement(pairs: pd.DataFrame, *, level: float = 0.95) -> list[RetestAgreement]:
    """Agreement of each rater's first and second labels (test-retest).

    Parameters
    ----------
    pairs : DataFrame
        One row an item labelled twice by the same rater: columns rater, first, second (similar, dissimilar).
    level : float
        Confidence level; the interval of the share is Wilson's.

    Returns
    -------
    list of RetestAgreement
        Sorted by rater; raters without a pair are left out. Kappa is undefined where one category was used.

    Raises
    ------
    ValueError
        If a column is missing or a label is not one of the two categories.

    Examples
    --------
    >>> pairs = pd.DataFrame({"rater": "ada", "first": ["similar", "dissimilar"], "second": ["similar", "similar"]})
    >>> retest_agreement(pairs)[0].percent.value
    0.5
    """
    missing = [name for name in ("rater", "first", "second") if name not in pairs.columns]
    if missing:
        raise ValueError(f"pairs lack the column {', '.join(missing)}; they have {', '.join(map(str, pairs))}")
    for name in ("first", "second"):
        unknown = pairs[name][~pairs[name].isin(CATEGORIES)]
        if len(unknown):
            raise ValueError(f"{name} label {unknown.iloc[0]!r} is not one of: {', '.join(CATEGORIES)}")
    return [_of_rater(str(rater), rows, level) for rater, rows in pairs.groupby("rater", sort=True)]


def _of_rater(rater: str, rows: pd.DataFrame, level: float) -> RetestAgreement:
    first, second = ((rows[name] == DISSIMILAR).to_numpy() for name in ("first", "second"))
    d, c, b, a = np.bincount(2 * first + second, minlength=4).tolist()
    table = TwoByTwo(a, b, c, d)
    return RetestAgreement(
        rater=rater,
        n=table.n,
        table=table,
        percent=wilson(a + d, table.n, level),
        cohen_kappa=cohen_kappa(table.matrix, level=level),
        pabak=pabak(table, level=level),
        drift=mcnemar(b, c),
        change=bias_index(TwoByTwo(a, c, b, d), level=level),
    )
