"""Compute which measures predict the labels of each reviewer, to explain disagreement."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis import learning
from analysis.document import plain
from analysis.report._resampling import Resampling

IN_VERDICT_FILES = (
    "m1",
    "m2",
    "m3",
    "m4",
    "m5",
    "same_height",
    "spread",
    "kruskal",
)  # values are rounded, so that results computed from files are equal


def habit_numbers(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    applications: Mapping[object, object],
    resampling: Resampling,
    level: float,
) -> dict[str, Any]:
    """Compute which measures predict each reviewer's labels.

    Return an empty dict if there are too few labels, or if resampling is turned off.

    Parameters
    ----------
    labels : DataFrame
        First labels: columns item, rater, category.
    verdicts : DataFrame
        Verdicts with columns score and means.
    applications : mapping of item to application
    resampling : Resampling
    level : float
    """
    features = learning.features_of_table(verdicts)
    features = features[[name for name in IN_VERDICT_FILES if name in features.columns]]
    names = [name for name in learning.ASPECTS if name in features.columns]
    if not resampling.n_bootstrap or len(names) < len(learning.ASPECTS):
        return {}
    found = learning.habits(
        labels[["item", "rater", "category"]], features, pd.Series(dict(applications), dtype=object),
        rng=resampling.rng("reviewers"), names=names, level=level,
    )  # fmt: skip
    return {"reviewers_follow": plain(found)} if any(not habit.reason for habit in found.habits) else {}
