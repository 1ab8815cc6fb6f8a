"""What was learnt, in words and tables."""

from collections.abc import Iterator, Sequence

from analysis.categories import DISSIMILAR
from analysis.document import (
    DASH,
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    estimate,
    interval,
    number,
    p_value,
    percent,
    table,
)
from analysis.learning._arena import Arena, Difference
from analysis.learning._curve import LearningCurve
from analysis.learning._interventions import Response
from analysis.learning._learn import LEARNED, Learned
from analysis.learning._reviewers import Habits, aspect_title

NOT_FOR = (
    "The model knows the kinds of benchmarks, machines and reviewers that it was fitted on. Do not use it to replace "
    "reviewers in the study that it was fitted on, to judge those reviewers, or where an item looks unlike these."
)


def document(learned: Learned) -> Document:
    """The account of a learned classifier.

    Parameters
    ----------
    learned : Learned
    """
    sections = (
        Section("In short", (Bullets(tuple(_in_short(learned))), *_warnings(learned.warnings))),
        *arena_sections(learned.arena),
        Section("Calibration: can the probabilities be believed?", tuple(_calibration(learned))),
        Section("The model", tuple(_model(learned))),
        Section("Would more labels help?", tuple(_curve(learned.curve))),
        Section("How it was computed", tuple(_method(learned))),
    )
    lead = f"A classifier learnt from {learned.n_labels} labels of {learned.n_items} items, target: {learned.target}"
    return Document("Learned classifier", lead, "", sections, kind="learning report")


def arena_document(arena: Arena, target: str) -> Document:
    """All classifiers on one consensus, without learning anything.

    Parameters
    ----------
    arena : Arena
    target : str
        What they are compared with, in words.
    """
    lead = f"{arena.n} items of {arena.n_applications} applications, {arena.n_dissimilar} dissimilar; target: {target}"
    return Document("Classifiers compared", lead, "", arena_sections(arena), kind="comparison")


def arena_sections(arena: Arena) -> tuple[Section, ...]:
    """The table of all classifiers, and their differences."""
    rows = [
        (row.name, row.n, number(row.auc_by_application.value),
         interval(row.auc_by_application, as_percent=False) or DASH, interval(row.auc, as_percent=False) or DASH)
        for row in arena.standings
    ]  # fmt: skip
    rates = [
        (row.name, estimate(row.accuracy), estimate(row.sensitivity), estimate(row.specificity), number(row.cost))
        for row in arena.standings
    ]
    cost = f"Cost per item: a missed dissimilar item costs {arena.cost_ratio:g}, a false alarm 1."
    blocks: list[Block] = [
        table(
            f"Areas under the ROC curve on the same {arena.n} items, the largest first; .5 is chance.",
            ("classifier", "n", "AUC", "95 % by application", "95 % DeLong"), rows, (1, 2),
        ),
        Figure("areas", "Areas with intervals by application."),
        table(
            f"Rates of the verdicts, with 95 % intervals. {cost}",
            ("classifier", "accuracy", "sensitivity", "specificity", "cost"), rates, (4,),
        ),
    ]  # fmt: skip
    pairs = [
        (
            f"{row.a} − {row.b}", number(row.difference.value), interval(row.difference, as_percent=False) or DASH,
            p_value(row.p_holm), interval(row.by_application, as_percent=False) or DASH,
            p_value(row.p_by_application_holm),
        )
        for row in arena.differences
    ]  # fmt: skip
    header = ("difference of areas", "value", "95 % DeLong", "p (Holm)", "95 % by application", "p (Holm)")
    blocks.append(table("Paired differences on the items that both scored.", header, pairs, (1, 3, 5)))
    blocks.append(
        Paragraph(
            "DeLong's intervals take items for independent. Benchmarks of one application are alike, so the intervals "
            "that draw whole applications again are the ones to rely on.",
            "note",
        )
    )
    return (Section("All classifiers on the same items", tuple(blocks)),)


def _in_short(learned: Learned) -> Iterator[str]:
    own = next(row for row in learned.arena.standings if row.name == LEARNED)
    yield (
        f"On applications that it had not seen, the learned classifier reaches an area under the ROC curve of "
        f"{estimate(own.auc_by_application, as_percent=False)}; .5 is chance."
    )
    old = [row for row in learned.arena.differences if not row.b.startswith(LEARNED)]
    if old:
        best = min(old, key=lambda row: row.difference.value if row.difference.value is not None else 2.0)
        yield _against_best(best)
    always = learned.arena.standings[-1]
    yield (
        f"At the chosen threshold it is right on {estimate(own.accuracy)} of the items, the rule "
        f'"{always.name}" on {percent(always.accuracy.value)}.'
    )
    yield f"In one line: {learned.model.formula}."


def _against_best(row: Difference) -> str:
    if row.difference.value is None or row.by_application.low is None or row.by_application.high is None:
        return f"It cannot be compared with {row.b}: {row.difference.reason or row.by_application.reason}."
    p = row.p_by_application_holm
    ends = f"{number(row.difference.value)} ({interval(row.by_application, as_percent=False)}; p = {p_value(p)}, Holm)"
    if row.by_application.low > 0 and p is not None and p < 0.05:
        return f"It is better than the best other classifier, {row.b}: difference of areas {ends}."
    if row.by_application.high < 0 and p is not None and p < 0.05:
        return f"It is worse than {row.b}: difference of areas {ends}. Use {row.b}."
    return f"It is not shown to be better than the best other classifier, {row.b}: difference of areas {ends}."


def _warnings(texts: Sequence[str]) -> Iterator[Block]:
    for text in texts:
        yield Paragraph(text, "warning")


def _calibration(learned: Learned) -> Iterator[Block]:
    measured = learned.calibration
    yield Paragraph(
        f"Brier score {estimate(measured.brier, as_percent=False)}; saying the share of dissimilar items each time "
        f"would give {number(measured.reference)}. Its parts: reliability {number(measured.reliability)} − resolution "
        f"{number(measured.resolution)} + uncertainty {number(measured.uncertainty)} + within bins "
        f"{number(measured.within_bins)}."
    )
    rows = [(n + 1, part.n, percent(part.probability), estimate(part.share)) for n, part in enumerate(measured.bins)]
    yield table("Items in order of their out-of-fold probability.", ("bin", "n", "mean probability", DISSIMILAR), rows,
                (0, 1, 2))  # fmt: skip
    yield Figure("calibration", "Share of dissimilar items over the probability; right ones lie on the diagonal.")


def _model(learned: Learned) -> Iterator[Block]:
    model = learned.model
    kind = (
        "Monotone: no coefficient is below 0, so that more dissimilar runs never make an item more similar."
        if model.monotone
        else "Plain: coefficients may be negative, so that a larger dissimilarity can make an item more similar."
    )
    yield Paragraph(f"{kind} Fitted on all items with the penalty {model.penalty:.3g}.")
    yield Paragraph(model.formula, "command")
    rows = [
        (row.feature, row.title, number(row.value.value), interval(row.value, as_percent=False) or DASH)
        for row in learned.coefficients
        if row.value.value or row.value.high
    ]
    caption = "Change of the log-odds per standard deviation; intervals of refits on applications drawn again."
    yield table(caption, ("feature", "what it is", "coefficient", "95 %"), rows, (2,))
    yield Figure("coefficients", "Coefficients with intervals.")
    yield Paragraph(
        'Features that say nearly the same share their weight by chance; read a coefficient of 0 as "others say it '
        'already", not as "it does not matter".',
        "note",
    )
    yield Paragraph(NOT_FOR, "warning")


def _curve(curve: LearningCurve) -> Iterator[Block]:
    rows = [(point.n, estimate(point.auc, as_percent=False)) for point in curve.points]
    yield table("Area out of fold by the number of labels that a model was fitted on.", ("labels", "AUC"), rows, (0,))
    yield Figure("learning-curve", "Area out of fold by number of labels.")
    yield Paragraph(_gain(curve))


def _gain(curve: LearningCurve) -> str:
    gain = curve.gain
    if gain.value is None or gain.low is None or gain.high is None:
        return f"What more labels would bring cannot be told: {gain.reason}."
    ends = f"{number(gain.value)} ({interval(gain, as_percent=False)})"
    if gain.low > 0:
        return f"{curve.more} more labels would help: expected gain in area {ends}. This extends the curve as it goes."
    return f"{curve.more} more labels are not shown to help: expected gain in area {ends}."


def _method(learned: Learned) -> Iterator[Block]:
    n_folds = int(learned.folds.fold.max()) + 1
    yield Paragraph(
        f"{learned.n_items} items of {learned.n_applications} applications, {learned.n_dissimilar} of "
        f"{learned.n_labels} rows dissimilar. Logistic regression with an L2 penalty on {len(learned.model.terms)} "
        f"features, standardised within each fold. {n_folds} outer folds keep every application together and are only "
        f"scored; inner folds choose penalty and threshold. Every figure of the learned classifier comes from items of "
        f"applications that its model had not seen."
    )
    low, high = min(learned.partitions), max(learned.partitions)
    yield Paragraph(
        f"With {len(learned.partitions)} other partitions into folds the area lies between {number(low)} and "
        f"{number(high)}. The ROC curve uses the log-odds without the intercept, because the intercept holds the share "
        f"of dissimilar items in the training folds, which is low where the held-out fold has many. Intervals hold for "
        f"these models; they do not include what other training items would change. Random seed {learned.seed}."
    )


def habit_sections(found: Habits) -> tuple[Section, ...]:
    """Why reviewers disagree, as sections that the report can take in as well.

    Parameters
    ----------
    found : Habits
    """
    blocks: list[Block] = [Bullets(tuple(habit.sentence for habit in found.habits))]
    blocks.append(Paragraph(_alike(found)))
    estimated = [habit for habit in found.habits if not habit.reason]
    if estimated:
        header = ("reviewer", "labels", "dissimilar", *(aspect_title(name) for name in found.features), "AUC")
        rows = [
            (
                habit.reviewer, habit.n, percent(habit.share),
                *(estimate(habit.joint.get(name) or habit.own[name], as_percent=False) for name in found.features),
                number(habit.auc.value),
            )
            for habit in estimated
        ]  # fmt: skip
        caption = (
            "Change of the log-odds of dissimilar per standard deviation of a measure, with 95 % intervals. AUC: how "
            "well the reviewer's labels can be told from all measures, on applications that the model has not seen."
        )
        blocks += [table(caption, header, rows, (1, 2)), Figure("habits", "What each reviewer's labels follow.")]
    blocks.append(
        Paragraph(
            "A measure that a reviewer's labels follow is no proof of what the reviewer looked at, and of no motive: "
            "measures go together, and what is not measured is not here.",
            "note",
        )
    )
    return (Section("Why reviewers disagree", tuple(blocks)),)


def habits_document(found: Habits) -> Document:
    """Why reviewers disagree, as a document."""
    lead = f"What the labels of each reviewer follow: {found.n_labels} first labels on {found.n_items} items"
    return Document("Why reviewers disagree", lead, "", habit_sections(found), kind="account of reviewers")


def _alike(found: Habits) -> str:
    if found.p is None:
        return f"Whether reviewers weigh the measures alike cannot be tested: {found.reason}."
    chi = f"chi-squared {number(found.statistic, 1)} on {found.df} degrees of freedom"
    test = f"Wald's test, {chi}, p = {p_value(found.p)}"
    beside = f"Two labels on one item correlate by {number(found.correlation, 2)} beyond the measures."
    if found.p < 0.05:
        return f"Reviewers do not weigh the measures alike ({test}). {beside}"
    return f"Reviewers are not shown to weigh the measures differently ({test}). {beside}"


def dose_document(rows: Sequence[Response]) -> Document:
    """Who notices what, as a document.

    Parameters
    ----------
    rows : sequence of Response
    """
    raters = list(dict.fromkeys((row.rater, row.is_reviewer) for row in rows))
    sections = []
    for kind in dict.fromkeys(row.kind for row in rows):
        amounts = sorted({row.amount for row in rows if row.kind == kind})
        of_kind = {(row.rater, row.is_reviewer, row.amount): row for row in rows if row.kind == kind}
        cells = [
            (
                rater, "reviewer" if is_reviewer else "classifier",
                *(_share_of(of_kind.get((rater, is_reviewer, amount))) for amount in amounts),
            )
            for rater, is_reviewer in raters
        ]  # fmt: skip
        header = ("called dissimilar by", "who", *("share" if not amount else f"by {amount:g}" for amount in amounts))
        caption = "Share of items called dissimilar in per cent, by the amount of the change: 95 % interval; n."
        sections.append(Section(kind.capitalize(), (table(caption, header, cells),)))
    figure = Section("All together", (Figure("dose-response", "Share called dissimilar over the amount."),))
    lead = "How often each classifier and reviewer calls items dissimilar whose runs were changed in a known way"
    return Document("Who notices what", lead, "", (*sections, figure), kind="dose-response table")


def _share_of(row: Response | None) -> str:
    if row is None or row.dissimilar.ends is None:
        return DASH
    value, low, high = (100 * end for end in row.dissimilar.ends)
    return f"{value:.0f} ({low:.0f}–{high:.0f}); {row.n}"
