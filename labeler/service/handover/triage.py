"""Create a study from selected items of another study, for example from items that are worth labelling."""

import shlex
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from labeler.errors import InputError, StudyError
from labeler.model import Item
from labeler.plan.lifecycle import Action
from labeler.service.items import browsing, drawing
from labeler.service.items.browsing import Catalogue
from labeler.service.people import identity
from labeler.service.study import coordinating
from labeler.store import Database, bins, events, items, open_database, runs, studies, verdicts


def usable(table: Catalogue) -> Catalogue:
    """Return the rows of a catalogue whose items a new study can use.

    These items have measurements and are not excluded. `browsing.catalogue` returns a catalogue.
    """
    return table[(table["runs"] > 0) & table["excluded"].isna()].reset_index(drop=True)


def make_study(
    db: Database,
    names: Sequence[str],
    path: Path,
    *,
    name: str,
    coordinator: str,
    actor: str,
    now: datetime,
) -> str:
    """Create a study file that has only these items, and the question and protocol of this study.

    The new study has the measurements and verdicts of the items, but no labels, no plan, and no people except its
    coordinator. Duplicate names count once. Returns the sign-in secret of the new study's coordinator. Raises
    InputError if no items are given, an item is unknown, excluded or without measurements, or a name is invalid. Raises
    StudyError if the file exists or cannot be written. No incomplete file is left behind.
    """
    chosen, study = _usable(db, names), studies.get(db)
    try:
        if path.exists():
            raise StudyError(f"{path} already exists. Give the name of a new file.")
        with TemporaryDirectory(prefix=".triage-", dir=path.parent) as folder:
            draft = Path(folder) / path.name
            secret = coordinating.create_study(
                draft, name=name, question=study.question, coordinator=coordinator, protocol=study.protocol, now=now
            )
            with open_database(draft) as new, events.by(new, actor, now) as deed:
                for item in chosen:
                    _copy(db, new, item)
                drawing.refresh(new)
                deed.log("triage", **{"from": db.path.name}, items=len(chosen))
            with events.by(db, actor, now) as deed:
                deed.log("triage", into=path.name, items=len(chosen))
                draft.rename(path)
    except OSError as error:
        raise StudyError(f"The new study could not be written to {path}: {error.strerror}.") from error
    return secret


def make_beside(db: Database, names: Sequence[str], name: str, *, coordinator: str, now: datetime) -> tuple[str, str]:
    """Create a study as `make_study` does, in the folder of this study; the file has the name of the new study.

    Returns the command that serves the new study, and the sign-in address of its coordinator. Raises InputError,
    StudyError in the same cases as `make_study`, or if the name is not a valid file name. Raises NotAllowed if verdicts
    are hidden from the coordinator now. The new study would show the verdicts.
    """
    identity.require_visible(db, coordinator, Action.SEE_VERDICTS)
    from labeler.service.items import folders

    path = folders.path_in_study_folder(db.path, name)
    secret = make_study(db, names, path, name=path.stem, coordinator=coordinator, actor=coordinator, now=now)
    return f"labeler serve --study {shlex.quote(str(path))}", f"/join/{secret}"


def _usable(db: Database, names: Sequence[str]) -> list[Item]:
    """Return the items with these names, each once; raises InputError if an item cannot be used."""
    chosen = [browsing.item_named(db, name) for name in dict.fromkeys(names)]
    if not chosen:
        raise InputError("No items match the filters, but a study needs at least one item. Remove or widen a filter.")
    for item in chosen:
        if not item.n_runs:
            raise InputError(
                f"Item {item.name!r} has no measurements, so nobody could label this item. Leave the item out."
            )
        if item.excluded_why is not None:
            raise InputError(
                f"Item {item.name!r} is excluded from this study. Include the item again, or leave it out."
            )
    return chosen


def _copy(db: Database, new: Database, item: Item) -> None:
    item_id = items.copy(db, new, item.item_id)
    runs.copy(db, new, item.item_id, item_id)
    version = drawing.kind_of_study(db).version
    picture = bins.get(db, item.item_id, version)
    if picture is not None:
        bins.put(new, item_id, version, picture)
    verdicts.copy(db, new, item.item_id, item_id)
