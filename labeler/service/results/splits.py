"""Split items after closing: what was said of them, and decisions by somebody who labelled none."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

import pandas as pd

from analysis.tables import COUNTED_KINDS, first_of, with_defaults
from labeler.errors import InputError, NotAllowed
from labeler.model import Category, Item, Kind
from labeler.plan.lifecycle import Action, require
from labeler.service.data.curating import item_named
from labeler.service.people.identity import checked_reason
from labeler.store import Database, assignments, decisions, events, items, labels, studies
from labeler.store.decisions import Decision

_KINDS = {
    Kind.FRESH: "first label", Kind.OVERLAP: "first label", Kind.RETEST: "retest", Kind.THIRD: "third label",
    Kind.CALIBRATION: "calibration",
}  # fmt: skip


@dataclass(frozen=True)
class SplitLabel:
    """A label as it is put before who decides: without its reviewer."""

    category: Category
    comment: str | None
    is_third: bool


@dataclass(frozen=True)
class Split:
    """An item whose first labels are not all equal.

    Attributes
    ----------
    item : Item
    labels : tuple of SplitLabel
        First and third labels, in the order of categories and comments, so that none tells who gave it.
    decision : Decision or None
        The one that stands.
    """

    item: Item
    labels: tuple[SplitLabel, ...]
    decision: Decision | None

    @property
    def majority(self) -> Category | None:
        """What most of first and third labels say; None for a tie."""
        (most, n_most), *runners_up = Counter(label.category for label in self.labels).most_common()
        return most if all(n < n_most for _, n in runners_up) else None

    def plain(self) -> dict[str, Any]:
        """As a row of a table."""
        counts = {category.value: sum(label.category is category for label in self.labels) for category in Category}
        return {
            "item": self.item.name,
            **counts,
            "third labels": sum(label.is_third for label in self.labels),
            "majority": self.majority,
            "decision": self.decision and self.decision.category,
        }

    @property
    def remains(self) -> bool:
        """Whether neither a majority nor a decision settles it."""
        return self.majority is None and self.decision is None


def split_items(db: Database) -> list[Split]:
    """Every split item that counts, those that remain first, then by name."""
    table = _first_and_third(db)
    by_name = {item.name: item for item in items.all_items(db) if item.excluded_why is None}
    standing = {decision.item: decision for decision in decisions.everything(db)}
    labels_of: dict[str, list[SplitLabel]] = {name: [] for name in _split_names(table) & by_name.keys()}
    columns = (table[name].tolist() for name in ("item", "category", "comment", "kind"))
    for name, category, comment, kind in zip(*columns, strict=True):
        if name in labels_of and kind in (*COUNTED_KINDS, Kind.THIRD):
            labels_of[name].append(SplitLabel(Category(category), comment or None, kind == Kind.THIRD))
    split = [
        Split(by_name[name], _in_order(item_labels), standing.get(name)) for name, item_labels in labels_of.items()
    ]
    return sorted(split, key=lambda split: (not split.remains, split.item.name))


def labels_on(db: Database, item: Item) -> list[dict[str, Any]]:
    """The answers to an item that stand, with names: for those who may see who said what."""
    rows = [
        {"reviewer": reviewer, "label": answer, "kind": _KINDS.get(Kind(kind), kind), "comment": comment}
        for reviewer, kind, answer, comment in labels.on_item(db, item.item_id)
    ]
    decision = next((one for one in decisions.everything(db) if one.item == item.name), None)
    if decision is not None:
        by, why = decision.decided_by, decision.why
        rows.append({"reviewer": by, "label": decision.category, "kind": "decision", "comment": why})
    return rows


def adjudicate(db: Database, name: str, category: Category | None, why: str, *, actor: str, now: datetime) -> Category:
    """Decide a split item. The first labels stay as they are; a later decision on the item takes the place of this.

    Raises
    ------
    InputError
        If there is no such item, it is not split, or no category or no reason is given.
    NotAllowed
        If the study is not closed, or who decides labelled a split item.
    """
    if category is None:
        raise InputError("Choose similar or dissimilar, and decide again.")
    why = checked_reason(why)
    with db.atomic():
        require(studies.get(db), Action.ADJUDICATE)
        item = item_named(db, name)
        split = split_items(db)
        if item.name not in {candidate.item.name for candidate in split}:
            raise InputError(f"{item.name} is not split: there is nothing to decide.")
        reason = why_not_decide(db, actor)
        if reason:
            raise NotAllowed(reason)
        decisions.add(db, item.item_id, Decision(item.name, category, why, actor, now.isoformat(), str(uuid4())))
        events.add(
            db, now.isoformat(), actor, "adjudicate", {"item": item.name, "category": category.value, "why": why}
        )
    return category


def why_not_decide(db: Database, name: str) -> str:
    """Why somebody cannot decide split items: they labelled one themselves; empty if they can."""
    table = _first_and_third(db)
    counting = {item.name for item in items.all_items(db) if item.excluded_why is None}
    own = _split_names(table) & counting & set(table.loc[table["rater"] == name, "item"])
    if not own:
        return ""
    return (
        f"You labelled {len(own)} of the split items yourself. They are decided by somebody who labelled none of them: "
        "another coordinator, or the owner of the study file with labeler adjudicate."
    )


def n_complete(db: Database) -> tuple[int, int]:
    """How many items that count have two first labels or more, and how many there are: nothing of what they say."""
    excluded = {item.name for item in items.all_items(db) if item.excluded_why is not None}
    assigned = {row.assignment.item for row in assignments.everything(db) if row.assignment.kind in COUNTED_KINDS}
    table = _first_and_third(db)
    n_labels = table[table["kind"].isin(COUNTED_KINDS) & ~table["item"].isin(excluded)].groupby("item").size()
    return int((n_labels >= 2).sum()), len(assigned - excluded)


def _first_and_third(db: Database) -> pd.DataFrame:
    """First labels of all kinds; columns item, rater, category, kind, comment."""
    return first_of(with_defaults(labels.table(db)))


def _split_names(table: pd.DataFrame) -> set[str]:
    """The items whose first labels of the kinds that count are not all equal."""
    n_categories = table[table["kind"].isin(COUNTED_KINDS)].groupby("item")["category"].nunique()
    return set(n_categories.index[n_categories > 1])


def _in_order(shown: Iterable[SplitLabel]) -> tuple[SplitLabel, ...]:
    """So that nothing tells who gave which label."""
    return tuple(sorted(shown, key=lambda label: (label.is_third, label.category, label.comment or "")))
