"""Remove information about the server from messages between a browser and Streamlit.

At the start of each page run, Streamlit sends versions, the operating system, the path of the program, and an id
derived from the machine's id. As the name of the main page, Streamlit sends a hash of the path. A path may contain the
name of a person, a project or a benchmark. The id of the machine could be recognised in other places.
"""

import hashlib

from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import Initialize, NewSession

PROGRAM = "app.py"
MAIN_PAGE = "0" * 32  # name of the main page for browsers, as long as Streamlit's hashes


class Frames:
    """Receives and sends the messages of one websocket, without information about the server."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._main_page = ""  # Streamlit's name of the main page, taken from its first message

    async def receive(self) -> Message:
        """Return the next message of the browser, with the name of the main page that Streamlit uses."""
        message = await self._receive()
        frame = message.get("bytes")
        if frame and self._main_page and MAIN_PAGE.encode() in frame:
            message = {**message, "bytes": _to_server(frame, self._main_page)}
        return message

    async def send(self, message: Message) -> None:
        """Send a message to the browser."""
        frame = message.get("bytes")
        if frame:
            message = {**message, "bytes": self._to_browser(frame)}
        await self._send(message)

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
    original, session.main_script_path = session.initialize, PROGRAM
    reduced = Initialize(
        session_id=original.session_id, is_hello=original.is_hello, session_status=original.session_status
    )
    # The browser reloads when this value changes. It changes with the version, but does not reveal it.
    known_to_server = f"{original.user_info.installation_id_v3} {original.environment_info.streamlit_version}"
    reduced.environment_info.streamlit_version = hashlib.sha256(known_to_server.encode()).hexdigest()[:12]
    reduced.user_info.SetInParent()
    session.initialize.CopyFrom(reduced)


def _to_server(frame: bytes, main_page: str) -> bytes:
    """Replace the public name of the main page with its real hash, only in the field for the page.

    Other fields may contain text that a person typed, which may happen to equal this name.
    """
    read = BackMsg.FromString(frame)
    if read.WhichOneof("type") == "rerun_script" and read.rerun_script.page_script_hash == MAIN_PAGE:
        read.rerun_script.page_script_hash = main_page
        return bytes(read.SerializeToString())
    return frame
