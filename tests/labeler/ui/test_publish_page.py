"""The page Publish: answers, missing answers, and the data set beside the study."""

import zipfile

import pytest

from labeler.plan.lifecycle import Step
from labeler.service.study import course
from labeler.store import events, open_database
from tests.labeler.conftest import NOW, answer_everything, make_study
from tests.labeler.ui.pages import coordinator_page
from tests.sentences import says

ANSWERS = """\
title = "Labels of caches"
description = "What reviewers said of runs."
version = "1.0.0"
date = "2026-11-22"
licence = "CC-BY-4.0"
[[authors]]
given_names = "Grace"
family_names = "Hopper"
[sources]
"example/app0" = "MIT"
"example/app1" = "MIT"
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "cache.study"
    make_study(path, plan=True)
    with open_database(path) as db:
        answer_everything(db, {"ada": "similar", "ben": "dissimilar", "cleo": "similar", "dan": "similar"})
    return path


def unblinded(path):
    with open_database(path) as db:
        for step in (Step.CLOSE, Step.UNBLIND):
            course.change_state(db, step, why="done", actor="carol", now=NOW)
    return path


def button(page, label):
    (found,) = [candidate for candidate in page.button if candidate.label == label]
    return found


def test_nothing_is_offered_before_the_study_is_unblinded(study):
    page = coordinator_page("Results", "Publish", study)
    assert says(page.info[0].value, "Only an unblinded study")
    assert not page.button and not page.text_area


def test_answers_are_kept_beside_the_study_and_the_page_lists_what_is_missing(study):
    page = coordinator_page("Results", "Publish", unblinded(study))
    assert "licence: " in page.warning[0].value
    assert button(page, "Publish the data set").disabled
    page.text_area[0].set_value(ANSWERS)
    button(page, "Save answers").click().run()
    assert study.with_name("publish.toml").read_text(encoding="utf-8") == ANSWERS
    assert not page.warning
    assert not button(page, "Publish the data set").disabled
    page.selectbox[0].set_value("icse").run()
    assert "doi: the badge Artifacts Available" in page.warning[0].value


def test_an_answer_that_cannot_be_used_is_explained_and_not_kept(study):
    page = coordinator_page("Results", "Publish", unblinded(study))
    page.text_area[0].set_value('licence = "CC BY"')
    button(page, "Save answers").click().run()
    assert "licence 'CC BY' is not valid" in page.error[0].value
    assert not study.with_name("publish.toml").exists()


@pytest.mark.slow
def test_the_data_set_is_written_beside_the_study_with_the_name_of_the_person(study):
    unblinded(study).with_name("publish.toml").write_text(ANSWERS, encoding="utf-8")
    page = coordinator_page("Results", "Publish", study)
    (name,) = [field for field in page.text_input if field.label.startswith("Name of the new folder")]
    assert name.value == "cache-data"
    name.set_value("../elsewhere")
    button(page, "Publish the data set").click().run()
    assert "valid file name" in page.error[0].value
    page.checkbox[-1].uncheck().run()  # resampling is tested elsewhere
    page.text_input[0].set_value("for others")
    button(page, "Publish the data set").click().run()
    assert "Wrote for others and for others.zip" in page.success[-1].value, page.error
    with zipfile.ZipFile(study.with_name("for others.zip")) as archive:
        assert "croissant.json" in archive.namelist()
    with open_database(study) as db:
        (event,) = events.of_actions(db, ["publish"])
    assert event.actor == "carol"
