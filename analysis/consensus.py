"""From the first labels of an item to one category, or to the statement that there is none."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.categories import CATEGORIES
from analysis.tables import count_table

AGREED, SPLIT, INCOMPLETE = "agreed", "split", "incomplete"


def agreed_only(labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """The consensus of the paper: the category of the items whose first labels are all equal.

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
        If the label table is not one (`analysis.tables.checked_labels`).

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
    top = counts.idxmax(axis=1) if len(counts) else pd.Series(dtype=object)
    category = top.astype(object).where(status == AGREED, None)
    return pd.DataFrame({"status": status, "category": category, "n_labels": n_labels}, index=counts.index)
