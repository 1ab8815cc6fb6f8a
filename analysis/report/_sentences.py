"""The sentences of a report: what it says in short, the paragraph on methods, and the GRRAS and STARD 2015 checklists.

"In short" has at most seven sentences, so that a reader of only the first three is not misled. The order is fixed: how
far people agree; whether that is more than chance; whether pairs or groups differ; what classifiers agree with; whether
one may replace a reviewer; what is uncertain and why; what to do next. If labels agree no more than chance, that comes
first, and nothing is said about classifiers.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from analysis.document import (
    Block,
    Section,
    counted,
    describe_value,
    interval,
    joined,
    number,
    percent,
    sentence,
    table,
)
from analysis.raters.consensus import REJECTED, UNTESTABLE, ModelState
from analysis.raters.evaluation import BETTER, WORSE
from analysis.report._agreement import MORE, NOT_MORE, UNCLEAR, UNDEFINED, Agreement, chance_state, overall
from analysis.report._classifiers import ClassifierNumbers, p_clause
from analysis.report._replacing import may_replace
from analysis.report._report import PlanFacts, Report
from analysis.report._settings import title_of
from analysis.statistics.intervals import ONE_SIDED, Estimate

FEW_ITEMS, ENOUGH_ITEMS = 40, 80
MOST_NAMED = 4  # classifiers that a sentence names


def in_short(report: Report) -> tuple[str, ...]:
    """Return the sentences; sentences without content are left out."""
    numbers = report.agreement
    if numbers.percent.value is None:
        sentences = [f"It is not possible to compute agreement yet: {numbers.percent.reason}.", "", "", "", ""]
    else:
        sentences = [
            _agreement(report), _chance(report), _categories(report), _pairs(report), _compare_with_rule(report),
            _replacing(report),
            _uncertain(report),
        ]  # fmt: skip
    if chance_state(numbers) == NOT_MORE:
        sentences[:2] = sentences[1], sentences[0]
    return tuple(text for text in (*sentences, _next_step(report)) if text)


def _limits(value: Estimate, level: str, *, as_percent: bool = True) -> str:
    """Return the interval in brackets; a one-sided limit says so, and without an interval the reason stands there."""
    if value.low is None:
        return f" ({value.reason})" if value.reason else ""
    if value.reason and value.reason.startswith(ONE_SIDED):
        low = percent(value.low) if as_percent else number(value.low)
        return f" (at least {low}, one-sided {level})"
    return f" ({level} {interval(value, as_percent=as_percent)})"


def _agreement(report: Report) -> str:
    numbers, n_agreed = report.agreement, report.consensus.agreed
    n, value = numbers.n_items_with_two_labels, numbers.percent
    every = "the only item" if n == 1 else f"all {counted(n, 'item')}"
    some = f"{n_agreed or 'none'} of {'the ' if not n_agreed else ''}{counted(n, 'item')}"
    of_items = every if n == n_agreed else some
    pairs = f"{percent(value.value)}{_limits(value, report.style.level_text)}"
    only = _only_category(report)
    but = f", but every label is {only}" if only else ""
    if all(row.n_labels == 2 for row in report.consensus.by_n_labels):
        if n == 1 and not n_agreed:
            return f"Both reviewers disagree on the only item that two reviewers labelled, {pairs}."
        return f"Both reviewers of an item agree on {of_items} that two reviewers labelled, {pairs}{but}."
    whole = "" if n == n_agreed else f" ({percent(n_agreed / n)})"
    return f"All reviewers of an item agree on {of_items}{whole}, and two reviewers of one item agree in {pairs}{but}."


def _only_category(report: Report) -> str:
    """Return the only category that was used, or "" if several were used."""
    specific = report.agreement.specific
    used = [category for category in report.style.category_set.names if specific[category].value is not None]
    return used[0] if len(used) == 1 else ""


def _chance(report: Report) -> str:
    kappa, state = report.agreement.fleiss_kappa, chance_state(report.agreement)
    if state == UNDEFINED:
        return f"Whether this is more than chance cannot be said: Fleiss' kappa is undefined, because {kappa.reason}."
    text = f"Fleiss' kappa is {number(kappa.value)}{_limits(kappa, report.style.level_text, as_percent=False)}"
    if state == MORE:
        low, high = kappa.band_low, kappa.band_high
        bands = f"“{low}”" if low == high else f"“{low}” to “{high}”"
        return f"This is more than chance would give: {text}, {bands} on the scale of Landis and Koch."
    if state == NOT_MORE:
        less = kappa.high is not None and kappa.high < 0
        verb = "agree less often than" if less else "do not agree more than"
        return f"Reviewers {verb} chance would: {text}."
    return f"These labels do not show whether reviewers agree more than chance would: {text}."


def _categories(report: Report) -> str:
    """Name the categories that nobody used, and those on which reviewers agree most and least."""
    if not report.by_category:
        return ""
    rows = report.categories or ()
    unused = [row.category for row in rows if not row.n_labels]
    never = (
        f"No reviewer used {joined(unused, 'or')}, so nothing can be said about "
        f"{'this category' if len(unused) == 1 else 'these categories'}."
        if unused and len(unused) < len(rows)
        else ""
    )
    known = [(row.agreement.value, row.category) for row in rows if row.n_labels and row.agreement.value is not None]
    shares = [value for value, _ in known]
    if len(known) < 2 or max(shares) == min(shares):
        return never
    (low, high) = min(shares), max(shares)
    least, most = ([name for value, name in known if value == end] for end in (low, high))
    return (
        f"Reviewers agree most on {joined(most)} (specific agreement {percent(high)}) and least on {joined(least)} "
        f"({percent(low)}). {never}"
    ).strip()


def _pairs(report: Report) -> str:
    tested = report.agreement.pair_equality
    if tested is None or len(tested.pairs) < 2:
        return ""
    if tested.p is None:
        return f"Whether pairs of reviewers differ was not tested: {tested.reason}."
    ranked = sorted(tested.pairs, key=lambda pair: pair.agree.value or 0)
    lowest, highest = (f"{percent(pair.agree.value)} ({pair.a} and {pair.b})" for pair in (ranked[0], ranked[-1]))
    if tested.p > report.style.alpha:
        return f"No pair of reviewers differs significantly from the others; pairs agree in {lowest} to {highest}."
    found = tested.contrast
    if found is None:
        return f"Pairs of reviewers differ, from {lowest} to {highest}, and one overall number hides this."
    within, across = percent(found.within.value), percent(found.across.value)
    first, second = joined(found.first), joined(found.second)
    p = f"({p_clause(found.p)} after correction for all divisions)"
    if found.kind == "pair":
        return f"{first} agree in {within}, the other pairs in {across} {p}."
    if found.kind == "reviewer":
        return f"{first} agrees with the others in {across}, and the others with each other in {within} {p}."
    sides = [
        f"{names} ({percent(share.value)})" if share is not None else names
        for names, share in ((first, found.within_first), (second, found.within_second))
    ]
    is_chance = found.across.low is not None and found.across.low <= found.chance_across
    than = "no more than chance" if is_chance else "less often"
    return (
        f"Two groups agree among themselves, {sides[0]} and {sides[1]}, and across, {than} ({across}), so they may "
        "answer different questions."
    )


def _compare_with_rule(report: Report) -> str:
    """Compare all classifiers with the majority rule, if the labels can judge them."""
    scored = {name: row for name, row in report.classifiers.items() if row.against.n}
    if not scored or chance_state(report.agreement) != MORE:
        return ""
    groups: dict[str, list[str]] = {BETTER: [], "cannot tell": [], WORSE: []}
    for name, row in scored.items():
        groups[row.majority_rule.verdict].append(f"{title_of(name)} ({percent(row.against.accuracy.value)})")
    clauses = [
        clause
        for clause in (
            _verb(groups[BETTER], "agrees more often", "agree more often"),
            _verb(groups[WORSE], "agrees less often", "agree less often"),
            _verb(groups["cannot tell"], "is not shown to differ from it", "are not shown to differ from it"),
        )
        if clause
    ]
    return f"{_of_majority_rule(list(scored.values()))}: {'; '.join(clauses)}."


def _of_majority_rule(rows: Sequence[ClassifierNumbers]) -> str:
    """Say how often the majority rule agrees with the labels; it is a range if classifiers lack different verdicts."""
    numbers = [row.against.n for row in rows]
    categories = {row.majority_rule.category for row in rows}
    rule = f"the majority rule (always {categories.pop()})" if len(categories) == 1 else "the majority rule"
    shares = sorted(row.majority_rule.accuracy.value or 0.0 for row in rows)
    low, high = percent(shares[0]), percent(shares[-1])
    where = f"On {counted(max(numbers), 'agreed item')}"
    if min(numbers) < max(numbers):
        where = f"On the agreed items that each classifier has judged ({min(numbers)} to {max(numbers)})"
    return f"{where}, {rule} agrees with the labels on {low if low == high else f'{low} to {high}'}"


def _replacing(report: Report) -> str:
    return may_replace(report.replacing) if chance_state(report.agreement) == MORE else ""


def _verb(names: list[str], one: str, several: str) -> str:
    if not names:
        return ""
    rest = len(names) - MOST_NAMED
    shown = [*names[:MOST_NAMED], f"{rest} more"] if rest > 0 else names
    return f"{joined(shown)} {one if len(names) == 1 else several}"


def _uncertain(report: Report) -> str:
    reasons = list(_reasons(report))[:3]
    if not reasons:
        return "The intervals describe further items for the same reviewers; other reviewers may differ."
    listed = reasons[0] if len(reasons) == 1 else f"{', '.join(reasons[:-1])}, and {reasons[-1]}"
    return f"These results are uncertain, because {listed}."


def _reasons(report: Report) -> Iterator[str]:
    """Yield why the results are uncertain, as clauses, the most important first."""
    numbers, decided = report.agreement, report.consensus
    latent, by_category = decided.latent, report.by_category
    fitted = latent.fitted if latent else None
    state = fitted.state.state if fitted else by_category.truth.state if by_category else None
    n = numbers.n_items_with_two_labels
    if fitted and state == REJECTED:
        yield _dependent(fitted.state, set(report.classifiers))
    elif state == REJECTED:
        yield "the labels contradict the model of reviewers' errors"
    if n < FEW_ITEMS:
        yield f"only {counted(n, 'item')} {'has' if n == 1 else 'have'} two labels"
    if len(numbers.by_application) == 1 and n > 1:
        yield "all items come from one application"
    if decided.split:
        are = "is" if decided.split == 1 else "are"
        some = f"{decided.split} of {counted(n, 'item')} ({percent(decided.split / n)})"
        every = "the only item" if n == 1 else f"all {n} items"
        yield f"{every if decided.split == n else some} {are} split and not scored"
    if numbers.if_given:
        n_missing = numbers.if_given[0].n
        yield f"{counted(n_missing, 'planned label')} {'is' if n_missing == 1 else 'are'} missing"
    if state == UNTESTABLE:
        yield "these labels cannot test whether reviewers err independently"
    elif not (by_category.truth.identified if by_category else latent and latent.identifiability.identified):
        yield "these labels cannot show how accurate each reviewer is"


def _dependent(state: ModelState, classifiers: set[str]) -> str:
    """Say whose errors are not independent, and what follows; a model that fits better need not be the cause."""
    raters = [str(state.pair_fit.a), str(state.pair_fit.b)] if state.pair_fit else []
    favoured = [title_of(rater) for rater in raters if rater in classifiers]
    names = [title_of(rater) if rater in classifiers else rater for rater in raters] or ["several reviewers"]
    overstated = "agreement and the agreed items may overstate reliability"
    follows = f"the agreed items favour {favoured[0]}" if favoured else overstated
    return f"{joined(names)} err on the same items, so {follows}"


def _next_step(report: Report) -> str:
    """Return the step that would help most."""
    numbers, tested, state = report.agreement, report.agreement.pair_equality, chance_state(report.agreement)
    n = numbers.n_items_with_two_labels
    other = "the other category" if len(report.style.category_set.names) == 2 else "other categories"
    if numbers.percent.value is None:
        return "Let at least two reviewers label the same items."
    if report.study.interim:
        return "Next: finish labelling, and do not stop because of these numbers."
    if state == UNDEFINED and n < FEW_ITEMS:
        return f"Next: label more items, among them some that are likely to be in {other}."
    if state == UNDEFINED:
        return f"Next: add items that are likely to be in {other}."
    if state == NOT_MORE:
        return (
            "Next: discuss the question with the reviewers and repeat the calibration round; until they agree, these "
            "labels cannot judge classifiers."
        )
    if state == UNCLEAR:
        return f"Next: let two or more reviewers label more items, about {max(ENOUGH_ITEMS, 2 * n)} in all."
    found = tested.contrast if tested else None
    if found and found.kind == "groups":
        return "Next: ask both groups what they look at on items that divide them, before you use the labels."
    if found and found.kind == "pair" and (found.within.value or 0) < (found.across.value or 0):
        return f"Next: discuss with {joined(found.first)} the items on which they disagree."
    if found and found.kind == "pair":
        return f"Next: find out whether {joined(found.first)} labelled independently."
    if found and found.kind == "reviewer" and (found.across.value or 0) > (found.within.value or 0):
        return f"Next: find out whether the other reviewers saw the labels of {found.first[0]}."
    if found and found.kind == "reviewer":
        return f"Next: discuss with {found.first[0]} the items on which the others disagree with {found.first[0]}."
    if n < FEW_ITEMS:
        return f"Next: label more items; rates of reviewers and classifiers need about {ENOUGH_ITEMS}."
    latent = report.consensus.latent
    remedies = latent.fitted.state.remedies if latent and latent.fitted else ()
    if report.consensus.split:
        return f"Next: decide the {counted(report.consensus.split, 'split item')}, by third labels or in a discussion."
    if remedies:
        return f"Next: {sentence(remedies[0])[:1].lower()}{sentence(remedies[0])[1:]}"
    return "No further step is needed to report agreement with its interval."


Answer = Callable[[Report], str]

AUTHOR = "(author)"
# sections that a report has only if there are data for them
OPTIONAL = {
    "Classifiers against each consensus",
    "Classifiers by category",
    "Confusion matrices",
    "Latent class",
    "True categories",
    "Scores and thresholds",
    "Comparison of classifiers",
    "Course of the study",
}


def methods(report: Report) -> str:
    """Write a methods paragraph that describes only what this report computed."""
    return " ".join(_sentences(report))


def _sentences(report: Report) -> Iterator[str]:
    agreement, level = report.agreement, f"{100 * report.parameters.level:g} %"
    question = report.study.question
    facts = report.parameters.more.get("facts", ())
    hidden = " or verdicts" if "benchmark" in facts else ", names of benchmarks, or verdicts"
    blind = f"without access to other reviewers' answers{hidden}"
    clause = f", for the question “{question}”, {blind}" if question else ""
    names = report.style.category_set.names
    yield (
        f"{counted(report.n_reviewers, 'reviewer')} classified {counted(agreement.n_items, 'benchmark')} as "
        f"{joined(names, 'or')}{clause}; {counted(agreement.n_labels, 'first label')} entered the analysis."
    )
    if facts:
        yield f"The {joined(facts)} of each item stood beside the picture, so reviewers were not blind to this."
    elif question:
        yield "Reviewers who have the same measurements could have found the name of an item by its shape."
    yield from _plan(report.plan_facts, sum(row.n for row in agreement.retest))
    first = ("percent_agreement", "fleiss_kappa")
    others = [row.title for name, row in overall().items() if name in agreement.coefficients.keys() - {*first}]
    yield (
        "We report percent agreement and Fleiss' kappa with Gwet's linearised standard errors (t distribution over "
        f"items). We also report the coefficients {joined(others)}. For pairs of reviewers, we report percent "
        "agreement and Cohen's kappa."
    )
    yield (
        f"All intervals have a level of {level}. Intervals of simple shares are Wilson intervals. Reviewers are "
        "treated as fixed, so the intervals describe further items that the same reviewers would label."
    )
    yield from _tests(agreement)
    decided = report.consensus
    yield (
        f"The consensus is the category of the {decided.agreed} items whose first labels (two or more) were all "
        f"equal; {decided.split} items were split."
    )
    yield from _classifiers(report)
    yield from _resampling(report)


def _plan(plan: PlanFacts | None, n_retests: int) -> Iterator[str]:
    if not plan:
        return
    seed = "" if plan.seed is None else f" (seed {plan.seed})"  # an anonymised study has no seed
    if plan.paper:
        yield f"Items were split at random into parts, and each part was assigned to one pair of reviewers{seed}."
        return
    if plan.assigned:
        yield f"{_assigned(plan.assigned)}, in balanced blocks within applications{seed}."
    if plan.repeats:
        given = f"{counted(n_retests, 'pair')} of first and second labels" if n_retests else "no second label"
        yield (
            f"The reviewers were asked for {counted(plan.repeats, 'label')} of items that they had labelled before, "
            f"under another code; {given} entered the analysis."
        )


def _assigned(n_items_by_reviewers: Mapping[str, int]) -> str:
    """Return to how many reviewers the items were assigned, as the plan became."""
    rows = sorted((int(n_reviewers), n_items) for n_reviewers, n_items in n_items_by_reviewers.items())
    if len(rows) == 1:
        ((n_reviewers, n_items),) = rows
        each = "The only item" if n_items == 1 else f"Each of the {n_items} items"
        return f"{each} was assigned to {counted(n_reviewers, 'reviewer')}"
    parts = [
        f"{n_items} {'was assigned' if n_items == 1 else 'were assigned'} to {counted(n_reviewers, 'reviewer')}"
        for n_reviewers, n_items in rows
    ]
    return f"Of the {sum(n_items for _, n_items in rows)} items, {joined(parts)}"


def _tests(agreement: Agreement) -> Iterator[str]:
    """Yield the tests of agreement in this report."""
    made = []
    if agreement.pair_equality and agreement.pair_equality.p is not None:
        made.append("a Wald test of equal agreement of all pairs (linearised item terms, F distribution)")
    if agreement.chance_test.p is not None:
        made.append("a test of kappa = 0 with the null standard error of Fleiss, Nee and Landis")
    leniency = agreement.leniency
    if leniency and leniency.overall.p is not None:
        made.append(f"a {leniency.overall.test} test of equal leniency (conditional logit on items)")
    if leniency and leniency.pairs:
        made.append("McNemar's mid-p test of the leniency of two reviewers, with Holm's correction")
    if agreement.retest and leniency:
        made.append("McNemar's mid-p test of drift between test and retest, with Holm's correction")
    if agreement.order and agreement.order.matters is not None:
        made.append("tests of trend over each reviewer's item order, with Bonferroni's correction")
    if made:
        yield f"Tests: {'; '.join(made)}."


def _classifiers(report: Report) -> Iterator[str]:
    settings = report.parameters.verdicts or {}
    comparisons = [
        f"{name} ({'; '.join(map(describe_value, settings[name]))})" if settings.get(name) else str(name)
        for name in report.classifiers
    ]
    if not comparisons:
        return
    holm = " with Holm's correction" if len(comparisons) > 1 else ""
    resampled = report.parameters.resampling.n_bootstrap
    whose = "Matthews'" if len(report.style.category_set.names) == 2 else "Gorodkin's"
    mcc = f"{whose} correlation has a bootstrap interval over items. " if resampled else ""
    scored = any(row.scores for row in report.classifiers.values())
    auc = "Areas under the ROC curve have DeLong's standard error. " if scored else ""
    between = "; the same test compares the classifiers with each other" if len(comparisons) > 1 else ""
    positive = report.style.category_set.positive
    of_positive = f" (positive category: {positive})" if positive else ""
    rates = "Their rates have intervals clustered by application, or Wilson intervals if no application is known. "
    yield (
        f"Classifiers were compared with the consensus{of_positive}: {', '.join(comparisons)}. "
        f"{rates}{mcc}{auc}The reference is the majority rule, which gives every item the most "
        "frequent "
        f"category of the agreed items, compared by McNemar's mid-p test{holm}{between}. Where applications are known, "
        "the test flips the signs of whole applications."
    )


def _resampling(report: Report) -> Iterator[str]:
    resampling, latent, by_category = report.parameters.resampling, report.consensus.latent, report.by_category
    if by_category and by_category.truth.identified:
        tested = (
            ""
            if by_category.truth.p is None
            else f"; its fit was tested by a parametric bootstrap ({resampling.n_misfit} draws, seed {resampling.seed})"
        )
        yield f"Dawid and Skene's model of true categories and reviewers' errors was fitted by EM{tested}."
    if resampling and resampling.n_bootstrap:
        yield f"Bootstrap intervals come from {resampling.n_bootstrap} draws of items (seed {resampling.seed})."
    if not (resampling and resampling.n_sweeps):
        return
    if latent is None:
        return
    if not latent.identifiability.identified:
        yield "A latent class model is not reported because these labels do not identify it."
        return
    yield "A latent class model with conditional independence was fitted by EM."
    if not latent.fitted:
        return
    if latent.fitted.state.p is not None:
        yield (
            "Independent errors were tested at a joint level of 0.05, for the reviewers alone, with each classifier, "
            "and with a prevalence for each combination of verdicts: by likelihood ratio tests against models of "
            "dependent errors, corrected for all models."
        )
    if latent.fitted.prevalence.value is not None:
        yield (
            f"Its {100 * latent.fitted.level:g} % credible intervals come from a Gibbs sampler ({resampling.n_sweeps} "
            f"sweeps in each of four chains, seed {resampling.seed})."
        )
    elif latent.fitted.state.state == "rejected":
        yield "The model was rejected, so its numbers are withheld."


def checklist_sections(report: Report, titles: Collection[str]) -> Iterator[Section]:
    """Yield the GRRAS checklist and, if there are classifiers, the STARD checklist.

    `titles` are the titles of the sections in the report. An answer names no other section.
    """
    yield Section("GRRAS checklist", tuple(_table(report, titles, "grras", GRRAS_TITLE, GRRAS)))
    if report.classifiers:
        yield Section("STARD checklist", tuple(_table(report, titles, "stard", STARD_TITLE, STARD)))


def _table(
    report: Report, titles: Collection[str], name: str, title: str, items: tuple[tuple[str, str, str | Answer], ...]
) -> Iterator[Block]:
    answers = [(number, what, where if isinstance(where, str) else where(report)) for number, what, where in items]
    rows = [(number, what, _in_report(where, titles)) for number, what, where in answers]
    yield table(
        f"{title} The author of the paper must fill in each item with the answer “{AUTHOR}”.",
        ("Item", "Requirement", "Answer"),
        rows,
        name=name,
    )


def _in_report(answer: str, titles: Collection[str]) -> str:
    """Return an answer of a checklist without the sections that this report does not have."""
    places = [place for place in answer.split("; ") if place.partition(" (")[0] not in OPTIONAL.difference(titles)]
    return "; ".join(places) or "Not in this report"


def _where_question(report: Report) -> str:
    question = report.study.question
    return f"Question to the reviewers: “{question}”" if question else AUTHOR


def _where_sample(report: Report) -> str:
    decided = report.consensus
    return f"{decided.n_items} items, see In short. Sampling of items: {AUTHOR}"


def _where_reviewers(report: Report) -> str:
    return f"{report.n_reviewers} reviewers. Experience of reviewers: {AUTHOR}"


def _where_plan(report: Report) -> str:
    return "Methods; Parameters and provenance (plan, seed)" if report.plan else AUTHOR


def _where_blind(report: Report) -> str:
    return "Methods: reviewers did not see other answers, names or verdicts" if report.study.question else AUTHOR


def _where_n_labels(report: Report) -> str:
    agreement, decided = report.agreement, report.consensus
    return (
        f"{counted(agreement.n_labels, 'first label')} on {counted(agreement.n_items, 'item')}; items with fewer than "
        f"two labels: {decided.incomplete}. See Consensus and items left out"
    )


def _where_thresholds(report: Report) -> str:
    scored = any(row.scores for row in report.classifiers.values())
    return "Scores and thresholds (fixed, in sample, out of fold)" if scored else "No scores"


def _where_indeterminate(report: Report) -> str:
    lacking = [row.against.n_without_verdict for row in report.classifiers.values() if row.against.n_without_verdict]
    if not lacking:
        return "There were none: every classifier has a verdict on each agreed item"
    fewest, most = min(lacking), max(lacking)
    n = counted(most, "agreed item") if fewest == most else f"{fewest} to {most} agreed items"
    which = f"{len(lacking)} of {counted(len(report.classifiers), 'classifier')}"
    return f"Left out: {which} lack{'s' if len(lacking) == 1 else ''} a verdict on {n}. See Confusion matrices"


def _where_positive(report: Report) -> str:
    return (
        f"Methods: {report.style.category_set.positive}"
        if report.style.category_set.positive
        else "Rates are per category"
    )


def _where_course(report: Report) -> str:
    return "Course of the study" if report.course else AUTHOR


GRRAS_TITLE = "Guidelines for Reporting Reliability and Agreement Studies (Kottner et al. 2011)."
GRRAS: tuple[tuple[str, str, str | Answer], ...] = (
    ("1", "The title or abstract says that reliability or agreement was studied", AUTHOR),
    ("2", "The measurement is named and described", _where_question),
    ("3", "The subject population of interest", AUTHOR),
    ("4", "The rater population of interest", _where_reviewers),
    ("5", "What is known about reliability and agreement, and the reason for the study", AUTHOR),
    ("6", "How the numbers of raters, subjects and replicate observations were chosen", AUTHOR),
    ("7", "How subjects and raters were sampled", _where_sample),
    ("8", "How the measurements were made: time between them, conditions and blinding", _where_blind),
    ("9", "Whether measurements were made independently", _where_plan),
    ("10", "The statistical analysis", "Methods"),
    ("11", "Numbers of raters, subjects and replicate observations", _where_n_labels),
    ("12", "Characteristics of the raters and subjects", "Agreement by group; Reviewers"),
    (
        "13",
        "Estimates of reliability and agreement with their uncertainty",
        "In short; Overall agreement; Agreement of pairs",
    ),
    ("14", "Practical relevance of the results", AUTHOR),
    ("15", "Detailed results, if possible online", "report.json, labels.csv and the appendix"),
)
STARD_TITLE = "Standards for Reporting of Diagnostic Accuracy, STARD 2015 (Bossuyt et al. 2015), for classifiers."
STARD: tuple[tuple[str, str, str | Answer], ...] = (
    ("1", "The title names at least one measure of accuracy", AUTHOR),
    ("2", "Structured abstract", "In short"),
    ("3", "Background and intended use of the index test", AUTHOR),
    ("4", "Objectives and hypotheses", AUTHOR),
    ("5", "Whether data were collected before or after the tests", _where_course),
    ("6", "Eligibility of items", AUTHOR),
    ("7", "On what basis items were identified", AUTHOR),
    ("8", "Where and when items were identified", AUTHOR),
    ("9", "Whether items are a consecutive, random or convenience series", AUTHOR),
    (
        "10a",
        "The index tests, in enough detail to repeat them",
        "Methods; Confusion matrices (computed with)",
    ),
    ("10b", "The reference standard, in enough detail to repeat it", "Methods; Consensus and items left out"),
    ("11", "Why this reference standard was chosen", AUTHOR),
    ("12a", "Thresholds of the index tests, and whether they were fixed in advance", _where_thresholds),
    ("12b", "Which result of the reference standard counts as positive", _where_positive),
    (
        "13a",
        "Whether the index tests were run with knowledge of the reference standard",
        "No: classifiers use only the measurements",
    ),
    ("13b", "Whether reviewers knew the results of the index tests", _where_blind),
    ("14", "How measures of accuracy were estimated and compared", "Methods"),
    ("15", "How indeterminate results were handled", _where_indeterminate),
    ("16", "How missing data were handled", "Consensus and items left out; Overall agreement"),
    (
        "17",
        "How accuracy varies, and whether this was analysed as planned",
        "Classifiers against each consensus",
    ),
    ("18", "Intended sample size, and how it was determined", AUTHOR),
    ("19", "Flow of items", "In short; Consensus and items left out"),
    ("20", "Characteristics of items", "Agreement by group"),
    ("21a", "Distribution of severity of the condition", AUTHOR),
    ("21b", "Distribution of alternative diagnoses", AUTHOR),
    ("22", "Time and interventions between index test and reference standard", _where_course),
    ("23", "Cross tabulation of index test and reference standard", "Confusion matrices"),
    ("24", "Estimates of accuracy and their precision", "Classifiers against the majority rule"),
    ("25", "Adverse events", "Not applicable"),
    ("26", "Limitations, bias, uncertainty, generalisability", f"Latent class; True categories; {AUTHOR}"),
    ("27", "Implications for practice", AUTHOR),
    ("28", "Registration", AUTHOR),
    ("29", "Where readers can find the full protocol", "Parameters and provenance"),
    ("30", "Sources of funding", AUTHOR),
)
