"""Export labels as a table with one row per answer, and import labels from other tools."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from labeler.errors import InputError, Refused
from labeler.safe_text import csv_text
from labeler.studies.items import drawing
from labeler.studies.labelling.label_file import (
    COLUMNS,
    LabelRow,
    all_answers,
    answer_rows,
    checked_answer,
    checked_rows,
)
from labeler.studies.model import Item, Kind, Origin, Question, Role, Task
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Action, require
from labeler.studies.preparing import assigning
from labeler.studies.screen import timing
from labeler.studies.store import Database, actions, assignments, decisions, events, items, labels, people, studies
from labeler.studies.store.assignments import NewAssignment
from labeler.studies.store.decisions import Decision
from labeler.studies.store.events import Deed

if TYPE_CHECKING:
    import pandas as pd

    from labeler.files.formats.label_tables import LabelReading
    from labeler.studies.label_forms import Form

LONG = "long"  # columns of the label file, which has one row per answer
FIRST_KINDS = (Kind.FRESH, Kind.OVERLAP)  # kinds of assignments in which a reviewer labels an item for the first time


@dataclass(frozen=True)
class LabelImport:
    """Counts of what was imported from a label table."""

    n_new: int
    n_already_there: int
    new_reviewers: tuple[str, ...]


def export_labels(db: Database, *, actor: str, now: datetime) -> "pd.DataFrame":
    """Return all answers as a table with the columns of the label file; the export is logged."""
    with events.by(db, actor, now) as deed:
        _log_export(deed)
        return all_answers(db)


def export_label_file(db: Database, *, actor: str, now: datetime) -> tuple[str, int]:
    """Return the label file as CSV text, and the number of its rows; the export is logged."""
    with events.by(db, actor, now) as deed:
        _log_export(deed)
        rows = answer_rows(db)
    return csv_text(COLUMNS, rows), len(rows)


@dataclass(frozen=True)
class ExportedLabels:
    """Labels in the format of another tool.

    `legend` explains the values; "" if no explanation is needed.
    """

    text: str
    n_labels: int
    legend: str = ""


def export_as(db: Database, form: str, *, actor: str, now: datetime) -> ExportedLabels:
    """Return the first labels, from which agreement is computed, in the format of another tool.

    `labeler.studies.label_forms` lists the formats. Raises InputError if the format is unknown, or cannot contain one
    of the names.
    """
    from analysis.raters.tables import counted_labels
    from labeler.studies import label_forms

    chosen = _form(form)
    with events.by(db, actor, now) as deed:
        _log_export(deed)
        answers, left_out = all_answers(db), assigning.not_counted(db)
        question = studies.get(db).question
    answers["label"] = answers["label"].map(question.class_of)  # no other tool knows marks
    categories = question.classes
    first = counted_labels(answers[~answers["item"].isin(left_out)], categories)
    table = first.rename(columns={"rater": "reviewer", "category": "label"})[list(label_forms.COLUMNS)]
    timed = zip(first["dwell_ms"], first["view"], strict=True)
    table["dwell_ms"] = [timing.time_on_task(ms, json.loads(view)) for ms, view in timed]
    legend = chosen.legend(table, categories) if chosen.legend else ""
    return ExportedLabels(chosen.write(table, categories), len(table), legend)


def _form(name: str) -> "Form":
    from labeler.studies import label_forms

    if name not in label_forms.FORMS:
        raise InputError(f"{name!r} is not a label format. Choose one of: {', '.join((LONG, *label_forms.FORMS))}.")
    return label_forms.FORMS[name]


def _log_export(deed: Deed) -> None:
    deed.log(actions.EXPORT_LABELS, state=studies.get(deed.db).state)


def import_label_file(
    db: Database,
    path: Path,
    form: str | None = None,
    reading: "LabelReading | None" = None,
    *,
    look_alike: bool = False,
    actor: str,
    now: datetime,
    say: Callable[[str], None] = lambda _note: None,
) -> LabelImport:
    """Import the labels in a file, as `import_labels` does; error messages also name the file.

    The layout is found from the file; `form` says that it is wide. `say` is called with what was taken as missing,
    joined or counted once. Raises InputError if the form does not contain the names.
    """
    from labeler.files.formats import Source, label_tables

    if form == "rater":
        raise InputError(
            "the format rater does not contain the names, so it cannot be imported. Import a file in the long format."
        )
    source = Source(str(path), path)
    question = studies.get(db).question
    try:
        table = label_tables.read_label_table(
            source, reading or label_tables.STANDARD, declared=question.answers,
            items={item.name for item in items.all_items(db)}, knows_people=True, layout=form, say=say,
        )  # fmt: skip
        return import_labels(db, table.frame, look_alike=look_alike, actor=actor, now=now)
    except Refused:
        raise
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def import_labels(
    db: Database, table: "pd.DataFrame", *, look_alike: bool = False, actor: str, now: datetime
) -> LabelImport:
    """Import labels from another tool.

    If the same rows are imported again, nothing is added. The table of texts has the columns item, reviewer and label,
    and optionally other columns of the label file. Reviewers who are not in the study are added; unknown items are
    added only if the study has no measurements. If a new reviewer's name only looks like the name of another person,
    `look_alike` must confirm that these are two people. `now` is stored for rows without a time. Raises InputError if a
    value is invalid. The message names line and value, and nothing is imported. Raises NotAllowed if the study is
    unblinded.
    """
    question = studies.get(db).question
    rows = checked_rows(table, question, now=now)
    with events.by(db, actor, now) as deed:
        require(studies.get(db), Action.ADD_LABELS)
        before = {person.person_id for person in people.all_people(db)}
        may_add_items = not any(item.n_runs for item in items.all_items(db))
        n_new = sum(_append(db, row, question, may_add_items, look_alike, now) for row in rows)
        added = {person.person_id: person.name for person in people.all_people(db) if person.person_id not in before}
        names = tuple(added[person_id] for person_id in sorted(added))
        deed.log(actions.IMPORT_LABELS, rows=len(rows), new=n_new, reviewers=names)
    return LabelImport(n_new, len(rows) - n_new, tuple(sorted(names)))


def _append(
    db: Database, row: LabelRow, question: Question, may_add_items: bool, look_alike: bool, now: datetime
) -> bool:
    item = items.by_name(db, row.item_as_written) or items.by_name(db, row.item)
    if item is None and may_add_items:
        item = _new_item(db, row)
    if item is None:
        raise InputError(f"Line {row.line}: this study has no item {row.item!r}.")
    if row.kind is Kind.ADJUDICATED:
        return _append_decision(db, row, item, question)
    task = _task(db, row, item, look_alike, now)
    saved = labels.saved_before(db, task.assignment_id, row.source_key)
    if saved is not None:
        if saved != (task.assignment_id, row.label.answer):
            raise InputError(f"Line {row.line}: the event id {row.source_key!r} already belongs to another answer.")
        return False
    if row.revision is not None and row.revision != task.revision:
        raise InputError(
            f"Line {row.line}: the next revision of {row.reviewer!r} on {row.item!r} is {task.revision}, not "
            f"{row.revision}."
        )
    checked_answer(question, row.label.answer, drawing.n_points(db, item) if question.is_marked else None, row.line)
    label = replace(row.label, code=task.code, assignment_id=task.assignment_id, revision=task.revision)
    return labels.add(db, label, row.source_key)


def _append_decision(db: Database, row: LabelRow, item: Item, question: Question) -> bool:
    try:
        question.checked_label(row.label.answer, drawing.n_points(db, item) if question.is_marked else None)
    except ValueError as error:
        raise InputError(f"Line {row.line}: the decision {error}.") from None
    why = row.label.comment or "not in the label file"
    decision = Decision(item.name, row.label.answer, why, row.reviewer, row.label.created.isoformat(), row.source_key)
    saved = decisions.of_event(db, decision.event_id)
    if saved is not None and (saved.item, saved.category) != (decision.item, decision.category):
        raise InputError(f"Line {row.line}: the event id {decision.event_id!r} already belongs to another decision.")
    return decisions.add(db, item.item_id, decision)


def _task(db: Database, row: LabelRow, item: Item, look_alike: bool, now: datetime) -> Task:
    """Return the reviewer's assignment for this row; create the assignment if it does not exist."""
    person = people.by_name(db, row.reviewer)
    if person is not None and Role.REVIEWER not in person.roles:
        raise InputError(f"Line {row.line}: {row.reviewer!r} is not a reviewer of this study.")
    if person is None:
        try:
            identity.check_new_name(db, row.reviewer, look_alike=look_alike)
        except InputError as error:
            raise InputError(f"Line {row.line}: {error}") from None
    person_id = person.person_id if person else people.add(db, row.reviewer, [Role.REVIEWER], now.isoformat())
    for kind in FIRST_KINDS if row.kind in FIRST_KINDS else (row.kind,):
        task = assignments.find(db, person_id, item.item_id, kind)
        if task is not None:
            return task
    (code,) = assigning.new_codes(1, partial(assignments.has_code, db))
    new = NewAssignment(person_id, item.item_id, row.kind, row.block, row.position, code, Origin.IMPORT)
    assignments.add(db, [new])
    return assignments.get(db, person_id, item.item_id, row.kind)


def _new_item(db: Database, row: LabelRow) -> Item:
    item_id = items.add(db, row.item, benchmark=row.benchmark or row.item, application=row.application)
    return items.by_id(db, item_id)
