"""Send HTTP requests that no browser would send: any request line and any header, byte for byte."""

import http.client
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
LIMIT_S = 180


@dataclass(frozen=True)
class Reply:
    """A response; status 0 if the server closed the connection without one. Header names are in lower case."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        """The value of a header, "" if it is missing."""
        return next((value for found, value in self.headers if found == name), "")

    @property
    def raw(self) -> bytes:
        """Headers and body in one text, for searches."""
        return "\n".join(f"{name}: {value}" for name, value in self.headers).encode() + b"\n\n" + self.body


def ask(
    url: str, method: str, target: str | bytes, *, headers: Mapping[str, str | None] | None = None,
    body: bytes = b"", source: str = LOOPBACK,
) -> Reply:  # fmt: skip
    """Send one request on a new connection, from any address of this machine.

    Parameters
    ----------
    url : str
        Where the server is.
    method, target : str
        As they stand in the request line; bytes are sent as they are.
    headers : mapping
        Beside Host and the length; a None leaves one of those out.
    body : bytes
    source : str
        An address of the loopback network, 127.0.0.0/8.
    """
    where = urlsplit(url)
    standard = {"Host": where.netloc, "Connection": "close", "Content-Length": str(len(body)) if body else None}
    sent = {name: value for name, value in (standard | dict(headers or {})).items() if value}
    line = target.encode("latin-1") if isinstance(target, str) else target
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
