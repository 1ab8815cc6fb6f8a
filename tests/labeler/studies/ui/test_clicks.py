"""No page shows an option or a command of the command line: it says what to click."""

import ast
from pathlib import Path

import labeler
from labeler.files.formats import ReadOptions
from labeler.studies.ui.coordinator.clicks import by_click

PACKAGE = Path(labeler.__file__).parent
# modules whose messages appear when files are read in the browser, and those of other actions of pages
READING = [*(PACKAGE / "files/formats").glob("*.py"), *(PACKAGE / "studies/screen/kinds").glob("*.py")]
ACTIONS = [*(PACKAGE / "studies/items").glob("*.py"), *(PACKAGE / "studies/preparing").glob("*.py")]
FLAGS = {
    field.metadata.get("flag", "--" + field.name.replace("_", "-"))
    for field in ReadOptions.__dataclass_fields__.values()
    if "help" in field.metadata
} | {"--as-new", "--before", "--after", "--format"}
TEXTS_OF_OTHERS = ("labeler already has a format", "labeler cannot draw", "labeler draws")


def messages():
    """All texts of these modules that are not docstrings, with X for what is filled in."""
    for path in (*READING, *ACTIONS):
        if path.name in ("more_runs.py", "units.py"):  # texts of `check` and of `formats --directions`
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        help_texts = {
            id(part) for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "metadata"
            for part in ast.walk(node)
        }  # fmt: skip
        documented = {
            id(node.body[0].value) for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
        }  # fmt: skip
        for node in ast.walk(tree):
            if id(node) in inside | documented | help_texts:
                continue
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def of_the_command_line(text):
    return "labeler " in text or any(f"{flag} " in f"{text} " for flag in FLAGS)


def test_a_hint_of_the_command_line_becomes_something_to_click():
    hints = {
        text for text in messages()
        if " " in text and of_the_command_line(text) and not any(other in text for other in TEXTS_OF_OTHERS)
    }  # fmt: skip
    assert len(hints) > 15
    assert [text for text in sorted(hints) if of_the_command_line(by_click(text))] == []


def test_other_texts_and_the_options_of_benchmark_tools_stay_as_they_are():
    for text in ("a file of a labelling study", "hyperfine saves the times with --export-json FILE", "-- format it"):
        assert by_click(text) == text
    assert by_click("Give --benchmark NAME. Later give --benchmark NAME").startswith("Enter the name of the benchmark")
