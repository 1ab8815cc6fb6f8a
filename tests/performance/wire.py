"""The requests of the review component and Streamlit's protocol, as browsers use them; a reviewer without a browser."""

import asyncio
import gzip
import http
import http.client
import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from labeler.studies.ui.answers import ANSWERS, ITEMS, MAX_CODES, PROTOCOL, PROTOCOL_HEADER, TOKEN_HEADER
from labeler.studies.ui.served import SESSION_COOKIE

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
    } | other  # fmt: skip


def body_of(*events: object) -> str:
    """Return the body of the request that sends these answers."""
    return json.dumps({"answers": events}, separators=(",", ":"))


def trigger_of(change: object) -> str:
    """Return the component's message that asks for a page run because of a change, as JSON."""
    return json.dumps([{"event": "changed", "value": change}], separators=(",", ":"))


def acknowledgement(status: int, reply: Mapping[str, Any]) -> dict[str, Any]:
    """What became of the first answer of a request: event_id, outcome and message; later if the server says so."""
    if status == http.HTTPStatus.OK:
        return dict((reply["answers"] or [{}])[0])
    return {"outcome": "later", "message": reply.get("message", ""), "status": status}


def is_saved(ack: Mapping[str, Any] | None) -> bool:
    """Whether an answer was saved."""
    return (ack or {}).get("outcome") == "saved"


def origin_of(url: str) -> str:
    """The site of an address: scheme, host and port."""
    return "{0.scheme}://{0.netloc}".format(urlsplit(url))


class Line:
    """A connection for the requests of one window; it is opened again after the server closed it."""

    def __init__(self, url: str, cookie: str, token: str, source: str = "127.0.0.1") -> None:
        self._place, self._base, self._source = urlsplit(url).netloc, urlsplit(url).path, source
        self._headers = {"Cookie": cookie, "Origin": origin_of(url), "Accept-Encoding": "gzip"}
        self._headers[PROTOCOL_HEADER] = PROTOCOL
        self._token, self._connection = token, self._new()
        self.n_bytes = 0

    def post(self, body: str | bytes, path: str = ANSWERS) -> None:
        """Send a request that changes something, without waiting for the reply."""
        content = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
        headers = self._headers | {TOKEN_HEADER: self._token, "Content-Type": "application/json"}
        self.n_bytes += len(content)
        try:
            self._connection.request("POST", self._base + path, content, headers)
        except OSError:
            self.close()
            self._connection.request("POST", self._base + path, content, headers)

    def get(self, path: str) -> None:
        """Send any other request, without waiting for the reply."""
        try:
            self._connection.request("GET", self._base + path, headers=self._headers)
        except OSError:
            self.close()
            self._connection.request("GET", self._base + path, headers=self._headers)

    def reply(self) -> tuple[int, bytes]:
        """Wait for the reply: its status and its content."""
        came = self._connection.getresponse()
        content = came.read()
        self.n_bytes += len(content)
        return came.status, gzip.decompress(content) if came.getheader("content-encoding") == "gzip" else content

    def close(self) -> None:
        self._connection.close()

    def _new(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._place, timeout=ANSWER_LIMIT_S, source_address=(self._source, 0))


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
        Streamlit's name for the page, or its address, perhaps with a query; the first page without both.
    known : iterable of str
        The hashes of messages that the browser keeps.
    widgets : mapping
        What was done to widgets: id -> the fields of its state.
    """
    message = BackMsg()
    rerun = message.rerun_script
    rerun.page_script_hash = script
    rerun.page_name, _, rerun.query_string = page.partition("?")
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
        self._url, self.session_cookie = url, cookie
        self._socket: ClientConnection
        self._line = Line(url, cookie, "")
        self._have: list[str] = []
        self.data: dict[str, Any] = {}
        self._n_bytes_of_pages = 0

    @classmethod
    async def open(cls, url: str, secret: str) -> Self:
        """Sign in, open the page, and wait for the first items."""
        visit = cls(url, await asyncio.to_thread(sign_in, url, secret))
        await visit.connect()
        return visit

    @property
    def n_bytes(self) -> int:
        """What this window sent and received."""
        return self._n_bytes_of_pages + self._line.n_bytes

    async def connect(self) -> None:
        """Open the page in the current session, at first and after the connection was lost."""
        self._socket = await connect(**handshake(self._url, origin=origin_of(self._url), Cookie=self.session_cookie))
        self._line.close()
        await self._socket.send(page_run(self._url).SerializeToString())
        async with asyncio.timeout(ANSWER_LIMIT_S):
            while (message := await self._next()).WhichOneof("type") != "script_finished":
                told = json.loads(message.delta.new_element.bidi_component.json or "{}")
                self.data = told if told.get("mode") == "label" else self.data
        self._line = Line(self._url, self.session_cookie, self.data["token"])
        self._have = [offer["code"] for offer in self.data["offers"] if offer.get("panels")]
        await self.finish()

    async def label(self, answer: str) -> tuple[str, float]:
        """Answer the first offered item; returns the event's id and the time to acknowledgement.

        Raises
        ------
        Refused
        OSError
            If the server is away.
        """
        event = answer_to(self.data["offers"][0], answer)
        return event["event_id"], await self.send(event)

    async def send(self, event: Mapping[str, Any]) -> float:
        """Send an answer, for the first time or again; returns the time to acknowledgement. Raises like `label`."""
        sent = time.perf_counter()
        status, content = await self._asked(self._line.post, body_of(event))
        took = time.perf_counter() - sent
        reply = json.loads(content)
        ack = acknowledgement(status, reply)
        self.data |= reply if status == http.HTTPStatus.OK else {}
        if not is_saved(ack):
            raise Refused(ack["message"], again=ack["outcome"] == "later")
        return took

    async def finish(self) -> None:
        """Get the pictures of the next items, as a browser would that has no time to load further items."""
        codes = [offer["code"] for offer in self.data["offers"][:MAX_CODES] if offer["code"] not in self._have]
        if codes:
            status, _ = await self._asked(self._line.get, f"{ITEMS}?{urlencode([('code', code) for code in codes])}")
            self._have = [*self._have, *(codes if status == http.HTTPStatus.OK else ())][-REMEMBERED:]

    async def close(self) -> None:
        self._line.close()
        with suppress(OSError):
            await self._socket.close()

    async def _asked(self, ask: Callable[[str], None], what: str) -> tuple[int, bytes]:
        def wait() -> tuple[int, bytes]:
            ask(what)
            return self._line.reply()

        try:
            return await asyncio.to_thread(wait)
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error
        except OSError:
            self._line.close()
            raise

    async def _next(self) -> ForwardMsg:
        frame = await self._socket.recv(decode=False)
        self._n_bytes_of_pages += len(frame)
        return ForwardMsg.FromString(frame)


def sign_in(url: str, secret: str) -> str:
    """Press the button of a sign-in link; returns the cookie of the new session."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=ANSWER_LIMIT_S)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", f"{urlsplit(url).path}/sign-in", body=f"link={secret}", headers=form)
    answer = connection.getresponse()
    cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
    connection.close()
    if not cookie.startswith(SESSION_COOKIE):
        raise RuntimeError(f"not signed in: status {answer.status}")
    return cookie
