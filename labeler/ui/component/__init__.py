"""The review component: canvas, keys and answer queue in the browser, one event at a time to the server.

Its JavaScript is served from `js/` by `labeler.ui.server` at `ASSETS`, as plain modules without a build step; what is
registered with Streamlit is the markup, the style and the text that loads them, so that a page run sends data only.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from labeler.model import Protocol

HERE = Path(__file__).parent
JS_DIRECTORY = HERE / "js"
ASSETS = "/review"

# All modules are asked for at once: one after the other, as they import each other, the first item waits longer.
_LOADING = JS_DIRECTORY / "loading.js"
_MODULES = [f"{ASSETS}/{path.name}" for path in sorted(JS_DIRECTORY.glob("*.js")) if path != _LOADING]
_STYLE = (HERE / "style.css").read_text(encoding="utf-8")


def _registered(name: str, html: str, entry: str) -> Any:
    """A component of this markup; the text that loads its modules is sent along, and waits for no other file."""
    start = f"export default loader({json.dumps(_MODULES)}, {json.dumps(f'{ASSETS}/{entry}')});"
    js = f"{_LOADING.read_text(encoding='utf-8')}\n{start}\n"
    markup = (HERE / html).read_text(encoding="utf-8")
    return st.components.v2.component(name, html=markup, css=_STYLE, js=js)


_mount = _registered("labeler_review", "review.html", "index.js")
_mount_sender = _registered("labeler_sender", "sender.html", "sender.js")


def event_of(key: str) -> object | None:
    """The event that caused this page run, if the component under this key sent one; anything may stand in it.

    One that only asks for pictures is none: without an event all of them are sent.
    """
    state = st.session_state.get(key)
    event = state.get("event") if isinstance(state, Mapping) else None
    return None if isinstance(event, Mapping) and set(event) == {"have"} else event


def is_check(event: object) -> bool:
    """Whether an event brings no answer, and only asks which of those that were saved are still there."""
    return isinstance(event, Mapping) and "check" in event and "event_id" not in event


def checked_by(event: object | None) -> list[str] | None:
    """The ids of the saved answers that an event asks about; None if it does not ask."""
    check = event.get("check") if isinstance(event, Mapping) else None
    return [event_id for event_id in check if isinstance(event_id, str)] if isinstance(check, list) else None


def known_to(event: object | None) -> frozenset[str]:
    """The codes of the items whose pictures the component that sent an event holds; nobody else's business."""
    have = event.get("have") if isinstance(event, Mapping) else None
    return frozenset(code for code in have if isinstance(code, str)) if isinstance(have, list) else frozenset()


def brief(question: str, protocol: Protocol) -> dict[str, Any]:
    """What the component needs of the question and the protocol."""
    return {
        "question": question,
        "protocol": {
            "axis_rule": protocol.axis_rule,
            "asks_confidence": protocol.asks_confidence,
            "shows_numbers": protocol.shows_numbers,
        },
    }


def show(key: str, data: Mapping[str, Any]) -> None:
    """Mount the component, or hand new data to the one that is there."""
    _mount(key=key, data=dict(data), on_event_change=lambda: None)


def show_sender(key: str, data: Mapping[str, Any]) -> None:
    """Mount the part that sends answers and draws nothing, or hand new data to the one that is there."""
    _mount_sender(key=key, data=dict(data), on_event_change=lambda: None)
