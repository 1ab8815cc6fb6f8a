"""Apply one of the methods spread, order, trust, contexts, steady and trend to files, histories or a study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from analysis.document import Document, json_values, to_html, to_json, to_text
from analysis.methods import contexts, order, spread, steady, trend, trust
from analysis.runs import benchmark as measurements
from analysis.runs.benchmark import (
    CONTEXT,
    VERSION,
    Benchmark,
    PerRun as PerRun,
    by_name,
    sorted_by_name,
)
from analysis.runs.runs import AUTO
from labeler.errors import InputError, sentence
from labeler.files.gathering import Gathered as Gathered, from_files as from_files, per_run as per_run

if TYPE_CHECKING:  # the modules load pandas and altair, which a check in a build does not need
    import pandas as pd

    from analysis.document.figures import Chart
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from analysis.methods.trend import ChangeDecision
from analysis.runs.benchmark import natural
from labeler.files.formats import ReadOptions, Source, sources
from labeler.files.gathering import Advance

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
    # The functions `survey` (from benchmarks and options to the result, a frozen dataclass), `document` and `charts`
    # (from the result to text with tables, and to figures by name).
    module: ModuleType


METHODS = {
    method.name: method
    for method in (
        Method("spread", "Spread", "How far apart are the runs, and which slowdowns would the suite detect?", spread),
        Method("order", "Order", "Does the order of the benchmarks affect the result?", order),
        Method("trust", "Trust", "How reliable are confidence intervals and tests that use these runs?", trust),
        Method("contexts", "Contexts", "Does the measurement context decide which version is faster?", contexts),
        Method("steady", "Steady", "When does each run become steady, and which runs never do?", steady),
        Method("trend", "Trend", "At which version did a benchmark become slower or faster?", trend),
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
        return MethodResult(method.module, method.module.survey(benchmarks, **options), dropped)
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


def versions_of(paths: Sequence[Path]) -> list[Path]:
    """Return the folders of versions: those in a given folder that has only folders, in natural order."""
    return [folder for path in paths for folder in _version_folders(path)]


def _version_folders(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
    if not entries or not all(entry.is_dir() for entry in entries):
        return []
    return sorted(entries, key=lambda entry: natural(entry.name))


def gather_history(
    files: Sequence[Source],
    folders: Sequence[Path],
    options: ReadOptions,
    *,
    advance: Advance = lambda _source: None,
) -> Gathered:
    """Read the benchmarks of all versions and join the runs of equal names; raises InputError like `from_files`.

    The runs of files in one of `folders` have the name of the folder as version, unless the file has versions. If it
    has, and several folders have the same benchmark without a context, the folder is the context.
    """
    # a history has one number per version, and a version at which everything failed
    options = replace(options, accept_means=True, accept_failures=True)
    own: dict[Path | None, list[Source]] = {None: [], **{folder: [] for folder in folders}}
    for file in files:
        own[next((folder for folder in folders if file.path and file.path.is_relative_to(folder)), None)].append(file)
    parts = {folder: from_files(inside, options, advance=advance) for folder, inside in own.items() if inside}
    n_folders = Counter(
        (benchmark.application, benchmark.name) for part in parts.values() for benchmark in part.benchmarks
    )
    benchmarks = [
        benchmark
        if folder is None
        else _of_folder(benchmark, folder.name, is_alone=n_folders[benchmark.application, benchmark.name] == 1)
        for folder, part in parts.items()
        for benchmark in part.benchmarks
    ]
    try:
        joined = sorted_by_name(by_name(benchmarks))
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return Gathered(
        tuple(joined),
        tuple(error for part in parts.values() for error in part.refused),
        tuple(remark for part in parts.values() for remark in part.remarks),
    )


def _of_folder(benchmark: Benchmark, folder: str, *, is_alone: bool) -> Benchmark:
    """Return a benchmark of a folder with the name of the folder as version or context, if the file does not say it."""
    has_versions = all(benchmark.of(VERSION))
    if has_versions and (is_alone or any(benchmark.of(CONTEXT))):
        return benchmark
    known = {CONTEXT if has_versions else VERSION: folder}
    return replace(
        benchmark,
        runs=tuple(replace(run, conditions={**run.conditions, **known}) for run in benchmark.runs),
        failures=tuple(replace(failure, conditions={**failure.conditions, **known}) for failure in benchmark.failures),
    )


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
