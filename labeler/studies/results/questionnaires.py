"""The answers to the questionnaire, and the agreement within groups of people who gave the same answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from labeler.safe_text import csv_text
from labeler.studies.preparing import assigning
from labeler.studies.store import Database, actions, events, labels, studies

LEAST = 3  # people of a group; the agreement of two would be that of two known people


@dataclass(frozen=True)
class QuestionnaireAnswer:
    """The answer of one person to one question; "" if the person left it out."""

    reviewer: str
    question: str
    answer: str


def answers(db: Database) -> list[QuestionnaireAnswer]:
    """Return all answers, in the order in which people gave them and of the questions.

    The caller must make sure that the person who sees the result may see names.
    """
    asked = [ask.text for ask in studies.get(db).question.ask]
    given = {
        event.actor: {**event.details["answers"], **event.details.get("texts", {})}
        for event in events.of_actions(db, [actions.ANSWER_QUESTIONNAIRE])
    }
    return [QuestionnaireAnswer(name, text, said.get(text, "")) for name, said in given.items() for text in asked]


def as_csv(given: Sequence[QuestionnaireAnswer]) -> str:
    """Return the answers as the text of a CSV file."""
    return csv_text(("reviewer", "question", "answer"), [(row.reviewer, row.question, row.answer) for row in given])


def groups(db: Database, *, level: float = 0.95) -> list[dict[str, Any]]:
    """Return the percent agreement within each group of people who chose the same answer to the same question.

    Own words make no groups. The agreement of a group with fewer than three people is None.
    """
    from analysis.raters.agreement import percent_agreement  # slow to import
    from analysis.raters.tables import count_table, counted_labels

    question = studies.get(db).question
    people: dict[tuple[str, str], list[str]] = defaultdict(list)
    for given in answers(db):
        people[given.question, given.answer].append(given.reviewer)
    first = counted_labels(labels.classes(db), question.classes)
    first = first[~first["item"].isin(assigning.not_counted(db))]
    rows = []
    for ask in question.ask:
        for answer in ask.answers:
            names = people[ask.text, answer]
            own = first[first["rater"].isin(names)]
            agreement = percent_agreement(count_table(own, question.classes), level=level) if len(own) else None
            is_told = len(names) >= LEAST and agreement is not None
            rows.append({
                "question": ask.text, "answer": answer, "people": len(names),
                "agreement": asdict(agreement) if is_told and agreement is not None else None,
            })  # fmt: skip
    return rows
