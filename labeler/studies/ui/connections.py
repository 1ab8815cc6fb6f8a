"""Limit connections: how many are open, how fast a request must arrive, and how long the server waits for their end."""

import asyncio
import logging
import os
import resource
import socket
import threading
import time
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 15.0  # limit for a request to arrive, and between two parts of an upload
CROWDED_S, FULL_S = 2.0, 0.5  # the same limit if more than half of all connections are in use, and if all are in use
RESERVED_SHARE, MAX_RESERVED = 4, 512  # files reserved for the study, page runs and program files
FILES_EACH = 4  # of a window: its connection, and three files of its Streamlit session
KEPT_FILES = 3 * 128  # Streamlit keeps the sessions of up to 128 closed windows for two minutes
MIN_FILES, MAX_FILES = 1024, 65_536  # fewer have no room for windows beside what is kept; more are never needed
STRANGERS_SHARE, MIN_STRANGERS = 8, 64  # an address may have this share of all connections for people not signed in
FINISH_S, STOP_S = 4, 8.0  # after a signal: time for work that has begun, and time until the process ends anyway
log = logging.getLogger(__name__)
_by_client: dict[tuple[str, int], "Connection"] = {}


def install() -> None:
    """Make uvicorn use the class `Connection`, which has these limits, and end in time whatever waits."""
    HTTP_PROTOCOLS["auto"] = f"{__name__}:{Connection.__name__}"
    handle_exit = uvicorn.Server.handle_exit

    def ending(server: uvicorn.Server, sig: int, frame: FrameType | None) -> None:
        server.config.timeout_graceful_shutdown = FINISH_S
        # An answer is acknowledged after it is stored, so nothing that a browser relies on is lost.
        timer = threading.Timer(STOP_S, os._exit, (128 + sig,))
        timer.daemon = True
        timer.start()
        handle_exit(server, sig, frame)

    uvicorn.Server.handle_exit = ending  # type: ignore[method-assign, assignment]  # Streamlit offers no other way


def note_signed_in(client: Any) -> None:
    """Note that the connection of a client belongs to somebody who is signed in."""
    connection = _by_client.get(tuple(client)) if client else None
    if connection is not None:
        connection.is_signed_in = True


def room() -> int:
    """Return the number of connections that may be open at the same time."""
    limit = file_limit()
    return (limit - min(limit // RESERVED_SHARE, MAX_RESERVED) - KEPT_FILES) // FILES_EACH


def raise_file_limit() -> int:
    """Raise the limit of open files as far as the system allows, up to `MAX_FILES`; return the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    return file_limit()


def file_limit() -> int:
    """Return the number of files that this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_FILES if soft == resource.RLIM_INFINITY else min(soft, MAX_FILES)


class Connection(H11Protocol):
    """A connection that is closed if its request does not arrive in time, or if too many connections are open.

    One address can have at most half of all connections, unless the address is a trusted proxy. When few connections
    are free, requests have less time to arrive.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_signed_in = False
        self._timer: asyncio.TimerHandle | None = None
        self._waiting_since: float | None = None  # monotonic time; None while no request is arriving

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request; if too many connections are open, refuse the connection."""
        super().connection_made(transport)
        # asyncio does this only for sockets that name their protocol, and that of Streamlit does not. Without it, the
        # body of a response waits 40 ms, until the browser has acknowledged the headers.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait()
        n_most, n_open = room(), len(self.connections)
        if n_open > n_most // 2:
            n_open -= self._end_slow_requests(FULL_S if n_open > n_most else CROWDED_S)
        n_from_here, n_strangers = self._n_from_here()
        if n_open > n_most or n_from_here > n_most // 2 or n_strangers > max(MIN_STRANGERS, n_most // STRANGERS_SHARE):
            log.warning("A connection was refused because too many are open (see LimitNOFILE in docs/running.md).")
            transport.abort()
        if self.client is not None:
            _by_client[self.client] = self

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit of a closed connection."""
        self._stop_waiting()
        if self.client is not None and _by_client.get(self.client) is self:
            del _by_client[self.client]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive part of a request; the time limit ends when the request is complete."""
        super().data_received(data)
        self._go_on_waiting(has_progress=True)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Pass the connection to the websocket, which sends its own pings."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Wait for the rest of a request that was answered before all of it had arrived."""
        super().on_response_complete()
        self._go_on_waiting(has_progress=False)

    def end_if_waiting_since(self, latest: float) -> None:
        """Close the connection if it began to wait for its request before this time (monotonic clock)."""
        if self._waiting_since is not None and self._waiting_since < latest:
            self._end()

    def _go_on_waiting(self, *, has_progress: bool) -> None:
        """Continue to wait while a request is incomplete.

        Each part of an upload restarts the time limit.
        """
        state = str(self.conn.their_state)
        if self.transport.get_protocol() is not self or state not in ("IDLE", "SEND_BODY"):
            self._stop_waiting()
        elif state == "IDLE" and not self.conn.trailing_data[0]:
            self._stop_waiting()  # between two requests, uvicorn closes the connection after some seconds
        elif self._waiting_since is None:
            self._wait()
        elif state == "SEND_BODY" and has_progress and not self.cycle.response_complete:
            self._stop_waiting()
            self._wait()

    def _wait(self) -> None:
        self._waiting_since = time.monotonic()
        self._timer = self.loop.call_later(REQUEST_S, self._end)

    def _stop_waiting(self) -> None:
        self._waiting_since = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        """Close the connection, unless the application is still working on its response."""
        if self.flow.read_paused and self.cycle is not None and not self.cycle.response_complete:
            self._wait()
        else:
            self.transport.abort()

    def _end_slow_requests(self, limit_s: float) -> int:
        """Close connections whose requests take too long.

        Return the number of connections that are closed now or will be closed soon.
        """
        latest = time.monotonic() - limit_s
        for connection in list(self.connections):
            if isinstance(connection, Connection):
                connection.end_if_waiting_since(latest)
        return sum(connection.transport.is_closing() for connection in self.connections)

    def _n_from_here(self) -> tuple[int, int]:
        """Return the number of connections from the address of this connection, and of those not signed in.

        Return 0 for a trusted proxy, because it has the connections of all people.
        """
        address = self.client[0] if self.client else None
        proxies = getattr(self.app, "trusted_hosts", ())  # trusted hosts of uvicorn, from FORWARDED_ALLOW_IPS
        if address is None or address in proxies:
            return 0, 0
        here = [connection for connection in self.connections if _address(connection) == address]
        # a websocket has another protocol, and only people who are signed in have one
        return len(here), sum(isinstance(connection, Connection) and not connection.is_signed_in for connection in here)


def _address(connection: Any) -> str | None:
    client = getattr(connection, "client", None)
    return client[0] if client else None
