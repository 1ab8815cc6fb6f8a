"""Commands import only what they need: a short listing must not wait for the statistics."""

import json
import os
import re
import subprocess
import sys

import click
import pytest
import scipy.special
from click.shell_completion import ShellComplete

from analysis.document import figures
from labeler.cli import all_places, main
from labeler.config import bundled
from labeler.files.outputs import FIGURE_FORMATS
from tests.labeler.commands import run
from tests.making import make_study

PLACES, METHODS = all_places(), ("labeler.files", "labeler.files.methods")  # without the code of the methods
HEAVY = {"altair", "pandas", "pyarrow", "scipy", "scipy.stats", "statsmodels", "streamlit"}
# What takes longer to import than a small check: NumPy's masked arrays, SciPy's wrappers, entry points, readers.
NOT_FOR_A_CHECK = {
    "numpy.f2py", "numpy.ma.core", "scipy.special._support_alternative_backends", "importlib.metadata", "unittest",
    "concurrent.futures", "labeler.files.formats.printed",
}  # fmt: skip
IMPORTED_BY = """
import json, sys
from labeler.cli import main
for command in json.loads(sys.argv[1]):
    main(command, standalone_mode=False)
print(json.dumps(sorted(sys.modules)))
"""


def modules_of(*arguments):
    """Return the modules that a process has imported after a command."""
    return modules_of_all([str(argument) for argument in arguments])


def modules_of_all(*commands):
    """Return the modules that a process has imported after several commands."""
    command = [sys.executable, "-c", IMPORTED_BY, json.dumps(commands)]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(finished.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("startup") / "cache.study"
    make_study(path, plan=True)
    return path


def test_small_commands_import_no_statistics_and_no_browser(study, tmp_path):
    commands = [
        "--version", "--help", f"status --study {study}", f"status --json --study {study}",
        f"labels --out - --study {study}", f"reviewers list --study {study}", f"flags --study {study}",
        f"backup --out {tmp_path / 'copy.study'} --study {study}", "calibration --help", "state --help", "plan --help",
        "log --help", "serve --help", "anonymise --help",
    ]  # fmt: skip
    assert modules_of_all(*(command.split() for command in commands)) & HEAVY == set()


THREADS_OF = "import labeler.cli, os; print(os.environ['OPENBLAS_NUM_THREADS'])"


@pytest.mark.parametrize(("asked", "given"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "4"}, "4")])
def test_linear_algebra_has_one_thread_unless_told_otherwise(asked, given, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    command = [sys.executable, "-c", THREADS_OF]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ) | asked)
    assert finished.stdout.split() == [given]


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_help_and_version_import_no_numpy_and_no_command(option):
    modules = modules_of(option)
    assert "numpy" not in modules
    assert {name for name in modules if name.startswith("labeler.")} == {
        "labeler.cli", "labeler.cli.common", "labeler.cli.streams", "labeler.errors",
        "labeler.safe_text", "labeler.atomic_files", "labeler.program", *(METHODS if option == "--help" else ()),
    }  # fmt: skip


@pytest.mark.parametrize("against", [(), ("--against", bundled("data", "check", "before.json"))])
def test_a_check_of_a_few_files_imports_no_tables_no_figures_and_only_the_functions_of_scipy(against, tmp_path):
    modules = modules_of("check", bundled("data", "check", "after.json"), "--fail-on", "worse", *against, "--json",
                         tmp_path / "out.json", "--min-change", "50%")  # fmt: skip
    assert modules & HEAVY == {"scipy"}
    assert not modules & {"scipy.optimize", "scipy.cluster", "scipy.linalg", "jinja2"}
    assert not modules & {"labeler.studies.store", *NOT_FOR_A_CHECK}


SPECIAL = """
import sys
from labeler.cli import load_compiled_special
load_compiled_special()
from scipy import special
print(float(special.stdtr(3, -2.0)), "numpy.ma" in sys.modules, end=" ")
from scipy.special import logsumexp
from scipy import stats
print(float(special.stdtr(3, -2.0)), float(logsumexp([0.0, 0.0])), "logsumexp" in special.__all__)
"""


def test_scipys_compiled_functions_are_the_same_before_and_after_the_rest_of_the_package_is_imported():
    finished = subprocess.run([sys.executable, "-c", SPECIAL], capture_output=True, text=True, check=True)
    p = float(scipy.special.stdtr(3, -2.0))
    assert finished.stdout.split() == [str(p), "False", str(p), "0.6931471805599453", "True"]


@pytest.mark.parametrize("name", PLACES)
def test_the_summary_of_a_command_is_how_its_help_begins(name):
    command = main.commands[name]
    assert command.name == name
    sentence = " ".join((command.help or "").split("\n\n")[0].split())
    rest = sentence.removeprefix(PLACES[name].summary)
    assert rest != sentence
    assert re.match(r"\W|$", rest)


def test_the_help_names_every_command_in_one_section():
    _, _, sections = run("--help").output.partition("Set up a study:\n")
    assert re.findall(r"^  ([a-z]+) ", sections, flags=re.MULTILINE) == list(PLACES)
    assert len(main.commands) == len(PLACES)


def test_a_shell_completes_commands_their_subcommands_and_options():
    def completions(arguments, incomplete):
        complete = ShellComplete(main, {}, "labeler", "_LABELER_COMPLETE")
        return {item.value: item.help for item in complete.get_completions(arguments, incomplete)}

    assert completions([], "st") == {name: PLACES[name].summary for name in ("state", "status", "steady")}
    assert sorted(completions(["reviewers"], "re")) == ["remove", "rename", "replace", "result", "resume", "revoke"]
    assert "--version" in completions([], "--")
    assert list(completions(["status"], "--st")) == ["--study"]


def test_every_place_holds_a_command_and_unknown_names_hold_none():
    assert "nothing" not in main.commands
    with pytest.raises(KeyError):
        main.commands["nothing"]
    assert all(isinstance(command, click.Command) for command in main.commands.values())


def test_commands_write_every_figure_format_there_is():
    assert figures.FORMATS == FIGURE_FORMATS
