"""Windows that load their first page, in the order of the gate."""

import asyncio

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.SessionStatus_pb2 import SessionStatus

from labeler.ui import arrivals
from labeler.ui.arrivals import N_AT_ONCE, Arrivals
from tests.labeler.ui.waiting import finished

RERUN = {"type": "websocket.receive", "bytes": b"rerun"}
FINISHED = {
    "type": "websocket.send",
    "bytes": ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY).SerializeToString(),
}
OTHER = {"type": "websocket.send", "bytes": ForwardMsg(session_status_changed=SessionStatus()).SerializeToString()}
LIMIT_S = 20.0


async def receive():
    return RERUN


async def send(message):
    pass


def is_waiting(task):
    return not task.done()


async def settled(tasks):
    for _ in range(20):
        await asyncio.sleep(0)  # lets every task run as far as it can
    return [is_waiting(task) for task in tasks]


async def windows(scene):
    async with asyncio.TaskGroup() as group, asyncio.timeout(LIMIT_S):
        gate = Arrivals()
        opened = [gate.window(receive, send) for _ in range(N_AT_ONCE + 1)]
        ends = [await window.__aenter__() for window in opened]
        tasks = [group.create_task(receiving()) for receiving, _ in ends]
        assert await settled(tasks) == [False] * N_AT_ONCE + [True]
        await scene(opened, ends, tasks)
        for window in opened[1:]:
            await window.__aexit__(None, None, None)


def test_a_window_waits_until_another_has_its_page():
    async def scene(_opened, ends, tasks):
        receiving, sending = ends[0]
        await sending(OTHER)
        assert (await settled(tasks))[-1]
        assert await receiving() == RERUN  # windows with a page do not wait for a turn
        await sending(FINISHED)
        await tasks[-1]

    finished(windows(scene))


def test_a_window_that_is_closed_gives_its_turn_away():
    async def scene(opened, _ends, tasks):
        await opened[0].__aexit__(None, None, None)
        await tasks[-1]

    finished(windows(scene))


def test_a_page_that_takes_long_does_not_hold_up_others(monkeypatch):
    monkeypatch.setattr(arrivals, "LIMIT_S", 0.1)

    async def scene(_opened, _ends, tasks):
        await tasks[-1]

    finished(windows(scene))


@pytest.mark.parametrize("content", [b"", b"\xff\xff", b"x" * 1000])
def test_what_is_no_end_of_a_page_run_ends_no_turn(content):
    async def scene(_opened, ends, tasks):
        await ends[0][1]({"type": "websocket.send", "bytes": content})
        assert (await settled(tasks))[-1]
        await ends[0][1](FINISHED)

    finished(windows(scene))
