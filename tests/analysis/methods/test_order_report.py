"""The report on order and its figures."""

import re
from dataclasses import replace

import numpy as np
import pytest

from analysis.document import Figure, figures, to_html, to_markdown, to_text
from analysis.methods.order import charts as order_charts, document as order_document, order_survey as survey
from analysis.methods.order._figures import LONGEST, MOST_PANELS, MOST_ROWS, p_values
from analysis.runs.benchmark import Benchmark, Failure, LeftOut
from tests.analysis.drawn import luminance, parts, texts, titles
from tests.analysis.methods.made_orders import suite, two_orders, two_versions, without_direction
from tests.sentences import says

LOW, HIGH = list(range(10, 30)), list(range(40, 60))
LATER = suite(n=3, runs=12, fixed=0, step=1.0)
HOSTILE = "a\x00'\"]<script>datum.x</script>"


def text_of(found):
    return " ".join(to_text(order_document(found)).split())


@pytest.fixture(scope="module")
def mixed():
    """Build two benchmarks: `slow` is slower in random order, `calm` is not."""
    return survey([two_orders("slow", LOW, HIGH), two_orders("calm", LOW, LOW)])


@pytest.fixture(scope="module")
def many():
    """Build more tests than a table or a figure shows; every third test differs."""
    rng = np.random.default_rng(4)
    return survey(
        [
            two_orders(
                f"org.app.Bench{i}.run#{'x' * 60}{i}", rng.normal(10, 1, 12), rng.normal(10 + 4 * (i % 3 == 0), 1, 12)
            )
            for i in range(MOST_ROWS + 5)
        ]
    )


def test_the_answer_comes_first_with_its_numbers_and_what_to_do(mixed):
    document = order_document(mixed)
    assert document.sections[0].title == "In short"
    text = text_of(mixed)
    assert says(text, "1 of 2 tests", "0.025", "Bonferroni", "Holm finds 1")
    assert says(text, "slow:", "154 % slower", "p = 6.3e-08", "case 1")  # 19.5 -> 49.5; H = 29.27
    assert says(text, "Red flag", "97.5 %", "1 of 2 tests: slow")
    assert re.search("Use a new random order for every run", text)


def test_corrected_and_uncorrected_verdicts_are_shown_together_and_the_weaker_tests_called_so():
    found = survey([two_orders("a", [1, 2, 3], [4, 5, 6]), two_orders("b", [1, 2, 3], [1, 2, 3])])
    text = text_of(found)
    assert "none of 2 tests" in text
    assert says(text, "Without a correction, 1", "0.05", "0.1")
    assert says(text, "2 tests cannot", "so few runs")
    assert re.search("To be safe", text)
    rows = next(
        block for section in order_document(found).sections for block in section.blocks if hasattr(block, "rows")
    )
    assert [(row[0], row[2], row[3]) for row in rows.rows] == [
        ("Bonferroni", "0", "no"), ("Holm", "0", "no"), ("none", "1", "yes"),
    ]  # fmt: skip
    text = text_of(survey(suite(n=3, runs=12, fixed=0, step=1.0)))
    assert says(text, "No benchmark", "both in fixed and")
    assert re.search("Weaker tests use .* 3 of 3 benchmarks", text)
    assert "slower the later it runs" in text
    assert "Both tests are weaker" in text


def test_undefined_numbers_and_differences_come_with_their_reason():
    document = order_document(survey([two_orders("zero", [0.0] * 3, [-1.0] * 3), two_orders("b", LOW, HIGH)]))
    text = to_markdown(document).replace("\\", "")
    assert "order is not positive" in text
    assert says(text, "0 (3 values", "97.5 %: 7")
    text = text_of(survey([two_orders("zero", [-3.0, *range(-40, -21)], HIGH)]))
    assert says(text, "zero:", "undefined", "fixed order", "not positive")


def test_values_without_a_unit_have_no_known_direction():
    found = survey([without_direction(two_orders("a", LOW, HIGH, unit="")), *map(without_direction, LATER)])
    text = text_of(found)
    assert "--unit or --better" in text
    assert says(text, "a:", "154 % higher") and "higher the later it runs" in text
    assert not {"faster", "slower"} & set(text.replace("instead of faster and slower", "").split())
    assert "runs (no unit)" in titles(order_charts(found)["order-medians"])
    assert "--unit or --better" not in text_of(survey([two_orders("a", LOW, HIGH)]))


def test_conclusions_that_the_order_turns_round_come_first():
    found = survey(
        [
            two_versions((LOW, HIGH), (LOW, HIGH), "same"),
            two_versions((LOW, HIGH), (HIGH, LOW), "turned"),
            two_versions((LOW, HIGH), (LOW, LOW), "amber"),
            two_versions((LOW[:2], HIGH[:2]), (LOW, LOW), "few"),
        ]
    )
    text = text_of(found)
    pattern = (
        r"Comparison of one with two: .* 1 of 4 benchmarks \(red flag\).* 1 \(amber\), .* for 1; 1 have too few runs\."
    )
    assert re.search(pattern, text)
    (section,) = (section for section in order_document(found).sections if section.title == "Two versions")
    rows = section.blocks[1].rows
    assert [row[0] for row in rows] == ["turned", "amber", "few", "same"]
    assert rows[0][1:4] == ("slower", "2.538", "154 % slower")  # 49.5 / 19.5
    assert rows[2][-1] == "too few runs for the interval of a median"


def test_the_previous_benchmark_is_named_if_its_effect_is_strongest():
    # x is 10 s slower directly after y, at any position
    orders = ["xyz", "xzy", "yxz", "zyx", "yzx", "zxy"] * 6
    rows = {name: [] for name in "xyz"}
    for run, order in enumerate(orders):
        for at, name in enumerate(order):
            slow = name == "x" and at > 0 and order[at - 1] == "y"
            rows[name].append((str(run), str(at), 100 + 10 * slow + 0.001 * run))
    benchmarks = [
        Benchmark.of_series(
            name,
            tuple(np.array([value]) for _, _, value in entries),
            conditions={"run": tuple(e[0] for e in entries), "order_position": tuple(e[1] for e in entries)},
        )
        for name, entries in rows.items()
    ]
    text = text_of(survey(benchmarks))
    # x is first in the runs 0, 1, 6, 7, ..., 30, 31, whose middle is 15.5, and after y in 2, 3, ..., 32, 33: 17.5
    assert says(text, "x: median 100.016 s at the start", "110.017 s after y", "p = 7.6e-06")
    assert "no effect shown" in text


def test_a_suite_without_any_order_says_what_to_record_and_failures_and_options_are_listed(mixed):
    text = text_of(survey([Benchmark.of_series("a", (np.ones(1),))]))
    assert "as order_type" in text
    assert "order_type (fixed or random)" in text
    assert order_charts(survey([Benchmark.of_series("a", (np.ones(1),))])) == {}
    failure = Failure({"run": "0", "order_type": "fixed"}, "exit code 1")
    found = survey([replace(two_orders("a", LOW, HIGH), failures=(failure,))], compat="ordersage")
    text = text_of(found)
    assert "exit code 1" in text
    assert says(text, "ranks", "one too high", "published tool")
    assert "compat ordersage" in text and "alpha 0.05" in text
    assert "Nothing was left out." in text_of(mixed)


def test_long_lists_are_cut_in_tables_and_figures_and_say_so(many):
    document = order_document(many)
    tables = [block for section in document.sections for block in section.blocks if hasattr(block, "rows")]
    assert max(len(block.rows) for block in tables) == MOST_ROWS
    assert sum(f"First 40 of {MOST_ROWS + 5} rows; all are in the JSON." in block.caption for block in tables) == 2
    found = replace(many, left_out=tuple(LeftOut(str(i), "why") for i in range(41)))
    assert "40 of 41 rows" in text_of(found)
    charts = order_charts(many)
    for name, said in (
        ("order-p-values", f"the {MOST_ROWS} smallest p values of {MOST_ROWS + 5}"),
        ("order-differences", f"the {MOST_ROWS} largest differences of {MOST_ROWS + 5}"),
        ("order-medians", f"the {MOST_PANELS} smallest p values of {MOST_ROWS + 5}"),
    ):
        assert any(text.endswith(said) for text in texts(charts[name]))
    names = [text for text in texts(charts["order-p-values"]) if text.startswith("…")]
    assert len(names) == len(set(names)) == MOST_ROWS
    assert max(map(len, names)) <= LONGEST
    found = survey(suite(n=MOST_PANELS + 1, runs=4, fixed=0, step=1.0))
    cut = f"the {MOST_PANELS} smallest p values of {MOST_PANELS + 1}"
    assert any(text.endswith(cut) for text in texts(order_charts(found)["order-positions"]))


def test_every_figure_of_the_document_is_drawn_and_the_other_way_round(mixed):
    for found in (mixed, survey(suite(n=3, runs=6, fixed=4, step=1.0)), survey(suite(n=3, runs=6, fixed=0, step=1.0))):
        named = {
            block.name
            for section in order_document(found).sections
            for block in section.blocks
            if isinstance(block, Figure)
        }
        assert named == set(order_charts(found))


@pytest.mark.parametrize("form", figures.FORMATS)
@pytest.mark.slow
def test_every_figure_is_drawn_in_every_form(form):
    for chart in order_charts(survey(suite(n=9, runs=8, fixed=6, step=0.5))).values():
        assert len(figures.render(chart, form)) > 2000


def test_p_values_ascend_with_their_thresholds(mixed):
    drawn = texts(p_values(mixed))
    assert drawn.index("slow") < drawn.index("calm")
    assert {"α / |T| = 0.025", "α = 0.05", "below α / |T|", "not below α", "p (Kruskal-Wallis)"} <= set(drawn)
    drawn = texts(p_values(survey([two_orders("a", LOW, HIGH)])))
    assert "α = 0.05" in drawn and not any("|T| =" in text for text in drawn)
    tests = (replace(mixed.tests[0], test=replace(mixed.tests[0].test, p=0.0)), *mixed.tests[1:])
    drawn = texts(order_charts(replace(mixed, tests=tests))["order-p-values"])
    assert "1e-30" in drawn


def test_differences_that_count_are_darker_and_every_axis_has_a_title_with_its_unit(mixed):
    drawn = parts(order_charts(mixed)["order-differences"])
    assert {"−153.85 ▲", "+0.00"} <= {part.text for part in drawn}
    bars = [
        part.fill
        for part in drawn
        if part.role == "mark" and part.fill in ("#c9d0da", "#1b2a41") and part.tag == "path"
    ]
    assert len({luminance(fill) for fill in bars}) == 2
    charts = order_charts(survey(suite(n=3, runs=6, fixed=4, step=1.0)))
    assert {"runs (s)", "order"} <= set(titles(charts["order-medians"]))
    assert {"runs (s)", "position in the run"} <= set(titles(charts["order-positions"]))
    assert "(mean fixed − mean random) / mean fixed (%)" in titles(charts["order-differences"])
    assert any(title.startswith("epsilon²") for title in titles(charts["order-p-by-effect"]))


@pytest.mark.parametrize(
    ("values", "unit", "shown"),
    [([2e-3, 3e-3], "s", "ms"), ([2e-6, 3e-6], "s", "µs"), ([2e-9, 3e-9], "s", "ns"), ([2e-12, 3e-12], "s", "ns"),
     ([2.0, 3.0], "s", "s"), ([0.0, 0.0], "s", "s"), ([2e-6, 3e-6], "J", "J")],
)  # fmt: skip
def test_short_times_are_drawn_in_a_unit_that_can_be_read(values, unit, shown):
    found = survey([two_orders("a", values * 5, values * 5, unit=unit)])
    assert f"runs ({shown})" in titles(order_charts(found)["order-medians"])


def test_titles_name_version_and_application_only_where_there_are_several(mixed):
    assert mixed.title(mixed.tests[1]) == "slow"
    benchmark = replace(two_versions((LOW, HIGH), (LOW, HIGH)), application="org/app")
    found = survey([benchmark, replace(two_orders("b", LOW, HIGH, version="one"), application="org/other")])
    assert [found.title(test) for test in found.tests] == ["org/app: a (one)", "org/app: a (two)", "org/other: b (one)"]


def test_names_from_files_are_only_text():
    benchmarks = [two_orders(HOSTILE, LOW, HIGH, unit="<b>"), *suite(n=2, runs=5, fixed=4, step=1.0)]
    failure = Failure({"run": "0", "order_type": "fixed", "version": HOSTILE}, HOSTILE)
    found = survey([replace(benchmarks[0], failures=(failure,)), *benchmarks[1:]])
    charts = order_charts(found)
    assert "a�'\"]<script>datum.x</script>" in texts(charts["order-p-values"])
    html = to_html(order_document(found), {name: figures.to_svg(chart) for name, chart in charts.items()})
    assert "<script>datum" not in html and "\x00" not in html


def test_red_flags_of_the_paper_are_shown_with_the_corrected_ones_and_the_reason():
    # 15 of 20 runs are above all others: separate at 95 %, but not at 99.9 % for forty tests
    fixed, random = range(20), [*range(8, 13), *range(20, 35)]
    found = survey([two_orders("near", fixed, random), *(two_orders(f"b{n}", LOW, LOW) for n in range(39))])
    text = text_of(found)
    assert says(text, "No test has a red flag", "99.88 %")
    assert says(text, "1 red flag", "near", "95 %")
    published = text_of(survey([two_orders("near", fixed, random), two_orders("b", LOW, LOW)], compat="ordersage"))
    assert says(published, "rule of the published tool", "95 %", "1 of 2")
    assert not says(published, "method of the paper")


@pytest.mark.parametrize(
    ("randoms", "value", "words"),
    [
        ([HIGH], 153.85, "by 154 % on average over 1 test (mean of |Δ%|)."),
        (
            [HIGH, LOW],
            76.92,
            "by 76.9 % on average over 2 tests (mean of |Δ%|), and by 154 % over the test with p below",
        ),
        ([LOW, LOW], 0.0, "by 0 % on average over 2 tests (mean of |Δ%|)."),
        ([HIGH, [-x for x in LOW]], 153.85, "by 154 % on average over 2 tests"),  # no change from a negative mean
        ([HIGH, [9 * x / 10 for x in LOW], LOW], 54.62, "by 54.6 % on average over 3 tests"),
    ],
)
def test_the_mean_absolute_change_is_over_all_tests_and_over_those_that_differ(randoms, value, words):
    found = survey([two_orders(f"b{at}", LOW, random) for at, random in enumerate(randoms)])
    assert found.mean_absolute_delta.value == pytest.approx(value, abs=0.01)
    assert words in text_of(found)
