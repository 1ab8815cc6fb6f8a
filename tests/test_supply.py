"""Dependencies are declared with a reason, bounded and pinned, and have accepted licences.

pyproject.toml, constraints.txt and docs/dependencies.md are compared with the code and the installed packages.
"""

import ast
import re
import runpy
import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
TESTED = ("cluster", "docs", "oidc", "test")  # the extras that `make test` installs
OLDEST = "3.11.2"  # the Python of Debian 12
FIRST_CELL = re.compile(r"^\| ([^|]+) \|", re.MULTILINE)
# packages that come with another distribution of the same project: distributed requires dask, jinja2 MarkupSafe
IN_ONE = {"dask": "distributed", "MarkupSafe": "jinja2"}

licences: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "licences.py"))


def unaccepted(extras: Iterable[str]) -> list[str]:
    """Return the packages whose licence was not accepted, each with the objection."""
    objections = {
        name: licences["objection"](licences["licence"](found)) for name, found in licences["installed"](extras).items()
    }
    assert objections
    return [f"{name}: {words}" for name, words in objections.items() if words]


def test_every_package_that_a_server_can_have_has_an_accepted_licence():
    assert unaccepted(licences["EXTRAS"]) == []


def test_a_test_tool_under_another_licence_would_be_found_in_the_application():
    assert any(line.startswith("krippendorff: GPL-3.0-or-later") for line in unaccepted(["test"]))


@pytest.mark.parametrize(
    "expression", ["", "GPL-3.0-or-later", "MIT AND SSPL-1.0", "(MIT OR GPL-2.0-only)", "LicenseRef-x"]
)
def test_a_licence_that_nobody_accepted_is_objected_to(expression):
    assert licences["objection"](expression)


@pytest.mark.parametrize("expression", ["MIT", "Apache-2.0 OR BSD-2-Clause", "MPL-2.0 AND (Apache-2.0 OR MIT)"])
def test_a_licence_of_accepted_parts_is_accepted(expression):
    assert not licences["objection"](expression)


def test_every_dependency_has_a_purpose_on_its_page():
    first_table = set(reasons(page().partition("\n## ")[0]))
    assert [one.name for one in declared() if canonicalize_name(one.name) not in first_table] == []
    stubs = {"pandas-stubs", "scipy-stubs"}  # the page names them as the stubs of pandas and SciPy
    tools = [one.name for one in licences["declared"](["test", "docs"])]
    assert [name for name in tools if name not in page() and name not in stubs] == []


def test_every_package_that_the_code_imports_is_declared():
    known, owners = {canonicalize_name(one.name) for one in declared()}, packages_distributions()
    imported = {
        package: {canonicalize_name(IN_ONE.get(name, name)) for name in owners.get(package, [])}
        for package in third_party()
    }
    assert imported
    assert [package for package, names in imported.items() if not names & known] == []


def test_every_undocumented_part_that_the_code_imports_is_listed():
    text = page().partition("## Undocumented parts")[2].partition("\n## ")[0]
    modules = beneath("streamlit") | beneath("uvicorn")
    assert modules
    assert [module for module in sorted(modules) if not is_listed(module, text)] == []


def is_listed(module: str, text: str) -> bool:
    package, part, *below = module.split(".")
    return f"`{package}.{part}" in text and all(name.removesuffix("_pb2") in text for name in below[:1])


def test_every_dependency_has_a_lower_bound_and_an_upper_bound_only_with_a_reason():
    upper = reasons(page().partition("## Upper bounds")[2].partition("\n## ")[0])
    wrong = []
    for one in declared():
        operators = {part.operator for part in one.specifier}
        is_bounded_above = bool(operators - {">=", ">", "!="})
        if ">=" not in operators or is_bounded_above != (canonicalize_name(one.name) in upper):
            wrong.append(str(one))
    assert wrong == []


def test_every_installed_package_is_pinned_once_to_a_version_that_its_dependants_allow():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    versions = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    needed = [(one, versions.get(canonicalize_name(one.name), "")) for one in licences["needed"](TESTED)]
    assert needed
    assert [
        f"{one}: {version or 'not pinned'}"
        for one, version in needed
        if not version or not one.specifier.contains(version, prereleases=True)
    ] == []
    assert len(versions) == len(lines)
    assert "/" not in text  # an address
    assert "@" not in text


def test_every_pinned_version_can_be_installed_by_the_oldest_python_of_users():
    required = {
        name: SpecifierSet(found.metadata.get("Requires-Python") or "")
        for name, found in licences["installed"](TESTED).items()
    }
    assert required
    assert [f"{name} requires Python {one}" for name, one in required.items() if not one.contains(OLDEST)] == []


def declared() -> list[Requirement]:
    """The dependencies of the application with its extras; an extra of Streamlit has the bounds of Streamlit."""
    found: list[Requirement] = licences["declared"](licences["EXTRAS"])
    return [one for one in found if not one.extras]


def page() -> str:
    return (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")


def reasons(text: str) -> list[str]:
    """Return the names in the first column of the tables of a page."""
    cells = [cell for row in FIRST_CELL.findall(text) for cell in row.split(", ")]
    return [canonicalize_name(re.split(r"[\[(<>= ]", cell)[0]) for cell in cells]


def third_party() -> set[str]:
    """Return the packages that our code imports, except the standard library and our own packages."""
    found = {name.partition(".")[0] for name, _ in imports()}
    return found - set(sys.stdlib_module_names) - {"labeler", "analysis"}


def beneath(package: str) -> set[str]:
    """Return the modules of a package that our code imports, except the package itself and its public names."""
    front = set(dir(import_module(package)))
    found = {name for name, _ in imports()}
    found |= {f"{name}.{part}" for name, part in imports() if name == package and part not in front}
    return {name for name in found if name.startswith(f"{package}.")}


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Return the imports of our code: the module, and the imported name or ""."""
    found: set[tuple[str, str]] = set()
    for path in [*(ROOT / "labeler").rglob("*.py"), *(ROOT / "analysis").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {(alias.name, "") for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                found |= {(node.module, alias.name) for alias in node.names}
    return frozenset(found)
