"""The tables from which the numbers of a report are computed: labels by purpose, and the consensus by counting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.raters import consensus


@dataclass(frozen=True)
class Labels:
    """The labels of a study, in one table per purpose. Each table has all columns of the answers."""

    first: pd.DataFrame  # first labels (fresh or overlap), from which agreement and consensus are computed
    current: pd.DataFrame  # labels of the same assignments after reviewers revised their own answers
    third: pd.DataFrame  # labels of an additional reviewer on split items and on some agreed items
    retest: pd.DataFrame  # columns item, rater, first, second; one row per item that a reviewer labelled twice
    # Columns item and rater, one row per missing label. A label is missing if the reviewer chose "not sure",
    # withdrew the answer, or never gave a planned label.
    missing: pd.DataFrame


@dataclass(frozen=True)
class CountedConsensus:
    """The two kinds of consensus that come from counting labels. Classifiers are compared with both."""

    agreed: pd.DataFrame  # one row per item: columns status, category, n_labels
    majority: pd.DataFrame
    third: pd.DataFrame  # third labels, which the latent class model uses besides the first labels


def truths(labels: Labels, decisions: Mapping[object, str], names: Sequence[str]) -> CountedConsensus:
    """Compute two kinds of consensus by counting labels, and collect the labels for the latent class model."""
    third = labels.third if len(labels.third) else None
    columns = ["item", "rater", "category"]
    return CountedConsensus(
        agreed=consensus.agreed_only(labels.first, names),
        majority=consensus.majority(labels.first, third, decisions, names),
        third=labels.third[columns],
    )


def has_values(labels: pd.DataFrame, column: str) -> bool:
    """Return whether the column exists and has values."""
    return column in labels and bool(labels[column].notna().any())
