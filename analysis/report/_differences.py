"""Compare two reports value by value."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# the time, the audit log and the versions of the software may differ, and published numbers are not computed
NOT_COMPARED = re.compile(r"(study\.(reported_utc|chain)|versions|published)($|[.\[])")
ROUNDING = 1e-15  # a smaller number is a rounding error of 0


@dataclass(frozen=True)
class ReportDifference:
    """A place where two reports differ, and both values; a value is None if its report has null or nothing there."""

    place: str
    reported: Any
    recomputed: Any


def differences(
    reported: Mapping[str, Any], recomputed: Mapping[str, Any], *, tolerance: float = 1e-9
) -> list[ReportDifference]:
    """Return the places where two reports differ, in the order of the reported values.

    `tolerance` is the largest relative difference at which two numbers count as equal, because processors may differ in
    the last digits; a number below 1e-15 counts as 0 because it is a rounding error. The time of the report, the head
    of the audit log, versions and published numbers are not compared.
    """
    theirs, ours = dict(_leaves(reported)), dict(_leaves(recomputed))
    return [
        ReportDifference(place, theirs.get(place), ours.get(place))
        for place in theirs | ours
        if not NOT_COMPARED.match(place) and not _same(theirs.get(place), ours.get(place), tolerance)
    ]


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every number, text and empty collection with its place, such as `agreement.pairs[0].percent.value`."""
    if isinstance(value, Mapping) and value:
        for name, entry in value.items():
            yield from _leaves(entry, _entry_place(place, str(name)))
    elif isinstance(value, (list, tuple)) and value:
        for index, entry in enumerate(value):
            yield from _leaves(entry, f"{place}[{index}]")
    else:
        yield place, value


def _entry_place(place: str, name: str) -> str:
    """Return the place of an entry in a mapping; quote the name of the entry if the name itself looks like a place."""
    if not re.fullmatch(r"[\w -]+", name):
        return f"{place}[{json.dumps(name)}]"
    return f"{place}.{name}" if place else name


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (a, b)):
        return math.isclose(a, b, rel_tol=tolerance) or (0 in (a, b) and abs(a - b) < ROUNDING)
    if isinstance(a, (Mapping, list, tuple)) and isinstance(b, (Mapping, list, tuple)):
        return len(a) == len(b) == 0
    return type(a) is type(b) and bool(a == b)
