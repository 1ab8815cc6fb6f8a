"""The demo study: really measured benchmarks, four reviewers, a plan, verdicts; nothing is labelled yet."""

from datetime import datetime
from pathlib import Path

from labeler.errors import Refused
from labeler.formats import Source
from labeler.model import PlanParameters, Role
from labeler.service.data import importing
from labeler.service.people import identity
from labeler.service.plan import assigning, coordinating
from labeler.service.verdicts import computing
from labeler.store import Database, open_database

COORDINATOR = "coordinator"
REVIEWERS = ("ada", "ben", "cleo", "dan")
PARAMETERS = PlanParameters(seed=2026, overlap=0.2, retest=0)


def build(path: Path, measurements: Path, *, advance: computing.Advance, now: datetime) -> None:
    """Make the demo study in a new file.

    Parameters
    ----------
    path : Path
        Where; must not exist.
    measurements : Path
        The table that comes with the package.
    advance : callable
        (items done, items in all) while verdicts are computed.
    now : datetime

    Raises
    ------
    StudyError
        If the file exists or cannot be made.
    """
    coordinating.create_study(
        path, name="Demo study", question=coordinating.DEFAULT_QUESTION, coordinator=COORDINATOR, now=now
    )
    with open_database(path) as db:
        for result in importing.import_files(db, [Source(measurements.name, measurements)], actor="demo", now=now):
            if result.refused:
                raise Refused(result.file, result.refused)
        for name in REVIEWERS:
            identity.add_person(db, name, [Role.REVIEWER], actor="demo", now=now)
        assigning.confirm_plan(db, PARAMETERS, actor="demo", now=now)
        computing.compute_verdicts(db, advance=advance, actor="demo")


def invitations(db: Database, *, now: datetime) -> dict[str, str]:
    """A fresh sign-in secret for the coordinator and every reviewer of a study, by name."""
    secrets = {}
    for person in identity.everyone(db):
        role = Role.COORDINATOR if Role.COORDINATOR in person.roles else Role.REVIEWER
        secrets[person.name] = identity.invite(db, person.name, role, actor="demo", now=now)
    return secrets
