"""Messages that the component never sends: each field with each value, and random changes."""

import json
import random
from collections.abc import Iterator
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.performance.wire import body_of, trigger_of
from tests.reliability._window import Body, Event, Window, as_body

FIELDS = ("event_id", "code", "revision", "answer", "dwell_ms", "view", "confidence", "flag", "comment")
VALUES = (
    "null", "true", "false", "0", "-0", "-1", "1", "1.5", "-1.5", "1e400", "NaN", "Infinity", "-Infinity", str(2**31),
    str(2**53), str(2**63), "9" * 400, "9" * 5000, '""', '"x"', '"similar"', '"withdrawn"', '"SIMILAR"', '"similar "',
    '"\\u0000"',
    '"\\ud800"', '"a\\udfffb"', '"\\u202eabc"', '"\\u001b[2J"', '"<script>alert(1)</script>"', '"../../etc/passwd"',
    '"\'; DROP TABLE labels; --"', f'"{"x" * 100_000}"', "[]", "[[]]", "{}", '{"a": {"b": []}}', '{"": null}',
    '{"event_id": "x"}',
    "[" * 500 + "]" * 500, "[" * 100_000 + "]" * 100_000, '{"a":' * 500 + "1" + "}" * 500, '{"a": NaN}',
    '{"a": 1, "a": 2}',
    '{"a": "\\ud800"}', "[null, 1, true]", '["x"]',
)  # fmt: skip
SHAPES = (
    "", " ", "null", "true", "1", '"x"', "[]", "{}", "[[]]", "[null]", "[1]", '["answers"]', "[{}]",
    '{"answers": null}', '{"answers": {}}', '{"answers": "x"}', '{"answers": [null]}', '{"answers": [[[]]]}',
    '{"answers": [1, "x", {}, []]}', '{"answers": [{"answers": []}]}', '{"answers": [{"event_id": {"a": [NaN]}}]}',
    '{"check": "x"}', '{"check": [1]}', '{"check": [["x"]]}', '{"check": {"x": 1}}',
    '{"check": ["' + "x" * 60_000 + '"]}',
    '{"answers": [' + "{}," * 50 + "{}]}", "[", "]", "[{", "\x00", "NaN", "[NaN]", "[" * 60_000, "[" * 100_000,
    '{"__class__": "x", "answers": []}', '{"answers": [], "answers": [{}]}', '{"item": "x", "category": "similar"}',
)  # fmt: skip
WIDGETS = (
    "", "x", "review", "event", "chosen", "practice_seed", "$$STREAMLIT_INTERNAL_KEY_",
    "$$STREAMLIT_INTERNAL_KEY___events",
    "$$ID--review", "$$ID-00000000000000000000000000000000-review", "\x00", "../x", "x" * 10_000, "$$ID-{}-None",
)  # fmt: skip


def of_every_type(window: Window) -> Iterator[tuple[str, str]]:
    """A valid event with each value in each field, with one field missing, and with one field twice: name and text."""
    for field in FIELDS:
        for value in VALUES:
            yield f"{field} = {value[:30]}", with_text(window.event(), field, value)
        left = {name: value for name, value in window.event().items() if name != field}
        yield f"{field} left out", body_of(left)
        event = json.dumps(window.event())
        yield f"{field} twice", f'{{"answers":[{event[:-1]}, "{field}": "twice"}}]}}'
    for shape in SHAPES:
        yield f"body {shape[:40]}", shape


def with_text(event: Event, field: str, text: str) -> str:
    """Return the body of a request for an event in which this JSON text replaces a value."""
    mark = "4f5a0c7e-this-is-replaced"
    return body_of(event | {field: mark}).replace(f'"{mark}"', text)


def of_every_kind(window: Window) -> Iterator[tuple[str, BackMsg]]:
    """Streamlit messages that the component never sends, including those for developers."""
    for name in ("clear_cache", "load_git_info", "set_run_on_save", "stop_script", "app_heartbeat",
            "debug_disconnect_websocket",
                 "debug_shutdown_runtime"):  # fmt: skip
        message = BackMsg()
        setattr(message, name, True)
        yield name, message
    yield "nothing", BackMsg()
    for names in ([], ["x.csv"], ["../../x"], ["x"] * 2000):
        message = BackMsg()
        message.file_urls_request.file_names.extend(names)
        message.file_urls_request.session_id = window.session
        yield "file_urls_request", message
    for payload in ("deferred_file", "install_skills", "dismiss_skills_nudge", "dataframe_chunk"):
        message = BackMsg()
        message.backend_operation_request.session_id = window.session
        getattr(message.backend_operation_request, payload).SetInParent()
        yield payload, message
    for widget in WIDGETS:
        message = window.rerun()
        message.rerun_script.widget_states.widgets.add(
            id=widget, json_trigger_value=trigger_of({"saved": window.event()["code"]})
        )
        yield f"widget {widget[:20]!r}", message
    yield from _values_for_the_component(window)


def _values_for_the_component(window: Window) -> Iterator[tuple[str, BackMsg]]:
    event = window.event()
    kinds: dict[str, Any] = {
        "trigger_value": True, "bool_value": True, "int_value": 2**62, "double_value": float("nan"),
        "bytes_value": b"\xff\x00",
        "string_value": "x", "json_value": json.dumps({"event": event}),
    }  # fmt: skip
    for kind, value in kinds.items():
        for widget in (window.widget, window.widget.removesuffix("__events"), "review"):
            message = window.rerun()
            message.rerun_script.widget_states.widgets.add(id=widget, **{kind: value})
            yield f"{kind} for the component", message
    for other in ({"query_string": "x=" + "y" * 100_000}, {"page_name": "../../x"}, {"page_script_hash": "x"},
            {"fragment_id": "x"},
                  {"is_auto_rerun": True}, {"query_string": "\x00"}, {"page_name": "<script>"}):  # fmt: skip
        yield f"{next(iter(other))}", window.rerun(**other)


def mutant(rng: random.Random, window: Window) -> Body | bytes:
    """Return a valid request or message with a random change: a value, the text of the event, or bytes."""
    event, kind = window.event(rng.choice(("similar", "dissimilar", "not sure", "withdrawn"))), rng.randrange(3)
    if kind == 0:
        for _ in range(rng.randint(1, 3)):
            place = rng.choice(FIELDS)
            changed = with_text(event, place, rng.choice(VALUES))
        return as_body(changed)
    if kind == 1:
        return Body(_scrambled(rng, body_of(event).encode()))
    return _scrambled(rng, window.rerun(query_string=body_of(event)).SerializeToString())


def _scrambled(rng: random.Random, data: bytes) -> bytes:
    """Change, remove, repeat or cut off a few bytes."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(made) + 1), rng.randint(1, 8)
        part = bytes(made[at : at + length])
        made[at : at + length] = rng.choice((b"", part * 2, rng.randbytes(length), part[::-1], part + rng.randbytes(1)))
        if rng.random() < 0.05:
            del made[rng.randrange(len(made) + 1) :]
        made = made or bytearray(b"\x00")
    return bytes(made)
