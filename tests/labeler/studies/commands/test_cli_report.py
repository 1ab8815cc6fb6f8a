"""The commands report, planning and simulate as a person runs them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.labeler.commands import run
from tests.making import REVIEWERS, answer_everything, copy_of

LABELS = "item,reviewer,label\nx1,ada,similar\nx1,ben,similar\nx2,ada,similar\nx2,ben,dissimilar\n"
VERDICTS = "item,classifier,verdict,score\nx1,rule,similar,0.1\nx2,rule,dissimilar,0.9\n"


def error(*arguments, code=2):
    """Return the only message of a refused command; checks that nothing else is printed."""
    result = run(*arguments, code=code)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    return line.removeprefix("Error: ")


@pytest.fixture(scope="module")
def labelled(masters, tmp_path_factory):
    """A study with labels, and its quick report."""
    folder = tmp_path_factory.mktemp("labelled")
    with copy_of(masters["planned"], folder) as db:
        answer_everything(db, dict(zip(REVIEWERS[:3], ("similar", "dissimilar", "similar"), strict=True)))
    path = folder / masters["planned"].name
    run("report", "--study", path, "--out", folder / "out", "--quick")
    return path


@pytest.fixture
def study(labelled, tmp_path):
    shutil.copy(labelled, tmp_path / "cache.study")
    return tmp_path / "cache.study"


@pytest.fixture
def made(labelled, tmp_path):
    """The quick report of the study, for changes."""
    shutil.copy(labelled.parent / "out" / "report.json", tmp_path / "report.json")
    return tmp_path / "report.json"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "l.csv").write_text(LABELS)
    (tmp_path / "v.csv").write_text(VERDICTS)
    return "--labels", tmp_path / "l.csv", "--verdicts", tmp_path / "v.csv"


def test_a_fresh_report_agrees_with_its_study(study, made):
    result = run("report", "--study", study, "--verify", made)
    assert result.stdout == ""
    assert f"All numbers in {made} match" in result.stderr


def test_altered_values_are_named_with_both_values_on_one_line_each(study, made):
    content = json.loads(made.read_text())
    percent = content["agreement"]["coefficients"]["percent_agreement"]
    value = percent["value"]
    percent["value"] += 1e-6
    content["notes"].append("two\nlines\x1b")
    content["plan"]["seed"] = None
    made.write_text(json.dumps(content))
    result = run("report", "--study", study, "--verify", made, code=1)
    assert result.stderr.startswith(f"{made}: 4 ")
    assert set(result.stdout.splitlines()) == {
        f"agreement.coefficients.percent_agreement.value: {value + 1e-6!r} in the file, {value!r} recomputed",
        "plan.seed: nothing in the file, 1 recomputed",
        'notes[0]: "two\\nlines\\u001b" in the file, nothing recomputed',
        "notes: nothing in the file, [] recomputed",
    }


def test_a_quick_report_has_nothing_resampled(made):
    content = json.loads(made.read_text())
    resampling = content["parameters"]["resampling"]
    assert [resampling[name] for name in ("n_bootstrap", "n_sweeps", "n_misfit")] == [0, 0, 0]
    assert content["agreement"]["bootstrap"] == {}
    latent = content["consensus"]["latent"]
    assert {name for name, value in latent.items() if value is not None} == {"identifiability"}


def test_a_report_on_files_checks_with_them(files, tmp_path):
    run("report", *files, "--out", tmp_path / "out", "--quick")
    made = tmp_path / "out" / "report.json"
    assert f"All numbers in {made} match" in run("report", *files, "--verify", made).stderr
    (tmp_path / "l.csv").write_text(LABELS.replace("x2,ada,similar", "x2,ada,dissimilar"))
    rows = json.loads(run("report", *files[:2], "--verify", made, "--json", code=1).stdout)
    assert {"classifiers.rule.against.n", "consensus.split"} <= {row["place"] for row in rows}


def test_the_wide_table_of_a_report_runs_nothing_in_a_spreadsheet(tmp_path):
    (tmp_path / "l.csv").write_text("item,reviewer,label\n=1+1,+ada,similar\n=1+1,@ben,similar\n")
    result = run("report", "--labels", tmp_path / "l.csv", "--out", tmp_path / "out", "--quick")
    assert set(result.stdout.splitlines()) == {str(path) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    header, row = (tmp_path / "out" / "labels-wide.csv").read_text().splitlines()
    assert header == "item,status,category,n_labels,label_+ada,label_@ben"
    assert row == "'=1+1,agreed,similar,2,similar,similar"


# Planning


@pytest.fixture(autouse=True)
def _no_study_named(monkeypatch):
    monkeypatch.delenv("LABELER_STUDY", raising=False)


def test_planning_without_options_is_the_plan_of_the_paper_with_overlap():
    told = json.loads(run("planning", "--json").stdout)
    assert list(told) == ["needed", "expected", "not_told", "replacing"]
    labels = next(row["expected"] for row in told["expected"] if row["what"] == "labels per reviewer")
    assert labels == pytest.approx((469 * 2 + 117 * 4) / 4 + 20)
    told = json.loads(run("planning", "--half-width", 0.08, "--items", 9, "--json").stdout)
    needed = {row["for"]: row["items"] for row in told["needed"]}
    assert needed["Fleiss' kappa: items with two labels"] == pytest.approx(586, abs=20)


def test_planning_as_a_table_names_what_will_not_be_told():
    result = run("planning", "--overlap", 0, "--retest", 0)
    assert "Fleiss' kappa: items with two labels" in result.stdout
    assert "labels per reviewer" in result.stdout
    assert "with 586 items, 4 reviewers, 2 reviewers per item and overlap 0:" in result.stderr
    assert "true prevalence" in result.stderr
    assert "no retest items" in result.stderr


def test_planning_takes_the_sizes_of_a_study(labelled, monkeypatch):
    assert "90 items, 3 reviewers" in run("planning", "--study", labelled, "--items", 90, "--reviewers", 3).stderr
    monkeypatch.setenv("LABELER_STUDY", str(labelled))
    assert "8 items, 4 reviewers" in run("planning").stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex; apt install texlive-latex-extra")
def test_pdflatex_compiles_the_report(tmp_path):
    data = Path(__file__).parents[4] / "data" / "replication"
    files = ("--labels", data / "labels.csv", "--verdicts", data / "verdicts.csv")
    run("report", *files, "--quick", "--out", tmp_path)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    finished = subprocess.run(command, cwd=tmp_path / "latex", capture_output=True, check=False)
    assert finished.returncode == 0, finished.stdout[-2000:]
    assert (tmp_path / "latex" / "main.pdf").read_bytes().startswith(b"%PDF")
