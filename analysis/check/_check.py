"""Judge the runs of each benchmark, compare them with a baseline, and return an exit code for a build."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, inf, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.benchmark import EVERY_ITERATION, HIGHER, Benchmark, PerRun, by_level, canonical, in_unit, natural
from analysis.categories import DISSIMILAR
from analysis.check import _machine as machines
from analysis.check._design import (
    BY_TURNS,
    FEW_BENCHMARKS,
    HALF,
    IN_BLOCKS,
    SESSIONS,
    SHARED,
    UNKNOWN,
    Design,
    SharedNoise,
    design_of,
    shared_noise,
    stands_alone,
    times_of,
)
from analysis.check._same_runs import same_runs
from analysis.classifiers import CLASSIFIERS, classifier_named
from analysis.comparison import TIMES, Change, Groups, Pair, compare
from analysis.document import counted
from analysis.intervals import Estimate
from analysis.power import detectable_changes, smallest_difference, smallest_difference_by_strata
from analysis.runs import Floats, Runs
from analysis.spread import max_spread
from analysis.two_samples import COMBINED, by_strata

if TYPE_CHECKING:  # imported only for types, because the module loads pandas
    from analysis.learning import Model
    from analysis.reasons import Reasons

SPREAD = "spread"  # the default classifier judges runs of any length and ignores noise within runs
NOTHING_FOUND, FOUND, INCONCLUSIVE = 0, 1, 3  # outcomes of a check; each is an exit code
SLOWER, CHANGE = FAIL_ON = ("slower", "change")
CHANGED, MISSING, FAILED, UNDECIDED = KINDS = ("changed", "missing", "failed runs", "inconclusive")
N_FEW, N_EXPLAINED = 3, 10
ALL = "all"
MIN_CHANGE = 0.01  # default of `min_change` for times and rates; 0 for memory and other counts
TOO_NOISY = 0.25  # a benchmark that detects only larger changes is too noisy to judge
LARGE = 0.25  # a larger change that was measured in blocks can still be a finding
MIN_SESSIONS, FEW_SESSIONS = 3, 5
MAX_RESAMPLED = 50  # number of benchmarks whose detectable change is computed by resampling
MANY_RUNS = 200  # with more runs, normal theory is enough

NO_PAIR = "The baseline and the candidate have no benchmark in common, so nothing was compared."
NO_BENCHMARK = "The files contain no benchmarks to check."
ONE_PROCESS = "one process: not tested"
WHY_ONE_PROCESS = "The repetitions of one process do not show how much processes differ, so no test is possible."
SAME_DATA = "The same measurements are on both sides, so nothing was compared. Pass the files of two versions."
BY_TURNS_ADVICE = "Measure by turns."


@dataclass(frozen=True)
class CheckedBenchmark:
    """The result for one benchmark of the candidate."""

    name: str
    unit: str
    n_runs: int
    n_failed: int  # number of runs without a measurement; `failures` counts them by reason
    failures: Mapping[str, int]
    # Median of one number per run, or of the iterations if there is only one run; None if there is no run.
    median: float | None
    # (largest - smallest) / mean of the iterations, if there is only one run. It does not show how much runs
    # differ.
    within: Estimate
    verdict: str | None  # verdict of the chosen classifier; None if it gave no verdict, and `reason` says why
    reason: str | None
    verdicts: Mapping[str, str | None]  # verdicts of `spread` and of the chosen classifier
    max_spread: Estimate  # (largest - smallest) / mean of one number per run
    # The smallest relative difference that the same number of runs on each side detects with 80 % power,
    # corrected for the number of benchmarks.
    smallest_difference: Estimate
    # Number of iterations that the chosen classifier left out because the runs have different lengths.
    n_left_out: int = 0
    # Why the runs differ, for the few benchmarks that the report explains; None for all others.
    reasons: "Reasons | None" = None


@dataclass(frozen=True)
class Finding:
    """A problem that the check reports."""

    kind: str  # one of `KINDS`, or "dissimilar"
    name: str  # name of the benchmark; "" if the finding concerns all benchmarks
    words: str  # description of the finding, without the name
    outcome: int  # the exit code that the finding requires; 0 if the options allow the finding
    known: str = ""  # reason of the known change that covers this finding; "" if there is none


@dataclass(frozen=True)
class KnownChange:
    """A change that somebody has reviewed and accepted."""

    benchmark: str  # name of a benchmark; * matches any text
    reason: str
    until: str  # last day on which the entry applies, for example 2026-12-31
    at_most: float | None = None  # largest accepted change, as a share of the baseline; None for a change of any size
    is_expired: bool = False  # whether the last day is over
    names: tuple[str, ...] = ()  # benchmarks whose findings the entry covers


@dataclass(frozen=True)
class Limit:
    """The limits of the benchmarks that a pattern matches; None means the limit of the check."""

    benchmark: str  # name of a benchmark; * matches any text
    min_change: float | None = None
    max_slowdown: float | None = None


@dataclass(frozen=True)
class Suite:
    """What the check knows about all compared benchmarks together."""

    # Geometric mean of the ratios candidate / baseline of `n` benchmarks, with its interval for these benchmarks.
    ratio: Estimate = field(default_factory=lambda: Estimate(None))
    n: int = 0
    n_left_out: int = 0  # benchmarks without a ratio, such as failed ones
    designs: Mapping[str, int] = field(default_factory=dict)  # how many benchmarks were measured in which way
    noise: SharedNoise = field(default_factory=SharedNoise)
    has_inverted: bool = False  # whether `ratio` uses 1 / rate, because the suite also has times
    is_paired: bool = False  # whether run i of the baseline is compared with run i of the candidate
    # Median of the detectable changes, the largest one, and the benchmark with the largest one.
    detectable: float | None = None
    largest: float | None = None
    least_precise: str = ""
    too_noisy: tuple[str, ...] = ()  # benchmarks that detect only changes above 25 %


@dataclass(frozen=True)
class Check:
    """The result of a check."""

    benchmarks: tuple[CheckedBenchmark, ...]  # the benchmarks of the candidate
    changes: tuple[Change, ...]  # changes against the baseline; empty if there is no baseline
    only_in_candidate: tuple[str, ...]  # benchmarks that could not be compared
    only_in_baseline: tuple[str, ...]
    findings: tuple[Finding, ...]  # the most important findings first
    warnings: tuple[str, ...]  # problems with the measurements that make the results less reliable
    parameters: Mapping[str, Any]
    outcome: int  # exit code: 0 if there is no finding, 1 if there is one, 3 if the check is inconclusive
    known: tuple[KnownChange, ...] = ()  # the accepted changes, each with the benchmarks that it covers
    suite: Suite = field(default_factory=Suite)
    notes: tuple[str, ...] = ()  # sentences about the measurements that are not problems
    former_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # earlier names of benchmarks


@dataclass(frozen=True)
class Rules:
    """Options of a check: what counts as a finding, and what is allowed.

    Raises
    ------
    ValueError
        If an option is invalid.
    """

    # Which changes are findings. "slower": changes for the worse, and changes whose direction is unknown.
    # "change": all changes.
    fail_on: str = SLOWER
    test: str = COMBINED  # as in `analysis.comparison.compare`
    alpha: float = 0.05
    min_change: float | None = None  # None: 1 % for times and rates, 0 for memory and other counts
    max_slowdown: float | None = None
    limits: tuple[Limit, ...] = ()  # limits of some benchmarks; the first entry that matches counts
    # A name in `CLASSIFIERS`, or a setting such as "heuristic@0.30"; its verdict decides if there is no baseline.
    classifier: str = SPREAD
    limit: float = CLASSIFIERS[SPREAD].parameters["limit"]  # threshold of `spread`
    allow_missing: bool = False  # whether to allow failed runs, and benchmarks that are only in the baseline
    allow_inconclusive: bool = False  # whether to allow results that cannot be decided
    allow_blocks: bool = False  # whether to decide about runs in blocks as if they were measured by turns
    require_turns: bool = False  # whether each comparison must have been measured by turns or in sessions
    allow_different: tuple[str, ...] = ()  # differences of machines to ignore: "cpu", "runtime", "build", "all"
    require_same_machine: bool = False
    runs: int | None = None  # number of runs that each benchmark must have
    # A learned model to use instead of a built-in classifier; `classifier` is then its name.
    model: "Model | None" = None

    def __post_init__(self) -> None:
        """Raise ValueError if an option is invalid."""
        if self.model is not None and self.classifier != self.model.classifier:
            raise ValueError(f"the classifier of the model is {self.model.classifier}, not {self.classifier}")
        if self.model is None and classifier_named(self.classifier) is None:
            raise ValueError(f"unknown classifier {self.classifier!r}; choose one of {', '.join(CLASSIFIERS)}")
        if self.fail_on not in FAIL_ON:
            raise ValueError(f"fail_on must be one of {', '.join(FAIL_ON)}, got {self.fail_on!r}")
        if not self.limit > 0:
            raise ValueError(f"limit must be a share > 0, got {self.limit}")
        unknown = [name for name in self.allow_different if name not in (*machines.ALLOWED, ALL)]
        if unknown:
            raise ValueError(f"allow_different must name {', '.join(machines.ALLOWED)} or {ALL}, got {unknown[0]!r}")

    @property
    def allowed_parts(self) -> tuple[str, ...]:
        """Return the differences between machines that do not matter."""
        return machines.ALLOWED if ALL in self.allow_different else self.allow_different


DEFAULT_RULES = Rules()


Key = tuple[str, str]  # application and name of a benchmark


@dataclass(frozen=True)
class _Level:
    """The runs of a benchmark on one version in one context, and one number for each run, in the order of the runs."""

    benchmark: Benchmark
    values: Floats
    family: str


@dataclass(frozen=True)
class _Compared:
    """A benchmark of both sides: how it was measured, and one number for each run or session."""

    before: _Level
    after: _Level
    design: Design
    old: Floats  # in order of time
    new: Floats
    is_by_turns: bool  # whether `old` and `new` alternate in time
    machines: Mapping[str, tuple[str, str]]  # differences between the machines
    reason: str | None = None  # why the two sides cannot be compared
    step: float = 0.0  # resolution of the timer, if the values are so few or so equal that it matters


def check(
    benchmarks: Sequence[Benchmark],
    baseline: Sequence[Benchmark] | None = None,
    rules: Rules = DEFAULT_RULES,
    *,
    per_run: PerRun = EVERY_ITERATION,
    warnings: Sequence[str] = (),
    same_files: Sequence[str] = (),
    explain: bool = True,
) -> Check:
    """Judge each benchmark of the candidate, and compare it with the baseline if there is one.

    Raises ValueError if an option is invalid, or no iteration of a run remains after the warm-up.

    Parameters
    ----------
    baseline : sequence of Benchmark, optional
        If there is a baseline, only changes decide the outcome, and the verdicts are for information.
    warnings : sequence of str
        Warnings about the measurements that are already known, for example from reading the files.
    same_files : sequence of str
        Names of files that are on both sides.
    explain : bool
        Whether to find out why runs differ, which takes most of the time.
    """
    after, before = _levels(benchmarks, per_run), _levels(baseline or (), per_run)
    notes, of_suite = [], [f"The same file is on both sides: {name}." for name in same_files[:N_FEW]]
    renamed = list(_with_former_names(before, after))
    same = list(_without_same_runs(before, after))
    are_all_same = {name for name, _n, is_empty in same if is_empty}
    if same:
        n_runs = sum(n for _name, n, _is_empty in same)
        words = f"{counted(n_runs, 'run')} of {counted(len(same), 'benchmark')}"
        if len(are_all_same) == len(before.keys() & after.keys()):
            of_suite.append(SAME_DATA)
        else:
            of_suite.append(f"{words} are in the files of both sides, so they count on neither side.")
    notes += list(_by_machine(before, after))
    notes += _renamed(renamed)
    common = [key for key in after if key in before]
    compared = _with_steps([_compared(before[key], after[key], are_all_same) for key in common])
    suite, changes = _changes(compared, rules)
    n_tests = Counter(level.family for level in after.values())
    detectable = dict(zip(common, _detectable(compared, rules, is_paired=suite.is_paired), strict=True))
    checked = {
        key: _checked(level, rules, per_run, n_tests[level.family], detectable.get(key)) for key, level in after.items()
    }
    rows = list(checked.values())
    if explain:
        explained = {id(row) for row in _explained(rows, changes)}
        rows = [
            replace(row, reasons=_reasons(after[key], rules, per_run, n_tests)) if id(row) in explained else row
            for key, row in checked.items()
        ]
    missing = tuple(level.benchmark.name for key, level in before.items() if key not in after)
    new = tuple(level.benchmark.name for key, level in after.items() if baseline is not None and key not in before)
    if baseline is not None:
        suite = _with_detectable(suite, [detectable[key] for key in common], changes, compared)
        more_notes, more = _of_suite(suite, compared, changes, rules)
        notes, of_suite = [*notes, *more_notes], [*of_suite, *more]
    findings = _findings(rows, changes if baseline is not None else None, missing, before.values(), rules, of_suite)
    parameters = {
        **{name: value for name, value in vars(rules).items() if name != "model"},
        "warmup": per_run.warmup, "aggregate": per_run.aggregate,
        "against_a_baseline": baseline is not None,
    }  # fmt: skip
    if rules.model is not None:
        parameters["model"] = rules.model.formula
    formers = {level.benchmark.name: level.benchmark.former_names for level in after.values()}
    return Check(
        tuple(rows), changes, new, missing, tuple(findings), tuple(warnings), parameters, outcome_of(findings),
        suite=suite, notes=tuple(notes), former_names={name: former for name, former in formers.items() if former},
    )  # fmt: skip


def _renamed(renamed: Sequence[tuple[str, str]]) -> list[str]:
    if not renamed:
        return []
    former, name = renamed[0]
    return [f"{counted(len(renamed), 'benchmark')} matched under an earlier name, for example {former} is now {name}."]


def _compared(before: _Level, after: _Level, are_all_same: set[str]) -> _Compared:
    """Order the runs of both sides by time, and find out how they were measured."""
    old, new = before.benchmark, after.benchmark
    reason = None
    if not old.runs or not new.runs:
        reason = f"every run of the {'candidate' if old.runs else 'baseline'} failed"
    elif (old.unit, old.better) != (new.unit, new.better):
        reason = f"the baseline is in {in_unit(old)}, the candidate in {in_unit(new)}"
    elif new.name in are_all_same:
        reason = "the same runs are on both sides"
    if reason:
        values = before.values, after.values
        return _Compared(before, after, Design(), *values, is_by_turns=False, machines={}, reason=reason)
    places = [machines.machine_of(level.benchmark.runs[0]) for level in (before, after)]
    different = machines.differences(places[0], places[1])
    sides, times = (before.values, after.values), (times_of(old.runs), times_of(new.runs))
    design = design_of(*times)
    if design.kind == UNKNOWN or times[0] is None or times[1] is None:
        return _Compared(before, after, design, *sides, is_by_turns=False, machines=different)
    if design.kind == SESSIONS and design.groups is not None and (design.n_sessions or 0) >= MIN_SESSIONS:
        old_groups, new_groups = design.groups
        means = _per_session(sides[0], old_groups), _per_session(sides[1], new_groups)
        starts = _per_session(times[0], old_groups), _per_session(times[1], new_groups)
        is_by_turns = design_of(*starts).kind == BY_TURNS
        return _Compared(before, after, design, *means, is_by_turns=is_by_turns, machines=different)
    orders = np.lexsort((sides[0], times[0])), np.lexsort((sides[1], times[1]))
    if design.groups is not None:
        design = replace(design, groups=(design.groups[0][orders[0]], design.groups[1][orders[1]]))
    ordered = sides[0][orders[0]], sides[1][orders[1]]
    return _Compared(before, after, design, *ordered, is_by_turns=design.kind == BY_TURNS, machines=different)


def _per_session(values: Floats, groups: Groups) -> Floats:
    _names, number = np.unique(groups, return_inverse=True)
    return np.asarray(np.bincount(number, values) / np.bincount(number), dtype=np.float64)


def _changes(compared: Sequence[_Compared], rules: Rules) -> tuple[Suite, tuple[Change, ...]]:
    """Test all benchmarks, and hold back the changes that the measurements cannot attribute to the versions."""
    deciding = [one for one in compared if one.after.family == "" and one.reason is None]
    noise = shared_noise([_costs(one) for one in deciding])
    is_paired = any(one.is_by_turns for one in deciding) and _pairing_pays(noise)
    pairs = [
        Pair(
            one.after.benchmark.name, *_values(one, is_paired), one.after.benchmark.unit, one.after.benchmark.better,
            one.after.family, one.reason, _strata(one, is_paired), one.step, *_limits(one, rules),
        )
        for one in compared
    ]  # fmt: skip
    changes = compare(pairs, test=rules.test, alpha=rules.alpha, max_slowdown=rules.max_slowdown)
    of_suite = {
        change.name: ratio
        for one, change in zip(compared, changes, strict=True)
        if one.after.family == "" and (ratio := _cost_ratio(one, change.ratio.value)) is not None
    }
    held = tuple(_held_back(change, one, noise, of_suite, rules) for change, one in zip(changes, compared, strict=True))
    designs = Counter(one.design.kind for one in deciding)
    ratio, n = _geometric_mean(deciding, rules.alpha, is_paired=is_paired)
    n_left_out = sum(one.after.family == "" for one in compared) - n
    return Suite(ratio, n, n_left_out, dict(designs), noise, _is_mixed(deciding), is_paired), held


def _values(one: _Compared, is_paired: bool) -> tuple[Floats, Floats]:
    """Return the numbers to compare; they are sorted if their order does not matter, so that it changes no number."""
    if _strata(one, is_paired) is not None:
        return one.old, one.new
    return np.sort(one.old), np.sort(one.new)


def _costs(one: _Compared) -> tuple[Floats, Floats]:
    """Return the numbers of both sides such that a slower machine gives higher numbers; empty if this is unknown."""
    if one.after.benchmark.better != HIGHER:
        return one.old, one.new
    sides = one.old, one.new
    if min((side.min() for side in sides if len(side)), default=1.0) <= 0:
        return np.empty(0), np.empty(0)
    return 1 / one.old, 1 / one.new


def _cost_ratio(one: _Compared, ratio: float | None) -> float | None:
    """Return a ratio such that a slower machine gives more than 1; None if there is no positive finite ratio."""
    if ratio is None or not 0 < ratio < inf:
        return None
    return 1 / ratio if one.after.benchmark.better == HIGHER else ratio


def _strata(one: _Compared, is_paired: bool) -> tuple[Groups, Groups] | None:
    if one.reason is not None:
        return None
    if one.design.kind != SESSIONS and one.design.groups is not None:
        return one.design.groups
    if is_paired and _is_paired(one):
        return np.arange(len(one.old)), np.arange(len(one.new))
    return None


def _is_paired(one: _Compared) -> bool:
    """Return whether each run of a version has a run of the other one that was measured at about the same time."""
    has_groups = one.design.kind != SESSIONS and one.design.groups is not None
    return one.is_by_turns and len(one.old) == len(one.new) and not has_groups


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


def _limits(one: _Compared, rules: Rules) -> tuple[float, float | None]:
    """Return the smallest change that counts, and the largest acceptable slowdown; None: that of the check."""
    benchmark = one.after.benchmark
    names = (benchmark.name, *benchmark.former_names)
    own = next((limit for limit in rules.limits if any(matches(limit.benchmark, name) for name in names)), None)
    usual = rules.min_change
    if usual is None:
        usual = MIN_CHANGE if _is_measured(benchmark) else 0.0
    return (
        own.min_change if own is not None and own.min_change is not None else usual,
        own.max_slowdown if own is not None else None,
    )


def _is_measured(benchmark: Benchmark) -> bool:
    """Return whether the numbers vary by nature, unlike memory and numbers of allocations."""
    return not re.search(r"\b(bytes?|[KMG]i?B|B|allocs?|allocations|objects)\b(?!/s)", benchmark.unit, re.IGNORECASE)


def matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern.

    The only wildcard is *, because names of benchmarks can contain brackets and question marks.
    """
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, flags=re.DOTALL) is not None


def _with_steps(compared: Sequence[_Compared]) -> list[_Compared]:
    """Add the resolution of the timer to the benchmarks with so few different values that it matters."""
    coarse = [at for at, one in enumerate(compared) if _may_be_coarse(one)]
    wanted = {_scale(compared[at]) for at in coarse}
    gaps: dict[tuple[str, int], float] = {}
    for one in compared:
        scale = _scale(one) if wanted else None
        if scale not in wanted or scale is None:
            continue
        runs = (*one.before.benchmark.runs, *one.after.benchmark.runs)
        values = np.unique(np.concatenate([run.values for run in runs]))
        steps = np.diff(values)
        steps = steps[steps > 1e-9 * np.abs(values[1:])]  # smaller steps are rounding errors of the conversion
        if len(steps):
            gaps[scale] = min(gaps.get(scale, inf), float(steps.min()))
    steps = {at: gaps.get(_scale(compared[at]), 0.0) for at in coarse}
    return [replace(one, step=steps[at]) if at in steps else one for at, one in enumerate(compared)]


def _may_be_coarse(one: _Compared) -> bool:
    unit = one.after.benchmark.unit
    if one.reason is not None or not (unit in TIMES or "/s" in unit):
        return False
    n, both = min(len(one.old), len(one.new)), np.concatenate([one.old, one.new])
    is_constant = any(side.min() == side.max() for side in (one.old, one.new))
    return n > 1 and (is_constant or (n <= 3 and len(np.unique(both)) < len(both)))


def _scale(one: _Compared) -> tuple[str, int]:
    """Return the unit and the power of ten: many tools print a fixed number of digits, so the step grows with it."""
    size = abs(float(np.median(one.old)))
    return one.after.benchmark.unit, floor(log10(size)) if size > 0 else 0


def _held_back(
    change: Change, one: _Compared, noise: SharedNoise, of_suite: Mapping[str, float], rules: Rules
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


def _why_blocks(change: Change, one: _Compared, noise: SharedNoise, of_suite: Mapping[str, float], rules: Rules) -> str:
    if rules.require_turns:
        return "the versions were measured in blocks"
    if not noise.why:
        return ""
    others = [ratio for name, ratio in of_suite.items() if name != change.name]
    limit = max(LARGE, rules.max_slowdown or 0.0)
    ends = [
        end for end in (_cost_ratio(one, each) for each in (change.ratio.low, change.ratio.high)) if end is not None
    ]
    if len(ends) == 2 and stands_alone(min(ends), max(ends), others, limit):
        return ""
    return f"all runs of one version were measured before those of the other, and {noise.why}"


def _is_mixed(compared: Sequence[_Compared]) -> bool:
    """Return whether the suite has both rates and times, so that a slower machine moves them in both directions."""
    return len({one.after.benchmark.better == HIGHER for one in compared}) > 1


def _geometric_mean(compared: Sequence[_Compared], alpha: float, *, is_paired: bool) -> tuple[Estimate, int]:
    """Return the geometric mean of the ratios with its interval, and the number of benchmarks.

    The interval is for these benchmarks. If all benchmarks have the same numbers of runs, it uses the mean over
    benchmarks of each run, so that noise which benchmarks share widens the interval.
    """
    from scipy import special

    usable = [one for one in compared if min(len(one.old), len(one.new)) and min(one.old.min(), one.new.min()) > 0]
    if not usable:
        return Estimate(None, reason="no benchmark has a ratio"), 0
    sides = [_costs(one) if _is_mixed(usable) else (one.old, one.new) for one in usable]
    logs = [(np.log(new), np.log(old)) for old, new in sides]
    k = len(logs)
    centre = sum(float(new.mean() - old.mean()) for new, old in logs) / k
    shapes = {(len(new), len(old)) for new, old in logs}
    parts = [[pair[side] for pair in logs] for side in (0, 1)]
    if len(shapes) == 1:
        sums = [np.sum(side, axis=0) / k for side in parts]
        logs = [(sums[0], sums[1])]
        strata = [_strata(one, is_paired) for one in usable]
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


def _detectable(compared: Sequence[_Compared], rules: Rules, *, is_paired: bool) -> list[Estimate]:
    """Return the change that the same numbers of runs detect with 80 % power, for each benchmark."""
    n_tests = Counter(one.after.family for one in compared)
    found: list[Estimate] = []
    for one in compared:
        if one.reason is not None or min(len(one.old), len(one.new)) < 2:
            found.append(Estimate(None, reason=one.reason or ONE_PROCESS))
            continue
        strata = _strata(one, is_paired)
        if strata is not None and min(one.old.min(), one.new.min()) > 0:
            value = smallest_difference_by_strata(one.new, one.old, strata, rules.alpha / n_tests[one.after.family])
            if value is not None:
                found.append(Estimate(value))
                continue
        sides = [_rounded(np.sort(side), one.step) for side in (one.new, one.old)]
        n = min(map(len, sides))
        n_of_family = n_tests[one.after.family]
        limits = [smallest_difference(side, alpha=rules.alpha, n_tests=n_of_family, n_runs=n) for side in sides]
        values = [limit.value for limit in limits if limit.value is not None]
        squares = [value**2 for value in values]
        root = (sum(squares) / len(squares)) ** 0.5 if squares else None
        if root is not None and one.step:
            root = max(root, one.step / float(one.old.mean()))
        found.append(limits[0] if root is None else Estimate(root, reason=limits[0].reason if not root else None))
    by_shape: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    order = sorted(range(len(compared)), key=lambda at: -(found[at].value or 0.0))
    for at in order[:MAX_RESAMPLED]:
        one = compared[at]
        is_plain = _strata(one, is_paired) is None and not one.step
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


def _rounded(values: Floats, step: float) -> Floats:
    """Return the values, with at least the variation that rounding to a step gives."""
    if values.std(ddof=1) >= step / 12**0.5:
        return values
    places = np.arange(len(values)) - (len(values) - 1) / 2
    return np.asarray(values.mean() + places / places.std(ddof=1) * step / 12**0.5, dtype=np.float64)


def _with_detectable(
    suite: Suite, detectable: Sequence[Estimate], changes: Sequence[Change], compared: Sequence[_Compared]
) -> Suite:
    """Add the detectable changes of the benchmarks that were tested in their deciding unit."""
    known = sorted(
        (inf if limit.value is None else limit.value, change.name)
        for limit, change, one in zip(detectable, changes, compared, strict=True)
        if change.p is not None and one.after.family == ""
    )
    if not known:
        return suite
    value, name = known[-1]
    return replace(
        suite, detectable=known[len(known) // 2][0], largest=value, least_precise=name,
        too_noisy=tuple(name for value, name in known if value > TOO_NOISY),
    )  # fmt: skip


def _of_suite(
    suite: Suite, compared: Sequence[_Compared], changes: Sequence[Change], rules: Rules
) -> tuple[list[str], list[str]]:
    """Return sentences about the whole suite: notes, and reasons why the check is inconclusive."""
    notes, reasons_ = [], []
    n_tested = sum(change.p is not None and change.family == "" for change in changes)
    too_noisy = f"{len(suite.too_noisy)} of {n_tested}"
    if suite.too_noisy and rules.max_slowdown is None:
        detect = f"a change of less than {100 * TOO_NOISY:.0f} % would not be detected"
        if 2 * len(suite.too_noisy) > n_tested:
            more = "sessions" if any(one.design.kind == SESSIONS for one in compared) else "runs"
            reasons_.append(f"Too noisy to judge: for {too_noisy} benchmarks, {detect}. Measure more {more}.")
        else:
            names = ", ".join(suite.too_noisy[:N_FEW]) + (" …" if len(suite.too_noisy) > N_FEW else "")
            notes.append(f"Too noisy to judge: {too_noisy} ({names}); {detect}.")
    tested = [one for one, change in zip(compared, changes, strict=True) if change.p is not None]
    kinds = Counter(one.design.kind for one in tested)
    if kinds[IN_BLOCKS]:
        mixed = " or nearly so" if any(one.design.is_mixed for one in tested) else ""
        words = f"Measured in blocks{mixed}: a change of the machine looks like a change of the version."
        if rules.require_turns:
            reasons_.append(f"{words} {BY_TURNS_ADVICE}")
        elif any(change.is_held_back for change in changes):
            notes.append(BY_TURNS_ADVICE)
        else:
            notes.append(f"{words} {BY_TURNS_ADVICE}")
    if kinds[UNKNOWN]:
        words = "Times of runs unknown: p holds only if the two versions were measured by turns."
        share = suite.noise.share
        if share is not None and share > SHARED:
            words += f" {100 * share:.0f} % of the variation from run to run is common to all benchmarks."
        (reasons_ if rules.require_turns else notes).append(words)
    sessions = [one.design.n_sessions or 0 for one in tested if one.design.kind == SESSIONS]
    if sessions and min(sessions) < MIN_SESSIONS:
        notes.append(
            f"A version was measured in only {min(sessions)} sessions, and runs of a session are alike; measure at "
            "least three, better five."
        )
    elif sessions:
        few = "; five are better" if min(sessions) < FEW_SESSIONS else ""
        notes.append(f"Each session counts as one number, and a version has {min(sessions)} sessions{few}.")
    strata = [one for one in tested if one.design.kind != SESSIONS and one.design.groups is not None]
    if strata:
        n_groups = len(np.intersect1d(*strata[0].design.groups or ()))
        notes.append(f"The runs are in {n_groups} groups of both versions, and are compared within each group.")
    if any(_is_paired(one) for one in tested) and suite.is_paired:
        notes.append("Each run is compared with the run of the other version at its time, because such runs are alike.")
    are_told = any(change.is_held_back for change in changes)
    if suite.noise.shift is not None and kinds[IN_BLOCKS] + kinds[UNKNOWN] and not are_told:
        notes.append(_moved(suite, tested))
    notes += _machine_notes(tested, rules, reasons_, is_told=are_told)
    uneven = [one for one in tested if len(one.before.values) != len(one.after.values)]
    if uneven:
        name, n_old, n_new = uneven[0].after.benchmark.name, len(uneven[0].before.values), len(uneven[0].after.values)
        notes.append(
            f"{counted(len(uneven), 'benchmark')} with different numbers of runs, for example {name}: {n_old} of the "
            f"baseline, {n_new} of the candidate."
        )
    return notes, reasons_


def _moved(suite: Suite, tested: Sequence[_Compared]) -> str:
    """Say how many benchmarks moved with the suite, which are those that moved by more than half of its shift."""
    shift, deciding = suite.noise.shift or 0.0, [one for one in tested if one.after.family == ""]
    sides = [_costs(one) for one in deciding]
    n_moved = sum(
        float(np.log(new).mean() - np.log(old).mean()) / shift > HALF
        for old, new in sides
        if len(old) and min(old.min(), new.min()) > 0
    )
    are_timed = all(one.after.benchmark.unit in TIMES or one.after.benchmark.better == HIGHER for one in deciding)
    word = ("slower" if shift > 0 else "faster") if are_timed else ("higher" if shift > 0 else "lower")
    size = 100 * abs(np.expm1(shift))
    return (
        f"{n_moved} of {len(deciding)} benchmarks are about {size:.1f} % {word}: a change of the machine, or of "
        "something that all of them use."
    )


def _machine_notes(tested: Sequence[_Compared], rules: Rules, reasons_: list[str], *, is_told: bool) -> list[str]:
    notes = []
    different = [one for one in tested if one.machines]
    if different:
        words = f"The versions were measured on different machines ({machines.describe(different[0].machines)})."
        if rules.require_same_machine:
            reasons_.append(words)
        elif not is_told:
            notes.append(words)
    elif tested:
        runs = [level.benchmark.runs for level in (tested[0].before, tested[0].after)]
        other = machines.named_only(*runs)
        if other:
            host = other.pop("host", None)
            conditions = [*(["another host"] if host else []), *([machines.describe(other)] if other else [])]
            notes.append(f"Other conditions: {'; '.join(conditions)}.")
    return notes


def outcome_of(findings: Sequence[Finding]) -> int:
    """Return the exit code for all findings; a finding takes precedence over an inconclusive result."""
    outcomes = {finding.outcome for finding in findings}
    return FOUND if FOUND in outcomes else max(outcomes, default=NOTHING_FOUND)


def _levels(benchmarks: Sequence[Benchmark], per_run: PerRun) -> dict[Key, _Level]:
    """Return the runs to compare as a dict from (application, name) to the runs.

    The result does not depend on the order of files and rows.
    """
    levels = [level for benchmark in canonical(benchmarks) for level in by_level(benchmark)]
    deciding: dict[tuple[Any, ...], str] = {}
    for level in levels:
        key = _operation(level)
        if key not in deciding or (level.unit in TIMES and deciding[key] not in TIMES):
            deciding[key] = level.unit
    levels.sort(key=lambda level: (natural(level.application), natural(level.name)))
    return {
        (level.application, level.name): _Level(
            level, per_run.values(level.runs), "" if deciding[_operation(level)] == level.unit else level.unit
        )
        for level in levels
    }


def _take(level: _Level, places: Sequence[int], name: str | None = None) -> _Level:
    benchmark = level.benchmark
    taken = replace(benchmark, runs=tuple(benchmark.runs[at] for at in places), name=name or benchmark.name)
    return replace(level, benchmark=taken, values=level.values[list(places)])


def _without_same_runs(before: dict[Key, _Level], after: dict[Key, _Level]) -> Iterator[tuple[str, int, bool]]:
    """Remove runs that are on both sides.

    Yield the name of each benchmark with such runs, their number, and whether no other runs remain on a side.
    """
    for key in before.keys() & after.keys():
        old, new = before[key], after[key]
        sides = same_runs(old.benchmark.runs, new.benchmark.runs)
        if not sides[0]:
            continue
        rest = [
            [at for at in range(len(level.values)) if at not in set(places)]
            for level, places in zip((old, new), sides, strict=True)
        ]
        is_empty = not all(rest)
        yield new.benchmark.name, len(sides[0]), is_empty
        if not is_empty:
            before[key], after[key] = _take(old, rest[0]), _take(new, rest[1])


def _by_machine(before: dict[Key, _Level], after: dict[Key, _Level]) -> Iterator[str]:
    """Split benchmarks that were measured on several machines, so that machines are not mixed; yield sentences."""
    unpaired: dict[str, list[str]] = defaultdict(list)
    for key in sorted(before.keys() & after.keys()):
        sides = [[machines.machine_of(run) for run in levels[key].benchmark.runs] for levels in (before, after)]
        known = [set(side) for side in sides]
        if max(map(len, known), default=0) < 2 or not all(known):
            continue
        every, shared = known[0] | known[1], known[0] & known[1]
        old, new = before.pop(key), after.pop(key)
        for machine in sorted(shared or every):
            others = [other for other in every if other != machine]
            name = f"{new.benchmark.name} @ {machines.label(machine, others)}"
            for levels, level, side in ((before, old, sides[0]), (after, new, sides[1])):
                places = [at for at, entry in enumerate(side) if entry == machine]
                if places:
                    levels[key[0], name] = _take(level, places, name)
        for machine in sorted(every - shared) if shared else ():
            others = [other for other in every if other != machine]
            unpaired[machines.label(machine, others)].append(new.benchmark.name)
    for label, names in unpaired.items():
        benchmarks = counted(len(names), "benchmark")
        yield f"Only one version was measured on {label}; these runs of {benchmarks} are not used."


def _with_former_names(before: dict[Key, _Level], after: dict[Key, _Level]) -> Iterator[tuple[str, str]]:
    """Match benchmarks under the names that they had in earlier results; yield (former name, name)."""
    for levels, others in ((after, before), (before, after)):
        for key, level in list(levels.items()):
            suffix = "".join(level.benchmark.name.partition(" @ ")[1:])
            formers = [former + suffix for former in level.benchmark.former_names]
            former = next((name for name in formers if (key[0], name) in others), None)
            if former is not None and key not in others and (key[0], former) not in levels:
                other = others.pop((key[0], former))
                others[key] = replace(other, benchmark=replace(other.benchmark, name=key[1]))
                yield former, key[1]


def _operation(level: Benchmark) -> tuple[Any, ...]:
    """Return a key that identifies the measured operation.

    The key does not contain the unit, because files may measure one operation in several units.
    """
    suffix = level.name.partition(" @ ")[2]
    return level.application, level.benchmark, tuple(sorted(level.parameters.items())), suffix


def _checked(
    level: _Level, rules: Rules, per_run: PerRun, n_tests: int, detectable: Estimate | None
) -> CheckedBenchmark:
    benchmark, values = level.benchmark, np.sort(level.values)
    spread = max_spread(values) if len(values) else Estimate(None, reason="every run failed")
    verdict: str | None = None
    if spread.value is not None:
        verdict = DISSIMILAR if spread.value > rules.limit else "similar"
    verdicts, reason, n_left_out = {SPREAD: verdict}, spread.reason, 0
    if len(values) == 1:
        reason = ONE_PROCESS
    if rules.classifier != SPREAD:
        verdict, other, n_left_out = _other_verdict(rules, benchmark, per_run.warmup)
        verdicts[rules.classifier] = verdict
        reason = reason if len(values) < 2 else other
    smallest = Estimate(None, reason=ONE_PROCESS)
    if detectable is not None:
        smallest = detectable
    elif len(values) > 1:
        smallest = smallest_difference(np.sort(values), alpha=rules.alpha, n_tests=n_tests)
    return CheckedBenchmark(
        name=benchmark.name,
        unit=benchmark.unit,
        n_runs=len(values),
        n_failed=len(benchmark.failures),
        failures=Counter(failure.reason for failure in benchmark.failures),
        median=_median(benchmark, values, per_run),
        within=_within(benchmark, per_run) if len(values) == 1 else Estimate(None, reason="several runs"),
        verdict=verdict,
        reason=reason if verdict is None else None,
        verdicts=verdicts,
        max_spread=spread,
        smallest_difference=smallest,
        n_left_out=n_left_out,
    )


def _other_verdict(rules: Rules, benchmark: Benchmark, warmup: float) -> tuple[str | None, str | None, int]:
    """Judge a benchmark with the chosen classifier.

    Return the verdict, the reason if there is no verdict, and the number of iterations that the classifier left out.
    """
    try:
        if rules.model is not None:
            learned = rules.model.judge_runs(Runs(benchmark.runs, warmup))
            return learned.verdict, learned.reason, learned.n_left_out
        classifier = classifier_named(rules.classifier)
        assert classifier is not None  # noqa: S101 - `Rules` has checked the name
        verdict = classifier(Runs(benchmark.runs, warmup), drop=warmup)
    except ValueError as error:  # for example a negative measurement
        return None, str(error), 0
    return verdict.verdict, verdict.reason, verdict.n_left_out


def _median(benchmark: Benchmark, values: Floats, per_run: PerRun) -> float | None:
    of_run = per_run.steady(benchmark.runs[0]) if len(values) == 1 else values
    return float(np.median(of_run)) if len(of_run) else None


def _within(benchmark: Benchmark, per_run: PerRun) -> Estimate:
    steady = per_run.steady(benchmark.runs[0])
    return max_spread(steady) if len(steady) > 1 else Estimate(None, reason="one value")


def _reasons(level: _Level, rules: Rules, per_run: PerRun, n_tests: Mapping[str, int]) -> "Reasons | None":
    from analysis.reasons import reasons  # imported here because a short summary does not need it

    if not level.benchmark.runs:
        return None
    return reasons(level.benchmark, per_run=per_run, alpha=rules.alpha, n_tests=n_tests[level.family])


def _explained(checked: Sequence[CheckedBenchmark], changes: Sequence[Change]) -> list[CheckedBenchmark]:
    """Return the benchmarks to explain: changed benchmarks first, then dissimilar ones.

    If there are only a few benchmarks, return all of them.
    """
    changed = {change.name for change in changes if change.has_changed}
    several = [row for row in checked if row.n_runs > 1]
    ordered = sorted(several, key=lambda row: (row.name not in changed, -(row.max_spread.value or 0)))
    if len(ordered) > N_FEW:
        ordered = [row for row in ordered if row.name in changed or row.verdict == DISSIMILAR]
    return ordered[:N_EXPLAINED]


def _findings(
    checked: Sequence[CheckedBenchmark],
    changes: Sequence[Change] | None,
    missing: Sequence[str],
    before: Any,
    rules: Rules,
    of_suite: Sequence[str],
) -> list[Finding]:
    """Return the findings in order of importance.

    Changed and dissimilar benchmarks come first, then missing, failed and undecided benchmarks.
    """
    undecided = NOTHING_FOUND if rules.allow_inconclusive else INCONCLUSIVE
    absent = NOTHING_FOUND if rules.allow_missing else INCONCLUSIVE
    findings: list[Finding] = []
    inconclusive: list[Finding] = []
    if changes is not None:
        worst_first = sorted(
            (change for change in changes if change.is_finding),
            key=lambda change: (change.worse is False, -abs((change.ratio.value or 0) - 1)),
        )
        findings += [Finding(CHANGED, change.name, change.words, FOUND) for change in worst_first]
        inconclusive += [
            Finding(UNDECIDED, change.name, _why_not(change), undecided) for change in changes if change.inconclusive
        ]
        inconclusive = [Finding(UNDECIDED, "", words, undecided) for words in of_suite] + inconclusive
        if not changes:
            inconclusive.insert(0, Finding(UNDECIDED, "", NO_PAIR, undecided))
    else:
        ordered = sorted(checked, key=lambda row: -(row.max_spread.value or 0))
        findings += [
            Finding(DISSIMILAR, row.name, _why_dissimilar(row, rules), FOUND)
            for row in ordered
            if row.verdict == DISSIMILAR
        ]
        inconclusive += [
            Finding(UNDECIDED, row.name, row.reason or "no verdict", undecided)
            for row in checked
            if row.verdict is None and row.n_runs  # the check reports a benchmark without runs as failed
        ]
    if not checked:
        inconclusive.insert(0, Finding(UNDECIDED, "", NO_BENCHMARK, undecided))
    findings += [
        Finding(MISSING, name, "measured for the baseline, but not for the candidate", absent) for name in missing
    ]
    findings += [
        Finding(FAILED, row.name, f"{_failed(row.n_failed, row.n_runs)}: {_describe(row.failures)}", absent)
        for row in sorted(checked, key=lambda row: -row.n_failed)
        if row.n_failed
    ]
    for change in changes or ():
        if rules.runs is not None and min(change.n_candidate, change.n_baseline) < rules.runs:
            words = f"{change.n_baseline} and {change.n_candidate} runs, but {rules.runs} are required"
            findings.append(Finding(FAILED, change.name, words, absent))
    for level in before:
        failures = level.benchmark.failures
        if failures:
            words = _describe(Counter(failure.reason for failure in failures))
            failed = _failed(len(failures), len(level.values))
            findings.append(Finding(FAILED, level.benchmark.name, f"{failed} of the baseline: {words}", absent))
    return findings + inconclusive


def _why_not(change: Change) -> str:
    if change.p is None and min(change.n_baseline, change.n_candidate) == 1:
        return ONE_PROCESS
    return change.reason or "the data do not decide"


def _why_dissimilar(row: CheckedBenchmark, rules: Rules) -> str:
    if rules.classifier == SPREAD:
        return (
            f"the {row.n_runs} runs are {100 * (row.max_spread.value or 0):.3g} % apart, "
            f"more than {100 * rules.limit:.4g} %"
        )
    return f"{rules.classifier} calls the {row.n_runs} runs dissimilar"


def _failed(n_failed: int, n_runs: int) -> str:
    return f"{n_failed} of {n_failed + n_runs} runs failed"


def _describe(failures: Mapping[str, int]) -> str:
    """Return the most frequent reason as text, and the number of other reasons."""
    reason, _n = max(failures.items(), key=lambda item: item[1])
    more = len(failures) - 1
    return f"{reason or 'no reason given'}{f' (and {more} more)' if more else ''}"
