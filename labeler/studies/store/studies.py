"""Store and read the properties of the study, which are one row of a table."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any

from labeler.errors import NotAStudy
from labeler.studies.model import CalibrationGate, Person, Protocol, Question, State, Study
from labeler.studies.store import people
from labeler.studies.store.database import Database


def add(db: Database, study: Study, *, plan_secret: str) -> None:
    """Store the properties of a new study, with the secret of its plan (see `plan_secret`)."""
    db.execute(
        """INSERT INTO studies (study_id, name, question, state, created_utc, axis_rule, axis_min_span,
                                asks_confidence, shows_numbers, instructions, varies_pictures, picture_secret,
                                plan_secret)
           VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            study.name, study.question.text, study.state, study.created_utc, *astuple(study.protocol),
            secrets.token_hex(32), plan_secret,
        ),
    )  # fmt: skip
    set_question(db, study.question)


def get(db: Database) -> Study:
    """Return the properties of the study; raises NotAStudy if creating the study was interrupted."""
    return _study(_only(db, db.records("SELECT * FROM studies JOIN questions ON question_id = study_id")))


def for_person(db: Database, person_id: int) -> tuple[Study, str, Person | None]:
    """Return the properties of the study, its picture secret, and the person with this id.

    The person is None if there is none. Raises NotAStudy as `get` does.
    """
    rows = db.records(
        f"""SELECT studies.*, questions.*, {people.JOINED} FROM studies JOIN questions ON question_id = study_id
            LEFT JOIN people p ON person_id = ?""",  # noqa: S608 - constants
        (person_id,),
    )
    row = _only(db, rows)
    return _study(row), str(row["picture_secret"]), people.joined(row)


def _only(db: Database, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if not rows:
        raise NotAStudy(
            f"{db.path} contains no study, because creating it was interrupted. Delete the file and create the "
            "study again."
        )
    return rows[0]


def _study(row: Mapping[str, Any]) -> Study:
    protocol = Protocol(
        row["axis_rule"], row["axis_min_span"], bool(row["asks_confidence"]), bool(row["shows_numbers"]),
        row["instructions"], bool(row["varies_pictures"]),
    )  # fmt: skip
    return Study(
        name=row["name"],
        question=Question.of(row["question"], json.loads(row["definition"])),
        state=State(row["state"]),
        created_utc=row["created_utc"],
        protocol=protocol,
        plan_parameters=json.loads(row["plan_parameters"]) if row["plan_parameters"] else None,
        plan_hash=row["plan_hash"],
        resumes_to=State(row["resumes_to"]) if row["resumes_to"] else None,
        gate=CalibrationGate(**json.loads(row["gate"])) if row["gate"] else None,
    )


def picture_secret(db: Database) -> str:
    """Return the random seed from which the pictures of assignments are varied.

    The seed is secret: it is never shown. All copies of a study have the same seed.
    """
    return str(db.execute("SELECT picture_secret FROM studies").fetchone()[0])


def renew_picture_secret(db: Database) -> None:
    """Replace the secret random seed for pictures by a new seed, for a published copy."""
    db.execute("UPDATE studies SET picture_secret = ?", (secrets.token_hex(32),))


def plan_secret(db: Database) -> str:
    """Return the secret from which, together with a seed, plans are computed; all backups of a study have the same one.

    A demo has an empty secret, and so has a copy from which the secret was removed.
    """
    return str(db.execute("SELECT plan_secret FROM studies").fetchone()[0])


def forget_plan_secret(db: Database) -> None:
    """Remove the secret of the plan, for a copy that other people will get."""
    db.execute("UPDATE studies SET plan_secret = ''")


def rename(db: Database, name: str) -> None:
    """Change the name of the study."""
    db.execute("UPDATE studies SET name = ?", (name,))


def set_question(db: Database, question: Question) -> None:
    """Store the question of the study; it replaces an earlier question."""
    db.execute("UPDATE studies SET question = ?", (question.text,))
    definition = json.dumps(question.definition(), ensure_ascii=False)
    db.execute(
        "INSERT OR REPLACE INTO questions (question_id, definition, takes_marks) VALUES (1, ?, ?)",
        (definition, question.is_marked),
    )
    db.execute("DELETE FROM categories")  # triggers compare answers with these names
    db.executemany("INSERT INTO categories (position, name) VALUES (?, ?)", enumerate(question.labels))


def set_protocol(db: Database, protocol: Protocol) -> None:
    """Change the protocol of the study."""
    db.execute(
        """UPDATE studies SET axis_rule = ?, axis_min_span = ?, asks_confidence = ?, shows_numbers = ?,
                              instructions = ?, varies_pictures = ?""",
        astuple(protocol),
    )


def set_plan(db: Database, parameters: Mapping[str, Any], plan_hash: str) -> None:
    """Store the parameters and the hash of the plan."""
    db.execute("UPDATE studies SET plan_parameters = ?, plan_hash = ?", (json.dumps(parameters), plan_hash))


def set_state(db: Database, state: State, resumes_to: State | None = None) -> None:
    """Set the state of the study; `resumes_to` is the state to which a paused study returns."""
    db.execute("UPDATE studies SET state = ?, resumes_to = ?", (state, resumes_to))


def set_gate(db: Database, gate: CalibrationGate | None) -> None:
    """Set the gate of the calibration round, which is the agreement that the round requires."""
    db.execute("UPDATE studies SET gate = ?", (None if gate is None else json.dumps(asdict(gate)),))


def seal_of_secrets(db: Database) -> str:
    """Return a hash of the study's secrets, so that an audit finds changes of the secrets."""
    return hashlib.sha256(f"{picture_secret(db)} {plan_secret(db)}".encode()).hexdigest()
