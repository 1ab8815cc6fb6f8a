"""Mark known changes: findings that were reviewed and accepted, with a reason and an expiry date."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.categories import DISSIMILAR
from analysis.check._model import (
    CHANGED,
    MISSING,
    NOTHING_FOUND,
    UNDECIDED,
    Check,
    Finding,
    KnownChange,
    matches,
    outcome_of,
)
from analysis.comparison import Change


def acknowledge(checked: Check, known: Sequence[KnownChange]) -> Check:
    """Mark the findings that known changes cover. A marked finding is listed, but does not affect the outcome.

    A known change covers these findings of its benchmark: a change, a change that cannot be excluded, dissimilar runs,
    and a missing benchmark. It never covers failed runs or benchmarks with runs of one process, because these findings
    say nothing about a change. If `at_most` is set, the known change covers only changes up to this size.

    `known`: the first entry that covers a finding is used. Expired entries cover nothing. Each entry of `known` in the
    result lists the benchmarks that it covers.

    Examples
    --------
    >>> from analysis.check import Rules, check
    >>> from analysis.benchmark import Benchmark, Run
    >>> apart = Benchmark("sort", [Run([1.0, 1.0]), Run([2.0, 2.0])])
    >>> entry = KnownChange("so*", reason="the cache is cold in one run", until="2026-12-31")
    >>> found = acknowledge(check([apart]), [entry])
    >>> check([apart]).outcome, found.outcome, found.known[0].names
    (1, 0, ('sort',))
    """
    changes = {change.name: change for change in checked.changes}
    findings: list[Finding] = []
    names: list[list[str]] = [[] for _ in known]
    for finding in checked.findings:
        names_of = (finding.name, *checked.former_names.get(finding.name, ()))
        place = next((at for at, entry in enumerate(known) if _covers(entry, finding, names_of, changes)), None)
        if place is None:
            findings.append(finding)
            continue
        names[place].append(finding.name)
        findings.append(replace(finding, outcome=NOTHING_FOUND, known=known[place].reason))
    used = tuple(replace(entry, names=tuple(covered)) for entry, covered in zip(known, names, strict=True))
    return replace(checked, findings=tuple(findings), known=used, outcome=outcome_of(findings))


def _covers(entry: KnownChange, finding: Finding, names: Sequence[str], changes: Mapping[str, Change]) -> bool:
    is_named = any(matches(entry.benchmark, name) for name in names)
    if entry.is_expired or not finding.name or not is_named:
        return False
    change = changes.get(finding.name)
    is_of_change = finding.kind == CHANGED or (
        finding.kind == UNDECIDED and change is not None and change.p is not None
    )
    if entry.at_most is None:
        return is_of_change or finding.kind in (DISSIMILAR, MISSING)
    value = change.ratio.value if change is not None and is_of_change else None
    return value is not None and abs(value - 1) <= entry.at_most
