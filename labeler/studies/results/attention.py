"""The answers to attention checks, which only this module reads, and only after the study is closed."""

from collections import defaultdict
from typing import TYPE_CHECKING

from labeler.safe_text import csv_text
from labeler.studies.model import Assignment, Kind
from labeler.studies.plan.lifecycle import Action, require
from labeler.studies.preparing import assigning, attention, mark_consensus
from labeler.studies.questions import Question
from labeler.studies.store import Database, assignments, items, labels, studies

if TYPE_CHECKING:
    from analysis.report import AttentionChecks

COLUMNS = ("reviewer", "item", "change", "known", "place", "n_items", "at_utc", "label", "right")


def checks(db: Database, *, level: float = 0.95) -> "AttentionChecks":
    """Return how often each reviewer was right, with all answers in the reviewer's order.

    A check that a reviewer no longer has, because they left, counts if it has a label. Raises NotAllowed before the
    study is closed. The caller must make sure that the person who sees the result may see names.
    """
    from analysis.raters.tables import first_of, with_defaults  # as below, slow to import
    from analysis.report import CheckAnswer, attention_checks

    study = studies.get(db)
    require(study, Action.SEE_ATTENTION)
    question = study.question
    known = {check.name: check for check in items.attention_checks(db)}
    table = labels.table(db, with_checks=True)
    first = first_of(with_defaults(table), question.labels_in(table["label"]))
    columns = first.loc[first["kind"] == Kind.ATTENTION, ["rater", "item", "created_utc", "category"]]
    given: dict[tuple[str, str], tuple[str, str]] = {
        (rater, item): (at_utc, label) for rater, item, at_utc, label in columns.to_numpy().tolist()
    }
    own = defaultdict[str, list[Assignment]](list)
    for row in assignments.everything(db):
        planned = row.assignment
        is_answered = planned.kind is Kind.ATTENTION and (planned.reviewer, planned.item) in given
        if planned.kind is not Kind.CALIBRATION and (is_answered or not row.ended):
            own[planned.reviewer].append(planned)
    n_points, changes = assigning.n_points_of(db), {c.category: c.what for c in attention.changes_of(question)}
    answers = []
    for reviewer, of_reviewer in own.items():
        for place, planned in enumerate(sorted(of_reviewer, key=lambda planned: planned.position), start=1):
            if planned.kind is not Kind.ATTENTION:
                continue
            check = known[planned.item]
            at_utc, label = given.get((reviewer, check.name), (None, None))
            right = None if label is None else _is_equal(question, check.answer, label, n_points(check.name))
            what = changes.get(check.answer, "") if check.is_changed else ""
            answers.append(
                CheckAnswer(reviewer, check.source, what, check.answer, place, len(of_reviewer), at_utc, label, right)
            )
    return attention_checks(answers, len(question.classes), level=level)


def _is_equal(question: Question, known: str, label: str, n: int) -> bool:
    """Return whether a label is the known answer; marks may be as far from it as marks of two people who agree."""
    if not question.is_marked:
        return label == known
    return not mark_consensus.consensus(question, {"known": known, "reviewer": label}, n).is_split


def rows(result: "AttentionChecks") -> list[dict[str, str]]:
    """Return a row for each reviewer, for people to read."""
    from analysis.report import describe_checked

    return [describe_checked(result, row) for row in result.reviewers]


def sentences(result: "AttentionChecks") -> list[str]:
    """Return what the checks say about the reviewers, as sentences."""
    from analysis.report import describe_attention

    return describe_attention(result)


def as_csv(result: "AttentionChecks") -> str:
    """Return all answers as the text of a CSV file."""
    return csv_text(COLUMNS, [[getattr(answer, name) for name in COLUMNS] for answer in result.answers])
