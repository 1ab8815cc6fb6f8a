"""What a report has for more than two categories, or for two of which none is positive: numbers and sections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from analysis import document as d
from analysis.raters import agreement, consensus
from analysis.raters.agreement import RankTest
from analysis.raters.consensus import REJECTED, UNTESTABLE, TrueCategories
from analysis.raters.tables import Counts, count_table
from analysis.report._settings import MOST_REVIEWERS, NO_SIGNAL, TOO_MANY, CategorySet, ReportStyle, Resampling
from analysis.report._tables import CountedConsensus, Labels
from analysis.report._units import BY_APPLICATION, Units, estimate_by, groups_of_items
from analysis.statistics.intervals import Estimate

WEIGHTS = ("linear", "quadratic")
MOST_MATRICES = 12  # of reviewers; the JSON has all


@dataclass(frozen=True)
class CategoryRow:
    """The labels and items of a category.

    `agreement` is the specific agreement: how often a second label is this category if the first one is. `kappa` is
    Fleiss' kappa of this category against all others together.
    """

    category: str
    meaning: str
    n_labels: int
    agreement: Estimate
    kappa: Estimate
    n_agreed: int
    n_majority: int


@dataclass(frozen=True)
class WeightedCoefficient:
    """A coefficient of agreement that counts near categories as partial agreement."""

    name: str
    weights: str
    value: Estimate


@dataclass(frozen=True)
class SharesOfReviewer:
    """How often a reviewer gave each category."""

    reviewer: str
    n: int
    shares: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class ByCategory:
    """The numbers of a report about any number of categories."""

    weighted: tuple[WeightedCoefficient, ...]  # empty if the categories have no order
    reviewers: tuple[SharesOfReviewer, ...]
    rank_test: RankTest | None  # None if the categories have no order
    truth: TrueCategories


def category_rows(
    labels: Labels,
    truth: CountedConsensus,
    of: CategorySet,
    level: float,
    *,
    specific: Mapping[str, Estimate],
    applications: Mapping[object, object],
    units: Units,
) -> tuple[CategoryRow, ...]:
    """Compute the numbers of labels and items of each category; `specific`: the agreement on each."""
    first = labels.first
    counts = count_table(first, of.names).sort_index()
    groups, rows = groups_of_items(counts.index, applications, units), []
    for name in of.names:
        rest = counts[[other for other in of.names if other != name]].sum(axis=1)
        table = Counts(np.column_stack([rest, counts[name]]))
        against_rest = estimate_by(units, partial(agreement.fleiss_kappa, table, level=level), groups)
        rows.append(
            CategoryRow(
                name, of.meanings.get(name, ""), int(counts[name].sum()), specific[name], against_rest,
                int((truth.agreed["category"] == name).sum()), int((truth.majority["category"] == name).sum()),
            )
        )  # fmt: skip
    return tuple(rows)


def category_numbers(
    labels: Labels,
    of: CategorySet,
    level: float,
    resampling: Resampling,
    *,
    has_signal: bool,
    applications: Mapping[object, object],
    units: Units,
) -> ByCategory:
    """Compute the numbers that only reports about any number of categories have.

    Unless `has_signal`, the model of true categories has no numbers, because any accuracy of the reviewers fits.
    """
    first = labels.first
    counts = count_table(first, of.names).sort_index()
    groups = groups_of_items(counts.index, applications, units)
    of_rows = None if groups is None else groups.reindex(first["item"]).to_numpy()
    is_compared = first["rater"].nunique() <= MOST_REVIEWERS
    n_draws = resampling.n_misfit if resampling.n_sweeps else 0
    truth = TrueCategories(identified=False, words=f"It is not fitted, because {TOO_MANY}.")
    if is_compared:
        truth = consensus.true_categories(
            first,
            of.names,
            n_draws=n_draws,
            rng=resampling.rng("true categories"),
            level=level,
            groups=groups.to_dict() if groups is not None and units.by == BY_APPLICATION else None,
        )
    return ByCategory(
        weighted=tuple(_weighted(counts, of, level, units, groups)) if of.ordered else (),
        reviewers=tuple(
            SharesOfReviewer(str(rater), len(own), {name: float((own["category"] == name).mean()) for name in of.names})
            for rater, own in first.groupby("rater", sort=True)
        ),
        rank_test=agreement.rank_test(first, of.names, groups=of_rows)
        if of.ordered and is_compared
        else RankTest({}, None, None, None, 0, TOO_MANY)
        if of.ordered
        else None,
        truth=truth if has_signal else replace(truth, prevalence=(), errors=()),
    )


def _weighted(
    counts: pd.DataFrame, of: CategorySet, level: float, units: Units, groups: "pd.Series | None"
) -> Iterator[WeightedCoefficient]:
    rows = [row for row in agreement.COEFFICIENTS.values() if row.weights and row.is_corrected]
    for weights in WEIGHTS:
        for row in rows:
            compute = partial(row, counts, of.names, weights=weights, level=level)
            yield WeightedCoefficient(row.title, weights, estimate_by(units, compute, groups))


def question_blocks(rows: Sequence[CategoryRow], style: ReportStyle) -> Iterator[d.Block]:
    """Show the categories, what reviewers were told, and the agreement on each category."""
    level, of = style.level_text, style.category_set
    order = "The categories form a scale, in this order." if of.ordered else "The categories have no order."
    yield d.table(
        f"The categories and what reviewers were told they mean. {order} Specific agreement is the probability that a "
        "second label is this category if the first label is. Kappa is Fleiss' kappa of this category against all "
        "others together.",
        ("Category", "Meaning", "Labels", f"Specific agreement ({level})", f"Kappa ({level})"),
        [(row.category, row.meaning, row.n_labels, d.share(row.agreement), d.plain_number(row.kappa)) for row in rows],
        numeric=(2,), name="categories",
    )  # fmt: skip


def shares_of_categories(numbers: ByCategory, style: ReportStyle) -> Iterator[d.Block]:
    """Show how often each reviewer gave each category, and the rank test of ordered categories."""
    names, test = style.category_set.names, numbers.rank_test
    if not numbers.reviewers:
        return
    ranks = test.mean_ranks if test else {}
    yield d.table(
        "Share of each category among the first labels of each reviewer."
        + (
            " A mean rank above 0 means that the reviewer chooses later categories than the other reviewers of the "
            "same items."
            if test
            else ""
        ),
        ("Reviewer", "Labels", *names, *(("Mean rank",) if test else ())),
        [
            (row.reviewer, row.n, *(d.percent(row.shares[name]) for name in names),
             *((d.number(ranks.get(row.reviewer), 2),) if test else ()))
            for row in numbers.reviewers
        ],
        numeric=tuple(range(1, len(names) + 2 + bool(test))), name="shares",
    )  # fmt: skip
    if test and test.p is not None:
        differ = " The reviewers do not use the scale alike." if test.p <= style.alpha else ""
        yield d.Paragraph(
            f"Do all reviewers use the scale alike? Rank test on {d.counted(test.n_split, 'item')} on which reviewers "
            f"differ: χ² = {d.number(test.chi2, 1)}, {d.counted(test.df or 0, 'degree')} of freedom, "
            f"p = {d.p_value(test.p)}.{differ}"
        )
    elif test:
        yield d.Paragraph(f"Do all reviewers use the scale alike? Not tested: {test.reason}.")


def true_category_section(truth: TrueCategories, rows: Sequence[CategoryRow]) -> d.Section:
    """Build the section on the model of true categories and error matrices."""
    return d.Section("True categories", tuple(_true_categories(truth, rows)))


def _true_categories(truth: TrueCategories, rows: Sequence[CategoryRow]) -> Iterator[d.Block]:
    names = [row.category for row in rows]
    yield d.Paragraph(f"Dawid and Skene's model estimates true categories and reviewers' errors. {truth.words}")
    if truth.identified and not truth.prevalence:
        yield d.Paragraph(d.sentence(NO_SIGNAL))
    elif truth.identified:
        yield d.Paragraph(_describe_fit(truth), "warning" if truth.state == REJECTED else "text")
    prevalence = truth.prevalence or (None,) * len(names)
    yield d.table(
        "Items by category: of the agreed items, of the majority of first and third labels with decisions, and by "
        "the model. An item with a tie stays undecided.",
        ("Category", "Agreed", "Majority or decision", "Share by the model (interval)"),
        [(row.category, row.n_agreed, row.n_majority, None if value is None else d.share(value))
         for row, value in zip(rows, prevalence, strict=True)],
        numeric=(1, 2, 3), name="true-categories",
    )  # fmt: skip
    for row in truth.errors[:MOST_MATRICES]:
        yield d.table(
            f"How often {row.reviewer} gives each category (columns) if the true category is that of the row, as the "
            f"model estimates it from {d.counted(row.n, 'label')}, with intervals from draws of items or applications.",
            ("True category", *names),
            [(name, *map(d.share, shares)) for name, shares in zip(names, row.rows, strict=True)],
            numeric=tuple(range(1, len(names) + 1)),
        )  # fmt: skip


def _describe_fit(truth: TrueCategories) -> str:
    if truth.state == UNTESTABLE:
        return "Whether the model fits the labels was not tested, because resampling was turned off for this report."
    result = f"Test of fit: G² = {d.number(truth.g2, 1)}, p = {d.p_value(truth.p)} by labels drawn from the model."
    if truth.state == REJECTED:
        return f"{result} The labels contradict the model, so do not trust its shares and matrices."
    return f"{result} The labels do not contradict the model."
