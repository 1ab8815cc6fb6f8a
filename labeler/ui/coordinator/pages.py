"""The pages of coordinators by group: a new page is one line here, and a module with `render(db, person)`."""

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
from labeler.ui.coordinator.shared import acknowledge

GROUPS: Mapping[str, Mapping[str, ModuleType]] = {
    "Set up": {
        "Study": study,
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
WITHIN = frozenset(("Item",))  # opened from other pages, and not listed
PAGES = {title: page for listed in GROUPS.values() for title, page in listed.items()}
GROUP_OF = {title: group for group, listed in GROUPS.items() for title in listed}

# A page is quiet in the navigation until the study has come so far: there is nothing on it before.
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
    """The page of this title: its heading, what was just done on it, and its content."""
    st.title(title, anchor=False)
    acknowledge()
    PAGES[title].render(db, person)


def quiet(study: Study) -> list[str]:
    """The titles of the pages that have nothing to show yet."""
    order = list(State)
    return [title for title, state in _FILLED_FROM.items() if order.index(study.phase) < order.index(state)]
