"""Classifiers against each consensus, over all thresholds, and against each other: numbers and sections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import pandas as pd

from analysis import document as d
from analysis.raters import evaluation
from analysis.raters.consensus import NOT_CONTRADICTED, REJECTED
from analysis.raters.evaluation import (
    LEAST_FOR_TEST,
    Against,
    AgainstMajority,
    AgainstPeople,
    AucComparison,
    Bounds,
    Confusion,
    CostRange,
    PairedShares,
    PrecisionRecall,
    PredictiveValues,
    Roc,
    ThresholdChoice,
)
from analysis.report._consensus import Consensus, StatedRates, mark_of, model_cell
from analysis.report._settings import CategorySet, ReportStyle, Resampling, capitalised, row_title, title_of
from analysis.report._tables import CountedConsensus
from analysis.report._units import SIGN_FLIPS, Units, groups_of_items
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import holm

BY_CONSTRUCTION = "fixed by construction"
NEAR = 0.1  # a nearly best threshold costs at most this share more than the best threshold
MOST_MATRICES = 12  # of classifiers; the JSON has all


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The results of a classifier with scores over all thresholds."""

    auc: Estimate
    average_precision: Estimate
    roc: Roc
    precision_recall: PrecisionRecall
    threshold: ThresholdChoice | None  # these three are None if the classifier has no fixed threshold
    cost_range: CostRange | None
    near_cost_range: CostRange | None


@dataclass(frozen=True, kw_only=True)
class PositiveNumbers:
    """The numbers on a classifier that need a positive category: its rates are those against all other categories."""

    category: str
    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate
    npv: Estimate
    f1: Estimate
    youden: Estimate
    always: Against  # the published baseline, which gives every item the positive category
    bounds: Bounds
    scores: Scores | None
    latent: StatedRates | None
    # one entry for each prevalence that the reader chose
    predictive_values: tuple[PredictiveValues, ...]


@dataclass(frozen=True, kw_only=True)
class ClassifierNumbers:
    """All numbers on one classifier."""

    verdicts: Mapping[str, int]  # category, or "none" -> number of verdicts
    against: Against  # on the agreed items
    majority_rule: AgainstMajority
    adjudicated: Against
    people: AgainstPeople  # on all items with two first labels, also split ones
    positive: PositiveNumbers | None  # None if the question has no positive category

    @property
    def scores(self) -> Scores | None:
        """Return the numbers of the scores; None if there are no scores, or no positive category."""
        return self.positive.scores if self.positive else None


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The comparison of two classifiers on the same agreed items."""

    a: str
    b: str
    overall: PairedShares
    by_category: Mapping[str, PairedShares]
    auc: AucComparison | None  # None if there are no scores, or no positive category


@dataclass(frozen=True)
class MeansOfApplication:
    """The means of the measures over the benchmarks of an application."""

    application: str
    n: int
    means: Mapping[str, float | None]


def classifier_numbers(
    name: str,
    rows: pd.DataFrame,
    truth: CountedConsensus,
    first: pd.DataFrame,
    latent: StatedRates | None,
    applications: Mapping[object, object],
    units: Units,
    of: CategorySet,
    level: float,
    resampling: Resampling,
    prevalences: Sequence[float] = (),
) -> ClassifierNumbers:
    """Compute all numbers on one classifier, whose verdicts are `rows`.

    `first` has the first labels that count, and `latent` the rates of the classifier against the latent class.
    `applications` defines the folds; an item without an application is a separate group. `units`: what intervals and
    tests count. For each share of positive items in `prevalences`, there are precision and negative predictive value.
    """
    verdict = rows.set_index("item")["verdict"].astype(object)
    verdict = verdict.where(verdict.notna(), None)
    agreed, majority = (
        evaluation.confusion_matrix(
            known, verdict, groups=groups_of_items(known.index, applications, units), categories=of.names
        )
        for known in (_decided(truth.agreed), _decided(truth.majority))
    )
    rule = evaluation.against_majority(agreed, level=level)
    of_items = groups_of_items(pd.Index(pd.unique(first["item"])), applications, units)
    return ClassifierNumbers(
        verdicts={category: int((verdict == category).sum()) for category in of.names}
        | {"none": int(verdict.isna().sum())},
        against=_against(agreed, of, level, resampling, f"mcc {name}"),
        majority_rule=rule,
        adjudicated=_against(majority, of, level, resampling, f"mcc adjudicated {name}"),
        people=evaluation.against_people(
            first,
            verdict.dropna().to_dict(),
            rule.category,
            categories=of.names,
            groups=None if of_items is None else of_items.to_dict(),
            level=level,
        ),
        positive=None
        if of.positive is None
        else _positive_numbers(name, rows, truth, agreed, latent, applications, of, level, resampling, prevalences),
    )


def _positive_numbers(
    name: str,
    rows: pd.DataFrame,
    truth: CountedConsensus,
    agreed: Confusion,
    latent: StatedRates | None,
    applications: Mapping[object, object],
    of: CategorySet,
    level: float,
    resampling: Resampling,
    prevalences: Sequence[float],
) -> PositiveNumbers:
    positive, binary = str(of.positive), agreed.against_rest(str(of.positive))
    names = ("sensitivity", "specificity", "precision", "npv", "f1", "youden")
    verdict = rows.set_index("item")["verdict"]
    return PositiveNumbers(
        category=positive,
        **{rate: evaluation.POSITIVE_RATES[rate](binary, level=level) for rate in names},
        always=_always(agreed, of, level),
        bounds=evaluation.bounds(
            *_with_split(truth.agreed, verdict), categories=of.names, positive=positive, level=level
        ),
        scores=_score_numbers(name, rows, truth.agreed, applications, of, level, resampling),
        latent=latent,
        predictive_values=tuple(
            evaluation.predictive_values(agreed, positive, share, level=level) for share in prevalences
        ),
    )


def _against(confusion: Confusion, of: CategorySet, level: float, resampling: Resampling, part: str) -> Against:
    return evaluation.against(
        confusion, ordered=of.ordered, rng=resampling.rng(part), n_draws=resampling.n_bootstrap, level=level
    )


def _always(confusion: Confusion, of: CategorySet, level: float) -> Against:
    """Return the results of the rule that gives every item the positive category.

    Rates that follow from the rule itself have no interval.
    """
    rule = evaluation.always(confusion, str(of.positive))
    result = _against(rule, of, level, Resampling.none(), "always")
    return replace(
        result,
        balanced_accuracy=_fixed(result.balanced_accuracy),
        by_category={name: replace(row, recall=_fixed(row.recall)) for name, row in result.by_category.items()},
    )


def _fixed(rate: Estimate) -> Estimate:
    return rate if rate.value is None else Estimate(rate.value, reason=BY_CONSTRUCTION)


def with_holm(classifiers: Mapping[str, ClassifierNumbers], level: float) -> dict[str, ClassifierNumbers]:
    """Add Holm-corrected p-values and verdicts to the comparisons with the majority rule and with people."""
    rules = evaluation.correct_rules({name: row.majority_rule for name, row in classifiers.items()}, level=level)
    people = evaluation.correct_people([row.people for row in classifiers.values()], level=level)
    return {
        name: replace(row, majority_rule=rules[name], people=beside)
        for (name, row), beside in zip(classifiers.items(), people, strict=True)
    }


def comparisons(
    verdicts: pd.DataFrame,
    truth: CountedConsensus,
    applications: Mapping[object, object],
    units: Units,
    of: CategorySet,
    level: float,
) -> tuple[Compared, ...]:
    """Compare each pair of classifiers on the same agreed items.

    The comparison uses McNemar's test, overall and within each category, and the difference of the AUC.
    """
    by_name = {str(name): rows.set_index("item") for name, rows in verdicts.groupby("classifier", sort=True)}
    agreed = _decided(truth.agreed)
    pairs, groups = list(combinations(by_name, 2)), groups_of_items(agreed.index, applications, units)
    compared = evaluation.correct_comparisons([
        evaluation.compare_classifiers(
            agreed, *(by_name[name]["verdict"].reindex(agreed.index) for name in pair), categories=of.names,
            groups=groups, level=level,
        )
        for pair in pairs
    ])  # fmt: skip
    areas = [_compared_scores(agreed, by_name[a], by_name[b], of, level) for a, b in pairs]
    corrected = holm([None if area is None else area.p for area in areas])
    return tuple(
        Compared(
            a=a, b=b, overall=result.overall, by_category=result.by_category,
            auc=None if area is None else replace(area, p_holm=p),
        )
        for (a, b), result, area, p in zip(pairs, compared, areas, corrected, strict=True)
    )  # fmt: skip


def _compared_scores(
    agreed: pd.Series, of_a: pd.DataFrame, of_b: pd.DataFrame, of: CategorySet, level: float
) -> AucComparison | None:
    if of.positive is None or "score" not in of_a:
        return None
    scores = (pd.to_numeric(rows["score"]).reindex(agreed.index) for rows in (of_a, of_b))
    return evaluation.compare_auc(agreed, *scores, categories=of.names, positive=of.positive, level=level)


def _decided(table: pd.DataFrame) -> pd.Series:
    """Return the category of each item that has a consensus."""
    category: pd.Series = table["category"].dropna()
    return category


def _with_split(agreed: pd.DataFrame, verdict: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return the categories (None for split items) and the verdicts of all agreed and split items."""
    category = agreed.loc[agreed["status"] != "incomplete", "category"].astype(object)
    return category.where(category.notna(), None), verdict.reindex(category.index)


def _score_numbers(
    name: str,
    rows: pd.DataFrame,
    agreed: pd.DataFrame,
    applications: Mapping[object, object],
    of: CategorySet,
    level: float,
    resampling: Resampling,
) -> Scores | None:
    """Compute the numbers that need scores; return None if the classifier has no scores."""
    if "score" not in rows or not pd.to_numeric(rows["score"]).notna().any():
        return None
    truth = _decided(agreed).sort_index()  # sorted, so that folds do not depend on the order of rows
    scores = pd.to_numeric(rows.set_index("item")["score"]).reindex(truth.index)
    thresholds = pd.to_numeric(rows["threshold"]).dropna() if "threshold" in rows else pd.Series(dtype=float)
    choice, costs, near_costs = None, None, None
    by: Any = {"categories": of.names, "positive": of.positive}
    if len(thresholds):
        fixed = float(thresholds.iloc[0])
        groups = pd.Series([applications.get(item, item) for item in truth.index], index=truth.index)
        rng = resampling.rng(f"folds {name}")
        choice = evaluation.cross_validated_threshold(truth, scores, groups, rng=rng, fixed=fixed, **by)
        costs = evaluation.cost_range(truth, scores, fixed, **by)
        near_costs = evaluation.cost_range(truth, scores, fixed, tolerance=NEAR, **by)
    return Scores(
        auc=evaluation.auc(truth, scores, level=level, **by),
        average_precision=evaluation.average_precision(truth, scores, level=level, **by),
        roc=evaluation.roc(truth, scores, **by),
        precision_recall=evaluation.precision_recall(truth, scores, **by),
        threshold=choice,
        cost_range=costs,
        near_cost_range=near_costs,
    )


def main_classifier_blocks(
    classifiers: Mapping[str, ClassifierNumbers], decided: Consensus, style: ReportStyle, *, judges: bool
) -> Iterator[d.Block]:
    """Show the rates of all classifiers on the agreed items, and compare them with the majority rule.

    `judges`: whether the labels can show that a classifier is better or worse than the rule.
    """
    rows = sorted(
        ((name, row) for name, row in classifiers.items() if row.against.n),
        key=lambda entry: -(entry[1].against.balanced_accuracy.value or 0.0),
    )
    if not classifiers:
        yield d.Paragraph("The study has no verdicts. Compute verdicts, or import a file of verdicts.")
        return
    if not rows:
        yield d.Paragraph("No agreed item has a verdict yet.")
        return
    if not judges:
        yield d.Paragraph(
            "These labels do not show that reviewers agree more than chance would, so this table says nothing about "
            "the classifiers.",
            "warning",
        )
    yield _classifier_table(rows, style)
    yield _majority_table(rows, style, judges=judges)
    if mark_of(decided):
        yield d.Paragraph(
            "These rates take agreed labels for true, so they have the same mark as the latent class model: "
            f"{REJECTED}. Their intervals do not include errors in agreed labels.",
            "warning",
        )
    yield d.Figure(
        "classifiers",
        f"Rates of each classifier with {style.level_text}s. The grey mark is the accuracy of the majority rule.",
    )


def main_rates(row: ClassifierNumbers, of: CategorySet) -> dict[str, Estimate]:
    """Return the rates that the first table and the first figure show, by title."""
    both = {}
    if of.is_binary and row.positive:
        both = {"Sensitivity": row.positive.sensitivity, "Specificity": row.positive.specificity}
    return {**both, "Accuracy": row.against.accuracy, "Balanced accuracy": row.against.balanced_accuracy}


def _classifier_table(rows: Sequence[tuple[str, ClassifierNumbers]], style: ReportStyle) -> d.Table:
    level, of = style.level_text, style.category_set
    cells: list[tuple[Any, ...]] = []
    for name, row in rows:
        kappa = row.against.weighted_kappa
        areas = [None if row.scores is None else d.plain_number(row.scores.auc)] if of.positive else []
        cells.append((
            row_title(name), row.against.n, *map(d.share, main_rates(row, of).values()),
            d.plain_number(row.against.mcc), *([] if kappa is None else [d.plain_number(kappa)]), *areas,
        ))  # fmt: skip
    titles = list(main_rates(rows[0][1], of))
    names = [*titles, "MCC", *(["Weighted kappa"] if of.ordered else []), *(["AUC"] if of.positive else [])]
    blank = [None] * (len(names) - len(titles))
    rules = {(row.against.n, row.majority_rule.category, row.majority_rule.accuracy.value): row for _, row in rows}
    for (n, category, _), row in rules.items():
        rule = row.majority_rule
        fixed = {"Sensitivity": float(category == of.positive), "Specificity": float(category != of.positive)}
        shown = [d.share(rule.accuracy) if title == "Accuracy" else d.percent(fixed.get(title)) for title in titles]
        cells.append((f"majority rule: always {category}", n, *shown, *blank))
    positive = f"; the positive category is {of.positive}" if of.positive else ""
    correlation = "MCC is Matthews' correlation." if len(of.names) == 2 else "MCC is Gorodkin's correlation."
    return d.table(
        f"Classifiers on the agreed items, by balanced accuracy{positive}. The rates of the majority rule follow from "
        f"its definition. Balanced accuracy is the mean recall of the categories. {correlation}",
        ("Classifier", "Items", *(f"{name} ({level})" for name in names)), cells,
        numeric=(1,), name="classifiers")  # fmt: skip


def _majority_table(rows: Sequence[tuple[str, ClassifierNumbers]], style: ReportStyle, *, judges: bool) -> d.Table:
    level = style.level_text
    cells = []
    for name, row in rows:
        rule = row.majority_rule
        outcome = f"{rule.verdict} ({p_clause(rule.p_holm)})" if judges else None
        accuracy = f"always {rule.category}, {d.percent(rule.accuracy.value)}"
        cells.append((row_title(name), row.against.n, accuracy, d.share(rule.difference), outcome))
    return d.table(
        "Accuracy of each classifier minus that of the majority rule on the same items (McNemar's mid-p test, Holm's "
        f"correction). {SIGN_FLIPS}",
        ("Classifier", "Items", "Majority rule", f"Difference ({level})", "Against the majority rule"), cells,
        numeric=(1,), name="majority-rule")  # fmt: skip


def p_clause(p: float | None) -> str:
    """Format a p value for a sentence.

    Examples
    --------
    >>> p_clause(0.04), p_clause(1e-9)
    ('p = 0.04', 'p < 0.001')
    """
    return "not tested" if p is None else "p < 0.001" if p < 0.001 else f"p = {d.p_value(p)}"


def classifier_sections(
    classifiers: Mapping[str, ClassifierNumbers],
    compared: Sequence[Compared],
    decided: Consensus,
    style: ReportStyle,
    *,
    parameters: Mapping[str, Sequence[Mapping[str, Any]]],
    with_measures: bool,
) -> Iterator[d.Section]:
    """Yield the sections on classifiers; yield nothing if there are no classifiers.

    `parameters`: of the verdicts of each classifier; `with_measures`: whether there is a figure of the measures of the
    heuristic.
    """
    if not classifiers:
        return
    scored = {name: row for name, row in classifiers.items() if row.against.n}
    matrices = [*_matrices(scored, style), *_positive(scored, style), *_verdicts(classifiers, style, parameters)]
    if with_measures:
        matrices.append(d.Figure("measures-by-application", "Measures of the heuristic by application."))
    yield d.Section("Confusion matrices", tuple(matrices))
    if scored:
        yield d.Section("Classifiers against each consensus", tuple(_by_consensus(scored, decided, style)))
    if style.category_set.positive and any(row.against.n or row.scores for row in classifiers.values()):
        yield d.Section("Scores and thresholds", tuple(_scores(classifiers, style)))
    if compared:
        yield d.Section("Comparison of classifiers", tuple(_comparisons(compared, style)))


def _matrices(scored: Mapping[str, ClassifierNumbers], style: ReportStyle) -> Iterator[d.Block]:
    """Show the matrix of each classifier on the agreed items, and its rates for each category."""
    if not scored:
        return
    level = style.level_text
    for name, row in list(scored.items())[:MOST_MATRICES]:
        names, n_without = row.against.categories, row.against.n_without_verdict
        have = "has" if n_without == 1 else "have"
        without = f" {d.counted(n_without, 'agreed item')} {have} no verdict." if n_without else ""
        yield d.table(
            f"Agreed items by consensus (rows) and verdict of {title_of(name)} (columns).{without}",
            ("Consensus", *names),
            [(category, *counts) for category, counts in zip(names, row.against.counts, strict=True)],
            numeric=tuple(range(1, len(names) + 1)))  # fmt: skip
    yield d.table(
        "Recall is the share of the items of a category that get this verdict, and precision the share of these "
        "verdicts that are right. Precision is valid only for these shares of the categories.",
        ("Classifier", "Category", f"Share ({level})", f"Recall ({level})", f"Precision ({level})"),
        [
            (row_title(name) if first else "", category, d.share(rates.share), d.share(rates.recall),
             d.share(rates.precision))
            for name, row in scored.items()
            for first, (category, rates) in zip(
                (True, *[False] * len(row.against.by_category)), row.against.by_category.items(), strict=False
            )
        ],
        name="recall-precision")  # fmt: skip


def _positive(scored: Mapping[str, ClassifierNumbers], style: ReportStyle) -> Iterator[d.Block]:
    """Show the rates of the positive category against all others."""
    level, of = style.level_text, style.category_set
    rows = [(name, row.positive) for name, row in scored.items() if row.positive]
    if not rows:
        return
    if not of.is_binary:
        yield d.Paragraph(
            f"From here on, {of.positive} is one category and all other categories together are the other, which is "
            f"called {of.negative}."
        )
    names = ["F1", "Youden's index"]
    if not of.is_binary:  # of two categories, these rates are in the tables above
        names = ["Sensitivity", "Specificity", "Precision", *names]
    yield d.table(
        f"Rates of the positive category, {of.positive}, on the agreed items.",
        ("Classifier", *(f"{name} ({level})" for name in names)),
        [
            (
                row_title(name),
                *(() if of.is_binary else map(d.share, (row.sensitivity, row.specificity, row.precision))),
                d.share(row.f1),
                d.plain_number(row.youden),
            )
            for name, row in rows
        ],
        name="positive")  # fmt: skip
    chosen = [
        (row_title(name), d.percent(values.prevalence), d.share(values.precision), d.share(values.npv))
        for name, row in rows
        for values in row.predictive_values
    ]
    if chosen:
        positive, negative = of.positive, of.negative
        yield d.table(
            f"Precision (the share of items called {positive} that are {positive}) and negative predictive value (the "
            f"share of items called {negative} that are {negative}) if another share of the items were {positive}. "
            "Computed from sensitivity and specificity on the agreed items, which are assumed not to change.",
            ("Classifier", f"Prevalence of {positive}", f"Precision ({level})", f"Negative predictive value ({level})"),
            chosen,
            numeric=(1,), name="predictive-values")  # fmt: skip


def _verdicts(
    classifiers: Mapping[str, ClassifierNumbers],
    style: ReportStyle,
    parameters: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Iterator[d.Block]:
    names = style.category_set.names
    yield d.table(
        "Number of verdicts on all items, including items without a consensus.",
        ("Classifier", *map(capitalised, names), "No verdict", "Computed with"),
        [
            (row_title(name), *(row.verdicts[kind] for kind in (*names, "none")),
             "; ".join(map(d.describe_value, parameters.get(name, ()))) or d.DASH)
            for name, row in classifiers.items()
        ],
        numeric=tuple(range(1, len(names) + 2)), name="verdicts")  # fmt: skip


def _by_consensus(scored: Mapping[str, ClassifierNumbers], decided: Consensus, style: ReportStyle) -> Iterator[d.Block]:
    """Compare the kinds of consensus, and show how much the split items could change the results."""
    level = style.level_text
    rows = [(name, row, row.positive) for name, row in scored.items() if row.positive]
    if not rows:
        yield d.table(
            "Agreed items, and the majority of first and third labels with decisions on split items.",
            ("Classifier", "Consensus", "Items", f"Accuracy ({level})", f"Balanced accuracy ({level})"),
            [
                (title, consensus, against.n, d.share(against.accuracy), d.share(against.balanced_accuracy))
                for name, row in scored.items()
                for title, consensus, against in (
                    (row_title(name), "agreed", row.against), ("", "adjudicated majority", row.adjudicated)
                )
            ],
            numeric=(2,), name="by-consensus")  # fmt: skip
        return
    cells: list[tuple[Any, ...]] = []
    for name, row, positive in rows:
        bounds, latent = positive.bounds, positive.latent
        extremes = [
            f"{d.percent(rate.worst.value)} to {d.percent(rate.best.value)}"
            for rate in (bounds.sensitivity, bounds.specificity)
        ]
        cells += [
            (row_title(name), "range over all split items", bounds.worst.n, *extremes, d.DASH),
            ("", "adjudicated majority", row.adjudicated.n, *_adjudicated(row.adjudicated, positive.category),
             mark_of(decided) or d.DASH),
        ]  # fmt: skip
        if latent is not None:
            rates = d.share(latent.sensitivity), d.share(latent.specificity)
            cells.append(("", "latent class", latent.n, *rates, model_cell(latent)))
    dropped = d.percent(rows[-1][2].bounds.dropped.value)
    yield d.table(
        f"{dropped} of the items with two labels are split. Scoring only the agreed items is biased in either "
        "direction: label errors lower both rates, and leaving out hard items raises them. The row “latent class” "
        "depends on a model, so the last column states the status of this model; its intervals are credible "
        "intervals. For results on the agreed items only, see the first table of the report.",
        ("Classifier", "Consensus", "Items", f"Sensitivity ({level})", f"Specificity ({level})", "Model"),
        cells,
        numeric=(2,), name="by-consensus")  # fmt: skip
    ends = [
        f"between {d.percent(positive.bounds.accuracy.worst.value)} and "
        f"{d.percent(positive.bounds.accuracy.best.value)} for {title_of(name)}"
        for name, _, positive in rows
    ]
    if decided.split:
        yield d.Paragraph(
            f"If all agreed labels were right, accuracy over all items would be {'; '.join(ends)}. Errors in agreed "
            "labels can put it outside."
        )
    yield d.Paragraph(_favoured(decided))


def _adjudicated(against: Against, positive: str) -> tuple[Any, Any]:
    """Return sensitivity and specificity; the rest of more than two categories has no interval by application."""
    if len(against.categories) == 2:
        rest = next(name for name in against.categories if name != positive)
        return d.share(against.by_category[positive].recall), d.share(against.by_category[rest].recall)
    binary = against.against_rest(positive)
    specificity = evaluation.POSITIVE_RATES["specificity"](binary).value
    return d.share(against.by_category[positive].recall), d.percent(specificity)


def _favoured(decided: Consensus) -> str:
    """Say whether the labels show that a classifier errs on the same items as a reviewer."""
    fitted = decided.latent.fitted if decided.latent else None
    pair = fitted.state.pair_fit if fitted else None
    if pair and pair.b == pair.raters_of:
        return (
            f"A model in which {pair.a} and {title_of(str(pair.b))} share errors fits better than independent errors; "
            "see Latent class. A classifier that errs on the same items as a reviewer is favoured on agreed items."
        )
    words = "A classifier that uses what a reviewer uses, and so errs on the same items, is favoured on agreed items."
    is_tested = fitted is not None and fitted.state.state == NOT_CONTRADICTED
    return f"{words} These labels show no such reviewer and classifier." if is_tested else words


def _scores(classifiers: Mapping[str, ClassifierNumbers], style: ReportStyle) -> Iterator[d.Block]:
    scored = {name: row.scores for name, row in classifiers.items() if row.scores}
    without = [title_of(name) for name, row in classifiers.items() if not row.scores]
    if without:
        yield d.Paragraph(
            f"These classifiers have no scores, so other thresholds cannot be evaluated: {', '.join(without)}."
        )
    if not scored:
        return
    level = style.level_text
    yield d.table(
        "Average precision summarises precision over all thresholds. The last two columns show at which cost ratios "
        "the fixed threshold has the lowest cost of all thresholds, and at which its cost is at most 10 % higher than "
        "the lowest. The cost ratio is the cost of a missed "
        f"{style.category_set.positive} item divided by the cost of a false alarm. The area under the ROC curve is in "
        "the first table of the report.",
        (
            "Classifier",
            f"Average precision ({level})",
            "Threshold",
            "Lowest cost at ratios",
            "Cost within 10 % at ratios",
        ),
        [
            (row_title(name), d.plain_number(scores.average_precision), *_threshold_costs(scores))
            for name, scores in scored.items()
        ],
        numeric=(2,),
        name="scores",
    )
    if any(scores.roc.threshold for scores in scored.values()):
        yield d.Figure(
            "roc", "Sensitivity against false alarms over all thresholds. The point shows the actual verdicts."
        )
        yield d.Figure(
            "precision-recall",
            f"Precision against sensitivity. The grey line is the share of {style.category_set.positive} items.",
        )
    rows = [row for name, scores in scored.items() for row in _threshold_rows(name, scores.threshold)]
    if rows:
        yield d.table(
            "Results of each classifier with different thresholds. A threshold looks better than it is if it is "
            "chosen and evaluated on the same items. In the row “chosen on other applications”, the threshold for "
            "each item is chosen from the items of all other applications.",
            ("Classifier", "Threshold", "Value", "tp", "fp", "fn", "tn", "Youden"),
            rows,
            numeric=(2, 3, 4, 5, 6, 7),
            name="thresholds",
        )
    reasons: dict[str, list[str]] = {}
    for name, scores in scored.items():
        if scores.threshold is not None and scores.threshold.reason:
            reasons.setdefault(scores.threshold.reason, []).append(title_of(name))
    for reason, names in reasons.items():
        yield d.Paragraph(f"No threshold of {', '.join(names)} was chosen from the data: {reason}.")


def _threshold_rows(name: str, choice: ThresholdChoice | None) -> Iterator[tuple[Any, ...]]:
    if choice is None:
        return
    yield row_title(name), "fixed", d.number(choice.fixed), *_cells(choice.at_fixed)
    if choice.in_sample:
        yield "", "best on the same items", d.number(choice.theta_in_sample), *_cells(choice.in_sample)
    if choice.out_of_fold:
        spread = f"{d.number(choice.theta_low)} to {d.number(choice.theta_high)}"
        yield "", "chosen on other applications", spread, *_cells(choice.out_of_fold)


def _cells(confusion: evaluation.Confusion) -> Sequence[Any]:
    (tn, fp), (fn, tp) = confusion.counts
    has_both_categories = (tp + fn) and (fp + tn)
    return tp, fp, fn, tn, d.number(tp / (tp + fn) + tn / (fp + tn) - 1) if has_both_categories else d.DASH


def _threshold_costs(scores: Scores) -> tuple[str, str, str]:
    """Return the fixed threshold, and the cost ratios at which its cost is the lowest or nearly the lowest."""
    choice = scores.threshold
    if choice is None:
        return d.DASH, d.DASH, d.DASH
    return f"{choice.fixed:g}", _ratios(scores.cost_range), _ratios(scores.near_cost_range)


def _ratios(costs: CostRange | None) -> str:
    if costs is None or costs.low is None:
        return "never"
    low = d.number(costs.low, 2)
    return f"{low} or more" if costs.high is None else f"{low} to {d.number(costs.high, 2)}"


def _comparisons(compared: Sequence[Compared], style: ReportStyle) -> Iterator[d.Block]:
    level, of = style.level_text, style.category_set
    titles = {name: f"Recall of {name}" for name in of.names}
    if of.is_binary:
        titles = {str(of.positive): "Sensitivity", of.negative: "Specificity"}
    has_scores = any(row.auc for row in compared)
    heads = ["Accuracy", *titles.values(), *(["AUC"] if has_scores else [])]
    yield d.table(
        "Difference in the share of agreed items on which the verdicts of two classifiers equal the labels, overall "
        "and within each category. Differences within the categories often point in opposite directions. The p values "
        "come from McNemar's mid-p test, corrected by Holm's method over all pairs, overall and within each category. "
        f"{SIGN_FLIPS} "
        f"With fewer than {LEAST_FOR_TEST} items, there is no test and no interval. "
        "Raw and exact p values are in report.json.",
        ("Pair", "Items", *(cell for head in heads for cell in (f"{head} ({level})", "p"))),
        [_compared(row, list(titles), has_scores=has_scores) for row in compared],
        numeric=(1, *range(3, 2 + 2 * len(heads), 2)), name="comparisons")  # fmt: skip


def _compared(row: Compared, names: Sequence[str], *, has_scores: bool) -> tuple[Any, ...]:
    parts = (row.overall, *(row.by_category[name] for name in names))
    cells = [cell for part in parts for cell in (d.share(part.difference), d.p_value(part.p_holm))]
    if has_scores:
        auc = row.auc
        cells += (d.DASH, d.DASH) if auc is None else (d.plain_number(auc.difference), d.p_value(auc.p_holm))
    return f"{row_title(row.a)} – {title_of(row.b)}", row.overall.n, *cells
