"""A visitor without a session sees only the sign-in page: every route, every method, every path trick."""

import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import numpy as np
from streamlit.web.server.starlette import starlette_agent_routes, starlette_auth_routes, starlette_routes

from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.people.identity import SESSION_DAYS
from labeler.studies.store import open_database
from labeler.studies.ui import limits
from labeler.studies.ui.app import OWN_RESULT, REVIEWER_PAGES
from labeler.studies.ui.component import ASSETS, FILES
from labeler.studies.ui.coordinator.places import ITEM, PLACES
from tests.reliability._ground import COORDINATOR, OWN, Ground, session_of
from tests.reliability._window import Refused, Reply, Window, ask
from tests.reliability.cases import CannotTry

FORM = "application/x-www-form-urlencoded"
IMAGE = {"Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Site": "cross-site"}
N_REFUSALS, ALPHA, N_PERMUTATIONS = 400, 0.001, 4999  # a server that reveals nothing fails once in a thousand runs
FOREIGN_ORIGINS = (
    "http://evil.test", "null", "http://127.0.0.1", "http://127.0.0.1:1", "https://127.0.0.1", "x", "http://[",
)  # fmt: skip


def paste(ground: Ground, text: str, *, source: str, origin: str | None = "", **more: str) -> Reply:
    """Send the form of the sign-in page."""
    headers = {"Content-Type": FORM, "Origin": ground.origin if origin == "" else origin, **more}
    return ask(ground.url, "POST", "/sign-in", headers=headers, body=urlencode({"link": text}).encode(), source=source)


def rate_limit(ground: Ground) -> None:
    """After ten wrong secrets, every attempt from the address is refused; other addresses and open sessions work."""
    tally, source = ground.tally, "127.0.1.4"
    cookie = ground.sign_in(OWN, source=source)
    for number in range(limits.N_WRONG):
        wrong = _noted(ground, secrets.token_urlsafe(24))
        answer = (
            ask(ground.url, "GET", f"/join/{wrong}", source=source)
            if number % 2
            else paste(ground, wrong, source=source)
        )
        tally.check(answer.status == 403, f"wrong secret {number}: {answer.status}")
    forged = {"X-Forwarded-For": "198.51.100.9", "X-Real-IP": "198.51.100.9", "Forwarded": "for=198.51.100.9"}
    right = f"/join/{ground.secrets[OWN]}"
    tries = {
        "a wrong one": ask(ground.url, "GET", "/join/wrong", source=source),
        "a right one": ask(ground.url, "GET", right, source=source),
        "a pasted right one": paste(ground, ground.secrets[OWN], source=source),
        "a right one through a made-up proxy": ask(ground.url, "GET", right, headers=forged, source=source),
    }
    for what, answer in tries.items():
        waits = answer.status == 429 and 0 < int(answer.header("retry-after") or 0) <= limits.WITHIN_S
        tally.check(waits and not session_of(answer), f"{what}: {answer.status}")
    for what, more in {"the head only": ("HEAD", {}), "an image": ("GET", IMAGE)}.items():
        answer = ask(ground.url, more[0], right, headers=more[1], source="127.0.1.5")
        tally.check(answer.status == 403 and not session_of(answer), f"a right one for {what}: {answer.status}")
    goes_on = ask(ground.url, "GET", "/", headers={"Cookie": cookie}, source=source).status == 200
    tally.check(goes_on, "the session that was open before is out")
    tally.check(ask(ground.url, "GET", right, source="127.0.1.5").status == 200, "another address has to wait, too")
    elsewhere = paste(ground, ground.secrets[OWN], source="127.0.1.5")
    tally.check(bool(session_of(elsewhere)), "another address has to wait, too")
    ground.private.append(session_of(elsewhere).partition("=")[2] or ground.url)


def time_of_refusals(ground: Ground) -> None:
    """The time to refuse a secret does not depend on how much of it is right.

    A permutation test of the difference of medians. Each attempt comes from a separate address, so that rate limiting
    does not apply.
    """
    if ground.quick:
        raise CannotTry("chance decides it once in a thousand runs")
    n, rng, real = N_REFUSALS, np.random.default_rng(), ground.secrets[COORDINATOR]
    alike, taken_ms = rng.permutation(np.arange(2 * n) % 2 == 0), np.empty(2 * n)
    for number in range(2 * n):
        made = secrets.token_urlsafe(24)
        wrong = _noted(ground, real[: len(real) // 2] + made[len(real) // 2 :] if alike[number] else made)
        begun = time.perf_counter()
        answer = ask(ground.url, "GET", f"/join/{wrong}", source=f"127.2.{number // 250}.{number % 250 + 1}")
        taken_ms[number] = 1000 * (time.perf_counter() - begun)
        if answer.status != 403:
            ground.tally.check(False, f"status {answer.status} for {wrong!r}")
            return
    p, difference_ms = permutation_test(taken_ms, alike, rng)
    ground.tally.more = f"{n} that share half of a real secret, {n} that do not: {difference_ms:+.3f} ms, p = {p:.4f}"
    ground.tally.check(p >= ALPHA, "the time reveals how much of a secret is right")


def permutation_test(values: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the p-value of the difference of two medians, and the difference."""

    def difference(members: np.ndarray) -> float:
        return float(np.median(values[members]) - np.median(values[~members]))

    observed = difference(group)
    made = np.array([difference(rng.permutation(group)) for _ in range(N_PERMUTATIONS)])
    return (1 + int((np.abs(made) >= abs(observed)).sum())) / (1 + N_PERMUTATIONS), observed


def _noted(ground: Ground, wrong: str) -> str:
    ground.wrong.append(wrong)
    return wrong


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
    if answer.status in REFUSALS or (answer.status == 303 and answer.header("location").endswith("/sign-in")):
        return True
    path = target.decode("latin-1").partition("?")[0].partition("#")[0]
    is_sign_in = (
        b"<h1>Sign in</h1>" in answer.body or b"<h1>Sign out</h1>" in answer.body or b"<h1>Signed" in answer.body
    )
    says_ok = answer.body in (b"ok", b"") and answer.status in (200, 204)
    return path in OPEN and (is_sign_in or says_ok)


def every_route(ground: Ground) -> None:
    tally = ground.tally
    found = routes()[:: 3 if ground.quick else 1]
    for path in found:
        for method in METHODS[: 3 if ground.quick else None]:
            answer = ask(ground.url, method, path, body=b"x" if method in ("POST", "PUT") else b"")
            tally.check(is_refused(ground, path.encode(), answer), f"{method} {path}: {answer.status}")
    tally.more = f"{len(found)} routes"


def every_trick(ground: Ground) -> None:
    """Unusual spellings of addresses."""
    tally = ground.tally
    wanted = (
        "/_stcore/metrics", "/people", "/_stcore/upload_file/x/y", "/media/x", "/", STREAM, "/static/x", "/auth/login",
    )  # fmt: skip
    for path in wanted[: 2 if ground.quick else None]:
        for target in tricks(path):
            for method in ("GET",) if ground.quick else ("GET", "PUT", "HEAD"):
                answer = ask(ground.url, method, target, source="127.0.1.2")
                tally.check(is_refused(ground, target, answer), f"{method} {target[:80]!r}: {answer.status}")


def forged_headers(ground: Ground) -> None:
    """Forged headers of a proxy, another site or a method have no effect."""
    tally = ground.tally
    host = ground.origin.partition("://")[2]
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


def sessions_that_are_none(ground: Ground) -> None:
    """No session, a forged, ended or expired session, and a secret in its place, over HTTP and the websocket."""
    tally = ground.tally
    tokens = [*(FORGED[:4] if ground.quick else FORGED), *not_sessions_any_more(ground), *ground.secrets.values()]
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
    ask(ground.url, "POST", "/sign-out", headers={"Cookie": ended, "Origin": ground.origin})
    now = datetime.now(UTC)
    begun = now - timedelta(days=SESSION_DAYS, minutes=1)
    with open_database(ground.study) as db:
        email = "old@example.org"
        identity.set_email(db, COORDINATOR, Role.COORDINATOR, email, actor=COORDINATOR, now=now)
        expired = identity.sign_in_as(db, email, now=begun)
        identity.set_email(db, COORDINATOR, Role.COORDINATOR, f"{COORDINATOR}@example.org", actor=COORDINATOR, now=now)
    ground.private.append(expired)
    return ended.partition("=")[2], expired
