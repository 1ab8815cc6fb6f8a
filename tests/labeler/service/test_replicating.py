import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from labeler.service.results import replicating, reporting

DATA = Path(__file__).parents[3] / "data"
FOLDER = DATA / "replication"


@pytest.fixture(scope="module")
def content():
    return replicating.replication(FOLDER).content()


def test_every_number_of_the_paper_comes_out(content):
    compared = replicating.compare(content)
    assert [row.what for row in compared if not row.agrees] == []
    assert {row.where for row in compared} == {"4.1", "Table 1", "Table 2", "Table 3", "section 1", "4.2"}
    assert len(compared) == 6 + 6 + 4 + 4 + 2


def test_the_comparison_shows_the_number_printed_and_ours(content):
    rows = {row.what: (row.paper, row.ours) for row in replicating.compare(content)}
    assert rows["items"] == ("586", "586")
    assert rows["Fleiss' kappa"] == ("0.1", "0.09814")
    assert rows["R1 – R4"] == ("35 %", "35.05 %")
    assert rows["same specificity"] == ("83 %", "82.96 %")


@pytest.mark.parametrize(
    ("place", "value", "what"),
    [
        (("consensus", "agreed"), 323, "agreed items"),
        (("agreement", "fleiss_kappa", "value"), 0.16, "Fleiss' kappa"),
        (("agreement", "percent", "value"), 0.562, "percent agreement"),
        (("agreement", "pairs", 4, "percent", "value"), 0.78, "R2 – R4"),
        (("classifiers", "same", "confusion", "fn"), 136, "same fn"),
        (("classifiers", "heuristic", "sensitivity", "value"), 0.90, "heuristic sensitivity"),
    ],
)
def test_a_number_that_differs_is_said_to_differ(content, place, value, what):
    changed = deepcopy(content)
    *way, last = place
    entry = changed
    for step in way:
        entry = entry[step]
    entry[last] = value
    assert [row.what for row in replicating.compare(changed) if not row.agrees] == [what]


def test_kappa_and_its_interval_are_those_that_follow_from_the_counts(content):
    kappa = content["agreement"]["fleiss_kappa"]
    assert kappa["value"] == pytest.approx(4177 / 42560, abs=1e-12)
    assert (kappa["se"], kappa["low"], kappa["high"]) == pytest.approx((0.0412, 0.017, 0.179), abs=5e-4)
    homogeneity = content["agreement"]["homogeneity"]
    assert (homogeneity["chi2"], homogeneity["df"]) == (pytest.approx(40.1, abs=0.05), 5)


def test_the_report_says_what_of_the_data_is_arbitrary(content):
    files = replicating.replication(FOLDER).files(replicating.with_published(content))
    written = json.loads(files["report.json"])
    assert {row["agrees"] for row in written.pop("published")} == {True}
    assert written == content
    assert content["notes"] == [reporting.REPLICATION_NOTE]
    assert "made from the counts that the paper prints" in files["report.html"]


def test_the_bundled_data_are_what_the_script_writes(tmp_path):
    command = [sys.executable, str(DATA / "make_replication.py"), "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.csv", "verdicts.csv"]
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (FOLDER / path.name).read_bytes()


def test_another_seed_gives_other_data_with_the_same_numbers(tmp_path):
    command = [sys.executable, str(DATA / "make_replication.py"), "--out", str(tmp_path), "--seed", "7"]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "labels.csv").read_bytes() != (FOLDER / "labels.csv").read_bytes()
    assert all(row.agrees for row in replicating.compare(replicating.replication(tmp_path).content()))
