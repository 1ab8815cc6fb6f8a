"""Latent class models: rates and prevalence found back, the test of independent errors, and their status."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from analysis.raters.consensus import identifiability, latent_class
from analysis.raters.consensus._dependence import alternatives
from analysis.raters.consensus._latent import STATES, _by_verdicts, _families, check_independence
from analysis.raters.consensus._rates import _drawn_dissimilar, two_step
from tests.analysis.raters.model_goals import GOOD, WORLDS, outcome, simulated as simulated_world
from tests.analysis.raters.simulated import Rater, SimulatedDesign, simulate
from tests.analysis.raters.test_latent_model import label_table, verdict_table
from tests.conftest import examples, some_slow

REVIEWERS = [Rater("r1", 0.95, 0.9), Rater("r2", 0.8, 0.7), Rater("r3", 0.7, 0.85), Rater("r4", 0.6, 0.6)]
CLASSIFIERS = [Rater("heuristic", 0.92, 0.45), Rater("same", 0.3, 0.85)]
# three reviewers and two classifiers; -1: no label
SMALL_STUDIES = st.integers(0, 14).flatmap(
    lambda n: hnp.arrays(np.int8, (n, 5), elements=st.sampled_from([0, 1, -1, 0, 1]))
)


def rng(seed=1):
    return np.random.default_rng(seed)


def classifier_rates(labels, verdicts, **options):
    return latent_class(labels, verdicts, **options).classifiers


def estimates_of(result):
    rates = [*result.reviewers, *result.classifiers]
    pairs = [estimate for r in rates for estimate in (r.sensitivity, r.specificity)]
    return [result.prevalence, *result.strata.values(), *pairs]


def assert_sound(estimate):
    if estimate.value is None:
        assert estimate.reason
        assert estimate.low is estimate.high is estimate.se is None
    else:
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.se >= 0


def test_three_reviewers_who_always_agree_give_their_shares():
    result = latent_class(label_table([[1, 1, 1]] * 30 + [[0, 0, 0]] * 10), rng=rng())
    # Beta(2, 2) adds one item of either category; the remaining uncertainty is that all three may be wrong
    assert result.prevalence.value == pytest.approx(31 / 42, abs=0.005)
    assert (result.items["category"] == ["dissimilar"] * 30 + ["similar"] * 10).all()
    assert all(rates.sensitivity.value > 0.95 for rates in result.reviewers)


def test_pairs_print_no_prevalence_and_no_posterior():
    study = simulate(SimulatedDesign(586, 2), REVIEWERS, CLASSIFIERS, 0.55, rng=rng())
    result = latent_class(study.labels, rng=rng())
    assert all(e.value is None and e.reason.startswith("not identified") for e in estimates_of(result))
    assert result.items["posterior"].tolist() == [None] * 586
    assert set(result.items["category"]) == {"undecided"}
    assert result.state.state == "not identified"
    assert result.state.remedies
    judged = latent_class(study.labels, study.verdicts, rng=rng())
    for rates in judged.classifiers:
        assert rates.sensitivity.reason.startswith("not identified")
    assert [rates.rater for rates in judged.classifiers] == ["heuristic", "same"]


def test_strata_identify_pairs_and_show_their_prevalences():
    rater = [Rater("r1", 0.9, 0.8), Rater("r2", 0.8, 0.9)]
    parts = [
        simulate(SimulatedDesign(3000, 2), rater, [], p, rng=rng(seed)).labels.assign(part=name)
        for seed, (name, p) in enumerate([("low", 0.2), ("high", 0.8)])
    ]
    labels = pd.concat([part.assign(item=part["part"] + part["item"]) for part in parts])
    strata = labels.drop_duplicates("item").set_index("item")["part"]
    result = latent_class(labels, strata=strata, rng=rng(), n_sweeps=200)
    assert result.strata["low"].value == pytest.approx(0.2, abs=0.05)
    assert result.strata["high"].value == pytest.approx(0.8, abs=0.05)
    assert result.prevalence.value == pytest.approx(0.5, abs=0.05)
    assert latent_class(labels, rng=rng()).prevalence.value is None


def test_undecided_items_are_those_between_the_given_ends():
    study = simulate(SimulatedDesign(150, 3), REVIEWERS, CLASSIFIERS, 0.55, rng=rng())
    items = latent_class(study.labels, rng=rng(), n_sweeps=100).items
    q = items["posterior"].astype(float)
    expected = np.where(q < 0.1, "similar", np.where(q > 0.9, "dissimilar", "undecided"))
    assert (items["category"] == expected).all()
    assert items["item"].tolist() == pd.unique(study.labels["item"]).tolist()
    narrow = latent_class(study.labels, rng=rng(), n_sweeps=100, undecided=(0.5, 0.5)).items
    assert "undecided" not in set(narrow["category"])


def test_two_step_rates_by_hand_with_and_without_doubt():
    # dissimilar: 3 of 4 called so; similar: 5 of 6
    q, counts = np.array([[1.0, 0.0]]), np.array([[[3, 1], [1, 5]]])
    assert two_step(q, counts)[:, 0, 0] == pytest.approx([3 / 4, 5 / 6])
    # P(verdict dissimilar) = q Se + (1 - q)(1 - Sp): .8 and .4 at q = .9 and .1 give Se = .85, 1 - Sp = .35
    q, counts = np.array([[0.9, 0.1]]), np.array([[[80, 40], [20, 60]]])
    assert two_step(q, counts)[:, 0, 0] == pytest.approx([0.85, 0.65], abs=1e-6)


def test_the_sum_over_many_patterns_is_drawn_with_the_same_mean_and_spread(monkeypatch):
    rng = np.random.default_rng(0)
    q, counts = rng.random((300, 1500)), rng.integers(0, 3, (2, 1500))
    chosen = [np.flatnonzero(of_classifier) for of_classifier in counts]
    if_dissimilar, if_similar = rng.uniform(0.6, 0.9, (300, 2)), rng.uniform(0.1, 0.4, (300, 2))
    drawn = {}
    for many in (500, 10_000):  # from the normal distribution, and one binomial number per pattern
        monkeypatch.setattr("analysis.raters.consensus._rates._MANY_PATTERNS", many)
        rows = [_drawn_dissimilar(q, counts, chosen, if_dissimilar, if_similar, rng) for _ in range(8)]
        drawn[many] = np.array(rows)
    exact, normal = drawn[10_000], drawn[500]
    spread = exact.std(axis=0).mean()
    assert abs(normal.mean() - exact.mean()) < 0.15 * spread
    assert normal.std(axis=0).mean() == pytest.approx(spread, rel=0.1)


def test_a_classifier_without_a_verdict_says_so_and_leaves_the_others():
    study = simulate(SimulatedDesign(100, 3), REVIEWERS, CLASSIFIERS, 0.55, rng=rng())
    verdicts = study.verdicts.copy()
    verdicts.loc[verdicts["classifier"] == "same", "verdict"] = None
    verdicts.loc[verdicts.index[:50], "verdict"] = None
    heuristic, same = classifier_rates(study.labels, verdicts, rng=rng(), n_sweeps=20)
    assert (same.n, same.sensitivity.reason) == (0, "no verdict on a labelled item")
    assert 0 < heuristic.n < 100
    assert heuristic.specificity.value is not None
    assert classifier_rates(label_table([[1, 0]]), verdicts.iloc[:0], rng=rng()) == ()


def test_a_classifier_of_one_verdict_or_worse_than_chance_is_shown_as_that():
    study = simulate(SimulatedDesign(60, 3), REVIEWERS, [Rater("always", 1.0, 0.0)], 0.55, rng=rng())
    (always,) = classifier_rates(study.labels, study.verdicts, rng=rng(), n_sweeps=50)
    assert always.sensitivity.value == pytest.approx(1) and always.sensitivity.high >= always.sensitivity.value
    assert always.specificity.value == pytest.approx(0, abs=1e-6) and always.specificity.low <= always.specificity.value
    study = simulate(SimulatedDesign(150, 3), REVIEWERS, [Rater("upside down", 0.2, 0.3)], 0.55, rng=rng())
    (worse,) = classifier_rates(study.labels, study.verdicts, rng=rng(), n_sweeps=50)
    assert worse.sensitivity.high < 0.5 and worse.specificity.high < 0.5


@settings(max_examples=examples(40), deadline=None)
@given(SMALL_STUDIES)
def test_any_labels_and_verdicts_give_numbers_or_reasons(matrix):
    labels, verdicts = label_table(matrix[:, :3]), verdict_table(matrix[:, 3:])
    alone = latent_class(labels, rng=rng(), n_sweeps=10)
    judged = latent_class(labels, verdicts, rng=rng(), n_sweeps=10)
    assert judged.state.state in STATES
    assert judged.state.p is None or 0 < judged.state.p <= 1
    for estimate in (*estimates_of(alone), *estimates_of(judged)):
        assert_sound(estimate)
    for rates in classifier_rates(labels, verdicts, rng=rng(), n_sweeps=10):
        assert_sound(rates.sensitivity)
        assert_sound(rates.specificity)
    assert alone.n_items == len(alone.items) == labels["item"].nunique()
    assert all(q is None or 0 <= q <= 1 for q in alone.items["posterior"])


@settings(max_examples=examples(20), deadline=None)
@given(st.permutations(range(4)), st.integers(0, 5))
def test_names_of_reviewers_and_order_of_items_do_not_matter(names, seed):
    study = simulate(SimulatedDesign(60, 3), REVIEWERS, [], 0.5, rng=rng(seed))
    renamed = study.labels.assign(rater=study.labels["rater"].map({f"r{i + 1}": f"r{names[i] + 1}" for i in range(4)}))
    renamed = renamed.sample(frac=1, random_state=seed)
    one, other = (latent_class(table, rng=rng(), n_sweeps=10) for table in (study.labels, renamed))
    assert one.prevalence.value == pytest.approx(other.prevalence.value, abs=1e-4)
    for i, rates in enumerate(one.reviewers):
        assert rates.sensitivity.value == pytest.approx(other.reviewers[names[i]].sensitivity.value, abs=1e-4)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"level": 1.0}, "level must be within"),
        ({"n_sweeps": 9}, "n_sweeps.*10"),
        ({"undecided": (0.9, 0.1)}, "undecided"),
        ({"verdicts": verdict_table([[1]]).drop(columns="verdict")}, "lacks the column verdict"),
        ({"verdicts": verdict_table([[1]]).assign(verdict="maybe")}, "'maybe'"),
    ],
)
def test_settings_out_of_range_are_rejected(settings_, message):
    with pytest.raises(ValueError, match=message):
        latent_class(label_table([[1, 0]]), rng=rng(), **settings_)


def found(labels, verdicts=None):
    return check_independence(labels, verdicts, identifiability(labels))


def test_a_copying_pair_rejects_the_model_and_is_named_with_both_agreements():
    labels, verdicts = simulated_world(GOOD, 400, 1, np.random.default_rng(5))
    wide = labels.pivot(index="item", columns="rater", values="category")
    of_both = wide["r1"].notna() & wide["r2"].notna() & (np.random.default_rng(6).random(len(wide)) < 0.5)
    wide.loc[of_both, "r2"] = wide.loc[of_both, "r1"]
    copied = wide.stack().dropna().rename("category").reset_index()
    state = found(copied, verdicts)
    assert (state.state, state.pair_fit.a, state.pair_fit.b) == ("rejected", "r1", "r2")
    assert state.p <= 0.05
    wide = wide[["r1", "r2"]].dropna()
    share = float((wide["r1"] == wide["r2"]).mean())
    assert (state.pair_fit.n, state.pair_fit.observed) == (len(wide), pytest.approx(share))
    expected = f"r1 and r2 agree on {100 * share:.0f} % of their items, and the model expects"
    assert expected in state.words and state.pair_fit.expected < share


def test_difficult_items_reject_the_model_and_no_pair_is_named():
    state = found(*simulated_world("normal difficulty", 586, 2, np.random.default_rng(1)))
    assert (state.state, state.pair_fit) == ("rejected", None)
    assert "a model in which items differ in difficulty fits better" in state.words


@pytest.mark.parametrize("seed", some_slow(range(2, 6), {2, 3, 5}))
def test_the_smallest_p_counts_times_all_models_that_could_have_been_fitted(seed):
    labels, verdicts = simulated_world(GOOD, 150, 2, np.random.default_rng(seed))

    def smallest(families, of_pairs):
        models = [model for family in families for model in alternatives(family)[0]]
        return min(model.p for model in models if bool(model.raters) == of_pairs)

    alone, by_verdicts = _families(labels, verdicts), _by_verdicts(labels, verdicts)
    # Four reviewers: 6 pairs and 2 models of difficulty; with each classifier 10 pairs and 2. Shares of the level: .325
    # for each of both kinds, and by verdicts .175 for each of both kinds.
    expected = min(
        1.0, smallest(alone, True) * 26 / 0.325, smallest(alone, False) * 6 / 0.325,
        smallest(by_verdicts, True) * 6 / 0.175, smallest(by_verdicts, False) * 2 / 0.175,
    )  # fmt: skip
    assert found(labels, verdicts).p == pytest.approx(expected)


def test_three_reviewers_on_all_items_cannot_be_tested_without_a_classifier():
    raters = [Rater("a", 0.9, 0.8), Rater("b", 0.8, 0.9), Rater("c", 0.8, 0.8)]
    study = simulate(SimulatedDesign(200, 3), raters, [Rater("x", 0.8, 0.8)], 0.5, rng=np.random.default_rng(1))
    assert found(study.labels).state == "untestable"
    assert found(study.labels, study.verdicts).state != "untestable"


@pytest.mark.parametrize("rows", [[], [[1, 1, 0]], [[1, 1, 1]] * 9])
def test_labels_that_determine_nothing_have_a_status_with_a_reason(rows):
    state = latent_class(label_table(rows), rng=np.random.default_rng(1)).state
    assert state.state == "not identified"
    assert state.words.startswith("not identified")


@pytest.mark.parametrize("world", some_slow(WORLDS, set(list(WORLDS)[1:])))
def test_each_simulated_world_has_an_outcome(world):
    study = outcome(world, 60, 1, 0)
    assert study["state"] in STATES
    assert study["p"] is None or 0 < study["p"] <= 1
