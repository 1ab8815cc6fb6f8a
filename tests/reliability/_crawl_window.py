"""One window of a signed-in person, without a browser, and everything that the server sends to it.

Pages are requested as a browser does, over HTTP and the websocket; every response and message is kept unchanged.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any, Self
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

from google.protobuf.message import Message  # type: ignore[import-untyped]  # brings no types
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from labeler.ui.answers import ANSWERS, ITEMS, METHODS, TOKEN_HEADER
from labeler.ui.app import SESSION_COOKIE
from tests.performance.wire import acknowledgement, answer_to, body_of, events_of, handshake, page_run, trigger_of
from tests.reliability._hidden import Hidden, leaves

AGAIN_S = 0.1  # after too many requests
LIMIT_S = 180.0  # limit for one page run or one answer


class Unseen(Exception):
    """A page does not show its expected content, so searching it would prove nothing."""


@dataclass
class Heard:
    """Everything that was sent to a person, with the address it was sent for."""

    frames: list[tuple[str, bytes]] = field(default_factory=list)
    answers: list[tuple[str, bytes]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)  # the pictures that were sent by HTTP

    def sent(self) -> Iterator[tuple[str, str | bytes]]:
        """Each message as it was received, and its parts, in which words are separate from their surroundings."""
        yield from self.came
        for where, frame in self.frames:
            for leaf in leaves(ForwardMsg.FromString(frame)):
                yield where, leaf

    @property
    def came(self) -> list[tuple[str, bytes]]:
        """Each message as it was received."""
        return [*self.answers, *self.frames]

    def leaks(self, hidden: Hidden) -> dict[str, list[str]]:
        """The forbidden data that were found, by place."""
        places: dict[str | bytes, str] = {}
        for where, piece in self.sent():
            places.setdefault(piece, where)
        by_place: dict[str, list[str | bytes]] = {}
        for piece, where in places.items():
            by_place.setdefault(where, []).append(piece)
        found = {where: sorted(hidden.found_in(pieces)) for where, pieces in by_place.items()}
        return {where: names for where, names in found.items() if names}

    def texts(self) -> Iterator[str]:
        """The texts of all messages, without hashes, which are derived from the message."""
        for _, frame in self.frames:
            message = ForwardMsg.FromString(frame)
            message.hash = ""
            yield from (leaf for leaf in leaves(message) if isinstance(leaf, str))

    def page_hashes(self) -> set[str]:
        """Names that Streamlit derives from the titles of pages: two people may get the same page."""
        messages = (ForwardMsg.FromString(frame) for _, frame in self.frames)
        return {page.page_script_hash for message in messages for page in message.navigation.app_pages}

    def screens(self) -> list[dict[str, Any]]:
        """Return the data that the review component received."""
        messages = (ForwardMsg.FromString(frame) for _, frame in self.frames)
        handed = (message.delta.new_element.bidi_component.json for message in messages)
        return [*(json.loads(text) for text in handed if text), *({"offers": [item]} for item in self.items)]

    @property
    def n_places(self) -> int:
        return len({where for where, _ in self.came})

    @property
    def n_bytes(self) -> int:
        return sum(len(piece) for _, piece in self.came)


@dataclass(frozen=True)
class Answer:
    """The response to a request."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header, "" if it is missing."""
        return next((value for key, value in self.headers if key.lower() == name), "")


@dataclass(frozen=True)
class Caller:
    """A client: the address of the server, the cookie, and the client's address on this machine."""

    url: str
    heard: Heard
    cookie: str = ""
    source: str = "127.0.0.1"

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        """Send an HTTP request and keep the response."""
        place = urlsplit(self.url).netloc
        connection = HTTPConnection(place, timeout=LIMIT_S, source_address=(self.source, 0))
        encoding = "identity" if path.partition("?")[0] in METHODS else "gzip"
        given = {"Cookie": self.cookie, "Accept-Encoding": encoding, **headers}
        connection.request(method, path, body=body, headers=given)
        came = connection.getresponse()
        answer = Answer(came.status, came.getheaders(), came.read())
        connection.close()
        where = f"{method} {path}"
        self.heard.answers.append((where, f"{came.status} {came.reason}\n{came.headers}".encode()))
        self.heard.answers.append((where, answer.body))
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS and path.partition("?")[0] in METHODS:
            time.sleep(AGAIN_S)
            return self.ask(path, method, body, **headers)
        return answer

    def sign_in(self, secret: str) -> Self:
        """The same client with the cookie that a sign-in link gives."""
        cookie = self.ask(f"/join/{secret}").header("set-cookie").partition(";")[0]
        if not cookie.startswith(SESSION_COOKIE):
            raise Unseen("the sign-in link gave no session")
        return type(self)(self.url, self.heard, cookie, self.source)

    def post_link(self, link: str) -> Answer:
        """Paste a link into the form of the sign-in page."""
        form = "application/x-www-form-urlencoded"
        return self.ask("/sign-in", "POST", f"link={link}", Origin=self.url, **{"Content-Type": form})


class Window:
    """A websocket to the server, with the content of the latest page."""

    def __init__(self, caller: Caller, *, prefix: str = "", session: str = "", known: Iterable[str] = ()) -> None:
        self._caller, self._prefix, self._known = caller, prefix, list(known)
        self._at = f"{prefix}/"
        self.elements: list[tuple[str, Any]] = []
        self.seen: list[ForwardMsg] = []
        self.session, self.took_s = "", 0.0
        self._open = ExitStack()
        self._socket: ClientConnection = self._open.enter_context(
            connect(**handshake(caller.url, origin=caller.url, session=session, Cookie=caller.cookie))
        )
        self._page_hash = ""
        self._told: dict[str, Any] = {}  # the newest reply since the page ran
        self._pictures: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Close the window without waiting for responses."""
        self._open.close()

    def go(self, page: str, must_show: str = "") -> Self:
        """Open a page by its address; raises Unseen if it does not show these words."""
        self._at, self._page_hash = f"{self._prefix}/{page}", ""
        return self.run(page=page, must_show=must_show)

    def run(
        self, *, page: str = "", must_show: str = "", widgets: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Self:
        """One page run with changed widgets: id -> the fields of the widget's state."""
        begun = time.perf_counter()
        self._told = {}
        self.begin(page, widgets or {})
        self._listen()
        self.took_s = time.perf_counter() - begun
        if must_show not in self.text:
            raise Unseen(f"{self._at} does not show {must_show!r}")
        return self

    def begin(self, page: str, widgets: Mapping[str, Mapping[str, Any]]) -> None:
        """Request a page run without waiting for it."""
        message = page_run(self._caller.url, self._page_hash, page=page, known=self._known, widgets=widgets)
        self._socket.send(message.SerializeToString())

    def press(self, label: str, must_show: str = "") -> Self:
        """Press the first button with this label."""
        return self.run(must_show=must_show, widgets={self.widget("button", label).id: {"trigger_value": True}})

    def widget(self, kind: str, label: str = "") -> Any:
        """The first widget of a kind with this label on the page."""
        found = [one for of_kind, one in self.elements if of_kind == kind and label in getattr(one, "label", "")]
        if not found:
            raise Unseen(f"{self._at} has no {kind} {label!r}")
        return found[0]

    def tell(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send an event of the review component; returns the acknowledgement, without a page run."""
        begun = time.perf_counter()
        headers = {TOKEN_HEADER: self.data["token"], "Content-Type": "application/json", "Origin": self._caller.url}
        came = self._caller.ask(ANSWERS, "POST", body_of(event), **headers)
        told = json.loads(came.body)
        if came.status == HTTPStatus.OK:
            self._told |= told
            self.look()
        self.took_s = time.perf_counter() - begun
        return acknowledgement(came.status, told)

    def look(self) -> None:
        """Request the pictures of the offered items, as the component does."""
        codes = [offer["code"] for offer in self.data["offers"] if offer["code"] not in self._pictures]
        if codes and not self.data["closed"]:
            came = self._caller.ask(f"{ITEMS}?{urlencode([('code', code) for code in codes])}")
            items = json.loads(came.body)["items"]
            self._caller.heard.items += items
            self._pictures |= {item["code"]: item.get("panels") for item in items}

    def change(self, change: Mapping[str, Any]) -> Self:
        """Ask for a page run because of a change, as the component does."""
        component = [one for kind, one in self.elements if kind == "bidi_component"][-1]  # before it only sent data
        return self.run(widgets={events_of(component): {"json_trigger_value": trigger_of(change)}})

    def answer(self, answer: str, **other: Any) -> Mapping[str, Any]:
        """Answer the first offered item; `other` replaces fields that a browser would send."""
        return self.tell(answer_to(self.data["offers"][0], answer, **other))

    def request(self, payload: str, session: str, **fields: Any) -> None:
        """Request an operation of the server outside page runs, in the name of a session.

        The server drops the operations of reviewers, so a page run follows, and everything before its end is kept.
        """
        message = BackMsg()
        operation = message.backend_operation_request
        operation.request_id, operation.session_id = uuid4().hex, session
        getattr(operation, payload).SetInParent()
        for name, value in fields.items():
            setattr(getattr(operation, payload), name, value)
        self._socket.send(message.SerializeToString())
        self.run()
        if any(message.WhichOneof("type") == "backend_operation_response" for message in self.seen):
            raise Unseen(f"{self._at} got a response to {payload}")

    @property
    def data(self) -> dict[str, Any]:
        """The data that the review component received; {} on another page."""
        found = [one for kind, one in self.elements if kind == "bidi_component" and one.json]
        data = dict(json.loads(found[-1].json)) | self._told if found else {}
        if "offers" in data:
            offers = [
                {**offer, "panels": offer["panels"] or self._pictures.get(offer["code"])} for offer in data["offers"]
            ]
            data["offers"] = offers
        return data

    @property
    def text(self) -> str:
        """All texts of the page."""
        return "\n".join(str(leaf) for message in self.seen for leaf in leaves(message))

    def _listen(self) -> None:
        """Read until the end of a page run and of the page runs that it requested."""
        self.seen, self.elements = [], []
        while True:
            message = self._next()
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.elements = []
                self.session = message.new_session.initialize.session_id or self.session
            elif kind == "delta":
                self._page_hash = message.metadata.active_script_hash
                self.elements.append(_element(message))
            elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                break
        if any(kind == "exception" for kind, _ in self.elements):
            raise Unseen(f"{self._at} ended with an error")

    def _next(self) -> ForwardMsg:
        try:
            frame = self._socket.recv(timeout=LIMIT_S, decode=False)
        except (TimeoutError, ConnectionClosed) as reason:
            raise Unseen(f"{self._at} was not sent to its end: {reason}") from reason
        self._caller.heard.frames.append((self._at, frame))
        self.seen.append(ForwardMsg.FromString(frame))
        return self.seen[-1]


def _element(message: ForwardMsg) -> tuple[str, Message | None]:
    element = message.delta.new_element
    kind = element.WhichOneof("type")
    return (kind, getattr(element, kind)) if kind else ("", None)
