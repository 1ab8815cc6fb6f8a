"""Changes over versions: the survey and its report."""

import numpy as np
import pytest

from analysis.document import json_values, to_html, to_text
from analysis.document.figures import to_svg
from analysis.methods.trend import ChangeDecision, charts, document, false_changes, survey
from analysis.methods.trend._document import sparkline
from analysis.runs.benchmark import Benchmark, PerRun


def history(name="b", *, at=25, factor=1.1, n=40, n_runs=3, seed=1, better="lower", **conditions):
    rng = np.random.default_rng(seed)
    levels = np.where(np.arange(n) < at, 1.0, factor)
    runs = [[value] for level in levels for value in rng.normal(level, 0.01, n_runs)]
    versions = [f"v{version}" for version in range(n) for _ in range(n_runs)]
    return Benchmark.of_series(name, runs, conditions={"version": versions, **conditions}, better=better)


def changes(benchmark, **options):
    (trend,) = survey([benchmark], **options).benchmarks
    return trend.changes


def test_a_change_has_place_size_interval_and_direction():
    (change,) = changes(history())
    assert (change.version, change.previous, change.direction) == ("v25", "v24", "slower")
    assert change.low < change.change < change.high
    assert change.change == pytest.approx(0.1, abs=0.01)
    assert change.p < 1e-6


@pytest.mark.parametrize(
    ("factor", "better", "direction"),
    [(1.1, "lower", "slower"), (0.9, "lower", "faster"), (1.1, "higher", "faster"), (0.9, "", "lower")],
)
def test_the_direction_follows_from_what_is_better(factor, better, direction):
    assert [change.direction for change in changes(history(factor=factor, better=better))] == [direction]


def test_versions_are_in_order_and_contexts_separate_with_the_worst_benchmark_first():
    shuffled = history(n_runs=1).take(np.random.default_rng(2).permutation(40))
    dates = [
        f"2024-01-{1 + int(run.of('version')[1:]) // 24:02}T{int(run.of('version')[1:]) % 24:02}"
        for run in shuffled.runs
    ]
    dated = Benchmark.of_series("b", shuffled.values, conditions={"version": shuffled.of("version"), "date": dates})
    assert [change.version for change in changes(dated)] == ["v25"]
    only_dates = Benchmark.of_series("b", shuffled.values, conditions={"date": dates})
    assert [change.version for change in changes(only_dates)] == ["2024-01-02T01"]
    contexts = ["x" if at % 2 else "y" for at in range(120)]
    found = survey(
        [history("calm", factor=1.0), history("bad", factor=1.3), history("two", n_runs=3, context=contexts)]
    )
    assert [trend.name for trend in found.benchmarks] == ["bad", "two @ x", "two @ y", "calm"]
    assert found.benchmarks[-1].changes == ()


@pytest.mark.parametrize(("within", "is_worse"), [(None, True), (40, True), (15, True), (14, False), (1, False)])
def test_only_recent_changes_for_the_worse_count(within, is_worse):
    assert survey([history()], within=within).is_worse is is_worse
    assert not survey([history(factor=0.9)], within=within).is_worse


def test_a_change_of_the_machine_is_told_apart():
    cpus = ["old" if at < 75 else "new" for at in range(120)]
    found = survey([history(**{"recorded:cpu": cpus})])
    (change,) = found.benchmarks[0].changes
    assert change.machine_changed
    assert not found.is_worse
    text = to_text(document(found))
    assert "Changes where the recorded machine changed too." in text
    assert "The recorded machine changed too, so the code may not be the cause: b." in " ".join(text.split())


def test_an_accepted_change_is_a_new_baseline_and_a_refused_one_is_none():
    accepted = survey([history()], decisions=[ChangeDecision("b", "v25", True)])
    assert [change.accepted for change in accepted.benchmarks[0].changes] == [True]
    assert not accepted.is_worse
    assert changes(history(), decisions=[ChangeDecision("b", "v25", False)]) == ()
    assert len(changes(history(), decisions=[ChangeDecision("other", "v25", False)])) == 1
    (left_out,) = survey([history()], decisions=[ChangeDecision("b", "v99", True)]).left_out
    assert left_out.reason == "a decision names the version v99, which was not measured"


@pytest.mark.parametrize(
    ("benchmark", "reason"),
    [
        (Benchmark.of_series("b", [[1.0], [2.0]]), "its runs have no versions, and no times on more than one day"),
        (
            Benchmark.of_series(
                "b", [[1.0]] * 20, conditions={"time": [f"2026-01-31T23:{n}:00" for n in range(30, 50)]}
            ),
            "its runs have no versions, and no times on more than one day",
        ),
        (history(), "all of them warm-up"),
    ],
)
def test_what_has_no_history_is_left_out_with_the_reason(benchmark, reason):
    found = survey([benchmark], per_run=PerRun(5))
    assert found.benchmarks == () if "warm-up" in reason else survey([benchmark]).benchmarks == ()
    assert reason in found.left_out[0].reason or reason in survey([benchmark]).left_out[0].reason


@pytest.mark.parametrize("n", [1, 2, 5, 6, 9])
@pytest.mark.parametrize("values", [0.0, 1.0, -1.0])
def test_short_and_constant_histories_have_no_change(n, values):
    flat = Benchmark.of_series("b", [[values]] * n, conditions={"version": list("abcdefghi"[:n])})
    found = survey([flat])
    text = " ".join(to_text(document(found)).split())
    assert found.benchmarks[0].changes == ()
    assert found.is_judged is (n >= 6)
    assert ("No change in 1 benchmark." in text) is (n >= 6)
    assert (f"Too few versions to find a change (6 are needed): b ({n} version" in text) is (n < 6)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"detector": "best"}, "detector must be one of none, "), ({"within": 0}, "within must be at least 1, got 0")],
)
def test_options_that_cannot_be_used_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        survey([history()], **options)


def test_the_rate_of_false_changes_is_printed():
    found = survey([history()])
    assert found.n_false == false_changes("steps", 40) <= 4
    text = " ".join(to_text(document(found)).split())
    assert f"It finds a false change in {found.n_false} of 200 simulated histories of 40 versions" in text
    assert (
        "b became 10 % slower at v25 (previous version v24)." in text or "slower at v25 (previous version v24)." in text
    )
    without = survey([Benchmark.of_series("b", [[1.0], [2.0]])])
    assert "simulated" not in "".join(to_text(document(without)))


def test_page_and_figure_have_escaped_names_and_json_has_the_keys_of_the_specification():
    found = survey([history("<b>x"), history("calm", factor=1.0)])
    html = to_html(document(found), {name: to_svg(chart) for name, chart in charts(found).items()})
    assert "<b>x" not in html
    assert html.count("<svg") == 1
    row = json_values(found)["benchmarks"][0]
    assert {"name", "n_versions", "changes"} <= set(row)
    assert {"version", "previous", "change", "low", "high", "p", "direction"} <= set(row["changes"][0])
    assert charts(survey([])) == {}


@pytest.mark.parametrize(
    ("values", "bars"), [((1.0,), "▁"), ((2.0, 2.0), "▁▁"), ((0.0, 1.0), "▁█"), (tuple(range(8)), "▁▂▃▄▅▆▇█")]
)
def test_a_small_picture_goes_from_the_lowest_to_the_highest(values, bars):
    assert sparkline(values) == bars


@pytest.mark.parametrize(
    ("at", "words"), [(10, "b became slower (from 0) at v10"), (19, "v19 is slower (from 0) than v0")]
)
def test_a_change_from_0_has_no_percentage(at, words):
    counts = Benchmark.of_series(
        "b", [[float(version >= at)] for version in range(20)], "", "B", "lower",
        {"version": [f"v{version}" for version in range(20)]},
    )  # fmt: skip
    found = survey([counts])
    (change,) = found.benchmarks[0].changes
    assert (change.change, change.direction, change.version) == (None, "slower", f"v{at}")
    assert words in " ".join(to_text(document(found)).split())
    assert len(charts(found)) == 1 and json_values(found)["benchmarks"][0]["changes"][0]["change"] is None


def test_the_stated_changes_do_not_contain_the_step_of_the_newest_version():
    (jump,) = survey([history(at=39, factor=1.5)]).benchmarks
    (calm,) = survey([history(factor=1.0, n=39)]).benchmarks
    assert jump.changes[0].n_newest == 1
    assert (jump.smallest_lasting, jump.smallest_newest) == pytest.approx((calm.smallest_lasting, calm.smallest_newest))
