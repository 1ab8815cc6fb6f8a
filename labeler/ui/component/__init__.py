"""The review component: canvas, keys and answer queue in the browser, one event at a time to the server.

Its JavaScript is served from `js/` by `labeler.ui.server` at `ASSETS`, as plain modules without a build step; what is
registered with Streamlit is the markup, the style and the text that loads them, so that a page run sends data only.
"""

import base64
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from labeler.model import Protocol

HERE = Path(__file__).parent
JS_DIRECTORY = HERE / "js"
ASSETS = "/review"
VIEW_KEYS = ("z", "l", "o")
NO_KEYS: Mapping[str, str] = {}
VIEWER_HEIGHT = 420

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
_mount_viewer = _registered("labeler_viewer", "viewer.html", "viewer.js")


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


def picture(
    key: str,
    payload: Mapping[str, Any],
    *,
    item: str = "",
    title: str = "",
    caption: str = "",
    keys: Mapping[str, str] = NO_KEYS,
    height: int = VIEWER_HEIGHT,
    shows_numbers: bool = False,
) -> str | None:
    """The runs of one item as reviewers see them, read-only; for every page where nobody labels it.

    Axis (Z), logarithm (L), overlay (O) and the arrow keys work as on the labelling screen, and change nothing but the
    view. A page with several pictures gives the keys to the one that was pointed at or focused last.

    Parameters
    ----------
    key : str
        Of the widget: the same for all items that are shown in this place, one after the other.
    payload : mapping
        As `labeler.screen.binning.payload` makes it (for a coordinator `drawing.payload_of_item`).
    item : str
        What is shown, so that a press that was meant for the item before is not taken for this one.
    title, caption : str
        Stand above the picture, as plain text: a name, where names may be shown.
    keys : mapping of str to str
        Letter -> words of its button, for what the page does: {"p": "Previous", "n": "Next"}. A held key, a press in a
        text field, and one before the item could be seen are ignored.
    height : int
        Of all runs together, in pixels, where the window is wide.
    shows_numbers : bool
        Whether the distance of each run's median from the pooled one stands above its panel.

    Returns
    -------
    str or None
        The letter that was pressed on this item, in this page run only.

    Raises
    ------
    ValueError
        If a key is not one letter, or one of the picture's own.
    """
    for letter in keys:
        if len(letter) != 1 or not letter.isalpha() or letter != letter.lower() or letter in VIEW_KEYS:
            raise ValueError(f"A key is one small letter other than {', '.join(VIEW_KEYS)}, got {letter!r}.")
    data = {
        "item": item,
        "title": title,
        "caption": caption,
        "picture": dict(payload),
        "keys": list(keys.items()),
        "height": height,
        "shows_numbers": shows_numbers,
    }
    _mount_viewer(key=key, data=data, on_pressed_change=lambda: None)
    state = st.session_state.get(key)
    pressed = state.get("pressed") if isinstance(state, Mapping) else None
    if not isinstance(pressed, Mapping) or pressed.get("item") != item or pressed.get("key") not in keys:
        return None
    return str(pressed["key"])


def still(svg: str, words: str) -> None:
    """A small still picture, with words for those who do not see it; `st.image` has no place for these."""
    source = base64.b64encode(svg.encode()).decode("ascii")
    st.html(f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{source}" style="max-width: 100%">')


def brief(question: str, protocol: Protocol) -> dict[str, Any]:
    """What the component needs of the question and the protocol."""
    return {
        "question": question,
        "protocol": {
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
