"""Load classifiers, detectors and formats from other packages.

A package registers a classifier under the entry point group `analysis.classifiers`, a rule for a change between
two versions under `analysis.change_rules`, a detector under `analysis.detectors`, and a format under
`labeler.formats`:

    [project.entry-points."analysis.classifiers"]
    mine = "my_package:judge"

    [project.entry-points."labeler.formats"]
    mine = "my_package:FORMAT"

A classifier is a function that takes the runs of one benchmark and returns an `analysis.runs.classifiers.Verdict`. The
runs are an `analysis.runs.runs.Runs`, whose `values` is an array of shape (k, n). A rule for a change takes the runs
before and after the change, two lists of arrays, and the keyword `lower_is_better`; it also returns a Verdict. If a
function raises an error, only the verdict on this item is missing. A detector is a function that takes the values of a
series as an array and returns the first point of each new segment, counted from 0. A format is a
`labeler.files.formats.Format`. If the reader of a format raises an error, the file is refused. No other module uses
importlib.metadata.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

CLASSIFIER_GROUP = "analysis.classifiers"
DETECTOR_GROUP = "analysis.detectors"
CHANGE_GROUP = "analysis.change_rules"
FORMAT_GROUP = "labeler.formats"


@dataclass(frozen=True)
class Plugin:
    """A registered classifier, detector or format: the loaded object, or the reason why it could not be loaded."""

    name: str
    distribution: str
    function: Any
    error: str = ""


@cache
def classifier_plugins() -> Mapping[str, Plugin]:
    """Return the classifiers of other packages by name; each process loads them only once."""
    return _plugins(CLASSIFIER_GROUP)


@cache
def detector_plugins() -> Mapping[str, Plugin]:
    """Return the detectors of other packages by name; each process loads them only once."""
    return _plugins(DETECTOR_GROUP)


@cache
def change_plugins() -> Mapping[str, Plugin]:
    """Return the rules of other packages for a change by name; each process loads them only once."""
    return _plugins(CHANGE_GROUP)


@cache
def format_plugins() -> Mapping[str, Plugin]:
    """Return the formats of other packages by name; each process loads them only once."""
    return _plugins(FORMAT_GROUP)


def _plugins(group: str) -> Mapping[str, Plugin]:
    from importlib.metadata import entry_points  # slow to import

    return {point.name: _loaded(point) for point in entry_points(group=group)}


def _loaded(point: "EntryPoint") -> Plugin:
    distribution = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown package"
    try:
        return Plugin(point.name, distribution, point.load())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a foreign module does must not stop ours
        return Plugin(point.name, distribution, None, f"{type(error).__name__}: {error}")
