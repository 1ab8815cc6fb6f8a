"""Requirements for latent class estimates on simulated studies, with the numbers of the specification."""

import numpy as np
import pytest

from analysis.simulation import SimulatedDesign
from tests.analysis import consensus_goals as made
from tests.analysis.consensus_goals import consensus_goals


def test_the_calibration_error_by_hand():
    # two items at .95 of which one is true, two at .05 of which none: (2 * |.95 - .5| + 2 * .05) / 4
    assert made.calibration_error(np.array([0.95, 0.95, 0.05, 0.05]), np.array([True, False, False, False])) == (
        pytest.approx(0.25)
    )
    assert made.calibration_error(np.array([1.0]), np.array([True])) == 0


def test_the_best_accuracy_is_that_of_bayes_rule():
    # by summing over all patterns: the three blocks with r1 .9275 each, the one without .8008
    study = made._study(SimulatedDesign(40_000, 3), np.random.default_rng(1))
    known = made.true_posterior(study)
    assert made._share_right(known > 0.5, known) == pytest.approx((3 * 0.9275 + 0.8008) / 4, abs=0.002)
    truth = (study.truth[study.labels["item"].unique()] == "dissimilar").to_numpy()
    assert made.calibration_error(known, truth) < 0.01


def test_the_table_of_goals_needs_at_least_one_study():
    with pytest.raises(ValueError, match=r"n_replicates.*1"):
        consensus_goals(n_replicates=0, rng=np.random.default_rng(1))


@pytest.mark.slow
def test_estimates_reach_their_goals():
    goals = consensus_goals(rng=np.random.default_rng(586))
    for goal in goals:
        met = {None: "", True: "yes", False: "NO"}[goal.met]
        print(f"{goal.goal:61}{goal.reached:8.4f}  {goal.wanted:8}{met}".rstrip())
    assert [goal.goal for goal in goals if goal.met is False] == []
