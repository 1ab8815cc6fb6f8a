"""The report on order and its figures."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.document import to_text
from analysis.methods.order import charts as order_charts, document as order_document, order_survey as survey
from analysis.methods.order._figures import LONGEST, MOST_PANELS, MOST_ROWS, p_values
from analysis.runs.benchmark import LeftOut
from tests.analysis.drawn import luminance, parts, texts, titles
from tests.analysis.methods.made_orders import suite, two_orders, two_versions, without_direction

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


def test_values_without_a_unit_have_an_axis_that_says_so():
    found = survey([without_direction(two_orders("a", LOW, HIGH, unit=""))])
    assert "runs (no unit)" in titles(order_charts(found)["order-medians"])


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
