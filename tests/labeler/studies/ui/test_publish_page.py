"""The page Publish: answers, missing answers, and the data set beside the study."""

import shutil
import zipfile

import pytest

from labeler.studies.handover.publishing.publish_file import Author, PublishFile
from labeler.studies.store import actions, events, labels, open_database
from tests.labeler.studies.ui.pages import button, checked, coordinator_page, texts
from tests.making import answer_everything, end_study, make_study
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


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("publish") / "cache.study"
    make_study(path, plan=True)
    with open_database(path) as db:
        answer_everything(db, {"ada": "similar", "ben": "dissimilar", "cleo": "similar", "dan": "similar"})
    return path


@pytest.fixture
def study(made, tmp_path):
    return shutil.copy(made, tmp_path / "cache.study")


def unblinded(path):
    with open_database(path) as db:
        end_study(db)
    return path


def field(page, label, number=0):
    return [one for one in (*page.text_input, *page.selectbox) if one.label == label][number]


def kept(path):
    return PublishFile.read(path.with_name("publish.toml"))


def test_the_form_keeps_each_answer_and_says_how_many_are_missing(study):
    page = coordinator_page("Results", "Publish", unblinded(study))
    assert page.warning[0].value.startswith("Still missing: 3\n")
    assert button(page, "Publish the data set").disabled
    checked(button(page, "Add an author").click().run())
    for name, number in (("Grace", 0), ("Alan", 1)):
        field(page, "Given names", number).set_value(name)
        field(page, "Family names", number).set_value("Hopper" if number == 0 else "Turing")
    checked(field(page, "Licence of the labels").set_value("CC-BY-4.0").run())
    for application in ("example/app0", "example/app1"):
        field(page, application).set_value("MIT").run()
    answers = kept(study)
    assert answers.authors == (Author("Grace", "Hopper"), Author("Alan", "Turing"))
    assert (answers.licence, answers.sources) == ("CC-BY-4.0", {"example/app0": "MIT", "example/app1": "MIT"})
    assert not page.warning and not button(page, "Publish the data set").disabled
    assert "Hopper, G., Turing, A. " in texts(page)  # the citation in the preview
    checked(field(page, "Venue").set_value("icse").run())
    assert page.warning[0].value.startswith("Still missing: 5\n")
    assert says(page.warning[0].value, "The badge Artifacts Available")


def test_answers_edited_as_text_are_in_the_form_at_once(study):
    page = coordinator_page("Results", "Publish", unblinded(study))
    page.text_area[0].set_value(ANSWERS)
    checked(button(page, "Save answers").click().run())
    assert study.with_name("publish.toml").read_text(encoding="utf-8") == ANSWERS
    assert (field(page, "Title").value, field(page, "Family names").value) == ("Labels of caches", "Hopper")
    assert not page.warning
    study.with_name("publish.toml").write_text("titel = 1")
    page = coordinator_page("Results", "Publish", study)
    assert "unknown entry 'titel'" in page.error[0].value
    assert page.text_area[0].value == "titel = 1"


def test_an_answer_that_cannot_be_used_is_explained_and_not_kept(study):
    page = coordinator_page("Results", "Publish", unblinded(study))
    checked(field(page, "DOI").set_value("https://doi.org/10.1/x").run())
    assert says(page.error[0].value, "doi 'https://doi.org/10.1/x' is not valid")
    assert not study.with_name("publish.toml").exists()
    checked(field(page, "DOI").set_value("10.5281/zenodo.1234567").run())
    assert (len(page.error), kept(study).doi) == (0, "10.5281/zenodo.1234567")


@pytest.mark.slow
def test_the_data_set_is_written_beside_the_study_with_the_name_of_the_person(study):
    unblinded(study).with_name("publish.toml").write_text(ANSWERS, encoding="utf-8")
    page = coordinator_page("Results", "Publish", study)
    folder = "Name of the new folder, in the folder of the study"
    assert field(page, folder).value == "cache-data"
    field(page, folder).set_value("../elsewhere")
    button(page, "Publish the data set").click().run()
    assert "valid file name" in page.error[0].value
    (resamples,) = [one for one in page.checkbox if one.label.startswith("Report with bootstrap")]
    resamples.uncheck().run()  # resampling is tested elsewhere
    field(page, folder).set_value("for others")
    button(page, "Publish the data set").click().run()
    assert "Wrote for others and for others.zip" in page.success[-1].value, page.error
    with zipfile.ZipFile(study.with_name("for others.zip")) as archive:
        assert "croissant.json" in archive.namelist()
    with open_database(study) as db:
        (event,) = events.of_actions(db, [actions.PUBLISH])
    assert event.actor == "carol"


def test_the_anonymised_copy_names_nobody(study):
    page = coordinator_page("Results", "Publish", study)
    field(page, "File name of the anonymised copy").set_value("published")
    checked(button(page, "Write the anonymised copy").click().run())
    assert "Wrote published" in page.success[0].value
    with open_database(study.with_name("published.study")) as copy:
        assert set(labels.table(copy)["reviewer"]) == {"R1", "R2", "R3", "R4"}
