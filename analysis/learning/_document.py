"""Build the reports on learned classifiers."""

from collections.abc import Iterator, Sequence

from analysis import document as d
from analysis.learning._compare import Arena, Difference
from analysis.learning._learn import LEARNED, Learned, PositiveLearned
from analysis.learning._model import Model
from analysis.learning._validation import Ceiling

NOT_FOR = (
    "The model is valid for the kinds of benchmarks, machines and reviewers in its training data. Do not use it to "
    "replace or judge the reviewers of that study, or for items that differ from the training data."
)


def document(learned: Learned) -> d.Document:
    """Build the report on a learned classifier."""
    found = learned.positive
    in_short = _categories_in_short(learned) if found is None else _in_short(learned, found)
    if found is None:
        results = [
            d.Section("All classifiers", (_all_evaluations(learned),)),
            d.Section("Each category", tuple(_each_category(learned))),
        ]
    else:
        results = [
            _arena_section(found),
            d.Section("Calibration: are the probabilities right?", tuple(_calibration(found))),
        ]
    sections = (
        d.Section("In short", (d.Bullets(tuple(in_short)), *_warnings(learned.warnings))),
        *results,
        d.Section("The model", tuple(_model(learned))),
        d.Section("Method", tuple(_method(learned))),
    )
    lead = f"A classifier learned from {learned.n_labels} labels of {learned.n_items} items. Target: {learned.target}"
    return d.Document("Learned classifier", lead, "", sections, kind="learning report")


def _categories_in_short(learned: Learned) -> Iterator[str]:
    baseline, found = learned.evaluation.majority_rule, learned.held_out
    if learned.useless is not None:
        yield f"These features do not predict the labels: {learned.useless}."
    yield (
        f"On held-out applications, the learned classifier agrees with the labels on {d.estimate(found.accuracy)} of "
        f'the items; the rule "always {baseline.category}" on {d.percent(baseline.accuracy.value)}. Difference: '
        f"{d.estimate(found.difference)}."
    )
    yield (
        f"Its balanced accuracy is {d.estimate(found.balanced_accuracy)}; a rule without features reaches "
        f"{d.percent(1 / len(found.areas))}."
    )
    yield _against_chance(learned)
    known = [(name, other) for name, other in learned.others if other.balanced_accuracy.value is not None]
    if known:
        name, best = max(known, key=lambda entry: entry[1].balanced_accuracy.value or 0.0)
        yield (
            f"Of the other classifiers, {name} has the highest balanced accuracy, {d.estimate(best.balanced_accuracy)} "
            f"on {d.counted(best.n, 'item')}."
        )


def _against_chance(learned: Learned) -> str:
    return f"Permutation test against chance: p = {d.p_value(learned.chance_p)}."


def _all_evaluations(learned: Learned) -> d.Block:
    rows = [
        (name, found.n, d.estimate(found.accuracy), d.estimate(found.balanced_accuracy),
         d.estimate(found.majority_rule.difference), d.p_value(found.majority_rule.mcnemar.p_mid))
        for name, found in ((LEARNED, learned.evaluation), *learned.others)
    ]  # fmt: skip
    caption = (
        "Verdicts and consensus with 95 % intervals that assume independent items, and the difference of the accuracy "
        "from the majority rule on the same items with McNemar's mid-p value. Rely on the intervals by application "
        "above, because benchmarks of one application are alike."
    )
    header = ("classifier", "n", "accuracy", "balanced accuracy", "minus majority rule", "p")
    return d.table(caption, header, rows, (1, 5))


def _each_category(learned: Learned) -> Iterator[d.Block]:
    rates = learned.evaluation.by_category
    rows = [
        (area.category, area.n, d.estimate(rates[area.category].recall), d.estimate(rates[area.category].precision),
         d.estimate(area.auc, as_percent=False))
        for area in learned.held_out.areas
    ]  # fmt: skip
    yield d.table(
        "Each category against all others. The areas under the ROC curve have intervals by application; 0.5 is the "
        "area of a random score.",
        ("category", "n", "recall", "precision", "AUC"), rows, (1,),
    )  # fmt: skip
    yield d.Figure("areas", "Area under the ROC curve of each category against all others.")
    names = learned.evaluation.categories
    counts = [(name, *row) for name, row in zip(names, learned.evaluation.counts, strict=True)]
    yield d.table(
        "Numbers of labels: a row for each category of the consensus, a column for each verdict.",
        ("consensus", *names), counts, tuple(range(1, len(names) + 1)),
    )  # fmt: skip
    found = learned.held_out
    yield d.Paragraph(
        f"The Brier score of the probabilities is {d.estimate(found.brier, as_percent=False)}, summed over the "
        f"categories. It would be {d.number(found.brier_of_shares)} if the shares of the categories were predicted for "
        "each item."
    )


N_TERMS = 12


def _arena_section(found: PositiveLearned) -> d.Section:
    """Build the section with the table of all classifiers and the differences between them."""
    arena = found.arena
    rows = [
        (row.name, row.n, d.number(row.auc_by_application.value),
         d.interval(row.auc_by_application, as_percent=False) or d.DASH,
         d.interval(row.auc, as_percent=False) or d.DASH)
        for row in arena.standings
    ]  # fmt: skip
    rates = [
        (
            row.name,
            d.estimate(row.accuracy),
            d.estimate(row.sensitivity),
            d.estimate(row.specificity),
            d.number(row.cost),
        )
        for row in arena.standings
    ]
    cost = (
        f"Mean cost per item. A missed item that is {found.category} costs {arena.cost_ratio:g}, and a false alarm "
        "costs 1."
    )
    blocks: list[d.Block] = [
        d.table(
            f"Area under the ROC curve on {_judged(arena)}, largest first. 0.5 is the area of a random score.",
            ("classifier", "n", "AUC", "95 % by application", "95 % DeLong"), rows, (1, 2),
        ),
        d.Figure("areas", "Area under the ROC curve with intervals by application."),
        d.table(
            f"Rates of the verdicts with 95 % intervals. {cost}",
            ("classifier", "accuracy", "sensitivity", "specificity", "cost"), rates, (4,),
        ),
    ]  # fmt: skip
    pairs = [
        (
            f"{row.a} − {row.b}", d.number(row.difference.value),
            d.interval(row.difference, as_percent=False) or d.DASH, d.p_value(row.p_holm),
            d.interval(row.by_application, as_percent=False) or d.DASH,
            d.p_value(row.p_by_application_holm),
        )
        for row in arena.differences
    ]  # fmt: skip
    header = ("difference of areas", "value", "95 % DeLong", "p (Holm)", "95 % by application", "p (Holm)")
    blocks.append(
        d.table("Differences between areas on the items that both classifiers scored.", header, pairs, (1, 3, 5))
    )
    blocks.append(
        d.Paragraph(
            "DeLong's intervals assume independent items, but benchmarks of one application are alike. Rely on the "
            "intervals by application, which resample whole applications.",
            "note",
        )
    )
    return d.Section("All classifiers", tuple(blocks))


def _judged(arena: Arena) -> str:
    """Say on how many items the classifiers are compared; without verdicts on all items, the numbers differ."""
    fewest = min(row.n for row in arena.standings)
    if fewest == arena.n:
        return f"the same {d.counted(arena.n, 'item')}"
    return f"the items that each classifier has judged ({fewest} to {arena.n})"


def _in_short(learned: Learned, found: PositiveLearned) -> Iterator[str]:
    own = found.own
    if learned.useless is not None:
        yield f"These features do not predict the labels: {learned.useless}."
    yield (
        f"On held-out applications, the learned classifier reaches an area under the ROC curve of "
        f"{d.estimate(own.auc_by_application, as_percent=False)}; 0.5 is chance.{_limit(found.ceiling, 'auc')}"
    )
    yield _against_chance(learned)
    old = [row for row in found.arena.differences if not row.b.startswith(LEARNED)]
    if old:
        best = min(old, key=lambda row: row.difference.value if row.difference.value is not None else 2.0)
        yield _against_best(best)
    yield f"{_on_new_applications(found)}{_limit(found.ceiling, 'accuracy')}"
    for name, share in found.nearly_verdicts:
        yield f"The labels are nearly the verdicts of {name} ({d.percent(share)}). Were they made with it?"
    variant = next((row for row in found.arena.differences if row.b.startswith(LEARNED)), None)
    if variant is not None and variant.difference.value is not None:
        cost = variant.difference.value * (-1 if learned.model.monotone else 1)
        what = f"costs {d.number(cost)}" if cost > 0 else f"gains {d.number(-cost)}"
        yield (
            f"A monotone model of the measures, whose every line can be defended, {what} of the area, compared with "
            "the ranks of all features."
        )
    yield f"Formula: {learned.model.short_formula}."


def _on_new_applications(found: PositiveLearned) -> str:
    """Say how often the learned classifier, the best other one and the majority rule agree with the labels."""
    own, *others = sorted(found.arena.standings[:-1], key=lambda row: row.name != LEARNED)
    always = found.arena.standings[-1]
    known = [row for row in others if row.accuracy.value is not None and not row.name.startswith(LEARNED)]
    best = max(known, key=lambda row: row.accuracy.value or 0.0, default=None)
    beside = "" if best is None else f"{best.name} on {d.percent(best.accuracy.value)} and "
    return (
        f"On new applications, it would agree with the labels on about {d.estimate(own.accuracy)} of the items; "
        f'{beside}the rule "{always.name}" on {d.percent(always.accuracy.value)}.'
    )


def _limit(found: Ceiling | None, name: str) -> str:
    """Say the best result that the errors in the labels allow; return "" if it is unknown."""
    if found is None or found.error.value is None:
        return ""
    if name == "auc":
        best = f"an area of {d.estimate(found.auc, as_percent=False)}"
    else:
        best = f"an accuracy of {d.estimate(found.accuracy)}"
    return (
        f" No classifier can reach more than {best} on these labels, because about {d.percent(found.error.value)} of "
        f"them are wrong (from {found.n_retests} retests, if errors are independent)."
    )


def _against_best(row: Difference) -> str:
    if row.difference.value is None or row.by_application.low is None or row.by_application.high is None:
        reason = row.difference.reason or row.by_application.reason
        return f"The learned classifier cannot be compared with {row.b}: {reason}."
    p = row.p_by_application_holm
    ends = d.interval(row.by_application, as_percent=False)
    ends = f"{d.number(row.difference.value)} ({ends}; p = {d.p_value(p)}, Holm)"
    if row.by_application.low > 0 and p is not None and p < 0.05:
        return f"The learned classifier is better than the best other classifier, {row.b}: difference of areas {ends}."
    if row.by_application.high < 0 and p is not None and p < 0.05:
        return f"The learned classifier is worse than {row.b}: difference of areas {ends}. Use {row.b}."
    return f"The learned classifier does not differ significantly from {row.b}: difference of areas {ends}."


def _warnings(texts: Sequence[str]) -> Iterator[d.Block]:
    for text in texts:
        yield d.Paragraph(text, "warning")


def _calibration(found: PositiveLearned) -> Iterator[d.Block]:
    measured = found.calibration
    yield d.Paragraph(
        f"The Brier score is {d.estimate(measured.brier, as_percent=False)}. It would be "
        f"{d.number(measured.reference)} if the share of items that are {found.category} were predicted for each item. "
        f"The score equals reliability {d.number(measured.reliability)} − resolution {d.number(measured.resolution)} + "
        f"uncertainty {d.number(measured.uncertainty)} + within bins {d.number(measured.within_bins)}."
    )
    rows = [
        (n + 1, part.n, d.percent(part.probability), d.estimate(part.share)) for n, part in enumerate(measured.bins)
    ]
    yield d.table("Items by their out-of-fold probability.", ("bin", "n", "mean probability", found.category), rows,
                (0, 1, 2))  # fmt: skip
    yield d.Figure(
        "calibration",
        f"Share of items that are {found.category} by predicted probability. Points of correct probabilities are on "
        "the diagonal.",
    )


N_TERMS = 12


def _model(learned: Learned) -> Iterator[d.Block]:
    model, found = learned.model, learned.positive
    yield d.Paragraph(f"{_kind(model)} It was fitted on all items with the penalty {model.penalty:.3g}.")
    if found is not None:
        yield d.Paragraph(model.formula, "command")
        rows = [
            (row.feature, row.title, d.number(row.value.value), d.interval(row.value, as_percent=False) or d.DASH)
            for row in found.coefficients
            if row.value.value or row.value.high
        ]
        caption = (
            "Change of the log-odds per standard deviation of the feature or its rank. Intervals come from refits on "
            "resampled applications."
        )
        yield d.table(caption, ("feature", "description", "coefficient", "95 %"), rows, (2,))
        yield d.Figure("coefficients", "Coefficients of the model with intervals.")
    else:
        columns = model.categories[-len(model.intercepts) :]  # of two categories, only the second has a column
        what = "score of each category" if len(columns) > 1 else f"log-odds of {columns[0]}"
        largest = [(term.feature, *(d.number(value) for value in term.coefficients)) for term in model.largest(N_TERMS)]
        yield d.table(
            f"Change of the {what} per standard deviation of the rank. Features with the largest coefficients; the "
            f"model file has all {len(model.terms)}.",
            ("feature", *columns), largest, tuple(range(1, len(columns) + 1)),
        )  # fmt: skip
    yield d.Paragraph(
        "If features are nearly equal, the model divides the weight between them arbitrarily. A coefficient of 0 can "
        "mean that other features already contain this information, and not that the feature does not matter.",
        "note",
    )
    yield d.Paragraph(NOT_FOR, "warning")


def _kind(model: Model) -> str:
    """Say what the model uses of the features, and how its verdict follows."""
    if model.monotone:
        return (
            "The model is monotone: no coefficient is negative, so a larger measure never makes the category "
            f"{model.positive} less probable."
        )
    ranks = (
        "The model uses the rank of each feature among the training items, with mean 0 and standard deviation 1, so "
        "outliers do not matter."
    )
    if model.positive is None:
        return f"{ranks} The verdict is the most probable category."
    return f"{ranks} Coefficients can be negative: a larger value can make the category {model.positive} less probable."


def _method(learned: Learned) -> Iterator[d.Block]:
    found, n_folds = learned.positive, int(learned.folds.fold.max()) + 1
    counts = ", ".join(f"{n} {category}" for category, n in learned.counts.items())
    kind = "logistic" if len(learned.counts) == 2 else "multinomial logistic"
    chosen = "the penalty" if found is None else "the penalty and the threshold"
    area = "area" if len(learned.counts) == 2 else "mean over the categories of the area"
    yield d.Paragraph(
        f"The data are {d.counted(learned.n_items, 'item')} of {learned.n_applications} applications, with "
        f"{learned.n_labels} labels ({counts}). The model is a {kind} regression with an L2 penalty on "
        f"{d.counted(len(learned.model.terms), 'feature')}, standardised within each fold. {n_folds} outer folds keep "
        f"applications together and are used only for scoring; inner folds choose {chosen}. All results of the learned "
        "classifier come from items of held-out applications. The permutation test gives the labels of one application "
        f"to another, and compares the {area} under the ROC curve. Intervals by application resample whole "
        "applications."
    )
    kappa = learned.evaluation.weighted_kappa
    if kappa is not None:
        yield d.Paragraph(
            "The categories are ordered, but the model does not use their order; the weighted kappa with the labels is "
            f"{d.estimate(kappa, as_percent=False)}."
        )
    if found is not None:
        low, high = min(found.partitions), max(found.partitions)
        yield d.Paragraph(
            f"If the items are divided into folds in {len(found.partitions)} other ways, the area is between "
            f"{d.number(low)} and {d.number(high)}."
        )
    yield d.Paragraph(
        "The ROC curve uses scores without the intercepts, because an intercept depends on the share of a category in "
        "the training folds, which is low if the held-out fold has many items of this category. Intervals apply to "
        "these fitted models and do not include the effect of other training items. Random seed "
        f"{learned.seed}."
    )
