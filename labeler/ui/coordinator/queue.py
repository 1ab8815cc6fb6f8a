"""Show the items of a queue one by one.

Each item has its picture, and keys for actions.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from labeler.model import Category, Item
from labeler.service.items import drawing
from labeler.store import Database
from labeler.ui import component
from labeler.ui.component import TOKEN, Press

NEXT, PREVIOUS = "n", "p"
MOVES = {PREVIOUS: "Previous", NEXT: "Next"}
CATEGORIES = {"s": Category.SIMILAR, "d": Category.DISSIMILAR}
CHOICES = {key: category.title() for key, category in CATEGORIES.items()}


def current(queue: str, names: Sequence[str]) -> str:
    """Return the name of the current item in a queue; if no item was chosen yet, return the first name."""
    name = str(st.session_state.get(queue))
    return name if name in names else names[0]


def move(queue: str, names: Sequence[str], name: str, pressed: Press | None) -> None:
    """Go to the next or previous item, if the person pressed the key N or P.

    After the last item comes the first item.
    """
    step = {NEXT: 1, PREVIOUS: -1}.get(pressed.key if pressed else "")
    if step is not None:
        put(queue, names[(names.index(name) + step) % len(names)])
        st.rerun()


def put(queue: str, name: str) -> None:
    """Make this item the current item of the queue, from the next page run on."""
    st.session_state[queue] = name


def place(names: Sequence[str], name: str) -> str:
    """Return the position in the queue, such as "3 of 12"."""
    return f"{names.index(name) + 1} of {len(names)}"


def look(
    db: Database,
    queue: str,
    item: Item,
    *,
    name: str = "",
    title: str = "",
    caption: str = "",
    keys: Mapping[str, str] = MOVES,
    decides: Mapping[str, str] = component.NO_KEYS,
) -> Press | None:
    """Show the picture of an item, or a note if the item has none; return the key that the person pressed.

    Parameters
    ----------
    name : str
        Name of the item in this queue; if empty, the usual name.
    title, caption : str
        Texts above the picture.
    keys : mapping of str to str
        Key to button text.
    decides : mapping of str to str
        Key to category, for the keys that save a decision about the item (see `component.picture`).
    """
    shown = name or item.name
    if item.n_runs:
        payload = drawing.payload_of_item(db, item.item_id)
        token = st.session_state.get(TOKEN, "")
        return component.picture(
            f"{queue}-picture",
            payload,
            item=shown,
            title=title,
            caption=caption,
            keys=keys,
            decides=decides,
            token=token,
        )
    st.text(f"{title}\n{caption}".strip())
    st.info("The study has no measurements of this item, so it has no picture.")
    with st.container(horizontal=True):
        pressed = [key for key, words in keys.items() if st.button(words, key=f"{queue}-{key}-{shown}")]
    return Press(pressed[0]) if pressed else None
