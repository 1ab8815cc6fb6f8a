"""The commands that list the items of a study and create a study like it, as a person runs them."""

import json
import re
import shutil

import pytest

from labeler.studies.commands.opening import INTERIM
from labeler.studies.items import browsing
from labeler.studies.store import open_database
from labeler.studies.verdicts import stored_verdicts
from tests.labeler.commands import run
from tests.making import NOW, item_name, make_study

SAID = f"""item,classifier,verdict
{item_name(0)},mine,dissimilar
{item_name(0)},yours,similar
{item_name(1)},mine,dissimilar
{item_name(1)},yours,dissimilar
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Four items, two of them with verdicts of two classifiers, the third excluded."""
    folder = tmp_path_factory.mktemp("items")
    path = folder / "cache.study"
    make_study(path, n_items=4)
    (folder / "verdicts.csv").write_text(SAID)
    with open_database(path) as db:
        stored_verdicts.import_verdicts(db, folder / "verdicts.csv", None, actor="carol", now=NOW)
        browsing.exclude(db, item_name(2), "twice in it", actor="carol", now=NOW)
    return path


@pytest.fixture
def study(made, tmp_path):
    return shutil.copy(made, tmp_path / "cache.study")


def chosen(*options):
    """Return the numbers of the items that `browse` lists."""
    rows = json.loads(run("browse", *options, "--json").stdout)
    return sorted(int(row["item"].rpartition("=")[2]) for row in rows)


def test_browse_prints_the_catalogue_as_a_table_and_how_many_were_chosen(study):
    done = run("browse", "--study", study, "--text", "bench_0")
    header, row = done.stdout.splitlines()
    assert re.split("  +", header) == [
        "item", "application", "benchmark", "runs", "iterations", "unit", "range of medians", "excluded", "mine",
        "yours",
    ]  # fmt: skip
    assert row.startswith(item_name(0)) and row.endswith("dissimilar  similar")
    assert done.stderr == f"{INTERIM}\n1 of 4 items.\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), [0, 1, 2, 3]),
        (("--application", "example/app0"), [0, 2]),
        (("--application", "example/app0", "--application", "example/app1"), [0, 1, 2, 3]),
        (("--verdict", "mine=dissimilar"), [0, 1]),
        (("--disagree",), [0]),
        (("--min-range", 0), [0, 1, 2, 3]),
        (("--min-range", 5), []),
        (("--max-range", 5), [0, 1, 2, 3]),
        (("--min-iterations", 60, "--max-iterations", 60), [0, 1, 2, 3]),
        (("--min-iterations", 61), []),
        (("--max-iterations", 59), []),
        (("--verdict", "mine=dissimilar", "--application", "example/app1"), [1]),
    ],
)
def test_every_option_leaves_what_fulfils_it(study, options, expected):
    assert chosen("--study", study, *options) == expected


def test_a_template_prints_the_link_of_the_coordinator_and_has_the_people(tmp_path):
    run("init", "--study", tmp_path / "one.study", "--coordinator", "carol")
    run("reviewers", "add", "--study", tmp_path / "one.study", "ada")
    made = run("template", "--study", tmp_path / "one.study", "--out", tmp_path / "two.study")
    assert made.stdout.startswith("carol: http")
    assert "ada" in run("reviewers", "list", "--study", tmp_path / "two.study").stdout
