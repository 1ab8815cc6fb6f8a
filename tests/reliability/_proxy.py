"""A reverse proxy in front of the server: it adds the client's address and passes on bytes."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from urllib.parse import urlsplit

from tests.reliability._asking import LIMIT_S, LOOPBACK

MAX_HEAD = 65_536
AT_ONCE = 65_536


class Proxy(ThreadingTCPServer):
    """Marks every request as https; each connection carries one request or one websocket.

    Attributes
    ----------
    upstream : tuple of str and int
        Where the server is.
    source : str
        The address of this machine that the server sees the proxy at.
    """

    daemon_threads = True

    def __init__(self, upstream: tuple[str, int], source: str) -> None:
        super().__init__((LOOPBACK, 0), _Passing)
        self.upstream, self.source = upstream, source

    @property
    def url(self) -> str:
        """The public address; the server learns it only from the header Host."""
        return f"http://{LOOPBACK}:{self.server_address[1]}"


@contextmanager
def proxying(url: str, *, source: str = LOOPBACK) -> Iterator[Proxy]:
    """A proxy in front of a server."""
    where = urlsplit(url)
    with Proxy((where.hostname or LOOPBACK, where.port or 80), source) as proxy:
        Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.shutdown()


class _Passing(StreamRequestHandler):
    timeout = LIMIT_S
    server: Proxy

    def handle(self) -> None:
        """Serve one connection until either side closes it or is silent for too long."""
        with suppress(OSError):
            head = self._head()
            with socket.create_connection(self.server.upstream, LIMIT_S, (self.server.source, 0)) as upstream:
                upstream.sendall(head)
                back = Thread(target=_pass, args=(upstream, self.connection), daemon=True)
                back.start()
                _pass(self.connection, upstream, read=self.rfile.read1)
                back.join(LIMIT_S)

    def _head(self) -> bytes:
        """Request line and headers for the server; addresses that the client claims stay in front."""
        lines, came_by = [], []
        for line in iter(lambda: self.rfile.readline(MAX_HEAD), b"\r\n"):
            if not line:
                raise ConnectionError("no whole request")
            name = line.partition(b":")[0].lower()
            if name == b"x-forwarded-for":
                came_by.append(line.partition(b":")[2].strip())
            elif name != b"x-forwarded-proto":
                lines.append(line)
        came_by.append(self.client_address[0].encode())
        lines += [b"X-Forwarded-Proto: https\r\n", b"X-Forwarded-For: " + b", ".join(came_by) + b"\r\n"]
        return b"".join(lines) + b"\r\n"


def _pass(one: socket.socket, other: socket.socket, read=None) -> None:
    """Pass all bytes from one side to the other, and then the end of the stream."""
    take = read or one.recv
    with suppress(OSError):
        while part := take(AT_ONCE):
            other.sendall(part)
        other.shutdown(socket.SHUT_WR)
