"""Runs of several versions or altered methods become separate items and keep their conditions."""

import numpy as np
import pytest

from analysis.runs.benchmark import Benchmark, Failure
from labeler.files.formats import Part
from labeler.studies.handover import anonymising
from labeler.studies.items import importing
from labeler.studies.items.importing import FileBenchmark
from labeler.studies.model import measurement_hash
from labeler.studies.store import items, open_database, runs
from tests.labeler.files.formats.examples import ORDERSAGE, csv_bytes, ordersage_rows
from tests.making import WHO, import_all, runs_by_item

UNKNOWN = "the file does not say whether lower or higher is better, so lower is assumed"
SHORT = "fewer than 50 iterations, which is too few to measure the pattern over time"


def table(*rows, columns="version"):
    """Return a long table of (benchmark, run, value, ...), two iterations per run."""
    lines = [",".join(map(str, (*row[:2], row[2] + i, *row[3:]))) for row in rows for i in (0, 1)]
    return importing.upload("t.csv", "\n".join([f"benchmark,run,value,{columns}", *lines]).encode())


def of_versions(n_runs):
    """`n_runs` runs of each version of benchmark b."""
    return [("b", run, 10 * level + run, v) for level, (v, n) in enumerate(n_runs.items()) for run in range(n)]


def test_every_version_becomes_an_item_of_the_same_benchmark(db):
    (result,) = import_all(db, table(*of_versions({"new": 2, "old": 3})))
    assert result.names == ("b @ new", "b @ old")
    assert runs_by_item(db) == {
        "b @ new": ([[0.0, 1.0], [1.0, 2.0]], {"run": ("0", "1"), "version": ("new", "new")}),
        "b @ old": (
            [[10.0, 11.0], [11.0, 12.0], [12.0, 13.0]], {"run": ("0", "1", "2"), "version": ("old", "old", "old")},
        ),
    }  # fmt: skip
    new, old = items.all_items(db)
    assert (new.benchmark, old.benchmark, new.n_runs, old.n_runs) == ("b", "b", 2, 3)
    assert new.data_hash == measurement_hash(runs.of_item(db, new.item_id)) != old.data_hash


@pytest.mark.parametrize("columns", ["context", "order_type", "order_position", "factor:version of the JVM"])
def test_other_conditions_keep_the_runs_in_one_item(db, columns):
    (result,) = import_all(db, table(*of_versions({"x": 2, "y": 2}), columns=columns))
    assert result.names == ("b",)
    assert result.benchmarks[0].warnings == (UNKNOWN, SHORT)


def test_altered_methods_and_versions_are_distinguished_together(db):
    rows = [("b", run, 1, method, v) for method in ("f", "g") for v in ("1", "2") for run in (0, 1)]
    (result,) = import_all(db, table(*rows, columns="altered,version"))
    assert result.names == ("b @ f @ 1", "b @ f @ 2", "b @ g @ 1", "b @ g @ 2")
    assert all(
        len(set(texts)) == 1 for _, known in runs_by_item(db).values() for name, texts in known.items() if name != "run"
    )


@pytest.mark.parametrize(
    ("n_runs", "names", "warnings"),
    [
        ({"v1": 3}, ("b",), ()),
        ({"v1": 2, "": 2}, ("b @ v1", "b @ ?"), ("each value of version becomes a separate item: 2 items",)),
        (
            {"v1": 2, "v2": 1, "v3": 2},
            ("b @ v1", "b @ v3"),
            ("each value of version becomes a separate item: 2 items", "version 'v2' has only one run and is left out"),
        ),
    ],
)
def test_one_version_keeps_the_name_runs_without_one_are_a_level_and_one_run_is_left_out(db, n_runs, names, warnings):
    (result,) = import_all(db, table(*of_versions(n_runs)))
    assert result.names == names
    assert [found.warnings for found in result.benchmarks] == [(*warnings, UNKNOWN, SHORT)] * len(names)
    assert runs_by_item(db)[names[0]][1]["version"] == ("v1",) * n_runs["v1"]


def test_of_two_versions_with_one_run_each_the_file_is_refused(db):
    rows = [*of_versions({"v1": 2, "v2": 2}), ("c", 0, 1, "v1"), ("c", 0, 2, "v2")]
    (result,) = import_all(db, table(*rows))
    assert result.refused == "benchmark 'c': only one run per version, but a comparison needs at least two runs"
    assert items.all_items(db) == []


def test_the_same_measurements_again_add_nothing_and_changed_ones_are_refused(db):
    rows = of_versions({"v1": 2, "v2": 2})
    import_all(db, table(*rows))
    (same,) = import_all(db, table(*rows, ("z", 0, 1, ""), ("z", 1, 1, "")))
    assert same.names == ("z",)
    (changed,) = import_all(db, table(*rows, ("b", 9, 1, "v2")))
    assert changed.refused.startswith("benchmark 'b @ v2': the study has other measurements under this name")


def test_failed_runs_are_kept_with_their_item_and_named_in_a_warning(db):
    trials = [(run, "./a.sh", 0, order, 1.5 + run) for order in ("fixed", "random") for run in (0, 1)]
    trials += [(2, "./a.sh", 1, "random", "", "Failure"), (3, "./a.sh", 0, "random", "", "Failure")]
    (result,) = import_all(db, importing.upload("r.csv", csv_bytes(ordersage_rows(trials), columns=ORDERSAGE)))
    assert result.benchmarks == (
        FileBenchmark("./a.sh", 4, "1", "", "lower",
              ("2 runs failed and gave no measurement", UNKNOWN, SHORT)),
    )  # fmt: skip
    (item,) = items.all_items(db)
    assert [known["run"] for known, _reason in items.failures_of(db, item.item_id)] == ["2", "3"]
    assert runs.conditions_of_item(db, item.item_id)["order_type"] == ("fixed", "fixed", "random", "random")


def test_a_failure_goes_with_its_level_and_one_of_unknown_level_with_every_level():
    failures = (Failure({"version": "v2", "run": "7"}, "crash"), Failure({"run": "8"}, "timeout"))
    conditions = {"version": ("v1", "v1", "v2", "v2")}
    benchmark = Benchmark.of_series("b", (np.ones(2),) * 4, conditions=conditions, failures=failures)
    wanted, _left_out = importing.to_import(Part((), (benchmark,)))
    assert [level.failures for level, _warnings in wanted] == [failures[1:], failures]


def with_conditions_and_failure(db):
    trials = [(run, "./a.sh", 0, "fixed", 1.5) for run in (0, 1)] + [(2, "./a.sh", 0, "fixed", "", "Failure")]
    rows = ordersage_rows(trials, "ada-laptop")
    import_all(db, importing.upload("r.csv", csv_bytes(rows, columns=ORDERSAGE)))


@pytest.mark.parametrize("keep_benchmarks", [True, False])
def test_an_anonymised_copy_knows_nothing_of_runs_beside_their_measurements(db, study_path, keep_benchmarks):
    with_conditions_and_failure(db)
    anonymising.anonymise(db, study_path, keep_benchmarks=keep_benchmarks, **WHO)
    (item,) = items.all_items(db)
    assert (runs_by_item(db)["./a.sh"][1] != {}, items.failures_of(db, item.item_id) != ()) == (True, True)
    with open_database(study_path) as out:
        (copied,) = items.all_items(out)
        assert [run.tolist() for run in runs.of_item(out, copied.item_id)] == [[1.5], [1.5]]
        assert (runs.conditions_of_item(out, copied.item_id), items.failures_of(out, copied.item_id)) == ({}, [])
    assert b"ada-laptop" not in study_path.read_bytes()
