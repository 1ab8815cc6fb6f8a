"""Compute features of items, from verdicts, the shape of runs and their segments, and choose the target of a model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from math import log

import numpy as np
import pandas as pd

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.consensus import agreed_only, majority
from analysis.raters.tables import COUNTED_KINDS, first_of, third_labels, with_defaults
from analysis.runs.classifiers import CLASSIFIERS, Verdict
from analysis.runs.dissimilarity import title_of
from analysis.runs.runs import Runs
from analysis.runs.segments import Segmenter
from analysis.runs.steady import outliers

MIN_ITERATIONS = 20
CLIP = (0.5, 99.5)  # percentiles of a run; values outside are set to these limits
LAGS = (1, 10, 100)
LAST, FIRST = 500, 50  # iterations at the end and at the beginning of a run
SETTLED = 0.05  # a run has settled once it stays this close to its final level
N_SMOOTH = 60  # windows of the smoothed run


@dataclass(frozen=True)
class ShapeStatistic:
    """A number that describes one run, or that says how far the runs differ in such a number."""

    name: str
    title: str
    value: Callable[[Floats], float]


def _slope(values: Floats) -> float:
    """Return the slope of a straight line through the values, over the whole series."""
    n = len(values)
    place = np.arange(n) - (n - 1) / 2
    return float(n * (place @ values) / (place @ place))


def _autocorrelation(lag: int, values: Floats) -> float:
    centred = values - values.mean()
    total = float(centred @ centred)
    if len(values) <= lag or total <= 0:
        return 0.0
    return float(centred[lag:] @ centred[:-lag]) / total


def _half(values: Floats) -> Floats:
    return values[len(values) // 2 :]


def _settling(values: Floats) -> float:
    """Return the share of the run before its smoothed level stays near the final level."""
    level = float(np.median(values[-min(LAST, len(values)) :]))
    away = np.nonzero(np.abs(_smooth(values) - level) > np.log1p(SETTLED))[0]
    return float((away[-1] + 1) / N_SMOOTH) if len(away) else 0.0


def _smooth(values: Floats) -> Floats:
    """Return the medians of equal windows of a run."""
    edges = np.linspace(0, len(values), min(N_SMOOTH, len(values)) + 1).astype(int)
    starts, lengths = edges[:-1], np.diff(edges)
    smooth = np.empty(len(starts))
    for length in np.unique(lengths):  # one or two
        places = np.flatnonzero(lengths == length)
        smooth[places] = np.median(values[starts[places, None] + np.arange(length)], axis=1)
    return smooth


# of one run, computed from the logs of its measurements without outliers
PROPERTIES: tuple[ShapeStatistic, ...] = (
    ShapeStatistic("level", "median", lambda v: float(np.median(v))),
    ShapeStatistic("level_half", "median of the second half", lambda v: float(np.median(_half(v)))),
    ShapeStatistic("level_last", f"median of the last {LAST} iterations", lambda v: float(np.median(v[-LAST:]))),
    ShapeStatistic("level_first", f"median of the first {FIRST} iterations", lambda v: float(np.median(v[:FIRST]))),
    ShapeStatistic("low", "5 % quantile of the second half", lambda v: float(np.quantile(_half(v), 0.05))),
    ShapeStatistic("high", "95 % quantile of the second half", lambda v: float(np.quantile(_half(v), 0.95))),
    ShapeStatistic("width", "interquartile range of the second half",
             lambda v: float(np.subtract(*np.quantile(_half(v), [0.75, 0.25])))),
    ShapeStatistic("slope", "slope of the second half", lambda v: _slope(_half(v))),
    *(
        ShapeStatistic(f"memory_{lag}", f"autocorrelation at lag {lag}", partial(_autocorrelation, lag))
        for lag in LAGS
    ),
    ShapeStatistic("warmup", "first tenth against the second half",
             lambda v: float(np.median(v[: max(1, len(v) // 10)]) - np.median(_half(v)))),
    ShapeStatistic("settling", f"last place more than {100 * SETTLED:g} % from the final level", _settling),
)  # fmt: skip


def _range(values: Floats) -> float:
    return float(values.max() - values.min())


def _largest_gap(values: Floats) -> float:
    return float(np.diff(np.sort(values)).max()) if len(values) > 1 else 0.0


def _one_odd(values: Floats) -> float:
    """Return how much farther from the median the farthest run is than the second farthest, between 0 and 1."""
    distances = np.sort(np.abs(values - np.median(values)))
    return float(1 - distances[-2] / distances[-1]) if len(values) > 2 and distances[-1] > 0 else 0.0


SUMMARIES = (
    ShapeStatistic("range", "range", _range),
    ShapeStatistic("sd", "standard deviation", lambda v: float(v.std(ddof=1)) if len(v) > 1 else 0.0),
    ShapeStatistic("gap", "largest gap", _largest_gap),
    ShapeStatistic("odd", "one odd run", _one_odd),
)


def shape_names() -> Iterator[tuple[str, str]]:
    """Yield name and title of each feature of the shape."""
    for of_run in PROPERTIES:
        for summary in SUMMARIES:
            yield f"{of_run.name}_{summary.name}", f"{of_run.title}, {summary.title} over the runs"
    yield "shapes_mean", "mean distance of the runs' smoothed shapes, 1 - correlation"
    yield "shapes_farthest", "largest distance of two runs' smoothed shapes, 1 - correlation"


def can_be_shaped(runs: Sequence[Floats]) -> bool:
    """Return whether there are at least two runs, all long enough and positive."""
    return len(runs) > 1 and min(map(len, runs)) >= MIN_ITERATIONS and all((run > 0).all() for run in runs)


def shape_features(runs: Sequence[Floats]) -> Mapping[str, float] | None:
    """Return the features of the shape of the runs of a benchmark; None if a run is too short or not positive.

    `runs` (shape (n_iterations,)): at least two runs with positive measurements.
    """
    if not can_be_shaped(runs):
        return None
    logs = [np.log(run) for run in runs]
    clipped = [np.clip(log, *np.percentile(log, CLIP)) for log in logs]
    found = {}
    for of_run in PROPERTIES:
        values = np.array([of_run.value(run) for run in clipped])
        for summary in SUMMARIES:
            found[f"{of_run.name}_{summary.name}"] = summary.value(values)
    shapes = [shape - shape.mean() for shape in (_smooth(run) for run in clipped)]
    distances = [_distance(one, other) for one, other in combinations(shapes, 2)]
    return found | {"shapes_mean": float(np.mean(distances)), "shapes_farthest": float(np.max(distances))}


def _distance(one: Floats, other: Floats) -> float:
    n = min(len(one), len(other))
    size = float(np.sqrt((one[:n] @ one[:n]) * (other[:n] @ other[:n])))
    return 1.0 - float(one[:n] @ other[:n]) / size if size > 0 else 0.0


SEGMENT_VERSION = 1  # increase this number if a feature is computed in a different way
POOLED = 10  # iterations per mean
PENALTY = 5  # per log of the number of means; a mean of ten iterations says as much as three penalties of one iteration
LEAST = 10  # means; shorter runs have one segment

SEGMENT_PROPERTIES = (
    ("segments", "number of segments"),
    ("segment_place", f"end of the last segment more than {100 * SETTLED:g} % from the final level"),
    ("segment_jump", "largest jump between segments"),
    ("segment_last", "length of the last segment"),
)


def segment_names() -> Iterator[tuple[str, str]]:
    """Yield name and title of each feature."""
    for name, title in SEGMENT_PROPERTIES:
        for summary in SUMMARIES:
            yield f"{name}_{summary.name}", f"{title}, {summary.title} over the runs"


def segments_of(run: Floats) -> tuple[float, float, float, float]:
    """Return the four properties of a run: number, place and last length as shares of the run, and jump of logs.

    The segments are those of the quick rule of `analysis.methods.steady` without its bootstrap, on means of ten
    iterations. The unit does not matter.
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
        for j, (name, _) in enumerate(SEGMENT_PROPERTIES)
        for summary in SUMMARIES
    }


DEFINITION = 1  # increase this number if a feature is computed in a different way
# the sources of features that are computed from the runs, not from a verdict; segments take longer
RUNS, SEGMENTS = "runs", "segments"


@dataclass(frozen=True)
class Feature:
    """A feature of items. A larger value means that the runs of the item are more dissimilar."""

    name: str  # key in `FEATURES`, and display name
    title: str
    source: str  # the classifier whose verdict contains the feature, or `RUNS` or `SEGMENTS`
    value: Callable[[Verdict], float | None] | None = None  # None for features of the runs
    # Function of the score, if the feature depends only on the score of the verdict.
    of_score: Callable[[float], float] | None = None

    @property
    def version(self) -> str:
        """Return the version of the feature. A model can only use features of the version that it was fitted with."""
        of_runs = {RUNS: 1, SEGMENTS: SEGMENT_VERSION}
        return f"{DEFINITION}.{of_runs.get(self.source) or CLASSIFIERS[self.source].version}"


def run_against_rest(pairs: Floats) -> float:
    """Return the largest mean dissimilarity between one run and all others.

    Reviewers often see a single unusual run.

    `pairs` (shape (k(k-1) / 2,)): values of a measure for all pairs i < j in row order.
    """
    k = int((1 + np.sqrt(1 + 8 * len(pairs))) / 2)
    i, j = np.triu_indices(k, 1)
    sums = np.bincount(i, weights=pairs, minlength=k) + np.bincount(j, weights=pairs, minlength=k)
    return float(sums.max() / (k - 1))


def _mean(measure: str, verdict: Verdict) -> float | None:
    return verdict.means.get(measure)


def _farthest(measure: str, verdict: Verdict) -> float | None:
    return run_against_rest(verdict.pairs[measure]) if measure in verdict.pairs else None


def _from_score(function: Callable[[float], float], verdict: Verdict) -> float | None:
    return None if verdict.score is None else function(verdict.score)


def _bounded(score: float) -> float:
    return score / (1 + score)


def _of_score(name: str, title: str, source: str, function: Callable[[float], float] = float) -> Feature:
    return Feature(name, title, source, partial(_from_score, function), function)


_MEASURES = {
    "m1": "heuristic", "m2": "heuristic", "m3": "heuristic", "m4": "heuristic", "m5": "heuristic",
    "cosine": "same", "wave_hedges": "same", "kumar_hassebrook": "same", "scaled_rmse": "same",
}  # fmt: skip

FEATURES: dict[str, Feature] = {
    feature.name: feature
    for feature in (
        *(Feature(name, title_of(name), of, partial(_mean, name)) for name, of in _MEASURES.items()),
        _of_score("same_height", "height of the last merge of SAME", "same"),
        _of_score("spread", "spread of the run means, s / (1 + s)", "spread", _bounded),
        _of_score("kruskal", "epsilon squared of the Kruskal-Wallis test", "kruskal"),
        *(
            Feature(f"apart_{name}", f"{title_of(name)}, farthest run", of, partial(_farthest, name))
            for name, of in _MEASURES.items()
        ),
        *(Feature(name, title, RUNS) for name, title in shape_names()),
        *(Feature(name, title, SEGMENTS) for name, title in segment_names()),
    )
}
DEFAULT_FEATURES = tuple(FEATURES)
SEGMENT_FEATURES = tuple(name for name, feature in FEATURES.items() if feature.source == SEGMENTS)
MEASURE_FEATURES = tuple(name for name, feature in FEATURES.items() if feature.source not in (RUNS, SEGMENTS))


def features_of(
    verdicts: Iterable[Verdict], runs: Runs | None = None, segments: Mapping[str, float] | None = None
) -> dict[str, float | None]:
    """Compute the features of one item from its verdicts and its runs.

    Only verdicts of the built-in classifiers count. `runs` are without warm-up, and `segments` is the result of
    `segment_features` for them. A feature is None if its verdict or the runs are missing, or lack the numbers.
    """
    by_name = {verdict.classifier: verdict for verdict in verdicts}
    shape = {**((None if runs is None else shape_features(list(runs.values))) or {}), **(segments or {})}
    return {
        name: shape.get(name)
        if feature.value is None
        else feature.value(by_name[feature.source])
        if feature.source in by_name
        else None
        for name, feature in FEATURES.items()
    }


AGREED, MAJORITY, LABELS = "agreed", "majority", "labels"
TARGETS = {
    AGREED: "items with equal first labels",
    MAJORITY: "majority of first and third labels, with adjudicated split items",
    LABELS: "each first label separately",
}


def target_of(answers: pd.DataFrame, consensus: str = AGREED, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the categories that a model learns from: one row per item with a consensus, or one row per label.

    Raises ValueError if the target is unknown, or the answer table is invalid.

    `answers`: columns item, reviewer, label; optionally kind and assignment (`analysis.raters.tables.with_defaults`).
    Answers of the kinds third and adjudicated count for the majority. The result has the columns item and category.
    With "labels" there is one row per label, so an item may have several rows.
    """
    if consensus not in TARGETS:
        raise ValueError(f"the target must be one of {', '.join(TARGETS)}, got {consensus!r}")
    answered = with_defaults(answers)
    first = first_of(answered, categories)
    counted = first.loc[first["kind"].isin(COUNTED_KINDS), ["item", "rater", "category"]]
    labels = counted.drop_duplicates(["item", "rater"])
    if consensus == LABELS:
        return labels[["item", "category"]]
    if consensus == AGREED:
        table = agreed_only(labels, categories)
    else:
        third = third_labels(first)
        decided = answered[(answered["kind"] == "adjudicated") & answered["label"].isin(categories)]
        decisions = dict(zip(decided["item"], decided["label"], strict=True))
        table = majority(labels, third[["item", "rater", "category"]], decisions, categories)
    found = table["category"].dropna()
    return pd.DataFrame({"item": found.index.astype(object), "category": found.to_numpy(dtype=object)})


def retest_counts(answers: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> tuple[int, int]:
    """Return the number of hidden retests in which a reviewer changed the label, and the number of all retests."""
    first = first_of(with_defaults(answers), categories)
    counted = first[first["kind"].isin(COUNTED_KINDS)].drop_duplicates(["item", "rater"])
    again = first[first["kind"] == "retest"].drop_duplicates(["item", "rater"])
    pairs = counted.merge(again, on=["item", "rater"], suffixes=("", "_again"))
    return int((pairs["category"] != pairs["category_again"]).sum()), len(pairs)
