"""Several files with the runs of one benchmark."""

import io
import json
import re
import zipfile
from dataclasses import replace

import pytest

from labeler.errors import InputError
from labeler.files import exploring
from labeler.files.formats import FORMATS, joining
from labeler.studies.items import importing
from labeler.studies.items.importing import FileBenchmark, FileResult
from labeler.studies.model import measurement_hash
from labeler.studies.store import items, runs
from tests.labeler.files.formats.examples import csv_bytes, json_bytes
from tests.labeler.studies.items.test_importing import counts
from tests.making import WHO, import_all, last_event, look_into, runs_by_item
from tests.sentences import says

SHORT = "fewer than 50 iterations, which is too few to measure the pattern over time"


def go_file(name, **values):
    """Return the output of `go test -bench`: benchmark -> nanoseconds."""
    lines = [f"Benchmark{bench}-8 100 {value} ns/op" for bench, all_of in values.items() for value in all_of]
    return importing.upload(name, ("goos: linux\npkg: o/p\n" + "\n".join(lines) + "\n").encode())


def google_file(name, values, unit="ns"):
    rows = [
        {"name": "BM", "run_name": "BM", "run_type": "iteration", "repetition_index": i, "real_time": value,
         "time_unit": unit}
        for i, value in enumerate(values)
    ]  # fmt: skip
    return importing.upload(name, json.dumps({"context": {"num_cpus": 1}, "benchmarks": rows}).encode())


def hyperfine_file(name, times, **more):
    result = {"command": "sort", "times": times, "exit_codes": [0] * len(times), **more}
    return importing.upload(name, json.dumps({"results": [result]}).encode())


def imported(db, *files, **said):
    options = importing.read_options(None, {}, **said)
    return list(importing.import_files(db, files, options, **WHO))


def in_ns(table):
    return {name: [[round(value * 1e9, 6) for value in run] for run in found] for name, (found, _told) in table.items()}


def test_files_of_a_tool_that_writes_one_run_a_file_become_one_item_with_the_runs_in_natural_order(db):
    files = [go_file(f"run{number}.txt", A=[number, number + 0.5], B=[number]) for number in (10, 2, 1)]
    results = imported(db, *files)
    assert [result.names for result in results] == [("o/p.BenchmarkA",), ("o/p.BenchmarkB",)]
    assert in_ns(runs_by_item(db)) == {
        "o/p.BenchmarkA": [[1, 1.5], [2, 2.5], [10, 10.5]],
        "o/p.BenchmarkB": [[1], [2], [10]],
    }
    assert runs_by_item(db)["o/p.BenchmarkA"][1] == {"run": ("1:0", "2:0", "3:0"), "GOMAXPROCS": ("8",) * 3}
    assert results[0] == FileResult(
        "run1.txt, run2.txt, run10.txt", (FileBenchmark("o/p.BenchmarkA", 3, "2", "s", "lower", (SHORT,)),),
        names=("o/p.BenchmarkA",), files=("run1.txt", "run2.txt", "run10.txt"),
    )  # fmt: skip
    assert says(importing.describe(results), "2 item", "imported from 3 file", "0 file", "0 refused")


def test_the_same_files_again_in_any_order_add_nothing(db):
    files = [go_file(f"{number}.txt", A=[number], B=[number]) for number in range(5)]
    at_first = counts(db)["events"]
    imported(db, *files)
    before = counts(db)
    assert (before["items"], before["runs"], before["files"], before["events"] - at_first) == (2, 10, 5, 2)
    again = imported(db, *reversed(files))
    assert [result.already_there for result in again] == [True, True]
    assert counts(db) == before
    assert says(importing.describe(again), "0 item", "imported from 5 file", "5 file", "0 refused")


def test_one_more_run_is_another_measurement_and_refused_unless_it_is_imported_as_new(db):
    files = [go_file(f"{number}.txt", A=[number]) for number in (1, 2)]
    imported(db, *files)
    more = [*files, go_file("3.txt", A=[3])]
    (result,) = imported(db, *more)
    assert "benchmark 'o/p.BenchmarkA'" in result.refused
    assert "--as-new" in result.refused
    assert (result.file, counts(db)["files"]) == ("1.txt, 2.txt, 3.txt", 2)
    (result,) = import_all(db, *more, as_new=True)
    assert result.names == ("o/p.BenchmarkA#2",)
    assert counts(db)["files"] == 3


def test_a_file_that_appears_twice_is_one_run(db):
    one, two = go_file("1.txt", A=[1]), go_file("2.txt", A=[2])
    same = importing.upload("copy of 1.txt", one.data)
    twice, result = imported(db, one, same, two)
    assert (twice.file, twice.already_there) == ("copy of 1.txt", True)
    assert twice.json_values()[0]["warnings"] == ["a file with the same content was imported before"]
    assert len(runs_by_item(db)["o/p.BenchmarkA"][0]) == 2
    assert says(importing.describe([twice, result]), "1 item imported", "3 files", "1 file", "0 refused")


def test_one_file_alone_is_one_refusal_and_the_way_of_the_tool_is_named(db):
    before = counts(db)
    file = go_file("1.txt", A=[1], B=[2], C=[3])
    (result,) = imported(db, file)
    assert result.refused.startswith("benchmark 'o/p.BenchmarkA': only one run, ")
    assert "(go test -bench=. -count=N > FILE.txt)" in result.refused
    assert says(importing.describe([result]), "0 items imported", "1 file", "0 files", "1 refused")
    assert imported(db, file, file_is="study")[0].refused == result.refused
    (other,) = imported(db, importing.upload("x.json", b"[[1, 2, 3]]"))
    assert other.refused.startswith("benchmark 'x': only one run, ") and "--file-is run" in other.refused
    assert counts(db) == {**before, "events": before["events"] + 3}  # the refusals
    results = imported(db, file, go_file("2.txt", A=[2]))
    assert results[0].names == ("o/p.BenchmarkA",)  # the refused file does not block it


def test_a_bad_file_leaves_nothing_and_the_others_are_joined(db):
    bad = importing.upload("2.txt", b"BenchmarkA-8 100 5 ns/op 7\n")
    refused, result = imported(db, go_file("1.txt", A=[1], B=[1]), bad, go_file("3.txt", A=[3]))[:2]
    assert refused.file == "2.txt"
    assert says(refused.refused, "line 1: 'BenchmarkA-8 100 5 ns/op 7' is not read: ", "pairs of a value and its unit")
    assert in_ns(runs_by_item(db)) == {"o/p.BenchmarkA": [[1], [3]]}
    assert result.names == ("o/p.BenchmarkA",)


def test_a_benchmark_that_some_files_lack_says_so(db):
    a, b = imported(db, go_file("1.txt", A=[1], B=[1]), go_file("2.txt", A=[2]), go_file("3.txt", A=[3], B=[3]))
    assert (a.benchmarks[0].warnings, b.benchmarks[0].warnings) == ((SHORT,), ("only in 2 of 3 files", SHORT))
    assert runs_by_item(db)["o/p.BenchmarkB"][1] == {"run": ("1:0", "3:0"), "GOMAXPROCS": ("8",) * 2}


def test_a_benchmark_with_two_units_is_refused_and_the_others_are_imported(db):
    table = "benchmark,run,value,unit\nx,0,1,{}\ny,0,2,s\n"
    files = [importing.upload(f"{unit}.csv", table.format(unit).encode()) for unit in ("ms", "byte")]
    refused, result = imported(db, *files, file_is="run")
    assert says(refused.refused, "'x': byte in byte.csv", "s (lower", "ms.csv")
    assert (refused.file, result.names) == ("byte.csv, ms.csv", ("y",))


def test_benchmarks_of_two_tools_are_not_joined_by_their_name(db):
    table = importing.upload("t.csv", csv_bytes([("BM", 0, 1), ("BM", 0, 2)]))
    results = imported(db, google_file("1.json", [1, 2]), table, file_is="run")
    expected = (
        "benchmark 'BM': only one run, but",
        "benchmark 'BM': 1.json has different measurements of this benchmark",
    )
    assert all(result.refused.startswith(words) for result, words in zip(results, expected, strict=True))


def test_files_of_any_tool_can_be_runs_or_have_several_runs_each(db):
    files = [importing.upload(f"{run}/sort#n=1.json", json_bytes([[run, run + 1]])) for run in (1, 2, 3)]
    (result,) = imported(db, *files, file_is="run")
    assert runs_by_item(db) == {"sort#n=1": ([[1, 2], [2, 3], [3, 4]], {"run": ("1:0", "2:0", "3:0")})}
    assert result.files == ("1/sort#n=1.json", "2/sort#n=1.json", "3/sort#n=1.json")
    imported(
        db, *(importing.upload(f"{run}/b.json", json_bytes([[run], [run + 0.5]])) for run in (1, 2)), file_is="run"
    )
    assert runs_by_item(db)["b"] == ([[1], [1.5], [2], [2.5]], {"run": ("1:0", "1:1", "2:0", "2:1")})


def test_a_table_without_a_run_column_is_one_run_a_file_or_refused_in_words(db):
    files = [importing.upload(f"{run}.csv", f"benchmark, value\nb, {run}\nb, {run}.5\n".encode()) for run in (1, 2)]
    refused = imported(db, *files)[0].refused
    assert says(refused, "'run' is missing", "benchmark, value")
    assert "--file-is run" in refused
    imported(db, *files, file_is="run")
    assert runs_by_item(db)["b"][0] == [[1, 1.5], [2, 2.5]]


def test_a_table_with_a_run_column_keeps_it_where_files_are_runs(db):
    files = [importing.upload(f"{name}.csv", csv_bytes([("b", 7, 1), ("b", 8, 2)])) for name in "ab"]
    assert next(importing.look_into_files(files, importing.read_options(None, {}, file_is="run"))).already_there
    files[1] = importing.upload("b.csv", csv_bytes([("b", 7, 3), ("b", 8, 4)]))
    imported(db, *files, file_is="run")
    assert runs_by_item(db)["b"][1] == {"run": ("1:7", "1:8", "2:7", "2:8")}


def test_every_time_of_hyperfine_is_a_run_unless_the_file_is_one(db):
    files = [hyperfine_file(f"{number}.json", [number + 0.25, number + 0.5]) for number in (1, 2)]
    (result,) = imported(db, files[0], values_are="iterations")
    assert "only one run" in result.refused
    (result,) = imported(db, files[0])
    assert runs_by_item(db) == {"sort": ([[1.25], [1.5]], {"run": ("0", "1")})}
    (result,) = imported(db, *files, file_is="run")
    assert "benchmark 'sort'" in result.refused
    assert look_into(files[0]).benchmarks[0].runs == 2
    (found,) = importing.look_into_files(files, importing.read_options(None, {}, file_is="run"))
    assert (found.benchmarks[0].runs, found.benchmarks[0].iterations) == (2, "2")


def test_the_values_of_a_file_can_be_runs(db):
    imported(db, google_file("1.json", [1, 2, 3]), values_are="runs")
    assert in_ns(runs_by_item(db)) == {"BM": [[1], [2], [3]]}
    assert runs_by_item(db)["BM"][1]["run"] == ("0", "1", "2")
    options = importing.read_options(None, {}, values_are="runs")
    both = importing.look_into_files([google_file("2.json", [4, 5]), google_file("10.json", [6])], options)
    (found,) = next(both).benchmarks
    assert (found.runs, found.iterations) == (3, "1")


def test_runs_of_several_versions_in_several_files_are_items_apart(db):
    table = "benchmark,run,value,version\nb,0,{},{}\n"
    files = [importing.upload(f"{v}{run}.csv", table.format(run, v).encode()) for v in "xy" for run in (1, 2)]
    (result,) = imported(db, *files, file_is="run")
    assert result.names == ("b @ x", "b @ y")
    assert {name: found for name, (found, _) in runs_by_item(db).items()} == {"b @ x": [[1], [2]], "b @ y": [[1], [2]]}


def test_files_of_one_run_for_each_version_are_one_item_with_a_warning(db):
    table = "benchmark,run,value,version\nb,0,{},{}\n"
    files = [importing.upload(f"{v}.csv", table.format(v, f"v{v}").encode()) for v in (1, 2, 3)]
    (result,) = imported(db, *files, file_is="run")
    assert result.names == ("b",)
    assert result.benchmarks[0].warnings[0] == "only one run per version, so all 3 runs are combined in one item"


def test_failures_of_all_files_are_kept_with_their_runs(db):
    files = [hyperfine_file(f"{n}.json", [n, 2, 3], exit_codes=[0, 0, n]) for n in (1, 4)]
    (result,) = imported(db, *files, file_is="run")
    (item,) = items.all_items(db)
    assert [(known["run"], reason) for known, reason in items.failures_of(db, item.item_id)] == [
        ("1:2", "exit code 1"), ("2:2", "exit code 4"),
    ]  # fmt: skip
    assert result.benchmarks[0].warnings[0].startswith("2 runs failed")


def test_an_import_of_many_files_is_one_event_a_benchmark(db):
    imported(db, *(go_file(f"{number:03}.txt", A=[number]) for number in range(120)))
    details = last_event(db)[2]
    names = [name for name, _ in details["files"]]
    assert (names, details["items"]) == ([f"{number:03}.txt" for number in range(120)], ["o/p.BenchmarkA"])


def test_the_dry_run_says_what_the_import_then_does(db):
    files = [
        go_file("1.txt", A=[1], B=[1]), importing.upload("bad.txt", b"nothing"), go_file("2.txt", A=[2]),
        importing.upload("x.json", b"[[1], [2]]"), importing.upload("y/x.json", b"[[1], [3]]"),
        importing.upload("z.json", b"[[1], [2]]"), importing.upload("again.json", b"[[1], [2]]"),
    ]  # fmt: skip
    said = list(importing.look_into_files(files))
    done = import_all(db, *files)
    assert [(one.file, one.benchmarks, one.refused, one.already_there) for one in said] == [
        (one.file, one.benchmarks, one.refused, one.already_there) for one in done
    ]
    assert [bool(one.refused) for one in said] == [True, False, True, False, False, False, True]


def test_the_dry_run_has_a_row_for_a_joined_benchmark_with_the_keys_of_the_contract():
    files = [go_file(f"{number}.txt", A=[number]) for number in range(4)]
    (result,) = importing.look_into_files(files)
    assert result.json_values() == [
        {"file": "0.txt … 3.txt (4 files)", "benchmark": "o/p.BenchmarkA", "runs": 4, "iterations": "1", "unit": "s",
         "better": "lower", "warnings": [SHORT], "refused": None}
    ]  # fmt: skip


def test_each_file_is_announced_once_it_is_read(db):
    seen = []
    files = [go_file("1.txt", A=[1]), importing.upload("bad", b"?"), go_file("2.txt", A=[2])]
    list(importing.import_files(db, files, advance=seen.append, **WHO))
    assert seen == files


@pytest.mark.parametrize("option", [{"file_is": "runs"}, {"values_are": "run"}])
def test_an_option_that_is_none_is_refused(option):
    with pytest.raises(InputError, match="is not one of"):
        importing.read_options(None, {}, **option)


def test_the_methods_read_the_same_runs_and_refuse_the_same_conflict(db):
    files = [hyperfine_file(f"{number}.json", [number, 2, 3]) for number in (1, 4)]
    options = importing.read_options(file_is="run")
    (one,) = exploring.from_files(files, options).benchmarks
    assert sorted(run.tolist() for run in one.values) == [[1, 2, 3], [4, 2, 3]]
    conflict = "benchmark 'sort': 1.json has different measurements of this benchmark. "
    assert next(result.refused for result in imported(db, *files) if result.refused).startswith(conflict)
    with pytest.raises(InputError, match="^4.json: " + re.escape(conflict)):
        exploring.from_files(files)


def test_a_temporary_folder_that_is_full_is_said_in_words(db, monkeypatch, tmp_path):
    class Full:
        def __enter__(self):
            return str(tmp_path / "gone")

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(joining, "TemporaryDirectory", lambda **_: Full())
    with pytest.raises(InputError, match=r"temporary folder .*gone cannot be written to: No such file or directory"):
        imported(db, go_file("1.txt", A=[1]))


def test_every_number_survives_the_temporary_folder(db):
    values = [[0.1 + 0.2, 1e-300, 123456789.123456789], [5e-324, 1e150, 1 / 3]]
    files = [importing.upload(f"{n}/b.json", json_bytes([run])) for n, run in enumerate(values)]
    imported(db, *files, file_is="run")
    (item,) = items.all_items(db)
    assert [run.tolist() for run in runs.of_item(db, item.item_id)] == values
    assert item.data_hash == measurement_hash(runs.of_item(db, item.item_id))


def test_one_file_with_several_processes_is_enough_for_what_all_of_them_ran(db):
    data = go_file("", A=[1], B=[2]).data + go_file("", A=[3]).data
    kept_, refused = imported(db, importing.upload("all.txt", data))
    assert kept_.names == ("o/p.BenchmarkA",)
    assert refused.refused.startswith("benchmark 'o/p.BenchmarkB': only one run")
    assert in_ns(runs_by_item(db)) == {"o/p.BenchmarkA": [[1], [3]]}


def test_a_fault_of_a_built_in_reader_affects_only_its_file(db, monkeypatch):
    broken = replace(FORMATS["go"], read=lambda *_: [].pop())
    monkeypatch.setitem(FORMATS, "go", broken)
    refused, result = imported(db, go_file("1.txt", A=[1]), importing.upload("x.json", b"[[1],[2]]"))
    assert says(refused.refused, "the reader failed", "IndexError")
    assert result.names == ("x",)


def test_what_a_browser_sends_is_a_file_or_those_of_a_zip_file(db):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in (1, 2):
            archive.writestr(f"{number}.txt", go_file("", A=[number]).data)
    sent = importing.uploads([("all.zip", packed.getvalue()), ("x.json", b"[[1],[2]]")])
    assert [file.name for file in sent] == ["all.zip/1.txt", "all.zip/2.txt", "x.json"]
    assert [result.names for result in imported(db, *sent)] == [("x",), ("o/p.BenchmarkA",)]
