"""Measure how reliable intervals and tests are with the available runs."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use

if TYPE_CHECKING:
    from analysis.methods.trust._document import document as document
    from analysis.methods.trust._figures import charts as charts
    from analysis.methods.trust._pairs import (
        INTERVALS as INTERVALS,
        MANN_WHITNEY as MANN_WHITNEY,
        TESTS as TESTS,
        WELCH as WELCH,
    )
    from analysis.methods.trust._population import (
        AGGREGATIONS as AGGREGATIONS,
        MERGED as MERGED,
        ONE_SAMPLE as ONE_SAMPLE,
        RUN_MEANS as RUN_MEANS,
        distribution as distribution,
    )
    from analysis.methods.trust._rates import (
        RESAMPLES as RESAMPLES,
        Coverage as Coverage,
        Curve as Curve,
        Rate as Rate,
        coverage as coverage,
        sensitivity as sensitivity,
        smallest_slowdown as smallest_slowdown,
        type_1_error as type_1_error,
    )
    from analysis.methods.trust._survey import (
        MiddleHalf as MiddleHalf,
        TrustOptions as TrustOptions,
        TrustSurvey as TrustSurvey,
        trust_of as trust_of,
        trust_survey as trust_survey,
    )


_PLACES = {
    "_document": ("document",),
    "_figures": ("charts", "distribution_chart"),
    "_pairs": ("INTERVALS", "MANN_WHITNEY", "TESTS", "WELCH"),
    "_population": ("AGGREGATIONS", "MERGED", "ONE_SAMPLE", "RUN_MEANS", "distribution"),
    "_rates": (
        "RESAMPLES",
        "Coverage",
        "Curve",
        "Rate",
        "coverage",
        "sensitivity",
        "smallest_slowdown",
        "type_1_error",
    ),
    "_survey": ("MiddleHalf", "TrustOptions", "TrustSurvey", "trust_survey", "trust_of"),
}
__getattr__ = on_first_use(__name__, {name: module for module, names in _PLACES.items() for name in names})
