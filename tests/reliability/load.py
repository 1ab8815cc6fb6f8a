"""Many reviewers on a real server, each with one label every two seconds: time to acknowledgement, and resources.

    python -m tests.reliability.load [--levels 1 10 25 50] [--pages 4] [--minutes 1] [--top-minutes 10] [--every 2]
                                     [--windows 200] [--rush 200] [--full-speed 20] [--json FILE]
    python -m tests.reliability.load --levels 5 --pages 1 --top-minutes 0.1 --windows 0 --rush 0 --full-speed 0  (short)

The server is `labeler serve` in a separate process. The reviewers share one process on the same machine (wire.py); at
the last level some are real pages in a real Chromium. Times start when a label is due, so that the time waiting for the
previous label counts too. "To acknowledgement" is the time from sending a request to reading the response from the
socket; pages use their own clock (probe.js). For pages, the time from the key press to "Saved" is also reported; it is
longer because all browsers draw on the server's processors. Each level has a new study and a new server.
"""

import argparse
import asyncio
import random
import re
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from labeler.studies.store import labels, open_database
from tests.browser.conftest import CHROMIUM_OPTIONS, Served, chromium_path, serving
from tests.performance.labelling import LOOKED_MS, PROBE, VIEWPORT
from tests.performance.measuring import busy_s, cpu_s, memory_mb, percentiles
from tests.performance.rig import make_study
from tests.performance.wire import Refused, Visit
from tests.reliability import outcome
from tests.reliability.gauges import Locks, Sample, between, look, probing, slope, watch
from tests.reliability.outcome import Case

P95_MS, MB_A_SESSION = 100.0, 2.0
# Growth counts as none below 1 kB per label: a day of 15 000 labels would add 15 MB to a server of 250 MB. The fit uses
# the second half, because the allocator grows before that, until it has served the highest number of threads.
MB_A_THOUSAND = 1.0
FIRST, LAST = 500, 5500
MB_A_WINDOW, FILLING = 0.03, 150  # Streamlit keeps up to 128 closed windows for two minutes for reconnections
N_AT_WORK, RUSH_S, RUSH_ITEMS = 10, 2.0, 80
FIRST_ITEM_S, AT_WORK_MS = 10.0, 300.0
SPEED_LABELS, SPEED_P99_MS = 300, 500.0
N_SPARE = 5  # items in addition to the labels
FEW = 5  # tolerated difference in threads or files
LOOK_EVERY_S, SLACK_S = 3.0, 120.0
Labeller = Callable[[str, float], Awaitable[None]]  # gives an answer that was due at a moment, and records the result


@dataclass
class Work:
    """Measurements of the reviewers of one level; times in ms."""

    clients_ms: list[float] = field(default_factory=list)  # since the label was due
    answered_ms: list[float] = field(default_factory=list)  # since it was sent
    pages_ms: list[float] = field(default_factory=list)
    keys_ms: list[float] = field(default_factory=list)
    event_ids: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


@dataclass
class Taken:
    """Resources of server and machine at one level."""

    mb_before: float = 0.0
    mb_of_one: float = 0.0
    samples: list[Sample] = field(default_factory=list)
    cores: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Pace:
    """How often a reviewer labels, and how many times."""

    every_s: float
    n_labels: int

    @classmethod
    def lasting(cls, minutes: float, every_s: float) -> "Pace":
        return cls(every_s, max(2, round(60 * minutes / every_s)))

    @property
    def limit_s(self) -> float:
        """Long enough for every level that makes progress."""
        return self.every_s * self.n_labels + SLACK_S


def main() -> None:
    made = outcome.parser(__doc__)
    made.add_argument("--levels", type=int, nargs="*", default=[1, 10, 25, 50], help="reviewers at once")
    made.add_argument("--pages", type=int, default=4, help="how many of the last level are real pages")
    made.add_argument("--minutes", type=float, default=1, help="of every level but the last")
    made.add_argument("--top-minutes", type=float, default=10, help="of the last level")
    made.add_argument("--every", type=float, default=2, help="seconds between two labels of a reviewer")
    made.add_argument("--rush", type=int, default=200, help="who sign in within two seconds; 0 for none")
    made.add_argument("--full-speed", type=int, default=20, help="who label without a pause; 0 for none")
    made.add_argument("--windows", type=int, default=200, help="opened and closed one after the other; 0 for none")
    outcome.main(made, run)


def run(options: argparse.Namespace) -> Iterator[Case]:
    """Yield all levels, then the windows."""
    *lower, top = options.levels or [0]
    for n_reviewers in lower:
        yield from level(n_reviewers, 0, Pace.lasting(options.minutes, options.every))
    if top:
        yield from level(top, min(options.pages, top), Pace.lasting(options.top_minutes, options.every), is_long=True)
    if options.rush:
        yield from rush(options.rush)
    if options.full_speed:
        yield from full_speed(options.full_speed)
    if options.windows:
        yield windows(options.windows)


def level(n_reviewers: int, n_pages: int, pace: Pace, *, is_long: bool = False) -> Iterator[Case]:
    """One level on a new study and a new server."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "load.study"
        names = make_study(study, n_reviewers, n_items=pace.n_labels + N_SPARE)[:n_reviewers]
        with serving(study) as served, probing(study) as locks:
            work, taken = asyncio.run(at_work(served, names, n_pages, pace))
        kept = kept_once(study, work.event_ids)
    who = f"{n_reviewers} reviewer{'s' * (n_reviewers > 1)}"
    yield from acknowledged(who, work, n_labels=n_reviewers * pace.n_labels)
    yield Case(f"{who}: every acknowledged label is saved once, the study is sound", kept or "yes", not kept)
    yield lock_waits(who, locks, work)
    if n_reviewers > 1:
        yield memory(who, n_reviewers, taken)
    if is_long:
        yield growth(who, taken.samples)
    yield resources(who, taken, n_reviewers)


async def at_work(served: Served, names: list[str], n_pages: int, pace: Pace) -> tuple[Work, Taken]:
    """All reviewers label at once, the last of them in real pages."""
    work, taken, pid = Work(), Taken(memory_mb(served.process.pid)), served.process.pid
    visits = [await Visit.open(served.url, served.secrets[names[0]])] if n_pages < len(names) else []
    taken.mb_of_one = memory_mb(pid)
    visits += [await Visit.open(served.url, served.secrets[name]) for name in names[1 : len(names) - n_pages]]
    async with real_pages([served.link(name) for name in names[len(names) - n_pages :]]) as pages:
        labellers = [client(visit, work) for visit in visits] + [in_page(page, work) for page in pages]
        watching = asyncio.create_task(watch(pid, served.study, work.event_ids, LOOK_EVERY_S, taken.samples))
        earlier = cpu_s(pid), cpu_s("self"), busy_s(), time.perf_counter()
        begin, phases = time.perf_counter() + 0.2, random.Random(1)
        team = [reviewer(one, begin + phases.random() * pace.every_s, pace, work) for one in labellers]
        with suppress(TimeoutError):  # missing labels are counted as faults
            await asyncio.wait_for(asyncio.gather(*team), pace.limit_s)
        later = cpu_s(pid), cpu_s("self"), busy_s(), time.perf_counter()
        taken.samples.append(look(pid, served.study, len(work.event_ids)))
        watching.cancel()
    for visit in visits:
        await visit.close()
    server, clients, machine, wall = (after - before for before, after in zip(earlier, later, strict=True))
    taken.cores = {"server": server / wall, "clients": clients / wall, "rest": (machine - server - clients) / wall}
    return work, taken


async def reviewer(labeller: Labeller, due: float, pace: Pace, work: Work) -> None:
    """Give one label when it is due, then the next."""
    for number in range(pace.n_labels):
        await asyncio.sleep(max(0.0, due - time.perf_counter()))  # the pace of a person, not a wait for a condition
        try:
            await labeller(("similar", "dissimilar")[number % 2], due)
        except Refused as error:
            work.errors[re.sub(r"\S*/", "", str(error))] += 1  # without the folder of the study
        except Exception as error:  # noqa: BLE001 - counted
            work.errors[f"{type(error).__name__}: {error}".partition("\n")[0][:80]] += 1
            return
        due += pace.every_s


def client(visit: Visit, work: Work) -> Labeller:
    """A reviewer without a browser."""

    async def label(answer: str, due: float) -> None:
        waited = time.perf_counter() - due
        event_id, taken = await visit.label(answer)
        work.clients_ms.append(1e3 * (waited + taken))
        work.answered_ms.append(1e3 * taken)
        work.event_ids.append(event_id)
        await visit.finish()

    return label


def in_page(page: Page, work: Work) -> Labeller:
    """A reviewer in a real page."""

    async def label(answer: str, due: float) -> None:
        waited = time.perf_counter() - due
        before = await page.evaluate("() => __probe.times.length")
        await page.keyboard.press(answer[0])
        await page.evaluate(f"() => __probe.ready({LOOKED_MS})")
        press = await page.evaluate("before => __probe.times[before]", before)
        if press is None:
            raise RuntimeError("the page took no notice of a key")
        work.pages_ms.append(1e3 * waited + press["received"] - press["sent"])
        work.keys_ms.append(1e3 * waited + press["acked"])
        work.event_ids.append(press["id"])

    return label


@asynccontextmanager
async def real_pages(links: list[str]) -> AsyncIterator[list[Page]]:
    """Windows of one Chromium for different reviewers, each with the first item on the screen."""
    if not links:
        yield []
        return
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        pages = []
        for link in links:
            page = await (await browser.new_context(viewport=VIEWPORT)).new_page()
            await page.add_init_script(path=PROBE)
            await page.goto(link)
            await page.evaluate(f"() => __probe.ready({LOOKED_MS})")
            pages.append(page)
        yield pages
        await browser.close()


def acknowledged(who: str, work: Work, *, n_labels: int) -> Iterator[Case]:
    """Whether every label was given without an error and acknowledged in time, for clients and for pages."""
    errors = ", ".join(f"{n} x {what}" for what, n in work.errors.most_common()) or "none"
    is_all = not work.errors and len(work.event_ids) == n_labels
    yield Case(f"{who}: no error", f"{len(work.event_ids)} of {n_labels} labels; errors: {errors}", is_all)
    for name, ms in (("clients", work.clients_ms), ("pages", work.pages_ms)):
        if ms:
            on_screen = f"; from the key press until saved {times(work.keys_ms)}" if name == "pages" else ""
            is_soon = percentiles(ms, 95)[0] < P95_MS
            figures = f"{times(ms)} of {len(ms)} labels{on_screen}"
            yield Case(f"{who}: p95 to acknowledgement < {P95_MS:.0f} ms, {name}", figures, is_soon)


def times(ms: list[float]) -> str:
    """Return the distribution of times as a sentence."""
    p50, p95, p99, most = percentiles(ms, 50, 95, 99, 100)
    return f"p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f}, max {most:.0f} ms"


def kept_once(study: Path, event_ids: list[str]) -> str:
    """The fault in the labels of the study or in its file; empty if there is none."""
    with open_database(study) as db:
        kept, given = Counter(labels.table(db)["event_id"]), Counter(event_ids)
    with closing(sqlite3.connect(study)) as file:
        found = [row[0] for row in file.execute("PRAGMA integrity_check")]
    wrong = [] if kept == given else [f"{(given - kept).total()} missing, {(kept - given).total()} not acknowledged"]
    return "; ".join(wrong + (found if found != ["ok"] else []))


def lock_waits(who: str, locks: Locks, work: Work) -> Case:
    """Return the time that another writer waits for the lock, and whether any wait timed out."""
    n_busy = sum(n for what, n in work.errors.items() if "is busy" in what)
    p50, p95, most = percentiles(locks.ms, 50, 95, 100)
    return Case(
        f"{who}: nobody is refused because the study is busy",
        f"wait of another writer for the lock: p50 {p50:.1f}, p95 {p95:.1f}, max {most:.0f} ms of {len(locks.ms)} "
        f"requests; {locks.n_refused} timeouts; {n_busy} answers refused",
        bool(locks.ms) and not n_busy and not locks.n_refused,
    )


def memory(who: str, n_reviewers: int, taken: Taken) -> Case:
    """The memory of per session, after all windows were opened and at the end."""
    first, last = taken.samples[0].mb, taken.samples[-1].mb
    opened, worked = ((mb - taken.mb_of_one) / (n_reviewers - 1) for mb in (first, last))
    return Case(
        f"{who}: < {MB_A_SESSION:.0f} MB per session after the first",
        f"{taken.mb_before:.0f} MB before the first, {taken.mb_of_one:.0f} with one, {first:.0f} with all, {last:.0f} "
        f"at the end: {opened:.2f} per session, {worked:.2f} with its labels",
        max(opened, worked) < MB_A_SESSION,
    )


def growth(who: str, samples: list[Sample]) -> Case:
    """Return whether the server's memory grows with the number of saved labels."""
    what, n_labels = f"{who}: memory does not grow over {LAST - FIRST} labels", samples[-1].n_labels
    if n_labels < LAST:
        return Case(what, f"only {n_labels} labels", None)
    fitted, more = slope(samples), between(samples, FIRST, LAST)
    return Case(
        what,
        f"{fitted:.2f} MB per 1000 labels in the second half of {n_labels} (none: < {MB_A_THOUSAND:.0f}); "
        f"{more:.1f} MB more at label {LAST} than at {FIRST}",
        fitted < MB_A_THOUSAND,
    )


def resources(who: str, taken: Taken, n_reviewers: int) -> Case:
    """Other resources. Many threads may work for a moment, but a leak never shrinks again.

    Each reviewer opens a connection with the first label, and the pool of threads fills, so counting begins after that.
    """
    samples = [sample for sample in taken.samples if sample.n_labels >= 2 * n_reviewers] or taken.samples[-1:]
    half = len(samples) // 2
    numbers, leaks = [], []
    for name in ("n_threads", "n_files"):
        n = [getattr(one, name) for one in samples]
        numbers.append(f"{min(n)} to {max(n)} {name[2:]}")
        leaks.append(min(n[half:]) > min(n[:half] or n) + FEW)
    cores = ", ".join(f"{name} {n:.2f}" for name, n in taken.cores.items())
    return Case(
        f"{who}: the numbers of threads and files do not grow",
        f"{'; '.join(numbers)}; study {samples[0].study_mb:.0f} to {samples[-1].study_mb:.0f} MB, its log at most "
        f"{max(one.log_mb for one in samples):.1f} MB; cores: {cores}",
        not any(leaks),
    )


def rush(n: int) -> Iterator[Case]:
    """Many people sign in within two seconds while some label."""
    with tempfile.TemporaryDirectory() as folder:
        names = make_study(study := Path(folder) / "rush.study", n + N_AT_WORK, n_items=RUSH_ITEMS)
        with serving(study) as served:
            first_s, work = asyncio.run(signing_in(served, names, n))
    p50, p95, most = percentiles(first_s, 50, 95, 100)
    yield Case(
        f"{n} sign-ins within {RUSH_S:.0f} s: first item p95 <= {FIRST_ITEM_S:.0f} s",
        f"p50 {p50:.1f}, p95 {p95:.1f}, max {most:.1f} s of {len(first_s)} first items",
        len(first_s) == n and p95 <= FIRST_ITEM_S,
    )
    errors = ", ".join(f"{n} x {what}" for what, n in work.errors.most_common()) or "none"
    yield Case(
        f"{n} sign-ins within {RUSH_S:.0f} s: those who label already wait < {AT_WORK_MS:.0f} ms",
        f"{times(work.clients_ms)} of {len(work.clients_ms)} labels of {N_AT_WORK} reviewers; errors: {errors}",
        not work.errors and percentiles(work.clients_ms, 95)[0] < AT_WORK_MS,
    )


async def signing_in(served: Served, names: list[str], n: int) -> tuple[list[float], Work]:
    """Return the seconds from the link to the first item, and the times of people who labelled meanwhile.

    The newcomers are a separate process, so that they do not delay the people who label.
    """
    work = Work()
    visits = [await Visit.open(served.url, served.secrets[name]) for name in names[:N_AT_WORK]]
    pace = Pace(1.0, round(RUSH_ITEMS / 4))
    context = get_context("spawn")
    results = context.Queue()
    secrets = [served.secrets[name] for name in names[N_AT_WORK : N_AT_WORK + n]]
    newcomers = context.Process(target=arrive, args=(served.url, secrets, results), daemon=True)
    newcomers.start()
    await asyncio.to_thread(results.get, timeout=SLACK_S)  # it is ready
    begin = time.perf_counter() + 0.2
    team = [reviewer(client(visit, work), begin + at / N_AT_WORK, pace, work) for at, visit in enumerate(visits)]
    await asyncio.gather(*team)
    first_s, errors = await asyncio.to_thread(results.get, timeout=SLACK_S)
    newcomers.join()
    work.errors.update(errors)
    for visit in visits:
        await visit.close()
    return first_s, work


def arrive(url: str, secrets: list[str], results: Any) -> None:
    """Follow the links within two seconds; returns the seconds to each first item, and the errors."""
    first_s: list[float] = []
    errors: list[str] = []

    async def newcomer(secret: str, delay_s: float) -> Visit | None:
        await asyncio.sleep(delay_s)  # people arrive one after another
        begun = time.perf_counter()
        try:
            visit = await Visit.open(url, secret)
            first_s.append(time.perf_counter() - begun)
        except Exception as error:  # noqa: BLE001 - counted
            errors.append(f"sign-in: {type(error).__name__}: {error}"[:80])
            return None
        return visit

    async def everybody() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(len(secrets)))  # signing in blocks a thread
        results.put("ready")
        each = [newcomer(secret, 2 + RUSH_S * at / len(secrets)) for at, secret in enumerate(secrets)]
        for visit in await asyncio.gather(*each):
            if visit is not None:
                await visit.close()
        results.put((first_s, errors))

    asyncio.run(everybody())


def full_speed(n: int) -> Iterator[Case]:
    """Clients that label without pause: nobody waits much longer than the others, and the memory stays bounded."""
    with tempfile.TemporaryDirectory() as folder:
        names = make_study(study := Path(folder) / "speed.study", n, n_items=SPEED_LABELS + N_SPARE)
        with serving(study) as served:
            work, taken = asyncio.run(at_work(served, names[:n], 0, Pace(0.0, SPEED_LABELS)))
    errors = ", ".join(f"{n} x {what}" for what, n in work.errors.most_common()) or "none"
    each, who = work.answered_ms, f"{n} clients at full speed"
    yield Case(
        f"{who}: p99 to acknowledgement <= {SPEED_P99_MS:.0f} ms",
        f"{times(each)} of {len(each)} labels; errors: {errors}; cores: server {taken.cores['server']:.2f}",
        not work.errors and percentiles(each, 99)[0] <= SPEED_P99_MS,
    )
    yield growth(who, taken.samples)


def windows(n: int) -> Case:
    """Windows that are closed again: whether the server frees their resources."""
    with tempfile.TemporaryDirectory() as folder:
        names = make_study(study := Path(folder) / "windows.study", 4, n_items=(FILLING + n) // 4 + N_SPARE)
        with serving(study) as served:
            before, filled, after = asyncio.run(open_and_close(served, names, n))
    more = (after.mb - filled.mb) / n
    return Case(
        f"{n} windows that were opened, used once and closed leave no open file and < {MB_A_WINDOW} MB each",
        f"{before.mb:.0f} MB with one, {filled.mb:.0f} after {FILLING} closed windows, {after.mb:.0f} after {n} more: "
        f"{more:.3f} each; threads {before.n_threads}, {filled.n_threads}, {after.n_threads}; "
        f"files {before.n_files}, {filled.n_files}, {after.n_files}",
        more < MB_A_WINDOW and after.n_files <= filled.n_files + FEW,  # each kept window has three open files
    )


async def open_and_close(served: Served, names: list[str], n: int) -> list[Sample]:
    """The server's state with one window, with as many closed windows as it keeps for a while, and after n more."""
    samples, pid = [], served.process.pid
    for number in range(FILLING + n + 1):
        visit = await Visit.open(served.url, served.secrets[names[number % len(names)]])
        await visit.label("similar")
        await visit.finish()
        if number in (0, FILLING, FILLING + n):
            samples.append(look(pid, served.study, number + 1))
        await visit.close()
    return samples


if __name__ == "__main__":
    main()
