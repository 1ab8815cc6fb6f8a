"""What a kind of item provides (see `labeler.studies.screen.kinds`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import Benchmark
from labeler.studies.model import Protocol, Question
from labeler.studies.screen.blinding import Variation

NewItem = tuple[Benchmark, tuple[str, ...]]  # (benchmark that becomes an item, its warnings)
Payload = Mapping[str, Any]


class NotAnItem(ValueError):
    """A benchmark cannot become an item, so its file is refused; the text says why, and what to do."""


class SkippedBenchmark(NotAnItem):
    """A benchmark cannot become an item; the other benchmarks of its file can. A file without an item is refused."""


@dataclass(frozen=True)
class RunSelection:
    """What an import knows about a benchmark besides its measurements."""

    n_files: int = 1  # the number of files that have runs of the benchmark
    # How to get several runs with the tool that wrote the files, as a sentence without its stop.
    more_runs: str = "If each file has one run, import all files together with --file-is run"
    runs_per_benchmark: int | None = None  # for kinds that choose runs; None for all runs
    seed: int = 0  # chooses the runs
    before: str | None = None  # the versions to compare, for kinds with two sides
    after: str | None = None


@dataclass(frozen=True)
class Recipe:
    """How to make an example from real runs: a change whose answer is known.

    `make` gets ten similar runs of a benchmark. `category` is None if people disagree about such items. In an example
    for marks, `places` chooses the known marks, and `make` gets them too.
    """

    title: str
    explanation: str
    category: str | None
    make: Callable[..., Benchmark]
    places: Callable[[np.random.Generator], tuple[int, ...]] | None = None


@dataclass(frozen=True)
class CheckRecipe:
    """How to make an item with a known answer from the runs of another item, for attention checks.

    `make` gets the benchmark and returns as many runs.
    """

    what: str  # what was done with the runs
    category: str
    make: Callable[[Benchmark, np.random.Generator], list[Series]]


@dataclass(frozen=True)
class ExampleSet:
    """The examples that explain one question: those of the guide, and those from which practice rounds are drawn."""

    what_to_judge: str  # a paragraph of the guide
    worked: tuple[Recipe, ...]
    practice: tuple[Recipe, ...]
    simulated: tuple[Recipe, ...] = ()  # made without measurements, so that items differ in one way only
    known: tuple[CheckRecipe, ...] = ()  # in turn for attention checks, so that no answer is always right


@dataclass(frozen=True)
class ItemKind:
    """A kind of item: what an item shows, from the benchmarks in files to the panels on the screen."""

    name: str  # as question files write it: shows = "runs"
    shows: str  # what an item shows, to follow "Each item shows"
    version: int  # of the payload; raise it if the same runs are drawn differently

    # The items that a benchmark becomes. Raises NotAnItem if it becomes none.
    items: Callable[[Benchmark, RunSelection], list[NewItem]]
    # The data from which an item is drawn, as values for JSON. They are computed once, at import, and stored. The data
    # have the keys of every kind: rule, min_span, unit, median, axes. `Benchmark` has the conditions of the runs.
    payload: Callable[[Benchmark, Protocol], dict[str, Any]]
    # The payload, varied for one assignment (see `labeler.studies.screen.blinding`).
    varied: Callable[[Payload, Sequence[Series], Variation], dict[str, Any]]
    # The panels of the picture: panels(payload, sides=("Before", "After")).
    panels: Callable[..., list[dict[str, Any]]]
    # A small static picture: thumbnail(payload, label=..., panel=(width, height), height=None).
    thumbnail: Callable[..., str]
    # A chart of the item for files and reports: chart(payload, rule=None).
    chart: Callable[..., Any]
    # The median of each run, in the item's unit.
    medians: Callable[[Payload], Series]

    sees: str  # the paragraph "What you see" of the guide; {axis} says what the axis covers
    help: str  # the same for the help of the labelling screen, in more detail
    overlay: str  # what the key O shows
    # Keys of the payload that would tell a reviewer what was measured. `facts` of a question can show them.
    telling: Mapping[str, str] = field(default_factory=dict)  # key of the payload -> name of the fact
    is_series: bool = False  # whether an item is one series, in which points can be marked
    # The conditions of runs that the payload needs, in neutral words, for copies that keep no other condition.
    neutral: Callable[[Benchmark], Mapping[str, Sequence[str]]] = lambda _benchmark: {}
    # For items with two sides: the payload with the sides in the other order.
    swapped: Callable[[Payload], dict[str, Any]] | None = None
    accepts_means: bool = False  # whether one number per run is enough
    questions: Mapping[str, Question] = field(default_factory=dict)  # the built-in questions about such items
    examples: Mapping[str, ExampleSet] = field(default_factory=dict)  # of built-in questions, by the same names
