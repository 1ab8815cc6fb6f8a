"""The document and the figures of measurement contexts."""

import json
import re

import numpy as np
import pytest
from scipy import stats

from analysis.document import Bullets, Table, to_text
from analysis.document.figures import to_svg
from analysis.methods.contexts import charts as contexts_charts, context_survey as survey, document as contexts_document
from analysis.methods.contexts._document import most_dependent
from analysis.methods.contexts._figures import _density, violins
from tests.analysis.drawn import parts, texts, titles
from tests.analysis.methods.made_orders import without_direction
from tests.analysis.methods.made_sweeps import SIZES, instrumented, measured, sweep, with_intervention
from tests.sentences import says

NAMES = ("it's", 'say "hi"', "<script>alert(1)</script>", "${datum}", "bell \x07 end", "]); alert(1)//")
SHORT = SIZES[:16]


@pytest.fixture(scope="module")
def found():
    """Build a suite with all features."""
    return survey(
        [
            sweep("decides", speedup=1.01),
            sweep("clear", effect=0.001, speedup=1.1, links=("a", "b"), sizes=SHORT),
            sweep("rate", seed=3, speedup=0.95, better="higher", unit="ops/s", sizes=SHORT),
            sweep("few", sizes=SHORT[:3]),
            sweep("once", n_runs=1, sizes=SHORT[:2], seconds=2e-5),
            with_intervention(sweep("cause"), sweep("cause", effect=0.001)),
            instrumented("watched"),
            measured({("O2", ""): [1.0]}, "alone"),
        ],
        instrumentation="events",
        resamples=100,
    )


@pytest.fixture(scope="module")
def charts(found):
    return contexts_charts(found)


@pytest.fixture(scope="module")
def text(found):
    return to_text(contexts_document(found))


def said_of(*benchmarks, **options):
    """Return the report on some benchmarks as running text."""
    return " ".join(to_text(contexts_document(survey(benchmarks, resamples=20, **options))).split())


def rows_of(document, start):
    """Return the rows of the table whose caption starts with this text."""
    blocks = [block for section in document.sections for block in section.blocks if isinstance(block, Table)]
    return next(block.rows for block in blocks if block.caption.startswith(start))


# the document


def test_the_report_begins_with_what_depends_on_the_context_and_ends_with_the_parameters(found, text):
    sections = contexts_document(found).sections
    assert [section.title for section in sections] == [
        "In short", "Speed-up over contexts", "Single contexts", "All estimates and tests",
        "Factors of the context", "Observer effect", "Causal check", "Left out", "Method",
    ]  # fmt: skip
    assert isinstance(sections[0].blocks[0], Bullets)
    short = " ".join(text.partition("Speed-up over contexts")[0].split())
    assert says(short, "7 benchmarks", "2 to 65 contexts", "O3 (candidate)", "O2 (baseline)")
    assert "looks faster" in short
    assert "decides 1.010" in short
    assert "single context" in short
    assert "In 2 contexts" in short
    assert re.search("alone +no run of version O3; versions: O2", text)
    for name, value in (("aggregate", "mean"), ("seed", "1"), ("instrumentation", "events"), ("alpha", "0.05")):
        assert any(line.split() == [name, value] for line in text.splitlines())
    plain = " ".join(text.split())
    assert says(plain, "differ less", "held fixed")


def test_the_tables_carry_every_benchmark_and_both_corrections(found):
    document = contexts_document(found)
    rows = rows_of(document, "Speed-up of the candidate")
    assert [row[0] for row in rows] == [one.name for one in most_dependent(found.benchmarks)]
    tests = {row[0]: row[1:] for row in rows_of(document, "Do the versions differ")}
    one = next(one for one in found.benchmarks if one.name == "decides")
    assert tests["decides"][:3] == tuple(f"{p:.2g}" for p in (one.t_with_noise.p, one.t_p_holm, one.t_bonferroni))


def test_without_a_known_direction_no_word_says_that_a_version_is_better():
    sweeps = [without_direction(sweep("env", seed=seed)) for seed in (1, 2)]
    watched = without_direction(instrumented())
    fixed = without_direction(with_intervention(sweep("fix"), sweep("fix", effect=0.001)))
    found = survey([*sweeps[:1], watched, fixed], instrumentation="events", resamples=20)
    text = " ".join(to_text(contexts_document(found)).split())
    drawn = json.dumps([chart.to_dict() for chart in contexts_charts(found).values()])
    for word in ("faster", "slower", "speed-up", "Speed-up", "worse"):
        assert word not in text, word
        assert not re.search(rf'"(title|text|subtitle)": "[^"]*{word}', drawn), word
    assert says(text, "candidate / baseline", "above 1 means higher")
    assert "looks higher" in text


def test_without_benchmarks_a_report_says_what_is_needed_and_long_tables_are_cut():
    document = contexts_document(survey([]))
    assert [section.title for section in document.sections] == ["In short", "Left out", "Method"]
    cells = {(v, c): [1.0, 1.1] for v in ("a", "b") for c in ("x", "y")}
    document = contexts_document(survey([measured(cells, f"b{at}") for at in range(45)], resamples=1))
    assert len(rows_of(document, "Speed-up of the candidate")) == 40
    assert "40 of 45 rows" in to_text(document).replace("\n", " ")


def test_factors_are_shown_by_level_or_by_their_extremes(found):
    rows = {(row[0], row[1]): row for row in rows_of(contexts_document(found), "Is a factor associated")}
    assert rows["clear", "link"][-1].count(":") == 2
    assert " … " in rows["clear", "env"][-1]
    assert rows["decides", "env"][-1] == "undefined: each level occurs in only one context"


def test_the_observer_effect_is_reported_with_its_ratio_and_the_verdict_on_two_versions(found, text):
    document = contexts_document(found)
    rows = rows_of(document, "Ratios of each benchmark and version.")
    assert [row[:3] for row in rows] == [("watched", v, level) for v in ("O2", "O3") for level in ("2", "8")]
    assert rows[3][5].endswith(" % faster") and rows[3][-1] == "faster"
    rows = rows_of(document, "Is the verdict on the two versions the same")
    assert [(row[1], row[-1]) for row in rows] == [("0", "no"), ("2", "yes"), ("8", "yes")]
    short = " ".join(text.split())
    assert says(short, "Instrumentation (events) changes")
    assert says(short, "two versions differs", "none of 1 benchmark")


def test_the_observer_effect_of_one_version_or_without_levels_is_described():
    cells = {("", f"counters={level}"): [value, value * 1.001] for level, value in ((0, 1.0), (4, 1.12))}
    assert "observer-effect" in contexts_charts(survey([measured(cells)], instrumentation="counters"))
    one = {("a", "events=0"): [1.0], ("b", "events=0"): [1.0]}
    document = contexts_document(survey([measured(one)], instrumentation="events", resamples=20))
    for start in ("Ratios of each benchmark and version.", "Is the verdict on the two versions the same"):
        assert any("levels of instrumentation" in cell for cell in rows_of(document, start)[0])
    both = one | {("a", "events=1"): [1.0], ("b", "events=1"): [1.0]}
    document = contexts_document(survey([measured(both)], instrumentation="events", resamples=20))
    (level, *_) = rows_of(document, "Is the verdict on the two versions the same")
    assert level[-1].startswith("unknown: ") and "run of each version" in level[-1]


FIGURES = [
    "violins",
    "contexts-sorted",
    "densities",
    "speedup-by-level",
    "intervention",
    "observer-effect",
    "speedup-by-instrumentation",
]


# the figures


def test_every_axis_has_a_title(charts):
    expected = {
        "violins": {"speed-up of the candidate (below 1: slower, above 1: faster)"},
        "contexts-sorted": {"speed-up of the candidate", "contexts, sorted by speed-up"},
        "densities": {"mean of the runs in a context (s)", "mean of the runs in a context (ops/s)"},
        "speedup-by-level": {"env", "speed-up of the candidate"},
        "intervention": {"env", "speed-up of the candidate"},
        "observer-effect": {"events", "ratio to events = 0"},
        "speedup-by-instrumentation": {"instrumentation", "speed-up of the candidate"},
    }
    for name, wanted in expected.items():
        assert wanted <= set(titles(charts[name]))


def test_the_violins_name_the_benchmarks_with_the_most_dependent_on_top(found, charts):
    labels = [part for part in parts(charts["violins"]) if part.role == "axis-label" and "n =" in part.text]
    rows = [part.text for part in sorted(labels, key=lambda part: part.y)]
    assert rows[0].startswith(most_dependent(found.benchmarks)[0].name)
    assert "decides (n = 65) ↔" in rows
    assert "clear (n = 32)" in rows
    assert {"faster", "slower", "no significant change", "not tested"} <= set(texts(charts["contexts-sorted"]))


def test_figure_table_and_text_mark_the_same_benchmarks_and_never_noise_alone():
    found = survey([sweep("decides", sizes=SHORT), sweep("noise", effect=0.0, noise=0.03, sizes=SHORT)])
    assert all(one.quartiles.straddles for one in found.benchmarks)
    marked = [text for text in texts(violins(found)) if text.endswith(" ↔")]
    assert [text.partition(" ")[0] for text in marked] == ["decides"]
    rows = contexts_document(found).sections[1].blocks[0].rows
    assert [row[0] for row in rows if "↔" in row] == ["decides"]
    assert "For 1 of these, speed-ups lie on both sides of 1 (↔)." in to_text(contexts_document(found)).replace(
        "\n ", ""
    )


def test_a_density_is_that_of_scipy_and_a_violin_ends_with_its_contexts():
    values = np.random.default_rng(1).normal(1, 0.1, 30)
    at, height = _density(values)
    assert height == pytest.approx(stats.gaussian_kde(values)(at))
    assert np.trapezoid(height, at) == pytest.approx(1, abs=0.01)
    ends = _density(values, reach=0)[0]
    assert (ends[0], ends[-1]) == pytest.approx((values.min(), values.max()))


def test_names_are_drawn_as_they_are_and_long_suites_are_cut_to_what_can_be_read():
    found = survey([sweep(name, sizes=SHORT[:9]) for name in NAMES[:4]], resamples=1)
    assert {f"{name} (n = 9) ↔" for name in NAMES[:4]} <= set(texts(violins(found)))
    found = survey([sweep(f"b{at}", seed=at, sizes=SHORT[:9]) for at in range(23)], resamples=1)
    drawn = texts(violins(found))
    assert sum("n =" in text for text in drawn) == 20
    assert any("the 20 of 23 benchmarks" in text for text in drawn)
    found = survey([sweep(sizes=range(0, 2600, 10))], resamples=1)
    assert any("200 of 260 contexts" in text for text in texts(contexts_charts(found)["contexts-sorted"]))


def test_extreme_speed_ups_are_drawn_and_one_context_has_no_figure():
    cells = {(v, f"k={at}"): [10.0**at if v == "a" else 1.0] for v in "ab" for at in range(-3, 4)}
    drawn = to_svg(violins(survey([measured(cells)], resamples=1)))
    assert ">1,000<" in drawn or ">100<" in drawn
    found = survey([sweep(seconds=2e-5, sizes=SHORT)], resamples=1)
    assert any("(µs)" in title for title in titles(contexts_charts(found)["densities"]))
    cells = {(v, f"k={at}"): [1.5, 1.5] for v in "ab" for at in range(9)}
    charts = contexts_charts(survey([measured(cells)], resamples=1))
    assert list(charts) == ["violins", "contexts-sorted", "speedup-by-level"]
    assert all(len(to_svg(chart)) > 3000 for chart in charts.values())
    assert contexts_charts(survey([measured({("a", ""): [1.0], ("b", ""): [2.0]})])) == {}
    cells = {(v, c): [1.0 + at] for at, v in enumerate("ab") for c in ("events=0 k=1", "events=1 k=1", "events=2 k=2")}
    found = survey([measured(cells)], instrumentation="events", resamples=1)
    assert np.isfinite(len(to_svg(contexts_charts(found)["speedup-by-instrumentation"])))


def test_a_cause_is_drawn_in_order_of_its_numbers_or_of_the_names_of_contexts():
    both = (sweep(links=("a", "b"), sizes=SHORT[:4], effect=effect) for effect in (0.03, 0.001))
    found = survey([with_intervention(*both)], resamples=1)
    assert "contexts, sorted by name" in titles(contexts_charts(found)["intervention"])
    cells = {(v, c): [1.0, 1.1] for v in ("old", "new") for c in ("x", "y", "z")}
    found = survey([measured(cells, conditions={"intervention": ("on", "off") * 6})], resamples=1)
    assert "contexts, sorted by name" in titles(contexts_charts(found)["intervention"])
