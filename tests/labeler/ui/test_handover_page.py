"""The page Handover: copies beside the study, merging labels from a copy, and the label file."""

import shutil

import pytest

from labeler.service.results import reporting
from labeler.service.study import coordinating
from labeler.store import labels, open_database, people
from labeler.ui.coordinator.study import label_file
from tests.labeler.ui.pages import button, checked, coordinator_page, texts
from tests.making import answer_next, end_study

BACK_UP, MERGE = range(2)


@pytest.fixture
def study(masters, tmp_path):
    return shutil.copy(masters["planned"], tmp_path / "cache.study")


def send(page, form, text):
    page.text_input[form].set_value(text)
    page.button[form].click().run()
    return page


def test_a_backup_is_written_beside_the_study_and_logged(study):
    page = send(coordinator_page("Study", "Log", study), BACK_UP, "monday")
    assert "Copied to monday" in page.success[0].value
    with open_database(study.with_name("monday.study")) as copy:
        assert coordinating.get_study(copy).name == "Caches"
    with open_database(study) as db:
        assert coordinating.event_log(db)[["actor", "action"]].iloc[-1].tolist() == ["carol", "backup"]


def test_labels_given_in_a_copy_come_back_once(study):
    send(coordinator_page("Study", "Log", study), BACK_UP, "copy")
    with open_database(study.with_name("copy.study")) as copy:
        answer_next(copy, "ada", "similar")
    page = send(coordinator_page("Study", "Log", study), MERGE, "copy.study")
    assert "1 answer merged; 0 already" in page.success[0].value
    page = send(coordinator_page("Study", "Log", study), MERGE, "copy.study")
    assert ("0 answers merged; 1 already" in page.success[0].value, len(page.warning)) == (True, 0)


def test_answers_at_odds_are_counted_and_not_told(study):
    send(coordinator_page("Study", "Log", study), BACK_UP, "copy")
    for path, said in ((study, "similar"), (study.with_name("copy.study"), "dissimilar")):
        with open_database(path) as db:
            answer_next(db, "ada", said)
    page = send(coordinator_page("Study", "Log", study), MERGE, "copy.study")
    assert page.warning[0].value.startswith("1 answer not merged")
    assert "similar" not in texts(page)


@pytest.mark.parametrize(("form", "path"), [(BACK_UP, "../elsewhere"), (MERGE, "/etc/passwd")])
def test_a_path_outside_of_the_folder_is_neither_written_nor_read(study, form, path):
    page = send(coordinator_page("Study", "Log", study), form, path)
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
        assert text == reporting.as_csv(labels.table(db))
        assert coordinating.event_log(db)[["actor", "action"]].iloc[-1].tolist() == ["carol", "export labels"]
