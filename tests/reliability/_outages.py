"""Kill and restart the server while reviewers label over the websocket and in real browsers."""

import asyncio
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol, Self

from playwright.async_api import Browser, Error, Page, Request, Response, async_playwright
from websockets.exceptions import WebSocketException

from labeler.studies.model import PlanParameters
from labeler.studies.store import open_database
from labeler.studies.ui.answers import ANSWERS
from tests.browser import studies
from tests.browser.conftest import CHROMIUM_OPTIONS, Served, chromium_path, serving
from tests.browser.hands import SAVED, SHOWN
from tests.making import saved_answers
from tests.performance.measuring import percentiles
from tests.performance.wire import Refused, Visit, answer_to
from tests.reliability._ledger import Ledger, Sent
from tests.reliability.outcome import Case

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
    if not request.url.endswith(ANSWERS):
        return []
    answers: list[Mapping[str, Any]] = json.loads(request.post_data or "{}").get("answers", [])
    return answers


N_ITEMS = 200
CALM_S = 0.2, 1.5  # labelling time between two kills
BACK_LIMIT_S, POLL_S = 180, 0.02
LOST = (OSError, EOFError, WebSocketException)
CATEGORIES = ("similar", "dissimilar")


class Broken(Exception):
    """A client does not come back, so the test cannot continue."""


class Outages:
    """The server, its clients, and the results of the kills so far.

    `n_again` answers were sent again after a kill; `n_stored` of these were already in the file.
    """

    def __init__(self, served: Served, seed: int) -> None:
        self.served, self.rng, self.ledger = served, random.Random(seed), Ledger()
        self.n_kills = self.n_again = self.n_stored = self.n_reloads = 0
        self.back_s: list[float] = []
        self.desks: dict[str, Desk] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._killed_at: float | None = None
        self._back: set[str] = set()
        self._waiting: dict[str, bool] = {}
        self._is_over = False
        self._is_up = asyncio.Event()
        self._is_up.set()

    async def run(self, n_kills: int, clients: Sequence[str], pages: Sequence[str]) -> None:
        """Everybody labels while the server is killed again and again."""
        async with AsyncExitStack() as stack:
            if pages:
                playwright = await stack.enter_async_context(async_playwright())
                browser = await playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
                stack.push_async_callback(browser.close)
                for name in pages:
                    self.desks[name] = await Desk.open(browser, self.served.link(name), name, self)
            self._tasks = {name: asyncio.create_task(self._label(name)) for name in clients}
            self._tasks |= {name: asyncio.create_task(desk.work()) for name, desk in self.desks.items()}
            try:
                await self._all_back()
                for _ in range(n_kills):
                    await asyncio.sleep(self.rng.uniform(*CALM_S))  # waits for nothing: this is the moment of the kill
                    await self._kill_one()
                await self._end()
            except Broken as error:
                self.ledger.fault(str(error))
            finally:
                for task in self._tasks.values():
                    task.cancel()
                await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self.ledger.check(self.served.study)

    def sent(self, name: str, event: Mapping[str, Any]) -> None:
        """Record that an answer was sent, perhaps again."""
        one = Sent(name, event["code"], event["revision"], event["answer"])
        if self.ledger.sent.setdefault(event["event_id"], one) != one:
            self.ledger.fault(f"{name} sent another answer with the mark of an earlier one")
        if event["event_id"] in self._waiting:
            self.n_again += 1
            self.n_stored += self._waiting.pop(event["event_id"])

    def acknowledged(self, name: str, event_id: str) -> None:
        """Record that an answer was acknowledged."""
        if event_id not in self.ledger.acknowledged and self._killed_at is not None and self._is_up.is_set():
            self.back_s.append(time.monotonic() - self._killed_at)
            self._killed_at = None
        self.ledger.acknowledged.add(event_id)
        self._back.add(name)

    def refused(self, name: str, why: str) -> None:
        self.ledger.fault(f"an answer of {name} was refused: {why}")

    async def _label(self, name: str) -> None:
        """Label without pause and without a browser; unacknowledged answers are sent again on the next connection."""
        visit = await Visit.open(self.served.url, self.served.secrets[name])
        event: dict[str, Any] | None = None
        while not self._is_over or event is not None:
            try:
                event = event or self._next(visit)
                self.sent(name, event)
                await visit.send(event)
                self.acknowledged(name, event["event_id"])
                event = None
                await visit.finish()
            except Refused as error:
                if not error.again:
                    self.refused(name, str(error))
                    return
            except TimeoutError:
                self.ledger.fault(f"{name} waited for an acknowledgement for too long")
                return
            except LOST:
                await self._connect(visit)

    def _next(self, visit: Visit) -> dict[str, Any]:
        if visit.data["offers"]:
            return answer_to(visit.data["offers"][0], self.rng.choice(CATEGORIES))
        return answer_to(visit.data["last"], "withdrawn")

    async def _connect(self, visit: Visit) -> None:
        """Connect with the current session once a server runs; a server that is killed meanwhile is not a failure."""
        deadline = time.monotonic() + 2 * BACK_LIMIT_S
        while time.monotonic() < deadline:
            await self._is_up.wait()
            try:
                await visit.connect()
            except LOST:
                await asyncio.sleep(POLL_S)
            else:
                return
        raise Broken("a reviewer could not connect again")

    async def _kill_one(self) -> None:
        self._is_up.clear()
        self._killed_at = time.monotonic()
        self.served.kill()
        for desk in self.desks.values():
            await desk.settle()
        kept = self._look()
        self._waiting = {event_id: event_id in kept for event_id in self.ledger.unacknowledged}
        self.n_kills += 1
        self._back.clear()
        await asyncio.to_thread(self.served.start_again)
        self._is_up.set()
        await self._all_back()

    def _look(self) -> set[str]:
        """Check a copy of the file after the kill, so that the next server finds the file unchanged."""
        with tempfile.TemporaryDirectory() as folder:
            for path in self.served.study.parent.glob(f"{self.served.study.name}*"):
                if not path.name.endswith("-shm"):  # SQLite creates it again
                    shutil.copy(path, folder)
            return self.ledger.look(Path(folder) / self.served.study.name, deep=True)

    async def _all_back(self) -> None:
        """Everybody has had an answer acknowledged since the restart; a page without one is reloaded."""
        names = self._tasks.keys()
        if await self._holds(lambda: names <= self._back):
            return
        for name in self.desks.keys() - self._back:
            self.n_reloads += 1
            await self.desks[name].page.reload()
        if not await self._holds(lambda: names <= self._back):
            raise Broken(f"not labelling again: {', '.join(sorted(names - self._back))}")

    async def _end(self) -> None:
        """Let everybody finish; then compare the study with the keys pressed in the pages."""
        self._is_over = True
        for desk in self.desks.values():
            desk.is_over = True
        if not await self._holds(lambda: all(task.done() for task in self._tasks.values())):
            raise Broken("somebody does not come to an end")
        for task in self._tasks.values():
            task.result()
        with open_database(self.served.study) as db:
            kept = saved_answers(db)
        for name, desk in self.desks.items():
            stored = [(one.code, one.label.answer) for one in kept if one.reviewer == name]
            if stored != desk.pressed:
                self.ledger.fault(f"{name} pressed {len(desk.pressed)} keys, and the file holds {len(stored)} others")

    async def _holds(self, wanted: Callable[[], bool]) -> bool:
        """Wait for a condition up to a limit; an error in a client is raised here at once."""
        deadline = time.monotonic() + BACK_LIMIT_S
        while not wanted():
            for task in self._tasks.values():
                if task.done():
                    task.result()
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(POLL_S)
        return True


def cases(folder: Path, n_kills: int, n_clients: int, n_pages: int, seed: int) -> Iterator[Case]:
    """Yield the cases: the kills of the server, and the content of the file after each."""
    what = "server killed while reviewers label"
    if n_pages and chromium_path() is None:
        yield Case(f"{what} in a browser", "there is no Chromium", None)
        n_pages = 0
    clients, pages = ([f"{kind}{n}" for n in range(many)] for kind, many in (("wire", n_clients), ("page", n_pages)))
    names = [*clients, *pages]
    plan = PlanParameters(seed, per_item=len(names), overlap=0, retest=0)
    study = folder / "served.study"
    studies.make(study, studies.many(N_ITEMS), reviewers=names, parameters=plan)
    with serving(study) as served:
        outages = asyncio.run(_killed(served, n_kills, clients, pages, seed))
    ledger, (p50, most) = outages.ledger, percentiles(outages.back_s, 50, 100)
    yield Case(
        what,
        f"{outages.n_kills} kills under {n_clients} websocket clients and {n_pages} pages; {len(ledger.sent)} answers "
        f"sent, {len(ledger.acknowledged)} acknowledged, {outages.n_again} sent again after a kill, {outages.n_stored} "
        f"of these already stored; {outages.n_reloads} pages reloaded by hand; from the kill to the first "
        f"acknowledgement p50 {p50:.1f} s, max {most:.1f} s; checked the file {ledger.n_looks} times; {ledger.found}",
        not ledger.faults and outages.n_kills == n_kills and outages.n_again > 0 and not ledger.unacknowledged,
    )


async def _killed(served: Served, n_kills: int, clients: Sequence[str], pages: Sequence[str], seed: int) -> Outages:
    outages = Outages(served, seed)
    await outages.run(n_kills, clients, pages)
    return outages
