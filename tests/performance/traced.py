"""The server with a stopwatch around the steps of one label; started by hot_path.py.

    python -m tests.performance.traced STUDY PORT FILE.json

When it is stopped, it writes one record per label: when each step began and ended, in seconds since Streamlit received
the frame with the label.
"""

import gc
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import streamlit as st
from starlette.websockets import WebSocket
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from labeler.service import reviewing
from labeler.service.people import identity
from labeler.store import Database
from labeler.ui import app, component, server
from labeler.ui.reviewer import label

EVENT_ID = re.compile(r'"event_id":"(\w+)"')
STEPS = (
    (ScriptRunner, "_run_script", "script run"),
    (app, "open_database", "open database"),
    (identity, "person_of_session", "session lookup"),
    (st, "navigation", "navigation"),
    (label, "render", "page"),
    (reviewing, "submit", "submit"),
    (reviewing, "review_queue", "queue"),
    (reviewing, "brief", "brief"),
    (reviewing, "shown", "shown"),
    (reviewing, "picture", "picture"),
    (component, "show", "component"),
)
Matches = Callable[..., bool]


class Trace:
    """The labels so far; at most one is in progress at a time."""

    def __init__(self) -> None:
        self.labels: list[dict[str, Any]] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            if self.labels:
                record = self.labels[-1]
                record["steps"].append((name, begun - record["begun"], time.perf_counter() - record["begun"]))

    def around(self, owner: Any, function: str, name: str, matches: Matches = lambda *_: True) -> None:
        """Time every call of a function that matches its arguments."""
        original = getattr(owner, function)

        @wraps(original)
        def timed(*arguments: Any, **named: Any) -> Any:
            if not matches(*arguments):
                return original(*arguments, **named)
            with self.step(name):
                return original(*arguments, **named)

        setattr(owner, function, timed)

    def begin_with_frames(self) -> None:
        """A label begins when Streamlit receives its frame."""
        original = Runtime.handle_backmsg

        def handle(runtime: Runtime, session_id: str, message: Any, **named: Any) -> Any:
            for widget in message.rerun_script.widget_states.widgets:
                found = EVENT_ID.search(widget.json_trigger_value)
                if found:
                    self.labels.append({"id": found[1], "begun": time.perf_counter(), "steps": []})
            return original(runtime, session_id, message, **named)

        patch.object(Runtime, "handle_backmsg", handle).start()

    def time_sending(self) -> None:
        """only coroutines need a separate wrapper"""
        original = WebSocket.send_bytes

        async def send(socket: WebSocket, data: bytes) -> None:
            with self.step(f"send {'component' if b'offers' in data else 'other'}"):
                await original(socket, data)

        patch.object(WebSocket, "send_bytes", send).start()

    def time_garbage(self) -> None:
        begun = [0.0]

        def callback(phase: str, _information: Any) -> None:
            if phase == "start":
                begun[0] = time.perf_counter()
            elif self.labels:
                record = self.labels[-1]
                record["steps"].append(("garbage", begun[0] - record["begun"], time.perf_counter() - record["begun"]))

        gc.callbacks.append(callback)


def shows_component(_owner: Any, message: Any) -> bool:
    return message.WhichOneof("type") == "delta" and message.delta.new_element.WhichOneof("type") == "bidi_component"


def main(study: str, port: str, file: str) -> None:
    trace = Trace()
    trace.begin_with_frames()
    for owner, function, name in STEPS:
        trace.around(owner, function, name)
    trace.around(Database, "execute", "commit", lambda _db, sql, *_: sql == "COMMIT")
    trace.around(AppSession, "_enqueue_forward_msg", "enqueued", shows_component)
    trace.around(StarletteSessionClient, "write_forward_msg", "serialise", shows_component)
    trace.time_sending()
    trace.time_garbage()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # the web server passes the signal on once it has stopped
    try:
        server.serve(Path(study), address="127.0.0.1", port=int(port))
    finally:
        Path(file).write_text(json.dumps(trace.labels), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
