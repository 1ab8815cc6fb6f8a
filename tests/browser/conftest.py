"""A real server on a free port of this machine, and a real Chromium to test it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from labeler.config import bundled
from labeler.studies import demo
from labeler.studies.labelling import reviewing
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import Database, open_database
from labeler.studies.ui.served import SESSION_COOKIE
from tests.browser import studies
from tests.conftest import missing

LABELLING = (
    "ada", "ben", "cleo", "dan", "eve", "fay", "gus", "hal", "ida", "jon", "kim", "lea", "may", "ned", "ola", "pam",
)  # fmt: skip
START_LIMIT_S = 300  # generous, for a busy machine: the awaited event comes long before
END_LIMIT_S = 120
CHROMIUM_OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

expect.set_options(timeout=60_000)


@dataclass
class Served:
    """A study and its server, which may serve other studies of the folder; `url` is the address of the study."""

    study: Path
    origin: str
    secrets: dict[str, str]
    process: subprocess.Popen[bytes]
    with_others: bool = False

    def __post_init__(self) -> None:
        self.url = f"{self.origin}{path_of(self.study)}"
        self.cookie = f"{SESSION_COOKIE}_{self.url.rpartition('/')[2]}"

    def link(self, name: str) -> str:
        return f"{self.url}/join/{self.secrets[name]}"

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    def kill(self) -> None:
        """Kill the server with SIGKILL, as in a power failure: nothing is closed or written."""
        self.process.kill()
        self.process.communicate(timeout=END_LIMIT_S)

    def start_again(self) -> None:
        self.process = start_server(self.study.parent if self.with_others else self.study, self.port)


def path_of(study: Path) -> str:
    """The path of a study on any server."""
    with open_database(study) as db:
        return identity.path_of_study(identity.study_id(db))


def chromium_path() -> str | None:
    named = os.environ.get("LABELER_CHROMIUM")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return named or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    return chromium_path() or missing("Chromium", "apt install chromium")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM_OPTIONS, "--process-per-site"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """The context of the pages of all tests, with an empty page of this machine that stays open.

    It keeps the process that has compiled the scripts of our pages; a new process takes a second to compile them.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 800})
    context.set_default_timeout(60_000)
    empty = context.new_page()
    empty.route("**/*", lambda route: route.fulfill(body=""))
    empty.goto("http://127.0.0.1")
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A new page in a browser without cookies and stored data."""
    empty = context.pages[0]
    yield context.new_page()
    for used in context.pages[1:]:
        used.close()
    context.set_offline(False)
    context.clear_cookies()
    everything = {"origin": "*", "storageTypes": "all"}
    context.new_cdp_session(empty).send("Storage.clearDataForOrigin", everything)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve_command(study: Path, port: int) -> list[str]:
    return [sys.executable, "-m", "labeler", "serve", "--study", str(study), "--port", str(port)]


def start_server(study: Path, port: int, **options: Any) -> subprocess.Popen[bytes]:
    """Start `labeler serve` for a study or a folder, with these options of `Popen`; returns once it responds."""
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} | options
    popen: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen
    wait_until_served(process := popen(serve_command(study, port), **options), port)
    return process


def wait_until_served(process: subprocess.Popen, port: int) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"the server ended: {process.communicate()[1]}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)  # polls in a bounded loop; the server reports when it is ready
    stop_server(process)
    raise AssertionError(f"the server did not answer within {START_LIMIT_S} s")


def stop_server(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.communicate(timeout=END_LIMIT_S)


def welcome(db: Database) -> None:
    """Mark the introduction as seen by every reviewer, so that they begin with an item."""
    for person in identity.everyone(db):
        if Role.REVIEWER in person.roles and person.active:
            reviewing.finish_introduction(db, person.person_id, now=datetime.now(UTC))


def invited(study: Path, *, with_first_visit: bool = False) -> dict[str, str]:
    """Invite everyone in a study: the secret of each person's sign-in link."""
    with open_database(study) as db:
        if not with_first_visit:
            welcome(db)
        return demo.invitations(db, now=datetime.now(UTC))


@contextmanager
def serving(
    study: Path, *, with_first_visit: bool = False, with_others: bool = False, **options: Any
) -> Iterator[Served]:
    """A server with an existing study, or with all studies in its folder; with a sign-in link for everyone in it."""
    port, secrets = free_port(), invited(study, with_first_visit=with_first_visit)
    process = start_server(study.parent if with_others else study, port, **options)
    one = Served(study, f"http://127.0.0.1:{port}", secrets, process, with_others)
    try:
        yield one
    finally:
        stop_server(one.process)


@pytest.fixture(scope="session")
def demo_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo study as a closed file, to be copied."""
    study = tmp_path_factory.mktemp("demo") / "browser.study"
    demo.build(study, bundled("data", "demo"), advance=lambda _done, _total: None, now=datetime.now(UTC))
    return study


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of a folder. Its study has 40 items for each of sixteen reviewers: four for each module that labels."""
    study = tmp_path_factory.mktemp("shared") / "shared.study"
    studies.make(study, studies.many(40), reviewers=LABELLING, parameters=studies.EVERYTHING_BY_ALL)
    with serving(study, with_others=True) as one:
        yield one


def beside(server: Served, study: Path) -> Served:
    """Another study in the folder of a server, once the server has found it."""
    one = Served(study, server.origin, invited(study), server.process, with_others=True)
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(one.url, timeout=START_LIMIT_S):
                return one
        except urllib.error.HTTPError:
            time.sleep(0.2)  # polls in a bounded loop
    raise AssertionError(f"the server did not find {study.name} within {START_LIMIT_S} s")


@pytest.fixture(scope="module")
def served(demo_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The demo study; a module that needs another study defines a fixture of this name."""
    with serving(Path(shutil.copy(demo_study, tmp_path_factory.mktemp("served")))) as one:
        yield one


@pytest.fixture
def empty_server(tmp_path):
    """`labeler serve` on a file that does not exist: the study, its address and the coordinator's link."""
    study, port = tmp_path / "new.study", free_port()
    command = serve_command(study, port)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    link = process.stdout.readline().removeprefix("coordinator: ").strip()
    wait_until_served(process, port)
    yield study, link.partition("/join/")[0], link
    stop_server(process)


@pytest.fixture
def desk(page: Page, served: Served) -> Callable[[str], Page]:
    """The page, once a reviewer has signed in."""

    def of(name: str) -> Page:
        page.goto(served.link(name))
        return page

    return of
