"""Serve the first page of new windows, a few at a time.

Many new windows then do not delay people who are labelling.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # brings no types
from starlette.types import Message, Receive, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

N_AT_ONCE, LIMIT_S = 2, 5.0  # a page that takes longer no longer counts
MAX_END_BYTES = 200  # the message that ends a page run is short


class Arrivals:
    """Limits how many new windows run their first page at the same time.

    Windows start in the order of their first requests.
    """

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(N_AT_ONCE)

    @asynccontextmanager
    async def window(self, receive: Receive, send: Send) -> AsyncIterator[tuple[Receive, Send]]:
        """Wrap `receive` and `send` so that the first message of a window waits until the window may run its page."""
        turn = _Turn(self._turns)

        async def receiving() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                await turn.begin()
            return message

        async def sending(message: Message) -> None:
            await send(message)
            if turn.is_held and _ends_page_run(message):
                turn.end()

        try:
            yield receiving, sending
        finally:
            turn.end()


class _Turn:
    """The permission of one window to run its first page."""

    def __init__(self, turns: asyncio.Semaphore) -> None:
        self._turns = turns
        self._timer: asyncio.TimerHandle | None = None
        self.is_held = self._is_over = False

    async def begin(self) -> None:
        """Wait until the window may run its first page.

        If the window has already run its first page, return at once.
        """
        if self.is_held or self._is_over:
            return
        await self._turns.acquire()
        self.is_held = True
        self._timer = asyncio.get_running_loop().call_later(LIMIT_S, self.end)

    def end(self) -> None:
        """End the permission of this window, so that the next window can start."""
        self._is_over = True
        if self.is_held:
            self.is_held = False
            self._turns.release()
        if self._timer is not None:
            self._timer.cancel()


def _ends_page_run(message: Message) -> bool:
    content = message.get("bytes") if message["type"] == "websocket.send" else None
    if not content or len(content) > MAX_END_BYTES:
        return False
    try:
        return bool(ForwardMsg.FromString(content).WhichOneof("type") == "script_finished")
    except DecodeError:
        return False
