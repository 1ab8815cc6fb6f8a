"""Measure how much runs differ, and which slowdowns and changes a suite of benchmarks can detect."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use

if TYPE_CHECKING:
    from analysis.spread._document import document
    from analysis.spread._figures import charts
    from analysis.spread._regression import Pair, Regression, is_regression
    from analysis.spread._score import Detection, Score, Variant, api_benchmarking_score
    from analysis.spread._spread import BUCKETS, PER, bucket, cv, max_spread, variability
    from analysis.spread._survey import BucketRow, Environment, EnvironmentPair, Spread, Survey, survey
    from analysis.spread._time import BenchmarkTime, Part, SuiteTime, suite_time

__all__ = [
    "BUCKETS",
    "PER",
    "BenchmarkTime",
    "BucketRow",
    "Detection",
    "Environment",
    "EnvironmentPair",
    "Pair",
    "Part",
    "Regression",
    "Score",
    "Spread",
    "SuiteTime",
    "Survey",
    "Variant",
    "api_benchmarking_score",
    "bucket",
    "charts",
    "cv",
    "document",
    "is_regression",
    "max_spread",
    "suite_time",
    "survey",
    "variability",
]

_PLACES = {
    "_document": ("document",),
    "_figures": ("charts",),
    "_regression": ("Pair", "Regression", "is_regression"),
    "_score": ("Detection", "Score", "Variant", "api_benchmarking_score"),
    "_spread": ("BUCKETS", "PER", "bucket", "cv", "max_spread", "variability"),
    "_survey": ("BucketRow", "Environment", "EnvironmentPair", "Spread", "Survey", "survey"),
    "_time": ("BenchmarkTime", "Part", "SuiteTime", "suite_time"),
}
__getattr__ = on_first_use(__name__, {name: module for module, names in _PLACES.items() for name in names})
