"""Allowed imports between modules; each test lists every violation."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).parent.parent
PACKAGES = ("analysis", "labeler")
MODULES = sorted(path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

FIGURES = {"altair", "vl_convert"}
TEXTS = {"analysis.text", "labeler.errors", "labeler.text", "labeler.safe_text", "labeler.marks", "labeler.toml_file"}
COMMON = {
    *TEXTS,
    "labeler",
    "labeler.atomic_files",
    "labeler.config",
    "labeler.network",
    "labeler.plugins",
    "labeler.program",
}
PURE = {
    "labeler.studies.model", "labeler.studies.questions", "analysis.arrays", "analysis.categories", "numpy", "pandas",
    *TEXTS,
}  # fmt: skip
# what pages and commands may use of the studies: every room, but of the store only the type and how it is opened
ROOMS = {
    f"labeler.studies.{room}"
    for room in (
        "model", "questions", "label_forms", "references", "background", "cache", "screen", "plan.lifecycle", "people",
        "items", "preparing", "verdicts", "course", "audit", "labelling", "results", "handover", "overview", "demo",
        "store.Database", "store.open_database",
    )
}  # fmt: skip
SHELL = {*ROOMS, "labeler.files", *COMMON}
# path prefix -> allowed imports in addition to the standard library; the longest matching prefix counts
ALLOWED: dict[str, set[str]] = {
    "analysis": {"analysis", "numpy", "pandas", "scipy", "statsmodels"},
    "analysis/document": {"analysis.document", "analysis.text", "analysis.statistics.intervals.Estimate", "jinja2"},
    "analysis/document/figures.py": {"analysis.document", *FIGURES},
    **{
        f"analysis/{package}/_figures.py": {"analysis", "numpy", "pandas", "scipy", *FIGURES}
        for package in (
            "learning", "methods/contexts", "methods/order", "methods/points", "methods/replication", "methods/spread",
            "methods/steady", "methods/trend", "methods/trust", "report", "runs/measures",
        )
    },
    "labeler/__init__.py": set(),
    "labeler/__main__.py": {"labeler.cli"},
    "labeler/atomic_files.py": {"labeler.errors"},
    "labeler/config.py": set(),
    "labeler/errors.py": set(),
    "labeler/marks.py": set(),
    "labeler/network.py": {"psutil", "segno"},
    "labeler/plugins.py": set(),
    "labeler/safe_text.py": set(),
    "labeler/text.py": set(),
    "labeler/toml_file.py": set(),
    "labeler/cli": {"labeler.cli", "click", "dask", *COMMON},
    "labeler/files": {"labeler.files", "analysis", "numpy", "pandas", "scipy", "altair", *COMMON},
    "labeler/files/formats": {
        "labeler.files.formats", "analysis.arrays", "analysis.categories", "analysis.runs.benchmark", "labeler.plugins",
        "orjson", "pyarrow", "numpy", "pandas", *TEXTS,
    },
    "labeler/files/measuring": {
        "labeler.files.measuring", "labeler.files.formats", "labeler.atomic_files", "analysis.runs.benchmark",
        "analysis.runs.power", "numpy", "pandas", "psutil", "scipy", *TEXTS,
    },
    "labeler/files/commands": {"labeler.files", "labeler.cli", "click", *COMMON},
    "labeler/program.py": set(),
    "labeler/studies": {
        "labeler.studies", "labeler.files", "analysis", "numpy", "pandas", "scipy", "altair", *COMMON
    },
    "labeler/studies/commands": {
        "labeler.studies.commands", "labeler.studies.ui.server", "labeler.cli", "click", "dask", *SHELL
    },
    "labeler/studies/handover/publishing": {
        "labeler.studies", "labeler.files", "analysis", "numpy", "pandas", "jinja2", "packaging", "pyarrow", *COMMON
    },
    "labeler/studies/label_forms.py": {"labeler.files.formats", *PURE},
    "labeler/studies/model.py": {"labeler.studies.questions", "analysis.arrays", "numpy"},
    "labeler/studies/plan": {"labeler.studies.plan", *PURE},
    "labeler/studies/questions.py": TEXTS,
    "labeler/studies/references.py": {"labeler.files.formats", *PURE},
    "labeler/studies/screen": {"labeler.studies.screen", "analysis.runs", "altair", *PURE},
    "labeler/studies/store": {"labeler.studies.store", *PURE},
    "labeler/studies/store/verdicts.py": {"labeler.studies.store", "analysis.runs.classifiers.Verdict", *PURE},
    "labeler/studies/ui/__init__.py": set(),
    "labeler/studies/ui/answers.py": {"labeler.studies.ui", "starlette", *SHELL},
    "labeler/studies/ui/app.py": {"labeler.studies.ui", "streamlit", *SHELL},
    "labeler/studies/ui/component": {"labeler.studies.screen.component", "labeler.marks", "streamlit"},
    "labeler/studies/ui/bodies.py": {"starlette"},
    "labeler/studies/ui/connections.py": {"uvicorn"},
    "labeler/studies/ui/coordinator": {
        "labeler.studies.ui.coordinator", "labeler.studies.ui.component", "labeler.studies.ui.input_queue",
        "labeler.studies.ui.served", "streamlit", *SHELL,
    },
    "labeler/studies/ui/gate.py": {"labeler.studies.ui", "starlette", *SHELL},
    "labeler/studies/ui/input_queue.py": {"streamlit"},
    "labeler/studies/ui/limits.py": set(),
    "labeler/studies/ui/messages.py": {
        "labeler.studies.model", "labeler.studies.ui.limits", "streamlit", "starlette", "google.protobuf"
    },
    "labeler/studies/ui/page_run.py": {"labeler.studies.ui", "streamlit"},
    "labeler/studies/ui/provider.py": {"streamlit"},
    # reviewers stay blind to each other: their pages reach nothing that returns names, verdicts or others' labels
    "labeler/studies/ui/reviewer": {
        "labeler.studies.ui.reviewer", "labeler.studies.ui.component", "labeler.studies.labelling.reviewing",
        "labeler.studies.labelling.answering", "labeler.studies.labelling.guide",
        "labeler.studies.labelling.own_result", "labeler.studies.labelling.sent_pictures",
        "labeler.studies.labelling.questionnaire", "labeler.safe_text",
        "labeler.studies.model", "labeler.studies.questions", "labeler.marks", "labeler.program",
        "analysis.text", "labeler.errors", "labeler.text",
        "labeler.studies.screen", "labeler.studies.store.Database", "streamlit",
    },
    "labeler/studies/ui/served.py": {"labeler.studies.ui", *SHELL},
    "labeler/studies/ui/server.py": {"labeler.studies.ui", "streamlit", "starlette", *SHELL},
    "labeler/studies/ui/sign_in.py": {"labeler.studies.ui", "starlette", *SHELL},
    "labeler/studies/ui/studies_page.py": {"labeler.studies.ui", "starlette", *SHELL},
    "labeler/studies/ui/turns.py": set(),
    "labeler/studies/ui/static_files.py": {"labeler.studies.ui.component", "streamlit", "starlette"},
}  # fmt: skip
# Rooms stand on floors, the bottom one first: a room imports from itself and from floors below it.
FLOORS: dict[str, tuple[tuple[str, ...], ...]] = {
    "analysis": (
        ("_lazy", "arrays", "categories", "text"), ("statistics",), ("document",), ("raters", "runs"), ("learning",),
        ("methods", "report"),
    ),
    "labeler": (
        ("config", "errors", "marks", "network", "plugins", "program", "safe_text", "text", "toml_file"),
        ("atomic_files",),
        ("cli",), ("files",), ("studies",),
    ),
    "labeler.studies": (
        ("questions",), ("model",), ("label_forms", "references"), ("store", "plan", "screen"), ("cache", "background"),
        ("people",), ("items",), ("preparing", "verdicts"), ("course", "audit"), ("labelling",), ("results",),
        ("handover",), ("overview", "demo"), ("ui",), ("commands",),
    ),
}  # fmt: skip
CLOCK_AND_CHANCE = {"time", "datetime", "random", "secrets"}
# the standard library is allowed, with exceptions
FORBIDDEN_STDLIB: dict[str, set[str]] = {
    "analysis": {"sqlite3", "time", "datetime", "random", "pathlib", "os", "io", "subprocess"},
    "labeler/studies/plan": CLOCK_AND_CHANCE,
    "labeler/studies/store": {"random"},
}
NOWHERE = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "xmlrpc", "telnetlib"}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))))


def imported_names(path: Path) -> list[str]:
    """Return every imported module, and module.name for `from module import name`."""
    names: list[str] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names] if not node.level else ["relative import"]
    return names


def rule(path: Path, rules: dict[str, set[str]]) -> set[str] | None:
    """Return the rule of the longest matching prefix; None if none matches."""
    matching = [prefix for prefix in rules if str(path) == prefix or str(path).startswith(f"{prefix}/")]
    return rules[max(matching, key=len)] if matching else None


def is_allowed(name: str, allowed: set[str]) -> bool:
    """Whether an import is allowed: `labeler` alone allows only its constants; other entries include submodules."""
    if name.split(".")[0] in sys.stdlib_module_names or (
        "labeler" in allowed and name in ("labeler", "labeler.__version__")
    ):
        return True
    return any(name == entry or name.startswith(f"{entry}.") for entry in allowed - {"labeler"})


def test_modules_import_only_what_the_map_allows():
    assert [
        f"{path}: {name}"
        for path in MODULES
        for name in imported_names(path)
        if not is_allowed(name, rule(path, ALLOWED) or set())
    ] == []


def test_modules_keep_away_from_the_forbidden_parts_of_the_standard_library():
    assert [
        f"{path}: {name}"
        for path in MODULES
        for name in imported_names(path)
        if name.split(".")[0] in (rule(path, FORBIDDEN_STDLIB) or set()) | NOWHERE
    ] == []


def test_sql_is_in_the_store_only():
    outside = [path for path in MODULES if not str(path).startswith("labeler/studies/store/")]
    imports = [
        f"{path}: {name}" for path in outside for name in imported_names(path) if name.split(".")[0] == "sqlite3"
    ]
    calls = [(path, node.func) for path in outside for node in nodes(path) if isinstance(node, ast.Call)]
    executed = ("execute", "executemany", "executescript")
    assert (
        imports + [f"{path}: .{f.attr}" for path, f in calls if isinstance(f, ast.Attribute) and f.attr in executed]
        == []
    )


def test_no_text_is_run_as_code():
    calls = [(path, node) for path in MODULES for node in nodes(path) if isinstance(node, ast.Call)]
    running = ("eval", "exec", "compile", "__import__", "input", "breakpoint")
    named = [(path, call.func.id) for path, call in calls if isinstance(call.func, ast.Name)]
    assert [f"{path}: {name}" for path, name in named if name in running] == []
    assert [path for path, call in calls if any(one.arg == "allow_pickle" for one in call.keywords)] == []


def test_a_planted_import_is_caught():
    page = rule(Path("labeler/studies/ui/reviewer/label.py"), ALLOWED)
    assert not is_allowed("labeler.studies.store.labels", page)
    assert not is_allowed("labeler.studies.course.coordinating", page)
    assert is_allowed("labeler.studies.labelling.reviewing", page)
    assert not is_allowed("analysis.raters.agreement", rule(Path("labeler/studies/store/labels.py"), ALLOWED))
    assert not is_allowed("streamlit", rule(Path("labeler/studies/labelling/reviewing.py"), ALLOWED))
    assert not is_allowed("labeler.studies.model", rule(Path("labeler/files/gathering.py"), ALLOWED))
    assert not is_allowed("labeler.studies.store.labels", rule(Path("labeler/studies/commands/report.py"), ALLOWED))
    assert page != rule(Path("labeler/studies/ui/server.py"), ALLOWED)


def module_name(path: Path) -> str:
    """Return the dotted name of a module; that of a package is the name of its folder."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


MODULE_NAMES = {module_name(path): path for path in MODULES}


@cache
def imported_modules(path: Path) -> set[str]:
    """Return the modules of this project that a module imports, anywhere in it."""
    found = set()
    for name in imported_names(path):
        while name and name not in MODULE_NAMES:
            name = name.rpartition(".")[0]
        found.add(name)
    return found - {"", module_name(path)}


def room_and_floor(name: str, house: str) -> tuple[str, int] | None:
    """Return the room of a module within a package, and its floor from the bottom; None outside the package's rooms."""
    if not name.startswith(f"{house}."):
        return None
    room = name.removeprefix(f"{house}.").split(".")[0]
    return next(((room, number) for number, rooms in enumerate(FLOORS[house]) if room in rooms), None)


@pytest.mark.parametrize("house", FLOORS)
def test_no_room_imports_from_its_own_floor_or_from_a_floor_above_it(house):
    rooms = {path.relative_to(Path(*house.split("."))).parts[0].removesuffix(".py") for path in MODULES
             if path.is_relative_to(Path(*house.split(".")))}  # fmt: skip
    assert sorted(rooms - {"__init__", "__main__"} - {room for floor in FLOORS[house] for room in floor}) == []
    assert [
        f"{name} -> {other}"
        for name, path in MODULE_NAMES.items()
        if (own := room_and_floor(name, house))
        for other in sorted(imported_modules(path))
        if (that := room_and_floor(other, house)) and that[0] != own[0] and that[1] >= own[1]
    ] == []


def test_no_modules_import_each_other_in_a_circle():
    names = sorted(MODULE_NAMES)
    imports = np.array([[other in imported_modules(MODULE_NAMES[name]) for other in names] for name in names])
    _n, circle_of = connected_components(imports, connection="strong")
    circles = [[name for name, of in zip(names, circle_of, strict=True) if of == circle] for circle in set(circle_of)]
    assert [circle for circle in circles if len(circle) > 1] == []


def test_every_module_has_a_rule():
    assert [str(path) for path in MODULES if rule(path, ALLOWED) is None] == []


# The two categories of the built-in question

# These belong to the built-in question *similar*: its value, the classifiers of runs, its examples, and the paper.
OF_SIMILAR = (
    "labeler/studies/questions.py", "analysis/runs/classifiers/", "analysis/methods/replication/",
    "labeler/studies/results/replicating.py", "labeler/studies/commands/replicate.py", "labeler/studies/references.py",
    "labeler/studies/screen/kinds/runs.py", "labeler/studies/demo.py",
)  # fmt: skip
# How often any other module names the two categories in code. This list may only become shorter: code that takes
# categories as arguments serves every question.
NAMES_OF_CATEGORIES = {
    "analysis/raters/agreement/_groups.py": 1,
    "analysis/raters/agreement/_leniency.py": 1,
    "analysis/raters/agreement/_reviewers.py": 4,
    "analysis/categories.py": 6,
    "analysis/methods/check/_check.py": 9,
    "analysis/methods/check/_document.py": 14,
    "analysis/methods/check/_results.py": 3,
    "analysis/raters/consensus/_latent.py": 5,
    "analysis/raters/consensus/_model.py": 4,
    "analysis/raters/consensus/_rates.py": 27,
    "analysis/raters/planning.py": 12,
    "analysis/report/_agreement.py": 4,
    "analysis/report/_consensus.py": 6,
    "analysis/report/_reviewers.py": 1,
    "analysis/methods/trust/_document.py": 1,
    "labeler/files/commands/check.py": 1,
    "labeler/studies/commands/course.py": 1,
    "labeler/studies/commands/study.py": 3,
    "labeler/studies/commands/items.py": 3,
    "labeler/studies/overview.py": 2,
    "labeler/studies/preparing/planning.py": 3,
    "labeler/studies/results/learning.py": 4,
    "labeler/studies/results/reporting.py": 6,
    "labeler/studies/course/coordinating.py": 5,
    "labeler/studies/ui/coordinator/items.py": 1,
}
CATEGORY_NAME = re.compile(r"(?<![a-z])(dis)?similar(?![a-z])", re.IGNORECASE)


def names_of_categories(module: Path) -> int:
    """Count the names and texts of a module, without docstrings, that name a category of the built-in question."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = [node.body[0] for node in nodes(module) if isinstance(node, kinds)]
    docstrings = {id(statement.value) for statement in first if isinstance(statement, ast.Expr)}
    n = 0
    for node in nodes(module):
        if isinstance(node, ast.Constant):
            text = node.value if isinstance(node.value, str) and id(node) not in docstrings else ""
        else:
            fields = (getattr(node, name, None) for name in ("id", "attr", "arg", "name"))
            text = " ".join(name for name in fields if isinstance(name, str))
        n += bool(CATEGORY_NAME.search(text))
    return n


def test_modules_take_categories_as_arguments_instead_of_naming_two():
    counts = {
        str(module): n
        for module in MODULES
        if not str(module).startswith(OF_SIMILAR) and (n := names_of_categories(module))
    }
    assert {name: n for name, n in counts.items() if n > NAMES_OF_CATEGORIES.get(name, 0)} == {}
    assert [name for name in NAMES_OF_CATEGORIES if name not in counts] == []  # remove these from the list
