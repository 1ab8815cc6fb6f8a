"""What is drawn of an item's runs, from the bins made at import."""

import json
from collections.abc import Mapping
from typing import Any

from labeler import binning
from labeler.store import Database, bins, items, runs, studies


def payload_of_item(db: Database, item_id: int) -> Mapping[str, Any]:
    """The item's bins (`labeler.binning.payload`): the stored ones, or new ones where those are of an older version."""
    stored = bins.get(db, item_id, binning.VERSION)
    if stored is not None:
        payload: Mapping[str, Any] = json.loads(stored)
        return payload
    min_span = studies.get(db).axis_min_span
    return binning.payload(runs.of_item(db, item_id), items.by_id(db, item_id).unit, min_span=min_span)
