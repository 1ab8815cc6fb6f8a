"""Explain in sentences what decided a verdict, and which runs differ from the others."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from analysis.arrays import Floats
from analysis.runs.classifiers._changes import CHANGE_RULES
from analysis.runs.classifiers._verdict import Verdict
from analysis.runs.dissimilarity import title_of


def explain(verdict: Verdict) -> tuple[str, ...]:
    """Explain in sentences why a classifier gave this verdict; they number runs from 1, as on the screen.

    Missing evidence is not mentioned.
    """
    if verdict.verdict is None:
        return (f"No verdict: {verdict.reason}.",)
    if verdict.classifier in CHANGE_RULES and verdict.score is not None:
        size = f"{100 * abs(verdict.score):.2g} % {'worse' if verdict.score > 0 else 'better'}"
        return (f"The mean of the runs is {size} after the change." if verdict.score else "The means are equal.",)
    sentences = [_clusters(verdict.clusters, verdict.threshold)] if verdict.clusters else []
    if verdict.means and not verdict.clusters and verdict.threshold is not None:
        sentences.append(_means(verdict, verdict.threshold))
    if verdict.score is not None and verdict.threshold is not None:
        relation = "above" if verdict.score > verdict.threshold else "not above"
        score = _number(verdict.score, verdict.threshold, 3)
        sentences.append(f"The {_name_of_score(verdict)}, {score}, is {relation} the threshold, {verdict.threshold:g}.")
    if verdict.pairs:
        sentences += _farthest(np.mean(list(verdict.pairs.values()), axis=0))
    if verdict.n_left_out:
        n = "1 iteration was" if verdict.n_left_out == 1 else f"{verdict.n_left_out} iterations were"
        sentences.append(f"{n} left out, because the runs have different lengths.")
    return tuple(sentences)


def runs_apart(clusters: Sequence[int]) -> tuple[int, ...]:
    """Return the runs outside the largest cluster, numbered from 0.

    If several clusters are equally large, the first is used.
    """
    if not clusters:
        return ()
    largest = Counter(clusters).most_common(1)[0][0]
    return tuple(run for run, cluster in enumerate(clusters) if cluster != largest)


SCORES = {"spread": "maxSpread", "kruskal": "epsilon squared"}


def _name_of_score(verdict: Verdict) -> str:
    """Return the name of the score, if known."""
    name = verdict.classifier.partition("@")[0]  # also for a variant such as spread@0.05
    if name in SCORES:
        return SCORES[name]
    if verdict.clusters and (verdict.linkage is None or verdict.score == verdict.linkage[-1, 2]):
        return "height of the last merge"
    if (
        verdict.means
        and verdict.score is not None
        and np.isclose(verdict.score, np.median(list(verdict.means.values())))
    ):
        return "median of the means"
    return "score"


def _means(verdict: Verdict, theta: float) -> str:
    means = {
        "m3_with_mean" if name == "m3" and verdict.parameters.get("keep_mean") else name: mean
        for name, mean in verdict.means.items()
    }
    above = [f"{title_of(name)} {_number(mean, theta)}" for name, mean in means.items() if mean > theta]
    below = [f"{title_of(name)} {_number(mean, theta)}" for name, mean in means.items() if mean <= theta]
    text = f"{len(above)} of {len(means)} means {'is' if len(above) == 1 else 'are'} above {theta:g}"
    text += f": {', '.join(above)}" if above else ""
    return f"{text}; not above: {', '.join(below)}." if below else f"{text}."


def _number(value: float, threshold: float, digits: int = 2) -> str:
    """Format a number with enough digits to distinguish it from the threshold."""
    while digits < 15 and value != threshold and f"{value:.{digits}f}" == f"{threshold:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f}"


def _clusters(clusters: Sequence[int], cut: float | None) -> str:
    groups: dict[int, list[int]] = {}
    for run, cluster in enumerate(clusters):
        groups.setdefault(cluster, []).append(run)
    where = "" if cut is None else f" at the cut {cut:g}"
    if len(groups) == 1:
        return f"One cluster{where}: no run differs from the rest."
    listed = "; ".join(_numbers(runs) for runs in groups.values())
    return f"{len(groups)} clusters{where}: runs {listed}. Outside the largest: {_numbers(runs_apart(clusters))}."


def _farthest(pairs: Floats) -> list[str]:
    """Describe the run that is farthest from the others.

    Return an empty list if there are only two runs, or if all runs are equally far from the others.
    """
    k = int((1 + np.sqrt(1 + 8 * len(pairs))) / 2)
    if k < 3 or np.ptp(pairs) == 0:
        return []
    square = np.zeros((k, k))
    i, j = np.triu_indices(k, 1)
    square[i, j] = square[j, i] = pairs
    to_others = square.sum(axis=1) / (k - 1)
    farthest = int(to_others.argmax())
    mean, median = to_others[farthest], np.median(to_others)
    sentence = f"Run {farthest + 1} is farthest from the others: {mean:.2f} on average over its pairs"
    return [f"{sentence}; for the median run, the average is {median:.2f}."]


def _numbers(runs: Sequence[int]) -> str:
    """Format run numbers from 1, with ranges: "1–4, 6"."""
    parts: list[list[int]] = []
    for run in runs:
        if parts and run == parts[-1][-1] + 1:
            parts[-1].append(run)
        else:
            parts.append([run])
    return ", ".join(f"{part[0] + 1}" if len(part) == 1 else f"{part[0] + 1}–{part[-1] + 1}" for part in parts)
