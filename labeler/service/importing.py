"""Result files -> study."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from labeler import binning
from labeler.errors import InputError, NotAllowed, Refused
from labeler.formats import DEFAULTS, FORMATS, ReadOptions, Source, content_hash, read, sources
from labeler.lifecycle import Action, require
from labeler.model import Benchmark, measurement_hash
from labeler.store import Database, bins, events, items, runs, studies

LEVELS = ("altered", "version")  # conditions whose levels are different software
Content = tuple[bytes, str]  # the bytes of a file, and their hash
Wanted = tuple[Benchmark, tuple[str, ...]]  # what becomes an item, and what to say about it


@dataclass(frozen=True)
class Found:
    """One benchmark in a file, as the dry run shows it."""

    benchmark: str
    runs: int
    iterations: str
    unit: str
    better: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileResult:
    """What became of one file: its benchmarks, or why there are none."""

    file: str
    found: tuple[Found, ...] = ()
    refused: str = ""
    already_there: bool = False
    names: tuple[str, ...] = ()

    def plain(self) -> list[dict[str, Any]]:
        """JSON-ready, one entry a benchmark, or one for the whole file."""
        empty: dict[str, Any] = {
            "benchmark": None,
            "runs": None,
            "iterations": None,
            "unit": None,
            "better": None,
            "warnings": [],
        }
        if not self.found:
            return [{"file": self.file, **empty, "refused": self.refused or None}]
        return [
            {
                "file": self.file, "benchmark": f.benchmark, "runs": f.runs, "iterations": f.iterations,
                "unit": f.unit, "better": f.better, "warnings": list(f.warnings), "refused": self.refused or None,
            }
            for f in self.found
        ]  # fmt: skip


def read_options(format_name: str | None, columns: Mapping[str, str]) -> ReadOptions:
    """What the person says about the files; raises InputError for a format that does not exist."""
    if format_name is not None and format_name not in FORMATS:
        raise InputError(f"There is no format {format_name!r}; known are {', '.join(FORMATS)}.")
    return ReadOptions(format_name, columns)


def files_below(paths: Iterable[Path]) -> Iterator[Source]:
    """The files named, and those below the folders named; raises InputError where there are none."""
    return sources(paths)


def upload(name: str, data: bytes) -> Source:
    """A file that a browser sent; its name is only shown, never opened."""
    return Source(name, data=data)


def in_words(results: Sequence[FileResult]) -> str:
    """What became of all files, in one line."""
    n_items = sum(len(result.names) for result in results)
    already, refused = (sum(bool(getattr(r, name)) for r in results) for name in ("already_there", "refused"))
    return f"{n_items} items imported from {len(results)} files; {already} files there already, {refused} refused."


def look_into(source: Source, options: ReadOptions = DEFAULTS) -> FileResult:
    """What an import of this file would bring, without a study."""
    try:
        return FileResult(source.name, tuple(map(_found, _to_import(source, read(source, options)))))
    except Refused as error:
        return FileResult(source.name, refused=_after_name(error))


def import_files(
    db: Database,
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    as_new: bool = False,
    actor: str,
    now: datetime,
) -> Iterator[FileResult]:
    """Take measurements into the study, one transaction a file: a bad file leaves nothing and stops nothing.

    A file whose content is there already adds nothing. A benchmark with runs of several versions, or of several altered
    methods, becomes an item for each, `NAME @ LEVEL`. Yields what became of each file, in order.

    Parameters
    ----------
    db : Database
    files : sequence of Source
    options : ReadOptions
    as_new : bool
        Whether a changed file under a known name becomes an item of its own (`name#2`) instead of being refused.
    actor : str
    now : datetime

    Raises
    ------
    NotAllowed
        If the plan is drawn already: new items would belong to nobody.
    """
    study = studies.get(db)
    if study.plan_hash is not None:
        raise NotAllowed("The plan is drawn already: new items would be assigned to nobody. Import before the plan.")
    require(study, Action.IMPORT)
    for source, opened in _read_ahead(files):
        try:
            result = _import_file(db, source, opened.result(), options, as_new, study.protocol.min_span, actor, now)
        except Refused as error:
            result = FileResult(source.name, refused=_after_name(error))
        yield result


def _read_ahead(files: Sequence[Source]) -> Iterator[tuple[Source, Future[Content]]]:
    """Each file with its content, while the next one is read, unpacked and hashed on another thread."""
    with ThreadPoolExecutor(1) as reader:
        ahead: deque[tuple[Source, Future[Content]]] = deque()
        for source in files:
            ahead.append((source, reader.submit(_content, source)))
            if len(ahead) > 1:
                yield ahead.popleft()
        yield from ahead


def _content(source: Source) -> Content:
    content = source.content()
    return content, content_hash(content)


def _import_file(
    db: Database,
    source: Source,
    opened: Content,
    options: ReadOptions,
    as_new: bool,
    min_span: float,
    actor: str,
    now: datetime,
) -> FileResult:
    content, sha256 = opened
    if items.is_imported(db, sha256):
        return FileResult(source.name, already_there=True)
    wanted = _to_import(source, read(source, options, content=content))
    prepared = [
        (benchmark, measurement_hash(benchmark.runs), _bins(benchmark, min_span))  # no lock is held meanwhile
        for benchmark, _warnings in wanted
    ]
    names = []
    with db.atomic():
        file_id = items.add_file(db, source.name, sha256, now.isoformat())
        if file_id is None:  # somebody else was importing it too
            return FileResult(source.name, already_there=True)
        for benchmark, data_hash, payload in prepared:
            name = _free_name(db, source, benchmark, data_hash, as_new)
            if name is None:
                continue
            item_id = items.add(db, name, benchmark, data_hash, file_id)
            runs.add(db, item_id, benchmark.runs, benchmark.conditions)
            bins.put(db, item_id, binning.VERSION, payload)
            names.append(name)
        events.add(db, now.isoformat(), actor, "import file", {"file": source.name, "sha256": sha256, "items": names})
    return FileResult(source.name, tuple(map(_found, wanted)), already_there=not names, names=tuple(names))


def _to_import(source: Source, benchmarks: Sequence[Benchmark]) -> list[Wanted]:
    """The benchmarks of a file, those with several levels of `LEVELS` apart; raises Refused as `_levels` does."""
    wanted: list[Wanted] = [(benchmark, ()) for benchmark in benchmarks]
    for condition in LEVELS:
        wanted = [
            (level, (*before, *warnings))
            for benchmark, before in wanted
            for level, warnings in _levels(source, benchmark, condition)
        ]
    return wanted


def _levels(source: Source, benchmark: Benchmark, condition: str) -> list[Wanted]:
    """The runs of each level of a condition, as nobody can say of different software whether its runs are alike.

    A level with one run is left out; raises Refused if no level has more.
    """
    entries = benchmark.conditions.get(condition, ())
    levels = list(dict.fromkeys(entries))
    if len(levels) < 2:
        _check_comparable(source, benchmark)
        return [(benchmark, ())]
    kept = [level for level in levels if entries.count(level) > 1]
    if not kept:
        reason = f"one run only of each {condition}; at least two are needed to compare"
        raise Refused(source.name, reason, f"benchmark {benchmark.name!r}")
    n_items = f"{len(kept)} items" if len(kept) > 1 else "1 item"
    warnings = [f"every level of {condition} is an item of its own: {n_items}"]
    warnings += [f"{condition} {level!r} has one run only and is left out" for level in levels if level not in kept]
    return [(_of_level(benchmark, condition, level), tuple(warnings)) for level in kept]


def _of_level(benchmark: Benchmark, condition: str, level: str) -> Benchmark:
    """The runs of one level, and the failures that may belong to it, under a name of its own."""
    runs_of_level = [run for run, entry in enumerate(benchmark.conditions[condition]) if entry == level]
    return replace(
        benchmark,
        name=f"{benchmark.name} @ {level or '?'}",
        runs=tuple(benchmark.runs[run] for run in runs_of_level),
        conditions={
            name: tuple(entries[run] for run in runs_of_level) for name, entries in benchmark.conditions.items()
        },
        failures=tuple(one for one in benchmark.failures if one.conditions.get(condition, level) == level),
    )


def _bins(benchmark: Benchmark, min_span: float) -> bytes:
    return json.dumps(binning.payload(benchmark.runs, benchmark.unit, min_span=min_span)).encode()


def _free_name(db: Database, source: Source, benchmark: Benchmark, data_hash: str, as_new: bool) -> str | None:
    """The name for a new item; None if the study holds these very measurements under this name."""
    name, number, changed = benchmark.name, 1, False
    while (known := items.by_name(db, name)) is not None:
        if not known.n_runs:
            reason = "the study knows this item from labels or verdicts alone; import measurements into it first"
            raise Refused(source.name, reason, f"benchmark {benchmark.name!r}")
        if (known.application, known.benchmark) == (benchmark.application, benchmark.benchmark):
            if known.data_hash == data_hash:
                return None
            changed = True
        number += 1
        name = f"{benchmark.name}#{number}"
    if changed and not as_new:
        reason = "the study has other measurements under this name; give --as-new to keep both"
        raise Refused(source.name, reason, f"benchmark {benchmark.name!r}")
    return name


def _check_comparable(source: Source, benchmark: Benchmark) -> None:
    if len(benchmark.runs) < 2:
        raise Refused(source.name, "one run only; at least two are needed to compare", f"benchmark {benchmark.name!r}")


def _found(wanted: Wanted) -> Found:
    benchmark, warnings = wanted[0], list(wanted[1])
    lengths = sorted({len(run) for run in benchmark.runs})
    iterations = str(lengths[0]) if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
    if benchmark.failures:
        n = len(benchmark.failures)
        warnings.append(f"{n} {'run' if n == 1 else 'runs'} failed, without a measurement")
    if not benchmark.unit:
        warnings.append(f"the file states no unit; {benchmark.better} is taken as better")
    if len(lengths) > 1:
        warnings.append("runs of unequal length: classifiers cut them to the shortest")
    if lengths[0] < binning.FEW_ITERATIONS:
        warnings.append(f"fewer than {binning.FEW_ITERATIONS} iterations: too short for pattern measures")
    return Found(benchmark.name, len(benchmark.runs), iterations, benchmark.unit, benchmark.better, tuple(warnings))


def _after_name(error: Refused) -> str:
    return f"{error.place}: {error.reason}" if error.place else error.reason
