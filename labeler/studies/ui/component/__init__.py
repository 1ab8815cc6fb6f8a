"""The review component in the browser, which shows items, reads keys, and sends queued answers.

`labeler.studies.ui.static_files` serves the JavaScript in `js/`, the markup and the style at `ASSETS`, without a build
step. Streamlit gets only the script that loads the files, because Streamlit sends its part of a component again with
each page run.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import streamlit as st

from labeler.marks import Mark
from labeler.studies.screen.component import FILES as FILES, FOLDER, LOADING, STYLE

VIEW_KEYS = ("z", "l", "o")
NO_KEYS: Mapping[str, str] = {}
TOKEN = "token"  # noqa: S105 - key in the session state: the token for requests of the components
VIEWER_HEIGHT = 420

PAGE_STYLE = (FOLDER / "page.css").read_text(encoding="utf-8")  # the style of the page around the component


@dataclass(frozen=True)
class Press:
    """A key that was pressed on a picture.

    If the key chose a category, the component has already saved the decision.
    """

    key: str
    number: int = 0  # of the key presses in this window


@dataclass(frozen=True)
class Decides:
    """The decisions about an item that a coordinator can make on its picture.

    The component saves a decision by itself. If there are reasons, a decision needs one of them, or another reason that
    the person types.
    """

    kind: str  # one of `labeler.studies.results.splits.DECISION_KINDS`
    categories: Mapping[str, str]  # key -> category
    reasons: Sequence[str] = ()


# within a study; another address after an update, because browsers keep files
ASSETS = f"/review/{hashlib.sha256(b''.join(FILES.values())).hexdigest()[:12]}"


def _registered(name: str, markup: str, entry: str) -> Any:
    """Register a component from a file with markup and an entry module."""
    arguments = (ASSETS[1:], list(FILES), entry, f"{markup}.js", f"{STYLE.name}.js")
    start = f"export default loader({', '.join(json.dumps(argument) for argument in arguments)});"
    return st.components.v2.component(name, js=f"{LOADING.read_text(encoding='utf-8')}\n{start}\n")


_mount = _registered("labeler_review", "review.html", "index.js")
_mount_sender = _registered("labeler_sender", "sender.html", "sender.js")
_mount_viewer = _registered("labeler_viewer", "viewer.html", "viewer.js")


def change_of(key: str) -> object | None:
    """Return the change for which the component with this key asked for this page run; return None if it did not ask.

    The caller must check the content, which comes from a browser.
    """
    state = st.session_state.get(key)
    return state.get("changed") if isinstance(state, Mapping) else None


def picture(
    key: str,
    panels: Sequence[Mapping[str, Any]],
    *,
    item: str = "",
    title: str = "",
    caption: str = "",
    keys: Mapping[str, str] = NO_KEYS,
    decides: Decides | None = None,
    token: str = "",
    height: int = VIEWER_HEIGHT,
    marks: Sequence[tuple[Mark, str]] = (),
) -> Press | None:
    """Show the runs of one item as reviewers see them, read-only; return the key that was pressed in this page run.

    `panels` are empty if the item has no measurements; `item` keeps a key press for the previous item from acting on
    this one. `keys` are actions of the page, as letter -> button text: {"p": "Previous", "n": "Next"}. A key has no
    effect while it is held down, in a text field, or before the item is visible. `decides` says which of the keys
    choose a category of a decision: the component sends the decision with `token`, then asks for a page run, or shows
    why it was not saved. `height` is that of all runs together in a wide window, in pixels; each of the
    `marks` has a note.

    The keys Z (axis), L (logarithm) and O (overlay) and the arrow keys change the view, as on the labelling screen. If
    a page has several pictures, the keys apply to the picture that the person last pointed at or focused. Raises
    ValueError if a key is not a single digit or lower-case letter, or the picture already uses it.
    """
    for letter in keys:
        if len(letter) != 1 or not letter.isalnum() or letter != letter.lower() or letter in VIEW_KEYS:
            raise ValueError(
                f"A key must be one digit or lower-case letter other than {', '.join(VIEW_KEYS)}, got {letter!r}."
            )
    data = {
        "item": item,
        "title": title,
        "caption": caption,
        "panels": list(panels),
        "keys": list(keys.items()),
        "decides": decides and asdict(decides),
        "token": token,
        "height": height,
        "marks": [{**asdict(mark), "note": note} for mark, note in marks],
    }
    _mount_viewer(key=key, data=data, on_pressed_change=lambda: None)
    state = st.session_state.get(key)
    pressed = state.get("pressed") if isinstance(state, Mapping) else None
    if not isinstance(pressed, Mapping) or pressed.get("item") != item or pressed.get("key") not in keys:
        return None
    number = pressed.get("number")
    return Press(str(pressed["key"]), number if isinstance(number, int) else 0)


def still(svg: str, words: str) -> None:
    """Show a small static picture with alternative text, which `st.image` does not support."""
    source = base64.b64encode(svg.encode()).decode("ascii")
    st.html(f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{source}" style="max-width: 100%">')


def show(key: str, data: Mapping[str, Any]) -> None:
    """Mount the review component, or update its data."""
    _mount(key=key, data=dict(data), on_changed_change=lambda: None)


def show_sender(key: str, data: Mapping[str, Any]) -> None:
    """Mount the component that only sends answers, or update its data."""
    _mount_sender(key=key, data=dict(data))
