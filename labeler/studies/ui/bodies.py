"""Read the body of a request: of a declared length, within a deadline, and in parts that are not tiny."""

import asyncio
from http import HTTPStatus

from starlette.requests import Request

LIMIT_S = 5.0  # while the server waits for a body, it cannot stop
MAX_PARTS, USUAL_PART_BYTES = 64, 256  # further parts must be this long on average, because each takes processor time
MAX_DISCARDED = 2_000_000  # bytes of a body that is too long; a browser reads the reply only after it has sent them
CLOSING = {"Connection": "close"}  # header of a reply that is sent before the whole body was read


class BodyRefused(Exception):
    """A body that is not read to its end, with the status of the reply."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status)
        self.status = status


def declared_length(request: Request) -> int | None:
    """Return the length of the body that the request declares; return None if it declares none."""
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


async def body_of(request: Request, max_bytes: int) -> bytes:
    """Return the body of a request.

    Raises BodyRefused if the length is not declared or above `max_bytes`, or if the body comes too slowly.
    """
    n_declared = declared_length(request)
    if n_declared is None:
        raise BodyRefused(HTTPStatus.LENGTH_REQUIRED)
    if n_declared > MAX_DISCARDED:
        raise BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    body, n_bytes, n_parts = bytearray(), 0, 0
    try:
        async with asyncio.timeout(LIMIT_S):
            async for part in request.stream():
                n_bytes, n_parts = n_bytes + len(part), n_parts + 1
                if n_declared <= max_bytes:
                    body += part
                if n_parts > MAX_PARTS and n_bytes < n_parts * USUAL_PART_BYTES:
                    raise BodyRefused(HTTPStatus.REQUEST_TIMEOUT)
    except TimeoutError:
        raise BodyRefused(HTTPStatus.REQUEST_TIMEOUT) from None
    if n_declared > max_bytes:
        raise BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return bytes(body)
