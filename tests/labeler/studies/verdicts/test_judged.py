import re

import pandas as pd
import pytest

from analysis.runs.classifiers import CLASSIFIERS
from labeler.errors import InputError
from labeler.files.formats import Source, tables
from labeler.studies.commands.opening import INTERIM
from labeler.studies.questions import SIMILAR
from labeler.studies.results import reporting
from labeler.studies.store import items
from labeler.studies.verdicts import stored_verdicts
from tests.labeler.cli.test_cli import run
from tests.labeler.packages import STEADY
from tests.labeler.studies.verdicts.test_computing import compute, export, shown
from tests.making import REVIEWERS, WHO, answer_everything, item_name, log, report_of

FIRST, SECOND = item_name(0), item_name(1)
HYPERLINK, SCRIPT = '=HYPERLINK("http://127.0.0.1","x")', "<script>alert(1)</script>"


@pytest.fixture
def take_in(tmp_path):
    """Import verdicts from lines of CSV, as the file `verdicts.csv`."""
    path = tmp_path / "verdicts.csv"

    def take_in(db, *lines, name=None):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return stored_verdicts.import_verdicts(db, path, name, **WHO)

    return take_in


def verdicts(db):
    """(item, classifier, verdict, score) of every visible row."""
    return [(row["item"], row["classifier"], row["verdict"], row["score"]) for row in shown(db)]


def everything(db):
    """Return all data that an import could change."""
    return shown(db), items.all_items(db), log(db)


READ = {
    "a classifier in each row": (
        ["item,classifier,verdict,score", f"{FIRST},mine,similar,0.25", f"{FIRST},theirs,dissimilar,3e-2"], None,
        [(FIRST, "mine", "similar", 0.25), (FIRST, "theirs", "dissimilar", 0.03)],
    ),
    "one classifier for the whole file": (
        ["item,verdict", f"{FIRST},similar", f"{SECOND},dissimilar"], "mine",
        [(FIRST, "mine", "similar", None), (SECOND, "mine", "dissimilar", None)],
    ),
    "the name in the file counts first": (
        ["item,classifier,verdict", f"{FIRST},mine,similar"], "other", [(FIRST, "mine", "similar", None)]
    ),
    "other columns in any order": (
        ["score,comment,verdict,item", f"1,why not,similar,{FIRST}"], "mine", [(FIRST, "mine", "similar", 1.0)]
    ),
    "an empty score is missing": (
        ["item,verdict,score", f"{FIRST},similar,", f"{SECOND},similar,0"], "mine",
        [(FIRST, "mine", "similar", None), (SECOND, "mine", "similar", 0.0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", READ)
def test_a_table_of_verdicts_is_read(study, take_in, what):
    lines, name, expected = READ[what]
    assert take_in(study, *lines, name=name) == len(expected)
    assert verdicts(study) == expected
    assert log(study)[-1] == ("carol", "import verdicts")


def test_an_empty_verdict_is_none_with_a_reason(study, take_in):
    take_in(study, "item,verdict,score", f"{FIRST},,", name="mine")
    (row,) = shown(study)
    assert (row["verdict"], "imported file" in row["error"]) == (None, True)
    assert stored_verdicts.verdict_counts(stored_verdicts.verdict_table(study), SIMILAR.names) == [
        {"classifier": "mine", "threshold": None, "dissimilar": 0, "similar": 0, "none": 1}
    ]


def test_a_study_without_measurements_gets_the_items_of_the_file(db, take_in):
    take_in(db, "item,classifier,verdict", "b,mine,similar", "a,mine,dissimilar", "b,theirs,similar")
    assert [(item.name, item.benchmark, item.n_runs) for item in items.all_items(db)] == [("a", "a", 0), ("b", "b", 0)]
    assert verdicts(db) == [
        ("a", "mine", "dissimilar", None), ("b", "mine", "similar", None), ("b", "theirs", "similar", None),
    ]  # fmt: skip


def test_an_imported_classifier_stands_beside_the_built_in_ones(planned, take_in):
    answer_everything(planned, dict.fromkeys(REVIEWERS, "similar"))
    compute(planned)
    before = {row["item"]: row for row in shown(planned) if row["classifier"] == "same"}
    take_in(planned, "item,verdict,score", f"{FIRST},dissimilar,0.9", f"{SECOND},similar,0.1", name="mine")
    counts = stored_verdicts.verdict_counts(stored_verdicts.verdict_table(planned), SIMILAR.names)
    assert [row["classifier"] for row in counts] == sorted([*CLASSIFIERS, "mine"])
    assert {"classifier": "mine", "threshold": None, "dissimilar": 1, "similar": 1, "none": 0} in counts
    exported = export(planned)
    assert len(exported) == 8 * len(CLASSIFIERS) + 2
    assert exported.query("classifier == 'mine'")["score"].tolist() == [0.9, 0.1]
    content = report_of(planned)
    assert content["classifiers"]["mine"]["against"]["counts"] == [[1, 1], [0, 0]]
    assert {row["item"]: row for row in shown(planned) if row["classifier"] == "same"} == before


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([f"{FIRST},mine,similar,", "nothing,mine,similar,"], "there is no item 'nothing' in this study."),
        ([f"{SECOND},mine,similar,", f"{FIRST},same,similar,"],
         "labeler computes same itself; give the imported classifier another name."),
        ([f"{FIRST},mine,similar,", f"{FIRST},mine,dissimilar,"],
         f"line 3: classifier 'mine' has two verdicts on item '{FIRST}'"),
        ([f"{FIRST},mine,similar,", f"{SECOND},mine,Similar,"],
         "line 3: verdict 'Similar'"),
        ([f"{FIRST},mine,similar,", "", f"{SECOND},mine,not sure,"],
         "line 4: verdict 'not sure'"),
        ([f"{FIRST},mine,similar,nan"], "line 2: score 'nan' is not a number"),
        ([f"{FIRST},mine,similar,high"], "line 2: score 'high' is not a number"),
        ([f"{FIRST},mine,similar"], "line 2: the row has 3 cells"),
        ([f"{FIRST},mine,similar,", ",mine,similar,"], "line 3"),
        ([f"{FIRST},mine,similar,", f"{FIRST},,similar,"], "line 3"),
        ([f"{FIRST},{'m' * 100_001},similar,"], "line 2: the classifier 'm"),
    ],
    ids=["unknown item", "built-in name", "doubled", "verdict", "verdict behind a blank line", "nan", "text", "short",
         "no item", "no classifier", "a long name"],
)  # fmt: skip
def test_a_file_that_is_refused_leaves_nothing_behind(study, tmp_path, take_in, lines, message):
    take_in(study, "item,verdict", f"{FIRST},dissimilar", name="mine")
    before = everything(study)
    with pytest.raises(InputError) as caught:
        take_in(study, "item,classifier,verdict,score", *lines)
    assert str(caught.value).startswith(f"{tmp_path / 'verdicts.csv'}: {message}")
    assert everything(study) == before


@pytest.mark.parametrize(("header", "missing"), [("item,verdict", "classifier"), ("item,classifier", "verdict")])
def test_a_file_that_lacks_a_column_is_refused(study, take_in, header, missing):
    with pytest.raises(InputError, match=f"column '{missing}' is missing; the table has {header.replace(',', ', ')}"):
        take_in(study, header, f"{FIRST},similar")
    assert shown(study) == []


@pytest.mark.parametrize("name", [*CLASSIFIERS, "steady"])
def test_the_name_of_a_built_in_or_installed_classifier_is_refused(study, take_in, site, name):
    site.install("steady", STEADY)
    with pytest.raises(InputError, match=name):
        take_in(study, "item,verdict", f"{FIRST},similar", name=name)
    assert shown(study) == []


def test_importing_again_replaces_what_was_imported_of_this_classifier_alone(study, take_in):
    take_in(study, "item,verdict", f"{FIRST},dissimilar", name="theirs")
    take_in(study, "item,verdict,score", f"{FIRST},similar,0.1", f"{SECOND},similar,0.2", name="mine")
    take_in(study, "item,verdict", f"{FIRST},dissimilar", name="mine")
    assert verdicts(study) == [(FIRST, "mine", "dissimilar", None), (FIRST, "theirs", "dissimilar", None)]


def test_computing_afterwards_leaves_the_imported_verdicts_as_they_are(study, take_in):
    take_in(study, "item,verdict,score", f"{FIRST},similar,0.5", name="mine")
    assert compute(study).n_computed == 8
    assert [row for row in verdicts(study) if row[1] == "mine"] == [(FIRST, "mine", "similar", 0.5)]


@pytest.fixture
def hostile(db, take_in):
    """A study whose item and classifiers have names that a spreadsheet or a browser would execute."""
    item, first, second = (f'"{name.replace(chr(34), chr(34) * 2)}"' for name in (HYPERLINK, HYPERLINK, SCRIPT))
    take_in(db, "item,classifier,verdict", f"{item},{first},similar", f"{item},{second},dissimilar")
    return db


def test_hostile_names_are_inert_in_the_exported_file_and_come_back_as_they_were(hostile, tmp_path):
    assert verdicts(hostile) == [(HYPERLINK, SCRIPT, "dissimilar", None), (HYPERLINK, HYPERLINK, "similar", None)]
    path = tmp_path / "out.csv"
    run("verdicts", "--study", hostile.path, "--import", tmp_path / "verdicts.csv", "--out", path)
    cells = pd.read_csv(path, dtype=str)[["item", "benchmark", "classifier"]].to_numpy().ravel().tolist()
    assert {cell for cell in cells if not cell.startswith("'=")} == {SCRIPT}
    back = tables.read_verdicts(Source("out.csv", path), SIMILAR.names)
    assert set(back["item"]) == {HYPERLINK}
    assert set(back["classifier"]) == {HYPERLINK, SCRIPT}


def test_published_verdicts_of_built_in_classifiers_can_be_imported_if_no_item_has_measurements(db, take_in):
    lines = ("item,classifier,verdict", "a,heuristic,dissimilar", "a,same@0.01,similar")
    assert take_in(db, *lines) == 2
    assert {row[1] for row in verdicts(db)} == {"heuristic", "same@0.01"}


def test_an_exported_table_can_be_imported_elsewhere(study, db, take_in, tmp_path):
    take_in(study, "item,verdict,score", f"{FIRST},similar,0.1", f"{SECOND},dissimilar,-0.7", name="mine")
    (tmp_path / "out.csv").write_text(reporting.as_csv(export(study)), encoding="utf-8")
    assert stored_verdicts.import_verdicts(db, tmp_path / "out.csv", None, **WHO) == 2
    assert verdicts(db) == verdicts(study)


def test_the_command_takes_verdicts_in_and_counts_them(study, tmp_path):
    path = tmp_path / "made.csv"
    path.write_text(f"item,verdict\n{FIRST},similar\n{SECOND},dissimilar\n", encoding="utf-8")
    result = run("verdicts", "--study", study.path, "--import", path, "--classifier", "mine")
    assert result.stderr == f"Imported 2 verdicts.\n{INTERIM}\n"
    assert re.search(r"^mine +1 +1 +0$", result.stdout, re.MULTILINE)
    assert verdicts(study) == [(FIRST, "mine", "similar", None), (SECOND, "mine", "dissimilar", None)]
