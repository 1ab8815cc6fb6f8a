import gzip
import json
import random
import time
from pathlib import Path

import numpy as np
import pytest

from labeler.errors import InputError, NotAllowed
from labeler.files.formats import FORMATS, ReadOptions, Source
from labeler.studies.items import importing
from labeler.studies.items.importing import FileBenchmark, FileResult
from labeler.studies.model import State, measurement_hash
from labeler.studies.screen import binning
from labeler.studies.store import items, runs, studies
from tests.labeler.files.formats.examples import COMMITTED
from tests.labeler.files.formats.mutations import mutated
from tests.labeler.files.formats.test_read import FILES
from tests.making import WHO, import_all, last_event, log, look_into, result_file, series
from tests.sentences import says

NAME = "org__app#sort#size=9"


def names(db):
    return [item.name for item in items.all_items(db)]


def counts(db):
    tables = ("items", "runs", "bins", "files", "events")
    return {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


def long_csv(*rows, header="application,benchmark,run,value"):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]).encode()


def two_runs(application, benchmark, level=1.0):
    return [(application, benchmark, run, level + run + iteration) for run in (0, 1) for iteration in (0, 1, 2)]


def test_a_file_becomes_an_item_with_its_measurements_hash_and_bins(db):
    measured = series(3)
    (result,) = import_all(db, result_file(NAME, measured))
    assert result == FileResult(f"{NAME}.json", (FileBenchmark(NAME, 3, "60", "s", "lower"),), names=(NAME,))
    (item,) = items.all_items(db)
    assert (item.benchmark, item.application, item.n_runs, item.n_iterations) == ("sort#size=9", "org/app", 3, 60)
    assert [run.tolist() for run in runs.of_item(db, item.item_id)] == measured
    assert item.data_hash == measurement_hash([np.array(run) for run in measured])
    stored = json.loads(runs.bins_of_item(db, item.item_id, binning.VERSION))
    assert stored == binning.payload(runs.of_item(db, item.item_id), "s")
    assert log(db)[-1] == ("carol", "import file")
    details = last_event(db)[2]
    assert (details["files"], details["items"]) == ([[f"{NAME}.json", details["sha256"]]], [NAME])


def test_what_became_of_each_file_is_said_in_order_and_in_one_line(db):
    good, bad = result_file(NAME, series(1)), importing.upload("bad.json", b'[[1, 2], [3, "x"]]')
    results = import_all(db, good, bad, good, result_file("other", series(2)))
    assert [(r.names, r.refused, r.already_there) for r in results] == [
        ((NAME,), "", False),
        ((), "run 1, iteration 1: 'x' is not a number", False),
        ((), "", True),
        (("other",), "", False),
    ]
    assert says(importing.describe(results), "2 items imported", "4 files", "1 file", "1 refused")


def test_the_same_measurements_again_under_another_name_compressed_or_in_other_bytes_add_nothing(db):
    measured = series(1)
    file = result_file(NAME, measured)
    import_all(db, file)
    before = counts(db)
    again = [
        file,
        importing.upload("renamed.json", file.data),
        importing.upload(f"{NAME}.json.gz", gzip.compress(file.data, mtime=0)),
    ]
    assert [result.already_there for result in import_all(db, *again)] == [True] * 3
    assert counts(db) == before
    (result,) = import_all(db, importing.upload(f"{NAME}.json", json.dumps(measured, indent=1).encode()))
    assert (result.already_there, result.names, names(db)) == (True, (), [NAME])


def test_a_changed_file_under_a_known_name_is_refused_unless_it_is_imported_as_new(db):
    import_all(db, result_file(NAME, series(1)))
    before = counts(db)
    changed = result_file(NAME, series(2))
    (result,) = import_all(db, changed)
    assert result.refused == (
        f"benchmark '{NAME}': the study has other measurements under this name. To keep both, give --as-new"
    )
    assert counts(db) == {**before, "events": before["events"] + 1}  # the refusal
    (result,) = import_all(db, changed, as_new=True)
    assert result.names == (f"{NAME}#2",)
    assert items.by_name(db, f"{NAME}#2").benchmark == items.by_name(db, NAME).benchmark
    (result,) = import_all(db, result_file(NAME, series(3)), as_new=True)
    assert result.names == (f"{NAME}#3",)
    assert len({item.data_hash for item in items.all_items(db)}) == 3


def test_benchmarks_of_the_same_name_in_two_applications_are_two_items(db):
    table = importing.upload("both.csv", long_csv(*two_runs("org/a", "sort"), *two_runs("org/b", "sort", 5)))
    (result,) = import_all(db, table)
    assert result.names == ("sort", "sort#2")
    assert [(item.name, item.application) for item in items.all_items(db)] == [("sort", "org/a"), ("sort#2", "org/b")]
    again = importing.upload("again.csv", table.data + b"\norg/c,sort,0,1\norg/c,sort,1,2")
    (result,) = import_all(db, again)
    assert result.names == ("sort#3",)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.json", b"  \n", "the file is empty"),
        ("text.json", b"hello", "file of a known"),
        ("nan.json", b"[[1, 2], [NaN, 4]]", "1, iteration 0: nan"),
        ("none.json", b"[[1, 2], []]", "run 1: no measurements"),
        ("gzip.json.gz", b"\x1f\x8bbroken", "the gzip file is damaged"),
        ("one.json", b"[[1, 2, 3]]", "benchmark 'one': only one"),
        ("mixed.csv", long_csv(*two_runs("a", "x"), ("a", "y", 0, 1)), "benchmark 'y': only one run"),
        ("long.csv", long_csv(*two_runs("a", "y" * 100_001)), "the name of a benchmark: 'y"),
        ("unit.csv", long_csv(*two_runs("a" * 100_001, "y")), "the application of a benchmark: 'a"),
        ("word.csv", long_csv(*two_runs("a", "x"), ("a", "x", 1, "fast")), "line 8: 'fast' in column 'value'"),
    ],
)
def test_a_bad_file_leaves_nothing_and_the_next_is_imported(db, name, content, reason):
    before = counts(db)
    refused, imported = import_all(db, importing.upload(name, content), result_file(NAME, series(1)))
    assert reason in refused.refused
    assert (refused.file, refused.names, refused.already_there) == (name, (), False)
    assert imported.names == (NAME,)
    added = {table: n - before[table] for table, n in counts(db).items()}
    assert added == {"items": 1, "runs": 3, "bins": 1, "files": 1, "events": 2}
    (in_log, other) = importing.import_log(db)  # the newest first
    assert (in_log["file"], in_log["outcome"], in_log["by"]) == (name, f"refused: {refused.refused}", "carol")
    assert (other["file"], other["outcome"]) == (f"{NAME}.json", "1 item imported")
    assert all(entry["refused"] for entry in look_into(importing.upload(name, content)).json_values())  # as the dry run
    good = importing.upload(name.removesuffix(".gz"), b"[[1, 2, 3], [1, 2, 3]]")
    assert not import_all(db, good)[0].refused  # once it is good


@pytest.mark.parametrize("state", [state for state in State if state not in (State.DRAFT, State.OPEN)])
def test_nothing_is_imported_while_the_study_is_neither_set_up_nor_open(planned, state):
    studies.set_state(planned, state, State.OPEN if state is State.PAUSED else None)
    before = counts(planned)
    with pytest.raises(NotAllowed):
        import_all(planned, result_file("late", series(99)))
    assert counts(planned) == before


def test_runs_of_unequal_length_come_in_whole_and_are_warned_about(db):
    (result,) = import_all(db, importing.upload("x.json", json.dumps([[1.0] * 60, [2.0] * 70]).encode()))
    assert result.benchmarks[0].iterations == "60 to 70"
    assert result.benchmarks[0].warnings == (
        "the runs have different lengths, so classifiers cut all runs to the length of the shortest run",
    )
    (item,) = items.all_items(db)
    assert item.n_iterations == 60
    assert [len(run) for run in runs.of_item(db, item.item_id)] == [60, 70]


def test_looking_into_a_file_needs_no_study_and_says_what_an_import_would(tmp_path):
    path = tmp_path / "short.csv"
    path.write_bytes(long_csv(*two_runs("a", "x"), ("a", "y", 0, 1), ("a", "y", 1, 1)))
    (source,) = importing.files_below([path])
    found = look_into(source).benchmarks
    assert [(f.benchmark, f.runs, f.iterations) for f in found] == [("x", 2, "3"), ("y", 2, "1")]
    unknown = "the file does not say whether lower or higher is better, so lower is assumed"
    assert found[0].warnings == (unknown, "fewer than 50 iterations, which is too few to measure the pattern over time")
    assert look_into(importing.upload("x", b"")).refused == "the file is empty"
    assert [entry.name for entry in tmp_path.iterdir()] == ["short.csv"]


def test_a_dry_run_prints_one_entry_a_benchmark_with_the_keys_of_the_contract():
    keys = ["file", "benchmark", "runs", "iterations", "unit", "better", "warnings", "refused"]
    both = look_into(importing.upload("both.csv", long_csv(*two_runs("a", "x"), *two_runs("a", "y")))).json_values()
    assert [list(entry) for entry in both] == [keys, keys]
    assert both[0] == {
        "file": "both.csv", "benchmark": "x", "runs": 2, "iterations": "3", "unit": "", "better": "lower",
        "warnings": ["the file does not say whether lower or higher is better, so lower is assumed",
                     "fewer than 50 iterations, which is too few to measure the pattern over time"], "refused": None,
    }  # fmt: skip
    (bad,) = look_into(importing.upload("bad.json", b"[[1], [true]]")).json_values()
    assert list(bad) == keys
    assert bad == dict.fromkeys(keys) | {
        "file": "bad.json", "warnings": [], "refused": "run 1, iteration 0: true is not a number",
    }  # fmt: skip
    json.dumps([*both, bad])


def test_units_and_direction_of_a_table_are_kept(db):
    rows = [("x", run, value, "ms", "lower") for run in (0, 1) for value in (1, 2)]
    rows += [("y", run, value, "op/s", "higher") for run in (0, 1) for value in (3, 4)]
    import_all(db, importing.upload("units.csv", long_csv(*rows, header="benchmark,run,value,unit,better")))
    x, y = items.all_items(db)
    assert (x.unit, x.better, y.unit, y.better) == ("s", "lower", "op/s", "higher")
    assert runs.of_item(db, x.item_id)[0].tolist() == [0.001, 0.002]


def test_options_name_a_format_that_exists_and_columns(db):
    with pytest.raises(
        InputError,
        match=r"There is no format 'yaml'\. The formats are criterion, icpe, jmh, pyperf, .*, abs, go, csv, numbers\.$",
    ):
        importing.read_options("yaml", {})
    options = importing.read_options("csv", {"benchmark": "what", "value": "t"})
    assert options == ReadOptions("csv", {"benchmark": "what", "value": "t"})
    table = importing.upload("data", b"what;run;t\nx;0;1\nx;1;2\n")
    (result,) = importing.import_files(db, [table], options, **WHO)
    assert result.names == ("x",)
    refused = look_into(table, importing.read_options("icpe", {}))
    assert "not JSON" in refused.refused


def test_folders_are_searched_and_what_is_not_there_is_named(tmp_path):
    (tmp_path / "sub").mkdir()
    for place in ("b.json", "sub/a.csv", "notes.txt", ".hidden.json"):
        (tmp_path / place).write_text("x")
    assert [Path(source.name).name for source in importing.files_below([tmp_path])] == ["b.json", "notes.txt", "a.csv"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: this folder has no result files"):
        list(importing.files_below([tmp_path / "empty"]))
    with pytest.raises(InputError, match=r"missing.json.*such file"):
        list(importing.files_below([tmp_path / "missing.json"]))


def test_a_file_that_vanished_is_refused_and_stops_nothing(db, tmp_path):
    (tmp_path / "gone.json").write_text("[[1, 2], [1, 2]]")
    files = list(importing.files_below([tmp_path / "gone.json"]))
    (tmp_path / "gone.json").unlink()
    gone, imported = import_all(db, *files, result_file(NAME, series(1)))
    assert says(gone.refused, "No such file")
    assert imported.names == (NAME,)


def test_the_study_itself_is_refused_without_being_opened(db, tmp_path):
    (tmp_path / "link.json").symlink_to(db.path)
    files = list(importing.files_below([db.path, tmp_path / "link.json"]))
    assert [result.refused for result in import_all(db, *files)] == ["this file is the open study itself"] * 2


# --- damaged files of every format imported into a study: a refusal with a message, or consistent items


PROCESSOR_SECONDS, MEGABYTES = 5, 1000
PEAK = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def files_of(format_name):
    known = FORMATS[format_name]
    made = [(f"made/{format_name}", FILES[format_name])] if format_name in FILES else []
    paths = [path for path in sorted(COMMITTED.rglob("*")) if path.is_file()]
    return made + [(str(path), path.read_bytes()) for path in paths if known.detect(str(path), path.read_bytes())]


def check_imports(db, format_name, n, seed):
    """Import two files at a time, so that files of one run are joined."""
    rng = random.Random(seed)
    samples = files_of(format_name)
    PEAK[0].write_text("5")  # the peak counts from here, whatever ran before in this process
    before = peak_mb()
    for _ in range(n):
        chosen = [rng.choice(samples) for _ in range(2)]
        files = [Source(f"{at}/{name}", data=mutated(content, rng)) for at, (name, content) in enumerate(chosen)]
        options = importing.read_options(
            None, {}, file_is=rng.choice((None, "run", "study")), values_are=rng.choice((None, "runs", "iterations"))
        )
        began = time.process_time()
        results = list(importing.import_files(db, files, options, as_new=True, **WHO))
        assert time.process_time() - began < PROCESSOR_SECONDS
        assert results
        assert all(result.refused or result.already_there or result.names or result.benchmarks for result in results)
        assert all(len(result.refused) > 9 for result in results if result.refused)
        assert not [result.refused for result in results if "please report it" in result.refused]
    assert peak_mb() - before < MEGABYTES
    check_items(db)


def peak_mb():
    return next(int(line.split()[1]) for line in PEAK[1].read_text().splitlines() if line.startswith("VmHWM:")) / 1024


def check_items(db):
    for item in items.all_items(db):
        series = runs.of_item(db, item.item_id)
        assert len(series) == item.n_runs >= 2
        assert all(len(run) and np.isfinite(run).all() for run in series)
        assert all(len(texts) == item.n_runs for texts in runs.conditions_of_item(db, item.item_id).values())


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_few_damaged_files_are_imported_or_refused_and_nothing_else(db, format_name):
    check_imports(db, format_name, 8, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("format_name", FORMATS)
def test_many_damaged_files_are_imported_or_refused_and_nothing_else(db, format_name):
    check_imports(db, format_name, 1000, seed=2)
