"""Small files that would fill the memory are refused; each is read in a separate process to measure its memory."""

import gzip
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from labeler.errors import Refused
from labeler.files.formats import bounds
from tests.labeler.files.formats.examples import parquet_bytes, read_bytes

MAX_MB = 1000
READ = """
import re, sys
from pathlib import Path
from labeler.errors import Refused
from labeler.files.formats import Source, members, read
path = Path(sys.argv[1])
for member in members(Source(path.name, path=path)):
    try:
        read(member)
        print("read")
    except Refused as error:
        print(str(error)[:300])
print(int(re.search("VmHWM: *([0-9]+)", Path("/proc/self/status").read_text().replace("\\t", " "))[1]) / 1024)
"""


def repeated(text, n):
    """Return a column in which one text occurs n times, in a few bytes."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8)), [text])


def table_bytes(n, row_group_size=None, **columns):
    table = pa.table({"benchmark": repeated("b", n), "run": repeated("1", n), "value": np.ones(n), **columns})
    file = io.BytesIO()
    parquet.write_table(
        table, file, compression="zstd", row_group_size=row_group_size or n, dictionary_pagesize_limit=2**30
    )
    return file.getvalue()


def zipped(content, name="a.csv"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


MB = 2**20
BOMBS = {
    "many-rows.parquet": lambda: table_bytes(40_000_000),
    "many-row-groups.parquet": lambda: table_bytes(6_000_000, row_group_size=20_000),
    "long-value.parquet": lambda: table_bytes(3_000_000, value=repeated("9" * 1_000_000, 3_000_000)),
    "long-name.parquet": lambda: table_bytes(3_000_000, application=repeated("a" * 3_000_000, 3_000_000)),
    "many-runs.csv": lambda: b"benchmark,run,value\n" + b"".join(b"b,%d,1\n" % n for n in range(3_000_000)),
    "short-rows.csv": lambda: b"benchmark,run,value\n" + b"b,1,1\n" * 8_000_000,
    "rows-at-the-limit.csv": lambda: b"benchmark,run,value\n" + b"b,1,1\n" * 3_700_000,
    "requests.jtl": lambda: (
        b"timeStamp,elapsed,label,responseCode,success,bytes\n" + b"1700000000000,31,get,200,true,1504\n" * 1_500_000
    ),
    "many-columns.csv": lambda: (
        b"benchmark,run,value," + b",".join(b"c%d" % n for n in range(5_000_000)) + b"\nb,1,1\n"
    ),
    "one-long-line.csv": lambda: b"benchmark,run,value\nb,1," + "😀".encode() * (12 * MB) + b"\n",
    "empty-lists.json": lambda: b"[" + b"[]," * (16 * MB) + b"[]]",
    "short-lists.json": lambda: b"[" + b"[1]," * (12 * MB) + b"[1]]",
    "lists-at-the-limit.json": lambda: b"[" + b"[1]," * 2_100_000 + b"[1]]",
    "objects.json": lambda: b"[" + b'{"a":1},' * (6 * MB) + b"1]",
    "short-numbers.json": lambda: b"[[" + b"1.5," * (12 * MB) + b"1]]",
    "texts.json": lambda: b"[[" + b'"ab",' * (10 * MB) + b"1]]",
    "damaged-at-the-end.json": lambda: b"[[" + b"1.5," * (12 * MB) + "😀".encode(),
    "deep.json": lambda: b"[" * (50 * MB),
    "lines.txt": lambda: b"goos: linux\n" + b"abc\n" * (12 * MB),
    "numbers.json.gz": lambda: gzip.compress(b"[[" + b"1.5," * (60 * MB) + b"1]]", 1),
    "elements.xml": lambda: b"<Catch2TestRun>" + b"<a/>" * (12 * MB) + b"</Catch2TestRun>",
    "elements-at-the-limit.xml": lambda: b"<Catch2TestRun>" + b'<a b=""/>' * 930_000 + b"</Catch2TestRun>",
    "zeros.csv.gz": lambda: gzip.compress(b"benchmark,run,value\n" + b"0" * (900 * MB), 1),
    "zeros.zip": lambda: zipped(b"benchmark,run,value\n" + b"0" * (900 * MB)),
    "zeros.csv.zst": lambda: pa.Codec("zstd").compress(b"benchmark,run,value\n" + b"0" * (900 * MB), asbytes=True),
}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
@pytest.mark.parametrize("name", BOMBS)
def test_no_file_of_fifty_megabytes_takes_a_gigabyte(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    assert path.stat().st_size <= 52 * MB
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    *words, megabytes = done.stdout.split("\n")[:-1] or [done.stderr[-500:], "inf"]
    assert float(megabytes) < MAX_MB, words
    print(name, megabytes, words)


SMALL = {"benchmark": ["b", "b"], "run": ["1", "2"], "value": [1.0, 2.0]}
REFUSED = {
    "rows": (lambda: table_bytes(6_000_000), r"has about 18,000,000 values, more than 15,000,000"),
    "unpacked": (lambda: table_bytes(100, application=repeated("a" * 70 * MB, 100)), r"unpacks to more than 64 MiB"),
    "fixed length": (
        lambda: table_bytes(10, application=pa.array([b"x" * 1000] * 10, pa.binary(1000))),
        r"column 'application' holds values of 1000 bytes",
    ),
    "size not told": (
        lambda: parquet_bytes(SMALL, use_dictionary=False, column_encoding={"benchmark": "DELTA_BYTE_ARRAY"}),
        "column 'benchmark' has the encoding DELTA_BYTE_ARRAY",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_would_fill_the_memory_is_refused_before_it_is_unpacked(name):
    make, words = REFUSED[name]
    with pytest.raises(Refused, match=words):
        read_bytes("a.parquet", make())


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_what_pages_unpack_to_is_counted_as_the_file_says_it(version, compression, use_dictionary):
    rng = np.random.default_rng(3)
    table = pa.table({"benchmark": ["b"] * 5000, "run": ["1"] * 5000, "value": rng.random(5000)})
    file = io.BytesIO()
    parquet.write_table(
        table, file, compression=compression, data_page_version=version, use_dictionary=use_dictionary,
        row_group_size=1500, data_page_size=1000,
    )  # fmt: skip
    content = file.getvalue()
    metadata = parquet.read_metadata(pa.BufferReader(content))
    for group in range(metadata.num_row_groups):
        for column in range(3):
            chunk = metadata.row_group(group).column(column)
            pages = [n_bytes for n_bytes, _ in bounds._pages(content, chunk)]
            assert 0 < sum(pages) <= chunk.total_uncompressed_size  # includes the headers of the pages


def test_a_table_of_too_many_pages_is_refused(monkeypatch):
    monkeypatch.setattr(bounds, "MAX_PAGES", 20)
    assert read_bytes("a.parquet", table_bytes(30, row_group_size=10))
    with pytest.raises(Refused, match="or 20 pages"):
        read_bytes("a.parquet", table_bytes(40, row_group_size=10))


def test_metadata_that_tell_less_than_the_pages_hold_do_not_help(monkeypatch):
    monkeypatch.setattr(bounds, "FREELY", 1000)
    content = table_bytes(100, application=repeated("a" * 500_000, 100))
    assert len(content) < 5000
    with pytest.raises(Refused, match="unpacks to more than"):
        read_bytes("a.parquet", content)


def test_a_large_file_may_hold_as_much_as_its_size_allows():
    bounds.check_values(40_000_000, 80_000_000)
    with pytest.raises(ValueError, match="has about 40,000,000 values"):
        bounds.check_values(40_000_000, 50_000_000)
