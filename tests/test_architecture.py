"""Who may import whom, as an allow-list: fails on any other import, and on SQL outside the store."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {"analysis", "labeler"}
MODULES = sorted(path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MAX_LINES, MAX_PAGE_LINES = 400, 60

# path prefix -> what may be imported beside the standard library; the longest matching prefix counts
ALLOWED: dict[str, set[str]] = {
    "analysis": {"analysis", "numpy", "pandas", "scipy", "statsmodels"},
    "analysis/report": {"analysis", "numpy", "pandas", "scipy", "altair", "vl_convert", "jinja2"},
    "labeler/__init__.py": set(),
    "labeler/__main__.py": {"labeler.cli"},
    "labeler/model.py": {"numpy"},
    "labeler/errors.py": set(),
    "labeler/config.py": set(),
    "labeler/plugins.py": set(),
    "labeler/design.py": {"labeler.model", "labeler.errors", "numpy", "pandas"},
    "labeler/changes.py": {"labeler.design", "labeler.model", "labeler.errors"},
    "labeler/lifecycle.py": {"labeler.model", "labeler.errors"},
    "labeler/underway.py": {"labeler.changes", "labeler.design", "labeler.model"},
    "labeler/binning.py": {"labeler.model", "labeler.errors", "numpy", "pandas"},
    "labeler/charts.py": {"labeler.model", "labeler.errors", "labeler.binning", "numpy", "pandas", "altair"},
    "labeler/formats": {"labeler.formats", "labeler.model", "labeler.errors", "numpy", "pandas", "orjson", "pyarrow"},
    "labeler/store": {"labeler.store", "labeler.model", "labeler.errors", "numpy", "pandas"},
    "labeler/service": {
        "labeler", "labeler.service", "labeler.store", "labeler.formats", "labeler.model", "labeler.errors",
        "labeler.design", "labeler.changes", "labeler.underway", "labeler.lifecycle", "labeler.binning",
        "labeler.charts",
        "labeler.config", "labeler.plugins", "labeler.timing",
        "analysis", "numpy", "pandas", "scipy", "altair",
    },
    "labeler/stills.py": {"labeler.model", "labeler.errors", "labeler.binning", "numpy", "pandas"},
    "labeler/timing.py": set(),
    "labeler/ui/__init__.py": set(),
    "labeler/ui/reviewer": {
        "labeler.ui.reviewer", "labeler.service.reviewing", "labeler.service.guide", "labeler.model", "labeler.errors",
        "labeler.stills", "labeler.store.Database", "streamlit",
    },
    "labeler/ui/coordinator": {
        "labeler.ui.coordinator", "labeler.service", "labeler.lifecycle", "labeler.model", "labeler.errors",
        "labeler.config", "labeler.store.Database", "labeler.store.open_database", "streamlit",
    },
    "labeler/ui/app.py": {
        "labeler.ui", "labeler.service", "labeler.model", "labeler.errors", "labeler.config",
        "labeler.store.Database", "labeler.store.open_database", "streamlit",
    },
    "labeler/ui/heap.py": set(),
    "labeler/ui/limits.py": set(),
    "labeler/ui/provider.py": {"streamlit"},
    "labeler/ui/sign_in.py": {
        "labeler.ui", "labeler.service", "labeler.errors", "labeler.store.Database", "labeler.store.open_database",
        "starlette",
    },
    "labeler/ui/gate.py": {
        "labeler.ui", "labeler.service", "labeler.model", "labeler.errors", "labeler.store.open_database",
        "streamlit", "starlette", "google.protobuf",
    },
    "labeler/ui/server.py": {
        "labeler.ui", "labeler.service", "labeler.errors", "labeler.config", "labeler.store.open_database",
        "streamlit", "starlette",
    },
    "labeler/cli": {
        "labeler", "labeler.cli", "labeler.ui.server", "labeler.service", "labeler.lifecycle", "labeler.model",
        "labeler.errors", "labeler.config", "labeler.store.Database", "labeler.store.open_database", "click", "dask",
    },
}  # fmt: skip
# the standard library is free, but not everything everywhere
FORBIDDEN_STDLIB: dict[str, set[str]] = {
    "analysis": {"sqlite3", "time", "datetime", "random", "pathlib", "os", "io", "subprocess"},
    "labeler/design.py": {"time", "datetime", "random", "secrets"},
    "labeler/changes.py": {"time", "datetime", "random", "secrets"},
    "labeler/underway.py": {"time", "datetime", "random", "secrets"},
    "labeler/lifecycle.py": {"time", "datetime", "random", "secrets"},
    "labeler/store": {"random"},
    "labeler": {"pickle", "marshal", "shelve"},
}
SQLITE_PLACES = ("labeler/store",)


def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))))


def imported_names(found: list[ast.AST]) -> Iterator[str]:
    """Every imported module, and module.name for `from module import name`."""
    for node in found:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "relative import"


def prefixes(path: Path, rules: dict[str, set[str]]) -> list[str]:
    return [prefix for prefix in rules if str(path) == prefix or str(path).startswith(f"{prefix}/")]


def rule(path: Path, rules: dict[str, set[str]]) -> set[str]:
    matching = prefixes(path, rules)
    return rules[max(matching, key=len)] if matching else set()


def is_allowed(name: str, allowed: set[str]) -> bool:
    """`labeler` alone allows its constants, not its modules; any other entry allows all below it."""
    if "labeler" in allowed and name in ("labeler", "labeler.__version__"):
        return True
    return any(name == entry or name.startswith(f"{entry}.") for entry in allowed - {"labeler"})


def is_first_or_third_party(name: str) -> bool:
    import sys

    return name == "relative import" or name.split(".")[0] not in sys.stdlib_module_names


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_modules_import_only_what_the_map_allows(path):
    allowed = rule(path, ALLOWED)
    names = [name for name in imported_names(nodes(path)) if is_first_or_third_party(name)]
    # `from labeler.service import reviewing` names the module labeler.service.reviewing
    wrong = [name for name in names if not is_allowed(name, allowed)]
    assert wrong == []


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_modules_keep_away_from_the_forbidden_parts_of_the_standard_library(path):
    forbidden = rule(path, FORBIDDEN_STDLIB) | FORBIDDEN_STDLIB["labeler"]
    assert [name for name in imported_names(nodes(path)) if name.split(".")[0] in forbidden] == []


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_sql_is_in_the_store_only(path):
    if str(path).startswith(SQLITE_PLACES):
        return
    found = nodes(path)
    assert "sqlite3" not in {name.split(".")[0] for name in imported_names(found)}
    called = [node.func for node in found if isinstance(node, ast.Call)]
    assert {"execute", "executemany", "executescript"} & {
        f.attr for f in called if isinstance(f, ast.Attribute)
    } == set()
    assert "eval" not in [f.id for f in called if isinstance(f, ast.Name)]


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_modules_fit_a_room(path):
    n_lines = len((ROOT / path).read_text(encoding="utf-8").splitlines())
    is_page = path.parent.name in ("reviewer", "coordinator") and path.name != "__init__.py"
    assert n_lines <= (MAX_PAGE_LINES if is_page else MAX_LINES)


def test_a_planted_import_is_caught():
    assert not is_allowed("labeler.store.labels", rule(Path("labeler/ui/reviewer/label.py"), ALLOWED))
    assert not is_allowed("labeler.service.coordinating", rule(Path("labeler/ui/reviewer/label.py"), ALLOWED))
    assert not is_allowed("analysis.agreement", rule(Path("labeler/store/labels.py"), ALLOWED))
    assert not is_allowed("streamlit", rule(Path("labeler/service/reviewing.py"), ALLOWED))
    assert is_allowed("labeler.service.reviewing", rule(Path("labeler/ui/reviewer/label.py"), ALLOWED))
    assert rule(Path("labeler/ui/reviewer/label.py"), ALLOWED) != rule(Path("labeler/ui/server.py"), ALLOWED)


def test_every_module_has_a_rule():
    assert [str(path) for path in MODULES if not prefixes(path, ALLOWED)] == []
