"""A check of result files in words and tables."""

from collections.abc import Iterator, Sequence

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.check._check import FALLBACK, Check, Judged
from analysis.classifiers import CLASSIFIERS
from analysis.comparison import Change
from analysis.dissimilarity import MIN_ITERATIONS
from analysis.document import (
    DASH,
    N_ROWS,
    Bullets,
    Document,
    Paragraph,
    Section,
    Table,
    first_rows,
    interval,
    listed,
    p_value,
    percent,
    value_in_words,
)
from analysis.intervals import Estimate

N_FEW, N_EXPLAINED = 3, 10


def document(checked: Check, *, title: str = "Benchmark check") -> Document:
    """The check in words and tables: what needs attention first."""
    sections = [Section("In short", (Bullets(tuple(_in_short(checked))),))]
    if checked.changes:
        sections.append(Section("Changes against the baseline", (_change_table(checked.changes),)))
    sections.append(Section("Are the runs of each benchmark similar?", (_verdict_table(checked.benchmarks),)))
    for one in _explained(checked):
        note = (Paragraph(one.reason, "note"),) if one.reason else ()
        sections.append(Section(one.name, (*note, Bullets(one.reasons.sentences)), level=3))
    sections.append(Section("Parameters", (Paragraph(value_in_words(checked.parameters)),)))
    return Document(title, "", "", tuple(sections), kind="benchmark check")


def _explained(checked: Check) -> list[Judged]:
    """The benchmarks whose reasons are shown: those that changed, then those that are not similar; all of a few."""
    changed = {change.name for change in checked.changes if change.has_changed}
    ordered = sorted(_worst_first(checked.benchmarks), key=lambda one: one.name not in changed)
    if len(ordered) > N_FEW:
        ordered = [one for one in ordered if one.name in changed or one.verdict != SIMILAR]
    return ordered[:N_EXPLAINED]


def _in_short(checked: Check) -> Iterator[str]:
    if checked.parameters["against_a_baseline"] and not checked.changes:
        yield "Nothing could be compared: no benchmark is in the baseline and in the candidate."
    if checked.changes:
        changed = [change for change in checked.changes if change.has_changed]
        yield f"{len(changed)} of {len(checked.changes)} benchmarks have changed against the baseline."
        for change in changed[:N_ROWS]:
            yield f"{change.name}: {change.words}."
    verdicts = [one.verdict for one in checked.benchmarks]
    n_similar, n_without = verdicts.count(SIMILAR), verdicts.count(None)
    yield f"The runs are similar for {n_similar} of {len(verdicts)} benchmarks" + (
        f"; {n_without} could not be judged." if n_without else "."
    )
    n_other = sum(one.classifier != checked.parameters["classifier"] for one in checked.benchmarks)
    if n_other:
        yield (
            f"{n_other} have runs of fewer than {MIN_ITERATIONS} iterations, too short for "
            f"{checked.parameters['classifier']}: {FALLBACK} judged them."
        )
    if len(checked.benchmarks) > N_EXPLAINED:
        yield f"Reasons are given for at most {N_EXPLAINED} benchmarks; the JSON has those of all."
    for names, where in ((checked.only_in_candidate, "candidate"), (checked.only_in_baseline, "baseline")):
        if names:
            yield f"Only in the {where}, so not compared: {listed(names, N_ROWS)}."


def _change_table(changes: Sequence[Change]) -> Table:
    ordered = sorted(
        changes, key=lambda change: (not change.has_changed, 2.0 if change.p_holm is None else change.p_holm)
    )
    rows = [
        (change.name, change.words if change.verdict else f"not tested: {change.reason}", _ratio(change.ratio),
         p_value(change.p), p_value(change.p_holm), f"{change.n_baseline} / {change.n_candidate}")
        for change in ordered
    ]  # fmt: skip
    caption = (
        "Candidate over baseline with interval, one number per run; Welch's test and the rank-sum test combined, "
        "p corrected by Holm."
    )
    header = ("Benchmark", "Result", "Ratio", "p", "p (Holm)", "Runs before / after")
    return first_rows(caption, header, rows, numeric=(2, 3, 4, 5))


def _ratio(ratio: Estimate) -> str:
    if ratio.value is None:
        return DASH
    ends = interval(ratio, as_percent=False)
    return f"{ratio.value:.3f} ({ends})" if ends else f"{ratio.value:.3f}"


def _verdict_table(benchmarks: Sequence[Judged]) -> Table:
    names = list(CLASSIFIERS)
    rows = [
        (one.name, one.verdict or "no verdict", one.classifier, percent(one.reasons.max_spread.value),
         percent(one.reasons.smallest_difference.value), *(one.verdicts[name] or DASH for name in names))
        for one in _worst_first(benchmarks)
    ]  # fmt: skip
    caption = (
        "Spread: how far apart the runs lie. Detectable: the smallest difference that as many runs again show four "
        "times in five, corrected for the number of benchmarks. Behind them, every classifier."
    )
    header = ("Benchmark", "Verdict", "By", "Spread", "Detectable", *names)
    return first_rows(caption, header, rows, numeric=(3, 4))


def _worst_first(benchmarks: Sequence[Judged]) -> list[Judged]:
    rank = {DISSIMILAR: 0, None: 1, SIMILAR: 2}
    return sorted(benchmarks, key=lambda one: (rank[one.verdict], -(one.reasons.max_spread.value or 0)))
