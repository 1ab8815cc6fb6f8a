import json

import pytest

from labeler.studies.questions import NOT_SURE, START, WITHDRAWN, Ask, Category, Question, is_label
from labeler.studies.screen.kinds import QUESTIONS

TRIAGE = Question("What is this alert?", (Category("regression", "r", "Slower."), Category("noise", "x", "Not real.")))
ASKING = Question(
    TRIAGE.text, TRIAGE.categories, ask=(Ask("Years?", "choice", ("0 to 5", "more")), Ask("Anything else?", "text"))
)


@pytest.mark.parametrize("question", [*QUESTIONS.values(), TRIAGE, ASKING])
def test_a_question_is_read_back_from_its_text_and_its_definition(question):
    again = Question.of(question.text, json.loads(json.dumps(question.definition())))
    assert (again, again.hash) == (question, question.hash)
    assert [category.definition() for category in again.categories] == question.definition()["category"]


def test_each_part_of_a_question_changes_its_hash():
    first, second = TRIAGE.categories
    others = [
        Question("What is it?", TRIAGE.categories),
        Question(TRIAGE.text, (second, first)),
        Question(TRIAGE.text, (first, Category("noise", "y", second.meaning))),
        Question(TRIAGE.text, (first, Category("noise", "x", "Chance."))),
        Question(TRIAGE.text, TRIAGE.categories, ordered=True),
        Question(TRIAGE.text, TRIAGE.categories, positive="noise"),
        Question(TRIAGE.text, TRIAGE.categories, not_sure=False),
        ASKING,
        Question(TRIAGE.text, TRIAGE.categories, ask=ASKING.ask, ask_at=START),
    ]
    assert len({question.hash for question in [TRIAGE, *others]}) == len(others) + 1


def test_not_sure_and_an_undone_answer_are_answers_but_no_labels():
    assert [is_label(answer) for answer in (*TRIAGE.answers, None)] == [True, True, False, False, False]
    assert TRIAGE.answers == ("regression", "noise", NOT_SURE, WITHDRAWN)
    assert not TRIAGE.is_answer("similar")
    assert not Question("?", TRIAGE.categories, not_sure=False).is_answer(NOT_SURE)


def test_an_unknown_category_is_named_with_those_there_are():
    assert (TRIAGE.category("noise").key, TRIAGE.category("noise").label) == ("x", "Noise")
    with pytest.raises(ValueError, match="'similar' is not one of: regression, noise"):
        TRIAGE.category("similar")
