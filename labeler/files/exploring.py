"""Apply one of the methods spread, order, trust, contexts, steady and trend to files, histories or a study."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from analysis.document import Document, json_values, to_html, to_json, to_text
from analysis.methods import contexts, order, spread, steady, trend, trust
from analysis.methods.trend import ChangeDecision
from analysis.runs import benchmark as measurements
from analysis.runs.benchmark import Benchmark, PerRun as PerRun
from analysis.runs.runs import AUTO
from labeler.errors import InputError, sentence
from labeler.files.formats import sources
from labeler.files.gathering import Gathered as Gathered, from_files as from_files, per_run as per_run

if TYPE_CHECKING:  # the modules load pandas and altair, which a check in a build does not need
    import pandas as pd

    from analysis.document.figures import Chart

AGGREGATES = tuple(measurements.AGGREGATES)
STEADY_RULES = tuple(steady.RULES)
DETECTORS, DEFAULT_DETECTOR = trend.TREND_DETECTORS, trend.DEFAULT_DETECTOR
DECIDED = {"accepted": True, "refused": False}


@dataclass(frozen=True)
class Method:
    """A method for analysing measurements: spread, order, trust, contexts or steady."""

    name: str  # the name of the command, and the title in lists
    title: str
    question: str  # the question that the method answers
    # The functions `document` and `charts` (from the result to text with tables, and to figures by name).
    module: ModuleType
    survey: Callable[..., Any]  # from benchmarks and options to the result, a frozen dataclass


METHODS = {
    method.name: method
    for method in (
        Method(
            "spread",
            "Spread",
            "How far apart are the runs, and which slowdowns would the suite detect?",
            spread,
            spread.spread_survey,
        ),
        Method("order", "Order", "Does the order of the benchmarks affect the result?", order, order.order_survey),
        Method(
            "trust",
            "Trust",
            "How reliable are confidence intervals and tests that use these runs?",
            trust,
            trust.trust_survey,
        ),
        Method(
            "contexts",
            "Contexts",
            "Does the measurement context decide which version is faster?",
            contexts,
            contexts.context_survey,
        ),
        Method("steady", "Steady", "When does each run become steady, and which runs never do?", steady, steady.survey),
        Method("trend", "Trend", "At which version did a benchmark become slower or faster?", trend, trend.survey),
    )
}


@dataclass(frozen=True)
class MethodResult:
    """The result of a method: its numbers, a text with tables, and figures, each computed on first use."""

    module: ModuleType
    result: Any
    warmup: steady.DroppedWarmup | None = None  # what the warm-up "auto" left out

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """All numbers as dictionaries, lists, numbers and texts."""
        values: dict[str, Any] = json_values(self.result)
        return values | ({"warmup": json_values(self.warmup)} if self.warmup else {})

    @cached_property
    def document(self) -> Document:
        """The text with tables."""
        document: Document = self.module.document(self.result)
        return steady.with_warmup(document, self.warmup) if self.warmup else document

    @cached_property
    def charts(self) -> Mapping[str, "Chart"]:
        """The figures by name."""
        charts: Mapping[str, Chart] = self.module.charts(self.result)
        return charts


def explore(name: str, benchmarks: Sequence[Benchmark], **options: Any) -> MethodResult:
    """Apply a method to benchmarks and return the result.

    `name` is one of `METHODS`; the options are those of its `survey`. Raises InputError if there are no benchmarks, or
    an option is invalid.
    """
    if not benchmarks:
        raise InputError("There are no measurements to analyse.")
    method, per_run = METHODS[name], options.get("per_run")
    dropped = steady.dropped_warmup(benchmarks) if per_run and per_run.warmup == AUTO else None
    try:
        return MethodResult(method.module, method.survey(benchmarks, **options), dropped)
    except ValueError as error:
        raise InputError(sentence(error)) from None


def variants(factors: Mapping[str, Sequence[str]], **options: Any) -> "pd.DataFrame":
    """Return a table of runs in several measurement contexts, in random order, as `contexts.variant_plan` does.

    Raises InputError if a factor or a number is invalid.
    """
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


def exit_code(explored: MethodResult, *, is_gate: bool) -> int:
    """Return the exit code of `labeler trend`: 0, 1 if a benchmark became worse, or 3 if the answer is open.

    Unless it is a gate, only histories that are all too short have another code than 0.
    """
    survey: trend.TrendSurvey = explored.result
    if is_gate and survey.is_worse:
        return 1
    return 3 if not survey.is_judged or (is_gate and survey.is_inconclusive) else 0


def read_decisions(path: Path) -> list[ChangeDecision]:
    """Read a table with the columns benchmark, version and decision (accepted or refused)."""
    return list(_decisions(path))


def _decisions(path: Path) -> Iterator[ChangeDecision]:
    (source,) = sources([path])
    from labeler.files.formats import tables

    table = tables.read_table(source, ("benchmark", "version", "decision"))
    for line, row in table.iterrows():
        if row["decision"] not in DECIDED:
            raise InputError(f"{path}, line {line}: the decision is {row['decision']!r}. Write accepted or refused.")
        yield ChangeDecision(row["benchmark"], row["version"], DECIDED[row["decision"]])
