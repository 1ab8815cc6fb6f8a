"""Reliability of intervals and tests for a suite: the survey, its figures, its document."""

import json
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from scipy import stats

from analysis.document import json_values, to_text
from analysis.document.figures import to_svg
from analysis.methods.trust import (
    MERGED,
    ONE_SAMPLE,
    RUN_MEANS,
    TESTS,
    WELCH,
    MiddleHalf,
    charts as trust_charts,
    coverage,
    distribution,
    document as trust_document,
    trust_survey as survey,
    type_1_error,
)
from analysis.methods.trust._figures import false_alarms
from analysis.methods.trust._population import densities
from analysis.methods.trust._rates import ONE_RUN
from analysis.runs.benchmark import Benchmark, LeftOut, PerRun, by_content, by_level
from tests.analysis.drawn import titles
from tests.analysis.methods.made_orders import without_direction
from tests.sentences import says

GAMMAS = (1, 1.05, 1.3)
QUICK = {"n_runs": 3, "gammas": GAMMAS, "resamples": 100}


def benchmark(name, between=1.0, m=4, n=12, **more):
    random = np.random.default_rng(sum(map(ord, name)))
    return Benchmark.of_series(
        name, tuple(10 + between * random.normal() + random.normal(size=n) for _ in range(m)), **more
    )


@cache
def suite():
    rough = [benchmark(f"rough {i}", application="org/rough") for i in range(4)]
    return survey([*rough, benchmark("even", 0.0), benchmark("single", m=1)], **QUICK)


def text_of(found):
    return " ".join(to_text(trust_document(found)).split())


def test_a_survey_holds_what_the_functions_say_of_each_benchmark():
    (found,) = (trust for trust in suite().benchmarks if trust.name == "rough 0")
    runs = by_content(benchmark("rough 0")).values
    options = {"aggregations": [MERGED, RUN_MEANS], "rng": np.random.default_rng(9)}
    assert (found.name, found.application, found.n_runs) == ("rough 0", "org/rough", 4)
    assert sorted(found.run_values) == pytest.approx(sorted(run.mean() for run in runs))
    assert {name: found.coverage[name] for name in (MERGED, RUN_MEANS)} == coverage(runs, 3, **options)
    exact = {name: found.type_1_error[name] for name in (MERGED, RUN_MEANS)}
    assert exact == type_1_error(runs, 3, **options)
    assert [at.n_runs for at in found.by_n_runs] == [2, 3, 4]
    assert len(found.curves) == 9 and len(found.slowdowns) == 18 and found.distribution is None


def test_summaries_are_those_of_the_benchmarks():
    merged = suite().summaries[0]
    values = [trust.coverage[MERGED].value for trust in suite().benchmarks]
    assert (merged.aggregation, merged.coverage.n) == (MERGED, 5)
    assert [merged.coverage.low, merged.coverage.median, merged.coverage.high] == np.quantile(
        values, [0.25, 0.5, 0.75]
    ).tolist()
    assert merged.below["0.9"] == sum(value < 0.9 for value in values)
    errors = [trust.type_1_error[MERGED][WELCH].value for trust in suite().benchmarks]
    assert merged.n_alarming[WELCH] == sum(error > 0.1 for error in errors)
    seen = [row for row in suite().slowdowns if (row.aggregation, row.test, row.power) == (RUN_MEANS, WELCH, 0.8)]
    factors = [
        row.factor.value for trust in suite().benchmarks for row in trust.slowdowns
        if (row.aggregation, row.test, row.power) == (RUN_MEANS, WELCH, 0.8)
    ]  # fmt: skip
    assert (seen[0].n, seen[0].n_reached) == (5, sum(factor is not None for factor in factors))


def test_what_cannot_be_drawn_from_is_left_out_and_versions_and_contexts_are_not_mixed():
    assert suite().left_out == (LeftOut("single", ONE_RUN),)
    found = survey([benchmark("short", n=3)], per_run=PerRun(warmup=3))
    assert found.benchmarks == () and "all of them warm-up" in found.left_out[0].reason
    conditions = {"version": ("old", "old", "new", "new"), "context": ("", "", "a", "a"), "run": tuple("0101")}
    parts = by_level(benchmark("b", conditions=conditions))
    assert [part.name for part in parts] == ["b @ old @ ?", "b @ new @ a"]
    assert [len(part.values) for part in parts] == [2, 2]
    one = benchmark("b", conditions={"version": ("old",) * 4})
    assert by_level(one) == [one]


def test_a_survey_does_not_depend_on_the_mapper_and_can_be_pickled():
    benchmarks, steps = [benchmark("a"), benchmark("b")], []
    with ThreadPoolExecutor(2) as pool:
        spread = survey(benchmarks, **QUICK, mapper=pool.map, advance=lambda *step: steps.append(step))
    assert spread == survey(benchmarks, **QUICK)
    assert steps == [(1, 2), (2, 2)]
    assert pickle.loads(pickle.dumps(spread)) == spread
    assert survey(benchmarks, **QUICK, seed=2) != spread


def test_a_survey_is_plain_values_with_every_parameter_and_the_most_misleading_benchmark_first():
    content = json.loads(json.dumps(json_values(suite()), allow_nan=False))
    assert content["parameters"] == {
        "n_runs": 3, "level": 0.95, "alpha": 0.05, "gammas": list(GAMMAS), "powers": [0.8, 0.95],
        "tests": list(TESTS), "resamples": 100, "n_curve": 100, "seed": 1, "warmup": 0, "aggregate": "mean",
    }  # fmt: skip
    table = next(
        block for section in trust_document(suite()).sections for block in section.blocks
        if section.title.startswith("Benchmarks") and hasattr(block, "rows")
    )  # fmt: skip
    worst = max(suite().benchmarks, key=lambda trust: trust.type_1_error[MERGED][WELCH].value)
    assert table.rows[0][0] == worst.name and table.rows[-1][0] == "even"


def test_coverage_by_number_of_runs_is_spread_evenly_over_the_suite():
    found = survey([benchmark(str(i)) for i in range(5)], **{**QUICK, "gammas": ()}, n_curve=3)
    assert [bool(trust.by_n_runs) for trust in found.benchmarks] == [True, False, True, False, True]
    assert "median of 3 of 5 benchmarks" in to_svg(trust_charts(found)["coverage"])
    assert says(text_of(found), "for 3", "benchmarks")
    with pytest.raises(ValueError, match=r"n_curve.*got -1"):
        survey([], n_curve=-1)


def test_undefined_numbers_have_no_figure_and_slowdowns_may_be_undetected():
    found = survey([benchmark("wild", 5.0)], **{**QUICK, "gammas": (1, 1.001)})
    assert {(row.n_reached, row.median) for row in found.slowdowns if row.aggregation == ONE_SAMPLE} == {(0, None)}
    found = survey([benchmark("a"), Benchmark.of_series("flat", (np.ones(3), np.ones(3)))], **{**QUICK, "n_runs": 1})
    assert found.summaries[1].coverage == MiddleHalf(0, None, None, None)
    nothing_defined = survey([Benchmark.of_series("b", (np.array([1.0]), np.array([2.0])))], **{**QUICK, "n_runs": 1})
    assert trust_charts(nothing_defined).keys() == {"measurements", "coverage"}


# -- document


def test_the_document_says_in_short_what_to_do():
    text = text_of(suite())
    merged, single = (row.type_1_error[WELCH].median for row in suite().summaries[:2])
    assert text.index("In short") < text.index("Do not merge the iterations") < text.index("Intervals: do they contain")
    assert says(text, f"{100 * merged:.1f} %", "merged iterations", f"{100 * single:.1f} %", "one number per run")
    assert "should be 5 %." in text
    assert "α is correct" in text
    assert "stricter than α" in text
    assert "single there is only one run, so every sample is the same" in text
    assert "seed 1" in text and "aggregate mean" in text


def test_random_shares_carry_their_standard_error():
    found = survey([benchmark("many", m=30, n=3)], n_runs=6, gammas=(), resamples=300, n_curve=0, tests=[WELCH])
    rate = found.benchmarks[0].coverage[MERGED]
    assert f"{100 * rate.value:.1f} % ± {100 * rate.se:.1f}" in text_of(found)


# -- figures


def test_a_single_benchmark_is_named_and_has_no_bands():
    name = "x" * 80 + "</text><script>"
    charts = trust_charts(survey([Benchmark.of_series(name, benchmark("a").values)], **QUICK))
    assert list(charts) == ["measurements", "coverage", "rejections"]
    for chart in charts.values():
        svg = to_svg(chart)
        assert "<script>" not in svg and "…" in svg and "median of" not in svg
    assert false_alarms(survey([benchmark("a")], **QUICK)) is None


def test_without_a_stated_direction_the_second_draw_is_higher_not_slower():
    unknown = [without_direction(benchmark(f"b{n}")) for n in range(2)]
    found = survey(unknown, **QUICK)
    said = text_of(found)
    assert "smallest detected increase" in said
    assert not {"slower", "faster", "slowdown", "slowdowns"} & set(re.findall(r"\w+", said))
    assert "the second sample is higher by" in titles(trust_charts(found)["rejections"])
    stated = survey([benchmark("b0"), benchmark("b1")], **QUICK)
    assert [curve.power for curve in found.benchmarks[0].curves] == [
        curve.power for curve in stated.benchmarks[0].curves
    ]


def test_one_benchmark_has_histograms_of_its_runs_and_of_all_merged():
    runs = ([1.0, 1.0, 1.1, 1.2] * 50, [1.9, 2.0, 2.0, 2.0] * 50)
    (found,) = survey([Benchmark.of_series("b", runs, unit="s")], **QUICK).benchmarks
    of = found.distribution
    assert (len(of.runs), of.names) == (2, ("1", "2"))
    assert [sum(counts) for counts in of.runs] == [200, 200]
    assert of.merged == tuple(a + b for a, b in zip(*of.runs, strict=True))
    expected, _ = np.histogram(np.concatenate(runs), of.edges)
    assert of.merged == tuple(expected.tolist())
    assert all(not (a and b) for a, b in zip(*of.runs, strict=True))  # the runs have no value in common


def test_outliers_do_not_hide_the_shape_and_a_density_is_that_of_the_measurements():
    values = np.r_[np.random.default_rng(1).normal(10, 1, 1000), 1e6]
    of = distribution([values[:500], values[500:]], ["a", "b"])
    assert of.edges[-1] < 20
    assert (of.n_below, of.n_above, of.n) == (5, 5, 1001)
    assert sum(of.merged) == 1001 - 10
    values = np.random.default_rng(2).normal(10, 1, 4000)
    of = distribution([values], ["1"])
    bars, line = densities(of.merged, of.edges)
    middles, width = (np.array(of.edges[1:]) + of.edges[:-1]) / 2, of.edges[1] - of.edges[0]
    assert bars.sum() * width == pytest.approx(1)
    assert np.abs(line - stats.norm.pdf(middles, 10, 1)).max() < 0.05


@pytest.mark.parametrize("runs", [([0.0, 0.0], [0.0]), ([-1.0, 3.0], [3.0, 3.0])])
def test_few_or_equal_measurements_have_a_figure(runs):
    found = survey([Benchmark.of_series("b", runs)], **QUICK)
    assert sum(found.benchmarks[0].distribution.merged) == sum(map(len, runs))
    drawn = titles(trust_charts(found)["measurements"])
    assert "Measurements of each run and of all runs merged" in drawn
    assert {"all runs merged", "run 1", "run 2"} <= set(drawn)


@pytest.mark.parametrize(
    ("n_many", "said"),
    [
        (0, ""),
        (1, "1 benchmark has more than 200 runs. Its samples use 200 of them"),
        (2, "2 benchmarks have more than 200 runs. The samples of each use 200"),
    ],
)
def test_of_many_runs_some_are_drawn_at_random_and_the_report_says_so(n_many, said):
    rng = np.random.default_rng(1)
    sizes = [201] * n_many + [5] * (2 - n_many)
    benchmarks = [Benchmark.of_series(f"b{at}", tuple(rng.normal(10, 1, (size, 1)))) for at, size in enumerate(sizes)]
    found = survey(benchmarks, resamples=20, gammas=(), n_curve=0)
    assert sorted((trust.n_runs, trust.n_used) for trust in found.benchmarks) == sorted(
        (size, min(size, 200)) for size in sizes
    )
    text = str(trust_document(found))
    assert ("more than 200 runs" in text) == bool(said)
    assert said in text
