"""The Kruskal classifier judges runs dissimilar if a large share of the variation of ranks is between the runs."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.runs.classifiers._verdict import Verdict, background_of
from analysis.runs.dissimilarity import MIN_ITERATIONS
from analysis.runs.runs import Runs, Warmup
from analysis.runs.samples import kruskal as kruskal_test

VERSION = 1
BY_CHANCE = "too short: chance alone would put much of the variation between runs"


def kruskal(runs: Sequence[ArrayLike] | Runs, *, limit: float = 0.06, drop: Warmup = 0) -> Verdict:
    """Judge runs dissimilar if epsilon squared [1]_, the effect size of the Kruskal-Wallis test, exceeds a limit.

    The p value is not used. Iterations of a run are not independent, so the test would nearly always reject. Raises
    ValueError if there are fewer than two runs, a measurement is NaN or infinite (`MeasurementError`), or the limit is
    NaN.

    `limit`: in [0, 1]; runs with a larger effect are dissimilar. 0.06 is called a medium effect. `drop`: warm-up left
    out at the start of each run, as a number of iterations or a share below 1; runs of unequal length are then cut to
    the shortest. If all measurements are equal, the score is 0 and the runs are similar. There is no verdict if the
    runs have fewer than 50 iterations, because the score of equally distributed runs is about 1 / n_iterations, which
    must be far below the limit.

    References
    ----------
    .. [1] Tomczak, Tomczak (2014), Trends in Sport Sciences 1(21):19-25
    """
    shared = Runs.of(runs, drop)
    background = background_of(shared, limit, VERSION, limit=limit, drop=drop)
    score = kruskal_test(list(shared.values)).epsilon2
    if score is None or shared.n < MIN_ITERATIONS:
        return Verdict("kruskal", None, reason=BY_CHANCE, **background)
    return Verdict("kruskal", DISSIMILAR if score > limit else SIMILAR, score=score, **background)
