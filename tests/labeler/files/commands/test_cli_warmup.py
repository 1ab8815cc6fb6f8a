"""The warm-up whose end is found: the same rule for every method, named in every result with what was left out."""

import csv
import io
import json

import numpy as np
import pytest

from analysis.methods.steady import describe_warmup, dropped_warmup
from analysis.runs.benchmark import Benchmark, PerRun
from analysis.runs.runs import Runs
from tests.conftest import some_slow
from tests.labeler.commands import run
from tests.labeler.files.formats.examples import csv_bytes

COLUMNS = ("benchmark", "run", "value", "version", "context", "order_type")
METHODS = some_slow(("spread", "order", "contexts", "trust", "trend"), {"contexts", "trust"})
CAUTION = "about 2 runs of 10"


def series(*parts, seed=1):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(level, 0.01 * abs(level), n) for n, level in parts])


def measured(n_short=20):
    """Runs of a table: four that warm up, one that never becomes steady, and one that is too short for the rule."""
    warm = [series((700, 1.5), (1300, 1.0), seed=seed) for seed in range(4)]
    runs = [*warm, series((1800, 1.5), (200, 1.0), seed=5), series((n_short, 1.0), seed=6)]
    return [
        ("sort", number, value, "new" if number % 2 else "old", "quiet", "fixed" if number < 3 else "random")
        for number, values in enumerate(runs)
        for value in values
    ]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("warmup") / "all.csv"
    path.write_bytes(csv_bytes(measured(), COLUMNS))
    return path


def left_out(content):
    assert content["parameters"]["warmup"] == "auto" and content["warmup"]["rule"] == "quick"
    return [run["n_dropped"] for run in sorted(content["warmup"]["runs"], key=lambda run: int(run["run"]))]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_names_the_rule_and_what_was_left_out_of_which_run(table, method, tmp_path):
    page = tmp_path / "page.html"
    code = 3 if method == "trend" else 0  # two versions are too few for a history
    found = left_out(json.loads(run(method, table, "--warmup", "auto", "--json", code=code).stdout))
    assert found == [pytest.approx(700, abs=3)] * 4 + [0, 0]
    text = " ".join(run(method, table, "--warmup", "auto", "--html", page, code=code).stdout.split())
    for words in (
        "The rule quick left out a warm-up of ", CAUTION, "1 run never becomes steady, so nothing was left out of it",
        "Nothing was left out of 1 run: too short to find the end of warm-up (20 iterations; 1,000 needed).",
        f"0: {found[0]}, 2: {found[2]}",
    ):  # fmt: skip
        assert words in text
    assert "in 4 of 6 runs." in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("ways", [(), ("--between", "old", "new"), ("--against-version", "old")])
def test_a_check_names_what_was_left_out_in_each_form(table, ways, tmp_path):
    files = {form: tmp_path / form for form in ("json", "markdown", "html")}
    options = [word for form, path in files.items() for word in (f"--{form}", path)]
    result = run("check", table, *ways, "--warmup", "auto", *options, "--allow-inconclusive", code=None)
    assert left_out(json.loads(files["json"].read_text())) == [pytest.approx(700, abs=3)] * 4 + [0, 0]
    for text in (result.stdout, files["markdown"].read_text(), files["html"].read_text()):
        assert "in 4 of 6 runs." in " ".join(text.split())


def test_verdicts_leave_out_the_same_and_the_file_of_verdicts_tells_how_much(tmp_path, table):
    study, exported = tmp_path / "s.study", tmp_path / "verdicts.csv"
    run("init", "--study", study)
    run("import", table, "--study", study)
    result = run("verdicts", "--study", study, "--warmup", "auto", "--out", exported)
    assert "The rule quick left out" in result.stderr and CAUTION in result.stderr
    rows = [row for row in csv.DictReader(io.StringIO(exported.read_text())) if row["classifier"] == "spread"]
    assert all(json.loads(row["parameters"])["drop"] == "auto" for row in rows)
    numbers = sorted(int(number) for row in rows for number in row["dropped"].split())
    assert numbers == [0, 0] + [pytest.approx(700, abs=3)] * 4
    assert "0 of " in run("verdicts", "--study", study, "--warmup", "auto").stderr  # nothing is computed again


def test_values_that_are_no_times_lose_what_their_ratio_to_the_median_loses():
    warm = series((700, 1.5), (1300, 1.0))
    times, rates = (Benchmark.of_series("b", [factor * warm], unit=unit) for factor, unit in ((1, "s"), (1e9, "ops/s")))
    found = [dropped_warmup([each]).runs[0].n_dropped for each in (times, rates)]
    assert found[1] == pytest.approx(700, abs=3) and found[0] == pytest.approx(found[1], abs=2)
    assert PerRun(warmup="auto").value(rates.runs[0]) == pytest.approx(1e9, rel=0.01)
    assert Runs([*rates.runs, *rates.runs], "auto").n_dropped == [found[1]] * 2


@pytest.mark.parametrize(
    ("runs", "sentences"),
    [
        ([[(3000, 1.0)]], ["found no warm-up to leave out in 1 run.", "1 run is steady from the start."]),
        ([[(999, 1.0)], [(20, 1.0)], [(20, 1.1)]],
         ["in 3 runs.", "(999 iterations; 1,000 needed).", "Nothing was left out of 2 runs: too short"]),
        ([[(300, 1.5), (1200, 1.0)]] * 2, ["a warm-up of 299 iterations in 2 of 2 runs."]),
        ([[(300, 1.5), (1200, 1.0)]], ["a warm-up of 299 iterations in 1 of 1 run."]),
        ([[(1000, -1.0)]], ["needs measurements above 0"]),
    ],
)  # fmt: skip
def test_sentences_for_none_one_and_several(runs, sentences):
    benchmark = Benchmark.of_series("b", [series(*parts) for parts in runs])
    text = " ".join(describe_warmup(dropped_warmup([benchmark])))
    for words in sentences:
        assert words in text
