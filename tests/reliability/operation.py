"""Scene: the application as it runs in production: installed from a wheel, behind a proxy, stopped by a signal."""

import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from labeler.studies.ui import limits
from tests.browser import studies
from tests.browser.conftest import free_port, invited, path_of, start_server, stop_server
from tests.performance.wire import handshake, origin_of
from tests.reliability._window import LIMIT_S, LOOPBACK, Refused, Reply, Window, ask
from tests.reliability.cases import CannotTry, Room, Tally

ROOT = Path(__file__).parents[2]
MAX_HEAD = 65_536
AT_ONCE = 65_536


class Proxy(ThreadingTCPServer):
    """Marks every request as https; each connection carries one request or one websocket.

    The server is at `upstream`, and sees the proxy at the address `source` of this machine.
    """

    daemon_threads = True

    def __init__(self, upstream: tuple[str, int], path: str, source: str) -> None:
        super().__init__((LOOPBACK, 0), _Passing)
        self.upstream, self.path, self.source = upstream, path, source

    @property
    def url(self) -> str:
        """The public address of the study; the server learns the host only from the header Host."""
        return f"http://{LOOPBACK}:{self.server_address[1]}{self.path}"


@contextmanager
def proxying(url: str, *, source: str = LOOPBACK) -> Iterator[Proxy]:
    """A proxy in front of a server."""
    where = urlsplit(url)
    with Proxy((where.hostname or LOOPBACK, where.port or 80), where.path, source) as proxy:
        Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.shutdown()


class _Passing(StreamRequestHandler):
    timeout = LIMIT_S
    server: Proxy

    def handle(self) -> None:
        """Serve one connection until either side closes it or is silent for too long."""
        with suppress(OSError):
            head = self._head()
            with socket.create_connection(self.server.upstream, LIMIT_S, (self.server.source, 0)) as upstream:
                upstream.sendall(head)
                back = Thread(target=_pass, args=(upstream, self.connection), daemon=True)
                back.start()
                _pass(self.connection, upstream, read=self.rfile.read1)
                back.join(LIMIT_S)

    def _head(self) -> bytes:
        """Request line and headers for the server; addresses that the client claims stay in front."""
        lines, came_by = [], []
        for line in iter(lambda: self.rfile.readline(MAX_HEAD), b"\r\n"):
            if not line:
                raise ConnectionError("no whole request")
            name = line.partition(b":")[0].lower()
            if name == b"x-forwarded-for":
                came_by.append(line.partition(b":")[2].strip())
            elif name != b"x-forwarded-proto":
                lines.append(line)
        came_by.append(self.client_address[0].encode())
        lines += [b"X-Forwarded-Proto: https\r\n", b"X-Forwarded-For: " + b", ".join(came_by) + b"\r\n"]
        return b"".join(lines) + b"\r\n"


def _pass(one: socket.socket, other: socket.socket, read=None) -> None:
    """Pass all bytes from one side to the other, and then the end of the stream."""
    take = read or one.recv
    with suppress(OSError):
        while part := take(AT_ONCE):
            other.sendall(part)
        other.shutdown(socket.SHUT_WR)


N_MESSAGES = 5000
STOP_LIMIT_S = 10  # the time that `docker stop` waits
ENDED = (0, -signal.SIGTERM)  # exits by itself, or by the signal after closing everything: init systems call both clean
ELSEWHERE = "127.0.0.2"  # stands for another machine
REVIEWER = "ada"
BUNDLED = (
    "data/demo/demo.parquet", "data/demo/more.parquet", "data/demo/interventions.csv", "data/replication/labels.csv",
    ".streamlit/config.toml",
)  # fmt: skip
BUILD_LIMIT_S = 120


class Site:
    """A study and its server, started in an empty folder with an empty home."""

    def __init__(self, folder: Path, program: Path = ROOT) -> None:
        self.study, self.surroundings, self.program = folder / "data" / "site.study", folder / "around", program
        self.tally = Tally()
        self.study.parent.mkdir()
        for name in ("home", "tmp", "here"):
            (self.surroundings / name).mkdir(parents=True)
        studies.make(self.study, studies.many(4))
        self.secrets = invited(self.study)

    @contextmanager
    def serving(self, **environment: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
        """The address of the study on a server in a separate process."""
        port = free_port()
        own = {
            "HOME": str(self.surroundings / "home"), "TMPDIR": str(self.surroundings / "tmp"),
            "PYTHONPATH": str(self.program), "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        process = start_server(self.study, port, cwd=self.surroundings / "here", env=os.environ | own | environment)
        try:
            yield f"http://{LOOPBACK}:{port}{path_of(self.study)}", process
        finally:
            if process.poll() is None:
                stop_server(process)

    def join(self, url: str) -> Reply:
        """The response to the form of a reviewer's sign-in link."""
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return ask(url, "POST", "/sign-in", headers=form, body=f"link={self.secrets[REVIEWER]}".encode())


@contextmanager
def site(room: Room) -> Iterator[Site]:
    """A study, to be served by the checkout."""
    yield Site(room.new_folder())


@contextmanager
def site_of_wheel(room: Room) -> Iterator[Site]:
    """A study, to be served by a built wheel; pip downloads the build backend if its cache has none."""
    folder = room.new_folder()
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False)
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        raise CannotTry(f"could not be built: {(done.stderr.strip().splitlines() or ['pip said nothing'])[-1]}")
    program = folder / "program"
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(program)
    yield Site(folder, program)


def https_by_proxy(world: Site) -> None:
    """The cookie is for HTTPS only, and the websocket works, although the server itself uses plain HTTP."""
    tally = world.tally
    with world.serving() as (own_url, _), proxying(own_url) as proxy:
        url = proxy.url
        joined = world.join(url)
        cookie = joined.header("set-cookie")
        location = joined.header("location")
        tally.check(
            joined.status == 303 and location == f"{path_of(world.study)}/", f"sign-in: {joined.status}, {location}"
        )
        tally.check("; secure" in cookie.lower(), "the cookie is not for https only")
        host, own = urlsplit(url).netloc, cookie.partition(";")[0]
        tally.check(_shows_an_item(url, own, f"https://{host}"), "no item came over the websocket")
        tally.check(not _shows_an_item(url, own, "https://evil.test"), "open to another site")
        pasted = ask(url, "POST", "/sign-in", headers={"Origin": f"https://{host}"}, body=b"link=/join/wrong")
        tally.check(pasted.status == 403 and b"Another site" not in pasted.body, f"a pasted link: {pasted.status}")


def _shows_an_item(url: str, cookie: str, origin: str) -> bool:
    try:
        with Window(url, cookie, origin=origin).open() as window:
            return bool(window.data.get("offers"))
    except Refused:
        return False


def wrong_links_by_proxy(world: Site) -> None:
    """Failed sign-ins count for the client that the proxy names, whatever the client claims."""
    tally, one, other = world.tally, "127.0.2.1", "127.0.2.2"
    forged = {"X-Forwarded-For": "198.51.100.9"}
    with world.serving() as (own_url, _), proxying(own_url) as proxy:
        for _ in range(limits.N_WRONG):
            status = ask(proxy.url, "GET", "/join/wrong", source=one).status
            tally.check(status == 403, "a wrong link is not refused")
        for what, more, source, wanted in (
            ("the client does not wait", {}, one, 429), ("another name helps", forged, one, 429),
            ("another client waits as well", {}, other, 403),
        ):  # fmt: skip
            status = ask(proxy.url, "GET", "/join/wrong", source=source, headers=more).status
            tally.check(status == wanted, what)


def proxy_elsewhere(world: Site) -> None:
    """A proxy on another machine is trusted only if FORWARDED_ALLOW_IPS names it."""
    environments: tuple[dict[str, str], ...] = ({}, {"FORWARDED_ALLOW_IPS": ELSEWHERE})
    for environment in environments:
        with world.serving(**environment) as (url, _), proxying(url, source=ELSEWHERE) as proxy:
            is_secure = "; secure" in world.join(proxy.url).header("set-cookie").lower()
            world.tally.check(is_secure == bool(environment), f"secure: {is_secure} with {environment}")


def stopped_with_a_window(world: Site) -> None:
    """SIGTERM while a window and an idle connection are open."""
    with world.serving() as (url, process):
        cookie = world.join(url).header("set-cookie").partition(";")[0]
        where = urlsplit(url)
        with Window(url, cookie).open(), socket.create_connection((LOOPBACK, where.port or 80), LIMIT_S) as idle:
            stopped(world, process)
            idle.close()


def stopped_with_many_messages(world: Site) -> None:
    """SIGTERM after a reviewer sent 5,000 messages of two bytes over a websocket."""
    with world.serving() as (url, process):
        cookie = world.join(url).header("set-cookie").partition(";")[0]
        asked = handshake(url, origin=origin_of(url), Cookie=cookie)
        with connect(**asked, close_timeout=1) as window:
            with suppress(ConnectionClosed):
                for _ in range(N_MESSAGES):
                    window.send(b"\x00\x00")
            stopped(world, process)


def stopped_with_half_a_form(world: Site) -> None:
    """SIGTERM while a stranger's form is incomplete."""
    with world.serving() as (url, process):
        where = urlsplit(url)
        with socket.create_connection((LOOPBACK, where.port or 80), LIMIT_S) as stranger:
            stranger.sendall(f"POST /sign-in HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 99\r\n\r\nl".encode())
            ask(url, "GET", "/_stcore/health")  # the response comes after all earlier bytes were read
            stopped(world, process)


def stopped(world: Site, process: subprocess.Popen[bytes]) -> None:
    """SIGTERM stops the server soon, and leaves one file."""
    begun = time.monotonic()
    process.terminate()
    try:
        code: int | None = process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        code = None
    world.tally.more = f"{time.monotonic() - begun:.1f} s, exit code {code}"
    world.tally.check(code in ENDED, f"not ended by itself within {STOP_LIMIT_S} s")
    world.tally.none([path.name for path in world.study.parent.iterdir() if path != world.study], "left:")


def compared_with_checkout(world: Site) -> None:
    """The wheel has every file of the two packages in the checkout, and the required files beside them."""
    tally, program = world.tally, world.program
    found = {str(path.relative_to(program)) for path in program.rglob("*") if path.is_file()}
    for package in ("labeler", "analysis"):
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                name = str(path.relative_to(ROOT))
                tally.check(name in found, f"{name} is missing")
    for name in BUNDLED:
        tally.check(f"labeler/bundled/{name}" in found, f"{name} is missing")
    strange = {name.partition("/")[0] for name in found} - {"labeler", "analysis"}
    tally.check(all(name.endswith(".dist-info") for name in strange), f"{strange} beside the packages")


def served_from_wheel(world: Site) -> None:
    """Serving, signing in and loading a page write only beside the study."""
    before = _files(world.program)
    with world.serving() as (url, _):
        cookie = world.join(url).header("set-cookie").partition(";")[0]
        world.tally.check(_shows_an_item(url, cookie, f"http://{urlsplit(url).netloc}"), "no item is shown")
    world.tally.check(_files(world.program) == before, "the program's own folder changed")
    for name in ("home", "tmp", "here"):
        world.tally.none(sorted(_files(world.surroundings / name))[:3], f"{name}:")


def _files(folder: Path) -> set[tuple[str, int]]:
    return {(str(path), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}
