"""The command that draws the figures, and the figures of the report."""

import xml.etree.ElementTree as ET

import pytest

from labeler.service.items import importing
from labeler.service.verdicts import computing
from labeler.store import open_database
from tests.labeler.conftest import answer_everything, import_all, item_name, make_study, series
from tests.labeler.test_cli import run

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


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory):
    path = tmp_path_factory.mktemp("figures") / "unjudged.study"
    make_study(path, n_items=1, reviewers=())
    return path


def figures(study, out, *options, code=0):
    return run("figures", "--study", study, "--out", out, *options, code=code)


def files_in(folder):
    return {str(path) for path in folder.rglob("*") if path.is_file()}


def kinds(result):
    """Return the kinds of the printed files: the part before the name of an item or application."""
    return [line.rpartition("/")[2].split("-example")[0].split(".")[0] for line in result.stdout.splitlines()]


def refusal(*arguments):
    """Return the line with the reason for refusing."""
    result = figures(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line


@pytest.fixture(scope="module")
def drawn(judged, tmp_path_factory):
    """One application, and one item named twice: the output of the command, and the folder."""
    out = tmp_path_factory.mktemp("drawn") / "new" / "folder"
    return figures(judged, out, "--application", APPLICATION, "--item", FIRST, "--item", FIRST), out


def test_the_files_printed_are_those_written(drawn):
    result, out = drawn
    assert set(result.stdout.splitlines()) == files_in(out)


def test_an_application_and_an_item_add_their_figures_once(drawn):
    assert kinds(drawn[0]) == [
        "schematic-pairs", "measures-by-application", "measures-by-benchmark", "runs", "matrix-heuristic",
        "matrix-heuristic-printed", "matrix-same",
    ]  # fmt: skip


def test_every_file_is_a_figure(drawn):
    for path in drawn[1].rglob("*.svg"):
        assert ET.fromstring(path.read_text()).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_reasons_of_each_classifier_are_remarks(drawn):
    name, *lines = drawn[0].stderr.splitlines()
    assert name == FIRST
    assert [line.split(".")[0] for line in lines] == [
        "  heuristic: dissimilar", "  heuristic-printed: similar", "  kruskal: similar", "  same: similar",
        "  spread: similar",
    ]  # fmt: skip
    assert "farthest from the others" in lines[0]
    assert "The epsilon squared, " in lines[2] and "The maxSpread, " in lines[4]  # nothing else is printed


@pytest.fixture(scope="module")
def plain(judged, tmp_path_factory):
    """The figures without items, in two formats, in a folder with an old figure and an unrelated file."""
    out = tmp_path_factory.mktemp("plain")
    (out / "mine.txt").write_text("kept")
    (out / "schematic-pairs.svg").write_text("old")
    return figures(judged, out, "--figure-format", "png", "--figure-format", "svg"), out


def test_without_an_item_there_are_two_figures_and_no_reasons(plain):
    assert set(kinds(plain[0])) == {"schematic-pairs", "measures-by-application"}
    assert plain[0].stderr == ""


def test_every_figure_is_written_in_each_format_asked_for(plain):
    for form, signature in SIGNATURES.items():
        files = [path for path in plain[1].iterdir() if path.suffix == f".{form}"]
        assert len(files) == 2
        assert all(path.read_bytes().startswith(signature) for path in files)


def test_a_folder_that_is_there_keeps_its_other_files(plain):
    assert (plain[1] / "mine.txt").read_text() == "kept"
    assert set(plain[0].stdout.splitlines()) == files_in(plain[1]) - {str(plain[1] / "mine.txt")}


def test_a_folder_that_cannot_be_made_is_refused(judged, tmp_path):
    (tmp_path / "file").write_text("kept")
    assert f"{tmp_path / 'file' / 'out'}" in refusal(judged, tmp_path / "file" / "out")
    assert files_in(tmp_path) == {str(tmp_path / "file")}


def test_a_file_in_the_way_of_a_figure_is_refused_and_leaves_no_half_written_one(judged, tmp_path):
    (tmp_path / "measures-by-application.svg").mkdir()
    assert "could not be written" in refusal(judged, tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_hostile_name_stays_in_the_folder(tmp_path):
    hostile = ["../../<script>'\"" + "x" * 3000]
    make_study(tmp_path / "x.study", n_items=0, reviewers=())
    with open_database(tmp_path / "x.study") as db:
        import_all(db, *(long_table(name, seed) for seed, name in enumerate(hostile)))
        computing.compute_verdicts(db, actor="carol")
    figures(tmp_path / "x.study", tmp_path / "out", *(word for name in hostile for word in ("--item", name)))
    written = list(tmp_path.rglob("*.svg"))
    assert len(written) == 2 + 4 * len(hostile)
    assert all(path.is_relative_to(tmp_path / "out") for path in written)


def long_table(name, seed, application=""):
    """Return a table with the runs of one benchmark with any name."""
    quoted = [text.replace('"', '""') for text in (name, application)]
    lines = [
        f'{number},{value},"{quoted[0]}","{quoted[1]}"'
        for number, values in enumerate(series(seed))
        for value in values
    ]
    return importing.upload(f"{seed}.csv", "\n".join(["run,value,benchmark,application", *lines]).encode())


def test_the_report_has_its_figures_in_a_folder(judged, tmp_path):
    result = run("report", "--study", judged, "--out", tmp_path / "out")
    assert set(result.stdout.splitlines()) == files_in(tmp_path / "out")
    drawn = {path.name for path in (tmp_path / "out" / "figures").iterdir()}
    assert {"pair-agreement.svg", "measures-by-application.svg"} <= drawn


def test_the_figures_of_the_report_are_those_in_its_page(judged, tmp_path):
    run("report", "--study", judged, "--out", tmp_path)
    page = (tmp_path / "report.html").read_text()
    for path in (tmp_path / "figures").iterdir():
        assert ET.fromstring(path.read_text()).tag.endswith("svg")
        assert path.read_text() in page


def test_a_report_of_nothing_has_no_figures(unjudged, tmp_path):
    run("report", "--study", unjudged, "--out", tmp_path)
    assert not (tmp_path / "figures").exists()
