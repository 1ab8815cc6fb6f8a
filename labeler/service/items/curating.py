"""Exclude single items from a study with a reason, and include them again."""

from datetime import datetime

from labeler.errors import InputError, NotAllowed
from labeler.model import Item
from labeler.plan.lifecycle import Action, require
from labeler.service.people.identity import checked_reason
from labeler.store import Database, events, items, studies


def exclude(db: Database, name: str, why: str, *, actor: str, now: datetime) -> None:
    """Exclude an item from labelling and from all results; the labels of the item are kept.

    Raises InputError if there is no such item, or no reason. Raises NotAllowed if the item is already excluded, or the
    study is unblinded.
    """
    with db.atomic():
        item = _changeable(db, name)
        if item.excluded_why is not None:
            raise NotAllowed(f"Item {item.name} is already excluded. Reason: {item.excluded_why}")
        items.set_excluded(db, item.item_id, checked_reason(why))
        events.add(db, now.isoformat(), actor, "exclude item", {"item": item.name, "why": why.strip()})


def include(db: Database, name: str, why: str, *, actor: str, now: datetime) -> None:
    """Include an excluded item again.

    Raises InputError if there is no such item, or no reason. Raises NotAllowed if the item is not excluded, or the
    study is unblinded.
    """
    with db.atomic():
        item = _changeable(db, name)
        if item.excluded_why is None:
            raise NotAllowed(f"{item.name} is not excluded.")
        items.set_excluded(db, item.item_id, None)
        events.add(db, now.isoformat(), actor, "include item", {"item": item.name, "why": checked_reason(why)})


def item_named(db: Database, name: str) -> Item:
    """Return the item with this name; raises InputError if there is no such item."""
    item = items.by_name(db, name)
    if item is None:
        raise InputError(f"There is no item {name!r} in this study. To list the items: labeler browse")
    return item


def _changeable(db: Database, name: str) -> Item:
    require(studies.get(db), Action.EXCLUDE)
    return item_named(db, name)
