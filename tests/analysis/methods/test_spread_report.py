"""The report on the spread of runs, in separate environments, and on the time of a suite."""

import json
import math
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.document import Figure, Table, json_values, to_text
from analysis.document.figures import to_svg
from analysis.methods.spread import charts as spread_charts, document as spread_document, spread_survey as survey
from analysis.methods.spread._figures import MAX_ROWS
from analysis.runs.benchmark import Benchmark, from_table
from tests.analysis.drawn import luminance, parts, texts, titles
from tests.analysis.methods.made_spreads import (
    HIGH,
    LOW,
    benchmark,
    by_hand,
    halves,
    in_environments,
    measured,
    timed_runs,
)
from tests.conftest import examples
from tests.sentences import says


def words(found):
    return " ".join(to_text(spread_document(found)).split())


def tables(found):
    return [
        block for section in spread_document(found).sections for block in section.blocks if isinstance(block, Table)
    ]


def test_tables_begin_with_all_and_the_widest_and_are_cut():
    mixed = survey(halves())
    rows = tables(mixed)[0].rows
    assert rows[0] == ("all", "5", "2", "1", "1", "1", "1", "1", "20.0 %")
    assert [row[0] for row in rows] == ["all", "org/c", "org/a"]
    assert [row[0] for row in tables(mixed)[1].rows] == ["b45", "b20", "b10", "b4", "b0.5"]
    found = survey([benchmark(100, 100 + i, name=f"b{i}", application=f"a{i}") for i in range(50)])
    assert [len(one.rows) for one in tables(found)[:2]] == [40, 40]
    assert "40 of 51 rows" in tables(found)[0].caption
    assert "40 of 50 rows" in tables(found)[1].caption


def test_what_was_left_out_is_in_a_table():
    found = survey([benchmark(1, 2, 3, name="has"), benchmark(1, 2, name="lacks")])
    (left_out,) = (one for one in tables(found) if "no spread for the table" in one.caption)
    assert left_out.rows == (("lacks", "2 of 3 runs"),)
    assert spread_charts(survey([benchmark(1)])) == {}


def test_what_cannot_be_detected_is_marked_in_table_and_figure():
    few = Benchmark.of_series("few", (LOW[:3], LOW[:3]), conditions={"altered": ("baseline", "m")})
    many = Benchmark.of_series("many", (LOW,) * 2 + (HIGH,) * 5, conditions={"altered": ("baseline", "m") + ("n",) * 5})
    found = survey([few, many], v=0.1)
    drawn = {part.label for part in parts(spread_charts(found)["noticed-by"]) if part.role == "mark"}
    assert sum("cannot be detected" in label for label in drawn) == 1
    assert sum("state: noticed" in label for label in drawn) == 1


def test_figures_name_rows_and_axes_and_their_shades_differ_in_greyscale():
    mixed = survey(halves())
    charts = spread_charts(mixed)
    for name in ("max-spread", "spread-buckets"):
        shown = [text for text in texts(charts[name]) if text in ("all (5)", "org/a (3)", "org/c (2)")]
        assert shown == ["all (5)", "org/c (2)", "org/a (3)"]
    assert "share of the benchmarks" in titles(charts["spread-buckets"])
    assert any("mean of the runs" in title for title in titles(charts["max-spread"]))
    drawn = parts(spread_charts(mixed)["spread-buckets"])
    all_together = [part for part in drawn if part.role == "mark" and "row: 0; end" in part.label]
    assert len(all_together) == 5
    shades = [luminance(part.fill) for part in sorted(all_together, key=lambda part: part.x)]
    assert all(light - dark > 0.05 for light, dark in pairwise(shades))


def test_spreads_of_zero_and_redundancy_are_drawn():
    chart = spread_charts(survey([benchmark(1, 1), benchmark(1, 2, name="c")]))["max-spread"]
    assert "below 0.01 % are drawn" in to_svg(chart)
    charts = spread_charts(survey([benchmark(1, 1, name=str(i)) for i in range(6)]))
    assert all(to_svg(chart) for chart in charts.values())
    drawn = texts(spread_charts(survey(by_hand(), v=0.4))["redundancy"])
    assert {"2", "3"} <= set(drawn)  # two methods detected by one benchmark, three by none


def test_long_figures_are_cut_and_say_so():
    found = survey([benchmark(100, 100 + i, name=f"b{i}", application=f"a{i}") for i in range(50)])
    for chart in spread_charts(found).values():
        assert f"{MAX_ROWS} of 50 applications" in to_svg(chart)
    many = survey([measured(f"b{i}", baseline=1, m=2) for i in range(45)], v=0.5)
    assert says("\n\n".join(texts(spread_charts(many)["noticed-by"])), "40 of 45 benchmarks", "1 of 1 methods")


@pytest.fixture(scope="module")
def cloudy():
    """Build a suite whose spreads in the cloud are 2, 4 and 8 times those on the desk."""
    return [
        in_environments(f"b{times}", desk=[99.0, 101.0], cloud=[100.0 - times, 100.0 + times]) for times in (2, 4, 8)
    ]


def test_each_environment_has_its_own_buckets_and_nothing_is_pooled(cloudy):
    found = survey(cloudy)
    assert [row.name for row in found.environments] == ["cloud", "desk"]
    assert [list(row.overall.counts.values()) for row in found.environments] == [[1, 1, 1, 0, 0], [3, 0, 0, 0, 0]]
    assert [row.v.value for row in found.environments] == pytest.approx([2 * 0.08, 2 * 0.02])
    assert (found.overall, found.applications, found.v, found.score) == (None, (), None, None)
    assert len(found.spreads) == 6  # one per benchmark and environment


def test_spreads_are_compared_benchmark_by_benchmark():
    # ratios desk / cloud: 1/2, 1/4, 1/8; geometric mean 1/4
    ratios = np.array([2.0, 4.0, 8.0])
    (pair,) = survey(
        [in_environments(f"b{n:g}", a=[99.0, 101.0], b=[100 - n, 100 + n]) for n in ratios]
        + [in_environments("only", a=[99.0, 101.0]), in_environments("still", a=[1.0, 1.0], b=[1.0, 2.0])]
    ).environment_pairs
    assert (pair.first, pair.second, pair.n, pair.n_unpaired, pair.n_wider) == ("a", "b", 3, 2, 3)
    half = stats.t.ppf(0.975, 2) * np.log(ratios).std(ddof=1) / np.sqrt(3)
    assert pair.ratio.ends == pytest.approx((4.0, 4 * np.exp(-half), 4 * np.exp(half)))
    assert pair.test.p == pair.p_holm == pytest.approx(stats.wilcoxon(np.log(ratios)).pvalue)


def test_environments_without_a_common_benchmark_or_with_fewer_runs_are_whole_by_themselves():
    found = survey([in_environments("x", a=[1.0, 2.0]), in_environments("y", b=[1.0, 2.0])])
    assert "spread above 0" in found.environment_pairs[0].ratio.reason
    found = survey([in_environments("x", desk=[1.0, 2.0]), in_environments("y", desk=[1.0, 2.0])])
    assert (len(found.environments), found.environment_pairs, found.overall.n) == (1, (), 2)
    found = survey([in_environments("x", a=[1.0, 2.0, 3.0], b=[1.0, 2.0])])
    assert found.left_out == ()


def test_the_report_has_a_row_for_each_environment_and_benchmark(cloudy):
    found = survey(cloudy)
    tables = {
        block.caption.partition(",")[0]: block
        for section in spread_document(found).sections
        for block in section.blocks
        if isinstance(block, Table)
    }
    buckets = next(
        table for caption, table in tables.items() if caption.startswith("Number of benchmarks in each range")
    )
    assert [row[:3] for row in buckets.rows] == [
        ("cloud", "no application", "3"), ("desk", "no application", "3"),
    ]  # fmt: skip
    benchmarks = next(
        table for caption, table in tables.items() if caption.startswith("The first spread is over all runs")
    )
    assert sorted((row[0], row[2]) for row in benchmarks.rows) == sorted(
        (f"b{n} @ {name}", name) for n in (2, 4, 8) for name in ("cloud", "desk")
    )
    said = words(found)
    environments = next(table for caption, table in tables.items() if caption.startswith("Each environment by itself"))
    assert [(row[0], row[1], row[4]) for row in environments.rows] == [("cloud", "3", "1"), ("desk", "3", "3")]
    assert says(said, "Over 2 environments, the median spread is from 2.0 % (desk) to 8.0 % (cloud)")
    assert says(said, "in desk", "0.25 times", "0 of 3")


def test_environments_are_rows_of_figures_and_of_the_report(cloudy):
    for chart in spread_charts(survey(cloudy)).values():
        assert {"cloud (3)", "desk (3)"} <= set(texts(chart))
    found = survey([in_environments("x", **{f"e{n}": [1.0, 1.1 + n] for n in range(30)})])
    document = spread_document(found)
    assert len(document.sections) < 10
    assert words(found).count("Over 30 environments") == 1
    assert words(found).count("How long the suite takes") == 1


def test_the_score_of_each_environment_is_its_own():
    rng = np.random.default_rng(2)
    runs, conditions = [], []
    for context, change in (("quiet", 2.0), ("noisy", 1.0)):
        for altered, level in (("baseline", 1.0), ("m", change)):
            for run in "01":
                runs.append(level + 0.01 * rng.permutation(20))
                conditions.append((context, altered, run))
    columns = zip(*conditions, strict=True)
    benchmark = Benchmark.of_series(
        "b", tuple(runs), conditions=dict(zip(("context", "altered", "run"), columns, strict=True))
    )
    found = survey([benchmark], v=0.5)
    assert {row.name: row.score.variants["total"].score.value for row in found.environments} == {
        "noisy": 0.0, "quiet": 100.0,
    }  # fmt: skip
    figures = [block.name for part in spread_document(found).sections for block in part.blocks
               if isinstance(block, Figure)]  # fmt: skip
    assert figures == list(spread_charts(found))
    assert "Environment Variant Score" in words(found) and words(found).count("What the suite notices") == 1
    assert json.dumps(json_values(found), allow_nan=False)


# the duration of a suite


def noticing(name, methods, *, seconds=1.0, all_methods="abc"):
    """Build a benchmark that notices these methods, with two runs per level of 20 iterations and the given duration."""
    rng = np.random.default_rng(sum(map(ord, name)))
    keys = [(level, run) for level in ("baseline", *all_methods) for run in "01"]
    runs = []
    for level, _ in keys:
        run = (2.0 if level in methods else 1.0) + 0.001 * rng.permutation(20)
        runs.append(run)
    conditions = {
        "altered": tuple(level for level, _ in keys), "run": tuple(run for _, run in keys),
        "duration": (str(seconds),) * len(keys),
    }  # fmt: skip
    return Benchmark.of_series(name, tuple(runs), conditions=conditions)


def test_the_smallest_part_notices_what_the_suite_notices():
    suite = [noticing("ab", "ab"), noticing("bc", "bc"), noticing("a", "a"), noticing("c", "c"), noticing("none", "")]
    time = survey(suite, v=0.5).environments[0].time
    assert len(time.smallest.benchmarks) == 2
    assert time.smallest.score.value == survey(suite, v=0.5).score.variants["total"].score.value == 100
    assert time.seconds == 10  # five benchmarks with two runs of one second
    assert time.is_measured


def test_a_budget_buys_the_methods_that_the_most_useful_benchmarks_notice():
    suite = [noticing("slow", "abc", seconds=60), noticing("fast", "abc", seconds=2)]
    assert survey(suite, v=0.5).environments[0].time.smallest.benchmarks == ("fast",)
    suite = [noticing("abc", "abc", seconds=90), noticing("ab", "ab", seconds=30), noticing("c", "c", seconds=20)]
    found = survey(suite, v=0.5, budget=1.0)  # a minute: two runs of 30 s
    *_, part = found.environments[0].time.parts
    assert (part.limit, part.benchmarks, part.seconds) == (60, ("ab",), 60)
    assert part.score.value == pytest.approx(200 / 3)
    said = words(found)
    assert "in 1 min 1 1 min 67" in said
    assert says(said, "1 benchmark of 3", "3 min", "4.67 min: abc")
    suite = [
        Benchmark.of_series(f"b{n}", (np.full(10, n / 10.0),) * 3) for n in (1, 2, 3, 4)
    ]  # runs of 1, 2, 3 and 4 s
    found = survey(suite, budget=0.3)
    time = found.environments[0].time
    assert (time.seconds, time.is_measured, time.smallest) == (30, False, None)
    assert time.parts[-1].benchmarks == ("b3", "b2", "b1") and time.parts[-1].seconds == 18
    assert "measured times" in words(found)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.sets(st.sampled_from("abc")), st.integers(1, 5)), min_size=1, max_size=5))
def test_no_part_that_fits_notices_more_and_no_smaller_part_as_much(suite):
    benchmarks = [noticing(f"b{at}", methods, seconds=seconds) for at, (methods, seconds) in enumerate(suite)]
    time = survey(benchmarks, v=0.5, budget=0.1).environments[0].time
    parts = [some for n in range(len(suite) + 1) for some in combinations(suite, n)]
    noticed = [
        (len(set().union(*(methods for methods, _ in some))), len(some), sum(2 * seconds for _, seconds in some))
        for some in parts
    ]
    most = max(count for count, _, _ in noticed)
    assert len(time.smallest.benchmarks) == min(n for count, n, _ in noticed if count == most)
    for part in time.parts:
        best = max(count for count, _, seconds in noticed if seconds <= part.limit)
        assert part.score.value == pytest.approx(100 * best / 3)
        assert part.seconds <= part.limit * (1 + 1e-9)


def test_the_time_of_a_suite_is_in_its_table_or_unknown():
    rows = [
        {"benchmark": "b", "run": run, "value": 1.0, "unit": "ops/s", "factor:duration": 30 + run} for run in (0, 2)
    ]
    time = survey(from_table(pd.DataFrame(rows).assign(better="higher"))).environments[0].time
    assert (time.is_measured, time.seconds, time.benchmarks[0].seconds_per_run) == (True, 62, 31)
    rate = Benchmark.of_series("rate", (np.ones(3),) * 2, unit="ops/s", better="higher")
    assert survey([rate]).environments[0].time is None
    time = survey([rate, Benchmark.of_series("b", (np.ones(3),) * 2)]).environments[0].time
    assert (time.n_unknown, len(time.benchmarks)) == (1, 1)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ({"a": [1, 2, 3], "b": [10, 10, 13]}, (3, 13, math.sqrt(7))),
        ({"a": [1, 2, 3], "b": [10, None, 14]}, (2, 14, math.sqrt(18))),
        ({"a": [1, None], "b": [10, 10]}, (1, 11, None)),
        ({"a": [1, None, None], "b": [None, 10, 10]}, None),
    ],
)
def test_a_complete_pass_is_one_run_of_each_benchmark(seconds, expected):
    found = survey(timed_runs(**seconds))
    one_pass = found.environments[0].time.one_pass
    assert (expected is None and one_pass is None) or (one_pass.n, one_pass.mean) == expected[:2]
    if expected and expected[2]:
        assert one_pass.sd == pytest.approx(expected[2])


def test_passes_of_different_orders_and_versions_are_not_mixed():
    rows = [
        {"benchmark": name, "run": 1, "order_type": order, "version": version, "value": value, "unit": "s",
         "better": "lower"}
        for (order, version), value in zip(product(("fixed", "random"), ("old", "new")), (1, 2, 3, 4), strict=True)
        for name in "ab"
    ]  # fmt: skip
    one_pass = survey(from_table(pd.DataFrame(rows))).environments[0].time.one_pass
    assert (one_pass.n, one_pass.mean) == (4, 5)


@pytest.mark.parametrize("budget", [0, -1.0, float("inf")])
def test_an_invalid_budget_is_rejected(budget):
    with pytest.raises(ValueError, match="minutes, got"):
        survey([Benchmark.of_series("b", (np.ones(3),) * 2)], budget=budget)
