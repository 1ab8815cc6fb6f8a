"""Build the GRRAS and STARD 2015 checklists: where the report answers each item, or what the author must add."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from analysis.document import Block, Section
from analysis.report._wording import stat_table

Content = Mapping[str, Any]
Answer = Callable[[Content], str]

AUTHOR = "(author)"
# sections that a report has only if there are data for them
OPTIONAL = {
    "Classifiers against each consensus",
    "Scores and thresholds",
    "Comparison of classifiers",
    "Course of the study",
}


def checklist_sections(content: Content, titles: Collection[str]) -> Iterator[Section]:
    """Yield the GRRAS checklist and, if there are classifiers, the STARD checklist.

    `titles` are the titles of the sections in the report. An answer names no other section.
    """
    yield Section("GRRAS checklist", tuple(_table(content, titles, "grras", GRRAS_TITLE, GRRAS)))
    if content["classifiers"]:
        yield Section("STARD checklist", tuple(_table(content, titles, "stard", STARD_TITLE, STARD)))


def _table(
    content: Content, titles: Collection[str], name: str, title: str, items: tuple[tuple[str, str, str | Answer], ...]
) -> Iterator[Block]:
    answers = [(number, what, where if isinstance(where, str) else where(content)) for number, what, where in items]
    rows = [(number, what, _in_report(where, titles)) for number, what, where in answers]
    yield stat_table(
        name,
        f"{title} The author of the paper must fill in each item with the answer “{AUTHOR}”.",
        ("Item", "Requirement", "Answer"),
        rows,
    )


def _in_report(answer: str, titles: Collection[str]) -> str:
    """Return an answer of a checklist without the sections that this report does not have."""
    places = [place for place in answer.split("; ") if place.partition(" (")[0] not in OPTIONAL.difference(titles)]
    return "; ".join(places) or "Not in this report"


def _question(content: Content) -> str:
    question = content["study"]["question"]
    return f"Question to the reviewers: “{question}”" if question else AUTHOR


def _sample(content: Content) -> str:
    decided = content["consensus"]
    return f"{decided['n_items']} items, see In short. Sampling of items: {AUTHOR}"


def _reviewers(content: Content) -> str:
    return f"{len(content['agreement']['leniency']['raters'])} reviewers. Experience of reviewers: {AUTHOR}"


def _plan(content: Content) -> str:
    return "Methods; Parameters and provenance (plan, seed)" if content["plan"] else AUTHOR


def _blind(content: Content) -> str:
    return "Methods: reviewers did not see other answers, names or verdicts" if content["study"]["question"] else AUTHOR


def _n_labels(content: Content) -> str:
    agreement, decided = content["agreement"], content["consensus"]
    return (
        f"{agreement['n_labels']} first labels on {agreement['n_items']} items; {decided['incomplete']} items have "
        "fewer than two labels. See Consensus and items left out"
    )


def _retest(content: Content) -> str:
    return "Reviewers (test and retest)" if content["agreement"]["retest"] else "Not measured"


def _thresholds(content: Content) -> str:
    scored = any(row["scores"] for row in content["classifiers"].values())
    return "Scores and thresholds (fixed, in sample, out of fold)" if scored else "No scores"


def _indeterminate(content: Content) -> str:
    n = sum(row["n_without_verdict"] for row in content["classifiers"].values())
    return f"{n} agreed items without a verdict were left out. See Confusion matrices"


def _course(content: Content) -> str:
    return "Course of the study" if content.get("course") else AUTHOR


GRRAS_TITLE = "Guidelines for Reporting Reliability and Agreement Studies (Kottner et al. 2011)."
GRRAS: tuple[tuple[str, str, str | Answer], ...] = (
    ("1", "The title or abstract says that reliability or agreement was studied", AUTHOR),
    ("2", "The measurement is named and described", _question),
    ("3", "The subject population of interest", AUTHOR),
    ("4", "The rater population of interest", _reviewers),
    ("5", "What is known about reliability and agreement, and the reason for the study", AUTHOR),
    ("6", "How the numbers of raters, subjects and replicate observations were chosen", AUTHOR),
    ("7", "How subjects and raters were sampled", _sample),
    ("8", "How the measurements were made: time between them, conditions and blinding", _blind),
    ("9", "Whether measurements were made independently", _plan),
    ("10", "The statistical analysis", "Methods"),
    ("11", "Numbers of raters, subjects and replicate observations", _n_labels),
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
    ("5", "Whether data were collected before or after the tests", _course),
    ("6", "Eligibility of items", AUTHOR),
    ("7", "On what basis items were identified", AUTHOR),
    ("8", "Where and when items were identified", AUTHOR),
    ("9", "Whether items are a consecutive, random or convenience series", AUTHOR),
    ("10a", "The index tests, in enough detail to repeat them", "Methods; Confusion matrices (computed with)"),
    ("10b", "The reference standard, in enough detail to repeat it", "Methods; Consensus and items left out"),
    ("11", "Why this reference standard was chosen", AUTHOR),
    ("12a", "Thresholds of the index tests, and whether they were fixed in advance", _thresholds),
    ("12b", "Which result of the reference standard counts as positive", "Methods: dissimilar"),
    (
        "13a",
        "Whether the index tests were run with knowledge of the reference standard",
        "No: classifiers use only the measurements",
    ),
    ("13b", "Whether reviewers knew the results of the index tests", _blind),
    ("14", "How measures of accuracy were estimated and compared", "Methods"),
    ("15", "How indeterminate results were handled", _indeterminate),
    ("16", "How missing data were handled", "Consensus and items left out; Overall agreement"),
    ("17", "How accuracy varies, and whether this was analysed as planned", "Classifiers against each consensus"),
    ("18", "Intended sample size, and how it was determined", AUTHOR),
    ("19", "Flow of items", "In short; Consensus and items left out"),
    ("20", "Characteristics of items", "Agreement by group"),
    ("21a", "Distribution of severity of the condition", AUTHOR),
    ("21b", "Distribution of alternative diagnoses", AUTHOR),
    ("22", "Time and interventions between index test and reference standard", _course),
    ("23", "Cross tabulation of index test and reference standard", "Confusion matrices"),
    ("24", "Estimates of accuracy and their precision", "Classifiers against the majority rule"),
    ("25", "Adverse events", "Not applicable"),
    ("26", "Limitations, bias, uncertainty, generalisability", f"Latent class; {AUTHOR}"),
    ("27", "Implications for practice", AUTHOR),
    ("28", "Registration", AUTHOR),
    ("29", "Where readers can find the full protocol", "Parameters and provenance"),
    ("30", "Sources of funding", AUTHOR),
)
