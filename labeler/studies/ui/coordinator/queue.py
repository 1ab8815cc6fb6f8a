"""Show the items of a queue one by one.

Each item has its picture, and keys for actions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from analysis.text import joined
from labeler.marks import Mark
from labeler.studies.items import drawing
from labeler.studies.model import Item, Question
from labeler.studies.store import Database
from labeler.studies.ui import component
from labeler.studies.ui.component import TOKEN, Decides, Press

NEXT, PREVIOUS = "n", "p"
MOVES = {PREVIOUS: "Previous", NEXT: "Next"}
NO_PICTURE = "The study has no measurements of this item, so it has no picture."


def categories_of(question: Question) -> dict[str, str]:
    """Return the categories of a decision by their keys."""
    return {category.key: category.name for category in question.categories}


def choices_of(question: Question) -> dict[str, str]:
    """Return the texts of the buttons of a decision by their keys."""
    return {category.key: category.label for category in question.categories}


def keys_of(question: Question) -> str:
    """Return the keys of the categories for a sentence, such as "S or D"."""
    return joined([category.key.upper() for category in question.categories], "or")


def current(queue: str, names: Sequence[str]) -> str:
    """Return the name of the current item in a queue; if no item was chosen yet, return the first name.

    The item stays current if the order of the queue changes, for example because of a decision.
    """
    name = str(st.session_state.get(queue))
    st.session_state[queue] = name if name in names else names[0]
    return str(st.session_state[queue])


def move(queue: str, names: Sequence[str], name: str, pressed: Press | None) -> None:
    """Go to the next or previous item, if the person pressed the key N or P.

    After the last item comes the first item.
    """
    step = {NEXT: 1, PREVIOUS: -1}.get(pressed.key if pressed else "")
    if step is not None:
        put(queue, names[(names.index(name) + step) % len(names)])
        st.rerun()


def was_decided(queue: str, name: str, pressed: Press | None) -> bool:
    """Return whether the component has just saved a decision about this item; True once for each decision."""
    if pressed is None or pressed.key in MOVES:
        return False
    handled, press = f"{queue}-handled", (name, pressed)
    if st.session_state.get(handled) == press:
        return False
    st.session_state[handled] = press  # the page runs again, and the last item stays
    return True


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
    decides: Decides | None = None,
    marks: Sequence[tuple[Mark, str]] = (),
    panels: Sequence[Mapping[str, Any]] | None = None,
) -> Press | None:
    """Show the picture of an item, or a note if the item has none; return the key that the person pressed.

    `name` is the name of the item in this queue, if it is not the usual one; `title` and `caption` stand above the
    picture. `keys` maps keys to the texts of buttons; some of them may be decisions (see `component.picture`). Each
    mark has a note. `panels` are those of one reviewer's picture, if it is not the picture of the item.
    """
    if not item.n_runs:
        caption = f"{caption} · {NO_PICTURE}" if caption else NO_PICTURE
    return component.picture(
        f"{queue}-picture",
        panels if panels is not None else drawing.panels_of_item(db, item.item_id) if item.n_runs else [],
        item=name or item.name,
        title=title,
        caption=caption,
        keys=keys,
        decides=decides,
        token=st.session_state.get(TOKEN, ""),
        marks=marks,
    )
