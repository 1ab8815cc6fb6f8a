"""Combine the checks of several candidates, each compared with the same baseline."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analysis.check._model import KINDS, Check, Suite, outcome_of
from analysis.comparison import change_and_interval


def combine(checks: Mapping[str, Check]) -> Check:
    """Return one check with a row for each benchmark and candidate.

    If candidates have benchmarks of the same name, these are called `BENCHMARK @ CANDIDATE`. The caller divides the
    significance level by the number of candidates, so that it holds for all of them together.
    """
    if len(checks) == 1:
        return next(iter(checks.values()))
    checks = _with_different_names(checks)
    first = next(iter(checks.values()))
    findings = [
        finding if finding.name else replace(finding, words=f"{name}: {finding.words}")
        for name, checked in checks.items()
        for finding in checked.findings
    ]
    findings.sort(key=lambda finding: KINDS.index(finding.kind) if finding.kind in KINDS else 0)
    known = tuple(
        replace(entry, names=tuple(covered for one in checks.values() for covered in one.known[at].names))
        for at, entry in enumerate(first.known)
    )

    def of_all(field: str) -> tuple[Any, ...]:
        return tuple(each for one in checks.values() for each in getattr(one, field))

    return Check(
        of_all("benchmarks"), of_all("changes"), of_all("only_in_candidate"), of_all("only_in_baseline"),
        tuple(findings), tuple(dict.fromkeys(of_all("warnings"))), first.parameters, outcome_of(findings), known,
        _suite(checks), tuple(_notes(checks)), n_candidates=len(checks),
    )  # fmt: skip


def _with_different_names(checks: Mapping[str, Check]) -> Mapping[str, Check]:
    names = Counter(row.name for one in checks.values() for row in one.benchmarks)
    if max(names.values(), default=0) < 2:
        return checks
    return {name: _suffixed(one, f" @ {name}") for name, one in checks.items()}


def _suffixed(checked: Check, end: str) -> Check:
    suite = checked.suite
    return replace(
        checked,
        benchmarks=tuple(replace(row, name=row.name + end) for row in checked.benchmarks),
        changes=tuple(replace(change, name=change.name + end) for change in checked.changes),
        only_in_candidate=tuple(name + end for name in checked.only_in_candidate),
        only_in_baseline=tuple(name + end for name in checked.only_in_baseline),
        findings=tuple(
            replace(finding, name=finding.name + end) if finding.name else finding for finding in checked.findings
        ),
        known=tuple(replace(entry, names=tuple(name + end for name in entry.names)) for entry in checked.known),
        suite=replace(
            suite,
            least_precise=suite.least_precise and suite.least_precise + end,
            too_noisy=tuple(name + end for name in suite.too_noisy),
        ),
    )


def _suite(checks: Mapping[str, Check]) -> Suite:
    """Return what is known about all candidates; a common ratio would mix them."""
    suites = [one.suite for one in checks.values()]
    detectable = sorted(suite.detectable for suite in suites if suite.detectable is not None)
    largest = sorted((suite.largest, suite.least_precise) for suite in suites if suite.largest is not None)
    designs = Counter[str]()
    for suite in suites:
        designs.update(suite.designs)
    return Suite(
        designs=dict(designs),
        detectable=detectable[len(detectable) // 2] if detectable else None,
        largest=largest[-1][0] if largest else None,
        least_precise=largest[-1][1] if largest else "",
        too_noisy=tuple(name for suite in suites for name in suite.too_noisy),
    )


def _notes(checks: Mapping[str, Check]) -> list[str]:
    notes = []
    for name, one in checks.items():
        if one.suite.n > 1:
            value, ends = change_and_interval(one.suite.ratio)
            notes.append(f"{name}: all {one.suite.n} together {value}{f' ({ends})' if ends else ''}.")
    shared = [set(one.notes) for one in checks.values()]
    of_all = set.intersection(*shared)
    first = next(iter(checks.values()))
    notes += [note for note in first.notes if note in of_all]
    return notes + [f"{name}: {note}" for name, one in checks.items() for note in one.notes if note not in of_all]
