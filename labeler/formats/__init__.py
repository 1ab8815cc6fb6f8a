"""Benchmark result files -> `Benchmark`. The format is found from the content; one module a format.

A reader is a function of the file's name and content that yields benchmarks and raises `ValueError` with the place and
the reason where it cannot. `read` turns that into `Refused`, which also names the file.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from labeler.errors import InputError, Refused
from labeler.formats import abs_scores, icpe, jmh, long_table, ordersage, pyperf
from labeler.formats.source import Source, content_hash, sources
from labeler.model import Benchmark, is_storable

__all__ = ["DEFAULTS", "FORMATS", "Format", "ReadOptions", "Source", "content_hash", "read", "sources"]


@dataclass(frozen=True)
class ReadOptions:
    """What the person says about the files.

    Attributes
    ----------
    format : str or None
        A name in `FORMATS`; None: found from the content.
    columns : mapping of str to str
        For tables: our column -> the file's column.
    """

    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """One file format.

    Attributes
    ----------
    name, title : str
    mapping : str
        What maps to runs and to iterations.
    detect : callable
        (file name, content) -> whether it is this format; cheap, and never raises.
    read : callable
        (file name, content, columns) -> benchmarks.
    """

    name: str
    title: str
    mapping: str
    detect: Callable[[str, bytes], bool]
    read: Callable[[str, bytes, Mapping[str, str]], Iterator[Benchmark]]


FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        Format("icpe", "ICPE '23 data challenge JSON", "list = run, number = iteration", icpe.detect, icpe.read),
        Format("jmh", "JMH JSON", "fork = run, iteration", jmh.detect, jmh.read),
        Format("pyperf", "pyperf JSON", "run (worker process), value = iteration", pyperf.detect, pyperf.read),
        Format(
            "parquet", "long Parquet table", "columns run, iteration", long_table.is_parquet, long_table.read_parquet
        ),
        Format("ordersage", "OrderSage CSV", "trial = run of one iteration", ordersage.detect, ordersage.read),
        Format("abs", "JavaABS or GoABS CSV", "run, result = iteration", abs_scores.detect, abs_scores.read),
        Format("csv", "long CSV table", "columns run, iteration", long_table.is_csv, long_table.read_csv),
    )
}


DEFAULTS = ReadOptions()


def read(source: Source, options: ReadOptions = DEFAULTS, *, content: bytes | None = None) -> list[Benchmark]:
    """The benchmarks in a file.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    content : bytes, optional
        The decompressed content where the caller has it already.

    Returns
    -------
    list of Benchmark
        At least one; every run has at least one measurement and all are finite.

    Raises
    ------
    Refused
        If nothing of the file can be used; it names the file, the place and the reason.
    InputError
        If the named format does not exist.
    """
    if content is None:
        content = source.content()
    chosen = _format_of(source, content, options)
    try:
        benchmarks = list(chosen.read(source.file_name, content, options.columns))
        for benchmark in benchmarks:
            _check(benchmark)
    except (ValueError, RecursionError) as error:
        raise Refused(source.name, str(error) or type(error).__name__) from None
    if not benchmarks:
        raise Refused(source.name, "holds no benchmarks")
    return benchmarks


def _format_of(source: Source, content: bytes, options: ReadOptions) -> Format:
    if options.format is not None:
        if options.format not in FORMATS:
            raise InputError(f"There is no format {options.format!r}; known are {', '.join(FORMATS)}.")
        return FORMATS[options.format]
    if not content or content.isspace():
        raise Refused(source.name, "the file is empty")
    for candidate in FORMATS.values():
        if candidate.detect(source.file_name, content):
            return candidate
    known = "; ".join(f.title for f in FORMATS.values())
    raise Refused(source.name, f"not a result file of a known format ({known})")


def _check(benchmark: Benchmark) -> None:
    if not benchmark.name.strip():
        raise ValueError("a benchmark without a name")
    if not all(map(is_storable, (benchmark.name, benchmark.application, benchmark.unit))):
        raise ValueError(f"benchmark {benchmark.name!r}: name, application or unit has characters that are no text")
    if not benchmark.runs:
        raise ValueError(f"benchmark {benchmark.name!r} has no runs")
    for run, series in enumerate(benchmark.runs):
        if not len(series):
            raise ValueError(f"benchmark {benchmark.name!r}, run {run}: no measurements")
        if not np.isfinite(series).all():
            at = int(np.flatnonzero(~np.isfinite(series))[0])
            raise ValueError(
                f"benchmark {benchmark.name!r}, run {run}, iteration {at}: {series[at]} is not a finite measurement"
            )
