"""The page Practice: a round with artificial items and those that a coordinator chose.

The answers are not stored and do not count. The whole round is sent at once, and the browser needs no server for it.
"""

from collections.abc import Sequence
from secrets import randbelow
from typing import Any

import streamlit as st

from labeler.model import Question, counted
from labeler.questions import NOT_SURE
from labeler.screen.component import brief as brief_of
from labeler.service.labelling import guide, own_examples, reviewing
from labeler.service.labelling.reviewing import Brief
from labeler.store import Database
from labeler.ui import component
from labeler.ui.reviewer import label

KEY = "practice"
SEED, OVER = "practice_seed", "practice_answers"  # keys in the session state: of the round, and of its answers


def render(db: Database, reviewer_id: int) -> None:
    """Show the practice round and, when it is over, a button for another round."""
    label.deliver(db, reviewer_id)
    if not own_examples.n_practice(db):
        st.info("This study asks its own question, so it has no practice items. The page Guide explains each answer.")
        return
    if practice_round(db) and st.button("Practise once more, with other items", key="again"):
        del st.session_state[SEED], st.session_state[OVER]
        st.rerun()


def practise_on(n_items: int) -> str:
    """Return the text of the button that starts a practice round."""
    return "Practise on six items" if n_items == guide.N_PRACTICE else f"Practise on {counted(n_items, 'item')}"


def practice_round(db: Database) -> bool:
    """Show the practice items with an explanation after each answer, then the score.

    Return whether the round is over.
    """
    brief = reviewing.brief(db)
    seed = st.session_state.setdefault(SEED, randbelow(2**31))
    examples = own_examples.practice(db, seed)
    change = component.change_of(KEY)
    if isinstance(change, dict) and change.get("round") == seed:
        st.session_state[OVER] = answers_in(change.get("answers"), examples, brief.question)
    answers: dict[str, str] = st.session_state.get(OVER, {})
    component.show(KEY, data_of(examples, brief, seed, answers))
    for number, example in enumerate(examples, start=1):
        if f"P{number}" in answers:
            st.text(f"P{number}: {example.feedback(answers[f'P{number}'])}")
    return len(answers) == len(examples)


def answers_in(sent: object, examples: Sequence[guide.Example], question: Question) -> dict[str, str]:
    """Return the answers of a round that is over; return no answers if the browser sent anything else."""
    codes = {f"P{number}" for number in range(1, len(examples) + 1)}
    if not isinstance(sent, dict) or sent.keys() != codes or not all(map(question.is_answer, sent.values())):
        return {}
    return sent


def _known_marks(example: guide.Example) -> dict[str, Any]:
    """Return the known marks of an example, from which the component says how far each mark was from them."""
    if example.marks is None:
        return {}
    return {"truth": example.marks, "explanation": f"{example.title}: {example.explanation}"}


def data_of(
    examples: Sequence[guide.Example], brief: Brief, seed: int, answers: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a whole round in the form that the component needs, with an explanation for each answer."""
    possible = (*brief.question.labels, *([NOT_SURE] if brief.question.not_sure else []))
    return {
        "mode": "practice",
        "round": seed,
        "given": answers or {},
        "items": [
            {
                "code": f"P{number}",
                "revision": 0,
                "panels": example.panels,
                "explains": {answer: example.feedback(answer) for answer in possible},
                "right": example.category,
                **_known_marks(example),
            }
            for number, example in enumerate(examples, start=1)
        ],
        **brief_of(brief.question, brief.protocol, brief.kind.help, brief.kind.overlay),
    }
