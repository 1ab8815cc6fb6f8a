"""Judge the runs of each benchmark, compare them with a baseline, and return an exit code for a build."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.arrays import Floats
from analysis.categories import DISSIMILAR
from analysis.document import counted
from analysis.methods.check._changes import changes_of, detectable_changes_of, with_detectable
from analysis.methods.check._results import (
    CHANGED,
    DEFAULT_RULES,
    FAILED,
    FOUND,
    INCONCLUSIVE,
    MISSING,
    N_EXPLAINED,
    N_FEW,
    NO_BENCHMARK,
    NO_PAIR,
    NOTHING_FOUND,
    ONE_PROCESS,
    SAME_DATA,
    SPREAD,
    TOO_NOISY,
    UNDECIDED,
    Check,
    CheckedBenchmark,
    Finding,
    Rules,
    Suite,
    outcome_of,
)
from analysis.methods.check._sides import (
    FEW_SESSIONS,
    HALF,
    IN_BLOCKS,
    MIN_SESSIONS,
    SESSIONS,
    SHARED,
    UNKNOWN,
    BothSides,
    Key,
    SideRuns,
    by_machine,
    can_be_paired,
    compare_sides,
    costs_of,
    describe_machines,
    levels_of,
    other_conditions,
    turns_of,
    with_former_names,
    with_steps,
    without_same_runs,
)
from analysis.runs.benchmark import EVERY_ITERATION, FAILED_SHARE, HIGHER, Benchmark, PerRun
from analysis.runs.classifiers import classifier_named
from analysis.runs.comparison import SMALL_RISE, TIMES, Change
from analysis.runs.power import smallest_difference
from analysis.runs.runs import Runs, Warmup
from analysis.runs.spread import max_spread
from analysis.statistics.intervals import Estimate
from analysis.text import percent, significant

if TYPE_CHECKING:
    from analysis.methods.reasons import Reasons


def judge(
    level: SideRuns, rules: Rules, per_run: PerRun, n_tests: int, detectable: Estimate | None
) -> CheckedBenchmark:
    benchmark, values = level.benchmark, np.sort(level.values)
    spread = _spread(values, benchmark.unit)
    verdict: str | None = None
    if spread.value is not None:
        limit = SMALL_RISE if benchmark.unit == FAILED_SHARE else rules.limit
        verdict = DISSIMILAR if spread.value > limit else "similar"
    verdicts, reason, n_left_out = {SPREAD: verdict}, spread.reason, 0
    if len(values) == 1:
        reason = ONE_PROCESS
    is_constant = len(values) > 1 and all((run.values == values[0]).all() for run in benchmark.runs)
    if rules.classifier != SPREAD and is_constant:
        verdicts[rules.classifier] = verdict  # no rule calls equal values anything else
    elif rules.classifier != SPREAD:
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


def _spread(values: Floats, unit: str) -> Estimate:
    """Return the spread of sorted values: 0 if they are equal, whatever the value, and the range of shares."""
    if not len(values):
        return Estimate(None, reason="every run failed")
    if len(values) > 1 and (values[0] == values[-1] or unit == FAILED_SHARE):
        return Estimate(float(values[-1] - values[0]))
    return max_spread(values)


def _other_verdict(rules: Rules, benchmark: Benchmark, warmup: Warmup) -> tuple[str | None, str | None, int]:
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
    return median(of_run.tolist()) if len(of_run) else None


def _within(benchmark: Benchmark, per_run: PerRun) -> Estimate:
    steady = per_run.steady(benchmark.runs[0])
    return max_spread(steady) if len(steady) > 1 else Estimate(None, reason="one value")


def reasons_of(level: SideRuns, rules: Rules, per_run: PerRun, n_tests: Mapping[str, int]) -> "Reasons | None":
    from analysis.methods.reasons import reasons

    if not level.benchmark.runs:
        return None
    return reasons(level.benchmark, per_run=per_run, alpha=rules.alpha, n_tests=n_tests[level.family])


def rows_to_explain(checked: Sequence[CheckedBenchmark], changes: Sequence[Change]) -> list[CheckedBenchmark]:
    """Return the benchmarks to explain: changed benchmarks first, then dissimilar ones.

    If there are only a few benchmarks, return all of them.
    """
    changed = {change.name for change in changes if change.has_changed}
    several = [row for row in checked if row.n_runs > 1]
    ordered = sorted(several, key=lambda row: (row.name not in changed, -(row.max_spread.value or 0)))
    if len(ordered) > N_FEW:
        ordered = [row for row in ordered if row.name in changed or row.verdict == DISSIMILAR]
    return ordered[:N_EXPLAINED]


def findings_of(
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
            f"the {row.n_runs} runs are {significant(100 * (row.max_spread.value or 0))} % apart, "
            f"more than {100 * rules.limit:.4g} %"
        )
    return f"{rules.classifier} calls the {row.n_runs} runs dissimilar"


def _failed(n_failed: int, n_runs: int) -> str:
    return f"{n_failed} of {counted(n_failed + n_runs, 'run')} failed"


def _describe(failures: Mapping[str, int]) -> str:
    """Return the most frequent reason as text, and the number of other reasons."""
    reason, _n = max(failures.items(), key=lambda item: item[1])
    more = len(failures) - 1
    return f"{reason or 'no reason given'}{f' (and {more} more)' if more else ''}"


BY_TURNS_ADVICE = "Measure by turns: change the version after each process."


def sentence_of_names(renamed: Sequence[tuple[str, str]]) -> list[str]:
    if not renamed:
        return []
    former, name = renamed[0]
    return [f"{counted(len(renamed), 'benchmark')} matched under an earlier name, for example {former} is now {name}."]


Said = tuple[str, bool]  # a sentence, and whether it is a reason why the check is inconclusive


def sentences_of_suite(
    suite: Suite, compared: Sequence[BothSides], changes: Sequence[Change], rules: Rules
) -> tuple[list[str], list[str]]:
    """Return sentences about the whole suite: notes, and reasons why the check is inconclusive."""
    tested = [one for one, change in zip(compared, changes, strict=True) if change.p is not None]
    are_told = any(change.is_held_back for change in changes)
    said = [
        *_of_noise(suite, compared, changes, rules),
        *_of_order(suite, tested, rules, is_told=are_told),
        *((words, False) for words in _of_groups(suite, tested)),
        *_of_machine(suite, tested, rules, is_told=are_told),
    ]
    uneven = [one for one in tested if len(one.before.values) != len(one.after.values)]
    if uneven:
        name, n_old, n_new = uneven[0].after.benchmark.name, len(uneven[0].before.values), len(uneven[0].after.values)
        words = (
            f"{counted(len(uneven), 'benchmark')} with different numbers of runs, for example {name}: {n_old} of the "
            f"baseline, {n_new} of the candidate."
        )
        said.append((words, False))
    return [words for words, is_reason in said if not is_reason], [words for words, is_reason in said if is_reason]


def _of_noise(suite: Suite, compared: Sequence[BothSides], changes: Sequence[Change], rules: Rules) -> Iterator[Said]:
    """Say for how many benchmarks only a large change would be detected; for most of them, that is a reason."""
    if not suite.too_noisy or rules.max_slowdown is not None:
        return
    n_tested = sum(change.p is not None and change.family == "" for change in changes)
    too_noisy = f"{len(suite.too_noisy)} of {n_tested}"
    detect = f"a change of less than {percent(TOO_NOISY)} would not be detected"
    if 2 * len(suite.too_noisy) > n_tested:
        more = "sessions" if any(one.design.kind == SESSIONS for one in compared) else "runs"
        which = "the only benchmark" if n_tested == 1 else f"{too_noisy} benchmarks"
        yield f"Too noisy to judge: for {which}, {detect}. Measure more {more}.", True
    else:
        names = ", ".join(suite.too_noisy[:N_FEW]) + (" …" if len(suite.too_noisy) > N_FEW else "")
        yield f"Too noisy to judge: {too_noisy} ({names}); {detect}.", False


def _of_order(suite: Suite, tested: Sequence[BothSides], rules: Rules, *, is_told: bool) -> Iterator[Said]:
    """Say whether the versions were measured in blocks, or in an unknown order."""
    kinds = _kinds(tested)
    if kinds[IN_BLOCKS]:
        mixed = " or nearly so" if any(one.design.is_mixed for one in tested) else ""
        words = f"Measured in blocks{mixed}: a change of the machine looks like a change of the version."
        is_short = is_told and not rules.require_turns
        yield BY_TURNS_ADVICE if is_short else f"{words} {BY_TURNS_ADVICE}", rules.require_turns
    if kinds[UNKNOWN]:
        words = "Times of runs unknown: the result holds only if the two versions were measured by turns."
        share = suite.noise.share
        if share is not None and share > SHARED:
            words += f" {percent(share)} of the variation from run to run is common to all benchmarks."
        yield words, rules.require_turns


def _kinds(tested: Sequence[BothSides]) -> Counter[str]:
    return Counter(one.design.kind for one in tested)


def _of_groups(suite: Suite, tested: Sequence[BothSides]) -> Iterator[str]:
    """Say which runs are counted together, and which are compared with each other."""
    sessions = [one.design.n_sessions or 0 for one in tested if one.design.kind == SESSIONS]
    if sessions and min(sessions) < MIN_SESSIONS:
        yield (
            f"A version was measured in only {min(sessions)} sessions, and runs of a session are alike; measure at "
            "least three, better five."
        )
    elif sessions:
        few = "; five are better" if min(sessions) < FEW_SESSIONS else ""
        yield f"Each session counts as one number, and a version has {min(sessions)} sessions{few}."
    strata = [one for one in tested if one.design.kind != SESSIONS and one.design.groups is not None]
    if strata:
        n_groups = len(np.intersect1d(*strata[0].design.groups or ()))
        yield f"The runs are in {n_groups} groups of both versions, and are compared within each group."
    if any(turns_of(one, suite.is_paired) is not None for one in tested):
        yield (
            "The versions alternate strictly, so each run is compared with the mean of the runs before and after it, "
            "which takes out a steady drift. The order old, new, new, old finds smaller changes."
        )
    elif any(can_be_paired(one) for one in tested) and suite.is_paired:
        yield "Each run is compared with the run of the other version at its time, because such runs are alike."


def _of_machine(suite: Suite, tested: Sequence[BothSides], rules: Rules, *, is_told: bool) -> Iterator[Said]:
    """Say whether the whole suite moved, and whether the versions were measured on different machines."""
    kinds = _kinds(tested)
    if suite.noise.shift is not None and kinds[IN_BLOCKS] + kinds[UNKNOWN] and not is_told:
        yield _moved(suite, tested), False
    different = [one for one in tested if one.machines]
    if different:
        words = f"The versions were measured on different machines ({describe_machines(different[0].machines)})."
        if rules.require_same_machine or not is_told:
            yield words, rules.require_same_machine
    elif tested:
        other = other_conditions(*(level.benchmark.runs for level in (tested[0].before, tested[0].after)))
        if other:
            host = other.pop("host", None)
            conditions = [*(["another host"] if host else []), *([describe_machines(other)] if other else [])]
            yield f"Other conditions: {'; '.join(conditions)}.", False


def _moved(suite: Suite, tested: Sequence[BothSides]) -> str:
    """Say how many benchmarks moved with the suite, which are those that moved by more than half of its shift."""
    shift, deciding = suite.noise.shift or 0.0, [one for one in tested if one.after.family == ""]
    sides = [costs_of(one) for one in deciding]
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


def _with_shares_of_none(before: dict[Key, SideRuns], after: Mapping[Key, SideRuns]) -> None:
    """Add shares of failures that only the candidate has to the baseline, where nothing failed."""
    n_runs = max((len(level.values) for level in before.values()), default=0)
    for key, level in after.items():
        if key not in before and level.benchmark.unit == FAILED_SHARE and n_runs:
            nothing = replace(level.benchmark, runs=(replace(level.benchmark.runs[0], values=np.zeros(1)),) * n_runs)
            before[key] = replace(level, benchmark=replace(nothing, failures=()), values=np.zeros(n_runs))


def _of_failing(levels: Iterable[SideRuns]) -> Iterator[str]:
    """Yield a sentence for each share of failures of the candidate that is not small."""
    for level in levels:
        if level.benchmark.unit == FAILED_SHARE and len(level.values) and level.values.mean() > SMALL_RISE:
            yield f"{level.benchmark.name}: {100 * float(level.values.mean()):.3g} % failed."


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

    `baseline`: if there is a baseline, only changes decide the outcome, and the verdicts are for information;
    `warnings`: warnings about the measurements that are already known, for example from reading the files;
    `same_files`: names of files that are on both sides; `explain`: whether to find out why runs differ, which takes
    most of the time.
    """
    after, before = levels_of(benchmarks, per_run), levels_of(baseline or (), per_run)
    notes, of_suite = [], [f"The same file is on both sides: {name}." for name in same_files[:N_FEW]]
    renamed = list(with_former_names(before, after))
    same = list(without_same_runs(before, after))
    are_all_same = {name for name, _n, is_empty in same if is_empty}
    if same:
        n_runs = sum(n for _name, n, _is_empty in same)
        words = f"{counted(n_runs, 'run')} of {counted(len(same), 'benchmark')}"
        if len(are_all_same) == len(before.keys() & after.keys()):
            of_suite.append(SAME_DATA)
        else:
            of_suite.append(f"{words} are in the files of both sides, so they count on neither side.")
    notes += list(by_machine(before, after))
    notes += sentence_of_names(renamed)
    if baseline is not None:
        _with_shares_of_none(before, after)
    notes += _of_failing(after.values())
    common = [key for key in after if key in before]
    compared = with_steps([compare_sides(before[key], after[key], are_all_same) for key in common])
    suite, changes = changes_of(compared, rules)
    n_tests = Counter(level.family for level in after.values())
    detectable = dict(zip(common, detectable_changes_of(compared, rules, is_paired=suite.is_paired), strict=True))
    checked = {
        key: judge(level, rules, per_run, n_tests[level.family], detectable.get(key)) for key, level in after.items()
    }
    rows = list(checked.values())
    if explain:
        explained = {id(row) for row in rows_to_explain(rows, changes)}
        rows = [
            replace(row, reasons=reasons_of(after[key], rules, per_run, n_tests)) if id(row) in explained else row
            for key, row in checked.items()
        ]
    missing = tuple(level.benchmark.name for key, level in before.items() if key not in after)
    new = tuple(level.benchmark.name for key, level in after.items() if baseline is not None and key not in before)
    if baseline is not None:
        suite = with_detectable(suite, [detectable[key] for key in common], changes, compared)
        more_notes, more = sentences_of_suite(suite, compared, changes, rules)
        notes, of_suite = [*notes, *more_notes], [*of_suite, *more]
    findings = findings_of(rows, changes if baseline is not None else None, missing, before.values(), rules, of_suite)
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
