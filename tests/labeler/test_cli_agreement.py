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
    assert result.exit_code == code, result.output
    return result


def test_each_reviewer_is_compared_with_the_rest_and_a_round_with_an_earlier_one(tmp_path):
    before = write(tmp_path / "before.csv", (0.7, 0.7, 0.5), 1)
    after = write(tmp_path / "after.csv", (0.95, 0.95, 0.5), 2)
    found = json.loads(run("--labels", after, "--before", before, "--json").stdout)
    assert [row["rater"] for row in found["against_the_rest"]] == ["r1", "r2", "r3"]
    assert found["against_the_rest"][2]["change"] > 0  # kappa is larger without the reviewer who guesses
    assert found["pairs"]["contrast"]["first"] == ["r1", "r2"]
    assert found["difference"]["n_common"] == 80
    assert found["difference"]["difference"]["value"] > 0
    text = run("--labels", after, "--before", before).output
    assert "kappa without the reviewer" in text
    assert "paired by 80 common items" in text


def test_drift_says_what_could_have_been_seen(tmp_path):
    path = write(tmp_path / "labels.csv", (0.9, 0.9), 3)
    table = pd.read_csv(path)
    table.assign(created_utc=[f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}" for n in range(160)]).to_csv(
        path, index=False
    )
    assert "points or more would have been seen" in run("--labels", path).output
    pd.read_csv(path).iloc[:22].to_csv(path, index=False)
    few = run("--labels", path).output
    assert "With so few labels, no change would have been seen." in few
    assert "points or more" not in few


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("item,reviewer,label\na,ada,similar\n", "No item has two first labels"),
        ("item,reviewer\na,ada\n", "label"),
        ("item,reviewer,label\na,ada,maybe\na,ben,similar\n", "maybe"),
    ],
)
def test_labels_without_agreement_are_refused(tmp_path, rows, message):
    (tmp_path / "bad.csv").write_text(rows)
    assert message in run("--labels", tmp_path / "bad.csv", code=2).output
