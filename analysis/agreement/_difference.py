"""Compare the agreement of two studies or rounds, for example before and after calibration."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from analysis.agreement._coefficients import FORMULAS, Categories, fleiss_kappa
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, checked_level
from analysis.results import Result
from analysis.tables import Floats, count_table


@dataclass(frozen=True, repr=False)
class AgreementDifference(Result):
    """A coefficient of two label tables, and their difference."""

    first: Estimate
    second: Estimate
    difference: Estimate  # second - first
    n_common: int  # number of items with at least two labels in both tables; the comparison is paired by these items
    p: float | None  # two-sided p of equal coefficients; None if the difference has no standard error


def compare_agreement(
    first: pd.DataFrame,
    second: pd.DataFrame,
    coefficient: Callable[..., Estimate] = fleiss_kappa,
    categories: Categories = CATEGORIES,
    *,
    level: float = 0.95,
) -> AgreementDifference:
    """Compare a coefficient of agreement between two label tables.

    Items that are in both tables are paired: their linear terms are correlated, which usually makes the interval of the
    difference narrower. Without common items, the two tables are independent. The interval of the difference is
    square-and-add of both intervals with this correlation [1]_, so that it also holds with few items.

    Raises ValueError if a label table is invalid, or `coefficient` is not a coefficient of a count table.

    Parameters
    ----------
    first, second : DataFrame
        Label tables: columns item, rater, category. Equal item names mean the same item.
    coefficient : callable
        `fleiss_kappa`, `percent_agreement`, `krippendorff_alpha`, `gwet_ac1` or `brennan_prediger`.

    Returns
    -------
    AgreementDifference
        Undefined if a coefficient is undefined; there is no interval if a coefficient has none.

    References
    ----------
    .. [1] Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095

    Examples
    --------
    >>> rows = [(i, r, CATEGORIES[(i + (r == "b") * (i % 3 == 0)) % 2]) for i in range(60) for r in "ab"]
    >>> before = pd.DataFrame(rows, columns=["item", "rater", "category"])
    >>> after = before.assign(category=before["category"].where(before["item"] > 30, "similar"))
    >>> compared = compare_agreement(before, after)
    >>> compared.n_common, round(compared.difference.value, 2)
    (60, 0.26)
    """
    if coefficient not in FORMULAS:
        raise ValueError(f"coefficient must be one of: {', '.join(f.__name__ for f in FORMULAS)}; got {coefficient!r}")
    tables = [count_table(table, categories) for table in (first, second)]
    tables = [table[table.sum(axis=1) >= 2] for table in tables]
    a, b = (coefficient(table.to_numpy(), categories, level=level) for table in tables)
    common = tables[0].index.intersection(tables[1].index)
    if a.value is None or b.value is None:
        return AgreementDifference(a, b, Estimate(None, reason=a.reason or b.reason), len(common), None)
    value = b.value - a.value
    if a.ends is None or b.ends is None:
        return AgreementDifference(a, b, Estimate(value, reason=a.reason or b.reason), len(common), None)
    terms = [_terms(coefficient, table.to_numpy(dtype=float)) for table in tables]
    covariance = 0.0
    if len(common):
        of_common = (
            pd.Series(x, index=table.index).loc[common].to_numpy() / len(table)
            for x, table in zip(terms, tables, strict=True)
        )
        x, y = of_common
        covariance = float((x * y).sum())
    variances = [float((x**2).sum()) / len(x) ** 2 for x in terms]
    rho = covariance / (variances[0] * variances[1]) ** 0.5 if min(variances) > 0 else 0.0
    rho = float(np.clip(rho, -1.0, 1.0))
    (pa, la, ua), (pb, lb, ub) = a.ends, b.ends
    below = (pb - lb) ** 2 - 2 * rho * (pb - lb) * (ua - pa) + (ua - pa) ** 2
    above = (ub - pb) ** 2 - 2 * rho * (ub - pb) * (pa - la) + (pa - la) ** 2
    checked_level(level)
    if a.se is None or b.se is None:
        estimate = Estimate(value, low=value - max(below, 0.0) ** 0.5, high=value + max(above, 0.0) ** 0.5)
        return AgreementDifference(a, b, estimate, len(common), None)
    se = max(a.se**2 + b.se**2 - 2 * rho * a.se * b.se, 0.0) ** 0.5
    estimate = Estimate(value, se, value - max(below, 0.0) ** 0.5, value + max(above, 0.0) ** 0.5)
    df = min(len(table) for table in tables) - 1
    p = float(2 * special.stdtr(df, -abs(value) / se)) if se else None
    return AgreementDifference(a, b, estimate, len(common), p)


def _terms(coefficient: Callable[..., Estimate], r: Floats) -> Floats:
    """Return the deviations of the linear terms from the coefficient."""
    value, terms = FORMULAS[coefficient](r, np.ones(len(r)), np.eye(r.shape[1]))
    return terms - float(value)
