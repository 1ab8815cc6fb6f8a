"""Allowed imports between modules; each test lists every violation."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("analysis", "labeler")
MODULES = sorted(path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

FIGURES = {"altair", "vl_convert"}
PURE = {"labeler.model", "labeler.questions", "labeler.marks", "labeler.errors", "numpy", "pandas"}
SHELL = {"labeler.service", "labeler.model", "labeler.questions", "labeler.marks", "labeler.errors", "labeler.config",
         "labeler.screen", "labeler.store.Database", "labeler.store.open_database"}  # fmt: skip
# path prefix -> allowed imports in addition to the standard library; the longest matching prefix counts
ALLOWED: dict[str, set[str]] = {
    "analysis": {"analysis", "numpy", "pandas", "scipy", "statsmodels"},
    "analysis/document": {"analysis.document", "analysis.intervals.Estimate", "jinja2"},
    "analysis/document/figures.py": {"analysis.document", *FIGURES},
    **{
        f"analysis/{package}/_figures.py": {"analysis", "numpy", "pandas", "scipy", *FIGURES}
        for package in (
            "contexts", "learning", "measures", "order", "points", "replication", "report", "spread", "steady", "trend",
            "trust",
        )
    },
    "labeler/__init__.py": set(),
    "labeler/__main__.py": {"labeler.cli"},
    "labeler/model.py": {"labeler.questions", "numpy"},
    "labeler/questions.py": {"labeler.errors", "labeler.toml_file", "labeler.marks"},
    "labeler/marks.py": set(),
    "labeler/safe_text.py": set(),
    "labeler/toml_file.py": set(),
    "labeler/atomic_files.py": {"labeler.errors"},
    "labeler/errors.py": set(),
    "labeler/config.py": set(),
    "labeler/plugins.py": set(),
    "labeler/plan": {"labeler.plan", *PURE},
    "labeler/screen": {
        "labeler.screen", "analysis.benchmark", "analysis.categories", "analysis.schemes", "altair", *PURE,
    },
    "labeler/formats": {
        "labeler.formats", "labeler.safe_text", "labeler.plugins", "labeler.marks", "analysis.benchmark",
        "analysis.categories", "orjson", "pyarrow", *PURE,
    },
    "labeler/measuring": {
        "labeler.measuring", "labeler.formats", "labeler.safe_text", "labeler.toml_file", "labeler.atomic_files",
        "analysis.benchmark", "analysis.power", "psutil", "scipy", *PURE,
    },
    "labeler/store": {"labeler.store", *PURE},
    "labeler/store/verdicts.py": {"labeler.store", "analysis.classifiers.Verdict", *PURE},
    "labeler/service": {
        "labeler", "labeler.service", "labeler.store", "labeler.formats", "labeler.plan", "labeler.screen",
        "labeler.config", "labeler.safe_text", "labeler.toml_file", "labeler.atomic_files", "labeler.plugins",
        "analysis", "scipy", "altair",
        *PURE,
    },
    "labeler/service/handover/publishing": {
        "labeler", "labeler.service", "labeler.store", "labeler.formats", "labeler.atomic_files", "labeler.safe_text",
        "labeler.toml_file", "labeler.plan", "labeler.screen", "analysis", "jinja2", "pyarrow", *PURE,
    },
    "labeler/ui/__init__.py": set(),
    "labeler/ui/component": {"labeler.screen.component", "labeler.marks", "streamlit"},
    "labeler/ui/reviewer": {
        "labeler.ui.reviewer", "labeler.ui.component", "labeler.service.labelling.reviewing",
        "labeler.service.labelling.answering", "labeler.service.labelling.guide",
        "labeler.service.labelling.own_result", "labeler.model", "labeler.questions", "labeler.marks",
        "labeler.errors", "labeler.screen", "labeler.store.Database", "streamlit",
    },
    "labeler/ui/coordinator": {
        "labeler.ui.coordinator", "labeler.ui.component", "labeler.ui.input_queue", "labeler.plan.lifecycle",
        "labeler.safe_text", "streamlit", *SHELL,
    },
    "labeler/ui/app.py": {"labeler.ui", "streamlit", *SHELL},
    "labeler/ui/page_run.py": {"labeler.config", "labeler.ui", "streamlit"},
    "labeler/ui/answers.py": {"labeler.ui", "starlette", *SHELL},
    "labeler/ui/connections.py": {"uvicorn"},
    "labeler/ui/limits.py": set(),
    "labeler/ui/input_queue.py": {"streamlit"},
    "labeler/ui/static_files.py": {"labeler.ui.component", "streamlit", "starlette"},
    "labeler/ui/provider.py": {"streamlit"},
    "labeler/ui/sign_in.py": {"labeler.ui", "labeler.safe_text", "starlette", *SHELL},
    "labeler/ui/gate.py": {"labeler.ui", "starlette", *SHELL},
    "labeler/ui/messages.py": {"labeler.model", "labeler.ui.limits", "streamlit", "starlette", "google.protobuf"},
    "labeler/ui/server.py": {"labeler.ui", "streamlit", "starlette", *SHELL},
    "labeler/cli": {
        "labeler", "labeler.cli", "labeler.measuring", "labeler.safe_text", "labeler.atomic_files", "labeler.ui.server",
        "labeler.plan.lifecycle", "click", "dask",
        *SHELL,
    },
}  # fmt: skip
# labeler/service stands in floors: a module imports only from its own floor and from the floors below it
FLOORS = (
    ("overview", "demo"),
    ("handover",),
    ("results",),
    ("labelling",),
    ("study",),
    ("plan", "verdicts"),
    ("items",),
    ("files",),
    ("people",),
    ("background",),
    ("cache", "outputs"),
)
CLOCK_AND_CHANCE = {"time", "datetime", "random", "secrets"}
# the standard library is allowed, with exceptions
FORBIDDEN_STDLIB: dict[str, set[str]] = {
    "analysis": {"sqlite3", "time", "datetime", "random", "pathlib", "os", "io", "subprocess"},
    "labeler/plan": CLOCK_AND_CHANCE,
    "labeler/store": {"random"},
}
NOWHERE = {"pickle", "marshal", "shelve"}


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
    outside = [path for path in MODULES if not str(path).startswith("labeler/store/")]
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
    calls = [(path, node.func) for path in MODULES for node in nodes(path) if isinstance(node, ast.Call)]
    assert [f"{path}: {f.id}" for path, f in calls if isinstance(f, ast.Name) and f.id in ("eval", "exec")] == []


def test_a_planted_import_is_caught():
    page = rule(Path("labeler/ui/reviewer/label.py"), ALLOWED)
    assert not is_allowed("labeler.store.labels", page)
    assert not is_allowed("labeler.service.study.coordinating", page)
    assert is_allowed("labeler.service.labelling.reviewing", page)
    assert not is_allowed("analysis.agreement", rule(Path("labeler/store/labels.py"), ALLOWED))
    assert not is_allowed("streamlit", rule(Path("labeler/service/labelling/reviewing.py"), ALLOWED))
    assert page != rule(Path("labeler/ui/server.py"), ALLOWED)


def floor(name: str) -> int | None:
    """Return the floor of a module of `labeler.service`, counted from the top; None for every other module."""
    parts = name.split(".")
    if parts[:2] != ["labeler", "service"] or len(parts) < 3 or parts[2] == "__init__":
        return None
    return next(number for number, members in enumerate(FLOORS) if parts[2] in members)


def test_no_service_imports_from_a_floor_above_it():
    module_names = {path: ".".join(path.with_suffix("").parts) for path in MODULES}
    assert [
        f"{path}: {name}"
        for path in MODULES
        if (own := floor(module_names[path])) is not None
        for name in imported_names(path)
        if (other := floor(name)) is not None
        and (other < own or (other == own and name.split(".")[2] != path.with_suffix("").parts[2]))
    ] == []


def test_every_module_has_a_rule():
    assert [str(path) for path in MODULES if rule(path, ALLOWED) is None] == []


# The two categories of the built-in question

# These belong to the built-in question *similar*: its value, the classifiers of runs, its examples, and the paper.
OF_SIMILAR = (
    "labeler/questions.py", "analysis/classifiers/", "analysis/replication/",
    "labeler/service/results/replicating.py", "labeler/cli/replicate.py", "labeler/formats/references.py",
    "labeler/screen/kinds/runs.py", "labeler/service/demo.py",
)  # fmt: skip
# How often any other module names the two categories in code. This list may only become shorter: code that takes
# categories as arguments serves every question.
NAMES_OF_CATEGORIES = {
    "analysis/agreement/_groups.py": 1,
    "analysis/agreement/_leniency.py": 1,
    "analysis/agreement/_reviewers.py": 4,
    "analysis/categories.py": 6,
    "analysis/check/_check.py": 9,
    "analysis/check/_document.py": 14,
    "analysis/check/_results.py": 3,
    "analysis/consensus/_dependence.py": 4,
    "analysis/consensus/_latent.py": 5,
    "analysis/consensus/_model.py": 4,
    "analysis/consensus/_rates.py": 27,
    "analysis/evaluation/_compare.py": 16,
    "analysis/evaluation/_confusion.py": 14,
    "analysis/evaluation/_scores.py": 53,
    "analysis/learning/_compare.py": 29,
    "analysis/learning/_document.py": 20,
    "analysis/learning/_figures.py": 6,
    "analysis/learning/_learn.py": 13,
    "analysis/learning/_model.py": 10,
    "analysis/learning/_validation.py": 29,
    "analysis/planning.py": 12,
    "analysis/report/_agreement.py": 4,
    "analysis/report/_classifiers.py": 18,
    "analysis/report/_consensus.py": 6,
    "analysis/report/_reviewers.py": 1,
    "analysis/trust/_document.py": 1,
    "labeler/cli/check.py": 1,
    "labeler/cli/course.py": 1,
    "labeler/cli/study.py": 3,
    "labeler/cli/items.py": 3,
    "labeler/service/overview.py": 2,
    "labeler/service/plan/planning.py": 3,
    "labeler/service/results/learning.py": 4,
    "labeler/service/results/reporting.py": 6,
    "labeler/service/study/coordinating.py": 5,
    "labeler/ui/coordinator/items.py": 1,
    "labeler/ui/coordinator/results.py": 2,
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
