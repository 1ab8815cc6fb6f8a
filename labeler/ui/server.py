"""The web server: Streamlit behind a gate that lets in only who is signed in, and everyone only where they belong."""

import gc
import os
import time
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.web import bootstrap

from labeler.config import bundled
from labeler.errors import InputError, LabelerError
from labeler.model import Person, Role
from labeler.service import coordinating, identity
from labeler.store import open_database
from labeler.ui import provider, sign_in
from labeler.ui.app import SESSION_COOKIE  # also imports every page, before the garbage collector is frozen
from labeler.ui.reviewer import component

HEALTH, HOST_CONFIG, STREAM = "/_stcore/health", "/_stcore/host-config", "/_stcore/stream"
OPEN_PATHS = (HEALTH, "/sign-in", sign_in.PROVIDER_PATH, "/sign-out")
LET_IN_S = 5.0
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

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
    config = streamlit_settings() | {"server.address": address, "server.port": port}
    bootstrap.load_config_options(config)  # before anything asks for a setting: Streamlit warns of a later change
    if trouble := provider.problem():
        raise InputError(trouble)
    with open_database(study) as db:
        coordinating.refresh_pictures(db)  # nothing to do but after an update
    app = make_app(study)
    gc.collect()
    gc.freeze()  # what is imported stays for good: without this every full collection walks through it
    app.run(config=config)


def make_app(study: Path) -> st.App:
    """The ASGI application: our sign-in routes, the gate, and Streamlit behind it."""
    return st.App(
        Path(__file__).parent / "app.py",
        routes=[
            *sign_in.routes(study),
            Mount(component.ASSETS, StaticFiles(directory=component.JS_DIRECTORY)),
        ],
        middleware=[Middleware(Gate, study=study)],
    )


def streamlit_settings() -> dict[str, Any]:
    """The settings of .streamlit/config.toml with dotted names."""
    with bundled(".streamlit", "config.toml").open("rb") as file:
        return {
            f"{section}.{name}": value for section, part in tomllib.load(file).items() for name, value in part.items()
        }


class Gate:
    """Lets through the health check, signing in, and requests of people who are signed in; from this origin only.

    Reviewers reach pages and their program text, nothing else that Streamlit offers: no uploads, no files made for
    somebody else's download, no metrics. It goes by the path that Streamlit's router goes by: one put together from
    headers could be another.
    """

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
            if self._may_talk(connection):
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})  # before accepting: becomes status 403
            return
        await self._where_to(connection)(scope, receive, _with_headers(send))

    def _where_to(self, connection: HTTPConnection) -> ASGIApp:
        """What answers a request: the application, the way to the sign-in page, or a refusal."""
        path, method = connection.scope["path"], connection.scope["method"]
        if path == "/" and provider.arrival(connection.cookies) is not None:  # also who is signed in as somebody else
            return RedirectResponse(sign_in.PROVIDER_PATH, status_code=303)
        if _is_open(path) or (_is_program(path) and self._was_let_in(connection)):
            return self._app
        try:
            person = self._person(connection)
        except LabelerError as error:
            return sign_in.unavailable(error)
        if person is None:
            return RedirectResponse("/sign-in", status_code=303)
        if method not in SAFE_METHODS and not sign_in.same_origin(connection):
            return PlainTextResponse("Another site sent this request. Nothing was done.", status_code=403)
        if Role.COORDINATOR not in person.roles and not _is_for_everyone(path):
            return PlainTextResponse("This is for coordinators of the study only.", status_code=403)
        return self._app

    def _may_talk(self, connection: HTTPConnection) -> bool:
        """Whether a websocket may be opened."""
        if connection.scope["path"] != STREAM or not sign_in.same_origin(connection):
            return False
        try:
            return self._person(connection) is not None
        except LabelerError:
            return False  # the browser tries again

    def _person(self, connection: HTTPConnection) -> Person | None:
        """Who is signed in; raises LabelerError if that cannot be looked up."""
        token = connection.cookies.get(SESSION_COOKIE)
        if not token:
            return None
        with open_database(self._study) as db:
            person = identity.person_of_session(db, token, now=datetime.now(UTC))
        now = time.monotonic()
        self._let_in_until = {one: until for one, until in self._let_in_until.items() if until > now}
        if person is not None:
            self._let_in_until[token] = now + LET_IN_S
        return person

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


def _is_for_everyone(path: str) -> bool:
    """Whether all who are signed in may come here: pages have addresses of one part."""
    return _is_program(path) or path in (HEALTH, HOST_CONFIG) or path.rstrip("/").count("/") <= 1


def _with_headers(send: Send) -> Send:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return sending


def describe(address: str, port: int, secrets: Mapping[str, str]) -> list[str]:
    """One line a person: their sign-in link."""
    host = f"[{address}]" if ":" in address else address
    return [f"{name}: http://{host}:{port}/join/{secret}" for name, secret in secrets.items()]
