"""The command `labeler replicate` as a person runs it."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.labeler.commands import run

NAMES = [f"jdbi__jdbi#org.B.run#n={at}" for at in range(3)]


def folder(tmp_path: Path) -> Path:
    made = tmp_path / "timeseries"
    made.mkdir()
    for at, name in enumerate(NAMES):
        measured = np.random.default_rng(at).gamma(4, size=(3, 60))
        (made / f"{name}.json").write_text(json.dumps(measured.tolist()), encoding="utf-8")
    (made / "broken.json").write_text("[[1, 2", encoding="utf-8")
    return made


@pytest.mark.slow
def test_without_a_folder_it_says_what_it_shows_and_what_it_cannot():
    result = run("replicate")
    assert result.stderr.startswith("These numbers come from labels that were built from the counts in the paper.")
    assert "nothing about the data" in result.stderr.splitlines()[0]
    assert "4.3      heuristic sensitivity" in result.stdout


def test_a_folder_gives_files_and_names_what_could_not_be_read(tmp_path):
    out = tmp_path / "out"
    result = run("replicate", folder(tmp_path), "--out", out)
    assert result.stdout.splitlines()[:3] == [f"{out}/replication.{ending}" for ending in ("html", "md", "json")]
    assert "Refused" in result.stderr
    assert "broken.json" in result.stderr
    written = json.loads((out / "replication.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in written["benchmarks"]] == NAMES
    assert sorted(path.name for path in (out / "figures").iterdir())[0] == "figure-1.svg"


def test_without_out_the_claims_are_printed(tmp_path):
    assert "3 of 586 benchmarks" in run("replicate", folder(tmp_path)).stdout


@pytest.mark.slow
def test_a_study_that_holds_the_data_gives_the_same_as_its_files(tmp_path):
    made, study = folder(tmp_path), tmp_path / "s.study"
    run("init", "--study", study, "--name", "x")
    run("import", "--study", study, made, code=None)
    assert run("replicate", "--study", study, "--json").stdout == run("replicate", made, "--json").stdout


@pytest.mark.slow
def test_two_processes_give_the_same_as_the_threads_of_one(tmp_path):
    made = folder(tmp_path)
    in_threads, in_processes = (run("replicate", made, "--warmup", "5", *jobs) for jobs in ((), ("--jobs", "2")))
    assert in_processes.stdout == in_threads.stdout


def test_another_data_set_is_read_with_the_options_of_its_files(tmp_path):
    table = tmp_path / "t.csv"
    rows = [f"sort,{run},{it},{run + it % 7}" for run in (1, 2, 3) for it in range(60)]
    table.write_text("operation,process,iteration,time\n" + "\n".join(rows) + "\n", encoding="utf-8")
    columns = "benchmark=operation,run=process,iteration=iteration,value=time"
    claims = json.loads(run("replicate", table, "--columns", columns, "--json").stdout)
    assert {"where", "claim", "paper", "ours", "outcome", "why"} == set(claims[0])
    assert {claim["outcome"] for claim in claims if claim["where"] == "3.3, Figure 2"} == {"cannot apply"}
    assert next(claim for claim in claims if claim["claim"].startswith("Size"))["ours"] == "1 benchmark"
