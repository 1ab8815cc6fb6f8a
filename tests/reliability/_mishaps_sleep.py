"""Machines that sleep and connections that break: nothing is closed, nothing responds, then everything continues."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from playwright.sync_api import Page, Route, WebSocketRoute

from labeler.screen.timing import IDLE_LIMIT_MS, time_on_task
from labeler.store import labels, open_database, people
from tests.browser.hands import item_on_screen
from tests.reliability._mishaps_scene import ADA, Room, Scene, scene
from tests.reliability.outcome import Case

ASLEEP_S, QUICK_S = 40, 5
AWAKE_MS = 30_000  # in no test does the reviewer look at an item for so long
LONG_SLEEP = timedelta(hours=8)
DEAD_LIMIT_S = 45
STREAM, REQUESTS = re.compile(r"/_stcore/stream"), re.compile(r"/api/")
SAVED = "() => window.__review?.pending === 0"


@contextmanager
def asleep(processes: Sequence[int]) -> Iterator[None]:
    """Suspend processes, as on a machine that sleeps."""
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def _seconds(room: Room) -> float:
    return QUICK_S if room.quick else ASLEEP_S


def of_the_server(room: Room) -> Iterator[Case]:
    """The server sleeps; meanwhile two answers are given, if the screen accepts them."""
    with scene(room, room.copy()) as one:
        with asleep([one.served.process.pid]):
            until = time.monotonic() + _seconds(room)
            one.press("d")
            one.press("s")
            seen = one.words("server asleep", n_kept=2)
            one.page.wait_for_timeout(max(1000 * (until - time.monotonic()), 0))  # this wait is the test
        one.comes_back()
        yield one.judged(f"the server asleep for {_seconds(room)} s", seen.sentence)


def of_the_browser(room: Room) -> Iterator[Case]:
    """The browser sleeps with one unsaved answer, because the server slept when it was given."""
    with scene(room, room.copy()) as one:
        seconds = _seconds(room)
        with asleep([one.served.process.pid]):
            one.press("d")
            seen = one.words("before the browser sleeps")
            processes = _processes(room)
            with asleep(processes):
                time.sleep(seconds / 2)  # this wait is the test: both are suspended
        one.comes_back()
        code = item_on_screen(one.page)
        with asleep(processes):
            time.sleep(seconds)  # the same, with the server awake: it closes connections that do not respond
        one.press("s")
        one.comes_back()
        _check_times(one, code, int(1000 * seconds))
        yield one.judged(f"the browser asleep for {seconds} s", seen.sentence)


def _processes(room: Room) -> list[int]:
    """All processes of the browser that was started here."""
    session = room.browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return [process["id"] for process in found]


def for_hours(room: Room) -> Iterator[Case]:
    """A laptop lid closed for eight hours, on a machine whose monotonic clock continues during sleep."""
    with scene(room, room.copy(), enter=False) as one:
        one.page.clock.install()
        one.page.goto(one.served.link(ADA))
        one.press("s", is_stored=True)
        code = item_on_screen(one.page)
        one.page.clock.fast_forward(int(1000 * LONG_SLEEP.total_seconds()))
        one.page.wait_for_timeout(1000)  # the screen says so at its next tick, twice per second
        said = one.page.inner_text(".status")
        if "not counted" not in said:
            one.problems.append("nothing says that this time is not counted")
        room.take(one.page, "awake after eight hours")
        one.press("d")
        one.comes_back()
        _check_times(one, code, int(1000 * LONG_SLEEP.total_seconds()))
        yield one.judged("a lid closed for eight hours", said)


def _check_times(one: Scene, code: str, asleep_ms: int) -> None:
    """Check that no more of the sleep counts than of any other time without input."""
    answer = next(answer for answer in _own(one) if answer.code == code)
    dwell = answer.dwell_ms or 0
    counted = time_on_task(dwell, json.loads(answer.view))
    if dwell < asleep_ms:
        one.problems.append(f"only {dwell} ms passed on the screen: it did not sleep")
    if counted > min(asleep_ms, IDLE_LIMIT_MS) + AWAKE_MS:
        one.problems.append(f"{counted} ms of {dwell} count as time on task")


def _own(one: Scene) -> list[labels.OwnAnswer]:
    with open_database(one.served.study) as db:
        person = people.by_name(db, ADA)
        return labels.own_answers(db, person.person_id) if person else []


def network_off(room: Room) -> Iterator[Case]:
    """The reviewer's network is off, then on."""
    with scene(room, room.copy()) as one:
        one.context.set_offline(True)
        one.press("d")
        seen = one.words("network off", n_kept=None)
        one.page.wait_for_timeout(1000 * _seconds(room))  # this wait is the test
        one.context.set_offline(False)
        one.comes_back()
        yield one.judged(f"the network off for {_seconds(room)} s", seen.sentence)


class Lines:
    """The connections of a page; a dead connection transfers nothing and is never closed."""

    def __init__(self, page: Page) -> None:
        self.n, self.n_dead, self.n_hanging = 0, 0, 0
        page.route_web_socket(STREAM, self._connect)
        page.route(REQUESTS, self._ask)

    def _ask(self, route: Route) -> None:
        """The first request takes the connection that is dead and gets no reply; the browser then opens another."""
        if self.n_hanging:
            self.n_hanging -= 1
        else:
            route.continue_()

    def _connect(self, page: WebSocketRoute) -> None:
        self.n += 1
        number, server = self.n, page.connect_to_server()
        page.on_message(lambda message: server.send(message) if number > self.n_dead else None)
        server.on_message(lambda message: page.send(message) if number > self.n_dead else None)
        page.on_close(lambda code, reason: server.close(code=code, reason=reason) if number > self.n_dead else None)
        server.on_close(lambda code, reason: page.close(code=code, reason=reason) if number > self.n_dead else None)

    def die(self) -> None:
        """Make all current connections dead."""
        self.n_dead, self.n_hanging = self.n, 1


def dead_line(room: Room) -> Iterator[Case]:
    """The connection is dead after sleep and the browser is not informed: the page recovers by itself, or says how."""
    with scene(room, room.copy(), enter=False) as one:
        lines = Lines(one.page)
        one.page.goto(one.served.link(ADA))
        one.press("s", is_stored=True)
        item_on_screen(one.page)
        lines.die()
        one.press("d")
        one.press("s")
        seen = one.words("dead line", n_kept=2)
        saved = one.until(lambda: bool(one.page.evaluate(SAVED)), DEAD_LIMIT_S)
        helped = saved or "reload" in one.look().sentence.lower()
        if not helped:
            one.problems.append(f"after {DEAD_LIMIT_S} s it neither connected anew nor said to reload")
        if not saved:
            one.page.reload()
        one.comes_back()
        yield one.judged("a dead connection that nobody closes", seen.sentence)
