"""Limit failed sign-ins, the number of page runs that read the study at once, and the size of the log."""

import ipaddress
import re
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from io import TextIOBase
from typing import TextIO

N_WRONG = 10
WITHIN_S = 60.0
TINY = 1e-6  # of an action: rounding errors of the clock do not count
MAX_CLIENTS = 10_000  # maximum number of clients, which limits the memory that unknown clients can use

LOG_PERIOD_S = 60.0
MAX_REPEATS, MAX_LOG_BYTES = (
    20,
    500_000,
)  # limits per period, for similar records and for all records


class RateLimit:
    """Limits what each person may do per second; what a person saves up is at most one second's worth.

    `clock` is a monotonic clock in seconds.
    """

    def __init__(self, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s, self._clock, self._lock = per_s, clock, threading.Lock()
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()  # what is left, and at what time

    def allows(self, key: Hashable) -> bool:
        """Return whether this person may do something now, and count it if so."""
        return self.wait_s(key) == 0.0

    def wait_s(self, key: Hashable, cost: float = 1.0) -> float:
        """Return how long this person must wait; if this is 0, the action is counted.

        An action that costs more than one second's worth is possible when everything is left.
        """
        with self._lock:
            now = self._clock()
            left, at = self._left.pop(key, (self._per_s, now))
            left = min(self._per_s, left + (now - at) * self._per_s)
            missing = min(cost, self._per_s) - left
            wait = missing / self._per_s if missing > TINY else 0.0
            self._left[key] = (left - cost if wait == 0.0 else left), now
            if len(self._left) > MAX_CLIENTS:
                self._left.popitem(last=False)
            return wait


class WrongSignIns:
    """Counts failed sign-ins, or up to `most` other steps within a minute, by client address.

    A client with too many failures must wait.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = N_WRONG) -> None:
        self._clock, self._most = clock, most
        self._times: OrderedDict[str, deque[float]] = OrderedDict()  # by client; the most recent client is last

    def wait_s(self, address: str) -> float:
        """Return the number of seconds until this client may try again; return 0 if the client need not wait."""
        times = self._times.get(client(address))
        if times is None or len(times) < self._most:
            return 0.0
        return max(0.0, times[0] + WITHIN_S - self._clock())

    def note(self, address: str) -> None:
        """Count a failed sign-in, or other step, from this address."""
        where = client(address)
        self._times.setdefault(where, deque(maxlen=self._most)).append(self._clock())
        self._times.move_to_end(where)
        if len(self._times) > MAX_CLIENTS:
            self._times.popitem(last=False)


def client(address: str) -> str:
    """Return the address of the client.

    For IPv6, return the network with the first 64 bits, because one client can use all addresses of a network.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)


class BoundedLog(TextIOBase):
    """A log stream that leaves out repeated records and reports how many were left out.

    Without this limit, a fault in each connection would fill the disk. Records that differ only in numbers count as
    repeated.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._stream, self._clock, self._lock = stream, clock, threading.RLock()
        self._until, self._n_bytes, self._n_left_out = 0.0, 0, 0
        self._repeats: Counter[str] = Counter()

    def write(self, text: str) -> int:
        """Write a log record, or only count it if this period has too many similar records or too much text."""
        with self._lock:
            self._begin_period()
            first_line = text.lstrip().partition("\n")[0]
            kind = re.sub(r"[0-9a-fx]*[0-9]+[0-9a-fx]*", "#", first_line[:200])
            self._repeats[kind] += bool(kind)
            if self._repeats[kind] > MAX_REPEATS or self._n_bytes + len(text) > MAX_LOG_BYTES:
                self._n_left_out += 1
            else:
                self._n_bytes += len(text)
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the underlying stream."""
        self._stream.flush()

    def fileno(self) -> int:
        """Return the underlying file descriptor."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Return whether the underlying stream is a terminal."""
        return self._stream.isatty()

    def _begin_period(self) -> None:
        now = self._clock()
        if now < self._until:
            return
        if self._n_left_out:
            self._stream.write(f"{self._n_left_out} more log records were left out, most of them repetitions.\n")
        self._until, self._n_bytes, self._n_left_out = now + LOG_PERIOD_S, 0, 0
        self._repeats.clear()
