"""Create a study from another study: from some of its items, or with its question, guide and people."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from labeler.errors import InputError, StudyError
from labeler.model import Item
from labeler.plan.lifecycle import Action
from labeler.service.items import browsing, drawing, folders
from labeler.service.items.browsing import Catalogue
from labeler.service.people import identity
from labeler.service.study import calibrating, coordinating
from labeler.store import Database, events, items, open_database, people, runs, studies, verdicts


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
    chosen = _usable(db, names)

    def copy_items(new: Database) -> None:
        for item in chosen:
            _copy(db, new, item)
        drawing.refresh(new)

    made = _New("triage", path, name, coordinator, {"items": len(chosen)})
    return made.write(db, copy_items, actor=actor, now=now)


def make_template(db: Database, path: Path, *, name: str, coordinator: str, actor: str, now: datetime) -> str:
    """Create a study file with the question, protocol, calibration goal and people of this study, and without items.

    People who have left are not copied, and nobody has a sign-in link yet but the coordinator, whose secret is
    returned. Errors are those of `make_study`.
    """
    emails, gate = {name: email for email, name in people.emails(db).items()}, studies.get(db).gate
    takes_part = [person for person in people.all_people(db) if person.active]

    def copy_people(new: Database) -> None:
        for person in takes_part:
            known = people.by_name(new, person.name)
            for role in sorted(person.roles) if known else ():
                identity.add_role(new, person.name, role, actor=actor, now=now)
            if known is None:
                identity.add_person(new, person.name, person.roles, look_alike=True, actor=actor, now=now)
            if person.name in emails:
                identity.set_email(new, person.name, min(person.roles), emails[person.name], actor=actor, now=now)
        if gate is not None:
            calibrating.set_gate(new, gate, actor=actor, now=now)

    made = _New("template", path, name, coordinator, {"people": len(takes_part)})
    return made.write(db, copy_people, actor=actor, now=now)


@dataclass(frozen=True)
class _New:
    """A study file that is created from another study; both logs record the action with its details."""

    action: str
    path: Path
    name: str
    coordinator: str
    details: dict[str, int]

    def write(self, db: Database, fill: Callable[[Database], None], *, actor: str, now: datetime) -> str:
        """Write the file, which appears only when it is complete; return the secret of its coordinator."""
        study = studies.get(db)
        try:
            if self.path.exists():
                raise StudyError(f"{self.path} already exists. Give the name of a new file.")
            with TemporaryDirectory(prefix=".triage-", dir=self.path.parent) as folder:
                draft = Path(folder) / self.path.name
                secret = coordinating.create_study(
                    draft, name=self.name, question=study.question, coordinator=self.coordinator,
                    protocol=study.protocol, now=now,
                )  # fmt: skip
                with open_database(draft) as new, events.by(new, actor, now) as deed:
                    fill(new)
                    deed.log(self.action, **{"from": db.path.name}, **self.details)
                with events.by(db, actor, now) as deed:
                    deed.log(self.action, into=self.path.name, **self.details)
                    draft.rename(self.path)
        except OSError as error:
            raise StudyError(f"The new study could not be written to {self.path}: {error.strerror}.") from error
        return secret


def make_beside(
    db: Database, name: str, names: Sequence[str] | None = None, *, coordinator: str, now: datetime
) -> tuple[str, str]:
    """Create a study in the folder of this study, from these items or as a template.

    Returns the command that serves the new study, and the sign-in address of its coordinator. Raises InputError,
    StudyError in the same cases as `make_study`, or if the name is not a valid file name. Raises NotAllowed if verdicts
    are hidden from the coordinator now, because a new study with these items would show the verdicts.
    """
    path = folders.path_in_study_folder(db.path, name)
    if names is None:
        secret = make_template(db, path, name=path.stem, coordinator=coordinator, actor=coordinator, now=now)
    else:
        identity.require_visible(db, coordinator, Action.SEE_VERDICTS)
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
    picture = runs.bins_of_item(db, item.item_id, version)
    if picture is not None:
        runs.put_bins(new, item_id, version, picture)
    verdicts.copy(db, new, item.item_id, item_id)
