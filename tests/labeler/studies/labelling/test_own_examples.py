"""Items that a coordinator uses as worked examples and practice items."""

from dataclasses import replace

import pytest

from labeler.errors import InputError, NotAllowed
from labeler.studies.audit import audit
from labeler.studies.course import coordinating
from labeler.studies.items import browsing, drawing
from labeler.studies.labelling import guide
from labeler.studies.labelling.guide import GUIDE, PRACTICE, OwnExample
from labeler.studies.questions import read_question
from labeler.studies.screen.kinds import FIRST_QUESTION
from labeler.studies.store import items
from tests.labeler.studies.test_own_question import ALERTS
from tests.making import WHO, answer_next, item_name
from tests.sentences import says

STEP = OwnExample(item_name(1), "dissimilar", "Run 2 changes its level.", GUIDE)
NOISE = OwnExample(item_name(2), "similar", "Only noise.", PRACTICE)


def add(db, *given):
    for example in given:
        guide.add_example(db, example, **WHO)


def excluded(db):
    return {item.name: item.excluded_why for item in items.all_items(db) if item.excluded_why}


def test_an_example_leaves_the_study_and_is_drawn_as_items_are(study):
    add(study, STEP, NOISE)
    assert guide.own_examples(study) == [STEP, NOISE]
    assert excluded(study) == {STEP.item: "worked example in the guide", NOISE.item: "practice item in the guide"}
    (drawn,) = guide.examples_as_shown(study, GUIDE)
    assert (drawn.title, drawn.category, drawn.explanation) == ("Example 1", "dissimilar", STEP.sentence)
    assert drawn.picture == drawing.payload_of_item(study, items.by_name(study, STEP.item).item_id)
    assert guide.examples_of_study(study) == (drawn, *guide.worked_examples(FIRST_QUESTION))
    assert audit.audit(study).faults == ()


def test_an_example_that_is_removed_is_an_item_of_the_study_again(study):
    add(study, STEP)
    guide.remove_example(study, STEP.item, **WHO)
    assert (guide.own_examples(study), excluded(study)) == ([], {})
    with pytest.raises(InputError, match="is not an example"):
        guide.remove_example(study, STEP.item, **WHO)


def test_a_practice_round_begins_with_the_own_items_and_says_who_says_so(study):
    add(study, NOISE)
    assert guide.n_practice(study) == 6
    first, *others = guide.practice_items(study, 7)
    assert tuple(others) == guide.practice_round(7)[:5]
    assert first.feedback("dissimilar") == (
        "Your answer: dissimilar; the coordinator says similar. Practice item 1: Only noise."
    )


def test_an_own_question_has_the_own_practice_items_only(study):
    coordinating.describe_study(study, "Alerts", read_question(ALERTS, "alerts.toml"), **WHO)
    assert (guide.n_practice(study), guide.practice_items(study, 7)) == (0, ())
    add(study, replace(NOISE, category="stable"))
    assert guide.n_practice(study) == 1
    assert [example.category for example in guide.practice_items(study, 7)] == ["stable"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"item": "nothing"}, ("There is no item 'nothing'",)),
        ({"category": "other"}, ("is not one of: similar, dissimilar",)),
        ({"sentence": " "}, ("one sentence", "1 to 300")),
        ({"sentence": "x" * 301}, ("one sentence", "1 to 300")),
    ],
)
def test_what_cannot_be_an_example_is_refused_and_nothing_changes(study, changed, reason):
    with pytest.raises(InputError) as refused:
        add(study, OwnExample(**(vars(STEP) | changed)))
    assert says(str(refused.value), *reason)
    assert (guide.own_examples(study), excluded(study)) == ([], {})


def test_an_excluded_item_and_a_study_with_answers_are_refused(planned):
    browsing.exclude(planned, STEP.item, "broken", **WHO)
    with pytest.raises(NotAllowed, match="already excluded"):
        add(planned, STEP)
    answer_next(planned, "ada", "similar")
    assert "already answered" in guide.why_examples_fixed(planned)
    with pytest.raises(NotAllowed, match="already answered"):
        add(planned, NOISE)
