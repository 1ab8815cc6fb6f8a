"""The pages of a study that asks its own question, with five categories, one of them on a digit."""

import pytest

from labeler.config import bundled
from labeler.studies import demo
from labeler.studies.course import coordinating, course
from labeler.studies.items import importing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.questions import read_question
from labeler.studies.screen.kinds import KINDS, QUESTIONS
from labeler.studies.store import open_database
from tests.labeler.studies.test_kinds import CHANGE, HISTORY, QUESTION, RUNS, study_of
from tests.labeler.studies.test_own_question import ALERTS, NAMES
from tests.labeler.studies.ui.pages import button, coordinator_page, reviewer_page, texts
from tests.making import NOW, answer_next, import_all, result_file, series

WHO = {"actor": "carol", "now": NOW}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A planned study without answers."""
    path = tmp_path_factory.mktemp("own") / "alerts.study"
    coordinating.create_study(
        path, name="Alerts", question=read_question(ALERTS, "alerts.toml"), coordinator="carol", plan_secret="", now=NOW
    )
    with open_database(path) as db:
        import_all(db, *(result_file(f"app#bench_{number}", series(number)) for number in range(6)))
        for name in ("ada", "ben"):
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        assigning.confirm_plan(db, PlanParameters(7, overlap=0, retest=0), **WHO)
    return path


@pytest.fixture(scope="module")
def closed(drawn, tmp_path_factory):
    """The same study, closed: ada said regression of every item, ben each category in turn."""
    path = tmp_path_factory.mktemp("closed") / "alerts.study"
    with open_database(drawn) as db:
        db.backup(path)
    with open_database(path) as db:
        for number in range(6):
            answer_next(db, "ada", "regression")
            answer_next(db, "ben", NAMES[number % 5])
        course.change_state(db, Step.CLOSE, why="done", **WHO)
    return path


def test_the_first_visit_says_what_every_category_means_and_offers_no_practice(drawn):
    page = reviewer_page("first_visit", drawn, "ada")
    said = texts(page)
    assert [name for name in NAMES if name.capitalize() not in said] == []
    assert "It became slower, and the code is the cause." in said
    assert [button.label for button in page.button] == ["Start labelling"]


@pytest.mark.parametrize("module", ["guide", "practice", "my_labels"])
def test_the_pages_of_reviewers_know_only_the_categories_of_the_question(closed, module):
    said = texts(reviewer_page(module, closed, "ada")).lower()
    assert "similar" not in said


@pytest.mark.parametrize(
    ("place", "view"),
    [("Study", "Overview"), ("Study", "Plan"), ("Study", "Guide"), ("Items", "All items"), ("Decide", "Splits"),
     ("Decide", "Calibration"), ("Results", "Report"), ("Results", "Classifiers"), ("Results", "Publish")],
)  # fmt: skip
def test_the_places_of_coordinators_open(closed, place, view):
    assert not coordinator_page(place, view, closed, "carol").exception


def test_split_items_are_decided_by_the_keys_of_the_question(closed):
    said = texts(coordinator_page("Decide", "Splits", closed, "carol"))
    assert "regression" in said
    assert "similar" not in said


def test_the_question_can_be_edited_until_the_plan(tmp_path):
    path = tmp_path / "own.study"
    coordinating.create_study(path, name="Own", coordinator="carol", plan_secret="", now=NOW)
    page = coordinator_page("Study", "Guide", path, "carol")
    page.selectbox[0].select("change").run()
    button(page, "Save question").click().run()
    with open_database(path) as db:
        assert coordinating.get_study(db).question == QUESTIONS["change"]
    page.text_area(key="question-change").set_value("text = ''")
    button(page, "Save question").click().run()
    assert "Question file, line 1: text" in texts(page)
    with open_database(path) as db:
        assert coordinating.get_study(db).question == QUESTIONS["change"]


@pytest.mark.parametrize("shows", KINDS)
def test_pages_show_items_of_each_kind(tmp_path, shows):
    chosen = importing.RunSelection(before="v1", after="v2") if shows == "change" else importing.RunSelection()
    table = {"history": HISTORY, "change": CHANGE}.get(shows, RUNS)
    study_of(tmp_path / "k.study", shows, table, selection=chosen, question=QUESTION)
    for place, view in (("Items", "All items"), ("Item", ""), ("Study", "Guide")):
        assert not coordinator_page(place, view, tmp_path / "k.study", "carol").exception


@pytest.mark.slow
def test_the_places_of_a_finished_study_of_another_question_open(tmp_path):
    demo.build_for_question(tmp_path / "d.study", bundled("data", "demo"), "change", now=NOW)
    for place, view in (("Items", "All items"), ("Item", ""), ("Decide", "Splits"), ("Results", "Report"),
                        ("Study", "Overview")):  # fmt: skip
        page = coordinator_page(place, view, tmp_path / "d.study", "coordinator")
        assert not page.exception, (place, view)
    assert "result: " in texts(coordinator_page("Item", "", tmp_path / "d.study", "coordinator"))


def test_the_files_of_two_sides_are_dropped_in_two_places(tmp_path):
    path = tmp_path / "c.study"
    coordinating.create_study(
        path, name="Change", question=QUESTIONS["change"], coordinator="carol", plan_secret="", now=NOW
    )
    page = coordinator_page("Items", "Add", path, "carol")
    for place, value in enumerate((1.0, 1.2)):
        rows = "".join(f"parse,{run},{i},{value + run / 100 + i / 1000}\n" for run in range(2) for i in range(12))
        content = f"benchmark,run,iteration,value\n{rows}".encode()
        page.file_uploader[place].set_value([(f"{place}.csv", content, "")]).run()
    button(page, "Import both sides").click().run()
    assert not page.exception
    with open_database(path) as db:
        assert [item.n_runs for item in coordinating.list_items(db)] == [4]
