import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.bootstrap import _weights, bootstrap, percentile_interval
from tests.sentences import says


def mean_of(x):
    return lambda weights: weights @ x / weights.sum(axis=1)


def share_among(chosen, x):
    """Compute the mean of x over the chosen items, which is undefined in a draw without chosen items."""

    return lambda weights: weights @ (chosen * x) / (weights @ chosen)


def test_the_interval_of_a_mean_is_that_of_theory():
    x = np.random.default_rng(1).normal(size=400)
    estimate = bootstrap(mean_of(x), 400, rng=np.random.default_rng(2))
    assert estimate.value == pytest.approx(x.mean())
    assert estimate.se == pytest.approx(x.std() / 20, rel=0.05)
    assert [estimate.low, estimate.high] == pytest.approx(
        [x.mean() - 1.96 * x.std() / 20, x.mean() + 1.96 * x.std() / 20], abs=0.01
    )
    assert estimate.reason is None


def test_whole_groups_are_drawn_so_that_equal_items_of_a_group_count_once():
    x = np.repeat([0.0, 1.0] * 20, 10)
    groups = np.repeat(np.arange(40), 10).tolist()
    alone = bootstrap(mean_of(x), 400, rng=np.random.default_rng(1))
    together = bootstrap(mean_of(x), 400, rng=np.random.default_rng(1), groups=groups)
    assert together.se == pytest.approx(alone.se * 10**0.5, rel=0.06)


def test_items_without_a_group_are_one_group():
    seen = []

    def statistic(weights):
        seen.append(weights)
        return weights[:, 0]

    bootstrap(statistic, 4, rng=np.random.default_rng(1), groups=["a", None, "a", None], n_draws=50)
    assert (seen[1][:, 0] == seen[1][:, 2]).all()
    assert (seen[1][:, 1] == seen[1][:, 3]).all()
    assert set(seen[1][:, :2].sum(axis=1)) == {2.0}


def test_undefined_draws_are_counted_and_reported():
    chosen, x = np.array([1.0, 1.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    estimate = bootstrap(share_among(chosen, x), 5, rng=np.random.default_rng(1), n_draws=1000)
    n_undefined = int(estimate.reason.split()[2])
    assert n_undefined / 1000 == pytest.approx(0.6**5, abs=0.03)
    assert says(estimate.reason, "undefined in", "of 1000", "left out")
    assert (estimate.low, estimate.value, estimate.high) == (0, 0.5, 1)


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(ValueError, match=f"level must be within .*got {level}"):
        percentile_interval(0.5, [0.25, 0.75], level=level)


def test_no_interval_where_half_the_draws_are_undefined():
    estimate = percentile_interval(0.5, [0.5, np.nan])
    assert says(estimate.reason, "1 of 2", "no interval")
    assert (estimate.value, estimate.se, estimate.low, estimate.high) == (0.5, None, None, None)
    assert percentile_interval(0.5, [0.5]).reason == "fewer than two bootstrap draws: no interval"


def test_what_cannot_be_drawn_is_a_result_with_a_reason():
    rng = np.random.default_rng(1)
    assert bootstrap(mean_of(np.zeros(0)), 0, rng=rng).reason == "no items"
    assert bootstrap(mean_of(np.ones(1)), 1, rng=rng).reason == "one item: no interval"
    assert bootstrap(mean_of(np.ones(3)), 3, rng=rng, groups=["a"] * 3).reason == "one group: no interval"
    assert (
        bootstrap(share_among(np.zeros(3), np.ones(3)), 3, rng=rng).reason
        == "the statistic is undefined on these items"
    )


def test_wrong_arguments_are_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match=r"2 entries.*3 items"):
        bootstrap(mean_of(np.ones(3)), 3, rng=rng, groups=["a", "b"])
    with pytest.raises(ValueError, match=r"n_draws.*got 0"):
        bootstrap(mean_of(np.ones(3)), 3, rng=rng, n_draws=0)
    with pytest.raises(ValueError, match=r"level.*got 95"):
        bootstrap(mean_of(np.ones(3)), 3, rng=rng, level=95)


def test_the_same_seed_gives_the_same_interval_and_many_items_are_drawn_in_parts(monkeypatch):
    x = np.arange(7.0)
    once = bootstrap(mean_of(x), 7, rng=np.random.default_rng(3), n_draws=99)
    assert once == bootstrap(mean_of(x), 7, rng=np.random.default_rng(3), n_draws=99)
    monkeypatch.setattr("analysis.bootstrap.CELLS_AT_ONCE", 70)
    assert once == bootstrap(mean_of(x), 7, rng=np.random.default_rng(3), n_draws=99)


@given(st.integers(1, 20), st.integers(2, 30))
def test_every_draw_has_as_many_items_as_there_are(n_draws, n):
    weights = _weights(np.random.default_rng(1), n_draws, np.arange(n))
    assert weights.shape == (n_draws, n)
    assert (weights.sum(axis=1) == n).all()
