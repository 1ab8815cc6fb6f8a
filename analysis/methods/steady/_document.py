"""Build the report on the steady state of runs: sentences, a table of benchmarks, and figures."""

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any

from analysis import document as d
from analysis.methods.steady._survey import SteadyBenchmark, SteadySurvey
from analysis.runs.steady import (
    BAD_INCONSISTENT,
    FLAT,
    GOOD_INCONSISTENT,
    INCONSISTENT,
    NOT_STEADY,
    SLOWDOWN,
    STEADY,
    WARMUP,
)

LONGEST = 60  # maximum number of characters of a name in a sentence
RULE_READ = {
    "published": "Change points are found by PELT with the penalty at the elbow of all penalties (CROPS, Kneedle). The "
    "steady state begins after the last segment whose mean differs from that of the last segment, so that the 95 % "
    "bootstrap interval of the ratio is outside 0.95 to 1.05; it must begin 500 iterations before the end. At the "
    "penalty of the elbow, two segmentations are equally good; the one with fewer changes is taken. Means of segments "
    "of 100 iterations or more are taken as normal.",
    "quick": "The same as the rule published, but with the fixed penalty 15 log n: fast, for many runs at once. On "
    "2,030 runs of 203 JMH benchmarks, it gives the class of the publication for 8 runs of 10, and the rule published "
    "for more than 97 of 100. Use --rule published for results that matter.",
    "barrett": "Change points are found by PELT with the penalty 15 log n, without outliers. A segment is equivalent "
    "to the last one if their means, give or take a variance, overlap, or differ by less than 0.001 s; so runs with "
    "iterations far below 0.001 s are flat. The last segment that is not equivalent decides: warm-up if it is slower, "
    "slowdown if it is faster, no steady state if it ends in the last 500 iterations.",
}
SOURCES = {
    "published": "Source: Traini, Di Pompeo, Tucci and Cortellessa (2023), Towards effective assessment of steady "
    "state performance in Java software: are we there yet?, Empirical Software Engineering 28:13.",
    "barrett": "Source: Barrett, Bolz-Tereick, Killick, Mount and Tratt (2017), Virtual machine warmup blows hot and "
    "cold, OOPSLA.",
}
CLASS_READ = {
    STEADY: "every run becomes steady",
    INCONSISTENT: "some runs become steady, others do not",
    NOT_STEADY: "no run becomes steady",
    FLAT: "every run is steady from the start",
    WARMUP: "every run becomes faster, then steady",
    SLOWDOWN: "every run becomes slower, then steady",
    GOOD_INCONSISTENT: "runs are flat or warm up",
    BAD_INCONSISTENT: "runs differ, and some slow down or never become steady",
}


def document(survey: SteadySurvey) -> d.Document:
    """Build the report on the steady state of runs."""
    source = SOURCES["barrett" if survey.rule == "barrett" else "published"]
    return d.method_report(
        "Steady state",
        "When does each run become steady, and which runs never do?",
        _in_short(survey),
        [("Classes", _classes(survey)), ("Benchmarks", _benchmarks(survey))],
        _left_out(survey),
        survey.parameters,
        kind="steady state report",
        source=(d.Paragraph(f"{RULE_READ[survey.rule]} {source}"),),
    )


def _in_short(survey: SteadySurvey) -> Iterator[str]:
    runs = [run for benchmark in survey.benchmarks for run in benchmark.runs]
    classed = [run for run in runs if run.verdict is not None]
    if not classed:
        yield f"No run can be judged. The first one is {runs[0].reason}." if runs else "There are no runs."
        return
    starts = [run.start for run in classed if run.start is not None]
    yield (
        f"By the rule {survey.rule}, {len(starts)} of {d.counted(len(classed), 'run')} "
        f"({d.percent(len(starts) / len(classed))}) {'becomes' if len(starts) == 1 else 'become'} steady."
    )
    if starts:
        n_from_start = starts.count(0)
        yield (
            f"{d.counted(n_from_start, 'run')} {_is(n_from_start)} steady from the start. The median run is steady "
            f"after iteration {median(starts):.0f}, the slowest after iteration {max(starts):,} (counted from 0)."
        )
    never = [benchmark for benchmark in survey.benchmarks if benchmark.verdict is not None and not benchmark.n_steady]
    some = [benchmark for benchmark in survey.benchmarks if 0 < benchmark.n_steady < len(benchmark.runs)]
    n = len(survey.benchmarks)
    if not never and not some:
        yield "All runs of each benchmark become steady."
    if never:
        yield _count_of(never, n, "no run becomes steady")
    if some:
        yield _count_of(some, n, "only some runs become steady, so results depend on which runs are used")
    if len(classed) < len(runs):
        yield f"{d.counted(len(runs) - len(classed), 'run')} without a class: see Left out."
    if survey.rule == "quick":
        yield (
            "The quick rule gives another class than the rule published for about 2 runs of 10. For results that "
            "matter, use --rule published."
        )


def _count_of(found: list[SteadyBenchmark], n: int, what: str) -> str:
    names = list(d.shortened([each.name for each in found], LONGEST).values())
    return f"For {len(found)} of {d.counted(n, 'benchmark')}, {what}: {d.listed(names)}."


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def _classes(survey: SteadySurvey) -> Iterator[d.Block]:
    names = dict.fromkeys([*survey.benchmark_classes, *survey.run_classes])
    rows = [
        (
            name,
            survey.benchmark_classes.get(name, 0),
            survey.run_classes.get(name, d.DASH if name in (INCONSISTENT, GOOD_INCONSISTENT, BAD_INCONSISTENT) else 0),
            CLASS_READ[name],
        )
        for name in names
    ]
    if rows:
        yield d.table(
            "Benchmarks and runs per class.", ("Class", "Benchmarks", "Runs", "A benchmark in this class"), rows, (1, 2)
        )


def _benchmarks(survey: SteadySurvey) -> Iterator[d.Block]:
    classed = [benchmark for benchmark in survey.benchmarks if benchmark.verdict is not None]
    if not classed:
        return
    ordered = sorted(classed, key=lambda benchmark: benchmark.n_steady / len(benchmark.runs))
    yield d.first_rows(
        "Benchmarks, those with the smallest share of steady runs first. Start is the last iteration before the steady "
        "state, counted from 0.",
        ("Benchmark", "Class", "Steady runs", "Median start", "Last start", "Change points per run"),
        [_row(benchmark) for benchmark in ordered],
        numeric=(2, 3, 4, 5),
    )
    yield d.Figure(
        "steady-starts",
        "Start of the steady state of each run. A cross at the end marks a run that never becomes steady.",
    )
    for at in range(len(survey.drawn)):
        yield d.Figure(
            f"steady-runs-{at + 1}",
            "Runs with the mean of each segment. A dashed line marks the start of the steady state; without a line, "
            "the run is steady from the start or never.",
        )


def _row(benchmark: SteadyBenchmark) -> tuple[Any, ...]:
    starts = [run.start for run in benchmark.runs if run.start is not None]
    return (
        benchmark.name,
        benchmark.verdict,
        f"{benchmark.n_steady} of {len(benchmark.runs)}",
        f"{median(starts):.0f}" if starts else d.DASH,
        max(starts) if starts else d.DASH,
        f"{sum(len(run.change_points) for run in benchmark.runs) / len(benchmark.runs):.1f}",
    )


def _left_out(survey: SteadySurvey) -> Iterable[d.Block]:
    sentences = [f"{row.name}: {row.reason}." for row in survey.left_out]
    reasons: dict[str, list[str]] = {}
    for benchmark in survey.benchmarks:
        for label, run in zip(benchmark.labels, benchmark.runs, strict=True):
            if run.reason:
                reasons.setdefault(run.reason, []).append(f"{benchmark.name} (run {label})")
    sentences += [
        f"{d.counted(len(names), 'run')} {_is(len(names))} {reason}: {d.listed(names)}."
        for reason, names in reasons.items()
    ]
    return [d.Bullets(tuple(sentences))] if sentences else []
