"""Build the report of a check. The most important findings come first, and the next steps come last."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.check._model import (
    CHANGED,
    FAILED,
    MISSING,
    N_EXPLAINED,
    ONE_PROCESS,
    SPREAD,
    UNDECIDED,
    WHY_ONE_PROCESS,
    Check,
    CheckedBenchmark,
    Finding,
)
from analysis.check._summary import limits, summarise
from analysis.comparison import Change, change_and_interval
from analysis.document import (
    DASH,
    Block,
    Bullets,
    Document,
    Paragraph,
    Section,
    counted,
    describe_value,
    first_rows,
    listed,
    p_value,
    percent,
    to_markdown,
)

NAME = "Benchmark check"
N_SHOWN = 20  # maximum number of findings of each kind in the list
LESS = "The JSON output lists all of them."


def document(
    checked: Check, *, commands: Sequence[tuple[str, str]] = (), title: str = NAME, with_result: bool = True
) -> Document:
    """Build the report of a check.

    `commands` say how to measure several runs with the tools that wrote the files: a sentence, and the shell commands.
    """
    result = (Bullets(tuple(_result(checked))),) if with_result else ()
    sections = [Section("Result" if with_result else "Details", (*result, *_warnings(checked)))]
    if checked.known:
        sections.append(Section("Known changes", tuple(_known(checked))))
    tested = [change for change in checked.changes if change.p is not None]
    if tested:
        sections.append(Section("Changes against the baseline", (_change_table(checked, tested),)))
    if _of_one_process(checked):
        sections.append(Section("One process: not tested", (Paragraph(WHY_ONE_PROCESS), _untested_table(checked))))
    several = [row for row in checked.benchmarks if row.n_runs > 1]
    if several:
        sections.append(Section("Are the runs of each benchmark similar?", (_verdict_table(checked, several),)))
    sections += [
        Section(row.name, (Bullets(row.reasons.sentences if row.reasons else ()),), level=3)
        for row in _explained(checked)
    ]
    sections.append(Section("Options used", (Paragraph(describe_value(_parameters(checked)), "note"),)))
    steps = tuple(_next_steps(checked))
    blocks: list[Block] = [Bullets(steps)] if steps else []
    if _of_one_process(checked):
        for words, lines in commands:
            blocks += [Paragraph(words), Paragraph(lines, "command")]
    if blocks:
        sections.append(Section("Next steps", tuple(blocks)))
    return Document(title, "", "", tuple(sections), kind="benchmark check")


def markdown(checked: Check, *, commands: Sequence[tuple[str, str]] = ()) -> str:
    """Write a check as Markdown: a line of counts, what changed, and everything else in a part that opens on demand.

    The first line always has the form `# Benchmark check: 2 slower, 1 faster, 37 no change`, so that a program can find
    the comment and update it.
    """
    summary = summarise(checked)
    rows = [
        (row.name, row.state, row.change or DASH, "; ".join(filter(None, (row.interval, row.remark))) or DASH)
        for row in summary.rows
    ]
    level = f"{100 * (1 - checked.parameters['alpha']):.4g} % CI"
    blocks: list[Block] = []
    if rows:
        blocks.append(first_rows("", ("Benchmark", "Result", "Change", level), rows, numeric=(2,)))
    blocks.append(Bullets((summary.headline, *summary.sentences)))
    short = to_markdown(Document(f"{NAME}: {summary.counts}", "", "", (Section("", tuple(blocks)),)))
    details = to_markdown(replace(document(checked, commands=commands, with_result=False), title=""))
    return f"{short}\n<details>\n<summary>All benchmarks, details and next steps</summary>\n\n{details}\n</details>\n"


def _has_benchmarks(checked: Check) -> bool:
    return bool(checked.benchmarks or checked.only_in_baseline)


def _result(checked: Check) -> Iterator[str]:
    """Yield the outcome as one sentence, then the findings."""
    summary = summarise(checked)
    yield summary.headline
    for kind in (CHANGED, DISSIMILAR, FAILED):
        findings = [finding for finding in _open(checked) if finding.kind == kind]
        yield from (f"{finding.name}: {finding.words}." for finding in findings[:N_SHOWN])
        if len(findings) > N_SHOWN:
            yield f"{len(findings) - N_SHOWN} more. {LESS}"
    missing = [finding.name for finding in _open(checked) if finding.kind == MISSING]
    if missing:
        yield f"Missing: {counted(len(missing), 'benchmark')} measured only for the baseline ({_named(missing)})."
    yield from _not_tested(checked)
    minor = [change for change in checked.changes if change.has_changed and not change.is_finding]
    minor = [change for change in minor if not change.is_held_back]
    if minor:
        examples = "; ".join(f"{change.name} {change.words}" for change in minor[:3])
        more = f"; and {len(minor) - 3} more" if len(minor) > 3 else ""
        yield f"Significant changes that are not findings with the chosen options: {examples}{more}."
    yield from summary.sentences
    n_decided = sum(row.verdict is not None for row in checked.benchmarks)
    if checked.parameters["against_a_baseline"] and n_decided:
        yield f"For information: the runs are similar for {_n_similar(checked)} of {counted(n_decided, 'benchmark')}."


def _open(checked: Check) -> list[Finding]:
    """Return the findings that are not covered by a known change."""
    return [finding for finding in checked.findings if not finding.known]


def _known(checked: Check) -> Iterator[Block]:
    """Yield a table of the findings that known changes cover, and the entries that can be removed."""
    until = {name: entry.until for entry in checked.known for name in entry.names}
    rows = [
        (finding.name, finding.words, finding.known, until[finding.name])
        for finding in checked.findings
        if finding.known
    ]
    if rows:
        caption = "Accepted findings, which do not affect the exit code."
        yield first_rows(caption, ("Benchmark", "Finding", "Reason", "Until"), rows, numeric=())
    for entry in checked.known:
        if entry.is_expired:
            yield Paragraph(
                f"Expired after {entry.until}: {entry.benchmark} ({entry.reason}). This entry has no effect any more; "
                "remove it or give it a new date."
            )
        elif not entry.names:
            yield Paragraph(
                f"Not needed: {entry.benchmark} ({entry.reason}). No finding matches this entry; remove it."
            )


def _not_tested(checked: Check) -> Iterator[str]:
    """Yield the benchmarks without a decision, grouped by reason."""
    tested = {change.name for change in checked.changes if change.p is not None}
    by_reason: dict[str, list[str]] = {}
    for finding in _open(checked):
        if finding.kind == UNDECIDED and finding.name and finding.name not in tested:
            by_reason.setdefault(finding.words, []).append(finding.name)
    for reason, names in list(by_reason.items())[:N_SHOWN]:
        yield f"No decision for {counted(len(names), 'benchmark')} ({reason}): {_named(names)}."


def _warnings(checked: Check) -> Iterator[Block]:
    yield from (Paragraph(f"Warning: {warning}", "warning") for warning in checked.warnings)
    cut = [row for row in checked.benchmarks if row.n_left_out]
    if cut:
        yield Paragraph(
            f"The runs of {counted(len(cut), 'benchmark')} have different lengths: "
            f"{checked.parameters['classifier']} cuts them to the shortest run and leaves out "
            f"{sum(row.n_left_out for row in cut)} iterations. Spread and changes use all iterations."
        )


def _change_table(checked: Check, changes: Sequence[Change]) -> Block:
    known = {name for entry in checked.known for name in entry.names}
    ordered = sorted(
        changes, key=lambda change: (not change.is_finding, 2.0 if change.p_holm is None else change.p_holm)
    )
    rows = []
    for change in ordered:
        value, ends = change_and_interval(change.ratio)
        runs = f"{change.n_baseline} / {change.n_candidate}"
        verdict = f"{change.outcome} (known)" if change.name in known else change.outcome
        pairs = None if change.superiority is None else round(100 * change.superiority)
        row = (change.name, verdict, value or DASH, ends or DASH, p_value(change.p_holm), runs, f"{pairs} %")
        rows.append((*row, ", ".join(change.weaknesses) or DASH))
    level = f"{100 * (1 - checked.parameters['alpha']):.4g} % CI"
    families = len({change.family for change in changes})
    caption = f"Candidate compared with baseline by a {checked.parameters['test']} test, which uses one number per run."
    caption += " The Holm p is corrected for all benchmarks" + (", separately for each unit." if families > 1 else ".")
    caption += (
        " Lower in pairs is the share of all pairs of runs in which the number of the candidate is lower. "
        f"{limits(checked.parameters)}"
    )
    header = ("Benchmark", "Result", "Change", level, "Holm p", "Runs", "Lower in pairs", "Weak because of")
    return first_rows(caption, header, rows, numeric=(2, 3, 4, 5, 6))


def _of_one_process(checked: Check) -> bool:
    return any(finding.kind == UNDECIDED and finding.words == ONE_PROCESS for finding in checked.findings)


def _untested_table(checked: Check) -> Block:
    changes = {change.name: change for change in checked.changes if change.p is None}
    rows = []
    for row in checked.benchmarks:
        change = changes.get(row.name)
        if row.median is None or (row.n_runs > 1 and change is None):
            continue
        ratio = change_and_interval(change.ratio)[0] if change else ""
        rows.append((row.name, _measured(row.median, row.unit), percent(row.within.value), ratio or DASH))
    caption = "Median and spread of the repetitions, and change of their mean against the baseline (not tested)."
    header = ("Benchmark", "Median", "Spread within the process", "Change of the mean")
    return first_rows(caption, header, rows, numeric=(1, 2, 3))


def _measured(value: float, unit: str) -> str:
    """Format a measurement with its unit; convert seconds to ms, µs or ns if that needs fewer digits.

    Examples
    --------
    >>> _measured(0.00123456, "s"), _measured(12.0, "ops/s")
    ('1.235 ms', '12 ops/s')
    """
    scale = 1.0
    if unit == "s" and 0 < abs(value) < 1:
        unit, scale = next(
            ((name, factor) for name, factor in (("ms", 1e3), ("µs", 1e6)) if abs(value) * factor >= 1), ("ns", 1e9)
        )
    return f"{value * scale:.4g} {unit}".rstrip()


def _verdict_table(checked: Check, benchmarks: Sequence[CheckedBenchmark]) -> Block:
    further = [checked.parameters["classifier"]] if checked.parameters["classifier"] != SPREAD else []
    rows = [
        (row.name, row.verdicts[SPREAD] or "no verdict", percent(row.max_spread.value),
         percent(row.smallest_difference.value), row.n_runs, *(row.verdicts[name] or DASH for name in further))
        for row in _worst_first(benchmarks)
    ]  # fmt: skip
    caption = (
        f"Spread is (largest − smallest) / mean of the runs; if it is above {percent(checked.parameters['limit'])}, "
        "the runs are dissimilar. Detectable is the smallest difference that the same number of runs of each version "
        "detects with 80 % power, corrected for the number of benchmarks."
    )
    header = ("Benchmark", "By spread", "Spread", "Detectable", "Runs", *(f"By {name}" for name in further))
    return first_rows(caption, header, rows, numeric=(2, 3, 4))


def _explained(checked: Check) -> list[CheckedBenchmark]:
    changed = {change.name for change in checked.changes if change.has_changed}
    explained = [row for row in _worst_first(checked.benchmarks) if row.reasons]
    return sorted(explained, key=lambda row: row.name not in changed)[:N_EXPLAINED]


def _parameters(checked: Check) -> dict[str, object]:
    return {name: value for name, value in checked.parameters.items() if value not in (None, (), False)}


def _next_steps(checked: Check) -> Iterator[str]:
    if not _has_benchmarks(checked):
        yield "Pass result files in a supported format. To list the formats, run labeler formats."
        return
    kinds = {finding.kind for finding in _open(checked)}
    rules = checked.parameters
    if CHANGED in kinds:
        yield (
            "Look for the cause in the changes between the two versions. To confirm the result, measure both versions "
            "again, alternating."
        )
        yield (
            "If a change is intended, add it with a reason and an expiry date to a file of known changes, and pass "
            "--ack FILE."
        )
    if DISSIMILAR in kinds:
        yield "Find out why the runs above differ. Fix the cause, or leave out the benchmark."
    if MISSING in kinds and not rules["allow_missing"]:
        yield "Run the missing benchmarks again, or pass --allow-missing if they were removed on purpose."
    if FAILED in kinds and not rules["allow_missing"]:
        yield "Find out why runs failed; the others may not be typical. To accept failed runs, pass --allow-missing."
    if _of_one_process(checked):
        yield "Measure at least five processes of each version in alternation, and pass all files to this command."
    undecided = [finding for finding in _open(checked) if _is_too_few(finding)]
    if undecided:
        yield "The intervals are too wide to decide. Measure more runs of both versions, or allow a larger slowdown."
    if UNDECIDED in kinds and not rules["allow_inconclusive"]:
        yield "To accept inconclusive results, pass --allow-inconclusive."


def _is_too_few(finding: Finding) -> bool:
    return finding.kind == UNDECIDED and "do not exclude" in finding.words


def _named(names: Sequence[str]) -> str:
    return listed(names, 5)


def _n_similar(checked: Check) -> int:
    return sum(row.verdict == SIMILAR for row in checked.benchmarks)


def _worst_first(benchmarks: Sequence[CheckedBenchmark]) -> list[CheckedBenchmark]:
    rank = {DISSIMILAR: 0, None: 1, SIMILAR: 2}
    return sorted(benchmarks, key=lambda row: (rank[row.verdict], -(row.max_spread.value or 0)))
