"""The files on the server's disk that a page may read, and the list of import results."""

import os
import socket
import zipfile

import pytest

from labeler.errors import InputError
from labeler.studies.items import folders, importing
from tests.making import import_all, item_name, result_file, series


@pytest.fixture
def root(tmp_path):
    """A folder with results, beside a folder that must not be read."""
    inside, outside = tmp_path / "results", tmp_path / "private"
    (inside / "may").mkdir(parents=True)
    outside.mkdir()
    for file in (inside / "a.json", inside / "may" / "b.json", outside / "c.json"):
        file.write_text("[[1.0, 2.0], [1.0, 3.0]]")
    (inside / "notes.md").write_text("nothing")
    (inside / "cache.study").write_text("the study")
    return inside


def files(root, path):
    return folders.result_files(root, path, study=root / "cache.study")


@pytest.mark.parametrize("path", ["", ".", "may", "may/b.json", "may/../a.json", "not there"])
def test_what_lies_below_the_root_is_allowed(root, path):
    assert folders.below(root, path) == (root / path).resolve()
    assert folders.below(root, root / path) == (root / path).resolve()


@pytest.mark.parametrize("path", ["..", "../private", "may/../../private/c.json", "/", "/etc/passwd", "../results2"])
def test_nothing_else_is_allowed(root, path):
    (root.parent / "results2").mkdir()  # begins like the root
    with pytest.raises(InputError, match=r"outside the folder .*results"):
        folders.below(root, path)
    with pytest.raises(InputError, match="is outside the folder"):
        files(root, path)


def test_links_do_not_lead_out(root):
    (root / "way-out").symlink_to(root.parent / "private")
    (root / "may" / "way-out.json").symlink_to(root.parent / "private" / "c.json")
    for path in ("way-out", "way-out/c.json", "may/way-out.json", "may", "."):
        with pytest.raises(InputError, match="is outside the folder"):
            files(root, path)


def test_links_that_stay_inside_are_followed_and_the_root_itself_may_be_a_link(root, tmp_path):
    (root / "june").symlink_to(root / "may")
    (tmp_path / "link").symlink_to(root)
    for place in (root, tmp_path / "link"):
        assert [file.name for file in files(place, "june")] == ["may/b.json"]


def test_the_files_are_named_as_from_the_root_and_can_be_read(root):
    assert [file.name for file in files(root, ".")] == ["a.json", "may/b.json"]
    (one,) = files(root, "may/b.json")
    assert one.content() == b"[[1.0, 2.0], [1.0, 3.0]]"


@pytest.mark.parametrize("path", ["cache.study", "notes.md", "study.json", "study.zip"])
def test_a_file_that_is_named_must_be_one_of_results_and_never_the_study(root, path):
    for name in ("study.json", "study.zip"):
        (root / name).symlink_to(root / "cache.study")
    with pytest.raises(InputError, match="is not a result file"):
        files(root, path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("june", "no such file"), ("-", "no such file"), ("empty", "no result files"), ("x" * 300, "name too long"),
        ("loop/x", "not a file or"), ("a\0b", "not a file or"),
    ],
)  # fmt: skip
def test_what_is_not_there_or_no_path_is_said(root, path, reason):
    (root / "empty").mkdir()
    (root / "loop").symlink_to(root / "loop")
    with pytest.raises(InputError, match=reason):
        files(root, path)


@pytest.mark.parametrize("name", ["split", "split.study", "  split items ", "Größe", "-x", "a.b"])
def test_a_file_beside_the_study_ends_in_study(tmp_path, name):
    path = folders.path_in_study_folder(tmp_path / "cache.study", name)
    assert path.parent == tmp_path
    assert path.name == name.strip().removesuffix(".study") + ".study"


@pytest.mark.parametrize(
    "name",
    ["", " ", ".", "..", ".hidden", ".study", "a/b", "/etc/x", "..\\x", "a\0b", "a\nb", "\ud800", "ö" * 101, "a:b"],
)
def test_anything_but_a_plain_file_name_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="valid file name"):
        folders.path_in_study_folder(tmp_path / "cache.study", name)


def test_the_list_has_a_row_for_every_file(db):
    fine, short, bad = result_file("fine", series(1, 3, 60)), result_file("short", [[1.0] * 3, [1.0] * 5]), "{"
    rows = [folders.outcome(one) for one in import_all(db, fine, short, importing.upload("bad.json", bad.encode()))]
    assert rows[0] == {
        "file": "fine.json", "benchmarks": 1, "runs": "3", "iterations": "60", "warnings": "",
        "outcome": "1 item imported",
    }  # fmt: skip
    assert (rows[1]["runs"], rows[1]["iterations"]) == ("2", "3 to 5")
    assert "different lengths" in rows[1]["warnings"]
    assert "; fewer than 50 iterations" in rows[1]["warnings"]
    assert (rows[2]["benchmarks"], rows[2]["runs"], rows[2]["iterations"]) == (0, "", "")
    assert rows[2]["outcome"].startswith("refused: ")
    (again,) = import_all(db, fine)
    assert folders.outcome(again)["outcome"] == "imported before"


def test_the_list_says_how_much_of_a_file_was_there_already(db):
    lines = [f"{name},{run},{value}" for name in ("x", "y") for run in range(2) for value in (1.0, 1.5)]
    table = importing.upload("both.csv", "\n".join(["benchmark,run,value", *lines]).encode())
    import_all(db, importing.upload("x.csv", "\n".join(["benchmark,run,value", *lines[:4]]).encode()))
    (result,) = import_all(db, table)
    assert folders.outcome(result)["outcome"] == "1 item imported, 1 imported before"
    assert item_name(0) not in folders.outcome(result)


def test_zip_files_are_opened_and_named_as_from_the_root(root):
    with zipfile.ZipFile(root / "may" / "runs.zip", "w") as archive:
        archive.writestr("../c.json", "[[1, 2], [3, 4]]")
        archive.writestr("d.txt", "[[1, 2], [3, 5]]")
    found = files(root, "may")
    assert [file.name for file in found] == ["may/b.json", "may/runs.zip/../c.json", "may/runs.zip/d.txt"]
    assert found[1].content() == b"[[1, 2], [3, 4]]"


def test_a_pattern_stays_below_the_root(root):
    assert [file.name for file in files(root, "**/*.json")] == ["a.json", "may/b.json"]
    with pytest.raises(InputError, match="is outside the folder"):
        files(root, "../**/*.json")
    (root / "out").symlink_to(root.parent / "private")
    with pytest.raises(InputError, match="is outside the folder"):
        files(root, "o*/*.json")


@pytest.mark.parametrize(
    "path",
    [
        "~", "file:///etc/passwd", "\udcff", "..\\..", "x/../../..", "zero.json", "etc/passwd", "pipe.json",
        "socket.json",
    ],
)  # fmt: skip
def test_special_files_and_odd_paths_are_refused_and_nobody_waits_for_them(root, path, monkeypatch):
    os.mkfifo(root / "pipe.json")
    monkeypatch.chdir(root)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket.json")
        (root / "zero.json").symlink_to("/dev/zero")
        (root / "etc").symlink_to("/etc")
        with pytest.raises(InputError):
            files(root, path)
        (root / "zero.json").unlink()
        (root / "etc").unlink()
        assert [file.name for file in files(root, ".")] == ["a.json", "may/b.json"]


def test_the_progress_counts_files_and_bytes_and_says_how_long_it_will_take():
    seen, seconds = [], iter((0.0, 2.0, 3.0))
    sent = [importing.upload("a", b"x" * 2_000_000), importing.upload("b", b"x" * 6_000_000)]
    progress = folders.ImportProgress(sent, lambda: next(seconds), lambda share, words: seen.append((share, words)))
    for file in sent:
        progress(file)
    empty = importing.upload("a", b"")
    folders.ImportProgress([empty], lambda: 0.0, lambda *said: seen.insert(0, said))(empty)
    assert seen.pop(0) == (0.0, "1 of 1 file, 0.0 of 0.0 MB, 0 s left")
    assert seen == [(0.25, "1 of 2 files, 2.0 of 8.0 MB, 6 s left"), (1.0, "2 of 2 files, 8.0 of 8.0 MB, 0 s left")]


def test_what_a_file_is_can_be_said_in_words():
    assert [folders.describe_file_state(one) for one in (None, *importing.FILE_IS)] == [
        "the usual content for this tool", "one run of each benchmark", "all runs",
    ]  # fmt: skip
