"""Test which benchmarks have changed, hold back what the measurements cannot attribute, and say what they detect."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from analysis.arrays import Floats
from analysis.methods.check._results import MIN_CHANGE, ONE_PROCESS, TOO_NOISY, WORSE, Rules, Suite, matches
from analysis.methods.check._sides import (
    BY_TURNS,
    FEW_BENCHMARKS,
    FEW_SESSIONS,
    IN_BLOCKS,
    KIND_OF_PART,
    MIN_SESSIONS,
    SHARED,
    UNKNOWN,
    BothSides,
    RunDesign,
    SharedNoise,
    SideRuns,
    cost_ratio,
    costs_of,
    describe_machines,
    has_rates_and_times,
    levels_of,
    operation_of,
    shared_noise,
    stands_alone,
    strata_of,
    strict_turns,
    times_of,
    turns_of,
    with_steps,
)
from analysis.runs.benchmark import EVERY_ITERATION, FAILED_SHARE, FAILURES, Benchmark, PerRun
from analysis.runs.comparison import NOT_CALLED, NOT_SHOWN, Change, Pair, compare_benchmarks
from analysis.runs.power import (
    detectable_changes,
    smallest_difference,
    smallest_difference_by_strata,
    smallest_difference_by_turns,
)
from analysis.statistics.intervals import Estimate
from analysis.statistics.two_samples import by_strata, compared_by_turns

LARGE = 0.25  # a larger change that was measured in blocks can still be a finding


def changes_of(compared: Sequence[BothSides], rules: Rules) -> tuple[Suite, tuple[Change, ...]]:
    """Test all benchmarks, and hold back the changes that the measurements cannot attribute to the versions."""
    (tested,) = test_suites([compared], rules)
    deciding = [one for one in compared if _is_deciding(one)]
    designs = Counter(one.design.kind for one in deciding)
    kept = [one for one in deciding if operation_of(one.after.benchmark) not in tested.failing]
    ratio, n = _geometric_mean(kept, rules.alpha, is_paired=tested.is_paired)
    n_left_out = sum(one.after.family == "" for one in compared) - n
    has_inverted = has_rates_and_times(deciding)
    return Suite(ratio, n, n_left_out, dict(designs), tested.noise, has_inverted, tested.is_paired), tested.changes


@dataclass(frozen=True)
class TestedSuite:
    """The changes of a suite, and how its runs were compared."""

    changes: tuple[Change, ...]
    noise: SharedNoise
    is_paired: bool
    failing: Mapping[Hashable, str]  # the operations of which more failed, and what says so


def test_suites(suites: Sequence[Sequence[BothSides]], rules: Rules) -> list[TestedSuite]:
    """Test the benchmarks of each suite as `check` does; many suites together take less time."""
    noises = [shared_noise([costs_of(one) for one in suite if _is_deciding(one)]) for suite in suites]
    are_paired = [
        any(one.is_by_turns for one in suite if _is_deciding(one)) and _pairing_pays(noise)
        for suite, noise in zip(suites, noises, strict=True)
    ]
    pairs = [
        Pair(
            one.after.benchmark.name, *_values(one, is_paired), one.after.benchmark.unit, one.after.benchmark.better,
            (at, one.after.family), one.reason, strata_of(one, is_paired), turns_of(one, is_paired), one.step,
            *_limits(one, rules),
        )
        for at, (suite, is_paired) in enumerate(zip(suites, are_paired, strict=True))
        for one in suite
    ]  # fmt: skip
    changes = iter(compare_benchmarks(pairs, test=rules.test, alpha=rules.alpha, max_slowdown=rules.max_slowdown))
    tested = []
    for suite, noise, is_paired in zip(suites, noises, are_paired, strict=True):
        of_suite = [replace(next(changes), family=one.after.family) for one in suite]
        failing = _failing(of_suite, suite)
        held = _all_held_back(_without_failing(of_suite, suite, failing), suite, noise, rules)
        tested.append(TestedSuite(held, noise, is_paired, failing))
    return tested


def _is_deciding(one: BothSides) -> bool:
    return one.after.family == "" and one.reason is None


def _failing(changes: Sequence[Change], compared: Sequence[BothSides]) -> dict[Hashable, str]:
    """Return the operations of which more failed, and what says so."""
    failing: dict[Hashable, str] = {}
    for change, one in zip(changes, compared, strict=True):
        if one.after.benchmark.unit in FAILURES and change.worse:
            failing.setdefault(operation_of(one.after.benchmark), f"{change.name}: {change.words}")
    return failing


def _without_failing(
    changes: Sequence[Change], compared: Sequence[BothSides], failing: Mapping[Hashable, str]
) -> list[Change]:
    """Take back what became better where more failed: an operation that fails can be fast."""
    return [
        _not_called(change, failing[operation_of(one.after.benchmark)])
        if change.worse is False
        and one.after.benchmark.unit not in FAILURES
        and operation_of(one.after.benchmark) in failing
        else change
        for change, one in zip(changes, compared, strict=True)
    ]


def _not_called(change: Change, why: str) -> Change:
    reason = f"more failed ({why})"
    return replace(
        change, outcome=NOT_CALLED, worse=None, is_finding=False, is_small=False, is_held_back=True, inconclusive=True,
        reason=reason, words=f"{NOT_CALLED}: {reason}",
    )  # fmt: skip


def _values(one: BothSides, is_paired: bool) -> tuple[Floats, Floats]:
    """Return the numbers to compare; they are sorted if their order does not matter, so that it changes no number."""
    if strata_of(one, is_paired) is not None or turns_of(one, is_paired) is not None:
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


def _all_held_back(
    changes: Sequence[Change], compared: Sequence[BothSides], noise: SharedNoise, rules: Rules
) -> tuple[Change, ...]:
    of_suite = {
        change.name: cost
        for one, change in zip(compared, changes, strict=True)
        if one.after.family == "" and (cost := cost_ratio(one, change.ratio.value)) is not None
    }
    return tuple(_held_back(change, one, noise, of_suite, rules) for change, one in zip(changes, compared, strict=True))


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
    different = {part: names for part, names in one.machines.items() if KIND_OF_PART[part] not in rules.allowed_parts}
    if different:
        weak.append("other machine")
    n_baseline, n_candidate = len(one.before.values), len(one.after.values)
    change = replace(change, weaknesses=tuple(weak), n_baseline=n_baseline, n_candidate=n_candidate)
    is_wanted = not (rules.fail_on == WORSE and change.worse is False)
    if change.outcome == NOT_CALLED:
        return change
    if one.after.benchmark.unit == FAILED_SHARE:  # neither the machine nor the order makes an operation fail
        return replace(change, is_finding=change.is_finding and is_wanted)
    why = ""
    if change.has_changed and change.p is not None:
        if different:
            why = f"other machines were measured ({describe_machines(different)})"
        elif one.design.kind == IN_BLOCKS and not rules.allow_blocks:
            why = _why_blocks(change, one, noise, of_suite, rules)
        elif n_sessions is not None and n_sessions < MIN_SESSIONS:
            why = f"a version was measured in only {n_sessions} sessions; three are needed, and five are good"
        elif rules.require_turns and one.design.kind == UNKNOWN:
            why = "the files do not say that the versions were measured by turns"
    if not why and change.is_finding and change.worse is None and rules.fail_on == WORSE:
        return replace(change, is_finding=False, inconclusive=True, reason=_why_no_direction(one.after.benchmark))
    if not why or not change.is_finding:
        return replace(change, is_finding=change.is_finding and is_wanted)
    return replace(change, is_finding=False, is_held_back=True, inconclusive=True, reason=why)


def _why_no_direction(benchmark: Benchmark) -> str:
    metric = shlex.quote(" ".join((benchmark.unit or benchmark.name).split()))
    return f"nobody says whether lower or higher is better; give --better {metric}=lower or --better {metric}=higher"


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
        turns = {turns_of(one, is_paired) for one in usable}
        if len(turns) == 1 and (first := turns.pop()) is not None:
            together = compared_by_turns(
                np.exp(sums[0] - sums[1].mean()), np.exp(sums[1] - sums[1].mean()), first, alpha
            )
            if together is not None:
                return together[1], k
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


MAX_RESAMPLED = 50  # number of benchmarks whose detectable change is computed by resampling

MANY_RUNS = 200  # with more runs, normal theory is enough


def detectable_changes_of(compared: Sequence[BothSides], rules: Rules, *, is_paired: bool) -> list[Estimate]:
    """Return the change that the same numbers of runs detect with 80 % power, for each benchmark."""
    n_tests = Counter(one.after.family for one in compared)
    found = [_by_formula(one, rules.alpha, n_tests[one.after.family], is_paired=is_paired) for one in compared]
    by_shape: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    order = sorted(range(len(compared)), key=lambda at: -(found[at].value or 0.0))
    for at in order[:MAX_RESAMPLED]:
        one = compared[at]
        is_plain = strata_of(one, is_paired) is None and turns_of(one, is_paired) is None and not one.step
        is_positive = found[at].value and min(one.new.min(), one.old.min()) > 0
        if is_plain and is_positive and 5 <= min(len(one.new), len(one.old)) <= MANY_RUNS:
            by_shape[len(one.new), len(one.old), one.after.family].append(at)
    for (_n, _m, family), rows in by_shape.items():
        a, b = np.sort([compared[at].new for at in rows]), np.sort([compared[at].old for at in rows])
        start = np.array([found[at].value or 1.0 for at in rows])
        level = rules.alpha / n_tests[family]
        for at, value in zip(rows, detectable_changes(a, b, start, level=level, test=rules.test), strict=True):
            if value < inf:
                found[at] = Estimate(float(value))
    return found


def _by_formula(one: BothSides, alpha: float, n_tests: int, *, is_paired: bool) -> Estimate:
    """Return the detectable change by the power of Welch's test, with strata if there are any."""
    if one.reason is not None or min(len(one.old), len(one.new)) < 2:
        return Estimate(None, reason=one.reason or ONE_PROCESS)
    strata, turns = strata_of(one, is_paired), turns_of(one, is_paired)
    if (strata is not None or turns is not None) and min(one.old.min(), one.new.min()) > 0:
        if turns is not None:
            value = smallest_difference_by_turns(one.new, one.old, turns, alpha / n_tests)
        else:
            value = smallest_difference_by_strata(one.new, one.old, strata, alpha / n_tests) if strata else None
        if value is not None:
            return Estimate(value)
    sides = [_rounded(np.sort(side), one.step) for side in (one.new, one.old)]
    n = min(map(len, sides))
    limits = [smallest_difference(side, alpha=alpha, n_tests=n_tests, n_runs=n) for side in sides]
    squares = [limit.value**2 for limit in limits if limit.value is not None]
    root = (sum(squares) / len(squares)) ** 0.5 if squares else None
    base = abs(float(one.old.mean()))
    if root is not None and one.step and base:
        root = max(root, one.step / base)
    if root is None and not is_measured(one.after.benchmark):  # all counts are 0, so any other count is a change
        root = 0.0
    return limits[0] if root is None else Estimate(root, reason=limits[0].reason if not root else None)


def _rounded(values: Floats, step: float) -> Floats:
    """Return the values, with at least the variation that rounding to a step gives."""
    if values.std(ddof=1) >= step / 12**0.5:
        return values
    places = np.arange(len(values)) - (len(values) - 1) / 2
    return np.asarray(values.mean() + places / places.std(ddof=1) * step / 12**0.5, dtype=np.float64)


def with_detectable(
    suite: Suite, detectable: Sequence[Estimate], changes: Sequence[Change], compared: Sequence[BothSides]
) -> Suite:
    """Add the detectable changes of the benchmarks that were tested in their deciding unit.

    A benchmark is too noisy to judge only if no change is shown: it would contradict any other result.
    """
    tested = sorted(
        (inf if limit.value is None else limit.value, change.name, change.outcome == NOT_SHOWN)
        for limit, change, one in zip(detectable, changes, compared, strict=True)
        if change.p is not None and one.after.family == "" and (one.old.any() or one.new.any())  # 0 has no change in %
    )
    if not tested:
        return suite
    value, name, _is_unchanged = tested[-1]
    return replace(
        suite, detectable=tested[(len(tested) - 1) // 2][0], largest=value, least_precise=name,
        too_noisy=tuple(name for value, name, is_unchanged in tested if is_unchanged and value > TOO_NOISY),
    )  # fmt: skip


SIZES = (3, 5, 10, 20, 30, 50)
N_DRAWS = 300  # simulated checks; fewer in large suites
MIN_DRAWS, MAX_TESTS = 60, 6000


@dataclass(frozen=True)
class NoiseRow:
    """How often a check with this number of runs raises a false alarm, and what it detects."""

    n_runs: int  # of each version
    design: str  # "by turns" or "in blocks"
    false_alarms: float  # share of checks in which any benchmark is called slower
    undecided: float  # share of checks without a false alarm in which a change is inconclusive
    # Smallest limit that keeps the false alarms at the wanted rate: 0 if no limit is needed, None if none is enough,
    # because values change from 0.
    min_change: float | None
    detectable: float | None  # median of the changes that are detected with 80 % power


@dataclass(frozen=True)
class Noise:
    """The noise of a suite on a machine."""

    n_benchmarks: int
    n_runs: int  # measured runs of each benchmark
    n_left_out: int  # benchmarks with another number of runs
    rows: tuple[NoiseRow, ...]


def noise(
    benchmarks: Sequence[Benchmark],
    *,
    per_run: PerRun = EVERY_ITERATION,
    alpha: float = 0.05,
    rate: float = 0.05,
    rng: np.random.Generator,
) -> Noise:
    """Compare runs of one version with each other, exactly as a check compares two versions.

    For each number of runs, a stretch of consecutive runs is drawn and divided into a baseline and a candidate: by
    turns (pairs of runs in random order), or into its first and its second half. Benchmarks of the same number of runs
    are divided in the same way, so noise that they share counts. `alpha` is the significance level of the check for all
    benchmarks together, and `rate` the wanted share of false alarms. Raises ValueError if there are no benchmarks with
    at least six runs, or a share is not in (0, 1).
    """
    groups: dict[int, list[SideRuns]] = defaultdict(list)
    for level in levels_of(benchmarks, per_run).values():
        if level.benchmark.unit != FAILED_SHARE:
            groups[len(level.values)].append(level)
    n_levels = sum(map(len, groups.values()))
    n_runs = max(groups, key=lambda n: (len(groups[n]), n), default=0)
    if n_runs < 2 * SIZES[0]:
        raise ValueError(f"at least {2 * SIZES[0]} runs of each benchmark are needed, got {n_runs}")
    used = [_in_time(level) for level in groups[n_runs]]
    n_tests = Counter(level.family for level in used)
    n_draws = max(MIN_DRAWS, min(N_DRAWS, MAX_TESTS // len(used)))
    rows = []
    for n in (n for n in SIZES if 2 * n <= n_runs):
        limits = [
            smallest_difference(level.values, alpha=alpha, n_tests=n_tests[level.family], n_runs=n).value
            for level in used
        ]
        known = sorted(limit for limit in limits if limit is not None)
        detectable = known[len(known) // 2] if known else None
        for design in (BY_TURNS, IN_BLOCKS):
            suites = [_divided(used, n, design, rng) for _ in range(n_draws)]
            checked = test_suites(suites, Rules(alpha=alpha, min_change=0.0))
            largest = np.array([_largest_slowdown(suite.changes) for suite in checked])
            undecided = [any(change.inconclusive for change in suite.changes) for suite in checked]
            needed = float(np.quantile(largest, 1 - rate, method="higher"))
            shares = float((largest > 0).mean()), float((np.array(undecided) & (largest == 0)).mean())
            rows.append(NoiseRow(n, design, *shares, needed if needed < inf else None, detectable))
    return Noise(len(used), n_runs, n_levels - len(used), tuple(rows))


def _in_time(level: SideRuns) -> SideRuns:
    times = times_of(level.benchmark.runs)
    return level if times is None else replace(level, values=level.values[np.argsort(times, kind="stable")])


def _divided(levels: Sequence[SideRuns], n: int, design: str, rng: np.random.Generator) -> list[BothSides]:
    """Divide a stretch of runs into two sides of n runs each."""
    start = int(rng.integers(0, len(levels[0].values) - 2 * n + 1))
    if design == BY_TURNS:
        is_first = rng.random(n) < 0.5
        is_new = np.column_stack([is_first, ~is_first]).ravel()
    else:
        is_new = np.repeat([False, True], n) != (rng.random() < 0.5)
    places = [start + np.flatnonzero(side) for side in (~is_new, is_new)]
    turns = strict_turns(*(side.astype(np.float64) for side in places)) if design == BY_TURNS else None
    divided = []
    for level in levels:
        old, new = (replace(level, values=level.values[side]) for side in places)
        divided.append(
            BothSides(
                old, new, RunDesign(design), old.values, new.values, is_by_turns=design == BY_TURNS, machines={},
                turns=turns,
            )
        )  # fmt: skip
    return with_steps(divided)


def _largest_slowdown(changes: Sequence[Change]) -> float:
    """Return the largest change for the worse that a check reports; 0 if it reports none, infinity for one from 0."""
    worse = [change.ratio.value for change in changes if change.is_finding and change.worse]
    return max((inf if ratio is None else abs(ratio - 1) for ratio in worse), default=0.0)
