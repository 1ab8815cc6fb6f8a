"""Recognise files that tools write next to their results, such as estimates and reports.

Such files are skipped if the results are in the same folder.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import PurePath
from typing import TypeVar

P = TypeVar("P", bound=PurePath)

_OF_CRITERION = ("benchmark.json", "estimates.json", "tukey.json")
_OF_ASV = re.compile(r"[0-9a-f]{8}-.*\.json(\.gz|\.zst)?", re.DOTALL)
_OF_DOTNET = re.compile(
    r"(?P<stem>.+)-(report(-brief|-default|-short)?|measurements)(-compressed)?\.(csv|json)", re.DOTALL
)


def companions(paths: Collection[P]) -> set[P]:
    """Return the paths of files that tools wrote next to their results, if the results are in the collection too.

    Examples
    --------
    >>> found = [PurePath("sort/new") / name for name in ("estimates.json", "sample.json", "x.json")]
    >>> companions(found)
    {PurePosixPath('sort/new/estimates.json')}
    """
    beside: dict[PurePath, set[str]] = {}
    for path in paths:
        beside.setdefault(path.parent, set()).add(path.name)
    return {path for path in paths if any(_accompanies(path, beside))}


def _accompanies(path: PurePath, beside: dict[PurePath, set[str]]) -> Iterator[bool]:
    names, folder = beside[path.parent], path.parent
    if path.name in _OF_CRITERION:
        yield "sample.json" in names
        yield folder.name == "change" and "sample.json" in beside.get(folder.parent / "new", ())
    if path.name == "measurements.parquet":  # written by `labeler measure`, with the same content as the CSV table
        yield "measurements.csv" in names
    if path.name == "machine.json":
        yield any(map(_OF_ASV.fullmatch, names))
    if path.name == "benchmarks.json":
        yield any("machine.json" in beside[below] for below in beside if below.parent == folder)
    report = _OF_DOTNET.fullmatch(path.name)
    if report:
        yield any(f"{report['stem']}-report-full{end}.json" in names for end in ("", "-compressed"))
