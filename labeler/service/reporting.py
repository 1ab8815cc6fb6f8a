"""Store or CSV -> report: gathers what `analysis.report` computes and renders."""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import altair
import numpy as np
import pandas as pd
import scipy

import labeler
from analysis import report
from labeler.errors import InputError
from labeler.formats import tables
from labeler.formats.source import Source
from labeler.model import State, combined_hash
from labeler.service import exchange
from labeler.store import Database, events, items, labels, people, studies, verdicts

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EMPTY_VERDICTS = pd.DataFrame({"item": [], "classifier": [], "verdict": []})

REPLICATION_NOTE = (
    "This data set was made from the counts that the paper prints. Arbitrary are: which items were agreed or split, "
    "which pair has the dissimilar ones, who of a split pair said what, how the verdicts of the two classifiers fall "
    "together, and all verdicts on split items. Percent agreement, Fleiss' kappa, Table 1 and the confusion matrices "
    "do not depend on it; Cohen's kappa of a pair and the reviewers' shares of dissimilar do."
)


def report_of_study(db: Database, *, actor: str, now: datetime) -> dict[str, Any]:
    """Every number of the study's report; making it is an event.

    Parameters
    ----------
    db : Database
    actor : str
    now : datetime

    Returns
    -------
    dict
        As `analysis.report.summarise`.
    """
    with db.atomic():
        study, all_items, answers = studies.get(db), items.all_items(db), labels.table(db)
        judged = verdicts.table(db)
        events.add(db, now.isoformat(), actor, "report", {"state": study.state, "answers": len(answers)})
    interim = study.state is not State.UNBLINDED
    provenance = report.Provenance(
        study={
            "name": study.name,
            "question": study.question,
            "state": study.state.value,
            "interim": interim,
            "items": len(all_items),
            "reviewers": len(people.reviewers(db)),
            "reported_utc": now.isoformat(timespec="seconds"),
        },
        parameters={
            "axis_rule": study.axis_rule,
            "axis_min_span": study.axis_min_span,
            **report.registry(),
        },
        plan=None if study.plan_hash is None else {"hash": study.plan_hash, **(study.plan_parameters or {})},
        hashes={
            "measurements": combined_hash(item.data_hash for item in all_items),
            "answers": _table_hash(answers),
            "verdicts": _table_hash(judged.drop(columns=["means", "clusters"])),
        },
        versions=_versions(),
    )
    return report.summarise(answers, judged, provenance, n_items=len(all_items))


def report_of_files(
    label_file: Path, verdict_file: Path | None, notes: tuple[str, ...] = (), *, now: datetime = EPOCH
) -> dict[str, Any]:
    """The same report from a label table and a verdict table alone, without a study.

    Parameters
    ----------
    label_file : Path
        CSV: item, reviewer, label; optionally the other columns of the tidy label file.
    verdict_file : Path, optional
        CSV: item, classifier, verdict and optionally score.
    notes : tuple of str
        What a reader must know about the data.
    now : datetime
        The time of rows that name none; no number depends on it.

    Raises
    ------
    InputError
        If a file cannot be used; the message names file, place and value.
    """
    table = tables.read_labels(_source(label_file))
    try:
        answers = _answers(exchange.checked_rows(table, now=now))
    except InputError as error:
        raise InputError(f"{label_file}: {error}") from None
    judged = tables.read_verdicts(_source(verdict_file)) if verdict_file else EMPTY_VERDICTS
    doubled = judged[judged.duplicated(["item", "classifier"])]
    if len(doubled):
        item, classifier = doubled[["item", "classifier"]].iloc[0]
        raise InputError(f"{verdict_file}: classifier {classifier!r} has two verdicts on item {item!r}.")
    provenance = report.Provenance(
        study={"name": label_file.name, "question": "", "state": "files only", "interim": False},
        hashes={"answers": _table_hash(table), "verdicts": _table_hash(judged)},
        versions=_versions(),
        notes=notes,
    )
    try:
        return report.summarise(answers, judged, provenance)
    except ValueError as error:
        raise InputError(f"{label_file}: {error}.") from None


def files_of_study(db: Database, *, actor: str, now: datetime) -> dict[str, str]:
    """The report of a study as its files: name -> text."""
    with db.atomic():  # the label file holds just the answers that the numbers were made from
        return _files(report_of_study(db, actor=actor, now=now), labels.table(db))


def files_of_files(label_file: Path, verdict_file: Path | None, notes: tuple[str, ...] = ()) -> dict[str, str]:
    """The report of a label and a verdict table as its files: name -> text; raises InputError as above."""
    return _files(report_of_files(label_file, verdict_file, notes), tables.read_labels(_source(label_file)))


def as_csv(table: pd.DataFrame) -> str:
    """A table as CSV text, safe to open in a spreadsheet."""
    return tables.write(table)


def write_files(files: Mapping[str, str | bytes], out: Path) -> list[Path]:
    """Write files into a folder, by name or path inside it; one that cannot be written is not there half.

    Raises
    ------
    InputError
        If the folder cannot be made or written to.
    """
    partials = {name: (out / name).with_name(f".{Path(name).name}.partial") for name in files}
    try:
        for name, content in files.items():
            partials[name].parent.mkdir(parents=True, exist_ok=True)
            partials[name].write_bytes(content.encode() if isinstance(content, str) else content)
        for name, partial in partials.items():
            partial.replace(out / name)
    except OSError as error:
        for partial in partials.values():
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        raise InputError(f"The files could not be written to {out}: {error.strerror}.") from None
    return [out / name for name in files]


def _files(content: Mapping[str, Any], answers: pd.DataFrame) -> dict[str, str]:
    drawn = report.draw(content)
    return {
        "report.html": report.to_html(content, drawn),
        "report.json": report.to_json(content),
        "labels.csv": tables.write(answers),
        **{f"figures/{name}.svg": svg for name, svg in drawn.items()},
    }


def _answers(rows: Sequence[exchange.LabelRow]) -> pd.DataFrame:
    columns = {
        "item": [row.item for row in rows],
        "reviewer": [row.reviewer for row in rows],
        "label": [row.label.answer.value for row in rows],
        "kind": [row.kind.value for row in rows],
    }
    return pd.DataFrame(columns, dtype=object)


def _source(path: Path) -> Source:
    return Source(str(path), path)


def _table_hash(table: pd.DataFrame) -> str:
    return hashlib.sha256(tables.write(table).encode()).hexdigest()


def _versions() -> dict[str, str]:
    return {
        "labeler": labeler.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "scipy": scipy.__version__,
        "altair": altair.__version__,
    }
