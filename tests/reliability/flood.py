"""More windows, connections and faults than the server has files for: labels are saved, and the log stays small.

    python -m tests.reliability.flood [--windows 500] [--reloads 5] [--strangers 2000] [--limit 8192] [--json FILE]
    python -m tests.reliability.flood --windows 40 --reloads 2 --strangers 300 --limit 1024   (short)

The server is `labeler serve` in a separate process, with at most `--limit` open files. All windows are reloaded at
once, as after a restart; strangers open connections and send half of a request.
"""

import argparse
import asyncio
import resource
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.browser.conftest import Served, serving
from tests.performance.measuring import memory_mb
from tests.performance.rig import make_study
from tests.performance.wire import Refused, Visit, sign_in
from tests.reliability import outcome
from tests.reliability.gauges import look
from tests.reliability.outcome import Case

N_REVIEWERS, N_LABELS = 4, 30
UNFINISHED_S, SLACK_S = 15.0, 5.0  # the time that an unfinished request may stay open
STRANGERS_MB = 100.0  # each of them sends up to 60 kB
LOG_MB_A_MINUTE = 1.0
LOOK_EVERY_S = 0.1
HALF_HEAD = b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\nX-Filling: " + b"x" * 15_000
HALF_BODY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 60_000


def main() -> None:
    options = outcome.parser(__doc__)
    options.add_argument("--windows", type=int, default=500, help="open at once")
    options.add_argument("--reloads", type=int, default=5, help="of every window, all windows at once")
    options.add_argument("--strangers", type=int, default=2000, help="connections with half of a request")
    options.add_argument("--limit", type=int, default=8192, help="files that the server may have open")
    outcome.main(options, run)


def run(options: argparse.Namespace) -> Iterator[Case]:
    """Windows first, then strangers, on one server."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # this process has the other ends
    with tempfile.TemporaryDirectory() as folder:
        study, log = Path(folder) / "flood.study", Path(folder) / "log"
        names = make_study(study, N_REVIEWERS, n_items=2 * N_LABELS)
        few = (options.limit, options.limit)
        begun = time.monotonic()
        with (
            log.open("wb") as file,
            serving(
                study, stdout=file, stderr=file, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few)
            ) as served,
        ):
            yield asyncio.run(reloaded(served, names, options))
            yield strangers(served, names, options.strangers)
        minutes = max(1.0, (time.monotonic() - begun) / 60)
        log_mb = log.stat().st_size / 2**20
        yield Case(
            f"the log grows by less than {LOG_MB_A_MINUTE:.0f} MB per minute",
            f"{log_mb:.3f} MB in {60 * minutes:.0f} s",
            log_mb / minutes < LOG_MB_A_MINUTE,
        )


async def reloaded(served: Served, names: list[str], options: argparse.Namespace) -> Case:
    """Reload all windows at once, several times; then give labels in new windows."""
    n_windows, n_reloads, limit = options.windows, options.reloads, options.limit
    cookies = [await asyncio.to_thread(sign_in, served.url, served.secrets[name]) for name in names]
    visits = [Visit(served.url, cookies[number % len(cookies)]) for number in range(n_windows)]
    faults: Counter[str] = Counter()
    most = 0

    async def watching() -> None:
        nonlocal most
        while True:
            most = max(most, look(served.process.pid, served.study, 0).n_files)
            await asyncio.sleep(LOOK_EVERY_S)

    async def load(visit: Visit) -> None:
        try:
            await visit.connect()
        except Exception as error:  # noqa: BLE001 - counted
            faults[f"window: {type(error).__name__}: {error}"[:80]] += 1

    watcher = asyncio.create_task(watching())
    begun = time.monotonic()
    for round_number in range(1 + n_reloads):
        if round_number:
            await asyncio.gather(*(close(visit) for visit in visits))
        await asyncio.gather(*map(load, visits))
    seconds = time.monotonic() - begun
    n_kept = 0
    for number in range(N_LABELS):
        visit = visits[number % N_REVIEWERS]
        try:
            await close(visit)
            await visit.connect()
            await visit.label("similar")
            await visit.finish()
            n_kept += 1
        except (Refused, Exception) as error:  # noqa: BLE001 - counted
            faults[f"label: {type(error).__name__}: {error}"[:80]] += 1
    watcher.cancel()
    await asyncio.gather(*(close(visit) for visit in visits))
    counted = ", ".join(f"{n} x {fault}" for fault, n in faults.most_common(3)) or "none"
    return Case(
        f"{n_windows} windows reloaded {n_reloads} times with at most {limit} open files",
        f"{n_windows * (1 + n_reloads)} page loads in {seconds:.0f} s, {n_kept} of {N_LABELS} labels kept, "
        f"at most {most} files open; faults: {counted}",
        n_kept == N_LABELS and not faults,
    )


async def close(visit: Visit) -> None:
    with suppress(Exception):
        await visit.close()


def strangers(served: Served, names: list[str], n: int) -> Case:
    """Connections with half of a request: their duration, their cost, and whether labels are saved meanwhile."""
    where = urlsplit(served.url)
    before_mb, pid = memory_mb(served.process.pid), served.process.pid
    connections: list[socket.socket] = []
    begun = time.monotonic()
    for _ in range(n):
        with suppress(OSError):
            connection = socket.create_connection((where.hostname or "", where.port or 80), timeout=10)
            connection.sendall((HALF_HEAD, HALF_BODY)[len(connections) % 2])
            connections.append(connection)
    more_mb = memory_mb(pid) - before_mb
    time.sleep(1)  # a browser also tries again
    n_kept, fault = asyncio.run(labels_kept(served, names))
    open_ones = connections
    while open_ones and time.monotonic() - begun < 180:
        open_ones = [connection for connection in open_ones if not is_closed(connection)]
        time.sleep(0.2)  # polls in a bounded loop; the server closes the connection in time
    seconds = time.monotonic() - begun
    more_mb = max(more_mb, memory_mb(pid) - before_mb)
    for connection in connections:
        connection.close()
    return Case(
        f"{n} connections with half of a request are closed within {UNFINISHED_S:.0f} s",
        f"all closed after {seconds:.1f} s, {more_mb:.0f} MB more, {n_kept} of 4 labels kept meanwhile{fault}",
        not open_ones and seconds < UNFINISHED_S + SLACK_S and more_mb < STRANGERS_MB and n_kept == 4,
    )


async def labels_kept(served: Served, names: list[str]) -> tuple[int, str]:
    """Return the number of saved labels, and the first fault."""
    n_kept, fault = 0, ""
    for number, name in enumerate(names):
        try:
            visit = await Visit.open(served.url, served.secrets[name])
            await visit.label(("similar", "dissimilar")[number % 2])
            n_kept += 1
            await visit.close()
        except Exception as error:  # noqa: BLE001 - told
            fault = fault or f"; {type(error).__name__}: {error}"[:90]
    return n_kept, fault


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


if __name__ == "__main__":
    main()
