"""The state of a study that follows from its audit log.

Each action of the log says which of the functions of `LogState` its events call (see `actions`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from labeler.studies.model import PlanParameters

_PROTOCOL = {
    "axis_rule": "axis_rule", "min_span": "axis_min_span", "asks_confidence": "asks_confidence",
    "shows_numbers": "shows_numbers", "instructions": "instructions", "varies_pictures": "varies_pictures",
}  # fmt: skip
_PARAMETERS = frozenset(parameter.name for parameter in fields(PlanParameters))


@dataclass(frozen=True)
class Event:
    """An entry of the audit log, with details of the action."""

    at_utc: str
    actor: str
    action: str
    details: Mapping[str, Any]


@dataclass
class _Person:
    person_id: int
    name: str
    created_utc: str
    roles: set[str]
    active: bool = True
    paused: bool = False
    email: str | None = None
    has_left: bool = False  # whether the person was removed after they were last paused

    def columns(self) -> dict[str, Any]:
        return {
            "person_id": self.person_id, "name": self.name, "created_utc": self.created_utc, "email": self.email,
            "is_reviewer": int("reviewer" in self.roles), "is_coordinator": int("coordinator" in self.roles),
            "active": int(self.active), "paused": int(self.paused),
        }  # fmt: skip


@dataclass
class LoggedInvitation:
    """An invitation as the log tells it, with the name of its person."""

    name: str
    created_utc: str
    expires_utc: str
    replaced_utc: str | None = None
    revoked_utc: str | None = None


class LogState:
    """The state of a study according to its log; each event changes it."""

    def __init__(self) -> None:
        self.study: dict[str, Any] = {}
        self.definition: dict[str, Any] = {}  # of the question
        self.people: dict[str, _Person] = {}
        self.knows_people = True  # false in a copy without names, whose log does not say who was added
        self.excluded: dict[str, str] = {}
        # The seal of the reference labels; empty in a copy without names, whose log has no seal.
        self.reference: dict[str, Any] = {"seal": None}
        self.files: dict[str, dict[str, Any]] = {}  # sha256 -> file_id, name and time
        self.file_of: dict[str, tuple[str, str]] = {}  # item -> sha256 of its file, and time
        self.invitations: dict[str, LoggedInvitation] = {}  # by the hash of the secret
        self.sessions: dict[str, dict[str, Any]] = {}  # hash of the session -> name of the person, and time

    def person(self, event: Event, key: str = "name") -> _Person | None:
        """Return the person whom an event names; return None in a copy without names."""
        return self.people.get(str(event.details.get(key)).casefold()) if self.knows_people else None

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
        parameters = {key: value for key, value in event.details.items() if key in _PARAMETERS}
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

    def exclude(self, event: Event) -> None:
        """Exclude an item."""
        self.excluded[event.details["item"]] = event.details["why"]

    def include(self, event: Event) -> None:
        """Include an item again."""
        self.excluded.pop(event.details["item"], None)

    def add_person(self, event: Event) -> None:
        """Add a person."""
        if "name" not in event.details:
            self.knows_people = False
            return
        self._add_person(event.details["name"], event.at_utc, event.details["roles"])

    def import_labels(self, event: Event) -> None:
        """Add the reviewers of imported labels."""
        for name in event.details["reviewers"]:
            self._add_person(name, event.at_utc, ["reviewer"])

    def _add_person(self, name: str, at_utc: str, roles: Iterable[str]) -> None:
        self.people[name.casefold()] = _Person(len(self.people) + 1, name, at_utc, set(roles))

    def add_role(self, event: Event) -> None:
        """Give a person one more role."""
        person = self.person(event)
        if person is not None:
            person.roles.add(event.details["role"])

    def pause(self, event: Event) -> None:
        """Pause a reviewer."""
        person = self.person(event)
        if person is not None:
            person.active, person.paused, person.has_left = True, True, False

    def resume(self, event: Event) -> None:
        """Let a reviewer continue."""
        person = self.person(event)
        if person is not None:
            person.active, person.paused = True, False

    def leave(self, event: Event) -> None:
        """Remove a reviewer, who stays if also a coordinator."""
        person = self.person(event)
        if person is not None:
            person.active = person.paused = "coordinator" in person.roles
            person.has_left = True

    def replace(self, event: Event) -> None:
        """Remove a reviewer; the successor takes part."""
        self.leave(event)
        heir = self.person(event, "successor")
        if heir is not None:
            heir.active, heir.paused = True, heir.paused and heir.active and not heir.has_left

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
        self.invitations[details["link"]] = LoggedInvitation(details["name"], event.at_utc, details["expires"])

    def revoke(self, event: Event) -> None:
        """Revoke the invitations and the e-mail address of a person, and end the person's sessions."""
        self._end_invitations(event, "revoked_utc")
        name = event.details.get("name")
        self.sessions = {key: session for key, session in self.sessions.items() if session["name"] != name}
        person = self.person(event)
        if person is not None:
            person.email = None

    def _end_invitations(self, event: Event, column: str) -> None:
        for invitation in self.invitations.values():
            is_open = invitation.replaced_utc is None and invitation.revoked_utc is None
            if invitation.name == event.details.get("name") and is_open:
                setattr(invitation, column, event.at_utc)

    def sign_in(self, event: Event) -> None:
        """Add a session."""
        if "session" not in event.details:  # a copy without names has no sessions
            return
        self.sessions[event.details["session"]] = {"name": event.actor, "created_utc": event.at_utc}

    def sign_out(self, event: Event) -> None:
        """End a session."""
        self.sessions.pop(event.details.get("session", ""), None)

    def import_file(self, event: Event) -> None:
        """Add the files of an import, and the items that came from the first file."""
        if "files" not in event.details:  # a copy without the names of benchmarks has no files
            return
        for name, sha256 in event.details["files"]:
            file_id = max((file["file_id"] for file in self.files.values()), default=0) + 1
            self.files[sha256] = {"file_id": file_id, "name": name, "imported_utc": event.at_utc}
        self.file_of |= dict.fromkeys(event.details["items"], (event.details["sha256"], event.at_utc))

    def remove_import(self, event: Event) -> None:
        """Forget the files and items of an import that was taken back."""
        if "files" not in event.details:
            return
        for _, sha256 in event.details["files"]:
            self.files.pop(sha256, None)
        for name in event.details["items"]:
            self.file_of.pop(name, None)
            self.excluded.pop(name, None)
