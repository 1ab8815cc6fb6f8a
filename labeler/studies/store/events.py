"""Write and read the audit log: person, action and time of each event. Rows are only appended."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ParamSpec

from labeler.studies.store import chain
from labeler.studies.store.actions import LogAction
from labeler.studies.store.database import Database
from labeler.studies.store.log_state import Event

if TYPE_CHECKING:
    import pandas as pd


P = ParamSpec("P")


@dataclass(frozen=True)
class Deed:
    """Who changes a study, and when: each event of the change is logged under this name and time."""

    db: Database
    actor: str
    now: datetime

    @property
    def at_utc(self) -> str:
        """The time as it is stored."""
        return self.now.isoformat()

    def log(self, action: LogAction[P], /, *_: P.args, **details: P.kwargs) -> None:
        """Append an event to the audit log; raises TypeError if the details are not the fields of the action."""
        action.check(details)
        cursor = self.db.execute(
            "INSERT INTO events (at_utc, actor, action, details) VALUES (?, ?, ?, ?)",
            (self.at_utc, self.actor, action.name, json.dumps(details, ensure_ascii=False)),
        )
        chain.append(self.db, "event", int(cursor.lastrowid or 0))


@contextmanager
def by(db: Database, actor: str, now: datetime) -> Iterator[Deed]:
    """Change a study in one transaction, and yield the deed that logs what was done."""
    with db.atomic():
        yield Deed(db, actor, now)


def of_actions(db: Database, actions: Iterable[LogAction[...]]) -> list[Event]:
    """Return the events with one of these actions, in order of time."""
    rows = db.execute(
        """SELECT at_utc, actor, action, details FROM events
           WHERE action IN (SELECT value FROM json_each(?)) ORDER BY event_id""",
        (_names(actions),),
    )
    return [Event(at, actor, action, json.loads(text)) for at, actor, action, text in rows]


def everything(db: Database) -> list[Event]:
    """Return all events, in order of time."""
    rows = db.execute("SELECT at_utc, actor, action, details FROM events ORDER BY event_id")
    return [Event(at, actor, action, json.loads(text)) for at, actor, action, text in rows]


def table(db: Database) -> "pd.DataFrame":
    """Return all events in order, as a table with the columns at_utc, actor, action and details (JSON)."""
    import pandas as pd  # imported here because all commands write events, but few read them

    rows = db.execute("SELECT at_utc, actor, action, details FROM events ORDER BY event_id").fetchall()
    return pd.DataFrame(rows, columns=["at_utc", "actor", "action", "details"])


def rewrite(db: Database, rewritten: Callable[[str, str, str], str]) -> None:
    """Replace the details of each event by the result of a function, which gets time, action and details, in order.

    Call this function only inside `copies.rewritable`.
    """
    rows = db.execute("SELECT event_id, at_utc, action, details FROM events ORDER BY event_id").fetchall()
    changed = [(new, event_id) for event_id, at, action, text in rows if (new := rewritten(at, action, text)) != text]
    db.executemany("UPDATE events SET details = ? WHERE event_id = ?", changed)


def last_id(db: Database, *, without: Iterable[LogAction[...]] = ()) -> int:
    """Return the id of the newest event; return 0 if there is none. Events with an action in `without` are ignored."""
    row = db.execute(
        """SELECT event_id FROM events WHERE action NOT IN (SELECT value FROM json_each(?))
           ORDER BY event_id DESC LIMIT 1""",
        (_names(without),),
    ).fetchone()
    return int(row[0]) if row else 0


def _names(actions: Iterable[LogAction[...]]) -> str:
    return json.dumps([action.name for action in actions])
