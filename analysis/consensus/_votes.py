"""Determine the consensus by counting labels; an item gets one category or none."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.categories import CATEGORIES
from analysis.tables import count_table

AGREED, SPLIT, INCOMPLETE = "agreed", "split", "incomplete"
MAJORITY, ADJUDICATED = "majority", "adjudicated"


def agreed_only(labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the consensus as the paper defines it: the category of items whose first labels are all equal.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels (fresh and overlap only): columns item, rater, category.
    categories : sequence of str
        The declared categories.

    Returns
    -------
    DataFrame
        Indexed by item: `status` (agreed: at least two labels, all equal; split: at least two, not all
        equal; incomplete: fewer than two), `category` (None unless agreed) and `n_labels`.

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
    """Return the category that more than half of the first and third labels of an item have, after adjudication.

    The rules apply in this order. An adjudication takes precedence. With fewer than two labels there is no majority. A
    category with more than half of the labels is the majority. A tie stays split until someone adjudicates it.

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
        Indexed by item: `status` (adjudicated: decided by a person; majority; split: at least two labels,
        none with more than half; incomplete: fewer than two), `category` (None where split or incomplete)
        and `n_labels`, the number of first and third labels.

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
    """Build one row per item: status, most frequent category (if items with this status have one), number of labels."""
    top = counts.idxmax(axis=1) if len(counts) else pd.Series(dtype=object)
    category = top.astype(object).where(status == with_category, None)
    columns = {"status": status, "category": category, "n_labels": counts.sum(axis=1)}
    return pd.DataFrame(columns, index=counts.index)
