"""Speed-ups over contexts, factors, the observer effect, a suspected cause, and the pooled verdict."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.document import to_text
from analysis.methods.contexts import (
    Context,
    brown_forsythe,
    compare_spreads,
    context_survey as survey,
    describe_speedup,
    document,
    factor_effect,
    geometric_mean,
    mean_ratios,
    paired_ratio,
    paired_t,
    parse_context,
    quartiles,
    signed_rank,
    speedup_by_level,
    speedups,
)
from analysis.methods.contexts._sweep import pooled
from analysis.runs.samples import NO_VARIATION, Test
from analysis.statistics.intervals import Estimate
from tests.analysis.methods.made_sweeps import measured
from tests.conftest import examples

positive = st.floats(0.01, 100, allow_nan=False)
ratios = st.lists(positive, min_size=2, max_size=20)


# speed-ups


@pytest.mark.parametrize(
    ("baseline", "candidate", "better", "ratio", "words"),
    [
        (1.007, 1.000, "lower", 1.007, "the candidate is 0.695 % faster"),  # 1 - 1 / 1.007 less time
        (100.0, 125.0, "higher", 1.25, "the candidate is 25 % faster"),
        (125.0, 100.0, "higher", 0.8, "the candidate is 20 % slower"),
        (2.0, 2.0, "lower", 1.0, "no change"),
    ],
)
def test_a_ratio_of_times_or_of_rates_above_one_is_a_speed_up(baseline, candidate, better, ratio, words):
    assert speedups([baseline], [candidate], better=better).tolist() == [ratio]
    assert describe_speedup(ratio, better) == words


def test_quartiles_are_those_of_numpy_and_say_what_straddles():
    values = [1.3, 0.9, 1.0, 1.6, 1.1]
    found = quartiles(values)
    assert (found.lowest, found.q1, found.median, found.q3, found.highest) == (0.9, 1.0, 1.1, 1.3, 1.6)
    assert found.straddles
    assert not quartiles([1.0, 1.2]).straddles  # 1 is a limit of the range, not inside
    assert quartiles([]).median is None


# estimates


def test_the_geometric_mean_of_a_table_worked_by_hand():
    # ln 1, ln 2, ln 4 = 0, L, 2L with L = ln 2: mean L, sd L, t(.975, 2) = 4.303: ends exp(L -+ 4.303 L / sqrt 3)
    found = geometric_mean([1.0, 2.0, 4.0])
    half = stats.t.ppf(0.975, 2) * np.log(2) / np.sqrt(3)
    assert found.value == pytest.approx(2.0)
    assert (found.low, found.high) == pytest.approx((2 * np.exp(-half), 2 * np.exp(half)))
    assert found.se == pytest.approx(np.log(2) / np.sqrt(3))


@pytest.mark.parametrize(
    ("found", "value", "reason"),
    [
        (geometric_mean([]), None, "no contexts"),
        (geometric_mean([1.0, 0.0]), None, "not above zero"),
        (geometric_mean([1.5]), 1.5, "an interval needs at least two contexts"),
        (paired_ratio([], []), None, "no contexts"),
        (paired_ratio([1.0, 1.0], [1.0, -1.0]), None, "denominator is zero"),
        (paired_ratio([3.0], [2.0]), 1.5, "an interval needs at least two contexts"),
        # mean 1.5, standard error 0.5, t(.975, 1) = 12.7: the mean of y is not significantly different from zero
        (paired_ratio([1.0, 3.0], [1.0, 2.0]), 4 / 3, "the contexts differ so much that the interval has no limit"),
    ],
)
def test_an_estimate_or_interval_that_is_undefined_has_a_reason(found, value, reason):
    assert (found.value, found.low) == (pytest.approx(value) if value else None, None)
    assert reason in found.reason


@pytest.mark.parametrize("found", [geometric_mean([1.1] * 3), paired_ratio([1.1, 2.2, 3.3], [1.0, 2.0, 3.0])])
def test_equal_ratios_have_an_interval_without_width(found):
    assert found.ends == pytest.approx((1.1, 1.1, 1.1)) and found.reason == NO_VARIATION
    assert found.low == found.high


def test_fiellers_interval_holds_the_ratios_that_a_t_test_does_not_reject():
    # theta is inside if and only if the paired t test of x against theta y has p > alpha
    rng = np.random.default_rng(3)
    y = rng.normal(10, 1, 12)
    x = 1.1 * y + rng.normal(0, 0.5, 12)
    found = paired_ratio(x, y, 0.9)
    assert found.value == pytest.approx(x.mean() / y.mean())
    for end in (found.low, found.high):
        assert stats.ttest_rel(x, end * y).pvalue == pytest.approx(0.1)
    assert found.low < found.value < found.high


def test_noise_makes_each_version_faster_in_the_mean_of_ratios_while_nothing_differs():
    # the contexts are pairs with exchanged values: 1 against 2 and 2 against 1; mean (0.5 + 2) / 2 = 1.25 both ways
    a, b = np.array([1.0, 2.0] * 6), np.array([2.0, 1.0] * 6)
    found = mean_ratios(speedups(a, b))
    assert (found.of_candidate, found.of_baseline, found.both_faster) == (1.25, 1.25, True)
    assert paired_t(a, b).p == 1.0
    assert geometric_mean(speedups(a, b)).value == pytest.approx(1.0)
    assert not mean_ratios([1.0, 1.0]).both_faster
    assert mean_ratios([]).reason == "no contexts" and "not above zero" in mean_ratios([-1.0]).reason


# tests over contexts


def test_the_paired_t_test_is_that_of_scipy_also_without_variation():
    rng = np.random.default_rng(5)
    x, y = rng.normal(1, 0.1, (2, 9))
    assert paired_t(x, y).p == pytest.approx(stats.ttest_rel(x, y).pvalue)
    assert paired_t(x, y).statistic == pytest.approx(stats.ttest_rel(x, y).statistic)
    assert paired_t([1.0, 2.0], [1.0, 2.0]).p == 1.0
    assert paired_t([2.0, 3.0], [1.0, 2.0]).p == 0.0
    assert paired_t([1.0], [2.0]).reason == "at least two contexts are needed"


@settings(max_examples=examples(60))
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_the_signed_rank_test_counts_all_signs_also_with_ties(differences):
    d = np.array([x for x in differences if x], dtype=float)
    found = signed_rank(np.array(differences, dtype=float), np.zeros(len(differences)))
    if not len(d):
        assert (found.p, found.reason) == (1.0, NO_VARIATION)
        return
    ranks = stats.rankdata(np.abs(d))
    sums = np.array([ranks[np.array(signs)].sum() for signs in itertools.product([False, True], repeat=len(d))])
    off = abs(ranks[d > 0].sum() - ranks.sum() / 2)
    assert found.p == pytest.approx((np.abs(sums - ranks.sum() / 2) >= off - 1e-9).mean())


@pytest.mark.parametrize("n", [20, 50])
def test_the_signed_rank_test_is_that_of_scipy_where_it_is_exact(n):
    x, y = np.random.default_rng(n).normal(0, 1, (2, n))
    assert signed_rank(x, y).p == pytest.approx(stats.wilcoxon(x, y, method="exact").pvalue)


def test_the_signed_rank_test_of_many_contexts_is_that_of_scipy_with_ties_and_continuity():
    x = np.random.default_rng(2).integers(-5, 7, 120).astype(float)
    expected = stats.wilcoxon(x, correction=True, method="asymptotic").pvalue
    assert signed_rank(x, np.zeros(120)).p == pytest.approx(expected)
    assert signed_rank([], []).reason == "no contexts"
    even = np.tile([1.0, -1.0], 40)
    assert signed_rank(even, np.zeros(80)).p == 1.0


# factors


@pytest.mark.parametrize(
    ("text", "factors"),
    [
        ("env=1024 link=3", {"env": "1024", "link": "3"}),
        ("env=1024,link=3", {"env": "1024", "link": "3"}),
        (" env=1024 , link=3 ", {"env": "1024", "link": "3"}),
        ("flags=-O2=yes", {"flags": "-O2=yes"}),
        ("machine A", {}), ("env=1 on A", {}), ("env=", {}), ("=1", {}), ("", {}), ("a=1 a=2", {}),
    ],
)  # fmt: skip
def test_a_context_is_read_as_factors_if_all_of_it_is_so_written(text, factors):
    assert parse_context(text) == factors


def test_the_share_of_a_factor_worked_by_hand():
    # logs 0 2 | 4 6: mean 3, total 9 + 1 + 1 + 9 = 20, within 2 + 2 = 4: share 1 - 4/20 = 0.8; by chance 1/3
    # ranks 1 2 | 3 4: H = 12/20 (9/2 + 49/2) - 15 = 2.4, epsilon2 = 2.4 / 3 = 0.8
    found = factor_effect("link", np.exp([0.0, 2.0, 4.0, 6.0]), ["a", "a", "b", "b"])
    assert (found.share, found.share_by_chance, found.test.epsilon2) == pytest.approx((0.8, 1 / 3, 0.8))
    assert [(level.level, level.n_contexts) for level in found.levels] == [("a", 2), ("b", 2)]
    assert found.levels[1].speedup.value == pytest.approx(np.exp(5))


def test_a_factor_is_tested_as_by_scipy_and_unknown_levels_are_left_out():
    rng = np.random.default_rng(4)
    levels = ["abc"[at] for at in rng.integers(0, 3, 40)]
    values = np.exp(rng.normal(0, 0.1, 40))
    groups = [values[[entry == level for entry in levels]] for level in "abc"]
    assert factor_effect("x", values, levels).test.p == pytest.approx(stats.kruskal(*groups).pvalue)
    found = factor_effect("x", [1.1] * 4, ["a", "a", "b", "b"])
    assert (found.test.p, found.share) == (1.0, 0.0)
    assert factor_effect("x", [1.0, 2.0, 3.0, 9.0], ["a", "a", "b", ""]).n_contexts == 3


@pytest.mark.parametrize(
    ("values", "levels", "reason"),
    [
        ([1.0, 2.0], ["a", "a"], "one level"),
        ([1.0, 2.0], ["", ""], "unknown"),
        ([1.0, 2.0, 3.0], ["a", "b", "c"], "in only one context"),
        ([1.0, -2.0], ["a", "b"], "not above zero"),
    ],
)
def test_a_factor_that_cannot_be_tested_has_a_reason(values, levels, reason):
    found = factor_effect("x", values, levels)
    assert (found.test.p, found.share) == (None, None) and reason in found.test.reason


# observer effect


def test_an_observer_effect_worked_by_hand():
    # least: means 2.1 / 1.05 = 2, single runs from 2.0 / 1.1 to 2.2 / 1.0; with 8 events 3 / 1 = 3, 1.5 times as much
    effect = speedup_by_level({"8": {"c": ([3.0], [1.0])}, "0": {"c": ([2.0, 2.2], [1.0, 1.1])}})
    assert [level.level for level in effect.levels] == ["0", "8"]
    least, most = effect.levels
    assert (least.against_least, least.exceeds) == (1.0, False)
    assert (most.low, most.high) == pytest.approx((2.0 / 1.1, 2.2))
    assert (most.speedup.value, most.against_least, most.exceeds) == (3.0, pytest.approx(1.5), True)
    assert effect.n_exceeding == 1


def test_an_observer_effect_is_over_the_contexts_that_both_levels_have_and_turned_for_rates():
    effect = speedup_by_level({"0": {"c": ([1.0, 1.1], [2.0, 2.2])}, "1": {"c": ([1.0], [3.0])}}, better="higher")
    assert (effect.levels[0].low, effect.levels[0].high) == pytest.approx((2.0 / 1.1, 2.2))
    assert effect.levels[1].against_least == pytest.approx(3 / (2.1 / 1.05))
    cell, other = ([2.0, 2.1], [1.0, 1.0]), ([9.0, 9.0], [1.0, 1.0])
    effect = speedup_by_level({"0": {"c": cell}, "1": {"c": cell, "d": other}, "2": {"d": other}})
    assert (effect.levels[1].n_contexts, effect.levels[1].against_least) == (1, 1.0)
    assert effect.levels[2].reason == "no context in common with the lowest level"
    assert effect.levels[2].exceeds is None


CONSTANT = ([1.1, 1.1, 1.1], [0.7, 0.7, 0.7])  # its ratios differ by rounding errors


@pytest.mark.parametrize(
    ("least", "most", "exceeds", "reason"),
    [
        ({"c": ([2.0, 3.0], [1.0, 1.2])}, {"c": ([2.2, 2.2], [1.0, 1.0])}, False, None),  # within the range
        ({"c": ([2.0, 2.0], [1.0, 1.0])}, {"c": ([3.0], [1.0])}, True, None),  # a range of no width
        (dict.fromkeys("cde", CONSTANT), dict.fromkeys("cde", CONSTANT), False, None),
        ({"c": ([2.0], [1.0])}, {"c": ([3.0], [1.0])}, None, "more than one run"),
    ],
)
def test_only_a_change_outside_the_range_of_the_runs_is_flagged(least, most, exceeds, reason):
    effect = speedup_by_level({"off": least, "on": most})
    level = effect.levels[1]
    assert (effect.least, level.exceeds, effect.n_exceeding) == ("off", exceeds, int(exceeds is True))
    assert reason is None or (reason in level.reason and level.against_least == pytest.approx(1.5))


@pytest.mark.parametrize("runs", [{}, {"0": {"c": ([1.0], [1.0])}}])
def test_an_observer_effect_needs_two_levels(runs):
    assert "levels of instrumentation" in speedup_by_level(runs).reason


# a suspected cause


def test_brown_and_forsythes_test_worked_by_hand_and_without_variation():
    # deviations from the medians 2 1 0 1 2 and 20 10 0 10 20, means 1.2 and 12, over all 6.6:
    # between 2 * 5 * 5.4^2 = 291.6, within (2.8 + 280) / 8 = 35.35
    found = brown_forsythe([1, 2, 3, 4, 5], [10, 20, 30, 40, 50])
    assert found.statistic == pytest.approx(291.6 / 35.35)
    assert brown_forsythe([1, 1, 1], [2, 2, 2]).p == 1.0
    assert brown_forsythe([1, 1, 1], [2, 2, 2]).reason == NO_VARIATION
    apart = brown_forsythe([1, 1, 1, 1], [1, 3, 1, 3])
    assert (apart.p, apart.reason) == (0.0, "the deviations do not vary within the samples")
    assert "needed on each side" in brown_forsythe([1, 2], [1, 2, 3]).reason


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(3, 12), st.integers(3, 12))
def test_brown_and_forsythes_test_is_levenes_of_scipy_about_the_median(seed, n_x, n_y):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 1, n_x), rng.normal(5, 2, n_y)
    found, expected = brown_forsythe(x, y), stats.levene(x, y, center="median")
    assert (found.p, found.statistic) == pytest.approx((expected.pvalue, expected.statistic))


def test_a_cause_held_fixed_makes_the_spread_smaller_or_cannot_be_compared():
    # logs of 1 2 4 8 16: deviations 2L L 0 L 2L, mean 1.2 L
    found = compare_spreads([1.0, 2.0, 4.0, 8.0, 16.0], [3.0, 3.1, 3.0, 3.1, 3.0])
    assert found.free.deviation == pytest.approx(1.2 * np.log(2))
    assert (found.free.highest_over_lowest, found.outcome) == (16.0, "smaller")
    assert found.ratio == pytest.approx(found.fixed.deviation / found.free.deviation)
    assert compare_spreads([3.0, 3.1, 3.0, 3.1, 3.0], [1.0, 2.0, 4.0, 8.0, 16.0]).outcome == "larger"
    assert compare_spreads([1.0, 2.0, 3.0], [1.0, 0.0, 2.0]).test.reason.startswith("a number is not")
    few = compare_spreads([1.0, 2.0], [])
    assert (few.outcome, few.ratio, few.fixed.deviation) == (None, None, None)
    same = compare_spreads([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    assert (same.outcome, same.ratio) == ("no difference shown", None)


# wrong arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: speedups([1.0], [1.0, 2.0]), "baseline.*got 1 and 2"),
        (lambda: speedups([0.0], [1.0]), "baseline.*got 0"),
        (lambda: speedups([1.0], [-1.0]), "candidate must be above 0"),
        (lambda: speedups([1.0], [1.0], better="more"), "better.*got 'more'"),
        (lambda: quartiles([np.nan]), "ratios must be a series of finite numbers"),
        (lambda: geometric_mean([[1.0]]), "ratios must be a series"),
        (lambda: paired_ratio([1.0], []), "x and y must be pairs"),
        (lambda: factor_effect("x", [1.0], []), "levels has 0 entries for 1 ratios"),
        (lambda: speedup_by_level({"0": {"c": ([], [1.0])}, "1": {"c": ([1.0], [1.0])}}), "runs.*above 0"),
        (lambda: speedup_by_level({"0": {"c": ([1.0], [1.0])}, "1": {"c": ([-1.0], [1.0])}}), "runs.*above 0"),
        (lambda: brown_forsythe([np.inf], [1.0]), "x must be a series of finite numbers"),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def made(seed, *, speedups=(1.0, 1.0, 1.0), n_runs=20, noise=0.06, name="b"):
    """Build a benchmark with one speed-up per context and as many runs of each version in each context."""
    rng = np.random.default_rng(seed)
    cells = {}
    for at, speedup in enumerate(speedups):
        level = 1 + 0.2 * at
        cells["old", f"c{at}"] = level * rng.normal(1, noise, n_runs)
        cells["new", f"c{at}"] = level / speedup * rng.normal(1, noise, n_runs)
    return measured(cells, name)


def pooled_survey(*benchmarks):
    return survey(benchmarks, baseline="old", candidate="new", resamples=50)


def short(result):
    return " ".join(to_text(document(result)).partition("Speed-up over contexts")[0].split())


def test_the_pooled_speedup_weights_contexts_by_their_runs():
    # log ratios: 0 with 2 + 2 runs, log 2 with 4 + 4 runs; weights 1 and 2 of 3
    cells = {
        ("old", "a"): [1.0, 1.0], ("new", "a"): [1.0, 1.0],
        ("old", "b"): [1.9, 2.1, 1.9, 2.1], ("new", "b"): [1.0] * 4,
    }  # fmt: skip
    (sweep,) = pooled_survey(measured(cells)).benchmarks
    assert sweep.pooled.speedup.value == pytest.approx(2 ** (2 / 3))
    # the variance of the mean of 1.9, 2.1, 1.9, 2.1 is 0.04 / 3 / 4, relative to 2 squared, with 3 degrees of freedom
    se = 2 / 3 * np.sqrt(0.04 / 3 / 4 / 4)
    assert sweep.pooled.test.p == pytest.approx(2 * stats.t.sf(2 / 3 * np.log(2) / se, 3))
    assert sweep.pooled.interaction.reason == "the runs of a context do not vary"


def test_a_pooled_verdict_finds_a_planted_change_and_what_depends_on_the_context():
    result = pooled_survey(made(4, speedups=(1.03, 1.03, 1.03)))
    (sweep,) = result.benchmarks
    assert sweep.pooled.outcome == "faster"
    assert sweep.pooled.speedup.low > 1
    assert sweep.n_faster == 0  # no context alone shows it
    said = short(result)
    assert said.index("Pooled over these contexts: the candidate is") < said.index("No benchmark shows")
    said = short(pooled_survey(made(1)))
    assert "Pooled over these contexts: no significant difference" in said
    assert "No benchmark shows that the speed-up depends on the context" in said
    assert "decides" not in said
    result = pooled_survey(made(2, speedups=(1.2, 0.85, 1.0)), made(3, name="same"))
    assert "For 1 of 2 benchmarks, the speed-up depends on the context" in short(result)
    assert "the context decides which version is better" in short(result)


def test_a_pooled_verdict_needs_two_runs_in_a_context_and_a_finite_interval():
    (sweep,) = pooled_survey(made(1, n_runs=1)).benchmarks
    assert sweep.pooled.speedup.reason == sweep.pooled.interaction.reason == "no context has two runs of both versions"
    assert "cannot be tested" in short(pooled_survey(made(1, n_runs=1)))
    cells = {("old", "a"): [1.0, 9.0], ("new", "a"): [1.0, 8.0], ("old", "b"): [1.0, 1.1], ("new", "b"): [1.0, 1.2]}
    (sweep,) = pooled_survey(measured(cells)).benchmarks
    assert (sweep.contexts[0].speedup.low, sweep.contexts[0].speedup.reason[:18]) == (None, "no finite interval")
    assert all(context.speedup.low is None or context.speedup.low > 0 for context in sweep.contexts)


@pytest.mark.parametrize(("n_runs", "k"), [(3, 3), (10, 6)])
def test_both_tests_hold_their_level(n_runs, k):
    # 1,500 sweeps: .039 and .035 with 3 runs in 3 contexts, .051 and .047 with 10 runs in 6 contexts
    n, rng, rejected = examples(2000), np.random.default_rng(5), []
    for _ in range(n):
        x, y = rng.normal(1, 0.06, (2, k, n_runs))
        contexts = [
            Context("c", {}, tuple(a), tuple(b), a.mean(), b.mean(), Estimate(a.mean() / b.mean()), Test(None))
            for a, b in zip(x, y, strict=True)
        ]
        pooled_survey = pooled(contexts, 0.95)
        rejected.append((pooled_survey.test.p <= 0.05, pooled_survey.interaction.p <= 0.05))
    assert (np.mean(rejected, axis=0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)).all()
