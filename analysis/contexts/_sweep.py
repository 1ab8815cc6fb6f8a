"""Group the runs of a benchmark by context and version, and pool the difference of two versions over contexts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from analysis.benchmark import (
    CONTEXT,
    VERSION,
    Benchmark,
    LeftOut,
    PerRun,
    in_direction,
    is_factor,
    natural,
)
from analysis.comparison import NOT_SHOWN
from analysis.contexts._factors import parse_context
from analysis.contexts._ratios import StandardError, speedups
from analysis.intervals import Estimate
from analysis.multiple import bonferroni, holm
from analysis.runs import Floats
from analysis.samples import Test, welch
from analysis.two_samples import ratio_of_means

NO_CONTEXT = "no context given"
NO_FINITE_INTERVAL = "no finite interval: the runs are few or vary too much"


@dataclass(frozen=True)
class Context:
    """The runs of both versions of a benchmark in one measurement context."""

    name: str
    factors: Mapping[str, str]  # the known factors of the context
    baseline_runs: tuple[float, ...]  # one number per run
    candidate_runs: tuple[float, ...]
    baseline: float  # means of the runs
    candidate: float
    # Speed-up of the candidate, computed from the means. If both versions have at least two runs, it has
    # Fieller's interval for independent runs.
    speedup: Estimate
    test: Test  # Welch's test of the run values
    p_holm: float | None = None  # p corrected for the number of contexts of the benchmark
    p_bonferroni: float | None = None
    # "faster" or "slower" ("higher" or "lower" if the better direction is unknown) or "no significant change" in
    # this context alone, by Holm's p; None if there is no test.
    outcome: str | None = field(default=None, metadata={"key": "verdict"})


def missing_version(measured: Benchmark, versions: tuple[str, str]) -> str | None:
    """Return a text that names the missing version; return None if the benchmark has both versions."""
    levels = measured.levels(VERSION)
    absent = [version for version in versions if version not in levels]
    return f"no run of version {absent[0]}; versions: {', '.join(levels) or 'none'}" if absent else None


def contexts_of(
    measured: Benchmark, versions: tuple[str, str], per_run: PerRun, alpha: float
) -> tuple[list[Context], list[LeftOut]]:
    """Return the contexts with runs of both versions, sorted by name, and the contexts that are left out.

    The p values are not yet corrected. Raise ValueError if a run has only warm-up iterations.
    """
    factors = factors_of(measured)
    names = [_name(text, of_run) for text, of_run in zip(_texts(measured), factors, strict=True)]
    cells: dict[str, tuple[list[int], list[int]]] = {}
    for run, (name, version) in enumerate(zip(names, measured.of(VERSION), strict=True)):
        if version in versions:
            cells.setdefault(name, ([], []))[versions.index(version)].append(run)
    contexts, left_out = [], []
    for name in sorted(cells, key=natural):
        values = [per_run.values([measured.runs[run] for run in side]) for side in cells[name]]
        reason = _why_undefined(values, versions)
        if reason:
            left_out.append(LeftOut(name, reason))
        else:
            context_factors = factors[cells[name][0][0]]
            contexts.append(_context(name, context_factors, (values[0], values[1]), measured.better, alpha))
    return contexts, left_out


def with_corrections(contexts: Sequence[Context], alpha: float, better: str) -> tuple[Context, ...]:
    """Correct the p values for the number of contexts, and add verdicts."""
    ps = [context.test.p for context in contexts]
    return tuple(
        replace(
            context,
            p_holm=p_holm,
            p_bonferroni=p_bonferroni,
            outcome=test_outcome(context.speedup, p_holm, alpha, better),
        )
        for context, p_holm, p_bonferroni in zip(contexts, holm(ps), bonferroni(ps), strict=True)
    )


def test_outcome(speedup: Estimate, p: float | None, alpha: float, better: str) -> str | None:
    """Return the verdict on the candidate from the p of its test; return None if p is undefined."""
    if p is None or speedup.value is None:
        return None
    if p > alpha or speedup.value == 1:
        return NOT_SHOWN
    return in_direction(speedup.value < 1, "higher" if better else "")  # a higher speed-up is better, as for a rate


def factors_of(measured: Benchmark) -> list[dict[str, str]]:
    """Return the factors of the context of each run.

    The factors come from the text of the context, if it can be parsed, and from all other conditions.
    """
    further = list(filter(is_factor, measured.conditions))
    factors = []
    for run, text in enumerate(_texts(measured)):
        parts = parse_context(text) or ({CONTEXT: text} if text else {})
        factors.append(parts | {name: entry for name in further if (entry := measured.of(name)[run])})
    return factors


def _texts(measured: Benchmark) -> list[str]:
    """Return the context of each run as it is written in the file."""
    return [run.conditions.get(CONTEXT, "") for run in measured.runs]


def _name(text: str, factors: Mapping[str, str]) -> str:
    inside = parse_context(text)
    more = [f"{name}={level}" for name, level in factors.items() if name != CONTEXT and inside.get(name) != level]
    return " ".join([*([text] if text else []), *more]) or NO_CONTEXT


def _why_undefined(values: Sequence[Floats], versions: tuple[str, str]) -> str | None:
    for side, version in zip(values, versions, strict=True):
        if not len(side):
            return f"no run of version {version}"
        if side.mean() <= 0:
            return f"version {version} has a mean of {side.mean():g}: a ratio needs numbers above zero"
    return None


def _context(
    name: str, factors: Mapping[str, str], values: tuple[Floats, Floats], better: str, alpha: float
) -> Context:
    a, b = np.sort(values[0]), np.sort(values[1])  # another order of the runs changes not even the last digit
    means = float(np.mean(a)), float(np.mean(b))
    above, below = (a, b) if better == "lower" else (b, a)
    interval = ratio_of_means(above, below, 1 - alpha)
    (value,) = speedups(means[:1], means[1:], better=better)
    reason = _why(interval, min(len(a), len(b)))
    low, high = interval.low, interval.high
    if low is not None and low <= 0:  # a ratio of times is above 0
        low, high, reason = None, None, NO_FINITE_INTERVAL
    speedup = Estimate(float(value), interval.se, low, high, reason)
    runs = tuple(values[0].tolist()), tuple(values[1].tolist())
    return Context(name, factors, *runs, *means, speedup, welch(a, b))


def _why(interval: Estimate, n_runs: int) -> str | None:
    """Return why an interval is missing, in words for a report on contexts."""
    if interval.low is not None:
        return interval.reason
    return "an interval needs at least two runs" if n_runs < 2 else NO_FINITE_INTERVAL


FEW_RUNS = "no context has two runs of both versions"


@dataclass(frozen=True)
class Pooled:
    """The speed-up of all contexts together, and a test of whether it differs between contexts."""

    # Weighted geometric mean of the speed-ups of the contexts with two runs of both versions. Its interval comes from
    # the runs within the contexts, so it holds for these contexts and not for others.
    speedup: Estimate
    test: Test  # whether the pooled speed-up is 1
    interaction: Test  # whether the speed-up differs between contexts more than the noise of the runs explains
    n_contexts: int
    p_holm: float | None = None  # the p of both tests, corrected for the number of benchmarks
    interaction_holm: float | None = None
    outcome: str | None = None  # as for a context, by `p_holm`


def pooled(contexts: Sequence[Context], level: float) -> Pooled:
    """Pool the contexts by their numbers of runs, and test the interaction with Welch's F test [1]_ of log ratios.

    References
    ----------
    .. [1] Welch (1951), Biometrika 38:330-336, doi:10.1093/biomet/38.3-4.330
    """
    usable = [
        (float(np.log(context.speedup.value)), *_noise(context), _weight(context))
        for context in contexts
        if context.speedup.value and min(len(context.baseline_runs), len(context.candidate_runs)) > 1
    ]
    if not usable:
        nothing = Test(None, reason=FEW_RUNS)
        return Pooled(Estimate(None, reason=FEW_RUNS), nothing, nothing, 0)
    logs, variances, dfs, weights = np.array(usable).T
    shares = weights / weights.sum()
    centre, parts = float(shares @ logs), shares**2 * variances
    if not parts.sum():
        value = float(np.exp(centre))
        speedup, test = Estimate(value, 0.0, value, value), Test(float(abs(centre) < 1e-12))
    else:
        noise = StandardError(float(np.sqrt(parts.sum())), float(parts.sum() ** 2 / (parts**2 / dfs).sum()))
        half = noise.half_width(level)
        low, value, high = (float(np.exp(centre + by)) for by in (-half, 0.0, half))
        speedup, test = Estimate(value, noise.se, low, high), Test(noise.p(centre), centre / noise.se)
    return Pooled(speedup, test, _interaction(logs, variances, dfs), len(logs))


def _interaction(logs: Floats, variances: Floats, dfs: Floats) -> Test:
    k = len(logs)
    if k < 2:
        return Test(None, reason="at least two contexts with two runs of both versions are needed")
    if not variances.min():
        return Test(None, reason="the runs of a context do not vary")
    weights = 1 / variances
    shares = weights / weights.sum()
    spread = float((((1 - shares) ** 2) / dfs).sum())
    between = float(weights @ (logs - shares @ logs) ** 2) / (k - 1)
    f = between / (1 + 2 * (k - 2) / (k**2 - 1) * spread)
    return Test(float(stats.f.sf(f, k - 1, (k**2 - 1) / (3 * spread))), f)


def _noise(context: Context) -> tuple[float, float]:
    """Return the variance of the log ratio of a context, and its degrees of freedom (delta method)."""
    parts = []
    for runs in (context.baseline_runs, context.candidate_runs):
        values = np.sort(runs)
        parts.append((float(values.var(ddof=1) / len(values) / values.mean() ** 2), len(values) - 1))
    total = sum(part for part, _ in parts)
    return total, total**2 / sum(part**2 / df for part, df in parts) if total else 1.0


def _weight(context: Context) -> float:
    a, b = len(context.baseline_runs), len(context.candidate_runs)
    return a * b / (a + b)
