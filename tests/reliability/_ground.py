"""Basis of the access cases: a study with people of every kind, its server, and everything that the server sent."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from labeler.studies.course import coordinating
from labeler.studies.labelling import reviewing
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import Database, open_database, people
from labeler.studies.ui.served import SESSION_COOKIE
from tests.browser import studies
from tests.browser.conftest import free_port, path_of, start_server, stop_server, welcome
from tests.making import series
from tests.performance.wire import origin_of
from tests.reliability._window import LOOPBACK, Reply, ask
from tests.reliability.cases import Room, Tally

COORDINATOR, OWN, OTHER = "carol", "ada", "ben"
PAUSED, REMOVED, REVOKED = "dan", "eve", "fay"  # their fate while their windows are open
LEFT = "gus"
REVIEWERS = (OWN, OTHER, "cleo", PAUSED, REMOVED, REVOKED, LEFT)
EMAILS = {OWN: "ada.lovelace@example.org", COORDINATOR: "carol@example.org"}
APPLICATIONS = ("hidden-org/secret-store", "other-org/quiet-queue")
BESIDE, BESIDE_ITEM = "Study beside this one", "third-org__neighbour#bench.Beside"
HIDDEN = (*APPLICATIONS, "hidden-org__", "other-org__", "Covert", "volume=", BESIDE, BESIDE_ITEM)
N_ITEMS = 70
REPOSITORY = Path(__file__).parents[2]

Rows = list[tuple[Any, ...]]


def name_of(number: int) -> str:
    return f"{APPLICATIONS[number % 2].replace('/', '__')}#bench.Covert{number}#volume={number}"


@dataclass
class Ground:
    """A study, the server that shows it at `url`, and the data that must not appear anywhere in plain text.

    The server also has another study, at `beside_url`, in which the same people have the same numbers.

    `private` has the sign-in secrets and session ids that were given out, `wrong` the failed secrets.
    """

    study: Path
    url: str
    secrets: dict[str, str]
    process: subprocess.Popen[bytes]
    beside_url: str
    beside_secrets: dict[str, str]
    private: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    quick: bool = False
    tally: Tally = field(default_factory=Tally)  # of the attack that is being tried

    def begin(self) -> None:
        """Start the server again if it was stopped."""
        if self.process.poll() is not None:
            self.process = _serve(self.study, int(self.origin.rpartition(":")[2]))

    def stop(self) -> None:
        if self.process.poll() is None:
            stop_server(self.process)

    @property
    def cookie(self) -> str:
        return f"{SESSION_COOKIE}_{self.url.rpartition('/')[2]}"

    @property
    def origin(self) -> str:
        """The site of the server: scheme, host and port."""
        return origin_of(self.url)

    @property
    def folder(self) -> Path:
        return self.study.parent

    @property
    def output(self) -> Path:
        """Everything that the server wrote to standard output and standard error."""
        return self.folder / "output.txt"

    @cached_property
    def ids(self) -> dict[str, int]:
        return dict(self.rows("SELECT name, person_id FROM people"))

    def mark(self, name: str) -> str:
        """Return the name under which a browser stores a person's answers."""
        with open_database(self.study) as db:
            return reviewing.browser_mark(reviewing.desk(db, self.ids[name])).reviewer

    def sign_in(self, name: str, *, source: str = LOOPBACK, cookie: str = "", beside: bool = False) -> str:
        """The cookie of a new session, even if a cookie of another person is present; perhaps in the other study."""
        form = {"Cookie": cookie, "Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"}
        url, secrets = (self.beside_url, self.beside_secrets) if beside else (self.url, self.secrets)
        body = f"link={secrets[name]}&instead=yes".encode()
        answer = ask(url, "POST", "/sign-in", headers=form, body=body, source=source)
        given = session_of(answer)
        if not given:
            raise RuntimeError(f"{name} was not signed in: status {answer.status}")
        self.private.append(given.partition("=")[2])
        return given

    def rows(self, query: str, *values: object) -> Rows:
        """Return the rows of a query on the study file, read-only."""
        with closing(sqlite3.connect(f"file:{self.study}?mode=ro", uri=True)) as file:
            return file.execute(query, values).fetchall()

    def everything(self, *without: str) -> dict[str, Rows]:
        """Return all rows of all tables except those named."""
        tables = [str(name) for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: self.rows(f"SELECT * FROM {name}") for name in tables if name not in without}

    def answers(self) -> Rows:
        """The rows (label, event, person, code, revision, answer, dwell, comment, view) in the order of saving."""
        return self.rows(
            """SELECT label_id, event_id, person_id, code, revision, answer, dwell_ms, comment, view
               FROM labels JOIN assignments USING (assignment_id) ORDER BY label_id"""
        )

    def leaks(self, text: bytes, *, person: str = "") -> list[str]:
        """The forbidden data for non-coordinators in this text; `person` may read their own name."""
        others = {COORDINATOR, *REVIEWERS} - {person}
        words = [*HIDDEN, *EMAILS.values(), str(self.folder), str(REPOSITORY), "site-packages", "Traceback (most"]
        private = [*self.secrets.values(), *self.private]
        found = [word for word in (*words, *private) if word.encode() in text]
        return found + [name for name in others if f'"{name}"'.encode() in text or f"**{name}**".encode() in text]


def session_of(answer: Reply) -> str:
    """The session cookie that a response sets, as a browser returns it; empty if there is none."""
    cookies = [value.partition(";")[0] for name, value in answer.headers if name == "set-cookie"]
    return next((cookie for cookie in cookies if cookie.startswith(SESSION_COOKIE) and len(cookie) > 30), "")


@contextmanager
def ground(room: Room) -> Iterator[Ground]:
    """Create and serve the study, with the folders `results` (for imports) and `here` (the working directory)."""
    folder = room.new_folder()
    for name in ("results", "here", "home"):
        (folder / name).mkdir()
    study, port = folder / "access.study", free_port()
    secrets, beside = _make(study), study.with_name("beside.study")
    studies.make(beside, {BESIDE_ITEM: series(0)}, reviewers=REVIEWERS)
    with open_database(beside) as db:
        coordinating.describe_study(db, BESIDE, studies.QUESTION, actor=COORDINATOR, now=datetime.now(UTC))
        there = _invited(db)
    process, origin = _serve(study, port), f"http://{LOOPBACK}:{port}"
    one = Ground(study, origin + path_of(study), secrets, process, origin + path_of(beside), there, quick=room.quick)
    try:
        yield one
    finally:
        one.stop()


@contextmanager
def served_to_all(room: Room) -> Iterator[Ground]:
    """The scene of an attack: one server for all of them."""
    one = room.shared(ground)
    one.tally = Tally()
    one.begin()
    yield one


@contextmanager
def stopped(room: Room) -> Iterator[Ground]:
    """The scene of a search for traces: the server has stopped."""
    one = room.shared(ground)
    one.tally = Tally()
    one.stop()
    yield one


def _make(study: Path) -> dict[str, str]:
    """Return the secrets of the links by name."""
    items = {name_of(number): series(number) for number in range(N_ITEMS)}
    studies.make(study, items, reviewers=REVIEWERS)
    now = datetime.now(UTC)
    with open_database(study) as db:
        for name, email in EMAILS.items():
            role = Role.COORDINATOR if name == COORDINATOR else Role.REVIEWER
            identity.set_email(db, name, role, email, actor=COORDINATOR, now=now)
        secrets = _invited(db)
        welcome(db)
        return secrets


def _invited(db: Database) -> dict[str, str]:
    now = datetime.now(UTC)
    return {
        person.name: identity.invite(db, person.name, min(person.roles), actor=COORDINATOR, now=now)
        for person in people.all_people(db)
    }


def _serve(study: Path, port: int) -> subprocess.Popen[bytes]:
    folder = study.parent
    environment = os.environ | {"LABELER_IMPORT_ROOT": str(folder / "results"), "HOME": str(folder / "home")}
    with (folder / "output.txt").open("ab") as out:
        return start_server(folder, port, cwd=folder / "here", env=environment, stdout=out, stderr=subprocess.STDOUT)
