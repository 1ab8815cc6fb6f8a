"""Apply one of the methods spread, order, trust, contexts, steady and trend to files, histories or a study."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from analysis.document import Document, json_values, to_html, to_json, to_text
from analysis.methods import contexts, order, spread, steady, trend, trust
from analysis.methods.trend import ChangeDecision
from analysis.runs import benchmark as measurements
from analysis.runs.benchmark import EVERY_ITERATION, Benchmark, PerRun as PerRun
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


Options_contra = TypeVar("Options_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
OptionsOf = TypeVar("OptionsOf")
ResultOf = TypeVar("ResultOf")
Advance = Callable[[int, int], object]  # called with the number of finished benchmarks and the total
Mapper = Callable[..., Iterable[Any]]  # like the built-in `map` with one iterable, such as the `map` of an executor


class Survey(Protocol[Options_contra, Result_co]):
    """Compute the result of a method."""

    def __call__(
        self, benchmarks: Sequence[Benchmark], options: Options_contra, /, *, advance: Advance, mapper: Mapper
    ) -> Result_co:
        """Return the result, a frozen dataclass."""


@dataclass(frozen=True)
class Method(Generic[OptionsOf, ResultOf]):
    """A method for analysing measurements, with all that commands and pages need."""

    name: str  # the name of the command, and the title in lists
    title: str
    question: str  # the question that the method answers
    options: type[OptionsOf]  # a frozen dataclass
    survey: Survey[OptionsOf, ResultOf]
    document: Callable[[ResultOf], Document]  # the text with tables
    charts: Callable[[ResultOf], Mapping[str, "Chart"]]  # the figures by name


@dataclass(frozen=True, kw_only=True)
class SpreadOptions:
    """The options of `spread_survey`."""

    per_run: PerRun = EVERY_ITERATION
    per: int | None = None
    regression_p: float = 0.01
    baseline: str | None = None
    without: Sequence[str] = ()
    v: float | None = None
    budget: float | None = None
    alpha: float = 0.05
    seed: int = 1
    resamples: int = 0


@dataclass(frozen=True, kw_only=True)
class OrderOptions:
    """The options of `order_survey`."""

    per_run: PerRun = EVERY_ITERATION
    alpha: float = 0.05
    ci_level: float | None = None
    compat: str | None = None
    baseline: str | None = None
    candidate: str | None = None
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class TrustOptions:
    """The options of `trust_survey`."""

    n_runs: int = 5
    level: float = 0.95
    alpha: float = 0.05
    per_run: PerRun = EVERY_ITERATION
    resamples: int = trust.RESAMPLES
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class ContextOptions:
    """The options of `context_survey`."""

    per_run: PerRun = EVERY_ITERATION
    baseline: str | None = None
    candidate: str | None = None
    instrumentation: str | None = None
    held_fixed: str | None = None
    alpha: float = 0.05
    seed: int = 1
    resamples: int = 2000


@dataclass(frozen=True, kw_only=True)
class SteadyOptions:
    """The options of `steady.survey`."""

    rule: str = "published"
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class TrendOptions:
    """The options of `trend.survey`."""

    per_run: PerRun = EVERY_ITERATION
    detector: str = DEFAULT_DETECTOR
    within: int | None = None
    decisions: Sequence[ChangeDecision] = ()


def _survey(function: Callable[..., ResultOf], *, is_parallel: bool = False) -> Survey[Any, ResultOf]:
    """Return a function with keyword options as a survey; `is_parallel` says whether it takes a mapper."""

    def survey(benchmarks: Sequence[Benchmark], options: Any, /, *, advance: Advance, mapper: Mapper) -> ResultOf:
        workers = {"mapper": mapper} if is_parallel else {}
        return function(benchmarks, **vars(options), **workers, advance=advance)

    return survey


# `document` and `charts` are looked up when they are called, because their modules load slow libraries.
METHODS: dict[str, Method[Any, Any]] = {
    method.name: method
    for method in (
        Method(
            name="spread", title="Spread",
            question="How far apart are the runs, and which slowdowns would the suite detect?",
            options=SpreadOptions, survey=_survey(spread.spread_survey),
            document=lambda result: spread.document(result), charts=lambda result: spread.charts(result),
        ),
        Method(
            name="order", title="Order", question="Does the order of the benchmarks affect the result?",
            options=OrderOptions, survey=_survey(order.order_survey),
            document=lambda result: order.document(result), charts=lambda result: order.charts(result),
        ),
        Method(
            name="trust", title="Trust",
            question="How reliable are confidence intervals and tests that use these runs?",
            options=TrustOptions, survey=_survey(trust.trust_survey, is_parallel=True),
            document=lambda result: trust.document(result), charts=lambda result: trust.charts(result),
        ),
        Method(
            name="contexts", title="Contexts",
            question="Does the measurement context decide which version is faster?",
            options=ContextOptions, survey=_survey(contexts.context_survey),
            document=lambda result: contexts.document(result), charts=lambda result: contexts.charts(result),
        ),
        Method(
            name="steady", title="Steady", question="When does each run become steady, and which runs never do?",
            options=SteadyOptions, survey=_survey(steady.survey, is_parallel=True),
            document=lambda result: steady.document(result), charts=lambda result: steady.charts(result),
        ),
        Method(
            name="trend", title="Trend", question="At which version did a benchmark become slower or faster?",
            options=TrendOptions, survey=_survey(trend.survey),
            document=lambda result: trend.document(result), charts=lambda result: trend.charts(result),
        ),
    )
}  # fmt: skip


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
    advance: Advance = measurements.unwatched,
    mapper: Mapper = map,
    **options: Any,
) -> MethodResult:
    """Apply a method to benchmarks and return the result.

    `name` is one of `METHODS`; the options are the fields of its `options`. Raises InputError if there are no
    benchmarks, or an option is invalid.
    """
    if not benchmarks:
        raise InputError("There are no measurements to analyse.")
    method, per_run = METHODS[name], options.get("per_run")
    dropped = steady.dropped_warmup(benchmarks) if per_run and per_run.warmup == AUTO else None
    try:
        result = method.survey(benchmarks, method.options(**options), advance=advance, mapper=mapper)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return MethodResult(result, method.document, method.charts, dropped)


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
