"""Result files -> benchmarks, those of one name in several files as one where a file is a run.

The runs of files that are one run each are kept aside in a temporary folder until all files are read: of a thousand
files no more than one benchmark's runs are in memory at a time.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from labeler.errors import LabelerError, Refused
from labeler.formats import Format, ReadOptions, Source, content_hash, format_of, is_run, natural, read
from labeler.formats.long_table import in_order
from labeler.formats.shape import RUN, labels
from labeler.model import Benchmark
from labeler.service.data.spool import Spool

N_NAMED = 3  # files named one by one

Advance = Callable[[Source], None]
Key = tuple[str, str, str]  # format, application and name of a benchmark


@dataclass(frozen=True)
class Opened:
    """A file that was read: its name and the hash of its content."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Part:
    """What one file gave, or what several files gave of one benchmark.

    Attributes
    ----------
    files : tuple of Opened
    benchmarks : tuple of Benchmark
    known : Format or None
        What the files are; None if that could not be told.
    refused : str
        Why there are no benchmarks.
    already_there : bool
        Whether the content was known, so that nothing was read.
    warnings : tuple of str
    is_joined : bool
        Whether the files are a run each.
    """

    files: tuple[Opened, ...]
    benchmarks: tuple[Benchmark, ...] = ()
    known: Format | None = None
    refused: str = ""
    already_there: bool = False
    warnings: tuple[str, ...] = ()
    is_joined: bool = False

    @property
    def label(self) -> str:
        """The files in one line."""
        names = [file.name for file in self.files]
        return ", ".join(names) if len(names) <= N_NAMED else f"{names[0]} … {names[-1]} ({len(names)} files)"


def parts(
    files: Sequence[Source],
    options: ReadOptions,
    *,
    skip: Callable[[str], bool] = lambda _sha256: False,
    advance: Advance = lambda _source: None,
) -> Iterator[Part]:
    """What every file gives, in order, and then the benchmarks that several files share.

    Parameters
    ----------
    files : sequence of Source
    options : ReadOptions
    skip : callable
        Hash of a file's content -> whether it is known already; not asked of files that are a run each.
    advance : callable
        Called with each file that was read.
    """
    with TemporaryDirectory(prefix="labeler-") as folder:
        joiner = _Joiner(Spool(Path(folder)))
        for source, opened in _read_ahead(files):
            try:
                part = _part(source, *opened.result(), options, joiner, skip)
            except Refused as error:
                part = Part((Opened(source.name, ""),), refused=after_name(error))
            except LabelerError:
                raise
            except Exception as error:  # noqa: BLE001 - a fault of a reader of ours must not cost the other files
                reason = f"the reader failed, please report it: {type(error).__name__}: {error}"
                part = Part((Opened(source.name, ""),), refused=reason)
            if part:
                yield part
            advance(source)
        yield from joiner.joined()


def after_name(error: Refused) -> str:
    """Place and reason of a refusal; who shows it names the file."""
    return f"{error.place}: {error.reason}" if error.place else error.reason


def _part(
    source: Source, content: bytes, sha256: str, options: ReadOptions, joiner: "_Joiner", skip: Callable[[str], bool]
) -> Part | None:
    """What a file gives by itself; None if it is kept aside to be joined."""
    file, known = Opened(source.name, sha256), format_of(source, content, options)
    if not is_run(known, options):
        if skip(sha256):
            return Part((file,), known=known, already_there=True)
        return Part((file,), tuple(read(source, options, content=content, known=known)), known)
    if joiner.is_there(sha256):
        return Part((file,), known=known, already_there=True)
    joiner.add(file, known, read(source, options, content=content, known=known))
    return None


def _read_ahead(files: Sequence[Source]) -> Iterator[tuple[Source, "Future[tuple[bytes, str]]"]]:
    """Each file with its content and hash, while the next one is read and unpacked on another thread."""
    with ThreadPoolExecutor(1) as reader:
        ahead: deque[tuple[Source, Future[tuple[bytes, str]]]] = deque()
        for source in files:
            ahead.append((source, reader.submit(_content, source)))
            if len(ahead) > 1:
                yield ahead.popleft()
        yield from ahead


def _content(source: Source) -> tuple[bytes, str]:
    content = source.content()
    return content, content_hash(content)


@dataclass
class _Joiner:
    """Files that are a run each, and what they gave, kept aside."""

    spool: Spool
    files: list[Opened] = field(default_factory=list)
    formats: dict[str, Format] = field(default_factory=dict)
    n_files: Counter[Key] = field(default_factory=Counter)  # of each benchmark
    n_runs: Counter[Key] = field(default_factory=Counter)

    def is_there(self, sha256: str) -> bool:
        """Whether a file of this content was read."""
        return any(file.sha256 == sha256 for file in self.files)

    def add(self, file: Opened, known: Format, benchmarks: Sequence[Benchmark]) -> None:
        """Keep what a file gave."""
        for benchmark in benchmarks:
            key = (known.name, benchmark.application, benchmark.name)
            self.spool.add(key, len(self.files), benchmark)
            self.n_files[key] += 1
            self.n_runs[key] += len(benchmark.runs)
        self.files.append(file)
        self.formats[known.name] = known

    def joined(self) -> Iterator[Part]:
        """Every benchmark with the runs of all its files, these in natural order of name.

        A file that is alone and has one run of everything stays whole, as there is one thing to say about it.
        """
        if len(self.files) == 1 and set(self.n_runs.values()) == {1}:
            benchmarks = tuple(one for key in self.n_runs for _number, one in self.spool.kept(key))
            (known,) = self.formats.values()
            yield Part((self.files[0],), benchmarks, known, is_joined=True)
            return
        in_order = sorted(range(len(self.files)), key=lambda number: natural(self.files[number].name))
        place = {number: at for at, number in enumerate(in_order, start=1)}
        for key in self.n_files:
            kept = sorted(self.spool.kept(key), key=lambda one: place[one[0]])
            yield self._part(key, [(place[number], self.files[number], one) for number, one in kept])

    def _part(self, key: Key, kept: Sequence[tuple[int, Opened, Benchmark]]) -> Part:
        """One benchmark; a warning if another one of the same tool is in more files."""
        files = tuple(file for _place, file, _one in kept)
        most = max(n for other, n in self.n_files.items() if other[0] == key[0])
        warnings = (f"in {len(files)} of {most} files",) if len(files) < most else ()
        known = self.formats[key[0]]
        try:
            joined = _one(kept, is_alone=len(self.files) == 1)
        except ValueError as error:
            return Part(files, known=known, refused=str(error), is_joined=True)
        return Part(files, (joined,), known, warnings=warnings, is_joined=True)


def _one(kept: Sequence[tuple[int, Opened, Benchmark]], *, is_alone: bool) -> Benchmark:
    """The runs of all files as those of one benchmark, told apart by the file's place where there are several.

    Raises
    ------
    ValueError
        If they differ in unit or direction.
    """
    _place, first_file, first = kept[0]
    for _place, file, other in kept:
        if (other.unit, other.better) != (first.unit, first.better):
            raise ValueError(
                f"benchmark {first.name!r}: {_measure(first)} in {first_file.name}, but {_measure(other)} in "
                f"{file.name}: these are not runs of one measurement"
            )
    if is_alone:
        return first
    named = [_told_apart(place, one) for place, _file, one in kept]
    names = dict.fromkeys(name for one in named for name in one.conditions)
    joined = replace(
        first,
        runs=tuple(run for one in named for run in one.runs),
        conditions={name: tuple(text for one in named for text in _of(one, name)) for name in names},
        failures=tuple(failure for one in named for failure in one.failures),
    )
    return in_order(joined)


def _measure(benchmark: Benchmark) -> str:
    return f"{benchmark.unit or 'no unit'} ({benchmark.better} is better)"


def _of(benchmark: Benchmark, condition: str) -> tuple[str, ...]:
    return benchmark.conditions.get(condition, ("",) * len(benchmark.runs))


def _told_apart(place: int, benchmark: Benchmark) -> Benchmark:
    """With runs called PLACE:RUN, as every file counts its own."""
    failures = tuple(
        replace(one, conditions={**one.conditions, RUN: f"{place}:{one.conditions.get(RUN, '')}"})
        for one in benchmark.failures
    )
    named = tuple(f"{place}:{label}" for label in labels(benchmark))
    return replace(benchmark, conditions={**benchmark.conditions, RUN: named}, failures=failures)
