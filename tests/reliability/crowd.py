"""Scene: many people label on one real server, over the websocket or in pages of a real browser.

Each answer is recorded when it is sent and when it is acknowledged; a client sends an answer again after the connection
was lost, with the same id, as the browser does. Times start when a label is due, so that the time waiting for the
previous label counts too.
"""

import asyncio
import json
import random
import re
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Error, Page, Request, Response, async_playwright
from websockets.exceptions import WebSocketException

from analysis.text import counted
from labeler.studies.store import open_database
from labeler.studies.ui.answers import ANSWERS
from tests.browser.conftest import CHROMIUM_OPTIONS, Served, chromium_path, serving
from tests.browser.hands import SAVED, SHOWN
from tests.making import saved_answers
from tests.performance.labelling import PROBE, VIEWPORT
from tests.performance.measuring import busy_s, cpu_s, memory_mb, percentiles
from tests.performance.rig import make_study
from tests.performance.wire import Refused, Visit, answer_to
from tests.reliability.cases import Case, Room, case
from tests.reliability.gauges import Sample, between, look, slope
from tests.reliability.ledger import Ledger, Sent
from tests.reliability.writers import Writer, asking_for_lock

P95_MS, MB_A_SESSION = 100.0, 2.0
# Growth counts as none below 1 kB per label: a day of 15 000 labels would add 15 MB to a server of 250 MB. The fit uses
# the second half, because the allocator grows before that, until it has served the highest number of threads.
MB_A_THOUSAND = 1.0
FIRST, LAST = 500, 5500
LOG_MB_A_MINUTE = 1.0
FEW = 5  # tolerated difference in threads or files
N_SPARE = 5  # items in addition to the labels
N_ENDLESS = 200  # items where people label until they are stopped; after the last they undo the last answer
LOAD_LIMIT_MS, BACK_LIMIT_S, POLL_S, LOOK_EVERY_S, SLACK_S = 30_000, 180, 0.02, 3.0, 120.0
LOST = (OSError, EOFError, WebSocketException)
KEYS = {"s": "similar", "d": "dissimilar"}
# The item on the screen; whether a key press counts now; whether everything is answered and saved.
STATE = f"""() => ({{
    code: window.__review?.code ?? null,
    ready: document.querySelector('[role="dialog"]') === null && Boolean(({SHOWN})()) && window.__review.code !== null,
    finished: document.querySelector('[role="dialog"]') === null && window.__review?.code === null
        && window.__review.pending === 0,
}})"""


Work = Callable[[float], Coroutine[Any, Any, None]]  # what a person does from a moment on


class Broken(RuntimeError):
    """Somebody does not come back, so the row cannot continue."""


@dataclass(frozen=True)
class Pace:
    """How often a reviewer labels, and how many times; None: until told to stop."""

    every_s: float
    n_labels: int | None

    @classmethod
    def lasting(cls, minutes: float, every_s: float) -> "Pace":
        return cls(every_s, max(2, round(60 * minutes / every_s)))

    @property
    def limit_s(self) -> float:
        """Long enough for everybody who makes progress."""
        return self.every_s * (self.n_labels or 0) + SLACK_S + BACK_LIMIT_S


@dataclass
class Crowd:
    """The server, the people who label on it, and everything measured so far; times in ms unless the name says so."""

    room: Room
    served: Served
    log: Path  # the output of the server
    pace: Pace
    clients: Sequence[str]
    pages: Sequence[str]
    spare: list[str]  # people who do not label yet
    rng: random.Random
    ledger: Ledger = field(default_factory=Ledger)
    errors: Counter[str] = field(default_factory=Counter)
    clients_ms: list[float] = field(default_factory=list)  # since the label was due
    answered_ms: list[float] = field(default_factory=list)  # since it was sent
    pages_ms: list[float] = field(default_factory=list)
    keys_ms: list[float] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    other_writer: Writer | None = None  # asks for the write lock again and again
    lock_ms: list[float] = field(default_factory=list)
    n_lock_timeouts: int = 0
    mb_before: float = 0.0
    mb_of_one: float = 0.0
    cores: dict[str, float] = field(default_factory=dict)
    begun: float = field(default_factory=time.monotonic)
    at_pages: "dict[str, AtBrowser]" = field(default_factory=dict)
    back: set[str] = field(default_factory=set)  # who has had an answer acknowledged since this was emptied
    killed_at: float | None = None
    back_s: list[float] = field(default_factory=list)  # from each kill to the first acknowledgement
    waiting: dict[str, bool] = field(default_factory=dict)  # what was unacknowledged, and whether it was in the file
    n_kills: int = 0
    n_again: int = 0  # answers sent again after a kill, and how many of them were in the file already
    n_stored: int = 0
    n_reloads: int = 0
    figures: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_over: bool = False
    is_up: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    @property
    def pid(self) -> int:
        return self.served.process.pid

    @property
    def study(self) -> Path:
        return self.served.study

    @property
    def n_people(self) -> int:
        return len(self.clients) + len(self.pages)

    def sent(self, name: str, event: Mapping[str, Any]) -> None:
        """Record that an answer was sent, perhaps again."""
        event_id = event["event_id"]
        self.ledger.send(event_id, Sent(name, event["code"], event["revision"], event["answer"]))
        if event_id in self.waiting:
            self.n_again += 1
            self.n_stored += self.waiting.pop(event_id)

    def acknowledged(self, name: str, event_id: str) -> None:
        """Record that an answer was acknowledged."""
        if event_id not in self.ledger.acknowledged and self.killed_at is not None and self.is_up.is_set():
            self.back_s.append(time.monotonic() - self.killed_at)
            self.killed_at = None
        self.ledger.acknowledge(event_id)
        self.back.add(name)

    async def work(self, accident: "Callable[[Crowd], Awaitable[None]]") -> None:
        """Everybody labels while the accident happens, and to the end of the pace."""
        self.is_up.set()
        async with AsyncExitStack() as stack:
            self.mb_before = memory_mb(self.pid)
            visits: dict[str, Visit] = {}
            for name in self.clients:
                visits[name] = await Visit.open(self.served.url, self.served.secrets[name])
                self.mb_of_one = self.mb_of_one or memory_mb(self.pid)
            if self.pages:
                playwright = await stack.enter_async_context(async_playwright())
                browser = await playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
                stack.push_async_callback(browser.close)
                for name in self.pages:
                    self.at_pages[name] = await AtBrowser.open(browser, self, name)
            watching = asyncio.create_task(self._watch())
            earlier, begin = self._used(), time.perf_counter() + 0.2
            works: dict[str, Work] = {name: client(self, name, visit) for name, visit in visits.items()}
            works |= {name: page.work for name, page in self.at_pages.items()}
            dues = {name: begin + self.rng.random() * self.pace.every_s for name in works}
            self.tasks = {name: asyncio.create_task(work(dues[name])) for name, work in works.items()}
            try:
                await self.all_back()
                await accident(self)
                self.is_over = self.pace.n_labels is None
                if not await self.holds(lambda: all(task.done() for task in self.tasks.values()), self.pace.limit_s):
                    raise Broken("somebody does not come to an end")
                for task in self.tasks.values():
                    task.result()
                self.cores = self._cores(earlier, self._used())
                self._look()
            finally:
                for task in (*self.tasks.values(), watching):
                    task.cancel()
                await asyncio.gather(*self.tasks.values(), watching, return_exceptions=True)
            for visit in visits.values():
                await visit.close()

    async def _watch(self) -> None:
        while True:
            self._look()
            await asyncio.sleep(LOOK_EVERY_S)

    def _look(self) -> None:
        """Note the state of the server, and how long the other writer waited."""
        self.samples.append(look(self.pid, self.study, len(self.ledger.acknowledged)))
        for word, value, _ in self.other_writer.told() if self.other_writer else ():
            self.n_lock_timeouts += word == "refused"
            self.lock_ms += [value] if word == "waited" else []

    def _used(self) -> tuple[float, ...]:
        return cpu_s(self.pid), cpu_s("self"), busy_s(), time.perf_counter()

    @staticmethod
    def _cores(earlier: Sequence[float], later: Sequence[float]) -> dict[str, float]:
        server, clients, machine, wall = (after - before for before, after in zip(earlier, later, strict=True))
        return {"server": server / wall, "clients": clients / wall, "rest": (machine - server - clients) / wall}

    async def all_back(self) -> None:
        """Everybody has had an answer acknowledged; a page without one is reloaded."""
        names = self.tasks.keys()
        if await self.holds(lambda: names <= self.back):
            return
        for name in self.at_pages.keys() - self.back:
            self.n_reloads += 1
            await self.at_pages[name].page.reload()
        if not await self.holds(lambda: names <= self.back):
            raise Broken(f"not labelling again: {', '.join(sorted(names - self.back))}")

    async def holds(self, wanted: Callable[[], bool], limit_s: float = BACK_LIMIT_S) -> bool:
        """Wait for a condition up to a limit; an error in a client is raised here at once."""
        deadline = time.monotonic() + limit_s
        while not wanted():
            for task in self.tasks.values():
                if task.done():
                    task.result()
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(POLL_S)
        return True

    async def due(self, number: int, at: float) -> bool:
        """Wait until the next label is due; returns whether there is one."""
        await asyncio.sleep(max(0.0, at - time.perf_counter()))  # the pace of a person, not a wait for a condition
        return number < self.pace.n_labels if self.pace.n_labels is not None else not self.is_over


def client(crowd: Crowd, name: str, visit: Visit) -> Work:
    """A reviewer without a browser."""

    async def deliver(event: Mapping[str, Any], due: float) -> None:
        """Send an answer until it is acknowledged or refused."""
        while True:
            try:
                crowd.sent(name, event)
                waited = time.perf_counter() - due
                took = await visit.send(event)
            except Refused as error:
                message = re.sub(r"\S*/", "", str(error))  # without the folder of the study
                crowd.errors[message] += 1
                if not error.again:
                    crowd.ledger.refused[event["event_id"]] = message
                    return
                await asyncio.sleep(POLL_S)
            except LOST as error:
                await connect(error)
            else:
                crowd.acknowledged(name, event["event_id"])
                crowd.clients_ms.append(1e3 * (waited + took))
                crowd.answered_ms.append(1e3 * took)
                return

    async def connect(why: BaseException) -> None:
        """Connect with the current session once a server runs; a server that is killed meanwhile is not a failure."""
        crowd.errors[f"{type(why).__name__}: {why}".partition("\n")[0][:80]] += 1
        deadline = time.monotonic() + 2 * BACK_LIMIT_S
        while time.monotonic() < deadline:
            await crowd.is_up.wait()
            try:
                await visit.connect()
            except LOST:
                await asyncio.sleep(POLL_S)
            else:
                return
        raise Broken(f"{name} could not connect again")

    async def work(due: float) -> None:
        number = 0
        while await crowd.due(number, due):
            answer = ("similar", "dissimilar")[number % 2]
            offers, last = visit.data["offers"], visit.data["last"]
            await deliver(answer_to(offers[0], answer) if offers else answer_to(last, "withdrawn"), due)
            try:
                await visit.finish()
            except LOST as error:
                await connect(error)
            number, due = number + 1, due + crowd.pace.every_s

    return work


class AtBrowser:
    """A reviewer in a page, and the keys pressed on each item so far."""

    def __init__(self, crowd: Crowd, name: str, page: Page) -> None:
        self.page, self.name, self._crowd = page, name, crowd
        self.pressed: list[tuple[str, str]] = []
        self._reading: list[asyncio.Future[None]] = []
        page.on("request", self._sent)
        page.on("response", self._received)

    @classmethod
    async def open(cls, browser: Browser, crowd: Crowd, name: str) -> "AtBrowser":
        """Sign in and wait for the first item."""
        one = cls(crowd, name, await (await browser.new_context(viewport=VIEWPORT)).new_page())
        await one.page.add_init_script(path=PROBE)
        await one.page.goto(crowd.served.link(name))
        await one.page.wait_for_function(SHOWN, timeout=LOAD_LIMIT_MS)
        return one

    async def work(self, due: float) -> None:
        """Press a key whenever one is due and counts; at the end wait until everything is saved."""
        number, waited_ms = 0, []
        while await self._crowd.due(number, due):
            before = await self.page.evaluate(STATE)
            if before["ready"]:
                waited_ms.append(1e3 * max(0.0, time.perf_counter() - due))
                await self._press("sd"[number % 2], before["code"])
            elif before["finished"]:
                await self._press("u", None)
            else:
                await asyncio.sleep(POLL_S)
                continue
            number, due = number + 1, due + self._crowd.pace.every_s
        await self.page.wait_for_function(SAVED, timeout=LOAD_LIMIT_MS)
        await self.settle()
        for waited, press in zip(waited_ms, await self.page.evaluate("() => __probe.times"), strict=False):
            if "received" in press:  # not if the server was killed before its reply
                self._crowd.pages_ms.append(waited + press["received"] - press["sent"])
                self._crowd.keys_ms.append(waited + press["acked"])

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
        for event in answers_in(request):
            self._crowd.sent(self.name, event)

    def _received(self, response: Response) -> None:
        if answers_in(response.request):
            self._reading.append(asyncio.ensure_future(self._read(response)))

    async def _read(self, response: Response) -> None:
        try:
            reply = await response.json() if response.ok else {}
        except (Error, ValueError):  # the server was killed before the end of the reply
            return
        for answer in reply.get("answers", ()):
            if answer["outcome"] == "saved":
                self._crowd.acknowledged(self.name, answer["event_id"])
            elif answer["outcome"] == "refused":
                self._crowd.ledger.refused[answer["event_id"]] = answer["message"]


def answers_in(request: Request) -> list[Mapping[str, Any]]:
    """Return the answers that a page sends."""
    if not request.url.endswith(ANSWERS):
        return []
    found: list[Mapping[str, Any]] = json.loads(request.post_data or "{}").get("answers", [])
    return found


def crowd(
    n_clients: int, n_pages: int = 0, *, pace: Callable[[Room], Pace], n_spare: Callable[[Room], int] = lambda _: 0,
    measures_locks: bool = False, n_files: Callable[[Room], int] | None = None,
) -> Callable[[Room], AbstractContextManager[Crowd]]:  # fmt: skip
    """A new study on a new server; `n_files` limits the files that the server may have open."""

    @contextmanager
    def scene(room: Room) -> Iterator[Crowd]:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # this process has the other ends
        folder, pages = room.new_folder(), n_pages if chromium_path() else 0
        n_people = n_clients + pages + n_spare(room)
        n_items = (pace(room).n_labels or N_ENDLESS) + N_SPARE
        names = make_study(folder / "crowd.study", n_people, n_items=n_items)
        make_study(folder / "beside.study", 1, n_items=N_SPARE)
        few = (n_files(room), n_files(room)) if n_files else (hard, hard)
        with (folder / "log").open("wb") as out, ExitStack() as stack:
            limited: dict[str, Any] = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few)}
            running = serving(folder / "crowd.study", with_others=True, stdout=out, stderr=out, **limited)
            served = stack.enter_context(running)
            clients, in_pages = names[:n_clients], names[n_clients : n_clients + pages]
            world = Crowd(
                room, served, folder / "log", pace(room), clients, in_pages, names[n_clients + pages :],
                random.Random(room.seed),
            )  # fmt: skip
            if measures_locks:
                world.other_writer = Writer.start(asking_for_lock, served.study)
                stack.callback(world.other_writer.kill)
            if n_pages > pages:
                world.figures.append("no Chromium, so no pages")
            yield world

    return scene


def until_stopped(every_s: float = 0.0) -> Callable[[Room], Pace]:
    """Label until the accident is over."""
    return lambda _: Pace(every_s, None)


def while_they_label(accident: Callable[[Crowd], Awaitable[None]]) -> Callable[[Crowd], None]:
    """Let an accident happen while everybody labels."""
    return lambda world: asyncio.run(world.work(accident))


async def no_accident(_world: Crowd) -> None:
    """Only the ordinary course."""


# Counts


def times(ms: list[float]) -> str:
    """Return the distribution of times as a sentence."""
    p50, p95, p99, most = percentiles(ms, 50, 95, 99, 100)
    return f"p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f}, max {most:.0f} ms of {len(ms)} labels"


def no_error(world: Crowd) -> Case:
    """Every label was given without an error."""
    errors = [f"{n} x {what}" for what, n in world.errors.most_common()] + world.problems
    n_given, wanted = len(world.ledger.acknowledged), world.pace.n_labels
    if wanted is not None and n_given != wanted * world.n_people:
        errors.append(f"{wanted * world.n_people} were due")
    return case("no error", "; ".join([f"{n_given} labels", *world.figures]), errors)


def in_time(limit_ms: float = P95_MS, level: float = 95, *, since_sent: bool = False) -> Callable[[Crowd], Case]:
    """Whether this share of the labels of clients, and of pages, was acknowledged in time."""

    def count(world: Crowd) -> Case:
        problems, told = [], []
        clients_ms = world.answered_ms if since_sent else world.clients_ms
        for who, ms in (("clients", clients_ms), ("pages", world.pages_ms)):
            if ms:
                told.append(f"{who} {times(ms)}")
                if percentiles(ms, level)[0] > limit_ms:
                    problems.append(f"{who} wait longer")
        if world.keys_ms:
            told.append(f"pages, from the key press until saved {times(world.keys_ms)}")
        what = f"p{level:.0f} to acknowledgement <= {limit_ms:.0f} ms"
        return case(what, "; ".join(told), problems if told else ["no labels"])

    return count


def stored_once(world: Crowd) -> Case:
    """Every acknowledged label is stored once, as it was sent; the file is sound; pages stored what was pressed."""
    ledger = world.ledger
    ledger.check(world.study)
    problems = [*ledger.faults, *(f"refused: {message}" for message in ledger.refused.values())]
    problems += [f"{len(ledger.unacknowledged)} never acknowledged"] if ledger.unacknowledged else []
    with open_database(world.study) as db:
        kept = saved_answers(db)
    for name, page in world.at_pages.items():
        stored = [(one.code, one.label.answer) for one in kept if one.reviewer == name]
        if stored != page.pressed:
            problems.append(f"{name} pressed {len(page.pressed)} keys, and the file holds {len(stored)} others")
    n_looks = counted(ledger.n_looks, "time")
    figures = f"{len(ledger.sent)} sent, {len(ledger.acknowledged)} acknowledged, checked the file {n_looks}"
    return case("every acknowledged label is stored once, the study is sound", figures, problems)


def sent_again(world: Crowd) -> Case:
    """After each kill, everybody goes on, and sends again what was not acknowledged."""
    p50, most = percentiles(world.back_s, 50, 100)
    figures = (
        f"{world.n_kills} kills under {len(world.clients)} websocket clients and {len(world.pages)} pages; "
        f"{world.n_again} answers sent again after a kill, {world.n_stored} of these already stored; {world.n_reloads} "
        f"pages reloaded by hand; from the kill to the first acknowledgement p50 {p50:.1f} s, max {most:.1f} s"
    )
    return case("", figures, world.problems + ([] if world.n_again else ["no kill came in time"]))


def lock_waits(world: Crowd) -> Case:
    """How long another writer waits for the lock, and whether any wait timed out."""
    n_busy = sum(n for what, n in world.errors.items() if "is busy" in what)
    p50, p95, most = percentiles(world.lock_ms, 50, 95, 100)
    problems = [f"{n_busy} answers refused"] if n_busy else []
    problems += [f"{world.n_lock_timeouts} timeouts"] if world.n_lock_timeouts else []
    return case(
        "nobody is refused because the study is busy",
        f"wait of another writer for the lock: p50 {p50:.1f}, p95 {p95:.1f}, max {most:.0f} ms of {len(world.lock_ms)}",
        problems if world.lock_ms else ["nobody asked"],
    )


def memory_per_session(world: Crowd) -> Case:
    """The memory per session, after all windows were opened and at the end."""
    first, last = world.samples[0].mb, world.samples[-1].mb
    opened, worked = ((mb - world.mb_of_one) / (world.n_people - 1) for mb in (first, last))
    return Case(
        f"< {MB_A_SESSION:.0f} MB per session after the first",
        f"{world.mb_before:.0f} MB before the first, {world.mb_of_one:.0f} with one, {first:.0f} with all, {last:.0f} "
        f"at the end: {opened:.2f} per session, {worked:.2f} with its labels",
        max(opened, worked) < MB_A_SESSION,
    )


def no_growth(world: Crowd) -> Case:
    """The server's memory does not grow with the number of saved labels."""
    what, n_labels = f"memory does not grow over {LAST - FIRST} labels", world.samples[-1].n_labels
    if n_labels < LAST:
        return Case(what, f"only {n_labels} labels", None)
    fitted, more = slope(world.samples), between(world.samples, FIRST, LAST)
    return Case(
        what,
        f"{fitted:.2f} MB per 1000 labels in the second half of {n_labels} (none: < {MB_A_THOUSAND:.0f}); "
        f"{more:.1f} MB more at label {LAST} than at {FIRST}",
        fitted < MB_A_THOUSAND,
    )


def no_leak(world: Crowd) -> Case:
    """Other resources. Many threads may work for a moment, but a leak never shrinks again.

    Each reviewer opens a connection with the first label, and the pool of threads fills, so counting begins after that.
    """
    warm = 2 * world.n_people
    samples = [sample for sample in world.samples if sample.n_labels >= warm] or world.samples[-1:]
    half = len(samples) // 2
    numbers, leaks = [], []
    for name in ("n_threads", "n_files"):
        n = [getattr(one, name) for one in samples]
        numbers.append(f"{min(n)} to {max(n)} {name[2:]}")
        leaks += [f"{name[2:]} grow"] if min(n[half:]) > min(n[:half] or n) + FEW else []
    cores = ", ".join(f"{name} {n:.2f}" for name, n in world.cores.items())
    return case(
        "the numbers of threads and files do not grow",
        f"{'; '.join(numbers)}; study {samples[0].study_mb:.0f} to {samples[-1].study_mb:.0f} MB, its log at most "
        f"{max(one.log_mb for one in samples):.1f} MB; cores: {cores}",
        leaks,
    )


def log_stays_small(world: Crowd) -> Case:
    """What the server prints."""
    seconds, mb = time.monotonic() - world.begun, world.log.stat().st_size / 2**20
    figures = f"{mb:.3f} MB in {seconds:.0f} s"
    what = f"the log grows by less than {LOG_MB_A_MINUTE:.0f} MB per minute"
    return Case(what, figures, mb / max(1.0, seconds / 60) < LOG_MB_A_MINUTE)


async def close(visit: Visit) -> None:
    with suppress(Exception):
        await visit.close()


def copy_without_shm(study: Path) -> Path:
    """Return a copy of a study as a kill left it, so that the next server finds the file unchanged."""
    folder = Path(tempfile.mkdtemp(dir=study.parent))
    for path in study.parent.glob(f"{study.name}*"):
        if not path.name.endswith("-shm"):  # SQLite creates it again
            (folder / path.name).write_bytes(path.read_bytes())
    return folder / study.name
