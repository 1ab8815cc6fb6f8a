"""For coordinators: set a study up, and see where it stands."""

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labeler.errors import InputError, NotAllowed, StudyError
from labeler.model import Item, Protocol, Role, State, Study, is_storable
from labeler.screen import binning
from labeler.service.data import drawing
from labeler.service.people import identity
from labeler.store import Database, create_database, discard, events, items, labels, studies

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_QUESTION = "Are these ten runs similar?"
MAX_INSTRUCTIONS = 4000
STANDARD_PROTOCOL = Protocol()
AXIS_RULES = binning.AXIS_RULES


@dataclass(frozen=True)
class Progress:
    """How far one reviewer is."""

    reviewer: str
    n_assigned: int
    n_done: int
    n_not_sure: int
    last_answer_utc: str | None


@dataclass(frozen=True)
class Status:
    """A study at a glance."""

    study: Study
    n_items: int
    n_reviewers: int
    n_answers: int
    reviewers: tuple[Progress, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "study": self.study.name,
            "state": self.study.state,
            "items": self.n_items,
            "answers": self.n_answers,
            "plan_hash": self.study.plan_hash,
            "reviewers": [asdict(row) for row in self.reviewers],
        }


def create_study(
    path: Path,
    *,
    name: str,
    question: str,
    coordinator: str,
    protocol: Protocol = STANDARD_PROTOCOL,
    now: datetime,
) -> str:
    """Make a new study file with one coordinator; returns the coordinator's sign-in secret.

    Raises
    ------
    InputError
        If a text is empty, or the protocol cannot be.
    StudyError
        If there is a file already, or none can be made.
    """
    name, question = _described(name, question)
    if not coordinator.strip():
        raise InputError("The coordinator needs a name.")
    coordinator = identity.checked_name(coordinator)  # before there is a file
    _check(protocol)
    db = create_database(path)
    try:
        with db, db.atomic():
            studies.add(db, Study(name, question, State.DRAFT, now.isoformat(), protocol, None, None))
            details = {"name": name, "question": question, **asdict(protocol)}
            events.add(db, now.isoformat(), "owner", "create study", details)
            identity.add_person(db, coordinator, [Role.COORDINATOR], actor="owner", now=now)
            return identity.invite(db, coordinator, Role.COORDINATOR, actor="owner", now=now)
    except BaseException:
        discard(path)
        raise


def get_study(db: Database) -> Study:
    """Name, question, state and plan of the study."""
    return studies.get(db)


def describe_study(db: Database, name: str, question: str, *, actor: str, now: datetime) -> None:
    """Change name and question; the question only while nobody has answered it.

    Raises
    ------
    InputError
        If a text is empty.
    NotAllowed
        If there are answers already and the question would change.
    """
    name, question = _described(name, question)
    with db.atomic():
        before = studies.get(db)
        if question != before.question and labels.n_labels(db):
            raise NotAllowed("Reviewers have answered the question already; it cannot be changed any more.")
        studies.describe(db, name, question)
        events.add(db, now.isoformat(), actor, "describe study", {"name": name, "question": question})


def set_protocol(db: Database, protocol: Protocol, *, actor: str, now: datetime) -> None:
    """Change how items are shown and what is asked; draws all items anew if the axis changes.

    Raises
    ------
    InputError
        If there is no such axis rule, the span is not from 0 to 10, or the instructions are too long.
    NotAllowed
        If there are answers already, and more than nothing would change.
    """
    _check(protocol)
    with db.atomic():
        before = studies.get(db).protocol
        if protocol == before:
            return
        if labels.n_labels(db):
            raise NotAllowed("Reviewers have answered under this protocol already; it cannot be changed any more.")
        studies.set_protocol(db, protocol)
        if (protocol.axis_rule, protocol.min_span) != (before.axis_rule, before.min_span):
            drawing.refresh(db, all_items=True)
        events.add(db, now.isoformat(), actor, "set protocol", asdict(protocol))


def refresh_pictures(db: Database) -> int:
    """Bring what the screen draws to this version, as after an update; how many items it was."""
    with db.atomic():
        return drawing.refresh(db)


def list_items(db: Database) -> list[Item]:
    """Every item of the study."""
    return items.all_items(db)


def status(db: Database) -> Status:
    """Where the study stands and how far everyone is in the round that is on."""
    study = studies.get(db)
    calibrating = study.phase is State.CALIBRATION
    progress = tuple(Progress(*row) for row in labels.progress(db, calibration=calibrating))
    return Status(study, items.n_items(db), len(progress), labels.n_labels(db), progress)


def event_log(db: Database) -> "pd.DataFrame":
    """Who did what when."""
    return events.table(db)


def log_look(db: Database, page: str, *, actor: str, now: datetime) -> None:
    """Keep in the log that somebody looked at what is hidden from pages until the study is unblinded."""
    with db.atomic():
        events.add(db, now.isoformat(), actor, "look", {"at": page, "state": studies.get(db).state})


def back_up(db: Database, target: Path, *, actor: str, now: datetime) -> None:
    """Copy the study into a new file while people go on labelling; raises StudyError if that cannot be written."""
    db.backup(target)
    try:
        with db.atomic():
            events.add(db, now.isoformat(), actor, "backup", {"file": target.name})
    except StudyError as error:
        raise StudyError(f"{target} is a whole copy, but the log of the study does not tell of it: {error}") from error


def _check(protocol: Protocol) -> None:
    if protocol.axis_rule not in binning.AXIS_RULES:
        raise InputError(
            f"There is no axis rule {protocol.axis_rule!r}. Choose one of: {', '.join(binning.AXIS_RULES)}."
        )
    if not 0 <= protocol.min_span <= 10:
        raise InputError(f"The least span of the axis is a share from 0 to 10, got {protocol.min_span}.")
    if not is_storable(protocol.instructions):
        raise InputError("The instructions hold a character that cannot be kept. Paste them as plain text.")
    if len(protocol.instructions) > MAX_INSTRUCTIONS:
        raise InputError(f"The instructions can have {MAX_INSTRUCTIONS} characters, got {len(protocol.instructions)}.")


def _described(name: str, question: str) -> tuple[str, str]:
    name, question = name.strip(), question.strip()
    if not name or not question:
        raise InputError("A study needs a name and a question.")
    if not is_storable(name + question):
        raise InputError("Name or question hold a character that cannot be kept. Paste them as plain text.")
    return name, question
