"""Connections through a real uvicorn: slow requests, and more connections than the limit."""

import asyncio
import http.client
import signal
import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import uvicorn

from labeler.studies.ui import connections
from labeler.studies.ui.connections import Connection

HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"
PATIENCE_S = 60.0


async def application(scope, receive, send):
    """Responds at once, and reads the whole body of an upload first."""
    if scope["type"] != "http":
        return
    n_bytes = 0
    while scope["path"] == "/upload":
        part = await receive()
        n_bytes += len(part.get("body", b""))
        if part["type"] == "http.disconnect" or not part["more_body"]:
            break
    body = str(n_bytes).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def serving(**options):
    server = uvicorn.Server(uvicorn.Config(application, port=0, http=Connection, lifespan="off", **options))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)


@contextmanager
def connected(port, first=b"", address="127.0.0.1"):
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S, source_address=(address, 0)) as connection:
        connection.sendall(first)
        yield connection


def is_closed(connection):
    """Return whether the server closes the connection without a response."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def status(port):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        client.request("GET", "/")
        return client.getresponse().status
    except (ConnectionError, http.client.HTTPException):
        return 0
    finally:
        client.close()


def test_the_body_of_a_response_does_not_wait_until_the_headers_are_acknowledged():
    with serving() as port:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        client.request("GET", "/")
        assert client.getresponse().read() == b"0"
        served = connections._by_client[client.sock.getsockname()].transport.get_extra_info("socket")
        assert served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        client.close()


def test_requests_that_do_not_arrive_are_ended(monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_S", 0.3)
    halves = (b"", b"GET", HALF, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx")
    with serving() as port, ExitStack() as opened:
        begun = time.monotonic()
        for connection in [opened.enter_context(connected(port, half)) for half in halves]:
            while not is_closed(connection):
                assert time.monotonic() - begun < PATIENCE_S
            assert time.monotonic() - begun > 0.2


def test_a_request_that_comes_byte_by_byte_has_no_more_time(monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_S", 0.2)
    with serving() as port, connected(port, HALF) as connection:
        begun, is_open = time.monotonic(), True
        while is_open:
            assert time.monotonic() - begun < PATIENCE_S
            try:
                connection.sendall(b"X-Drip: 1\r\n")
                time.sleep(0.05)  # the pace of the slow request
            except ConnectionError:
                is_open = False


def test_an_upload_may_take_longer_as_long_as_parts_of_it_arrive(monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_S", 0.5)
    head = b"POST /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 8\r\n\r\n"
    with serving() as port, connected(port, head) as connection:
        for _ in range(8):
            connection.sendall(b"x")
            time.sleep(0.08)  # the pace of the upload, which takes longer than a request may
        answer = b""
        while part := connection.recv(1000):
            answer += part
        assert answer.endswith(b"8")


def test_connections_beyond_the_room_take_the_place_of_requests_that_do_not_arrive(monkeypatch):
    monkeypatch.setattr(connections, "room", lambda: 8)
    monkeypatch.setattr(connections, "FULL_S", 0.2)
    with serving() as port:
        strangers = [socket.create_connection(("127.0.0.1", port), PATIENCE_S) for _ in range(12)]
        for stranger in strangers:
            stranger.settimeout(PATIENCE_S)
        assert all(map(is_closed, strangers[8:]))
        time.sleep(0.3)  # longer than a request may take at the limit
        assert status(port) == 200
        assert all(map(is_closed, strangers))
        for stranger in strangers:
            stranger.close()


def test_one_address_has_half_of_the_room_and_a_proxy_that_is_believed_all(monkeypatch):
    monkeypatch.setattr(connections, "room", lambda: 8)
    for proxy, n_open in (("127.0.0.9", 4), ("127.0.0.1", 6)):
        with serving(forwarded_allow_ips=proxy) as port:
            held = [socket.create_connection(("127.0.0.1", port), PATIENCE_S) for _ in range(6)]
            for connection in held:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answered = 0
            for connection in held:
                connection.settimeout(PATIENCE_S)
                try:
                    answered += connection.recv(100).startswith(b"HTTP/1.1 200")
                except ConnectionError:
                    continue
                finally:
                    connection.close()
            assert answered == n_open


def test_a_signal_ends_the_server_in_time_whatever_waits(monkeypatch):
    monkeypatch.setattr(uvicorn.Server, "handle_exit", uvicorn.Server.handle_exit)  # restored after the test
    monkeypatch.setitem(connections.HTTP_PROTOCOLS, "auto", "")
    monkeypatch.setattr(connections, "STOP_S", 0.01)
    ended, code = threading.Event(), []
    monkeypatch.setattr(connections.os, "_exit", lambda status: (code.append(status), ended.set()))
    connections.install()
    server = uvicorn.Server(uvicorn.Config(application))
    server.handle_exit(signal.SIGTERM, None)
    assert (server.should_exit, server.config.timeout_graceful_shutdown) == (True, connections.FINISH_S)
    assert ended.wait(PATIENCE_S) and code == [128 + signal.SIGTERM]


def test_strangers_of_one_address_have_few_connections_and_people_who_signed_in_more(monkeypatch):
    monkeypatch.setattr(connections, "MIN_STRANGERS", 2)
    monkeypatch.setattr(connections, "room", lambda: 2 * connections.STRANGERS_SHARE)
    with serving(forwarded_allow_ips="127.0.0.9") as port, connected(port, HALF) as first, connected(port, HALF):
        wait_for_connections(2)
        begun = time.monotonic()
        with connected(port, HALF) as third:
            assert is_closed(third)
        assert time.monotonic() - begun < connections.REQUEST_S / 2  # and not because its request was late
        connections.note_signed_in(first.getsockname())
        with connected(port, HALF) as third:
            third.sendall(b"\r\n")
            assert third.recv(12) == b"HTTP/1.1 200"


def wait_for_connections(n):
    until = time.monotonic() + PATIENCE_S
    while len(connections._by_client) < n and time.monotonic() < until:
        time.sleep(0.01)
