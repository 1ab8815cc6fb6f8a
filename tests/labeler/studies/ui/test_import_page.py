"""The page Data: several files with the runs of one benchmark, zip files, and hostile names."""

import io
import zipfile

from labeler.studies.store import open_database
from tests.labeler.files.formats.examples import csv_bytes
from tests.labeler.studies.items.test_importing_joined import go_file
from tests.labeler.studies.ui.pages import button, checked, coordinator_page, texts
from tests.labeler.studies.ui.test_data_pages import copied, empty, made, outcome
from tests.making import runs_by_item
from tests.sentences import says

__all__ = ["copied", "empty", "made"]  # fixtures


def upload(page, *files):
    return checked(page.file_uploader[0].set_value([(name, content, "") for name, content in files]).run())


def test_files_that_are_a_run_each_become_one_item(empty):
    files = [(f"{number}.txt", go_file("", A=[number]).data) for number in (1, 2)]
    page = upload(coordinator_page("Items", "Add", empty), *files)
    assert outcome(page)["Runs"].to_dict() == {"1.txt, 2.txt": "2"}
    with open_database(empty) as db:
        assert len(runs_by_item(db)["o/p.BenchmarkA"][0]) == 2


def test_the_person_can_say_that_a_file_is_a_run(empty):
    page = coordinator_page("Items", "Add", empty)
    assert says(page.selectbox[0].options[1], "one run")
    page.selectbox[0].set_value("run").run()
    upload(page, ("1.csv", b"benchmark,value\nb,1\n"), ("2.csv", b"benchmark,value\nb,2\n"))
    with open_database(empty) as db:
        assert runs_by_item(db)["b"][0] == [[1.0], [2.0]]


def test_an_outcome_stays_where_the_person_is_until_it_is_closed_and_says_what_to_click(empty):
    """Without a view in the address, the page shows all items as soon as there are some."""
    page = upload(coordinator_page("Items", "", empty), ("good.json", b"[[1], [2]]"), ("one.json", b"[[1, 2]]"))
    assert says(texts(page), "1 of 2 files was imported", "1 file was refused")
    assert "under “How to read the files”" in outcome(page)["Outcome"]["one.json"]
    assert "--" not in outcome(page)["Outcome"]["one.json"]
    (views,) = page.segmented_control
    assert views.value == "Add"
    page = checked(views.set_value("All items").run())
    assert outcome(page).index.tolist() == ["good.json", "one.json"]
    page = checked(button(page, "Close this list").click().run())
    assert "was refused" not in texts(page)


def test_the_fields_say_how_files_are_read_and_a_bad_one_is_refused_by_name(empty):
    page = coordinator_page("Items", "Add", empty)
    fields = {field.label: field for field in (*page.text_input, *page.selectbox)}
    fields["Columns of a table"].set_value("run=process")
    fields["Name of the benchmark"].set_value("sort")
    upload(page, ("1.csv", b"process,value\n0,1\n1,2\n"))
    with open_database(empty) as db:
        assert runs_by_item(db)["sort"][0] == [[1.0], [2.0]]
    page = coordinator_page("Items", "Add", empty)
    (field,) = [field for field in page.text_input if field.label == "Columns of a table"]
    field.set_value("run")
    page = upload(page, ("2.csv", b"process,value\n0,1\n1,2\n"))
    assert says(page.error[0].value, "Columns of a table: 'run' is incomplete")


def test_the_files_of_a_zip_file_are_taken_in_one_by_one(empty):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../<b>.json", "[[1], [2]]")
        archive.writestr("bad.json", "{")
    page = upload(coordinator_page("Items", "Add", empty), ("all.zip", packed.getvalue()))
    assert outcome(page).index.tolist() == [r"all.zip/../../\<b\>.json", "all.zip/bad.json"]
    with open_database(empty) as db:
        assert list(runs_by_item(db)) == ["<b>"]


def test_hostile_names_are_shown_as_they_are(empty):
    names = ["<script>alert(1)</script>", "**bold** [x](http://x)", "=1+1", "a\x07b"]
    table = csv_bytes([(name, run, 1.5) for name in names for run in (1, 2)])
    page = upload(coordinator_page("Items", "Add", empty), ("**<b>**.csv", table), ("$x$.json", b"{"))
    assert outcome(page).index.tolist() == [r"\*\*\<b\>\*\*.csv", r"\$x\$.json"]
    assert not [one.value for one in page.markdown if "<b>" in one.value or "$x$" in one.value]
    with open_database(empty) as db:
        assert sorted(runs_by_item(db)) == sorted(names)


def test_an_import_is_taken_back_after_a_tick(empty):
    page = upload(coordinator_page("Items", "Add", empty), ("1.json", b"[[1], [2]]"), ("2.json", b"[[1], [3]]"))
    assert says(texts(page), "2 items from 2 files, imported by carol")
    assert button(page, "Take this import back").disabled
    (sure,) = [box for box in page.checkbox if box.label == "I know that this cannot be undone."]
    page = checked(button(checked(sure.check().run()), "Take this import back").click().run())
    assert "Import taken back: 2 items removed." in texts(page)
    assert "2 files were imported" not in texts(page)
    with open_database(empty) as db:
        assert runs_by_item(db) == {}
