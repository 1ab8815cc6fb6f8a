"""Create a study with the question, guide and people of another study."""

import shlex
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from labeler.errors import StudyError
from labeler.program import program
from labeler.studies.course import calibrating, coordinating
from labeler.studies.items import folders
from labeler.studies.people import identity
from labeler.studies.store import Database, actions, events, open_database, people, studies


def make_template(db: Database, path: Path, *, name: str, coordinator: str, actor: str, now: datetime) -> str:
    """Create a study file with the question, protocol, calibration goal and people of this study, and without items.

    People who have left are not copied, and nobody has a sign-in link yet but the coordinator, whose secret is
    returned. The file appears only when it is complete; the logs of both studies record it. Raises InputError if a
    name is invalid. Raises StudyError if the file exists or cannot be written.
    """
    study = studies.get(db)
    try:
        if path.exists():
            raise StudyError(f"{path} already exists. Give the name of a new file.")
        with TemporaryDirectory(prefix=".template-", dir=path.parent) as folder:
            draft = Path(folder) / path.name
            secret = coordinating.create_study(
                draft, name=name, question=study.question, coordinator=coordinator, protocol=study.protocol, now=now
            )
            with open_database(draft) as new, events.by(new, actor, now) as deed:
                n_people = _copy_people(db, new, actor=actor, now=now)
                if study.gate is not None:
                    calibrating.set_gate(new, study.gate, actor=actor, now=now)
                deed.log(actions.TEMPLATE, **{"from": db.path.name}, people=n_people)
            with events.by(db, actor, now) as deed:
                deed.log(actions.TEMPLATE, into=path.name, people=n_people)
                draft.rename(path)
    except OSError as error:
        raise StudyError(f"The new study could not be written to {path}: {error.strerror}.") from error
    return secret


def make_beside(db: Database, name: str, *, coordinator: str, now: datetime) -> tuple[str, str]:
    """Create a study in the folder of this study, as `make_template` does.

    Returns the command that serves the new study, and the sign-in address of its coordinator. Also raises InputError if
    the name is not a valid file name.
    """
    path = folders.path_in_study_folder(db.path, name)
    secret = make_template(db, path, name=path.stem, coordinator=coordinator, actor=coordinator, now=now)
    with open_database(path) as new:
        return f"{program()} serve --study {shlex.quote(str(path))}", identity.sign_in_path(new, secret)


def _copy_people(db: Database, new: Database, *, actor: str, now: datetime) -> int:
    """Add the people who take part, with their roles and e-mail addresses; return how many they are."""
    emails = identity.emails(db)
    takes_part = [person for person in people.all_people(db) if person.active]
    for person in takes_part:
        known = people.by_name(new, person.name)
        for role in sorted(person.roles) if known else ():
            identity.add_role(new, person.name, role, actor=actor, now=now)
        if known is None:
            identity.add_person(new, person.name, person.roles, look_alike=True, actor=actor, now=now)
        if person.name in emails:
            identity.set_email(new, person.name, min(person.roles), emails[person.name], actor=actor, now=now)
    return len(takes_part)
