"""Surveys over contexts, and plans of runs."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.document import json_values, to_json
from analysis.methods.contexts import ContextSurvey, context_survey as survey, geometric_mean, paired_t, variant_plan
from analysis.methods.contexts._ratios import NOT_POSITIVE
from analysis.runs.benchmark import Benchmark, Failure, LeftOut, PerRun, from_table
from analysis.statistics.two_samples import ratio_of_means
from tests.analysis.methods.made_orders import without_direction
from tests.analysis.methods.made_sweeps import SIZES, instrumented, measured, sweep, with_intervention
from tests.conftest import examples
from tests.sentences import says

TWO = {("O2", "a"): [2.0, 2.2], ("O3", "a"): [1.0, 1.1], ("O2", "b"): [3.0, 3.3], ("O3", "b"): [2.0, 2.2]}


def only(benchmark, **options):
    """Return the result for a single benchmark."""
    (found,) = survey([benchmark], **options).benchmarks
    return found


# one benchmark


def test_contexts_are_compared_by_the_means_of_their_runs():
    # a: 2.1 / 1.05 = 2; b: 3.15 / 2.1 = 1.5; geometric mean sqrt 3; ratio of means 5.25 / 3.15 = 5/3
    found = only(measured(TWO))
    assert (found.baseline, found.candidate) == ("O2", "O3")
    assert [context.name for context in found.contexts] == ["a", "b"]
    assert [context.speedup.value for context in found.contexts] == pytest.approx([2.0, 1.5])
    assert found.speedup.value == pytest.approx(np.sqrt(3))
    assert found.ratio_of_means.value == pytest.approx(5 / 3)
    assert found.mean_ratios.of_candidate == pytest.approx(1.75)
    assert found.words == "the candidate is 42.3 % faster"
    assert found.contexts[0].baseline_runs == (2.0, 2.2)


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (lambda _: measured(TWO, better="higher", unit="ops/s"), "the candidate is 42.3 % slower"),
        (without_direction, "the candidate is 42.3 % lower"),  # without a stated direction: candidate over baseline
    ],
)
def test_rates_and_quantities_without_a_direction_are_turned(turn, words):
    found = only(turn(measured(TWO)))
    assert [context.speedup.value for context in found.contexts] == pytest.approx([0.5, 2 / 3])
    assert found.ratio_of_means.value == pytest.approx(3 / 5)
    assert found.words == words


def test_named_versions_turn_the_question_round_and_a_warm_up_is_left_out():
    one, other = only(measured(TWO)), only(measured(TWO), baseline="O3")
    assert (other.baseline, other.candidate) == ("O3", "O2")
    assert one.speedup.value * other.speedup.value == pytest.approx(1)
    assert one.t_with_noise.p == pytest.approx(other.t_with_noise.p)
    assert only(measured(TWO), candidate="O2").baseline == "O3"
    runs = tuple(np.array([9.0, value, value, 3 * value]) for value in (2.0, 1.0))
    benchmark = Benchmark.of_series("b", runs, conditions={"version": ("1.0", "1.1"), "context": ("x", "x")})
    found = only(benchmark, per_run=PerRun(1, "median"))
    assert (found.contexts[0].baseline, found.contexts[0].candidate) == (2.0, 1.0)


def test_each_context_is_tested_on_its_own():
    benchmark = sweep(sizes=SIZES[:20], noise=0.005)
    found = only(benchmark)
    for context in found.contexts:
        expected = stats.ttest_ind(context.baseline_runs, context.candidate_runs, equal_var=False).pvalue
        assert context.test.p == pytest.approx(expected)
        assert (context.speedup.low <= 1 <= context.speedup.high) == (context.test.p > 0.05)
        assert context.p_bonferroni == pytest.approx(min(1, 20 * expected))
        assert context.test.p <= context.p_holm <= context.p_bonferroni
    verdicts = [context.outcome for context in found.contexts]
    assert (verdicts.count("faster"), verdicts.count("slower")) == (found.n_faster, found.n_slower)
    assert found.n_faster >= found.n_faster_bonferroni and found.n_slower >= found.n_slower_bonferroni


def test_a_periodic_effect_decides_in_both_directions_and_noise_alone_in_none():
    found = only(sweep(speedup=1.01))
    assert found.quartiles.straddles and found.both_directions
    assert found.speedup.value == pytest.approx(1.01, abs=0.001)
    assert found.quartiles.highest == pytest.approx(1.01 * np.exp(0.06 * np.sin(1)), abs=0.005)
    found = only(sweep(effect=0.0, noise=0.01))
    assert found.quartiles.straddles and not found.both_directions
    assert found.outcome == "no significant change"


@pytest.mark.slow
def test_the_interval_over_contexts_covers_the_speed_up_as_often_as_it_says():
    held, drawn = 0, 0
    for seed in range(200):
        found = only(sweep(seed=seed, effect=0.0, noise=0.02, speedup=1.05, sizes=range(12)), resamples=100)
        held += found.speedup.low <= 1.05 <= found.speedup.high
        drawn += found.bootstrap.low <= 1.05 <= found.bootstrap.high
    assert held == pytest.approx(190, abs=4 * np.sqrt(200 * 0.95 * 0.05))
    assert 165 <= drawn <= 200  # percentile intervals of 12 contexts are a little short


def test_a_survey_compares_one_context_and_one_run_of_each_version():
    found = only(sweep(n_runs=1, sizes=SIZES[:8]))
    assert (found.n_untested, found.n_not_shown) == (8, 0)
    assert found.contexts[0].speedup.reason == "an interval needs at least two runs"
    assert "at least two values" in found.contexts[0].test.reason
    assert found.outcome is not None  # over contexts there is a test
    cells = {("O2", "a"): [1.0, 2.0], ("O3", "a"): [0.1, 4.0]}
    (context,) = only(measured(cells)).contexts
    assert "no finite interval" in context.speedup.reason
    found = only(measured({("a", ""): [2.0, 2.1], ("b", ""): [1.0, 1.1]}))
    assert [context.name for context in found.contexts] == ["no context given"]
    assert found.speedup.reason == "an interval needs at least two contexts"
    assert (found.outcome, found.t_p_holm) == (None, None)
    assert found.factors == ()


def test_without_any_variation_p_is_one_and_intervals_have_no_width():
    cells = {(version, context): [1.5, 1.5] for version in ("a", "b") for context in ("x", "y", "z")}
    found = only(measured(cells))
    assert (found.t_with_noise.p, found.signed_rank.p) == (1.0, 1.0)
    assert found.speedup.ends == (1.0, 1.0, 1.0) and found.ratio_of_means.ends == (1.0, 1.0, 1.0)
    assert found.words == "no change"
    assert all(context.speedup.ends == (1.0, 1.0, 1.0) for context in found.contexts)
    assert (found.n_not_shown, found.quartiles.straddles) == (3, False)


# left-out benchmarks and runs


def test_incomplete_contexts_failed_runs_and_other_versions_are_listed():
    cells = TWO | {("O2", "c"): [1.0], ("O3", "d"): [1.0], ("O2", "e"): [0.0], ("O3", "e"): [1.0]}
    found = only(measured(cells))
    assert len(found.contexts) == 2
    assert found.left_out == (
        LeftOut("c", "no run of version O3"),
        LeftOut("d", "no run of version O2"),
        LeftOut("e", "version O2 has a mean of 0: a ratio needs numbers above zero"),
    )
    cells = TWO | {("Os", "a"): [1.0]}
    failures = (Failure({"version": "O2", "context": "a"}, "timed out"), Failure({}, "killed"))
    found = only(measured(cells, failures=failures), baseline="O2", candidate="O3")
    assert found.left_out == (
        LeftOut("version=Os", "the comparison uses only O2 and O3"),
        LeftOut("a run", "failed: killed"),
        LeftOut("version=O2 context=a", "failed: timed out"),
    )


@pytest.mark.parametrize(
    ("cells", "options", "reason"),
    [
        ({("", "x"): [1.0]}, {}, "the version of every"),
        ({("O2", "x"): [1.0]}, {}, "known versions: O2"),
        ({("O2", "x"): [1.0]}, {"baseline": "O2"}, "known versions: O2"),
        ({(v, "x"): [1.0] for v in "abc"}, {}, "there are 3 versions (a, b, c)"),
        ({(v, "x"): [1.0] for v in "abc"}, {"candidate": "b"}, "there are 3 versions (a, b, c)"),
        (
            {("a", "x"): [1.0], ("b", "y"): [1.0]}, {},
            "no run of version b; no run of version a",
        ),
        ({("a", "x"): [1.0], ("b", "x"): [1.0]}, {"per_run": PerRun(5)}, "a run has 1 iterations, all of them"),
    ],
)  # fmt: skip
def test_a_benchmark_that_cannot_be_compared_is_left_out_with_the_reason(cells, options, reason):
    found = survey([measured(cells)], **options)
    assert found.benchmarks == ()
    assert found.left_out[0].name == "b" and reason in found.left_out[0].reason


# factors, instrumentation, cause


def test_factors_of_texts_and_conditions_with_an_effect_are_distinguished():
    benchmark = sweep(links=("a", "b"), sizes=SIZES[:6])
    machines = tuple("AB"[at % 2] for at in range(len(benchmark.values)))
    found = only(Benchmark.of_series("b", benchmark.values, conditions=benchmark.conditions | {"machine": machines}))
    assert [factor.name for factor in found.factors] == ["env", "link", "machine"]
    assert found.contexts[0].name == "env=0 link=a machine=A"
    assert found.contexts[0].factors == {"env": "0", "link": "a", "machine": "A"}
    found = only(sweep(links=("a", "b", "c", "d"), sizes=SIZES[:8], effect=0.02, phase=0.0))
    by_name = {factor.name: factor for factor in found.factors}
    assert by_name["link"].p_holm < 0.001 and by_name["link"].share > 0.9
    assert by_name["env"].p_holm > 0.05
    assert by_name["link"].p_bonferroni == pytest.approx(2 * by_name["link"].test.p)


@pytest.mark.parametrize(
    ("contexts", "conditions", "factors", "names"),
    [
        (("here", "there"), {}, [], ["here", "there"]),
        (("here", "there"), {"machine": ("A", "B") * 4}, ["context", "machine"],
         [f"{place} machine={machine}" for place in ("here", "there") for machine in "AB"]),
        (("x", "y"), {"duration": tuple(map(str, range(8)))}, [], ["x", "y"]),  # of a run, not of its context
        (("env=1",), {"env": ("1",) * 4}, ["env"], ["env=1"]),
    ],
)  # fmt: skip
def test_factors_are_what_distinguishes_named_contexts(contexts, conditions, factors, names):
    cells = {(v, c): [1.0, 1.1] for v in ("old", "new") for c in contexts}
    found = only(measured(cells, conditions=conditions))
    assert [factor.name for factor in found.factors] == factors
    assert [context.name for context in found.contexts] == names


def test_the_observer_effect_is_found_if_requested_in_contexts_that_are_alike_otherwise():
    effect = only(instrumented(), instrumentation="events").by_instrumentation
    assert effect.least == "0"
    assert [level.level for level in effect.levels] == ["0", "2", "8"]
    assert effect.levels[2].n_contexts == 3
    assert effect.levels[2].against_least == pytest.approx(1.05 / 1.01, abs=0.004)
    assert effect.levels[2].exceeds
    assert only(instrumented()).by_instrumentation is None
    assert only(instrumented(), instrumentation="counters").by_instrumentation is None
    cells = {("a", "events=0"): [3.0, -1.0], ("b", "events=0"): [1.0, 1.0]}
    assert only(measured(cells), instrumentation="events").by_instrumentation is None


def observed(*benchmarks, **options):
    """Return the observer effect on each benchmark and version: (ratio, words, verdict) by level."""
    found = survey(benchmarks, instrumentation="counters", **options).observer
    return {
        (effect.benchmark, effect.version): {at.level: (at.ratio.value, at.words, at.outcome) for at in effect.levels}
        for effect in found.effects
    }


def counting(slowdown, *, versions=("",), contexts=("",), n_runs=5, seed=3, **more):
    """Build a benchmark that takes 1 s, and more time with more counted events."""
    rng = np.random.default_rng(seed)
    cells = {
        (version, f"{context} counters={level}".strip()): factor * np.exp(0.002 * rng.normal(size=n_runs))
        for version in versions
        for context in contexts
        for level, factor in (("0", 1.0), ("2", 1 + slowdown / 2), ("4", 1 + slowdown))
    }
    return measured(cells, **more)


@pytest.mark.parametrize("versions", [("",), ("only",), ("O2", "O3")])
def test_a_slowdown_by_12_percent_of_every_version_is_an_observer_effect_of_12_percent(versions):
    effects = observed(counting(0.12, versions=versions, contexts=("env=0", "env=64", "env=128")))
    assert list(effects) == [("b", version) for version in versions]
    for of_version in effects.values():
        ratio, words, verdict = of_version["4"]
        assert ratio == pytest.approx(1.12, abs=0.005)
        assert words.endswith(" % slower") and float(words.split()[0]) == pytest.approx(12, abs=0.5)
        assert verdict == "slower"


def test_an_observer_effect_is_the_ratio_of_means_or_the_geometric_mean_over_contexts():
    cells = {("", "counters=0"): [2.0, 2.2, 2.1], ("", "counters=4"): [2.4, 2.5, 2.6]}
    (effect,) = survey([measured(cells)], instrumentation="counters").observer.effects
    (level,) = effect.levels
    assert level.ratio == ratio_of_means([2.4, 2.5, 2.6], [2.0, 2.2, 2.1])
    assert level.test.p == pytest.approx(stats.ttest_ind([2.4, 2.5, 2.6], [2.0, 2.2, 2.1], equal_var=False).pvalue)
    assert (effect.least, level.p_bonferroni) == ("0", level.test.p)
    values = {"a": ([2.0, 4.0], [3.0, 5.0]), "b": ([1.0], [1.5]), "c": ([5.0], [9.0])}
    cells = {
        ("", f"k={name} counters={level}"): runs for name, sides in values.items() for level, runs in enumerate(sides)
    }
    (effect,) = survey([measured(cells)], instrumentation="counters").observer.effects
    ratios = [4 / 3, 1.5, 1.8]
    assert effect.levels[0].ratio == geometric_mean(ratios)
    assert effect.levels[0].test.p == pytest.approx(stats.ttest_1samp(np.log(ratios), 0).pvalue)
    assert effect.levels[0].n_contexts == 3
    effects = observed(counting(0.0, name="same"), counting(0.12, name="rate", better="higher", unit="ops/s"))
    assert {verdict for _, _, verdict in effects["same", ""].values()} == {"no significant change"}
    assert effects["rate", ""]["4"][2] == "faster"


def test_over_all_benchmarks_each_counts_once_and_changing_conclusions_are_counted():
    found = survey(
        [counting(0.10, name="one", versions=("O2",)), counting(0.21, name="two", versions=("O2", "O3"), seed=4)],
        instrumentation="counters",
    ).observer
    (_, most) = found.overall
    assert (most.level, most.n_benchmarks) == ("4", 2)
    assert most.ratio.value == pytest.approx(np.sqrt(1.10 * 1.21), abs=0.005)
    assert (found.n_shown, found.n_compared, found.n_changing) == (3, 1, 0)
    cells = {
        (version, f"counters={level}"): [value, value * 1.001, value * 0.999]
        for version, level, value in (("O2", 0, 1.0), ("O3", 0, 0.9), ("O2", 4, 1.0), ("O3", 4, 1.2))
    }
    found = survey([measured(cells)], instrumentation="counters")
    assert (found.observer.n_compared, found.observer.n_changing) == (1, 1)
    assert [level.outcome for level in found.benchmarks[0].by_instrumentation.levels] == ["faster", "slower"]


def test_a_benchmark_or_level_without_an_observer_effect_says_why():
    found = survey([counting(0.1), measured({("O2", "x"): [1.0]}, "bare")], instrumentation="counters")
    assert [row.name for row in found.left_out] == ["bare"]
    cells = {("", "k=1 counters=0"): [1.0], ("", "k=2 counters=1"): [1.0], ("", "k=1 counters=2"): [-1.0]}
    (effect,) = survey([measured(cells)], instrumentation="counters").observer.effects
    assert [level.ratio.reason for level in effect.levels] == [
        "no context in common with the lowest level", NOT_POSITIVE,
    ]  # fmt: skip


def test_a_cause_held_fixed_takes_the_spread_away_and_a_factor_without_effect_does_not():
    found = only(with_intervention(sweep(speedup=1.01), sweep(speedup=1.01, effect=0.0, seed=2)))
    assert (found.causal.free, found.causal.fixed) == ("", "stack aligned")
    assert [side.quantity for side in found.causal.comparisons] == ["speed-up", "baseline", "candidate"]
    assert [side.outcome for side in found.causal.comparisons] == ["smaller"] * 3
    speedup = found.causal.comparisons[0]
    free = np.log([context.speedup.value for context in found.contexts])
    fixed = np.log([context.speedup.value for context in found.causal.contexts])
    assert speedup.test.p == pytest.approx(stats.levene(free, fixed, center="median").pvalue)
    assert speedup.test.p <= speedup.p_holm <= speedup.p_bonferroni
    assert len(found.contexts) == len(found.causal.contexts) == len(SIZES)
    found = only(with_intervention(sweep(speedup=1.01), sweep(speedup=1.01, seed=2)))
    assert [side.outcome for side in found.causal.comparisons] == ["no difference shown"] * 3


CELLS = {(v, c): [1.0, 1.1, 1.2] for v in ("old", "new") for c in ("x", "y", "z")}


@pytest.mark.parametrize(
    ("marks", "held_fixed", "levels", "left_out"),
    [
        (("on", "off", "off") * 6, None, ("off", "on"), ()),
        (("on", "off", "off") * 6, "off", ("on", "off"), ()),
        (("", "A", "B") * 6, None, ("", "A"),
         (LeftOut("intervention=B", "the comparison uses only no level and A"),)),
    ],
)  # fmt: skip
def test_the_level_held_fixed_is_named_or_found(marks, held_fixed, levels, left_out):
    found = only(measured(CELLS, conditions={"intervention": marks}), held_fixed=held_fixed)
    assert (found.causal.free, found.causal.fixed) == levels
    assert found.left_out == left_out


def test_a_cause_that_cannot_be_held_fixed_says_why():
    marks = {"intervention": ("on", "off", "off") * 6}
    (left_out,) = survey([measured(CELLS, conditions=marks)], held_fixed="both").left_out
    assert says(left_out.reason, "intervention both;", "off, on")
    causal = only(measured(CELLS, conditions={"intervention": ("", "A", "") * 3 + ("",) * 9})).causal
    assert causal.reason == "no context has runs of both versions with the cause held fixed"
    found = only(measured(TWO, conditions={"intervention": ("A",) * 8}))
    assert found.causal is None and len(found.contexts) == 2


# the suite


def test_a_survey_counts_over_its_benchmarks_and_corrects_them_as_one_family():
    found = survey([sweep("both"), sweep("clear", effect=0.0, speedup=1.1, noise=0.001), measured({("a", ""): [1.0]})])
    assert (found.n_straddling, found.n_both_directions) == (1, 1)
    assert found.n_faster == sum(one.n_faster for one in found.benchmarks)
    assert found.n_faster + found.n_slower + found.n_not_shown + found.n_untested == 2 * len(SIZES)
    assert {one.name: one.outcome for one in found.benchmarks} == {"both": "no significant change", "clear": "faster"}
    assert [entry.name for entry in found.left_out] == ["b"]
    found = survey([sweep(str(seed), seed=seed, sizes=SIZES[:10], effect=0.0, noise=0.02) for seed in range(4)])
    for one in found.benchmarks:
        assert one.t_bonferroni == pytest.approx(min(1, 4 * one.t_with_noise.p))
        assert one.rank_bonferroni == pytest.approx(min(1, 4 * one.signed_rank.p))
        assert one.t_with_noise.p <= one.t_p_holm <= one.t_bonferroni


@pytest.mark.slow
def test_the_chance_of_a_false_alarm_over_contexts_is_at_most_alpha():
    # 400 sweeps without a difference: the paired t test alone would give 20 (standard deviation 4.4), with noise of the
    # runs only the two tests together give 9 (from 20 000 draws of normal values; standard deviation 3)
    found = survey([sweep(effect=0.0, noise=0.01, seed=seed, sizes=range(6)) for seed in range(400)], resamples=1)
    n_alarms = sum(one.t_with_noise.p <= 0.05 for one in found.benchmarks)
    assert n_alarms == pytest.approx(9, abs=4 * 3)
    covered = sum(one.speedup.low <= 1 <= one.speedup.high for one in found.benchmarks)
    assert covered == pytest.approx(400 - n_alarms, abs=2)


def test_contexts_that_agree_more_closely_than_their_runs_show_no_difference():
    # three ratios of 1.01 each, with runs that vary by 10 %: the differences alone would be significant
    runs = ([0.9, 1.0, 1.1, 1.0], [0.909, 1.0101, 1.1111, 1.0101])
    cells = {(version, f"c{n}"): values for n in range(3) for version, values in zip("ab", runs, strict=True)}
    (found,) = survey([measured(cells)], resamples=10).benchmarks
    assert paired_t([1.0, 1.0, 1.0], [1.0101, 1.0101, 1.0100]).p < 0.001
    assert found.t_with_noise.p > 0.5
    means = [[c.baseline for c in found.contexts], [c.candidate for c in found.contexts]]
    assert found.paired_t.p == pytest.approx(paired_t(*means).p) and found.paired_t.p < 0.001
    assert found.outcome == "no significant change"
    assert found.speedup.low < 1 < found.speedup.high


def test_a_survey_has_every_option_comes_from_its_seed_and_becomes_json():
    told = []
    found = survey(
        [measured(TWO), measured(TWO)], per_run=PerRun(0, "min"), baseline="O3", candidate="O2", alpha=0.1,
        instrumentation="x", held_fixed="y", seed=7, resamples=50, advance=lambda *at: told.append(at),
    )  # fmt: skip
    assert told == [(1, 2), (2, 2)]
    assert found.parameters == {
        "warmup": 0, "aggregate": "min", "baseline": "O3", "candidate": "O2", "instrumentation": "x",
        "held_fixed": "y", "alpha": 0.1, "seed": 7, "resamples": 50,
    }  # fmt: skip
    benchmarks = [sweep(sizes=SIZES[:9]), instrumented()]
    assert survey(benchmarks) == survey(benchmarks)
    assert survey(benchmarks, seed=2).benchmarks[0].bootstrap != survey(benchmarks).benchmarks[0].bootstrap
    assert survey([]) == ContextSurvey((), 0, 0, 0, 0, 0, 0, None, (), survey([]).parameters)
    odd = measured({("O2", "x"): [1.0], ("O3", "x"): [2.0], ("O2", "y"): [0.0], ("O3", "y"): [1.0]}, "odd")
    cause = with_intervention(sweep("c", sizes=SIZES[:4]), sweep("c", sizes=SIZES[:2]))
    found = survey([sweep(), odd, cause, instrumented("watched")], instrumentation="events")
    read = json.loads(to_json(json_values(found)))
    assert read["benchmarks"][0]["speedup"]["value"] == found.benchmarks[0].speedup.value
    (watched,) = (row["by_instrumentation"] for row in read["benchmarks"] if row["by_instrumentation"])
    assert watched["levels"][2]["exceeds"] is True


@settings(max_examples=examples(60), deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["", "a", "b", "c"]), st.sampled_from(["", "k=1", "k=2", "k=1 m=x", "here"])),
        st.lists(st.sampled_from([-1.0, 0.0, 1.0, 1.0, 1e-9, 3.5, 1e9]), min_size=1, max_size=3),
        min_size=1, max_size=12,
    ),
    st.sampled_from(["lower", "higher"]),
)  # fmt: skip
def test_there_is_a_result_for_any_runs(cells, better):
    found = survey([measured(cells, better=better)], instrumentation="k", resamples=20)
    observed = [effect for effect in found.observer.effects if effect.levels]
    assert len(found.benchmarks) + len(found.left_out) == 1 or (observed and not found.left_out)
    to_json(json_values(found))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1.0}, "alpha must be within"),
        ({"resamples": 0}, "resamples.*got 0"),
        ({"baseline": "a", "candidate": "a"}, "different versions, got 'a'"),
        ({"baseline": "x"}, "baseline.*got 'x'"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        survey([], **options)


# plans

FACTORS = {"version": ["O2", "O3"], "env": ["0", "64", "128"], "link": ["a", "b"]}


def test_a_plan_holds_every_run_once_in_an_order_from_its_seed():
    plan = variant_plan(FACTORS, benchmarks=["x", "y"], runs=3, seed=1)
    assert list(plan.columns) == ["order", "benchmark", "version", "env", "link", "context", "run", "seed"]
    assert list(plan["order"]) == list(range(1, 73))
    keys = set(plan[["benchmark", "version", "env", "link", "run"]].itertuples(index=False, name=None))
    assert keys == set(product("xy", ["O2", "O3"], ["0", "64", "128"], "ab", range(3)))
    assert list(plan["context"]) == [
        f"env={env} link={link}" for env, link in zip(plan["env"], plan["link"], strict=True)
    ]
    plan = variant_plan(FACTORS, runs=2, seed=5)
    pd.testing.assert_frame_equal(plan, variant_plan(FACTORS, runs=2, seed=5))
    assert not plan["context"].is_monotonic_increasing
    assert list(plan["context"]) != list(variant_plan(FACTORS, runs=2, seed=6)["context"])
    assert set(plan["seed"]) == {5} and plan.attrs["seed"] == 5


@pytest.mark.slow
def test_a_plan_has_no_order_of_versions_and_each_context_is_as_likely():
    # mean position of the first version over 150 plans of 24 runs: 12.5, standard deviation of one mean about 1.44
    places = [variant_plan(FACTORS, runs=2, seed=seed).query("version == 'O2'")["order"].mean() for seed in range(150)]
    assert np.mean(places) == pytest.approx(12.5, abs=4 * 1.44 / np.sqrt(150))
    counts = pd.concat([variant_plan({"env": list("abcdef")}, n=2, seed=seed) for seed in range(200)])["env"]
    assert stats.chisquare(counts.value_counts()).pvalue > 0.001


def test_drawn_contexts_do_not_repeat_and_a_plan_is_surveyed_as_planned():
    plan = variant_plan(FACTORS | {"intervention": ["free", "aligned"]}, n=4, seed=2)
    assert len(plan) == 4 * 2 * 2
    assert plan.groupby("context").size().to_list() == [4] * 4
    assert "intervention" not in plan["context"].iloc[0] and "version" not in plan["context"].iloc[0]
    factors = {f"f{at}": [str(level) for level in range(50)] for at in range(12)}  # 50^12, more than 64 bits can count
    plan = variant_plan(factors, n=500, seed=1)
    assert plan["context"].nunique() == 500
    plan = variant_plan(FACTORS, benchmarks=["x"], runs=2, seed=3)
    table = plan.assign(value=[2.0 if version == "O2" else 1.0 for version in plan["version"]])
    (found,) = survey(from_table(table), baseline="O2").benchmarks
    assert len(found.contexts) == 6
    assert [factor.name for factor in found.factors] == ["env", "link"]
    assert found.speedup.value == 2.0


@pytest.mark.parametrize(
    ("factors", "options", "message"),
    [
        ({}, {}, "factors must name"),
        ({"version": ["a"]}, {}, "factors must name"),
        ({"env": []}, {}, "env must have different levels"),
        ({"env": ["1", "1"]}, {}, "env must have different levels"),
        ({"env": "abc"}, {}, "env.*got 'abc'"),
        ({"env": ["a b"]}, {}, "env has the level 'a b'"),
        ({"env": ["a=b"]}, {}, "env has the level 'a=b'"),
        ({"a b": ["1"]}, {}, "'a b' cannot"),
        ({"run": ["1"]}, {}, "'run' cannot"),
        ({"env": ["1", "2"]}, {"n": 3}, "n must.*got 3"),
        ({"env": ["1", "2"]}, {"n": 0}, "n must be within 1..2"),
        ({"env": ["1"]}, {"runs": 0}, "runs.*got 0"),
        ({"env": ["1"]}, {"runs": 200_001}, "more than 200000 runs"),
        ({"env": ["1"]}, {"benchmarks": ["x", "x"]}, "benchmarks must differ"),
    ],
)
def test_an_impossible_plan_is_refused(factors, options, message):
    with pytest.raises(ValueError, match=message):
        variant_plan(factors, seed=1, **options)
