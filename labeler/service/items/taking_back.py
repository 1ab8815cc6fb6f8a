"""Take an import back: remove its files and items from a study that has no plan yet."""

from dataclasses import dataclass
from datetime import datetime

from labeler.errors import InputError, NotAllowed
from labeler.model import counted
from labeler.plan.lifecycle import Action, require
from labeler.service import background
from labeler.store import Database, assignments, events, items, jobs, studies

IMPORT, TAKE_BACK = "import file", "remove import"  # actions in the log


@dataclass(frozen=True)
class Import:
    """What one import added to a study: the files by their hash, and the names of the items."""

    at_utc: str
    actor: str
    files: dict[str, str]
    items: tuple[str, ...]

    def describe(self) -> str:
        """Return what the import added, by whom and when."""
        sizes = f"{counted(len(self.items), 'item')} from {counted(len(self.files), 'file')}"
        return f"{sizes}, imported by {self.actor} on {self.at_utc[:10]} at {self.at_utc[11:16]} UTC"


def last_import(db: Database) -> Import | None:
    """Return the last import that was not taken back; return None if there is none."""
    imports: dict[str, Import] = {}
    for event in events.of_actions(db, {IMPORT, TAKE_BACK}):
        if event.action == TAKE_BACK:
            imports.pop(event.details["imported_utc"], None)
            continue
        earlier = imports.get(event.at_utc, Import(event.at_utc, event.actor, {}, ()))
        named = event.details.get("files") or [[event.details["file"], event.details["sha256"]]]
        files = earlier.files | {sha256: name for name, sha256 in named}
        imports[event.at_utc] = Import(event.at_utc, event.actor, files, (*earlier.items, *event.details["items"]))
    return next(reversed(imports.values()), None)


def why_not(db: Database) -> str:
    """Return why the last import cannot be taken back; return "" if it can."""
    study = studies.get(db)
    if study.plan_hash is not None:
        return "The study has a plan, and reviewers may have its items. Exclude single items instead."
    try:
        require(study, Action.IMPORT)
    except NotAllowed as refusal:
        return str(refusal)
    last = last_import(db)
    if last is None:
        return "There is no import to take back."
    labelled = {row.assignment.item for row in assignments.everything(db)} & set(last.items)
    if labelled:
        n_others = len(labelled) - 1
        more = f" and {counted(n_others, 'other item')}" if n_others else ""
        return f"{min(labelled)}{more} of this import {'have' if n_others else 'has'} labels, which are never removed."
    job = jobs.latest(db, jobs.VERDICTS)
    if job is not None and background.is_running(job):
        return "The classifiers are judging the items. Take the import back when they have finished."
    return ""


def take_back(db: Database, *, actor: str, now: datetime) -> Import:
    """Remove the files and items of the last import, with their verdicts; return what was removed.

    The log keeps the import and its removal. Raises InputError if the import cannot be taken back.
    """
    with events.by(db, actor, now) as deed:
        refused, last = why_not(db), last_import(db)
        if refused or last is None:
            raise InputError(refused)
        items.remove(db, last.items)
        items.remove_files(db, last.files)
        files = [[name, sha256] for sha256, name in last.files.items()]
        deed.log(TAKE_BACK, imported_utc=last.at_utc, items=last.items, files=files)
    return last
