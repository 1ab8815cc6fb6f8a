"""Summarise a check: counts, one row per benchmark that changed or could not be decided, and a few sentences."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.check._model import (
    FAILED,
    MIN_CHANGE,
    NO_BENCHMARK,
    ONE_PROCESS,
    UNDECIDED,
    Check,
    Finding,
)
from analysis.comparison import IN_SPREAD, Change, change_and_interval
from analysis.document import listed, percent, shortened

WIDTH = 100
N_ROWS = 20  # maximum number of rows; 8 findings and all else counted would hide too much
INCONCLUSIVE_, NO_CHANGE, BELOW, SPREAD = "inconclusive", "no change", "below the limit", "changed in spread"
ORDER = (
    "slower",
    "higher",
    "lower",
    DISSIMILAR,
    INCONCLUSIVE_,
    "missing",
    "failed",
    "known",
    "faster",
    SPREAD,
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
    if not checked.benchmarks and not checked.only_in_baseline:
        return CheckSummary("no benchmarks", NO_BENCHMARK, (), ())
    rows = list(_compared(checked) if checked.parameters["against_a_baseline"] else _judged(checked))
    n_of_state = Counter(row.state for row in rows)
    states = [*ORDER, *(state for state in n_of_state if state not in ORDER)]
    counts = ", ".join(f"{n_of_state[state]} {state}" for state in states if n_of_state[state])
    counted_only = (NO_CHANGE, BELOW, SIMILAR) if checked.n_candidates == 1 else ()
    shown = sorted((row for row in rows if row.state not in counted_only), key=lambda row: states.index(row.state))
    counts = counts or "nothing compared"
    return CheckSummary(counts, f"{counts}{_detectable(checked)}.", tuple(shown), tuple(_sentences(checked)))


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
        if state == SPREAD and change.spread_ratio is not None:
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
    if change.inconclusive or change.is_held_back:
        return INCONCLUSIVE_
    if change.outcome == IN_SPREAD:
        return SPREAD
    if not change.has_changed or change.outcome is None:
        return NO_CHANGE
    return BELOW if change.is_small else change.outcome


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
        middle = known[len(known) // 2][0] if known else None
        largest, name = known[-1] if known else (None, "")
    if middle is None:
        return ""
    words = "no change of any size" if middle == inf else f"changes from {percent(middle)}"
    if largest is None or percent(largest) == percent(middle):
        return f" (detectable: {words})"
    return f" (detectable: {words}; {name}: {'nothing' if largest == inf else percent(largest)})"


def _sentences(checked: Check) -> Iterator[str]:
    rules = checked.parameters
    yield from (f"Warning: {warning}" for warning in checked.warnings)
    for finding in checked.findings:
        if finding.kind == UNDECIDED and not finding.name:
            yield finding.words
    reasons: dict[str, list[str]] = {}
    for change in checked.changes:
        if change.p is not None and (change.inconclusive or change.is_held_back) and change.reason:
            reasons.setdefault(change.reason, []).append(change.name)
    for reason, names in reasons.items():
        yield f"Cannot be decided for {listed(names)}: {reason}."
    if rules["against_a_baseline"] and checked.suite.n > 1:
        value, ends = change_and_interval(checked.suite.ratio)
        left_out = f"; {checked.suite.n_left_out} without a ratio" if checked.suite.n_left_out else ""
        inverted = " with rates inverted" if checked.suite.has_inverted else ""
        interval = f" ({100 * (1 - rules['alpha']):.4g} % CI {ends})" if ends else ""
        yield f"All {checked.suite.n} together: {value}{interval}, by the geometric mean{inverted}{left_out}."
    yield from checked.notes
    if checked.only_in_candidate:
        yield f"New: {listed(checked.only_in_candidate)}."
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
    if not checked.benchmarks and not checked.only_in_baseline:
        return lines
    small = limits(checked.parameters) if checked.changes else ""
    return [*lines, *_wrapped(f"{small} Details: -v, or --html FILE.")]


def _table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    states = max(len(row.state) for row in rows)
    changes, intervals = max(len(row.change) for row in rows), max(len(row.interval) for row in rows)
    names = shortened([row.name for row in rows], max(20, WIDTH - states - changes - intervals - 30))
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
            lines += [first, *textwrap.wrap(row.remark, WIDTH - 6, initial_indent="      ", subsequent_indent="      ")]
        else:
            lines.append(f"{head}{numbers}  {textwrap.shorten(_clean(row.remark), room, placeholder=' …')}")
    return lines


def _wrapped(text: str) -> list[str]:
    joined = _clean(text).replace(" %", "\N{WORD JOINER}%")
    lines = textwrap.wrap(joined, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{WORD JOINER}", " ") for line in lines]


def _clean(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
