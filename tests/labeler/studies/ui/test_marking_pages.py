"""The pages of a study in which reviewers mark points."""

import base64
import re

import pytest

from labeler.studies.course import course
from labeler.studies.plan.lifecycle import Step
from labeler.studies.results import splits
from labeler.studies.store import open_database
from tests.labeler.studies.labelling.test_marking import PEOPLE, SAID, WHO, answer_all, make_study
from tests.labeler.studies.ui.pages import coordinator_page, reviewer_page, texts


@pytest.fixture(scope="module")
def open_study(tmp_path_factory):
    """A study in which everybody has answered everything."""
    path = make_study(tmp_path_factory.mktemp("marks") / "steps.study")
    with open_database(path) as db:
        answer_all(db, SAID)
    return path


@pytest.fixture(scope="module")
def closed(open_study, tmp_path_factory):
    """The same study, closed."""
    path = tmp_path_factory.mktemp("closed") / "steps.study"
    with open_database(open_study) as db:
        db.backup(path)
    with open_database(path) as db:
        course.change_state(db, Step.CLOSE, why="done", **WHO)
    return path


@pytest.mark.parametrize("module", ["label", "guide", "practice", "my_labels", "first_visit"])
def test_the_pages_of_reviewers_open_and_know_no_category_of_runs(open_study, module):
    page = reviewer_page(module, open_study, "ada")
    assert not page.exception
    assert "similar" not in texts(page).lower()


def test_my_labels_shows_the_marks_in_words(open_study):
    said = texts(reviewer_page("my_labels", open_study, "ben"))
    assert "2 marks: 26, 50" in said
    pictures = [base64.b64decode(text).decode() for text in re.findall(r"svg\+xml;base64,([^\"]+)", said)]
    assert sorted(picture.count("#b35806") for picture in pictures) == [0, 1, 1, 1]  # one path for all marks
    assert "[26" not in said


@pytest.mark.parametrize(
    ("place", "view"),
    [("Study", "Overview"), ("Study", "Plan"), ("Study", "Guide"), ("Study", "Progress"), ("Items", "All items"),
     ("Decide", "Splits"), ("Decide", "Calibration"), ("Results", "Report"), ("Results", "Classifiers"),
     ("Results", "Publish")],
)  # fmt: skip
def test_the_places_of_coordinators_open(closed, place, view):
    assert not coordinator_page(place, view, closed, "carol").exception


def test_splits_are_decided_by_choosing_places(closed, tmp_path):
    copy = tmp_path / "steps.study"
    with open_database(closed) as db:
        db.backup(copy)
    page = coordinator_page("Decide", "Splits", copy, "carol")
    boxes = [(box.label, box.value) for box in page.checkbox if box.label.startswith("Point")]
    assert boxes == [("Point 25, by 2 of 3 people (25, 26)", True), ("Point 50, by 1 of 3 people", False)]
    assert not set(PEOPLE) & set(texts(page).split())
    page.checkbox[1].check().run()
    (button,) = [button for button in page.button if button.label.startswith("Save")]
    assert (button.label, button.disabled) == ("Save 2 marks: 25, 50", True)
    page.text_input[0].input("two steps").run()
    next(button for button in page.button if button.label.startswith("Save")).click().run()
    assert not page.exception
    with open_database(copy) as db:
        assert splits.split_items(db)[0].decision.category == "[25, 50]"
