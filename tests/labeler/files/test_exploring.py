"""The methods on files: collecting and joining data, and storing results."""

import gzip
import inspect
import json
import pickle
import re

import numpy as np
import pytest

from analysis.runs.benchmark import Benchmark
from labeler.errors import InputError, Refused
from labeler.files import exploring
from labeler.files.formats import ReadOptions, Source, file_name_pattern
from labeler.studies.items import importing
from tests.labeler.files.formats.examples import ORDERSAGE, csv_bytes, ordersage_rows
from tests.making import result_file

QUICK = {
    "spread": {}, "order": {}, "trust": {"n_runs": 2, "resamples": 20, "gammas": (1, 1.3)},
    "contexts": {"resamples": 20}, "steady": {"rule": "quick"}, "trend": {},
}  # fmt: skip


def upload(name, rows, columns=("benchmark", "run", "value")):
    return importing.upload(name, csv_bytes(rows, columns))


def runs_of(benchmark):
    return [run.tolist() for run in benchmark.values]


def bench(name="b", levels=(1.0, 1.1, 1.3), **more):
    return Benchmark.of_series(name, tuple(np.array([level, level + 0.01]) for level in levels), **more)


def sweep(name="b", versions=("old", "new"), contexts=("x", "y", "z"), n_runs=3):
    """Two versions in several contexts, each run of two iterations."""
    cells = [(v, c) for v in versions for c in contexts for _ in range(n_runs)]
    rng = np.random.default_rng(1)
    conditions = {"version": tuple(v for v, _ in cells), "context": tuple(c for _, c in cells)}
    return Benchmark.of_series(name, tuple(rng.uniform(1, 1.2, (len(cells), 2))), conditions=conditions)


def orders(name="b"):
    """Four runs in fixed and four in random order."""
    rng = np.random.default_rng(2)
    conditions = {"run": tuple("01234567"), "order_type": ("fixed",) * 4 + ("random",) * 4}
    return Benchmark.of_series(name, tuple(rng.uniform(1, 1.2, (8, 1))), conditions=conditions)


def long_runs(name="b"):
    """Two runs that are long enough to become steady."""
    return Benchmark.of_series(name, np.random.default_rng(3).normal(1, 0.01, (2, 1000)))


def one_context(name="b"):
    return sweep(name, contexts=("x",))


SUITABLE = {"spread": bench, "order": orders, "trust": bench, "contexts": sweep, "steady": long_runs,
            "trend": one_context}  # fmt: skip
WITH_ALPHA = [name for name in exploring.METHODS if name not in ("steady", "trend")]
WITH_VALUE_PER_RUN = [name for name in exploring.METHODS if name != "steady"]


# files


def test_a_benchmark_in_several_files_has_the_runs_of_all_and_each_run_a_label_of_its_own():
    files = [upload("mon.csv", [("b", 0, 1), ("b", 1, 2)]), upload("tue.csv", [("b", 0, 3), ("c", 0, 4)])]
    gathered = exploring.from_files(files, ReadOptions(file_is="run"))
    assert gathered.refused == ()
    assert {one.name: dict(zip(one.of("run"), runs_of(one), strict=True)) for one in gathered.benchmarks} == {
        "b": {"1:0": [1.0], "1:1": [2.0], "2:0": [3.0]}, "c": {"2:0": [4.0]},
    }  # fmt: skip


def test_runs_keep_their_labels_and_runs_without_labels_are_numbered():
    (one,) = exploring.from_files([upload("a.csv", [("b", "x", 1), ("b", "y", 2)])]).benchmarks
    assert dict(zip(one.of("run"), runs_of(one), strict=True)) == {"x": [1.0], "y": [2.0]}
    (one,) = exploring.from_files([result_file("b", [[1.0, 2.0], [3.0, 4.0]])]).benchmarks
    assert (one.labels, sorted(runs_of(one))) == (("0", "1"), [[1.0, 2.0], [3.0, 4.0]])
    assert exploring.from_files([]) == exploring.Gathered((), ())


def test_a_file_that_cannot_be_used_is_named_and_the_others_are_read():
    seen = []
    files = [importing.upload("bad.json", b"[[1.0, NaN]]"), upload("good.csv", [("b", 0, 1)]),
             importing.upload("odd.txt", b"hello")]  # fmt: skip
    gathered = exploring.from_files(files, advance=seen.append)
    assert [one.name for one in gathered.benchmarks] == ["b"]
    assert [error.file for error in gathered.refused] == ["bad.json", "odd.txt"]
    assert "nan is not a finite measurement" in str(gathered.refused[0])
    assert seen == files


@pytest.mark.parametrize("column", ["unit", "better"])
def test_one_benchmark_in_two_units_or_directions_is_no_benchmark(column):
    columns, cells = ("benchmark", "run", "value", column), {"unit": ("s", "MB/s"), "better": ("lower", "higher")}
    files = [upload(f"{i}.csv", [("b", 0, 1, cells[column][i])], columns) for i in (0, 1)]
    with pytest.raises(InputError, match=r"benchmark 'b'.*0.csv.*1.csv"):
        exploring.from_files(files, ReadOptions(file_is="run"))


def test_failed_trials_come_along_with_what_is_known_of_them():
    trials = [(1, "bench", 1, "fixed", 1.5), (2, "bench", 2, "random", "", "Failure"), (3, "bench", 1, "random", 2.5)]
    file = upload("x-results.csv", ordersage_rows(trials), ORDERSAGE)
    (one,) = exploring.from_files([file], ReadOptions(pattern="{cpu}-results.csv")).benchmarks
    (failure,) = one.failures
    assert failure.conditions == {"run": "2", "context": "node1", "order_type": "random", "order_position": "2",
                                  "cpu": "x"}  # fmt: skip
    assert one.of("cpu") == ("x", "x")
    files = [file, upload("y-results.csv", ordersage_rows(trials[1:]), ORDERSAGE)]
    both = exploring.from_files(files, ReadOptions(file_is="run"))
    assert [failure.conditions["run"] for failure in both.benchmarks[0].failures] == ["1:2", "2:2"]


# names of files


@pytest.mark.parametrize(
    ("pattern", "name", "said"),
    [
        ("{version}.json", "new.json", {"version": "new"}),
        ("{version}.json", "some/where/new.json.gz", {"version": "new"}),
        ("{version}-{context}.json", "a-b-c.json", {"version": "a", "context": "b-c"}),
        ("{version}/{cpu}.csv", "/data/v 1.0/arm.csv", {"version": "v 1.0", "cpu": "arm"}),
        ("run_{run}", "run_3", {"run": "3"}),
        ("r(1)+{x}.csv", "r(1)+y.csv", {"x": "y"}),
        ("{größe}.csv", "日本.csv", {"größe": "日本"}),
        ("{x}.csv", "fol\nder/a\nb.csv", {"x": "a\nb"}),
        ("{x}.csv", "<script>.csv", {"x": "<script>"}),
        ("{x}.csv", "..csv", {"x": "."}),
    ],
)
def test_the_name_of_a_file_says_what_the_pattern_names(pattern, name, said):
    assert file_name_pattern(pattern)(Source(name)) == said


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("{version}.json", "new.csv"),
        ("{version}.json", ".json"),
        ("{version}.json", ""),
        ("{version}-x.json", "a/b-y.json"),
        ("{version}/{cpu}.csv", "arm.csv"),
        ("r(1)+{x}.csv", "r11y.csv"),
        ("{x}.csv", "acsv"),
    ],
)
def test_a_file_whose_name_does_not_fit_is_refused_and_named(pattern, name):
    with pytest.raises(Refused) as refused:
        file_name_pattern(pattern)(Source(name))
    assert str(refused.value) == f"{name}: the name does not match {pattern!r}"


@pytest.mark.parametrize("pattern", ["results.json", "{}.json", "{a b}.json", "{a}-{a}.json", "{a}{b}.json", "{"])
def test_a_pattern_that_says_nothing_is_an_error(pattern):
    with pytest.raises(InputError) as refused:
        exploring.from_files([], importing.read_options(pattern=pattern))
    assert str(refused.value).startswith(repr(pattern))
    assert "{version}-{context}.json" in str(refused.value)


def test_a_name_says_more_than_the_columns_of_the_file():
    columns = ("benchmark", "run", "value", "version")
    files = [upload(f"{v}-arm.csv", [("b", run, run, "main") for run in (0, 1)], columns) for v in ("old", "new")]
    pattern = ReadOptions(pattern="{version}-{context}.csv")
    gathered = exploring.from_files([*files, upload("x.csv", [("b", 0, 1)])], pattern)
    (one,) = gathered.benchmarks
    assert (one.of("version"), one.of("context")) == (("new", "new", "old", "old"), ("arm",) * 4)
    assert [error.file for error in gathered.refused] == ["x.csv"]


def test_a_name_may_say_which_run_a_file_is_also_of_a_packed_file():
    files = [result_file(f"{run}", [[1.0 * run]]) for run in (7, 8)]
    gathered = exploring.from_files(files, ReadOptions(pattern="{run}.json"))
    assert [one.of("run") for one in gathered.benchmarks] == [("7",), ("8",)]
    packed = Source("v1.csv.gz", data=gzip.compress(csv_bytes([("b", 0, 1)])))
    (one,) = exploring.from_files([packed], ReadOptions(pattern="{version}.csv")).benchmarks
    assert one.of("version") == ("v1",)


# answers


@pytest.mark.parametrize("method", exploring.METHODS)
def test_an_answer_is_plain_values_a_document_and_figures(method):
    explored = exploring.explore(method, [SUITABLE[method]()], **QUICK[method])
    content = json.loads(exploring.as_json(explored))
    assert content == json.loads(json.dumps(explored.content))
    assert {"parameters", "left_out"} <= set(content)
    assert explored.document.title in exploring.as_text(explored)
    assert explored.charts and all(re.fullmatch("[a-z0-9-]+", name) for name in explored.charts)
    assert exploring.as_html(explored).count("<svg") == len(explored.charts)


@pytest.mark.parametrize("method", exploring.METHODS)
@pytest.mark.parametrize(
    "benchmarks",
    [
        pytest.param([bench(levels=(1.0,))], id="one run"),
        pytest.param([bench(levels=(1.0, 1.0, 1.0))], id="equal", marks=pytest.mark.slow),
        pytest.param([bench(levels=(0.0, 0.0))], id="zero"),
        pytest.param([bench(levels=(-1.0, 1.0))], id="around zero", marks=pytest.mark.slow),
        pytest.param([Benchmark.of_series("b", (np.ones(1), np.array([1.0, 2.0, 3.0])))], id="lengths"),
        pytest.param([sweep(n_runs=1)], id="one a cell", marks=pytest.mark.slow),
        pytest.param([sweep(versions=("old",))], id="one version", marks=pytest.mark.slow),
        pytest.param([sweep(contexts=("x",))], id="one context", marks=pytest.mark.slow),
        pytest.param([bench(), orders("c"), sweep("d")], id="mixed"),
    ],
)
def test_what_cannot_be_told_is_said_in_words_and_never_nan(method, benchmarks):
    explored = exploring.explore(method, benchmarks, **QUICK[method])
    json.loads(exploring.as_json(explored), parse_constant=pytest.fail)
    text = exploring.as_text(explored)
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", text)
    assert "In short" in text
    exploring.as_html(explored)


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("spread", {"per": 1}, "1"),
        ("order", {"compat": "other"}, "other"),
        ("trust", {"n_runs": 0}, "0"),
        ("order", {"baseline": "1.0"}, "1.0"),
        ("contexts", {"baseline": "1.0"}, "aseline"),
        *((method, {"alpha": 2}, "lpha must be within (0, 1), got 2") for method in WITH_ALPHA),
        ("steady", {"rule": "best"}, "ule must be one of published, quick, barrett; got 'best'"),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_used_is_an_error_that_names_it(method, options, words):
    with pytest.raises(InputError) as refused:
        exploring.explore(method, [SUITABLE[method]()], **{**QUICK[method], **options})
    assert words in str(refused.value)
    assert str(refused.value)[0].isupper() and str(refused.value).endswith(".")


@pytest.mark.parametrize("method", WITH_VALUE_PER_RUN)
def test_a_benchmark_whose_runs_are_all_warmup_is_left_out_with_the_reason(method):
    explored = exploring.explore(
        method, [SUITABLE[method]("b")], **QUICK[method], per_run=exploring.per_run(99, "mean")
    )
    (left_out,) = explored.content["left_out"]
    assert left_out["name"] == "b"
    assert "all of them warm-up" in left_out["reason"]
    assert "all of them warm-up" in exploring.as_text(explored)


# sampling, plans


@pytest.mark.parametrize(
    ("warmup", "aggregate", "words"),
    [
        ("-1", "mean", "Warmup must be"),
        ("1.5", "mean", "got 1.5"),
        ("soon", "mean", "or auto, got soon"),
        ("0", "max", "mean, median, min, got 'max'"),
    ],
)
def test_a_run_that_cannot_become_one_number_so_is_an_error(warmup, aggregate, words):
    with pytest.raises(InputError, match=words):
        exploring.per_run(warmup, aggregate)


def test_variants_are_every_combination_in_a_shuffled_order_that_the_seed_decides():
    factors = {"version": ["old", "new"], "env": ["0", "64"]}
    plan, again, other = (exploring.variants(factors, runs=3, seed=seed) for seed in (1, 1, 2))
    assert plan.equals(again)
    assert not plan.equals(other)
    rows = exploring.rows(plan)
    assert len(rows) == 2 * 2 * 3
    assert json.loads(json.dumps(rows)) == rows
    assert {(row["version"], row["context"]) for row in rows} == {
        (v, c) for v in ("old", "new") for c in ("env=0", "env=64")
    }


@pytest.mark.parametrize("factors", [{}, {"env": []}, {"env": ["0", "0"]}, {"env": [""]}])
def test_factors_that_make_no_plan_are_an_error(factors):
    with pytest.raises(InputError):
        exploring.variants(factors, seed=1)


@pytest.mark.parametrize("method", exploring.METHODS.values(), ids=list(exploring.METHODS))
def test_every_method_takes_its_options_progress_and_a_mapper(method):
    seen, code, options = [], method.code(), QUICK[method.name]
    benchmarks = [SUITABLE[method.name]("b"), SUITABLE[method.name]("c")]
    assert {"benchmarks", *options, "advance", "mapper"} <= set(inspect.signature(code.survey).parameters)
    result = code.survey(benchmarks, **options, advance=lambda *at: seen.append(at))
    assert seen[-1] == (2, 2) and seen == sorted(seen)
    assert code.document(result).title
    assert code.charts(result)
    mapped = []

    def elsewhere(function, tasks):  # as a process does it: function and tasks are copied
        mapped.extend(pickle.loads(pickle.dumps([(function, task) for task in tasks])))
        return [function(task) for function, task in mapped]

    assert result == code.survey(benchmarks, **options, mapper=elsewhere, advance=lambda *_: None)
    assert len(mapped) >= 2
