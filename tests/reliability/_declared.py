"""Compare pyproject.toml, constraints.txt and docs/dependencies.md with the code and the installed packages."""

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

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.reliability.outcome import Case, Tally

ROOT = Path(__file__).parents[2]
TESTED = ("cluster", "docs", "oidc", "test")  # the extras that `make test` installs
OLDEST = "3.11.2"
FIRST_CELL = re.compile(r"^\| ([^|]+) \|", re.MULTILINE)
# packages that come with another distribution of the same project: distributed requires dask, jinja2 MarkupSafe
IN_ONE = {"dask": "distributed", "MarkupSafe": "jinja2"}

licences: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "licences.py"))


def accepted(extras: Iterable[str] = licences["EXTRAS"]) -> Case:
    """Every package that a server can have installed has an accepted licence."""
    tally = Tally("licences: all accepted", "distributions")
    for name, found in licences["installed"](extras).items():
        words = licences["objection"](licences["licence"](found))
        tally.check(not words, f"{name}: {words}")
    return tally.case()


def documented() -> Case:
    """Every dependency of the application has a row in the table, and every test tool is named on the page."""
    tally = Tally("docs/dependencies.md: a purpose for each", "declared dependencies")
    text = page()
    first_table = set(reasons(text.partition("\n## ")[0]))
    for one in declared():
        tally.check(canonicalize_name(one.name) in first_table, f"{one.name} has no line")
    stubs = {"pandas-stubs", "scipy-stubs"}  # the page names them as the stubs of pandas and SciPy
    for one in licences["declared"](["test", "docs"]):
        tally.check(one.name in text or one.name in stubs, f"{one.name} is not named")
    return tally.case()


def imported() -> Case:
    """Every package that the code imports is declared, even if another package installs it."""
    tally = Tally("imports: all declared", "imported packages")
    known, owners = {canonicalize_name(one.name) for one in declared()}, packages_distributions()
    for package in sorted(third_party()):
        names = {canonicalize_name(IN_ONE.get(name, name)) for name in owners.get(package, [])}
        tally.check(bool(names & known), f"{package} is imported and not declared")
    return tally.case()


def listed() -> Case:
    """Every imported part of Streamlit and uvicorn below their public modules is in the list of undocumented parts."""
    tally = Tally("docs/dependencies.md: undocumented parts", "imports")
    text = page().partition("## Undocumented parts")[2].partition("\n## ")[0]
    for module in sorted(beneath("streamlit") | beneath("uvicorn")):
        package, part, *below = module.split(".")
        is_listed = f"`{package}.{part}" in text and all(name.removesuffix("_pb2") in text for name in below[:1])
        tally.check(is_listed, f"{module} is not in the list")
    return tally.case()


def bounded() -> Case:
    """Each dependency has a lower bound; it has an upper bound only if the page says what breaks."""
    tally = Tally("bounds: a lower bound for each, an upper bound only with a reason", "declared dependencies")
    upper = reasons(page().partition("## Upper bounds")[2].partition("\n## ")[0])
    for one in declared():
        operators = {part.operator for part in one.specifier}
        is_bounded_above = bool(operators - {">=", ">", "!="})
        is_right = ">=" in operators and is_bounded_above == (canonicalize_name(one.name) in upper)
        tally.check(is_right, f"{one}: lower bound, or reason of the upper one")
    return tally.case()


def pinned() -> Case:
    """constraints.txt has one version of every installed package, each allowed by its dependants, and no address."""
    tally = Tally("constraints.txt: one version of each package, no addresses", "requirements")
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    versions = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    for one in licences["needed"](TESTED):
        version = versions.get(canonicalize_name(one.name), "")
        right = bool(version) and one.specifier.contains(version, prereleases=True)
        tally.check(right, f"{one}: {version or 'not pinned'}")
    tally.check("/" not in text and "@" not in text, "an address")
    tally.check(len(versions) == len(lines), "a package stands there twice")
    return tally.case()


def installable() -> Case:
    """Every pinned version can be installed by the oldest Python that users have: the one of Debian 12."""
    tally = Tally(f"constraints.txt: can be installed with Python {OLDEST}", "installed packages")
    for name, found in licences["installed"](TESTED).items():
        required = SpecifierSet(found.metadata.get("Requires-Python") or "")
        tally.check(required.contains(OLDEST), f"{name} requires Python {required}")
    return tally.case()


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


CASES = (accepted, documented, imported, listed, bounded, pinned, installable)  # all checks that need no network
