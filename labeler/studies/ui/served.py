"""The studies of this server, each with an address, limits, turns and threads of its own.

A study that is damaged, locked or missing delays only people of the same study.
"""

import asyncio
import hmac
import logging
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

from labeler.errors import LabelerError, StudyBusy
from labeler.safe_text import one_line
from labeler.studies import cache
from labeler.studies.demo import DemoLinks
from labeler.studies.items.folders import STUDY_ENDING
from labeler.studies.model import Person
from labeler.studies.people import identity
from labeler.studies.store import Database, open_database
from labeler.studies.ui.turns import N_PAGES, N_PAGES_WAITING_EACH, Turns

SCOPE = "labeler.study"  # key in the scope of a request: the study to which its address belongs
SESSION = re.compile("[A-Za-z0-9_-]{43}")  # the form of a session id; nothing else is looked up or kept
SESSION_COOKIE = "labeler_session"  # the id of the study follows
STUDIES_COOKIE = "labeler_studies"  # the ids of the studies to which a browser was signed in; no secret
START_COOKIE = "labeler_start"  # of a browser that may create studies
MAX_KNOWN = 50  # studies of one browser
STUDY_ID = re.compile("[0-9a-f]{12}")
PERSON_HEADER = "x-labeler-person"  # the ids of study and person; the gate sets it, so a browser cannot
N_THREADS = 16  # of one study: for requests of the review component, and to look up who is signed in
LOOK_EVERY_S = 1.0  # between two looks into a folder of studies
P = ParamSpec("P")
T = TypeVar("T")
Stamp = tuple[int, int, int, int]  # device, inode, time of the last change in ns, and size
log = logging.getLogger(__name__)


@dataclass(eq=False)
class ServedStudy:
    """A study of this server."""

    study_id: str
    path: Path
    demo_links: DemoLinks = field(default_factory=DemoLinks)
    is_alone: bool = True  # whether the server has no other study
    prefetches: bool = True  # whether the pages are prepared when the first coordinator has opened one
    # Page runs that have the study open at the same time. Each needs three files and processor time. Labels need no
    # page run; with more page runs, two hundred people who sign in at once would delay all labels for seconds.
    page_turns: Turns = field(default_factory=lambda: Turns(N_PAGES, N_PAGES_WAITING_EACH))
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(N_THREADS, "labeler-requests"))
    _parts: dict[Any, Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def base(self) -> str:
        """The path of the study, with which the paths of all its pages begin."""
        return identity.path_of_study(self.study_id)

    @property
    def cookie(self) -> str:
        """The name of the session cookie, which also has the path of the study."""
        return f"{SESSION_COOKIE}_{self.study_id}"

    def session_of(self, cookies: Mapping[str, str]) -> str | None:
        """Return the session id from the cookies; return None if there is none, or it is no session id."""
        session = cookies.get(self.cookie)
        return session if session and SESSION.fullmatch(session) else None

    def open(self) -> Database:
        """Open the study; raises the same errors as `open_database`."""
        return open_database(self.path)

    def part(self, make: "Callable[[ServedStudy], T]") -> T:
        """Return what a part of the server keeps for this study; the first call makes it."""
        with self._lock:
            if make not in self._parts:
                self._parts[make] = make(self)
            kept: T = self._parts[make]
            return kept

    async def in_thread(self, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step in a thread of this study."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: step(*args, **kwargs))

    async def reply_in_thread(self, steps: Iterator[T]) -> T:
        """Return the first value of a generator, which then goes on in its thread, such as to close the study."""
        reply = Future[T]()

        def run() -> None:
            if not reply.set_running_or_notify_cancel():
                return
            try:
                reply.set_result(next(steps))
            except BaseException as error:  # noqa: BLE001 - raised where the reply is awaited
                reply.set_exception(error)
            for _ in steps:
                pass

        self._pool.submit(run)
        return await asyncio.wrap_future(reply)


class ServedStudies:
    """All studies of a server: some files, or the study files in a folder.

    Studies keep their addresses while the server runs, also if the file is missing for a while.
    """

    def __init__(self, files: Iterable[ServedStudy] = (), *, folder: Path | None = None) -> None:
        self.folder = folder
        self.address: str | None = None  # the address of the server for other computers, if it is known
        # who has it can create studies in the folder
        self.start_secret = secrets.token_urlsafe(24) if folder is not None else ""
        self._by_id = {study.study_id: study for study in files}
        self._seen: dict[Path, Stamp] = {}  # the files that were read, or cannot be served as they are now
        self._lock = threading.Lock()
        for study in self.all():
            study.is_alone = self.only() is study
        self.look()

    def find(self, study_id: str) -> ServedStudy | None:
        """Return the study with this id, without reading any file."""
        return self._by_id.get(study_id)

    def all(self) -> list[ServedStudy]:
        """Return all studies, in the order in which they were found."""
        return list(self._by_id.values())

    def only(self) -> ServedStudy | None:
        """Return the study of a server that has only one file; return None for a folder, and for several files."""
        return next(iter(self._by_id.values())) if self.folder is None and len(self._by_id) == 1 else None

    def may_create(self, cookies: Mapping[str, str]) -> bool:
        """Return whether a browser has opened the start link of this server."""
        given = cookies.get(START_COOKIE, "")
        return bool(self.start_secret) and hmac.compare_digest(given.encode(), self.start_secret.encode())

    def at(self, path: str) -> tuple[ServedStudy | None, str]:
        """Split the path of a request into its study and the path within the study, which is "" without a slash."""
        prefix = identity.path_of_study("")
        if not path.startswith(prefix):
            return None, path
        study_id, slash, rest = path.removeprefix(prefix).partition("/")
        return self.find(study_id), f"{slash}{rest}"

    def look(self) -> None:
        """Find new, changed and renamed studies in the folder; log which files cannot be served."""
        if self.folder is None:
            return
        with self._lock:
            found = []
            for path in sorted(self.folder.glob(f"*{STUDY_ENDING}")):
                stamp = _stamp(path)
                if stamp is None or self._seen.get(path) == stamp:
                    continue
                try:
                    with open_database(path) as db:
                        study_id, n_links = identity.study_id(db), identity.n_links(db)
                except StudyBusy:
                    continue  # the next look tries again
                except LabelerError as error:
                    log.warning("%s", one_line(f"{path.name} is not served: {error}"))
                    self._seen[path] = stamp
                    continue
                self._seen[path] = stamp
                found.append((-n_links, path, study_id))
            for _n_links, path, study_id in sorted(found):  # of several copies, the one with the longest log
                self._found(study_id, path)

    def watch(self) -> None:
        """Look into the folder until the process ends, in the background."""
        if self.folder is not None:
            threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        wait = threading.Event()
        while not wait.wait(LOOK_EVERY_S):
            try:
                self.look()
            except OSError as error:
                log.warning("%s", one_line(f"The folder of studies cannot be read: {error}."))

    def _found(self, study_id: str, path: Path) -> None:
        for other in self.all():
            if other.path == path and other.study_id != study_id:
                log.warning("%s", one_line(f"{path.name} was replaced by another study."))
                cache.forget(path)
                del self._by_id[other.study_id]
        known = self.find(study_id)
        if known is None:
            self._by_id[study_id] = ServedStudy(study_id, path, is_alone=False)
        elif known.path != path and _is_renamed(self._seen.get(known.path), path, known.path):
            log.warning("%s", one_line(f"{known.path.name} was renamed to {path.name}."))
            cache.forget(known.path)
            known.path = path
        elif known.path != path:
            log.warning(
                "%s",
                one_line(
                    f"{path.name} is not served, because it is a copy of the study {known.path.name}. Move it away."
                ),
            )


_of_pages = ServedStudies()  # the studies of this process, for page runs


def use_in_pages(studies: ServedStudies) -> None:
    """Let page runs find these studies."""
    global _of_pages  # Streamlit offers page runs no other way to the server
    _of_pages = studies


def person_header(study: ServedStudy, person: Person) -> str:
    """Return the value of `PERSON_HEADER`, which no two people of a server share."""
    return f"{study.study_id} {person.person_id}"


def may_create(cookies: Mapping[str, str]) -> bool:
    """Return whether a page may create a study: on a server of a folder, only for the holder of the start link."""
    return _of_pages.folder is None or _of_pages.may_create(cookies)


def address_for_others(asked: str) -> str:
    """Return the address of the server in links for others; by default the site that the browser asked for."""
    parts = urlsplit(asked)
    return (_of_pages.address or f"{parts.scheme}://{parts.netloc}").rstrip("/")


def serves_folder() -> bool:
    """Return whether a study that is created in the folder of another one is served, too."""
    return _of_pages.folder is not None


def studies_in(cookies: Mapping[str, str]) -> list[str]:
    """Return the ids of the studies to which a browser was signed in, latest first; whether it still is, is unknown."""
    ids = cookies.get(STUDIES_COOKIE, "").split(".")
    return [study_id for study_id in ids[:MAX_KNOWN] if STUDY_ID.fullmatch(study_id)]


def of_window(headers: Mapping[str, str]) -> ServedStudy | None:
    """Return the study to which a window belongs, by the header of its websocket; None if it is not served any more."""
    return _of_pages.find(headers.get(PERSON_HEADER, "").partition(" ")[0])


def _stamp(path: Path) -> Stamp | None:
    """Return values that change whenever the file is changed or replaced; return None if it cannot be read."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _is_renamed(before: Stamp | None, path: Path, from_path: Path) -> bool:
    """Return whether the file at a path is the one that stood at another path."""
    now = _stamp(path)
    return before is not None and now is not None and before[:2] == now[:2] and not from_path.exists()
