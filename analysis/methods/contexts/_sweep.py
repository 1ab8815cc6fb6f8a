"""Plan runs in many contexts, test factors of the context, and pool the difference of two versions over contexts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.arrays import Floats
from analysis.methods.contexts._ratios import NOT_POSITIVE, TINY, StandardError, geometric_mean, series, speedups
from analysis.runs.benchmark import (
    CONDITIONS,
    CONTEXT,
    INTERVENTION,
    VERSION,
    Benchmark,
    LeftOut,
    PerRun,
    in_direction,
    is_factor,
    natural,
)
from analysis.runs.comparison import NOT_SHOWN
from analysis.runs.samples import KruskalWallis, Test, kruskal, welch
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import bonferroni, holm
from analysis.statistics.two_samples import ratio_of_means

if TYPE_CHECKING:
    import pandas as pd


MAX_RUNS = 200_000  # maximum number of rows of a plan
OUTSIDE = (VERSION, INTERVENTION)  # not part of the context: each level is combined with every context


def variant_plan(
    factors: Mapping[str, Sequence[str]],
    *,
    benchmarks: Sequence[str] = (),
    n: int | None = None,
    runs: int = 1,
    seed: int,
) -> "pd.DataFrame":
    """Plan runs over contexts in random order [1]_.

    The contexts are all combinations of factor levels, or a random selection of the combinations. Raises ValueError if
    there is no other factor, a factor has no level, a repeated level, or a level that a context cannot contain (spaces,
    commas, equals signs), a factor has the name of a column, `n` or `runs` is out of range, or the plan would have more
    than 200 000 rows.

    `factors`: levels of each factor, such as {"version": ["O2", "O3"], "env": ["0", "64"], "link": ["a", "b"]}.
    `version` and `intervention` are not part of the context: each of their levels is run in every context.
    `benchmarks`: each benchmark runs in every context; `n`: number of contexts to draw without repeats; default: all;
    `runs`: number of runs of each benchmark and version in each context; `seed`: the same seed gives the same plan.
    Returns one row per run, in the order of execution: order (from 1), benchmark (if any), one column per factor,
    context ("env=0 link=b", as result files should carry it), run (from 0, within benchmark, version, intervention and
    context) and seed, which `attrs` holds too.

    References
    ----------
    .. [1] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, doi:10.1145/1508244.1508275
    """
    levels = _checked(factors, benchmarks)
    inner = {name: entries for name, entries in levels.items() if name not in OUTSIDE}
    outer = {"benchmark": tuple(benchmarks) or ("",)} | {name: levels[name] for name in OUTSIDE if name in levels}
    total = prod(map(len, inner.values()))
    n_chosen = total if n is None else n
    if not 1 <= n_chosen <= total:
        raise ValueError(f"n must be within 1..{total}, the number of contexts, got {n}")
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    if n_chosen * runs * prod(map(len, outer.values())) > MAX_RUNS:
        raise ValueError(f"the plan would have more than {MAX_RUNS} runs; use n to draw some of the {total} contexts")
    rng = np.random.default_rng(seed)
    import pandas as pd  # imported here, because the methods do not need it

    chosen = pd.DataFrame(_combinations(inner, total, n_chosen, rng))
    chosen["context"] = [" ".join(f"{k}={v}" for k, v in zip(inner, row, strict=True)) for row in chosen.to_numpy()]
    table = _crossed(chosen, outer, runs).sample(frac=1, random_state=rng, ignore_index=True)
    columns = [*(["benchmark"] if benchmarks else []), *levels, "context"]
    table = table[columns].assign(order=range(1, len(table) + 1), seed=seed)
    table["run"] = table.groupby(columns, sort=False).cumcount()
    table.attrs["seed"] = seed
    return table[["order", *columns, "run", "seed"]]


def _combinations(
    factors: Mapping[str, Sequence[str]], total: int, n: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    """Draw n different combinations of levels; return a dict from each factor to its levels in the combinations."""
    if n < total and total > 50 * MAX_RUNS:  # with enough combinations, duplicates are rare, so redrawing is fast
        numbers: set[tuple[int, ...]] = set()
        while len(numbers) < n:
            numbers.add(tuple(int(rng.integers(len(entries))) for entries in factors.values()))
        at = np.array(sorted(numbers)).T
    else:
        drawn = np.arange(total) if n == total else np.sort(rng.choice(total, n, replace=False))
        at = np.array(np.unravel_index(drawn, [len(entries) for entries in factors.values()]))
    return {name: [entries[i] for i in row] for (name, entries), row in zip(factors.items(), at, strict=True)}


def _crossed(contexts: "pd.DataFrame", outer: Mapping[str, Sequence[str]], runs: int) -> "pd.DataFrame":
    import pandas as pd

    combinations = pd.MultiIndex.from_product([*outer.values(), range(runs)], names=[*outer, "run"])
    return contexts.merge(combinations.to_frame(index=False), how="cross")


def _checked(factors: Mapping[str, Sequence[str]], benchmarks: Sequence[str]) -> dict[str, tuple[str, ...]]:
    if not set(factors) - set(OUTSIDE):
        raise ValueError(
            f"factors must name at least one factor other than {' and '.join(OUTSIDE)}, got {list(factors)}"
        )
    reserved = {"benchmark", "order", "seed", *CONDITIONS} - {VERSION}
    for name, entries in factors.items():
        if name in reserved or not _WORD.fullmatch(name):
            raise ValueError(f"factors: {name!r} cannot be the name of a factor")
        if isinstance(entries, str) or not entries or len(set(entries)) < len(entries):
            raise ValueError(f"factors: {name} must have different levels, at least one, got {entries!r}")
        wrong = [entry for entry in entries if not _WORD.fullmatch(entry)]
        if wrong and name not in OUTSIDE:
            raise ValueError(f"factors: {name} has the level {wrong[0]!r}; spaces, commas and = cannot be in a context")
    if len(set(benchmarks)) < len(benchmarks):
        raise ValueError(f"benchmarks must differ, got {list(benchmarks)}")
    return {name: tuple(entries) for name, entries in factors.items()}


_WORD = re.compile(r"[^\s,=]+")


@dataclass(frozen=True)
class LevelEffect:
    """The geometric mean of the speed-up over the contexts with one level of a factor."""

    level: str
    n_contexts: int
    speedup: Estimate


@dataclass(frozen=True)
class FactorEffect:
    """Association of the speed-up with the levels of a factor."""

    name: str
    n_contexts: int  # number of contexts with a known level
    levels: tuple[LevelEffect, ...]  # in order of first appearance
    # Test of the logarithms of the speed-ups by level. Its epsilon2 is the share of the variation of ranks that
    # lies between the levels.
    test: KruskalWallis
    # eta squared: the share of the variation (sum of squares) of the logarithms that lies between the levels.
    share: float | None = None
    share_by_chance: float | None = None  # (levels - 1) / (contexts - 1): the average share if the factor has no effect
    p_holm: float | None = None  # p corrected for the number of factors of the benchmark
    p_bonferroni: float | None = None


def parse_context(text: str) -> dict[str, str]:
    """Parse the factors of a context such as "k=v k2=v2" or "k=v,k2=v2"; return an empty dict for any other format."""
    pairs = [part.partition("=") for part in re.split(r"[\s,]+", text.strip(" ,"))]
    factors = {name: level for name, sign, level in pairs if name and sign and level}
    return factors if len(factors) == len(pairs) else {}


def factor_effect(name: str, ratios: ArrayLike, levels: Sequence[str], *, level: float = 0.95) -> FactorEffect:
    """Test whether the speed-up depends on the levels of a factor, and compute how much the levels explain.

    Raises ValueError if the numbers of levels and ratios differ.

    `ratios` (shape (n_contexts,)); `levels`: the level in each context; contexts with an unknown level ("") are left
    out; `level`: confidence level of the speed-up at each level. There is no p and no shares if a ratio is not above
    zero, or if there are fewer than two levels. The same applies if each level occurs in only one context, because the
    variation between contexts of the same level is then unknown.
    """
    values = series(ratios, "ratios")
    if len(values) != len(levels):
        raise ValueError(f"levels has {len(levels)} entries for {len(values)} ratios")
    of_level: Mapping[str, Floats] = {
        factor_level: values[[entry == factor_level for entry in levels]]
        for factor_level in dict.fromkeys(levels)
        if factor_level
    }
    n = sum(map(len, of_level.values()))
    effects = tuple(
        LevelEffect(factor_level, len(part), geometric_mean(part, level)) for factor_level, part in of_level.items()
    )
    reason = _why_untested(of_level, n)
    if reason:
        return FactorEffect(name, n, effects, KruskalWallis(None, reason=reason, n=n))
    logs = [np.log(part) for part in of_level.values()]
    by_chance = (len(logs) - 1) / (n - 1)
    return FactorEffect(name, n, effects, kruskal(logs), _between(logs), by_chance)


def _why_untested(of_level: Mapping[str, Floats], n: int) -> str | None:
    if any((part <= 0).any() for part in of_level.values()):
        return NOT_POSITIVE
    if len(of_level) < 2:
        return "the factor has one level" if of_level else "the factor is unknown in every context"
    return "each level occurs in only one context" if n == len(of_level) else None


def _between(groups: Sequence[Floats]) -> float:
    """Return the sum of squares between groups divided by the total sum of squares; 0 if nothing varies."""
    pooled = np.concatenate(groups)
    total = float(((pooled - pooled.mean()) ** 2).sum())
    if np.ptp(pooled) <= TINY:
        return 0.0
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    return min(1.0, max(0.0, 1 - within / total))


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
