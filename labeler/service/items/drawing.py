"""Provide the data for drawing an item's runs: bins, which are summaries of consecutive iterations."""

import json
from collections.abc import Mapping
from typing import Any

from labeler.model import Item, Protocol
from labeler.screen import binning
from labeler.store import Database, bins, items, runs, studies


def payload_of_item(db: Database, item_id: int) -> Mapping[str, Any]:
    """Return the bins of an item (see `labeler.screen.binning.payload`).

    If the study has no bins of the current version, the function computes them.
    """
    stored = bins.get(db, item_id, binning.VERSION)
    if stored is None:
        return _new(db, item_id, studies.get(db).protocol)
    payload: Mapping[str, Any] = json.loads(stored)
    return payload


def n_points(db: Database, item: Item) -> int | None:
    """Return the number of points of a series that reviewers mark; None if the item has no measurements."""
    return int(payload_of_item(db, item.item_id)["n"]) if item.n_runs else None


def refresh(db: Database, *, all_items: bool = False) -> int:
    """Compute the stored bins again if they are out of date, and return the number of updated items.

    The caller must have opened a transaction. With `all_items`, bins of the current version are computed again too, for
    example after a change of the protocol.
    """
    protocol = studies.get(db).protocol
    item_ids = [item.item_id for item in items.all_items(db) if item.n_runs] if all_items else stale(db)
    for item_id in item_ids:
        bins.put(db, item_id, binning.VERSION, _packed(db, item_id, protocol))
    return len(item_ids)


def stale(db: Database) -> list[int]:
    """Return the ids of items that have measurements, but no bins of the current version."""
    return [
        item.item_id
        for item in items.all_items(db)
        if item.n_runs and not bins.is_there(db, item.item_id, binning.VERSION)
    ]


def renew_if_stale(db: Database, item_id: int) -> None:
    """Update the bins of an item if they have an older version, for example because a page just needed them."""
    if items.by_id(db, item_id).n_runs and not bins.is_there(db, item_id, binning.VERSION):
        renew(db, item_id)


def renew(db: Database, item_id: int) -> bool:
    """Update the bins of one item in a short transaction.

    Return False if another process has already updated them.
    """
    protocol = studies.get(db).protocol
    payload = _packed(db, item_id, protocol)  # before the transaction, so that no answer waits for it
    with db.atomic():
        if bins.is_there(db, item_id, binning.VERSION) or studies.get(db).protocol != protocol:
            return False
        bins.put(db, item_id, binning.VERSION, payload)
    return True


def _packed(db: Database, item_id: int, protocol: Protocol) -> bytes:
    return json.dumps(_new(db, item_id, protocol)).encode()


def _new(db: Database, item_id: int, protocol: Protocol) -> Mapping[str, Any]:
    series, unit = runs.of_item(db, item_id), items.by_id(db, item_id).unit
    return binning.payload(series, unit, rule=protocol.axis_rule, min_span=protocol.min_span)
