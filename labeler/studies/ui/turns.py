"""Whose work comes next: people take turns, so nobody can delay the others with many requests."""

import asyncio
import heapq
import threading
from collections import deque
from collections.abc import AsyncIterator, Hashable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from itertools import count

N_PAGES, N_PAGES_WAITING_EACH = 3, 400


class TooManyWaiting(Exception):
    """Too much work of one person is waiting already."""


class Turns:
    """Lets a bounded number of pieces of work run at the same time, at most one of each person.

    People whose work waits are served in rotation. Within the work of a person, urgent pieces come first, and otherwise
    the order of arrival counts. Threads and coroutines can wait side by side.
    """

    def __init__(self, n_at_work: int, n_waiting_each: int) -> None:
        self._n_free, self._n_waiting_each, self._lock = n_at_work, n_waiting_each, threading.Lock()
        self._waiting: dict[Hashable, list[tuple[bool, int, Future[None]]]] = {}  # by person, as heaps
        self._rotation: deque[Hashable] = deque()  # people whose work waits and who have none at work
        self._at_work: set[Hashable] = set()
        self._numbers = count()

    @contextmanager
    def turn(self, person: Hashable) -> Iterator[None]:
        """Wait in this thread for a turn of a person; raise TooManyWaiting if the person may not wait."""
        self._join(person, urgent=False).result()
        try:
            yield
        finally:
            self._leave(person)

    @asynccontextmanager
    async def coming_turn(self, person: Hashable, *, urgent: bool = False) -> AsyncIterator[None]:
        """Wait in a coroutine for a turn of a person; raise TooManyWaiting if the person may not wait."""
        begun = self._join(person, urgent=urgent)
        try:
            await asyncio.wrap_future(begun)
        except asyncio.CancelledError:
            if not begun.cancel() and not begun.cancelled():  # the turn had come in the meantime
                self._leave(person)
            raise
        try:
            yield
        finally:
            self._leave(person)

    def _join(self, person: Hashable, *, urgent: bool) -> "Future[None]":
        begun: Future[None] = Future()
        with self._lock:
            waiting = self._waiting.setdefault(person, [])
            if len(waiting) >= self._n_waiting_each:
                raise TooManyWaiting
            heapq.heappush(waiting, (not urgent, next(self._numbers), begun))
            if len(waiting) == 1 and person not in self._at_work:
                self._rotation.append(person)
            started = self._next()
        _begin(started)
        return begun

    def _leave(self, person: Hashable) -> None:
        with self._lock:
            self._at_work.discard(person)
            self._n_free += 1
            if person in self._waiting:
                self._rotation.append(person)
            started = self._next()
        _begin(started)

    def _next(self) -> "list[Future[None]]":
        """Take the work whose turn has come; the lock is held."""
        started = []
        while self._n_free and self._rotation:
            person = self._rotation.popleft()
            waiting = self._waiting[person]
            begun = None
            while waiting and begun is None:
                _order, _number, candidate = heapq.heappop(waiting)
                begun = candidate if candidate.set_running_or_notify_cancel() else None  # nobody waits for it any more
            if not waiting:
                del self._waiting[person]
            if begun is not None:
                self._at_work.add(person)
                self._n_free -= 1
                started.append(begun)
        return started


def _begin(started: "list[Future[None]]") -> None:
    for begun in started:  # without the lock, because a callback may ask for another turn
        begun.set_result(None)
