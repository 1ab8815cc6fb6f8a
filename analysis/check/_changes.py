"""Test which benchmarks have changed, and hold back the changes that the measurements cannot attribute."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from analysis.benchmark import Benchmark
from analysis.check import _machine as machines
from analysis.check._design import FEW_BENCHMARKS, IN_BLOCKS, SHARED, UNKNOWN, SharedNoise, shared_noise, stands_alone
from analysis.check._model import MIN_CHANGE, SLOWER, Rules, Suite, matches
from analysis.check._sides import (
    FEW_SESSIONS,
    MIN_SESSIONS,
    BothSides,
    cost_ratio,
    costs_of,
    has_rates_and_times,
    strata_of,
)
from analysis.comparison import Change, Pair, compare
from analysis.intervals import Estimate
from analysis.runs import Floats
from analysis.two_samples import by_strata

LARGE = 0.25  # a larger change that was measured in blocks can still be a finding


def changes_of(compared: Sequence[BothSides], rules: Rules) -> tuple[Suite, tuple[Change, ...]]:
    """Test all benchmarks, and hold back the changes that the measurements cannot attribute to the versions."""
    deciding = [one for one in compared if one.after.family == "" and one.reason is None]
    noise = shared_noise([costs_of(one) for one in deciding])
    is_paired = any(one.is_by_turns for one in deciding) and _pairing_pays(noise)
    pairs = [
        Pair(
            one.after.benchmark.name, *_values(one, is_paired), one.after.benchmark.unit, one.after.benchmark.better,
            one.after.family, one.reason, strata_of(one, is_paired), one.step, *_limits(one, rules),
        )
        for one in compared
    ]  # fmt: skip
    changes = compare(pairs, test=rules.test, alpha=rules.alpha, max_slowdown=rules.max_slowdown)
    of_suite = {
        change.name: cost
        for one, change in zip(compared, changes, strict=True)
        if one.after.family == "" and (cost := cost_ratio(one, change.ratio.value)) is not None
    }
    held = tuple(_held_back(change, one, noise, of_suite, rules) for change, one in zip(changes, compared, strict=True))
    designs = Counter(one.design.kind for one in deciding)
    ratio, n = _geometric_mean(deciding, rules.alpha, is_paired=is_paired)
    n_left_out = sum(one.after.family == "" for one in compared) - n
    return Suite(ratio, n, n_left_out, dict(designs), noise, has_rates_and_times(deciding), is_paired), held


def _values(one: BothSides, is_paired: bool) -> tuple[Floats, Floats]:
    """Return the numbers to compare; they are sorted if their order does not matter, so that it changes no number."""
    if strata_of(one, is_paired) is not None:
        return one.old, one.new
    return np.sort(one.old), np.sort(one.new)


def _pairing_pays(noise: SharedNoise) -> bool:
    """Return whether runs that were measured at about the same time are alike.

    For few benchmarks, a correlation above the limit can be chance, so it must also be significant.
    """
    if noise.correlation is None or noise.n_runs < 3:
        return False
    limit = SHARED
    if noise.n_benchmarks < FEW_BENCHMARKS:
        from scipy import special

        t = float(special.stdtrit(noise.n_runs - 2, 0.95))
        limit = max(SHARED, t / (noise.n_runs - 2 + t * t) ** 0.5)
    return noise.correlation > limit


def _limits(one: BothSides, rules: Rules) -> tuple[float, float | None]:
    """Return the smallest change that counts, and the largest acceptable slowdown; None: that of the check."""
    benchmark = one.after.benchmark
    names = (benchmark.name, *benchmark.former_names)
    own = next((limit for limit in rules.limits if any(matches(limit.benchmark, name) for name in names)), None)
    usual = rules.min_change
    if usual is None:
        usual = MIN_CHANGE if is_measured(benchmark) else 0.0
    return (
        own.min_change if own is not None and own.min_change is not None else usual,
        own.max_slowdown if own is not None else None,
    )


def is_measured(benchmark: Benchmark) -> bool:
    """Return whether the numbers vary by nature, unlike memory and numbers of allocations."""
    return not re.search(r"\b(bytes?|[KMG]i?B|B|allocs?|allocations|objects)\b(?!/s)", benchmark.unit, re.IGNORECASE)


def _held_back(
    change: Change, one: BothSides, noise: SharedNoise, of_suite: Mapping[str, float], rules: Rules
) -> Change:
    """Mark a change as undecided if the machine or the design of the measurements can explain it."""
    n_sessions = one.design.n_sessions
    # runs of a session are alike, so they do not show the spread
    weak = [name for name in change.weaknesses if name != "spread differs" or n_sessions is None]
    if one.design.kind == IN_BLOCKS:
        weak.append("in blocks")
    if n_sessions is not None and n_sessions < FEW_SESSIONS:
        weak.append(f"{n_sessions} sessions")
    different = {part: names for part, names in one.machines.items() if machines.KIND[part] not in rules.allowed_parts}
    if different:
        weak.append("other machine")
    n_baseline, n_candidate = len(one.before.values), len(one.after.values)
    change = replace(change, weaknesses=tuple(weak), n_baseline=n_baseline, n_candidate=n_candidate)
    is_wanted = not (rules.fail_on == SLOWER and change.worse is False)
    why = ""
    if change.has_changed and change.p is not None:
        if different:
            why = f"other machines were measured ({machines.describe(different)})"
        elif one.design.kind == IN_BLOCKS and not rules.allow_blocks:
            why = _why_blocks(change, one, noise, of_suite, rules)
        elif n_sessions is not None and n_sessions < MIN_SESSIONS:
            why = f"a version was measured in only {n_sessions} sessions; three are needed, and five are good"
        elif rules.require_turns and one.design.kind == UNKNOWN:
            why = "the files do not say that the versions were measured by turns"
    if not why or not change.is_finding:
        return replace(change, is_finding=change.is_finding and is_wanted)
    return replace(change, is_finding=False, is_held_back=True, inconclusive=True, reason=why)


def _why_blocks(change: Change, one: BothSides, noise: SharedNoise, of_suite: Mapping[str, float], rules: Rules) -> str:
    if rules.require_turns:
        return "the versions were measured in blocks"
    if not noise.why:
        return ""
    others = [ratio for name, ratio in of_suite.items() if name != change.name]
    limit = max(LARGE, rules.max_slowdown or 0.0)
    ends = [end for end in (cost_ratio(one, each) for each in (change.ratio.low, change.ratio.high)) if end is not None]
    if len(ends) == 2 and stands_alone(min(ends), max(ends), others, limit):
        return ""
    return f"all runs of one version were measured before those of the other, and {noise.why}"


def _geometric_mean(compared: Sequence[BothSides], alpha: float, *, is_paired: bool) -> tuple[Estimate, int]:
    """Return the geometric mean of the ratios with its interval, and the number of benchmarks.

    The interval is for these benchmarks. If all benchmarks have the same numbers of runs, it uses the mean over
    benchmarks of each run, so that noise which benchmarks share widens the interval.
    """
    from scipy import special

    usable = [one for one in compared if min(len(one.old), len(one.new)) and min(one.old.min(), one.new.min()) > 0]
    if not usable:
        return Estimate(None, reason="no benchmark has a ratio"), 0
    is_mixed = has_rates_and_times(usable)
    sides = [costs_of(one) if is_mixed else (one.old, one.new) for one in usable]
    logs = [(np.log(new), np.log(old)) for old, new in sides]
    k = len(logs)
    centre = sum(float(new.mean() - old.mean()) for new, old in logs) / k
    shapes = {(len(new), len(old)) for new, old in logs}
    parts = [[pair[side] for pair in logs] for side in (0, 1)]
    if len(shapes) == 1:
        sums = [np.sum(side, axis=0) / k for side in parts]
        logs = [(sums[0], sums[1])]
        strata = [strata_of(one, is_paired) for one in usable]
        groups = strata[0]
        if groups is not None and all(each is not None and np.array_equal(each, groups) for each in strata):
            within = by_strata(np.exp(sums[0] - sums[1].mean()), np.exp(sums[1] - sums[1].mean()), groups[::-1], alpha)
            if within is not None:
                return within[1], k
    if min(min(shape) for shape in shapes) < 2:
        return Estimate(float(np.exp(centre)), reason="an interval needs at least two runs"), k
    terms = [(float(side.var(ddof=1)) / len(side) / len(logs) ** 2, len(side) - 1) for pair in logs for side in pair]
    variance = sum(term for term, _df in terms)
    if variance <= 0:
        value = float(np.exp(centre))
        return Estimate(value, None, value, value), k
    df = variance**2 / sum(term**2 / n for term, n in terms)
    half = float(special.stdtrit(df, 1 - alpha / 2)) * variance**0.5
    return Estimate(float(np.exp(centre)), None, float(np.exp(centre - half)), float(np.exp(centre + half))), k
