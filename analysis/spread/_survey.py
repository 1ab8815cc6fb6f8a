"""The whole question asked of a suite: how far runs are apart, in which buckets, and what the suite would notice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.intervals import Estimate, wilson
from analysis.measured import (
    ALTERED,
    CONTEXT,
    EVERY_ITERATION,
    VERSION,
    Advance,
    LeftOut,
    Measured,
    Sampling,
    by_level,
    unwatched,
)
from analysis.runs import Floats
from analysis.spread._score import Score, api_benchmarking_score
from analysis.spread._spread import BUCKETS, PER, bucket, cv, defined, max_spread, variability


@dataclass(frozen=True)
class Spread:
    """The runs of one benchmark, on one version, with one altered method, in one context.

    Attributes
    ----------
    name : str
        The benchmark, with its version, altered method and context where it has several: `NAME @ LEVEL`.
    benchmark, application, unit : str
    conditions : mapping of str to str
        Version, altered method and context, as far as they are known.
    n_runs : int
    n_failed : int
        Runs that gave nothing.
    values : tuple of float, shape (n_runs,)
        One number a run, in `unit`.
    max_spread : Estimate
        Over all runs.
    per_spread : Estimate
        Averaged over all choices of `Survey.per` runs.
    judged : float or None
        The one of the two that the buckets are made of.
    cv : Estimate
    bucket : str or None
        None where there is a reason.
    reason : str or None
        Why it is in no bucket.
    """

    name: str
    benchmark: str
    application: str
    unit: str
    conditions: Mapping[str, str]
    n_runs: int
    n_failed: int
    values: tuple[float, ...]
    max_spread: Estimate
    per_spread: Estimate
    judged: float | None
    cv: Estimate
    bucket: str | None
    reason: str | None


@dataclass(frozen=True)
class BucketRow:
    """How many benchmarks are in each bucket.

    Attributes
    ----------
    application : str
    n : int
    counts : mapping of str to int
        Bucket, in the order of `BUCKETS`, -> benchmarks.
    shares : mapping of str to Estimate
        With Wilson's intervals.
    n_runs : tuple of int
        The numbers of runs that occur.
    median : float or None
        Of the spreads.
    """

    application: str
    n: int
    counts: Mapping[str, int]
    shares: Mapping[str, Estimate]
    n_runs: tuple[int, ...]
    median: float | None


@dataclass(frozen=True)
class Survey:
    """How stable the benchmarks of a suite are.

    Attributes
    ----------
    spreads : tuple of Spread
        Every benchmark on every level, those in no bucket included, in the order given.
    per : int
        The number of runs behind each `per_spread`.
    overall : BucketRow
    applications : tuple of BucketRow
    v : Estimate
        `variability` of every spread over all runs that is defined; v / 2 is what 95 % of the suite would show.
    score : Score or None
        None if no run has the condition `altered`.
    left_out : tuple of LeftOut
    parameters : mapping of str to object
    """

    spreads: tuple[Spread, ...]
    per: int
    overall: BucketRow
    applications: tuple[BucketRow, ...]
    v: Estimate
    score: Score | None
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]


def survey(
    benchmarks: Sequence[Measured],
    *,
    sampling: Sampling = EVERY_ITERATION,
    per: int | None = None,
    regression_p: float = 0.01,
    baseline: str | None = None,
    without: Sequence[str] = (),
    v: float | None = None,
    alpha: float = 0.05,
    seed: int = 1,
    resamples: int = 0,
    advance: Advance = unwatched,
) -> Survey:
    """How far the runs of each benchmark are apart, in buckets, and, with altered methods, what the suite notices [1]_.

    Versions, altered methods and contexts are taken one by one: a spread across them would not be one.

    Parameters
    ----------
    benchmarks : sequence of Measured
        One suite; several applications have a row of buckets each.
    sampling : Sampling
    per : int, optional
        The buckets are made of spreads averaged over choices of this many runs, so that benchmarks with different
        numbers of runs can stand beside each other; those with fewer are left out. None: of spreads over all runs;
        benchmarks with fewer runs than the most of their application are left out. The spread over choices of five
        runs, as the source has, stands beside it then.
    regression_p, baseline, without, v
        As `api_benchmarking_score`; the last three only where a run has the condition `altered`.
    alpha : float
        The level of intervals is 1 - alpha.
    seed, resamples : int
        Of the interval of `Survey.v`; 0 resamples: none.
    advance : callable
        Told (done, total) after each benchmark, and after each once more where the suite has altered methods.

    Returns
    -------
    Survey
        A benchmark that has no spread, lacks runs, or is all warm-up is listed in `left_out` with the reason.

    Raises
    ------
    ValueError
        If `per` is below 2, `alpha` not within (0, 1), `resamples` negative, `baseline`, `without` or `v` given without
        altered methods, or as `api_benchmarking_score`.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407

    Examples
    --------
    >>> runs = tuple(np.array([mean]) for mean in (1.00, 1.02, 0.99, 1.01))
    >>> answer = survey([Measured("parse", runs)])
    >>> answer.spreads[0].bucket, answer.spreads[0].max_spread
    ('up to 5 %', Estimate(0.02985))
    """
    _check(per, alpha, resamples)
    is_altered = any(benchmark.levels(ALTERED) for benchmark in benchmarks)
    if not is_altered and (baseline, tuple(without), v) != (None, (), None):
        given = f"baseline = {baseline!r}, without = {tuple(without)}, v = {v}"
        raise ValueError(f"{given}: these need runs with the condition altered, and there are none")
    tell, total = advance, len(benchmarks) * (1 + is_altered)
    usable, found, left_out = _spreads(benchmarks, sampling, per, lambda done: tell(done, total))
    spreads = _in_buckets(found, per)
    score = None
    if is_altered:
        gone = {one.name for one in left_out}
        score = api_benchmarking_score(
            usable, sampling=sampling, baseline=baseline, without=[name for name in without if name not in gone], v=v,
            regression_p=regression_p, alpha=alpha, advance=lambda done, n: tell(total - n + done, total),
        )  # fmt: skip
    ms, rng = defined([one.max_spread for one in spreads]), np.random.default_rng(seed)
    parameters = {
        "warmup": sampling.warmup, "aggregate": sampling.aggregate, "per": per, "regression_p": regression_p,
        "baseline": baseline, "without": tuple(without), "v": v, "alpha": alpha, "seed": seed, "resamples": resamples,
    }  # fmt: skip
    return Survey(
        spreads=spreads,
        per=per or PER,
        overall=_row("", spreads, alpha),
        applications=_by_application(spreads, alpha),
        v=variability(ms, resamples=resamples, alpha=alpha, rng=rng),
        score=score,
        left_out=(*left_out, *(LeftOut(one.name, one.reason) for one in spreads if one.reason)),
        parameters=parameters,
    )


def _spreads(
    benchmarks: Sequence[Measured], sampling: Sampling, per: int | None, tell: Callable[[int], None]
) -> tuple[list[Measured], list[Spread], list[LeftOut]]:
    """The benchmarks that have a number for each run, their spreads, and the others."""
    usable, spreads, left_out = [], [], []
    for done, benchmark in enumerate(benchmarks, start=1):
        try:
            spreads += [_spread(benchmark, one, sampling.values(one.runs), per) for one in by_level(benchmark)]
        except ValueError as error:  # a run that is all warm-up
            left_out.append(LeftOut(benchmark.name, str(error)))
        else:
            usable.append(benchmark)
        tell(done)
    return usable, spreads, left_out


def _check(per: int | None, alpha: float, resamples: int) -> None:
    if per is not None and per < 2:
        raise ValueError(f"per must be at least 2, got {per}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be within (0, 1), got {alpha}")
    if resamples < 0:
        raise ValueError(f"resamples must be at least 0, got {resamples}")


def _spread(benchmark: Measured, level: Measured, values: Floats, per: int | None) -> Spread:
    """One benchmark on one level, not yet put in a bucket."""
    over_all, over_some = max_spread(values), max_spread(values, per=per or PER)
    conditions = {name: entry for name in (VERSION, ALTERED, CONTEXT) if (entry := level.of(name)[0])}
    return Spread(
        name=level.name,
        benchmark=benchmark.name,
        application=benchmark.application,
        unit=benchmark.unit,
        conditions=conditions,
        n_runs=len(values),
        n_failed=sum(
            all(failure.conditions.get(name, entry) == entry for name, entry in conditions.items())
            for failure in benchmark.failures
        ),
        values=tuple(values.tolist()),
        max_spread=over_all,
        per_spread=over_some,
        judged=(over_all if per is None else over_some).value,
        cv=cv(values),
        bucket=None,
        reason=None,
    )


def _in_buckets(spreads: Sequence[Spread], per: int | None) -> tuple[Spread, ...]:
    """The same, each in a bucket or with the reason why not."""
    most: dict[str, int] = {}
    for one in spreads:
        most[one.application] = max(one.n_runs, most.get(one.application, 0))
    found = []
    for one in spreads:
        estimate = one.max_spread if per is None else one.per_spread
        reason = estimate.reason if estimate.value is None else None
        if per is None and one.n_runs < most[one.application]:
            reason = f"{one.n_runs} of {most[one.application]} runs"
        if reason and one.n_failed:
            reason += f"; {one.n_failed} failed"
        found.append(replace(one, bucket=None if reason or one.judged is None else bucket(one.judged), reason=reason))
    return tuple(found)


def _by_application(spreads: Sequence[Spread], alpha: float) -> tuple[BucketRow, ...]:
    names = dict.fromkeys(one.application for one in spreads)
    return tuple(_row(name, [one for one in spreads if one.application == name], alpha) for name in names)


def _row(application: str, spreads: Sequence[Spread], alpha: float) -> BucketRow:
    kept = [one for one in spreads if one.bucket]
    counts = {name: sum(one.bucket == name for one in kept) for name in BUCKETS}
    return BucketRow(
        application=application,
        n=len(kept),
        counts=counts,
        shares={name: wilson(count, len(kept), 1 - alpha) for name, count in counts.items()},
        n_runs=tuple(sorted({one.n_runs for one in kept})),
        median=float(np.median(ms)) if (ms := [one.judged for one in kept if one.judged is not None]) else None,
    )
