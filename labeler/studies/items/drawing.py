"""Provide the data for drawing items: payloads, which summarise the runs as the kind of item needs them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from analysis.runs.benchmark import Benchmark
from labeler.studies.model import Item, Protocol, Study
from labeler.studies.screen.kinds import ItemKind, kind_of, sides_of
from labeler.studies.store import Database, items, runs, studies


def kind_of_study(db: Database) -> ItemKind:
    """Return what the items of the study show."""
    return kind_of(studies.get(db).question)


def payload_of_item(db: Database, item_id: int, study: Study | None = None) -> Mapping[str, Any]:
    """Return the payload of an item (see `labeler.studies.screen.kinds`).

    If the study has no payload of the current version, the function computes it. A caller that has read the properties
    of the study can give them.
    """
    study = study or studies.get(db)
    kind = kind_of(study.question)
    stored = runs.bins_of_item(db, item_id, kind.version)
    if stored is None:
        return _new(db, item_id, kind, study.protocol)
    payload: Mapping[str, Any] = json.loads(stored)
    return payload


def n_points(db: Database, item: Item, study: Study | None = None) -> int | None:
    """Return the number of points of a series that reviewers mark; None if the item has no measurements."""
    return int(payload_of_item(db, item.item_id, study)["n"]) if item.n_runs else None


def panels_of_item(db: Database, item_id: int) -> list[dict[str, Any]]:
    """Return the panels of an item as coordinators see them."""
    question = studies.get(db).question
    return kind_of(question).panels(payload_of_item(db, item_id), sides=sides_of(question))


def thumbnail_of_item(
    db: Database, item_id: int, *, label: str, panel: tuple[int, int], height: int | None = None
) -> str:
    """Return a small picture of an item as SVG, with this alternative text."""
    return kind_of_study(db).thumbnail(payload_of_item(db, item_id), label=label, panel=panel, height=height)


def chart_of_item(db: Database, item_id: int, *, rule: str | None = None) -> Any:
    """Return a chart of an item for files and reports."""
    return kind_of_study(db).chart(payload_of_item(db, item_id), rule=rule)


def refresh(db: Database) -> None:
    """Compute all stored payloads again, for example after a change of the protocol.

    The caller must have opened a transaction.
    """
    study = studies.get(db)
    kind = kind_of(study.question)
    for item in items.all_items(db, with_checks=True):
        if item.n_runs:
            runs.put_bins(db, item.item_id, kind.version, packed(_new(db, item.item_id, kind, study.protocol)))


def stale(db: Database) -> list[int]:
    """Return the ids of items that have measurements, but no payload of the current version."""
    version = kind_of_study(db).version
    measured = (item.item_id for item in items.all_items(db, with_checks=True) if item.n_runs)
    return [item_id for item_id in measured if not runs.has_bins(db, item_id, version)]


def renewed(db: Database, needed: Iterable[Item], study: Study) -> dict[int, bytes]:
    """Return the payloads of items as they are stored, by id; those of an older version are updated first."""
    version, ids = kind_of(study.question).version, [item.item_id for item in needed if item.n_runs]
    found = runs.bins_of_items(db, ids, version)
    older = [item_id for item_id in ids if item_id not in found]
    for item_id in older:
        renew(db, item_id)
    return found | runs.bins_of_items(db, older, version) if older else found


def renew(db: Database, item_id: int) -> bool:
    """Update the payload of one item in a short transaction.

    Return False if another process has already updated it.
    """
    study = studies.get(db)
    kind = kind_of(study.question)
    payload = packed(_new(db, item_id, kind, study.protocol))  # before the transaction, so that no answer waits for it
    with db.atomic():
        if runs.has_bins(db, item_id, kind.version) or studies.get(db).protocol != study.protocol:
            return False
        runs.put_bins(db, item_id, kind.version, payload)
    return True


def packed(payload: Mapping[str, Any]) -> bytes:
    """Return a payload as it is stored."""
    return json.dumps(payload).encode()


def neutral_conditions(db: Database) -> dict[int, list[dict[str, str]]]:
    """Return the conditions of runs that the pictures need, in neutral words, by the id of the item."""
    kind = kind_of_study(db)
    found = {}
    for item in items.all_items(db, with_checks=True):
        needed = kind.neutral(_benchmark(db, item)) if item.n_runs else {}
        if needed:
            found[item.item_id] = [{name: texts[run] for name, texts in needed.items()} for run in range(item.n_runs)]
    return found


def _new(db: Database, item_id: int, kind: ItemKind, protocol: Protocol) -> Mapping[str, Any]:
    return kind.payload(_benchmark(db, items.by_id(db, item_id)), protocol)


def _benchmark(db: Database, item: Item) -> Benchmark:
    return Benchmark.of_series(
        item.name, runs.of_item(db, item.item_id), unit=item.unit, better=item.better,
        conditions=runs.conditions_of_item(db, item.item_id),
    )  # fmt: skip
