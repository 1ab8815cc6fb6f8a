"""Write the data set of a finished study as a folder and a zip file; both appear only if all checks pass."""

import hashlib
import json
import re
import shutil
import socket
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pandas as pd

from analysis.document import to_json
from labeler.atomic_files import in_place
from labeler.errors import InputError, NotAllowed
from labeler.files.formats import Source, tables as files
from labeler.files.outputs import write_files
from labeler.studies.course import course
from labeler.studies.handover import anonymising
from labeler.studies.handover.publishing import documents, metadata
from labeler.studies.handover.publishing.facts import DatasetFacts
from labeler.studies.handover.publishing.metadata import RecordSet
from labeler.studies.handover.publishing.publish_file import EMAIL, FILE_NAME, PublishFile, Times, Venue, to_toml
from labeler.studies.handover.publishing.tables import StudyTables, codebook, tables_of, write_measurements
from labeler.studies.labelling import label_file, reviewing
from labeler.studies.model import State
from labeler.studies.plan.lifecycle import STATE_PHRASES
from labeler.studies.results import reporting
from labeler.studies.results.reporting import ReportInput, ReportOptions
from labeler.studies.store import Database, actions, copies, events, items, open_database, people, studies
from labeler.studies.store.actions import Published
from labeler.text import PATH, Words

LABELS, ITEMS, MEASUREMENTS = "data/labels.csv", "data/items.parquet", "data/measurements.parquet"
LABELS_PARQUET, VERDICTS, REPORT = "data/labels.parquet", "report/verdicts.csv", "report/report.json"
CODEBOOK_VERSION = 1
EPOCH_OF_ZIP = (1980, 1, 1, 0, 0, 0)  # the earliest possible date in a zip file; all files get this date
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{200,}")  # packed numbers, in which a path can only occur by chance
_TIME = re.compile(r"\b(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?")
_VOCABULARIES = (
    "kind",
    "label",
    "origin",
    "role",
    "better",
    "action",
    "classifier",
    "verdict",
)  # columns that can have only fixed values
_COMMENT_COLUMNS = ("event", "item", "reviewer", "comment", "publish")


@dataclass(frozen=True)
class PublishOptions:
    """Options for publishing a study."""

    venue: Venue | None = None  # the venue for which the data set is published; its required answers are checked
    measurements: bool = field(default=True, metadata={
        "flag": "--no-measurements", "help": "Publish no measurements; if benchmarks keep their names, publish hashes.",
    })  # fmt: skip
    keep_benchmarks: bool = True  # whether to keep the names of items, benchmarks and applications
    # a table from `comments_to_read`, in which a person wrote yes or no in every row of the column publish
    comments: Path | None = field(default=None, metadata={
        "metavar": "FILE.csv", "help": "Publish the comments marked yes in this file [default: none].",
    })  # fmt: skip
    unlicensed: bool = field(default=False, metadata={
        "help": "Also publish items of applications without a licence.",
    })  # fmt: skip
    html: bool = field(default=False, metadata={
        "help": "Also write pages that need no server: the report, the picture of every item, and practice.",
    })  # fmt: skip
    report: ReportOptions = field(default_factory=ReportOptions)


@dataclass(frozen=True)
class PublishedFile:
    """A file of the data set; `rows` is "" if the file is not a table."""

    path: str
    meaning: str
    rows: int | str
    size: int
    sha256: str


@dataclass(frozen=True)
class PublicationResult:
    """The result of publishing, with remarks that a person should check."""

    folder: Path
    archive: Path
    files: tuple[PublishedFile, ...]
    sha256: str  # SHA-256 of the zip file
    remarks: tuple[str, ...]


def new_answers(db: Database, today: date) -> PublishFile:
    """Return answers for this study that people can complete, without names of people."""
    study = studies.get(db)
    hidden = anonymising.replacing(anonymising.pseudonyms(people.all_people(db), _token(db)))
    question = hidden(reviewing.question(db))
    return PublishFile(
        title=hidden(study.name),
        description=f"Labels of repeated benchmark runs by several reviewers. Question: {question}",
        version="1.0.0",
        date=today.isoformat(),
        keywords=("benchmarking", "performance", "inter-rater agreement"),
        sources=dict.fromkeys(_applications(db), ""),
    )


def _applications(db: Database) -> list[str]:
    return sorted({item.application for item in items.all_items(db)} - {""})


def lacking(db: Database, answers: PublishFile, options: PublishOptions) -> dict[str, str]:
    """Return the answers that are missing for publishing with these options: entry -> reason."""
    without = [name for name in _applications(db) if not answers.sources.get(name)]
    if options.unlicensed or not without:
        return answers.missing(options.venue)
    named = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
    remedy = "Add the licences, or publish these items without a licence (--unlicensed)"
    return answers.missing(options.venue) | {"sources": f"no licence for {named}. {remedy}"}


def contents(options: PublishOptions) -> dict[str, str]:
    """Return the files that the data set will have, with their meanings, apart from the figures of the report."""
    left_out = set() if options.measurements else {MEASUREMENTS, documents.PRACTICE}
    if not options.html:
        left_out |= set(documents.MEANINGS)
    return {path: meaning for path, meaning in _MEANINGS.items() if path not in left_out}


def publish(
    db: Database,
    out: Path,
    answers: PublishFile,
    options: PublishOptions = PublishOptions(),
    *,
    actor: str,
    now: datetime,
    executor: Executor | None = None,
) -> PublicationResult:
    """Write the data set of a study into a folder and a zip file beside it, which must not exist.

    The same study, answers and options always give the same bytes; `now` is only the time of the log entry, which is
    the only change of the study. With an executor, another process renders the figures. Raises NotAllowed if the study
    is not unblinded. Raises InputError if answers or licences are missing, if the data set would contain a name, an
    address or a path, or if writing fails. No incomplete files remain.
    """
    archive = out.with_name(f"{out.name}.zip")
    _check_state(db)
    missing = lacking(db, answers, options)
    if missing:
        whom = f"{options.venue} requires" if options.venue else "every data set requires"
        raise InputError(
            "\n".join([f"{FILE_NAME} lacks what {whom}:", *(f"  {place}: {why}" for place, why in missing.items())])
        )
    for path in (out, archive):
        if path.exists():
            raise InputError(f"{path} exists already. Choose another folder.")
    with ExitStack() as stack:
        zip_file = stack.enter_context(in_place(archive))
        folder = stack.enter_context(in_place(out))
        try:
            shutil.rmtree(folder, ignore_errors=True)  # a folder that an interrupted publication left behind
            folder.mkdir(parents=True)
            published, remarks = _build(db, folder, answers, options, executor)
            _zip(folder, zip_file)
        except OSError as error:
            raise InputError(f"{out} could not be written: {error.strerror or error}.") from None
        sha256 = _sha256(zip_file)
    with events.by(db, actor, now) as deed:
        deed.log(actions.PUBLISH, file=out.name, sha256=sha256, venue=options.venue, measurements=options.measurements)
    return PublicationResult(out, archive, tuple(published), sha256, tuple(remarks))


def comments_to_read(db: Database) -> tuple[str, int]:
    """Return all comments as a CSV table without names, and the number of comments.

    The column publish is empty. A person must read the comments and write yes or no in each row.
    """
    _check_state(db)
    with _copy(db, PublishOptions(), PublishFile()) as copy:
        table = _commented(copy)
    return files.write(table.assign(publish="")), len(table)


def _check_state(db: Database) -> None:
    study = studies.get(db)
    if study.phase is not State.UNBLINDED:
        steps = "Unblind it" if study.phase is State.CLOSED else "Close it, then unblind it"
        raise NotAllowed(
            f"Only an unblinded study can be published. The study is {STATE_PHRASES[study.phase]}. {steps}."
        )


def _token(db: Database) -> str:
    """Return the secret that decides the order of the new names; a study always has the same secret."""
    return hashlib.sha256(f"publish {studies.picture_secret(db)}".encode()).hexdigest()


@contextmanager
def _copy(db: Database, options: PublishOptions, answers: PublishFile) -> Iterator[Database]:
    """Yield a temporary copy of the study without names, and delete the copy at the end."""
    unblinded = (course.unblinding(db) or {}).get("at_utc", "")
    with TemporaryDirectory(prefix="labeler-") as folder:
        file = Path(folder) / "copy.study"
        anonymising.copy_without_names(
            db,
            file,
            token=_token(db),
            keep_comments=True,
            keep_benchmarks=options.keep_benchmarks,
            keep_seed=answers.plan_seed,
            forget=lambda at_utc, action: not _is_published(action, is_unblinded=at_utc >= unblinded),
        )
        with open_database(file) as copy:
            yield copy


def _is_published(action: str, *, is_unblinded: bool) -> bool:
    """Return whether an event with this action, before or after the unblinding, is in the published log."""
    published = actions.ACTIONS[action].published if action in actions.ACTIONS else Published.NEVER
    return published is Published.ALWAYS or (published is Published.BEFORE_UNBLINDING and not is_unblinded)


def _build(
    db: Database, folder: Path, answers: PublishFile, options: PublishOptions, executor: Executor | None
) -> tuple[list[PublishedFile], list[str]]:
    """Write all files of the data set into an empty folder; return the files, and remarks for a person."""
    with _copy(db, options, answers) as copy:
        _check_texts(copies.free_texts(copy))  # before the long work
        comments = _released(copy, options.comments) if options.comments else {}
        unblinded = (course.unblinding(copy) or {}).get("at_utc")
        at = datetime.fromisoformat(unblinded) if unblinded else reporting.EPOCH
        log = events.table(copy)  # read now, because computing the report adds to the log
        gathered = reporting.gathered_study(copy, options.report, actor="owner", now=at)
        licences = answers.sources if options.keep_benchmarks else {}
        times = Times(answers.times)
        tables = tables_of(copy, gathered, log, licences, comments, times, with_hashes=options.keep_benchmarks)
        remarks = _check_strings(db, copy, tables, answers)
        has_measurements = options.measurements and bool(tables.n_runs)
        for name in ("data", "report"):
            (folder / name).mkdir()
        _write_tables(tables, folder)
        if has_measurements:
            write_measurements(copy, folder / MEASUREMENTS)
        gathered = _from_published(gathered, folder, times)
        report = gathered.report(executor=executor)
        study = studies.get(copy)
        facts = DatasetFacts(
            replace(study, question=replace(study.question, text=reviewing.question(copy))),
            tables,
            report,
            replace(answers, sources=licences),
            has_measurements,
            plan_secret=studies.plan_secret(copy),
        )
        written = gathered.files(report, executor)
        _write_report(written, facts, folder)
        if options.html:
            report_html = str(written["report.html"])
            write_files(documents.pages(copy, facts, report_html, with_pictures=has_measurements), folder)
    _write_documents(facts, folder)
    _check_texts(_texts(folder))
    if not tables.verdicts.shape[0]:
        remarks.append("The study has no verdicts. To include verdicts, compute them before publishing.")
    return _listed(folder, facts), remarks


def _write_tables(tables: StudyTables, folder: Path) -> None:
    (folder / LABELS).write_bytes(tables.labels.csv().encode())
    tables.labels.write_parquet(folder / LABELS_PARQUET)
    tables.items.write_parquet(folder / ITEMS)
    for name, table in (("verdicts", tables.verdicts), ("plan", tables.plan), ("log", tables.log)):
        (folder / f"report/{name}.csv").write_bytes(files.write(table).encode())


def _from_published(gathered: ReportInput, folder: Path, times: Times) -> ReportInput:
    """Return the input of the report, read from the published files.

    In this way, anyone can compute the report again from these files.
    """
    published = reporting.gathered_files(
        folder / LABELS, folder / VERDICTS, options=gathered.options, question=gathered.question
    )
    day = "" if times is Times.NONE else r"\1"
    known = {name: value for name, value in gathered.provenance.study.items() if name != "chain"}  # the log of the copy
    study = _with_days(known, day)
    # the table of labels has the released comments
    history = _with_days({**(gathered.provenance.course or {}), "flags": []}, day)
    provenance = replace(
        gathered.provenance,
        study=study,
        course=history,
        hashes={**gathered.provenance.hashes, **published.provenance.hashes},
    )
    return replace(published, provenance=provenance, n_items=gathered.n_items)


def _with_days(value: Any, day: str) -> Any:
    """Return a value of JSON with each time shortened to its day, or to "" if `day` is empty."""
    if isinstance(value, Mapping):
        return {name: _with_days(part, day) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with_days(part, day) for part in value)
    return _TIME.sub(day, value) if isinstance(value, str) else value


def _write_report(written: Mapping[str, str | bytes], facts: DatasetFacts, folder: Path) -> None:
    # the folder data has the labels; the bytes of PDF figures are not reproducible
    contents = {
        name: content for name, content in written.items() if name != "labels.csv" and not name.startswith("latex/")
    }
    study = facts.study
    plan = {
        "hash": study.plan_hash,
        "parameters": study.plan_parameters,
        "seed": (study.plan_parameters or {}).get("seed"),
        "secret": facts.plan_secret or None,
        "why_no_seed": None
        if study.plan_hash is None or facts.answers.plan_seed
        else "with the seed and the secret of the plan, anyone who knows the reviewers' names could identify them",
    }
    write_files({**contents, "plan.json": to_json(plan)}, folder / "report")


def _write_documents(facts: DatasetFacts, folder: Path) -> None:
    tables = facts.tables
    labels, of_items = tables.labels, tables.items
    record_sets = [
        RecordSet("labels", labels.meaning, LABELS_PARQUET, labels.columns, keys={"item": ("items", "item")}),
        RecordSet("items", of_items.meaning, ITEMS, of_items.columns, key="item"),
    ]
    if facts.has_measurements:
        record_sets.append(
            RecordSet(
                "measurements",
                "one row per iteration of each run",
                MEASUREMENTS,
                tables.measurements,
                keys={"benchmark": ("items", "item")},
            )
        )
    book = codebook([(each.name, each.meaning, each.columns) for each in record_sets])
    texts = {
        "codebook.json": to_json({"version": CODEBOOK_VERSION, "tables": book}),
        "codebook.md": documents.codebook_md(book),
        "datasheet.md": documents.datasheet(facts),
        "CITATION.cff": metadata.citation_cff(facts.answers),
    }
    write_files(texts, folder)
    of_data = {file.path: (file.size, file.sha256) for file in _listed(folder, facts) if file.path.startswith("data/")}
    (folder / "croissant.json").write_bytes(metadata.croissant(facts, record_sets, of_data).encode())
    (folder / "README.md").write_bytes(
        documents.readme(facts, [vars(file) for file in _listed(folder, facts)]).encode()
    )


_MEANINGS = {
    "README.md": "overview, and how to load and cite the data set",
    LABELS: "the labels, one row per answer",
    LABELS_PARQUET: "the labels with typed columns",
    ITEMS: "the items with measures, verdicts, consensus and folds",
    MEASUREMENTS: "the measurements, one row per iteration",
    "codebook.md": "the meaning of every column",
    "codebook.json": "the codebook in machine-readable form",
    "datasheet.md": "datasheet with the questions of Gebru et al. (2021)",
    "croissant.json": "Croissant 1.1 with its responsible-AI fields",
    "CITATION.cff": "citation metadata",
    "report/report.html": "the report",
    "report/report.md": "the report as Markdown",
    REPORT: "every number of the report",
    VERDICTS: "the verdicts used in the report",
    "report/labels-wide.csv": "one row per item, one column per reviewer",
    "report/undecided.csv": "the items that the latent class model cannot decide",
    "report/plan.csv": "the assignments of each reviewer, in order",
    "report/plan.json": "the parameters of the plan",
    "report/log.csv": "the audit log without names",
    **documents.MEANINGS,
}


def _listed(folder: Path, facts: DatasetFacts) -> list[PublishedFile]:
    """Return the files that are in the folder now, sorted by path, with their meanings."""
    rows = {
        LABELS: len(facts.tables.labels.frame),
        LABELS_PARQUET: len(facts.tables.labels.frame),
        ITEMS: len(facts.tables.items.frame),
        MEASUREMENTS: facts.tables.n_values,
        VERDICTS: len(facts.tables.verdicts),
        "report/plan.csv": len(facts.tables.plan),
        "report/log.csv": len(facts.tables.log),
    }
    return [
        PublishedFile(
            path,
            _MEANINGS.get(path, "a figure of the report"),
            rows.get(path, ""),
            (folder / path).stat().st_size,
            _sha256(folder / path),
        )
        for path in _paths(folder)
    ]


def _paths(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _zip(folder: Path, archive: Path) -> None:
    with ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=9) as out:
        for path in _paths(folder):
            info = ZipInfo(path, EPOCH_OF_ZIP)
            info.compress_type, info.external_attr, info.create_system = ZIP_DEFLATED, 0o644 << 16, 3
            info.file_size = (folder / path).stat().st_size
            with (folder / path).open("rb") as content, out.open(info, "w") as member:
                shutil.copyfileobj(content, member, 2**20)


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


# Comments that may be published


def _commented(copy: Database) -> pd.DataFrame:
    answers = label_file.all_answers(copy)
    rows = answers[answers["comment"].notna()]
    return pd.DataFrame(
        {"event": rows["event_id"], "item": rows["item"], "reviewer": rows["reviewer"], "comment": rows["comment"]}
    )


def _released(copy: Database, file: Path) -> dict[str, str]:
    """Return the comments that may be published, as event id -> comment.

    The comments are taken from the table, because a person may have edited the text there.
    """
    table = files.read_table(Source(str(file), file), _COMMENT_COLUMNS)
    there = set(_commented(copy)["event"])
    released, seen = {}, set()
    for line, row in table.iterrows():
        if row["event"] not in there:
            raise InputError(f"{file}, line {line}: this study has no comment {row['event']!r}.")
        if row["publish"].strip().lower() not in ("yes", "no"):
            raise InputError(
                f"{file}, line {line}: publish is {row['publish']!r}. Read the comment, then write yes or no."
            )
        seen.add(row["event"])
        if row["publish"].strip().lower() == "yes":
            released[row["event"]] = row["comment"]
    if there - seen:
        raise InputError(f"{file}: {len(there - seen)} comments of the study are missing. Create the file again.")
    return released


# Checks: no name of a person, address, host or path


def _check_strings(db: Database, copy: Database, tables: StudyTables, answers: PublishFile) -> list[str]:
    """Raise InputError if a text contains the name or address of a person; return remarks on ambiguous names.

    A name is doubtful if it may be an ordinary word, or if it is part of the name of an item.
    """
    study = studies.get(copy)
    written = [("the study", text) for text in (study.name, study.question.text, study.protocol.instructions)]
    written += [("the study", category.meaning) for category in study.question.categories]
    named: list[tuple[str, str]] = []
    untouched = {text for item in items.all_items(copy) for text in (item.name, item.benchmark, item.application)}
    of_tables = {"labels": tables.labels.frame, "items": tables.items.frame, "log": tables.log}
    for name, frame in {**of_tables, "plan": tables.plan, "verdicts": tables.verdicts}.items():
        for column in frame.columns.difference(list(_VOCABULARIES)):
            texts = {text for cell in frame[column] if isinstance(cell, str) for text in _strings(cell)}
            for text in texts:
                (named if text in untouched else written).append((f"{name}, column {column}", text))
    new_names = {person.name for person in people.all_people(copy)}
    names = {person.name for person in people.all_people(db)} - new_names
    words = Words([*names, *anonymising.other_names(db), *_host(), str(db.path.resolve())])
    for place, text in written:
        word = words.first(text)
        if word:
            raise InputError(f"{place} still contains {word!r}: {text[:80]!r}. Change the text in the study first.")
    # authors may be reviewers; a name in lower case may be an ordinary word
    told = [(place, text) for place, text in answers.texts() if place not in ("authors", "sources")]
    with_capitals, every_name = Words(name for name in names if name != name.lower()), Words(names)
    for place, text in told:
        word = with_capitals.first(text)
        if word:
            raise InputError(f"{FILE_NAME}: {place} contains {word!r}, the name of a person in the study. Remove it.")
    left = {word for _, text in named if (word := words.first(text))}
    return [
        *(f"{word!r}, the name of a person in the study, is part of the name of an item." for word in sorted(left)),
        *(
            f"{FILE_NAME}: {place} contains {word!r}, which is also the name of a person in the study."
            for place, text in told
            if (word := every_name.first(text))
        ),
    ]


def _host() -> list[str]:
    """Return a list with the host name of this computer; the list is empty if the name could be an ordinary word."""
    name = socket.gethostname()
    return [name] if re.search(r"[\d.-]", name) and len(name) > 3 else []


def _strings(cell: str) -> Iterator[str]:
    """Yield the text of a cell; if the cell contains a JSON object, yield every text in the object."""
    try:
        waiting: list[Any] = [json.loads(cell) if cell.startswith("{") else cell]
    except (ValueError, RecursionError):  # a text that a person wrote
        waiting = [cell]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (dict, list)):
            waiting += value.values() if isinstance(value, dict) else value


def _check_texts(texts: Iterable[tuple[str, str]]) -> None:
    """Raise InputError if a text contains an e-mail address or a file path; each text comes with its place."""
    for place, text in texts:
        for what, sign, pattern in (("an e-mail address", "@", EMAIL), ("a file path", "", PATH)):
            match = pattern.search(text) if sign in text else None  # a long line of a picture takes long to search
            if match:
                raise InputError(
                    f"{place} contains {what}: {match[0][:80]!r}. Change the text in the study or in {FILE_NAME}, "
                    "or leave out the names of benchmarks."
                )


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts in the files of a folder."""
    for path in _paths(folder):
        if metadata.is_text(path):
            with (folder / path).open(encoding="utf-8", newline="\n") as lines:
                for line in lines:
                    yield path, _BASE64.sub("", line)
    frame = pd.read_parquet(folder / ITEMS)
    for column in frame:
        for text in frame[column]:
            if isinstance(text, str):
                yield f"{ITEMS}, column {column}", text


def answers_text(db: Database, today: date) -> str:
    """Return the text of publish.toml in the folder of the study; if there is no such file, return a new text."""
    file = db.path.with_name(FILE_NAME)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return to_toml(new_answers(db, today))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{FILE_NAME} in the folder of the study could not be read: {error}.") from None


def save_answers(db: Database, text: str) -> None:
    """Save a text as publish.toml in the folder of the study.

    If the text is invalid, InputError is raised and nothing is saved.
    """
    PublishFile.of_text(text)
    write_files({FILE_NAME: text}, db.path.parent)
