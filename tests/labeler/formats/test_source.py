import gzip
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import InputError, Refused
from labeler.formats import Source, content_hash, sources

CONTENT = b"[[1, 2, 3], [4, 5, 6]]" * 20
PACKED = gzip.compress(CONTENT, mtime=0)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a"])
@pytest.mark.parametrize("raw", [CONTENT, PACKED])
def test_compression_is_found_from_the_content_whatever_the_name(tmp_path, name, raw):
    path = tmp_path / name
    path.write_bytes(raw)
    assert Source(str(path), path=path).content() == CONTENT
    assert Source(name, data=raw).content() == CONTENT


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("runs/a.json", "a.json"),
        ("/tmp/org__p#m#k=v&l=w.json.gz", "org__p#m#k=v&l=w.json"),
        ("a b,c;ü.csv.gz", "a b,c;ü.csv"),
        ("plain", "plain"),
        ("a.gz.json", "a.gz.json"),
    ],
)
def test_the_file_name_is_the_last_part_without_gz(name, file_name):
    assert Source(name).file_name == file_name


@given(st.integers(0, len(PACKED) - 1))
def test_a_cut_gzip_file_is_refused(length):
    if length >= 2:  # shorter ones do not look like gzip any more
        with pytest.raises(Refused, match=r"^runs/a\.json\.gz: damaged gzip file"):
            Source("runs/a.json.gz", data=PACKED[:length]).content()


def content_or_refusal(source):
    try:
        return source.content()
    except Refused as refused:
        return refused


@given(st.integers(10, len(PACKED) - 1), st.integers(1, 255))
def test_a_gzip_file_with_a_changed_byte_is_refused_or_still_the_same(at, change):
    damaged = PACKED[:at] + bytes([PACKED[at] ^ change]) + PACKED[at + 1 :]
    outcome = content_or_refusal(Source("a.json.gz", data=damaged))
    assert outcome == CONTENT or str(outcome).startswith("a.json.gz: damaged gzip file")


def test_a_file_that_is_gone_and_a_folder_are_refused_by_name(tmp_path):
    with pytest.raises(Refused, match=r"gone\.json: No such file or directory$"):
        Source("gone.json", path=tmp_path / "gone.json").content()
    with pytest.raises(Refused, match=r"folder: Is a directory$"):
        Source("folder", path=tmp_path).content()


def test_the_content_hash_is_sha256_and_the_same_packed_or_not():
    assert content_hash(CONTENT) == hashlib.sha256(CONTENT).hexdigest()
    assert content_hash(Source("a", data=PACKED).content()) == content_hash(Source("b", data=CONTENT).content())
    assert content_hash(CONTENT) != content_hash(CONTENT + b" ")


def touched(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"[]")
    return folder


def test_a_folder_stands_for_all_result_files_below_it_in_order_of_name(tmp_path):
    results = ["a.json", "b.json.gz", "c.CSV", "deep/er/d.parquet", "e#f&g=h.csv.gz"]
    touched(tmp_path, *results, "README.md", "notes.txt", ".hidden.json", "a.json.bak", "deep/er/x.gz", "csv")
    (tmp_path / "folder.json").mkdir()
    found = list(sources([tmp_path]))
    assert [Path(source.name).relative_to(tmp_path).as_posix() for source in found] == sorted(results)
    assert [source.path for source in found] == [Path(source.name) for source in found]


def test_a_file_named_by_the_person_is_taken_whatever_its_name(tmp_path):
    touched(tmp_path, "results.txt", ".hidden.json", "folder/b.csv", "folder/a.csv")
    named = [tmp_path / "results.txt", tmp_path / "folder", tmp_path / ".hidden.json"]
    names = [Path(source.name).name for source in sources(named)]
    assert names == ["results.txt", "a.csv", "b.csv", ".hidden.json"]


def test_a_path_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone: there is no such file or folder\.$"):
        list(sources([touched(tmp_path, "a.json"), tmp_path / "gone"]))


def test_a_folder_without_results_is_named(tmp_path):
    touched(tmp_path, "README.md", "deep/notes.txt", ".hidden.csv")
    with pytest.raises(InputError, match=r"deep: no result files \(\.json, \.json\.gz, \.csv, \.parquet\)"):
        list(sources([tmp_path / "deep"]))


def test_a_file_whose_name_is_no_text_can_still_be_read(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.json")
    path.write_bytes(CONTENT)
    (source,) = sources([tmp_path])
    assert source.content() == CONTENT
