"""The studies of tests/golden/studies, and what must be true after the current code has opened them.

Each study was created by the code of its version (`scripts/old_studies.py`), which also recorded its content.
"""

import gzip
import json
import re
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from labeler.errors import InputError, LabelerError, SignInFailed
from labeler.model import Category, Role, State, Submission
from labeler.service.labelling import reviewing
from labeler.service.people import identity
from labeler.service.plan import verifying
from labeler.service.results import exchange, written_reports
from labeler.service.study import coordinating
from labeler.store import Database, events, migrations, open_database, people, verdicts
from tests.reliability._ledger import unsound

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "studies"
PLAN = """SELECT p.name, i.name, i.data_hash, a.kind, a.block, a.position, a.code
    FROM assignments a JOIN people p USING (person_id) JOIN items i USING (item_id) ORDER BY a.code"""
# added to reports since then; no result is among them
SAID_SINCE = ("study.excluded_items", "study.calibration_items", "parameters.", "course.")
# was in a report twice and no longer is, and descriptions of classifiers
NOT_KEPT = ("agreement.reviewers", "agreement.by_labels_used", "parameters.classifiers.")
# few items had no interval of Cohen's kappa before its likelihood interval
NO_INTERVAL_THEN = re.compile(r"agreement\.pairs\[\d+\]\.cohen_kappa\.(low|high)$")

Told = dict[str, Any]


@cache
def expected() -> dict[str, Told]:
    """Return the content of each study, as recorded by the code of its version."""
    return json.loads(gzip.decompress((FOLDER / "expected.json.gz").read_bytes()))


def names() -> list[str]:
    """Return the names of all studies, oldest first."""
    return sorted(expected())


def of_older_schemas() -> list[str]:
    """The studies that are migrated when they are opened."""
    return [name for name in names() if expected()[name]["schema"] < len(migrations.MIGRATIONS)]


def unpacked(name: str, folder: Path, *, wal: bool = True) -> Path:
    """Return the study as a file, in the journal mode of a study in use or of a backup."""
    path = folder / f"{name}.study"
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.study.gz").read_bytes()))
    if wal:
        with closing(sqlite3.connect(path)) as file:
            file.execute("PRAGMA journal_mode = WAL")
    return path


# Checks of an opened study: each returns a list of faults.


def lost(db: Database, told: Told) -> list[str]:
    """Content that differs from the record of the code of its version."""
    found = {
        "labels": _rows(exchange.all_answers(db)),
        "verdicts": _rows(verdicts.table(db)),
        "events": _rows(events.table(db))[: len(told["events"])],
        "plan": [list(row) for row in db.execute(PLAN)],
        "status": json.loads(json.dumps(coordinating.status(db).json_values())),
    }
    problems = [f"other {what} than before" for what, rows in found.items() if rows != told[what]]
    if migrations.version(db) != len(migrations.MIGRATIONS):
        problems.append(f"it is of version {migrations.version(db)} still")
    return problems + unsound(db)


def locked_out(db: Database, told: Told) -> list[str]:
    """Sign-in links that behave differently: links of participants must work, and others must be refused."""
    now = datetime.fromisoformat(told["now"]) + timedelta(minutes=1)
    inactive = {person.name for person in people.all_people(db) if not person.active}
    problems = []
    for whose, secret in told["secrets"].items():
        must_fail = whose in inactive or whose.endswith("replaced")
        if _refused(db, secret, now) != must_fail:
            problems.append(f"the link of {whose} {'signs in' if must_fail else 'is refused'}")
    for name, token in told["sessions"].items():
        person = identity.person_of_session(db, token, now=now)
        if person is None or person.name != name:
            problems.append(f"{name} is signed out")
    years_later = now + timedelta(days=4000)
    if _refused(db, told["secrets"]["ada"], years_later) != (told["schema"] >= 3):  # from this version on, links expire
        problems.append("links have another end than they were given with")
    return problems


def _refused(db: Database, secret: str, now: datetime) -> bool:
    try:
        identity.sign_in(db, secret, now=now)
    except SignInFailed:
        return True
    return False


def not_shown(db: Database, told: Told) -> list[str]:
    """Reviewers whose pages do not show their items."""
    labelled = {row[4] for row in told["labels"][1:] if row[7] not in ("adjudicated", "calibration")}
    problems = []
    for person in people.reviewers(db):
        if not person.active:
            continue
        desk, own = reviewing.review_queue(db, person.person_id), reviewing.own_labels(db, person.person_id)
        reviewing.feedback(db, person.person_id)
        pictures = [reviewing.task_data(db, task)["panels"] for task in (*desk.offers, *(label.task for label in own))]
        if not all(pictures) or (person.name in labelled and not own):
            problems.append(f"{person.name} does not see all of their items")
    return problems


def not_verified(db: Database) -> list[str]:
    """Places where the plan does not follow from its seed and the log."""
    return list(verifying.verify_plan(db).problems)


def reported_otherwise(db: Database, told: Told, folder: Path) -> list[str]:
    """Results in the old report that differ now; a report of an unreadable form must be refused with a message."""
    file = folder / "report.json"
    file.write_text(told["report"], encoding="utf-8")
    try:
        found = written_reports.check_study(db, file, actor="owner", now=datetime.fromisoformat(told["now"]))
    except InputError as error:
        known = "resampling" in told["report"]
        return [f"a report of its time is refused: {error}"] if known else []
    of_now = [one for one in found if one.reported is not None or not one.place.startswith(SAID_SINCE)]
    of_then = NOT_KEPT if told["schema"] == 1 else NOT_KEPT[-1:]
    numbers = [
        one
        for one in of_now
        if not one.place.startswith(of_then) and not (one.reported is None and NO_INTERVAL_THEN.match(one.place))
    ]
    return [f"{one.place}: {one.reported!r}, now {one.recomputed!r}" for one in numbers]


def stuck(db: Database, told: Told) -> list[str]:
    """Whether labelling fails in an open study, or is not refused with a message in a closed one."""
    now = datetime.fromisoformat(told["now"]) + timedelta(hours=1)
    n_before, ada = len(exchange.all_answers(db)), people.by_name(db, "ada")
    assert ada is not None
    offers = reviewing.review_queue(db, ada.person_id).offers
    if coordinating.get_study(db).state is not State.OPEN:
        return ["there is something to label in a study that is over"] if offers else []
    task = offers[0]
    sent = Submission("today", task.code, task.revision, Category.SIMILAR, 1000, {}, 2)
    reviewing.submit(db, ada.person_id, sent, now=now)
    problems = [] if len(exchange.all_answers(db)) == n_before + 1 else ["an answer of today is not there"]
    identity.add_person(db, "zoe", [Role.REVIEWER], actor="carol", now=now)
    return problems + not_verified(db)


def not_taken_in(told: Told, folder: Path) -> list[str]:
    """The parts of an old label file that a new study does not import."""
    path, file = folder / "fresh.study", folder / "labels.csv"
    path.unlink(missing_ok=True)
    file.write_text(told["labels_csv"], encoding="utf-8")
    now = datetime.fromisoformat(told["now"])
    coordinating.create_study(path, name="Fresh", question="Alike?", coordinator="owner", now=now)
    with open_database(path) as db:
        exchange.import_label_file(db, file, actor="owner", now=now)
        table = exchange.all_answers(db)
    columns = [
        "item", "reviewer", "revision", "kind", "label", "created_utc", "confidence", "flag", "comment", "event_id",
    ]  # fmt: skip
    before = pd.DataFrame(told["labels"][1:], columns=told["labels"][0])
    return [] if _rows(table[columns]) == _rows(before[columns]) else ["a label file of its time comes in otherwise"]


def _rows(table: pd.DataFrame) -> list[list[Any]]:
    return [list(table.columns), *json.loads(table.to_json(orient="values"))]


def wrong(name: str, folder: Path) -> list[str]:
    told = expected()[name]
    try:
        with open_database(unpacked(name, folder)) as db:
            problems = lost(db, told) + not_verified(db) + locked_out(db, told) + not_shown(db, told)
            problems += reported_otherwise(db, told, folder) + stuck(db, told) + unsound(db)
    except (LabelerError, sqlite3.Error) as error:
        return [f"{type(error).__name__}: {error}"]
    return problems + not_taken_in(told, folder)


def wrong_after(path: Path, name: str) -> list[str]:
    """The data lost after an accident; the file is opened as usual."""
    try:
        with open_database(path) as db:
            return lost(db, expected()[name])
    except (LabelerError, sqlite3.Error) as error:
        return [f"{type(error).__name__}: {error}"]
