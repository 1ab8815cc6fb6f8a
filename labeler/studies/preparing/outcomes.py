"""Decide which items are split, by which labels, and which category has the majority.

The plan of third labels, the pages and the commands ask this module. The report counts with the same functions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd

from analysis.raters import consensus
from analysis.raters.tables import COUNTED_KINDS, third_labels
from labeler.studies.model import Question
from labeler.studies.preparing import mark_consensus
from labeler.studies.preparing.mark_consensus import MarksOfItem


@dataclass(frozen=True)
class LabelStatus:
    """What the labels of an item say, before a person decides."""

    item: str
    agreed: str | None  # the category of all first labels; None if they differ or there are fewer than two
    split_by: str  # "first labels" if these differ, "third labels" if only these leave no majority, otherwise ""
    # The category of more than half of the first and third labels; None if there is none. Of marks, those of more than
    # half of the people; None if exactly half of the people marked somewhere.
    majority: str | None
    marks: MarksOfItem | None = None  # of the first and third labels, if labels are marks


def label_statuses(question: Question, first: pd.DataFrame, n_points: Callable[[str], int]) -> list[LabelStatus]:
    """Return the status of each item that has first or third labels, sorted by item.

    `first` has the first labels of every kind (`analysis.raters.tables.first_of`), and `n_points` returns the length of
    a series in which points are marked.
    """
    counted, third = first[first["kind"].isin(COUNTED_KINDS)], third_labels(first)
    if question.is_marked:
        return list(_of_marks(question, counted, third, n_points))
    table = consensus.outcomes(counted, third, {}, question.names).sort_index()
    columns = ("agreed", "split_by", "majority")
    return [LabelStatus(str(item), *row) for item, *row in zip(table.index, *(table[c] for c in columns), strict=True)]


def _of_marks(
    question: Question, counted: pd.DataFrame, third: pd.DataFrame, n_points: Callable[[str], int]
) -> Iterator[LabelStatus]:
    """Marks differ if somebody did not mark where somebody else did; the margin depends on the length of the series."""
    everybody = pd.concat([counted, third])
    first_of = _by_rater(counted)
    for item, labels in sorted(_by_rater(everybody).items()):
        n, own = n_points(item), first_of.get(item, {})
        found, of_first = (mark_consensus.consensus(question, given, n) for given in (labels, own))
        by_third = len(labels) > 1 and bool(found.ties)
        yield LabelStatus(
            item,
            mark_consensus.answer_of(question, of_first.agreed) if len(own) > 1 and not of_first.is_split else None,
            consensus.FIRST_LABELS if of_first.is_split else consensus.THIRD_LABELS if by_third else "",
            None if found.ties or len(labels) < 2 else mark_consensus.answer_of(question, found.agreed),
            found,
        )


def _by_rater(table: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the first label of each rater on each item, by item and rater."""
    by_item: dict[str, dict[str, str]] = {}
    for item, rater, category in table[["item", "rater", "category"]].itertuples(index=False, name=None):
        by_item.setdefault(str(item), {}).setdefault(str(rater), str(category))
    return by_item
