"""The benchmarks of a study, as they were before the import split their versions into items."""

from analysis.runs.benchmark import ALTERED, HIGHER, UNKNOWN, VERSION, Benchmark, Failure, by_name, sorted_by_name
from labeler.files.gathering import Gathered as Gathered
from labeler.studies.model import Item
from labeler.studies.store import Database, items, runs


def from_study(db: Database) -> Gathered:
    """Return the benchmarks of a study.

    An import makes separate items from the versions or altered methods of a benchmark. This function joins these items
    again.
    """
    imported = sorted(items.included(db, measured=True), key=lambda item: item.item_id)
    benchmarks = [benchmark_of(db, item) for item in imported]
    return Gathered(tuple(sorted_by_name(by_name(benchmarks))))


def benchmark_of(db: Database, item: Item) -> Benchmark:
    """Return the runs of an item with their conditions, under the name that they had before the import split them."""
    conditions = runs.conditions_of_item(db, item.item_id)
    failures = [Failure(conditions, reason) for conditions, reason in items.failures_of(db, item.item_id)]
    name = item.name
    for condition in (VERSION, ALTERED):
        if condition in conditions:
            name = name.removesuffix(f" @ {conditions[condition][0] or '?'}")
    is_stated = item.unit or item.better == HIGHER  # "lower" is also stored if the direction was unknown
    series = runs.of_item(db, item.item_id)
    return Benchmark.of_series(
        name, series, item.application, item.unit, item.better if is_stated else UNKNOWN, conditions, failures
    )
