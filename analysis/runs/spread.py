"""How far apart the runs of a benchmark are."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain, combinations
from math import comb, inf, isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats
from analysis.runs.samples import NO_VARIATION
from analysis.statistics.intervals import Estimate

MAX_SUBSETS = 200_000  # maximum number of choices to enumerate; more choices would take over 20 ms per benchmark


# name of a range of spread -> largest spread in it
BUCKETS: Mapping[str, float] = {
    "up to 5 %": 0.05, "5 to 10 %": 0.1, "10 to 25 %": 0.25, "25 to 50 %": 0.5, "above 50 %": inf,
}  # fmt: skip


def max_spread(values: ArrayLike, *, per: int | None = None) -> Estimate:
    """Compute the spread of the runs of a benchmark: (max - min) / mean [1]_.

    Raises ValueError if `per` is below 2, or `values` is not a series of finite numbers.

    `values` (shape (n_runs,)): one number per run, such as its mean; any unit; `per`: the spread grows with the number
    of runs. With `per`, the result is the average over all choices of `per` runs, so that benchmarks with different
    numbers of runs can be compared. Up to 200 000 choices are enumerated. If there are more choices, the result is the
    average range divided by the mean of all runs, and `reason` says so. Returns a share >= 0, without interval.
    Undefined if there are fewer than two runs or fewer than `per` runs, or if the mean of the runs (or of one choice)
    is not positive.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407
    """
    x, reason = _run_values(values)
    if per is not None and per < 2:
        raise ValueError(f"per must be at least 2, got {per}")
    if reason:
        return Estimate(None, reason=reason)
    if per is None:
        return Estimate(float((x.max() - x.min()) / x.mean()))
    if per > len(x):
        return Estimate(None, reason=f"fewer than {per} runs ({len(x)})")
    if comb(len(x), per) > MAX_SUBSETS:
        return Estimate(
            _average_range(x, per) / float(x.mean()),
            reason="too many choices of runs to enumerate, so this is the average range / mean of all runs",
        )
    chosen = x[_choices(len(x), per)]
    means = chosen.mean(axis=1)
    if means.min() <= 0:
        return Estimate(None, reason=f"the mean of a choice of {per} runs is not positive")
    return Estimate(float(((chosen.max(axis=1) - chosen.min(axis=1)) / means).mean()))


def cv(values: ArrayLike) -> Estimate:
    """Compute the coefficient of variation of run values: the sample standard deviation divided by the mean.

    Raises ValueError if `values` is not a series of finite numbers.

    `values` (shape (n_runs,)): one number per run. Returns a share >= 0, without interval. Undefined if there are fewer
    than two runs, or if the mean is not positive.
    """
    x, reason = _run_values(values)
    if reason:
        return Estimate(None, reason=reason)
    if x.min() == x.max():
        return Estimate(0.0, reason=NO_VARIATION)
    return Estimate(float(x.std(ddof=1) / x.mean()))


def bucket(spread: float) -> str:
    """Return the name of the range that contains a spread [1]_.

    The ranges, named in `BUCKETS`, are (0, .05], (.05, .1], (.1, .25], (.25, .5] and above .5. Raises ValueError if
    `spread` is negative or not a number.

    `spread`: a share >= 0. The paper leaves out 0; here, equal runs are in the first range.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407
    """
    if isnan(spread) or spread < 0:
        raise ValueError(f"spread must be at least 0, got {spread}")
    return next(name for name, highest in BUCKETS.items() if spread <= highest)


def _run_values(values: ArrayLike) -> tuple[Floats, str | None]:
    """Check the values of the runs; return them sorted and divided by a power of two, which avoids overflow.

    Sums of sorted values do not depend on the order of the runs, not even in the last digit. Also return the reason if
    the spread of the values is undefined, otherwise None.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not np.isfinite(x).all():
        raise ValueError(f"values must be a series of finite numbers, one per run, got {x}")
    if len(x) < 2:
        return x, f"fewer than two runs ({len(x)})"
    scaled: Floats = np.ldexp(np.sort(x), -int(np.frexp(np.abs(x).max())[1]))
    return scaled, None if scaled.mean() > 0 else "the mean of the runs is not positive"


def _average_range(x: Floats, per: int) -> float:
    """Return the average range (largest - smallest) over all choices of `per` values.

    The i-th value is the largest in C(i - 1, per - 1) choices.
    """
    total = comb(len(x), per)
    largest = np.array([comb(i, per - 1) / total for i in range(len(x))])
    ascending = np.sort(x)
    return float(ascending @ largest - ascending @ largest[::-1])


@lru_cache(maxsize=8)
def _choices(n: int, k: int) -> NDArray[np.intp]:
    """Return all choices of k out of n indices, shape (C(n, k), k)."""
    return np.fromiter(chain.from_iterable(combinations(range(n), k)), np.intp, comb(n, k) * k).reshape(-1, k)
