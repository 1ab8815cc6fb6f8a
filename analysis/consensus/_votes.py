"""Determine the consensus by counting labels. An item gets one category or no category."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.categories import CATEGORIES
from analysis.tables import count_table

AGREED, SPLIT, INCOMPLETE = "agreed", "split", "incomplete"
MAJORITY, ADJUDICATED = "majority", "adjudicated"


def agreed_only(labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the consensus as the paper defines it: the category of each item whose first labels are all equal.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels (fresh and overlap only): columns item, rater, category.
    categories : sequence of str
        The declared categories.

    Returns
    -------
    DataFrame
        Indexed by item, with the columns `status`, `category` (None unless agreed) and `n_labels`. An item is "agreed"
        if it has at least two labels and all are equal, "split" if it has at least two labels that are not all equal,
        and "incomplete" if it has fewer than two labels.

    Raises
    ------
    ValueError
        If the label table is invalid (`analysis.tables.checked_labels`).

    References
    ----------
    Bauer et al. (2023), ICPE '23 Companion, doi:10.1145/3578245.3584693

    Examples
    --------
    >>> labels = pd.DataFrame({"item": ["a", "a", "b"], "rater": ["ada", "ben", "ada"], "category": ["similar"] * 3})
    >>> agreed_only(labels)["status"].to_dict()
    {'a': 'agreed', 'b': 'incomplete'}
    """
    counts = count_table(labels, categories)
    n_labels = counts.sum(axis=1)
    status = np.where(n_labels < 2, INCOMPLETE, np.where(counts.max(axis=1) == n_labels, AGREED, SPLIT))
    return _table(counts, status, AGREED)


def majority(
    labels: pd.DataFrame,
    third_labels: pd.DataFrame | None = None,
    decisions: Mapping[object, str] | None = None,
    categories: Sequence[str] = CATEGORIES,
) -> pd.DataFrame:
    """Return the majority of the first and third labels of each item, or the adjudicated category.

    The rules apply in this order. If an item was adjudicated, the decision counts. If an item has fewer than two
    labels, there is no majority. A category with more than half of the labels is the majority. If there is a tie, the
    item stays split until someone adjudicates it.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels: columns item, rater, category.
    third_labels : DataFrame, optional
        Label table of third labels, by raters without a first label on the item.
    decisions : mapping of item to str, optional
        Adjudicated categories. Items without a label are added.
    categories : sequence of str
        The declared categories.

    Returns
    -------
    DataFrame
        Indexed by item, with the columns `status`, `category` and `n_labels` (number of first and third labels). The
        status is "adjudicated" (a person decided), "majority", "split" (at least two labels, but no category has more
        than half) or "incomplete" (fewer than two labels). The category of split and incomplete items is None.

    Raises
    ------
    ValueError
        If a label table is invalid, a rater has both a first and a third label on an item, or a decision is not one of
        the categories.

    Examples
    --------
    >>> labels = pd.DataFrame({"item": ["a", "a"], "rater": ["ada", "ben"], "category": ["similar", "dissimilar"]})
    >>> third = pd.DataFrame({"item": ["a"], "rater": ["cleo"], "category": ["similar"]})
    >>> majority(labels, third)["category"].to_dict()
    {'a': 'similar'}
    >>> majority(labels, third, {"a": "dissimilar"})["status"].to_dict()
    {'a': 'adjudicated'}
    """
    decided = pd.Series(dict(decisions or {}), dtype=object)
    unknown = decided[~decided.isin(list(categories))]
    if len(unknown):
        raise ValueError(
            f"decision {unknown.iloc[0]!r} (item {unknown.index[0]!r}) is not one of: {', '.join(categories)}"
        )
    tables = [labels] if third_labels is None else [labels, third_labels]
    counts = count_table(pd.concat([rows for rows in tables if len(rows)] or [labels], ignore_index=True), categories)
    extra = [item for item in decided.index if item not in counts.index]
    counts = counts.reindex(pd.Index([*counts.index, *extra], name="item"), fill_value=0)
    n_labels, top = counts.sum(axis=1), counts.max(axis=1)
    table = _table(counts, np.where(n_labels < 2, INCOMPLETE, np.where(2 * top > n_labels, MAJORITY, SPLIT)), MAJORITY)
    table.loc[decided.index, "status"] = ADJUDICATED
    table.loc[decided.index, "category"] = decided
    return table


def _table(counts: pd.DataFrame, status: NDArray[np.str_], with_category: str) -> pd.DataFrame:
    """Build the table of a consensus: status, category and number of labels of each item."""
    top = counts.idxmax(axis=1) if len(counts) else pd.Series(dtype=object)
    category = top.astype(object).where(status == with_category, None)
    columns = {"status": status, "category": category, "n_labels": counts.sum(axis=1)}
    return pd.DataFrame(columns, index=counts.index)
