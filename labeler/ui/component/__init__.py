"""The review component: canvas, keys and answer queue in the browser, one event at a time to the server.

Its JavaScript is served from `js/` by `labeler.ui.server` at `ASSETS`, as plain modules without a build step; what is
registered with Streamlit is the markup, the style and a line that loads them, so that a page run sends data only.
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
_MODULES = sorted(path.name for path in JS_DIRECTORY.glob("*.js"))
_LOADER = f"""
const at = (name) => new URL(`{ASSETS}/${{name}}`, window.location.origin).href;
const loaded = Promise.all({json.dumps(_MODULES)}.map((name) => import(at(name)))).then(() => import(at("index.js")));
export default function (component) {{
  let end = null, ended = false;
  loaded.then((module) => {{ if (!ended) end = module.default(component); }});
  return () => {{ ended = true; end?.(); }};
}}
"""

_mount = st.components.v2.component(
    "labeler_review",
    html=(HERE / "review.html").read_text(encoding="utf-8"),
    css=(HERE / "style.css").read_text(encoding="utf-8"),
    js=_LOADER,
)


def event_of(key: str) -> object | None:
    """The event that caused this page run, if the component under this key sent one; anything may stand in it.

    One that only asks for pictures is none: without an event all of them are sent.
    """
    state = st.session_state.get(key)
    event = state.get("event") if isinstance(state, Mapping) else None
    return None if isinstance(event, Mapping) and set(event) == {"have"} else event


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
