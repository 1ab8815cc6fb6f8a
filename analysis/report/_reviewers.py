"""Reviewers one by one: leniency, drift, retests, and time on task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from analysis import document as d
from analysis.raters import agreement
from analysis.raters.agreement import (
    AgainstRest,
    CourseTest,
    Leniency,
    LeniencyTest,
    RetestAgreement,
    SideBias,
)
from analysis.report._settings import CategorySet, ReportStyle, capitalised, entries
from analysis.report._tables import has_values
from analysis.report._units import SIGN_FLIPS, Units, groups_of_items
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import holm

IMPLAUSIBLE_S = 1.0  # nobody can look at ten runs in less time
LEAST_AGAINST_REST = 3  # with two reviewers, the rest is the other reviewer, as in the table of pairs
NO_POSITIVE = "the question has no positive category"


@dataclass(frozen=True, repr=False, kw_only=True)
class Retest(RetestAgreement):
    """Agreement of a reviewer with their own earlier labels."""

    p_holm: float | None  # p value of the drift, corrected for the number of reviewers


@dataclass(frozen=True)
class TimeOnTask:
    """The time that a reviewer took per label."""

    rater: str
    n: int
    median_s: float
    n_fast: int  # labels given implausibly fast


def retest_numbers(
    pairs: pd.DataFrame, of: CategorySet, level: float, applications: Mapping[object, object], units: Units
) -> Iterator[Retest]:
    """Compute the test-retest agreement of each reviewer; correct the tests of drift for the number of reviewers."""
    groups = groups_of_items(pd.Index(pairs["item"]), applications, units)
    rows = agreement.retest_agreement(pairs, of.names, positive=of.positive or of.names[-1], groups=groups, level=level)
    if not of.positive:
        rows = [replace(row, change=Estimate(None, reason=NO_POSITIVE)) for row in rows]
    ps = holm([row.drift.p_mid if of.positive else None for row in rows])
    for row, p in zip(rows, ps, strict=True):
        yield Retest(**entries(row), p_holm=p)


def times_on_task(first: pd.DataFrame) -> Iterator[TimeOnTask]:
    """Compute the median time on task of each reviewer, and count the implausibly fast labels."""
    if not has_values(first, "dwell_ms"):
        return
    seconds = pd.to_numeric(first["dwell_ms"]) / 1000
    for rater, of_rater in seconds.groupby(first["rater"]):
        if of_rater.notna().any():
            n_fast = int((of_rater < IMPLAUSIBLE_S).sum())
            yield TimeOnTask(str(rater), int(of_rater.notna().sum()), float(of_rater.median()), n_fast)


def leniency_blocks(leniency: Leniency, style: ReportStyle) -> Iterator[d.Block]:
    """Show how strict each reviewer is, and each pair of reviewers on the same items."""
    positive, level = style.category_set.positive, style.level_text
    if leniency.raters:
        yield d.table(
            f"Share of {positive} labels of each reviewer, and log odds of calling the same items {positive}. Log odds "
            "of 0 mean that the reviewer is as strict as the others.",
            ("Reviewer", "First labels", f"{capitalised(positive)} ({level})", f"Log odds on the same items ({level})"),
            [(row.rater, row.n, d.share(row.dissimilar), d.plain_number(row.log_odds)) for row in leniency.raters],
            numeric=(1,),
            name="leniency",
        )
    yield d.Paragraph(f"Are all reviewers equally strict? {_describe_leniency(leniency.overall, style.alpha)}")
    if leniency.pairs:
        yield d.table(
            f"Number of items that only one of two reviewers calls {positive}. The p values come from McNemar's mid-p "
            f"test and are corrected over the pairs by Holm's method. {SIGN_FLIPS} "
            "Raw and exact p values are in report.json.",
            ("Pair", "Only the first", "Only the second", f"Difference of shares ({level})", "p (Holm)"),
            [
                (f"{pair.a} – {pair.b}", pair.table.b, pair.table.c, d.share(pair.difference),
                 d.p_value(pair.p_holm))
                for pair in leniency.pairs
            ],
            numeric=(1, 2, 4), name="leniency-pairs")  # fmt: skip


def side_blocks(sides: SideBias, style: ReportStyle) -> Iterator[d.Block]:
    """Say whether reviewers prefer a side."""
    worse = style.category_set.names[0]
    yield d.Paragraph(
        "The two sides of an item were shown in a drawn order, and reviewers did not know which side is which. If the "
        f"same item is shown both ways, its own change cancels out, so both sides should be called {worse} equally "
        "often."
    )
    if sides.bias.value is None:
        yield d.Paragraph(f"Whether reviewers prefer a side is unknown: {sides.bias.reason}.")
        return
    low, high = sides.bias.low, sides.bias.high
    conclusion = (
        "There is no sign of a preference."
        if low is None or high is None or low <= 0 <= high
        else f"Reviewers call the {'left' if low > 0 else 'right'} side {worse} too often."
    )
    yield d.Paragraph(
        f"On {d.counted(sides.n_items, 'item')} shown both ways ({d.counted(sides.n_labels, 'label')}), reviewers call "
        f"the left side {worse} in {d.percent(sides.left)} and the right side in {d.percent(sides.right)}. Side bias: "
        f"{d.estimate(sides.bias)} ({style.level_text}). {conclusion}"
    )


def against_the_rest_blocks(rows: Sequence[AgainstRest], kappa: Estimate, style: ReportStyle) -> Iterator[d.Block]:
    """Show the agreement of each reviewer with the others; `kappa` is Fleiss' kappa of all labels."""
    level = style.level_text
    if len(rows) < LEAST_AGAINST_REST:
        return
    yield d.table(
        "Agreement of each reviewer with the other reviewers of the same items, and Fleiss' kappa of the other "
        "reviewers without this reviewer. The last column is the difference from kappa of all labels, "
        f"{d.number(kappa.value)}.",
        ("Reviewer", "Items", f"Agreement with the rest ({level})", f"Kappa with the rest ({level})",
         f"Kappa without the reviewer ({level})", "Difference"),
        [
            (row.rater, row.n_items, d.share(row.percent), d.plain_number(row.kappa), d.plain_number(row.without),
             d.number(row.change))
            for row in rows
        ],
        numeric=(1, 5), name="against-the-rest")  # fmt: skip


def drift_blocks(test: CourseTest | None, style: ReportStyle) -> Iterator[d.Block]:
    """Show whether agreement changes in the course of the study, and which change of a reviewer could be seen."""
    if test is None:
        return
    yield d.Paragraph(f"Does agreement change in the course of the study? {_describe_course(test)}")
    if test.common_order or test.changes is None:
        return
    yield d.table(
        "Change of each reviewer's agreement with the others, from the first to the last own label. The regression of "
        "each pair has the places of both reviewers, so that nobody is blamed for the change of another. The p values "
        "are corrected by Holm's method, and intervals are not corrected. The last column is the smallest change that "
        "this test would have found in 80 % of studies.",
        ("Reviewer", "Labels", f"Change ({style.level_text})", "p (Holm)", "Smallest visible change"),
        [
            (row.rater, row.n, d.share(row.slope), d.p_value(row.p_holm),
             "more than 100 %" if (row.detectable or 0) > 1 else d.percent(row.detectable))
            for row in test.raters
        ],
        numeric=(1, 3, 4), name="drift")  # fmt: skip


def _describe_course(test: CourseTest) -> str:
    if test.changes is None:
        return f"Not tested: {test.reason}."
    order = "All reviewers labelled the items in one order. " if test.common_order else ""
    if test.named:
        return f"{order}Yes, that of {d.joined(test.named)} with the others (p = {d.p_value(test.p)})."
    if test.changes:
        return f"{order}Yes (p = {d.p_value(test.p)}), but these labels do not show who changes."
    return f"{order}These labels do not show it (p = {d.p_value(test.p)})."


def time_blocks(rows: Sequence[TimeOnTask]) -> Iterator[d.Block]:
    """Show the time on task of each reviewer, and name reviewers who are implausibly fast."""
    if not rows:
        return
    yield d.table(
        "Median time on task per label, and number of labels given in less than a second.",
        ("Reviewer", "Labels", "Median seconds", "Under 1 s"),
        [(row.rater, row.n, d.number(row.median_s, 1), row.n_fast) for row in rows],
        numeric=(1, 2, 3),
        name="time-on-task",
    )
    fast = [str(row.rater) for row in rows if row.median_s < 1]
    if fast:
        text = f"Implausibly fast, with less than a second for at least half of the labels: {', '.join(fast)}."
        yield d.Paragraph(text, "warning")


def _describe_leniency(test: LeniencyTest, alpha: float) -> str:
    if test.p is None:
        return f"Not tested: {test.reason}."
    result = (
        f"Conditional logit on {d.counted(test.n_split, 'item')} on which reviewers differ, {test.test} test: "
        f"χ² = {d.number(test.chi2, 1)}, {test.df} {'degree' if test.df == 1 else 'degrees'} of freedom, "
        f"p = {d.p_value(test.p)}."
    )
    return (
        result
        + (" The reviewers are not equally strict." if test.p <= alpha else "")
        + (f" {d.sentence(test.reason)}" if test.reason else "")
    )


def retest_blocks(rows: Sequence[Retest], style: ReportStyle) -> Iterator[d.Block]:
    """Show the agreement of each reviewer with their own earlier labels."""
    level, of = style.level_text, style.category_set
    if not rows:
        yield d.Paragraph("No reviewer labelled an item twice, so the consistency of reviewers is unknown.")
        return
    caption = (
        "Agreement of each reviewer with themselves: in a retest, a reviewer labels the same item again under another "
        "code."
    )
    if of.positive:
        caption += " Drift is tested by McNemar's mid-p test and corrected over the reviewers by Holm's method. "
        caption += SIGN_FLIPS
    drift = (f"Drift to {of.positive} ({level})", "p of drift (Holm)") if of.positive else ()
    yield d.table(
        caption,
        ("Reviewer", "Items", f"Agreement ({level})", f"Cohen's kappa ({level})", f"PABAK ({level})", *drift),
        [
            (row.rater, row.n, d.share(row.percent), d.plain_number(row.cohen_kappa), d.plain_number(row.pabak),
             *((d.share(row.change), d.p_value(row.p_holm)) if of.positive else ()))
            for row in rows
        ],
        numeric=(1, 6) if of.positive else (1,), name="retest")  # fmt: skip
