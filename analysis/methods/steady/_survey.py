"""Find the steady state of all runs of many benchmarks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from analysis.arrays import Floats
from analysis.methods.options import SurveyOptions, with_keywords
from analysis.runs.benchmark import Benchmark, LeftOut, by_level, canonical
from analysis.runs.steady import RULES, SteadyRun, class_of_benchmark, steady_run

N_DRAWN = 3  # maximum number of benchmarks whose runs are drawn
N_BINS = 200  # medians per drawn run


@dataclass(frozen=True)
class SteadyBenchmark:
    """When the runs of a benchmark become steady."""

    application: str
    name: str
    verdict: str | None = field(metadata={"key": "class"})  # None if the rule cannot be applied to any run
    runs: tuple[SteadyRun, ...]
    labels: tuple[str, ...]  # the name or number of each run

    @property
    def n_steady(self) -> int:
        """Return the number of runs that become steady."""
        return sum(run.start is not None for run in self.runs)


@dataclass(frozen=True)
class DrawnRun:
    """A run for a figure: medians of parts of the same length, and the mean of each segment."""

    medians: tuple[float, ...]
    segment_means: tuple[float, ...]


@dataclass(frozen=True)
class DrawnBenchmark:
    """The runs of a benchmark for a figure."""

    at: int  # position among the benchmarks of the survey
    unit: str
    runs: tuple[DrawnRun, ...]


@dataclass(frozen=True)
class SteadySurvey:
    """The result of `survey`."""

    rule: str
    benchmarks: tuple[SteadyBenchmark, ...]
    run_classes: Mapping[str, int]  # number of runs per class; those without a class are not counted
    benchmark_classes: Mapping[str, int]  # the same for benchmarks
    n_runs: int
    # up to three benchmarks for the figure of runs, those with the fewest steady runs first
    drawn: tuple[DrawnBenchmark, ...]
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class SteadyOptions(SurveyOptions):
    """The options of `survey`."""

    rule: str = field(default="published", metadata={
        "choices": RULES, "label": "Rule", "on_page": "quick",  # people wait for a page
        "help": "Rule that decides. published: change points with the penalty at the elbow. quick: with a fixed "
        "penalty, about 30 times as fast and often different. barrett: flat, warm-up, slowdown or no steady state.",
    })  # fmt: skip
    seed: int = field(default=1, metadata={"within": "[0, )", "help": "Random seed."})


@with_keywords(SteadyOptions)
def survey(benchmarks: Sequence[Benchmark], options: SteadyOptions) -> SteadySurvey:
    """Find when each run of each benchmark becomes steady.

    `benchmarks`: each version, context and alteration of a benchmark is treated separately; `rule`: "published",
    "quick" or "barrett"; see `steady_run`; `seed`: seed of the bootstrap, the same for each run, so that the result of
    a run does not depend on other runs; `mapper`: a function like the built-in `map` with one iterable, such as the
    `map` of an executor; `advance`: called with the number of benchmarks done and the total. A run with fewer
    than 1,000 iterations has no class, and its `reason` says so. Raises ValueError if the rule is unknown.
    """
    rule, seed = options.rule, options.seed
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    measured = canonical(level for benchmark in benchmarks if benchmark.runs for level in by_level(benchmark))
    tasks = [(run.values, run.unit == "s") for benchmark in measured for run in benchmark.runs]
    found = iter(options.mapper(partial(_task, rule, seed), tasks))
    results: list[SteadyBenchmark] = []
    for benchmark in measured:
        results.append(_benchmark(benchmark, [next(found) for _ in benchmark.runs]))
        options.advance(len(results), len(measured))
    run_classes = Counter(run.verdict for result in results for run in result.runs if run.verdict)
    classes = Counter(result.verdict for result in results if result.verdict)
    return SteadySurvey(
        rule,
        tuple(results),
        dict(run_classes.most_common()),
        dict(classes.most_common()),
        len(tasks),
        tuple(_drawn(results, measured)),
        tuple(LeftOut(benchmark.name, "every run failed") for benchmark in benchmarks if not benchmark.runs),
        options.parameters,
    )


def _task(rule: str, seed: int, task: tuple[Floats, bool]) -> SteadyRun:
    values, is_time = task
    return steady_run(values, rule, is_time=is_time, seed=seed)


def _benchmark(benchmark: Benchmark, runs: Sequence[SteadyRun]) -> SteadyBenchmark:
    verdict = class_of_benchmark(run.verdict for run in runs)
    return SteadyBenchmark(benchmark.application, benchmark.name, verdict, tuple(runs), benchmark.labels)


def _drawn(results: Sequence[SteadyBenchmark], measured: Sequence[Benchmark]) -> Iterator[DrawnBenchmark]:
    classed = [at for at, result in enumerate(results) if result.verdict is not None]
    for at in sorted(classed, key=lambda at: results[at].n_steady / len(results[at].runs))[:N_DRAWN]:
        benchmark = measured[at]
        runs = (
            DrawnRun(
                tuple(float(np.median(part)) for part in np.array_split(run.values, min(N_BINS, len(run)))),
                tuple(
                    float(segment.mean()) for segment in np.split(run.values, [end + 1 for end in found.change_points])
                ),
            )
            for run, found in zip(benchmark.runs, results[at].runs, strict=True)
        )
        yield DrawnBenchmark(at, benchmark.unit, tuple(runs))
