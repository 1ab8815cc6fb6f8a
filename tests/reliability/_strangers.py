"""A visitor without a session sees only the sign-in page: every route, every method, every path trick."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from streamlit.web.server.starlette import starlette_agent_routes, starlette_auth_routes, starlette_routes

from labeler.model import Role
from labeler.service.people import identity
from labeler.service.people.identity import SESSION_DAYS
from labeler.store import open_database
from labeler.ui.app import OWN_RESULT, REVIEWER_PAGES
from labeler.ui.component import ASSETS, FILES
from labeler.ui.coordinator.places import ITEM, PLACES
from tests.reliability._asking import Reply, ask
from tests.reliability._ground import COORDINATOR, OWN, Ground
from tests.reliability._tally import Tally
from tests.reliability._window import Refused, Window
from tests.reliability.outcome import Case

METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "nonsense")
OPEN = ("/sign-in", "/sign-out", "/_stcore/health")
REFUSALS = (0, 400, 403, 404, 405, 413, 414, 429, 431, 501)  # 0: the server closed the connection
STREAM = "/_stcore/stream"
PAGES = tuple(f"/{t.lower().replace(' ', '-')}" for t in (*REVIEWER_PAGES, OWN_RESULT, *PLACES, ITEM, "Sign out"))
FORGED = ("", "x", "forged", "None", "null", "0", "a" * 43, "A" * 5000, "' OR 1=1 --", "%00", "\x7f", "é")


def routes() -> list[str]:
    """Return every route of Streamlit and of the application with sample values, and the pages."""
    modules = (starlette_routes, starlette_auth_routes, starlette_agent_routes)
    named = {
        str(value).strip("/")
        for module in modules
        for name, value in vars(module).items()
        if name.lstrip("_").startswith(("ROUTE_", "BASE_ROUTE_")) and isinstance(value, str)
    }
    filled = [part.format(**dict.fromkeys(PARTS, "x")) for part in map(_without_kinds, sorted(named)) if part]
    below = [
        f"{path}/x/y" for path in ("_stcore/upload_file", "media", "component", "static", "_stcore/bidi-components")
    ]
    own = [f"{ASSETS}/{name}" for name in FILES]
    return ["/", STREAM, "/index.html", "/favicon.png", *PAGES, *own, *(f"/{path}" for path in (*filled, *below))]


PARTS = ("file_id", "session_id", "path")


def _without_kinds(route: str) -> str:
    return route.replace(":path}", "}")


def tricks(path: str) -> list[bytes]:
    """Return the same path, written so that gate and router might read it differently."""
    bare = path.lstrip("/")
    written = [
        f"//{bare}", f"/./{bare}", f"///{bare}", f"/%2e/{bare}", f"/%2f{bare}", f"/{bare}/", f"/{bare}/.", f"/{bare}.",
        f"/{bare}%00", f"/{bare}%20", f"/{bare};x", f"/{bare}?x=/sign-in", f"/{bare}#/sign-in", f"/{bare.upper()}",
        f"/{bare.replace('_', '%5f')}", f"/{bare.replace('/', '%2f')}", f"/\\{bare}", f"\\{bare}", bare,
        f"/join/../{bare}", f"/join/..%2f{bare}", f"/join/%2e%2e/{bare}", f"/join/x/../../{bare}", f"/join/{bare}/x",
        f"/join//{bare}", f"/join/./{bare}", f"/join%2f{bare}", f"/join/\\..\\{bare}", f"/sign-in/../{bare}",
        f"/sign-in/{bare}", f"/sign-in%2f..%2f{bare}", f"/sign-in;/{bare}", f"/sign-out/../{bare}",
        f"/review/../{bare}",
        f"/static/../{bare}", f"/static/%2e%2e/{bare}", f"/static/..%2f{bare}", f"/static/..%252f{bare}",
        f"/_stcore/health/../{bare}", f"/_stcore/health/{bare}", f"/_stcore/../{bare}", f"http://localhost/{bare}",
        f"http://evil.test/sign-in/../{bare}", f"http://x@localhost/{bare}", f"/{'a/' * 2000}../{bare}",
    ]  # fmt: skip
    return [text.encode() for text in written] + [
        f"/{bare}".encode() + extra for extra in (b"\xff", b"\x00", b"\xe2\x80\xae")
    ]


def is_refused(ground: Ground, target: bytes, answer: Reply) -> bool:
    """Whether a response reveals nothing; public addresses may respond as to everyone."""
    if ground.leaks(answer.raw):
        return False
    if answer.status in REFUSALS or (answer.status == 303 and answer.header("location") == "/sign-in"):
        return True
    path = target.decode("latin-1").partition("?")[0].partition("#")[0]
    is_sign_in = (
        b"<h1>Sign in</h1>" in answer.body or b"<h1>Sign out</h1>" in answer.body or b"<h1>Signed" in answer.body
    )
    says_ok = answer.body in (b"ok", b"") and answer.status in (200, 204)
    return path in OPEN and (is_sign_in or says_ok)


def cases(ground: Ground, *, quick: bool) -> Iterator[Case]:
    """Yield all attempts of visitors without a session."""
    yield every_route(ground, quick=quick)
    yield every_trick(ground, quick=quick)
    yield forged_headers(ground)
    yield sessions_that_are_none(ground, quick=quick)


def every_route(ground: Ground, *, quick: bool) -> Case:
    """Each address with each method."""
    tally = Tally("stranger: every route with every method", "requests")
    found = routes()[:: 3 if quick else 1]
    for path in found:
        for method in METHODS[: 3 if quick else None]:
            answer = ask(ground.url, method, path, body=b"x" if method in ("POST", "PUT") else b"")
            tally.check(is_refused(ground, path.encode(), answer), f"{method} {path}: {answer.status}")
    return tally.case(f"{len(found)} routes")


def every_trick(ground: Ground, *, quick: bool) -> Case:
    """Unusual spellings of addresses."""
    tally = Tally("stranger: tricks with paths", "requests")
    wanted = (
        "/_stcore/metrics",
        "/people",
        "/_stcore/upload_file/x/y",
        "/media/x",
        "/",
        STREAM,
        "/static/x",
        "/auth/login",
    )
    for path in wanted[: 2 if quick else None]:
        for target in tricks(path):
            for method in ("GET",) if quick else ("GET", "PUT", "HEAD"):
                answer = ask(ground.url, method, target, source="127.0.1.2")
                tally.check(is_refused(ground, target, answer), f"{method} {target[:80]!r}: {answer.status}")
    return tally.case()


def forged_headers(ground: Ground) -> Case:
    """Forged headers of a proxy, another site or a method have no effect."""
    tally = Tally("stranger: forged headers", "requests")
    host = ground.url.partition("://")[2]
    said: list[dict[str, str | None]] = [
        {"Host": "evil.test"}, {"Host": "localhost/sign-in?"}, {"Host": f"{host}/join/x?"}, {"Host": None},
        {"Host": "["},
        {"X-Forwarded-For": "127.0.0.1"}, {"X-Forwarded-Host": "evil.test"}, {"X-Forwarded-Proto": "https"},
        {"X-Forwarded-Prefix": "/sign-in"}, {"X-Original-URL": "/sign-in"}, {"X-Rewrite-URL": "/sign-in"},
        {"Forwarded": "for=127.0.0.1;proto=https"}, {"X-HTTP-Method-Override": "GET"}, {"X-Real-IP": "127.0.0.1"},
        {"X-Forwarded-User": OWN}, {"Remote-User": COORDINATOR}, {"Authorization": "Basic Y2Fyb2w6"},
        {"X-Labeler-Person": "1"}, {"X-Streamlit-User": COORDINATOR}, {"Upgrade": "h2c",
        "Connection": "Upgrade, HTTP2-Settings"},
        {"Cookie": f'_streamlit_user="{{\\"email\\": \\"{COORDINATOR}@example.org\\"}}"'},
    ]  # fmt: skip
    for headers in said:
        for path in ("/", "/people", "/_stcore/metrics", "/media/x"):
            answer = ask(ground.url, "GET", path, headers=headers)
            tally.check(is_refused(ground, path.encode(), answer), f"{headers} {path}: {answer.status}")
    return tally.case()


def sessions_that_are_none(ground: Ground, *, quick: bool) -> Case:
    """No session, a forged, ended or expired session, and a secret in its place, over HTTP and the websocket."""
    tally = Tally("stranger: no session, or an invalid session", "sessions")
    tokens = [*(FORGED[:4] if quick else FORGED), *not_sessions_any_more(ground), *ground.secrets.values()]
    cookies = [
        "",
        *(f"{ground.cookie}={token}" for token in tokens),
        f"{ground.cookie.upper()}=x",
        f"other={ground.sign_in(OWN).partition('=')[2]}",
    ]
    for cookie in cookies:
        for path in ("/", "/_stcore/metrics"):
            answer = ask(ground.url, "GET", path, headers={"Cookie": cookie})
            tally.check(is_refused(ground, path.encode(), answer), f"{cookie[:40]!r} {path}: {answer.status}")
        tally.check(not opens(ground, cookie), f"a websocket opened with {cookie[:40]!r}")
    return tally.case()


def opens(ground: Ground, cookie: str, **headers: str) -> bool:
    """Return whether the server opens a websocket."""
    try:
        Window(ground.url, cookie.encode("ascii", "replace").decode().replace("\x7f", "?"), **headers).close()
    except Refused:
        return False
    return True


def not_sessions_any_more(ground: Ground) -> Sequence[str]:
    """A session that was signed out, and an expired session."""
    ended = ground.sign_in(OWN)
    ask(ground.url, "POST", "/sign-out", headers={"Cookie": ended, "Origin": ground.url})
    now = datetime.now(UTC)
    begun = now - timedelta(days=SESSION_DAYS, minutes=1)
    with open_database(ground.study) as db:
        email = "old@example.org"
        identity.set_email(db, COORDINATOR, Role.COORDINATOR, email, actor=COORDINATOR, now=now)
        expired = identity.sign_in_as(db, email, now=begun)
        identity.set_email(db, COORDINATOR, Role.COORDINATOR, f"{COORDINATOR}@example.org", actor=COORDINATOR, now=now)
    ground.private.append(expired)
    return ended.partition("=")[2], expired
