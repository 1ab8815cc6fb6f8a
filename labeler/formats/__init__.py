"""Benchmark result files -> `Benchmark`. The format is found from the content; one module a format.

A reader is a function of the file's name and content that yields benchmarks and raises `ValueError` with the place and
the reason where it cannot. `read` turns that into `Refused`, which also names the file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from labeler.errors import InputError, Refused
from labeler.formats import checking
from labeler.formats.bounds import check_text
from labeler.formats.known import FILE_IS, FORMATS, RUN, STUDY, VALUES_ARE, Format
from labeler.formats.long_table import ONE_RUN, in_order
from labeler.formats.shape import each_value_a_run, values_as_iterations
from labeler.formats.source import (
    ENDINGS,
    PACKED,
    ZIP,
    Source,
    content_hash,
    may_hold_results,
    members,
    natural,
    sources,
)
from labeler.model import Benchmark

__all__ = [
    "DEFAULTS", "ENDINGS", "FILE_IS", "FORMATS", "PACKED", "RUN", "STUDY", "VALUES_ARE", "ZIP", "Format", "ReadOptions",
    "Source", "content_hash", "format_of", "is_run", "may_hold_results", "members", "natural", "read", "sources",
]  # fmt: skip


@dataclass(frozen=True)
class ReadOptions:
    """What the person says about the files.

    Attributes
    ----------
    format : str or None
        The name of a format; None: found from the content.
    columns : mapping of str to str
        For tables: our column -> the file's column.
    file_is : str or None
        "run": several files of a benchmark are several runs. "study": each stands for itself. None: as its format says.
    values_are : str or None
        "iterations" of the run in which they stand, or "runs". None: as its format says.
    others : mapping of str to Format
        Formats of other packages by name, tried after all of ours.
    """

    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    file_is: str | None = None
    values_are: str | None = None
    others: Mapping[str, Format] = field(default_factory=dict)


DEFAULTS = ReadOptions()


def read(
    source: Source, options: ReadOptions = DEFAULTS, *, content: bytes | None = None, known: Format | None = None
) -> list[Benchmark]:
    """The benchmarks in a file.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    content : bytes, optional
        The decompressed content where the caller has it already.
    known : Format, optional
        Its format where the caller knows it already.

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
    content = source.content() if content is None else content
    chosen = known or format_of(source, content, options)
    try:
        if chosen.name != "parquet":
            check_text(content, source.size)
    except ValueError as error:
        raise Refused(source.name, str(error)) from None
    benchmarks = list(_checked(source, chosen, content, options))
    if not benchmarks:
        raise Refused(source.name, "holds no benchmarks")
    return benchmarks


def is_run(known: Format, options: ReadOptions) -> bool:
    """Whether several files of this format are several runs."""
    return (options.file_is or known.file_is) == RUN


def format_of(source: Source, content: bytes, options: ReadOptions = DEFAULTS) -> Format:
    """The format that the person names, or the one to which the content belongs.

    Raises
    ------
    Refused
        If it belongs to none.
    InputError
        If the named format does not exist.
    """
    formats = {**options.others, **FORMATS}
    if options.format is not None:
        if options.format not in formats:
            raise InputError(
                f"There is no format {options.format!r}; known are {', '.join((*FORMATS, *options.others))}."
            )
        return formats[options.format]
    if not content or content.isspace():
        raise Refused(source.name, "the file is empty")
    failed = []
    for candidate in (*FORMATS.values(), *options.others.values()):
        try:
            if candidate.detect(source.plain_name, content):
                return candidate
        except Exception as error:  # noqa: BLE001 - of another package; the next ones may know the file
            failed.append(f"; {candidate.name} of {candidate.package} failed: {checking.in_words(error)}")
    if source.plain_name.lower().endswith(".csv"):
        return FORMATS["csv"]
    titles = "; ".join(known.title for known in formats.values())
    raise Refused(source.name, f"not a result file of a known format ({titles}){''.join(failed)}")


def _checked(source: Source, chosen: Format, content: bytes, options: ReadOptions) -> Iterator[Benchmark]:
    """The benchmarks in the shape that the person asks for; what a reader cannot use is a refusal of its file."""
    columns = {"run": ONE_RUN, **options.columns} if options.file_is == RUN else options.columns
    try:
        for found in chosen.read(source.plain_name, content, columns):
            benchmark = checking.plain(found) if chosen.package else found
            checking.check(benchmark)
            yield in_order(_shaped(benchmark, chosen, options))
    except (ValueError, RecursionError) as error:
        raise Refused(source.name, str(error) or type(error).__name__) from None
    except (Exception, SystemExit) as error:
        if not chosen.package:
            raise
        reason = f"the reader {chosen.name!r} of {chosen.package} failed: {checking.in_words(error)}"
        raise Refused(source.name, reason) from None


def _shaped(benchmark: Benchmark, chosen: Format, options: ReadOptions) -> Benchmark:
    if options.values_are == "runs":
        return each_value_a_run(benchmark)
    is_one_run = options.file_is == RUN and chosen.values_are == "runs"
    return values_as_iterations(benchmark) if is_one_run or options.values_are == "iterations" else benchmark
