"""The tests of independent errors that share one budget, and the status that they give."""

import numpy as np
import pytest
from scipy import stats

from analysis.consensus import identifiability, latent_class
from analysis.consensus._dependence import Family, leave_one_out
from analysis.consensus._latent import COPIED, STATES, check_independence
from analysis.consensus._model import fit, patterns_of
from analysis.simulation import Rater, SimulatedDesign, simulate
from tests.analysis.model_goals import GOOD, WORLDS, outcome, simulated
from tests.analysis.test_latent_model import label_table
from tests.conftest import some_slow


def found(labels, verdicts=None, n_draws=99):
    return check_independence(
        labels, verdicts, identifiability(labels), n_draws=n_draws, level=0.95, rng=np.random.default_rng(1)
    )


def test_a_copying_pair_rejects_the_model_and_is_named_with_both_agreements():
    labels, verdicts = simulated(GOOD, 400, 1, np.random.default_rng(5))
    wide = labels.pivot(index="item", columns="rater", values="category")
    of_both = wide["r1"].notna() & wide["r2"].notna() & (np.random.default_rng(6).random(len(wide)) < 0.9)
    wide.loc[of_both, "r2"] = wide.loc[of_both, "r1"]
    copied = wide.stack().dropna().rename("category").reset_index()
    checked = found(copied, verdicts)
    assert (checked.state.state, set(checked.state.raters)) == ("rejected", {"r1", "r2"})
    assert checked.state.p <= 0.05
    assert "r1 and r2" in checked.state.words
    assert checked.best.raters and checked.best.rates  # the best model of dependent errors has numbers
    assert checked.state.is_marked


def test_the_smallest_p_counts_times_all_models_that_could_have_been_fitted():
    labels, verdicts = simulated(GOOD, 400, 2, np.random.default_rng(2))
    checked = found(labels, verdicts)

    def smallest(by_verdicts, of_pairs):
        return min(
            model.p for model in checked.alternatives
            if (model.raters_of == "reviewers by verdicts") == by_verdicts and bool(model.raters) == of_pairs
        )  # fmt: skip

    # Four reviewers: 6 pairs and 2 models of difficulty; with each classifier 10 pairs and 2. Shares of the budget: .3
    # for each of both kinds, and by verdicts .15 for each of both kinds.
    expected = min(
        1.0, smallest(False, True) * 26 / 0.3, smallest(False, False) * 6 / 0.3,
        smallest(True, True) * 6 / 0.15, smallest(True, False) * 2 / 0.15,
    )  # fmt: skip
    if checked.state.test == "leave one out":
        assert checked.state.p < expected
    else:
        assert checked.state.p == pytest.approx(expected)


def test_three_reviewers_on_all_items_cannot_be_tested_without_a_classifier():
    raters = [Rater("a", 0.9, 0.8), Rater("b", 0.8, 0.9), Rater("c", 0.8, 0.8)]
    study = simulate(SimulatedDesign(200, 3), raters, [Rater("x", 0.8, 0.8)], 0.5, rng=np.random.default_rng(1))
    assert found(study.labels).state.state == "untestable"
    assert found(study.labels, study.verdicts).state.state != "untestable"


@pytest.mark.parametrize("rows", [[], [[1, 1, 0]], [[1, 1, 1]] * 9])
def test_labels_that_determine_nothing_have_a_status_with_a_reason(rows):
    state = latent_class(label_table(rows), rng=np.random.default_rng(1), n_draws=99).state
    assert state.state == "not identified"
    assert state.words.startswith("not identified")


def test_the_power_to_notice_a_copying_reviewer_grows_with_the_items():
    powers = [
        found(simulated(GOOD, n, 1, np.random.default_rng(seed))[0]).state.copying_power
        for n, seed in ((150, 11), (1500, 12))
    ]
    assert None not in powers
    assert 0 <= powers[0] < powers[1] <= 1
    assert COPIED == 0.4  # the sentence of a report states this number


def test_leaving_out_each_rater_finds_the_change_of_the_other_rates():
    labels, _ = simulated(GOOD, 300, 0, np.random.default_rng(4))
    patterns = patterns_of(labels)
    p, changes = leave_one_out(Family("reviewers", patterns, fit(patterns)), n_draws=99, rng=np.random.default_rng(1))
    assert 0.01 <= p <= 1
    assert {change.rater for change in changes} == {"r1", "r2", "r3", "r4"}
    without = patterns_of(labels[labels["rater"] != changes[0].rater])
    rates = fit(without)
    rate, _, rater = changes[0].parameter.partition(" of ")
    column = without.raters.index(rater) if rater else 0
    value = {"prevalence": rates.pi, "sensitivity": rates.se, "specificity": rates.sp}[rate][0, column]
    assert changes[0].without == pytest.approx(value, abs=1e-3)


def test_the_order_of_rows_changes_no_drawn_number():
    labels, verdicts = simulated(GOOD, 90, 1, np.random.default_rng(6))
    shuffled = [table.sample(frac=1, random_state=1) for table in (labels, verdicts)]
    assert found(labels, verdicts).state == found(*shuffled).state


@pytest.mark.parametrize("world", some_slow(WORLDS, set(list(WORLDS)[3:])))
def test_each_simulated_world_has_an_outcome(world):
    study = outcome(world, 80, 1, 0)
    assert study["state"] in STATES
    assert study["p"] is None or 0 < study["p"] <= 1


@pytest.mark.slow
def test_good_studies_are_rejected_in_at_most_six_percent():
    rejected = sum(outcome(GOOD, 324, 2, replicate)["state"] == "rejected" for replicate in range(1000, 1060))
    assert stats.binomtest(rejected, 60, 0.06, alternative="greater").pvalue > 0.01
