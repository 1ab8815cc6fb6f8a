"""Compute agreement if reviewers are a random sample, and agreement if missing labels are filled in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from analysis.agreement._coefficients import Categories, fleiss_kappa
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, checked_level
from analysis.results import Result
from analysis.tables import checked_columns, count_table

LEAST_RATERS = 3


@dataclass(frozen=True, repr=False)
class IfGiven(Result):
    """A coefficient that is computed after all missing labels are set to the same category.

    Attributes
    ----------
    category : str
    n : int
        Number of labels that were added.
    value : Estimate
    """

    category: str
    n: int
    value: Estimate


def jackknife_over_raters(
    labels: pd.DataFrame,
    coefficient: Callable[..., Estimate] = fleiss_kappa,
    categories: Categories = CATEGORIES,
    *,
    level: float = 0.95,
) -> Estimate:
    """Compute a coefficient with an interval that covers new raters and new items (Gwet's unconditional variance [1]_).

    The variance is the sum of two parts: the variance over items, as in the ordinary interval, and the jackknife
    variance over raters. With R raters, the jackknife variance is (R - 1) / R sum (k_(-r) - mean)^2, where k_(-r) is
    the coefficient without rater r.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category.
    coefficient : callable
        `fleiss_kappa` or another coefficient of a count table.
    categories : sequence of hashable
        The declared categories.
    level : float
        Confidence level (t distribution, R - 1 degrees of freedom).

    Returns
    -------
    Estimate
        The value of the coefficient. There is no interval if there are fewer than three raters, or if the coefficient
        is undefined without one of the raters.

    Raises
    ------
    ValueError
        If the label table is invalid.

    References
    ----------
    .. [1] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 5

    Examples
    --------
    >>> rows = [(i, r, "similar" if (i * r) % 3 else "dissimilar") for i in range(30) for r in (1, 2, 4)]
    >>> labels = pd.DataFrame(rows, columns=["item", "rater", "category"])
    >>> jackknife_over_raters(labels).value == fleiss_kappa(count_table(labels)).value
    True
    """
    whole = coefficient(count_table(labels, categories), level=level)
    raters = sorted(pd.unique(labels["rater"]), key=str)
    if whole.value is None:
        return whole
    if len(raters) < LEAST_RATERS:
        return Estimate(whole.value, reason="fewer than three reviewers")
    without = [coefficient(count_table(labels[labels["rater"] != rater], categories)).value for rater in raters]
    defined = np.array([value for value in without if value is not None])
    if len(defined) < len(raters) or whole.se is None:
        return Estimate(whole.value, reason="the coefficient without one of the reviewers is undefined")
    r = len(raters)
    of_raters = (r - 1) / r * float(((defined - defined.mean()) ** 2).sum())
    se = float(np.sqrt(whole.se**2 + of_raters))
    half = float(special.stdtrit(r - 1, (1 + checked_level(level)) / 2)) * se
    return Estimate(whole.value, se, max(whole.value - half, -1.0), min(whole.value + half, 1.0))


def if_given(
    labels: pd.DataFrame,
    missing: pd.DataFrame,
    coefficient: Callable[..., Estimate] = fleiss_kappa,
    categories: Sequence[str] = CATEGORIES,
    *,
    level: float = 0.95,
) -> list[IfGiven]:
    """Compute a coefficient as if all missing labels had the same category, once for each category.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category.
    missing : DataFrame
        Columns item and rater: assigned raters without a label, for example because of "not sure".
    coefficient : callable
        `fleiss_kappa`, `percent_agreement` or another coefficient of a count table.
    categories : sequence of str
        The declared categories.
    level : float
        Confidence level.

    Returns
    -------
    list of IfGiven
        One entry per category; empty if no label is missing.

    Raises
    ------
    ValueError
        If the label table is invalid.
    """
    given = pd.MultiIndex.from_frame(checked_columns(labels, ("item", "rater"), "label table"))
    asked = checked_columns(missing, ("item", "rater"), "table of missing labels").drop_duplicates()
    asked = asked[~pd.MultiIndex.from_frame(asked).isin(given)]
    if not len(asked):
        return []
    rows = labels[["item", "rater", "category"]]
    return [
        IfGiven(
            str(category),
            len(asked),
            coefficient(
                count_table(pd.concat([rows, asked.assign(category=category)], ignore_index=True), categories),
                level=level,
            ),
        )
        for category in categories
    ]
