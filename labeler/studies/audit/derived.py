"""Compare the tables that the log determines with the state that follows from the log."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from labeler.studies.questions import Question
from labeler.studies.store import Database, actions, chain, decisions, events, studies
from labeler.studies.store.chain import Fault
from labeler.studies.store.log_state import LogState

Row = Mapping[str, Any]


def log_state(db: Database) -> LogState:
    """Return the state of the study that follows from its log."""
    state = LogState()
    changes = {action.name: action.change for action in actions.ACTIONS.values() if action.change is not None}
    for event in events.of_actions(db, map(actions.ACTIONS.__getitem__, changes)):
        changes[event.action](state, event)
    return state


def faults(db: Database) -> Iterator[Fault]:
    """Yield each difference between the log and the tables that the log determines: rows that were changed or added.

    Rows of the log that are missing in a table are differences, too.
    """
    derived = log_state(db)
    tables = {name: chain.audited_rows(db, name) for name in chain.AUDITED}
    for row in tables["studies"]:
        row |= {"secrets": studies.seal_of_secrets(db)}
        row |= {column: _as_json(row[column]) for column in ("plan_parameters", "gate")}
    yield from _compared("study", tables["studies"], "study_id", {1: derived.study})
    question = Question.of("", derived.definition)
    for row in tables["questions"]:
        row["definition"] = _as_json(row["definition"])
    definition = {"definition": derived.definition, "takes_marks": int(question.is_marked)}
    yield from _compared("question", tables["questions"], "question_id", {1: definition})
    categories = {position: {"name": name} for position, name in enumerate(question.labels)}
    yield from _compared("category", tables["categories"], "position", categories)
    yield from _items(derived, tables["items"])
    reference_now = decisions.seal_of_reference(db) if decisions.reference_labels(db) else None
    if derived.reference.get("seal", reference_now) != reference_now:
        yield Fault("reference", 0, "the reference labels of the calibration differ from those in the log")
    names = {row["person_id"]: row["name"] for row in tables["people"]}
    if derived.knows_people:  # a copy without names has other people, and no times of people
        for row in tables["people"]:
            row["folded"] = row["name"].casefold()
        people = {name: person.columns() for name, person in derived.people.items()}
        yield from _compared("person", tables["people"], "folded", people)
        yield from _compared("file", tables["files"], "sha256", derived.files)
    for row in (*tables["invitations"], *tables["sessions"]):
        row["name"] = names.get(row["person_id"])
    invitations = {secret: asdict(known) for secret, known in derived.invitations.items()}
    yield from _compared("invitation", tables["invitations"], "secret_hash", invitations)
    yield from _compared("session", tables["sessions"], "session_hash", derived.sessions)


def _compared(part: str, rows: list[dict[str, Any]], key: str, logged: Mapping[Any, Row]) -> Iterator[Fault]:
    """Yield the differences between the rows of a table and what the log says, by the value of the column `key`."""
    missing = dict(logged)
    for row in rows:
        expected = missing.pop(row[key], None)
        if expected is None:
            yield Fault(part, row["row_id"], f"{key} {_shown(row[key])} is not in the log")
        else:
            yield from _differences(part, row["row_id"], row, expected)
    for value, expected in missing.items():
        named = expected.get("name", value)
        yield Fault(part, 0, f"{_shown(named)} of the log was removed, or has another {key}")


def _items(derived: LogState, rows: list[dict[str, Any]]) -> Iterator[Fault]:
    """Yield the differences of items: the chain has their measurements, and the log exclusions and files."""
    for row in rows:
        sha256, at_utc = derived.file_of.get(row["name"], ("", ""))
        file = derived.files.get(sha256)
        was_new = file is not None and file["imported_utc"] == at_utc  # otherwise an earlier import had the file
        expected = {"excluded_why": derived.excluded.get(row["name"])}
        if derived.knows_people:
            expected["file_id"] = file["file_id"] if file is not None and was_new else None
        yield from _differences("item", row["row_id"], row, expected)
    for name in derived.file_of.keys() - {row["name"] for row in rows}:
        yield Fault("item", 0, f"{_shown(name)} was removed or renamed, and the log does not say so")


def _differences(part: str, row_id: int, now: Row, expected: Row) -> Iterator[Fault]:
    for column, value in expected.items():
        if now[column] != value:
            yield Fault(part, row_id, f"{column} is {_shown(now[column])}; the log says {_shown(value)}")


def _shown(value: Any) -> str:
    text = "empty" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _as_json(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return text
