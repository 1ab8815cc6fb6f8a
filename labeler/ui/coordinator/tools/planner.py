"""The view Planner: what a study of a chosen size can estimate, before it has items or people."""

from labeler.store import Database
from labeler.ui.coordinator.study import plan


def render(_db: Database, _person: str) -> None:
    """Show the sliders of a plan for any number of items and reviewers."""
    plan.what_if(*plan.asked_for(100)[::2])
