"""Measure how much runs differ, and which slowdowns and changes a suite of benchmarks can detect."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use

if TYPE_CHECKING:
    from analysis.methods.spread._document import document as document
    from analysis.methods.spread._figures import charts as charts
    from analysis.methods.spread._score import (
        api_benchmarking_score as api_benchmarking_score,
        is_regression as is_regression,
        variability as variability,
    )
    from analysis.methods.spread._survey import (
        SpreadOptions as SpreadOptions,
        SpreadSurvey as SpreadSurvey,
        spread_survey as spread_survey,
    )
    from analysis.runs.spread import BUCKETS as BUCKETS, bucket as bucket, cv as cv, max_spread as max_spread


_PLACES = {
    "_document": ("document",),
    "_figures": ("charts",),
    "_score": ("BUCKETS", "api_benchmarking_score", "bucket", "cv", "is_regression", "max_spread", "variability"),
    "_survey": ("SpreadOptions", "SpreadSurvey", "spread_survey"),
}
__getattr__ = on_first_use(__name__, {name: module for module, names in _PLACES.items() for name in names})
