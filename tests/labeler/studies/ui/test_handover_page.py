"""The page Handover: copies beside the study and the label file."""

import shutil

import pytest

from labeler.studies.course import coordinating
from labeler.studies.labelling.label_file import all_answers
from labeler.studies.results import reporting
from labeler.studies.store import open_database, people
from labeler.studies.ui.coordinator.study import label_file
from tests.labeler.studies.ui.pages import button, checked, coordinator_page, texts
from tests.making import answer_next, end_study


@pytest.fixture
def study(masters, tmp_path):
    return shutil.copy(masters["planned"], tmp_path / "cache.study")


def back_up(page, name):
    (field,) = [field for field in page.text_input if field.label == "File name of the backup"]
    field.set_value(name)
    page.button[0].click().run()
    return page


def test_a_backup_is_written_beside_the_study_and_logged(study):
    page = back_up(coordinator_page("Study", "Log", study), "monday")
    assert "Copied to monday" in page.success[0].value
    with open_database(study.with_name("monday.study")) as copy:
        assert coordinating.get_study(copy).name == "Caches"
    with open_database(study) as db:
        assert coordinating.event_log(db)[["actor", "action"]].iloc[-1].tolist() == ["carol", "backup"]


def test_a_backup_outside_of_the_folder_is_not_written(study):
    page = back_up(coordinator_page("Study", "Log", study), "../elsewhere")
    assert (len(page.error), len(page.success)) == (1, 0)
    assert not study.parent.with_name("elsewhere.study").exists()


def test_a_template_is_written_beside_the_study(study):
    page = coordinator_page("Study", "Log", study)
    (name,) = [field for field in page.text_input if field.label == "Name of the new study"]
    name.set_value("Next")
    page = checked(button(page, "Copy as a template").click().run())
    assert "Study created." in page.success[0].value and "/join/" in page.code[-1].value
    with open_database(study.with_name("Next.study")) as new:
        assert {one.name for one in people.all_people(new)} == {"ada", "ben", "carol", "cleo", "dan"}


def test_the_label_file_is_offered_once_the_study_is_unblinded_and_the_download_is_logged(study):
    assert "label file names" in texts(coordinator_page("Study", "Log", study))
    assert len(coordinator_page("Study", "Log", study).get("download_button")) == 1  # the log
    with open_database(study) as db:
        answer_next(db, "ada", "similar")
        end_study(db)
    assert len(coordinator_page("Study", "Log", study).get("download_button")) == 2
    text = label_file(study, "carol")
    with open_database(study) as db:
        assert text == reporting.as_csv(all_answers(db))
        assert coordinating.event_log(db)[["actor", "action"]].iloc[-1].tolist() == ["carol", "export labels"]
