"""A reviewer who presses keys in a real browser, and the websocket messages of that browser."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Protocol, Self

from playwright.async_api import Browser, Page, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.hands import SAVED, SHOWN

LOAD_LIMIT_MS, POLL_S = 30_000, 0.02
KEYS = {"s": "similar", "d": "dissimilar"}
# The item on the screen; whether a key press counts now; whether everything is answered and saved.
STATE = f"""() => ({{
    code: window.__review?.code ?? null,
    ready: document.querySelector('[role="dialog"]') === null && Boolean(({SHOWN})()) && window.__review.code !== null,
    finished: document.querySelector('[role="dialog"]') === null && window.__review?.code === null
        && window.__review.pending === 0,
}})"""


class Told(Protocol):
    """A callback for websocket messages."""

    def sent(self, name: str, event: Mapping[str, Any]) -> None: ...
    def acknowledged(self, name: str, event_id: str) -> None: ...
    def refused(self, name: str, why: str) -> None: ...


class Desk:
    """A page, and the keys pressed on each item so far."""

    def __init__(self, page: Page, name: str, told: Told) -> None:
        self.page, self.name, self._told = page, name, told
        self.pressed: list[tuple[str, str]] = []
        self.is_over = False
        page.on("websocket", self._listen)

    @classmethod
    async def open(cls, browser: Browser, link: str, name: str, told: Told) -> Self:
        """Sign in and wait for the first item."""
        context = await browser.new_context(viewport={"width": 1440, "height": 800})
        desk = cls(await context.new_page(), name, told)
        await desk.page.goto(link)
        await desk.page.wait_for_function(SHOWN, timeout=LOAD_LIMIT_MS)
        return desk

    async def work(self) -> None:
        """Press a key whenever it counts until told to stop; then wait until everything is saved."""
        n = 0
        while not self.is_over:
            before = await self.page.evaluate(STATE)
            if before["ready"]:
                n += 1
                await self._press("sd"[n % 2], before["code"])
            elif before["finished"]:
                await self._press("u", None)
            else:
                await asyncio.sleep(POLL_S)
        await self.page.wait_for_function(SAVED, timeout=LOAD_LIMIT_MS)

    async def settle(self) -> None:
        """Wait until all earlier websocket messages were reported."""
        await self.page.evaluate("() => 0")

    async def _press(self, key: str, before: str | None) -> None:
        await self.page.keyboard.press(key)
        after = (await self.page.evaluate(STATE))["code"]
        if after != before:  # it counted: the next item is shown
            self.pressed.append((before, KEYS[key]) if before is not None else (after, "withdrawn"))

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", self._frame_sent)
        socket.on("framereceived", self._frame_received)

    def _frame_sent(self, frame: str | bytes) -> None:
        if not isinstance(frame, bytes):
            return
        for widget in BackMsg.FromString(frame).rerun_script.widget_states.widgets:
            for trigger in json.loads(widget.json_trigger_value or "[]"):
                if "event_id" in trigger["value"]:
                    self._told.sent(self.name, trigger["value"])

    def _frame_received(self, frame: str | bytes) -> None:
        if not isinstance(frame, bytes):
            return
        text = ForwardMsg.FromString(frame).delta.new_element.bidi_component.json
        ack = json.loads(text).get("ack") if text else None
        if ack and ack["saved"]:
            self._told.acknowledged(self.name, ack["event_id"])
        elif ack and not ack.get("again"):
            self._told.refused(self.name, ack["message"])
