"""Rules for a change: the numbers of the published tests, directions, and what they cannot judge."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from analysis.runs.classifiers import CHANGE_RULES


def side(*means, n=4):
    return [np.full(n, float(mean)) for mean in means]


def noisy(level, seed, n_runs=6, n=10):
    rng = np.random.default_rng(seed)
    return [level + 0.02 * rng.standard_normal() + 0.05 * rng.standard_normal(n) for _ in range(n_runs)]


def p_of(rule, before, after):
    return float(CHANGE_RULES[rule](before, after).reason.rpartition("p = ")[2])


@pytest.mark.parametrize("seed", range(5))
def test_the_tests_give_the_p_values_of_scipy(seed):
    before, after = noisy(1.0, seed), noisy(1.03, seed + 100)
    old, new = ([run.mean() for run in runs] for runs in (before, after))
    expected = {
        "change-welch": stats.ttest_ind(new, old, equal_var=False).pvalue,
        "change-ranks": stats.mannwhitneyu(new, old, method="exact").pvalue,
        "change-values": stats.ttest_ind(np.concatenate(after), np.concatenate(before)).pvalue,
    }
    for rule, p in expected.items():
        assert p_of(rule, before, after) == pytest.approx(p, rel=5e-3)
        assert (CHANGE_RULES[rule](before, after).verdict != "no change") == (p <= 0.05)


def test_the_ratio_interval_worked_by_hand():
    # means 10 and 12, variances of the run means 1 and 1, three runs each: t(2) = 4.3027, h = 4.3027^2 / 3 = 6.1710;
    # (120 +- sqrt(120^2 - 93.829 * 137.829)) / 93.829
    verdict = CHANGE_RULES["change-ratio"](side(9, 10, 11), side(11, 12, 13))
    assert verdict.reason == "ratio 0.8706 to 1.687"
    assert verdict.verdict == "no change"


@pytest.mark.parametrize(
    ("rule", "before", "after", "verdict"),
    [
        ("change-2%", side(1.0), side(1.021), "slower"),
        ("change-5%", side(1.0), side(1.021), "no change"),
        ("change-5%", side(1.0, 1.0), side(0.94, 0.94), "faster"),
        ("change-10%", side(1.0), side(1.099), "no change"),
        ("change-bars", side(9, 11), side(12, 14), "slower"),  # 10 + 1.41 < 13 - 1.41
        ("change-bars", side(9, 11), side(11, 13), "no change"),
        ("change-check", side(1, 1, 1, 1), side(1.005, 1.005, 1.005, 1.005), "no change"),  # below 1 %
        ("change-check", side(1, 1, 1, 1), side(1.02, 1.02, 1.02, 1.02), "slower"),
    ],
)
def test_verdicts_by_hand(rule, before, after, verdict):
    assert CHANGE_RULES[rule](before, after).verdict == verdict


def test_the_score_is_the_change_for_the_worse_without_the_warmup():
    assert CHANGE_RULES["change-2%"](side(2.0), side(2.1)).score == pytest.approx(0.05)
    assert CHANGE_RULES["change-2%"](side(2.0), side(2.1), lower_is_better=False).score == pytest.approx(-0.05)
    slow_start = [np.array([9.0, 1.0, 1.0])] * 3
    assert CHANGE_RULES["change-5%"](side(1, 1, 1), slow_start).verdict == "slower"
    assert CHANGE_RULES["change-5%"](side(1, 1, 1), slow_start, drop=1).verdict == "no change"


@given(st.integers(0, 50), st.floats(0.9, 1.1))
def test_the_other_direction_turns_slower_into_faster(seed, level):
    before, after = noisy(1.0, seed), noisy(level, seed + 100)
    opposite = {"slower": "faster", "faster": "slower", "no change": "no change"}
    for rule in CHANGE_RULES.values():
        verdict = rule(before, after).verdict
        assert rule(before, after, lower_is_better=False).verdict == opposite[verdict]
        assert rule([100 * run for run in before], [100 * run for run in after]).verdict == verdict


@pytest.mark.parametrize("rule", CHANGE_RULES.values(), ids=list(CHANGE_RULES))
def test_what_cannot_be_judged_has_a_reason(rule):
    one = rule(side(1.0), side(1.0, 1.01))
    assert one.verdict == "no change" if rule.min_runs == 1 else one.reason == "needs 2 runs on each side, got 1 and 2"
    assert rule([], side(1.0, 1.1)).verdict is None
    assert rule(side(0.0, 0.0), side(1.0, 1.1)).reason == "the mean before the change is not positive"
    assert rule(side(1.0, 1.0), side(1.0, 1.0)).verdict == "no change"
    with pytest.raises(ValueError, match="run 2 after the change must be a series of finite measurements"):
        rule(side(1.0, 1.0), [np.ones(3), np.array([1.0, np.nan])])
