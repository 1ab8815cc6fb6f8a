"""Judge the runs of each benchmark, compare them with a baseline, and return an exit code for a build."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.benchmark import EVERY_ITERATION, TIME, Benchmark, Sampling, by_level, canonical, in_unit, natural
from analysis.categories import DISSIMILAR
from analysis.classifiers import CLASSIFIERS, classifier_named
from analysis.comparison import TIMES, Change, Pair, compare
from analysis.document import counted
from analysis.intervals import Estimate
from analysis.power import smallest_difference
from analysis.reasons import Reasons, reasons
from analysis.runs import Floats, Runs
from analysis.spread import max_spread
from analysis.two_samples import COMBINED

if TYPE_CHECKING:  # imported only for types, because the module loads pandas
    from analysis.learning import Model

SPREAD = "spread"  # the default classifier judges runs of any length and ignores noise within runs
NOTHING_FOUND, FOUND, INCONCLUSIVE = 0, 1, 3  # outcomes of a check; each is an exit code
SLOWER, CHANGE = FAIL_ON = ("slower", "change")
CHANGED, MISSING, FAILED, UNDECIDED = KINDS = ("changed", "missing", "failed runs", "inconclusive")
N_FEW, N_EXPLAINED = 3, 10
SHARE_IN_BLOCKS = 0.5  # warn if this share of benchmarks was measured one version after the other

NO_PAIR = "The baseline and the candidate have no benchmark in common, so nothing was compared."
NO_BENCHMARK = "The files contain no benchmarks to check."
ONE_PROCESS = "one process: not tested"
WHY_ONE_PROCESS = "The repetitions of one process do not show how much processes differ, so no test is possible."
IN_BLOCKS = (
    "All runs of one version were measured before all runs of the other. If the speed of the machine drifts, the "
    "check reports 22 to 100 % of the unchanged benchmarks as changed. Alternate the two versions: one run of the "
    "baseline, one run of the candidate, and so on."
)


@dataclass(frozen=True)
class CheckedBenchmark:
    """The result for one benchmark of the candidate.

    Attributes
    ----------
    name, unit : str
    n_runs : int
    n_failed : int
        Number of runs without a measurement; `failures` counts them by reason.
    failures : mapping of str to int
    median : float or None
        Median of one number per run, or of the iterations if there is only one run; None if there is no run.
    within : Estimate
        (largest - smallest) / mean of the iterations, if there is only one run. It does not show how much runs differ.
    verdict : str or None
        Verdict of the chosen classifier; None if it gave no verdict, and `reason` says why.
    reason : str or None
    verdicts : mapping of str to str or None
        Verdicts of `spread` and of the chosen classifier.
    max_spread : Estimate
        (largest - smallest) / mean of one number per run.
    smallest_difference : Estimate
        The smallest relative difference that the same number of runs on each side detects with 80 % power, corrected
        for the number of benchmarks.
    n_left_out : int
        Number of iterations that the chosen classifier left out because the runs have different lengths.
    reasons : Reasons or None
        Why the runs differ, for the few benchmarks that the report explains; None for all others.
    """

    name: str
    unit: str
    n_runs: int
    n_failed: int
    failures: Mapping[str, int]
    median: float | None
    within: Estimate
    verdict: str | None
    reason: str | None
    verdicts: Mapping[str, str | None]
    max_spread: Estimate
    smallest_difference: Estimate
    n_left_out: int = 0
    reasons: Reasons | None = None


@dataclass(frozen=True)
class Finding:
    """A problem that the check reports.

    Attributes
    ----------
    kind : str
        One of `KINDS`, or "dissimilar".
    name : str
        Name of the benchmark; "" if the finding concerns all benchmarks.
    words : str
        Description of the finding, without the name.
    outcome : int
        The exit code that the finding requires; 0 if the options allow the finding.
    known : str
        Reason of the known change that covers this finding; "" if there is none.
    """

    kind: str
    name: str
    words: str
    outcome: int
    known: str = ""


@dataclass(frozen=True)
class KnownChange:
    """A change that somebody has reviewed and accepted.

    Attributes
    ----------
    benchmark : str
        Name of a benchmark; * matches any text.
    reason : str
    until : str
        Last day on which the entry applies, for example 2026-12-31.
    at_most : float or None
        Largest accepted change, as a share of the baseline; None for a change of any size.
    is_expired : bool
        Whether the last day is over.
    names : tuple of str
        Benchmarks whose findings the entry covers.
    """

    benchmark: str
    reason: str
    until: str
    at_most: float | None = None
    is_expired: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """The result of a check.

    Attributes
    ----------
    benchmarks : tuple of CheckedBenchmark
        The benchmarks of the candidate.
    changes : tuple of Change
        Changes against the baseline; empty if there is no baseline.
    only_in_candidate, only_in_baseline : tuple of str
        Benchmarks that could not be compared.
    findings : tuple of Finding
        The most important findings first.
    warnings : tuple of str
        Problems with the measurements that make the results less reliable.
    parameters : mapping
    outcome : int
        Exit code: 0 if there is no finding, 1 if there is one, 3 if the check is inconclusive.
    known : tuple of KnownChange
        The accepted changes, each with the benchmarks that it covers.
    """

    benchmarks: tuple[CheckedBenchmark, ...]
    changes: tuple[Change, ...]
    only_in_candidate: tuple[str, ...]
    only_in_baseline: tuple[str, ...]
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    parameters: Mapping[str, Any]
    outcome: int
    known: tuple[KnownChange, ...] = ()


@dataclass(frozen=True)
class Rules:
    """Options of a check: what counts as a finding, and what is allowed.

    Attributes
    ----------
    fail_on : str
        Which changes are findings. "slower": changes for the worse, and changes whose direction is unknown. "change":
        all changes.
    test, alpha, min_change, max_slowdown
        As in `analysis.comparison.compare`.
    classifier : str
        A name in `CLASSIFIERS`, or a setting such as "heuristic@0.30"; its verdict decides if there is no baseline.
    limit : float
        Threshold of `spread`.
    allow_missing : bool
        Whether to allow failed runs, and benchmarks that are only in the baseline.
    allow_inconclusive : bool
        Whether to allow results that cannot be decided.
    model : Model or None
        A learned model to use instead of a built-in classifier; `classifier` is then its name.

    Raises
    ------
    ValueError
        If an option is invalid.
    """

    fail_on: str = SLOWER
    test: str = COMBINED
    alpha: float = 0.05
    min_change: float = 0.0
    max_slowdown: float | None = None
    classifier: str = SPREAD
    limit: float = CLASSIFIERS[SPREAD].parameters["limit"]
    allow_missing: bool = False
    allow_inconclusive: bool = False
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


DEFAULT_RULES = Rules()


@dataclass(frozen=True)
class _Level:
    """The runs of a benchmark on one version in one context, and one number for each run."""

    benchmark: Benchmark
    values: Floats
    family: str


def check(
    benchmarks: Sequence[Benchmark],
    baseline: Sequence[Benchmark] | None = None,
    rules: Rules = DEFAULT_RULES,
    *,
    sampling: Sampling = EVERY_ITERATION,
    warnings: Sequence[str] = (),
) -> Check:
    """Judge each benchmark of the candidate, and compare it with the baseline if there is one.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
    baseline : sequence of Benchmark, optional
        If there is a baseline, only changes decide the outcome, and the verdicts are for information.
    rules : Rules
    sampling : Sampling
    warnings : sequence of str
        Warnings about the measurements that are already known, for example from reading the files.

    Raises
    ------
    ValueError
        If an option is invalid, or no iteration of a run remains after the warm-up.
    """
    after, before = _levels(benchmarks, sampling), _levels(baseline or (), sampling)
    pairs = [_pair(before[key], level) for key, level in after.items() if key in before]
    changes = tuple(
        replace(change, is_finding=change.is_finding and not (rules.fail_on == SLOWER and change.worse is False))
        for change in compare(
            pairs, test=rules.test, alpha=rules.alpha, min_change=rules.min_change, max_slowdown=rules.max_slowdown
        )
    )
    n_tests = Counter(level.family for level in after.values())
    checked = [_checked(level, rules, sampling, n_tests[level.family]) for level in after.values()]
    of_benchmark = dict(zip(map(id, checked), after.values(), strict=True))
    explained = {id(row) for row in _explained(checked, changes)}
    checked = [
        replace(row, reasons=_reasons(of_benchmark[id(row)], rules, sampling, n_tests)) if id(row) in explained else row
        for row in checked
    ]
    missing = tuple(level.benchmark.name for key, level in before.items() if key not in after)
    new = tuple(level.benchmark.name for key, level in after.items() if baseline is not None and key not in before)
    findings = _findings(checked, changes if baseline is not None else None, missing, before.values(), rules)
    in_blocks = [_is_in_blocks(before[key], level) for key, level in after.items() if key in before]
    if in_blocks and sum(in_blocks) >= SHARE_IN_BLOCKS * len(in_blocks):
        warnings = (*warnings, IN_BLOCKS)
    parameters = {
        **{name: value for name, value in vars(rules).items() if name != "model"},
        "warmup": sampling.warmup, "aggregate": sampling.aggregate,
        "against_a_baseline": baseline is not None,
    }  # fmt: skip
    if rules.model is not None:
        parameters["model"] = rules.model.formula
    return Check(
        tuple(checked), changes, new, missing, tuple(findings), tuple(warnings), parameters, outcome_of(findings)
    )


def outcome_of(findings: Sequence[Finding]) -> int:
    """Return the exit code for all findings; a finding takes precedence over an inconclusive result."""
    outcomes = {finding.outcome for finding in findings}
    return FOUND if FOUND in outcomes else max(outcomes, default=NOTHING_FOUND)


def _levels(benchmarks: Sequence[Benchmark], sampling: Sampling) -> dict[tuple[str, str], _Level]:
    """Return the runs to compare as a dict from (application, name) to the runs.

    The result does not depend on the order of files, rows and runs.
    """
    levels = [level for benchmark in benchmarks for level in by_level(benchmark)]
    deciding: dict[tuple[Any, ...], str] = {}
    for level in levels:
        key = _operation(level)
        if key not in deciding or (level.unit in TIMES and deciding[key] not in TIMES):
            deciding[key] = level.unit
    levels.sort(key=lambda level: (natural(level.application), natural(level.name)))
    return {
        (level.application, level.name): _Level(
            level, np.sort(sampling.values(level.runs)), "" if deciding[_operation(level)] == level.unit else level.unit
        )
        for level in levels
    }


def _operation(level: Benchmark) -> tuple[Any, ...]:
    """Return a key that identifies the measured operation.

    The key does not contain the unit, because files may measure one operation in several units.
    """
    suffix = level.name.partition(" @ ")[2]
    return level.application, level.benchmark, tuple(sorted(level.parameters.items())), suffix


def _pair(before: _Level, after: _Level) -> Pair:
    """Return one number per run of baseline and candidate, and the reason if the two cannot be compared."""
    old, new = before.benchmark, after.benchmark
    reason = None
    if not old.runs or not new.runs:
        reason = f"every run of the {'candidate' if old.runs else 'baseline'} failed"
    elif (old.unit, old.better) != (new.unit, new.better):
        reason = f"the baseline is in {in_unit(old)}, the candidate in {in_unit(new)}"
    return Pair(new.name, before.values, after.values, new.unit, new.better, after.family, reason)


def _checked(level: _Level, rules: Rules, sampling: Sampling, n_tests: int) -> CheckedBenchmark:
    benchmark, values = level.benchmark, level.values
    spread = max_spread(values) if len(values) else Estimate(None, reason="every run failed")
    verdict: str | None = None
    if spread.value is not None:
        verdict = DISSIMILAR if spread.value > rules.limit else "similar"
    verdicts, reason, n_left_out = {SPREAD: verdict}, spread.reason, 0
    if len(values) == 1:
        reason = ONE_PROCESS
    if rules.classifier != SPREAD:
        verdict, other, n_left_out = _other_verdict(rules, benchmark, sampling.warmup)
        verdicts[rules.classifier] = verdict
        reason = reason if len(values) < 2 else other
    smallest = Estimate(None, reason=ONE_PROCESS)
    if len(values) > 1:
        smallest = smallest_difference(values, alpha=rules.alpha, n_tests=n_tests)
    return CheckedBenchmark(
        name=benchmark.name,
        unit=benchmark.unit,
        n_runs=len(values),
        n_failed=len(benchmark.failures),
        failures=Counter(failure.reason for failure in benchmark.failures),
        median=_median(benchmark, values, sampling),
        within=_within(benchmark, sampling) if len(values) == 1 else Estimate(None, reason="several runs"),
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


def _median(benchmark: Benchmark, values: Floats, sampling: Sampling) -> float | None:
    of_run = sampling.steady(benchmark.runs[0]) if len(values) == 1 else values
    return median(of_run.tolist()) if len(of_run) else None


def _within(benchmark: Benchmark, sampling: Sampling) -> Estimate:
    steady = sampling.steady(benchmark.runs[0])
    return max_spread(steady) if len(steady) > 1 else Estimate(None, reason="one value")


def _reasons(level: _Level, rules: Rules, sampling: Sampling, n_tests: Mapping[str, int]) -> Reasons | None:
    if not level.benchmark.runs:
        return None
    (benchmark,) = canonical([level.benchmark])
    return reasons(benchmark, sampling=sampling, alpha=rules.alpha, n_tests=n_tests[level.family])


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
) -> list[Finding]:
    """Return the findings in order of importance.

    Changed and dissimilar benchmarks come first, then missing, failed and undecided benchmarks.
    """
    undecided = NOTHING_FOUND if rules.allow_inconclusive else INCONCLUSIVE
    absent = NOTHING_FOUND if rules.allow_missing else INCONCLUSIVE
    n_failed = {row.name: row.n_failed for row in checked}
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
        Finding(FAILED, row.name, f"{_failed(row.n_failed, row.n_runs)}: {_in_words(row.failures)}", absent)
        for row in sorted(checked, key=lambda row: -row.n_failed)
        if row.n_failed
    ]
    for change in changes or ():
        if 2 * (change.n_candidate + n_failed[change.name]) < change.n_baseline:
            words = (
                f"{counted(change.n_candidate, 'run')}, but {change.n_baseline} of the baseline. Did other runs fail?"
            )
            findings.append(Finding(FAILED, change.name, words, absent))
    for level in before:
        failures = level.benchmark.failures
        if failures:
            words = _in_words(Counter(failure.reason for failure in failures))
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


def _in_words(failures: Mapping[str, int]) -> str:
    """Return the most frequent reason as text, and the number of other reasons."""
    reason, _n = max(failures.items(), key=lambda item: item[1])
    more = len(failures) - 1
    return f"{reason or 'no reason given'}{f' (and {more} more)' if more else ''}"


def _is_in_blocks(before: _Level, after: _Level) -> bool:
    """Return whether all runs of one version are older than all runs of the other; False if times are unknown."""
    old, new = before.benchmark.of(TIME), after.benchmark.of(TIME)
    if min(len(old), len(new)) < 2 or "" in (*old, *new):
        return False
    return max(old) < min(new) or max(new) < min(old)
