"""The web server: Streamlit behind a gate that lets in only who is signed in."""

import gc
import os
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from labeler.config import bundled
from labeler.errors import LabelerError, SignInFailed
from labeler.service import identity
from labeler.store import open_database
from labeler.ui.app import SESSION_COOKIE  # also imports every page, before the garbage collector is frozen
from labeler.ui.reviewer import component

SESSION_DAYS = 180
HEALTH = "/_stcore/health"
OPEN_PATHS = (HEALTH, "/sign-in", "/sign-out")

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
    app = make_app(study)
    gc.collect()
    gc.freeze()  # Streamlit collects garbage after every page run: without this it walks all modules each time
    app.run(config=config)


def make_app(study: Path) -> st.App:
    """The ASGI application: our sign-in routes, the gate, and Streamlit behind it."""
    return st.App(
        Path(__file__).parent / "app.py",
        routes=[
            Route("/sign-in", _sign_in_page),
            Route("/sign-out", _sign_out(study), methods=["POST", "GET"]),
            Route("/join/{secret}", _join(study)),
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
    """Lets through the health check, signing in, and requests of people who are signed in; from this origin only."""

    def __init__(self, app: ASGIApp, study: Path) -> None:
        self._app, self._study = app, study

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
        if path in OPEN_PATHS or path.startswith("/join/") or self._is_signed_in(connection):
            await self._app(scope, receive, _with_headers(send))
        else:
            response = RedirectResponse("/sign-in", status_code=303)
            await response(scope, receive, _with_headers(send))

    def _is_signed_in(self, connection: HTTPConnection) -> bool:
        token = connection.cookies.get(SESSION_COOKIE)
        if not token:
            return False
        try:
            with open_database(self._study) as db:
                return identity.person_of_session(db, token) is not None
        except LabelerError:
            return False


def _same_origin(connection: HTTPConnection) -> bool:
    origin = connection.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == connection.headers.get("host")


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
        try:
            with open_database(study) as db:
                token = identity.sign_in(db, request.path_params["secret"], now=datetime.now(UTC))
        except SignInFailed as error:
            return _page("Sign in", str(error), status=403)
        except LabelerError as error:
            return _page("Sign in", str(error), status=503)
        response = RedirectResponse("/", status_code=303, headers={"Cache-Control": "no-store"})
        response.set_cookie(
            SESSION_COOKIE, token, max_age=SESSION_DAYS * 86400, httponly=True, samesite="lax",
            secure=request.url.scheme == "https", path="/",
        )  # fmt: skip
        return response

    return endpoint


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
            return response
        form = '<form method="post" action="/sign-out"><button>Sign out</button></form>'
        return _page("Sign out", "Sign out on this device?", form)

    return endpoint


def _sign_in_page(_request: Request) -> Response:
    return _page(
        "Sign in",
        "You are not signed in. Open the sign-in link that your coordinator gave you; it works on any device. "
        "If you have lost it, ask for a new one.",
    )


def _page(title: str, text: str, extra: str = "", *, status: int = 200, clear: bool = False) -> HTMLResponse:
    script = "<script>sessionStorage.clear()</script>" if clear else ""  # nothing of this person stays in the browser
    return HTMLResponse(
        f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 17px/1.6 system-ui, sans-serif; color: #1b2a41; max-width: 34rem; margin: 18vh auto }}
button {{ font: inherit; padding: .4rem 1rem }}</style></head>
<body><h1>{escape(title)}</h1><p>{escape(text)}</p>{extra}{script}</body></html>""",
        status_code=status,
        headers={"Cache-Control": "no-store"},
    )


def describe(address: str, port: int, secrets: Mapping[str, str]) -> list[str]:
    """One line a person: their sign-in link."""
    host = f"[{address}]" if ":" in address else address
    return [f"{name}: http://{host}:{port}/join/{secret}" for name, secret in secrets.items()]
