"""The first changes that the guide for contributors describes work to the letter in a copy of the project."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PAGE = """
import streamlit as st
from labeler.studies.ui.coordinator import tools
with st.form("form"):
    st.json(tools.method_options("count"))
    st.form_submit_button("Compute")
"""
SHOWN = f"""
from streamlit.testing.v1 import AppTest
from labeler.studies.ui.coordinator.places import PLACES
assert "Count" in PLACES["Tools"]
page = AppTest.from_string({PAGE!r}).run()
print([field.label for field in page.number_input], len(page.text_input), len(page.selectbox))
"""
COMMANDS = """
import json, sys
from click.testing import CliRunner
from labeler.cli import main
done = [CliRunner().invoke(main, arguments) for arguments in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.stdout] for one in done]))
"""


def changed(project, heading):
    """Make the change that a section of the guide describes; return the changed files."""
    section = GUIDE.partition(f"\n### {heading}\n")[2].partition("\n## ")[0].partition("\n### ")[0]
    files = []
    for block in re.findall(r"^```python\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL):
        assert block.count("\n") < 30
        place, _, code = block.partition("\n")
        name, _, where = place.removeprefix("# ").partition(", ")
        path = project / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(inserted(text, code, where), encoding="utf-8")
        files.append(name)
    return list(dict.fromkeys(files))


def inserted(text, code, where):
    """Return the text of a file with the code at the place that the guide names."""
    if where == "with the imports":
        return re.sub(r"^(?=from analysis)", lambda _: code, text, count=1, flags=re.MULTILINE)
    if table := re.fullmatch(r"(above|in) ([A-Z]+)", where):
        before, start, rest = text.partition(f"\n{table[2]}: dict[")
        assert start
        if table[1] == "above":
            return f"{before}\n{code}\n\n{start[1:]}{rest}"
        rows, end, after = rest.partition("\n    )\n}")
        return f"{before}{start}{rows}\n{code.rstrip()},{end}{after}"
    return f"{text}\n\n{code}" if text else code


@pytest.fixture
def project(tmp_path):
    """A copy of the packages with their compiled modules, without those that another process is compiling."""
    folder = tmp_path / "project"
    for package in ("analysis", "labeler"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def python(project, *arguments):
    """Run Python in the project; return what it printed."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=project, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def labeler(project, *commands, codes):
    """Run commands of the project in one process; return what each printed."""
    done = json.loads(python(project, "-c", COMMANDS, json.dumps([list(map(str, command)) for command in commands])))
    assert [code for code, _ in done] == list(codes), done
    return [text for _, text in done]


def checked(project, files):
    """Format the changed files; they pass the linter."""
    for command in (("ruff", "format", *files), ("ruff", "check", "--fix", *files)):
        python(project, "-m", *command)


def test_a_format(project, tmp_path):
    checked(project, changed(project, "Add a format"))
    (tmp_path / "a.log").write_text("# mytool 1\nsort 1,2 3,4\n")
    (tmp_path / "b.log").write_text("# mytool 1\nsort\n")
    formats, table, _ = labeler(
        project, ["formats"],
        *(["convert", tmp_path / name, "--to", "csv", "--out", "-"] for name in ("a.log", "b.log")), codes=(0, 0, 2),
    )  # fmt: skip
    assert "mytool's log" in formats
    assert [line.split(",")[0] for line in table.splitlines()[1:]] == ['"sort"'] * 4
    assert "0.003" in table


def test_a_method(project, tmp_path):
    checked(project, changed(project, "Add a method"))
    rows = ["benchmark,run,iteration,value", *(f"sort,{run},{i},1.5" for run in "ab" for i in range(3)), "sort,c,0,1.5"]
    (tmp_path / "runs.csv").write_text("\n".join(rows), encoding="utf-8")
    page, count = tmp_path / "page.html", ["count", tmp_path / "runs.csv"]
    text, values, help_of_count, help_of_all = labeler(
        project, [*count, "--at-least", 2, "--html", page], [*count, "--json"], ["count", "--help"], ["--help"],
        codes=(0, 0, 0, 0),
    )  # fmt: skip
    assert "There are 2 runs." in text
    assert "There are 2 runs." in page.read_text(encoding="utf-8")
    assert json.loads(values)["n_runs"] == 3
    assert "Iterations that a run must have." in help_of_count
    assert "  count         How many runs are there?" in help_of_all
    assert python(project, "-c", SHOWN) == "['Iterations'] 0 0\n"


def test_a_coefficient(project, tmp_path):
    checked(project, changed(project, "Add a coefficient of agreement"))
    rows = [f"{item},{name},{'similar' if item % 4 else label}" for item in range(8)
            for name, label in (("ada", "similar"), ("ben", "dissimilar"))]  # fmt: skip
    (tmp_path / "labels.csv").write_text("\n".join(["item,reviewer,label", *rows]), encoding="utf-8")
    given = ["--labels", tmp_path / "labels.csv"]
    _, agreement = labeler(
        project, ["report", *given, "--quick", "--out", tmp_path / "out"],
        ["agreement", *given, "--fail-under", "coin:0.99"], codes=(0, 1),
    )  # fmt: skip
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    # 6 of 8 items are agreed: (3/4 - 1/2) / (1 - 1/2)
    assert report["agreement"]["coefficients"]["coin_kappa"]["value"] == 0.5
    assert "The coin&#39;s kappa corrects for" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "coin" in agreement


@pytest.mark.slow
def test_the_three_changes_pass_the_checks_of_a_fresh_clone(tmp_path):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), clone], check=True)
    sections = ("Add a format", "Add a method", "Add a coefficient of agreement")
    files = dict.fromkeys(file for section in sections for file in changed(clone, section))
    checked(clone, files)
    python(clone, "-m", "mypy", *files)
    python(clone, "-m", "pytest", "-q", "-n", "0", "tests/test_architecture.py", "tests/labeler/cli/test_startup.py")
