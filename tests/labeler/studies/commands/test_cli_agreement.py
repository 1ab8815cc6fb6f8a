"""The command that answers what is asked first about agreement."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from labeler.cli import main


def write(path, right, seed):
    """Write labels of reviewers who are right with these probabilities; return the path."""
    rng = np.random.default_rng(seed)
    truth = rng.random(80) < 0.5
    rows = [
        (f"i{n}", f"r{k + 1}", "dissimilar" if (rng.random() < p) == truth[n] else "similar")
        for n in range(80)
        for k, p in enumerate(right)
    ]
    pd.DataFrame(rows, columns=["item", "reviewer", "label"]).to_csv(path, index=False)
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, ["agreement", *map(str, arguments)])
    assert code is None or result.exit_code == code, result.output
    return result


def test_each_reviewer_is_compared_with_the_rest_and_a_round_with_an_earlier_one(tmp_path):
    before = write(tmp_path / "before.csv", (0.7, 0.7, 0.5), 1)
    after = write(tmp_path / "after.csv", (0.95, 0.95, 0.5), 2)
    found = json.loads(run("--labels", after, "--against", before, "--json").stdout)
    assert [row["rater"] for row in found["against_the_rest"]] == ["r1", "r2", "r3"]
    assert found["against_the_rest"][2]["change"] > 0  # kappa is larger without the reviewer who guesses
    assert found["pairs"]["contrast"]["first"] == ["r1", "r2"]
    assert found["difference"]["n_common"] == 80
    assert found["difference"]["difference"]["value"] > 0
    text = run("--labels", after, "--against", before).output
    assert "kappa without the reviewer" in text
    assert "paired by 80 common items" in text


def test_drift_says_what_could_have_been_seen(tmp_path):
    path = write(tmp_path / "labels.csv", (0.9, 0.9), 3)
    table = pd.read_csv(path)
    times = np.array([f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}" for n in range(160)])
    table.assign(created_utc=times).to_csv(path, index=False)
    one_order = run("--labels", path).output
    assert "Does agreement change in the course of the study? These labels do not show it (p = " in one_order
    assert "Drift of r1 was not tested: all reviewers labelled the items in the same order." in one_order
    table.assign(created_utc=np.random.default_rng(1).permutation(times)).to_csv(path, index=False)
    assert "percentage points or more would be found" in run("--labels", path).output
    table.assign(created_utc=times).iloc[:22].to_csv(path, index=False)
    assert "Unknown: no other reviewer labelled 15 of the same items." in run("--labels", path).output


# The gate: alpha, kappa, AC1 and percent agreement against a required lower limit.


def labels_file(path, *rows, header="item,reviewer,label"):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("required", "code", "words"),
    [
        ("alpha:.3", 0, "Passed: Krippendorff's alpha is"), ("alpha:.99", 1, "Failed: Krippendorff's alpha is"),
        ("kappa:.3", 0, "Passed: Fleiss' kappa is"), ("AC1:.99", 1, "Failed: Gwet's AC1 is"),
        ("percent:.5", 0, "Passed: percent agreement is"),
    ],
)  # fmt: skip
def test_a_build_fails_if_the_lower_limit_is_below_what_is_required(tmp_path, required, code, words):
    result = run("--labels", write(tmp_path / "l.csv", (0.95, 0.95), 4), "--fail-under", required, code=code)
    assert result.stdout.startswith(words)
    assert result.stdout.count("\n") == 1
    assert "80 items" in result.stdout


def test_the_gate_judges_the_lower_limit_and_not_the_point_estimate(tmp_path):
    path = write(tmp_path / "l.csv", (0.95, 0.95), 4)
    found = json.loads(run("--labels", path, "--fail-under", "alpha:.5", "--json").stdout)
    value, low = found["estimate"]["value"], found["estimate"]["low"]
    assert low < value
    between = (low + value) / 2
    judged = json.loads(run("--labels", path, "--fail-under", f"alpha:{between}", "--json", code=1).stdout)
    assert (judged["passed"], judged["required"], judged["n_items"]) == (False, between, 80)
    wider = json.loads(run("--labels", path, "--fail-under", "alpha:.5", "--level", "0.99", "--json").stdout)
    assert wider["estimate"]["low"] < low


@pytest.mark.parametrize(("n_applications", "words"), [(4, "80 items)"), (8, "80 items of 8 applications)")])
def test_the_gate_and_the_tests_count_applications_if_there_are_enough(tmp_path, n_applications, words):
    table = pd.read_csv(write(tmp_path / "l.csv", (0.9, 0.9, 0.6), 4))
    table["application"] = "app" + (table["item"].str[1:].astype(int) // (80 // n_applications)).astype(str)
    of_two = table["application"].isin(["app0", "app1"]) & (table["reviewer"] == "r2")
    table.loc[of_two, "label"] = "similar"  # in two applications, one reviewer has a tendency
    plain, grouped = tmp_path / "plain.csv", tmp_path / "grouped.csv"
    table.drop(columns="application").to_csv(plain, index=False)
    table.to_csv(grouped, index=False)
    judged = ("--fail-under", "kappa:0", "--json")
    alone, related = (json.loads(run("--labels", path, *judged, code=None).stdout) for path in (plain, grouped))
    assert words in related["words"] and "80 items)" in alone["words"]
    assert (related["estimate"]["low"] < alone["estimate"]["low"]) is (n_applications >= 5)
    of_pairs = [json.loads(run("--labels", path, "--json").stdout)["pairs"]["p"] for path in (plain, grouped)]
    assert (of_pairs[1] > of_pairs[0]) is (n_applications >= 5)


def test_labels_of_any_categories_can_be_judged(tmp_path):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 4, 60)
    rows = [f"i{n},{name},{'abcd'[truth[n]]}" for n in range(60) for name in ("ada", "ben")]
    rows[::17] = [row[:-1] + "a" for row in rows[::17]]
    assert run("--labels", labels_file(tmp_path / "l.csv", *rows), "--fail-under", "alpha:.6").stdout.startswith(
        "Passed"
    )


@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        (["a,ada,x", "a,ben,x", "b,ada,x", "b,ben,x"], 3, "Not known: Krippendorff's alpha is undefined, because only"),
        (["a,ada,x", "b,ben,y"], 3, "Not known: Krippendorff's alpha is undefined, because"),
        ([], 3, "Not known: Krippendorff's alpha is undefined, because there are no labels."),
        (["a,ada,x", "a,,y"], 2, "l.csv: line 3: the reviewer is empty"),
        (["a,ada,x", "a,ben"], 2, "l.csv"),
    ],
)
def test_what_cannot_be_known_and_what_cannot_be_read_are_no_failures(tmp_path, rows, code, words):
    result = run("--labels", labels_file(tmp_path / "l.csv", *rows), "--fail-under", "alpha:.67", code=code)
    assert words in result.output
