"""Choose what a model learns from: the features of items, and the target, a consensus or each label."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.categories import CATEGORIES
from analysis.classifiers import CLASSIFIERS
from analysis.consensus import agreed_only, majority
from analysis.dissimilarity import title_of
from analysis.learning._segments import SEGMENT_VERSION, segment_names
from analysis.learning._shape import shape_features, shape_names
from analysis.runs import Runs
from analysis.tables import COUNTED_KINDS, first_of, with_defaults

Floats = NDArray[np.float64]
DEFINITION = 1  # increase this number if a feature is computed in a different way
# the sources of features that are computed from the runs, not from a verdict; segments take longer
RUNS, SEGMENTS = "runs", "segments"


class Evidence(Protocol):
    """A verdict and the numbers it is based on, such as `analysis.classifiers.Verdict` or a stored verdict."""

    @property
    def classifier(self) -> str:
        """Return the name of the classifier in `CLASSIFIERS`."""

    @property
    def score(self) -> float | None:
        """Return the score of the verdict."""

    @property
    def means(self) -> Mapping[str, float]:
        """Return the mean of each measure across all pairs of runs."""

    @property
    def pairs(self) -> Mapping[str, Floats]:
        """Return the values of each measure for all pairs of runs."""


@dataclass(frozen=True)
class Feature:
    """A feature of items. A larger value means that the runs of the item are more dissimilar."""

    name: str  # key in `FEATURES`, and display name
    title: str
    source: str  # the classifier whose verdict contains the feature, or `RUNS` or `SEGMENTS`
    value: Callable[[Evidence], float | None] | None = None  # None for features of the runs
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

    Examples
    --------
    >>> run_against_rest(np.array([0.0, 0.5, 0.5]))  # the third run is 0.5 away from both others
    0.5
    """
    k = int((1 + np.sqrt(1 + 8 * len(pairs))) / 2)
    i, j = np.triu_indices(k, 1)
    sums = np.bincount(i, weights=pairs, minlength=k) + np.bincount(j, weights=pairs, minlength=k)
    return float(sums.max() / (k - 1))


def _mean(measure: str, verdict: Evidence) -> float | None:
    return verdict.means.get(measure)


def _farthest(measure: str, verdict: Evidence) -> float | None:
    return run_against_rest(verdict.pairs[measure]) if measure in verdict.pairs else None


def _from_score(function: Callable[[float], float], verdict: Evidence) -> float | None:
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
    verdicts: Iterable[Evidence], runs: Runs | None = None, segments: Mapping[str, float] | None = None
) -> dict[str, float | None]:
    """Compute the features of one item from its verdicts and its runs.

    `verdicts`: verdicts of the built-in classifiers with measures and scores; other verdicts are ignored; `runs`: the
    runs without warm-up, for the features of their shapes; `segments`: the result of `segment_features` for these runs.
    Returns name in `FEATURES` -> value; None if the verdict or the runs are missing, or lack the numbers.

    Examples
    --------
    >>> from analysis.classifiers import same, spread
    >>> step = np.repeat([1.0, 2.0], 50)
    >>> values = features_of([same([step, 3 * step, step]), spread([step, 3 * step, step])])
    >>> round(values["same_height"], 3), round(values["spread"], 3), values["m1"]
    (0.468, 0.545, None)
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


def features_of_table(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the features that need only a verdict table, which are means of measures and functions of scores.

    `verdicts`: columns item and classifier, and optionally score and means (measure -> mean over all pairs of runs).
    The table is indexed by item, with one column per available feature. Features of the farthest run are not available,
    because they need all pairs of runs.

    Examples
    --------
    >>> rows = pd.DataFrame({"item": ["a"], "classifier": ["spread"], "score": [1.0]})
    >>> features_of_table(rows)["spread"].tolist()
    [0.5]
    """
    columns = {}
    for name, feature in FEATURES.items():
        rows = verdicts[verdicts["classifier"] == feature.source]
        if feature.value is None:
            continue
        if feature.of_score is not None and "score" in rows:
            numbers = pd.to_numeric(rows["score"]).astype(float).map(feature.of_score)
        elif feature.of_score is None and "means" in rows:
            numbers = pd.Series([dict(means or {}).get(name) for means in rows["means"]], dtype=float)
        else:
            continue
        column = pd.Series(numbers.to_numpy(dtype=np.float64), index=rows["item"].to_numpy())
        if column.notna().any():
            columns[name] = column
    return pd.DataFrame(columns)


AGREED, MAJORITY, LABELS = "agreed", "majority", "labels"
TARGETS = {
    AGREED: "items with equal first labels",
    MAJORITY: "majority of first and third labels, with adjudicated split items",
    LABELS: "each first label separately",
}


def label_table(answers: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the first labels that count, in the columns item, rater and category.

    Raises ValueError as `analysis.tables.with_defaults`.

    `answers`: columns item, reviewer, label; optionally kind and assignment (`analysis.tables.with_defaults`).
    """
    first = first_of(with_defaults(answers), categories)
    counted = first.loc[first["kind"].isin(COUNTED_KINDS), ["item", "rater", "category"]]
    return counted.drop_duplicates(["item", "rater"]).reset_index(drop=True)


def target_of(answers: pd.DataFrame, consensus: str = AGREED, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the categories that a model learns from: one row per item with a consensus, or one row per label.

    Raises ValueError if the target is unknown, or the answer table is invalid.

    `answers`: as for `label_table`. Answers of the kinds third and adjudicated count for the majority. The result has
    the columns item and category. With "labels" there is one row per label, so an item may have several rows.

    Examples
    --------
    >>> answers = pd.DataFrame({"item": ["a", "a", "b"], "reviewer": ["ada", "ben", "ada"], "label": "similar"})
    >>> target_of(answers)["item"].tolist(), len(target_of(answers, "labels"))
    (['a'], 3)
    """
    if consensus not in TARGETS:
        raise ValueError(f"the target must be one of {', '.join(TARGETS)}, got {consensus!r}")
    labels = label_table(answers, categories)
    if consensus == LABELS:
        return labels[["item", "category"]]
    if consensus == AGREED:
        table = agreed_only(labels, categories)
    else:
        answered = with_defaults(answers)
        first = first_of(answered, categories)
        third = first[first["kind"] == "third"].drop_duplicates(["item", "rater"])
        own = pd.MultiIndex.from_frame(labels[["item", "rater"]])
        third = third[~pd.MultiIndex.from_frame(third[["item", "rater"]]).isin(own)]
        decided = answered[(answered["kind"] == "adjudicated") & answered["label"].isin(categories)]
        decisions = dict(zip(decided["item"], decided["label"], strict=True))
        table = majority(labels, third[["item", "rater", "category"]], decisions, categories)
    found = table["category"].dropna()
    return pd.DataFrame({"item": found.index.astype(object), "category": found.to_numpy(dtype=object)})


def retest_counts(answers: pd.DataFrame) -> tuple[int, int]:
    """Return the number of hidden retests in which a reviewer changed the label, and the number of all retests.

    Raises ValueError as `analysis.tables.with_defaults`.
    """
    first = first_of(with_defaults(answers))
    counted = first[first["kind"].isin(COUNTED_KINDS)].drop_duplicates(["item", "rater"])
    again = first[first["kind"] == "retest"].drop_duplicates(["item", "rater"])
    pairs = counted.merge(again, on=["item", "rater"], suffixes=("", "_again"))
    return int((pairs["category"] != pairs["category_again"]).sum()), len(pairs)
