"""Import result files into a study, and take the last import back while the study has no plan."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any

from analysis.runs.benchmark import DIRECTIONS, LOWER, RUN, Benchmark
from analysis.text import counted
from labeler.errors import InputError, NotAllowed, Refused
from labeler.files.formats import (
    DEFAULTS,
    FILE_IS as FILE_IS,
    VALUES_ARE as VALUES_ARE,
    Advance as Advance,
    Part,
    ReadFile,
    ReadOptions as ReadOptions,
    Source,
    Spool,
    checked_options as checked_options,
    formats_table as formats_table,
    in_one_line,
    members,
    read_benchmarks,
    read_options as read_options,
    sources,
    without_file_name,
)
from labeler.studies import background
from labeler.studies.items import drawing
from labeler.studies.model import Protocol, measurement_hash
from labeler.studies.plan.lifecycle import Action, require
from labeler.studies.screen import binning
from labeler.studies.screen.kinds import (
    KINDS,
    SIDES,
    ItemKind,
    NewItem,
    NotAnItem,
    RunSelection as RunSelection,
    SkippedBenchmark,
    kind_of,
    paired,
)
from labeler.studies.store import Database, actions, assignments, events, items, jobs, runs, studies
from labeler.studies.store.log_state import Event
from labeler.text import Words


@dataclass(frozen=True)
class FileBenchmark:
    """A benchmark that a file contains, with its warnings."""

    benchmark: str
    runs: int
    iterations: str
    unit: str
    better: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileResult:
    """The result of importing one file, or one benchmark that was joined from several files.

    The result has either benchmarks or the reason why nothing was imported.
    """

    file: str  # the name of the file, or the names of all files in one line
    benchmarks: tuple[FileBenchmark, ...] = ()
    refused: str = ""  # the reason why nothing is imported; "" if benchmarks are imported
    already_there: bool = False
    names: tuple[str, ...] = ()  # names of the new items
    # The names of the files if the benchmark was joined from several files; otherwise empty.
    files: tuple[str, ...] = ()

    def left_out(self) -> list[str]:
        """Return a sentence for each benchmark that did not become an item."""
        return [
            f"{self.file}: {row.benchmark} is {why}." for row in self.benchmarks if not row.runs for why in row.warnings
        ]

    def json_values(self) -> list[dict[str, Any]]:
        """Return one dictionary per benchmark for JSON; if there is no benchmark, return one for the file."""
        rows: list[dict[str, Any]] = [
            {
                "benchmark": f.benchmark, "runs": f.runs, "iterations": f.iterations, "unit": f.unit,
                "better": f.better, "warnings": list(f.warnings),
            }
            for f in self.benchmarks
        ]  # fmt: skip
        there = ["a file with the same content was imported before"] if self.already_there else []
        nothing = dict.fromkeys(("benchmark", "runs", "iterations", "unit", "better")) | {"warnings": there}
        return [{"file": self.file, **row, "refused": self.refused or None} for row in rows or [nothing]]


@dataclass(frozen=True)
class KnownItem:
    """An item that the study already has.

    `n_runs` is 0 if the study has only labels or verdicts for the item.
    """

    application: str
    benchmark: str
    data_hash: str
    n_runs: int


File = Source  # the name that pages and commands use for a source
RUNS = KINDS["runs"]  # what an import without a study looks for
ALL_RUNS = RunSelection()
NONE: Mapping[str, str] = {}

N_HASH_DIGITS = 8
BETTER = tuple(filter(None, DIRECTIONS))
Lookup = Callable[[str], KnownItem | None]


def files_below(paths: Iterable[Path], *, check: Callable[[Path], None] = lambda _path: None) -> Iterator[Source]:
    """Yield the result files that these paths, folders, zip files and patterns name.

    If there are none, InputError is raised. `check` is called with the path of each file before the file is opened, and
    may raise an error.
    """
    return sources(paths, check=check)


def upload(name: str, data: bytes) -> Source:
    """Return an uploaded file as a source; the name of the file is only shown and never used as a path."""
    return Source(name, data=data)


def uploads(files: Iterable[tuple[str, bytes]]) -> list[Source]:
    """Return uploaded files as sources, including the files inside zip files; an uploaded file is (name, content)."""
    return [source for name, data in files for source in members(upload(name, data))]


def describe_outcome(results: Sequence[FileResult]) -> str:
    """Return how many files were imported, as a heading."""
    n_in, n_items = sum(not result.refused for result in results), sum(len(result.names) for result in results)
    if not n_in:
        return "The file was refused" if len(results) == 1 else f"All {len(results)} files were refused"
    if n_in == len(results):
        files = "The file was imported" if n_in == 1 else f"All {n_in} files were imported"
    else:
        files = f"{n_in} of {len(results)} files {'was' if n_in == 1 else 'were'} imported"
    return f"{files}: {counted(n_items, 'new item')}"


def describe(results: Sequence[FileResult]) -> str:
    """Return the number of imported items and files, as one line of text."""
    n_items, n_refused = sum(len(result.names) for result in results), sum(bool(result.refused) for result in results)
    alone = [result for result in results if not result.files]
    shared = {name: True for result in results for name in result.files}
    for result in results:
        shared |= {name: False for name in result.files if not result.already_there}
    n_there = sum(result.already_there for result in alone) + sum(shared.values())
    return (
        f"{counted(n_items, 'item')} imported from {counted(len(alone) + len(shared), 'file')}; "
        f"{counted(n_there, 'file')} imported before, {n_refused} refused."
    )


def look_into_files(
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    after: Sequence[Source] = (),
    kind: ItemKind = RUNS,
    as_new: bool = False,
    selection: RunSelection = ALL_RUNS,
    advance: Advance = lambda _source: None,
) -> Iterator[FileResult]:
    """Yield the results that importing these files into an empty study of this kind would have; nothing is stored.

    The other parameters are the same as for `import_files`.
    """
    known_items: dict[str, KnownItem] = {}
    options = replace(options, accept_means=options.accept_means or kind.accepts_means)
    reading: dict[str, Any] = {"may_conflict": as_new, "advance": advance}
    parts = _pairs(files, after, options, reading) if after else read_benchmarks(files, options, **reading)
    for part in parts:
        if isinstance(part, FileResult):
            yield part
            continue
        try:
            new_items, left_out = to_import(part, kind, selection)
            new: dict[str, KnownItem] = {}
            for benchmark, _warnings in new_items:
                data_hash = measurement_hash(benchmark.values)
                name = _free_name({**known_items, **new}.get, part.label, benchmark, data_hash, as_new)
                if name is not None:
                    new[name] = KnownItem(benchmark.application, benchmark.benchmark, data_hash, len(benchmark.runs))
        except Refused as error:
            yield _result(part, refused=without_file_name(error))
            continue
        known_items |= new
        yield _result(part, tuple(map(_file_benchmark, new_items)), left_out, already_there=part.already_there)


def import_files(
    db: Database,
    files: Sequence[Source],
    options: ReadOptions = DEFAULTS,
    *,
    after: Sequence[Source] = (),
    as_new: bool = False,
    selection: RunSelection = ALL_RUNS,
    advance: Advance = lambda _source: None,
    actor: str,
    now: datetime,
) -> Iterator[FileResult]:
    """Import measurements, and yield the result of each file.

    Each file is stored in one transaction. If a file cannot be used, nothing from this file is imported, but the other
    files are. If the content of a file was imported before, the file adds nothing.

    If each file is one run, the runs of a benchmark from all files become one item. These benchmarks are stored after
    all files are read, and their results come after the results of the files. A benchmark with runs of several versions
    or altered methods becomes one item per version or altered method, with the name `NAME @ VERSION`. Items of an
    open study wait until `next_items` adds them to the plan. Raises NotAllowed in other states, and while it is paused.

    Changed measurements of a benchmark in the study are refused; with `as_new` they become a separate item (`name#2`).
    """
    study = studies.get(db)
    require(study, Action.IMPORT)
    kind = kind_of(study.question)
    options = replace(options, accept_means=options.accept_means or kind.accepts_means)
    _check_sides(kind, after, selection)
    importer = _Importer(db, as_new, kind, study.protocol, actor, now)
    files = _without_study(db, files)
    reading: dict[str, Any] = {"may_conflict": as_new, "advance": advance}
    parts = (
        _pairs(files, _without_study(db, after), options, reading)
        if after
        else read_benchmarks(files, options, skip=lambda sha256: items.is_imported(db, sha256), **reading)
    )
    refused: list[tuple[str, str]] = []
    paths = Words(file.name for file in (*files, *after))
    for part in parts:
        result = part if isinstance(part, FileResult) else importer.kept_or_refused(part, selection)
        if result.refused:
            refused.append((paths.replaced(result.file, _name_only), paths.replaced(result.refused, _name_only)))
        yield result
    if refused:
        with events.by(db, actor, now) as deed:
            deed.log(actions.REFUSE_FILES, files=refused)


def _name_only(file: str) -> str:
    """Return the name of a file without its folders, which would be published with the study."""
    return PureWindowsPath(file).name or file  # it knows the separators of all systems


def kind_of_import(selection: RunSelection, after: Sequence[Source]) -> ItemKind:
    """Return the kind of items for which an import is meant, if there is no study that says it."""
    if after or selection.before:
        return next(kind for kind in KINDS.values() if kind.swapped)
    return RUNS


def _check_sides(kind: ItemKind, after: Sequence[Source], selection: RunSelection) -> None:
    if kind.swapped is None and (after or selection.before or selection.after):
        raise InputError(
            f"Each item of this study shows {kind.shows}, so an import has no runs before and after. To compare two "
            "versions, create a study with: labeler init --question change"
        )


def _pairs(
    before: Sequence[Source], after: Sequence[Source], options: ReadOptions, reading: Mapping[str, Any]
) -> Iterator[Part | FileResult]:
    """Yield one part for each benchmark that has runs before and after a change; the last result lists all others.

    Files that cannot be read are parts that are refused.
    """
    alone: list[FileBenchmark] = []
    with TemporaryDirectory(prefix="labeler-") as folder:
        spool, first = Spool(Path(folder)), dict[tuple[str, str], Part]()
        for part in read_benchmarks(before, options, **reading):
            if part.refused:
                yield part
            for benchmark in part.benchmarks:
                key = (benchmark.application, benchmark.name)
                first[key] = replace(part, benchmarks=())
                spool.add(key, 0, benchmark)
        for part in read_benchmarks(after, options, **reading):
            if part.refused:
                yield part
            for benchmark in part.benchmarks:
                key = (benchmark.application, benchmark.name)
                if key in first:
                    yield _pair(first.pop(key), next(spool.benchmarks(key))[1], part, benchmark)
                else:
                    alone.append(_alone(benchmark.name, SIDES[0]))
    alone += [_alone(name, SIDES[1]) for _application, name in first]
    if alone:
        yield FileResult(f"{counted(len(alone), 'benchmark')} on one side only", tuple(alone))


def _alone(name: str, lacking: str) -> FileBenchmark:
    return FileBenchmark(name, 0, "", "", "", (f"left out: no runs {lacking} the change",))


def _pair(first: Part, before: Benchmark, second: Part, after: Benchmark) -> Part:
    """Return the part of one benchmark with the runs of both sides; a refused part if they cannot be compared."""
    whole = Part((*first.files, *second.files), known=first.known, is_joined=True,
                 warnings=(*first.warnings, *second.warnings), remarks=(*first.remarks, *second.remarks))  # fmt: skip
    try:
        return replace(whole, benchmarks=(paired(before, after),))
    except NotAnItem as error:
        return replace(whole, refused=f"benchmark {before.name!r}: {error}")


def to_import(
    part: Part, kind: ItemKind = RUNS, selection: RunSelection = ALL_RUNS
) -> tuple[list[NewItem], dict[str, str]]:
    """Return the benchmarks that become items of this kind, with warnings, and why others are left out.

    Raises Refused if the part was refused, or a benchmark cannot become an item.
    """
    if part.refused:
        as_new = "; or give --as-new to keep both" if part.is_conflict and not part.is_joined else ""
        raise Refused(part.label, part.refused + as_new)
    selection = _selection(part, selection)
    new_items: list[NewItem] = []
    left_out: dict[str, str] = {}
    for benchmark in part.benchmarks:
        try:
            of_benchmark = kind.items(benchmark, selection)
        except SkippedBenchmark as error:
            left_out[benchmark.name] = str(error)
        except NotAnItem as error:
            raise Refused(part.label, str(error), f"benchmark {benchmark.name!r}") from None
        else:
            new_items += [(item, (*part.warnings, *part.remarks, *warnings)) for item, warnings in of_benchmark]
    if left_out and not new_items:
        name, why = next(iter(left_out.items()))
        raise Refused(part.label, why, f"benchmark {name!r}")
    return new_items, left_out


def _selection(part: Part, selection: RunSelection) -> RunSelection:
    """Return what an import selects, with what is known about the files of a part."""
    selection = replace(selection, n_files=len(part.files))
    if part.known is None or part.known.file_is != RUN:
        return selection
    how = f" ({part.known.keep})" if part.known.keep else ""
    more = f"Each {part.known.title} file has one run. Write several files{how} and import them together"
    return replace(selection, more_runs=more)


def _without_study(db: Database, files: Sequence[Source]) -> list[Source]:
    """Return the files, with the open study file marked as unusable.

    Reading the study file outside SQLite would release its locks (see `open_database`).
    """

    def is_study(path: Path | None) -> bool:
        try:
            return path is not None and path.samefile(db.path)
        except OSError:
            return False

    return [
        replace(file, unusable="this file is the open study itself") if is_study(file.path) else file for file in files
    ]


@dataclass
class _Importer:
    """A writer that stores benchmarks in a study."""

    db: Database
    as_new: bool
    kind: ItemKind  # what the items of the study show
    protocol: Protocol  # the protocol of the study, which determines how items are drawn
    actor: str
    now: datetime
    # Ids of the files stored so far, by the hash of their content.
    file_ids: dict[str, int] = field(default_factory=dict)

    def kept_or_refused(self, part: Part, selection: RunSelection) -> FileResult:
        """Store a part, and return the result; if the part cannot be used, nothing from it is stored."""
        try:
            return self.keep(part, *to_import(part, self.kind, selection))
        except Refused as error:
            return _result(part, refused=without_file_name(error))

    def keep(self, part: Part, new_items: Sequence[NewItem], left_out: Mapping[str, str]) -> FileResult:
        """Store all benchmarks of a part or none, and return the result; raises Refused if a name is already used."""
        if part.already_there:
            return _result(part, already_there=True)
        prepared = [
            (benchmark, measurement_hash(benchmark.values), drawing.packed(self.kind.payload(benchmark, self.protocol)))
            for benchmark, _warnings in new_items  # computed before the database is locked
        ]
        with events.by(self.db, self.actor, self.now) as deed:
            new = self._add_files(part)
            new_ids = {file.sha256: file_id for file, file_id in new}
            if not (new_ids or part.is_joined):  # another import added the file in the meantime
                return _result(part, already_there=True)
            file_id = (self.file_ids | new_ids).get(part.files[0].sha256)
            names = [self._add(part.label, file_id, *item) for item in prepared]
            added = tuple(name for name in names if name is not None)
            if new_ids or added:
                files = [[file.name, file.sha256] for file, _ in new]
                deed.log(actions.IMPORT_FILE, sha256=part.files[0].sha256, items=added, files=files)
        self.file_ids |= new_ids
        is_there = bool(prepared) and not added
        return _result(part, tuple(map(_file_benchmark, new_items)), left_out, already_there=is_there, names=added)

    def _add_files(self, part: Part) -> list[tuple[ReadFile, int]]:
        """Record the files of a part that are new to the study, under their names in the study; return their ids."""
        added = []
        for file in part.files:
            if file.sha256 in self.file_ids:
                continue
            named = replace(file, name=self._name_in_study(file))
            file_id = items.add_file(self.db, named.name, named.sha256, self.now.isoformat())
            if file_id is not None:
                added.append((named, file_id))
        return added

    def _name_in_study(self, file: ReadFile) -> str:
        """Return the name of a file in the study; the hash tells files with equal names apart."""
        name = _name_only(file.name)
        return f"{name} ({file.sha256[:N_HASH_DIGITS]})" if items.has_file_named(self.db, name) else name

    def _add(self, label: str, file_id: int | None, benchmark: Benchmark, data_hash: str, payload: bytes) -> str | None:
        """Add an item and return its name; return None if the study already has the item."""
        name = _free_name(self._known_item, label, benchmark, data_hash, self.as_new)
        if name is not None:
            item_id = items.add(
                self.db, name, benchmark=benchmark.benchmark, application=benchmark.application, unit=benchmark.unit,
                better=benchmark.better or LOWER, n_runs=len(benchmark.runs),
                n_iterations=min(map(len, benchmark.runs)), data_hash=data_hash, file_id=file_id,
                parameters=benchmark.parameters,
                failures=[(failure.conditions, failure.reason) for failure in benchmark.failures],
            )  # fmt: skip
            runs.add(self.db, item_id, benchmark.values, benchmark.conditions)
            runs.put_bins(self.db, item_id, self.kind.version, payload)
        return name

    def _known_item(self, name: str) -> KnownItem | None:
        item = items.by_name(self.db, name, with_checks=True)  # whose names are taken, too
        return KnownItem(item.application, item.benchmark, item.data_hash, item.n_runs) if item else None


def _free_name(lookup: Lookup, label: str, benchmark: Benchmark, data_hash: str, as_new: bool) -> str | None:
    """Return a free name for a new item; return None if an item with this name has the same measurements."""
    name, number, changed = benchmark.name, 1, False
    while (existing := lookup(name)) is not None:
        if not existing.n_runs:
            reason = "the study has only labels or verdicts for this item; import its measurements first"
            raise Refused(label, reason, f"benchmark {benchmark.name!r}")
        if (existing.application, existing.benchmark) == (benchmark.application, benchmark.benchmark):
            if existing.data_hash == data_hash:
                return None
            changed = True
        number += 1
        name = f"{benchmark.name}#{number}"
    if changed and not as_new:
        reason = "the study has other measurements under this name. To keep both, give --as-new"
        raise Refused(label, reason, f"benchmark {benchmark.name!r}")
    return name


def _result(
    part: Part, benchmarks: tuple[FileBenchmark, ...] = (), left_out: Mapping[str, str] = NONE, **outcome: Any
) -> FileResult:
    files = tuple(file.name for file in part.files) if part.is_joined and len(part.files) > 1 else ()
    if not outcome.get("refused") and not outcome.get("already_there"):
        lacking = (*part.left_out(), *left_out.items())
        benchmarks += tuple(FileBenchmark(name, 0, "", "", "", (f"left out: {why}",)) for name, why in lacking)
    return FileResult(part.label, benchmarks, files=files, **outcome)


def _file_benchmark(new_item: NewItem) -> FileBenchmark:
    benchmark, warnings = new_item[0], list(new_item[1])
    lengths = sorted({len(run) for run in benchmark.runs})
    iterations = str(lengths[0]) if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
    if benchmark.failures:
        n = len(benchmark.failures)
        warnings.append(f"{counted(n, 'run')} failed and gave no measurement")
    if not benchmark.better:
        warnings.append("the file does not say whether lower or higher is better, so lower is assumed")
    if len(lengths) > 1:
        warnings.append(
            "the runs have different lengths, so classifiers cut all runs to the length of the shortest run"
        )
    if lengths[0] < binning.FEW_ITERATIONS:
        warnings.append(
            f"fewer than {binning.FEW_ITERATIONS} iterations, which is too few to measure the pattern over time"
        )
    return FileBenchmark(
        benchmark.name, len(benchmark.runs), iterations, benchmark.unit, benchmark.better or LOWER, tuple(warnings)
    )


@dataclass(frozen=True)
class Import:
    """What one import added to a study: the files by their hash, and the names of the items."""

    at_utc: str
    actor: str
    files: dict[str, str]
    items: tuple[str, ...]

    def describe(self) -> str:
        """Return what the import added, by whom and when."""
        sizes = f"{counted(len(self.items), 'item')} from {counted(len(self.files), 'file')}"
        return f"{sizes}, imported by {self.actor} on {self.at_utc[:10]} at {self.at_utc[11:16]} UTC"


def import_log(db: Database) -> list[dict[str, str]]:
    """Return what became of each file of all imports, as rows of a table; the newest import comes first."""
    rows = []
    for event in reversed(events.of_actions(db, [actions.IMPORT_FILE, actions.REFUSE_FILES, actions.REMOVE_IMPORT])):
        said: list[tuple[str, str]]
        if event.action == actions.REFUSE_FILES.name:
            said = [(name, f"refused: {why}") for name, why in event.details.get("files", ())]  # not in copies
        elif event.action == actions.IMPORT_FILE.name:
            said = [(_files_of(event), f"{counted(len(event.details.get('items', ())), 'item')} imported")]
        else:
            n_items = counted(len(event.details.get("items", ())), "item")
            said = [(_files_of(event), f"import taken back: {n_items} removed")]
        at = f"{event.at_utc[:10]} {event.at_utc[11:16]} UTC"
        rows += [{"time": at, "by": event.actor, "file": name, "outcome": outcome} for name, outcome in said]
    return rows


def _files_of(event: Event) -> str:
    """Return the names of the files of an import in one line; a copy without the names of benchmarks has none."""
    return in_one_line([name for name, _ in event.details.get("files", ())]) or "no new file"


def last_import(db: Database) -> Import | None:
    """Return the last import that was not taken back; return None if there is none."""
    imports: dict[str, Import] = {}
    for event in events.of_actions(db, [actions.IMPORT_FILE, actions.REMOVE_IMPORT]):
        if "files" not in event.details:  # in a copy without the names of benchmarks
            continue
        if event.action == actions.REMOVE_IMPORT.name:
            imports.pop(event.details["imported_utc"], None)
            continue
        earlier = imports.get(event.at_utc, Import(event.at_utc, event.actor, {}, ()))
        files = earlier.files | {sha256: name for name, sha256 in event.details["files"]}
        imports[event.at_utc] = Import(event.at_utc, event.actor, files, (*earlier.items, *event.details["items"]))
    return next(reversed(imports.values()), None)


def why_not_taken_back(db: Database) -> str:
    """Return why the last import cannot be taken back; return "" if it can."""
    try:
        require(studies.get(db), Action.IMPORT)
    except NotAllowed as refusal:
        return str(refusal)
    last = last_import(db)
    if last is None:
        return "There is no import to take back."
    planned = {row.assignment.item for row in assignments.everything(db)}
    labelled = (planned | {check.source for check in items.attention_checks(db)}) & set(last.items)
    if labelled:
        n_others = len(labelled) - 1
        more = f" and {counted(n_others, 'other item')}" if n_others else ""
        are = "are" if n_others else "is"
        return f"{min(labelled)}{more} of this import {are} in the plan or labelled. Exclude single items instead."
    job = jobs.latest(db, jobs.VERDICTS)
    if job is not None and background.is_running(job):
        return "The classifiers are judging the items. Take the import back when they have finished."
    return ""


def take_back(db: Database, *, actor: str, now: datetime) -> Import:
    """Remove the files and items of the last import, with their verdicts; return what was removed.

    The log keeps the import and its removal. Raises InputError if the import cannot be taken back.
    """
    with events.by(db, actor, now) as deed:
        refused, last = why_not_taken_back(db), last_import(db)
        if refused or last is None:
            raise InputError(refused)
        items.remove(db, last.items)
        items.remove_files(db, last.files)
        files = [[name, sha256] for sha256, name in last.files.items()]
        deed.log(actions.REMOVE_IMPORT, imported_utc=last.at_utc, items=last.items, files=files)
    return last
