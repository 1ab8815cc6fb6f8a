"""Decide whether a benchmark detects a change, which requires that ranks and mean differ in each run."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from numpy.typing import ArrayLike

from analysis.benchmark import EVERY_ITERATION, PerRun
from analysis.samples import rank_sum, smallest_rank_sum_p


@dataclass(frozen=True)
class Pair:
    """A run of the baseline, and the same run with the altered method."""

    run: str
    p: float | None  # p of the rank-sum test that compares the iterations of both runs
    difference: float | None  # (altered - baseline) / baseline of the run values; None if the baseline is not positive
    n_baseline: int  # number of iterations
    n_altered: int


@dataclass(frozen=True)
class Regression:
    """The result of the test that decides whether a benchmark detects a change."""

    found: bool
    pairs: tuple[Pair, ...]
    p: float | None = None  # the largest p of all pairs
    reason: str | None = None  # why these runs cannot detect even a large change


def is_regression(
    base_runs: Sequence[ArrayLike],
    altered_runs: Sequence[ArrayLike],
    v: float,
    *,
    p: float = 0.01,
    per_run: PerRun = EVERY_ITERATION,
    names: Sequence[str] = (),
) -> Regression:
    """Decide whether a benchmark detects a change, that is, whether every pair of runs shows it [1]_.

    A pair shows a change if p of the rank-sum test is small and the means differ by at least v / 2.

    The test treats the iterations of a run as independent, which is rarely true. The required difference, and the rule
    that all runs must agree, partly compensate for this. Improvements and changes in opposite directions also count.
    Raises ValueError if the numbers of runs or names differ, `v` is negative or not finite, or `p` not within (0, 1).

    Parameters
    ----------
    base_runs, altered_runs : sequence of array_like of float, each of shape (n_iterations,)
        Paired runs, in the same order.
    v : float
        The variability of the suite, a share >= 0.
    p : float
        The p of each pair must be below this limit.
    per_run : PerRun
        Warm-up, and the value that is compared in addition to the ranks: mean, median or min.
    names : sequence of str, optional
        Names of the pairs; by default numbers from 0.

    Returns
    -------
    Regression
        `found` is false and there is a reason in three cases: there are no pairs, the test cannot reach p with so few
        iterations (p = .01 needs five iterations per run), or a baseline value is not positive.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407

    Examples
    --------
    >>> is_regression([[1.0, 1.1, 1.2, 1.3, 1.4]], [[2.0, 2.1, 2.2, 2.3, 2.4]], 0.2).found
    True
    >>> is_regression([[1.0, 1.1, 1.2]], [[2.0, 2.1, 2.2]], 0.2).reason
    'run 0: 3 and 3 iterations cannot give p below 0.01'
    """
    if len(base_runs) != len(altered_runs):
        raise ValueError(
            f"altered_runs must have as many runs as base_runs ({len(base_runs)}), got {len(altered_runs)}"
        )
    check_v(v)
    if not 0 < p < 1:
        raise ValueError(f"p must be within (0, 1), got {p}")
    if names and len(names) != len(base_runs):
        raise ValueError(f"names must have one entry per pair ({len(base_runs)}), got {len(names)}")
    if not base_runs:
        return Regression(False, (), reason="no run was measured both with and without the change")
    run_names = names or [str(number) for number in range(len(base_runs))]
    pairs = tuple(_pair(*sides, per_run) for sides in zip(run_names, base_runs, altered_runs, strict=True))
    highest = max(pair.p for pair in pairs if pair.p is not None)
    reason = next((reason for pair in pairs if (reason := _undetectable(pair, p))), None)
    far = all(pair.difference is not None and abs(pair.difference) >= v / 2 for pair in pairs)
    return Regression(reason is None and highest < p and far, pairs, highest, reason)


def check_v(v: float) -> None:
    """Raise ValueError unless `v` is a share >= 0."""
    if not isfinite(v) or v < 0:
        raise ValueError(f"v must be a share >= 0, got {v}")


def _pair(run: str, base: ArrayLike, altered: ArrayLike, per_run: PerRun) -> Pair:
    before, after = per_run.steady(base), per_run.steady(altered)
    value = per_run.value(base)
    difference = (per_run.value(altered) - value) / value if value > 0 else None
    return Pair(run, rank_sum(before, after).p, difference, len(before), len(after))


def _undetectable(pair: Pair, p: float) -> str | None:
    if pair.difference is None:
        return f"run {pair.run}: the baseline is not positive"
    if smallest_rank_sum_p(pair.n_baseline, pair.n_altered) >= p:
        return f"run {pair.run}: {pair.n_baseline} and {pair.n_altered} iterations cannot give p below {p:g}"
    return None
