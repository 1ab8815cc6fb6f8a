"""The report section on the measures that predict reviewers' labels."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.document import to_json, to_text
from analysis.report import Resampling
from scripts.simulate_interventions import simulate_labels
from tests.analysis.reports import document, draw, summarise

FULL = Resampling(3, n_bootstrap=50, n_sweeps=0)


@pytest.fixture(scope="module")
def tables():
    """Simulate answers of four reviewers with known habits on 240 items, and verdicts with measures."""
    rng = np.random.default_rng(1)
    names = [f"i{n}" for n in range(240)]
    features = pd.DataFrame(rng.uniform(0, 1, (240, 3)), index=names, columns=["m1", "spread", "m5"])
    labels = simulate_labels(features, rng=rng)
    answers = labels.rename(columns={"rater": "reviewer", "category": "label"})
    answers["application"] = [f"a{int(name[1:]) % 20}" for name in answers["item"]]
    rows = []
    for name, row in features.iterrows():
        means = {"m1": row["m1"], "m5": row["m5"]}
        rows.append((name, "heuristic", "similar", float(row["m1"]), means))
        rows.append((name, "spread", "similar", float(row["spread"] / (1 - row["spread"])), {}))
    return answers, pd.DataFrame(rows, columns=["item", "classifier", "verdict", "score", "means"])


def test_the_full_report_says_what_each_reviewer_follows_and_draws_it(tables):
    content = json.loads(to_json(summarise(*tables, resampling=FULL)))
    text = " ".join(to_text(document(content)).split())
    assert "Why reviewers disagree" in text
    assert "R1 follows patterns over time (M1)." in text
    assert "R4 follows level differences (spread)." in text
    assert "<svg" in draw(content)["habits"]


@pytest.mark.slow
def test_the_same_data_and_seed_give_the_same_numbers(tables):
    one, two = (summarise(*tables, resampling=FULL)["reviewers_follow"] for _ in range(2))
    assert one == two


@pytest.mark.slow
def test_a_quick_report_and_one_without_measures_leave_it_out(tables):
    answers, verdicts = tables
    assert "reviewers_follow" not in summarise(answers, verdicts)
    assert "reviewers_follow" not in summarise(answers, verdicts.drop(columns="means"), resampling=FULL)
    assert "reviewers_follow" not in summarise(answers.head(80), verdicts, resampling=FULL)
