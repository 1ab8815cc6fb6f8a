"""The documents are correct: commands, files, settings."""

import re
import runpy
import shlex
import sys
import types
from itertools import chain
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

import labeler
from analysis.runs.runs import Runs
from labeler.cli import main
from labeler.studies.items import drawing
from labeler.studies.screen.kinds import KINDS
from labeler.studies.store import open_database
from tests.labeler.studies.test_kinds import RUNS, study_of

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "data" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


GUIDES = runpy.run_path(str(ROOT / "scripts" / "guides.py"))["GUIDES"]


def commands_in(text):
    """Yield every `labeler ...` at the start of a line of an indented or fenced block."""
    for line in re.findall(r"^(?:    |\$ )?(?:\$ )?labeler (.+)$", text, flags=re.MULTILINE):
        yield line.split("#")[0].split()


def test_the_notebook_shows_what_its_cells_give():
    filled = runpy.run_path(str(ROOT / "scripts" / "notebook.py"))["filled"]
    text = (ROOT / "docs" / "statistics.ipynb").read_text(encoding="utf-8")
    assert filled(text) == text, "make it again: python scripts/notebook.py"


def test_the_life_of_a_study_is_that_of_the_code():
    page = runpy.run_path(str(ROOT / "scripts" / "study_life.py"))["page"]()
    assert (ROOT / "docs" / "study-life.md").read_text(encoding="utf-8") == page, (
        "make it again: python scripts/study_life.py > docs/study-life.md"
    )


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_shows_what_its_commands_print(guide):
    filled = runpy.run_path(str(ROOT / "scripts" / "guides.py"))["filled"]
    text = (ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    assert filled(text) == text, f"make it again: python scripts/guides.py {guide}"


@pytest.mark.slow
def test_the_guide_to_measuring_shows_what_the_methods_say_of_its_measurements():
    filled = runpy.run_path(str(ROOT / "scripts" / "measuring_guide.py"))["filled"]
    text = (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8")
    assert filled(text, again=True) == text, "make it again: python scripts/measuring_guide.py --again"


def test_the_plan_of_the_example_of_contexts_is_what_the_guide_plans(tmp_path):
    text = (ROOT / "docs" / "contexts.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    \$ labeler (variants .+)$", text, flags=re.MULTILINE)
    plan = CliRunner().invoke(main, shlex.split(command)).stdout
    assert plan == (ROOT / "data" / "contexts" / "plan.csv").read_text(encoding="utf-8")


def test_every_run_of_the_plan_of_the_example_of_contexts_was_measured():
    plan, sweep = (pd.read_csv(ROOT / "data" / "contexts" / name) for name in ("plan.csv", "sweep.csv"))
    same = ["benchmark", "version", "context", "run", "intervention"]
    planned = plan[same].sort_values(same, ignore_index=True)
    measured = sweep.rename(columns={"factor:intervention": "intervention"})[same]
    pd.testing.assert_frame_equal(measured.sort_values(same, ignore_index=True), planned)


@pytest.mark.parametrize("file", ["check/before.json", "check/after.json"])
def test_the_examples_of_pyperf_say_nothing_of_the_machine(file):
    text = (ROOT / "data" / file).read_text(encoding="utf-8")
    assert not re.search("hostname|cpu_|boot_time|platform|python_executable", text)
    assert len(text) < 60_000


def test_the_tables_of_measures_and_classifiers_are_those_of_the_registries():
    with_tables = runpy.run_path(str(ROOT / "scripts" / "similarity_figures.py"))["with_tables"]
    text = (ROOT / "docs" / "results" / "measures.md").read_text(encoding="utf-8")
    assert "| `m5` |" in text
    assert with_tables(text) == text, "make them again: python scripts/similarity_figures.py"


def test_the_readme_shows_what_the_check_prints():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command, shown = re.findall(r"^    \$ labeler (check .+)\n((?:    .+\n)+)", text, flags=re.MULTILINE)[0]
    words = [str(ROOT / word) if word.startswith("data/") else word for word in command.split()]
    printed = CliRunner().invoke(main, words).stdout.splitlines()
    lines = [line.removeprefix("    ") for line in shown.splitlines() if line.strip() != "…"]
    assert len(lines) == 3
    assert printed[:3] == lines


def test_commands_in_documents_exist_with_their_options():
    for words in chain.from_iterable(commands_in(document.read_text(encoding="utf-8")) for document in DOCUMENTS):
        command, rest = main, words
        while isinstance(command, click.Group) and rest and rest[0] in command.commands:
            command, rest = command.commands[rest[0]], rest[1:]
        assert command is not main, words
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert [word for word in rest if word.startswith("--") and word.split("=")[0] not in known] == [], words


def test_files_and_pictures_that_documents_link_to_exist():
    links = [
        document.parent / link
        for document in DOCUMENTS
        for link in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text(encoding="utf-8"))
    ]
    assert [link for link in links if not link.exists()] == []


def blocks(document, heading):
    """Run the Python blocks under a heading; returns the names that they define."""
    text = document.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    defined = {"__name__": "contribution"}
    for block in re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        assert block.count("\n") < 30
        sys.modules["contribution"] = types.ModuleType("contribution")
        exec(compile(block, heading, "exec", dont_inherit=True), defined)
    return defined


def test_the_classifier_of_the_guide_for_contributors_judges():
    judge = blocks(ROOT / "CONTRIBUTING.md", "Add a classifier")["judge"]
    assert judge(Runs([[1.0, 1.0], [1.3, 1.3]])).verdict == "dissimilar"
    assert judge(Runs([[1.0, 1.0], [1.05, 1.05]])).verdict == "similar"


def test_the_kind_of_the_guide_to_questions_is_imported_and_drawn(tmp_path, monkeypatch):
    defined = blocks(ROOT / "docs" / "developing-a-question.md", "Write the module")
    monkeypatch.setitem(KINDS, "extremes", defined["KIND"])
    (result,) = study_of(tmp_path / "e.study", "extremes", RUNS, question=defined["EXTREMES"])
    assert result.benchmarks[0].runs == 2
    with open_database(tmp_path / "e.study") as db:
        (panel,) = drawing.panels_of_item(db, 1)
        assert len(panel["runs"]) == 2


def test_the_sources_of_the_paper_are_cited_and_listed():
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?<!\w)@([a-z]+\d{4})", paper)) == set(listed)
    for heading in ("Summary", "Statement of need", "State of the field", "References"):
        assert f"\n# {heading}\n" in paper
    assert 250 < len(paper.split()) < 1000  # the instructions of the journal


def test_the_glossary_has_at_most_forty_terms_each_once_and_all_in_use():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\| (?!term)([a-z, -]+) \|", page, flags=re.MULTILINE)
    assert 30 <= len(terms) <= 40
    words = [word for term in terms for word in term.split(", ")]
    assert len(words) == len(set(words))
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.name != "glossary.md"]
    text = " ".join(" ".join(path.read_text(encoding="utf-8") for path in pages).lower().split())
    assert [word for word in words if word.strip() not in text] == []  # every term is used


def test_citation_and_changelog_name_the_version_and_its_date():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.findall(r"^## (\d+\.\d+\.\d+) \((.+)\)$", changelog, re.MULTILINE)[0]
    assert version == labeler.__version__
    assert f"\nversion: {version}\ndate-released: {date}\n" in citation


def test_every_setting_of_the_browser_application_says_why():
    lines = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8").splitlines()
    settings = [line for line in lines if re.match(r"\w+ = ", line)]
    assert len(settings) > 10
    assert [line for line in settings if not re.search(r"\s# \w", line)] == []
