"""Time on task: the counted part of the time between showing an item and its answer."""

import pytest
from hypothesis import given, strategies as st

from labeler.studies.screen.timing import HIDDEN, IDLE, SINCE_SENT, time_on_task, typical

DAY_MS = 86_400_000

dwells = st.integers(0, DAY_MS)
pauses = st.tuples(st.integers(0, DAY_MS), st.integers(0, DAY_MS), st.sampled_from([HIDDEN, IDLE])).map(list)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from([HIDDEN, IDLE]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("pauses", "expected"),
    [
        ([], 200_000),
        ([[0, 60_000, IDLE]], 200_000),  # up to a minute without input counts: the person may be looking
        ([[0, 60_001, IDLE]], 199_999),
        ([[5_000, 150_000, IDLE]], 110_000),  # 150 s without input, of which 60 s count: 90 s less
        ([[5_000, 150_000, HIDDEN]], 50_000),
        ([[5_000, 1, HIDDEN]], 199_999),
        ([[0, 70_000, IDLE], [80_000, 70_000, IDLE]], 180_000),  # each pause has its own minute
        ([[0, 20_000, HIDDEN], [30_000, 90_000, IDLE], [150_000, 1_000, HIDDEN]], 149_000),
        ([[0, 200_000, HIDDEN]], 0),
        ([[0, 900_000, HIDDEN]], 0),  # a clock that jumped
    ],
)
def test_time_on_task_worked_by_hand(pauses, expected):
    assert time_on_task(200_000, {"pauses": pauses}) == expected


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ({}, 9_000),  # nothing is known of the picture, for example because another process sent it
        ({SINCE_SENT: 9_001}, 9_000),
        ({SINCE_SENT: 200}, 200),  # nobody looked at a picture longer than since it was sent
        ({SINCE_SENT: None}, None),  # never sent
    ],
)
def test_a_browser_cannot_claim_more_time_than_since_the_picture_was_sent(view, expected):
    assert time_on_task(9_000, view) == expected


@given(dwells, st.lists(pauses, max_size=5), pauses)
def test_a_further_pause_never_makes_it_longer(dwell_ms, earlier, one_more):
    before = time_on_task(dwell_ms, {"pauses": earlier})
    assert 0 <= time_on_task(dwell_ms, {"pauses": [*earlier, one_more]}) <= before <= dwell_ms


@given(dwells, st.lists(pauses, max_size=5), st.randoms(use_true_random=False))
def test_the_order_in_which_pauses_were_noted_does_not_matter(dwell_ms, noted, random):
    shuffled = random.sample(noted, len(noted))
    assert time_on_task(dwell_ms, {"pauses": shuffled}) == time_on_task(dwell_ms, {"pauses": noted})


@given(dwells, st.integers(0, DAY_MS), st.integers(0, DAY_MS))
def test_hidden_time_never_counts_for_more_than_idle_time(dwell_ms, start, length):
    hidden, idle = ({"pauses": [[start, length, why]]} for why in (HIDDEN, IDLE))
    assert time_on_task(dwell_ms, hidden) <= time_on_task(dwell_ms, idle)


@given(dwells, anything)
def test_whatever_a_browser_sends_as_pauses_the_time_stays_between_nothing_and_all_of_it(dwell_ms, noted):
    time_ms = time_on_task(dwell_ms, {"pauses": noted})
    assert type(time_ms) is int
    assert 0 <= time_ms <= dwell_ms


@pytest.mark.parametrize(
    "junk",
    [
        None, "hidden", 7, {"hidden": 100}, [None], ["hidden"], [[]], [[0, 50_000]], [[0, 50_000, HIDDEN, 1]],
        [[0, "50000", HIDDEN]], [[0, 50_000.5, HIDDEN]], [["0", 50_000, HIDDEN]], [[0, -50_000, HIDDEN]],
        [[0, 0, HIDDEN]], [[0, 90_000, "asleep"]], [[0, 90_000, None]], [{"start": 0, "length": 90_000, "why": HIDDEN}],
    ],
    ids=repr,
)  # fmt: skip
def test_junk_among_the_pauses_is_passed_over_and_the_rest_counts(junk):
    assert time_on_task(100_000, {"pauses": junk}) == 100_000
    if isinstance(junk, list):
        assert time_on_task(100_000, {"pauses": [*junk, [0, 30_000, HIDDEN]]}) == 70_000


def test_the_typical_time_is_the_median_in_seconds():
    assert typical([1_000, 9_000, 2_500]) == 2.5
    assert typical(time for time in (1_000, 2_000)) == 1.5
    assert typical([0]) == 0.0
    assert typical([]) is None
