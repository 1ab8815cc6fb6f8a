"""The command `labeler`. Data goes to standard output; messages and progress go to standard error.

The module of a command is imported only when the command runs, so that every command starts fast.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from labeler import __version__
from labeler.cli.common import Commands

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Set before NumPy is imported. The matrices are small, so more threads double the processor time and save no time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Place(NamedTuple):
    """The location of a command (module:object), and the first sentence of its help.

    A test checks that the help of the command begins with this summary.
    """

    path: str
    summary: str


# Commands that are one ability stand next to each other. After `variants` come the methods, which are in a table of
# their own (`labeler/files/methods.py`).
SECTIONS: Mapping[str, Mapping[str, Place]] = {
    "Set up a study": {
        "demo": Place("studies.commands.serving:demo", "Show a finished demo study in the browser"),
        "serve": Place("studies.commands.serving:serve", "Start the browser application for a study"),
        "init": Place(
            "studies.commands.study:init", "Create an empty study and print the sign-in link of its coordinator"
        ),
        "template": Place(
            "studies.commands.items:template",
            "Create a new study with the question, guide and people of an existing study",
        ),
        "questions": Place("studies.commands.study:questions", "List the built-in questions, or print one to edit"),
        "import": Place("studies.commands.data:import_", "Import benchmark results"),
        "browse": Place(
            "studies.commands.items:browse", "List the items with their lengths, range of medians and verdicts"
        ),
        "reviewers": Place("studies.commands.people:reviewers", "Manage the reviewers"),
        "coordinators": Place("studies.commands.people:coordinators", "Manage the coordinators"),
        "planning": Place("studies.commands.planning:planning", "Estimate how many items and hours a study needs"),
        "plan": Place("studies.commands.study:plan", "Plan which reviewer labels which items, and in which order"),
    },
    "Run a study": {
        "calibration": Place("studies.commands.course:calibration", "Show the state of the calibration round"),
        "state": Place(
            "studies.commands.course:state", "Open, pause, close or unblind the study, or begin the third-label round"
        ),
        "status": Place("studies.commands.study:status", "Show the progress of the study and of each reviewer"),
        "flags": Place("studies.commands.course:flags", "List flags and comments of reviewers"),
        "exclude": Place("studies.commands.course:exclude", "Exclude an item"),
        "backup": Place("studies.commands.study:backup", "Copy the study into a new file"),
        "audit": Place("studies.commands.handover:audit", "Detect changed, removed, inserted or rolled-back records"),
        "log": Place("studies.commands.study:log", "Show the audit log"),
    },
    "Results": {
        "verdicts": Place("studies.commands.verdicts:verdicts", "Compute the verdicts of every classifier"),
        "classifiers": Place("studies.commands.verdicts:classifiers", "Compare each classifier with the agreed labels"),
        "learn": Place("studies.commands.learning:learn", "Learn a classifier from labels"),
        "adjudicate": Place("studies.commands.course:adjudicate", "Decide a split item of a closed study"),
        "attention": Place(
            "studies.commands.course:attention", "Show how often each reviewer was right about attention checks"
        ),
        "labels": Place(
            "studies.commands.handover:labels", "Export labels as a table, or import labels from another tool"
        ),
        "agreement": Place(
            "studies.commands.agreement:agreement",
            "Compare each reviewer with the rest, and this study with an earlier round",
        ),
        "report": Place("studies.commands.report:report", "Write the agreement report"),
        "figures": Place("studies.commands.figures:figures", "Draw figures of the similarity measures"),
        "publish": Place("studies.commands.publishing:publish", "Publish a finished study as a data set"),
        "anonymise": Place("studies.commands.handover:anonymise", "Write an anonymised copy of a study"),
        "replicate": Place(
            "studies.commands.replicate:replicate", "Compare the claims of the published paper with its measurements"
        ),
    },
    "Check and explore files": {
        "check": Place("files.commands.check:check", "Check the runs in result files and compare them with a baseline"),
        "noise": Place("files.commands.check:noise", "Find the limits that keep false alarms of a check rare"),
        "measure": Place(
            "files.commands.measure:measure", "Run the benchmarks of a plan and record the conditions of every run"
        ),
        "variants": Place("files.commands.methods:variants", "Plan measurements in many contexts"),
        "points": Place(
            "files.commands.points:points",
            "Compare marked changes of several people with each other and with detectors",
        ),
        "formats": Place("files.commands.formats:formats", "List the formats that can be read"),
        "convert": Place("studies.commands.data:convert", "Convert measurements to a single table or folder"),
    },
}
METHODS, COMMANDS_OF_METHODS = "labeler.files.methods", "studies.commands.methods"


def sections() -> dict[str, dict[str, Place]]:
    """Return all commands by section."""
    methods = {
        name: Place(f"{COMMANDS_OF_METHODS}:{name}", summary)
        for name, summary in import_module(METHODS).summaries().items()
    }
    listed: dict[str, dict[str, Place]] = {}
    for title, places in SECTIONS.items():
        listed[title] = {}
        for name, place in places.items():
            listed[title][name] = place
            if name == "variants":
                listed[title] |= methods
    return listed


def all_places() -> dict[str, Place]:
    """Return all commands by name, in the order of the help."""
    return {name: place for section in sections().values() for name, place in section.items()}


def load_compiled_special() -> None:
    """Import only the compiled functions of `scipy.special`, and the rest when somebody first uses one of its names.

    The rest takes ten times as long: it wraps each function for other array libraries.
    """
    name = "scipy.special"
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    package, loader = module_from_spec(spec), spec.loader
    sys.modules[name] = package
    try:
        compiled = import_module(f"{name}._ufuncs")
    except ImportError:  # a version of SciPy with other modules
        del sys.modules[name]
        return

    def attribute(wanted: str) -> Any:
        if not wanted.startswith("_") and hasattr(compiled, wanted):
            return getattr(compiled, wanted)
        del package.__getattr__
        loader.exec_module(package)
        return getattr(package, wanted)

    package.__getattr__ = attribute  # type: ignore[method-assign]
    sys.modules["scipy"].special = package  # type: ignore[attr-defined]


class CommandsByName(Mapping[str, click.Command]):
    """The commands by name.

    Looking up a name imports the module of the command; listing the names imports nothing.
    """

    def __getitem__(self, name: str) -> click.Command:
        """Import the command with this name and return it; raise KeyError if there is no such command."""
        listed = (section[name] for section in SECTIONS.values() if name in section)
        place = next(listed, None) or all_places()[name]
        module, _, attribute = place.path.partition(":")
        if name == "check":  # builds wait for this command
            load_compiled_special()
        command: click.Command = getattr(import_module(f"labeler.{module}"), attribute)
        return command

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in the order of the help."""
        return iter(all_places())

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(all_places())


class CommandsInSections(Commands):
    """The group of all commands of `labeler`.

    Help and shell completion list the commands without importing them.
    """

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections, with aligned summaries."""
        del ctx
        listed = sections()
        width = max(len(name) for places in listed.values() for name in places)
        for title, places in listed.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), place.summary) for name, place in places.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete the name of a command, or an option of `labeler` itself."""
        from click.shell_completion import CompletionItem  # only needed for shell completion

        names = [
            CompletionItem(name, help=place.summary)
            for name, place in all_places().items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


@click.group(
    cls=CommandsInSections,
    commands=CommandsByName(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="labeler")
def main() -> None:
    """Label whether repeated runs of benchmarks are similar, and evaluate reviewers and classifiers with these labels.

    A study is one file. Give it with --study FILE, or set the environment variable LABELER_STUDY.
    """
