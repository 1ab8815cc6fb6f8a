"""A benchmark has one value of each measure M1 to M5 in the output of every command that prints it."""

import json

import numpy as np
import pandas as pd
import pytest

from labeler.studies.results import replicating, reporting
from tests.labeler.commands import run

MEASURES = ("m1", "m2", "m3", "m4", "m5")


@pytest.fixture
def made(tmp_path):
    """A folder with three benchmarks of two applications, whose M2 depends on the order of their runs."""
    folder = tmp_path / "timeseries"
    folder.mkdir()
    rng = np.random.default_rng(1)
    for name in ("jdbi__jdbi#org.B.a#", "jdbi__jdbi#org.B.b#", "netty__netty#io.C.c#"):
        runs = rng.lognormal(sigma=0.3, size=(11, 60)).round(4)
        (folder / f"{name}.json").write_text(json.dumps(runs.tolist()), encoding="utf-8")
    return folder


def assert_one_value(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(replicating, "_drawn", lambda charts: dict.fromkeys(charts, "<svg/>"))  # drawing takes seconds
    monkeypatch.setattr(reporting.report, "draw", lambda *_report: {})
    study, exported = tmp_path / "s.study", tmp_path / "verdicts.csv"
    run("init", "--study", study, "--name", "x")
    run("import", "--study", study, folder, code=None)
    run("verdicts", "--study", study, "--out", exported)
    table = pd.read_csv(exported).set_index(["classifier", "item"])

    expected = table.loc["heuristic"][list(MEASURES)]
    assert len(expected) == len(list(folder.rglob("*.json*"))) > 0
    for source in (["--study", study], [folder]):
        out = tmp_path / f"replication-{len(source)}"
        run("replicate", *source, "--out", out, code=None)
        written = json.loads((out / "replication.json").read_text(encoding="utf-8"))["benchmarks"]
        found = pd.DataFrame({row["name"]: row["means"] for row in written}).T.loc[expected.index, list(MEASURES)]
        assert np.abs(found - expected).max().max() <= 1e-12

    checked = json.loads(run("check", folder, "--json", code=None).stdout)["benchmarks"]
    reasons = {row["name"]: row["reasons"] for row in checked if row["reasons"]}  # of the ten that differ most
    assert reasons
    for measure, reason in (("m1", "pattern"), ("m5", "distribution")):
        found = pd.Series({name: of_benchmark[reason]["value"] for name, of_benchmark in reasons.items()})
        assert np.abs(found - expected.loc[found.index, measure]).max() <= 1e-12

    run("report", "--study", study, "--quick", "--out", tmp_path / "report")
    content = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    means = expected.groupby(table.loc["heuristic", "application"]).mean()
    found = pd.DataFrame({row["application"]: row["means"] for row in content["measures"]["heuristic"]}).T
    assert np.abs(found.loc[means.index, list(MEASURES)] - means).max().max() <= 1e-12


@pytest.mark.slow
def test_every_command_prints_the_same_measures(made, tmp_path, monkeypatch):
    assert_one_value(made, tmp_path, monkeypatch)


@pytest.mark.slow
def test_every_command_prints_the_same_measures_of_the_public_benchmarks(icpe_dir, tmp_path, monkeypatch):
    assert_one_value(icpe_dir, tmp_path, monkeypatch)
