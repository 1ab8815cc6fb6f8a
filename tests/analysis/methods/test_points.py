"""Marked points and segments: matching, F1, covering, consensus, detectors, and the least penalised cost."""

import json
from itertools import combinations, pairwise, permutations
from math import log, pi

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.methods.points import (
    DETECTORS,
    MarkedSeries,
    consensus_of_marks,
    covering,
    each_against_rest,
    f1,
    interval_alpha,
    intraclass,
    margin_of,
    mark_agreement,
    matches,
    start_agreement,
    usable_detections,
)
from analysis.runs import segments
from analysis.runs.segments import Segmenter

# series of the Turing change point data set, with the marks of its five annotators
NILE = {"6": [], "7": [28], "8": [], "9": [28], "12": [28]}
QUALITY = {"6": [98], "7": [99], "8": [97], "12": [97], "13": []}
FIRST = {"1": [10, 20], "2": [11, 20], "3": [10], "4": [0, 5]}
SECOND = {"1": [], "2": [10], "3": [50]}
THIRD = {"1": [10, 20], "2": [10], "3": [0, 5]}
FOURTH = {"1": [], "2": [10], "3": [40]}


# published values


@pytest.mark.parametrize(
    ("people", "marks", "n", "expected"),
    [
        (NILE, [], 100, (1, 0.7, 0.8235294117647058, 0.75808)),
        (NILE, [27], 100, (1, 1, 1, 0.8800821917808218)),
        (NILE, [28], 100, (1, 1, 1, 0.888)),
        (NILE, [46], 100, (0.5, 0.7, 0.5833333333333333, 0.6422608695652174)),
        (FIRST, [10, 20], 45, (None, None, 1, None)),
        (SECOND, [10], 60, (None, None, 0.9090909090909091, None)),
        (SECOND, [], 60, (None, None, 0.8, None)),
        (THIRD, [10, 20], 45, (None, None, None, 0.7962962962962963)),
        (FOURTH, [10], 45, (None, None, None, 0.7954144620811286)),
        (FOURTH, [], 45, (None, None, None, 0.8189300411522634)),
    ],
)
def test_published_f1_and_covering(people, marks, n, expected):
    score = f1(people, marks)
    found = (score.precision, score.recall, score.value, covering(people, marks, n))
    for value, wanted in zip(found, expected, strict=True):
        assert wanted is None or value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("people", "n", "of_f1", "of_covering"),
    [
        (NILE, 100, 0.9076923076923077, 0.79504),
        (QUALITY, 283, 0.9333333333333333, 0.8355649637068915),
        (dict.fromkeys("abcde", ()), 581, 1, 1),
        ({"a": [3]}, 10, None, None),
    ],
)
def test_published_agreement_of_each_against_the_rest(people, n, of_f1, of_covering):
    for found, expected in (
        (each_against_rest(people, lambda rest, marks: f1(rest, marks).value), of_f1),
        (each_against_rest(people, lambda rest, marks: covering(rest, marks, n)), of_covering),
    ):
        assert found == (None if expected is None else pytest.approx(expected, abs=1e-12))


def test_both_matchings_differ_where_the_nearest_mark_is_needed_elsewhere():
    people, marks = {"a": [4, 7]}, [2, 5]
    assert f1(people, marks, 2, "published").value == pytest.approx(2 / 3)
    assert f1(people, marks, 2, "maximum").value == 1


# properties

points = st.lists(st.integers(0, 30), max_size=5)


@given(points, points, st.integers(0, 8))
def test_maximum_matching_is_the_best_of_all(truth, marks, margin):
    true, found = sorted(set(truth)), sorted(set(marks))
    few, many = (true, found) if len(true) <= len(found) else (found, true)
    best = (0, 0)
    for k in range(len(few) + 1):
        for some in combinations(few, k):
            for others in permutations(many, k):
                distances = [abs(a - b) for a, b in zip(some, others, strict=True)]
                if all(distance <= margin for distance in distances):
                    best = max(best, (k, -sum(distances)))
    pairs = matches(truth, marks, margin)
    assert (len(pairs), -sum(abs(a - b) for a, b in pairs)) == best
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)


@given(points, st.lists(points, min_size=1, max_size=4), st.integers(0, 8))
def test_scores_are_shares_and_equal_marks_are_a_full_score(marks, others, margin):
    people = {str(at): each for at, each in enumerate(others)}
    assert 0 < f1(people, marks, margin).value <= 1
    assert 0 < covering(people, marks, 31) <= 1
    same = {"a": marks, "b": marks}
    assert f1(same, marks, margin, "maximum").value == 1
    assert covering(same, marks, 31) == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: f1({}, []), "nobody marked this series"),
        (lambda: covering({}, [], 5), "nobody marked this series"),
        (lambda: covering({"a": []}, [], 0), "at least one point"),
        (lambda: matches([1], [1], matching="best"), "one of published, maximum; got 'best'"),
        (lambda: DETECTORS["pelt-15"]([1.0, np.nan]), "finite numbers"),
        (lambda: Segmenter([1.0, np.nan]), "finite numbers"),
        *(
            (
                lambda mark=mark: MarkedSeries("nile", 10, {"ada": (mark,)}),
                f"series 'nile': ada marked point {mark}, but the points are 0 to 9",
            )
            for mark in (-1, 10)
        ),
    ],
)
def test_errors_name_the_value(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_detections_at_the_ends_do_not_count_and_parameters_can_be_overridden():
    assert usable_detections([0, 1, 5, 5, 8, 9, 12], 10) == (1, 5, 8)
    values = history((20, 1.0), (20, 1.04), noise=0.002)
    assert DETECTORS["median-shift"](values) == ()
    assert DETECTORS["median-shift"](values, share=0.02) == (pytest.approx(20, abs=1),)


# consensus


@pytest.mark.parametrize(
    ("people", "agreed", "ties", "lone"),
    [
        ({"a": [28], "b": [30], "c": [29]}, (29,), [], []),
        ({"a": [28], "b": [30, 70], "c": [29], "d": []}, (29,), [], [70]),
        ({"a": [10], "b": []}, (), [10], []),
        ({"a": [10], "b": [10], "c": [], "d": []}, (), [10], []),
        ({"a": [10, 12], "b": [11]}, (10,), [12], []),  # two marks of one person are two clusters
        ({"a": [0, 6], "b": [5]}, (0,), [6], []),
        ({}, (), [], []),
    ],
)
def test_a_mark_is_agreed_if_more_than_half_marked_there(people, agreed, ties, lone):
    found = consensus_of_marks(people)
    assert found.marks == agreed
    assert [cluster.at for cluster in found.ties] == ties
    assert [cluster.at for cluster in found.lone] == lone


def test_marks_of_long_series_are_the_same_within_a_hundredth_of_the_series():
    assert [margin_of(n) for n in (40, 500, 3000)] == [5, 5, 30]


# detectors


def history(*levels, noise=0.01, seed=1):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(level, noise * level, n) for n, level in levels])


@pytest.mark.parametrize("name", [name for name in DETECTORS if name != "none"])
def test_each_detector_finds_a_clear_step_and_nothing_in_noise(name):
    assert DETECTORS[name](history((40, 1.0), (40, 1.2))) == (pytest.approx(40, abs=1),)
    assert DETECTORS[name](1e-6 * history((40, 1.0), (40, 1.2))) == (pytest.approx(40, abs=1),)
    assert len(DETECTORS[name](history((80, 1.0), noise=0.005, seed=3))) <= (2 if name == "pelt-bic" else 0)


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0, 3.0], [5.0] * 40, [0.0] * 20, list(range(30))])
def test_short_constant_and_straight_series_are_no_error(name, values):
    marks = DETECTORS[name](values)
    assert all(0 < mark < len(values) for mark in marks)
    assert len(set(values)) > 1 or marks == ()


# agreement of people


def marked(n_series, error, *, people="abcde", n=200, seed=1):
    """Series with one change each, marked by people with a normal error."""
    rng = np.random.default_rng(seed)
    true = rng.integers(40, n - 40, n_series)
    return [
        MarkedSeries(str(at), n, {name: (int(np.clip(round(rng.normal(place, error)), 1, n - 1)),) for name in people})
        for at, place in enumerate(true)
    ]


def test_two_people_with_an_error_of_3_points_agree_as_expected():
    # Within m points with probability P(|d| <= m + 1/2), d normal with standard deviation 3 sqrt 2. With the point 0 in
    # both sets, F1 of a pair is 1 if they match, and 1/2 if not.
    found = mark_agreement(marked(500, 3, people="ab"), permutations=0)
    for row in found.margins:
        if not row.is_share:
            p = 2 * stats.norm.cdf((row.margin + 0.5) / (3 * np.sqrt(2))) - 1
            assert row.pairs.value == pytest.approx(p, abs=0.06)
            assert row.against_rest.value == pytest.approx((1 + p) / 2, abs=0.03)


def test_marks_at_random_are_no_better_than_chance_and_equal_marks_are_full_agreement():
    rng = np.random.default_rng(7)
    at_random = [
        MarkedSeries(
            str(at), 60, {name: tuple(map(int, rng.choice(np.arange(1, 60), 2, replace=False))) for name in "abc"}
        )
        for at in range(40)
    ]
    noise = mark_agreement(at_random, permutations=20)
    assert noise.f1_above_chance.corrected == pytest.approx(0, abs=0.1)
    assert noise.covering_above_chance.corrected == pytest.approx(0, abs=0.1)
    equal = mark_agreement(marked(10, 0), permutations=20)
    assert equal.f1_above_chance.corrected == 1
    assert (equal.distance, equal.none_and_none) == (0, 0)


def test_people_who_mark_more_or_nothing_or_are_alone():
    series = [MarkedSeries(str(at), 50, {"few": (), "many": tuple(range(5, 45, 2))}) for at in range(4)]
    found = mark_agreement(series, permutations=5)
    assert found.mean_marks == {"few": 0, "many": 20}
    assert found.number_of_marks.value < 0  # all of the variance is within series
    assert found.none_and_none == 0
    found = mark_agreement([MarkedSeries("bank", 581, dict.fromkeys("abc", ()))] * 2, permutations=3)
    assert [row.against_rest.value for row in found.margins] == [1] * 8
    assert found.covering_against_rest.value == 1
    assert found.margins[0].pairs.value is None
    assert (found.none_and_none, found.f1_above_chance.corrected) == (1, None)
    found = mark_agreement([MarkedSeries("a", 10, {"ada": (3,)})], permutations=3)
    assert (found.n_series, found.none_and_none, found.distance) == (0, None, None)
    assert found.any_change.reason == "no series has two people"
    assert found.covering_against_rest.reason == "no items"


def test_the_intraclass_correlation_and_interval_alpha_are_published_or_by_hand():
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert intraclass(table).value == pytest.approx(0.1657, abs=5e-5)
    assert intraclass([[1, 1], [1, 1]]).value is None
    certain = intraclass([[1, 1], [2, 2], [3, 3], [1, 1]])
    assert (certain.value, certain.low, certain.high) == (1, None, None)
    # Observed: one pair differs by 1 among 6 values, 1/6 * 2; expected: 2 (6 * 35 - 13 ** 2) / 30.
    assert interval_alpha([[1, 1], [2, 2], [3, 4], [9]]).value == pytest.approx(1 - (2 / 6) / (82 / 30))
    starts = [{"a": 99, "b": 99}, {"a": 9, "b": 9}, {"a": None, "b": None}, {"a": 999, "b": None}]
    found = start_agreement(starts)
    assert (found.alpha.value, found.icc.value, found.factor) == (1, 1, 1)
    assert found.never.value == pytest.approx(1 - 0.25 / (1 - (3 / 8) ** 2 - (5 / 8) ** 2))


def test_five_experts_hardly_agree_on_the_start_of_the_steady_state(published_classes):
    runs = json.loads((published_classes.parent / "people.json").read_text()).values()
    starts = [{name: start if start >= 0 else None for name, start in run["start"].items()} for run in runs]
    found = start_agreement(starts)
    assert 0.2 < found.alpha.value < 0.5  # .354 on the 407 runs of the publication
    assert 0.1 < found.alpha_of_iterations.value < 0.35  # .236
    (within_5,) = (row for row in found.within if row.iterations == 5)
    assert within_5.lowest < 0.02 and 0.15 < within_5.highest < 0.3  # 1 to 20 %


def by_definition(values, starts):
    """Cost of a segmentation, written as in the paper."""
    total = 0.0
    for segment in np.split(np.asarray(values, dtype=float), list(starts)):
        variance = segment.var()
        total += len(segment) * (log(2 * pi) + log(variance if variance > 0 else 1e-11) + 1)
    return total


def all_segmentations(n):
    for k in range(n // 2):
        for starts in combinations(range(2, n - 1), k):
            if all(b - a >= 2 for a, b in zip((0, *starts), (*starts, n), strict=True)):
                yield starts


some_series = st.lists(st.integers(1, 40), min_size=4, max_size=11).map(
    lambda values: [v + i * 0.137 for i, v in enumerate(values)]
)


@settings(max_examples=60, deadline=None)
@given(some_series, st.floats(0.1, 60), st.integers(3, 12))
def test_the_best_segmentation_is_the_best_of_all(values, penalty, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "BLOCK", block)
        found = Segmenter(values).best(penalty)
    least = min(by_definition(values, starts) + penalty * len(starts) for starts in all_segmentations(len(values)))
    assert by_definition(values, found.starts) + penalty * len(found.starts) == pytest.approx(least, abs=1e-6)
    assert found.cost == pytest.approx(by_definition(values, found.starts), abs=1e-6)


def test_a_long_series_has_the_same_segments_with_and_without_leaving_out_first_points(monkeypatch):
    rng = np.random.default_rng(4)
    values = rng.normal(np.repeat(rng.uniform(1, 2, 12), 50), 0.05)
    pruned = [Segmenter(values).best(penalty) for penalty in (5, 20, 200)]
    monkeypatch.setattr(segments, "_can_begin", lambda _least, _ends, _costs, firsts: np.ones(len(firsts), dtype=bool))
    assert [Segmenter(values).best(penalty) for penalty in (5, 20, 200)] == pruned
    assert [len(found) for found in pruned] == sorted((len(found) for found in pruned), reverse=True)


def test_the_path_has_the_best_segmentation_of_each_penalty():
    rng = np.random.default_rng(5)
    values = rng.normal(np.repeat([1, 1.4, 1.1, 1.9], 40), 0.1)
    path = Segmenter(values).path(4 * log(160), 1000)
    assert path[0].low == 4 * log(160)
    assert path[-1].high == 1000
    assert path[-1].starts == ()
    for each, following in pairwise(path):
        assert len(each) > len(following)
        assert each.high == following.low
        # at the penalty between two segmentations, both cost the same
        assert each.cost + each.high * len(each) == pytest.approx(following.cost + each.high * len(following))
        assert Segmenter(values).best((each.low + each.high) / 2).starts == each.starts


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0], [5.0] * 50])
def test_short_and_constant_series_have_no_change(values):
    # A variance of 0 counts as 1e-11, so a split of a constant series gains nothing.
    assert Segmenter(values).best(10).starts == ()
