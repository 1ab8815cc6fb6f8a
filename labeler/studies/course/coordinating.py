"""Functions for coordinators: create a study, change its settings, read its status, and back it up."""

import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.text import joined
from labeler.errors import InputError, NotAllowed, StudyError
from labeler.studies.items import drawing
from labeler.studies.model import AXIS_RULES, Item, Protocol, Question, Role, State, Study
from labeler.studies.people import identity
from labeler.studies.questions import SIMILAR, read_question
from labeler.studies.screen.kinds import KINDS, QUESTIONS, kind_of
from labeler.studies.store import (
    Database,
    actions,
    chain,
    copies,
    create_database,
    discard,
    events,
    items,
    labels,
    people,
    studies,
)
from labeler.text import is_storable

if TYPE_CHECKING:
    import pandas as pd

MAX_INSTRUCTIONS, MAX_STUDY_NAME = 4000, 300
STANDARD_PROTOCOL = Protocol()


@dataclass(frozen=True)
class Progress:
    """The progress of one reviewer in the current round."""

    reviewer: str
    n_assigned: int
    n_done: int
    n_not_sure: int
    last_answer_utc: str | None


@dataclass(frozen=True)
class Status:
    """A summary of a study: its state, the numbers of items, people and answers, and the progress of reviewers."""

    study: Study
    n_items: int
    n_reviewers: int  # without those who have left
    n_answers: int
    reviewers: tuple[Progress, ...]

    def json_values(self) -> dict[str, Any]:
        """Return the status as values that can be written as JSON."""
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
    question: str | Question = SIMILAR,
    coordinator: str,
    protocol: Protocol = STANDARD_PROTOCOL,
    plan_secret: str | None = None,
    now: datetime,
) -> str:
    """Create a study file with one coordinator; return the sign-in secret of the coordinator.

    A text as the question asks the built-in question *similar* in other words. By default, the study gets a random
    secret, so that nobody can compute its plan from the seed alone. Raises InputError if a text is empty, or the
    protocol is invalid. Raises StudyError if the file already exists or cannot be created.
    """
    name, question = _described(name, question if isinstance(question, Question) else replace(SIMILAR, text=question))
    if not coordinator.strip():
        raise InputError("Give the coordinator a name.")
    coordinator = identity.checked_name(coordinator)  # checked before the file is created
    _check(protocol)
    db = create_database(path)
    try:
        with db, events.by(db, "owner", now) as deed:
            study = Study(name, question, State.DRAFT, deed.at_utc, protocol, None, None)
            studies.add(db, study, plan_secret=secrets.token_hex(16) if plan_secret is None else plan_secret)
            details = {**logged_question(question), **asdict(protocol), "secrets": studies.seal_of_secrets(db)}
            deed.log(actions.CREATE_STUDY, name=name, **details)
            identity.add_person(db, coordinator, [Role.COORDINATOR], actor=deed.actor, now=now)
            return identity.invite(db, coordinator, Role.COORDINATOR, actor=deed.actor, now=now)
    except BaseException:
        discard(path)
        raise


def address(db: Database) -> str | None:
    """Return the address with which sign-in links of the study begin; None if no command has set one."""
    set_by = events.of_actions(db, [actions.SET_ADDRESS])
    return str(set_by[-1].details["url"]) if set_by else None


def set_address(db: Database, url: str, *, actor: str, now: datetime) -> None:
    """Keep the address with which sign-in links of the study begin."""
    if url != address(db):
        with events.by(db, actor, now) as deed:
            deed.log(actions.SET_ADDRESS, url=url)


def question_from(text: str) -> Question:
    """Return the question that a name, the path of a question file, or a text means.

    A text that is neither a built-in name nor a file asks the built-in question *similar* in these words. Raises
    InputError that names file, line and key if the file cannot be read or describes no question.
    """
    if text in QUESTIONS:
        return QUESTIONS[text]
    path = Path(text)
    try:
        if path.suffix != ".toml" and not path.is_file():
            return replace(SIMILAR, text=text)
        question = read_question(path.read_text(encoding="utf-8-sig"), text, KINDS)
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is not UTF-8 text.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        names = ", ".join(QUESTIONS)
        raise InputError(f"{text}: {reason}. Give a question file, or the name of a question: {names}.") from None
    series = [name for name, kind in KINDS.items() if kind.is_series]
    if question.is_marked and question.shows not in series:
        raise InputError(f"{text}: points can be marked only if shows is {joined(series, 'or')}, not {question.shows}.")
    return question


def logged_question(question: Question) -> dict[str, Any]:
    """Return the question as the log records it: its text and its definition."""
    return {"question": question.text, "definition": question.definition()}


def get_study(db: Database) -> Study:
    """Return the properties of the study, such as name, question, state and plan parameters."""
    return studies.get(db)


def describe_study(db: Database, name: str, question: str | Question, *, actor: str, now: datetime) -> None:
    """Change the name and the question of the study; a text only changes the words of the question.

    The question can be changed only before the first answer, and its categories only before the plan. The words of an
    own question can be changed until the study opens. Raises InputError if a text is empty, and NotAllowed if the
    question is different from the current question and can no longer be changed.
    """
    with events.by(db, actor, now) as deed:
        study = studies.get(db)
        before = study.question
        name, described = _described(
            name, question if isinstance(question, Question) else replace(before, text=question)
        )
        if described.hash != before.hash:
            _check_change(db, study, described)
        studies.rename(db, name)
        studies.set_question(db, described)
        deed.log(actions.DESCRIBE_STUDY, name=name, **logged_question(described))


def finish_by(db: Database) -> date | None:
    """Return the day by which reviewers are asked to finish; return None if there is none."""
    asked = events.of_actions(db, [actions.FINISH_BY])
    return date.fromisoformat(asked[-1].details["day"]) if asked and asked[-1].details["day"] else None


def set_finish_by(db: Database, day: date | None, *, actor: str, now: datetime) -> None:
    """Ask reviewers to finish by a day, which invitations and the first page of reviewers say; None removes the day."""
    with events.by(db, actor, now) as deed:
        if finish_by(db) != day:
            deed.log(actions.FINISH_BY, day=day.isoformat() if day else "")


def set_protocol(db: Database, protocol: Protocol, *, actor: str, now: datetime) -> None:
    """Change the protocol, which contains the instructions and display options for reviewers.

    If the axis changes, the pictures of all items are computed again. Raises InputError if there is no such axis rule,
    the span is not from 0 to 10, or the instructions are too long. Raises NotAllowed if reviewers have already answered
    and the protocol is different from the current protocol.
    """
    _check(protocol)
    with events.by(db, actor, now) as deed:
        before = studies.get(db).protocol
        if protocol == before:
            return
        if labels.n_labels(db):
            raise NotAllowed("Reviewers have already answered under this protocol, so it can no longer be changed.")
        studies.set_protocol(db, protocol)
        if (protocol.axis_rule, protocol.min_span) != (before.axis_rule, before.min_span):
            drawing.refresh(db)
        deed.log(actions.SET_PROTOCOL, **asdict(protocol))


def refresh_pictures(db: Database, *, pause: Callable[[], None] = lambda: None) -> int:
    """Compute stored pictures again that another version of labeler computed; return the number of updated items.

    Each item is updated in a short transaction, and `pause` is called after each item, so that pages do not have to
    wait for all items. A page that shows an item before its update computes the picture itself.
    """
    n_updated = 0
    for item_id in drawing.stale(db):
        n_updated += drawing.renew(db, item_id)
        pause()
    return n_updated


def list_items(db: Database) -> list[Item]:
    """Return all items of the study."""
    return items.all_items(db)


def status(db: Database) -> Status:
    """Return the status of the study, with the progress of each reviewer in the current round."""
    study = studies.get(db)
    calibrating = study.phase is State.CALIBRATION
    progress = tuple(Progress(*row) for row in labels.progress(db, calibration=calibrating))
    n_reviewers = sum(person.active for person in people.reviewers(db))
    return Status(study, items.n_items(db), n_reviewers, labels.n_labels(db), progress)


def event_log(db: Database) -> "pd.DataFrame":
    """Return the audit log as a table: all events with time, person, action and details."""
    return events.table(db)


def log_look(db: Database, page: str, *, actor: str, now: datetime) -> None:
    """Record in the log that a person looked at results that pages hide before the study is unblinded."""
    with events.by(db, actor, now) as deed:
        deed.log(actions.LOOK, at=page, state=studies.get(db).state)


def back_up(db: Database, target: Path, *, actor: str, now: datetime) -> str:
    """Copy the study to a new file, and return the end of the copy's hash chain; reviewers can continue to label.

    The log of the study records the backup. The log of the copy does not. Raises StudyError if writing fails.
    """
    db.backup(target)
    with copies.read_only(target) as copy:
        end = str(chain.head(copy))
    try:
        with events.by(db, actor, now) as deed:
            deed.log(actions.BACKUP, file=target.name)
    except StudyError as error:
        raise StudyError(
            f"{target} is a complete backup, but the log of the study could not record it: {error}"
        ) from error
    return end


def _check(protocol: Protocol) -> None:
    if protocol.axis_rule not in AXIS_RULES:
        raise InputError(f"There is no axis rule {protocol.axis_rule!r}. Choose one of: {', '.join(AXIS_RULES)}.")
    if not 0 <= protocol.min_span <= 10:
        raise InputError(f"The minimum span of the axis must be a number from 0 to 10, not {protocol.min_span}.")
    if not is_storable(protocol.instructions):
        raise InputError(
            "The instructions contain a character that cannot be stored. Paste the instructions as plain text."
        )
    if len(protocol.instructions) > MAX_INSTRUCTIONS:
        raise InputError(
            f"The instructions have {len(protocol.instructions)} characters. They can have at most {MAX_INSTRUCTIONS}."
        )


def _check_change(db: Database, study: Study, question: Question) -> None:
    """Raise NotAllowed if the question can no longer be changed to this question."""
    way_on = "To ask another question, create a new study: labeler init --question FILE"
    if labels.n_labels(db):
        raise NotAllowed(f"Reviewers have already answered the question, so it can no longer be changed. {way_on}")
    if question.shows != study.question.shows and items.n_items(db):
        raise NotAllowed(
            f"The items of this study show {kind_of(study.question).shows}, so only a question about such items can be "
            f"asked. {way_on}"
        )
    if study.plan_hash is not None and question.definition() != study.question.definition():
        raise NotAllowed(f"The plan is made for this question, so only its words can be changed. {way_on}")
    if study.question.definition() != SIMILAR.definition() and study.phase not in (State.DRAFT, State.CALIBRATION):
        raise NotAllowed(f"The study is open, so the question can no longer be changed. {way_on}")


def _described(name: str, question: Question) -> tuple[str, Question]:
    name, question = name.strip(), replace(question, text=question.text.strip())
    if not name or not question.text:
        raise InputError("A study needs a name and a question.")
    if question.blind_side and kind_of(question).swapped is None:
        raise InputError(
            f"blind_side = true needs items with two sides, but each item shows {kind_of(question).shows}."
        )
    if len(name) > MAX_STUDY_NAME or len(question.text) > MAX_INSTRUCTIONS:
        raise InputError(
            f"The name of a study can have at most {MAX_STUDY_NAME} characters, and the question {MAX_INSTRUCTIONS}."
        )
    if not is_storable(name + question.text):
        raise InputError("The name or question contains a character that cannot be stored. Paste both as plain text.")
    return name, question
