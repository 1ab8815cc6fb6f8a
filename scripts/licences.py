"""List every distribution that the application needs, with version and licence; fail if a licence is not accepted.

python scripts/licences.py [EXTRA ...]

Without arguments, the list covers the application with the extras cluster and oidc, everything that a server can
install. The script reads pyproject.toml and the metadata of the installed distributions, and downloads nothing.
"""

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
EXTRAS = ("cluster", "oidc")
NOTICE = "permissive: the notice has to stay with copies"
OWN_FILES = "its own files stay under it; they are used unchanged, as files of their own"
ACCEPTED = {
    "MIT": NOTICE,
    "MIT-0": "permissive: asks for nothing",
    "MIT-CMU": NOTICE,
    "0BSD": "permissive: asks for nothing",
    "BSD-2-Clause": NOTICE,
    "BSD-3-Clause": NOTICE,
    "BSD": f"{NOTICE}; which of the BSD licences is in the package",
    "Apache-2.0": f"{NOTICE}; gives rights to patents as well",
    "PSF-2.0": f"{NOTICE}; that of Python itself",
    "Zlib": NOTICE,
    "CC0-1.0": "given to the public",
    "MPL-2.0": OWN_FILES,
}
WORDS = {  # licence names of packages without a licence expression
    "3-Clause BSD License": "BSD-3-Clause",
    "2-clause BSD": "BSD-2-Clause",
    "Apache License 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def declared(extras: Iterable[str] = ()) -> list[Requirement]:
    """Return the requirements in pyproject.toml: the dependencies, and the requirements of these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    return [
        Requirement(text) for text in [*project["dependencies"], *(one for name in extras for one in optional[name])]
    ]


def requirements(name: str, extras: Iterable[str] = ()) -> list[Requirement]:
    """Return the requirements of an installed distribution on this machine, with these extras."""
    found = [Requirement(text) for text in distribution(name).requires or []]
    return [one for one in found if one.marker is None or _holds(one.marker, extras)]


def needed(extras: Iterable[str] = EXTRAS) -> list[Requirement]:
    """Return every direct and indirect requirement of the application.

    Raises
    ------
    PackageNotFoundError
        If a required distribution is not installed.
    """
    found, seen = declared(extras), set()
    for one in found:  # grows during the loop; each distribution and set of extras once
        key = (canonicalize_name(one.name), frozenset(one.extras))
        if key not in seen:
            found += requirements(*key)
        seen.add(key)
    return found


def installed(extras: Iterable[str] = EXTRAS) -> dict[str, Distribution]:
    """Return the distributions that the application needs, by name."""
    return {name: distribution(name) for name in sorted({canonicalize_name(one.name) for one in needed(extras)})}


def _holds(marker: Marker, extras: Iterable[str]) -> bool:
    return any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def licence(found: Distribution) -> str:
    """Return the licence of a distribution as an expression; empty if unknown."""
    metadata = found.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    named = (metadata.get("License") or "").strip()
    if WORDS.get(named, named) in ACCEPTED:
        return WORDS.get(named, named)
    classifiers = [text for text in metadata.get_all("Classifier") or [] if text.startswith("License ::")]
    return " AND ".join(WORDS.get(text, text) for text in classifiers) or named.partition("\n")[0]


def objection(expression: str) -> str:
    """Return why a licence is not accepted; empty if it is accepted.

    If there is a choice of licences, each must be accepted.
    """
    terms = [term.strip("() ") for term in re.split(r" AND | OR ", expression)]
    unknown = [term for term in terms if term not in ACCEPTED]
    if not expression:
        return "names no licence"
    return f"{', '.join(unknown)}: not among the accepted licences" if unknown else ""


def main(extras: Iterable[str]) -> int:
    """Print the list; return 1 if a licence is not accepted or a distribution is not installed."""
    try:
        found = installed(extras)
    except PackageNotFoundError as error:
        print(f"{error.name} is needed and not installed", file=sys.stderr)
        return 1
    width = max(len(name) for name in found)
    for name, one in found.items():
        print(f"{name:{width}}  {one.version:12}  {licence(one)}")
    objections = {name: objection(licence(one)) for name, one in found.items()}
    for name, words in objections.items():
        if words:
            print(f"{name}: {words}", file=sys.stderr)
    n_bad = sum(map(bool, objections.values()))
    print(f"{len(found)} distributions, {n_bad} without an accepted licence", file=sys.stderr)
    return int(n_bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or EXTRAS))
