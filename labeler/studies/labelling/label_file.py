"""Return all answers with the columns of the label file, and check the rows of a label table."""

import json
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from labeler.errors import InputError
from labeler.studies.items import as_seen
from labeler.studies.model import Item, Kind, Label, LabelOrigin, Question
from labeler.studies.people import identity
from labeler.studies.plan.design import key
from labeler.studies.store import Database, decisions, items, labels
from labeler.text import check_length

if TYPE_CHECKING:
    import pandas as pd


# `run_order` has the numbers of the item's runs in the order in which the reviewer saw them, such as "3 1 2": a comment
# on "Run 1" is then about the third run of the item. It is empty if the reviewer saw them in the order of the item.
COLUMNS = (*labels.COLUMNS, "run_order")


@dataclass(frozen=True)
class LabelRow:
    """A checked line of a label table."""

    line: int  # line number in the file
    item: str
    reviewer: str
    kind: Kind
    label: Label  # the label; its code, assignment and revision are set during the import
    revision: int | None  # the revision in the table; None if the table has none
    block: int | None
    position: int | None
    benchmark: str
    application: str
    item_as_written: str  # The name of the item exactly as in the table. Names of items may begin or end with spaces.
    source_key: str  # the event id or a hash of the row, which identifies the row if the file is imported again


def all_answers(db: Database) -> "pd.DataFrame":
    """Return all answers, then all decisions on split items, with the columns of the label file."""
    import pandas as pd  # imported here because writing the label file does not need pandas

    return pd.DataFrame(answer_rows(db), columns=list(COLUMNS), dtype=object)


def answer_rows(db: Database) -> list[tuple[Any, ...]]:
    """Return the rows of the label file: all answers, then all decisions on split items.

    A decision has no assignment, so the assignment column has a different negative number for each decision.
    """
    by_name = {item.name: item for item in items.all_items(db)}
    n_before: Counter[str] = Counter()
    at = {name: labels.COLUMNS.index(name) for name in ("item", "view", "swapped")}
    rows = [
        (*row, _run_order(db, by_name[row[at["item"]]], row[at["view"]], row[at["swapped"]])) for row in labels.rows(db)
    ]
    for decision in decisions.everything(db):
        item = by_name[decision.item]
        cells = {
            "item": item.name, "benchmark": item.benchmark, "application": item.application,
            "reviewer": decision.decided_by, "assignment": -item.item_id, "revision": n_before[item.name],
            "kind": Kind.ADJUDICATED.value,
            "label": decision.category, "created_utc": decision.created_utc, "view": "{}", "flag": 0,
            "comment": decision.why, "event_id": decision.event_id,
        }  # fmt: skip
        rows.append(tuple(cells.get(column) for column in COLUMNS))
        n_before[item.name] += 1
    return rows


def _run_order(db: Database, item: Item, view: str, swapped: object) -> str | None:
    """Return the order of the runs that the picture of an answer had, as text."""
    shown = as_seen.run_order(db, item, as_seen.look_of_answer(item, view, swapped))
    return None if shown is None else " ".join(map(str, shown))


def checked_rows(table: "pd.DataFrame", question: Question, *, now: datetime) -> list[LabelRow]:
    """Check all cells of a label table and return the rows; raises InputError that names line and value."""
    from labeler.files.formats import tables

    n_earlier: Counter[tuple[str, str, Kind]] = Counter()
    lines = table.index.tolist() if table.index.name == tables.LINE else range(2, len(table) + 2)
    records = table.to_dict("records")
    return [_parsed(record, line, question, n_earlier, now) for line, record in zip(lines, records, strict=True)]


def _parsed(
    cells: Mapping[Any, Any], line: int, question: Question, n_earlier: Counter[tuple[str, str, Kind]], now: datetime
) -> LabelRow:
    def cell(name: str) -> str:
        return str(cells.get(name, "")).strip()

    def number(name: str, lowest: int = 0, highest: int = 2**31 - 1) -> int | None:
        return _whole_number(cell(name), name, line, lowest, highest)

    item, reviewer = cell("item"), cell("reviewer")
    if not item or not reviewer:
        raise InputError(f"Line {line}: item and reviewer must not be empty.")
    for name in ("item", "benchmark", "application"):
        try:
            check_length(f"the {name}", cell(name))
        except ValueError as error:
            raise InputError(f"Line {line}: {error}.") from None
    try:
        reviewer = identity.checked_name(reviewer)
    except InputError as error:
        raise InputError(f"Line {line}: reviewer: {error}") from None
    answer = checked_answer(question, cell("label"), None, line)
    kind = Kind(_one_of([kind for kind in Kind if kind is not Kind.ATTENTION], cell("kind") or "fresh", "kind", line))
    ordinal = n_earlier[item, reviewer, kind]
    n_earlier[item, reviewer, kind] += 1
    # Anyone who knows the names can guess this hash, so it is used only to recognise the row in a second import.
    source_key = cell("event_id") or key(0, "imported", item, reviewer, kind, str(ordinal), answer)
    label = Label(
        code="",
        assignment_id=0,
        origin=LabelOrigin.IMPORT,
        revision=ordinal,
        event_id=cell("event_id") or secrets.token_hex(16),
        answer=answer,
        created=_time(cell("created_utc"), line, now),
        dwell_ms=number("dwell_ms"),
        view=_view(cell("view"), line),
        confidence=number("confidence", 1, 3),
        flag=_yes_or_no(cell("flag"), "flag", line) or False,
        comment=str(cells.get("comment", "")) or None,
        extra=cell("extra") or None,
        swapped=_yes_or_no(cell("swapped"), "swapped", line),
        session=cell("session") or None,
    )
    return LabelRow(
        line, item, reviewer, kind, label, number("revision"), number("part"), number("position"), cell("benchmark"),
        cell("application"), str(cells.get("item", "")), source_key,
    )  # fmt: skip


def checked_answer(question: Question, text: str, n: int | None, line: int) -> str:
    """Return an answer in the form in which it is stored; `n` is the length of its series, if known."""
    try:
        return question.checked_answer(text, n)
    except ValueError as error:
        raise InputError(f"Line {line}: label {error}.") from None


def _whole_number(text: str, name: str, line: int, lowest: int, highest: int) -> int | None:
    """Return the whole number in a cell; return None if the cell is empty.

    "3.0" is accepted, because some tools write 3 as "3.0" if other cells in the column are empty.
    """
    if not text:
        return None
    try:
        value = float(text)
        if value.is_integer() and lowest <= value <= highest:
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise InputError(f"Line {line}: {name} {text!r} is not a whole number between {lowest} and {highest}.")


def _yes_or_no(text: str, name: str, line: int) -> bool | None:
    """Return the value of a cell with 0 or 1; return None if the cell is empty."""
    values = {"": None, "0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}
    if text.lower() not in values:
        raise InputError(f"Line {line}: {name} {text!r} is not 0 or 1.")
    return values[text.lower()]


def _one_of(vocabulary: Sequence[str], text: str, name: str, line: int) -> str:
    if text not in vocabulary:
        raise InputError(f"Line {line}: {name} {text!r} is not one of: {', '.join(vocabulary)}.")
    return text


def _time(text: str, line: int, now: datetime) -> datetime:
    try:
        time = datetime.fromisoformat(text) if text else now
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InputError(
            f"Line {line}: created_utc {text!r} is not a time such as 2026-11-20T12:00:00+00:00."
        ) from None


def _view(text: str, line: int) -> Mapping[str, Any]:
    try:
        view = json.loads(text) if text else {}
    except json.JSONDecodeError:
        view = None
    if not isinstance(view, dict):
        raise InputError(f"Line {line}: view {text[:60]!r} is not a JSON object.")
    return view
