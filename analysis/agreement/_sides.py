"""Measure whether reviewers prefer a side: is the benchmark on the left called slower more often than the other?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement._coefficients import Categories
from analysis.intervals import Estimate, linearised
from analysis.results import Result
from analysis.tables import checked_columns


@dataclass(frozen=True, repr=False)
class SideBias(Result):
    """How often reviewers call the left and the right side worse, on items that were shown both ways."""

    n_items: int  # number of items that were shown both ways
    n_labels: int  # number of their labels
    # Shares of labels that call this side worse, in [0, 1]; each way of showing an item counts half, and each item
    # once. Without a preference for a side, both are equal, whatever the benchmarks did.
    left: float | None
    right: float | None
    bias: Estimate  # left - right, in [-1, 1], with an interval over items. Undefined if no item was shown both ways.


def side_bias(labels: pd.DataFrame, categories: Categories, *, level: float = 0.95) -> SideBias:
    """Compare how often the left and the right side of the same items are called worse.

    A category that calls the second version worse stands before the middle of the scale, and one that calls it better
    stands after the middle. If an item is shown both ways, its own change cancels out.

    `labels`: columns item, category and swapped; `swapped` is whether the second version was shown on the left. A rater
    may have labelled an item several times. Labels without `swapped` are left out. `categories`: the declared
    categories in their order, from worse to better; `level`: confidence level (t distribution, n_items - 1 degrees of
    freedom). Raises ValueError if a column is missing, or a label is not one of the categories.

    Examples
    --------
    >>> labels = pd.DataFrame({"item": ["a", "a", "b", "b"], "category": ["slower", "slower", "faster", "same"],
    ...                        "swapped": [True, False, False, True]})
    >>> side_bias(labels, ("slower", "same", "faster")).bias.value
    0.25
    """
    known = labels[labels["swapped"].notna()] if "swapped" in labels.columns else labels
    table = checked_columns(known, ("item", "category", "swapped"), "label table")
    place = table["category"].map({name: k for k, name in enumerate(categories)})
    if place.isna().any():
        raise ValueError(f"{table.loc[place.isna(), 'category'].iloc[0]!r} is not one of the categories")
    swapped = table["swapped"].astype(bool)
    better = np.sign(2 * place.to_numpy(dtype=np.int64) - (len(categories) - 1))  # of the second version
    right_better = np.where(swapped, -better, better)
    sides = pd.DataFrame({
        "item": table["item"], "swapped": swapped, "left": right_better == 1, "right": right_better == -1,
    })  # fmt: skip
    ways = sides.groupby(["item", "swapped"], sort=True)[["left", "right"]].mean()
    both = ways.groupby(level="item").filter(lambda rows: len(rows) == 2)
    if not len(both):
        return SideBias(0, 0, None, None, Estimate(None, reason="no item was shown both ways"))
    of_item = both.groupby(level="item").mean()
    terms = (of_item["left"] - of_item["right"]).to_numpy(dtype=np.float64)
    n_labels = int(sides["item"].isin(of_item.index).sum())
    left, right = (float(of_item[side].mean()) for side in ("left", "right"))
    return SideBias(len(of_item), n_labels, left, right, linearised(float(terms.mean()), terms, level))
