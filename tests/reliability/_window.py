"""A browser window as the server sees it: Streamlit's protocol over a websocket, byte by byte."""

import json
from contextlib import ExitStack
from typing import Any, Self

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # brings no types
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from tests.performance.wire import answer_to, events_of, handshake, page_run, trigger_of
from tests.reliability._asking import LOOPBACK

LIMIT_S = 180
Event = dict[str, Any]


class Refused(Exception):
    """The server did not open a websocket."""


class Window:
    """One open window; `frames` has everything that it received.

    Attributes
    ----------
    data : dict
        What the review component was given last.
    ack : dict or None
        What became of the event sent last.
    session : str
        Streamlit's name for what this window belongs to.
    pages : dict of str to str
        The pages listed, title to what Streamlit calls its script.
    ids : set of str
        The widgets of all pages seen.
    files : set of str
        What is made when its button is pressed, by Streamlit's name for it.
    broken : int
        How many page runs ended with an error nobody had thought of.
    closed : bool
    limit_s : float
        How long to wait for the next frame.
    """

    def __init__(
        self, url: str, cookie: str = "", *, session: str = "", origin: str | None = "", source: str = LOOPBACK,
        **headers: str,
    ) -> None:  # fmt: skip
        self._url, self._stack = url, ExitStack()
        self.frames: list[bytes] = []
        self.data: Event = {}
        self.session = self.page = self.widget = ""
        self.pages: dict[str, str] = {}
        self.ids: set[str] = set()
        self.files: set[str] = set()
        self.closed, self.broken, self.limit_s = False, 0, LIMIT_S
        more = {name.replace("_", "-"): value for name, value in headers.items()} | (
            {"Cookie": cookie} if cookie else {}
        )
        try:
            asked = handshake(url, origin=url if origin == "" else origin, session=session, **more)
            opened = connect(**asked, close_timeout=1, source_address=(source, 0))
            self._socket = self._stack.enter_context(opened)
        except (InvalidHandshake, ConnectionError) as error:
            raise Refused(str(error)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def ack(self) -> Event | None:
        return self.data.get("ack")

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

    def rerun(self, trigger: str | None = None, **other: Any) -> BackMsg:
        """The message that requests a page run; the component sends `trigger`, a text that should be JSON."""
        widgets = {} if trigger is None else {self.widget: {"json_trigger_value": trigger}}
        message = page_run(self._url, self.page, widgets=widgets)
        for name, value in other.items():
            setattr(message.rerun_script, name, value)
        return message

    def say(self, event: object) -> Event | None:
        """Send an event as the component does; returns the server's response."""
        self.send(self.rerun(trigger_of(event)))
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
        try:
            self._socket.send(message.SerializeToString() if isinstance(message, BackMsg) else message)
            if _kind(message) == "other":
                self._socket.send(self.rerun().SerializeToString())
        except ConnectionClosed:
            self.closed = True

    def wait(self, message: BackMsg | bytes | str) -> None:
        """Read the results of a message, up to the end of the page run."""
        try:
            self._read(_kind(message))
        except ConnectionClosed:
            self.closed = True

    def close(self) -> None:
        self._stack.close()
        self.closed = True

    def _read(self, kind: str) -> None:
        while True:  # ends with the run, when the server closes the connection, or after this silence
            message = ForwardMsg.FromString(self._socket.recv(timeout=self.limit_s, decode=False))
            if message.HasField("new_session"):
                message.new_session.ClearField("main_script_path")  # Streamlit's own, the same for everyone signed in
            self.frames.append(message.SerializeToString())
            self._take(message)
            came = message.WhichOneof("type")
            ended = came == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if ended or (came == "backend_operation_response" and kind == "operation"):
                return

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session, self.data = message.new_session.initialize.session_id, {**self.data, "ack": None}
        elif kind == "navigation":
            self.pages = {page.page_name: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "delta":
            element = message.delta.new_element
            which = element.WhichOneof("type")
            inner: Any = getattr(element, which) if which else None
            self.broken += which == "exception"
            self.ids |= {getattr(inner, "id", "")} - {""}
            self.files |= {getattr(inner, "deferred_file_id", "")} - {""}
            told = json.loads(element.bidi_component.json or "{}")
            if told.get("mode") == "label":
                self.data = told
                self.widget = events_of(element.bidi_component)
                self.page = message.metadata.active_script_hash


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
