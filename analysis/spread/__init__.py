"""Measure how much runs differ, and which slowdowns and changes a suite of benchmarks can detect."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use

if TYPE_CHECKING:
    from analysis.spread._document import document as document
    from analysis.spread._figures import charts as charts
    from analysis.spread._score import (
        Detection as Detection,
        Regression as Regression,
        RunPair as RunPair,
        Score as Score,
        Variant as Variant,
        api_benchmarking_score as api_benchmarking_score,
        is_regression as is_regression,
    )
    from analysis.spread._spread import (
        BUCKETS as BUCKETS,
        PER as PER,
        bucket as bucket,
        cv as cv,
        max_spread as max_spread,
        variability as variability,
    )
    from analysis.spread._survey import (
        BenchmarkSpread as BenchmarkSpread,
        BucketRow as BucketRow,
        ContextSpread as ContextSpread,
        EnvironmentPair as EnvironmentPair,
        SpreadSurvey as SpreadSurvey,
        survey as survey,
    )
    from analysis.spread._time import (
        BenchmarkTime as BenchmarkTime,
        PassTime as PassTime,
        SuitePart as SuitePart,
        SuiteTime as SuiteTime,
        suite_time as suite_time,
    )


_PLACES = {
    "_document": ("document",),
    "_figures": ("charts",),
    "_score": ("Detection", "RunPair", "Regression", "Score", "Variant", "api_benchmarking_score", "is_regression"),
    "_spread": ("BUCKETS", "PER", "bucket", "cv", "max_spread", "variability"),
    "_survey": ("BucketRow", "ContextSpread", "EnvironmentPair", "BenchmarkSpread", "SpreadSurvey", "survey"),
    "_time": ("BenchmarkTime", "SuitePart", "PassTime", "SuiteTime", "suite_time"),
}
__getattr__ = on_first_use(__name__, {name: module for module, names in _PLACES.items() for name in names})
