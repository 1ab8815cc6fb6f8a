"""Label tables and count tables, and the checks of their columns and shapes.

A *label table* has one row a label and the columns `item`, `rater`, `category`. A *count table* says how
many raters put each item in each category: shape (n_items, n_categories), columns in the order of the
declared categories.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.categories import ANSWERS, CATEGORIES

COUNTED_KINDS = ("fresh", "overlap")


def checked_counts(counts: ArrayLike) -> NDArray[np.float64]:
    """The count table as an array of floats that are whole numbers, rows without a rating left out.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_categories)
        Ratings per item and category; at least two columns. A DataFrame is accepted too.

    Returns
    -------
    ndarray of float, shape (n_rated_items, n_categories)
        May have no rows.

    Raises
    ------
    ValueError
        If `counts` is not such a table; the message names the offending row.
    """
    try:
        r = np.asarray(counts, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"counts must be a table of whole numbers: {error}") from None
    if r.size == 0 and r.ndim < 2:
        return np.zeros((0, 2))
    if r.ndim != 2 or r.shape[1] < 2:
        raise ValueError(f"counts must have shape (n_items, n_categories >= 2), got {r.shape}")
    bad = ~(np.isfinite(r) & (r >= 0) & (r == np.floor(r))).all(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"counts must be whole numbers >= 0, row {row} is {r[row].tolist()}")
    rated: NDArray[np.float64] = r[r.sum(axis=1) > 0]
    return rated


def checked_labels(labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """The label table with just its three columns, checked.

    Parameters
    ----------
    labels : DataFrame
        Columns `item`, `rater`, `category`; others are dropped.
    categories : sequence of str
        The declared categories; no other may occur.

    Returns
    -------
    DataFrame
        Columns item, rater, category in this order; one row an (item, rater).

    Raises
    ------
    ValueError
        If a column is missing, a category is not declared, or a rater labelled an item twice.
    """
    missing = [name for name in ("item", "rater", "category") if name not in labels.columns]
    if missing:
        raise ValueError(f"label table lacks the column {', '.join(missing)}; it has {', '.join(map(str, labels))}")
    table = labels[["item", "rater", "category"]]
    unknown = table[~table["category"].isin(list(categories))]
    if len(unknown):
        row = unknown.iloc[0]
        raise ValueError(f"{row['category']!r} (item {row['item']!r}) is not one of: {', '.join(categories)}")
    doubled = table[table.duplicated(["item", "rater"])]
    if len(doubled):
        row = doubled.iloc[0]
        raise ValueError(f"rater {row['rater']!r} has two labels on item {row['item']!r}")
    return table


def count_table(labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Label table -> count table, one row an item in order of first appearance.

    Parameters
    ----------
    labels : DataFrame
        Columns item, rater, category; at most one label an (item, rater).
    categories : sequence of str
        All declared categories, also those nobody used.

    Returns
    -------
    DataFrame of int, shape (n_items, n_categories)
        Indexed by item, columns in the order of `categories`.

    Raises
    ------
    ValueError
        As in `checked_labels`.

    Examples
    --------
    >>> labels = pd.DataFrame({"item": ["a", "a"], "rater": ["ada", "ben"], "category": ["similar", "dissimilar"]})
    >>> count_table(labels).values.tolist()
    [[1, 1]]
    """
    table = checked_labels(labels, categories)
    row, items = pd.factorize(table["item"])
    column = pd.Index(list(categories)).get_indexer(pd.Index(table["category"]))
    counts = np.zeros((len(items), len(categories)), dtype=int)
    np.add.at(counts, (row, column), 1)
    return pd.DataFrame(counts, index=pd.Index(items, name="item"), columns=list(categories))


def first_labels(answers: pd.DataFrame) -> pd.DataFrame:
    """The first label of each assignment: the independent judgement that agreement is computed from.

    It is the last category given before the reviewer answers another task. An answer taken back at once
    (withdrawn) or "not sure" leaves the assignment open: the category given when it is offered again is
    then the first label. Later categories are own revisions.

    Parameters
    ----------
    answers : DataFrame
        Every answer in the order in which they were given, columns `rater`, `assignment` (whatever tells
        the tasks of one rater apart) and `answer` (similar, dissimilar, not sure, withdrawn).

    Returns
    -------
    DataFrame
        The rows of `answers` that are first labels, in the same order, index kept.

    Raises
    ------
    ValueError
        If a column is missing or an answer is not one of the four.

    Examples
    --------
    >>> answers = pd.DataFrame({"rater": "ada", "assignment": [1, 1, 2, 1], "answer": ["similar", "dissimilar",
    ...                         "similar", "similar"]})
    >>> first_labels(answers).index.tolist()  # 1: the correction before task 2 counts, the later revision does not
    [1, 2]
    """
    missing = [name for name in ("rater", "assignment", "answer") if name not in answers.columns]
    if missing:
        raise ValueError(f"answers lack the column {', '.join(missing)}")
    unknown = answers[~answers["answer"].isin(ANSWERS)]
    if len(unknown):
        raise ValueError(f"{unknown['answer'].iloc[0]!r} is not one of: {', '.join(ANSWERS)}")
    frozen: dict[tuple[object, object], int] = {}  # (rater, assignment) -> position of its first label
    standing: dict[object, tuple[object, int | None]] = {}  # rater -> (task answered last, label standing on it)
    columns = (answers[name].tolist() for name in ("rater", "assignment", "answer"))
    for row, (rater, task, answer) in enumerate(zip(*columns, strict=True)):
        last_task, last_row = standing.get(rater, (task, None))
        if task != last_task and last_row is not None:
            frozen.setdefault((rater, last_task), last_row)
        standing[rater] = (task, row if answer in CATEGORIES else None)
    for rater, (task, last) in standing.items():
        if last is not None:
            frozen.setdefault((rater, task), last)
    return answers.iloc[sorted(frozen.values())]


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 on, ties sharing their mean rank.

    Examples
    --------
    >>> ranks([3.0, 1.0, 3.0]).tolist()
    [2.5, 1.0, 2.5]
    """
    return np.asarray(pd.Series(np.asarray(values)).rank(), dtype=np.float64)


def with_defaults(answers: pd.DataFrame) -> pd.DataFrame:
    """An answer table with all columns that tell assignments apart.

    Parameters
    ----------
    answers : DataFrame
        Columns item, reviewer, label; optionally kind and assignment.

    Returns
    -------
    DataFrame
        A copy with `kind` (fresh where missing) and `assignment` (item and kind where missing).

    Raises
    ------
    ValueError
        If a column is missing.
    """
    missing = [name for name in ("item", "reviewer", "label") if name not in answers.columns]
    if missing:
        raise ValueError(f"the labels lack the column {', '.join(missing)}; they have {', '.join(map(str, answers))}")
    table = answers.reset_index(drop=True)
    if "kind" not in table:
        table["kind"] = "fresh"
    if "assignment" not in table:
        table["assignment"] = list(zip(table["item"], table["kind"], strict=True))
    return table


def first_of(answers: pd.DataFrame) -> pd.DataFrame:
    """The first labels of an answer table (`with_defaults`) of every kind, in the words of a label table.

    Returns
    -------
    DataFrame
        The rows of the first labels with all their columns, reviewer named rater and label named category.
    """
    named = answers.rename(columns={"reviewer": "rater", "label": "answer"})
    return first_labels(named).rename(columns={"answer": "category"})


def counted_labels(answers: pd.DataFrame) -> pd.DataFrame:
    """The label table that agreement and consensus are computed from: first labels, fresh or overlap.

    Parameters
    ----------
    answers : DataFrame
        As for `with_defaults`.

    Returns
    -------
    DataFrame
        Columns item, rater, category, and every other column of the answers.
    """
    first = first_of(with_defaults(answers))
    return first[first["kind"].isin(COUNTED_KINDS)]
