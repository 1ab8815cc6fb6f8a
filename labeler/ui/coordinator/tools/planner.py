"""The view Planner: what a study of a chosen size can estimate, before it has items or people."""

from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator.study import plan


def render(db: Database, _person: str) -> None:
    """Show the sliders of a plan for any number of items and reviewers."""
    parameters, _ = plan.asked_for(100, 4).completed(100)
    plan.what_if(parameters, plan.assumptions(coordinating.get_study(db).question))
