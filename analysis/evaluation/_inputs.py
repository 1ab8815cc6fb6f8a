"""Match the consensus, verdicts and scores of the same items, and check their values."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.categories import CATEGORIES
from analysis.tables import declared_categories, positive_category

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Categories = Sequence[str] | Sequence[str | None] | Sequence[Hashable] | pd.Series
Declared = Sequence[Hashable]
Scores = Sequence[float] | Sequence[float | None] | Floats | pd.Series

NO_SCORE = "no item has both a consensus and a score"


@dataclass(frozen=True)
class Scored:
    """The items with a score: the category and score of each item, and the number of items without a score.

    `dissimilar` is True for items of the positive category. If a category is missing, `absent` gives the reason.
    """

    dissimilar: Bools
    scores: Floats
    n_without_score: int
    absent: tuple[str, str]

    @property
    def reason(self) -> str | None:
        """Return why a statistic that needs both categories is undefined; None if both categories exist."""
        if not len(self.scores):
            return NO_SCORE
        first = bool(self.dissimilar[0])
        return self.absent[first] if (self.dissimilar == first).all() else None


def scored(
    truth: Categories, scores: Scores, categories: Declared = CATEGORIES, positive: Hashable | None = None
) -> Scored:
    """Match items with their scores; leave out the items whose score is None or NaN, and count them.

    Raises ValueError if the lengths differ, `truth` contains an unknown category, or a score is not a finite number.
    """
    positive = positive_category(categories, positive)
    true, values = matched({"truth": truth, "scores": scores})
    check_categories("truth", true, categories)
    numbers = as_floats("scores", values)
    valid = ~np.isnan(numbers)
    dissimilar = np.array([category == positive for category in true], dtype=bool)
    return Scored(dissimilar[valid], numbers[valid], int((~valid).sum()), absence_reasons(categories, positive))


def absence_reasons(categories: Declared, positive: Hashable) -> tuple[str, str]:
    """Return two reasons why a statistic can be undefined: no positive items, or no other items."""
    negatives = [category for category in categories if category != positive]
    return f"no item is {positive}", f"no item is {' or '.join(map(str, negatives))}"


def matched(columns: dict[str, Any]) -> list[list[Any]]:
    """Return the columns as lists of equal length; a missing column gives None. The first column defines the items.

    If the first column and another column are both Series, match the two by item, otherwise by position. Raises
    ValueError if an item is in a Series twice, or the lengths differ.
    """
    first_name, first = next(iter(columns.items()))
    lists = []
    for name, column in columns.items():
        if isinstance(first, pd.Series) and isinstance(column, pd.Series):
            if not column.index.is_unique:
                raise ValueError(f"{name} has two rows for item {column.index[column.index.duplicated()][0]!r}")
            column = column.reindex(first.index)
        values = np.array([*column, None], dtype=object)[
            :-1
        ]  # without None, numpy would turn rows of equal length into a matrix
        values[pd.isna(values)] = None
        lists.append(values.tolist())
        if len(lists[-1]) != len(lists[0]):
            raise ValueError(f"{first_name} has {len(lists[0])} items, {name} has {len(lists[-1])}")
    return lists


def check_categories(name: str, values: Sequence[Any], categories: Declared = CATEGORIES) -> None:
    """Raise ValueError if a value is not a category; the message names the first such value and its position."""
    declared = declared_categories(categories)
    is_declared = [isinstance(value, Hashable) and value in declared for value in values]
    if not all(is_declared):
        row = is_declared.index(False)
        raise ValueError(
            f"{name} has the value {values[row]!r} (row {row}), which is not one of: {', '.join(map(str, declared))}"
        )


def as_floats(name: str, values: Sequence[Any]) -> Floats:
    """Convert values to numbers, and None to NaN; raise ValueError if a value is of another type or infinite."""
    try:
        numbers = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if np.isinf(numbers).any():
        raise ValueError(f"{name} must be finite, but entry {int(np.flatnonzero(np.isinf(numbers))[0])} is infinite")
    return numbers
