"""The order of rows, files and benchmarks does not affect the results of any method."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis.document import json_values, to_json, to_text
from analysis.methods import check, contexts, order, spread, trust
from analysis.runs.benchmark import Benchmark, canonical, from_table, natural, two_versions
from tests.conftest import examples

METHODS = {
    "spread": (spread.spread_survey, spread.document, {"resamples": 20}),
    "spread, altered": (spread.spread_survey, spread.document, {"v": 0.1}),
    "order": (order.order_survey, order.document, {}),
    "trust": (trust.trust_survey, trust.document, {"n_runs": 2, "gammas": (1.0, 1.3), "resamples": 50}),
    "check": (check.check, check.document, {}),
    "contexts": (contexts.context_survey, contexts.document, {"resamples": 20, "instrumentation": "counters"}),
}


def table(*, is_altered=False):
    """Build a table with one row per measurement: three benchmarks, two versions, two contexts, runs in both orders."""
    rng = np.random.default_rng(8)
    benchmarks = enumerate((("b10", "x"), ("b9", "x"), ("a", "")))
    cells = product(benchmarks, ("new", "old"), ("env=64", "env=0"), ("4", "0"), range(4), range(3))
    level = {name: 1 + 0.05 * rng.normal() for name in product("012", ("new", "old"), "0123")}
    frame = pd.DataFrame(
        [
            {
                "application": application,
                "benchmark": benchmark,
                "run": f"{run}",
                "iteration": iteration,
                "value": level[str(number), version, str(run)] + 0.01 * rng.normal(),
                "version": version,
                "context": context,
                "factor:counters": counters,
                "order_type": "fixed" if run % 2 else "random",
                "order_position": number,
            }
            for (number, (benchmark, application)), version, context, counters, run, iteration in cells
        ]
    )
    if is_altered:
        return (
            frame.drop(columns=["order_type", "order_position"])
            .rename(columns={"version": "altered"})
            .replace({"altered": {"old": "baseline"}})
        )
    return frame


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=examples(10))
@given(seed=st.integers(0, 2**32 - 1))
def test_shuffling_the_rows_of_a_table_changes_nothing(name, seed):
    survey, document, options = METHODS[name]
    rows = table(is_altered="altered" in name)
    shuffled = rows.sample(frac=1, random_state=seed).reset_index(drop=True)
    first, second = (survey(from_table(some), **options) for some in (rows, shuffled))
    assert to_json(json_values(first)) == to_json(json_values(second))
    assert to_text(document(first)) == to_text(document(second))


def versions(name, *levels):
    return Benchmark.of_series(name, (np.ones(1),) * len(levels), conditions={"version": levels})


def test_the_baseline_is_the_first_in_sorted_order_whichever_benchmark_comes_first():
    suite = [versions("a", "v10", "v9"), versions("b", "v9", "v10"), versions("c", "v11")]
    assert two_versions(suite) == two_versions(suite[::-1]) == ("v9", "v10")
    assert two_versions(suite, baseline="v10") == ("v10", "v9")
    assert two_versions(suite, candidate="v9") == ("v10", "v9")
    assert two_versions(suite, baseline="v11", candidate="v9") == ("v11", "v9")
    suite = [versions("a", "1", "2", "3")]
    assert str(two_versions(suite, baseline="1")).startswith("there are 3 versions")


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        ([], "the version of every run is unknown"),
        ([versions("a", "", "")], "the version of every run is unknown"),
        ([versions("a", "old"), versions("b", "new")], "no benchmark has two versions; known versions: new, old"),
        ([versions("a", "1", "2"), versions("b", "2", "3")], r"there are 3 versions \(1, 2, 3\): name a baseline"),
    ],
)
def test_without_two_versions_there_is_a_reason(suite, reason):
    assert re.match(reason, str(two_versions(suite)))


def test_benchmarks_are_in_order_of_application_and_name_and_runs_keep_their_conditions():
    runs = tuple(np.array([value]) for value in (2.0, 0.0, 1.0))
    first, second = canonical(
        [Benchmark.of_series("b10", runs, conditions={"run": ("10", "1", "9")}), versions("b9", "x")]
    )
    assert (first.name, second.name) == ("b9", "b10")
    assert {run.of("run"): run.values[0] for run in second.runs} == {"1": 0.0, "9": 1.0, "10": 2.0}


@given(st.lists(st.text(max_size=8), max_size=8))
def test_any_texts_can_be_sorted_by_their_numbers(texts):
    assert sorted(map(natural, texts)) == [natural(text) for text in sorted(texts, key=natural)]
