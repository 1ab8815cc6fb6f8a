"""Reasons for disagreement and detection of changes: known habits and known changes are found."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

from analysis.document import to_text
from analysis.learning import dose_document, dose_response, habits, habits_document
from scripts.simulate_interventions import HABITS, interventions, simulate_labels
from tests.sentences import says

N_ITEMS, N_APPLICATIONS = 400, 25
MEASURES = ("m1", "spread", "m5")


def measures(n=N_ITEMS):
    names = [f"i{number}" for number in range(n)]
    table = pd.DataFrame(default_rng(1).standard_normal((n, 3)), index=names, columns=list(MEASURES))
    return table, pd.Series([f"a{number % N_APPLICATIONS}" for number in range(n)], index=names)


@pytest.fixture(scope="module")
def found():
    features, applications = measures()
    labels = simulate_labels(features, rng=default_rng(2))
    return habits(labels, features, applications, rng=default_rng(3))


def test_four_habits_that_were_put_in_are_found(found):
    by_name = {habit.reviewer: habit for habit in found.habits}
    for reviewer, weights in HABITS.items():
        for measure in MEASURES:
            slope = by_name[reviewer].joint[measure]
            true = weights.get(measure, 0.0)
            assert abs(slope.value - true) < 3.5 * slope.se
            assert (slope.low > 0) == (true > 0)
    assert by_name["R4"].sentence == "R4 follows level differences (spread)."
    assert by_name["R1"].sentence == "R1 follows patterns over time (M1)."
    assert by_name["R1"].auc.value > 0.75


@pytest.mark.slow
def test_the_test_distinguishes_different_reviewers_from_equal_ones(found):
    assert found.p < 1e-6
    assert found.df == 9
    features, applications = measures()
    alike = {name: {"m1": 1.0} for name in "ABCD"}
    rejected = 0
    for seed in range(6):
        labels = simulate_labels(features, rng=default_rng(seed), weights=alike)
        rejected += habits(labels, features, applications, rng=default_rng(0)).p < 0.05
    assert rejected <= 2  # 6 tests at 5 %: more than 2 are significant with a probability of .2 %


@pytest.mark.slow
def test_a_reviewer_with_few_labels_is_not_estimated_and_in_no_model(found):
    features, applications = measures()
    labels = simulate_labels(features, rng=default_rng(2))
    few = pd.DataFrame({"item": features.index[:49], "rater": "Z", "category": "similar"})
    again = habits(pd.concat([labels, few]), features, applications, rng=default_rng(3))
    last = again.habits[-1]
    assert says(last.sentence, "Z: not estimated", "49 labels", "50")
    assert again.statistic == pytest.approx(found.statistic)
    text = " ".join(to_text(habits_document(again)).split())
    assert "R4 follows level differences (spread)." in text
    assert "the reviewer looked at something else" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (lambda t: t[t["rater"] == "R1"], "fewer than two reviewers have 50 labels"),
        (lambda t: t.assign(category=t["category"].mask(t["rater"] == "R2", "similar")), "R2 used only one category"),
    ],
)
def test_a_model_of_all_that_has_no_solution_says_why(labels, why):
    features, applications = measures()
    table = labels(simulate_labels(features, rng=default_rng(2)))
    result = habits(table, features, applications, rng=default_rng(3))
    assert why in result.reason
    assert result.p is None
    assert "not possible to test" in to_text(habits_document(result))


def test_a_measure_that_is_not_there_is_refused():
    features, applications = measures()
    labels = simulate_labels(features, rng=default_rng(2))
    with pytest.raises(ValueError, match="measure 'm9'"):
        habits(labels, features, applications, rng=default_rng(1), names=["m9"])


def test_simulated_benchmarks_have_their_named_change_and_come_from_their_seed():
    made = list(interventions(300, rng=default_rng(1), n_iterations=400))
    assert {item.kind for item in made} == {"noise alone", "slowdown", "drift", "two levels", "warm-up left in"}
    for item in made:
        assert item.runs.shape == (10, 400)
        assert (len(item.changed) == 0) == (item.kind == "noise alone")
    slow = [item for item in made if (item.kind, item.amount) == ("slowdown", 0.5)]
    assert {len(item.changed) for item in slow} == {1, 2, 3, 4, 5}
    for item in slow:
        medians = np.median(item.runs, axis=1)
        others = [run for run in range(10) if run not in item.changed]
        ratio = medians[list(item.changed)].mean() / medians[others].mean()
        assert ratio == pytest.approx(1.5, rel=0.05)
    early = next(item for item in made if (item.kind, item.amount) == ("warm-up left in", 0.5))
    run = early.runs[early.changed[0]]
    assert run[:20].mean() > 2 * run[200:].mean()
    one, two = (list(interventions(10, rng=default_rng(7), n_iterations=50)) for _ in range(2))
    assert all((a.runs == b.runs).all() and a.changed == b.changed for a, b in zip(one, two, strict=True))
    with pytest.raises(ValueError, match=r"n_iterations.*50.*10.*49"):
        next(interventions(10, rng=default_rng(1), n_iterations=49))


def known(**more):
    columns = {"benchmark": ["a", "a", "b"], "run": [0, 1, 3], "intervention": "slowdown", "amount": [0.1, 0.1, 0.5]}
    return pd.DataFrame(columns | more)


def test_shares_by_amount_worked_by_hand():
    verdicts = pd.DataFrame(
        {"item": list("abcd"), "classifier": "same", "verdict": ["similar", "dissimilar", "similar", None]}
    )
    labels = pd.DataFrame({"item": ["a", "a"], "rater": ["ada", "ben"], "category": ["dissimilar", "similar"]})
    rows = dose_response(known(), verdicts, labels)
    shares = {(row.kind, row.amount, row.rater): (row.n, row.dissimilar.value) for row in rows}
    assert shares == {
        ("noise alone", 0.0, "same"): (1, 0.0),
        ("slowdown", 0.1, "same"): (1, 0.0), ("slowdown", 0.5, "same"): (1, 1.0),
        ("slowdown", 0.1, "ada"): (1, 1.0), ("slowdown", 0.1, "ben"): (1, 0.0),
    }  # fmt: skip
    assert "100 (21–100); 1" in to_text(dose_document(rows))


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (known(amount=[0.1, 0.2, 0.5]), "the benchmark 'a' has two interventions"),
        (known(benchmark=["x", "x", "y"]), "the benchmark 'x' is not an item"),
        (known().drop(columns="amount"), "lacks the column amount"),
    ],
)
def test_invalid_tables_of_interventions_are_rejected(table, why):
    verdicts = pd.DataFrame({"item": ["a"], "classifier": ["same"], "verdict": ["similar"]})
    with pytest.raises(ValueError, match=why):
        dose_response(table, verdicts)
