"""Compute the features of items for learned models, from numbers behind the verdicts of classifiers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.classifiers import CLASSIFIERS
from analysis.dissimilarity import title_of

Floats = NDArray[np.float64]
DEFINITION = 1  # increase this number if a feature is computed in a different way


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
    source: str  # the classifier whose verdict contains the feature
    value: Callable[[Evidence], float | None]  # `Evidence` -> float, or None if missing
    # Function of the score, if the feature depends only on the score of the verdict.
    of_score: Callable[[float], float] | None = None

    @property
    def version(self) -> str:
        """Return the version of the feature. A model can only use features of the version that it was fitted with."""
        return f"{DEFINITION}.{CLASSIFIERS[self.source].version}"


def run_against_rest(pairs: Floats) -> float:
    """Return the largest mean dissimilarity between one run and all others.

    Reviewers often see a single unusual run.

    Parameters
    ----------
    pairs : ndarray of float, shape (k(k-1)/2,)
        Values of a measure for all pairs i < j in row order.

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
    )
}
DEFAULT_FEATURES = tuple(FEATURES)


def features_of(verdicts: Iterable[Evidence]) -> dict[str, float | None]:
    """Compute the features of one item from its verdicts.

    Parameters
    ----------
    verdicts : iterable of Evidence
        Verdicts of the built-in classifiers with measures and scores; other verdicts are ignored.

    Returns
    -------
    dict of str to float or None
        Name in `FEATURES` -> value; None if the verdict is missing or lacks the numbers for the feature.

    Examples
    --------
    >>> from analysis.classifiers import same, spread
    >>> step = np.repeat([1.0, 2.0], 50)
    >>> values = features_of([same([step, 3 * step, step]), spread([step, 3 * step, step])])
    >>> round(values["same_height"], 3), round(values["spread"], 3), values["m1"]
    (0.468, 0.545, None)
    """
    by_name = {verdict.classifier: verdict for verdict in verdicts}
    return {
        name: feature.value(by_name[feature.source]) if feature.source in by_name else None
        for name, feature in FEATURES.items()
    }


def features_of_table(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the features that need only a verdict table, which are means of measures and functions of scores.

    Parameters
    ----------
    verdicts : DataFrame
        Columns item and classifier, and optionally score and means (measure -> mean over all pairs of runs).

    Returns
    -------
    DataFrame
        Indexed by item, with one column per available feature. Features of the farthest run are not available, because
        they need all pairs of runs.

    Examples
    --------
    >>> rows = pd.DataFrame({"item": ["a"], "classifier": ["spread"], "score": [1.0]})
    >>> features_of_table(rows)["spread"].tolist()
    [0.5]
    """
    columns = {}
    for name, feature in FEATURES.items():
        rows = verdicts[verdicts["classifier"] == feature.source]
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
