"""The warm-up that `auto` leaves out of each run."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from statistics import median

from analysis.document import Block, Bullets, Document, Section, counted, first_rows
from analysis.runs.benchmark import Benchmark
from analysis.runs.steady import NOT_STEADY, QUICK, quick_rule

CAUTION = (
    "The quick rule gives another class than the rule published for about 2 runs of 10: labeler steady --rule published"
)


@dataclass(frozen=True)
class RunWarmup:
    """What was left out of a run."""

    application: str
    benchmark: str
    run: str  # name of the run in its file, or its number
    n_iterations: int
    n_dropped: int
    verdict: str | None = field(metadata={"key": "class"})
    reason: str | None = None  # why the rule cannot be applied, so that nothing was left out


@dataclass(frozen=True)
class DroppedWarmup:
    """The warm-up that was left out of each run, and the rule that found its end."""

    rule: str
    runs: tuple[RunWarmup, ...]


def dropped_warmup(benchmarks: Iterable[Benchmark]) -> DroppedWarmup:
    """Return what the warm-up "auto" leaves out of each run."""
    runs = [
        (benchmark, label, run)
        for benchmark in benchmarks
        for label, run in zip(benchmark.labels, benchmark.runs, strict=True)
    ]
    return DroppedWarmup(
        QUICK,
        tuple(
            RunWarmup(
                benchmark.application, benchmark.name, label, len(run), steady.n_warmup, steady.verdict, steady.reason
            )
            for benchmark, label, run in runs
            for steady in [quick_rule(run)]
        ),
    )


def describe_warmup(dropped: DroppedWarmup) -> Iterator[str]:
    """Yield sentences on the warm-up that was left out."""
    sizes = [run.n_dropped for run in dropped.runs if run.n_dropped]
    n_from_start = sum(run.verdict is not None and run.n_dropped == 0 and not _is_never(run) for run in dropped.runs)
    n_never = sum(map(_is_never, dropped.runs))
    all_runs = counted(len(dropped.runs), "run")
    if sizes:
        low, high = min(sizes), max(sizes)
        size = f"{low:,} to {high:,} iterations (median {median(sizes):,.0f})" if low < high else f"{low:,} iterations"
        yield f"The rule {dropped.rule} left out a warm-up of {size} in {len(sizes)} of {all_runs}. {CAUTION}."
    else:
        yield f"The rule {dropped.rule} found no warm-up to leave out in {all_runs}."
    if n_from_start:
        yield f"{counted(n_from_start, 'run')} {'is' if n_from_start == 1 else 'are'} steady from the start."
    if n_never:
        become, them = ("becomes", "it") if n_never == 1 else ("become", "them")
        yield f"{counted(n_never, 'run')} never {become} steady, so nothing was left out of {them}."
    reasons: dict[str, int] = {}
    for run in dropped.runs:
        if run.reason:
            reasons[run.reason] = reasons.get(run.reason, 0) + 1
    for reason, n in reasons.items():
        yield f"Nothing was left out of {counted(n, 'run')}: {reason}."


def with_warmup(document: Document, dropped: DroppedWarmup) -> Document:
    """Return a document with a section on the warm-up that was left out, after its first section."""
    section = Section("Warm-up", tuple(_blocks(dropped)))
    return replace(document, sections=(*document.sections[:1], section, *document.sections[1:]))


def _blocks(dropped: DroppedWarmup) -> Iterator[Block]:
    yield Bullets(tuple(describe_warmup(dropped)))
    of_benchmark: dict[tuple[str, str], list[RunWarmup]] = {}
    for run in dropped.runs:
        of_benchmark.setdefault((run.application, run.benchmark), []).append(run)
    rows = [
        (name, len(runs), ", ".join(f"{run.run}: {run.n_dropped}" for run in runs if run.n_dropped))
        for (_, name), runs in of_benchmark.items()
        if any(run.n_dropped for run in runs)
    ]
    if rows:
        yield first_rows(
            "Iterations left out of each run, as run: number.", ("Benchmark", "Runs", "Left out"), rows, (1,)
        )


def _is_never(run: RunWarmup) -> bool:
    return run.verdict == NOT_STEADY
