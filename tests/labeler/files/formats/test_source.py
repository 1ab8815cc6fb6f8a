import copy
import gzip
import hashlib
import io
import os
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from analysis.runs.benchmark import natural
from labeler.errors import InputError, Refused
from labeler.files.formats import Source, content_hash, members, source, sources

CONTENT = b"[[1, 2, 3], [4, 5, 6]]" * 20
PACKED = gzip.compress(CONTENT, mtime=0)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a"])
@pytest.mark.parametrize("raw", [CONTENT, PACKED, pa.compress(CONTENT, codec="zstd", asbytes=True)])
def test_compression_is_found_from_the_content_whatever_the_name(tmp_path, name, raw):
    path = tmp_path / name
    path.write_bytes(raw)
    assert Source(str(path), path=path).content() == CONTENT
    assert Source(name, data=raw).content() == CONTENT


@given(st.integers(0, len(PACKED) - 1))
def test_a_cut_gzip_file_is_refused(length):
    if length >= 2:  # shorter files do not look like gzip
        with pytest.raises(Refused, match=r"^runs/a\.json\.gz: the gzip file is damaged"):
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
    assert outcome == CONTENT or str(outcome).startswith("a.json.gz: the gzip file is damaged")


def test_a_file_that_is_gone_and_a_folder_are_refused_by_name(tmp_path):
    with pytest.raises(Refused, match=r"gone\.json: No such file or directory$"):
        Source("gone.json", path=tmp_path / "gone.json").content()
    with pytest.raises(Refused, match="folder: this is not a file, but a folder"):
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
    results = ["a.json", "b.json.gz", "c.CSV", "deep/er/d.parquet", "e#f&g=h.csv.gz", "f.txt", "g.out.zst", "h9.bench",
               "h10.bench"]  # fmt: skip
    touched(tmp_path, *results, "README.md", "notes.pdf", ".hidden.json", "a.json.bak", "deep/er/x.gz", "csv")
    (tmp_path / "folder.json").mkdir()
    found = list(sources([tmp_path]))
    assert [Path(source.name).relative_to(tmp_path).as_posix() for source in found] == results
    assert [source.path for source in found] == [Path(source.name) for source in found]


def test_a_file_named_by_the_person_is_taken_whatever_its_name(tmp_path):
    touched(tmp_path, "results.txt", ".hidden.json", "folder/b.csv", "folder/a.csv")
    named = [tmp_path / "results.txt", tmp_path / "folder", tmp_path / ".hidden.json"]
    names = [Path(source.name).name for source in sources(named)]
    assert names == ["results.txt", "a.csv", "b.csv", ".hidden.json"]


def test_a_path_that_does_not_exist_and_a_folder_without_results_are_named(tmp_path):
    with pytest.raises(InputError, match=r"gone: no such file or folder\.$"):
        list(
            sources([touched(tmp_path, "a.json", "README.md", "deep/notes.md", "deep/.hidden.csv"), tmp_path / "gone"])
        )
    reason = r"deep: this folder has no result files \(\.json, \.csv, .*, \.zip; also with \.gz or \.zst\)"
    with pytest.raises(InputError, match=reason):
        list(sources([tmp_path / "deep"]))


def test_a_file_whose_name_is_no_text_can_still_be_read(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.json")
    path.write_bytes(CONTENT)
    (source,) = sources([tmp_path])
    assert source.content() == CONTENT


def test_runs_come_in_the_order_in_which_people_count():
    names = ["run10.json", "run2.json", "run1.json", "a/run1.json", "run02.json", "run1b.json", f"run{'9' * 5000}.json"]
    assert sorted(names, key=natural)[:5] == ["a/run1.json", "run1.json", "run1b.json", "run02.json", "run2.json"]
    assert sorted(names, key=natural)[-2:] == ["run10.json", names[-1]]


def test_a_pattern_stands_for_the_files_that_fit_it_and_folders_for_theirs(tmp_path, monkeypatch):
    touched(tmp_path, "r/a.json", "r/new/b.json", "r/new/c.csv", "r/old/deep/b.json", "r/.hidden/d.json", "x[1].json")
    monkeypatch.chdir(tmp_path)
    found = {
        pattern: [one.name for one in sources([Path(pattern)])]
        for pattern in ("r/**/*.json", "r/*", "r/**", "r/new/[ab].json", "x[1].json", str(tmp_path / "r" / "*.json"))
    }
    assert found["r/**/*.json"] == ["r/a.json", "r/new/b.json", "r/old/deep/b.json"]
    assert found["r/*"] == found["r/**"] == ["r/a.json", "r/new/b.json", "r/new/c.csv", "r/old/deep/b.json"]
    assert found["r/new/[ab].json"] == ["r/new/b.json"]
    assert found["x[1].json"] == ["x[1].json"]  # a file with exactly this name
    assert found[str(tmp_path / "r" / "*.json")] == [str(tmp_path / "r" / "a.json")]
    with pytest.raises(InputError, match=r"r/\*\.csv: no file"):
        list(sources([Path("r/*.csv")]))


class Piped:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_a_file(monkeypatch, pack):
    monkeypatch.setattr(sys, "stdin", Piped(pack(CONTENT)))
    (one,) = sources([Path("-")])
    assert (one.name, one.content()) == ("standard input", CONTENT)


def test_standard_input_that_never_ends_is_refused_after_a_while(monkeypatch):
    monkeypatch.setattr(source, "MAX_STDIN", len(CONTENT) - 1)
    monkeypatch.setattr(sys, "stdin", Piped(CONTENT + b"x" * 10**6))
    (one,) = sources([Path("-")])
    with pytest.raises(Refused, match=r"standard input: it has more than 0 MiB\. Save it"):
        one.content()
    assert sys.stdin.buffer.tell() == len(CONTENT)


def zipped(files, **options):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name) if options else name, content, **options)
    return out.getvalue()


HOSTILE = [
    "../../etc/passwd.json", "/etc/shadow.json", "<b>.json", "=1+1.csv", "a\nb.json", "C:\\x.json",
    "x" * 9999 + ".json",
]  # fmt: skip


def test_the_files_in_a_zip_file_keep_their_names_and_lead_nowhere(tmp_path):
    names = ["r/run10.json", "r/run2.json.gz", "deep/er/t.csv", *HOSTILE]
    content = {name: gzip.compress(CONTENT) if name.endswith(".gz") else CONTENT for name in names}
    path = tmp_path / "all.zip"
    path.write_bytes(zipped({**content, "README.md": b"x", ".hidden.json": b"x", "folder.json/": b""}))
    before = sorted(tmp_path.rglob("*"))
    found = list(sources([path]))
    assert {one.name for one in found} == {f"{path}/{name}" for name in names}
    assert [one.content() for one in found] == [CONTENT] * len(names)
    assert {one.path for one in found} == {path}
    assert sorted(tmp_path.rglob("*")) == before
    assert all(0 < one.size < 1000 for one in found)


def test_zip_files_in_folders_and_sent_ones_are_opened_too(tmp_path, monkeypatch):
    packed = zipped({"a.json": CONTENT, "b.json": CONTENT})
    (tmp_path / "runs.ZIP").write_bytes(packed)
    names = [f"{tmp_path}/runs.ZIP/{name}.json" for name in "ab"]
    assert [one.name for one in sources([tmp_path])] == names
    assert [one.content() for one in members(Source("sent.zip", data=packed))] == [CONTENT] * 2
    monkeypatch.setattr(sys, "stdin", Piped(packed))
    assert [one.name for one in sources([Path("-")])] == ["standard input/a.json", "standard input/b.json"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "this is not a readable zip file"),
        (b"PK\x03\x04 and then nothing", "this is not a readable zip file"),
        (zipped({"a.json": CONTENT})[:-30], "this is not a readable zip file"),
        (zipped({"README.md": b"x"}), r"this zip file has no result files \(\.json, .*\)"),
        (zipped({"in.zip": zipped({"a.json": b"[]"})}), "inside another zip file"),
    ],
)
def test_a_zip_file_that_cannot_be_used_is_one_refused_file(tmp_path, content, reason):
    (tmp_path / "a.zip").write_bytes(content)
    (one,) = sources([tmp_path / "a.zip"])
    with pytest.raises(Refused, match=reason):
        one.content()


def test_a_locked_or_damaged_file_in_a_zip_file_is_refused_and_the_others_are_read():
    packed = bytearray(zipped({"a.json": CONTENT, "b.json": CONTENT}))
    at = packed.index(b"PK\x01\x02")
    packed[at + 8] |= 1  # the encryption flag in the table of contents
    a, b = members(Source("x.zip", data=bytes(packed)))
    with pytest.raises(Refused, match=r"x\.zip/a\.json.*encrypted"):
        a.content()
    assert b.content() == CONTENT
    flipped = zipped({"a.json": b"[[1, 2]]"}, compress_type=zipfile.ZIP_STORED).replace(b"[[1, 2]]", b"[[1, 3]]")
    (one,) = members(Source("x.zip", data=flipped))
    with pytest.raises(Refused, match=r"zip file .*CRC"):
        one.content()


def test_a_zip_file_under_another_name_says_so():
    with pytest.raises(Refused, match="its name does not end in"):
        Source("a.json", data=zipped({"a.json": CONTENT})).content()


def test_many_or_large_files_in_a_zip_file_are_refused(monkeypatch):
    packed = zipped({f"{number}.json": b"[" * 2**20 for number in range(70)})
    (one,) = members(Source("x.zip", data=packed))
    with pytest.raises(Refused, match=r"unpacks to more than 10000 files or 64 MiB in total. .*unpack it first"):
        one.content()
    monkeypatch.setattr(source, "MAX_MEMBERS", 1)
    (one,) = members(Source("x.zip", data=zipped({"a.json": b"[]", "b.json": b"[]"})))
    with pytest.raises(Refused, match="more than 1 files"):
        one.content()


def test_a_zip_file_that_declares_a_small_size_is_refused():
    packed = zipped({"a.json": bytes(70 * 2**20)})
    at = packed.rindex(b"PK\x01\x02") + 24  # the size in the table of contents
    (one,) = members(Source("lies.zip", data=packed[:at] + (1000).to_bytes(4, "little") + packed[at + 4 :]))
    with pytest.raises(Refused):
        one.content()


@pytest.mark.parametrize("pack", [gzip.compress, lambda raw: pa.compress(raw, codec="zstd", asbytes=True)])
def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused_before_it_fills_the_memory(pack):
    bomb = pack(bytes(150 * 2**20))
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match=r"^a\.json\.gz: the file unpacks to more than 64 MiB. .*unpack it first"):
            Source("a.json.gz", data=bomb).content()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 140 * 2**20


@given(st.integers(0, 18))
def test_a_cut_zstd_file_is_refused(length):
    packed = pa.compress(CONTENT, codec="zstd", asbytes=True)[: 4 + length]
    with pytest.raises(Refused, match=r"^a\.json\.zst: the zstd file is damaged"):
        Source("a.json.zst", data=packed).content()


def test_what_criterion_asv_and_dotnet_write_beside_their_results_is_skipped_in_folders(tmp_path):
    results = [
        "criterion/sort/new/sample.json", "criterion/sort/base/sample.json", "asv/box/0a1b2c3d-venv-py3.11.json",
        "dotnet/Sorting-report-full.json", "alone/estimates.json", "alone/machine.json", "alone/Sorting-report.csv",
        "alone/benchmarks.json",
    ]  # fmt: skip
    others = [
        *(f"criterion/sort/{v}/{name}.json" for v in ("new", "base") for name in ("benchmark", "estimates", "tukey")),
        "criterion/sort/change/estimates.json", "asv/benchmarks.json", "asv/box/machine.json",
        "dotnet/Sorting-report.csv", "dotnet/Sorting-report-brief.json", "dotnet/Sorting-measurements.csv",
    ]  # fmt: skip
    touched(tmp_path, *results, *others)
    found = [Path(one.name).relative_to(tmp_path).as_posix() for one in sources([tmp_path])]
    assert sorted(found) == sorted(results)
    packed = zipped(dict.fromkeys((*results, *others), b"[]"))
    assert sorted(one.name for one in members(Source("z.zip", data=packed))) == sorted(
        f"z.zip/{one}" for one in results
    )
    named = tmp_path / others[0]
    assert [one.path for one in sources([named])] == [named]


def test_what_a_check_says_of_a_path_comes_before_it_is_opened(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"no zip file")

    def refuse(path):
        raise InputError(f"not {path.name}")

    with pytest.raises(InputError, match=r"^not a\.zip$"):
        list(sources([tmp_path / "a.zip"], check=refuse))


def test_the_size_is_that_on_the_disk_or_of_what_was_sent(tmp_path):
    (tmp_path / "a.json").write_bytes(CONTENT)
    assert Source("a", path=tmp_path / "a.json").size == Source("a", data=CONTENT).size == len(CONTENT)
    assert Source("a", path=tmp_path / "gone.json").size == 0


def test_a_zip_file_whose_entries_share_their_data_is_refused_at_once(tmp_path):
    body, name = b"[[1.0, 2.0], [1.5, 2.5]]", "a0.json"
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr(name, body)
        for number in range(1, 300):  # further entries of the directory for the same data
            entry = copy.copy(archive.getinfo(name))
            entry.filename = entry.orig_filename = f"a{number}.json"
            archive.filelist.append(entry)
            archive.NameToInfo[entry.filename] = entry
    (found,) = sources([tmp_path / "one.zip"])
    assert "share the same data" in found.unusable
