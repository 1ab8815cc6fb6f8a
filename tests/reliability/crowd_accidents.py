"""What goes wrong on a server on which many people label: kills, crowds, windows and connections without end."""

import asyncio
import shutil
import socket
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from typing import Any
from urllib.parse import urlsplit

from labeler.studies.store import open_database, people
from tests.browser.conftest import invited, path_of
from tests.performance.measuring import memory_mb, percentiles
from tests.performance.wire import Line, Visit, answer_to, body_of, sign_in
from tests.reliability.crowd import SLACK_S, Crowd, close, copy_without_shm
from tests.reliability.gauges import look

Happens = Callable[[Crowd], Awaitable[None]]
CALM_S = 0.2, 1.5  # labelling time between two kills
RUSH_S, FIRST_ITEM_S = 2.0, 10.0
MB_A_WINDOW, FILLING, FEW = 0.03, 150, 5  # Streamlit keeps up to 128 closed windows for two minutes for reconnections
N_LABELS = 30  # in windows that were reloaded
UNFINISHED_S, CLOSED_LIMIT_S = 20.0, 180.0  # the time that an unfinished request may stay open, with some slack
STRANGERS_MB = 100.0  # each of them sends up to 60 kB
HALF_HEAD = b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\nX-Filling: " + b"x" * 15_000
HALF_BODY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 60_000


def server_killed(n: int, quick: int) -> Happens:
    """The server is killed and started again, many times; the file is checked after each kill."""

    async def happens(world: Crowd) -> None:
        for _ in range(world.room.n(n, quick)):
            await asyncio.sleep(world.rng.uniform(*CALM_S))  # waits for nothing: this is the moment of the kill
            world.is_up.clear()
            world.killed_at = time.monotonic()
            world.served.kill()
            for page in world.at_pages.values():
                await page.settle()
            copy = copy_without_shm(world.study)
            kept = world.ledger.look(copy, deep=True)
            shutil.rmtree(copy.parent)
            world.waiting = {event_id: event_id in kept for event_id in world.ledger.unacknowledged}
            world.n_kills += 1
            world.back.clear()
            await asyncio.to_thread(world.served.start_again)
            world.is_up.set()
            await world.all_back()

    return happens


def many_sign_in(n: int, quick: int) -> Happens:
    """Many people sign in within two seconds; they are a separate process, so that they do not delay the others."""

    async def happens(world: Crowd) -> None:
        context = get_context("spawn")
        results = context.Queue()
        secrets = [world.served.secrets[name] for name in world.spare[: world.room.n(n, quick)]]
        newcomers = context.Process(target=arrive, args=(world.served.url, secrets, results), daemon=True)
        newcomers.start()
        first_s, errors = await asyncio.to_thread(results.get, timeout=2 * SLACK_S)
        newcomers.join()
        world.errors.update(errors)
        p50, p95, most = percentiles(first_s, 50, 95, 100)
        world.figures.append(
            f"{len(first_s)} of {len(secrets)} sign-ins within {RUSH_S:.0f} s: first item p50 {p50:.1f}, "
            f"p95 {p95:.1f}, max {most:.1f} s"
        )
        if len(first_s) != len(secrets) or p95 > FIRST_ITEM_S:
            world.problems.append(f"not all first items within {FIRST_ITEM_S:.0f} s")

    return happens


def arrive(url: str, secrets: Sequence[str], results: Any) -> None:
    """Follow the links within two seconds; gives the seconds to each first item, and the errors."""
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
        each = [newcomer(secret, RUSH_S * at / len(secrets)) for at, secret in enumerate(secrets)]
        for visit in await asyncio.gather(*each):
            if visit is not None:
                await visit.close()
        results.put((first_s, errors))

    asyncio.run(everybody())


def one_floods(n_connections: int, seconds: float, quick_s: float, *, elsewhere: bool = False) -> Happens:
    """One reviewer sends full requests without a pause, each with fifty answers, on many connections.

    If `elsewhere`, this is a reviewer of another study of the server.
    """

    async def happens(world: Crowd) -> None:
        url, (name, secret) = world.served.url, (world.spare[0], world.served.secrets[world.spare[0]])
        if elsewhere:
            beside = world.served.study.with_name("beside.study")
            url = world.served.origin + path_of(beside)
            with open_database(beside) as db:
                name = next(person.name for person in people.reviewers(db))
            secret = invited(beside)[name]
        visit = await Visit.open(url, secret)
        offer, token = visit.data["offers"][0], visit.data["token"]
        answers = [answer_to(offer, ("similar", "withdrawn")[number % 2], revision=number) for number in range(50)]
        for event in () if elsewhere else answers:
            world.sent(name, event)
        context = get_context("spawn")
        results = context.Queue()
        lasting = quick_s if world.room.quick else seconds
        arguments = (url, visit.session_cookie, token, body_of(*answers), n_connections, lasting, results)
        process = context.Process(target=flood, args=arguments, daemon=True)
        process.start()
        statuses = await asyncio.to_thread(results.get, timeout=2 * SLACK_S + lasting)
        process.join()
        await visit.finish()
        answered = ", ".join(f"{n} times {status}" for status, n in sorted(statuses.items()))
        world.figures.append(f"one reviewer on {n_connections} connections for {lasting:.0f} s: {answered}")
        if statuses.get(200):
            for event in () if elsewhere else answers:
                world.acknowledged(name, event["event_id"])
        else:
            world.problems.append("the flood was not served at all")

    return happens


def flood(url: str, cookie: str, token: str, body: str, n_connections: int, seconds: float, results: Any) -> None:
    """Send answers without a pause on many connections; gives how often which status came."""
    statuses: Counter[int] = Counter()
    until = time.monotonic() + seconds

    def send() -> None:
        line = Line(url, cookie, token)
        while time.monotonic() < until:
            line.post(body)
            statuses[line.reply()[0]] += 1
        line.close()

    threads = [threading.Thread(target=send) for _ in range(n_connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(dict(statuses))


def windows_opened_and_closed(n: int, quick: int) -> Happens:
    """As many windows as the server keeps for a while are used once and closed, and then n more."""

    async def happens(world: Crowd) -> None:
        n_more = world.room.n(n, quick)
        filling, samples = world.room.n(FILLING, 5), []
        for number in range(filling + n_more + 1):
            name = world.spare[number % len(world.spare)]
            visit = await Visit.open(world.served.url, world.served.secrets[name])
            await label_once(world, name, visit)
            if number in (0, filling, filling + n_more):
                samples.append(look(world.pid, world.study, number + 1))
            await visit.close()
        before, filled, after = samples
        more = (after.mb - filled.mb) / n_more
        world.figures.append(
            f"{before.mb:.0f} MB with one, {filled.mb:.0f} after {filling} closed windows, {after.mb:.0f} after "
            f"{n_more} more: {more:.3f} each; threads {before.n_threads}, {filled.n_threads}, {after.n_threads}; "
            f"files {before.n_files}, {filled.n_files}, {after.n_files}"
        )
        if not world.room.quick and (more > MB_A_WINDOW or after.n_files > filled.n_files + FEW):
            world.problems.append(f"closed windows keep files, or more than {MB_A_WINDOW} MB each")

    return happens


async def label_once(world: Crowd, name: str, visit: Visit) -> None:
    """Give one label in a window."""
    offers, last = visit.data["offers"], visit.data["last"]
    event = answer_to(offers[0], "similar") if offers else answer_to(last, "withdrawn")
    world.sent(name, event)
    await visit.send(event)
    world.acknowledged(name, event["event_id"])
    await visit.finish()


def windows_reloaded(n: int, quick: int) -> Happens:
    """All windows are reloaded at once, several times, as after a restart; then labels are given in new windows."""

    async def happens(world: Crowd) -> None:
        n_windows, n_reloads, most = world.room.n(n, quick), world.room.n(5, 2), 0
        cookies = {
            name: await asyncio.to_thread(sign_in, world.served.url, world.served.secrets[name]) for name in world.spare
        }
        visits = [(name, Visit(world.served.url, cookies[name])) for name in world.spare * n_windows][:n_windows]

        async def load(visit: Visit) -> None:
            nonlocal most
            try:
                await visit.connect()
            except Exception as error:  # noqa: BLE001 - counted
                world.errors[f"window: {type(error).__name__}: {error}"[:80]] += 1
            most = max(most, look(world.pid, world.study, 0).n_files)

        begun = time.monotonic()
        for round_number in range(1 + n_reloads):
            if round_number:
                await asyncio.gather(*(close(visit) for _, visit in visits))
            await asyncio.gather(*(load(visit) for _, visit in visits))
        world.figures.append(
            f"{n_windows * (1 + n_reloads)} page loads in {time.monotonic() - begun:.0f} s, at most {most} files open"
        )
        for number in range(N_LABELS):
            name, visit = visits[number % len(world.spare)]
            await close(visit)
            await visit.connect()
            await label_once(world, name, visit)
        await asyncio.gather(*(close(visit) for _, visit in visits))

    return happens


def half_requests(n: int, quick: int) -> Happens:
    """Strangers open connections and send half of a request; the server closes them, and people go on labelling."""

    async def happens(world: Crowd) -> None:
        before_mb, before_labels = memory_mb(world.pid), len(world.ledger.acknowledged)
        begun = time.monotonic()
        connections = await asyncio.to_thread(open_half, world.served.url, world.room.n(n, quick))
        more_mb = memory_mb(world.pid) - before_mb
        left = connections
        while left and time.monotonic() - begun < CLOSED_LIMIT_S:
            left = [connection for connection in left if not is_closed(connection)]
            more_mb = max(more_mb, memory_mb(world.pid) - before_mb)
            await asyncio.sleep(0.2)  # polls in a bounded loop; the server closes the connection in time
        seconds = time.monotonic() - begun
        for connection in connections:
            connection.close()
        n_kept = len(world.ledger.acknowledged) - before_labels
        world.figures.append(
            f"{len(connections)} connections closed after {seconds:.1f} s, {more_mb:.0f} MB more, "
            f"{n_kept} labels meanwhile"
        )
        if left or seconds > UNFINISHED_S:
            world.problems.append(f"{len(left)} connections open, after {seconds:.1f} s")
        if more_mb > STRANGERS_MB or not n_kept:
            world.problems.append(f"{more_mb:.0f} MB more, {n_kept} labels meanwhile")

    return happens


def open_half(url: str, n: int) -> list[socket.socket]:
    """Return connections on which half of a head or half of a body was sent."""
    where, connections = urlsplit(url), []
    for number in range(n):
        with suppress(OSError):
            connection = socket.create_connection((where.hostname or "", where.port or 80), timeout=10)
            connection.sendall((HALF_HEAD, HALF_BODY)[number % 2])
            connections.append(connection)
    return connections


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed its end."""
    connection.setblocking(False)
    try:
        while data := connection.recv(4096):
            del data
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
