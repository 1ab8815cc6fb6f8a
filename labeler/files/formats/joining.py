"""Read result files as benchmarks, and join the runs of a benchmark from several files; all commands read files here.

Files with one run (see `Format.file_is`) are joined. If files have all runs, each benchmark may be in only one file. A
second file with the same benchmark is a conflict, unless both files have the same content or the file names distinguish
the runs. Until all files are read, the runs are in a temporary folder; the memory holds one benchmark at a time.
"""

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from analysis.runs.benchmark import (
    MACHINE,
    RUN,
    TIME,
    Benchmark,
    Failure,
    Run,
    in_order,
    in_unit,
    join,
    natural,
    one_of_each,
)
from analysis.text import counted
from labeler.errors import InputError, LabelerError, Refused
from labeler.files.formats.known import RUN as FILE_IS_RUN, STUDY, Format
from labeler.files.formats.reading import DEFAULTS, ReadOptions, format_of, read
from labeler.files.formats.source import Source, content_hash

N_NAMED = 3  # maximum number of files or reasons that are listed
N_DISTINCTIVE = 5  # number of distinct values; two runs with this many distinct values are not equal by chance

HOW_TO_JOIN = (
    "If both files contain runs of this benchmark, give --file-is run. If they belong to different versions or "
    "contexts, put these into the file names and give --from-name, for example --from-name {version}.json"
)

Advance = Callable[[Source], None]
Key = tuple[str, str, str]  # format, application and name of a benchmark


@dataclass(frozen=True)
class ReadFile:
    """A file that was read: its name, the hash of its content, and the conditions in its name."""

    name: str
    sha256: str
    conditions: Mapping[str, str] = field(default_factory=dict)
    is_run: bool = False


@dataclass(frozen=True)
class Part:
    """The result of one file, or of one benchmark from several files."""

    files: tuple[ReadFile, ...]
    benchmarks: tuple[Benchmark, ...] = ()
    unmeasured: tuple[Benchmark, ...] = ()  # benchmarks without a measurement
    known: Format | None = None  # the format of the files; None if it was not recognised
    refused: str = ""  # the reason why there are no benchmarks, or lines that could not be read
    is_conflict: bool = False  # whether the benchmarks were refused because files contradict each other
    already_there: bool = False  # whether the content was known already and therefore was not read
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()  # sentences about runs and files that appear twice but are used only once
    is_joined: bool = False  # whether the runs of the benchmark come from several files

    def left_out(self) -> list[tuple[str, str]]:
        """Return the name of each benchmark without a measurement, and the reason."""
        return [(benchmark.name, why_unmeasured(benchmark)) for benchmark in self.unmeasured]

    @property
    def label(self) -> str:
        """The names of the files, in one line."""
        return in_one_line([file.name for file in self.files])


def in_one_line(names: Sequence[str]) -> str:
    """Return the names of files in one line: all if there are few, otherwise the first and the last."""
    return ", ".join(names) if len(names) <= N_NAMED else f"{names[0]} … {names[-1]} ({len(names)} files)"


def read_benchmarks(
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    skip: Callable[[str], bool] = lambda _sha256: False,
    may_conflict: bool = False,
    advance: Advance = lambda _source: None,
) -> Iterator[Part]:
    """Yield the result of each file in order, then the benchmarks that were joined from several files.

    Of two files with the same content, or two equal runs, one is used, and a remark says so. `skip` takes the hash of a
    file's content and says whether it is known already; it is not asked about files that are joined. With
    `may_conflict`, a second file with all runs of a benchmark is returned instead of refused. Raises InputError if the
    pattern for file names is invalid, or the temporary folder is full.
    """
    conditions_of = file_name_pattern(options.pattern) if options.pattern else lambda _source: {}
    with TemporaryDirectory(prefix="labeler-") as folder:
        reader = _Reader(options, skip, _Joiner(Spool(Path(folder))))
        holders = _FirstFiles(is_only_file=len(files) == 1)
        for source, content in _read_ahead(files):
            try:
                part = reader.part(source, conditions_of(source), *content())
            except Refused as error:
                part = Part((ReadFile(source.name, ""),), refused=without_file_name(error))
            except (LabelerError, ModuleNotFoundError):  # the whole command lacks a package
                raise
            except Exception as error:  # noqa: BLE001 - a fault of a reader of ours must not cost the other files
                reason = f"the reader failed; please report this error: {type(error).__name__}: {error}"
                part = Part((ReadFile(source.name, ""),), refused=reason)
            if part:
                yield part if may_conflict else holders.checked(part)
            advance(source)
        for part in reader.joiner.joined():
            yield part if may_conflict else holders.checked(part)


def why_unmeasured(benchmark: Benchmark) -> str:
    """Return the reason why a benchmark has no measurement, such as "its only run failed (exit code 1)"."""
    n, reasons = len(benchmark.failures), list(dict.fromkeys(failure.reason for failure in benchmark.failures))
    more = f", and {len(reasons) - N_NAMED} other reasons" if len(reasons) > N_NAMED else ""
    told = f"({', '.join(reasons[:N_NAMED])}{more})"
    if all(failure.on_purpose for failure in benchmark.failures):
        return f"no measurement {told}"
    return f"{'its only run' if n == 1 else f'all {n} runs'} failed {told}"


def without_file_name(error: Refused) -> str:
    """Return the place and the reason of a refusal, without the file name."""
    return f"{error.place}: {error.reason}" if error.place else error.reason


def file_name_pattern(pattern: str) -> Callable[[Source], Mapping[str, str]]:
    """Return a function that reads the conditions of runs from a file name, according to a pattern.

    The pattern is the file name, optionally with its last folders, with {name} for each condition: version, context,
    order_type, order_position, altered, run, or any other factor. Raises InputError if there is no name in braces, a
    name is repeated, or there is no text between two names.

    Examples
    --------
    >>> file_name_pattern("{version}-{cpu}.json")(Source("results/new-arm.json.zst"))
    {'version': 'new', 'cpu': 'arm'}
    """
    first, *parts = re.split(r"\{(\w+)\}", pattern)
    names, between = parts[::2], parts[1::2]
    if not names or len(set(names)) < len(names) or "" in between[:-1]:
        raise InputError(
            f"{pattern!r} must name at least one condition, each only once, with text between two names, for example "
            "{version}-{context}.json."
        )
    places = "".join(f"([^/]+?){re.escape(text)}" for text in between)
    expression = re.compile(f"(?:.*/)?{re.escape(first)}{places}(?:[.](?:gz|zst))?", re.DOTALL)

    def conditions_of(source: Source) -> Mapping[str, str]:
        match = expression.fullmatch(source.name)
        if match is None:
            raise Refused(source.name, f"the name does not match {pattern!r}")
        return dict(zip(names, match.groups(), strict=True))

    return conditions_of


def _read_ahead(files: Sequence[Source]) -> Iterator[tuple[Source, Callable[[], tuple[bytes, str]]]]:
    """Yield each file with its content and hash, while another thread reads and unpacks the next file."""
    if len(files) == 1:
        yield files[0], partial(_content, files[0])
        return
    from concurrent.futures import ThreadPoolExecutor  # a small check does without

    with ThreadPoolExecutor(1) as reader:
        ahead: deque[tuple[Source, Callable[[], tuple[bytes, str]]]] = deque()
        for source in files:
            ahead.append((source, reader.submit(_content, source).result))
            if len(ahead) > 1:
                yield ahead.popleft()
        yield from ahead


def _content(source: Source) -> tuple[bytes, str]:
    content = source.content()
    return content, content_hash(content)


@dataclass
class _Reader:
    """A reader of one file after another, which stores the files to be joined."""

    options: ReadOptions
    skip: Callable[[str], bool]
    joiner: "_Joiner"
    read_already: dict[tuple[str, frozenset[tuple[str, str]]], str] = field(default_factory=dict)

    def part(self, source: Source, conditions: Mapping[str, str], content: bytes, sha256: str) -> Part | None:
        """Return the result of a file; return None if the file is stored to be joined later."""
        known = format_of(source, content, self.options)
        file_is = self.options.file_is or known.file_is
        file = ReadFile(source.name, sha256, conditions, file_is == FILE_IS_RUN)
        is_joined = file.is_run or (bool(conditions) and self.options.file_is != STUDY)
        identity = sha256, frozenset(conditions.items())
        if identity in self.read_already:
            same = f"this file has the same content as {self.read_already[identity]} and is counted once"
            return Part((file,), known=known, already_there=True, remarks=(same,))
        if not is_joined and self.skip(sha256):
            return Part((file,), known=known, already_there=True)
        unread: list[str] = []
        benchmarks = read(
            source, self.options, content=content, known=known, unread=unread if self.options.accept_unread else None
        )
        refused = "".join(unread)
        self.read_already[identity] = source.name
        if is_joined:
            self.joiner.add(file, known, benchmarks)
            return Part((file,), known=known, refused=refused) if refused else None
        conditioned = (_with_conditions(benchmark, conditions) for benchmark in benchmarks)
        return _part((file,), conditioned, known=known, refused=refused)


def _part(files: tuple[ReadFile, ...], benchmarks: Iterable[Benchmark], **rest: Any) -> Part:
    """Return a `Part` that lists benchmarks with measurements and benchmarks without measurements separately."""
    measured: list[Benchmark] = []
    unmeasured: list[Benchmark] = []
    for benchmark in benchmarks:
        (measured if benchmark.runs else unmeasured).append(benchmark)
    return Part(files, tuple(measured), tuple(unmeasured), **rest)


def _with_conditions(benchmark: Benchmark, known: Mapping[str, str]) -> Benchmark:
    """Add the conditions in the file name to all runs of the benchmark."""
    if not known:
        return benchmark
    runs = tuple(replace(run, conditions={**run.conditions, **known}) for run in benchmark.runs)
    failures = tuple(replace(one, conditions={**one.conditions, **known}) for one in benchmark.failures)
    return replace(benchmark, runs=runs, failures=failures)


def _with_numbered_runs(benchmark: Benchmark, place: int) -> Benchmark:
    """Rename the runs to PLACE:RUN, because each file numbers its runs separately."""
    runs = tuple(
        replace(run, conditions={**run.conditions, RUN: f"{place}:{label}"})
        for run, label in zip(benchmark.runs, benchmark.labels, strict=True)
    )
    failures = tuple(
        replace(failure, conditions={**failure.conditions, RUN: f"{place}:{failure.conditions.get(RUN, '')}"})
        for failure in benchmark.failures
    )
    return replace(benchmark, runs=runs, failures=failures)


@dataclass
class _Joiner:
    """The files to be joined, and their benchmarks."""

    spool: "Spool"
    files: list[ReadFile] = field(default_factory=list)
    formats: dict[str, Format] = field(default_factory=dict)
    n_files: Counter[Key] = field(default_factory=Counter)  # number of files with each benchmark
    n_runs: Counter[Key] = field(default_factory=Counter)

    def add(self, file: ReadFile, known: Format, benchmarks: Sequence[Benchmark]) -> None:
        """Store the benchmarks of a file until they are joined, and count their files and runs."""
        for benchmark in benchmarks:
            key = (known.name, benchmark.application, benchmark.name)
            self.spool.add(key, len(self.files), benchmark)
            self.n_files[key] += 1
            self.n_runs[key] += len(benchmark.runs)
        self.files.append(file)
        self.formats[known.name] = known

    def joined(self) -> Iterator[Part]:
        """Yield every benchmark with the runs of all its files, in natural order of file name.

        If there is only one file, with one run of each benchmark, yield all its benchmarks as one part.
        """
        if len(self.files) == 1 and set(self.n_runs.values()) <= {0, 1}:
            (file,), (known,) = self.files, self.formats.values()
            kept = (benchmark for key in self.n_runs for _number, benchmark in self.spool.benchmarks(key))
            benchmarks = tuple(_with_conditions(benchmark, file.conditions) for benchmark in kept)
            yield _part((file,), benchmarks, known=known, is_joined=True)
            return
        in_natural_order = sorted(range(len(self.files)), key=lambda number: natural(self.files[number].name))
        place = {number: at for at, number in enumerate(in_natural_order, start=1)}
        for key in self.n_files:
            entries = sorted(self.spool.benchmarks(key), key=lambda entry: place[entry[0]])
            yield self._part(key, [(place[number], self.files[number], benchmark) for number, benchmark in entries])

    def _part(self, key: Key, kept: Sequence[tuple[int, ReadFile, Benchmark]]) -> Part:
        """Return a part with one benchmark, and a warning if another one of the same tool has more files."""
        files = tuple(file for _place, file, _benchmark in kept)
        most = max(n for other, n in self.n_files.items() if other[0] == key[0])
        is_missing = len(files) < most and all(file.is_run for file in files)
        warnings = [f"only in {len(files)} of {most} files"] if is_missing else []
        known = self.formats[key[0]]
        try:
            benchmark, doubled = _joined(kept, is_alone=len(self.files) == 1)
        except ValueError as error:
            return Part(files, known=known, refused=str(error), is_conflict=True, is_joined=True)
        return _part(files, (benchmark,), known=known, warnings=tuple(warnings), remarks=tuple(doubled), is_joined=True)


def _joined(kept: Sequence[tuple[int, ReadFile, Benchmark]], *, is_alone: bool) -> tuple[Benchmark, list[str]]:
    """Join the runs of one benchmark from all files, using each run once; also return remarks on duplicates.

    Raises ValueError if files differ in unit or direction, or have different measurements of the same run.
    """
    _place, first_file, first = next((entry for entry in kept if entry[2].runs), kept[0])
    known = _KnownRuns()
    parts: list[Benchmark] = []
    doubled: list[str] = []
    for place, file, benchmark in kept:
        if benchmark.runs and (benchmark.unit, benchmark.better) != (first.unit, first.better):
            raise ValueError(
                f"benchmark {first.name!r}: {in_unit(first)} in {first_file.name}, but {in_unit(benchmark)} in "
                f"{file.name}. These runs cannot be joined"
            )
        has_numbered_runs = file.is_run and not is_alone
        named = _with_conditions(
            _with_numbered_runs(benchmark, place) if has_numbered_runs else benchmark, file.conditions
        )
        new = known.without(named, file)
        n_doubled = len(named.runs) - len(new)
        if n_doubled:
            runs = counted(n_doubled, "run")
            doubled.append(
                f"benchmark {first.name!r}: {runs} of {file.name} are also in another file and are counted once"
            )
        if new or named.failures:
            parts.append(replace(named, runs=new))
    return in_order(join(parts)), doubled


@dataclass
class _KnownRuns:
    """The runs of a benchmark in the files read so far, by label and by content."""

    by_label: dict[Hashable, tuple[ReadFile, str]] = field(default_factory=dict)
    by_content: dict[Hashable, ReadFile] = field(default_factory=dict)

    def without(self, benchmark: Benchmark, file: ReadFile) -> tuple[Run, ...]:
        """Return the runs that earlier files do not contain; refuse another run with the label of an earlier one."""
        new, labels, contents = [], {}, {}
        for label, run in zip(benchmark.labels, benchmark.runs, strict=True):
            called, content = (label, _shared_conditions(run)), hash_of_run(run)
            holder, same = self.by_label.get(called, (None, content))
            if holder and same != content:
                raise ValueError(
                    f"benchmark {benchmark.name!r}: {holder.name} and {file.name} have different measurements of run "
                    f"{label}. {HOW_TO_JOIN}"
                )
            if holder is None and not (content in self.by_content and _is_distinctive(run)):
                new.append(run)
            labels[called], contents[content] = (file, content), file
        self.by_label = labels | self.by_label
        self.by_content = contents | self.by_content
        return tuple(new)


def _shared_conditions(run: Run) -> frozenset[tuple[str, str]]:
    return frozenset((name, text) for name, text in run.conditions.items() if name not in (RUN, TIME, *MACHINE))


def hash_of_run(run: Run) -> str:
    """Return the hash of a run's measurements and conditions, without its label."""
    return _hash(run, _conditions_to_hash(run))


def _conditions_to_hash(run: Run) -> bytes:
    return repr(sorted(_shared_conditions(run))).encode()


def _hash(run: Run, conditions: bytes) -> str:
    return hashlib.sha256(np.ascontiguousarray(run.values, dtype="<f8").tobytes() + conditions).hexdigest()


def _hash_of_runs(runs: Sequence[Run]) -> bytes:
    """Return the hash of the contents of runs, independent of their order."""
    conditions = {id(run.conditions): _conditions_to_hash(run) for run in one_of_each(runs)}
    hashes = sorted(_hash(run, conditions[id(run.conditions)]) for run in runs)
    return hashlib.sha256("".join(hashes).encode()).digest()


def _is_distinctive(run: Run) -> bool:
    """Return whether a run has so many distinct values that no other run can equal it by chance."""
    return len(np.unique(run.values)) >= N_DISTINCTIVE


@dataclass
class _FirstFiles:
    """The first file (or files) with each benchmark, and the hash of the benchmark's content."""

    is_only_file: bool
    known: dict[tuple[str, str], tuple[str, bytes]] = field(default_factory=dict)

    def checked(self, part: Part) -> Part:
        """Return the part without benchmarks that an earlier file also has.

        If the earlier file has other measurements of a benchmark, the part is refused.
        """
        if self.is_only_file and len({(one.application, one.name) for one in part.benchmarks}) == len(part.benchmarks):
            return part
        new, doubled = [], []
        for benchmark in part.benchmarks:
            key, content = (benchmark.application, benchmark.name), _hash_of_runs(benchmark.runs)
            holder, same = self.known.setdefault(key, (part.label, content))
            if same != content:
                why = f"benchmark {benchmark.name!r}: {holder} has different measurements of this benchmark"
                reason = f"{why}. {HOW_TO_JOIN}"
                return replace(part, benchmarks=(), refused=reason, is_conflict=True)
            if holder == part.label:
                new.append(benchmark)
            else:
                doubled.append(
                    f"benchmark {benchmark.name!r} has the same measurements in {holder} and is counted once"
                )
        is_there = bool(part.benchmarks) and not new
        return replace(
            part, benchmarks=tuple(new), remarks=(*part.remarks, *doubled),
            already_there=part.already_there or is_there,
        )  # fmt: skip


@dataclass
class Spool:
    """A store of benchmarks on disk, with a file per key."""

    folder: Path  # the caller creates and removes it
    # the key of each benchmark, in order of first appearance -> the number of its file
    numbers: dict[Hashable, int] = field(default_factory=dict)

    def add(self, key: Hashable, mark: int, benchmark: Benchmark) -> None:
        """Append a benchmark and the number `mark`; raises InputError if the folder cannot be written to."""
        path = self.folder / str(self.numbers.setdefault(key, len(self.numbers)))
        runs = [(len(run), run.unit, run.better, dict(run.conditions)) for run in benchmark.runs]
        rest = {
            "name": benchmark.name, "application": benchmark.application, "benchmark": benchmark.benchmark,
            "parameters": dict(benchmark.parameters), "failures": [asdict(failure) for failure in benchmark.failures],
            "former_names": benchmark.former_names,
        }  # fmt: skip
        head = json.dumps({"mark": mark, "runs": runs, "rest": rest}).encode()
        values = (np.ascontiguousarray(run.values, dtype="<f8").tobytes() for run in benchmark.runs)
        try:
            with path.open("ab") as out:
                out.write(b"".join((head, b"\n", *values)))
        except OSError as error:
            raise InputError(f"The temporary folder {self.folder} cannot be written to: {error.strerror}.") from None

    def benchmarks(self, key: Hashable) -> Iterator[tuple[int, Benchmark]]:
        """Yield (number, benchmark) for each benchmark of a key, in the order in which they were added."""
        with (self.folder / str(self.numbers[key])).open("rb") as file:
            while line := file.readline():
                head = json.loads(line)
                runs = tuple(Run(np.frombuffer(file.read(8 * n), dtype="<f8"), *rest) for n, *rest in head["runs"])
                failures = tuple(Failure(**failure) for failure in head["rest"].pop("failures"))
                former_names = tuple(head["rest"].pop("former_names"))
                yield head["mark"], Benchmark(runs=runs, failures=failures, former_names=former_names, **head["rest"])
