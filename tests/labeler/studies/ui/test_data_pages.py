"""The pages Data and Items under AppTest: import files, look through items, create a study from some."""

import base64
import re
from datetime import UTC, datetime

import pytest

from labeler.studies.course import coordinating
from labeler.studies.model import Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Action
from labeler.studies.preparing import assigning
from labeler.studies.store import events, items, open_database, people, studies
from labeler.studies.ui.coordinator import items as items_place
from labeler.studies.verdicts import stored_verdicts
from tests.labeler.studies.ui.pages import button, checked, coordinator_page, press_key, shown_items, texts
from tests.making import import_all, item_name, make_study, result_file, series
from tests.sentences import says

NOW = datetime.now(UTC)
SAID = f"""item,classifier,verdict
{item_name(0)},mine,dissimilar
{item_name(0)},yours,similar
{item_name(1)},mine,dissimilar
{item_name(1)},yours,dissimilar
"""
RESULT = "[[1.0, 2.0, 1.5], [1.0, 2.0, 3.0]]"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study with four items, two of them with verdicts, and an empty study; both are drafts."""
    folder = tmp_path_factory.mktemp("made")
    make_study(folder / "four.study", n_items=4)
    make_study(folder / "empty.study", n_items=0, reviewers=())
    (folder / "verdicts.csv").write_text(SAID)
    with open_database(folder / "four.study") as db:
        stored_verdicts.import_verdicts(db, folder / "verdicts.csv", None, actor="carol", now=NOW)
    return folder


@pytest.fixture
def copied(made, tmp_path):
    """A copy of one of them in a separate folder."""

    def copy(name):
        path = tmp_path / "studies" / f"{name}.study"
        path.parent.mkdir(exist_ok=True)
        with open_database(made / path.name) as db:
            db.backup(path)
        return path

    return copy


@pytest.fixture
def four(copied):
    return copied("four")


@pytest.fixture
def empty(copied, monkeypatch):
    monkeypatch.delenv("LABELER_IMPORT_ROOT", raising=False)
    return copied("empty")


def set_state(path, state):
    with open_database(path) as db, db.atomic():
        studies.set_state(db, state)


def names_in(path):
    with open_database(path) as db:
        return [item.name for item in coordinating.list_items(db)]


def outcome(page):
    return page.table[0].value.set_index("File")


def import_folder(page, path):
    (field,) = [field for field in page.text_input if field.label == "Folder or file on the server"]
    field.set_value(path)
    return checked(button(page, "Import from the server").click().run())


def test_an_upload_is_taken_in_with_a_row_for_every_file(empty, started):
    page = coordinator_page("Items", "Add", empty)
    checked(page.file_uploader[0].set_value(
        [("a.json", RESULT.encode(), "application/json"), ("b_*_.json", b"{}", "application/json")]
    ).run())  # fmt: skip
    assert says(
        texts(page), "1 of 2 files was imported: 1 new item", "1 file was refused.", "The other file is not affected."
    )
    rows = outcome(page)
    assert rows.loc["a.json", ["Outcome", "Runs", "Iterations"]].tolist() == ["1 item imported", "2", "3"]
    assert "fewer than" in texts(page)
    assert rows.loc[r"b\_\*\_.json", "Outcome"].startswith("refused: not a result file")
    assert names_in(empty) == ["a"]
    assert started == [empty]
    assert button(page, "Next: invite people")


@pytest.mark.parametrize(("n_good", "n_bad", "words"), [
    (1, 0, "The file was imported: 1 new item"), (2, 0, "All 2 files were imported: 2 new items"),
    (2, 1, "2 of 3 files were imported: 2 new items"), (0, 1, "The file was refused"),
    (0, 2, "All 2 files were refused"),
])  # fmt: skip
def test_the_outcome_says_how_many_files_are_in(empty, started, n_good, n_bad, words):
    files = [(f"g{number}.json", RESULT.replace("3.0", f"3.{number}").encode(), "") for number in range(n_good)]
    files += [(f"b{number}.json", b"{}", "") for number in range(n_bad)]
    page = coordinator_page("Items", "Add", empty)
    checked(page.file_uploader[0].set_value(files).run())
    assert page.header[0].value == words
    assert (bool(started), page.success.len) == (bool(n_good), 0)


def test_files_beside_the_study_can_be_imported_without_an_upload(empty):
    (empty.parent / "june").mkdir()
    for name in ("a", "june/b"):
        (empty.parent / f"{name}.json").write_text(RESULT.replace("3.0", f"3.{len(name)}"))
    page = import_folder(coordinator_page("Items", "Add", empty), "june")
    assert outcome(page).index.tolist() == ["june/b.json"]
    page = import_folder(coordinator_page("Items", "Add", empty), " . ")
    assert outcome(page)["Outcome"].tolist() == ["1 item imported", "imported before"]
    assert page.error.len == 0
    assert names_in(empty) == ["a", "b"]


def test_another_folder_is_allowed_by_the_environment(empty, tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "c.json").write_text(RESULT)
    refused = import_folder(coordinator_page("Items", "Add", empty), str(tmp_path / "results"))
    assert "is outside the folder" in refused.error[0].value
    monkeypatch.setenv("LABELER_IMPORT_ROOT", str(tmp_path / "results"))
    assert f"inside {tmp_path / 'results'}" in texts(coordinator_page("Items", "Add", empty))
    import_folder(coordinator_page("Items", "Add", empty), str(tmp_path / "results"))
    assert names_in(empty) == ["c"]


@pytest.mark.parametrize(
    ("path", "words"),
    [("../..", "is outside the folder"), ("way-out", "is outside the folder"), ("empty.study", "is not a result file"),
     ("june", "no such file or folder"), (".", "no result files"), (" ", "Enter a folder or a file.")],
)  # fmt: skip
def test_what_cannot_be_imported_is_said(empty, tmp_path, path, words):
    (tmp_path / "private").mkdir()
    (empty.parent / "way-out").symlink_to(tmp_path / "private")
    page = import_folder(coordinator_page("Items", "Add", empty), path)
    assert words in page.error[0].value
    assert names_in(empty) == []


def test_an_open_study_takes_items_that_wait_for_a_batch(four):
    set_state(four, State.OPEN)
    page = coordinator_page("Items", "Add", four)
    assert len(page.file_uploader) == 1
    assert "new items wait until you add them" in texts(page)


@pytest.mark.parametrize("state", [State.CALIBRATION, State.UNBLINDED])
def test_there_is_no_import_while_the_study_is_neither_set_up_nor_open(four, state):
    set_state(four, state)
    page = coordinator_page("Items", "Add", four)
    assert len(page.file_uploader) == 0
    assert "You can import measurements only while the study is being set up or open." in texts(page)


def items_shown(page):
    return sorted(int(name.rpartition("=")[2]) for name in page.dataframe[0].value["item"])


def pick(page, row):
    """Choose the item of a row, as a click anywhere in the row does."""
    page.session_state["item-to-open"] = page.dataframe[0].value["item"].iloc[row]
    return checked(page.run())


def toggle(page, label):
    (found,) = [one for one in page.toggle if one.label.startswith(label)]
    return found


def test_the_items_are_searched_and_filtered(four):
    page = coordinator_page("Items", "All items", four)
    assert items_shown(page) == [0, 1, 2, 3]
    page.text_input[0].set_value("BENCH_2").run()
    assert items_shown(checked(page)) == [2]
    assert "1 to 1 of 1." in texts(page)
    page.text_input[0].set_value("").run()
    page.multiselect[0].set_value(["example/app1"]).run()
    assert items_shown(checked(page)) == [1, 3]
    page.multiselect[0].set_value([]).run()
    page.select_slider[1].set_range(0, 1).run()
    assert "No item matches. Clear the filters." in texts(checked(page))
    page.select_slider[1].set_range(1, 60).run()
    page.select_slider[0].set_range(0.5, 1.0).run()
    assert len(checked(page).dataframe) == 0


def test_verdicts_choose_in_a_draft(four):
    page = coordinator_page("Items", "All items", four)
    assert set(page.dataframe[0].value["verdicts"]) == {"0 · 2", "1 · 1", "0 · 0"}
    next(box for box in page.selectbox if box.label == "Verdict of").set_value("mine").run()
    assert len(checked(page).dataframe) == 0  # none similar
    page.radio[0].set_value("dissimilar").run()
    assert items_shown(checked(page)) == [0, 1]
    toggle(page, "Only items").set_value(True).run()
    assert items_shown(checked(page)) == [0]


def test_a_coordinator_who_labels_sees_no_verdict_in_a_draft(four):
    with open_database(four) as db, db.atomic():
        people.add(db, "both", [Role.REVIEWER, Role.COORDINATOR], NOW.isoformat())
        why = identity.why_hidden(db, "both", Action.SEE_VERDICTS)
    page = coordinator_page("Items", "All items", four, "both")
    assert "mine" not in everything(page)
    assert why in texts(page)


def everything(page):
    """Everything that was sent to the browser, except for texts of the package."""
    sent = [element.proto for element in page.main if element.proto is not None]
    return "\n".join([texts(page), *(proto.SerializeToString().decode("latin-1") for proto in sent)])


def test_an_item_is_taken_out_with_a_reason_and_back_in(four):
    name = item_name(1)
    page = coordinator_page("Item", "", four, item=name)
    assert shown_items(page) == [name]
    button(page, "Exclude").click().run()
    assert "reason" in page.error[0].value
    next(one for one in page.text_input if one.label == "Reason").set_value("measured <b>twice</b>")
    checked(button(page, "Exclude").click().run())
    assert page.toast[0].value.endswith("is excluded.")
    assert "Excluded: measured <b>twice</b>" in [text.value for text in page.text]
    page = coordinator_page("Items", "All items", four)
    assert page.dataframe[0].value["excluded"].dropna().tolist() == ["measured <b>twice</b>"]
    toggle(page, "Include excluded").set_value(False).run()
    assert name not in page.dataframe[0].value["item"].tolist()
    page = coordinator_page("Item", "", four, item=name)
    next(one for one in page.text_input if one.label == "Reason").set_value("it was not")
    checked(button(page, "Include again").click().run())
    assert coordinator_page("Items", "All items", four).dataframe[0].value["excluded"].dropna().tolist() == []
    with open_database(four) as db:
        log = events.table(db)[["actor", "action"]].to_numpy().tolist()
    assert log[-2:] == [["carol", "exclude item"], ["carol", "include item"]]


def test_keys_on_an_item_go_through_what_was_found(four):
    found = [item_name(number) for number in (0, 2)]
    page = coordinator_page("Item", "", four, item=found[0], **{"items-found": found})
    for name in (found[1], found[0]):
        press_key(page, "item", "n")
        assert shown_items(page) == [name]


def test_the_address_of_an_item_has_its_id_and_opens_it_again(four):
    page = coordinator_page("Item", "", four, item=item_name(2))
    (number,) = page.query_params["item"]
    with open_database(four) as db:
        assert items.by_id(db, int(number)).name == item_name(2)
    fresh = coordinator_page("Item", "", four, item=None)
    fresh.query_params["item"] = number
    assert shown_items(fresh.run()) == [item_name(2)]
    press_key(fresh, "item", "n")
    (following,) = shown_items(fresh)
    with open_database(four) as db:
        assert items.by_id(db, int(fresh.query_params["item"][0])).name == following != item_name(2)
    fresh.query_params["item"] = "999999"
    assert not fresh.run().exception


def test_a_click_on_a_row_opens_the_item_it_is_about(four, monkeypatch):
    opened = []
    monkeypatch.setattr(items_place, "go_to", opened.append)
    page = pick(coordinator_page("Items", "All items", four), 1)
    assert opened == ["Item"]
    assert page.session_state["item-moved-to"] == page.dataframe[0].value["item"].iloc[1]
    page = coordinator_page("Items", "All items", four)
    next(box for box in page.selectbox if box.label == "Open item").set_value(item_name(2)).run()
    assert (opened, checked(page).session_state["item-moved-to"]) == (["Item"] * 2, item_name(2))


def test_long_lists_come_in_pages_with_a_small_picture_of_each_item(four, monkeypatch):
    monkeypatch.setattr(items_place, "PAGE_SIZE", 3)
    page = coordinator_page("Items", "All items", four)
    assert items_shown(page) == [0, 1, 2]
    assert page.dataframe[0].value["runs_small"].str.startswith("data:image/svg+xml;base64,").all()
    button(page, "Next").click().run()
    assert items_shown(checked(page)) == [3]
    assert button(page, "Next").disabled and not button(page, "Previous").disabled


def test_the_matching_items_are_used_for_calibration(tmp_path):
    make_study(tmp_path / "cache.study", n_items=8)
    page = coordinator_page("Items", "All items", tmp_path / "cache.study")
    checked(page.text_input(key="items-search").set_value("bench_3").run())
    page = checked(button(page, "Use 1 item for calibration").click().run())
    with open_database(tmp_path / "cache.study") as db:
        assert assigning.chosen_for_calibration(db) == [item_name(3)]
    assert "You have chosen 1 item" in texts(page)
    page = coordinator_page("Study", "Plan", tmp_path / "cache.study")
    assert next(one.value for one in page.slider if one.label == "Calibration items") == 1


@pytest.mark.parametrize("n_runs", [2, 7, 20])
def test_small_pictures_of_few_or_many_runs_fit_into_a_row(tmp_path, n_runs):
    coordinating.create_study(tmp_path / "few.study", name="Few", coordinator="carol", now=datetime.now(UTC))
    with open_database(tmp_path / "few.study") as db:
        import_all(db, result_file("few", series(1, n_runs=n_runs)))
        svg = base64.b64decode(items_place.small_picture(db, items.all_items(db)[0]).partition("base64,")[2]).decode()
    assert int(re.search(r' height="(\d+)"', svg)[1]) <= items_place.ROW_PX
    assert svg.count("<g transform") == n_runs
