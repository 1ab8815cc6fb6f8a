"""Apply one of the methods to the benchmarks of files, histories or a study."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.document import Document, json_values, to_html, to_json, to_text
from analysis.methods import steady
from analysis.methods.options import Mapper
from analysis.runs.benchmark import Advance, Benchmark, PerRun as PerRun, unwatched
from analysis.runs.runs import AUTO
from labeler.errors import InputError, sentence
from labeler.files.gathering import Gathered as Gathered, from_files as from_files, per_run as per_run
from labeler.files.methods import METHODS as METHODS

if TYPE_CHECKING:  # the modules load pandas and altair, which a check in a build does not need
    import pandas as pd

    from analysis.document.figures import Chart


@dataclass(frozen=True)
class MethodResult:
    """The result of a method: its numbers, a text with tables, and figures, each computed on first use."""

    result: Any
    to_document: Callable[[Any], Document]
    to_charts: Callable[[Any], Mapping[str, "Chart"]]
    warmup: steady.DroppedWarmup | None = None  # what the warm-up "auto" left out

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """All numbers as dictionaries, lists, numbers and texts."""
        values: dict[str, Any] = json_values(self.result)
        return values | ({"warmup": json_values(self.warmup)} if self.warmup else {})

    @cached_property
    def document(self) -> Document:
        """The text with tables."""
        document = self.to_document(self.result)
        return steady.with_warmup(document, self.warmup) if self.warmup else document

    @cached_property
    def charts(self) -> Mapping[str, "Chart"]:
        """The figures by name."""
        return self.to_charts(self.result)


def explore(
    name: str,
    benchmarks: Sequence[Benchmark],
    *,
    advance: Advance = unwatched,
    mapper: Mapper = map,
    **options: Any,
) -> MethodResult:
    """Apply a method to benchmarks and return the result.

    `name` is one of `METHODS`; the options are the keywords of its survey. Raises InputError if there are no
    benchmarks, or an option is invalid.
    """
    if not benchmarks:
        raise InputError("There are no measurements to analyse.")
    code, per_run = METHODS[name].code(), options.get("per_run")
    dropped = steady.dropped_warmup(benchmarks) if per_run and per_run.warmup == AUTO else None
    try:
        result = code.survey(benchmarks, **options, advance=advance, mapper=mapper)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return MethodResult(result, code.document, code.charts, dropped)


def variants(factors: Mapping[str, Sequence[str]], **options: Any) -> "pd.DataFrame":
    """Return a table of runs in several measurement contexts, in random order, as `contexts.variant_plan` does.

    Raises InputError if a factor or a number is invalid.
    """
    from analysis.methods import contexts  # slow to import

    try:
        return contexts.variant_plan(factors, **options)
    except ValueError as error:
        raise InputError(sentence(error)) from None


def rows(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def as_text(explored: MethodResult) -> str:
    """Return the result as text for a terminal."""
    return to_text(explored.document)


def as_json(explored: MethodResult) -> str:
    """Return all numbers of the result as JSON."""
    return to_json(explored.content)


def as_html(explored: MethodResult) -> str:
    """Return the result as one HTML page with figures."""
    from analysis.document.figures import to_svg

    figures = {name: to_svg(chart) for name, chart in explored.charts.items()}
    return to_html(explored.document, figures)
