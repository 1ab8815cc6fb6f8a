"""The questionnaire of a study: a few questions about the reviewers, which each of them is asked once.

The log keeps the answers, so they can only be appended.
"""

from collections.abc import Mapping
from datetime import datetime

from labeler.errors import AnswerRefused
from labeler.studies.labelling import reviewing
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.questions import START, TEXT, Ask
from labeler.studies.store import Database, actions, events, studies
from labeler.studies.store.events import Deed
from labeler.text import is_storable

MAX_TEXT = 1000


def due(db: Database, reviewer_id: int) -> tuple[Ask, ...]:
    """Return the questions that a reviewer is to be asked now; empty if it is not the time, or all was answered.

    A questionnaire at the end comes when the reviewer has labelled everything outside a calibration round.
    """
    question = studies.get(db).question
    if not question.ask:
        return ()
    own = reviewing.desk(db, reviewer_id)
    if own.closed or _has_answered(db, own.person.name):
        return ()
    is_time = question.ask_at == START or reviewing.is_through(own)
    return question.ask if is_time else ()


def answer(db: Database, reviewer_id: int, given: Mapping[str, str], *, now: datetime) -> None:
    """Store the answers of a reviewer, by the text of the question; answers that are missing or "" were left out.

    A second call stores nothing. Raises AnswerRefused if an answer is not possible.
    """
    with db.atomic():
        person = identity.require(db, reviewer_id, Role.REVIEWER)
        asked = {ask.text: ask for ask in studies.get(db).question.ask}
        said = {text: words.strip() for text, words in given.items() if words.strip()}
        for text, words in said.items():
            is_possible = text in asked and (words in asked[text].answers or asked[text].kind == TEXT)
            if not is_possible or len(words) > MAX_TEXT or not is_storable(words):
                raise AnswerRefused(f"The answer to {text[:60]!r} cannot be stored. Reload the page to continue.")
        if not _has_answered(db, person.name):
            texts = {text: words for text, words in said.items() if asked[text].kind == TEXT}
            chosen = {text: words for text, words in said.items() if text not in texts}
            Deed(db, person.name, now).log(actions.ANSWER_QUESTIONNAIRE, answers=chosen, texts=texts)


def _has_answered(db: Database, name: str) -> bool:
    return any(event.actor == name for event in events.of_actions(db, [actions.ANSWER_QUESTIONNAIRE]))
