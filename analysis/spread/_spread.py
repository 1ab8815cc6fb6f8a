"""Compute the spread of the runs of a benchmark, and the variability of a suite."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations
from math import comb, inf, isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.bootstrap import bootstrap
from analysis.intervals import Estimate
from analysis.runs import Floats
from analysis.samples import NO_VARIATION

PER = 5  # the paper has five runs per benchmark
MAX_SUBSETS = 200_000  # maximum number of choices to enumerate; more choices would take over 20 ms per benchmark
KEPT_PERCENT = 95  # percentage of the spreads that the variability of a suite covers, smallest first

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

    Examples
    --------
    >>> round(max_spread([9.0, 10.0, 11.0]).value, 4)
    0.2
    >>> round(max_spread([9.0, 10.0, 11.0], per=2).value, 4)  # 1/9.5, 1/10.5 and 2/10
    0.1335
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

    Examples
    --------
    >>> round(cv([9.0, 10.0, 11.0]).value, 6)
    0.1
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

    Examples
    --------
    >>> bucket(0.05), bucket(0.0501), bucket(3.0)
    ('up to 5 %', '5 to 10 %', 'above 50 %')
    """
    if isnan(spread) or spread < 0:
        raise ValueError(f"spread must be at least 0, got {spread}")
    return next(name for name, highest in BUCKETS.items() if spread <= highest)


def variability(
    max_spreads: ArrayLike, *, resamples: int = 0, alpha: float = 0.05, rng: np.random.Generator | None = None
) -> Estimate:
    """Compute the slowdown v that a suite should show [1]_.

    v is twice the largest spread, after the largest 5 % of the spreads are left out.

    v = 2 max{MS_i : 0 < i <= floor(.95 |MS|)}, where MS is in ascending order and i starts at 1. Raises ValueError if a
    spread is negative or not finite, or `rng` is missing.

    `max_spreads` (shape (n_benchmarks,)): shares >= 0; `resamples`: resamples for the bootstrap interval; 0 for no
    interval; `alpha`: the level of the interval is 1 - alpha; `rng`: required for an interval. Returns a share >= 0.
    Undefined if there are fewer than two spreads, because floor(.95) is 0.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407

    Examples
    --------
    >>> variability([0.3, 0.01, 0.02]).value  # floor(2.85) = 2: of .01, .02, .3 the second
    0.04
    """
    spreads = np.sort(np.asarray(max_spreads, dtype=np.float64))
    if spreads.ndim != 1 or not np.isfinite(spreads).all() or (spreads < 0).any():
        raise ValueError(f"max_spreads must be a series of finite shares >= 0, got {spreads}")
    if resamples and rng is None:
        raise ValueError(f"rng is needed for resamples = {resamples}")
    n_kept = KEPT_PERCENT * len(spreads) // 100  # computed with integers, because .95 n has rounding errors
    if n_kept < 1:
        return Estimate(None, reason=f"fewer than two spreads ({len(spreads)})")
    if not resamples or rng is None:
        return Estimate(float(2 * spreads[n_kept - 1]))

    def of_draws(weights: Floats) -> Floats:
        drawn: Floats = 2 * spreads[np.argmax(np.cumsum(weights, axis=1) >= n_kept, axis=1)]
        return drawn

    return bootstrap(of_draws, len(spreads), rng=rng, n_draws=resamples, level=1 - alpha)


def defined(estimates: Sequence[Estimate]) -> list[float]:
    """Return the values of all defined estimates."""
    return [estimate.value for estimate in estimates if estimate.value is not None]


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
