"""Collapse labels to patterns. A pattern is the labels of all raters on an item, with the number of such items.

The likelihood of a latent class model depends only on the patterns, and there are far fewer patterns than
items: 586 items labelled by three of four reviewers have at most 32 patterns.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from analysis.categories import DISSIMILAR
from analysis.tables import checked_labels, checked_verdicts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALL = "all items"
_MIN_RATERS, _MAX_SHARE = (
    16,
    0.25,
)  # use sparse matrices if there are so many raters, and if patterns have at most this share of possible labels
_LARGEST_COUNTED = 8  # codes up to this multiple of their number are counted, not sorted
_RATERS_A_CODE = 20  # 3**20 patterns times 2**31 items fit into 64 bits


@dataclass(frozen=True)
class Patterns:
    """Labels of two categories, collapsed to patterns."""

    raters: tuple[object, ...]  # names in the order of the columns: the reviewers, then the classifiers, each sorted
    n_reviewers: int  # number of raters that are reviewers
    strata: tuple[object, ...]  # names of the strata; a single stratum by default
    # 1 if the rater's label is dissimilar (`positive`) or similar (`negative`), otherwise 0. Both are 0 if there
    # is no label.
    positive: Floats
    negative: Floats
    stratum: Ints  # position in `strata`
    n: Ints  # number of items with the pattern
    items: pd.Index
    of_item: Ints  # the pattern of each item

    @property
    def seen(self) -> Floats:
        """Return whether each rater labelled the items of each pattern, as 1 or 0; shape (n_patterns, n_raters)."""
        return self.positive + self.negative

    @cached_property
    def marks(self) -> tuple[Any, Any]:
        """Return `positive` and `negative` for matrix products.

        Both are sparse if there are many raters and most entries are 0.
        """
        is_sparse = len(self.raters) >= _MIN_RATERS and self.seen.mean() <= _MAX_SHARE if self.seen.size else False
        if not is_sparse:
            return self.positive, self.negative
        return sparse.csr_array(self.positive), sparse.csr_array(self.negative)

    @property
    def n_parameters(self) -> int:
        """Return the number of parameters of the latent class model: one per stratum, two per rater."""
        return len(self.strata) + 2 * len(self.raters)


def patterns_of(
    labels: pd.DataFrame, verdicts: pd.DataFrame | None = None, strata: "pd.Series | None" = None
) -> Patterns:
    """Collapse a label table to patterns, with the items in order of first appearance.

    Classifiers with verdicts on the same items (columns item, classifier, verdict) count as additional raters; their
    verdicts on items without a label are left out. `strata` has the stratum of each item. All arrays are empty if there
    are no labels. Raises ValueError if a table is invalid, or an item is in no stratum or in two.
    """
    table = checked_labels(labels)
    items = pd.Index(pd.unique(table["item"]), name="item")
    reviewers, by_reviewer = _matrix(table, items)
    classifiers, by_classifier = _matrix(verdict_table(verdicts), items)
    matrix = np.hstack([by_reviewer, by_classifier])
    names, stratum_of_item = _strata(strata, items)
    first, of_item, n = distinct_rows(matrix, stratum_of_item)
    positive, negative = (matrix[first] == 1).astype(float), (matrix[first] == 0).astype(float)
    raters = (*reviewers, *classifiers)
    stratum = stratum_of_item[first]
    return Patterns(raters, len(reviewers), names, positive, negative, stratum, n, items, of_item)


def verdict_table(verdicts: pd.DataFrame | None) -> pd.DataFrame:
    """Convert verdicts to a label table, without items that have no verdict.

    Raises ValueError if a column is missing, a verdict is not a category, or a classifier has two verdicts on an item.
    """
    if verdicts is None:
        return pd.DataFrame({"item": [], "rater": [], "category": []}, dtype=object)
    return checked_verdicts(verdicts).dropna(subset="verdict").set_axis(["item", "rater", "category"], axis=1)


def distinct_rows(matrix: NDArray[np.int8], stratum: Ints) -> tuple[Ints, Ints, Ints]:
    """Find the distinct pairs of stratum and row of labels, which are -1 (no label), 0 (similar) or 1 (dissimilar).

    Return the first position of each distinct pair, the index of the pair of each row, and the count of each pair.
    """
    codes = stratum
    for start in range(0, matrix.shape[1], _RATERS_A_CODE):
        columns = matrix[:, start : start + _RATERS_A_CODE] + 1.0
        codes = _distinct(codes)[1] * 3 ** columns.shape[1]
        codes = codes + (columns @ 3.0 ** np.arange(columns.shape[1])).astype(np.int64)
    return _distinct(codes)


def _distinct(codes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the first position of each distinct code, the index of each entry's code, and the counts.

    The codes are >= 0. Small codes are counted, which is faster than sorting them.
    """
    largest = int(codes.max(initial=0))
    if largest > _LARGEST_COUNTED * max(len(codes), 1):
        _, first, inverse, n = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return first, inverse.reshape(-1), n
    counts = np.bincount(codes, minlength=largest + 1)
    distinct = np.flatnonzero(counts)
    index = np.zeros(len(counts), dtype=np.int64)
    index[distinct] = np.arange(len(distinct))
    inverse = index[codes]
    first = np.zeros(len(distinct), dtype=np.int64)
    first[inverse[::-1]] = np.arange(len(codes))[::-1]
    return first, inverse, counts[distinct]


def _matrix(table: pd.DataFrame, items: pd.Index) -> tuple[list[object], NDArray[np.int8]]:
    """Return the sorted raters, and their labels on these items: -1 no label, 0 similar, 1 dissimilar."""
    row = items.get_indexer(pd.Index(table["item"]))
    table, row = table[row >= 0], row[row >= 0]
    rater, names = pd.factorize(table["rater"])
    raters = sorted(names, key=str)
    column = pd.Index(raters, dtype=object).get_indexer(pd.Index(names, dtype=object))
    matrix = np.full((len(items), len(raters)), -1, dtype=np.int8)
    matrix[row, column[rater]] = (table["category"] == DISSIMILAR).to_numpy()
    return raters, matrix


def _strata(strata: "pd.Series | None", items: pd.Index) -> tuple[tuple[object, ...], Ints]:
    if strata is None:
        return (ALL,), np.zeros(len(items), dtype=np.int64)
    if not strata.index.is_unique:
        raise ValueError(f"item {strata.index[strata.index.duplicated()][0]!r} is in two strata")
    of_item = strata.reindex(items)
    if of_item.isna().any():
        raise ValueError(f"item {items[of_item.isna().to_numpy()][0]!r} is in no stratum")
    names = sorted(pd.unique(of_item), key=str)
    return tuple(names), pd.Index(names, dtype=object).get_indexer(of_item).astype(np.int64)
