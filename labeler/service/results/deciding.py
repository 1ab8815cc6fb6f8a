"""Store the decisions that a coordinator makes on a picture in the browser."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from labeler.errors import InputError
from labeler.service.results import splits
from labeler.service.study import calibrating
from labeler.store import Database, studies

_UNREADABLE = "The browser sent a decision that cannot be read. Reload the page to continue."


def decide(db: Database, decision: Mapping[str, Any], *, actor: str, now: datetime) -> None:
    """Store a decision, which has a kind, an item, a category, and for a split item a reason.

    The decision comes from a browser, so it may contain anything. Raises InputError if the decision cannot be read, and
    the errors of the function for this kind.
    """
    match decision:
        case {"kind": str(kind), "item": str(item), "category": None | str() as category, "why": str(why)} if (
            kind in KINDS and (category is None or studies.get(db).question.is_label(category))
        ):
            KINDS[kind](db, item, category, why, actor, now)
        case _:
            raise InputError(_UNREADABLE)


def _reference(db: Database, item: str, category: str | None, _why: str, actor: str, now: datetime) -> None:
    if category is None:
        raise InputError(_UNREADABLE)
    calibrating.decide_reference(db, item, category, actor=actor, now=now)


def _split(db: Database, item: str, category: str | None, why: str, actor: str, now: datetime) -> None:
    splits.adjudicate(db, item, category, why, actor=actor, now=now)


KINDS: Mapping[str, Callable[[Database, str, str | None, str, str, datetime], None]] = {
    "reference": _reference,
    "split": _split,
}
