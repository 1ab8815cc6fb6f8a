"""Compare the marks of people in files with each other, and with those of detectors, without a study."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.arrays import Floats
from analysis.methods import points
from analysis.methods.points import CHANGES, MATCHINGS as MATCHINGS, PUBLISHED, STARTS, Detector
from analysis.raters.evaluation import EXPERT
from analysis.runs.benchmark import Advance as Progress, for_rules, series_of
from labeler.errors import InputError, sentence
from labeler.files.exploring import MethodResult
from labeler.files.formats import Source, histories as history_formats, mark_files
from labeler.files.formats.label_tables import STANDARD, LabelReading
from labeler.files.formats.mark_files import FORMS as FORMS, Counting as Counting, People, Results
from labeler.files.gathering import Advance, Gathered, ReadOptions, gather_history
from labeler.plugins import detector_plugins

ABOUT = (CHANGES, STARTS)
Series = Mapping[str, Floats]


@dataclass(frozen=True)
class Options:
    """Options of a comparison, as `analysis.methods.points.survey` takes them."""

    about: str = CHANGES
    margin: float = points.MARGIN
    matching: str = PUBLISHED
    permutations: int = points.N_PERMUTATIONS
    epsilon: float = EXPERT
    seed: int = 1


def read_people(
    files: Sequence[Source],
    counting: Counting,
    reading: LabelReading = STANDARD,
    *,
    say: Callable[[str], None] = lambda _note: None,
) -> People:
    """Read the marks in files; raise InputError if two files have the same person for one item.

    `say` is called with what was taken as missing, joined or counted once.
    """
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for source in files:
        for item, people in mark_files.read_people(source, counting, reading, say=say).items():
            known = found.setdefault(item, {})
            for person, own in people.items():
                if person in known and known[person] != own:
                    raise InputError(f"{source.name}: {person} marked {item!r} in another file too, in another way.")
                known[person] = own
    if not found:
        raise InputError("The files have no marks.")
    return found


def read_results(files: Sequence[Source], counting: Counting) -> tuple[Results, list[str]]:
    """Read what detectors found, and remarks; raise InputError if a detector has two results for one item."""
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    remarks: list[str] = []
    for source in files:
        results, of_file = mark_files.read_results(source, counting)
        remarks += of_file
        for detector, items in results.items():
            known = found.setdefault(detector, {})
            for item, places in items.items():
                if item in known and known[item] != places:
                    raise InputError(f"{source.name}: {detector} has two results for {item!r}. Give one of them.")
                known[item] = places
    return found, remarks


def read_series(
    files: Sequence[Source],
    folders: Sequence[Path],
    options: ReadOptions,
    about: str,
    *,
    advance: Advance = lambda _source: None,
) -> tuple[Series, Gathered]:
    """Read the series that people marked: those of TCPD, histories, or runs of a benchmark.

    A missing value of a series of TCPD is NaN, so that marks keep their places. Raises InputError if a name occurs
    twice.
    """
    found: dict[str, Floats] = {}
    others = []
    for source in files:
        content = source.content()
        if history_formats.detect_tcpd(source.name, content):
            try:
                series = history_formats.read_series(content)
            except ValueError as error:
                raise InputError(f"{source.name}: {sentence(error)}") from None
            _add(found, series.name, for_rules(series.values) if about == STARTS else series.values)
            advance(source)
        else:
            others.append(source)
    gathered = gather_history(others, folders, options, advance=advance) if others else Gathered(())
    for benchmark in gathered.benchmarks:
        for name, values, _ in series_of(benchmark, is_for_rules=about == STARTS):
            _add(found, name, values)
    return found, gathered


def _add(found: dict[str, Floats], name: str, values: Floats) -> None:
    if name in found:
        raise InputError(f"Two series are called {name!r}. Give only one of them.")
    found[name] = values


def compare(
    people: People,
    series: Series,
    results: Results,
    options: Options,
    detectors: Sequence[str] = (),
    *,
    groups: Mapping[Hashable, Hashable] | None = None,
    advance: Progress = lambda _done, _total: None,
) -> MethodResult:
    """Compare the marks of people with each other and with detectors; raises InputError if an option is invalid.

    Items without a series are left out. By default, all detectors are used, also those of installed packages.
    """
    unknown = [item for item in people if item not in series]
    if len(unknown) == len(people):
        raise InputError(
            f"No series is called {unknown[0]!r}. Give the series that were marked with --series; their names must be "
            "those in the marks."
        )
    try:
        result = points.survey(
            people, {item: len(values) for item, values in series.items()}, series=series, results=results,
            detectors=detectors or None, plugins=plugged_in(), groups=groups, advance=advance, **vars(options),
        )  # fmt: skip
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return MethodResult(result, points.document, points.charts)


def plugged_in() -> dict[str, Detector]:
    """Return the detectors of installed packages by name; one that cannot be loaded fails with its reason."""

    def called(name: str, function: Any, error: str) -> Detector:
        def detect(values: Floats, **_parameters: float) -> tuple[int, ...]:
            if function is None:
                raise ValueError(error)
            try:
                return tuple(int(mark) for mark in function(values))
            except Exception as failure:  # noqa: BLE001 - one detector that fails must not stop the others
                raise ValueError(f"{type(failure).__name__}: {failure}") from None

        return Detector(name, f"of another package: {name}", detect)

    return {name: called(name, plugin.function, plugin.error) for name, plugin in detector_plugins().items()}


def convert(people: People, form: str) -> str:
    """Return marks in the form of another tool."""
    return FORMS[form](people)
