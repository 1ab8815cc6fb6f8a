"""A browser window as the server sees it: requests and Streamlit's protocol over a websocket, byte by byte."""

import http.client
import json
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from labeler.studies.ui.answers import PROTOCOL, PROTOCOL_HEADER
from tests.performance.wire import Line, acknowledgement, answer_to, body_of, events_of, handshake, origin_of, page_run

LOOPBACK = "127.0.0.1"
LIMIT_S = 180


@dataclass(frozen=True)
class Reply:
    """A response; status 0 if the server closed the connection without one. Header names are in lower case."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        return next((value for found, value in self.headers if found == name), "")

    @property
    def head(self) -> bytes:
        return "\n".join([str(self.status), *(f"{name}: {value}" for name, value in self.headers)]).encode()

    @property
    def raw(self) -> bytes:
        """Headers and body in one text, for searches."""
        return self.head + b"\n\n" + self.body


def ask(
    url: str, method: str, target: str | bytes, *, headers: Mapping[str, str | None] | None = None,
    body: bytes = b"", source: str = LOOPBACK,
) -> Reply:  # fmt: skip
    """Send one request on a new connection, from any address 127.0.0.0/8 of this machine.

    `target` stands in the request line as it is, after the path of `url`; a header of None leaves out Host or the
    length.
    """
    where = urlsplit(url)
    standard = {
        "Host": where.netloc, "Connection": "close", "Content-Length": str(len(body)) if body else None,
        PROTOCOL_HEADER: PROTOCOL,
    }  # fmt: skip
    sent = {name: value for name, value in (standard | dict(headers or {})).items() if value}
    line = target.encode("latin-1") if isinstance(target, str) else target
    line = where.path.encode() + line if line.startswith(b"/") else line
    head = [b" ".join([method.encode(), line, b"HTTP/1.1"]), *(f"{n}: {v}".encode("latin-1") for n, v in sent.items())]
    address = (where.hostname or LOOPBACK, where.port or 80)
    try:
        with socket.create_connection(address, LIMIT_S, source_address=(source, 0)) as connection:
            connection.sendall(b"\r\n".join([*head, b"", body]))
            answer = http.client.HTTPResponse(connection, method=method)
            answer.begin()
            found = tuple((name.lower(), value) for name, value in answer.getheaders())
            return Reply(answer.status, found, answer.read())
    except (ConnectionError, http.client.HTTPException):
        return Reply(0)


FIGURES = "view=figures"  # the view of the page Results that offers deferred downloads
LOG = "view=log"  # the view of the page Study that offers a file when it opens
AGAIN_S = 0.1
Event = dict[str, Any]


class Refused(Exception):
    """The server did not open a websocket."""


class Body(bytes):
    """The body of a request that sends answers, well-formed or not."""


class Window:
    """One open window; `frames` has everything that it received."""

    gets_operations = True  # whether the server responds to requests of operations

    def __init__(
        self, url: str, cookie: str = "", *, session: str = "", origin: str | None = "", source: str = LOOPBACK,
        **headers: str,
    ) -> None:  # fmt: skip
        self._url, self._cookie, self._source, self._stack = url, cookie, source, ExitStack()
        self._line = Line(url, cookie, "", source)
        self.frames: list[bytes] = []
        self.ack: Event | None = None  # what became of the event sent last
        self.data: Event = {}  # of the review component
        self.session = self.page = self.widget = ""  # Streamlit's names
        self.pages: dict[str, str] = {}  # title to Streamlit's name of its script
        self.elements: list[tuple[str, Any]] = []  # of the latest page run, by kind
        self.ids: set[str] = set()  # of the widgets of all pages
        self.files: set[str] = set()  # deferred downloads
        self.closed, self.broken, self.limit_s = False, 0, LIMIT_S  # `broken`: page runs that ended with an error
        more = {name.replace("_", "-"): value for name, value in headers.items()} | (
            {"Cookie": cookie} if cookie else {}
        )
        try:
            asked = handshake(url, origin=origin_of(url) if origin == "" else origin, session=session, **more)
            opened = connect(**asked, close_timeout=1, source_address=(source, 0))
            self._socket = self._stack.enter_context(opened)
        except (InvalidHandshake, ConnectionError) as error:
            raise Refused(str(error)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def text(self) -> bytes:
        """Everything that this window received, as text."""
        return b"\n".join(self.frames)

    def open(self) -> Self:
        """Request the first page."""
        self.send(self.rerun())
        return self

    def event(self, answer: str = "similar", **other: Any) -> Event:
        """Return a valid answer to the first offered item, with some fields replaced."""
        offer = (self.data["offers"] or [self.data["last"]])[0]  # with no items left, the last answer can change
        return answer_to(offer, answer, **other)

    def rerun(self, **other: Any) -> BackMsg:
        message = page_run(self._url, self.page)
        for name, value in other.items():
            setattr(message.rerun_script, name, value)
        return message

    def say(self, event: object) -> Event | None:
        """Send an event as the component does; returns the server's response."""
        self.send(body(event))
        return self.ack

    def label(self, answer: str = "similar", **other: Any) -> Event | None:
        """Answer the first offered item."""
        return self.say(self.event(answer, **other))

    def send(self, message: BackMsg | bytes | str) -> None:
        """Send any message and read everything that follows from it."""
        self.post(message)
        self.wait(message)

    def post(self, message: BackMsg | bytes | str) -> None:
        """Send without waiting; a plain page run follows a message that starts none, so that waiting can end."""
        if isinstance(message, Body):
            self._line.post(bytes(message))
            return
        try:
            self._socket.send(message.SerializeToString() if isinstance(message, BackMsg) else message)
            if self._effect(message) == "other":
                self._socket.send(self.rerun().SerializeToString())
        except ConnectionClosed:
            self.closed = True

    def wait(self, message: BackMsg | bytes | str) -> None:
        """Read the results of a message, up to the end of the page run."""
        if isinstance(message, Body):
            self._hear(message)
            return
        try:
            self._read(self._effect(message))
        except ConnectionClosed:
            self.closed = True

    def _hear(self, message: Body) -> None:
        """Read the reply to a request; wait and send it again if too many requests were sent."""
        status, content = self._line.reply()
        while status == HTTPStatus.TOO_MANY_REQUESTS:
            time.sleep(AGAIN_S)
            self._line.post(bytes(message))
            status, content = self._line.reply()
        self.frames.append(content)
        told = json.loads(content)
        self.broken += status == HTTPStatus.INTERNAL_SERVER_ERROR
        self.ack = acknowledgement(status, told)
        self.data |= told if status == HTTPStatus.OK else {}

    def close(self) -> None:
        self._line.close()
        self._stack.close()
        self.closed = True

    def _effect(self, message: BackMsg | bytes | str) -> str:
        kind = _kind(message)
        return "other" if kind == "operation" and not self.gets_operations else kind

    def _read(self, kind: str) -> None:
        while True:  # ends with the run, when the server closes the connection, or after this silence
            message = self.keep(self._socket.recv(timeout=self.limit_s, decode=False))
            self._take(message)
            came = message.WhichOneof("type")
            ended = came == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if ended or (came == "backend_operation_response" and kind == "operation"):
                return

    def keep(self, frame: bytes) -> ForwardMsg:
        """Keep what came from the server; returns the message."""
        message = ForwardMsg.FromString(frame)
        if message.HasField("new_session"):
            message.new_session.ClearField("main_script_path")  # Streamlit's own, the same for everyone signed in
        self.frames.append(message.SerializeToString())
        return message

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session, self.ack = message.new_session.initialize.session_id or self.session, None
            self.elements = []
        elif kind == "navigation":
            self.pages = {page.page_name: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "delta":
            element = message.delta.new_element
            which = element.WhichOneof("type")
            inner: Any = getattr(element, which) if which else None
            self.elements.append((which or "", inner))
            self.broken += which == "exception"
            self.ids |= {getattr(inner, "id", "")} - {""}
            self.files |= {getattr(inner, "deferred_file_id", "")} - {""}
            told = json.loads(element.bidi_component.json or "{}")
            if told.get("mode") == "label":
                self.data = told
                self._line.close()
                self._line = Line(self._url, self._cookie, told["token"], self._source)
                self.widget = events_of(element.bidi_component)
                self.page = message.metadata.active_script_hash


class ReviewersWindow(Window):
    """A window of a person whose requests of operations the server drops."""

    gets_operations = False


def body(*events: object) -> Body:
    """Return the request that sends these answers."""
    return as_body(body_of(*events))


def as_body(content: str) -> Body:
    """Return a request with this content, which should be JSON."""
    return Body(content.encode("utf-8", "surrogatepass"))


def demand(file: str, session: str) -> BackMsg:
    """Return the message that requests a deferred download."""
    message = BackMsg()
    message.backend_operation_request.request_id = "x"
    message.backend_operation_request.session_id = session
    message.backend_operation_request.deferred_file.file_id = file
    return message


def _kind(sent: BackMsg | bytes | str) -> str:
    """The effect of a message: a `run`, an `operation` with a response, or `other`; invalid messages are dropped."""
    try:
        message = sent if isinstance(sent, BackMsg) else BackMsg.FromString(sent if isinstance(sent, bytes) else b"")
    except DecodeError:
        return "other"
    if message.WhichOneof("type") == "backend_operation_request":
        return "operation"
    starts_run = message.WhichOneof("type") == "rerun_script" and not message.rerun_script.fragment_id
    return "run" if starts_run else "other"
