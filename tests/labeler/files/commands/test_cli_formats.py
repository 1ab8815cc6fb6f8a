"""`labeler formats`, `labeler convert`, and `labeler import` of many files."""

import json
import runpy
import zipfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.files.formats import FORMATS
from labeler.safe_text import one_line
from tests.labeler.commands import run
from tests.labeler.studies.items.test_importing_joined import google_file, hyperfine_file
from tests.sentences import says


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "cache.study"
    run("init", "--study", path)
    return path


@pytest.fixture
def runs(tmp_path):
    """A folder with three runs of Google Benchmark."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for number in (1, 2, 10):
        (folder / f"run{number}.json").write_bytes(google_file("", [number, number + 1]).data)
    return folder


def dry(*arguments, code=0):
    return json.loads(run("import", "--dry-run", "--json", *arguments, code=code).stdout)


def test_every_format_is_listed_with_what_maps_to_runs_and_iterations():
    rows = json.loads(run("formats", "--json").stdout)
    assert [list(row) for row in rows] == [
        ["name", "title", "runs", "iterations", "file_is", "keep", "failures", "package"]
    ] * len(FORMATS)
    assert [row["name"] for row in rows] == list(FORMATS)
    assert {row["name"] for row in rows if row["file_is"] == "run"} == {
        "pytest-benchmark", "google-benchmark", "asv", "criterion", "go", "tinybench", "benchmarkjs", "cargo-bench",
        "github-action", "bencher", "k6", "wrk", "catch2", "benchmarktools", "pkgbenchmark", "mitata", "nanobench",
        "jmeter", "codspeed", "benchmark-ips", "perf-stat", "numbers",
    }  # fmt: skip
    assert all(row["title"] and row["runs"] and row["iterations"] for row in rows)
    table = run("formats").stdout
    assert all(name in table for name in FORMATS)
    assert "package" not in table


def test_files_that_are_a_run_each_are_one_item(study, runs):
    (row,) = dry(runs)
    assert (row["benchmark"], row["runs"], row["iterations"], row["unit"]) == ("BM", 3, "2", "s")
    assert row["file"] == ", ".join(str(runs / f"run{number}.json") for number in (1, 2, 10))
    assert list(row) == ["file", "benchmark", "runs", "iterations", "unit", "better", "warnings", "refused"]
    assert says(run("import", "--study", study, runs).stderr, "1 item imported", "3 files", "0 files", "0 refused")
    assert says(run("import", "--study", study, runs).stderr, "0 items imported", "3 files", "3 files", "0 refused")


def test_a_pattern_a_zip_file_and_standard_input_are_read(study, runs, tmp_path):
    assert dry(f"{runs}/**/*.json")[0]["runs"] == 3
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        for path in runs.iterdir():
            archive.write(path, f"deep/{path.name}")
    (row,) = dry(tmp_path / "runs.zip")
    assert (row["runs"], "runs.zip/deep/run1.json" in row["file"]) == (3, True)
    result = CliRunner().invoke(main, ["import", "--dry-run", "--json", "-"], input=b"[[1, 2], [3, 4]]")
    assert (json.loads(result.stdout)[0]["file"], result.exit_code) == ("standard input", 0)
    assert "file matches this pattern" in run("import", "--dry-run", f"{runs}/*.csv", code=2).stderr


def test_the_person_says_what_a_file_and_its_values_are(tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_bytes(hyperfine_file("", [number, 2, 3]).data)
    assert [(row["runs"], row["iterations"]) for row in dry(tmp_path / "1.json")] == [(3, "1")]
    assert [(row["runs"], row["iterations"]) for row in dry(tmp_path, "--file-is", "run")] == [(2, "3")]
    rows = dry(tmp_path, "--file-is", "run", "--values-are", "runs")
    assert [(row["runs"], row["iterations"]) for row in rows] == [(6, "1")]
    assert "only one run" in dry(tmp_path / "1.json", "--values-are", "iterations", code=1)[0]["refused"]
    assert "'runs' is not one of" in run("import", "--dry-run", tmp_path, "--file-is", "runs", code=2).stderr


def test_a_file_of_a_folder_that_is_none_of_a_known_format_is_named_unless_its_ending_is_none_of_ours(runs):
    (runs / "notes.md").write_text("nothing")
    assert len(dry(runs)) == 1
    (runs / "notes.txt").write_text("nothing")
    rows = dry(runs, code=1)
    assert [bool(row["refused"]) for row in rows] == [True, False]
    assert "notes.txt: not a result file of a known format" in run("import", "--dry-run", runs, code=1).stderr


def test_a_text_is_cut_and_printable():
    assert one_line("a\u202eb\tc") == "a b c"
    assert one_line("x" * 500 + "end", 80) == "x" * 39 + "…" + "x" * 37 + "end"


@pytest.mark.slow
def test_the_guide_shows_what_its_commands_print():
    root = Path(__file__).parents[4]
    filled = runpy.run_path(str(root / "scripts" / "formats_guide.py"))["filled"]
    text = (root / "docs" / "formats.md").read_text(encoding="utf-8")
    assert filled(text) == text, "make it again: python scripts/formats_guide.py"


def test_the_progress_names_files_and_bytes(runs, monkeypatch):
    shown = []

    class Bar:
        def __init__(self, *, length, label, file, item_show_func, hidden):
            self.length, self.show = length, item_show_func

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def update(self, n, item):
            shown.append((self.length, n, self.show(item)))

    monkeypatch.setattr(click, "progressbar", Bar)
    run("import", "--dry-run", runs)
    sizes = [path.stat().st_size for path in (runs / "run1.json", runs / "run2.json", runs / "run10.json")]
    assert [n for _length, n, _text in shown] == sizes
    assert {length for length, _n, _text in shown} == {sum(sizes)}
    assert shown[-1][2] == f"3 of 3 files, {sum(sizes) / 1e6:.1f} MB"
