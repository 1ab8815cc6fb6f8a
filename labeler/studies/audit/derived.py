"""Derive the state of a study from its log, and compare it with the tables that the log determines."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from labeler.studies.questions import Question
from labeler.studies.store import Database, chain, decisions, events, studies
from labeler.studies.store.chain import Fault
from labeler.studies.store.events import Event

_PROTOCOL = {
    "axis_rule": "axis_rule", "min_span": "axis_min_span", "asks_confidence": "asks_confidence",
    "shows_numbers": "shows_numbers", "instructions": "instructions", "varies_pictures": "varies_pictures",
}  # fmt: skip
_NOT_PARAMETERS = (
    "hash",
    "items",
    "reviewers",
    "first",
    "question",
    "chosen",
)  # details of a plan that are not its parameters
_LEAVING = ("pause reviewer", "remove reviewer", "replace reviewer")
_STEPS = ("open study", "pause study", "third round", "close study", "reopen study", "unblind study")


@dataclass
class _Person:
    name: str
    created_utc: str
    roles: set[str]
    active: bool = True
    paused: bool = False
    email: str | None = None
    last_change: str = ""  # the last event that paused or removed the person

    @property
    def has_left(self) -> bool:
        return not self.active or self.last_change != "pause reviewer"

    def columns(self) -> dict[str, Any]:
        return {
            "name": self.name, "created_utc": self.created_utc, "is_reviewer": int("reviewer" in self.roles),
            "is_coordinator": int("coordinator" in self.roles), "active": int(self.active), "paused": int(self.paused),
            "email": self.email,
        }  # fmt: skip


@dataclass
class _Invitation:
    name: str
    created_utc: str
    expires_utc: str
    link: str  # the first digits of the hash of the secret
    ended: dict[str, str] = field(default_factory=dict)  # replaced_utc or revoked_utc -> time


class Derived:
    """The state of a study according to its log; each event changes it."""

    def __init__(self, log: Iterable[Event]) -> None:
        self.study: dict[str, Any] = {}
        self.definition: dict[str, Any] = {}  # of the question
        self.people: dict[str, _Person] = {}
        self.knows_people = True  # false in a copy without names, whose log does not say who was added
        self.excluded: dict[str, str] = {}
        # The seal of the reference labels; empty in a copy without names, whose log has no seal.
        self.reference: dict[str, Any] = {"seal": None}
        self.files: dict[str, tuple[str, str]] = {}  # sha256 -> (name, time)
        self.file_of: dict[str, tuple[str, str]] = {}  # item -> sha256 of its file, and time
        self.invitations: list[_Invitation] = []
        self.sessions: dict[tuple[str, str], list[str]] = {}  # (name, time) -> ids of the sessions
        for event in log:
            change = _CHANGES.get(event.action)
            if change is not None:
                change(self, event)

    def person(self, event: Event, key: str = "name") -> _Person | None:
        """Return the person whom an event names; return None in a copy without names."""
        return self.people.get(str(event.details[key]).casefold()) if self.knows_people else None

    def create(self, event: Event) -> None:
        """Begin with the study as it was created."""
        self.study |= {"created_utc": event.at_utc, "state": "draft", "resumes_to": None}
        self.study |= {"plan_parameters": None, "plan_hash": None, "gate": None}
        self.describe(event)
        self.protocol(event)
        if "secrets" in event.details:  # a copy without names has other secrets
            self.study["secrets"] = event.details["secrets"]

    def describe(self, event: Event) -> None:
        """Take the name and the question."""
        self.definition = event.details["definition"]
        self.study |= {key: event.details[key] for key in ("name", "question")}

    def protocol(self, event: Event) -> None:
        """Take the protocol."""
        given = {column: event.details[key] for key, column in _PROTOCOL.items()}
        self.study |= {column: int(value) if isinstance(value, bool) else value for column, value in given.items()}

    def plan(self, event: Event) -> None:
        """Take the parameters and the hash of the plan, which also opens the study."""
        parameters = {key: value for key, value in event.details.items() if key not in _NOT_PARAMETERS}
        state = "calibration" if event.details["calibration"] else "open"
        self.study |= {"plan_parameters": parameters, "plan_hash": event.details["hash"], "state": state}

    def step(self, event: Event) -> None:
        """Take the new state."""
        to = event.details["to"]
        self.study |= {"state": to, "resumes_to": event.details["from"] if to == "paused" else None}

    def gate(self, event: Event) -> None:
        """Take the agreement that the calibration round requires."""
        self.study["gate"] = dict(event.details) or None

    def set_reference(self, event: Event) -> None:
        """Take the hash of the reference labels."""
        self.reference = {"seal": event.details["seal"]} if "seal" in event.details else {}

    def exclusion(self, event: Event) -> None:
        """Exclude an item, or include it again."""
        self.excluded.pop(event.details["item"], None)
        if event.action == "exclude item":
            self.excluded[event.details["item"]] = event.details["why"]

    def add_person(self, event: Event) -> None:
        """Add a person."""
        if "name" not in event.details:
            self.knows_people = False
            return
        name = str(event.details["name"])
        self.people[name.casefold()] = _Person(name, event.at_utc, set(event.details["roles"]))

    def import_labels(self, event: Event) -> None:
        """Add the reviewers of imported labels."""
        for name in event.details["reviewers"]:
            self.people[str(name).casefold()] = _Person(str(name), event.at_utc, {"reviewer"})

    def add_role(self, event: Event) -> None:
        """Give a person one more role."""
        person = self.person(event)
        if person is not None:
            person.roles.add(event.details["role"])

    def pause(self, event: Event) -> None:
        """Pause a reviewer, or let a reviewer continue."""
        person = self.person(event)
        if person is not None:
            person.active, person.paused = True, event.action == "pause reviewer"
            person.last_change = event.action if event.action in _LEAVING else person.last_change

    def leave(self, event: Event) -> None:
        """Remove a reviewer, who stays if also a coordinator; a successor takes part."""
        person = self.person(event)
        heir = self.person(event, "successor") if event.action == "replace reviewer" else None
        if person is not None:
            person.active = person.paused = "coordinator" in person.roles
        if heir is not None:
            heir.active, heir.paused = True, heir.paused and not heir.has_left
        if person is not None:
            person.last_change = event.action

    def email(self, event: Event) -> None:
        """Take the e-mail address of a person."""
        person = self.person(event)
        if person is not None:
            person.email = event.details["email"] or None

    def invite(self, event: Event) -> None:
        """Add an invitation, which replaces the earlier invitations of the person."""
        details = event.details
        if "name" not in details:
            self.knows_people = False
            return
        self._end_invitations(event, "replaced_utc")
        self.invitations.append(_Invitation(details["name"], event.at_utc, details["expires"], details["link"]))

    def revoke(self, event: Event) -> None:
        """Revoke the invitations and the e-mail address of a person."""
        self._end_invitations(event, "revoked_utc")
        person = self.person(event)
        if person is not None:
            person.email = None

    def _end_invitations(self, event: Event, column: str) -> None:
        for invitation in self.invitations:
            if invitation.name == event.details["name"] and not invitation.ended:
                invitation.ended[column] = event.at_utc

    def sign_in(self, event: Event) -> None:
        """Add a session."""
        self.sessions.setdefault((event.actor, event.at_utc), []).append(event.details["session"])

    def import_file(self, event: Event) -> None:
        """Add the files of an import, and the items that came from the first file."""
        for name, sha256 in event.details["files"]:
            self.files.setdefault(sha256, (name, event.at_utc))
        self.file_of |= dict.fromkeys(event.details["items"], (event.details["sha256"], event.at_utc))

    def remove_import(self, event: Event) -> None:
        """Forget the files and items of an import that was taken back."""
        for _, sha256 in event.details["files"]:
            self.files.pop(sha256, None)
        for name in event.details["items"]:
            self.file_of.pop(name, None)
            self.excluded.pop(name, None)


_CHANGES: Mapping[str, Callable[[Derived, Event], None]] = {
    "create study": Derived.create, "describe study": Derived.describe, "set protocol": Derived.protocol,
    "draw plan": Derived.plan, **dict.fromkeys(_STEPS, Derived.step), "set gate": Derived.gate,
    "set reference labels": Derived.set_reference,
    "exclude item": Derived.exclusion, "include item": Derived.exclusion,
    "add person": Derived.add_person, "import labels": Derived.import_labels, "add role": Derived.add_role,
    "pause reviewer": Derived.pause, "resume reviewer": Derived.pause, "remove reviewer": Derived.leave,
    "replace reviewer": Derived.leave, "set e-mail": Derived.email, "invite": Derived.invite, "revoke": Derived.revoke,
    "sign in": Derived.sign_in, "import file": Derived.import_file,
    "remove import": Derived.remove_import,
}  # fmt: skip


def faults(db: Database) -> Iterator[Fault]:
    """Yield each difference between the log and the tables that the log determines."""
    reference_now = decisions.seal_of_reference(db) if decisions.reference_labels(db) else None
    derived = Derived(events.of_actions(db, _CHANGES.keys()))
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


def _study(derived: Derived, rows: list[dict[str, Any]], secrets_now: str) -> Iterator[Fault]:
    for row in rows:
        now = row | {"secrets": secrets_now}
        for column in ("plan_parameters", "gate"):
            now[column] = _as_json(row[column])
        yield from _differences("study", row["row_id"], now, derived.study)


def _items(derived: Derived, rows: list[dict[str, Any]], sha256_of: Mapping[int, str]) -> Iterator[Fault]:
    for row in rows:
        yield from _differences("item", row["row_id"], row, {"excluded_why": derived.excluded.get(row["name"])})
        sha256, at_utc = derived.file_of.get(row["name"], (None, ""))
        now = sha256_of.get(row["file_id"])
        imported_then = sha256 is not None and derived.files.get(sha256, ("", ""))[1] == at_utc
        if now != sha256 and (imported_then or now is not None):
            yield Fault("item", row["row_id"], "comes from another file than the log says")
    for name in derived.file_of.keys() - {row["name"] for row in rows}:
        yield Fault("item", 0, f"{name!r} was removed or renamed, and the log does not say so")


def _files(derived: Derived, rows: list[dict[str, Any]]) -> Iterator[Fault]:
    for row in rows:
        known = derived.files.get(row["sha256"])
        if known is None:
            yield Fault("file", row["row_id"], "is not in the log")
        elif known != (row["name"], row["imported_utc"]):
            yield Fault("file", row["row_id"], "has another name or time than in the log")
    for sha256 in derived.files.keys() - {row["sha256"] for row in rows}:
        yield Fault("file", 0, f"{derived.files[sha256][0]} was removed, or its hash was changed")


def _people(derived: Derived, rows: list[dict[str, Any]]) -> Iterator[Fault]:
    for row in rows:
        person = derived.people.get(row["name"].casefold())
        if person is None:
            yield Fault("person", row["row_id"], f"{row['name']!r} is not in the log")
        else:
            yield from _differences("person", row["row_id"], row, person.columns())
    for name in derived.people.keys() - {row["name"].casefold() for row in rows}:
        yield Fault("person", 0, f"{derived.people[name].name!r} was removed or renamed")


def _invitations(derived: Derived, rows: list[dict[str, Any]], names: Mapping[int, str]) -> Iterator[Fault]:
    waiting = list(derived.invitations)
    for row in rows:
        match = next((known for known in waiting if _is_same(known, row, names)), None)
        if match is not None:
            waiting.remove(match)
        else:
            yield Fault("invitation", row["row_id"], "differs from the log, or is not in the log")
    for known in waiting:
        yield Fault("invitation", 0, f"of {known.name!r} at {known.created_utc[:16]} (UTC) was removed or changed")


def _is_same(known: _Invitation, row: Mapping[str, Any], names: Mapping[int, str]) -> bool:
    return (
        (known.name, known.created_utc, known.expires_utc)
        == (names.get(row["person_id"]), row["created_utc"], row["expires_utc"])
        and all(row[column] == known.ended.get(column) for column in ("replaced_utc", "revoked_utc"))
        and row["secret_hash"].startswith(known.link)
    )


def _sessions(derived: Derived, rows: list[dict[str, Any]], names: Mapping[int, str]) -> Iterator[Fault]:
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
