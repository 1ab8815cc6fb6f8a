"""Classifiers against each consensus, over all thresholds, and against each other: numbers and sections."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import pandas as pd

from analysis import document as d
from analysis.categories import DISSIMILAR
from analysis.raters import evaluation
from analysis.raters.consensus import NOT_CONTRADICTED, REJECTED
from analysis.raters.evaluation import (
    AucComparison,
    CostRange,
    PrecisionRecall,
    Roc,
    ThresholdChoice,
    _former as former,
)
from analysis.raters.evaluation._former import AgainstMajority, Bounds, Confusion, PairedShares, PredictiveValues
from analysis.report._categories import ByCategory, category_classifier_blocks, category_classifier_section
from analysis.report._consensus import Consensus, StatedRates, mark_of, model_cell
from analysis.report._settings import CategorySet, ReportStyle, Resampling, capitalised, entries, row_title, title_of
from analysis.report._tables import CountedConsensus
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import holm

BY_CONSTRUCTION = "fixed by construction"
NEAR = 0.1  # a nearly best threshold costs at most this share more than the best threshold
STATISTICS: Mapping[str, Callable[..., Estimate]] = {
    name: getattr(former, name)
    for name in ("sensitivity", "specificity", "precision", "npv", "accuracy", "f1", "balanced_accuracy", "youden")
}


@dataclass(frozen=True)
class Cells:
    """The cells of a confusion matrix of the positive category."""

    tp: int
    fp: int
    fn: int
    tn: int


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The rates of a classifier."""

    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate
    npv: Estimate
    accuracy: Estimate
    f1: Estimate
    balanced_accuracy: Estimate
    youden: Estimate


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The results of a classifier on the items with a consensus."""

    confusion: Cells
    n: int
    n_without_verdict: int
    prevalence: Estimate
    shares: Shares = field(metadata=d.inline())


@dataclass(frozen=True, repr=False, kw_only=True)
class Baseline(AgainstMajority):
    """The majority rule on the same items, and the comparison of the classifier with it."""

    sensitivity: Estimate
    specificity: Estimate
    mcc: Estimate
    p_holm: float | None = None


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


@dataclass(frozen=True)
class ByConsensus:
    """The results of a classifier against other kinds of consensus."""

    adjudicated: Rates
    latent: StatedRates | None


@dataclass(frozen=True, kw_only=True)
class ClassifierNumbers:
    """All numbers on one classifier."""

    verdicts: Mapping[str, int]  # category, or "none" -> number of verdicts
    rates: Rates = field(metadata=d.inline())
    mcc: Estimate
    baseline: Baseline
    always_dissimilar: Shares
    bounds: Bounds
    scores: Scores | None
    by_consensus: ByConsensus
    # one entry for each prevalence that the reader chose
    predictive_values: tuple[PredictiveValues, ...]


@dataclass(frozen=True, repr=False, kw_only=True)
class ComparedShares(PairedShares):
    """The comparison of two classifiers on the items of one category, or on all items."""

    p_holm: float | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class ComparedAuc(AucComparison):
    """The comparison of two areas under the ROC curve."""

    p_holm: float | None = None


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The comparison of two classifiers on the same agreed items."""

    a: str
    b: str
    overall: ComparedShares
    dissimilar: ComparedShares
    similar: ComparedShares
    n_without_verdict: int
    auc: ComparedAuc | None


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
    latent: StatedRates | None,
    applications: Mapping[object, object],
    of: CategorySet,
    level: float,
    resampling: Resampling,
    prevalences: Sequence[float] = (),
) -> ClassifierNumbers:
    """Compute all numbers on one classifier, whose verdicts are `rows`.

    `latent` has the rates of the classifier against the latent class. `applications` defines the folds; an item without
    an application is a separate group. For each share of positive items in `prevalences`, there are precision and
    negative predictive value.
    """
    verdict = rows.set_index("item")["verdict"]
    agreed, majority = _decided(truth.agreed), _decided(truth.majority)
    confusion, adjudicated = (
        former.confusion_matrix(
            known, verdict, groups=_groups(known, applications), categories=of.names, positive=of.positive
        )
        for known in (agreed, majority)
    )
    return ClassifierNumbers(
        verdicts={category: int((verdict == category).sum()) for category in of.names}
        | {"none": int(verdict.isna().sum())},
        rates=_rates_against(confusion, level),
        mcc=_mcc(name, confusion, level, resampling),
        baseline=_baseline(confusion, of, level),
        always_dissimilar=_always_dissimilar(confusion, level),
        bounds=former.bounds(
            *_with_split(truth.agreed, verdict), categories=of.names, positive=of.positive, level=level
        ),
        scores=_score_numbers(name, rows, truth.agreed, applications, of, level, resampling),
        by_consensus=ByConsensus(_rates_against(adjudicated, level), latent),
        predictive_values=tuple(former.predictive_values(confusion, p, level=level) for p in prevalences),
    )


def _groups(decided: pd.Series, applications: Mapping[object, object]) -> pd.Series | None:
    """Return the application of each item, or the item itself if it has none; None if no application is known."""
    if not applications:
        return None
    return pd.Series([applications.get(item, item) for item in decided.index], index=decided.index, dtype=object)


def with_holm_of_baseline(classifiers: Mapping[str, ClassifierNumbers], level: float) -> dict[str, ClassifierNumbers]:
    """Add Holm-corrected p-values and verdicts to the comparisons of the classifiers with the majority rule."""
    corrected = holm(
        [row.baseline.mcnemar.p_mid if row.rates.n >= LEAST_FOR_TEST else None for row in classifiers.values()]
    )
    return {
        name: replace(row, baseline=replace(row.baseline, p_holm=p, verdict=_verdict(row.baseline, p, level)))
        for (name, row), p in zip(classifiers.items(), corrected, strict=True)
    }


def _verdict(rule: Baseline, p: float | None, level: float) -> str:
    return former.verdict_of(Estimate(rule.difference.value), p, 1 - level)


def _always_dissimilar(confusion: Confusion, level: float) -> Shares:
    """Return the rates of the published baseline "always dissimilar".

    Rates that follow from the rule itself have no interval.
    """
    shares = _shares(former.always(confusion), level)
    fixed = {name: getattr(shares, name) for name in ("sensitivity", "specificity", "balanced_accuracy", "youden")}
    return replace(shares, **{
        name: Estimate(rate.value, reason=BY_CONSTRUCTION) for name, rate in fixed.items() if rate.value is not None
    })  # fmt: skip


def _baseline(confusion: Confusion, of: CategorySet, level: float) -> Baseline:
    """Return the rates of the majority rule on the same items.

    Rates that follow from the rule itself have no interval.
    """
    compared = former.against_majority(confusion, level=level)
    compared = replace(compared, difference=_with_enough_items(compared.difference, confusion.n))
    is_dissimilar = compared.category == DISSIMILAR
    return Baseline(
        **entries(replace(compared, category=str(of.positive) if is_dissimilar else of.negative)),
        sensitivity=Estimate(float(is_dissimilar), reason=BY_CONSTRUCTION),
        specificity=Estimate(float(not is_dissimilar), reason=BY_CONSTRUCTION),
        mcc=Estimate(None, reason="one verdict for all items"),
    )


def comparisons(verdicts: pd.DataFrame, truth: CountedConsensus, of: CategorySet, level: float) -> tuple[Compared, ...]:
    """Compare each pair of classifiers on the same agreed items.

    The comparison uses McNemar's test, overall and within each category, and the difference of the AUC.
    """
    by_name = {str(name): rows.set_index("item") for name, rows in verdicts.groupby("classifier", sort=True)}
    agreed = _decided(truth.agreed)
    pairs = []
    for (a, of_a), (b, of_b) in combinations(by_name.items(), 2):
        compared = former.compare(
            agreed, *(rows["verdict"].reindex(agreed.index) for rows in (of_a, of_b)), categories=of.names,
            positive=of.positive, level=level,
        )  # fmt: skip
        parts = {part: _compared_shares(getattr(compared, part)) for part in PARTS}
        scores = _compared_scores(agreed, of_a, of_b, of, level)
        pairs.append(Compared(a=a, b=b, **parts, n_without_verdict=compared.n_without_verdict, auc=scores))
    tested = [of_part for pair in pairs for of_part in (pair.overall, pair.dissimilar, pair.similar)]
    corrected = iter(holm([of_part.mcnemar.p_mid if of_part.n >= LEAST_FOR_TEST else None for of_part in tested]))
    pairs = [
        replace(pair, **{part: replace(getattr(pair, part), p_holm=next(corrected)) for part in PARTS})
        for pair in pairs
    ]
    corrected_auc = iter(holm([pair.auc.p for pair in pairs if pair.auc is not None]))
    return tuple(
        pair if pair.auc is None else replace(pair, auc=replace(pair.auc, p_holm=next(corrected_auc))) for pair in pairs
    )


PARTS = ("overall", "dissimilar", "similar")
LEAST_FOR_TEST = 10  # items; with fewer, a difference of two classifiers has no interval and no test


def _compared_shares(part: PairedShares) -> ComparedShares:
    return ComparedShares(**entries(replace(part, difference=_with_enough_items(part.difference, part.n))))


def _with_enough_items(difference: Estimate, n: int) -> Estimate:
    """Return the difference, without its interval if there are too few items."""
    if n >= LEAST_FOR_TEST or difference.value is None:
        return difference
    return Estimate(difference.value, reason=f"fewer than {LEAST_FOR_TEST} items ({n}): no interval and no test")


def _compared_scores(
    agreed: pd.Series, of_a: pd.DataFrame, of_b: pd.DataFrame, of: CategorySet, level: float
) -> ComparedAuc | None:
    if "score" not in of_a:
        return None
    scores = (pd.to_numeric(rows["score"]).reindex(agreed.index) for rows in (of_a, of_b))
    compared = evaluation.compare_auc(agreed, *scores, categories=of.names, positive=of.positive, level=level)
    return ComparedAuc(**entries(compared))


def _decided(table: pd.DataFrame) -> pd.Series:
    """Return the category of each item that has a consensus."""
    category: pd.Series = table["category"].dropna()
    return category


def _with_split(agreed: pd.DataFrame, verdict: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return the categories (None for split items) and the verdicts of all agreed and split items."""
    category = agreed.loc[agreed["status"] != "incomplete", "category"].astype(object)
    return category.where(category.notna(), None), verdict.reindex(category.index)


def _rates_against(confusion: Confusion, level: float) -> Rates:
    return Rates(
        confusion=Cells(confusion.tp, confusion.fp, confusion.fn, confusion.tn),
        n=confusion.n,
        n_without_verdict=confusion.n_without_verdict,
        prevalence=former.prevalence(confusion, level=level),
        shares=_shares(confusion, level),
    )


def _shares(confusion: Confusion, level: float) -> Shares:
    return Shares(**{name: function(confusion, level=level) for name, function in STATISTICS.items()})


def _mcc(name: str, confusion: Confusion, level: float, resampling: Resampling) -> Estimate:
    rng = resampling.rng(f"mcc {name}")
    if resampling.n_bootstrap:
        return former.mcc(confusion, rng=rng, n_draws=resampling.n_bootstrap, level=level)
    mcc = former.mcc(confusion, rng=rng, n_draws=1)
    return Estimate(mcc.value, reason="made without resampling" if mcc.value is not None else mcc.reason)


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
    classifiers: Mapping[str, ClassifierNumbers],
    decided: Consensus,
    style: ReportStyle,
    *,
    by_category: ByCategory | None,
    judges: bool,
) -> Iterator[d.Block]:
    """Show the rates of all classifiers on the agreed items, and compare them with the majority rule.

    `judges`: whether the labels can show that a classifier is better or worse than the rule.
    """
    rows = [(name, row) for name, row in classifiers.items() if row.rates.n]
    if not (by_category.classifiers if by_category else classifiers):
        yield d.Paragraph("The study has no verdicts. Compute verdicts, or import a file of verdicts.")
        return
    if not any(row.result.n for row in by_category.classifiers.values()) if by_category else not rows:
        yield d.Paragraph("No agreed item has a verdict yet.")
        return
    if not judges:
        yield d.Paragraph(
            "These labels do not show that reviewers agree more than chance would, so this table says nothing about "
            "the classifiers.",
            "warning",
        )
    if by_category:
        yield from category_classifier_blocks(by_category, style)
        return
    yield _classifier_table(rows, style, judges=judges)
    if mark_of(decided):
        yield d.Paragraph(
            "These rates take agreed labels for true, so they have the same mark as the latent class model: "
            f"{REJECTED}. Their intervals do not include errors in agreed labels.",
            "warning",
        )
    yield d.Figure("classifiers", _figure_caption(style.level_text))


def _classifier_table(rows: Sequence[tuple[str, ClassifierNumbers]], style: ReportStyle, *, judges: bool) -> d.Table:
    level = style.level_text
    cells: list[tuple[Any, ...]] = []
    for name, row in rows:
        rule = row.baseline
        auc = None if row.scores is None else d.plain_number(row.scores.auc)
        outcome = f"{rule.verdict} ({p_clause(rule.p_holm)})" if judges else None
        shares = row.rates.shares
        rates = (d.share(shares.sensitivity), d.share(shares.specificity), d.share(shares.accuracy))
        cells.append((row_title(name), row.rates.n, *rates, d.plain_number(row.mcc), auc, outcome))
    rules = {(row.rates.n, row.baseline.category, row.baseline.accuracy.value): row for _, row in rows}
    for (n, category, _), row in rules.items():
        rule = row.baseline
        fixed = [d.percent(rule.sensitivity.value), d.percent(rule.specificity.value)]
        cells.append((f"majority rule: always {category}", n, *fixed, d.share(rule.accuracy), None, None, None))
    return d.table(
        f"Classifiers on the agreed items; the positive category is {style.category_set.positive}. The last column "
        "compares accuracy "
        "with the majority rule on the same items (McNemar's mid-p test, Holm's correction; intervals are not "
        "corrected). The rates of the majority rule follow from its definition.",
        ("Classifier", "Items", f"Sensitivity ({level})", f"Specificity ({level})", f"Accuracy ({level})",
         f"MCC ({level})", f"AUC ({level})", "Against the majority rule"),
        cells,
        numeric=(1,), name="classifiers")  # fmt: skip


def p_clause(p: float | None) -> str:
    """Format a p value for a sentence.

    Examples
    --------
    >>> p_clause(0.04), p_clause(1e-9)
    ('p = 0.04', 'p < 0.001')
    """
    return "not tested" if p is None else "p < 0.001" if p < 0.001 else f"p = {d.p_value(p)}"


def _figure_caption(level: str) -> str:
    return f"Rates of each classifier with {level}s. The grey mark is the accuracy of the majority rule."


def classifier_sections(
    classifiers: Mapping[str, ClassifierNumbers],
    compared: Sequence[Compared],
    decided: Consensus,
    style: ReportStyle,
    *,
    by_category: ByCategory | None,
    parameters: Mapping[str, Sequence[Mapping[str, Any]]],
    judges: bool,
    with_measures: bool,
) -> Iterator[d.Section]:
    """Yield the sections on classifiers; yield nothing if there are no classifiers.

    `parameters`: of the verdicts of each classifier; `judges`: whether the labels can show that a classifier is better
    or worse than the majority rule; `with_measures`: whether there is a figure of the measures of the heuristic.
    """
    if by_category and any(row.result.n for row in by_category.classifiers.values()):
        yield category_classifier_section(by_category, style)
    if not classifiers:
        return
    matrices = [*_against_rest(classifiers, style, judges=judges), *_confusion(classifiers, style, parameters)]
    if with_measures:
        matrices.append(d.Figure("measures-by-application", "Measures of the heuristic by application."))
    yield d.Section("Confusion matrices", tuple(matrices))
    if any(row.rates.n for row in classifiers.values()):
        yield d.Section("Classifiers against each consensus", tuple(_by_consensus(classifiers, decided, style)))
    if any(row.rates.n or row.scores for row in classifiers.values()):
        yield d.Section("Scores and thresholds", tuple(_scores(classifiers, style)))
    if compared:
        yield d.Section("Comparison of classifiers", tuple(_comparisons(compared, style.level_text)))


def _against_rest(
    classifiers: Mapping[str, ClassifierNumbers], style: ReportStyle, *, judges: bool
) -> Iterator[d.Block]:
    """If there are more than two categories, show the rates of the positive category against all others together."""
    of = style.category_set
    rows = [(name, row) for name, row in classifiers.items() if row.rates.n]
    if of.is_binary or not rows:
        return
    yield d.Paragraph(
        f"From here on, {of.positive} is one category and all other categories together are the other, which is called "
        f"{of.negative}."
    )
    yield _classifier_table(rows, style, judges=judges)
    yield d.Figure("classifiers", _figure_caption(style.level_text))


def _confusion(
    classifiers: Mapping[str, ClassifierNumbers],
    style: ReportStyle,
    parameters: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Iterator[d.Block]:
    level, of = style.level_text, style.category_set
    positive, negative = of.positive, of.negative
    rows = [
        (row_title(name), *_four(row.rates.confusion), row.rates.n_without_verdict,
         d.share(row.rates.shares.precision), d.percent(row.rates.prevalence.value),
         d.share(row.rates.shares.balanced_accuracy), d.share(row.rates.shares.f1))
        for name, row in classifiers.items()
    ]  # fmt: skip
    yield d.table(
        f"Verdicts on the agreed items. True positives (tp) are {positive} items called {positive}; false positives "
        f"(fp) are {negative} items called {positive}. False negatives (fn) are {positive} items called {negative}; "
        f"true negatives (tn) are {negative} items called {negative}. Precision is valid only for the prevalence in "
        "the next column.",
        ("Classifier", "tp", "fp", "fn", "tn", "No verdict", f"Precision ({level})", f"Prevalence of {positive}",
         f"Balanced accuracy ({level})", f"F1 ({level})"),
        rows,
        numeric=(1, 2, 3, 4, 5, 7), name="confusion")  # fmt: skip
    chosen = [
        (row_title(name), d.percent(values.prevalence), d.share(values.precision), d.share(values.npv))
        for name, row in classifiers.items()
        for values in row.predictive_values
    ]
    if chosen:
        yield d.table(
            f"Precision (the share of items called {positive} that are {positive}) and negative predictive value (the "
            f"share of items called {negative} that are {negative}) if another share of the items were {positive}. "
            "Computed from sensitivity and specificity on the agreed items, which are assumed not to change.",
            ("Classifier", f"Prevalence of {positive}", f"Precision ({level})", f"Negative predictive value ({level})"),
            chosen,
            numeric=(1,), name="predictive-values")  # fmt: skip
    names = (positive, negative) if of.is_binary else of.names
    yield d.table(
        "Number of verdicts on all items, including items without a consensus.",
        ("Classifier", *map(capitalised, names), "No verdict", "Computed with"),
        [
            (row_title(name), *(row.verdicts[kind] for kind in (*names, "none")),
             "; ".join(map(d.describe_value, parameters.get(name, ()))) or d.DASH)
            for name, row in classifiers.items()
        ],
        numeric=tuple(range(1, len(names) + 2)), name="verdicts")  # fmt: skip


def _by_consensus(
    classifiers: Mapping[str, ClassifierNumbers], decided: Consensus, style: ReportStyle
) -> Iterator[d.Block]:
    """Compare the three kinds of consensus, and show how much the split items could change the results."""
    rows: list[tuple[Any, ...]] = []
    dropped = d.DASH
    for name, row in classifiers.items():
        if not row.rates.n:
            continue
        majority, latent, bounds = row.by_consensus.adjudicated, row.by_consensus.latent, row.bounds
        dropped = d.percent(bounds.dropped.value)
        extremes = [
            f"{d.percent(rate.worst.value)} to {d.percent(rate.best.value)}"
            for rate in (bounds.sensitivity, bounds.specificity)
        ]
        n_all = sum(_four(bounds.worst))
        shares = majority.shares
        rows += [
            (row_title(name), "range over all split items", n_all, *extremes, d.DASH),
            (
                "",
                "adjudicated majority",
                majority.n,
                d.share(shares.sensitivity),
                d.share(shares.specificity),
                mark_of(decided) or d.DASH,
            ),
        ]
        if latent is not None:
            rates = d.share(latent.sensitivity), d.share(latent.specificity)
            rows.append(("", "latent class", latent.n, *rates, model_cell(latent)))
    level = style.level_text
    yield d.table(
        f"{dropped} of the items with two labels are split. Scoring only the agreed items is biased in either "
        "direction: label errors lower both rates, and leaving out hard items raises them. The row “latent class” "
        "depends on a model, so the last column states the status of this model; its intervals are credible "
        "intervals. For results on the agreed items only, see the first table of the report.",
        ("Classifier", "Consensus", "Items", f"Sensitivity ({level})", f"Specificity ({level})", "Model"),
        rows,
        numeric=(2,),
        name="by-consensus",
    )
    ends = [
        f"between {d.percent(row.bounds.accuracy.worst.value)} and {d.percent(row.bounds.accuracy.best.value)} for "
        f"{title_of(name)}"
        for name, row in classifiers.items()
        if row.rates.n
    ]
    if decided.split:
        yield d.Paragraph(
            f"If all agreed labels were right, accuracy over all items would be {'; '.join(ends)}. Errors in agreed "
            "labels can put it outside."
        )
    yield d.Paragraph(_favoured(decided))


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


def _comparisons(compared: Sequence[Compared], level: str) -> Iterator[d.Block]:
    yield d.table(
        "Difference in the share of agreed items on which the verdicts of two classifiers equal the labels, overall "
        "and within each category. Differences within the categories often point in opposite directions. The p values "
        "come from McNemar's mid-p test, corrected by Holm's method over all comparisons of these three columns; "
        f"intervals are not corrected. With fewer than {LEAST_FOR_TEST} items, there is no test and no interval. "
        "Raw and exact p values are in report.json.",
        ("Pair", "Items", f"Accuracy ({level})", "p", f"Sensitivity ({level})", "p", f"Specificity ({level})", "p",
         f"AUC ({level})", "p"),
        [_compared(row) for row in compared],
        numeric=(1, 3, 5, 7, 9), name="comparisons")  # fmt: skip


def _compared(row: Compared) -> tuple[Any, ...]:
    parts = (row.overall, row.dissimilar, row.similar)
    cells = [cell for part in parts for cell in (d.share(part.difference), d.p_value(part.p_holm))]
    auc = (d.DASH, d.DASH) if row.auc is None else (d.plain_number(row.auc.difference), d.p_value(row.auc.p_holm))
    return f"{row_title(row.a)} – {title_of(row.b)}", row.overall.n, *cells, *auc


def _four(confusion: Cells | Confusion) -> tuple[int, int, int, int]:
    return confusion.tp, confusion.fp, confusion.fn, confusion.tn
