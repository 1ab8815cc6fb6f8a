"""Other sites: requests that their pages could send through a person's browser, frames, and caches."""

import http.client
import re
from pathlib import Path
from urllib.parse import urlsplit

from tests.reliability._ground import COORDINATOR, OWN, Ground
from tests.reliability._strangers import FOREIGN_ORIGINS, PAGES, opens
from tests.reliability._window import LOG, Window, ask

UPLOAD = (
    b'--x\r\nContent-Disposition: form-data; name="f"; filename="%b"\r\nContent-Type: application/json\r\n\r\n[[1]]\r\n'
)
MULTIPART = "multipart/form-data; boundary=x"
MEDIA = re.compile(rb"/media/[0-9a-f]{32,}\.[a-z]{2,4}")
KEEPING_OUT = {"x-frame-options": "DENY", "x-content-type-options": "nosniff", "referrer-policy": "same-origin"}


def websockets(ground: Ground) -> None:
    """A websocket with a person's cookie, opened by a page of another site."""
    tally, cookie = ground.tally, ground.sign_in(OWN)
    for origin in FOREIGN_ORIGINS:
        tally.check(not opens(ground, cookie, origin=origin), f"opened for origin {origin}")
    tally.check(opens(ground, cookie), "not opened for the site itself")


Headers = dict[str, str | None]  # None omits it


def uploads(ground: Ground) -> None:
    """Uploads with a coordinator's cookie, but without the token that only pages of this site can read."""
    tally, cookie = ground.tally, ground.sign_in(COORDINATOR)
    right, other = with_token(ground, cookie), with_token(ground, cookie)
    token = str(right["Cookie"]).rpartition("; ")[2]
    wrong: dict[str, Headers] = {
        "no token": {"X-Xsrftoken": None}, "no cookie of the token": {"Cookie": cookie},
        "a made-up token": {"X-Xsrftoken": "x"},
        "somebody else's token": {"X-Xsrftoken": other["X-Xsrftoken"]},
        "another site": {"Origin": "http://evil.test"},
        "no origin": {"Origin": "null"}, "not signed in": {"Cookie": token},
        "another site, by what the browser says": {"Origin": None, "Sec-Fetch-Site": "cross-site"},
    }  # fmt: skip
    with Window(ground.url, cookie).open() as window:
        for what, headers in wrong.items():
            status = upload(ground, window.session, right | headers)
            tally.check(status in (303, 403), f"{what}: {status}")
        tally.check(upload(ground, "nobody", right) == 400, "an upload into no session")
        tally.check(upload(ground, window.session, right) == 204, "the right upload was refused")


def with_token(ground: Ground, cookie: str) -> Headers:
    """Return the headers of a page of this site: with Streamlit's token against forged requests."""
    token = ask(ground.url, "GET", "/_stcore/health").header("set-cookie").partition(";")[0]
    return {"Cookie": f"{cookie}; {token}", "X-Xsrftoken": token.partition("=")[2], "Origin": ground.origin}


def upload(ground: Ground, session: str, headers: Headers, name: bytes = b"a.json", *, method: str = "PUT") -> int:
    target, body = f"/_stcore/upload_file/{session}/file", UPLOAD % name + b"--x--\r\n"
    return ask(ground.url, method, target, headers={"Content-Type": MULTIPART, **headers}, body=body).status


def headers(ground: Ground) -> None:
    """Every response forbids frames and type guessing, and responses with data forbid caching."""
    tally, cookie = ground.tally, ground.sign_in(COORDINATOR)
    window = Window(ground.url, cookie).open()
    window.send(window.rerun(page_script_hash=window.pages["Study"], query_string=LOG))
    media = sorted({found.decode() for found in MEDIA.findall(window.text)})
    tally.check(bool(media), "no address of a file was seen")
    paths = (
        *PAGES, "/", "/sign-in", "/sign-out", "/join/x", "/_stcore/health", "/_stcore/metrics", "/_stcore/host-config",
        *media,
    )  # fmt: skip
    for path in paths:
        for cookies in ("", cookie):
            answer = ask(ground.url, "GET", path, headers={"Cookie": cookies}, source="127.0.1.7")
            policy = answer.header("content-security-policy")
            kept_out = all(answer.header(name) == value for name, value in KEEPING_OUT.items())
            tally.check(kept_out and "frame-ancestors 'none'" in policy, f"{path}: {dict(answer.headers)}")
            caching = answer.header("cache-control")
            safe = answer.status != 200 or any(word in caching for word in ("no-store", "no-cache", "private"))
            tally.check(safe, f"{path}: Cache-Control {caching!r}")
            tally.check("access-control-allow-origin" not in dict(answer.headers), f"{path} is shared with other sites")
    window.close()
    tally.more = f"{len(media)} files among them"


MB = 2**20
UPLOAD_LIMIT = 500 * MB  # server.maxUploadSize
NAMES = (
    b"../../x.json", b"..\\\\x.json", b"/etc/x.json", b"~/x.json", b"x\\x00.json", b"C:\\\\x.json", b"x" * 5000,
    b"\xff.json", b"",
)  # fmt: skip


def sizes_and_names(ground: Ground) -> None:
    """A coordinator's browser may upload one file of at most 500 MB at a time, with any name."""
    tally, before = ground.tally, listing(ground)
    headers = with_token(ground, ground.sign_in(COORDINATOR))
    with Window(ground.url, headers["Cookie"] or "").open() as window:
        for name in NAMES:
            status = upload(ground, window.session, headers, name)
            tally.check(status in (0, 204, 400), f"{name[:20]!r}: {status}")
        for length in (UPLOAD_LIMIT + 1, 2**40):
            status = upload(ground, window.session, headers | {"Content-Length": str(length)})
            tally.check(status == 413, f"announced {length}: {status}")
        if not ground.quick:
            status = upload_without_end(ground, window.session, {name: value or "" for name, value in headers.items()})
            tally.check(status in (0, 413), f"{UPLOAD_LIMIT + 2 * MB} bytes in pieces: {status}")
    tally.check(listing(ground) == before, f"written: {listing(ground) - before}")


def upload_without_end(ground: Ground, session: str, headers: dict[str, str]) -> int:
    """The status of a chunked upload that does not state its length and exceeds the limit."""
    where, piece = urlsplit(ground.url), b"x" * MB
    connection = http.client.HTTPConnection(where.netloc, timeout=60)
    connection.putrequest("PUT", f"{where.path.rstrip('/')}/_stcore/upload_file/{session}/file")
    for name, value in {**headers, "Content-Type": MULTIPART, "Transfer-Encoding": "chunked"}.items():
        connection.putheader(name, value)
    try:
        connection.endheaders()
        head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.json"\r\n\r\n'
        for part in (head, *[piece] * (UPLOAD_LIMIT // MB + 2), b"\r\n--x--\r\n"):
            connection.send(b"%x\r\n%b\r\n" % (len(part), part))
        connection.send(b"0\r\n\r\n")
        return connection.getresponse().status
    except (ConnectionError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def listing(ground: Ground) -> set[Path]:
    """Return all files in and around the folder of the study, except the study's own journal."""
    here = {path for path in ground.folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))}
    return (
        here
        | set(ground.folder.parent.glob("*.json"))
        | set(Path("/").glob("*.json"))
        | set(Path("/etc").glob("*.json"))
    )
