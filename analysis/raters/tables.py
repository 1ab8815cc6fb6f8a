"""Check and convert label tables, count tables and wide ratings.

Ratings can have three forms, and every coefficient of agreement accepts all of them:

- A *label table* is a DataFrame with one row per label and the columns `item`, `rater`, `category`.
- *Wide ratings* have one row per item and one column per rater; an entry is a category, or missing.
- A *count table* contains the number of raters by item and category: shape (n_items, n_categories), columns in the
  order of the declared categories.

A table of numbers can be counts, or ratings by numbered categories. `Counts` and `WideRatings` say which; without them,
`counts_of` refuses a table that could be both.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeGuard, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats
from analysis.categories import CATEGORIES, NO_CATEGORY

COUNTED_KINDS = ("fresh", "overlap")
# Of the other kinds, attention is an item with a known answer, and excluded is any label of an item that is left out.
KINDS = (*COUNTED_KINDS, "retest", "third", "calibration", "attention", "adjudicated", "excluded")
LABEL_COLUMNS = ("item", "rater", "category")
OTHER_NAMES = {"reviewer": "rater", "label": "category"}  # the columns of a label file, and of a label table
TOTALS = ("total", "sum", "n", "n_labels", "all", "count")  # names of columns that are no categories


@dataclass(frozen=True, eq=False)
class Counts:
    """Say that a table has counts: the number of raters by item and category.

    Every function that takes ratings accepts it in place of the table.

    Parameters
    ----------
    table : DataFrame or array_like of int, shape (n_items, n_categories)
        Whole numbers of at least 0. Columns are in the order of the categories, or are called as the categories. For
        `cohen_kappa`, the table has the categories of the first rater as rows and those of the second as columns.

    Examples
    --------
    >>> from analysis import fleiss_kappa
    >>> fleiss_kappa(Counts([[2, 0], [0, 3], [1, 1]])).value  # three raters on one item, two on the others
    0.33333333333333326
    """

    table: ArrayLike | pd.DataFrame


@dataclass(frozen=True, eq=False)
class WideRatings:
    """Say that a table has ratings: the category that each rater (column) gave to each item (row).

    Every function that takes ratings accepts it in place of the table.

    Parameters
    ----------
    table : DataFrame or array_like, shape (n_items, n_raters)
        Categories, which can be numbers; None or NaN if a rater did not rate the item. Name numbered categories with
        `categories`.

    Examples
    --------
    >>> from analysis import fleiss_kappa
    >>> fleiss_kappa(WideRatings([[0, 0], [0, 0], [1, 1], [0, 1]]), categories=(0, 1)).value
    0.4666666666666667
    """

    table: ArrayLike | pd.DataFrame


Ratings = ArrayLike | pd.DataFrame | Counts | WideRatings
_EITHER = (
    "this table of numbers can be counts or ratings. Pass Counts(table) if each column is a category and each number "
    "counts raters, or WideRatings(table) with categories=... if each column is a rater and each number is a category"
)


def declared_categories(categories: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Check the categories and return them as a tuple.

    Raises ValueError if there are fewer than two categories, or a category is missing or occurs twice.
    """
    declared = tuple(categories)
    if (
        isinstance(categories, str)
        or len(declared) < 2
        or len(set(declared)) < len(declared)
        or any(map(_empty, declared))
    ):
        raise ValueError(f"categories must be at least two different names, got {categories!r}")
    return declared


def positive_category(categories: Sequence[Hashable], positive: Hashable | None = None) -> Hashable:
    """Return the positive category, which is by default the last of two categories.

    Raises ValueError if `positive` is not a category, or is not given and there are more than two categories.
    """
    declared = declared_categories(categories)
    if positive is None and len(declared) == 2:
        return declared[1]
    if positive not in declared:
        raise ValueError(f"positive must be one of: {_listed(declared)}; got {positive!r}")
    return positive


def counts_of(ratings: Ratings, categories: Sequence[Hashable] | None = None) -> Floats:
    """Convert any of the three forms of ratings to a count table.

    A DataFrame with a column `rater` or `category` is a label table; a table with other entries than numbers contains
    wide ratings. A table of numbers that is neither `Counts` nor `WideRatings` contains counts if the categories are
    texts, or if no categories are given and each item has the same number of ratings, at least two. It contains
    ratings if the categories are numbers and their number is not that of the columns. Otherwise it could be both, and
    is refused. Raises ValueError if `ratings` has none of the three forms or could have two; the message names the row.

    `ratings`: label table, count table or wide ratings. A missing entry of wide ratings is None or NaN. `categories`:
    all declared categories in their order, including unused categories. By default, they are the columns of a count
    table, and otherwise similar and dissimilar. The table has whole numbers. Rows are in the order of `ratings`; for a
    label table, in the order in which items first appear.
    """
    if is_label_table(ratings):
        return count_table(ratings, CATEGORIES if categories is None else categories).to_numpy(float)
    declared = None if categories is None else declared_categories(categories)
    given = ratings.table if isinstance(ratings, (Counts, WideRatings)) else ratings
    table = _cells(given)
    if table.size == 0 and table.ndim < 2:
        return np.zeros((0, len(declared or CATEGORIES)))
    if table.ndim != 2:
        raise ValueError(f"counts must have shape (n_items, n_categories >= 2), got {table.shape}")
    if holds_ratings(ratings, declared):
        if not isinstance(ratings, WideRatings):
            _check_counts_are_numbers(table, declared or CATEGORIES)
        return counts_of_wide(table, declared or CATEGORIES)
    if isinstance(given, pd.DataFrame) and declared is not None and not _is_numbered(given.columns, declared):
        if set(given.columns) != set(declared) or not given.columns.is_unique:
            raise ValueError(
                f"the columns of the count table are {_listed(given.columns)}, but the categories are "
                f"{_listed(declared)}"
            )
        table = _cells(given[list(declared)])
    if table.shape[1] < 2:
        raise ValueError(f"counts must have shape (n_items, n_categories >= 2), got {table.shape}")
    if declared is not None and table.shape[1] != len(declared):
        raise ValueError(f"counts has {table.shape[1]} columns for {len(declared)} categories")
    counts = _as_floats(table)
    bad = ~(np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts))).all(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"counts must be whole numbers >= 0, row {row} is {counts[row].tolist()}. If these are ratings by numbered "
            "categories, pass WideRatings(table) with categories=..."
        )
    if declared is None and not isinstance(ratings, Counts):
        _check_can_only_be_counts(given, counts)
    return counts


def _check_can_only_be_counts(table: Ratings, counts: Floats) -> None:
    """Raise ValueError if a table of numbers without declared categories has a total, or could be ratings."""
    columns = table.columns if isinstance(table, pd.DataFrame) else ()
    for place, column in enumerate(columns):
        is_sum = len(counts) > 0 and bool((2 * counts[:, place] == counts.sum(axis=1)).all())
        if is_sum and str(column).lower() in TOTALS:
            raise ValueError(
                f"the column {column} of the count table is the sum of the others, not a category. Drop it."
            )
    n_given = counts.sum(axis=1)
    is_binary = bool((counts <= 1).all())
    is_even = len(set(n_given.tolist()) - {0.0}) <= 1 and not (is_binary and (n_given > 1).any())
    if not is_even and not set(columns) & set(CATEGORIES):
        raise ValueError(_EITHER)


def _check_counts_are_numbers(table: NDArray[Any], categories: Sequence[Hashable]) -> None:
    """Raise ValueError if a table of wide ratings is mostly numbers.

    Such a table is probably a count table with an invalid entry.
    """
    is_number = np.array([[_is_number(value) for value in row] for row in table], dtype=bool)
    is_category = [isinstance(value, Hashable) and value in categories for value in table.ravel()]
    if 2 * is_number.sum() > table.size and not any(is_category):
        row, column = np.argwhere(~is_number)[0]
        raise ValueError(
            f"{table[row, column]!r} (row {row}, column {column}) is not a count, and not one of: {_listed(categories)}"
        )


def is_label_table(ratings: Ratings) -> TypeGuard[pd.DataFrame]:
    """Return whether the ratings are a label table.

    A label table is a DataFrame with a column `rater` or `category`. A DataFrame with the columns of a label file
    (`item`, and `reviewer` or `label`) also counts, so that a later check can report the wrong names.
    """
    if not isinstance(ratings, pd.DataFrame):
        return False
    columns = set(ratings.columns)
    return bool({"rater", "category"} & columns) or ("item" in columns and bool({"reviewer", "label"} & columns))


def holds_ratings(ratings: Ratings, categories: Sequence[Hashable] | None = None) -> bool:
    """Return whether a table contains wide ratings instead of counts, by the rule of `counts_of`.

    Raises ValueError if the table could be both.
    """
    if isinstance(ratings, (Counts, WideRatings)):
        return isinstance(ratings, WideRatings)
    table = _cells(ratings)
    if not _holds_numbers(table):
        return True
    if categories is None or table.ndim != 2 or not all(map(_is_number, categories)):
        return False
    if table.shape[1] == len(categories):
        raise ValueError(_EITHER)
    return True


def codes_of_wide(table: Ratings, categories: Sequence[Hashable]) -> NDArray[np.int64]:
    """Convert wide ratings to category positions in an array of the same shape; missing entries become -1.

    Raises ValueError if an entry is neither missing nor a declared category; the message names row and column.
    """
    cells = _cells(table.table if isinstance(table, (Counts, WideRatings)) else table)
    place = {category: k for k, category in enumerate(categories)}
    codes = np.full(cells.shape, -1, dtype=np.int64)
    for row, column in zip(*np.nonzero(~pd.isna(cells)), strict=True):
        value = cells[row, column]
        if not isinstance(value, Hashable) or isinstance(value, (bool, np.bool_)) or value not in place:
            raise ValueError(f"{_plain(value)!r} (row {row}, column {column}) is not one of: {_listed(categories)}")
        codes[row, column] = place[value]
    return codes


def counts_of_wide(table: Ratings, categories: Sequence[Hashable]) -> Floats:
    """Convert wide ratings to a count table; raise ValueError for the same reasons as `codes_of_wide`."""
    codes = codes_of_wide(table, categories)
    counts: Floats = (codes[:, :, None] == np.arange(len(categories))).sum(axis=1).astype(np.float64)
    return counts


def checked_labels(labels: pd.DataFrame, categories: Sequence[Hashable] = CATEGORIES) -> pd.DataFrame:
    """Check a label table and return its three columns.

    Raises ValueError if a column is missing or duplicate, an item, rater or category is missing, a category is not
    declared, or a rater labelled an item twice. The message names the first such row, counted from 0.

    `labels`: columns `item`, `rater`, `category`; other columns are dropped; `categories`: the declared categories;
    other categories are errors. The result has the columns item, rater, category in this order; one row per (item,
    rater).
    """
    declared = declared_categories(categories)
    table = checked_columns(labels, LABEL_COLUMNS, "label table")
    undeclared = [value for value in pd.unique(table["category"]) if value not in declared]
    if undeclared:
        row = table[table["category"] == undeclared[0]].iloc[0]
        value, item = _plain(row["category"]), _plain(row["item"])
        raise ValueError(f"{value!r} (item {item!r}) is not one of: {_listed(declared)}")
    doubled = table.duplicated(["item", "rater"])
    if doubled.any():
        row = table[doubled].iloc[0]
        raise ValueError(f"rater {_plain(row['rater'])!r} has two labels on item {_plain(row['item'])!r}")
    return table


def checked_columns(table: pd.DataFrame, columns: Sequence[str], name: str) -> pd.DataFrame:
    """Return the named columns of a table.

    Raise ValueError unless each column exists exactly once and has no missing entries. Raises ValueError if a column is
    missing or duplicate, or an entry is missing, blank or not a plain value; the message gives the row.

    `name`: name of the table in messages, such as "label table".
    """
    if not _is_frame(table):
        wanted = ", ".join(columns)
        raise ValueError(f"the {name} must be a DataFrame with the columns {wanted}, got {type(table).__name__}")
    missing = [column for column in columns if column not in table.columns]
    if missing:
        present = ", ".join(map(str, table)) or "no columns"
        renamed = {old: new for old, new in OTHER_NAMES.items() if old in table.columns and new in missing}
        hint = f". Rename the columns: {', '.join(f'{old} to {new}' for old, new in renamed.items())}" * bool(renamed)
        raise ValueError(f"{name} lacks the column {', '.join(missing)}; it has {present}{hint}")
    doubled = [column for column in columns if list(table.columns).count(column) > 1]
    if doubled:
        raise ValueError(f"{name} has more than one column {doubled[0]}. Rename or drop the others.")
    for column in columns:
        absent = table[column].isna().to_numpy(copy=True)
        if table[column].dtype.kind not in "iufb":
            absent |= _is_blank(table[column], column, name)
        if absent.any():
            row = int(np.flatnonzero(absent)[0])
            raise ValueError(f"row {row} of the {name} has no {column}. Fill it in or leave the row out.")
    return table.copy(deep=False) if list(table.columns) == list(columns) else table[list(columns)]


def _is_blank(values: "pd.Series[Any]", column: str, name: str) -> NDArray[np.bool_]:
    """Return which entries are empty or blank texts; raise ValueError for an entry such as a list."""
    try:
        distinct = np.asarray(pd.unique(values), dtype=object)  # first, because texts of Arrow are slow one by one
        texts = [value for value in distinct if isinstance(value, str)]
    except TypeError:
        row = next(i for i, value in enumerate(values) if not isinstance(value, Hashable))
        raise ValueError(f"row {row} of the {name}: {values.iloc[row]!r} is not a valid {column}") from None
    blank = [text for text in texts if not text.strip()]
    return values.isin(blank).to_numpy(bool) if blank else np.zeros(len(values), dtype=bool)


def checked_verdicts(verdicts: pd.DataFrame, categories: Sequence[Hashable] = CATEGORIES) -> pd.DataFrame:
    """Check a verdict table and return its three columns.

    Raises ValueError if a column is missing or duplicate, an item or classifier is missing, a verdict is not declared,
    or a classifier judged an item twice. The message names the first such row.

    `verdicts`: columns `item`, `classifier`, `verdict` (missing if there is no verdict); other columns are dropped. The
    result has the columns item, classifier, verdict in this order; one row per (item, classifier).
    """
    checked_columns(verdicts, ("item", "classifier"), "verdict table")
    checked_columns(verdicts.iloc[:0], ("verdict",), "verdict table")
    table = verdicts[["item", "classifier", "verdict"]]
    for row, value in enumerate(table["verdict"]):
        if not (_empty(value) or (isinstance(value, Hashable) and value in categories)):
            raise ValueError(f"row {row} of the verdict table: {value!r} is not one of: {_listed(categories)}")
    doubled = table[table.duplicated(["item", "classifier"])]
    if len(doubled):
        item, classifier = doubled.iloc[0][["item", "classifier"]]
        raise ValueError(f"classifier {classifier!r} has two verdicts on item {str(item)!r}")
    return table


def count_table(labels: pd.DataFrame, categories: Sequence[Hashable] = CATEGORIES) -> pd.DataFrame:
    """Convert a label table to a count table, with one row per item in order of first appearance.

    Parameters
    ----------
    labels : DataFrame
        Columns item, rater, category; at most one label per (item, rater).
    categories : sequence of hashable
        All declared categories, including unused categories.

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
    code, used = pd.factorize(table["category"])
    place = {category: k for k, category in enumerate(categories)}
    column = np.array([place[category] for category in used], dtype=np.intp)[code]
    cells = np.bincount(row * len(categories) + column, minlength=len(items) * len(categories))
    counts = cells.reshape(len(items), len(categories))
    return pd.DataFrame(counts, index=pd.Index(items, name="item"), columns=list(categories))


def wide_labels(labels: pd.DataFrame, categories: Sequence[Hashable] = CATEGORIES) -> tuple[list[str], Floats]:
    """Return the sorted raters, and the category number of each label in an array (n_items, n_raters).

    Missing labels are NaN.
    """
    table = checked_labels(labels, categories)
    item, _ = pd.factorize(table["item"])
    names = in_name_order(pd.unique(table["rater"]))
    rater = table["rater"].map({name: j for j, name in enumerate(names)}).to_numpy(np.intp)
    wide = np.full((item.max(initial=-1) + 1, len(names)), np.nan)
    wide[item, rater] = table["category"].map({name: k for k, name in enumerate(categories)}).to_numpy(np.float64)
    return names, wide


def in_name_order(names: Iterable[Any]) -> list[Any]:
    """Sort names; if their types differ, such as numbers and texts, sort them as texts."""
    names = list(names)
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda name: (str(name), type(name).__name__))


def check_strings(column: "pd.Series[Any]", words: Sequence[str], name: str) -> None:
    """Raise ValueError if an entry is not one of the words; the message names the first such row."""
    is_word = [value in words for value in column.to_numpy(object)]
    if not all(is_word):
        row = is_word.index(False)
        raise ValueError(f"row {row} of the {name}: {column.iloc[row]!r} is not one of: {', '.join(words)}")


def first_labels(answers: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the first label of each assignment.

    Agreement is computed from first labels, because they are independent. The first label is the last category that the
    reviewer chose before answering another assignment. If the reviewer withdraws the answer immediately, or answers
    "not sure", the assignment stays open. In this case, the first label is the category that the reviewer chooses when
    the item is shown again. Later categories are the reviewer's own revisions.

    Parameters
    ----------
    answers : DataFrame
        Every answer in chronological order, columns `rater`, `assignment` (identifies an assignment of the rater) and
        `answer` (a category, "not sure" or "withdrawn").
    categories : sequence of str
        The declared categories.

    Returns
    -------
    DataFrame
        The rows of `answers` that are first labels, in the same order and with the same index.

    Raises
    ------
    ValueError
        If a column is missing or duplicate, an entry is missing, or an answer is unknown; the message
        names the row.

    Examples
    --------
    >>> answers = pd.DataFrame({"rater": "ada", "assignment": [1, 1, 2, 1], "answer": ["similar", "dissimilar",
    ...                         "similar", "similar"]})
    >>> first_labels(answers).index.tolist()  # 1: the correction before assignment 2 counts, the last revision not
    [1, 2]
    """
    table = checked_columns(answers, ("rater", "assignment", "answer"), "answer table")
    check_strings(table["answer"], (*categories, *NO_CATEGORY), "answer table")
    frozen: dict[tuple[object, object], int] = {}  # (rater, assignment) -> position of its first label
    standing: dict[object, tuple[object, int | None]] = {}  # rater -> (last answered assignment, its current label)
    columns = (table[name].tolist() for name in table)
    for row, (rater, task, answer) in enumerate(zip(*columns, strict=True)):
        last_task, last_row = standing.get(rater, (task, None))
        if task != last_task and last_row is not None:
            frozen.setdefault((rater, last_task), last_row)
        standing[rater] = (task, row if answer in categories else None)
    for rater, (task, last) in standing.items():
        if last is not None:
            frozen.setdefault((rater, task), last)
    return answers.iloc[sorted(frozen.values())]


def third_labels(first: pd.DataFrame) -> pd.DataFrame:
    """Return the third labels among the first labels of every kind (`first_of`).

    A rater who gave a first label on the item cannot give a third label on it, and nobody gives two.
    """
    further = first[first["kind"] == "third"].drop_duplicates(["item", "rater"])
    counted = first[first["kind"].isin(COUNTED_KINDS)]
    of_counted, of_further = (pd.MultiIndex.from_frame(rows[["item", "rater"]]) for rows in (counted, further))
    return further[~of_further.isin(of_counted)]


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return ranks from 1; equal values get their mean rank.

    Examples
    --------
    >>> ranks([3.0, 1.0, 3.0]).tolist()
    [2.5, 1.0, 2.5]
    """
    return np.asarray(pd.Series(np.asarray(values)).rank(), dtype=np.float64)


def with_defaults(answers: pd.DataFrame) -> pd.DataFrame:
    """Return an answer table in which missing columns that identify assignments have default values.

    Raises ValueError if a column is missing or duplicate, an entry is missing, or a kind is unknown; the message names
    the row.

    `answers`: columns item, reviewer, label; optionally kind and assignment. Returns a copy with `kind` (default:
    fresh) and `assignment` (default: item and kind).
    """
    optional = [name for name in ("kind", "assignment") if name in answers.columns]
    checked = checked_columns(answers, ("item", "reviewer", "label", *optional), "answer table")
    if "kind" in optional:
        check_strings(checked["kind"], KINDS, "answer table")
    table = answers.reset_index(drop=True)
    if "kind" not in table:
        table["kind"] = "fresh"
    if "assignment" not in table:
        table["assignment"] = list(zip(table["item"].to_numpy(object), table["kind"].to_numpy(object), strict=True))
    return table


def first_of(answers: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the first labels of every kind from an answer table (`with_defaults`), as a label table.

    Returns the rows of the first labels with all columns; reviewer is renamed to rater, label to category.
    """
    renamed = answers.rename(columns={"reviewer": "rater", "label": "answer"})
    return first_labels(renamed, categories).rename(columns={"answer": "category"})


def counted_labels(answers: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the labels that count for agreement and consensus: first labels of the kinds fresh and overlap.

    The result has the columns item, rater, category, and all other columns of the answers.
    """
    first = first_of(with_defaults(answers), categories)
    return first[first["kind"].isin(COUNTED_KINDS)]


def _plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python value, which messages show without its type."""
    return value.item() if isinstance(value, np.generic) else value


def _is_frame(table: object) -> bool:
    return isinstance(table, pd.DataFrame)


def _cells(ratings: Ratings) -> NDArray[Any]:
    """Convert ratings to an array.

    The array is numeric for a numeric DataFrame or ndarray, and otherwise has dtype object.
    """
    if isinstance(ratings, pd.DataFrame):
        plain = all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in ratings.dtypes)
        return ratings.to_numpy() if plain and len(ratings.columns) else ratings.to_numpy(dtype=object)
    if isinstance(ratings, np.ndarray) and ratings.dtype.kind in "iuf":
        return ratings
    try:
        cells = np.array(ratings, dtype=object)
    except ValueError as error:
        raise ValueError(f"counts must be a table: {error}") from None
    if not cells.ndim:
        raise ValueError(
            f"ratings must be a label table, wide ratings or a count table, got {type(ratings).__name__}. To read a "
            "file, use pandas.read_csv."
        )
    return cells


def _holds_numbers(table: NDArray[Any]) -> bool:
    """Return whether a table contains only numbers and missing entries.

    Unless the table is empty, at least one entry must be a number.
    """
    if table.dtype.kind in "iuf":
        return True
    entries = [entry for entry in table.ravel() if not _empty(entry)]
    return all(map(_is_number, entries)) and bool(entries or not table.size)


def _is_numbered(columns: "pd.Index[Any]", categories: Sequence[Hashable]) -> bool:
    """Return whether the columns have numbers as names; such columns must be in the order of the categories."""
    return list(columns) == list(range(len(columns))) and set(columns) != set(categories)


def _as_floats(table: NDArray[Any]) -> Floats:
    if table.dtype.kind in "iuf":
        return table.astype(np.float64)
    return np.array([[np.nan if _empty(entry) else float(entry) for entry in row] for row in table], dtype=np.float64)


def _is_number(value: object) -> bool:
    return isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_))


def _empty(value: object) -> bool:
    return not isinstance(value, (list, tuple, np.ndarray, pd.Series)) and bool(pd.isna(cast(Any, value)))


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names))
