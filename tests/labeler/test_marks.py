"""Answers that are marks: which are possible, and how they are stored."""

import json

import pytest

from labeler import marks
from labeler.errors import InputError
from labeler.marks import Mark
from labeler.studies.questions import MARKED, NOT_SURE, WITHDRAWN, Category, Question, read_question, to_toml

NO_CHANGE = Category("no change", "c", "The level stays.")
KINDS = (Category("up", "a", "It becomes slower."), Category("down", "d", "It becomes faster."))


def asked(*kinds, how_many=marks.CHANGES, ranges=False):
    """Return a question that is answered with marks."""
    return Question(
        "Where?", (NO_CHANGE, *kinds), "history", "points", no_mark="no change", marks=how_many, ranges=ranges
    )


PLAIN, OF_KINDS, WITH_RANGES = asked(), asked(*KINDS), asked(ranges=True)
ONE, START = asked(how_many=marks.CHANGE), asked(how_many=marks.START)


@pytest.mark.parametrize(
    ("question", "answer", "stored"),
    [
        (PLAIN, "[12,80]", "[12, 80]"), (PLAIN, " [1]".strip(), "[1]"), (PLAIN, "[99]", "[99]"),
        (PLAIN, "no change", "no change"), (PLAIN, str(list(range(1, 100))), str(list(range(1, 100)))),
        (WITH_RANGES, "[[10,14], 20]", "[[10, 14], 20]"), (ONE, "[7]", "[7]"), (START, "[0]", "[0]"),
        (OF_KINDS, '[{"at":3,"kind":"up"}]', '[{"at": 3, "kind": "up"}]'),
    ],
)  # fmt: skip
def test_a_possible_answer_is_stored_in_one_form(question, answer, stored):
    assert question.checked_answer(answer, 100) == stored
    assert question.checked_answer(stored, 100) == stored
    assert question.is_label(answer)
    assert question.class_of(stored) == (MARKED if stored.startswith("[") else stored)


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        (PLAIN, "[]", "there is no mark"), (PLAIN, "[80, 12]", "80 and 12 must be two points in ascending order"),
        (PLAIN, "[12, 12]", "12 and 12 must be two points"), (PLAIN, "[0]", "point 0 cannot be marked"),
        (PLAIN, "[-3]", "the points are 1 to 99"), (PLAIN, "[100]", "point 100 cannot be marked; the points are 1 to"),
        (PLAIN, "[1.5]", r"a list of points such as \[12, 80\], not 1.5"), (PLAIN, "[true]", "not true"),
        (PLAIN, '["7"]', "not \"7\""), (PLAIN, "[[3, 5]]", "takes no ranges, such as 3 to 5"), (PLAIN, "[1", "a list"),
        (PLAIN, "[NaN]", "not NaN"), (PLAIN, "[" * 5000, "a list of points"),
        (PLAIN, "[1" + ",1" * 9000, "at most 1000"),
        (PLAIN, "up", r"'up' is not one of: no change, not sure, withdrawn, marks such as \[12\]"),
        (PLAIN, '[{"at": 3, "kind": "up"}]', "unknown kind"), (OF_KINDS, "[3]", "the mark 3 has no kind: up, down"),
        (OF_KINDS, '[{"at": 3, "kind": "left"}]', "unknown kind: up, down"), (OF_KINDS, "up", "is not one of"),
        (OF_KINDS, '[{"at": 3, "kind": "up", "by": 2}]', "a list of points"),
        (WITH_RANGES, "[[14, 10]]", "the range 14 to 10 does not end after it begins"),
        (WITH_RANGES, "[[5, 9], 9]", "5 to 9 and 9 must be"), (WITH_RANGES, "[[90, 100]]", "cannot be marked"),
        (ONE, "[3, 5]", "takes one mark, not 2"), (START, "[3, 5]", "takes one mark"), (ONE, "[0]", "cannot be marked"),
    ],
)  # fmt: skip
def test_an_impossible_answer_is_refused_with_the_reason(question, answer, why):
    with pytest.raises(ValueError, match=why):
        question.checked_answer(answer, 100)


def test_a_series_of_one_point_has_nothing_to_mark_but_may_be_steady_from_the_start():
    with pytest.raises(ValueError, match="the points are none"):
        PLAIN.checked_answer("[1]", 1)
    assert START.checked_answer("[0]", 1) == "[0]"


def test_not_sure_and_withdrawn_are_answers_but_no_labels():
    assert PLAIN.answers == ("no change", NOT_SURE, WITHDRAWN)
    assert [PLAIN.is_label(answer) for answer in PLAIN.answers] == [True, False, False]
    assert (OF_KINDS.kinds, OF_KINDS.labels, OF_KINDS.classes) == (KINDS, ("no change",), ("no change", MARKED))


def test_marks_are_read_and_described():
    text = '[3, [10, 15], {"at": 20, "kind": "up"}]'
    found = marks.read(text)
    assert found == (Mark(3, 3), Mark(10, 15), Mark(20, 20, "up"))
    assert ([mark.at for mark in found], marks.write(found)) == ([3, 12, 20], text)
    assert marks.describe(text) == "3 marks: 3, 10 to 15, 20 (up)"
    assert [marks.describe(answer) for answer in ("[4]", "no change")] == ["1 mark: 4", "no change"]


FILE = 'text = "Where?"\nanswer = "points"\n'


def test_a_question_file_without_categories_gets_no_change():
    question = read_question(FILE, "q.toml")
    assert (question.names, question.categories[0].key, question.marks) == (("no change",), "c", "changes")
    assert read_question(to_toml(question), "q.toml") == question
    again = Question.of(question.text, json.loads(json.dumps(question.definition())))
    assert (again, again.hash) == (question, question.hash)
    assert len({question.hash for question in (PLAIN, OF_KINDS, WITH_RANGES, ONE, START)}) == 5


CATEGORY = '[[category]]\nname = "{}"\nkey = "{}"\nmeaning = "It is so."\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FILE + 'ordered = true\n', 'line 3: ordered: only a question with answer = "category" has ordered'),
        (FILE.replace("points", "category") + 'marks = "change"\n', 'only a question with answer = "points" has marks'),
        (FILE + 'marks = "two"\n', "line 3: marks: 'two' is not one of: changes, change, start"),
        (FILE + CATEGORY.format("never", "r"), "the key R is reserved for range"),
        (FILE + CATEGORY.format("marked", "a"), "'marked' has another meaning"),
        (FILE + 'no_mark = "same"\n' + CATEGORY.format("never", "a"), "no_mark: 'same' is not one of: never"),
        (FILE + "ranges = 1\n", "ranges must be true or false"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_question_file_names_line_and_key(text, why):
    with pytest.raises(InputError, match=why):
        read_question(text, "q.toml")
