"""Result files -> the benchmarks to work on, for every method and for the check."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.benchmark import Benchmark, Failure, Sampling, canonical
from labeler.errors import InputError, Refused, sentence
from labeler.formats import DEFAULTS, Advance, Format, Part, ReadOptions, Source, read_benchmarks


@dataclass(frozen=True)
class Gathered:
    """The benchmarks to work on, the files that could not be used, and what else is to be said of files.

    Attributes
    ----------
    benchmarks : tuple of Benchmark
    refused : tuple of Refused
    remarks : tuple of str
    formats : tuple of Format
        Of the files that were used, in order of first appearance.
    """

    benchmarks: tuple[Benchmark, ...]
    refused: tuple[Refused, ...] = ()
    remarks: tuple[str, ...] = ()
    formats: tuple[Format, ...] = ()


def from_files(
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    advance: Advance = lambda _source: None,
    absent_fail: bool = False,
) -> Gathered:
    """The benchmarks of result files, in an order that does not depend on the files.

    Parameters
    ----------
    files : sequence of Source
    options : ReadOptions
    advance : callable
        Called with each file that was read.
    absent_fail : bool
        Whether a benchmark that is not in a file, though others of its suite are, has a failed run there.

    Raises
    ------
    InputError
        If files contradict each other, or the pattern for their names cannot be used.
    """
    parts: list[Part] = []
    refused, remarks = [], []
    for part in read_benchmarks(files, options, advance=advance):
        if part.is_conflict:
            raise InputError(f"{part.label}: {part.refused}.")
        if part.refused:
            refused.append(Refused(part.label, part.refused))
        remarks += [f"{part.label}: {text}" for text in part.remarks]
        parts.append(part)
    benchmarks = list(_with_absent(parts)) if absent_fail else [one for part in parts for one in part.benchmarks]
    formats = {part.known.name: part.known for part in parts if part.known and part.benchmarks}
    return Gathered(tuple(canonical(benchmarks)), tuple(refused), tuple(remarks), tuple(formats.values()))


def _with_absent(parts: Iterable[Part]) -> Iterator[Benchmark]:
    """The benchmarks, each with a failure for every file of its suite that does not have it.

    A process that crashes leaves a file without the benchmarks that it did not reach. Files that share a benchmark are
    of one suite, directly or by way of others; files of other versions or contexts are not.
    """
    parts = list(parts)
    suites: dict[Hashable, Hashable] = {}  # file -> another file of its suite, or itself

    def root(file: Hashable) -> Hashable:
        while suites.setdefault(file, file) != file:
            suites[file] = file = suites[suites[file]]
        return file

    keys = [
        [(file.name, part.known and part.known.name, frozenset(file.conditions.items())) for file in part.files]
        if part.is_joined and part.benchmarks and all(file.is_run for file in part.files)
        else []
        for part in parts
    ]
    for files in keys:
        of_level: dict[Hashable, Hashable] = {}
        for file in files:
            suites[root(file)] = root(of_level.setdefault(file[1:], file))
    members: dict[Hashable, list[tuple[str, dict[str, str]]]] = {}
    for file in dict.fromkeys(file for files in keys for file in files):
        members.setdefault(root(file), []).append((file[0], dict(file[2])))
    for part, files in zip(parts, keys, strict=True):
        there = {file[0] for file in files}
        absent = [
            Failure(conditions, f"it is not in {name}")
            for suite in dict.fromkeys(map(root, files))
            for name, conditions in members[suite]
            if name not in there
        ]
        for benchmark in part.benchmarks:
            yield replace(benchmark, failures=(*benchmark.failures, *absent)) if absent else benchmark


def sampling(warmup: float, aggregate: str) -> Sampling:
    """How a run becomes one number; raises InputError if it cannot."""
    try:
        return Sampling(warmup, aggregate)
    except ValueError as error:
        raise InputError(sentence(error)) from None
