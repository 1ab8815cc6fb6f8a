"""Labels out of the study as a tidy table, and labels made elsewhere into it."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from labeler.design import key
from labeler.errors import InputError, Refused
from labeler.formats import Source, tables
from labeler.model import Answer, Benchmark, Item, Kind, Label, Role
from labeler.service import codes
from labeler.store import Database, assignments, events, items, labels, people
from labeler.store.assignments import NewAssignment

_Word = TypeVar("_Word", bound=StrEnum)


@dataclass(frozen=True)
class LabelImport:
    """What became of a label table."""

    n_new: int
    n_already_there: int
    new_reviewers: tuple[str, ...]


@dataclass(frozen=True)
class _Row:
    """One line of a label table, checked."""

    item: str
    reviewer: str
    kind: Kind
    label: Label  # its assignment_id is set once the assignment is known
    revision_given: bool
    block: int | None
    position: int | None
    benchmark: str
    application: str


def export_labels(db: Database, *, actor: str, now: datetime) -> pd.DataFrame:
    """Every answer, one row each, as the tidy label file has them."""
    with db.atomic():
        events.add(db, now.isoformat(), actor, "export labels", {})
        return labels.table(db)


def import_label_file(db: Database, path: Path, *, actor: str, now: datetime) -> LabelImport:
    """Append the labels of a CSV file; raises InputError as `import_labels` does, naming the file."""
    try:
        return import_labels(db, tables.read_labels(Source(str(path), path)), actor=actor, now=now)
    except Refused:
        raise
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def import_labels(db: Database, table: pd.DataFrame, *, actor: str, now: datetime) -> LabelImport:
    """Append labels made elsewhere; the same rows again add nothing.

    Parameters
    ----------
    db : Database
    table : DataFrame
        Text cells; columns item, reviewer, label and optionally every other column of the tidy label file.
        Reviewers not in the study yet are added, and so are items if the study has no measurements.
    actor : str
    now : datetime
        The time of rows that name none.

    Raises
    ------
    InputError
        If a value cannot be used; it names the line and the value, and nothing is kept.
    """
    seen: Counter[tuple[str, str, Kind]] = Counter()
    lines = table.index.tolist() if table.index.name == tables.LINE else range(2, len(table) + 2)
    records = table.to_dict("records")
    rows = [_parsed(row, line, seen, now) for line, row in zip(lines, records, strict=True)]
    with db.atomic():
        before = {person.name for person in people.all_people(db)}
        may_add_items = not any(item.n_runs for item in items.all_items(db))
        n_new = sum(_append(db, row, line, may_add_items, now) for line, row in zip(lines, rows, strict=True))
        added = tuple(sorted({person.name for person in people.all_people(db)} - before))
        events.add(db, now.isoformat(), actor, "import labels", {"rows": len(rows), "new": n_new, "reviewers": added})
    return LabelImport(n_new, len(rows) - n_new, added)


def _append(db: Database, row: _Row, line: int, may_add_items: bool, now: datetime) -> bool:
    if labels.has_event(db, row.label.event_id):
        return False
    item = items.by_name(db, row.item) or (_new_item(db, row) if may_add_items else None)
    if item is None:
        raise InputError(f"Line {line}: there is no item {row.item!r} in this study.")
    person = people.by_name(db, row.reviewer)
    if person is None:
        person_id = people.add(db, row.reviewer, [Role.REVIEWER], now.isoformat())
    elif Role.REVIEWER not in person.roles:
        raise InputError(f"Line {line}: {row.reviewer!r} is no reviewer of this study.")
    else:
        person_id = person.person_id
    task = assignments.find(db, person_id, item.item_id, row.kind)
    if task is None:
        new = NewAssignment(person_id, item.item_id, row.kind, row.block, row.position, codes.one())
        assignments.add(db, [new])
        task = assignments.find(db, person_id, item.item_id, row.kind)
    if task is None:
        raise InputError(f"Line {line}: the assignment could not be written.")
    if row.revision_given and row.label.revision != task.revision:
        raise InputError(
            f"Line {line}: revision {row.label.revision} of {row.reviewer!r} on {row.item!r} does not follow the "
            f"{task.revision} answers that are there."
        )
    return labels.add(db, replace(row.label, assignment_id=task.assignment_id, revision=task.revision))


def _new_item(db: Database, row: _Row) -> Item | None:
    items.add(db, row.item, Benchmark(row.item, row.benchmark or row.item, row.application, ()), "", None)
    return items.by_name(db, row.item)


def _parsed(cells: Mapping[Any, Any], line: int, seen: Counter[tuple[str, str, Kind]], now: datetime) -> _Row:
    def cell(name: str) -> str:
        return str(cells.get(name, "")).strip()

    def number(name: str) -> int | None:
        try:
            return int(float(cell(name))) if cell(name) else None
        except (ValueError, OverflowError):
            raise InputError(f"Line {line}: {name} {cell(name)!r} is not a whole number.") from None

    item, reviewer = cell("item"), cell("reviewer")
    if not item or not reviewer:
        raise InputError(f"Line {line}: item and reviewer must not be empty.")
    answer = _one_of(Answer, cell("label"), "label", line)
    kind = _one_of(Kind, cell("kind") or "fresh", "kind", line)
    ordinal = seen[item, reviewer, kind]
    seen[item, reviewer, kind] += 1
    # Rows without an event id get one from what they say, so that the same file again adds nothing.
    event_id = cell("event_id") or key(0, "imported", item, reviewer, kind, str(ordinal), answer)
    revision = number("revision")
    label = Label(
        0, revision or 0, event_id, answer, _time(cell("created_utc"), line, now), number("dwell_ms"),
        _view(cell("view"), line), number("confidence"), cell("flag").lower() in ("1", "1.0", "true"),
        cell("comment") or None,
    )  # fmt: skip
    return _Row(
        item, reviewer, kind, label, revision is not None, number("part"), number("position"), cell("benchmark"),
        cell("application"),
    )  # fmt: skip


def _one_of(known: type[_Word], text: str, name: str, line: int) -> _Word:
    try:
        return known(text)
    except ValueError:
        raise InputError(f"Line {line}: {name} {text!r} is not one of: {', '.join(known)}.") from None


def _time(text: str, line: int, now: datetime) -> datetime:
    try:
        time = datetime.fromisoformat(text) if text else now
    except ValueError:
        raise InputError(
            f"Line {line}: created_utc {text!r} is not a time such as 2026-11-20T12:00:00+00:00."
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _view(text: str, line: int) -> Mapping[str, Any]:
    try:
        view = json.loads(text) if text else {}
    except json.JSONDecodeError:
        view = None
    if not isinstance(view, dict):
        raise InputError(f"Line {line}: view {text[:60]!r} is not a JSON object.")
    return view
