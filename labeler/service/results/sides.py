"""Answers about items with two sides, as reviewers gave them: in terms of the sides that the picture showed."""

import json
from dataclasses import dataclass

from labeler.model import Kind
from labeler.questions import is_label
from labeler.store import Database, labels, studies


@dataclass(frozen=True)
class SideAnswer:
    """The first label of a reviewer on an item, in terms of what was shown first and second.

    If `swapped`, the runs after the change were shown first, and the study has the opposite label.
    """

    item: str
    reviewer: str
    kind: Kind  # a retest shows an item again, often with the sides in the other order
    answer: str
    swapped: bool


def answers_as_shown(db: Database) -> list[SideAnswer]:
    """Return the first label of each assignment of the plan; empty if reviewers knew which side is which."""
    question = studies.get(db).question
    if not question.blind_side:
        return []
    columns = {name: labels.COLUMNS.index(name) for name in ("item", "reviewer", "assignment", "kind", "label", "view")}
    found: dict[int, SideAnswer] = {}
    for row in labels.rows(db):
        item, reviewer, assignment, kind, label, view = (row[place] for place in columns.values())
        swapped = json.loads(view).get("swapped")
        if assignment in found or swapped is None or not is_label(label):  # imported labels have no picture
            continue
        shown = question.mirrored(label) if swapped else label
        found[assignment] = SideAnswer(item, reviewer, Kind(kind), shown, swapped)
    return list(found.values())
