"""Show an item as one reviewer sees it: runs in another order, and the sides of a change perhaps exchanged.

A comment may name "Run 4" or "side A" of the picture that its writer saw, so readers of the comment need this picture.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labeler.studies.items import drawing
from labeler.studies.model import Item, Question, Study
from labeler.studies.screen import blinding
from labeler.studies.screen.blinding import Variation
from labeler.studies.screen.kinds import kind_of, sides_of
from labeler.studies.store import Database, runs, studies


@dataclass(frozen=True)
class Look:
    """How the picture of one assignment differs from the picture of its item."""

    variation: Variation | None  # None if the assignment shows the picture of the item
    swapped: bool  # whether the two sides are in the other order

    @property
    def is_reordered(self) -> bool:
        """Whether the runs are in another order than in the item."""
        return self.swapped or bool(self.variation and self.variation.order)


def is_swapped(question: Question, secret: str, code: str) -> bool:
    """Return whether the assignment with this code shows the two sides of its item in the other order."""
    return question.blind_side and blinding.is_swapped(secret, code)


def look_of(study: Study, secret: str, code: str, n_runs: int) -> Look:
    """Return the look of the assignment with this code."""
    swapped = is_swapped(study.question, secret, code)
    if not n_runs or not study.protocol.varies_pictures:
        return Look(None, swapped)
    n_ordered = 0 if kind_of(study.question).is_series else n_runs  # a series keeps its order
    return Look(Variation.drawn(secret, code, n_ordered), swapped)


def look_of_answer(item: Item, view: str, swapped: object) -> Look:
    """Return the look that the picture had when it was answered, from the view that is stored with the answer.

    An imported view may contain anything. If it has no picture of this item, the look is that of the item.
    """
    match json.loads(view):
        case {"picture": {"order": [*order], "phase": float(phase), "seed": str(seed)}} if (
            0.5 <= phase < 1.5 and sorted(map(str, order)) in ([], sorted(map(str, range(item.n_runs))))
        ):
            return Look(Variation(tuple(map(int, order)), phase, seed), bool(swapped))
        case _:
            return Look(None, bool(swapped))


def picture(
    db: Database, study: Study, item: Item, look: Look, stored: bytes | None = None
) -> Mapping[str, Any] | None:
    """Return the payload of an item as a reviewer sees it; return None if the item has no measurements.

    The data contain only summaries of iterations, and nothing about what was measured. This function creates all
    pictures for reviewers. `stored` is the payload of the item as it is stored, if the caller has read it.
    """
    if not item.n_runs:
        return None
    question, kind = study.question, kind_of(study.question)
    payload = json.loads(stored) if stored else drawing.payload_of_item(db, item.item_id, study)
    if look.variation is not None:
        payload = kind.varied(payload, runs.of_item(db, item.item_id), look.variation)
    if look.swapped and kind.swapped is not None:
        payload = kind.swapped(payload)
    hidden = {key for key, fact in kind.telling.items() if fact not in question.facts}
    seen = {key: value for key, value in payload.items() if key not in hidden}
    return {**seen, "unit": blinding.neutral_unit(payload["unit"])}


def panels(db: Database, study: Study, item: Item, look: Look, stored: bytes | None = None) -> list[dict[str, Any]]:
    """Return the panels from which the screen draws an item; return no panel if the item has no measurements."""
    payload = picture(db, study, item, look, stored)
    return [] if payload is None else list(kind_of(study.question).panels(payload, sides=sides_of(study.question)))


def panels_of_answer(db: Database, item: Item, view: str, swapped: object) -> list[dict[str, Any]]:
    """Return the panels that a reviewer saw when giving an answer."""
    return panels(db, studies.get(db), item, look_of_answer(item, view, swapped))


def run_order(db: Database, item: Item, look: Look) -> list[int] | None:
    """Return the numbers of the item's runs, from 1, in the order in which a look shows them.

    Return None if it is the order of the item.
    """
    kind, order = drawing.kind_of_study(db), list(look.variation.order if look.variation else ())
    if not item.n_runs or not look.is_reordered:
        return None
    order = order or list(range(item.n_runs))
    if kind.swapped is not None:
        sides = drawing.payload_of_item(db, item.item_id)["sides"]
        order.sort(key=lambda run: sides[run] != look.swapped)  # the runs of the side that is shown first come first
    return [run + 1 for run in order]


def numbers_seen(db: Database, item: Item, look: Look) -> list[str] | None:
    """Return for each run of the item, in its order, the number that the run had on the screen, such as "4" or "B 2".

    Return None if the screen had the order of the item.
    """
    shown = run_order(db, item, look)
    if shown is None:
        return None
    study = studies.get(db)
    if kind_of(study.question).swapped is None:
        return [str(shown.index(run) + 1) for run in range(1, item.n_runs + 1)]
    sides = drawing.payload_of_item(db, item.item_id)["sides"]
    first = sum(side == look.swapped for side in sides)  # the number of runs on the side that is shown first
    names = sides_of(study.question)
    at = [shown.index(run) for run in range(1, item.n_runs + 1)]
    return [f"{names[0]} {place + 1}" if place < first else f"{names[1]} {place - first + 1}" for place in at]
