"""Read the benchmarks in result files, for the check and for the methods spread, order, trust and contexts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from analysis.benchmark import DIRECTIONS, Benchmark, PerRun, sorted_by_name
from labeler.errors import InputError, Refused, sentence
from labeler.formats import (
    DEFAULTS,
    FILE_IS,
    VALUES_ARE,
    Advance,
    Format,
    Part,
    ReadOptions,
    Source,
    read_benchmarks,
    sources,
    table as formats_table,
    with_others,
)

__all__ = [
    "BETTER", "FILE_IS", "VALUES_ARE", "Advance", "Gathered", "ReadOptions", "Source", "formats_table", "from_files",
    "left_out", "per_run", "sources", "usable", "with_others",
]  # fmt: skip

BETTER = tuple(filter(None, DIRECTIONS))


@dataclass(frozen=True)
class Gathered:
    """The benchmarks that were read from files, the refused files, and remarks about files."""

    benchmarks: tuple[Benchmark, ...]
    refused: tuple[Refused, ...] = ()
    remarks: tuple[str, ...] = ()
    formats: tuple[Format, ...] = ()  # formats of the files that were read, each once, in order of first appearance
    hashes: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of the content of each file -> its name


def from_files(
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    advance: Advance = lambda _source: None,
    use: Callable[[Benchmark], None] | None = None,
) -> Gathered:
    """Read the benchmarks of result files; raises InputError like `usable`.

    The order of the benchmarks does not depend on the order of the files. If a benchmark has no measurement, a remark
    names the benchmark. If `use` is given, it is called with each benchmark as soon as it is read, and the result has
    no benchmarks, so that memory does not grow with the number of files.
    """
    parts, gathered = usable(files, options, advance=advance, use=use)
    remarks = [remark for part in parts for remark in left_out(part)]
    benchmarks = sorted_by_name(benchmark for part in parts for benchmark in part.benchmarks)
    return replace(gathered, benchmarks=tuple(benchmarks), remarks=(*gathered.remarks, *remarks))


def left_out(part: Part) -> list[str]:
    """Return a remark for each benchmark of this part that has no measurement."""
    return [f"{part.label}: benchmark {name!r} is left out: {why}" for name, why in part.left_out()]


def usable(
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    advance: Advance = lambda _source: None,
    use: Callable[[Benchmark], None] | None = None,
) -> tuple[list[Part], Gathered]:
    """Read result files; return their parts, and a `Gathered` that has everything except the benchmarks.

    `advance` is called with each file that was read. `use` is called with each benchmark, and the parts then have no
    benchmarks. Raises InputError if files contradict each other, or the pattern for file names is invalid.
    """
    parts: list[Part] = []
    refused, remarks = [], []
    formats: dict[str, Format] = {}
    for part in read_benchmarks(files, options, advance=advance):
        if part.is_conflict:
            raise InputError(f"{part.label}: {part.refused}.")
        if part.refused:
            refused.append(Refused(part.label, part.refused))
        remarks += [f"{part.label}: {text}" for text in part.remarks]
        if part.known and part.benchmarks:
            formats.setdefault(part.known.name, part.known)
        if use is not None:
            for benchmark in part.benchmarks:
                use(benchmark)
            part = replace(part, benchmarks=())
        parts.append(part)
    hashes = {file.sha256: file.name for part in parts for file in part.files if file.sha256}
    return parts, Gathered((), tuple(refused), tuple(remarks), tuple(formats.values()), hashes)


def per_run(warmup: str, aggregate: str) -> PerRun:
    """Return the options that decide how a run is summarised by one number; raises InputError if one is invalid."""
    try:
        number = float(warmup)
    except ValueError:
        number = None
    try:
        return PerRun(warmup.strip() if number is None else number, aggregate)
    except ValueError as error:
        raise InputError(sentence(error)) from None
