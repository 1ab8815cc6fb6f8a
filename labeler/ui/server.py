"""The web server: Streamlit behind a gate that lets in only who is signed in."""

import gc
import os
import re
import time
import tomllib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from labeler.config import bundled
from labeler.errors import InputError, LabelerError, SignInFailed
from labeler.service import coordinating, identity
from labeler.store import Database, open_database
from labeler.ui import provider
from labeler.ui.app import SESSION_COOKIE  # also imports every page, before the garbage collector is frozen
from labeler.ui.reviewer import component

HEALTH = "/_stcore/health"
PROVIDER_PATH = "/sign-in/provider"
OPEN_PATHS = (HEALTH, "/sign-in", PROVIDER_PATH, "/sign-out")
MAX_FORM_BYTES = 4096
LET_IN_S = 5.0

SIGN_IN_WORDS = (
    "You are not signed in. Open the sign-in link that your coordinator gave you; it works on any device. "
    "If you have lost it, ask for a new one."
)
NO_ADDRESS = (
    "Your organisation let you in, but gave no e-mail address that it has verified, and people are known by it here. "
    "Ask your coordinator for a sign-in link."
)
PROVIDER_LINK = f'<p><a href="{PROVIDER_PATH}">Sign in with the account of your organisation</a></p>'
SIGN_IN_FORM = """<form method="post" action="/sign-in">
<p><label for="link">If the link opened in the wrong browser, paste it here:</label></p>
<p><input id="link" name="link" autocomplete="off" required> <button>Sign in</button></p></form>"""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' blob:; worker-src 'self' blob:; "
        "frame-ancestors 'none'; base-uri 'self'; form-action 'self'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}


def serve(study: Path, *, address: str, port: int) -> None:
    """Run the browser application on a study until it is stopped."""
    os.environ["LABELER_STUDY"] = str(study.resolve())  # how the pages learn which study, as by hand
    if trouble := provider.problem():
        raise InputError(trouble)
    config = streamlit_settings() | {"server.address": address, "server.port": port}
    with open_database(study) as db:
        coordinating.refresh_pictures(db)  # nothing to do but after an update
    app = make_app(study)
    gc.collect()
    gc.freeze()  # Streamlit collects garbage after every page run: without this it walks all modules each time
    app.run(config=config)


def make_app(study: Path) -> st.App:
    """The ASGI application: our sign-in routes, the gate, and Streamlit behind it."""
    return st.App(
        Path(__file__).parent / "app.py",
        routes=[
            *sign_in_routes(study),
            Mount(component.ASSETS, StaticFiles(directory=component.JS_DIRECTORY)),
        ],
        middleware=[Middleware(Gate, study=study)],
    )


def sign_in_routes(study: Path) -> list[Route]:
    """The way in and the way out."""
    return [
        Route("/sign-in", _sign_in(study), methods=["GET", "POST"]),
        Route(PROVIDER_PATH, _sign_in_by_provider(study)),
        Route("/sign-out", _sign_out(study), methods=["GET", "POST"]),
        Route("/join/{secret}", _join(study)),
    ]


def streamlit_settings() -> dict[str, Any]:
    """The settings of .streamlit/config.toml with dotted names."""
    with bundled(".streamlit", "config.toml").open("rb") as file:
        return {
            f"{section}.{name}": value for section, part in tomllib.load(file).items() for name, value in part.items()
        }


class Gate:
    """Lets through the health check, signing in, and requests of people who are signed in; from this origin only."""

    def __init__(self, app: ASGIApp, study: Path) -> None:
        self._app, self._study = app, study
        self._let_in_until: dict[str, float] = {}  # session id -> monotonic time

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        if scope["type"] == "websocket":
            if _same_origin(connection) and self._is_signed_in(connection):
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})  # before accepting: becomes status 403
            return
        path = connection.url.path
        if path == "/" and provider.arrival(connection.cookies) is not None:  # also who is signed in as somebody else
            await RedirectResponse(PROVIDER_PATH, status_code=303)(scope, receive, _with_headers(send))
        elif _is_open(path) or (_is_program(path) and self._was_let_in(connection)) or self._is_signed_in(connection):
            await self._app(scope, receive, _with_headers(send))
        else:
            await RedirectResponse("/sign-in", status_code=303)(scope, receive, _with_headers(send))

    def _is_signed_in(self, connection: HTTPConnection) -> bool:
        token = connection.cookies.get(SESSION_COOKIE)
        if not token:
            return False
        try:
            with open_database(self._study) as db:
                is_known = identity.person_of_session(db, token, now=datetime.now(UTC)) is not None
        except LabelerError:
            return False
        now = time.monotonic()
        self._let_in_until = {one: until for one, until in self._let_in_until.items() if until > now}
        if is_known:
            self._let_in_until[token] = now + LET_IN_S
        return is_known

    def _was_let_in(self, connection: HTTPConnection) -> bool:
        """Whether this session was looked up just now: a page consists of some seventy files of program text."""
        return self._let_in_until.get(connection.cookies.get(SESSION_COOKIE, ""), 0) > time.monotonic()


def _is_open(path: str) -> bool:
    """Whether strangers may come here."""
    is_sign_in = path in OPEN_PATHS or path.startswith("/join/")
    return is_sign_in or (path in provider.PATHS and provider.is_configured())


def _is_program(path: str) -> bool:
    """Whether it is program text, the same for everyone, and no data."""
    return path.startswith(("/static/", f"{component.ASSETS}/"))


def _same_origin(connection: HTTPConnection) -> bool:
    origin = connection.headers.get("origin")
    return origin is None or origin.partition("://")[2] == connection.headers.get("host")


def _with_headers(send: Send) -> Send:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return sending


def _join(study: Path) -> Any:
    def endpoint(request: Request) -> Response:
        """Follow an invitation: a cookie is set, and the secret leaves the address bar."""
        return _signed_in(study, request, request.path_params["secret"])

    return endpoint


def _sign_in(study: Path) -> Any:
    async def endpoint(request: Request) -> Response:
        """Say how to sign in, or take a pasted link: some programs open links in a browser of their own."""
        if request.method != "POST":
            return _page("Sign in", SIGN_IN_WORDS, sign_in_forms())
        if not _same_origin(request):
            return _page(
                "Sign in", "Another site sent this form. Paste the link yourself.", sign_in_forms(), status=403
            )
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MAX_FORM_BYTES:
                return _page("Sign in", "That is no sign-in link: it is too long.", sign_in_forms(), status=413)
        pasted = parse_qs(body.decode(errors="replace")).get("link", [""])[0]
        secret = re.split(r"[?#]", pasted.strip())[0].rpartition("/")[2]
        return await run_in_threadpool(_signed_in, study, request, secret)

    return endpoint


def _sign_in_by_provider(study: Path) -> Any:
    def endpoint(request: Request) -> Response:
        """Send somebody to the identity provider, or let in who came back from there."""
        if not provider.is_configured():
            return RedirectResponse("/sign-in", status_code=303)
        who = provider.arrival(request.cookies)
        if who is None:
            return RedirectResponse(provider.login_path(), status_code=303)
        if who.email is None:
            response: Response = _page("Sign in", NO_ADDRESS, sign_in_forms(), status=403)
        else:
            email = who.email
            response = _let_in(study, request, lambda db: identity.sign_in_as(db, email, now=datetime.now(UTC)))
        return _cleared(response, request)

    return endpoint


def sign_in_forms() -> str:
    """The other ways in, below what a sign-in page says."""
    return (PROVIDER_LINK if provider.is_configured() else "") + SIGN_IN_FORM


def _cleared(response: Response, request: Request) -> Response:
    """Without what Streamlit's login remembers of the person: it would let them in again unasked."""
    for name in provider.cookies_to_clear(request.cookies):
        response.delete_cookie(name, path="/")
    return response


def _signed_in(study: Path, request: Request, secret: str) -> Response:
    """The way into the study for who holds the secret, or in words why not."""
    return _let_in(study, request, lambda db: identity.sign_in(db, secret, now=datetime.now(UTC)))


def _let_in(study: Path, request: Request, sign_in: Callable[[Database], str]) -> Response:
    """Set the cookie of a new session and go to the application, or say in words why not."""
    try:
        with open_database(study) as db:
            token = sign_in(db)
            identity.sign_out(db, request.cookies.get(SESSION_COOKIE, ""), now=datetime.now(UTC))  # who was here before
    except SignInFailed as error:
        return _page("Sign in", str(error), sign_in_forms(), status=403)
    except LabelerError as error:
        return _page("Sign in", str(error), status=503)
    response = RedirectResponse("/", status_code=303, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        SESSION_COOKIE, token, max_age=identity.SESSION_DAYS * 86400, httponly=True, samesite="lax",
        secure=request.url.scheme == "https", path="/",
    )  # fmt: skip
    return response


def _sign_out(study: Path) -> Any:
    def endpoint(request: Request) -> Response:
        """End the session here; other devices stay signed in. Only a posted form from this site does it."""
        if request.method == "POST" and _same_origin(request):
            try:
                with open_database(study) as db:
                    identity.sign_out(db, request.cookies.get(SESSION_COOKIE, ""), now=datetime.now(UTC))
            except LabelerError as error:
                return _page("Sign out", str(error), status=503)
            response: Response = _page("Signed out", "You are signed out. Your labels are kept.", clear=True)
            response.delete_cookie(SESSION_COOKIE, path="/")
            return _cleared(response, request)
        form = '<form method="post" action="/sign-out"><button>Sign out</button></form>'
        return _page("Sign out", "Sign out on this device?", form)

    return endpoint


def _page(title: str, text: str, extra: str = "", *, status: int = 200, clear: bool = False) -> HTMLResponse:
    script = "<script>sessionStorage.clear()</script>" if clear else ""  # nothing of this person stays in the browser
    return HTMLResponse(
        f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 17px/1.6 system-ui, sans-serif; color: #1b2a41; max-width: 34rem; margin: 18vh auto }}
button, input {{ font: inherit; padding: .4rem 1rem; max-width: 100%; box-sizing: border-box }}
input {{ width: 22rem }} body {{ padding: 0 1rem }}</style></head>
<body><h1>{escape(title)}</h1><p>{escape(text)}</p>{extra}{script}</body></html>""",
        status_code=status,
        headers={"Cache-Control": "no-store"},
    )


def describe(address: str, port: int, secrets: Mapping[str, str]) -> list[str]:
    """One line a person: their sign-in link."""
    host = f"[{address}]" if ":" in address else address
    return [f"{name}: http://{host}:{port}/join/{secret}" for name, secret in secrets.items()]
