"""Which measures predict the labels of each reviewer, to explain disagreement."""

from collections.abc import Mapping

import pandas as pd

from analysis import learning
from analysis.report._settings import Resampling

# values in files of verdicts are rounded, so that results computed from these files are equal
IN_VERDICT_FILES = ("m1", "m2", "m3", "m4", "m5", "same_height", "spread", "kruskal")


def habit_numbers(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    applications: Mapping[object, object],
    resampling: Resampling,
    level: float,
) -> learning.Habits | None:
    """Compute which measures predict each reviewer's labels, from verdicts with columns score and means.

    Return None if there are too few labels, or if resampling is turned off.
    """
    features = learning.features_of_table(verdicts)
    features = features[[name for name in IN_VERDICT_FILES if name in features.columns]]
    names = [name for name in learning.ASPECTS if name in features.columns]
    if not resampling.n_bootstrap or len(names) < len(learning.ASPECTS):
        return None
    found = learning.habits(
        labels[["item", "rater", "category"]], features, pd.Series(dict(applications), dtype=object),
        rng=resampling.rng("reviewers"), names=names, level=level,
    )  # fmt: skip
    return found if any(not habit.reason for habit in found.habits) else None
