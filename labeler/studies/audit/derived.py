"""Compare the tables that the log determines with the state that follows from the log."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from labeler.studies.questions import Question
from labeler.studies.store import Database, actions, chain, decisions, events, studies
from labeler.studies.store.chain import Fault
from labeler.studies.store.log_state import LoggedInvitation, LogState


def log_state(db: Database) -> LogState:
    """Return the state of the study that follows from its log."""
    state = LogState()
    changes = {action.name: action.change for action in actions.ACTIONS.values() if action.change is not None}
    for event in events.of_actions(db, map(actions.ACTIONS.__getitem__, changes)):
        changes[event.action](state, event)
    return state


def faults(db: Database) -> Iterator[Fault]:
    """Yield each difference between the log and the tables that the log determines."""
    reference_now = decisions.seal_of_reference(db) if decisions.reference_labels(db) else None
    derived = log_state(db)
    tables = {name: chain.audited_rows(db, name) for name in chain.AUDITED}
    yield from _study(derived, tables["studies"], studies.seal_of_secrets(db))
    question = Question.of("", derived.definition)
    for row in tables["questions"]:
        now = {"definition": _as_json(row["definition"]), "takes_marks": row["takes_marks"]}
        logged = {"definition": derived.definition, "takes_marks": int(question.is_marked)}
        yield from _differences("question", row["row_id"], now, logged)
    categories = dict(enumerate(question.labels))
    for row in tables["categories"]:
        yield from _differences("category", row["row_id"], row, {"name": categories.get(row["position"])})
    yield from _items(derived, tables["items"], {row["file_id"]: row["sha256"] for row in tables["files"]})
    if derived.reference.get("seal", reference_now) != reference_now:
        yield Fault("reference", 0, "the reference labels of the calibration differ from those in the log")
    if not derived.knows_people:  # a copy without names, which has no sign-ins and no times of people
        return
    yield from _files(derived, tables["files"])
    yield from _people(derived, tables["people"])
    names = {row["person_id"]: row["name"] for row in tables["people"]}
    yield from _invitations(derived, tables["invitations"], names)
    yield from _sessions(derived, tables["sessions"], names)


def _study(derived: LogState, rows: list[dict[str, Any]], secrets_now: str) -> Iterator[Fault]:
    for row in rows:
        now = row | {"secrets": secrets_now}
        for column in ("plan_parameters", "gate"):
            now[column] = _as_json(row[column])
        yield from _differences("study", row["row_id"], now, derived.study)


def _items(derived: LogState, rows: list[dict[str, Any]], sha256_of: Mapping[int, str]) -> Iterator[Fault]:
    for row in rows:
        yield from _differences("item", row["row_id"], row, {"excluded_why": derived.excluded.get(row["name"])})
        sha256, at_utc = derived.file_of.get(row["name"], (None, ""))
        now = sha256_of.get(row["file_id"])
        imported_then = sha256 is not None and derived.files.get(sha256, ("", ""))[1] == at_utc
        if now != sha256 and (imported_then or now is not None):
            yield Fault("item", row["row_id"], "comes from another file than the log says")
    for name in derived.file_of.keys() - {row["name"] for row in rows}:
        yield Fault("item", 0, f"{name!r} was removed or renamed, and the log does not say so")


def _files(derived: LogState, rows: list[dict[str, Any]]) -> Iterator[Fault]:
    for row in rows:
        known = derived.files.get(row["sha256"])
        if known is None:
            yield Fault("file", row["row_id"], "is not in the log")
        elif known != (row["name"], row["imported_utc"]):
            yield Fault("file", row["row_id"], "has another name or time than in the log")
    for sha256 in derived.files.keys() - {row["sha256"] for row in rows}:
        yield Fault("file", 0, f"{derived.files[sha256][0]} was removed, or its hash was changed")


def _people(derived: LogState, rows: list[dict[str, Any]]) -> Iterator[Fault]:
    for row in rows:
        person = derived.people.get(row["name"].casefold())
        if person is None:
            yield Fault("person", row["row_id"], f"{row['name']!r} is not in the log")
        else:
            yield from _differences("person", row["row_id"], row, person.columns())
    for name in derived.people.keys() - {row["name"].casefold() for row in rows}:
        yield Fault("person", 0, f"{derived.people[name].name!r} was removed or renamed")


def _invitations(derived: LogState, rows: list[dict[str, Any]], names: Mapping[int, str]) -> Iterator[Fault]:
    waiting = list(derived.invitations)
    for row in rows:
        match = next((known for known in waiting if _is_same(known, row, names)), None)
        if match is not None:
            waiting.remove(match)
        else:
            yield Fault("invitation", row["row_id"], "differs from the log, or is not in the log")
    for known in waiting:
        yield Fault("invitation", 0, f"of {known.name!r} at {known.created_utc[:16]} (UTC) was removed or changed")


def _is_same(known: LoggedInvitation, row: Mapping[str, Any], names: Mapping[int, str]) -> bool:
    return (
        (known.name, known.created_utc, known.expires_utc)
        == (names.get(row["person_id"]), row["created_utc"], row["expires_utc"])
        and all(row[column] == known.ended.get(column) for column in ("replaced_utc", "revoked_utc"))
        and row["secret_hash"].startswith(known.link)
    )


def _sessions(derived: LogState, rows: list[dict[str, Any]], names: Mapping[int, str]) -> Iterator[Fault]:
    for row in rows:
        logged = derived.sessions.get((names.get(row["person_id"], ""), row["created_utc"]), [])
        if not any(row["session_hash"].startswith(session) for session in logged):
            yield Fault("session", row["row_id"], "is not in the log")


def _differences(part: str, row_id: int, now: Mapping[str, Any], derived: Mapping[str, Any]) -> Iterator[Fault]:
    for column, expected in derived.items():
        if now[column] != expected:
            yield Fault(part, row_id, f"{column} is {_shown(now[column])}; the log says {_shown(expected)}")


def _shown(value: Any) -> str:
    text = "empty" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _as_json(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return text
