"""What a report has for more than two categories, or for two of which none is positive: numbers and sections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis import document as d
from analysis.raters import agreement, consensus, evaluation
from analysis.raters.agreement import RankTest
from analysis.raters.consensus import REJECTED, UNTESTABLE, TrueCategories
from analysis.raters.evaluation import McNemar
from analysis.raters.evaluation._former import Evaluation, evaluate, verdict_of
from analysis.raters.tables import count_table
from analysis.report._settings import CategorySet, ReportStyle, Resampling, row_title, title_of
from analysis.report._tables import CountedConsensus, Labels
from analysis.statistics.intervals import Estimate, paired_difference
from analysis.statistics.multiple import holm

WEIGHTS = ("linear", "quadratic")
MOST_MATRICES = 12  # of reviewers or classifiers; the JSON has all


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


@dataclass(frozen=True)
class CategoryClassifier:
    """A classifier against the agreed items; `p_holm` is corrected for the number of classifiers."""

    result: Evaluation
    p_holm: float | None
    verdict: str


@dataclass(frozen=True)
class ComparedByCategory:
    """Two classifiers on the same agreed items: the difference of their accuracies, and McNemar's test."""

    a: str
    b: str
    n: int
    difference: Estimate
    mcnemar: McNemar
    p_holm: float | None


@dataclass(frozen=True, kw_only=True)
class ByCategory:
    """The numbers of a report about any number of categories."""

    weighted: tuple[WeightedCoefficient, ...]  # empty if the categories have no order
    reviewers: tuple[SharesOfReviewer, ...]
    rank_test: RankTest | None  # None if the categories have no order
    truth: TrueCategories
    classifiers: Mapping[str, CategoryClassifier]
    comparisons: tuple[ComparedByCategory, ...]


def category_rows(labels: Labels, truth: CountedConsensus, of: CategorySet, level: float) -> tuple[CategoryRow, ...]:
    """Compute the numbers of labels and items of each category, and the agreement on it."""
    first = labels.first
    counts = count_table(first, of.names).sort_index()
    specific = agreement.specific_agreement(counts, of.names, level=level)
    rows = []
    for name in of.names:
        rest = counts[[other for other in of.names if other != name]].sum(axis=1)
        against_rest = agreement.fleiss_kappa(np.column_stack([rest, counts[name]]), level=level)
        rows.append(
            CategoryRow(
                name, of.meanings.get(name, ""), int(counts[name].sum()), specific[name], against_rest,
                int((truth.agreed["category"] == name).sum()), int((truth.majority["category"] == name).sum()),
            )
        )  # fmt: skip
    return tuple(rows)


def category_numbers(
    labels: Labels,
    verdicts: pd.DataFrame,
    truth: CountedConsensus,
    of: CategorySet,
    level: float,
    resampling: Resampling,
) -> ByCategory:
    """Compute the numbers that a report about any number of categories has beside those of every report."""
    first = labels.first
    n_draws = resampling.n_misfit if resampling.n_sweeps else 0
    classifiers, comparisons = _classifiers(verdicts, truth.agreed["category"].dropna(), of, level, resampling)
    return ByCategory(
        weighted=tuple(_weighted(first, of, level)) if of.ordered else (),
        reviewers=tuple(
            SharesOfReviewer(str(rater), len(own), {name: float((own["category"] == name).mean()) for name in of.names})
            for rater, own in first.groupby("rater", sort=True)
        ),
        rank_test=agreement.rank_test(first, of.names) if of.ordered else None,
        truth=consensus.true_categories(first, of.names, n_draws=n_draws, rng=resampling.rng("true categories")),
        classifiers=classifiers,
        comparisons=comparisons,
    )


def _weighted(first: pd.DataFrame, of: CategorySet, level: float) -> Iterator[WeightedCoefficient]:
    counts = count_table(first, of.names).sort_index()
    rows = [row for row in agreement.COEFFICIENTS.values() if row.weights and row.is_corrected]
    for weights in WEIGHTS:
        for row in rows:
            yield WeightedCoefficient(row.title, weights, row(counts, of.names, weights=weights, level=level))


def _classifiers(
    verdicts: pd.DataFrame, truth: pd.Series, of: CategorySet, level: float, resampling: Resampling
) -> tuple[dict[str, CategoryClassifier], tuple[ComparedByCategory, ...]]:
    by_name = {}
    for name, rows in verdicts.groupby("classifier", sort=True):
        verdict = rows.set_index("item")["verdict"].astype(object)
        by_name[str(name)] = verdict.where(verdict.notna(), None)
    results = {
        name: evaluate(
            truth, verdict, of.names, ordered=of.ordered, rng=resampling.rng(f"mcc {name}"),
            n_draws=resampling.n_bootstrap, level=level,
        )
        for name, verdict in by_name.items()
    }  # fmt: skip
    corrected = holm([result.baseline.mcnemar.p_mid if result.n else None for result in results.values()])
    classifiers = {
        name: CategoryClassifier(result, p, verdict_of(Estimate(result.baseline.difference.value), p, 1 - level))
        for (name, result), p in zip(results.items(), corrected, strict=True)
    }
    pairs = [_compared(truth, a, by_name[a], b, by_name[b], level) for a, b in combinations(by_name, 2)]
    ps = holm([test.p_mid if n else None for _, _, n, _, test in pairs])
    return classifiers, tuple(ComparedByCategory(*pair, p) for pair, p in zip(pairs, ps, strict=True))


def _compared(
    truth: pd.Series, a: str, of_a: pd.Series, b: str, of_b: pd.Series, level: float
) -> tuple[str, str, int, Estimate, McNemar]:
    both = pd.DataFrame({"truth": truth, "a": of_a.reindex(truth.index), "b": of_b.reindex(truth.index)}).dropna()
    right_a, right_b = (both[name] == both["truth"] for name in ("a", "b"))
    only_a, only_b = int((right_a & ~right_b).sum()), int((~right_a & right_b).sum())
    cells = int((right_a & right_b).sum()), only_a, only_b, int((~right_a & ~right_b).sum())
    return a, b, len(both), paired_difference(*cells, level=level), evaluation.mcnemar(only_a, only_b)


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
    if truth.identified:
        yield d.Paragraph(_describe_fit(truth), "warning" if truth.state == REJECTED else "text")
    prevalence = truth.prevalence or (None,) * len(names)
    yield d.table(
        "Items by category: of the agreed items, of the majority of first and third labels with decisions, and by "
        "the model. An item with a tie stays undecided.",
        ("Category", "Agreed", "Majority or decision", "Share by the model"),
        [(row.category, row.n_agreed, row.n_majority, None if value is None else d.percent(value))
         for row, value in zip(rows, prevalence, strict=True)],
        numeric=(1, 2, 3), name="true-categories",
    )  # fmt: skip
    for row in truth.errors[:MOST_MATRICES]:
        yield d.table(
            f"How often {row.reviewer} gives each category (columns) if the true category is that of the row, as the "
            f"model estimates it from {d.counted(row.n, 'label')}.",
            ("True category", *names),
            [(name, *map(d.percent, shares)) for name, shares in zip(names, row.rows, strict=True)],
            numeric=tuple(range(1, len(names) + 1)),
        )  # fmt: skip


def _describe_fit(truth: TrueCategories) -> str:
    if truth.state == UNTESTABLE:
        return "Whether the model fits the labels was not tested, because resampling was turned off for this report."
    result = f"Test of fit: G² = {d.number(truth.g2, 1)}, p = {d.p_value(truth.p)} by labels drawn from the model."
    if truth.state == REJECTED:
        return f"{result} The labels contradict the model, so do not trust its shares and matrices."
    return f"{result} The labels do not contradict the model."


def category_classifier_blocks(numbers: ByCategory, style: ReportStyle) -> Iterator[d.Block]:
    """Compare each classifier with the majority rule on the agreed items."""
    level, scored = style.level_text, {name: row for name, row in numbers.classifiers.items() if row.result.n}
    rules = dict.fromkeys(str(row.result.baseline.category) for row in scored.values())
    rule = (
        f"for the items of these classifiers this is {next(iter(rules))}"
        if len(rules) == 1
        else f"for the items of different classifiers this is {' or '.join(rules)}"
    )
    ordered = style.category_set.ordered
    ranked = sorted(scored.items(), key=lambda entry: -(entry[1].result.balanced_accuracy.value or 0))
    yield d.table(
        "Each classifier on the agreed items, by balanced accuracy. The majority rule gives every item the most "
        f"frequent category; {rule}. p belongs to McNemar's mid-p test of equal accuracy, corrected by Holm's method. "
        "Balanced accuracy is the mean recall of the categories. MCC is Gorodkin's correlation.",
        ("Classifier", "Items", f"Accuracy ({level})", f"Balanced accuracy ({level})", f"MCC ({level})",
         *((f"Weighted kappa ({level})",) if ordered else ()), "Majority rule", f"Difference ({level})", "p",
         "Verdict"),
        [_classifier_row(name, row) for name, row in ranked], numeric=(1,), name="classifiers",
    )  # fmt: skip


def _classifier_row(name: str, row: CategoryClassifier) -> tuple[object, ...]:
    result, kappa = row.result, row.result.weighted_kappa
    return (
        row_title(name), result.n, d.share(result.accuracy), d.share(result.balanced_accuracy),
        d.plain_number(result.mcc), *(() if kappa is None else (d.plain_number(kappa),)),
        d.percent(result.baseline.accuracy.value), d.share(result.baseline.difference), d.p_value(row.p_holm),
        row.verdict,
    )  # fmt: skip


def category_classifier_section(numbers: ByCategory, style: ReportStyle) -> d.Section:
    """Build the section on each category: recall, precision, confusion matrices, and pairs of classifiers."""
    return d.Section("Classifiers by category", tuple(_by_category(numbers, style)))


def _by_category(numbers: ByCategory, style: ReportStyle) -> Iterator[d.Block]:
    level, scored = style.level_text, {name: row for name, row in numbers.classifiers.items() if row.result.n}
    yield d.table(
        "Recall is the share of the items of a category that get this verdict, and precision the share of these "
        "verdicts that are right.",
        ("Classifier", "Category", f"Recall ({level})", f"Precision ({level})"),
        [(row_title(name), rates.category, d.share(rates.recall), d.share(rates.precision))
         for name, row in scored.items() for rates in row.result.by_category], name="recall-precision",
    )  # fmt: skip
    for name, row in list(scored.items())[:MOST_MATRICES]:
        names = row.result.categories
        yield d.table(
            f"Items by consensus (rows) and verdict of {title_of(name)} (columns).", ("Consensus", *names),
            [(category, *counts) for category, counts in zip(names, row.result.table, strict=True)],
            numeric=tuple(range(1, len(names) + 1)),
        )  # fmt: skip
    if numbers.comparisons:
        yield d.table(
            "Pairs of classifiers on the same agreed items: difference of accuracy, and McNemar's mid-p test, "
            "corrected by Holm's method.",
            ("Classifiers", "Items", f"Difference ({level})", "p"),
            [(f"{row_title(row.a)} – {title_of(row.b)}", row.n, d.share(row.difference), d.p_value(row.p_holm))
             for row in numbers.comparisons], numeric=(1, 3), name="category-comparisons",
        )  # fmt: skip
