"""The command that draws the figures, and the figures of the report."""

import pytest

from labeler.studies.store import open_database
from labeler.studies.verdicts import computing
from tests.labeler.commands import run
from tests.labeler.files.formats.examples import csv_bytes
from tests.making import answer_everything, item_name, make_study, series

FIRST, APPLICATION = item_name(0), "example/app0"
SIGNATURES = {"svg": b"<svg ", "png": b"\x89PNG\r\n\x1a\n"}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A planned study with labels and verdicts, read-only."""
    path = tmp_path_factory.mktemp("figures") / "judged.study"
    make_study(path, n_items=4, reviewers=("ada", "ben"), plan=True)
    with open_database(path) as db:
        computing.compute_verdicts(db, actor="carol")
        answer_everything(db, {"ada": "similar", "ben": "dissimilar"})
    return path


def figures(study, out, *options, code=0):
    return run("figures", "--study", study, "--out", out, *options, code=code)


def files_in(folder):
    return {str(path) for path in folder.rglob("*") if path.is_file()}


def kinds(result):
    """Return the kinds of the printed files: the part before the name of an item or application."""
    return [line.rpartition("/")[2].split("-example")[0].split(".")[0] for line in result.stdout.splitlines()]


def test_an_application_and_an_item_add_their_figures_once_and_the_reasons_are_remarks(judged, tmp_path):
    out = tmp_path / "new" / "folder"
    result = figures(judged, out, "--application", APPLICATION, "--item", FIRST, "--item", FIRST)
    assert set(result.stdout.splitlines()) == files_in(out)
    assert kinds(result) == [
        "schematic-pairs", "measures-by-application", "measures-by-benchmark", "runs", "matrix-heuristic",
        "matrix-heuristic-printed", "matrix-same",
    ]  # fmt: skip
    name, *lines = result.stderr.splitlines()
    assert name == FIRST
    assert [line.split(".")[0] for line in lines] == [
        "  heuristic: dissimilar", "  heuristic-printed: similar", "  kruskal: similar", "  same: similar",
        "  spread: similar",
    ]  # fmt: skip
    assert "farthest from the others" in lines[0]
    assert "The epsilon squared, " in lines[2] and "The maxSpread, " in lines[4]  # nothing else is printed


def test_without_an_item_there_are_two_figures_in_each_format_asked_for_and_other_files_stay(judged, tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    (tmp_path / "schematic-pairs.svg").write_text("old")
    result = figures(judged, tmp_path, "--figure-format", "png", "--figure-format", "svg")
    assert (set(kinds(result)), result.stderr) == ({"schematic-pairs", "measures-by-application"}, "")
    assert set(result.stdout.splitlines()) == files_in(tmp_path) - {str(tmp_path / "mine.txt")}
    for form, signature in SIGNATURES.items():
        files = [path for path in tmp_path.iterdir() if path.suffix == f".{form}"]
        assert [path.read_bytes().startswith(signature) for path in files] == [True, True]


@pytest.mark.parametrize(("file", "out"), [("file", "file/out"), ("out/measures-by-application.svg/x", "out")])
def test_what_cannot_be_written_is_refused_and_leaves_nothing_half_written(judged, tmp_path, file, out):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("kept")
    result = figures(judged, tmp_path / out, code=2)
    assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    assert result.stderr.startswith("Error: ") and str(tmp_path / out) in result.stderr
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_a_hostile_name_stays_in_the_folder(tmp_path):
    hostile = "../../<script>'\"" + "x" * 3000
    rows = [(hostile, number, value) for number, values in enumerate(series(0)) for value in values]
    (tmp_path / "t.csv").write_bytes(csv_bytes(rows))
    make_study(tmp_path / "x.study", n_items=0, reviewers=())
    run("import", "--study", tmp_path / "x.study", tmp_path / "t.csv")
    run("verdicts", "--study", tmp_path / "x.study")
    figures(tmp_path / "x.study", tmp_path / "out", "--item", hostile)
    written = list(tmp_path.rglob("*.svg"))
    assert len(written) == 2 + 4
    assert all(path.is_relative_to(tmp_path / "out") for path in written)
