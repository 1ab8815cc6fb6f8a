"""Items one after the other: the shared picture with keys for what the page does, and the place in the queue."""

from collections.abc import Mapping, Sequence

import streamlit as st

from labeler.model import Category, Item
from labeler.service.data import drawing
from labeler.store import Database
from labeler.ui import component

NEXT, PREVIOUS = "n", "p"
MOVES = {PREVIOUS: "Previous", NEXT: "Next"}
CATEGORIES = {"s": Category.SIMILAR, "d": Category.DISSIMILAR}
CHOICES = {key: category.title() for key, category in CATEGORIES.items()}


def current(queue: str, names: Sequence[str]) -> str:
    """Where a queue stands; at its beginning unless somebody moved on."""
    name = str(st.session_state.get(queue))
    return name if name in names else names[0]


def move(queue: str, names: Sequence[str], name: str, pressed: str | None) -> None:
    """Go to the next or the previous one if that was pressed; after the last comes the first."""
    step = {NEXT: 1, PREVIOUS: -1}.get(pressed or "")
    if step is not None:
        put(queue, names[(names.index(name) + step) % len(names)])
        st.rerun()


def put(queue: str, name: str) -> None:
    """Let a queue stand here from the next page run on."""
    st.session_state[queue] = name


def place(names: Sequence[str], name: str) -> str:
    """How far through a queue this is."""
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
) -> str | None:
    """The picture of an item, or that it has none; the key that was pressed on it.

    Parameters
    ----------
    db : Database
    queue : str
    item : Item
    name : str
        What the queue calls it; its own name unless given.
    title, caption : str
        Above the picture.
    keys : mapping of str to str
        Letter -> words of its button.
    """
    shown = name or item.name
    if item.n_runs:
        payload = drawing.payload_of_item(db, item.item_id)
        return component.picture(f"{queue}-picture", payload, item=shown, title=title, caption=caption, keys=keys)
    st.text(f"{title}\n{caption}".strip())
    st.info("This item has no measurements in the study, so there is no picture of it.")
    with st.container(horizontal=True):
        pressed = [key for key, words in keys.items() if st.button(words, key=f"{queue}-{key}-{shown}")]
    return pressed[0] if pressed else None
