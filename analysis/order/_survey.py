"""The question of order, asked of a suite of benchmarks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.measured import (
    ALTERED,
    CONTEXT,
    EVERY_ITERATION,
    ORDER_POSITION,
    ORDER_TYPE,
    VERSION,
    Advance,
    LeftOut,
    Measured,
    Sampling,
    by_level,
    unwatched,
)
from analysis.order._compare import Cell, Comparison, below, compared
from analysis.order._failures import FIXED, RANDOM, Dropped, drop_failed
from analysis.order._medians import checked_compat
from analysis.order._positions import Placed, corrected, placed, predecessors
from analysis.order._systems import Conclusion, conclusions, two_versions
from analysis.runs import Floats


@dataclass(frozen=True)
class Survey:
    """What `survey` found.

    Attributes
    ----------
    tests : tuple of Comparison
        Fixed against random order, one for each benchmark (and version) that has both.
    n_tests : int
        |T|.
    alpha : float
    threshold, level : float or None
        alpha / |T|, and 1 - alpha / |T|, the level of all intervals; None without a test.
    matters : bool or None
        Whether any p is below alpha / |T|; None without a test.
    matters_uncorrected : bool or None
        Whether any p is below alpha.
    conclusions : tuple of Conclusion
        One for each benchmark that has both versions in both orders.
    positions : tuple of Placed
        The weaker tests, for each benchmark (and version) whose position varies.
    n_position_tests : int
        Tests for trend and predecessor together.
    position_threshold : float or None
        alpha / n_position_tests.
    position_matters : bool or None
        Whether any of these p is below that; it does not enter `matters`.
    dropped : tuple of Dropped
        Runs in which a benchmark failed.
    left_out : tuple of LeftOut
    parameters : mapping of str to object
    """

    tests: tuple[Comparison, ...]
    n_tests: int
    alpha: float
    threshold: float | None
    level: float | None
    matters: bool | None
    matters_uncorrected: bool | None
    conclusions: tuple[Conclusion, ...]
    positions: tuple[Placed, ...]
    n_position_tests: int
    position_threshold: float | None
    position_matters: bool | None
    dropped: tuple[Dropped, ...]
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]


@dataclass
class _Found:
    cells: list[Cell] = field(default_factory=list)
    positions: list[Placed] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def survey(
    benchmarks: Sequence[Measured],
    *,
    sampling: Sampling = EVERY_ITERATION,
    alpha: float = 0.05,
    compat: str | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
    seed: int = 1,
    advance: Advance = unwatched,
) -> Survey:
    """Whether order matters for these benchmarks: it does if for any of them p < alpha / |T| [1]_.

    Parameters
    ----------
    benchmarks : sequence of Measured
        With the condition order_type ("fixed" or "random"), and run, order_position, version where known. Each
        version is tested alone, and so is each context, as `NAME @ CONTEXT`.
    sampling : Sampling
        How a run becomes one number.
    alpha : float
        In (0, 1).
    compat : str, optional
        As for `median_interval`.
    baseline, candidate : str, optional
        The two versions whose conclusions are compared; otherwise the first and the second there is, if there are
        two. Then only these are tested.
    seed : int
        Kept with the parameters; nothing is drawn at random.
    advance : callable
        Called with how many benchmarks are done, of how many.

    Returns
    -------
    Survey
        Benchmarks that cannot be tested are in `left_out`, with what would be needed.

    Raises
    ------
    ValueError
        If alpha is not within (0, 1), `compat` is another word, or a named version is nowhere.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin

    Examples
    --------
    >>> runs = tuple(np.array([mean]) for mean in (1.0, 1.1, 1.2, 1.1, 1.0, 1.2))
    >>> answer = survey([Measured("parse", runs, conditions={"order_type": ("fixed",) * 3 + ("random",) * 3})])
    >>> answer.matters, answer.n_tests
    (False, 1)
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be within (0, 1), got {alpha}")
    checked_compat(compat)
    pair, no_pair = two_versions(benchmarks, baseline, candidate)
    left, dropped, lost = drop_failed(benchmarks)
    kept = [part for benchmark in left for part in by_level(benchmark, (CONTEXT, ALTERED))]
    found = _Found(left_out=[*lost, *([LeftOut("conclusions on two versions", no_pair)] if no_pair else [])])
    for done, (benchmark, before) in enumerate(zip(kept, predecessors(kept), strict=True), 1):
        _read(benchmark, before, sampling, pair, found)
        advance(done, len(kept))
    parameters = {
        "warmup": sampling.warmup, "aggregate": sampling.aggregate, "alpha": alpha, "compat": compat,
        "baseline": pair[0] if pair else baseline, "candidate": pair[1] if pair else candidate, "seed": seed,
    }  # fmt: skip
    return _answer(found, pair, dropped, parameters, alpha=alpha, compat=compat)


def _answer(
    found: _Found,
    pair: tuple[str, str] | None,
    dropped: tuple[Dropped, ...],
    parameters: Mapping[str, object],
    *,
    alpha: float,
    compat: str | None,
) -> Survey:
    tests, positions = compared(found.cells, alpha=alpha, compat=compat), corrected(found.positions)
    n, p = len(tests), [p for one in positions for p in (one.trend.p, one.after.p) if p is not None]
    return Survey(
        tests=tests,
        n_tests=n,
        alpha=alpha,
        threshold=alpha / n if n else None,
        level=1 - alpha / n if n else None,
        matters=any(test.differs for test in tests) if n else None,
        matters_uncorrected=any(test.differs_uncorrected for test in tests) if n else None,
        conclusions=conclusions(tests, pair) if pair else (),
        positions=positions,
        n_position_tests=len(p),
        position_threshold=alpha / len(p) if p else None,
        position_matters=below(min(p), alpha / len(p)) if p else None,
        dropped=dropped,
        left_out=tuple(found.left_out),
        parameters=parameters,
    )


def _read(
    benchmark: Measured, before: Sequence[str | None], sampling: Sampling, pair: tuple[str, str] | None, found: _Found
) -> None:
    """The tests that a benchmark allows, and why not others."""
    try:
        values = sampling.values(benchmark.runs)
    except ValueError as error:  # nothing is left behind the warm-up
        found.left_out.append(LeftOut(benchmark.name, str(error)))
        return
    there = list(dict.fromkeys(benchmark.of(VERSION)))
    versions = [version for version in there if pair is None or version in pair]
    found.left_out += _unread(benchmark, versions)
    for one in placed(benchmark, values, before, versions):
        cell = _cell(benchmark, values, one.version)
        if len(cell.fixed) and len(cell.random):
            found.cells.append(cell)
        if one.trend.p is not None or one.after.p is not None:
            found.positions.append(one)
        elif not (len(cell.fixed) and len(cell.random)):
            name = f"{benchmark.name} ({one.version})" if one.version else benchmark.name
            found.left_out.append(LeftOut(name, _why_not(cell, one)))


def _cell(benchmark: Measured, values: Floats, version: str) -> Cell:
    kinds, versions = np.array(benchmark.of(ORDER_TYPE)), np.array(benchmark.of(VERSION))
    fixed, random = (values[(kinds == kind) & (versions == version)] for kind in (FIXED, RANDOM))
    return Cell(benchmark.name, benchmark.application, version, benchmark.unit, benchmark.better, fixed, random)


def _unread(benchmark: Measured, versions: Sequence[str]) -> Iterator[LeftOut]:
    others = sum(version not in versions for version in benchmark.of(VERSION))
    if others:
        yield LeftOut(benchmark.name, f"{others} runs of other versions than {' and '.join(versions) or 'the two'}")
    unknown = [kind for kind in benchmark.levels(ORDER_TYPE) if kind not in (FIXED, RANDOM)]
    if unknown:
        n = sum(kind in unknown for kind in benchmark.of(ORDER_TYPE))
        yield LeftOut(benchmark.name, f"{n} runs of order_type {', '.join(unknown)}: neither {FIXED} nor {RANDOM}")


def _why_not(cell: Cell, one: Placed) -> str:
    """What would be needed."""
    if len(cell.fixed):
        return f"all runs are in fixed order: runs with {ORDER_TYPE} = {RANDOM} are needed to compare with"
    if one.positions:
        return f"{one.trend.reason}; {ORDER_TYPE} ({FIXED} and {RANDOM}) would allow to compare two orders"
    if len(cell.random):
        fixed = f"runs with {ORDER_TYPE} = {FIXED} are needed to compare with"
        return f"all runs are in random order: {fixed}, or {ORDER_POSITION} for the weaker tests"
    return f"no run has an order: the column {ORDER_TYPE} ({FIXED} or {RANDOM}) is needed, or {ORDER_POSITION}"
