"""Explain in sentences how the runs of a benchmark differ, without giving another verdict."""

from dataclasses import dataclass

import numpy as np

from analysis.methods.trust import MERGED, WELCH, type_1_error
from analysis.runs.benchmark import EVERY_ITERATION, Benchmark, PerRun, by_content
from analysis.runs.dissimilarity import MEASURES, MIN_ITERATIONS, TOO_SHORT
from analysis.runs.power import runs_needed, smallest_difference
from analysis.runs.runs import Runs, some_runs
from analysis.runs.samples import describe_change, kruskal
from analysis.runs.spread import bucket, max_spread
from analysis.statistics.intervals import Estimate

FIRST = 0.1  # share of a run at its start, which is compared with the rest of the run
MIN_FOR_WARMUP = 20  # minimum number of iterations; with fewer, a tenth of the run is a single iteration
DIFFERENCE = 0.05
DRAWN = 5  # number of simulated runs to estimate the type I error
WARMUP_MATTERS = 0.02
FEW = 0.01
ONE_RUN = "there is only one run, so nothing can be compared"


@dataclass(frozen=True)
class Reasons:
    """Reasons that describe how the runs of a benchmark differ, independently of any verdict."""

    n_runs: int  # number of runs, and number of iterations of the shortest run
    n_iterations: int
    n_longest: int  # number of iterations of the longest run
    max_spread: Estimate  # (largest - smallest) / mean of one number per run
    bucket: str | None  # the range of `max_spread` in words
    epsilon2: Estimate  # share of the variation of ranks between the runs, in [0, 1]
    # Mean over all pairs of runs of M1 (1 minus the correlation) and of M5 (distance of distributions), in [0,
    # 1].
    pattern: Estimate
    distribution: Estimate
    # Median over runs of a ratio: level of the first tenth of a run / level of the rest. `low` and `high` are the
    # smallest and the largest ratio.
    warmup: Estimate
    # How often Welch's test at 5 % finds a difference between two sets of these runs if iterations are pooled.
    type_1_error: Estimate
    # The smallest relative difference that a comparison of one number per run detects with 80 % power if each
    # version has the same number of runs, corrected for the number of benchmarks.
    smallest_difference: Estimate
    runs_needed: Estimate  # number of runs of each version that detects a difference of 5 % with the same power
    # Number of iterations that `pattern` and `distribution` leave out because the runs have different lengths.
    n_left_out: int = 0
    sentences: tuple[str, ...] = ()  # the results as sentences


def reasons(
    benchmark: Benchmark, *, per_run: PerRun = EVERY_ITERATION, alpha: float = 0.05, n_tests: int = 1
) -> Reasons:
    """Describe how the runs of a benchmark differ, and what this means for a comparison of two versions.

    `per_run`: how to summarise each run as one number; `alpha`: significance level of the planned comparison for all
    benchmarks together; `n_tests`: number of benchmarks compared together. A value that needs more runs or longer runs
    is undefined and has a reason.
    """
    benchmark = by_content(benchmark)  # no number here depends on the order of the runs
    values = per_run.values(benchmark.runs)
    spread = max_spread(values)
    pattern, distribution, n_left_out = _pairs(benchmark, per_run)
    facts = Reasons(
        n_runs=len(benchmark.runs),
        n_iterations=min(map(len, benchmark.runs)),
        n_longest=max(map(len, benchmark.runs)),
        max_spread=spread,
        bucket=None if spread.value is None else bucket(spread.value),
        epsilon2=_epsilon2(benchmark, per_run),
        pattern=pattern,
        distribution=distribution,
        warmup=_warmup(benchmark),
        type_1_error=_type_1_error(benchmark, per_run),
        smallest_difference=smallest_difference(values, alpha=alpha, n_tests=n_tests),
        runs_needed=runs_needed(values, DIFFERENCE, alpha=alpha, n_tests=n_tests),
        n_left_out=n_left_out,
    )
    return Reasons(**{**vars(facts), "sentences": tuple(_describe(facts, benchmark.better))})


def _pairs(benchmark: Benchmark, per_run: PerRun) -> tuple[Estimate, Estimate, int]:
    """Return the means of M1 and M5 over all pairs of runs, and the number of left-out iterations."""
    if len(benchmark.runs) < 2:
        return Estimate(None, reason=ONE_RUN), Estimate(None, reason=ONE_RUN), 0
    shared = Runs(benchmark.runs, per_run.warmup)
    if shared.n < MIN_ITERATIONS:
        return Estimate(None, reason=TOO_SHORT), Estimate(None, reason=TOO_SHORT), 0
    means = (float(MEASURES[name].of_pairs(shared).mean()) for name in ("m1", "m5"))
    return Estimate(next(means)), Estimate(next(means)), shared.n_left_out


def _epsilon2(benchmark: Benchmark, per_run: PerRun) -> Estimate:
    if max(map(len, benchmark.runs)) < 2:
        return Estimate(None, reason="runs with one iteration have no variation within a run")
    test = kruskal([per_run.steady(run) for run in benchmark.runs])
    return Estimate(test.epsilon2, reason=test.reason)


def _warmup(benchmark: Benchmark) -> Estimate:
    n = min(map(len, benchmark.runs))
    if n < MIN_FOR_WARMUP:
        return Estimate(None, reason=f"runs need at least {MIN_FOR_WARMUP} iterations to compare the first tenth")
    ratios = []
    for run in benchmark.values:
        border = max(1, int(FIRST * len(run)))
        first, rest = float(np.median(run[:border])), float(np.median(run[border:]))
        if not rest > 0:
            return Estimate(None, reason="the median of a run is not positive")
        ratios.append(first / rest)
    return Estimate(float(np.median(ratios)), low=min(ratios), high=max(ratios))


def _type_1_error(benchmark: Benchmark, per_run: PerRun) -> Estimate:
    if len(benchmark.runs) < 2:
        return Estimate(None, reason=ONE_RUN)
    rate = type_1_error(
        some_runs(benchmark.runs),
        DRAWN,
        per_run=per_run,
        aggregations=[MERGED],
        tests=[WELCH],
        rng=np.random.default_rng(0),
    )[MERGED][WELCH]
    return Estimate(rate.value, rate.se, reason=rate.reason)


def _describe(facts: Reasons, better: str) -> list[str]:
    return [*_level(facts), *_shape(facts), *_lengths(facts), *_start(facts, better), *_consequence(facts)]


def _level(facts: Reasons) -> list[str]:
    if facts.max_spread.value is None:
        return [f"Level: {facts.max_spread.reason}."]
    text = (
        f"Level: the {facts.n_runs} runs are within {_percent(facts.max_spread.value)} of each other ({facts.bucket})"
    )
    if facts.epsilon2.value is None:
        return [f"{text}."]
    chance = (facts.n_runs - 1) / max(1, facts.n_runs * facts.n_iterations - 1)
    by_chance = f" ({_percent(chance)} by chance alone)" if chance > FEW else ""
    between = f"{_percent(facts.epsilon2.value)} of the variation of ranks is between runs, and the rest is within runs"
    return [f"{text}; {between}{by_chance}."]


def _shape(facts: Reasons) -> list[str]:
    if facts.pattern.value is None or facts.distribution.value is None:
        return [f"Pattern and distribution: {facts.pattern.reason}."]
    cut = (
        f"Different lengths: pattern and distribution use the first {facts.n_iterations} iterations of each run and "
        f"leave out {facts.n_left_out}. Level, spread and changes use all iterations."
    )
    return [
        f"Pattern: M1 is {facts.pattern.value:.2f} on average (0: same pattern, 1: no common pattern).",
        f"Distribution: M5 is {facts.distribution.value:.2f} on average (0: same values, 1: no common values).",
        *([cut] if facts.n_left_out else []),
    ]


def _lengths(facts: Reasons) -> list[str]:
    if facts.n_longest == facts.n_iterations:
        return []
    ends = f"{facts.n_iterations} to {facts.n_longest} iterations"
    shared = f"Verdicts, pattern and distribution use the first {facts.n_iterations} iterations of each run"
    return [f"Length: the runs have {ends}. {shared}; level and spread use all iterations."]


def _start(facts: Reasons, better: str) -> list[str]:
    ratio = facts.warmup
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return [f"Warm-up: {ratio.reason}."]
    who = "the first tenth of a run"
    if max(abs(end - 1) for end in (ratio.low, ratio.high)) < WARMUP_MATTERS:
        return [f"Warm-up: not visible; {who} is within {_percent(WARMUP_MATTERS)} of the rest in every run."]
    median, low, high = (describe_change(end, better, who=who) for end in (ratio.value, ratio.low, ratio.high))
    ends = " to ".join(end.removeprefix(f"{who} is ") for end in (low, high))
    than = "" if ratio.value == 1 else " than the rest"
    return [f"Warm-up: {median}{than} in the median run, and {ends} over all runs."]


def _consequence(facts: Reasons) -> list[str]:
    sentences = []
    if facts.type_1_error.value is not None:
        sentences.append(
            "Consequence: if iterations are pooled, a test at 5 % finds a difference between two sets of these runs "
            f"{_percent(facts.type_1_error.value)} of the time although nothing changed. Compare one number per run "
            "instead."
        )
    smallest, needed = facts.smallest_difference.value, facts.runs_needed.value
    if smallest is None:
        return [*sentences, f"Smallest difference: {facts.smallest_difference.reason}."]
    sentence = f"{facts.n_runs} runs of each version detect a difference of {_percent(smallest)} with 80 % power"
    return [*sentences, f"{sentence}; {_needed(facts, needed)}"]


def _needed(facts: Reasons, needed: float | None) -> str:
    if needed is None:
        return f"for {_percent(DIFFERENCE)}, {facts.runs_needed.reason}."
    more = int(needed) - facts.n_runs
    if more <= 0:
        return f"for {_percent(DIFFERENCE)}, {int(needed)} runs are enough."
    return f"for {_percent(DIFFERENCE)}, {int(needed)} runs are needed, {more} more than measured."


def _percent(share: float) -> str:
    return f"{100 * share:.{2 if share < DIFFERENCE else 3}g} %"
