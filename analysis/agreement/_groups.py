"""Compute agreement by group of labels, for example by application, kind, position, date or time on task."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement._coefficients import ONE_CATEGORY, Categories, fleiss_kappa, percent_agreement, too_few_rare
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, linearised, one_sided, wilson
from analysis.results import Result
from analysis.tables import Floats, checked_labels, positive_category

NO_POSITIVE = "there is no positive category"
LEAST_ITEMS = 10  # a kappa of fewer items says nothing


@dataclass(frozen=True, repr=False)
class GroupAgreement(Result):
    """Agreement of the labels in one group with all other labels of the same items."""

    group: object  # the value of the column
    n_items: int  # Number of items and number of labels. Both count only items that have another label.
    n_labels: int
    # Share of the positive category (dissimilar) among all labels of the group, with Wilson's interval.
    dissimilar: Estimate
    percent: Estimate
    kappa: Estimate


def by_group(
    labels: pd.DataFrame,
    column: str,
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> list[GroupAgreement]:
    """Compute percent agreement and kappa of each group of labels.

    The agreement of a label is the share of equal labels among the other labels of the same item. `percent` is the mean
    of these shares. Each label has weight 1 / r_i, where r_i is the number of labels of the item. An item whose labels
    are all in the group therefore has weight 1. Chance agreement compares the group's labels with the other labels of
    their items, and kappa is (pa - pe) / (1 - pe).

    If the column describes items, such as the application, the results are percent agreement and Fleiss' kappa of the
    group. Items with only one label are then left out. If the column describes labels, such as the position, the other
    labels of an item can be in another group. Raises ValueError if the label table is invalid, or `column` is missing.

    `labels`: label table: columns item, rater, category and `column`; at most one label per (item, rater). Labels with
    a missing value in `column` belong to no group, but other labels are still compared with them. `column`: column that
    defines the groups; `positive`: the category whose share is computed; by default the last of two. Of more
    categories, there is no default, and without it the share is undefined. `level`: confidence level. If the column
    describes items, the intervals are those of `percent_agreement` and `fleiss_kappa`. Otherwise, they are linearised
    over items [1]_ with n_items - 1 degrees of freedom. Returns one entry per value of `column`, sorted by value. An
    entry is undefined if no item of the group has another label; kappa is also undefined if only one category was used,
    or if the group has fewer than 10 items.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> labels = pd.DataFrame({"item": ["a", "a", "b", "b"], "rater": ["ada", "ben"] * 2, "kind": ["fresh"] * 4,
    ...                        "category": ["similar", "similar", "similar", "dissimilar"]})
    >>> by_group(labels, "kind")[0].percent.value
    0.5
    """
    if column not in labels.columns:
        raise ValueError(f"label table lacks the column {column}; it has {', '.join(map(str, labels))}")
    table = _partnered(labels, categories)
    if positive is None and len(categories) > 2:
        table["positive"] = np.nan
    else:
        table["positive"] = table["k"] == list(categories).index(positive_category(categories, positive))
    return [
        _of_group(group, table.loc[rows.index], len(categories), level)
        for group, rows in table.assign(group=labels[column].to_numpy()).groupby("group", sort=True)
    ]


def by_order(
    labels: pd.DataFrame,
    column: str = "position",
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    n_bins: int = 3,
    level: float = 0.95,
) -> list[GroupAgreement]:
    """Sort each rater's labels by a column, divide them into equal parts, and compute the agreement of each part.

    Raises ValueError as in `by_group`, or if `n_bins` is below 2.

    `column`: column to sort by: position, time, or time on task (fastest labels first); `n_bins`: number of parts, >=
    2: 3 for tertiles, 10 for deciles. Returns one entry per part, 1 to `n_bins`; parts without labels are left out.
    """
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, got {n_bins}")
    checked_labels(labels, categories)
    if column not in labels.columns:
        raise ValueError(f"label table lacks the column {column}; it has {', '.join(map(str, labels))}")
    of_rater = in_order(labels[column]).groupby(labels["rater"])
    part = np.ceil(of_rater.rank() * n_bins / of_rater.transform("count"))
    return by_group(labels.assign(part=part.astype("Int64")), "part", categories, positive=positive, level=level)


def in_order(values: pd.Series) -> pd.Series:
    """Return the rank of each value among the distinct numbers, times or texts; NaN for a missing value."""
    rank = {value: i for i, value in enumerate(sorted(values.dropna().unique()))}
    return values.map(rank).astype(float)


def partner_agreement(labels: pd.DataFrame, categories: Categories = CATEGORIES) -> pd.Series:
    """Return the agreement of each label: the share of equal labels among the other labels of the same item.

    Raises ValueError if the label table is invalid (`analysis.tables.checked_labels`).

    The result is in [0, 1], with the index of `labels`; missing if the item has no other label.
    """
    table = _partnered(labels, categories)
    agreement: pd.Series = table["agreement"].where(table["r_i"] >= 2).set_axis(labels.index)
    return agreement


def _partnered(labels: pd.DataFrame, categories: Categories) -> pd.DataFrame:
    """Return a table with one row per label: item, category, r_i, counts of the item's other labels, agreement."""
    table = checked_labels(labels, categories)
    item = pd.factorize(table["item"])[0]
    k = table["category"].map({name: k for k, name in enumerate(categories)}).to_numpy(dtype=np.int64)
    q, n_items = len(categories), int(item.max(initial=-1)) + 1
    counts = np.bincount(item * q + k, minlength=n_items * q).reshape(n_items, q)
    partners = counts[item] - np.eye(q, dtype=np.int64)[k]
    n_partners = partners.sum(axis=1)
    equal = partners[np.arange(len(k)), k]
    columns = {
        "item": item,
        "k": k,
        "r_i": n_partners + 1,
        "agreement": equal / np.maximum(n_partners, 1),
    }
    return pd.DataFrame(columns | {f"partner_{j}": partners[:, j] / np.maximum(n_partners, 1) for j in range(q)})


def _of_group(group: object, table: pd.DataFrame, q: int, level: float) -> GroupAgreement:
    is_known = bool(table["positive"].notna().all())
    share = (
        wilson(float(table["positive"].sum()), len(table), level) if is_known else Estimate(None, reason=NO_POSITIVE)
    )
    shared = table[table["r_i"] >= 2]
    if not len(shared):
        undefined = Estimate(None, reason="the items of this group have no other labels")
        return GroupAgreement(group, 0, 0, share, undefined, undefined)
    number, _ = pd.factorize(shared["item"])
    weight = 1 / shared["r_i"].to_numpy()
    own = np.eye(q)[shared["k"].to_numpy()]
    partner = shared[[f"partner_{j}" for j in range(q)]].to_numpy()
    agreement = shared["agreement"].to_numpy()
    columns = np.column_stack([np.ones(len(shared)), agreement, own, partner]) * weight[:, None]
    sums = np.zeros((number.max() + 1, columns.shape[1]))
    np.add.at(sums, number, columns)
    few = Estimate(None, reason=f"fewer than {LEAST_ITEMS} items ({len(sums)})") if len(sums) < LEAST_ITEMS else None
    if np.allclose(sums[:, 0], 1):  # the group contains all labels of its items
        counts = np.zeros((len(sums), q))
        np.add.at(counts, number, own)
        percent, kappa = percent_agreement(counts, level=level), few or fleiss_kappa(counts, level=level)
    else:
        w, a, p, s = sums[:, 0], sums[:, 1], sums[:, 2 : 2 + q], sums[:, 2 + q :]
        percent, kappa = _percent(a, w, level), few or _kappa(a, w, p, s, level)
    return GroupAgreement(group, len(sums), len(shared), share, percent, kappa)


def _percent(a: Floats, w: Floats, level: float) -> Estimate:
    """Return the mean of `a` over items divided by the mean of `w` over items, with a linearised interval."""
    pa = float(a.sum() / w.sum())
    if pa == 1 and len(w) > 1:
        return one_sided(1.0, len(w), "items", level, lowest=0.0)
    return linearised(pa, pa + (a - pa * w) / w.mean(), level, lowest=0.0)


def _kappa(a: Floats, w: Floats, own: Floats, partner: Floats, level: float) -> Estimate:
    """Return kappa, (pa - pe) / (1 - pe), with an interval linearised over items.

    `own` and `partner` contain the weights of the labels of the group, and of the other labels, by category.
    """
    pa, p, s = a.sum() / w.sum(), own.sum(axis=0) / w.sum(), partner.sum(axis=0) / w.sum()
    pe = float(p @ s)
    if 1 - pe < 1e-12:
        return Estimate(None, reason=ONE_CATEGORY)
    kappa = float((pa - pe) / (1 - pe))
    few = too_few_rare((own + partner < 2 * w[:, None] - 1e-9).sum(axis=0))
    if few is not None:
        return Estimate(kappa, reason=few)
    if kappa > 1 - 1e-12:
        return one_sided(1.0, len(w), "items", level, scale=float(1 / (1 - pe)))
    pe_i = (own - np.outer(w, p)) @ s + (partner - np.outer(w, s)) @ p
    return linearised(kappa, kappa + (a - pa * w - (1 - kappa) * pe_i) / (w.mean() * (1 - pe)), level)
