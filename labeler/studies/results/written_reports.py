"""Keep the reports that pages show, print them, and compare a written report with the current data."""

import json
import os
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any

from analysis.document import json_values
from analysis.report import ReportDifference, differences
from labeler.errors import InputError, LabelerError
from labeler.files.formats import label_tables
from labeler.files.formats.label_tables import LabelReading
from labeler.studies import background
from labeler.studies.model import Question
from labeler.studies.results.reporting import ReportOptions, gathered_files, gathered_study
from labeler.studies.store import Database, actions, events, labels, open_database

# The report that pages show: a separate process computes it, and it is kept until the study changes

MAX_KEPT = 2  # maximum number of reports of a study in memory
LOOK_EVERY_S = 0.2
EXPECTED_S = {True: 4.0, False: 12.0}  # expected seconds for the first report, by whether the report is quick

Version = tuple[Path, int, int, bool]
_kept: defaultdict[Path, dict[Version, "CachedReport"]] = defaultdict(dict)
_took_s: dict[tuple[Path, bool], float] = {}
_failed: dict[Version, str] = {}
_written_s: dict[Path, float] = {}  # seconds that the report that is being written has taken
_making: defaultdict[Path, Lock] = defaultdict(Lock)


@dataclass(frozen=True)
class CachedReport:
    """A cached report: the documents by name, and the time when the report was computed."""

    files: dict[str, bytes]
    made: datetime


def cached_report(db: Database, *, quick: bool) -> CachedReport | None:
    """Return the cached report of the study; return None if there is none or the study has changed since."""
    return _kept[db.path.resolve()].get(_version(db, quick))


def make_report(db: Database, *, quick: bool, actor: str, waiting: Callable[[float, float], object]) -> CachedReport:
    """Compute the report, store it in the cache and return it.

    `quick` leaves out the numbers that need resampling, which take long. `waiting` is called several times per second
    with the elapsed seconds and the seconds that the previous computation took; if it raises an error, the computation
    is stopped. If another request is already computing the same report, wait for the result of that request. Raises
    InputError if the report cannot be computed.
    """
    path, kept, making = db.path.resolve(), _kept[db.path.resolve()], _making[db.path.resolve()]
    started, expected = time.monotonic(), _took_s.get((path, quick), EXPECTED_S[quick])
    while not making.acquire(timeout=LOOK_EVERY_S):
        waiting(time.monotonic() - started, expected)
    try:
        version = _version(db, quick)
        if version not in kept:
            begun = time.monotonic()
            written = background.files_of(
                "report", into="out", folders=True, study=db.path, actor=actor, quick=quick,
                waiting=lambda seconds: waiting(seconds, expected),
            )  # fmt: skip
            _took_s[path, quick] = time.monotonic() - begun
            while len(kept) >= MAX_KEPT:
                kept.pop(next(iter(kept)))
            kept[version] = CachedReport(written, datetime.now(UTC))
        return kept[version]
    finally:
        making.release()


def begin_report(db: Database, *, quick: bool, actor: str) -> None:
    """Start to write the report in the background, unless it is cached or being written; the page may be closed."""
    path, version = db.path, _version(db, quick)
    if version in _kept[path.resolve()] or is_being_made(db):
        return
    _failed.pop(version, None)

    def note(done_s: float, _whole_s: float) -> None:
        _written_s[path.resolve()] = done_s

    def write() -> None:
        try:
            with open_database(path) as own:
                make_report(own, quick=quick, actor=actor, waiting=note)
        except LabelerError as error:
            _failed[version] = str(error)

    Thread(target=write, daemon=True).start()


def writing_progress(db: Database, *, quick: bool) -> tuple[float, float]:
    """Return the seconds that the report has taken so far, and the seconds that it will probably take."""
    path = db.path.resolve()
    return _written_s.get(path, 0.0), _took_s.get((path, quick), EXPECTED_S[quick])


def why_not_written(db: Database, *, quick: bool) -> str:
    """Return why the report could not be written; return "" if it did not fail."""
    return _failed.get(_version(db, quick), "")


def is_being_made(db: Database) -> bool:
    """Return whether this server is computing a report of the study now."""
    return _making[db.path.resolve()].locked()


def forget_report(db: Database, *, quick: bool) -> None:
    """Remove the report from the cache, so that it is computed again."""
    _kept[db.path.resolve()].pop(_version(db, quick), None)


def _version(db: Database, quick: bool) -> Version:
    """Return a value that changes whenever the report may change.

    The value contains the numbers of events and answers, because each change of a study adds an event or an answer.
    """
    readings = [action for action in actions.ACTIONS.values() if not action.stales]
    return db.path.resolve(), labels.n_labels(db), events.last_id(db, without=readings), quick


# Printing


BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
)  # fmt: skip
PAPERS = {"a4": "A4", "letter": "letter"}
PATIENCE = 180  # seconds


def can_print() -> bool:
    """Return whether this machine has a browser that can print a page as PDF."""
    return any(map(shutil.which, BROWSERS))


def to_pdf(page: str, *, paper: str = "a4") -> bytes:
    """Print an HTML page as PDF; the page must not need other files.

    `paper` is "a4" or "letter". Raises InputError if no browser is found, or the browser prints nothing. The message
    says what to do.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise InputError(
            f"No browser that can print a PDF was found (looked for {', '.join(BROWSERS)}). Install Chromium or "
            "Chrome, or open report.html in a browser and print it."
        )
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        style = f"<style>@page {{ size: {PAPERS[paper]}; }}</style></head>"
        source.write_text(page.replace("</head>", style, 1), encoding="utf-8")
        command = [browser, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        command += [f"--user-data-dir={folder}/profile", "--no-pdf-header-footer", f"--print-to-pdf={target}"]
        command += (
            ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        )  # the browser has no sandbox for the user root
        try:
            subprocess.run([*command, source.as_uri()], capture_output=True, timeout=PATIENCE, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"{browser} could not print the report: {error}. Open report.html and print it.") from None
        if not target.exists():
            raise InputError(f"{browser} printed nothing. Open report.html in a browser and print it.")
        return target.read_bytes()


# Comparing a written report with the current data


PARTS = {"agreement", "classifiers", "course", "parameters", "question"}
PAGES = (".html", ".md", ".pdf")


def check_study(db: Database, file: Path, *, actor: str, now: datetime) -> list[ReportDifference]:
    """Compare all values of a report.json with values that are computed from the study now.

    The random seed and the confidence level are taken from the report. Raises InputError if the file cannot be read or
    is not a report.
    """
    stored = _read(file)
    gathered = gathered_study(db, _options(stored, file), actor=actor, now=now)
    return differences(stored, json_values(gathered.report()))


def check_files(
    label_file: Path, verdict_file: Path | None, file: Path, reading: LabelReading = label_tables.STANDARD
) -> list[ReportDifference]:
    """Compare all values of a report.json with values that are computed from a label table and a verdict table.

    The tables do not contain the plan, the history and the measurements of the study, and they lack some columns that
    enter the hash of the verdicts. These values are taken from the report. Changed verdicts are still found, because
    other numbers of the report depend on the verdicts.
    """
    stored = _read(file)
    notes = tuple(map(str, stored["notes"]))
    gathered = gathered_files(
        label_file, verdict_file, notes, _options(stored, file), question=_asked(stored), reading=reading
    )
    gathered = replace(gathered, provenance=replace(gathered.provenance, question=stored["question"]))
    if stored["course"] is not None:
        try:
            gathered = gathered.as_told_by(stored)
        except (KeyError, TypeError) as error:
            raise InputError(f"{file} is not a complete report of labeler ({error}).") from None
    try:
        return differences(stored, json_values(gathered.report()))
    except ValueError as error:
        raise InputError(f"{label_file}: {error}.") from None


def _asked(stored: Mapping[str, Any]) -> Question | None:
    """Return the question of a report about own categories; None for any other report."""
    definition = stored["question"]
    if not isinstance(definition, Mapping):
        return None
    study = stored.get("study")
    text = str(study.get("question", "")) if isinstance(study, Mapping) else ""
    try:
        return Question.of(text, {name: value for name, value in definition.items() if name != "hash"})
    except (KeyError, TypeError) as error:
        raise InputError(f"the question of the report cannot be read: {error}.") from None


def _read(file: Path) -> dict[str, Any]:
    if file.suffix in PAGES:
        raise InputError(f"{file} is a page, not the numbers of a report. Give the report.json beside it.")
    try:
        stored: Any = json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not valid JSON: {error}.") from None
    if not (isinstance(stored, dict) and isinstance(stored.get("notes"), list) and set(stored) >= PARTS):
        raise InputError(f"{file} is not a report of labeler. Give the report.json that labeler report wrote.")
    return stored


def _options(stored: Mapping[str, Any], file: Path) -> ReportOptions:
    try:
        return ReportOptions.of_report(stored["parameters"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: the parameters of the report are invalid ({error}).") from None
