"""The paragraph on methods, and the GRRAS and STARD 2015 checklists."""

from collections.abc import Callable, Collection, Iterator, Mapping

from analysis.document import (
    Block,
    Section,
    counted,
    describe_value,
    joined,
    table,
)
from analysis.report._agreement import Agreement, overall
from analysis.report._report import PlanFacts, Report
from analysis.report._settings import NO_SIGNAL
from analysis.report._units import BY_ITEM

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
        "We report percent agreement and Fleiss' kappa with profile likelihood intervals over the rows of labels. We "
        f"also report the coefficients {joined(others)}. For pairs of reviewers, we report percent agreement and "
        f"Cohen's kappa. {agreement.units.words}"
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
    if agreement.drift and agreement.drift.changes is not None:
        made.append("regressions of the agreement of each pair on the places of the labels, with Holm's correction")
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
    mcc = "Matthews' correlation has a profile likelihood interval. "
    if len(report.style.category_set.names) > 2:
        resampled = report.parameters.resampling.n_bootstrap
        mcc = "Gorodkin's correlation has a bootstrap interval over items. " if resampled else ""
    scored = any(row.scores for row in report.classifiers.values())
    auc = "Areas under the ROC curve have DeLong's standard error. " if scored else ""
    between = "; the same test compares the classifiers with each other" if len(comparisons) > 1 else ""
    positive = report.style.category_set.positive
    of_positive = f" (positive category: {positive})" if positive else ""
    by_application = report.agreement.units.by != BY_ITEM
    rates = f"Their rates have {'intervals clustered by application' if by_application else 'Wilson intervals'}. "
    flips = " The test flips the signs of whole applications." if by_application else ""
    yield (
        f"Classifiers were compared with the consensus{of_positive}: {', '.join(comparisons)}. "
        f"{rates}{mcc}{auc}The reference is the majority rule, which gives every item the most "
        "frequent "
        f"category of the agreed items, compared by McNemar's mid-p test{holm}{between}.{flips}"
    )


def _resampling(report: Report) -> Iterator[str]:
    resampling, latent, by_category = report.parameters.resampling, report.consensus.latent, report.by_category
    if by_category and by_category.truth.identified and by_category.truth.prevalence:
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
    if latent.fitted.prevalence.reason == NO_SIGNAL:
        yield f"Its numbers are not shown, because {NO_SIGNAL}."
    if latent.fitted.prevalence.value is not None:
        yield (
            f"Its {100 * latent.fitted.level:g} % credible intervals come from a Gibbs sampler ({resampling.n_sweeps} "
            f"sweeps in each of four chains, seed {resampling.seed})."
        )
    elif latent.fitted.state.state == "rejected" and latent.fitted.prevalence.reason != NO_SIGNAL:
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
