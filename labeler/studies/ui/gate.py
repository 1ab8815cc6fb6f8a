"""Access control for everything that Streamlit serves."""

import re
import time
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from labeler.errors import LabelerError
from labeler.studies.model import Person, Role
from labeler.studies.people import identity
from labeler.studies.ui import answers, component, connections, provider, sign_in, static_files
from labeler.studies.ui.limits import RateLimit
from labeler.studies.ui.messages import MESSAGES_PER_S, Messages
from labeler.studies.ui.served import PERSON_HEADER, SCOPE, ServedStudies, ServedStudy, person_header
from labeler.studies.ui.studies_page import StudiesPage

HEALTH, HOST_CONFIG, STREAM = "/_stcore/health", "/_stcore/host-config", "/_stcore/stream"
OPEN_PATHS = (HEALTH, "/sign-in", sign_in.PROVIDER_PATH, sign_in.ASK_PATH, "/sign-out")
LET_IN_S = 5.0
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_FROM_ELSEWHERE = PlainTextResponse("This request came from another site, so it was refused.", status_code=403)

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


class SignInGate:
    """Middleware that accepts only the health check, sign-in, and requests of people who are signed in.

    Each study has its own path, its own people and its own sessions. Requests must come from the pages of this
    application, not from another site.

    Reviewers can reach pages and the program files. They cannot reach anything else in Streamlit, such as uploads,
    other people's downloads, or metrics. The gate uses the same path as Streamlit's router, because a header could name
    a different path.
    """

    def __init__(self, app: ASGIApp, studies: ServedStudies) -> None:
        self._app, self._studies, self._studies_page = app, studies, StudiesPage(studies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass the request on to the application, without the path of its study."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        study, path = self._studies.at(scope["path"])
        if study is not None and path:
            await study.part(_StudyGate).answer(self._app, _within(scope, study, path), receive, send)
        elif scope["type"] == "websocket":
            await _refuse_websocket(receive, send)
        else:
            outside = self._outside(HTTPConnection(scope), study)
            own = {key: value for key, value in scope.items() if key != "app" or outside is self._app}
            await outside(own, receive, _with_headers(send, scope["path"]))  # without "app", a router answers by itself

    def _outside(self, connection: HTTPConnection, study: ServedStudy | None) -> ASGIApp:
        """Return the application that answers a request that belongs to no study."""
        path = connection.scope["path"]
        if study is not None:
            return RedirectResponse(f"{study.base}/", status_code=303)
        if path == HEALTH or (path in provider.PATHS and provider.is_configured()):
            return self._app
        if path == "/" and (arrived := sign_in.arrived_study(connection, self._studies)) is not None:
            return RedirectResponse(f"{arrived.base}{sign_in.PROVIDER_PATH}", status_code=303)
        return self._studies_page.router


class _StudyGate:
    """The access control of one study."""

    def __init__(self, study: ServedStudy) -> None:
        self._study, self._messages = study, RateLimit(MESSAGES_PER_S)
        self._let_in_until: dict[str, float] = {}  # session id -> monotonic time

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request within this study, or pass it on to the application."""
        connection = HTTPConnection(scope)
        if scope["type"] == "websocket":
            person = await self._person_of_websocket(connection)
            if person is not None:
                signed_in = partial(self._person_or_nobody, connection)
                messages = Messages(receive, send, person, signed_in, self._messages)
                await app(_belonging_to(scope, self._study, person), messages.receive, messages.send)
            else:
                await _refuse_websocket(receive, send)
            return
        target = await self._target(app, connection)
        await target(scope, receive, _with_headers(send, connection.scope["path"]))

    async def _target(self, app: ASGIApp, connection: HTTPConnection) -> ASGIApp:
        """Return the application that answers the request: Streamlit, a redirect to the sign-in page, or a refusal."""
        path, method = connection.scope["path"], connection.scope["method"]
        if _is_open(path):
            return app
        if answers.METHODS.get(path) == method:  # these routes look up the person themselves, when it is their turn
            return app if sign_in.same_origin(connection) else _FROM_ELSEWHERE
        if _is_program(path) and self._was_let_in(connection):
            return static_files.response(connection) or app
        try:
            person = await self._person(connection)
        except LabelerError as error:
            return sign_in.unavailable(error)
        if person is None:
            return RedirectResponse(f"{self._study.base}/sign-in", status_code=303)
        if method not in SAFE_METHODS and not sign_in.same_origin(connection):
            return _FROM_ELSEWHERE
        if Role.COORDINATOR not in person.roles and not _is_for_everyone(path):
            return PlainTextResponse("Only coordinators of the study can open this page.", status_code=403)
        return static_files.response(connection) or app

    async def _person_of_websocket(self, connection: HTTPConnection) -> Person | None:
        """Return the person who may open a websocket with this request, or None."""
        if connection.scope["path"] != STREAM or not sign_in.same_origin(connection):
            return None
        return await self._person_or_nobody(connection)

    async def _person_or_nobody(self, connection: HTTPConnection) -> Person | None:
        try:
            return await self._person(connection)
        except LabelerError:
            return None  # the browser will try again

    async def _person(self, connection: HTTPConnection) -> Person | None:
        """Return the signed-in person; raise LabelerError if the study cannot be read."""
        token = self._study.session_of(connection.cookies)
        if token is None:
            return None
        person = await self._study.in_thread(self._look_up, token)
        now = time.monotonic()
        self._let_in_until = {session: until for session, until in self._let_in_until.items() if until > now}
        if person is not None:
            self._let_in_until[token] = now + LET_IN_S
            connections.note_signed_in(connection.client)
        return person

    def _look_up(self, token: str) -> Person | None:
        with self._study.open() as db:
            return identity.person_of_session(db, token, now=datetime.now(UTC))

    def _was_let_in(self, connection: HTTPConnection) -> bool:
        """Return whether this session was checked a moment ago.

        The check is not repeated, because a page loads about seventy program files.
        """
        session = self._study.session_of(connection.cookies) or ""
        was_let_in = self._let_in_until.get(session, 0) > time.monotonic()
        if was_let_in:
            connections.note_signed_in(connection.client)
        return was_let_in


def _within(scope: Scope, study: ServedStudy, path: str) -> Scope:
    """Return the scope of a request within a study: with the path within the study, and with the study."""
    return {**scope, "path": path, "raw_path": quote(path).encode(), SCOPE: study}


def _belonging_to(scope: Scope, study: ServedStudy, person: Person) -> Scope:
    """Add the ids of study and person as a header that browsers cannot set.

    With this header, Streamlit lets only the same person resume a session, and a page run knows its study.
    """
    own = PERSON_HEADER.encode()
    headers = [(name, value) for name, value in scope["headers"] if name != own]
    return {**scope, "headers": [*headers, (own, person_header(study, person).encode())]}


async def _refuse_websocket(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close", "code": 1008})  # closing before accepting becomes status 403


def _is_open(path: str) -> bool:
    """Return whether this path is open to people who are not signed in."""
    return path in OPEN_PATHS or re.fullmatch("/join/[^/]+", path) is not None


def _is_program(path: str) -> bool:
    """Return whether the path is a program file, which is the same for everyone."""
    return path.startswith((static_files.STATIC, f"{component.ASSETS}/"))


def _is_for_everyone(path: str) -> bool:
    """Return whether everyone who is signed in may reach this path.

    The path of a page has only one part.
    """
    return _is_program(path) or path in (HEALTH, HOST_CONFIG) or path.rstrip("/").count("/") <= 1


def _with_headers(send: Send, path: str) -> Send:
    """Add headers to a response that exclude other sites.

    Unless caching is allowed explicitly, the headers also forbid caching.
    """

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers", [])
            extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            if not _is_program(path) and all(name.lower() != b"cache-control" for name, _ in headers):
                extra.append((b"cache-control", b"no-store"))
            if not _is_open(path) and any(value.startswith(b"text/html") for _, value in headers):
                extra.append((b"link", static_files.preload().encode()))
            message = {**message, "headers": [*headers, *extra]}
        await send(message)

    return sending
