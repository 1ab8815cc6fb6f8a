"""The list of coordinator pages, by group.

To add a page, add a line here and a module with `render(db, person)`.
"""

from collections.abc import Mapping
from types import ModuleType

import streamlit as st

from labeler.model import State, Study
from labeler.store import Database
from labeler.ui.coordinator.results import (
    classifiers,
    figures,
    handover,
    item,
    items,
    publish,
    replication,
    report,
    verdicts,
)
from labeler.ui.coordinator.run import calibration, inbox, progress, splits
from labeler.ui.coordinator.set_up import data, people, plan, study
from labeler.ui.coordinator.shared import STUDY, acknowledge, next_step

GROUPS: Mapping[str, Mapping[str, ModuleType]] = {
    "Set up": {
        STUDY: study,
        "Data": data,
        "People": people,
        "Plan": plan,
    },
    "Run": {
        "Progress": progress,
        "Calibration": calibration,
        "Inbox": inbox,
        "Splits": splits,
    },
    "Results": {
        "Verdicts": verdicts,
        "Items": items,
        "Item": item,
        "Report": report,
        "Classifiers": classifiers,
        "Figures": figures,
        "Replication": replication,
        "Publish": publish,
        "Handover": handover,
    },
}
WITHIN = frozenset(("Item",))  # opened from other pages; not in the navigation
PAGES = {title: page for listed in GROUPS.values() for title, page in listed.items()}
GROUP_OF = {title: group for group, listed in GROUPS.items() for title in listed}

# A page is dimmed in the navigation before this state, because it has no content yet.
_FILLED_FROM: Mapping[str, State] = {
    "Progress": State.CALIBRATION,
    "Calibration": State.CALIBRATION,
    "Inbox": State.CALIBRATION,
    "Splits": State.CLOSED,
    "Report": State.UNBLINDED,
    "Classifiers": State.UNBLINDED,
    "Publish": State.UNBLINDED,
}


def show(db: Database, person: str, title: str) -> None:
    """Show a page: its heading, the message about the last action, and the content."""
    st.title(title, anchor=False)
    if acknowledge() and title != STUDY:
        next_step(db, person, title)
    PAGES[title].render(db, person)


def empty_pages(study: Study) -> list[str]:
    """Return the titles of the pages that have no content yet."""
    order = list(State)
    return [title for title, state in _FILLED_FROM.items() if order.index(study.phase) < order.index(state)]
