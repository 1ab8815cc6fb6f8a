"""The requests of the review component: answers, pictures of the next items, the state, and coordinators' decisions.

The component sends these requests by HTTP to the application that also serves Streamlit, so a label needs no page run.
Each request names its session by the cookie, and each request that changes something also by a token in a header.
"""

import asyncio
import gzip
import hmac
import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from labeler.errors import LabelerError, StudyError, for_anyone
from labeler.studies.labelling import answering
from labeler.studies.model import Person, Role
from labeler.studies.people import identity
from labeler.studies.results import splits
from labeler.studies.store import Database, open_database
from labeler.studies.ui.app import NOT_SIGNED_IN, request_token, session_of
from labeler.studies.ui.limits import RateLimit

ANSWERS, ITEMS, STATE, DECISIONS = (f"/api/{name}" for name in ("answers", "items", "state", "decisions"))
METHODS = {ANSWERS: "POST", ITEMS: "GET", STATE: "GET", DECISIONS: "POST"}
TOKEN_HEADER = "x-labeler-token"  # noqa: S105 - the name of a header
MAX_BODY_BYTES = 64 * 1024
BODY_LIMIT_S = 5.0
MAX_CODES = 3
REQUESTS_PER_S = 20  # of one person
N_AT_WORK = 8  # requests that have the study open at the same time
MAX_WAITING = 400  # further requests are asked to come later
LARGE_BYTES = 1000  # larger replies are compressed
WRONG_ROLE = "Your role in this study does not allow this request."
WRONG_TOKEN = "This request does not belong to the person who is signed in now. Reload the page to continue."  # noqa: S105
TOO_MANY = "Too many requests came from you. The browser tries again."
LATER = "The server cannot answer at the moment. The browser tries again."
UNREADABLE = "The browser sent a request that cannot be read. Reload the page to continue."
log = logging.getLogger(__name__)
Work = Callable[[Database, Person], Mapping[str, Any]]


def routes(study: Path) -> list[Route]:
    """Return the routes of the review component."""
    desk = _Requests(study)
    endpoints = {ANSWERS: desk.answers, ITEMS: desk.items, STATE: desk.state, DECISIONS: desk.decisions}
    return [Route(path, endpoint, methods=[METHODS[path]]) for path, endpoint in endpoints.items()]


@dataclass
class _Requests:
    """Answers the requests for one study, a bounded number at the same time."""

    study: Path
    rate: RateLimit = field(default_factory=lambda: RateLimit(REQUESTS_PER_S))
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(N_AT_WORK, "labeler-requests"))
    n_waiting: int = 0

    async def answers(self, request: Request) -> Response:
        """Store answers; reply with the outcome of each answer and with what comes next."""
        content = await _content(request)
        if isinstance(content, Response):
            return content

        def work(db: Database, person: Person) -> Mapping[str, Any]:
            session = identity.session_id(session_of(request.cookies, self.study) or "")
            results = answering.store_answers(
                db,
                person.person_id,
                content.get("answers", []),
                after=content.get("after"),
                clock=lambda: datetime.now(UTC),
                session=session,
            )
            state = answering.screen(db, person.person_id, content.get("check"))
            return {"answers": [asdict(result) for result in results], **state}

        return await self._reply(request, Role.REVIEWER, work)

    async def items(self, request: Request) -> Response:
        """Reply with the pictures of items that are offered to the reviewer."""
        codes = request.query_params.getlist("code")
        if not 0 < len(codes) <= MAX_CODES:
            return _response(HTTPStatus.BAD_REQUEST, {"message": UNREADABLE})
        return await self._reply(
            request, Role.REVIEWER, lambda db, person: {"items": answering.open_items(db, person.person_id, codes)}
        )

    async def state(self, request: Request) -> Response:
        """Reply with the state of the study and of the person, and with the token of this session."""
        token = request_token(session_of(request.cookies, self.study) or "")
        return await self._reply(
            request, Role.REVIEWER, lambda db, person: {**answering.screen(db, person.person_id), "token": token}
        )

    async def decisions(self, request: Request) -> Response:
        """Store a coordinator's decision: a reference label, or the category of a split item."""
        content = await _content(request)
        if isinstance(content, Response):
            return content

        def work(db: Database, person: Person) -> Mapping[str, Any]:
            splits.save_decision(db, content, actor=person.name, now=datetime.now(UTC))
            return {"outcome": answering.Outcome.SAVED}

        return await self._reply(request, Role.COORDINATOR, work)

    async def _reply(self, request: Request, role: Role, work: Work) -> Response:
        session = session_of(request.cookies, self.study)
        if session is None:
            return _response(HTTPStatus.UNAUTHORIZED, {"message": NOT_SIGNED_IN})
        given = request.headers.get(TOKEN_HEADER, "").encode()
        if request.method == "POST" and not hmac.compare_digest(given, request_token(session).encode()):
            return _response(HTTPStatus.FORBIDDEN, {"message": WRONG_TOKEN})
        if not self.rate.allows(session):
            return _response(HTTPStatus.TOO_MANY_REQUESTS, {"message": TOO_MANY})
        if self.n_waiting >= MAX_WAITING:
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, {"message": LATER})
        takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
        self.n_waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self.pool, self._at_work, session, role, work, takes_gzip
            )
        finally:
            self.n_waiting -= 1

    def _at_work(self, session: str, role: Role, work: Work, takes_gzip: bool) -> Response:
        person = None
        try:
            with open_database(self.study) as db:
                person = identity.person_of_session(db, session, now=datetime.now(UTC))
                if person is None:
                    return _response(HTTPStatus.UNAUTHORIZED, {"message": NOT_SIGNED_IN})
                if role not in person.roles:
                    return _response(HTTPStatus.FORBIDDEN, {"message": WRONG_ROLE})
                if not self.rate.allows(person.person_id):  # also counts the person's other sessions
                    return _response(HTTPStatus.TOO_MANY_REQUESTS, {"message": TOO_MANY})
                return _response(HTTPStatus.OK, work(db, person), takes_gzip=takes_gzip)
        except StudyError as error:
            log.warning("%s", error)
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, {"message": for_anyone(error)})
        except LabelerError as error:
            return _response(HTTPStatus.UNPROCESSABLE_ENTITY, {"message": for_anyone(error)})
        except Exception:  # an answer is never lost because of a fault: the browser sends it again
            log.exception("A request of the review component failed.")
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, {"message": LATER})


async def _content(request: Request) -> dict[str, Any] | Response:
    """Return the JSON object of a request, or the response that refuses it."""
    body = b""
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    return _response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"message": UNREADABLE})
        content = json.loads(body)
    except TimeoutError:
        return _response(HTTPStatus.REQUEST_TIMEOUT, {"message": LATER})
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        return _response(HTTPStatus.BAD_REQUEST, {"message": UNREADABLE})
    return content


def _response(status: HTTPStatus, content: Mapping[str, Any], *, takes_gzip: bool = False) -> Response:
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
    if takes_gzip and len(body) > LARGE_BYTES and "token" not in content:
        body, headers["Content-Encoding"] = gzip.compress(body, 5), "gzip"
    return Response(body, status, headers, "application/json")
