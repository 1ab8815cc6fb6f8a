"""The benchmarks of a study for the methods: what the import told apart comes together again."""

import numpy as np
import pytest

from labeler.files import exploring
from labeler.files.gathering import Gathered, from_files
from labeler.studies.items import browsing, importing
from labeler.studies.items.measured import from_study
from tests.labeler.files.formats.examples import ORDERSAGE, csv_bytes, ordersage_rows
from tests.making import WHO, import_all, item_name, series


def upload(name, rows, columns=("benchmark", "run", "value")):
    return importing.upload(name, csv_bytes(rows, columns))


def runs_of(benchmark):
    return [run.tolist() for run in benchmark.values]


def test_an_empty_study_has_no_benchmarks(db):
    assert from_study(db) == Gathered((), ())


def versions_file(name="t.csv", levels=("old", "new"), column="version"):
    """Three runs of each level of benchmark b, and one benchmark without levels."""
    rows = [("b", run, 10 * i + run, level) for i, level in enumerate(levels) for run in (1, 2, 3)]
    rows += [("alone", run, run, "") for run in (1, 2)]
    return upload(name, rows, ("benchmark", "run", "value", column))


@pytest.mark.parametrize("column", ["version", "altered"])
@pytest.mark.parametrize("levels", [("old", "new"), ("old", ""), ("a @ b", "b")])
def test_levels_that_the_import_told_apart_come_together_again(db, column, levels):
    import_all(db, versions_file(levels=levels, column=column))
    from_file = from_files([versions_file(levels=levels, column=column)]).benchmarks
    gathered = from_study(db)
    assert gathered.refused == ()
    found, expected = (
        {one.name: sorted(zip(one.of(column), runs_of(one), strict=True)) for one in benchmarks}
        for benchmarks in (gathered.benchmarks, from_file)
    )
    assert found == expected
    assert set(found) == {"b", "alone"}
    in_order = {one.name: one.levels(column) for one in gathered.benchmarks}["b"]
    assert in_order == {one.name: one.levels(column) for one in from_file}["b"]


def test_two_kinds_of_levels_come_together_too(db):
    rows = [("b", run, run, a, v) for a in ("f", "g") for v in ("1", "2") for run in (1, 2)]
    import_all(db, upload("t.csv", rows, ("benchmark", "run", "value", "altered", "version")))
    (one,) = from_study(db).benchmarks
    assert sorted(zip(one.of("altered"), one.of("version"), one.of("run"), strict=True)) == sorted(
        (a, v, run) for a in "fg" for v in "12" for run in "12"
    )


def test_excluded_items_and_items_without_measurements_are_left_out(study):
    browsing.exclude(study, item_name(2), "measured on another machine", **WHO)
    study.execute(
        """INSERT INTO items (name, benchmark, application, parameters, unit, better, n_runs, n_iterations, failures,
                              data_hash)
           VALUES ('x', 'x', '', '{}', 's', 'lower', 0, 0, '[]', '')"""
    )
    names = [one.name for one in from_study(study).benchmarks]
    assert names == sorted(item_name(number) for number in (0, 1, 3, 4, 5, 6, 7))


def test_what_the_import_knew_of_runs_and_failures_comes_through(db):
    trials = [(run, "bench", 1, order, 1.0 + run) for run, order in ((1, "fixed"), (2, "random"))]
    trials += [(3, "bench", 2, "random", "", "Failure")]
    file = upload("results.csv", ordersage_rows(trials), ORDERSAGE)
    import_all(db, file)
    (kept,), (read,) = from_study(db).benchmarks, from_files([file]).benchmarks
    assert (kept.conditions, kept.failures) == (read.conditions, read.failures)
    assert (kept.unit, kept.better, runs_of(kept)) == ("", "", runs_of(read))


def test_a_whole_study_is_asked(study):
    explored = exploring.explore("spread", from_study(study).benchmarks)
    means = [np.mean(series(number), axis=1) for number in range(8)]
    expected = {item_name(n): np.ptp(mean) / mean.mean() for n, mean in enumerate(means)}
    found = {one["name"]: one["max_spread"]["value"] for one in explored.content["spreads"]}
    assert found == pytest.approx(expected)
