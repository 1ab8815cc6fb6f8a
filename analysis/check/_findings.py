"""What a check found, in order of importance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.categories import DISSIMILAR
from analysis.check._model import (
    CHANGED,
    FAILED,
    FOUND,
    INCONCLUSIVE,
    MISSING,
    NO_BENCHMARK,
    NO_PAIR,
    NOTHING_FOUND,
    ONE_PROCESS,
    SPREAD,
    UNDECIDED,
    CheckedBenchmark,
    Finding,
    Rules,
)
from analysis.comparison import Change


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
