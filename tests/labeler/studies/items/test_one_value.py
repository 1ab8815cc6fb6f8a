"""A benchmark has one value of each measure M1 to M5, whichever command computes it."""

import json

import numpy as np
import pytest

from analysis.methods.reasons import reasons
from analysis.methods.replication import measure
from analysis.runs.benchmark import Benchmark, by_content
from analysis.runs.dissimilarity import MEASURES
from analysis.runs.runs import Runs
from labeler.files import gathering
from labeler.files.formats import ReadOptions, Source
from labeler.studies.items import importing, measured
from labeler.studies.store import items, runs
from labeler.studies.verdicts import computing, stored_verdicts
from tests.conftest import some_slow
from tests.labeler.files.formats.examples import csv_bytes
from tests.making import WHO, import_all

COMMON = ("m1", "m2", "m3", "m4", "m5")
N_RUNS, N_ITERATIONS = 6, 60


def of_runs(series):
    prepared = Runs(series)
    return {name: float(MEASURES[name].of_pairs(prepared).mean()) for name in COMMON}


def with_names(series, order):
    """A table whose rows are in another order than the numbers of the runs, of which there are more than ten."""
    rows = [("sort", 2 * run, at, value) for run, of_run in enumerate(series) for at, value in enumerate(of_run)]
    return Source("table.csv", data=csv_bytes([rows[at] for at in order], ("benchmark", "run", "iteration", "value")))


def without_names(series, _order):
    return Source("example__app#sort.json", data=json.dumps(series).encode())


def a_file_per_run(series, order):
    """One file per run; the files are read in another order than that of their names."""
    files = [Source(f"{run + 6}.csv", data=csv_bytes([("sort", 0, at, v) for at, v in enumerate(of_run)],
                    ("benchmark", "run", "iteration", "value"))) for run, of_run in enumerate(series)]  # fmt: skip
    return [files[run] for run in np.argsort(order[:N_RUNS])]


@pytest.mark.parametrize("written", [with_names, without_names, a_file_per_run])
@pytest.mark.parametrize("seed", some_slow(range(3), {1, 2}))
def test_every_command_gives_the_measures_of_the_runs_in_the_order_of_the_file(db, written, seed):
    rng = np.random.default_rng(seed)
    series = rng.lognormal(sigma=0.3, size=(N_RUNS, N_ITERATIONS)).round(4).tolist()
    expected = of_runs(series)
    assert abs(expected["m2"] - of_runs(series[::-1])["m2"]) > 1e-6  # so that another order would be noticed
    sources = written(series, rng.permutation(N_RUNS * N_ITERATIONS).tolist())
    sources = sources if isinstance(sources, list) else [sources]
    options = {"options": ReadOptions(file_is="run")} if len(sources) > 1 else {}

    (from_files,) = gathering.from_files(sources, **options).benchmarks
    list(importing.import_files(db, sources, **WHO, **options))
    computing.compute_verdicts(db, actor="carol")
    (item,) = items.all_items(db)
    (from_study,) = measured.from_study(db).benchmarks
    table = stored_verdicts.export_table(db, **WHO)
    (verdict,) = table[table["classifier"] == "heuristic"].to_dict("records")

    found = {
        "files": of_runs(from_files.values),
        "study": of_runs(from_study.values),
        "item": of_runs(runs.of_item(db, item.item_id)),
        "replicate, files": measure(from_files).means,
        "replicate, study": measure(from_study).means,
        "verdicts": verdict,
    }
    for command, means in found.items():
        assert {name: means[name] for name in COMMON} == pytest.approx(expected, abs=1e-12), command
    for benchmark in (from_files, from_study):
        facts = reasons(benchmark)
        assert (facts.pattern.value, facts.distribution.value) == pytest.approx(
            (expected["m1"], expected["m5"]), abs=1e-12
        )


def test_resampling_draws_the_same_runs_for_files_and_study(db):
    series = np.random.default_rng(1).uniform(1, 2, (4, 20)).tolist()
    source = without_names(series, None)
    import_all(db, source)
    drawn = [by_content(benchmark).values for benchmark in (
        *gathering.from_files([source]).benchmarks, *measured.from_study(db).benchmarks,
        Benchmark.of_series("other name", series[::-1]))]  # fmt: skip
    assert len({str([run.tolist() for run in one]) for one in drawn}) == 1
