"""One row in the table of coefficients is enough: the command, the report, its JSON and the documents have it."""

import json
import runpy
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.document import json_values, to_text
from analysis.raters.agreement import (
    COEFFICIENTS,
    Coefficient,
    Needs,
    cohen_kappa,
    compare_agreement,
    conger_kappa,
    fleiss_kappa,
    light_kappa,
    percent_agreement,
)
from analysis.raters.agreement._formulas import chance_corrected, observed
from analysis.raters.tables import WideRatings
from analysis.report import Resampling, document, summarise
from analysis.statistics.intervals import Estimate
from tests.labeler.commands import run

ROOT = Path(__file__).parent.parent.parent.parent
LABELS = pd.DataFrame(
    [(f"i{n}", rater, "similar" if (n * seed) % 7 < 4 else "dissimilar")
     for n in range(30) for rater, seed in (("ada", 1), ("ben", 3), ("cleo", 1))],
    columns=["item", "rater", "category"],
)  # fmt: skip

NO_VERDICTS = pd.DataFrame({"item": [], "classifier": [], "verdict": [], "score": []}, dtype=object)


def half_chance(shares, weights):
    """Chance agreement of 1/2, whatever the shares of the categories are."""
    return np.full(shares.shape, 0.5)


MADE_UP = Coefficient(
    name="half_kappa", title="Half's kappa", option="half", formula=partial(chance_corrected, half_chance),
    chance=half_chance, sentence="corrects for raters who flip a coin", source="nowhere",
)  # fmt: skip


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setitem(COEFFICIENTS, MADE_UP.name, MADE_UP)
    return MADE_UP


def answers():
    return LABELS.rename(columns={"rater": "reviewer", "category": "label"}).assign(kind="fresh")


def test_a_new_row_is_in_the_report_and_its_json(made_up):
    report = summarise(answers(), NO_VERDICTS, resampling=Resampling(n_bootstrap=50))
    value = report.agreement.coefficients["half_kappa"].value
    assert value == pytest.approx(2 * percent_agreement(LABELS).value - 1)  # (pa - 1/2) / (1 - 1/2)
    numbers = json_values(report)["agreement"]
    assert (numbers["coefficients"]["half_kappa"]["value"], numbers["coefficients"]["half_kappa"]["band_low"]) == (
        value, report.agreement.coefficients["half_kappa"].band_low)  # fmt: skip
    assert numbers["bootstrap"]["half_kappa"]["low"] < value
    text = " ".join(to_text(document(report)).split())
    assert f"Half's kappa {value:.3f}" in text
    assert "Half's kappa corrects for raters who flip a coin." in text
    assert "Gwet's AC1, Brennan-Prediger and Half's kappa" in text


def test_a_new_row_can_be_required_by_the_command(made_up, tmp_path):
    path = tmp_path / "labels.csv"
    answers().to_csv(path, index=False)
    found = json.loads(run("agreement", "--labels", path, "--fail-under", "half:-1", "--json").stdout)
    assert found["estimate"]["value"] == MADE_UP(LABELS).value
    assert "NAME is one of: percent, kappa, light, conger, alpha, ac1, brennan-prediger, half." in run(
        "agreement", "--labels", path, "--fail-under", "third:.1", code=2).output  # fmt: skip


def test_a_new_row_is_in_the_table_of_the_documents(made_up):
    with_tables = runpy.run_path(str(ROOT / "scripts" / "similarity_figures.py"))["with_tables"]
    text = with_tables((ROOT / "docs" / "results" / "measures.md").read_text(encoding="utf-8"))
    assert "| `half_kappa` | Half's kappa | corrects for raters who flip a coin | any labels | – | nowhere |" in text


def test_a_row_for_named_raters_gets_the_labels_and_is_reported_without_a_bootstrap(monkeypatch):
    def formula(labels, categories, level):
        return Estimate(labels["rater"].nunique() / 10, low=level / 10, reason=None)

    row = Coefficient(name="one", title="One's kappa", option="one", formula=formula, chance=None,
                      sentence="corrects by pair", source="nowhere", needs=Needs.RATERS)  # fmt: skip
    monkeypatch.setitem(COEFFICIENTS, row.name, row)
    numbers = summarise(answers(), NO_VERDICTS, level=0.9, resampling=Resampling(n_bootstrap=10)).agreement
    assert (numbers.coefficients["one"].value, numbers.coefficients["one"].low) == (0.3, pytest.approx(0.09))
    assert "one" not in numbers.bootstrap
    with pytest.raises(ValueError, match="neither weights nor groups"):
        row(LABELS, groups=[1] * 30)
    with pytest.raises(ValueError, match="coefficient must be one of: percent_agreement, fleiss_kappa"):
        compare_agreement(LABELS, LABELS, row)


@pytest.mark.parametrize("row", COEFFICIENTS.values(), ids=list(COEFFICIENTS))
def test_each_row_computes_what_its_public_function_does(row):
    import analysis

    function, labels = getattr(analysis, row.name), LABELS[LABELS["rater"] != "cleo"]
    assert row(labels, level=0.9) == function(labels, level=0.9)
    assert row(labels, ["similar", "dissimilar"]) == function(labels, ["similar", "dissimilar"])
    assert row.title in (function.__doc__ or "") or row.name in ("percent_agreement", "gwet_ac1", "gwet_ac2")


def test_a_row_without_chance_has_no_correction_for_chance():
    # 25 unanimous items: the one-sided bound of a corrected coefficient is wider by 1 / (1 - pe)
    counts = [[2, 0]] * 15 + [[0, 2]] * 10
    plain = Coefficient(name="plain", title="Plain", option="plain", formula=observed, chance=None, sentence="",
                        source="", needs=Needs.TWO_A_ITEM)  # fmt: skip
    assert plain(counts).low == percent_agreement(counts).low > fleiss_kappa(counts).low
    assert not plain.is_corrected
    assert COEFFICIENTS["cohen_kappa"].is_corrected


def test_weights_are_refused_by_a_row_that_takes_none():
    with pytest.raises(ValueError, match="Gwet's AC1 takes no weights, got 'linear'"):
        COEFFICIENTS["gwet_ac1"](LABELS, weights="linear")
    ordered = COEFFICIENTS["gwet_ac2"](LABELS)
    assert ordered == COEFFICIENTS["gwet_ac2"](LABELS, weights="linear")


THREE = [["x", "x", "x"], ["x", "x", "x"], ["y", "y", "x"], ["y", "y", "y"], ["y", "x", "y"], ["x", "y", "y"]] * 2


def test_coefficients_of_named_raters_by_hand_and_as_published():
    # pairs agree on 4, 4 and 4 of 6 items, each rater says x three times: every kappa is (2/3 - 1/2) / (1 - 1/2)
    for function in (light_kappa, conger_kappa):
        found = function(THREE, ("x", "y"))
        assert found.value == pytest.approx(1 / 3)
        assert -1 < found.low < found.value < found.high < 1
    # the example of Krippendorff with missing labels: irrCAC 0.4.4 prints Conger's kappa .76207
    golden = json.loads((ROOT / "tests" / "golden" / "agreement.json").read_text())
    ratings = next(case for case in golden["cases"] if case["id"] == "krippendorff_4x12")["input"]
    published = WideRatings(ratings["ratings_items_by_raters"])
    assert conger_kappa(published, (1, 2, 3, 4, 5)).value == pytest.approx(0.76207, abs=5e-6)


@pytest.mark.parametrize("function", [light_kappa, conger_kappa])
def test_coefficients_of_named_raters_are_cohens_for_two_and_refuse_counts(function):
    two = LABELS[LABELS["rater"] != "cleo"]
    assert function(two).value == pytest.approx(cohen_kappa(two).value)
    wide = [[label, label] for label in ["similar"] * 5 + ["dissimilar"] * 5]
    assert (function(wide).value, function(wide).low) == (1.0, None)
    assert function([["similar", "similar"]] * 4).value is None
    assert function([["similar", None], [None, "similar"]]).reason == "no item has two labels"
    with pytest.raises(ValueError, match="does not show who gave which label"):
        function([[2, 0], [1, 1]])
    report = summarise(answers()[answers()["reviewer"] != "cleo"], NO_VERDICTS, resampling=Resampling.none())
    assert function.__name__ not in report.agreement.coefficients  # the pair has Cohen's kappa


@pytest.mark.slow
@pytest.mark.parametrize("function", [light_kappa, conger_kappa])
def test_the_jackknife_interval_covers_the_value_of_very_many_items(function):
    rng = np.random.default_rng(1)

    def ratings(n):
        truth = rng.random(n) < 0.4
        return WideRatings(
            np.column_stack([np.where(rng.random(n) < right, truth, ~truth) for right in (0.9, 0.8, 0.7)]).astype(int)
        )

    value = function(ratings(300_000), (0, 1)).value
    found = [function(ratings(100), (0, 1)) for _ in range(300)]
    assert np.mean([estimate.low <= value <= estimate.high for estimate in found]) >= 0.93
