"""The requests of the review component: answers, pictures of the next items, the state, and coordinators' decisions.

The component sends these requests by HTTP to the application that also serves Streamlit, so a label needs no page run.
Each request names its session by the cookie, and each request that changes something also by a token in a header.
"""

import asyncio
import gzip
import hmac
import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from labeler.errors import LabelerError, StudyError, for_anyone
from labeler.studies import overview
from labeler.studies.labelling import answering
from labeler.studies.labelling.sent_pictures import PICTURES
from labeler.studies.model import Person, Role
from labeler.studies.people import identity
from labeler.studies.results import splits
from labeler.studies.store import Database
from labeler.studies.ui import connections
from labeler.studies.ui.app import NOT_SIGNED_IN, request_token
from labeler.studies.ui.bodies import CLOSING, BodyRefused, body_of
from labeler.studies.ui.limits import RateLimit, client
from labeler.studies.ui.served import SCOPE, ServedStudy
from labeler.studies.ui.turns import TooManyWaiting, Turns

NAMES = ("answers", "items", "state", "decisions", "summary")
ANSWERS, ITEMS, STATE, DECISIONS, SUMMARY = (f"/api/{name}" for name in NAMES)
METHODS = {ANSWERS: "POST", ITEMS: "GET", STATE: "GET", DECISIONS: "POST", SUMMARY: "GET"}
TOKEN_HEADER = "x-labeler-token"  # noqa: S105 - the name of a header
PROTOCOL_HEADER, PROTOCOL = "x-labeler-protocol", "1"  # changes with the requests, replies or answers that pages keep
MAX_BODY_BYTES = 64 * 1024
MAX_CODES = 3
WORK_PER_S = 20  # of one person, in all windows: answers, pictures, and requests for the state
N_ATTEMPTS, MOMENT_S = 3, 1.0
REFUSAL_S = 0.5  # how long a refusal of too many requests waits
N_AT_WORK = 8  # people whose requests have the study open at the same time
N_WAITING_EACH = 20  # requests of one person; a browser has at most six
MAX_WAITING = 400  # requests of all people; further requests are asked to come later
MAX_KNOWN = 10_000  # sessions whose person is remembered
LARGE_BYTES = 1000  # larger replies are compressed
WRONG_ROLE = "Your role in this study does not allow this request."
WRONG_TOKEN = "This request does not belong to the person who is signed in now. Reload the page to continue."  # noqa: S105
OTHER_VERSION = (
    "This page belongs to another version of the application. Reload it to continue. Your answers are kept in this "
    "browser."
)
TOO_MANY = "Too many requests came from you. The browser tries again."
LATER = "The server cannot answer at the moment. The browser tries again."
UNREADABLE = "The browser sent a request that cannot be read. Reload the page to continue."
log = logging.getLogger(__name__)
Result = TypeVar("Result")
Endpoint = Callable[[Request], Awaitable[Response]]
Work = Callable[[Database, Person, Mapping[str, Any]], Mapping[str, Any]]


def routes() -> list[Route]:
    """Return the routes of the review component."""
    endpoints = {
        ANSWERS: _Requests.answers, ITEMS: _Requests.items, STATE: _Requests.state, DECISIONS: _Requests.decisions,
        SUMMARY: _Requests.summary,
    }  # fmt: skip
    return [Route(path, _of_study(endpoint), methods=[METHODS[path]]) for path, endpoint in endpoints.items()]


def _of_study(endpoint: "Callable[[_Requests, Request], Awaitable[Response]]") -> Endpoint:
    async def answered(request: Request) -> Response:
        study: ServedStudy = request.scope[SCOPE]
        return await endpoint(study.part(_Requests), request)

    return answered


@dataclass
class _Requests:
    """Answers the requests for one study: at most one request of a person at a time, and people take turns.

    Work counts, not requests: a request with fifty answers costs as much as fifty requests with one answer. What is
    counted and who waits is kept by person, so more windows are no advantage. Nothing is kept for sessions that the
    study does not know.
    """

    study: ServedStudy
    rate: RateLimit = field(default_factory=lambda: RateLimit(WORK_PER_S))
    turns: Turns = field(default_factory=lambda: Turns(N_AT_WORK, N_WAITING_EACH))
    known: OrderedDict[str, int] = field(default_factory=OrderedDict)  # session -> id of the person
    n_waiting: int = 0

    async def answers(self, request: Request) -> Response:
        """Store answers; reply with the outcome of each answer and with what comes next."""

        def work(db: Database, person: Person, content: Mapping[str, Any]) -> Mapping[str, Any]:
            session = identity.session_id(self.study.session_of(request.cookies) or "")
            results, desk = answering.store_answers(
                db,
                person.person_id,
                content.get("answers", []),
                after=content.get("after"),
                clock=lambda: datetime.now(UTC),
                session=session,
                pictures=PICTURES,
            )
            state = answering.screen(db, person.person_id, content.get("check"), desk)
            return {"answers": [asdict(result) for result in results], **state}

        return await self._reply(request, Role.REVIEWER, work)

    async def items(self, request: Request) -> Response:
        """Reply with the pictures of items that are offered to the reviewer."""
        codes = request.query_params.getlist("code")
        if not 0 < len(codes) <= MAX_CODES:
            return _response(HTTPStatus.BAD_REQUEST, {"message": UNREADABLE})

        def work(db: Database, person: Person, _content: Mapping[str, Any]) -> Mapping[str, Any]:
            return {"items": answering.open_items(db, person.person_id, codes, PICTURES, asked=True)}

        return await self._reply(request, Role.REVIEWER, work, cost=len(codes))

    async def state(self, request: Request) -> Response:
        """Reply with the state of the study and of the person, and with the token of this session."""
        token = request_token(self.study.session_of(request.cookies) or "")

        def work(db: Database, person: Person, _content: Mapping[str, Any]) -> Mapping[str, Any]:
            return {**answering.screen(db, person.person_id), "token": token}

        return await self._reply(request, Role.REVIEWER, work)

    async def decisions(self, request: Request) -> Response:
        """Store a coordinator's decision: a reference label, or the category of a split item."""

        def work(db: Database, person: Person, content: Mapping[str, Any]) -> Mapping[str, Any]:
            splits.save_decision(db, content, actor=person.name, now=datetime.now(UTC))
            return {"outcome": answering.Outcome.SAVED}

        return await self._reply(request, Role.COORDINATOR, work)

    async def summary(self, request: Request) -> Response:
        """Reply with a line for the page Studies: who is signed in, the state of the study, and what waits there."""

        def work(db: Database, person: Person, _content: Mapping[str, Any]) -> Mapping[str, Any]:
            return overview.summary(db, person, now=datetime.now(UTC))

        return await self._reply(request, None, work)

    async def _reply(self, request: Request, role: Role | None, work: Work, *, cost: int = 1) -> Response:
        """Check who asks before the body is read and before anything is kept; then wait for a turn, and work."""
        session, is_post = self.study.session_of(request.cookies), request.method == "POST"
        if request.headers.get(PROTOCOL_HEADER) != PROTOCOL:
            return _response(HTTPStatus.CONFLICT, {"message": OTHER_VERSION}, headers=CLOSING)
        if session is None:
            return _response(HTTPStatus.UNAUTHORIZED, {"message": NOT_SIGNED_IN}, headers=CLOSING)
        given = request.headers.get(TOKEN_HEADER, "").encode()
        if is_post and not hmac.compare_digest(given, request_token(session).encode()):
            return _response(HTTPStatus.FORBIDDEN, {"message": WRONG_TOKEN}, headers=CLOSING)
        person_id: int | Response | None = self.known.get(session)
        if person_id is None:
            stranger = ("not signed in", client(request.client.host if request.client else ""))
            person_id = await self._in_turn(stranger, self.study.in_thread(self._recognised, session))
        if isinstance(person_id, Response):
            return person_id
        connections.note_signed_in(request.client)
        content: dict[str, Any] = {}
        if is_post:
            try:
                content = _object(await body_of(request, MAX_BODY_BYTES))
            except BodyRefused as refusal:
                message = LATER if refusal.status is HTTPStatus.REQUEST_TIMEOUT else UNREADABLE
                is_sent = refusal.status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE  # closing would lose the reply
                return _response(refusal.status, {"message": message}, headers=None if is_sent else CLOSING)
            except ValueError:
                return _response(HTTPStatus.BAD_REQUEST, {"message": UNREADABLE})
            given_answers = content.get("answers")
            cost = max(1, len(given_answers)) if isinstance(given_answers, list) else 1
        if not await self._may_work(person_id, cost):
            return await _too_many()
        takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
        steps = self._at_work(session, role, work, content, takes_gzip)
        # answers go before pictures
        return await self._in_turn(person_id, self.study.reply_in_thread(steps), urgent=is_post)

    async def _may_work(self, person_id: int, cost: int) -> bool:
        """Count work of a person, if it must wait only a moment; return whether it was counted."""
        for _attempt in range(N_ATTEMPTS):
            wait_s = self.rate.wait_s(person_id, cost)
            if wait_s == 0 or wait_s > MOMENT_S:
                return wait_s == 0
            await asyncio.sleep(wait_s)
        return False

    async def _in_turn(
        self, who: Hashable, step: Coroutine[Any, Any, Result], *, urgent: bool = False
    ) -> Result | Response:
        """Do a step when it is the turn of this person; reply at once if too much work waits."""
        if self.n_waiting >= MAX_WAITING:
            step.close()
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, {"message": LATER})
        self.n_waiting += 1
        try:
            async with self.turns.coming_turn(who, urgent=urgent):
                return await step
        except TooManyWaiting:
            pass
        finally:
            step.close()  # if it was never its turn
            self.n_waiting -= 1
        return await _too_many()

    def _recognised(self, session: str) -> int | Response:
        """Return the id of the person whose session this is, and remember it; return the refusal if it is nobody's."""
        try:
            with self.study.open() as db:
                person = identity.person_of_session(db, session, now=datetime.now(UTC))
        except LabelerError as error:
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, {"message": for_anyone(error)})
        if person is None:
            return _response(HTTPStatus.UNAUTHORIZED, {"message": NOT_SIGNED_IN}, headers=CLOSING)
        self.known[session] = person.person_id
        while len(self.known) > MAX_KNOWN:
            self.known.popitem(last=False)
        return person.person_id

    def _at_work(
        self, session: str, role: Role | None, work: Work, content: Mapping[str, Any], takes_gzip: bool
    ) -> Iterator[Response]:
        """Yield the reply when its answers are on the disk, and then close the study.

        If nobody else has the study open, SQLite then copies its log into the file, which takes as long as an answer.
        """
        try:
            with self.study.open() as db:
                person = identity.person_of_session(db, session, now=datetime.now(UTC))
                if person is None:
                    self.known.pop(session, None)
                    yield _response(HTTPStatus.UNAUTHORIZED, {"message": NOT_SIGNED_IN})
                elif role is not None and role not in person.roles:
                    yield _response(HTTPStatus.FORBIDDEN, {"message": WRONG_ROLE})
                else:
                    yield _response(HTTPStatus.OK, work(db, person, content), takes_gzip=takes_gzip)
        except StudyError as error:
            log.warning("%s", error)
            yield _response(HTTPStatus.SERVICE_UNAVAILABLE, {"message": for_anyone(error)})
        except LabelerError as error:
            yield _response(HTTPStatus.UNPROCESSABLE_ENTITY, {"message": for_anyone(error)})
        except Exception:  # an answer is never lost because of a fault: the browser sends it again
            log.exception("A request of the review component failed.")
            yield _response(HTTPStatus.SERVICE_UNAVAILABLE, {"message": LATER})


async def _too_many() -> Response:
    """Refuse the request of a person who sends too many, and only after a while: a program sends the next at once."""
    await asyncio.sleep(REFUSAL_S)
    return _response(HTTPStatus.TOO_MANY_REQUESTS, {"message": TOO_MANY})


def _object(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body; raises ValueError if it is none."""
    try:
        content: dict[str, Any] = dict(**json.loads(body))
    except (RecursionError, TypeError):
        raise ValueError("The body is no JSON object.") from None
    return content


def _response(
    status: HTTPStatus,
    content: Mapping[str, Any],
    *,
    takes_gzip: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Response:
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
    all_headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding", **(headers or {})}
    if takes_gzip and len(body) > LARGE_BYTES and "token" not in content:
        body, all_headers["Content-Encoding"] = gzip.compress(body, 5), "gzip"
    return Response(body, status, all_headers, "application/json")
