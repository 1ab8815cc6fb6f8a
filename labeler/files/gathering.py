"""Read the benchmarks in result files for the check and the methods, and convert files, without a study."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.runs.benchmark import (
    CONTEXT,
    VERSION,
    Benchmark,
    PerRun,
    by_name,
    natural,
    series_of,
    sorted_by_name,
)
from labeler.atomic_files import in_place
from labeler.errors import InputError, Refused, sentence
from labeler.files.formats import (
    BETTER_OF as BETTER_OF,
    DEFAULTS,
    FILE_IS as FILE_IS,
    VALUES_ARE as VALUES_ARE,
    Advance as Advance,
    Format,
    Part,
    ReadOptions as ReadOptions,
    Source as Source,
    Spool,
    checked_options as checked_options,
    formats_table as formats_table,
    read_benchmarks,
    sources as sources,
    writing,
)
from labeler.safe_text import one_line

FOLDERS = ("icpe", "tcpd")  # forms with a file per benchmark or series
FORMS = ("parquet", "csv", *FOLDERS)


@dataclass(frozen=True)
class Gathered:
    """The benchmarks that were read from files, the refused files, and remarks about files."""

    benchmarks: tuple[Benchmark, ...]
    refused: tuple[Refused, ...] = ()
    remarks: tuple[str, ...] = ()
    formats: tuple[Format, ...] = ()  # formats of the files that were read, each once, in order of first appearance
    hashes: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of the content of each file -> its name


def from_files(
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    advance: Advance = lambda _source: None,
    use: Callable[[Benchmark], None] | None = None,
) -> Gathered:
    """Read the benchmarks of result files; raises InputError like `usable`.

    The order of the benchmarks does not depend on the order of the files. If a benchmark has no measurement, a remark
    names the benchmark. If `use` is given, it is called with each benchmark as soon as it is read, and the result has
    no benchmarks, so that memory does not grow with the number of files.
    """
    parts, gathered = usable(files, options, advance=advance, use=use)
    remarks = [remark for part in parts for remark in left_out(part)]
    benchmarks = sorted_by_name(benchmark for part in parts for benchmark in part.benchmarks)
    return replace(gathered, benchmarks=tuple(benchmarks), remarks=(*gathered.remarks, *remarks))


def left_out(part: Part) -> list[str]:
    """Return a remark for each benchmark of this part that has no measurement."""
    return [f"{part.label}: benchmark {name!r} is left out: {why}" for name, why in part.left_out()]


def usable(
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    advance: Advance = lambda _source: None,
    use: Callable[[Benchmark], None] | None = None,
) -> tuple[list[Part], Gathered]:
    """Read result files; return their parts, and a `Gathered` that has everything except the benchmarks.

    `advance` is called with each file that was read. `use` is called with each benchmark, and the parts then have no
    benchmarks. Raises InputError if files contradict each other, or the pattern for file names is invalid.
    """
    parts: list[Part] = []
    refused, remarks = [], []
    formats: dict[str, Format] = {}
    for part in read_benchmarks(files, options, advance=advance):
        if part.is_conflict:
            raise InputError(one_line(f"{part.label}: {part.refused}."))
        if part.refused:
            refused.append(Refused(one_line(part.label), one_line(part.refused)))
        remarks += [f"{part.label}: {text}" for text in part.remarks]
        if part.known and part.benchmarks:
            formats.setdefault(part.known.name, part.known)
        if use is not None:
            for benchmark in part.benchmarks:
                use(benchmark)
            part = replace(part, benchmarks=())
        parts.append(part)
    hashes = {file.sha256: file.name for part in parts for file in part.files if file.sha256}
    return parts, Gathered((), tuple(refused), tuple(remarks), tuple(formats.values()), hashes)


def folders_of_versions(paths: Sequence[Path]) -> list[Path]:
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


def per_run(warmup: str, aggregate: str) -> PerRun:
    """Return the options that decide how a run is summarised by one number; raises InputError if one is invalid."""
    try:
        number = float(warmup)
    except ValueError:
        number = None
    try:
        return PerRun(warmup.strip() if number is None else number, aggregate)
    except ValueError as error:
        raise InputError(sentence(error)) from None


@dataclass
class ConversionResult:
    """The result of a conversion: counts of what was written, refused files as (file, reason), and remarks."""

    n_benchmarks: int = 0
    n_runs: int = 0
    n_values: int = 0
    n_failures: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, benchmark: Benchmark) -> None:
        """Count a benchmark that was written."""
        self.n_benchmarks += bool(benchmark.runs)
        self.n_runs += len(benchmark.runs)
        self.n_values += sum(map(len, benchmark.runs))
        self.n_failures += len(benchmark.failures)


def convert(
    files: Sequence[Source],
    form: str,
    out: Path,
    options: ReadOptions = DEFAULTS,
    *,
    advance: Advance = lambda _source: None,
) -> ConversionResult:
    """Write the benchmarks of result files in another format.

    The function first reads all files and stores their runs in a temporary folder. It then writes the benchmarks one by
    one under a temporary name and renames the result at the end, so that no incomplete file is left behind. `form` is
    "parquet" or "csv" (one long table, which replaces an existing file), or "icpe" or "tcpd" (a folder, which must not
    exist; "tcpd" has a file for each history, or for each run of a benchmark without versions). A
    file is refused if it cannot be used, or if an earlier file contains the same benchmark. Raises InputError if there
    are no measurements to write, or the target cannot be written.
    """
    if form in FOLDERS and out.exists():
        raise InputError(f"{out} already exists. Give the name of a new folder.")
    done = ConversionResult()
    with TemporaryDirectory(prefix="labeler-") as folder:
        spool = Spool(Path(folder))
        is_table = form not in FOLDERS
        wanted = replace(options, accept_unread=True, with_shares=is_table)
        factors = _gather(files, wanted, spool, done, advance, with_failures=is_table)
        with in_place(out) as partial:
            WRITERS[form](_all_benchmarks(spool), partial, writing.columns(factors), done)
            if not done.n_values:
                why = "; ".join(f"{file}: {reason}" for file, reason in done.refused)
                raise InputError(f"The files have no measurements that can be written. {why}")
    return done


def _all_benchmarks(spool: Spool) -> Iterator[Benchmark]:
    for key in spool.numbers:
        yield from (benchmark for _mark, benchmark in spool.benchmarks(key))


def _gather(
    files: Sequence[Source],
    options: ReadOptions,
    spool: Spool,
    done: ConversionResult,
    advance: Advance,
    *,
    with_failures: bool,
) -> list[str]:
    """Store all benchmarks on disk; return the names of further columns of the table.

    `with_failures` says whether to store benchmarks without a measurement, too.
    """
    factors: dict[str, None] = {}
    for part in read_benchmarks(files, options, advance=advance):
        if part.refused:
            done.refused.append((part.label, part.refused))
        done.remarks += [f"{part.label}: {text}" for text in part.remarks]
        if not with_failures:
            done.remarks += left_out(part)
        for benchmark in (*part.benchmarks, *(part.unmeasured if with_failures else ())):
            spool.add((benchmark.application, benchmark.name), 0, benchmark)
            factors |= dict.fromkeys(writing.extra_columns(benchmark))
    return list(factors)


def _write_csv(benchmarks: Iterator[Benchmark], out: Path, names: Sequence[str], done: ConversionResult) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        file.write(writing.csv_header(names))
        for benchmark in benchmarks:
            file.writelines(writing.csv_rows(benchmark, names))
            done.add(benchmark)


def _write_parquet(benchmarks: Iterator[Benchmark], out: Path, names: Sequence[str], done: ConversionResult) -> None:
    with out.open("wb") as file, writing.parquet_writer(file, names) as writer:
        for benchmark in benchmarks:
            writer.write_table(writing.rows(benchmark, names))
            done.add(benchmark)


def _write_icpe(benchmarks: Iterator[Benchmark], out: Path, _names: Sequence[str], done: ConversionResult) -> None:
    out.mkdir()
    taken: dict[str, str] = {}
    for benchmark in benchmarks:
        try:
            name, content = writing.icpe_file(benchmark, taken)
            with (out / name).open("xb") as file:
                file.write(content)
        except (ValueError, FileExistsError) as error:
            reason = "another benchmark has the same file name" if isinstance(error, OSError) else str(error)
            done.refused.append((f"benchmark {benchmark.name!r}", reason))
            continue
        done.add(benchmark)


def _write_tcpd(benchmarks: Iterator[Benchmark], out: Path, _names: Sequence[str], done: ConversionResult) -> None:
    from labeler.files.formats import histories

    out.mkdir()
    taken: dict[str, str] = {}
    for benchmark in benchmarks:
        for name, values, labels in series_of(benchmark):
            with (out / f"{writing.file_stem(name, taken)}.json").open("x", encoding="utf-8") as file:
                file.write(histories.write_tcpd(name, values, labels))
        done.add(benchmark)


Writer = Callable[[Iterator[Benchmark], Path, Sequence[str], ConversionResult], None]
WRITERS: dict[str, Writer] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "icpe": _write_icpe,
    "tcpd": _write_tcpd,
}
