"""Read the messages between browsers and Streamlit: conceal what the server is, and pass on only what pages need.

This is the only module that reads Streamlit's protocol.

At the start of each page run, Streamlit sends versions, the operating system, the path of the program, and an id
derived from the machine's id. As the name of the main page, Streamlit sends a hash of the path. A path may contain the
name of a person, a project or a benchmark. The id of the machine could be recognised in other places.

Browsers can request much more from Streamlit than pages need, and some of these requests stop the work of everyone.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping

from google.protobuf.message import DecodeError
from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import Initialize, NewSession

from labeler.studies.model import Person, Role
from labeler.studies.ui.limits import RateLimit

PROGRAM = "app.py"
MAIN_PAGE = "0" * 32  # name of the main page for browsers, as long as Streamlit's hashes
PAGE_RUN, UPLOADS, DOWNLOAD = "rerun_script", "file_urls_request", "backend_operation_request"
ALLOWED: Mapping[Role, frozenset[str]] = {
    Role.REVIEWER: frozenset((PAGE_RUN,)),
    Role.COORDINATOR: frozenset((PAGE_RUN, UPLOADS, DOWNLOAD)),
}
SESSION_FIELDS = frozenset((
    "initialize", "name", "main_script_path", "config", "custom_theme", "app_pages", "page_script_hash",
    "main_script_hash",
))  # fmt: skip
MESSAGES_PER_S = 20  # of one person, in all windows
BYTES_PER_TURN = 50_000  # reading a message of this size takes up to 1 ms; pages send a few kilobytes
MAX_FILES, FILES_PER_TURN = 1000, 50  # Streamlit needs 0.4 ms for each name of a file that a person wants to upload


class Messages:
    """Receives and sends the messages of one websocket.

    `person` opened the window. `signed_in` returns the person of this window's session now, with the current roles, or
    None after signing out. `rate` counts the messages of each person.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        person: Person,
        signed_in: Callable[[], Awaitable[Person | None]],
        rate: RateLimit,
    ) -> None:
        self._receive, self._send = receive, send
        self._person_id, self._signed_in, self._rate = person.person_id, signed_in, rate
        self._main_page = ""  # Streamlit's name of the main page, taken from its first message

    async def receive(self) -> Message:
        """Return the browser's next message that Streamlit may get.

        Other messages are dropped, and also messages that Streamlit cannot read, because Streamlit would close the
        window and log a traceback. A person who sends too many messages waits, and nobody else does. Dropped messages
        count too, and each message counts before it is read, because reading it and looking up the person take time.
        """
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            await self._wait(1 + len(message.get("bytes") or message.get("text") or "") // BYTES_PER_TURN)
            request = _read(message)
            kind = request.WhichOneof("type") if request is not None else None
            if request is None or kind not in ALLOWED[Role.COORDINATOR]:
                continue
            n_files = len(request.file_urls_request.file_names) if kind == UPLOADS else 0
            if n_files > MAX_FILES or not await self._is_allowed(request, kind):
                continue
            if n_files:
                await self._wait(n_files / FILES_PER_TURN)
            return {**message, "bytes": self._to_server(request, message["bytes"])}

    async def send(self, message: Message) -> None:
        """Send a message to the browser."""
        frame = message.get("bytes")
        if frame:
            message = {**message, "bytes": self._to_browser(frame)}
        await self._send(message)

    async def _wait(self, cost: float) -> None:
        """Wait until the person may send a message of this cost, and count it."""
        while wait_s := self._rate.wait_s(self._person_id, cost):
            await asyncio.sleep(wait_s)

    async def _is_allowed(self, request: BackMsg, kind: str) -> bool:
        """Return whether the person may send this message now.

        After a person signs out, only runs of the whole page are accepted; they show that the person is signed out.
        """
        if kind == PAGE_RUN and not request.rerun_script.fragment_id:
            return True
        person = await self._signed_in()
        return person is not None and any(kind in ALLOWED[role] for role in person.roles)

    def _to_server(self, request: BackMsg, frame: bytes) -> bytes:
        """Replace the public name of the main page with its real hash, only in the field for the page.

        Other fields may contain text that a person typed, which may happen to equal this name.
        """
        run = request.rerun_script
        if self._main_page and request.WhichOneof("type") == PAGE_RUN and run.page_script_hash == MAIN_PAGE:
            run.page_script_hash = self._main_page
            return bytes(request.SerializeToString())
        return frame

    def _to_browser(self, frame: bytes) -> bytes:
        read = ForwardMsg.FromString(frame)
        if read.WhichOneof("type") == "new_session":
            self._main_page = read.new_session.main_script_hash or self._main_page
            conceal(read.new_session)
            read.hash = ""  # Streamlit never reuses this message, and its hash could confirm a guess of its content
            frame = read.SerializeToString()
        return frame.replace(self._main_page.encode(), MAIN_PAGE.encode()) if self._main_page else frame


def conceal(session: NewSession) -> None:
    """Remove all information about the server from a message, and keep what the browser needs."""
    for field in session.DESCRIPTOR.fields:  # a later version of Streamlit may send more
        if field.name not in SESSION_FIELDS:
            session.ClearField(field.name)
    for field in session.config.DESCRIPTOR.fields:
        if re.search("path|host|version|user|machine|folder", field.name):
            session.config.ClearField(field.name)
    original, session.main_script_path = session.initialize, PROGRAM
    reduced = Initialize(
        session_id=original.session_id, is_hello=original.is_hello, session_status=original.session_status
    )
    # The browser reloads when this value changes. It changes with the version, but does not reveal it.
    known_to_server = f"{original.user_info.installation_id_v3} {original.environment_info.streamlit_version}"
    reduced.environment_info.streamlit_version = hashlib.sha256(known_to_server.encode()).hexdigest()[:12]
    reduced.user_info.SetInParent()
    session.initialize.CopyFrom(reduced)


def _read(message: Message) -> BackMsg | None:
    """Parse a message of a browser; return None if it is text, or bytes that Streamlit cannot read."""
    frame = message.get("bytes")
    if frame is None:
        return None
    try:
        request: BackMsg = BackMsg.FromString(frame)
    except DecodeError:
        return None
    return request
