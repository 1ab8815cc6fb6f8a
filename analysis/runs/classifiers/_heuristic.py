"""The heuristic judges runs dissimilar if at least three of five mean dissimilarities exceed theta."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.runs.classifiers._verdict import Verdict, background_of
from analysis.runs.dissimilarity import MEASURES, MIN_ITERATIONS, TOO_SHORT, compression_exceeds
from analysis.runs.runs import Runs, Warmup

VERSION = 1
N_EXCEEDING = 3  # of the five


def heuristic(
    runs: Sequence[ArrayLike] | Runs,
    *,
    theta: float = 0.25,
    keep_mean: bool = False,
    drop: Warmup = 0,
    only_verdict: bool = False,
) -> Verdict:
    """Judge runs dissimilar if at least three of five means exceed theta (Algorithm 1 of the paper [1]_).

    The score is the median of the five means. It exceeds theta if and only if at least three means exceed theta.

    Parameters
    ----------
    runs : sequence of array_like of float, each of shape (n_iterations,), or Runs
        The runs of one benchmark, at least two; runs of unequal length are cut to the shortest.
    theta : float
        Threshold that a mean must exceed; 0.25 in the paper.
    keep_mean : bool
        Whether M3 keeps Fourier coefficient 0. True is the formula as printed (classifier `heuristic-printed`); False
        reproduces the published tables.
    drop : int or float
        Warm-up left out at the start of each run: a number of iterations, or a share below 1. 0 in the paper.
    only_verdict : bool
        Compute only the means that decide the verdict, which often avoids the slow M2. The verdict is the same, but it
        has no score, and contains only the computed means.

    Returns
    -------
    Verdict
        There is no verdict if the runs have fewer than 50 iterations after the warm-up.

    Raises
    ------
    ValueError
        If there are fewer than two runs, a measurement is NaN or infinite (`MeasurementError`), or theta is NaN.

    Notes
    -----
    On the data of the paper, M2 always exceeds 0.25, so the rule becomes "two of M1, M3, M4, M5". The rule M1 > 0.25
    nearly always gives the same verdict, so the heuristic mostly measures whether the runs share a pattern over time.
    Ten runs of pure noise around the same mean are dissimilar; with `keep_mean=True` they are similar. The choice of
    `keep_mean` changes 18 % of the verdicts on these data; every other open choice changes at most a few percent.

    References
    ----------
    .. [1] Bauer et al. (2023), ICPE '23 Companion, doi:10.1145/3578245.3584693

    Examples
    --------
    >>> step = np.repeat([1.0, 2.0], 50)
    >>> heuristic([step, step, step]).verdict, heuristic([step, step[::-1], step]).verdict
    ('similar', 'dissimilar')
    """
    shared = Runs.of(runs, drop)
    name = "heuristic-printed" if keep_mean else "heuristic"
    background = background_of(shared, theta, VERSION, theta=theta, keep_mean=keep_mean, drop=drop)
    if shared.n < MIN_ITERATIONS:
        return Verdict(name, None, reason=TOO_SHORT, **background)
    sources = {"m1": "m1", "m2": "m2", "m3": "m3_with_mean" if keep_mean else "m3", "m4": "m4", "m5": "m5"}
    if only_verdict:
        exceeds, means = _decide(shared, sources, theta)
        verdict = DISSIMILAR if exceeds else SIMILAR
        return Verdict(name, verdict, means=means, **background)
    pairs = {key: MEASURES[source].of_pairs(shared) for key, source in sources.items()}
    means = {key: float(values.mean()) for key, values in pairs.items()}
    score = float(np.median(list(means.values())))
    return Verdict(name, DISSIMILAR if score > theta else SIMILAR, score=score, means=means, pairs=pairs, **background)


def _decide(shared: Runs, sources: dict[str, str], theta: float) -> tuple[bool, dict[str, float]]:
    """Return whether three of five means exceed theta, and the means that were computed.

    The fastest measures are computed first.
    """
    means: dict[str, float] = {}
    for n_left, key in ((4, "m1"), (3, "m3"), (2, "m4"), (1, "m5")):
        means[key] = float(MEASURES[sources[key]].of_pairs(shared).mean())
        n_exceeding = sum(mean > theta for mean in means.values())
        if n_exceeding >= N_EXCEEDING:
            return True, means
        if n_exceeding + n_left < N_EXCEEDING:
            return False, means
    return compression_exceeds(shared, theta), means
