"""Measurements, from files or a study, -> the methods: spread, order, trust and contexts."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

import analysis.measured
from analysis import check as checking
from analysis import classifiers, contexts, order, spread, trust
from analysis.document import Document, plain, to_html, to_json, to_markdown, to_text
from analysis.document.figures import Chart, to_svg
from analysis.measured import ALTERED, CONDITIONS, RUN, VERSION, Failure, Measured, Sampling
from labeler.errors import InputError, Refused, sentence
from labeler.formats import DEFAULTS, ReadOptions, Source, read
from labeler.formats.units import to_seconds
from labeler.model import Benchmark, Item
from labeler.store import Database, items, runs

Advance = Callable[[int, int], None]

UNITLESS = "unitless"
AGGREGATES = tuple(analysis.measured.AGGREGATES)
CLASSIFIERS = tuple(classifiers.CLASSIFIERS)


@dataclass(frozen=True)
class Method:
    """One of the methods.

    Attributes
    ----------
    name, title : str
        Its command, and what it is called in a list.
    question : str
        What it answers.
    survey : callable
        (benchmarks, **options) -> its result, a frozen dataclass.
    document, charts : callable
        The result in words and tables, and its figures by name.
    """

    name: str
    title: str
    question: str
    survey: Callable[..., Any]
    document: Callable[[Any], Document]
    charts: Callable[[Any], dict[str, Chart]]


METHODS = {
    method.name: method
    for method in (
        Method("spread", "Spread", "How far apart are the runs, and what slowdown would the suite catch?",
               spread.survey, spread.document, spread.charts),
        Method("order", "Order", "Does the order in which benchmarks are run decide the result?",
               order.survey, order.document, order.charts),
        Method("trust", "Trust", "How far can intervals and tests be believed with these runs?",
               trust.survey, trust.document, trust.charts),
        Method("contexts", "Contexts", "Does the measurement context decide which version wins?",
               contexts.survey, contexts.document, contexts.charts),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Gathered:
    """What was found to work on, and the files that could not be used."""

    benchmarks: tuple[Measured, ...]
    refused: tuple[Refused, ...] = ()


@dataclass(frozen=True)
class Explored:
    """An answer: as plain values, in words and tables, and in figures."""

    content: Mapping[str, Any]
    document: Document
    charts: Mapping[str, Chart] = field(default_factory=dict)


def explore(name: str, benchmarks: Sequence[Measured], **options: Any) -> Explored:
    """Ask a method about benchmarks.

    Parameters
    ----------
    name : str
        A name in `METHODS`.
    benchmarks : sequence of Measured
    **options
        As the method's `survey` takes them.

    Raises
    ------
    InputError
        If there are no benchmarks, or an option cannot be used.
    """
    if not benchmarks:
        raise InputError("There are no measurements to work on.")
    method = METHODS[name]
    try:
        result = method.survey(benchmarks, **options)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return Explored(plain(result), method.document(result), method.charts(result))


def checkup(benchmarks: Sequence[Measured], baseline: Sequence[Measured] | None = None, **options: Any) -> Explored:
    """Judge benchmarks, and compare them with a baseline; options as `analysis.check.check` takes them.

    Raises
    ------
    InputError
        If an option cannot be used.
    """
    try:
        found = checking.check(benchmarks, baseline, **options)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return Explored(plain(found), checking.document(found))


def variants(factors: Mapping[str, Sequence[str]], **options: Any) -> pd.DataFrame:
    """A shuffled plan of runs over contexts, as `analysis.contexts.variant_plan` makes it.

    Raises
    ------
    InputError
        If a factor or a number cannot be used.
    """
    try:
        return contexts.variant_plan(factors, **options)
    except ValueError as error:
        raise InputError(sentence(error)) from None


def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain values."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def sampling(warmup: float, aggregate: str) -> Sampling:
    """How a run becomes one number; raises InputError if it cannot."""
    try:
        return Sampling(warmup, aggregate)
    except ValueError as error:
        raise InputError(sentence(error)) from None


def as_text(explored: Explored) -> str:
    """For a terminal."""
    return to_text(explored.document)


def as_json(explored: Explored) -> str:
    """Every number."""
    return to_json(explored.content)


def as_markdown(explored: Explored) -> str:
    """For a summary."""
    return to_markdown(explored.document)


def as_html(explored: Explored) -> str:
    """One page with its figures."""
    drawn = {name: to_svg(chart) for name, chart in explored.charts.items()}
    return to_html(explored.document, drawn)


def from_files(
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    pattern: str | None = None,
    unit: str = "",
    better: str | None = None,
    advance: Advance = lambda _done, _total: None,
) -> Gathered:
    """The benchmarks of result files; those of one name in several files become one, with the runs of all.

    Parameters
    ----------
    files : sequence of Source
    options : ReadOptions
    pattern : str, optional
        What the names of the files say of their runs, such as "{version}-{context}.json".
    unit, better : str, optional
        For measurements whose file states no unit: what it is, and whether "lower" or "higher" is better.
    advance : callable
        (files done, files in all).

    Raises
    ------
    InputError
        If the pattern cannot be used, or one benchmark has several units.
    """
    conditions_of = None if pattern is None else file_name_pattern(pattern)
    found: list[Measured] = []
    refused = []
    for number, source in enumerate(files):
        try:
            said = {} if conditions_of is None else conditions_of(source)
            run = "" if len(files) == 1 else f"{number + 1}:"  # runs are numbered anew in every file
            found += [_with(_in_unit(measured(one), unit, better), said, run) for one in read(source, options)]
        except Refused as error:
            refused.append(error)
        advance(number + 1, len(files))
    return Gathered(tuple(joined(found)), tuple(refused))


def from_study(db: Database) -> Gathered:
    """The benchmarks of a study in the order of import; the levels of one, items of their own, are one again."""
    imported = sorted(items.all_items(db), key=lambda item: item.item_id)
    found = [_of_item(db, item) for item in imported if item.n_runs and item.excluded_why is None]
    return Gathered(tuple(joined(found)))


def measured(benchmark: Benchmark) -> Measured:
    """A benchmark as the methods take it."""
    failures = tuple(Failure(failure.conditions, failure.reason) for failure in benchmark.failures)
    return Measured(
        benchmark.name, benchmark.runs, benchmark.application, benchmark.unit, benchmark.better, benchmark.conditions,
        failures,
    )  # fmt: skip


def joined(benchmarks: Iterable[Measured]) -> list[Measured]:
    """Benchmarks of one application and name as one, in order of first appearance.

    Raises
    ------
    InputError
        If they differ in unit or direction.
    """
    groups: dict[tuple[str, str], list[Measured]] = {}
    for benchmark in benchmarks:
        groups.setdefault((benchmark.application, benchmark.name), []).append(benchmark)
    return [_one(group) for group in groups.values()]


def file_name_pattern(pattern: str) -> Callable[[Source], Mapping[str, str]]:
    """What a file's name says of its runs.

    Parameters
    ----------
    pattern : str
        The last part of the name, or the last folders too, with {name} where a condition stands: version, context,
        order_type, order_position, altered, run, or a factor of your own.

    Raises
    ------
    InputError
        If nothing stands in braces, one name twice, or two without anything between them.

    Examples
    --------
    >>> file_name_pattern("{version}-{cpu}.json")(Source("results/new-arm.json.zst"))
    {'version': 'new', 'cpu': 'arm'}
    """
    first, *parts = re.split(r"\{(\w+)\}", pattern)
    names, between = parts[::2], parts[1::2]
    if not names or len(set(names)) < len(names) or "" in between[:-1]:
        raise InputError(
            f"{pattern!r} names no condition, or one twice, or two with nothing between. Write for example "
            "{version}-{context}.json."
        )
    places = "".join(f"([^/]+?){re.escape(text)}" for text in between)
    expression = re.compile(f"(?:.*/)?{re.escape(first)}{places}(?:[.](?:gz|zst))?", re.DOTALL)

    def conditions_of(source: Source) -> Mapping[str, str]:
        match = expression.fullmatch(source.name)
        if match is None:
            raise Refused(source.name, f"the name does not fit {pattern!r}")
        return dict(zip(names, match.groups(), strict=True))

    return conditions_of


def _in_unit(benchmark: Measured, unit: str, better: str | None) -> Measured:
    """With unit and direction as the person says, where the file does not."""
    if benchmark.unit or not (unit or better):
        return benchmark
    kept, factor = to_seconds(unit)
    runs = tuple(run * factor for run in benchmark.runs)
    return replace(benchmark, runs=runs, unit=kept or UNITLESS, better=better or benchmark.better)


def _with(benchmark: Measured, said: Mapping[str, str], before_run: str) -> Measured:
    """With what the file's name says of all its runs, and with runs told apart from those of other files."""
    n = len(benchmark.runs)
    labels = [label or str(number) for number, label in enumerate(benchmark.of(RUN))]
    conditions = {**benchmark.conditions, RUN: tuple(before_run + label for label in labels)}
    failures = tuple(
        replace(failure, conditions={**failure.conditions, RUN: before_run + failure.conditions.get(RUN, ""), **said})
        for failure in benchmark.failures
    )
    every_run = {name: (entry,) * n for name, entry in said.items()}
    return replace(benchmark, conditions={**conditions, **every_run}, failures=failures)


def _of_item(db: Database, item: Item) -> Measured:
    conditions = runs.conditions_of_item(db, item.item_id)
    failures = tuple(Failure(failure.conditions, failure.reason) for failure in items.failures_of(db, item.item_id))
    series = tuple(runs.of_item(db, item.item_id))
    name = item.name
    for condition in (VERSION, ALTERED):
        if condition in conditions:
            name = name.removesuffix(f" @ {conditions[condition][0] or '?'}")
    return Measured(name, series, item.application, item.unit, item.better, conditions, failures)


def _one(group: Sequence[Measured]) -> Measured:
    first = group[0]
    if len(group) == 1:
        return first
    for other in group[1:]:
        if (other.unit, other.better) != (first.unit, first.better):
            raise InputError(
                f"Benchmark {first.name!r} is in {first.unit!r}, better {first.better}, and in {other.unit!r}, better "
                f"{other.better}: these are not runs of one measurement."
            )
    names = [*CONDITIONS, *dict.fromkeys(name for one in group for name in one.conditions if name not in CONDITIONS)]
    conditions = {name: tuple(entry for one in group for entry in one.of(name)) for name in names}
    return replace(
        first,
        runs=tuple(run for one in group for run in one.runs),
        conditions={name: entries for name, entries in conditions.items() if any(entries)},
        failures=tuple(failure for one in group for failure in one.failures),
    )
