"""Measure how reliable intervals and tests are with the available runs."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use

if TYPE_CHECKING:
    from analysis.trust._document import document
    from analysis.trust._figures import charts
    from analysis.trust._pairs import INTERVALS, MANN_WHITNEY, TESTS, WELCH
    from analysis.trust._population import AGGREGATIONS, MERGED, ONE_SAMPLE, RUN_MEANS
    from analysis.trust._rates import (
        GAMMAS,
        RESAMPLES,
        Coverage,
        Curve,
        Rate,
        coverage,
        sensitivity,
        smallest_slowdown,
        type_1_error,
    )
    from analysis.trust._survey import (
        CoverageAt,
        Quartiles,
        Slowdown,
        SlowdownSummary,
        Summary,
        Survey,
        Trust,
        survey,
        trust_of,
    )

__all__ = [
    "AGGREGATIONS",
    "GAMMAS",
    "INTERVALS",
    "MANN_WHITNEY",
    "MERGED",
    "ONE_SAMPLE",
    "RESAMPLES",
    "RUN_MEANS",
    "TESTS",
    "WELCH",
    "Coverage",
    "CoverageAt",
    "Curve",
    "Quartiles",
    "Rate",
    "Slowdown",
    "SlowdownSummary",
    "Summary",
    "Survey",
    "Trust",
    "charts",
    "coverage",
    "document",
    "sensitivity",
    "smallest_slowdown",
    "survey",
    "trust_of",
    "type_1_error",
]

_PLACES = {
    "_document": ("document",),
    "_figures": ("charts",),
    "_pairs": ("INTERVALS", "MANN_WHITNEY", "TESTS", "WELCH"),
    "_population": ("AGGREGATIONS", "MERGED", "ONE_SAMPLE", "RUN_MEANS"),
    "_rates": (
        "Coverage",
        "Curve",
        "GAMMAS",
        "RESAMPLES",
        "Rate",
        "coverage",
        "sensitivity",
        "smallest_slowdown",
        "type_1_error",
    ),
    "_survey": (
        "CoverageAt",
        "Quartiles",
        "Slowdown",
        "SlowdownSummary",
        "Summary",
        "Survey",
        "Trust",
        "survey",
        "trust_of",
    ),
}
__getattr__ = on_first_use(__name__, {name: module for module, names in _PLACES.items() for name in names})
