"""A verdict in sentences: what decided it, and which runs stand apart."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from analysis.classifiers._verdict import Verdict
from analysis.dissimilarity import title_of
from analysis.runs import Floats


def explain(verdict: Verdict) -> tuple[str, ...]:
    """Why a classifier says what it says.

    Parameters
    ----------
    verdict : Verdict
        With its evidence; what is missing is not spoken of.

    Returns
    -------
    tuple of str
        Sentences. Runs are numbered from 1, as on the screen.

    Examples
    --------
    >>> explain(Verdict("other", "dissimilar", score=0.4, threshold=0.3))
    ('The score, 0.400, is above the threshold, 0.3.',)
    """
    if verdict.verdict is None:
        return (f"No verdict: {verdict.reason}.",)
    sentences = [_clusters(verdict.clusters, verdict.threshold)] if verdict.clusters else []
    if verdict.means and not verdict.clusters and verdict.threshold is not None:
        sentences.append(_means(verdict.means, verdict.threshold))
    if verdict.score is not None and verdict.threshold is not None:
        name = "height of the last merge" if verdict.clusters else "median of the means" if verdict.means else "score"
        relation = "above" if verdict.score > verdict.threshold else "not above"
        sentences.append(f"The {name}, {verdict.score:.3f}, is {relation} the threshold, {verdict.threshold:g}.")
    if verdict.pairs:
        sentences.append(_farthest(np.mean(list(verdict.pairs.values()), axis=0)))
    if verdict.n_left_out:
        sentences.append(f"{verdict.n_left_out} iterations were left out, because the runs are of unequal length.")
    return tuple(sentences)


def runs_apart(clusters: Sequence[int]) -> tuple[int, ...]:
    """The runs outside the largest cluster, counted from 0; of equally large clusters the first counts as the largest.

    Examples
    --------
    >>> runs_apart((1, 1, 2, 1))
    (2,)
    """
    if not clusters:
        return ()
    largest = Counter(clusters).most_common(1)[0][0]
    return tuple(run for run, cluster in enumerate(clusters) if cluster != largest)


def _means(means: Mapping[str, float], theta: float) -> str:
    above = [f"{title_of(name)} {mean:.2f}" for name, mean in means.items() if mean > theta]
    below = [f"{title_of(name)} {mean:.2f}" for name, mean in means.items() if mean <= theta]
    text = f"{len(above)} of {len(means)} means are above {theta:g}"
    text += f": {', '.join(above)}" if above else ""
    return f"{text}; not above: {', '.join(below)}." if below else f"{text}."


def _clusters(clusters: Sequence[int], cut: float | None) -> str:
    groups: dict[int, list[int]] = {}
    for run, cluster in enumerate(clusters):
        groups.setdefault(cluster, []).append(run)
    if len(groups) == 1:
        return f"One cluster at the cut {cut:g}: no run stands apart."
    listed = "; ".join(_numbers(runs) for runs in groups.values())
    apart = _numbers(runs_apart(clusters))
    return f"{len(groups)} clusters at the cut {cut:g}: runs {listed}. Outside the largest: {apart}."


def _farthest(pairs: Floats) -> str:
    k = int((1 + np.sqrt(1 + 8 * len(pairs))) / 2)
    square = np.zeros((k, k))
    i, j = np.triu_indices(k, 1)
    square[i, j] = square[j, i] = pairs
    to_others = square.sum(axis=1) / (k - 1)
    farthest = int(to_others.argmax())
    return (
        f"Farthest from the others is run {farthest + 1}: {to_others[farthest]:.2f} on average over its pairs, "
        f"where the median run has {np.median(to_others):.2f}."
    )


def _numbers(runs: Sequence[int]) -> str:
    """Numbers from 1, neighbours joined: "1–4, 6"."""
    parts: list[list[int]] = []
    for run in runs:
        if parts and run == parts[-1][-1] + 1:
            parts[-1].append(run)
        else:
            parts.append([run])
    return ", ".join(f"{part[0] + 1}" if len(part) == 1 else f"{part[0] + 1}–{part[-1] + 1}" for part in parts)
