"""Read one result file: detect the format from the content, apply the reading options, and check the benchmarks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from analysis.runs.benchmark import (
    DIRECTIONS,
    FAILED_SHARE,
    LOWER,
    OF_ONE_RUN,
    RUN,
    UNKNOWN,
    Benchmark,
    Failure,
    Run,
    in_order,
    one_of_each,
)
from labeler.errors import InputError, Refused
from labeler.files.formats.bounds import check_text
from labeler.files.formats.building import ONE_RUN
from labeler.files.formats.description import describe_content, hint_of
from labeler.files.formats.known import FILE_IS, FORMATS, VALUES_ARE, Format, package_formats
from labeler.files.formats.logs import plain_text, without_marks
from labeler.files.formats.source import Source
from labeler.files.formats.units import direction, names_failures, scaled, to_seconds
from labeler.files.formats.unread import Unread
from labeler.text import check_length, is_storable

COLUMNS = "benchmark=NAME,run=NAME,value=NAME,..."
_BRACKETS = re.compile(r"\[([^\[\]]+)\]$")  # the metric at the end of a name
LARGEST = 1e150  # the square of a larger number overflows, and so does the variance


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files."""

    format: str | None = field(default=None, metadata={
        "metavar": "NAME", "help": "Format of the files [default: detected from the content].",
    })  # fmt: skip
    # for tables: name of the column in this project -> name in the file
    columns: Mapping[str, str] = field(default_factory=dict, metadata={
        "pairs": COLUMNS, "help": f"Names of the columns in a table: {COLUMNS}",
    })  # fmt: skip
    file_is: str | None = field(default=None, metadata={
        "choices": FILE_IS,
        "help": "Content of each file. run: one run of its benchmarks. study: all runs of its benchmarks [default: see "
                "`labeler formats`].",
    })  # fmt: skip
    values_are: str | None = field(default=None, metadata={
        "choices": VALUES_ARE,
        "help": "Meaning of the values. runs: each value is a separate run. iterations: if all runs have one value, "
                "these values are the iterations of one run [default: see `labeler formats`].",
    })  # fmt: skip
    unit: str = field(default="", metadata={"metavar": "UNIT", "help": "Unit of values that have no unit in the file."})
    # lower or higher, or METRIC=lower or METRIC=higher; the latter also if the file says something else
    better: tuple[str, ...] = field(default=(), metadata={
        "metavar": "[METRIC=]lower|higher",
        "help": "Which values are better, of all or of a METRIC: a unit or name [default: `labeler formats "
                "--directions`].",
    })  # fmt: skip
    pattern: str = field(default="", metadata={
        "flag": "--from-name", "metavar": "PATTERN",
        "help": "Pattern that reads conditions of the runs from file names, such as {version}-{context}.json.",
    })  # fmt: skip
    name: str = field(default="", metadata={
        "flag": "--benchmark", "metavar": "NAME",
        "help": "Name of the benchmark, for files that do not name it: a column of numbers, a table without a column "
                "benchmark, or perf stat.",
    })  # fmt: skip
    metric: str = field(default="", metadata={
        "metavar": "NAME", "help": "Value to read, such as cpu_time of Google Benchmark [default: real_time].",
    })  # fmt: skip
    accept_means: bool = False  # whether to accept the mean of a run if a file keeps nothing else
    accept_failures: bool = False  # whether to accept a file whose benchmarks all failed
    accept_unread: bool = False  # whether to read the rest of a text of which some lines cannot be read
    # Whether shares of failed operations are benchmarks. Otherwise, a share above 0 is a failed run without a value.
    with_shares: bool = False

    def __post_init__(self) -> None:
        """Raise TypeError if the directions are one text, which would be read letter by letter."""
        if isinstance(self.better, str):
            raise TypeError(f"better must be a tuple of texts, got {self.better!r}")


DEFAULTS = ReadOptions()


def read_options(format_name: str | None = None, columns: Mapping[str, str] | None = None, **more: Any) -> ReadOptions:
    """Return options for reading files, checked by `checked_options`; `more` are the other fields of `ReadOptions`."""
    given = {name: value for name, value in more.items() if value is not None}
    return checked_options(ReadOptions(format_name, columns or {}, **given))


def checked_options(options: ReadOptions) -> ReadOptions:
    """Return the options for reading files.

    Raises InputError if the format does not exist or cannot be used, or an option has an unknown value.
    """
    for value, words in (
        (options.file_is, FILE_IS), (options.values_are, VALUES_ARE),
    ):  # fmt: skip
        if value is not None and value not in words:
            raise InputError(f"{value!r} is not one of {', '.join(words)}.")
    for text in options.better:
        metric, equals, better = text.rpartition("=")
        if better not in DIRECTIONS[:2] or bool(equals) != bool(metric.strip()):
            raise InputError(
                f"--better {text}: give lower or higher, or METRIC=lower or METRIC=higher, such as --better "
                "widgets/s=higher."
            )
    if not is_storable(options.name):
        raise InputError(f"{options.name!r} is not a name: it has characters that cannot be stored.")
    _named_format(options)
    return options


def _named_format(options: ReadOptions) -> Format | None:
    name = options.format
    if name is None or name in FORMATS:
        return None if name is None else FORMATS[name]
    of_packages = package_formats()
    if name in of_packages.errors:
        raise InputError(f"The format {name!r} cannot be used: {of_packages.errors[name]}")
    if name not in of_packages.formats:
        names = ", ".join((*FORMATS, *of_packages.formats))
        raise InputError(f"There is no format {name!r}. The formats are {names}.")
    return of_packages.formats[name]


def format_of(source: Source, content: bytes, options: ReadOptions = DEFAULTS) -> Format:
    """Return the format that the options name, or else the one that recognises the content.

    Raises Refused if there is none, and InputError if the named format does not exist.
    """
    named = _named_format(options)
    if named:
        return named
    if not content or content.isspace():
        raise Refused(source.name, "the file is empty")
    data, text = without_marks(content), plain_text(content)
    failed = []
    plainest = FORMATS["numbers"]  # last, because a file of another package may look like numbers, too
    for candidate in chain((known for known in FORMATS.values() if known is not plainest), _of_packages(), (plainest,)):
        try:
            if candidate.detect(source.plain_name, text if candidate.is_printed else data):
                return candidate
        except Exception as error:  # noqa: BLE001 - of another package; the next ones may know the file
            failed.append(f"; {candidate.name} of {candidate.package} failed: {_error_message(error)}")
    hint = hint_of(data)
    if source.plain_name.lower().endswith(".csv") and not hint:
        return FORMATS["csv"]
    raise Refused(
        source.name,
        f"not a result file of a known format: the content is {describe_content(data)}. "
        + (hint or "To list the known formats: labeler formats. To choose one, pass --format NAME")
        + "".join(failed),
    )


def _of_packages() -> Iterator[Format]:
    """Yield the formats of other packages, which are looked for only now: this takes longer than reading a file."""
    yield from package_formats().formats.values()


def read(
    source: Source,
    options: ReadOptions = DEFAULTS,
    *,
    content: bytes | None = None,
    known: Format | None = None,
    unread: list[str] | None = None,
) -> list[Benchmark]:
    """Read the benchmarks in a file; the caller can give the decompressed content and the format if it has them.

    All measurements are finite. If lines of a text look like results but cannot be read, the file is refused; if a list
    `unread` is given, the lines are appended to it, and the rest is returned. Raises Refused with the place if nothing
    in the file can be used, and InputError if the named format does not exist.
    """
    content = source.content() if content is None else content
    chosen = known or format_of(source, content, options)
    if chosen.name != "parquet":
        with source.refusing():
            check_text(content, source.size)
        content = plain_text(content) if chosen.is_printed else without_marks(content)
    benchmarks: list[Benchmark] = []
    try:
        benchmarks.extend(_checked(source, chosen, content, options))
    except Refused as refused:
        if unread is None or not isinstance(refused.__cause__, Unread):
            raise
        unread.append(refused.reason)
        if not benchmarks:
            return []
    if not benchmarks:
        raise Refused(source.name, "the file contains no benchmarks")
    if options.file_is != RUN and not any(benchmark.runs for benchmark in benchmarks):
        has_failed = any(not failure.on_purpose for benchmark in benchmarks for failure in benchmark.failures)
        if not (has_failed and options.accept_failures):
            first = benchmarks[0]
            reason = first.failures[0].reason if first.failures else "no measurements"
            raise Refused(source.name, f"no benchmark of the file has a measurement; {first.name!r}: {reason}")
    return benchmarks


def _checked(source: Source, chosen: Format, content: bytes, options: ReadOptions) -> Iterator[Benchmark]:
    """Apply the reading options to the benchmarks; if the reader fails, the file is refused."""
    is_one_run = options.file_is == RUN or options.values_are == "runs"
    columns = {"run": ONE_RUN, **options.columns} if is_one_run else options.columns
    columns = {**columns, **_name_and_metric(source, chosen, options)}
    if chosen.beside:
        columns = {**columns, chosen.beside: source.beside(chosen.beside)}
    try:
        reader = (options.accept_means and chosen.read_means) or chosen.read
        for given in reader(source.plain_name, content, columns):
            benchmark = _to_plain_types(given) if chosen.package else given
            _check_storable(benchmark)
            read_one = in_order(_in_unit(_shaped(benchmark, chosen, options), options))
            kept = read_one if options.with_shares else without_share(read_one)
            if kept is not None:
                yield kept
    except Unread as error:
        raise Refused(source.name, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise Refused(source.name, str(error) or type(error).__name__) from None
    except (Exception, SystemExit) as error:
        if not chosen.package:
            raise
        reason = f"the reader {chosen.name!r} of {chosen.package} failed: {_error_message(error)}"
        raise Refused(source.name, reason) from None


def _check_storable(benchmark: Benchmark) -> None:
    """Raise ValueError with the place if a benchmark cannot be stored."""
    if not benchmark.name.strip():
        raise ValueError("a benchmark has no name")
    for what in ("name", "application", "unit"):
        check_length(f"the {what} of a benchmark:", getattr(benchmark, what))
    texts = _texts(benchmark)
    for text in texts:
        check_length(f"benchmark {benchmark.name!r}: a parameter, condition or reason", text)
    if not all(map(is_storable, (benchmark.name, benchmark.application, benchmark.unit))):
        raise ValueError(
            f"benchmark {benchmark.name!r}: name, application or unit has characters that are not valid text"
        )
    if not all(map(is_storable, texts)):
        raise ValueError(
            f"benchmark {benchmark.name!r}: a parameter or condition has characters that are not valid text"
        )
    if not benchmark.runs and not benchmark.failures:
        raise ValueError(f"benchmark {benchmark.name!r} has no runs")
    values = [run.values for run in benchmark.runs]
    if not values or np.abs(np.concatenate(values)).max() <= LARGEST:
        return
    for label, run in zip(benchmark.labels, benchmark.runs, strict=True):
        at = int(np.abs(run.values).argmax())
        if abs(run.values[at]) > LARGEST:
            place = f"benchmark {benchmark.name!r}, run {label}, iteration {at}"
            raise ValueError(f"{place}: {run.values[at]:g} is too large (at most {LARGEST:g})")


def _texts(benchmark: Benchmark) -> set[str]:
    """Return all texts of a benchmark, except name, application and unit."""
    texts = {*benchmark.parameters, *benchmark.parameters.values()}
    for run in one_of_each(benchmark.runs):
        texts |= {*run.conditions, *run.conditions.values()}
    for failure in benchmark.failures:
        texts |= {failure.reason, *failure.conditions, *failure.conditions.values()}
    return texts


def _to_plain_types(given: object) -> Benchmark:
    """Convert a benchmark from another package's reader to plain texts and arrays; refuse other objects."""
    if not isinstance(given, Benchmark):
        raise TypeError(f"the result is of type {type(given).__name__}, not Benchmark")
    runs = tuple(
        Run(np.array(run.values, dtype=np.float64), str(run.unit), str(run.better), _plain_texts(run.conditions))
        for run in given.runs
    )
    failures = tuple(
        Failure(_plain_texts(failure.conditions), str(failure.reason), bool(failure.on_purpose))
        for failure in given.failures
    )
    return Benchmark(
        str(given.name), runs, str(given.application), str(given.benchmark), _plain_texts(given.parameters), failures
    )


def _plain_texts(texts: Mapping[str, str]) -> dict[str, str]:
    return {str(name): str(text) for name, text in texts.items()}


def _error_message(error: BaseException) -> str:
    """Return the message of an error that another package raised, such as `KeyError: 'runs'`."""
    text = str(error)
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}{': ' if text else ''}{text}"


def _name_and_metric(source: Source, chosen: Format, options: ReadOptions) -> dict[str, str]:
    """Return the name and the metric of the options, if they apply to this format; raise Refused if they do not."""
    if options.name and not chosen.takes_name:
        raise Refused(source.name, f"this is {chosen.title}, which names its benchmarks, so --benchmark does not apply")
    if options.metric and options.metric not in chosen.metrics:
        known = f"; the metrics are {', '.join(chosen.metrics)}" if chosen.metrics else ""
        raise Refused(source.name, f"{chosen.title} has no --metric {options.metric}{known}")
    given = {"name": options.name, "metric": options.metric}
    return {option: value for option, value in given.items() if value}


def _shaped(benchmark: Benchmark, chosen: Format, options: ReadOptions) -> Benchmark:
    if options.values_are == "runs":
        return each_value_a_run(benchmark)
    is_one_run = options.file_is == RUN and chosen.values_are == "runs"
    return values_as_iterations(benchmark) if is_one_run or options.values_are == "iterations" else benchmark


def without_share(benchmark: Benchmark) -> Benchmark | None:
    """Return a benchmark without its values if they are shares of failed operations: a share above 0 is a failed run.

    Return None if nothing failed.
    """
    if not benchmark.runs or benchmark.unit != FAILED_SHARE:
        return benchmark
    failures = tuple(
        Failure(run.conditions, f"{100 * float(run.values.max()):.3g} % failed")
        for run in benchmark.runs
        if run.values.max() > 0
    )
    every = (*failures, *benchmark.failures)
    return replace(benchmark, runs=(), failures=every) if every else None


def _in_unit(benchmark: Benchmark, options: ReadOptions) -> Benchmark:
    """Return the benchmark; if the file has no unit or direction, take them from the options."""
    unit, factor = (benchmark.unit, 1.0) if benchmark.unit else to_seconds(options.unit)
    better = _stated(benchmark, unit, options.better) or benchmark.better
    if not better:
        of_all = [text for text in options.better if "=" not in text]
        metric = _BRACKETS.search(benchmark.name)
        is_of_failures = metric is not None and names_failures(metric[1])
        better = of_all[-1] if of_all else LOWER if is_of_failures else direction(unit)
    if (unit, better) == (benchmark.unit, benchmark.better):
        return benchmark
    return replace(
        benchmark,
        runs=tuple(replace(run, values=scaled(run.values, factor), unit=unit, better=better) for run in benchmark.runs),
    )


def _stated(benchmark: Benchmark, unit: str, options: Sequence[str]) -> str:
    """Return the direction that the options state for the metric of this benchmark; "" if they state none."""
    brackets = _BRACKETS.search(benchmark.name)
    names = {benchmark.name, benchmark.benchmark, unit}
    names |= {brackets[1], benchmark.name[: brackets.start()].strip()} if brackets else set()
    found = [text.rpartition("=") for text in options]
    return next((better for metric, equals, better in reversed(found) if equals and metric.strip() in names), UNKNOWN)


def each_value_a_run(benchmark: Benchmark) -> Benchmark:
    """Make each measurement a separate run.

    The new run is called RUN:ITERATION, or ITERATION if there was only one run.

    Examples
    --------
    >>> made = each_value_a_run(Benchmark.of_series("b", [[1.0, 2.0]]))
    >>> made.values, made.labels
    ((array([1.]), array([2.])), ('0', '1'))
    """
    if all(len(run) == 1 for run in benchmark.runs):
        return benchmark
    before = ("",) if len(benchmark.runs) == 1 else tuple(f"{label}:" for label in benchmark.labels)
    runs = tuple(
        replace(run, values=run.values[at : at + 1], conditions={**run.conditions, RUN: f"{prefix}{at}"})
        for run, prefix in zip(benchmark.runs, before, strict=True)
        for at in range(len(run))
    )
    return replace(benchmark, runs=runs)


def values_as_iterations(benchmark: Benchmark) -> Benchmark:
    """Join runs of one value into one run per set of conditions, whose iterations are these values.

    If a run has several values, return the benchmark unchanged, because the iterations are known.
    """
    if len(benchmark.runs) < 2 or any(len(run) > 1 for run in benchmark.runs):
        return benchmark
    groups: dict[tuple[tuple[str, str], ...], list[Run]] = {}
    for run in benchmark.runs:
        shared = tuple((name, text) for name, text in run.conditions.items() if name not in OF_ONE_RUN)
        groups.setdefault(shared, []).append(run)
    runs = (
        replace(group[0], values=np.concatenate([run.values for run in group]), conditions=dict(shared))
        for shared, group in groups.items()
    )
    return replace(benchmark, runs=tuple(runs))
