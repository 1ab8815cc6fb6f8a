"""Compute features from the segments of each run: how many there are, where they end, and how these differ.

The segments are those of the quick rule of `analysis.steady` without its bootstrap, on means of ten iterations.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log

import numpy as np

from analysis.learning._shape import SETTLED, SUMMARIES, Floats, can_be_shaped
from analysis.points import Segmenter
from analysis.steady import outliers

SEGMENT_VERSION = 1  # increase this number if a feature is computed in a different way
POOLED = 10  # iterations per mean
PENALTY = 5  # per log of the number of means; a mean of ten iterations says as much as three penalties of one iteration
LEAST = 10  # means; shorter runs have one segment

PROPERTIES = (
    ("segments", "number of segments"),
    ("segment_place", f"end of the last segment more than {100 * SETTLED:g} % from the final level"),
    ("segment_jump", "largest jump between segments"),
    ("segment_last", "length of the last segment"),
)


def segment_names() -> Iterator[tuple[str, str]]:
    """Yield name and title of each feature."""
    for name, title in PROPERTIES:
        for summary in SUMMARIES:
            yield f"{name}_{summary.name}", f"{title}, {summary.title} over the runs"


def segments_of(run: Floats) -> tuple[float, float, float, float]:
    """Return the four properties of a run: number, place and last length as shares of the run, and jump of logs.

    The unit does not matter.

    Examples
    --------
    >>> step = np.repeat([1.2, 1.0], [300, 700]) + 0.001 * np.sin(np.arange(1000))
    >>> [round(value, 2) for value in segments_of(step)]
    [2.0, 0.3, 0.18, 0.7]
    """
    kept = run[~outliers(run / np.median(run))]
    n = len(kept) // POOLED
    if n < LEAST:
        return 1.0, 0.0, 0.0, 1.0
    means = np.log(kept[: n * POOLED].reshape(n, POOLED).mean(axis=1))
    ends = (0, *Segmenter(means).best(PENALTY * log(n)).starts, n)
    levels = np.array([means[first:end].mean() for first, end in pairwise(ends)])
    away = np.flatnonzero(np.abs(levels - levels[-1]) > np.log1p(SETTLED))
    place = ends[away[-1] + 1] / n if len(away) else 0.0
    jump = float(np.abs(np.diff(levels)).max()) if len(levels) > 1 else 0.0
    return float(len(levels)), place, jump, (n - ends[-2]) / n


def segment_features(runs: Sequence[Floats]) -> Mapping[str, float] | None:
    """Return the features of the segments of the runs of a benchmark; None if a run is too short or not positive."""
    if not can_be_shaped(runs):
        return None
    of_runs = np.array([segments_of(run) for run in runs])
    return {
        f"{name}_{summary.name}": summary.value(of_runs[:, j])
        for j, (name, _) in enumerate(PROPERTIES)
        for summary in SUMMARIES
    }
