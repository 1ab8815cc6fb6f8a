"""Result files as one table or a folder of files, read by pandas, pyarrow and our readers."""

import json
import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import parquet

from analysis.runs.benchmark import Benchmark, in_order
from labeler.errors import InputError
from labeler.files import gathering
from labeler.files.formats import FORMATS, Source, read, read_benchmarks, writing
from labeler.files.formats.joining import HOW_TO_JOIN
from labeler.studies.items import importing
from labeler.studies.model import measurement_hash
from tests.conftest import examples
from tests.labeler.files.formats.examples import (
    COMMITTED,
    ORDERSAGE,
    csv_bytes,
    jmh_entry,
    json_bytes,
    ordersage_rows,
    pyperf_file,
    pyperf_runs,
)
from tests.labeler.files.formats.test_read import FILES

COLUMNS = [
    "benchmark", "application", "run", "iteration", "value", "unit", "better", "version", "context", "order_type",
    "order_position", "altered",
]  # fmt: skip
HOSTILE = [
    "../../etc/passwd", "<script>alert(1)</script>", "=HYPERLINK(0)", "+1", "'=1", "@SUM(A1)", "a\nb", "bell\x07",
    "  x ", "a" * 10_000, "CON", "a,b;c\td", 'say "hi"', "NA", "", "\u202eleft", "C:\\x", "ünï", ".", "..",
]  # fmt: skip


def hashes(files, **said):
    """(application, name) -> hash of measurements, unit and direction, as in an import."""
    options = importing.read_options(None, {}, with_shares=True, **said)
    found = {}
    for part in read_benchmarks(list(files), options):
        for one in part.benchmarks:  # the first of each name is written
            found.setdefault((one.application, one.name), (measurement_hash(one.values), one.unit, one.better))
    return found


def converted(tmp_path, files, form, **said):
    out = tmp_path / f"out.{form}"
    done = gathering.convert(list(files), form, out, importing.read_options(None, {}, **said))
    return out, done


def uploaded(files):
    return [importing.upload(name, content) for name, content in files.items()]


def sample_files():
    """Return a file of every format, and all committed files with measurements."""
    made = [importing.upload(f"made/{name}", content) for name, content in FILES.items()]
    return made + [Source(str(path), path=path) for path in sorted(COMMITTED.rglob("*")) if path.is_file()]


@pytest.mark.parametrize("format_name", [name for name in FORMATS if name != "numbers"])  # which names no benchmark
def test_reading_a_table_back_gives_the_same_measurements(tmp_path, format_name):
    known = FORMATS[format_name]
    files = [one for one in sample_files() if known.detect(one.name, one.content())]
    expected = hashes(files)
    assert expected, format_name
    for form in ("csv", "parquet"):
        out, done = converted(tmp_path, files, form)
        assert hashes([Source(str(out), path=out)]) == expected, form
        assert done.n_benchmarks == len(expected)


def test_every_number_and_text_of_a_table_is_where_it_belongs(tmp_path):
    rows = [("o/p", "b", 1, "ms", "v1", "x"), ("o/p", "b", 1, "ms", "v2", "y"), ("o/p", "b", 2, "ms", "v2", "y")]
    table = csv_bytes([(*row, value) for row in rows for value in (1.5, 2.5)],
                      ["application", "benchmark", "run", "unit", "version", "factor:heap", "value"])  # fmt: skip
    files = uploaded({"t.csv": table, "b.json": json_bytes([[1, 2], [3]])})
    for form, load in (("csv", lambda path: pd.read_csv(path, keep_default_na=False)), ("parquet", pd.read_parquet)):
        out, done = converted(tmp_path, files, form)
        found = load(out)
        assert list(found) == [*COLUMNS, "factor:heap"]
        assert (done.n_benchmarks, done.n_runs, done.n_values, done.refused) == (2, 5, 9, [])
        first = found[found["application"] == "o/p"]
        assert first["value"].tolist() == [0.0015, 0.0025] * 3
        assert first["iteration"].tolist() == [0, 1] * 3
        assert list(zip(first["run"].astype(str), first["version"], first["factor:heap"], strict=True))[::2] == [
            ("1", "v1", "x"), ("1", "v2", "y"), ("2", "v2", "y"),
        ]  # fmt: skip
        second = found[found["application"] == ""]
        assert second["value"].tolist() == [1, 2, 3]
        assert second["run"].astype(str).tolist() == ["0", "0", "1"]
        assert set(second["unit"]) == {"s"} and set(second["better"]) == {"lower"}


def test_a_parquet_file_has_a_row_group_a_benchmark_and_a_fixed_schema(tmp_path):
    out, _done = converted(tmp_path, uploaded({"a.json": b"[[1],[2]]", "b.json": b"[[3],[4]]"}), "parquet")
    file = parquet.ParquetFile(out)
    assert file.num_row_groups == 2
    assert file.schema_arrow.names == COLUMNS
    assert str(file.schema_arrow.field("value").type) == "double"
    assert pd.read_parquet(out, filters=[("benchmark", "==", "b")])["value"].tolist() == [3, 4]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_hostile_names_survive_a_table_and_are_inert_in_csv(tmp_path, form):
    names = [*(name for name in HOSTILE if name.strip()), "aux", "NUL.x", "com1", "Sort", "sort", "\xe9", "e\u0301"]
    made = pyperf_file(*[({"name": name}, pyperf_runs([index + 0.5], [2])) for index, name in enumerate(names)])
    out, done = converted(tmp_path, uploaded({"p.json": made}), form)
    assert done.n_benchmarks == len(names)
    found = hashes([Source(str(out), path=out)])
    assert [name for _, name in found] == names
    if form == "csv":
        cells = pd.read_csv(out, keep_default_na=False)["benchmark"]
        assert not [cell for cell in cells if cell[0] in "=+-@\t\r"]


def test_hostile_names_become_files_of_their_own_inside_the_folder(tmp_path):
    names = [*(name for name in HOSTILE if name.strip()), "aux", "NUL.x", "com1", "Sort", "sort", "\xe9", "e\u0301"]
    made = pyperf_file(*[({"name": name}, pyperf_runs([index + 0.5], [2])) for index, name in enumerate(names)])
    before = {*tmp_path.parent.rglob("*")} - {tmp_path}
    out, done = converted(tmp_path, uploaded({"p.json": made}), "icpe")
    written = [path for path in out.iterdir() if path.is_file()]
    assert len(written) == done.n_benchmarks == len(names)
    assert {*tmp_path.parent.rglob("*")} - before - {tmp_path, out} == set(written)
    assert {json.loads(path.read_text())[0][0] for path in written} == {index + 0.5 for index in range(len(names))}
    assert all(len(path.name.encode()) < 255 and path.name.isprintable() for path in written)
    assert len({unicodedata.normalize("NFC", path.name).casefold() for path in written}) == len(names)
    assert not {"aux", "nul", "com1"} & {path.name.partition(".")[0].lower() for path in written}
    assert not [path.name for path in written if set(path.name) & set('<>:"/\\|?*') or path.name.startswith(".")]


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_names_never_become_one_file(one, other):
    if one != other and all(text.encode(errors="ignore").decode() == text for text in (one, other)):
        taken = {}
        assert writing.file_stem(one, taken).casefold() != writing.file_stem(other, taken).casefold()


def test_files_of_the_data_challenge_keep_their_names_and_every_number(tmp_path):
    names = [f"{name}.json" for name in ("org__app#sort.Fast#n=1&m=2", "org__app#sort", "plain")]
    runs = dict(zip(names, np.random.default_rng(1).random((3, 4, 50)).tolist(), strict=True))
    out, _done = converted(tmp_path, uploaded({name: json_bytes(runs[name]) for name in names}), "icpe")
    assert {path.name: json.loads(path.read_text()) for path in out.iterdir()} == runs


def test_what_has_another_unit_than_seconds_has_no_place_in_such_a_folder(tmp_path):
    files = uploaded({
        "jmh.json": json.dumps([jmh_entry([[1], [2]], unit="ops/s", mode="thrpt"), jmh_entry([[1], [2]])]).encode(),
        "o.csv": csv_bytes(ordersage_rows([(run, "./a.sh", 0, "fixed", 1.5) for run in (0, 1)]), columns=ORDERSAGE),
    })  # fmt: skip
    out, done = converted(tmp_path, files, "icpe")
    assert len(list(out.iterdir())) == done.n_benchmarks == 1
    units = {"benchmark 'org.sample.Sort.sort [thrpt]'": "ops/s (higher is better)", "benchmark './a.sh'": "no unit"}
    assert [name for name, _ in done.refused] == list(units)
    assert all(f"in {units[name]}" in reason and "--unit s" in reason for name, reason in done.refused)
    table = csv_bytes([("o/p", "sort", run, run) for run in (1, 2)], ["application", "benchmark", "run", "value"])
    options = importing.read_options(unit="s")
    gathering.convert(uploaded({"t.csv": table}), "icpe", tmp_path / "seconds", options)
    (path,) = (tmp_path / "seconds").iterdir()
    (benchmark,) = read(Source(str(path), path=path))  # the folder tells the application
    assert (path.name, benchmark.application, benchmark.benchmark) == ("o__p#sort.json", "o/p", "sort")


def test_two_benchmarks_with_one_file_name_are_not_mixed(tmp_path):
    table = csv_bytes([("o/p", "x", run, run) for run in (1, 2)], ["application", "benchmark", "run", "value"])
    _out, done = converted(tmp_path, uploaded({"t.csv": table, "o__p#x.json": b"[[1],[2]]"}), "icpe", unit="s")
    assert done.refused == [("benchmark 'o__p#x'", "another benchmark has the same file name")]


def test_a_benchmark_in_two_files_is_refused_once_unless_they_are_runs(tmp_path):
    files = uploaded({f"{n}.json": json.dumps([jmh_entry([[n], [2]])]).encode() for n in (1, 2)})
    _out, done = converted(tmp_path, files, "csv")
    name = "org.sample.Sort.sort [avgt]"
    assert done.refused == [
        ("2.json", f"benchmark '{name}': 1.json has different measurements of this benchmark. {HOW_TO_JOIN}")
    ]
    out, done = converted(tmp_path, files, "csv", file_is="run")
    assert (done.n_runs, done.refused) == (4, [])
    assert list(hashes([Source(str(out), path=out)])) == [("", name)]


def test_a_bad_file_stops_nothing_one_run_is_enough_and_the_same_content_counts_once(tmp_path):
    files = uploaded({"a.json": b"[[1, 2]]", "bad.json": b"[[1],", "copy.json": b"[[1, 2]]"})
    out, done = converted(tmp_path, files, "csv")
    assert (done.n_benchmarks, done.n_runs, [file for file, _reason in done.refused]) == (1, 1, ["bad.json"])
    assert out.read_text().splitlines()[1] == '"a","","0",0,1.0,"s","lower","","","","",""'


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_runs_that_failed_or_were_skipped_are_written_with_their_reason_and_read_again(tmp_path, form):
    rows = [
        ("sort", "1", "a", 1.5, ""), ("sort", "2", "b", "", "=exit code 1"), ("sort", "3", "b", "", "skipped: no GPU"),
        ("gone", "1", "a", "", "segmentation fault"),
    ]  # fmt: skip
    table = csv_bytes(rows, ["benchmark", "run", "factor:env", "value", "failure"])
    out, done = converted(tmp_path, uploaded({"t.csv": table}), form)
    assert (done.n_benchmarks, done.n_runs, done.n_failures, done.remarks) == (1, 1, 3, [])
    first, again = (
        {one.name: one.failures for part in read_benchmarks([source]) for one in (*part.benchmarks, *part.unmeasured)}
        for source in (*uploaded({"t.csv": table}), Source(str(out), path=out))
    )
    assert first == again
    assert [(failure.reason, failure.on_purpose) for failure in again["sort"]] == [
        ("=exit code 1", False), ("no GPU", True),
    ]  # fmt: skip
    assert again["sort"][0].conditions == {"run": "2", "env": "b"}
    with pytest.raises(InputError, match="no measurements that can be written"):
        converted(
            tmp_path,
            uploaded({"f.csv": csv_bytes(rows[3:], ["benchmark", "run", "factor:env", "value", "failure"])}),
            form,
        )


def test_runs_that_failed_are_counted(tmp_path):
    trials = [(run, "./a.sh", 0, "fixed", 1.5) for run in (0, 1)] + [(2, "./a.sh", 0, "fixed", "", "Failure")]
    _out, done = converted(tmp_path, uploaded({"o.csv": csv_bytes(ordersage_rows(trials), columns=ORDERSAGE)}), "csv")
    assert (done.n_runs, done.n_failures) == (2, 1)


@pytest.mark.parametrize("form", gathering.FORMS)
def test_where_nothing_can_be_written_nothing_is_left_behind(tmp_path, form):
    with pytest.raises(
        InputError,
        match=r"^The files have no measurements that can be written\. bad\.json: line 1, .*the text is not JSON",
    ):
        converted(tmp_path, uploaded({"bad.json": b"[[1],"}), form)
    with pytest.raises(InputError, match=r"gone/out could not be written: No such file or directory"):
        gathering.convert(uploaded({"a.json": b"[[1],[2]]"}), form, tmp_path / "gone" / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    out, _done = converted(tmp_path, uploaded({"a.json": b"[[1],[2]]"}), "csv")
    before = out.read_text()
    monkeypatch.setattr(writing, "csv_rows", lambda *_args, **_named: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        converted(tmp_path, uploaded({"b.json": b"[[1],[2]]"}), "csv")
    assert out.read_text() == before
    assert list(tmp_path.iterdir()) == [out]


def test_a_table_is_replaced_and_a_folder_is_not(tmp_path):
    for form, name in (("csv", "a"), ("parquet", "b")):
        for value in (1, 2):
            out, _done = converted(tmp_path, uploaded({f"{name}.json": json_bytes([[value], [3]])}), form)
        assert next(iter(hashes([Source(str(out), path=out)]).values()))[0] == measurement_hash(
            [np.array([2.0]), np.array([3.0])]
        )
    converted(tmp_path, uploaded({"a.json": b"[[1],[2]]"}), "icpe")
    with pytest.raises(InputError, match=r"out\.icpe already exists\."):
        converted(tmp_path, uploaded({"a.json": b"[[1],[2]]"}), "icpe")


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
CONDITIONS = st.lists(
    st.tuples(st.sampled_from("12ab"), st.sampled_from(["v1", "v2", ""]), st.sampled_from("xyz"), TEXTS),
    min_size=1, max_size=8, unique_by=lambda one: one[:3],
)  # fmt: skip


@given(st.lists(CONDITIONS, min_size=1, max_size=3), st.sampled_from(["csv", "parquet"]))
@settings(max_examples=examples(60), deadline=None)
def test_the_order_of_runs_survives_whatever_is_known_of_them(tmp_path_factory, told, form):
    table = [
        [name, run, run_number * 1.5, version, context]
        for name, runs in zip("abc", told, strict=False)
        for run_number, (run, version, context, _text) in enumerate(runs)
    ]
    content = csv_bytes(table, ["benchmark", "run", "value", "version", "factor:cpu"])
    files = uploaded({"t.csv": content})
    out, _done = converted(tmp_path_factory.mktemp("t"), files, form)
    assert hashes([Source(str(out), path=out)]) == hashes(files)


def test_runs_of_mixed_conditions_are_put_in_the_order_in_which_a_table_of_them_is_read():
    conditions = {"run": ("0", "0", "1", "1"), "version": ("a", "b", "a", "b"), "cpu": ("x", "y", "z", "z")}
    mixed = Benchmark.of_series("b", [[float(n)] for n in range(4)], conditions=conditions)
    names = writing.columns(writing.extra_columns(mixed))
    assert [run.tolist() for run in in_order(mixed).values] == [[0], [2], [3], [1]]
    written = writing.csv_header(names) + "".join(writing.csv_rows(mixed, names))
    (read_back,) = read(Source("t.csv", data=written.encode()))
    assert [run.tolist() for run in read_back.values] == [[0], [2], [3], [1]]
    assert read_back.conditions == in_order(mixed).conditions
