"""Streamlit's protocol over the websocket, as browsers use it; and a reviewer without a browser."""

import asyncio
import http.client
import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urlsplit
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from labeler.ui.app import SESSION_COOKIE

ANSWER_LIMIT_S = 180
REMEMBERED = 8  # plots that the component keeps
VIEW = {"axis": "core", "log": False, "overlay": False, "run": None, "width": 1280, "height": 625, "density": 1,
        "pauses": []}  # fmt: skip


def answer_to(item: Mapping[str, Any], answer: str, **other: Any) -> dict[str, Any]:
    """Return the event that the screen sends for an answer to an offered item, with a new id.

    `other` replaces fields that a browser would send.
    """
    return {
        "event_id": uuid4().hex, "view": VIEW, "code": item["code"], "revision": item["revision"], "answer": answer,
        "dwell_ms": None if answer == "withdrawn" else 700, "flag": False, "comment": None, "confidence": None,
        "have": [],
    } | other  # fmt: skip


def trigger_of(event: object) -> str:
    """Return the component's message for an event, as JSON."""
    return json.dumps([{"event": "event", "value": event}], separators=(",", ":"))


def handshake(url: str, *, origin: str | None, session: str = "", **headers: str) -> dict[str, Any]:
    """Return the arguments for opening a window's websocket with `websockets`; `session` continues a session."""
    return {
        "uri": f"ws{url.removeprefix('http')}/_stcore/stream", "origin": origin, "additional_headers": headers,
        "subprotocols": ["streamlit", *(["none", session] if session else [])], "max_size": None,
        "open_timeout": ANSWER_LIMIT_S, "proxy": None,
    }  # fmt: skip


def page_run(
    url: str, script: str = "", *, page: str = "", known: Iterable[str] = (),
    widgets: Mapping[str, Mapping[str, Any]] | None = None,
) -> BackMsg:  # fmt: skip
    """Return the message that requests a page run.

    Parameters
    ----------
    url : str
        Where the server is.
    script, page : str
        Streamlit's name for the page, or its address; the first page without both.
    known : iterable of str
        The hashes of messages that the browser keeps.
    widgets : mapping
        What was done to widgets: id -> the fields of its state.
    """
    message = BackMsg()
    rerun = message.rerun_script
    rerun.page_script_hash, rerun.page_name = script, page
    rerun.cached_message_hashes.extend(known)
    rerun.context_info.timezone = "UTC"
    rerun.context_info.locale = "en-US"
    rerun.context_info.url = f"{url}/{page}"
    rerun.context_info.color_scheme = "light"
    rerun.widget_states.SetInParent()
    for name, state in (widgets or {}).items():
        rerun.widget_states.widgets.add(id=name, **state)
    return message


def events_of(component: Any) -> str:
    """Streamlit's name for the widget through which the review component sends events."""
    return f"$$STREAMLIT_INTERNAL_KEY_{component.id}__events"


class Refused(Exception):
    """The server did not save an answer; has the server's message. `again` if the server asks for another attempt."""

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message)
        self.again = again


class Visit:
    """One window of one reviewer."""

    def __init__(self, url: str, cookie: str) -> None:
        self._url, self._cookie = url, cookie
        self._socket: ClientConnection
        self._widget = self._page = ""
        self._cached: list[str] = []
        self._have: list[str] = []
        self.data: dict[str, Any] = {}
        self.n_bytes = 0

    @classmethod
    async def open(cls, url: str, secret: str) -> Self:
        """Sign in, open the page, and wait for the first items."""
        visit = cls(url, await asyncio.to_thread(sign_in, url, secret))
        await visit.connect()
        return visit

    async def connect(self) -> None:
        """Open the page in the current session, at first and after the connection was lost."""
        self._socket = await connect(**handshake(self._url, origin=self._url, Cookie=self._cookie))
        self._cached, self._have = [], []
        await self._send()
        await self._until(lambda data: True)
        await self._finished()

    async def label(self, answer: str) -> tuple[str, float]:
        """Answer the first offered item; returns the event's id and the time to acknowledgement.

        Raises
        ------
        Refused
        TimeoutError
        """
        event = answer_to(self.data["offers"][0], answer)
        return event["event_id"], await self.send(event)

    async def send(self, event: Mapping[str, Any]) -> float:
        """Send an answer, for the first time or again; returns the time to acknowledgement. Raises like `label`."""
        sent = time.perf_counter()
        await self._send(trigger_of({**event, "have": self._have}))
        received = await self._until(lambda data: (data["ack"] or {}).get("event_id") == event["event_id"])
        ack = self.data["ack"]
        if not ack["saved"]:
            raise Refused(ack["message"], again=ack.get("again", False))
        return received - sent

    async def finish(self) -> None:
        """Read the rest of a page run, as a browser would."""
        await self._finished()

    async def close(self) -> None:
        with suppress(OSError):
            await self._socket.close()

    async def _send(self, trigger: str | None = None) -> None:
        widgets = {} if trigger is None else {self._widget: {"json_trigger_value": trigger}}
        message = page_run(self._url, self._page, known=self._cached, widgets=widgets)
        await self._socket.send(message.SerializeToString())

    async def _until(self, wanted: Any) -> float:
        """Read until the expected data of the component arrive; returns their time."""
        async with asyncio.timeout(ANSWER_LIMIT_S):
            while True:
                message, at = await self._next()
                element = message.delta.new_element.bidi_component
                if message.WhichOneof("type") == "delta" and element.json:
                    self._take(message, element)
                    if wanted(self.data):
                        return at

    async def _finished(self) -> None:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            while (await self._next())[0].WhichOneof("type") != "script_finished":
                pass

    async def _next(self) -> tuple[ForwardMsg, float]:
        frame = await self._socket.recv(decode=False)
        at = time.perf_counter()
        self.n_bytes += len(frame)
        return ForwardMsg.FromString(frame), at

    def _take(self, message: ForwardMsg, element: Any) -> None:
        self.data = json.loads(element.json)
        self._widget = events_of(element)
        self._page = message.metadata.active_script_hash
        self._cached = [*self._cached[-1:], message.hash]
        codes = [offer["code"] for offer in self.data["offers"]]
        self._have = [*(code for code in self._have if code not in codes), *codes][-REMEMBERED:]


def sign_in(url: str, secret: str) -> str:
    """Follow a sign-in link; returns the cookie of the new session."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=ANSWER_LIMIT_S)
    connection.request("GET", f"/join/{secret}")
    answer = connection.getresponse()
    cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
    connection.close()
    if not cookie.startswith(SESSION_COOKIE):
        raise RuntimeError(f"not signed in: status {answer.status}")
    return cookie
