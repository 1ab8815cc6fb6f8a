"""Check a report: compute all numbers again from the current data, and compare them with the report."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from analysis.document import json_values
from analysis.report import (
    PICTURES,
    Report,
    ReportDifference,
    defined_anew as report_definitions,
    differences,
    draw,
    to_html,
    to_markdown,
)
from labeler.errors import InputError
from labeler.service.results import reporting
from labeler.service.results.reporting import ReportOptions
from labeler.store import Database

PARTS = {"agreement", "classifiers", "parameters", "notes"}
PAGES: dict[str, Callable[[Report, Mapping[str, str]], str]] = {".html": to_html, ".md": to_markdown}
IN_PAGE = re.compile(
    rf'<figure id="figure-{PICTURES}">(?P<svg>.*?)<figcaption|^!\[.*\]\(figures/{PICTURES}\.svg\)$', re.MULTILINE
)


def check_study(db: Database, file: Path, *, actor: str, now: datetime) -> list[ReportDifference]:
    """Compare all numbers of a report with numbers that are computed from the study now.

    The random seed and the confidence level are taken from the report. A report.html or report.md is compared through
    the report.json in the same folder. Times and software versions are not compared. Raises InputError if the file
    cannot be read or is not a report.
    """
    report = _read(_numbers_of(file))
    recomputed = reporting.report_of_study(db, _options(report, file), actor=actor, now=now)
    pictures = reporting.pictures_of(db, recomputed) if file.suffix in PAGES else {}
    return [*differences(report, json_values(recomputed)), *_of_page(file, report, pictures)]


def check_files(label_file: Path, verdict_file: Path | None, file: Path) -> list[ReportDifference]:
    """Compare all numbers of a report with numbers that are computed from a label table and a verdict table.

    The tables do not contain the plan, the history and the measurements of the study, and they lack some columns that
    enter the hash of the verdicts. These values are taken from the report. Changed verdicts are still found, because
    other numbers of the report depend on the verdicts. The pictures of items are not compared, because they are drawn
    from the measurements.
    """
    report = _read(_numbers_of(file))
    notes = tuple(map(str, report["notes"]))
    gathered = reporting.gathered_files(label_file, verdict_file, notes, _options(report, file))
    if report.get("course") is not None:
        try:
            gathered = gathered.as_told_by(report)
        except (KeyError, TypeError) as error:
            raise InputError(f"{file} is not a complete report of labeler ({error}).") from None
    try:
        return [*differences(report, json_values(gathered.report())), *_of_page(file, report)]
    except ValueError as error:
        raise InputError(f"{label_file}: {error}.") from None


def defined_anew(file: Path) -> list[str]:
    """Return what is not compared, because it is defined otherwise since the report was made."""
    names = list(report_definitions(_read(_numbers_of(file))))
    return [*names, "the text of the page"] if names and file.suffix in PAGES else names


def _numbers_of(file: Path) -> Path:
    """Return the path of the report.json beside a report page; if the file is not a page, return its own path."""
    return file.with_name("report.json") if file.suffix in PAGES else file


def _of_page(
    file: Path, report: Mapping[str, Any], pictures: Mapping[str, str] | None = None
) -> list[ReportDifference]:
    """Return the lines in which a report page differs from the page that its report.json gives.

    `pictures` are the pictures of items as SVG. If they are None, the pictures in the page are not compared.
    """
    if file.suffix not in PAGES or report_definitions(report):
        return []  # the page of an earlier version has other sentences
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from None
    if pictures is None:
        found = IN_PAGE.search(text)
        pictures = {PICTURES: found["svg"] or ""} if found else {}
    try:
        of_file = Report.of(report)
    except ValueError as error:
        raise InputError(f"{file} cannot be made again from its report.json: {error}. Check report.json.") from None
    written, expected = text.splitlines(), PAGES[file.suffix](of_file, {**draw(of_file), **pictures}).splitlines()
    return [
        ReportDifference(
            f"{file.name}, line {first + 1}", "\n".join(written[first:last]), "\n".join(expected[start:end])
        )
        for what, first, last, start, end in SequenceMatcher(None, written, expected, autojunk=False).get_opcodes()
        if what != "equal"
    ]


def _read(file: Path) -> dict[str, Any]:
    try:
        report = json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not valid JSON: {error}.") from None
    if not isinstance(report, dict) or not isinstance(report.get("notes"), list) or not set(report) >= PARTS:
        raise InputError(f"{file} is not a report of labeler. Give a file report.json, report.md or report.html.")
    return report


def _options(report: Mapping[str, Any], file: Path) -> ReportOptions:
    try:
        return ReportOptions.of_report(report["parameters"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: the parameters of the report are invalid ({error}).") from None
