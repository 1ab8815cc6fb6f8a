"""What the documents say is so: commands, files, settings."""

import re
import runpy
import shlex
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

from labeler.cli import main
from tests.conftest import some_slow

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "data" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


def commands_in(text):
    """Every `labeler ...` at the start of a line of an indented or fenced block."""
    for line in re.findall(r"^(?:    |\$ )?(?:\$ )?labeler (.+)$", text, flags=re.MULTILINE):
        yield line.split("#")[0].split()


def test_the_command_reference_is_what_the_commands_print():
    reference = runpy.run_path(str(ROOT / "scripts" / "command_reference.py"))["reference"]()
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == reference, (
        "make it again: python scripts/command_reference.py > docs/commands.md"
    )


def test_the_page_of_the_library_is_made_of_its_docstrings():
    reference = runpy.run_path(str(ROOT / "scripts" / "api_reference.py"))["reference"]()
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == reference, (
        "make it again: python scripts/api_reference.py > docs/api.md"
    )


def test_the_notebook_shows_what_its_cells_give():
    filled = runpy.run_path(str(ROOT / "scripts" / "notebook.py"))["filled"]
    text = (ROOT / "docs" / "statistics.ipynb").read_text(encoding="utf-8")
    assert filled(text) == text, "make it again: python scripts/notebook.py"


def test_the_life_of_a_study_is_that_of_the_code():
    page = runpy.run_path(str(ROOT / "scripts" / "study_life.py"))["page"]()
    assert (ROOT / "docs" / "study-life.md").read_text(encoding="utf-8") == page, (
        "make it again: python scripts/study_life.py > docs/study-life.md"
    )


@pytest.mark.parametrize("guide", some_slow(["coordinator", "methods", "ci"], {"methods"}))
def test_a_guide_shows_what_its_commands_print(guide):
    filled = runpy.run_path(str(ROOT / "scripts" / "guides.py"))["filled"]
    text = (ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    assert filled(text) == text, f"make it again: python scripts/guides.py {guide}"


def test_the_plan_of_the_example_of_contexts_is_what_the_guide_plans(tmp_path):
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
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
    text = (ROOT / "docs" / "similarity.md").read_text(encoding="utf-8")
    assert "| `m5` |" in text
    assert with_tables(text) == text, "make them again: python scripts/similarity_figures.py"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents_exist_with_their_options(document):
    if document.name == "commands.md":
        return
    for words in commands_in(document.read_text(encoding="utf-8")):
        command, rest = main, words
        while isinstance(command, click.Group) and rest and rest[0] in command.commands:
            command, rest = command.commands[rest[0]], rest[1:]
        assert command is not main, words
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert [word for word in rest if word.startswith("--") and word.split("=")[0] not in known] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_and_pictures_that_documents_link_to_exist(document):
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", text)
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_every_setting_of_the_browser_application_says_why():
    lines = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8").splitlines()
    settings = [line for line in lines if re.match(r"\w+ = ", line)]
    assert len(settings) > 10
    assert [line for line in settings if not re.search(r"\s# \w", line)] == []
