"""Classifiers that other packages bring: the only use of importlib.metadata.

A package registers a function under the entry point group `analysis.classifiers`:

    [project.entry-points."analysis.classifiers"]
    mine = "my_package:judge"

The function takes the runs of one benchmark (`analysis.runs.Runs`; its `values` is an array of shape (k, n)) and
returns an `analysis.classifiers.Verdict`. What it raises is reported for the item at hand, and stops nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

CLASSIFIER_GROUP = "analysis.classifiers"


@dataclass(frozen=True)
class Plugin:
    """What a package registered: a function, or the reason why it could not be loaded."""

    name: str
    distribution: str
    function: Callable[..., Any] | None
    error: str = ""


@cache
def classifier_plugins() -> Mapping[str, Plugin]:
    """All registered classifiers by name, loaded once a process."""
    return {point.name: _loaded(point) for point in entry_points(group=CLASSIFIER_GROUP)}


def _loaded(point: EntryPoint) -> Plugin:
    distribution = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown package"
    try:
        return Plugin(point.name, distribution, point.load())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a foreign module does must not stop ours
        return Plugin(point.name, distribution, None, f"{type(error).__name__}: {error}")
