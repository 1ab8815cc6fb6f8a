"""What becomes an item: a benchmark, or each of its versions and altered methods, with at least two runs."""

from collections.abc import Sequence
from dataclasses import replace

from labeler.errors import Refused
from labeler.formats import RUN
from labeler.model import Benchmark
from labeler.service.data.joining import Part

LEVELS = ("altered", "version")  # conditions whose levels are different software

Wanted = tuple[Benchmark, tuple[str, ...]]  # what becomes an item, and what to say about it


def to_import(part: Part) -> list[Wanted]:
    """The benchmarks of a file, or of several, those with several levels of `LEVELS` apart.

    Nobody can say of different software whether its runs are alike. A level with one run is left out; if no level has
    more, runs of several files are taken together, as if nothing were known of their versions.

    Raises
    ------
    Refused
        If that is why there are no benchmarks, or a benchmark has one run only.
    """
    if part.refused:
        raise Refused(part.label, part.refused)
    wanted: list[Wanted] = [(benchmark, part.warnings) for benchmark in part.benchmarks]
    for condition in LEVELS:
        wanted = [
            (level, (*before, *warnings))
            for benchmark, before in wanted
            for level, warnings in _levels(part, benchmark, condition)
        ]
    return wanted


def _levels(part: Part, benchmark: Benchmark, condition: str) -> Sequence[Wanted]:
    """The runs of each level of a condition that has several."""
    entries = benchmark.conditions.get(condition, ())
    levels = list(dict.fromkeys(entries))
    if len(levels) < 2:
        _check_comparable(part, benchmark)
        return [(benchmark, ())]
    kept = [level for level in levels if entries.count(level) > 1]
    if not kept and len(part.files) > 1:
        return [(benchmark, (f"one run only of each {condition}: all {len(entries)} are one item",))]
    if not kept:
        reason = f"one run only of each {condition}; at least two are needed to compare"
        raise Refused(part.label, reason, f"benchmark {benchmark.name!r}")
    n_items = f"{len(kept)} items" if len(kept) > 1 else "1 item"
    warnings = [f"every level of {condition} is an item of its own: {n_items}"]
    warnings += [f"{condition} {level!r} has one run only and is left out" for level in levels if level not in kept]
    return [(of_level(benchmark, condition, level), tuple(warnings)) for level in kept]


def of_level(benchmark: Benchmark, condition: str, level: str) -> Benchmark:
    """The runs of one level, and the failures that may belong to it, under a name of its own."""
    runs_of_level = [run for run, entry in enumerate(benchmark.conditions[condition]) if entry == level]
    return replace(
        benchmark,
        name=f"{benchmark.name} @ {level or '?'}",
        runs=tuple(benchmark.runs[run] for run in runs_of_level),
        conditions={
            name: tuple(entries[run] for run in runs_of_level) for name, entries in benchmark.conditions.items()
        },
        failures=tuple(one for one in benchmark.failures if one.conditions.get(condition, level) == level),
    )


def _check_comparable(part: Part, benchmark: Benchmark) -> None:
    if len(benchmark.runs) > 1:
        return
    reason = "one run only; at least two are needed to compare"
    if part.known and part.known.file_is == RUN:
        how = f" ({part.known.keep})" if part.known.keep else ""
        reason += f". A file of {part.known.title} is one run: write several{how} and import them together"
    else:
        reason += ". If several files hold its runs, import them together with --file-is run"
    raise Refused(part.label, reason, f"benchmark {benchmark.name!r}")
