"""The end of warm-up: rules, their parts, the survey and its report."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from analysis.document import json_values, to_html, to_text
from analysis.document.figures import to_svg
from analysis.methods.steady import charts, document, survey
from analysis.runs.benchmark import Benchmark
from analysis.runs.steady import RULES, _centred_outliers, _differ, class_of_benchmark, elbow, outliers, steady_run
from tests.conftest import some_slow


def run(*levels, noise=0.01, seed=1):
    """Return a run of segments, each given as (length, level)."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(level, noise * level, n) for n, level in levels])


def near(iteration):
    """Iterations beside a step are outliers in windows with few others of their level, so ends differ by up to 3."""
    return pytest.approx(iteration, abs=3)


# rules


@pytest.mark.parametrize("rule", ["published", "quick"])
@pytest.mark.parametrize(
    ("segments", "verdict", "start"),
    [
        ([(3000, 1.0)], "steady state", 0),
        ([(700, 1.2), (2300, 1.0)], "steady state", 699),
        ([(700, 0.8), (2300, 1.0)], "steady state", 699),  # slower after warm-up
        ([(2500, 1.2), (500, 1.0)], "steady state", 2499),  # the latest allowed start
        ([(2510, 1.2), (490, 1.0)], "no steady state", None),
        ([(1500, 1.04), (1500, 1.0)], "steady state", 0),  # within 5 %
        ([(300, 1.5), (700, 1.2), (2000, 1.0)], "steady state", 999),
    ],
)
def test_a_run_is_steady_after_the_last_segment_with_another_mean(rule, segments, verdict, start):
    found = steady_run(run(*segments), rule)
    assert found.verdict == verdict
    assert found.start == (near(start) if start else start)
    assert found.n_warmup == (found.start + 1 if start else 0)


@pytest.mark.parametrize(
    ("segments", "verdict", "start"),
    [
        ([(3000, 1.0)], "flat", 0),
        ([(700, 1.2), (2300, 1.0)], "warm-up", 699),
        ([(700, 0.8), (2300, 1.0)], "slowdown", 699),
        ([(2520, 1.2), (480, 1.0)], "no steady state", None),
        ([(700, 1.0005), (2300, 1.0)], "flat", 0),  # less than 0.001 s apart
    ],
)
def test_the_four_classes_of_barrett(segments, verdict, start):
    found = steady_run(run(*segments, noise=0.0001), "barrett")
    assert (found.verdict, found.start) == (verdict, start)


def test_change_points_are_last_iterations_and_values_that_are_no_times_count_by_their_ratio():
    values = run((1000, 1.2), (2000, 1.0))
    values[500] = 50.0
    found = steady_run(values, "quick")
    assert found.change_points == (near(999),)
    assert 1 <= found.n_outliers <= 10
    values = run((700, 1.2), (2300, 1.0))
    expected = steady_run(values / np.median(values), "quick", is_time=False)
    assert steady_run(1e6 * values, "quick", is_time=False) == expected
    assert expected.start == near(699)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.ones(20), "too short to find the end of warm-up (20 iterations; 1,000 needed)"),
        (np.ones(999), "too short to find the end of warm-up (999 iterations; 1,000 needed)"),
        (-np.ones(1000), "a rule for the end of warm-up needs measurements above 0"),
    ],
)
def test_a_rule_that_cannot_be_applied_says_why(values, reason):
    found = steady_run(values)
    assert (found.verdict, found.start, found.change_points, found.reason) == (None, None, (), reason)


@pytest.mark.parametrize("rule", RULES)
def test_a_constant_run_and_a_run_of_1000_iterations_have_a_class(rule):
    assert steady_run(np.full(3000, 2.0), rule).start == 0
    assert steady_run(run((1000, 1.0)), rule).start == 0


@pytest.mark.parametrize("n", [1000, 2000])
def test_the_last_500_iterations_must_be_steady_whatever_the_length(n):
    late, early = run((n - 490, 1.3), (490, 1.0)), run((n - 510, 1.3), (510, 1.0))
    assert steady_run(late, "quick").start is None
    assert steady_run(early, "quick").start == near(n - 511)


@pytest.mark.parametrize(
    ("values", "rule", "message"),
    [
        ([1.0], "best", "rule must be one of published, quick, barrett; got 'best'"),
        ([1.0, np.inf], "quick", "finite numbers"),
    ],
)
def test_errors_name_the_argument(values, rule, message):
    with pytest.raises(ValueError, match=message):
        steady_run(values, rule)


# parts of the rules


def test_an_early_spike_is_kept_and_an_outlier_is_found_by_any_window():
    # Iterations of 1 s are one invocation each, so windows begin at 200 / ln 2 = 289.
    values = run((3000, 1.0))
    values[[100, 2000]] = 9.0
    assert np.flatnonzero(outliers(values)).tolist() == [2000]
    # The window of Barrett et al. is centred, so that only the first 100 iterations have none.
    values[50] = 9.0
    assert np.flatnonzero(_centred_outliers(values)).tolist() == [100, 2000]
    # Values vary much from iteration 1500 on, and little before. Windows begin at iteration 289.
    values = np.tile([1.0, 1.001], 3000)
    values[1500::2] = 1.5
    values[1450] = 1.3
    assert outliers(values)[1450]  # the window that ends here holds little variation
    assert not outliers(values[1450 - 289 :])[289]  # all windows hold much


def test_the_elbow_is_found_from_the_largest_penalty_down():
    # Heights 1 - y - x after scaling both axes to 0 to 1: 0, .525, .7, .45, .6, 0; the mean step is .2. From the
    # largest penalty, the peak at .6 falls to .45, by less than a step, and the peak at .7 then falls to 0.
    penalties, counts = [0, 2.5, 5, 10, 15, 40], [40, 16.5, 7, 12, 1, 0]
    assert elbow(penalties, counts) == 2
    # With .2 instead of .45, the peak at .6 is the first that falls by a step; from the other side it would be .7.
    assert elbow([0, 2.5, 5, 10, 15, 40], [40, 16.5, 7, 22, 1, 0]) == 4


@pytest.mark.parametrize(("penalties", "counts"), [([1.0], [3]), ([1.0, 2.0], [3, 3]), ([], [])])
def test_a_flat_curve_has_no_elbow(penalties, counts):
    assert elbow(penalties, counts) is None


@pytest.mark.parametrize(
    ("last", "other", "expected"),
    [
        ((200, 1.0), (200, 1.0), False),
        ((200, 1.0), (200, 1.1), True),
        ((200, 1.1), (200, 1.0), True),
        ((200, 1.0), (200, 1.0527), False),  # just outside, but the interval reaches 5 %
        ((30, 1.0), (20, 1.2), True),
        ((30, 1.2), (2000, 1.0), True),
    ],
)
def test_segments_differ_if_the_interval_of_their_ratio_is_outside_five_per_cent(last, other, expected):
    arguments = run(last, noise=0.03), run(other, noise=0.03, seed=2)
    assert _differ(*arguments, np.random.default_rng(1)) is expected


@pytest.mark.parametrize("ratio", [0.93, 0.949, 1.051])
def test_the_normal_limit_decides_as_the_bootstrap(ratio):
    rng = np.random.default_rng(3)
    for seed in range(4):
        last, other = run((150, ratio), noise=0.05, seed=seed), run((120, 1.0), noise=0.05, seed=100 + seed)
        draws = last[rng.integers(150, size=(10_000, 150))].mean(axis=1)
        draws /= other[rng.integers(120, size=(10_000, 120))].mean(axis=1)
        low, high = np.quantile(draws, [0.025, 0.975])
        if min(abs(high - 0.95), abs(low - 1.05)) > 0.0005:  # not where the draws themselves decide
            assert _differ(last, other, rng) == (high < 0.95 or low > 1.05)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (["steady state"] * 2, "steady state"),
        (["steady state", "no steady state"], "inconsistent"),
        (["no steady state"], "no steady state"),
        (["flat", "warm-up"], "good inconsistent"),
        (["flat", "slowdown"], "bad inconsistent"),
        (["warm-up", "no steady state"], "bad inconsistent"),
        ([None, "steady state"], "steady state"),
        ([None], None),
        ([], None),
    ],
)
def test_the_class_of_a_benchmark_follows_from_its_runs(runs, expected):
    assert class_of_benchmark(runs) == expected


# survey and report


def suite():
    late = run((2800, 1.2), (200, 1.0))
    return [
        Benchmark.of_series("fine", [run((3000, 1.0), seed=seed) for seed in range(2)]),
        Benchmark.of_series("some <b>", [run((700, 1.2), (2300, 1.0)), late]),
        Benchmark.of_series("never", [late]),
        Benchmark.of_series("short", [np.ones(20)]),
    ]


@pytest.fixture(scope="module")
def surveyed():
    return survey(suite(), rule="quick")


def test_a_survey_counts_classes_and_holds_the_json_of_the_specification(surveyed):
    found = surveyed
    assert found.benchmark_classes == {"steady state": 1, "inconsistent": 1, "no steady state": 1}
    assert found.run_classes == {"steady state": 3, "no steady state": 2}
    content = json_values(found)
    assert content["rule"] == "quick"
    some = next(row for row in content["benchmarks"] if row["name"] == "some <b>")
    assert some["class"] == "inconsistent"
    kept = [{key: row[key] for key in ("class", "start", "change_points")} for row in some["runs"]]
    assert kept == [
        {"class": "steady state", "start": near(699), "change_points": [near(699)]},
        {"class": "no steady state", "start": None, "change_points": [near(2799)]},
    ]


def test_processes_the_order_of_benchmarks_and_other_versions_do_not_change_the_result(surveyed):
    done = []
    with ThreadPoolExecutor(2) as pool:
        parallel = survey(suite()[::-1], rule="quick", mapper=pool.map, advance=lambda *of: done.append(of))
    assert json_values(parallel) == json_values(surveyed)
    assert done == [(at, 4) for at in (1, 2, 3, 4)]
    both = Benchmark.of_series(
        "b", [run((3000, 1.0)), run((2800, 1.2), (200, 1.0))], conditions={"version": ("old", "new")}
    )
    assert {row.name: row.verdict for row in survey([both], rule="quick").benchmarks} == {
        "b @ old": "steady state", "b @ new": "no steady state",
    }  # fmt: skip


def test_the_report_says_what_never_becomes_steady_and_what_is_too_short(surveyed):
    text = " ".join(to_text(document(surveyed)).split())
    assert "By the rule quick, 3 of 5 runs (60.0 %) become steady." in text
    assert "For 1 of 4 benchmarks, no run becomes steady: never." in text
    assert (
        "For 1 of 4 benchmarks, only some runs become steady, so results depend on which runs are used: some <b>."
        in text
    )
    assert "1 run is too short to find the end of warm-up (20 iterations; 1,000 needed): short (run 0)." in text


@pytest.mark.parametrize("rule", some_slow(RULES, {"published"}))
def test_each_rule_has_a_page_with_figures_and_escaped_names(rule):
    found = survey(suite(), rule=rule)
    html = to_html(document(found), {name: to_svg(chart) for name, chart in charts(found).items()})
    assert "some &lt;b&gt;" in html
    assert "some <b>" not in html
    assert html.count("<svg") == 4  # the starts, and the three benchmarks with a class


@pytest.mark.parametrize(
    ("benchmarks", "sentence"),
    [
        ([], "There are no runs."),
        ([Benchmark.of_series("b", [np.ones(5)])], "No run can be judged. The first one is too short"),
        ([Benchmark.of_series("b", [run((3000, 1.0))])], "1 of 1 run (100.0 %) becomes steady. - 1 run is steady from"),
    ],
)
def test_sentences_for_none_and_one(benchmarks, sentence):
    assert sentence in " ".join(to_text(document(survey(benchmarks, rule="quick"))).split())


# the published results


@pytest.mark.slow
def test_the_published_classes_and_starts_are_found_again(icpe_dir, published_classes):
    published = json.loads(published_classes.read_text())
    same = near = both = 0
    chosen = [(name, at % 10) for at, name in enumerate(sorted(published))][::2]
    for name, at in chosen:
        series = json.loads(gzip.decompress((icpe_dir / "timeseries" / f"{name}.json.gz").read_bytes()))[at]
        expected, found = published[name]["runs"][at], steady_run(series)
        same += found.verdict == expected["class"]
        if found.verdict == expected["class"] == "steady state":
            both += 1
            near += abs((found.start or 0) - expected["start"]) <= 25
    assert same / len(chosen) >= 0.96
    assert near / both >= 0.85
