"""Reviewers and classifiers among themselves: the rest, rounds, drift, pairs, sides, missing labels, new items."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from analysis.raters.agreement import (
    against_rest,
    agreement_so_far,
    by_group,
    classifiers_among_themselves,
    cohen_kappa,
    compare_agreement,
    course_test,
    fleiss_kappa,
    gwet_ac1,
    if_given,
    jackknife_over_raters,
    pair_equality,
    percent_agreement,
    send_first,
    side_bias,
)
from analysis.raters.agreement._pairs import TOO_FEW
from analysis.raters.tables import count_table


def labels_of(rows, raters="abc"):
    words = {"1": "dissimilar", "0": "similar"}
    return pd.DataFrame(
        [(i, r, words[x]) for i, row in enumerate(rows) for r, x in zip(raters, row, strict=True) if x != "-"],
        columns=["item", "rater", "category"],
    )


ROWS = ["111", "110", "100", "000", "101", "011", "000", "111", "001", "110"]


def test_the_jackknife_by_hand_needs_three_reviewers():
    labels = labels_of(ROWS)
    whole = fleiss_kappa(count_table(labels))
    without = [fleiss_kappa(count_table(labels[labels["rater"] != r])).value for r in "abc"]
    variance = whole.se**2 + 2 / 3 * sum((k - np.mean(without)) ** 2 for k in without)
    found = jackknife_over_raters(labels)
    assert found.value == whole.value
    assert found.se == pytest.approx(variance**0.5)
    assert found.high - found.low > whole.high - whole.low
    found = jackknife_over_raters(labels_of([row[:2] for row in ROWS], "ab"))
    assert (found.low, found.reason) == (None, "fewer than three reviewers")


def test_missing_labels_are_filled_in_with_each_category():
    labels = labels_of(["11-", "000", "110"])
    missing = pd.DataFrame({"item": [0, 0, 1], "rater": ["c", "c", "a"]})  # one twice, one that exists
    similar, dissimilar = if_given(labels, missing)
    assert (similar.category, dissimilar.category, similar.n, dissimilar.n) == ("similar", "dissimilar", 1, 1)
    assert dissimilar.value == fleiss_kappa([[0, 3], [3, 0], [1, 2]])
    assert similar.value == fleiss_kappa([[1, 2], [3, 0], [1, 2]])
    assert if_given(labels, missing.iloc[2:]) == []


def coded_labels(codes, items=None):
    """Return a label table from wide codes: 1 dissimilar, 0 similar, -1 none."""
    codes = np.asarray(codes)
    item, rater = np.nonzero(codes >= 0)
    return pd.DataFrame(
        {
            "item": item if items is None else np.asarray(items)[item],
            "rater": np.array([f"r{k + 1}" for k in range(codes.shape[1])])[rater],
            "category": np.where(codes[item, rater] == 1, "dissimilar", "similar"),
            "position": item,
        }
    )


def drawn_codes(n, right, rng):
    truth = rng.random((n, 1)) < 0.5
    return np.where(rng.random((n, len(right))) < right, truth, ~truth).astype(int)


def test_a_reviewer_who_guesses_is_least_like_the_rest_and_kappa_rises_without_them():
    labels = coded_labels(drawn_codes(200, [0.9, 0.9, 0.9, 0.5], np.random.default_rng(1)))
    rest = against_rest(labels)
    assert [row.rater for row in rest] == ["r1", "r2", "r3", "r4"]
    assert rest[3].percent.high < min(row.percent.low for row in rest[:3])
    kappa = fleiss_kappa(count_table(labels)).value
    without = fleiss_kappa(count_table(labels[labels["rater"] != "r4"]))
    assert (rest[3].without, rest[3].change) == (without, without.value - kappa)
    assert max(row.change for row in rest[:3]) < 0 < rest[3].change
    assert rest[0].percent == by_group(labels, "rater")[0].percent
    rest = against_rest(coded_labels([[1, 1], [0, 1], [0, 0]] * 5))
    assert all(row.without.value is None and row.change is None for row in rest)
    assert against_rest(coded_labels(np.zeros((0, 2)))) == []


def test_rounds_with_other_items_are_independent():
    rng = np.random.default_rng(2)
    before, after = drawn_codes(150, [0.7] * 3, rng), drawn_codes(120, [0.9] * 3, rng)
    compared = compare_agreement(coded_labels(before), coded_labels(after, [f"b{i}" for i in range(120)]))
    a, b = (fleiss_kappa(count_table(coded_labels(codes))) for codes in (before, after))
    assert compared.n_common == 0
    assert compared.difference.value == pytest.approx(b.value - a.value)
    assert compared.difference.se == pytest.approx(np.hypot(a.se, b.se))
    low = compared.difference.value - np.hypot(b.value - b.low, a.high - a.value)
    assert compared.difference.low == pytest.approx(low)
    assert compared.p < 0.01


def test_rounds_on_the_same_items_are_paired():
    rng = np.random.default_rng(3)
    before = drawn_codes(150, [0.8] * 3, rng)
    after = np.where(rng.random(before.shape) < 0.9, before, 1 - before)
    paired = compare_agreement(coded_labels(before), coded_labels(after))
    apart = compare_agreement(coded_labels(before), coded_labels(after, [f"b{i}" for i in range(150)]))
    assert paired.n_common == 150
    assert paired.difference.value == apart.difference.value
    assert paired.difference.half_width < 0.9 * apart.difference.half_width
    same = compare_agreement(coded_labels(before), coded_labels(before), percent_agreement)
    assert (same.difference.low, same.difference.value, same.difference.high) == pytest.approx((0, 0, 0), abs=1e-3)


def test_a_difference_or_agreement_so_far_that_is_undefined_says_why():
    one = coded_labels([[1, 1], [1, 1]])
    compared = compare_agreement(one, coded_labels([[1, 0], [0, 0], [1, 1]] * 4))
    assert (compared.difference.value, compared.p) == (None, None)
    assert "only one category" in compared.difference.reason
    with pytest.raises(ValueError, match="coefficient must be one of"):
        compare_agreement(one, one, fleiss_kappa.__class__)
    assert compare_agreement(one, one, gwet_ac1).difference.value == 0
    assert agreement_so_far(coded_labels(np.zeros((0, 2)))).kappa.value is None
    one = agreement_so_far(coded_labels([[1, 1]] * 9))
    assert (one.kappa.value, one.percent.high) == (None, 1.0)
    assert one.percent.low < one.percent_once.low  # looking often costs certainty


def test_the_interval_of_agreement_so_far_is_that_of_the_uniform_mixture():
    # 30 of 40 pairs agree: p is excluded if p^30 (1 - p)^10 < .05 B(31, 11)
    codes = np.array([[1, 1]] * 15 + [[0, 0]] * 15 + [[1, 0]] * 10)
    found = agreement_so_far(coded_labels(codes))
    limit = special.betaln(31, 11) + np.log(0.05)
    for end in (found.percent.low, found.percent.high):
        assert 30 * np.log(end) + 10 * np.log(1 - end) == pytest.approx(limit)
    assert found.percent.low < found.percent_once.low < found.percent.value < found.percent_once.high
    assert found.kappa.low < found.kappa_once.low < found.kappa.value < found.kappa_once.high < found.kappa.high
    assert found.wider == pytest.approx(found.kappa.half_width / found.kappa_once.half_width)
    assert 1 < found.wider < 2.5


@pytest.mark.parametrize("n_studies", [8, pytest.param(300, marks=pytest.mark.slow)])
def test_all_looks_of_a_study_hold_the_truth_together(n_studies):
    # right in 80 % of the labels: pairs agree in 68 %, and kappa is .36
    rng, missed, missed_once = np.random.default_rng(4), 0, 0
    for _ in range(n_studies):
        codes = drawn_codes(150, [0.8, 0.8], rng)
        looks = [agreement_so_far(coded_labels(codes[:n])) for n in range(10, 151, 14)]
        missed += any(not look.kappa.low <= 0.36 <= look.kappa.high for look in looks)
        with_interval = [look.kappa_once for look in looks if look.kappa_once.low is not None]
        missed_once += any(not once.low <= 0.36 <= once.high for once in with_interval)
    assert stats.binomtest(missed, n_studies, 0.05, alternative="greater").pvalue > 0.01
    assert missed_once > missed  # ordinary intervals do not hold


def drifting(n_items, who, rng, *, common):
    """Labels of four reviewers on all items in their own order, or in one; `who` guess more and more."""
    codes, place = drawn_codes(n_items, [0.95] * 4, rng), np.tile(np.arange(n_items)[:, None], 4)
    if not common:
        place = np.argsort(rng.random((n_items, 4)), axis=0)
    for rater in who:
        guesses = rng.random(n_items) < place[:, rater] / n_items
        codes[:, rater] = np.where(guesses, rng.integers(0, 2, n_items), codes[:, rater])
    labels = coded_labels(codes)
    return labels.assign(
        position=[place[int(str(i).lstrip("i")), int(r[1:]) - 1] for i, r in labels[["item", "rater"]].values]
    )


@pytest.mark.parametrize(("common", "who", "named"), [
    (False, [], ()), (False, [2], ("r3",)), (False, [0, 1], ("r1", "r2")),
    (True, [], ()), (True, [2], ("r3",)),
])  # fmt: skip
def test_who_drifts_is_named_and_nobody_else(common, who, named):
    found = course_test(drifting(1200 if common else 400, who, np.random.default_rng(5), common=common))
    assert (found.common_order, found.changes, found.named) == (common, bool(who), named)
    assert all(row.slope.high < 0 for row in found.raters if row.rater in named and not common)


def test_alike_items_do_not_make_a_drift():
    # the same labels 40 times: 15 applications of 40 equal items, which cannot show a trend as 600 items can
    rng = np.random.default_rng(3)
    labels = drifting(15, [], rng, common=False)
    many = pd.concat([labels.assign(item=[f"{i} {k}" for i in labels["item"]], position=labels["position"] * 40 + k)
                      for k in range(40)], ignore_index=True)  # fmt: skip
    by_item, by_group = course_test(many), course_test(many, groups=many["item"].str.split(" ").str[0])
    for one, other in zip(by_item.raters, by_group.raters, strict=True):
        assert other.slope.value == pytest.approx(one.slope.value)
        assert other.slope.se > 3 * one.slope.se


def test_a_slope_by_hand_and_few_or_equal_labels_without_drift():
    # two raters in opposite orders: the design has the columns 1, t and 1 - t, so that nobody's slope is determined
    labels = coded_labels([[1, 1], [1, 2]] * 10)
    opposite = labels.assign(position=[int(str(i).lstrip("i")) * (1 if r == "r1" else -1)
                                       for i, r in labels[["item", "rater"]].values])  # fmt: skip
    assert course_test(opposite).changes is None
    # in one order, twenty labels: the raters agree on the first ten only, which gives the slope of 1, 0 on 0 .. 1
    found = course_test(coded_labels([[1, 1]] * 10 + [[1, 0]] * 10))
    assert (found.common_order, found.changes, found.named) == (True, True, ())
    few = course_test(coded_labels([[1, 1]] * 14))
    assert (few.changes, few.reason) == (None, "no other reviewer labelled 15 of the same items")
    assert course_test(coded_labels([[1, 1]] * 20)).reason == "all labels agree equally"
    with pytest.raises(ValueError, match="lacks the column position"):
        course_test(coded_labels([[1, 1]] * 20).drop(columns="position"))
    at_once = coded_labels([[1, 1], [1, 2]] * 10).assign(position=1)
    assert course_test(at_once).changes is None


def labelled(who, called):
    """Return a label table: `called` of each item and rater where `who` is true."""
    item, rater = np.nonzero(who)
    names = np.array([f"r{r + 1}" for r in range(who.shape[1])])
    category = np.where(called[item, rater], "dissimilar", "similar")
    return pd.DataFrame({"item": item, "rater": names[rater], "category": category})


def drawn(n_items, n_raters, k, rng, right=0.8, truth=None):
    """Return who labels what in turns of k raters, and labels of equally good raters."""
    blocks = list(combinations(range(n_raters), k))
    who = np.zeros((n_items, n_raters), dtype=bool)
    for item in range(n_items):
        who[item, list(blocks[item % len(blocks)])] = True
    truth = rng.random((n_items, 1)) < 0.5 if truth is None else truth
    return who, np.where(rng.random(who.shape) < right, truth, ~truth)


def test_pairs_with_different_items_have_nearly_pearsons_test():
    # the paper's six pairs: Pearson's chi-squared is 40.13 with 5 degrees of freedom
    agree, n = [46, 56, 34, 52, 75, 61], [98, 98, 97, 98, 97, 98]
    pairs = list(combinations("abcd", 2))
    rows = [
        (f"{a}{b}{i}", rater, "similar" if rater == a or i < x else "dissimilar")
        for (a, b), x, m in zip(pairs, agree, n, strict=True)
        for i in range(m)
        for rater in (a, b)
    ]
    found = pair_equality(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    assert (found.df1, found.df2, found.n_items) == (5, 581, 586)
    assert 5 * found.statistic == pytest.approx(40.13, rel=0.05)
    assert (found.pairs[0].a, found.pairs[0].b, found.pairs[0].n) == ("a", "b", 98)
    assert found.pairs[0].agree.value == pytest.approx(46 / 98)


def test_two_pairs_on_all_items_have_the_paired_test_of_their_difference():
    # with two pairs, F is nearly the square of the paired t statistic, which is centred at the common share
    rng = np.random.default_rng(3)
    who, called = drawn(90, 3, 3, rng, right=np.array([0.9, 0.8, 0.6]))
    table = labelled(who, called)
    table = table[~((table["rater"] == "r1") & (table["item"] % 3 == 0))]
    found = pair_equality(table)
    assert (found.df1, found.df2) == (2, 88)
    assert found.p == pytest.approx(stats.f.sf(found.statistic, 2, 88))


def test_two_camps_are_named_with_their_agreement():
    rng = np.random.default_rng(1)
    opinions = rng.random((150, 2)) < 0.5
    who, called = drawn(150, 4, 4, rng, right=0.9, truth=opinions[:, [0, 0, 1, 1]])
    contrast = pair_equality(labelled(who, called)).contrast
    assert (contrast.kind, contrast.first, contrast.second) == ("groups", ("r1", "r2"), ("r3", "r4"))
    assert contrast.within.low > contrast.across.high
    assert contrast.across.low <= contrast.chance_across <= contrast.across.high
    assert contrast.within_first.value == pytest.approx(np.mean(called[:, 0] == called[:, 1]))
    assert contrast.within_second.value == pytest.approx(np.mean(called[:, 2] == called[:, 3]))


def test_a_copying_pair_and_a_reviewer_who_guesses_are_named():
    rng = np.random.default_rng(2)
    who, called = drawn(150, 4, 4, rng)
    called[:, 1] = np.where(rng.random(150) < 0.8, called[:, 0], called[:, 1])
    found = pair_equality(labelled(who, called))
    assert (found.contrast.kind, found.contrast.first) == ("pair", ("r1", "r2"))
    assert found.contrast.within.value == pytest.approx(np.mean(called[:, 0] == called[:, 1]))
    others = [np.mean(called[:, i] == called[:, j]) for i, j in combinations(range(4), 2) if (i, j) != (0, 1)]
    assert found.contrast.across.value == pytest.approx(np.mean(others))
    rng = np.random.default_rng(4)
    who, called = drawn(300, 5, 3, rng, right=0.9)
    called[:, 3] = rng.random(300) < 0.5
    contrast = pair_equality(labelled(who, called)).contrast
    assert (contrast.kind, contrast.first) == ("reviewer", ("r4",))
    assert contrast.across.value < 0.6 < contrast.within.low


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(i, r, "similar") for i in range(40) for r in "ab"], "fewer than two pairs share items"),
        ([(i, r, "similar") for i in range(40) for r in "abc"], "all pairs always agree"),
        ([(i, r, "similar" if (i + ord(r)) % 4 else "dissimilar") for i in range(9) for r in "abc"], TOO_FEW),
        ([], "fewer than two pairs share items"),
    ],
)
def test_pairs_that_cannot_be_compared_say_why(rows, reason):
    found = pair_equality(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    assert (found.p, found.contrast, found.reason) == (None, None, reason)


def test_names_and_order_of_items_and_raters_do_not_matter():
    rng = np.random.default_rng(5)
    who, called = drawn(120, 4, 3, rng, right=np.array([0.9, 0.9, 0.7, 0.6]))
    table = labelled(who, called)
    one, other = pair_equality(table), pair_equality(table.sample(frac=1, random_state=1))
    assert one.p == pytest.approx(other.p)
    assert one.contrast == other.contrast


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "n_raters", "k"), [(20, 3, 3), (60, 3, 3), (60, 4, 4), (120, 4, 3), (324, 4, 2)])
@pytest.mark.parametrize("right", [0.7, 0.85])
def test_equal_pairs_are_rejected_in_at_most_six_percent(n_items, n_raters, k, right):
    rng = np.random.default_rng(6)
    p = [pair_equality(labelled(*drawn(n_items, n_raters, k, rng, right))).p for _ in range(1000)]
    tested = [value for value in p if value is not None]
    assert np.mean(np.array(tested) <= 0.05) <= 0.06 + 2 * (0.06 * 0.94 / max(len(tested), 1)) ** 0.5


SCALE = ("slower", "no change", "faster")


def shown(n_items, bias, seed, *, n_reviewers=3, accuracy=0.85):
    """Labels of items in a drawn order of sides; with this probability a reviewer calls the left side slower."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n_items, p=(0.4, 0.4, 0.2))
    rows = []
    for item in range(n_items):
        for _ in range(n_reviewers):
            swapped = bool(rng.random() < 0.5)
            label = truth[item] if rng.random() < accuracy else rng.integers(3)
            if rng.random() < bias:
                label = 0 if swapped else 2  # the version on the left is slower
            rows.append((item, SCALE[label], swapped))
    return pd.DataFrame(rows, columns=["item", "category", "swapped"])


def test_a_bias_worked_by_hand():
    # a: shown both ways, always "slower": left .5, right .5. b: unswapped "faster" (left slower), swapped "no change":
    # left (1 + 0) / 2, right 0. c: shown in one way only, left out
    rows = [("a", "slower", True), ("a", "slower", False), ("b", "faster", False), ("b", "no change", True)]
    found = side_bias(pd.DataFrame([*rows, ("c", "slower", True)], columns=["item", "category", "swapped"]), SCALE)
    assert (found.n_items, found.n_labels, found.left, found.right) == (2, 4, 0.5, 0.25)
    assert found.bias.value == 0.25


@pytest.mark.parametrize("planted", [0.0, 0.1])
def test_a_planted_bias_is_found_with_its_interval(planted):
    found = [side_bias(shown(200, planted, seed), SCALE).bias for seed in range(40)]
    values = np.array([bias.value for bias in found])
    assert values.mean() == pytest.approx(planted, abs=0.015)
    covered = sum(bias.low <= planted <= bias.high for bias in found)
    assert covered >= 33  # of 40, nominal 38
    detected = sum(bias.low > 0 for bias in found)
    assert detected <= 5 if planted == 0 else detected >= 26


def test_a_change_of_the_items_is_no_bias_and_what_is_undefined_has_a_reason():
    always = shown(60, 0.0, 1, accuracy=1.0)
    assert side_bias(always, SCALE).bias.value == pytest.approx(0, abs=1e-12)
    once = pd.DataFrame({"item": ["a", "b"], "category": ["slower", "faster"], "swapped": [True, False]})
    assert side_bias(once, SCALE).bias.reason == "no item was shown both ways"
    assert side_bias(once.assign(swapped=None), SCALE).n_items == 0
    with pytest.raises(ValueError, match="'better' is not one of the categories"):
        side_bias(once.assign(category="better"), SCALE)
    with pytest.raises(ValueError, match="swapped"):
        side_bias(once.drop(columns="swapped"), SCALE)


S, D = "similar", "dissimilar"


def verdict_table(**verdicts):
    """Build a verdict table from one list per classifier, for items 1, 2, ..."""
    rows = [(item, name, one) for name, given in verdicts.items() for item, one in enumerate(given, 1)]
    return pd.DataFrame(rows, columns=["item", "classifier", "verdict"])


def test_two_classifiers_by_hand():
    # both judge 1, 2, 3, 5: DD, DS, SS, DD
    found = classifiers_among_themselves(verdict_table(a=[D, D, S, S, D], b=[D, S, S, None, D]))[0]
    assert (found.a, found.b, found.n, found.agree.value) == ("a", "b", 4, 0.75)
    assert found.a_finds.value == 1  # of the 2 that b calls dissimilar
    assert found.b_finds.value == pytest.approx(2 / 3)  # of the 3 that a calls dissimilar
    assert (found.a_clears.value, found.b_clears.value) == (0.5, 1)
    assert found.kappa.ends == pytest.approx(cohen_kappa([[2, 1], [0, 1]]).ends)


def test_every_two_classifiers_are_compared_or_say_what_is_undefined():
    found = classifiers_among_themselves(verdict_table(c=[S], a=[S], b=[D]))
    assert [(one.a, one.b) for one in found] == [("c", "a"), ("c", "b"), ("a", "b")]
    found = classifiers_among_themselves(verdict_table(a=[S, S], b=[S, S]))[0]
    assert (found.a_finds.value, found.a_finds.reason) == (None, "no observations")
    assert found.kappa.value is None and found.kappa.reason
    assert classifiers_among_themselves(verdict_table(a=[S, None], b=[None, S]))[0].agree.value is None


def test_items_with_the_most_even_split_are_sent_first_and_unanimous_ones_never():
    found = send_first(verdict_table(a=[D, D, S, S], b=[D, S, S, None], c=[D, S, S, D], d=[D, D, S, D]))
    assert found["item"].tolist() == [2, 4]
    # 2 against 2: 4 of 6 pairs; 1 against 2: 2 of 3
    assert found["disagreement"].tolist() == pytest.approx([4 / 6, 2 / 3])
    assert (found["dissimilar"][0], found["similar"][0]) == (["a", "d"], ["b", "c"])


def test_of_equally_split_items_the_one_nearest_to_a_threshold_is_first():
    verdicts = verdict_table(a=[D, D], b=[S, S])
    verdicts["score"], verdicts["threshold"] = [0.9, 0.26, 0.1, 0.1], 0.25
    found = send_first(verdicts)
    assert found["item"].tolist() == [2, 1]
    assert found["margin"].tolist() == pytest.approx([0.04, 0.6])
    assert send_first(verdicts, n=1)["item"].tolist() == [2]
    assert send_first(verdict_table(a=[D], b=[S]))["margin"].isna().all()
    verdicts = verdict_table(a=[D], b=[S]).assign(score=None, threshold=0.0)
    assert send_first(verdicts)["margin"].isna().all()


@pytest.mark.parametrize("ask", [classifiers_among_themselves, send_first])
def test_invalid_tables_of_verdicts_are_rejected(ask):
    with pytest.raises(ValueError, match="column verdict"):
        ask(pd.DataFrame({"item": [1], "classifier": ["a"]}))
    with pytest.raises(ValueError, match=r"'unclear'.*similar, dissimilar"):
        ask(verdict_table(a=["unclear"]))
    with pytest.raises(ValueError, match=r"classifier 'a'.*'1'"):
        ask(pd.concat([verdict_table(a=[S]), verdict_table(a=[D])]))
