"""The picture of an item's runs, from the bins computed at import."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from labeler.model import Protocol
from labeler.screen import binning
from labeler.store import Database, bins, items, runs, studies


def payload_of_item(db: Database, item_id: int) -> Mapping[str, Any]:
    """The item's bins (`labeler.screen.binning.payload`): stored, or new where those are of an older version."""
    stored = bins.get(db, item_id, binning.VERSION)
    if stored is None:
        return _new(db, item_id, studies.get(db).protocol)
    payload: Mapping[str, Any] = json.loads(stored)
    return payload


def refresh(db: Database, *, all_items: bool = False, advance: Callable[[int, int], None] = lambda *_: None) -> int:
    """Make the bins anew that are missing or of an older version, or of all items; inside the caller's transaction.

    Parameters
    ----------
    db : Database
    all_items : bool
        Also those that are of this version, as after a change of the protocol.
    advance : callable
        (items done, items in all).

    Returns
    -------
    int
        How many were made.
    """
    protocol = studies.get(db).protocol
    stale = [
        item.item_id
        for item in items.all_items(db)
        if item.n_runs and (all_items or not bins.is_there(db, item.item_id, binning.VERSION))
    ]
    for n_done, item_id in enumerate(stale, start=1):
        bins.put(db, item_id, binning.VERSION, json.dumps(_new(db, item_id, protocol)).encode())
        advance(n_done, len(stale))
    return len(stale)


def _new(db: Database, item_id: int, protocol: Protocol) -> Mapping[str, Any]:
    series, unit = runs.of_item(db, item_id), items.by_id(db, item_id).unit
    return binning.payload(series, unit, rule=protocol.axis_rule, min_span=protocol.min_span)
