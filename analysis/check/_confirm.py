"""Let a second, independent sample decide about the changes that a first sample showed."""

from dataclasses import replace

from analysis.check._model import CHANGED, FOUND, INCONCLUSIVE, NOTHING_FOUND, UNDECIDED, Check, Finding, outcome_of


def confirm(first: Check, second: Check) -> Check:
    """Keep only the changes of the first check that a second check of the same benchmarks shows again.

    A false alarm needs both samples. Each of them has the significance level alpha for all benchmarks together, and the
    second is corrected only for the benchmarks that the first one flagged. So at most a share alpha of unchanged suites
    has a false alarm, and about alpha squared if the second sample is independent on both sides.

    `second`: the check of new runs, which needs only the benchmarks that the first check flagged.
    """
    again = {change.name: change for change in second.changes}
    before = {change.name: change for change in first.changes}
    findings: list[Finding] = []
    counts = {"confirmed": 0, "not confirmed": 0, "undecided": 0}
    for finding in first.findings:
        if finding.kind != CHANGED or finding.outcome != FOUND:
            findings.append(finding)
            continue
        change = again.get(finding.name)
        if change is None or change.inconclusive:
            counts["undecided"] += 1
            why = "not in the second sample" if change is None else change.reason or "the data do not decide"
            outcome = NOTHING_FOUND if first.parameters["allow_inconclusive"] else INCONCLUSIVE
            findings.append(Finding(UNDECIDED, finding.name, f"{finding.words}; not confirmed: {why}", outcome))
        elif change.is_finding and change.outcome == before[finding.name].outcome:
            counts["confirmed"] += 1
            findings.append(replace(finding, words=f"{finding.words}; confirmed: {change.words}"))
        else:
            counts["not confirmed"] += 1
    kept = {finding.name for finding in findings if finding.kind == CHANGED}
    undecided = {finding.name: finding.words for finding in findings if finding.kind == UNDECIDED and finding.name}
    changes = tuple(
        change
        if not change.is_finding or change.name in kept
        else replace(
            change,
            is_finding=False,
            inconclusive=change.name in undecided,
            is_small=change.name not in undecided,
            reason=undecided.get(change.name),
            weaknesses=(*change.weaknesses, "not confirmed"),
        )
        for change in first.changes
    )
    told = ", ".join(f"{n} {words}" for words, n in counts.items() if n) or "nothing to confirm"
    level = f"{100 * first.parameters['alpha']:.4g} %"
    note = f"Second sample: {told}. At most {level} of unchanged suites have a false alarm that both samples show."
    return replace(
        first, changes=changes, findings=tuple(findings), outcome=outcome_of(findings), notes=(*first.notes, note)
    )
