"""The spread classifier judges runs dissimilar if their means are too far apart."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.runs.classifiers._verdict import Verdict, background_of
from analysis.runs.runs import Runs, Warmup
from analysis.runs.spread import max_spread

VERSION = 1


def spread(runs: Sequence[ArrayLike] | Runs, *, limit: float = 0.10, drop: Warmup = 0) -> Verdict:
    """Judge runs dissimilar if maxSpread [1]_ exceeds a limit.

    maxSpread is (largest - smallest) / mean of the means of the runs.

    The classifier compares only levels, and no patterns over time. It therefore works for runs of any length. Raises
    ValueError if there are fewer than two runs, a measurement is NaN or infinite (`MeasurementError`), or the limit is
    NaN.

    `limit`: runs with a larger maxSpread, which grows with the number of runs, are dissimilar. 0.10 is the second limit
    of the paper's buckets. `drop`: warm-up left out at the start of each run, as a number of iterations or a share
    below 1; runs of unequal length are then cut to the shortest. There is no verdict if the mean is not positive.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407
    """
    shared = Runs.of(runs, drop)
    score = max_spread(shared.values.mean(axis=1))
    background = background_of(shared, limit, VERSION, limit=limit, drop=drop)
    if score.value is None:
        return Verdict("spread", None, reason=score.reason, **background)
    return Verdict("spread", DISSIMILAR if score.value > limit else SIMILAR, score=score.value, **background)
