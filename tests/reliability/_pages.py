"""A reviewer who presses keys in a real browser, and the requests of that browser."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Protocol, Self

from playwright.async_api import Browser, Error, Page, Request, Response

from labeler.ui.answers import ANSWERS
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
    """A callback for answers and their outcomes."""

    def sent(self, name: str, event: Mapping[str, Any]) -> None: ...
    def acknowledged(self, name: str, event_id: str) -> None: ...
    def refused(self, name: str, why: str) -> None: ...


class Desk:
    """A page, and the keys pressed on each item so far."""

    def __init__(self, page: Page, name: str, told: Told) -> None:
        self.page, self.name, self._told = page, name, told
        self.pressed: list[tuple[str, str]] = []
        self.is_over = False
        self._reading: list[asyncio.Future[None]] = []
        page.on("request", self._sent)
        page.on("response", self._received)

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
        """Wait until all earlier replies were reported."""
        await self.page.evaluate("() => 0")
        await asyncio.gather(*self._reading)
        self._reading.clear()

    async def _press(self, key: str, before: str | None) -> None:
        await self.page.keyboard.press(key)
        after = (await self.page.evaluate(STATE))["code"]
        if after != before:  # it counted: the next item is shown
            self.pressed.append((before, KEYS[key]) if before is not None else (after, "withdrawn"))

    def _sent(self, request: Request) -> None:
        for event in _answers(request):
            self._told.sent(self.name, event)

    def _received(self, response: Response) -> None:
        if _answers(response.request):
            self._reading.append(asyncio.ensure_future(self._read(response)))

    async def _read(self, response: Response) -> None:
        try:
            reply = await response.json() if response.ok else {}
        except (Error, ValueError):  # the server was killed before the end of the reply
            return
        for answer in reply.get("answers", ()):
            if answer["outcome"] == "saved":
                self._told.acknowledged(self.name, answer["event_id"])
            elif answer["outcome"] == "refused":
                self._told.refused(self.name, answer["message"])


def _answers(request: Request) -> list[Mapping[str, Any]]:
    """The answers in a request of the page."""
    if not request.url.endswith(ANSWERS):
        return []
    answers: list[Mapping[str, Any]] = json.loads(request.post_data or "{}").get("answers", [])
    return answers
