"""Build the report of a check, in lines and as a document. The most important findings come first."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from analysis import document as d
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.methods.check._results import (
    CHANGED,
    FAILED,
    MIN_CHANGE,
    MISSING,
    N_EXPLAINED,
    NO_BENCHMARK,
    ONE_PROCESS,
    REFUSED,
    SPREAD,
    UNDECIDED,
    WHY_ONE_PROCESS,
    Check,
    CheckedBenchmark,
    Finding,
)
from analysis.runs.comparison import BETTER, IN_SPREAD, WORSE, Change, change_and_interval
from analysis.text import duration, significant

WIDTH = 100
N_ROWS = 20  # maximum number of rows; 8 findings and all else counted would hide too much
INCONCLUSIVE_, NO_CHANGE, BELOW, CHANGED_IN_SPREAD = "inconclusive", "no change", "below the limit", "changed in spread"
ORDER = (
    REFUSED,
    "slower",
    WORSE,
    "higher",
    "lower",
    DISSIMILAR,
    INCONCLUSIVE_,
    "missing",
    "failed",
    "known",
    "faster",
    BETTER,
    CHANGED_IN_SPREAD,
    BELOW,
    NO_CHANGE,
)


@dataclass(frozen=True)
class Row:
    """A benchmark in the summary."""

    state: str  # one of `ORDER`
    name: str
    change: str = ""
    interval: str = ""
    remark: str = ""


@dataclass(frozen=True)
class CheckSummary:
    """What a check found, in short."""

    counts: str  # such as "2 slower, 1 faster, 37 no change"; the form does not change, so that programs can read it
    headline: str
    rows: tuple[Row, ...]  # benchmarks that are not merely counted
    sentences: tuple[str, ...]


def summarise(checked: Check) -> CheckSummary:
    """Summarise a check."""
    refused = [Row(REFUSED, finding.name, remark=finding.words) for finding in _refused(checked)]
    if not refused and not _has_benchmarks(checked):
        return CheckSummary("no benchmarks", NO_BENCHMARK, (), ())
    judged = _compared(checked) if checked.parameters["against_a_baseline"] else _judged(checked)
    rows = [*refused, *judged]
    n_of_state = Counter(row.state for row in rows)
    states = [*ORDER, *(state for state in n_of_state if state not in ORDER)]
    counts = ", ".join(f"{n_of_state[state]} {state}" for state in states if n_of_state[state])
    counted_only = (NO_CHANGE, BELOW, SIMILAR) if checked.n_candidates == 1 else ()
    shown = sorted((row for row in rows if row.state not in counted_only), key=lambda row: states.index(row.state))
    counts = counts or "nothing compared"
    return CheckSummary(counts, f"{counts}{_detectable(checked)}.", tuple(shown), tuple(_sentences(checked)))


def _refused(checked: Check) -> list[Finding]:
    """Return the files that were refused; without a name, the reason why the check could not be done."""
    return [finding for finding in checked.findings if finding.kind == REFUSED]


def _compared(checked: Check) -> Iterator[Row]:
    """Yield one row for each benchmark of the comparison."""
    findings: dict[str, list[Finding]] = {}
    for finding in checked.findings:
        findings.setdefault(finding.name, []).append(finding)
    done = set()
    for change in checked.changes:
        done.add(change.name)
        value, ends = change_and_interval(change.ratio)
        own = findings.get(change.name, [])
        state = _state(change, own)
        failed = [finding.words for finding in own if finding.kind == FAILED]
        known = [finding.known for finding in own if finding.known]
        remarks = [*known, *failed, *change.weaknesses]
        if change.ratio.value is None and change.has_changed:  # the baseline is 0
            remarks.insert(0, change.words.removeprefix(f"{change.outcome} ").strip("()"))
        if state == INCONCLUSIVE_ and change.p is None:
            remarks = [
                *failed,
                next((finding.words for finding in own if finding.kind == UNDECIDED), change.reason or ""),
            ]
        if state == CHANGED_IN_SPREAD and change.spread_ratio is not None:
            remarks = [f"varies {_times(change.spread_ratio)}", *(each for each in remarks if each != "spread differs")]
        yield Row(state, change.name, value, ends, ", ".join(filter(None, remarks)))
    for name in checked.only_in_baseline:
        done.add(name)
        is_known = any(finding.known for finding in findings.get(name, []))
        yield Row("known" if is_known else "missing", name, remark="measured only for the baseline")
    for name, own in findings.items():
        failed = [finding.words for finding in own if finding.kind == FAILED]
        if name and name not in done and failed:
            yield Row("failed", name, remark=failed[0])


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times as much" if ratio >= 1 else f"{1 / ratio:.1f} times less"


def _state(change: Change, findings: Sequence[Finding]) -> str:
    if any(finding.known for finding in findings):
        return "known"
    if any(finding.kind == FAILED for finding in findings):
        return "failed"
    if change.is_held_back or (change.inconclusive and not _has_no_direction(change)):
        return INCONCLUSIVE_
    if change.outcome == IN_SPREAD:
        return CHANGED_IN_SPREAD
    if not change.has_changed or change.outcome is None:
        return NO_CHANGE
    return BELOW if change.is_small else change.outcome


def _has_no_direction(change: Change) -> bool:
    """Return whether a change is only undecided because nobody says whether it is for the better or for the worse."""
    return change.has_changed and change.worse is None and not change.is_held_back


def _judged(checked: Check) -> Iterator[Row]:
    """Yield one row for each benchmark, if there is no baseline."""
    words = {finding.name: finding.words for finding in checked.findings}
    known = {finding.name for finding in checked.findings if finding.known}
    for row in checked.benchmarks:
        state = row.verdict or INCONCLUSIVE_
        if row.n_failed:
            state = "failed"
        state = "known" if row.name in known else state
        yield Row(state, row.name, remark=words.get(row.name, row.reason or ""))


def _detectable(checked: Check) -> str:
    """Say which changes could have been seen, or could be seen if a version was compared with these runs."""
    middle, largest, name = checked.suite.detectable, checked.suite.largest, checked.suite.least_precise
    if not checked.parameters["against_a_baseline"]:
        rows = [(row.smallest_difference.value, row.name) for row in checked.benchmarks]
        known = sorted((value, name) for value, name in rows if value is not None)
        middle = known[(len(known) - 1) // 2][0] if known else None
        largest, name = known[-1] if known else (None, "")
    if middle is None:
        return ""
    words = "no change of any size" if middle == inf else f"changes from {_limit(middle)}"
    if largest is None or _limit(largest) == _limit(middle):
        return f" (detectable: {words})"
    return f" (detectable: {words}; {name}: {'nothing' if largest == inf else _limit(largest)})"


def _limit(share: float) -> str:
    """Format a detectable change, which is at least 0.1 %, also if all runs are equal."""
    return f"{significant(100 * share, 2)} %" if share >= 1 else d.percent(max(share, 0.001))


def _sentences(checked: Check) -> Iterator[str]:
    rules = checked.parameters
    if _refused(checked):
        yield "A refused file decides the exit code, which is 2, regardless of the other files."
    yield from (f"Warning: {warning}" for warning in checked.warnings)
    for finding in checked.findings:
        if finding.kind == UNDECIDED and not finding.name:
            yield finding.words
    reasons: dict[str, list[str]] = {}
    for change in checked.changes:
        if change.p is not None and (change.inconclusive or change.is_held_back) and change.reason:
            reasons.setdefault(change.reason, []).append(change.name)
    for reason, names in reasons.items():
        yield f"Cannot be decided for {d.listed(names)}: {reason}."
    if rules["against_a_baseline"] and checked.suite.n > 1:
        value, ends = change_and_interval(checked.suite.ratio)
        left_out = f"; {checked.suite.n_left_out} left out" if checked.suite.n_left_out else ""
        inverted = " with rates inverted" if checked.suite.has_inverted else ""
        interval = f" ({100 * (1 - rules['alpha']):.4g} % CI {ends})" if ends else ""
        yield f"All {checked.suite.n} together: {value}{interval}, by the geometric mean{inverted}{left_out}."
    yield from checked.notes
    if checked.only_in_candidate:
        yield f"New: {d.listed(checked.only_in_candidate)}."
    for entry in checked.known:
        if entry.is_expired:
            yield f"Known change expired after {entry.until}: {entry.benchmark} ({entry.reason})."
        elif not entry.names:
            yield f"Known change that matches no finding: {entry.benchmark} ({entry.reason})."


def limits(parameters: Mapping[str, object]) -> str:
    """Say which changes are too small to be findings; return "" if every change counts."""
    share = parameters["min_change"]
    if share is None:
        return f"Changes below {100 * MIN_CHANGE:g} % of times and rates are not findings."
    return f"Changes below {100 * float(str(share)):g} % are not findings." if share else ""


def to_lines(checked: Check, commands: Sequence[tuple[str, str]] = ()) -> list[str]:
    """Return the check as a few lines of at most 100 characters."""
    summary = summarise(checked)
    lines = _wrapped(summary.headline)
    lines += _table(summary.rows[:N_ROWS])
    if len(summary.rows) > N_ROWS:
        rest = Counter(row.state for row in summary.rows[N_ROWS:])
        lines.append(f"and {', '.join(f'{n} {state}' for state, n in rest.items())} (all with -v)")
    for sentence in summary.sentences:
        lines += _wrapped(sentence)
    if any(finding.words == ONE_PROCESS for finding in checked.findings):
        for words, command in commands:
            lines += [*_wrapped(words), *(f"    {line}" for line in command.splitlines())]
    if not _has_benchmarks(checked):
        return lines
    small = limits(checked.parameters) if checked.changes else ""
    return [*lines, *_wrapped(f"{small} Details: -v, or --html FILE.")]


def _table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    states = max(len(row.state) for row in rows)
    changes, intervals = max(len(row.change) for row in rows), max(len(row.interval) for row in rows)
    rows = [replace(row, name=d.one_line(row.name)) for row in rows]
    names = d.shortened([row.name for row in rows], max(20, WIDTH - states - changes - intervals - 30))
    width = max(len(name) for name in names.values())
    lines = []
    for row in rows:
        head = f"  {row.state:<{states}}  {names[row.name]:<{width}}"
        numbers = f"  {row.change:>{changes}}  {row.interval:<{intervals}}" if changes else ""
        first = f"{head}{numbers}".rstrip()
        if not row.remark:
            lines.append(first)
            continue
        room = WIDTH - len(f"{head}{numbers}") - 2
        if room < 20:
            lines += [
                first,
                *textwrap.wrap(d.one_line(row.remark), WIDTH - 6, initial_indent="      ", subsequent_indent="      "),
            ]
        else:
            lines.append(f"{head}{numbers}  {textwrap.shorten(d.one_line(row.remark), room, placeholder=' …')}")
    return lines


def _wrapped(text: str) -> list[str]:
    joined = d.one_line(text).replace(" %", "\N{WORD JOINER}%")
    lines = textwrap.wrap(joined, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{WORD JOINER}", " ") for line in lines]


NAME = "Benchmark check"
N_SHOWN = 20  # maximum number of findings of each kind in the list
LESS = "The JSON output lists all of them."


def document(
    checked: Check, *, commands: Sequence[tuple[str, str]] = (), title: str = NAME, with_result: bool = True
) -> d.Document:
    """Build the report of a check.

    `commands` say how to measure several runs with the tools that wrote the files: a sentence, and the shell commands.
    """
    result = (d.Bullets(tuple(_result(checked))),) if with_result else ()
    sections = [d.Section("Result" if with_result else "Details", (*result, *_warnings(checked)))]
    if checked.known:
        sections.append(d.Section("Known changes", tuple(_known(checked))))
    tested = [change for change in checked.changes if change.p is not None]
    if tested:
        sections.append(d.Section("Changes against the baseline", (_change_table(checked, tested),)))
    if _of_one_process(checked):
        sections.append(d.Section("One process: not tested", (d.Paragraph(WHY_ONE_PROCESS), _untested_table(checked))))
    several = [row for row in checked.benchmarks if row.n_runs > 1]
    if several:
        sections.append(d.Section("Are the runs of each benchmark similar?", (_verdict_table(checked, several),)))
    sections += [
        d.Section(row.name, (d.Bullets(row.reasons.sentences if row.reasons else ()),), level=3)
        for row in _explained(checked)
    ]
    sections.append(d.Section("Options used", (d.Paragraph(d.describe_value(_parameters(checked)), "note"),)))
    steps = tuple(_next_steps(checked))
    blocks: list[d.Block] = [d.Bullets(steps)] if steps else []
    if _of_one_process(checked):
        for words, lines in commands:
            blocks += [d.Paragraph(words), d.Paragraph(lines, "command")]
    if blocks:
        sections.append(d.Section("Next steps", tuple(blocks)))
    return d.Document(title, "", "", tuple(sections), kind="benchmark check")


def markdown(checked: Check, *, commands: Sequence[tuple[str, str]] = ()) -> str:
    """Write a check as Markdown: a line of counts, what changed, and everything else in a part that opens on demand.

    The first line always has the form `# Benchmark check: 2 slower, 1 faster, 37 no change`, so that a program can find
    the comment and update it.
    """
    summary = summarise(checked)
    rows = [
        (row.name, row.state, row.change or d.DASH, "; ".join(filter(None, (row.interval, row.remark))) or d.DASH)
        for row in summary.rows
    ]
    level = f"{100 * (1 - checked.parameters['alpha']):.4g} % CI"
    blocks: list[d.Block] = []
    if rows:
        blocks.append(d.first_rows("", ("Benchmark", "Result", "Change", level), rows, numeric=(2,)))
    blocks.append(d.Bullets((summary.headline, *summary.sentences)))
    short = d.to_markdown(d.Document(f"{NAME}: {summary.counts}", "", "", (d.Section("", tuple(blocks)),)))
    details = d.to_markdown(replace(document(checked, commands=commands, with_result=False), title=""))
    return f"{short}\n<details>\n<summary>All benchmarks, details and next steps</summary>\n\n{details}\n</details>\n"


def _has_benchmarks(checked: Check) -> bool:
    return bool(checked.benchmarks or checked.only_in_baseline)


def _result(checked: Check) -> Iterator[str]:
    """Yield the outcome as one sentence, then the findings."""
    summary = summarise(checked)
    yield summary.headline
    for kind in (REFUSED, CHANGED, DISSIMILAR, FAILED):
        findings = [finding for finding in _open(checked) if finding.kind == kind]
        yield from (": ".join(filter(None, (finding.name, finding.words))) + "." for finding in findings[:N_SHOWN])
        if len(findings) > N_SHOWN:
            yield f"{len(findings) - N_SHOWN} more. {LESS}"
    missing = [finding.name for finding in _open(checked) if finding.kind == MISSING]
    if missing:
        yield f"Missing: {d.counted(len(missing), 'benchmark')} measured only for the baseline ({_named(missing)})."
    yield from _not_tested(checked)
    minor = [change for change in checked.changes if change.has_changed and not change.is_finding]
    minor = [change for change in minor if not change.is_held_back and not change.inconclusive]
    if minor:
        examples = "; ".join(f"{change.name} {change.words}" for change in minor[:3])
        more = f"; and {len(minor) - 3} more" if len(minor) > 3 else ""
        yield f"Significant changes that are not findings with the chosen options: {examples}{more}."
    yield from summary.sentences
    n_decided = sum(row.verdict is not None for row in checked.benchmarks)
    if checked.parameters["against_a_baseline"] and n_decided:
        yield f"For information: the runs are similar for {_n_similar(checked)} of {d.counted(n_decided, 'benchmark')}."


def _open(checked: Check) -> list[Finding]:
    """Return the findings that are not covered by a known change."""
    return [finding for finding in checked.findings if not finding.known]


def _known(checked: Check) -> Iterator[d.Block]:
    """Yield a table of the findings that known changes cover, and the entries that can be removed."""
    until = {name: entry.until for entry in checked.known for name in entry.names}
    rows = [
        (finding.name, finding.words, finding.known, until[finding.name])
        for finding in checked.findings
        if finding.known
    ]
    if rows:
        caption = "Accepted findings, which do not affect the exit code."
        yield d.first_rows(caption, ("Benchmark", "Finding", "Reason", "Until"), rows, numeric=())
    for entry in checked.known:
        if entry.is_expired:
            yield d.Paragraph(
                f"Expired after {entry.until}: {entry.benchmark} ({entry.reason}). This entry has no effect any more; "
                "remove it or give it a new date."
            )
        elif not entry.names:
            yield d.Paragraph(
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
        yield f"No decision for {d.counted(len(names), 'benchmark')} ({reason}): {_named(names)}."


def _warnings(checked: Check) -> Iterator[d.Block]:
    yield from (d.Paragraph(f"Warning: {warning}", "warning") for warning in checked.warnings)
    cut = [row for row in checked.benchmarks if row.n_left_out]
    if cut:
        yield d.Paragraph(
            f"The runs of {d.counted(len(cut), 'benchmark')} have different lengths: "
            f"{checked.parameters['classifier']} cuts them to the shortest run and leaves out "
            f"{sum(row.n_left_out for row in cut)} iterations. Spread and changes use all iterations."
        )


def _change_table(checked: Check, changes: Sequence[Change]) -> d.Block:
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
        row = (change.name, verdict, value or d.DASH, ends or d.DASH, d.p_value(change.p_holm), runs, f"{pairs} %")
        rows.append((*row, ", ".join(change.weaknesses) or d.DASH))
    level = f"{100 * (1 - checked.parameters['alpha']):.4g} % CI"
    families = len({change.family for change in changes})
    caption = f"Candidate compared with baseline by a {checked.parameters['test']} test, which uses one number per run."
    caption += " The Holm p is corrected for all benchmarks" + (", separately for each unit." if families > 1 else ".")
    caption += (
        " Lower in pairs is the share of all pairs of runs in which the number of the candidate is lower. "
        f"{limits(checked.parameters)}"
    )
    header = ("Benchmark", "Result", "Change", level, "Holm p", "Runs", "Lower in pairs", "Weak because of")
    return d.first_rows(caption, header, rows, numeric=(2, 3, 4, 5, 6))


def _of_one_process(checked: Check) -> bool:
    return any(finding.kind == UNDECIDED and finding.words == ONE_PROCESS for finding in checked.findings)


def _untested_table(checked: Check) -> d.Block:
    changes = {change.name: change for change in checked.changes if change.p is None}
    rows = []
    for row in checked.benchmarks:
        change = changes.get(row.name)
        if row.median is None or (row.n_runs > 1 and change is None):
            continue
        ratio = change_and_interval(change.ratio)[0] if change else ""
        rows.append((row.name, _measured(row.median, row.unit), d.percent(row.within.value), ratio or d.DASH))
    caption = "Median and spread of the repetitions, and change of their mean against the baseline (not tested)."
    header = ("Benchmark", "Median", "Spread within the process", "Change of the mean")
    return d.first_rows(caption, header, rows, numeric=(1, 2, 3))


def _measured(value: float, unit: str) -> str:
    """Format a measurement with its unit; convert seconds to ms, µs or ns if that needs fewer digits.

    Examples
    --------
    >>> _measured(0.00123456, "s"), _measured(0.99996, "s"), _measured(12.0, "ops/s"), _measured(123456.0, "s")
    ('1.235 ms', '1 s', '12 ops/s', '123500 s')
    """
    if unit == "s" and 0 < value < 1:
        return duration(value, 4)
    return f"{significant(value, 4)} {unit}".rstrip()


def _verdict_table(checked: Check, benchmarks: Sequence[CheckedBenchmark]) -> d.Block:
    further = [checked.parameters["classifier"]] if checked.parameters["classifier"] != SPREAD else []
    rows = [
        (row.name, row.verdicts[SPREAD] or "no verdict", d.percent(row.max_spread.value),
         d.percent(row.smallest_difference.value), row.n_runs, *(row.verdicts[name] or d.DASH for name in further))
        for row in _worst_first(benchmarks)
    ]  # fmt: skip
    caption = (
        f"Spread is (largest − smallest) / mean of the runs; if it is above {d.percent(checked.parameters['limit'])}, "
        "the runs are dissimilar. Detectable is the smallest difference that the same number of runs of each version "
        "detects with 80 % power, corrected for the number of benchmarks."
    )
    header = ("Benchmark", "By spread", "Spread", "Detectable", "Runs", *(f"By {name}" for name in further))
    return d.first_rows(caption, header, rows, numeric=(2, 3, 4))


def _explained(checked: Check) -> list[CheckedBenchmark]:
    changed = {change.name for change in checked.changes if change.has_changed}
    explained = [row for row in _worst_first(checked.benchmarks) if row.reasons]
    return sorted(explained, key=lambda row: row.name not in changed)[:N_EXPLAINED]


def _parameters(checked: Check) -> dict[str, object]:
    return {name: value for name, value in checked.parameters.items() if value not in (None, (), False)}


def _next_steps(checked: Check) -> Iterator[str]:
    kinds = {finding.kind for finding in _open(checked)}
    if REFUSED in kinds:
        yield "Mend or leave out what was refused: the check says nothing about these files."
    if not _has_benchmarks(checked):
        yield "Pass result files in a supported format. To list the formats, run labeler formats."
        return
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
        yield "Measure at least five processes of each version in turns, and pass all files to this command."
    undecided = [finding for finding in _open(checked) if _is_too_few(finding)]
    if undecided:
        yield "The intervals are too wide to decide. Measure more runs of both versions, or allow a larger slowdown."
    if UNDECIDED in kinds and not rules["allow_inconclusive"]:
        yield "To accept inconclusive results, pass --allow-inconclusive."


def _is_too_few(finding: Finding) -> bool:
    return finding.kind == UNDECIDED and "do not exclude" in finding.words


def _named(names: Sequence[str]) -> str:
    return d.listed(names, 5)


def _n_similar(checked: Check) -> int:
    return sum(row.verdict == SIMILAR for row in checked.benchmarks)


def _worst_first(benchmarks: Sequence[CheckedBenchmark]) -> list[CheckedBenchmark]:
    rank = {DISSIMILAR: 0, None: 1, SIMILAR: 2}
    return sorted(benchmarks, key=lambda row: (rank[row.verdict], -(row.max_spread.value or 0)))
