"""The page that compares the paper with the measurements of a study."""

import pytest

from labeler.errors import InputError
from labeler.studies import background
from labeler.studies.store import items, open_database
from tests.labeler.studies.ui.pages import coordinator_page, documents
from tests.making import make_study


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replication")
    for name, n_items in (("empty", 0), ("measured", 3)):
        make_study(folder / f"{name}.study", n_items=n_items, reviewers=())
    return {name: folder / f"{name}.study" for name in ("empty", "measured")}


def test_a_study_without_measurements_is_told_where_they_come_from(studies):
    page = coordinator_page("Tools", "Replication", studies["empty"])
    assert "study has measurements" in page.info[0].value
    assert len(page.button) == 0


@pytest.mark.slow
def test_one_button_compares_and_the_claims_and_files_appear(studies):
    page = coordinator_page("Tools", "Replication", studies["measured"])
    assert [button.label for button in page.button] == ["Compare with the paper"]
    page.button[0].click().run()
    assert not page.exception
    assert [button.proto.label for button in page.get("download_button")] == [
        "Download replication.html", "Download replication.md", "Download replication.json",
    ]  # fmt: skip
    assert "3 benchmarks" in documents(page)[0]
    with open_database(studies["measured"]) as db:
        db.execute("UPDATE items SET excluded_why = 'x' WHERE item_id = ?", (items.all_items(db)[0].item_id,))
    page.run()
    assert not documents(page)  # it belonged to other measurements


@pytest.mark.slow
def test_a_table_that_cannot_be_used_is_named_without_its_place_on_the_server(studies):
    with pytest.raises(InputError, match=r"^The table of labels: there is no column for the item") as refused:
        background.files_of(
            "replicate", into="out", study=studies["measured"], labels=b"a,b\n1,2\n", waiting=lambda _s: None
        )
    assert "/" not in str(refused.value)
