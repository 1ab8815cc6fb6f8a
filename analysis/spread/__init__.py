"""Measure how much runs differ, and which slowdowns and changes a suite of benchmarks can detect."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use

if TYPE_CHECKING:
    from analysis.spread._document import document as document
    from analysis.spread._figures import charts as charts
    from analysis.spread._score import (
        BUCKETS as BUCKETS,
        api_benchmarking_score as api_benchmarking_score,
        bucket as bucket,
        cv as cv,
        is_regression as is_regression,
        max_spread as max_spread,
        variability as variability,
    )
    from analysis.spread._survey import SpreadSurvey as SpreadSurvey, survey as survey


_PLACES = {
    "_document": ("document",),
    "_figures": ("charts",),
    "_score": ("BUCKETS", "api_benchmarking_score", "bucket", "cv", "is_regression", "max_spread", "variability"),
    "_survey": ("SpreadSurvey", "survey"),
}
__getattr__ = on_first_use(__name__, {name: module for module, names in _PLACES.items() for name in names})
