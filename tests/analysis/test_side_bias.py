"""Side bias: planted and found, and nothing found where there is none."""

import numpy as np
import pandas as pd
import pytest

from analysis.agreement import side_bias

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
    found = [side_bias(shown(200, planted, seed), SCALE).bias for seed in range(100)]
    values = np.array([bias.value for bias in found])
    assert values.mean() == pytest.approx(planted, abs=0.01)
    covered = sum(bias.low <= planted <= bias.high for bias in found)
    assert covered >= 88  # of 100, nominal 95
    detected = sum(bias.low > 0 for bias in found)
    assert detected <= 8 if planted == 0 else detected >= 75


def test_a_change_of_the_items_is_no_bias():
    always = shown(60, 0.0, 1, accuracy=1.0)
    assert side_bias(always, SCALE).bias.value == pytest.approx(0, abs=1e-12)


def test_what_is_undefined_has_a_reason():
    once = pd.DataFrame({"item": ["a", "b"], "category": ["slower", "faster"], "swapped": [True, False]})
    assert side_bias(once, SCALE).bias.reason == "no item was shown both ways"
    assert side_bias(once.assign(swapped=None), SCALE).n_items == 0
    with pytest.raises(ValueError, match="'better' is not one of the categories"):
        side_bias(once.assign(category="better"), SCALE)
    with pytest.raises(ValueError, match="swapped"):
        side_bias(once.drop(columns="swapped"), SCALE)
