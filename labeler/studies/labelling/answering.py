"""Store the answers that a reviewer's browser sends, and say what the labelling screen shows next.

Everything here depends only on the reviewer's own rows and on the state of the study.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from labeler.errors import AnswerRefused, LabelerError, NotAllowed, StudyError, for_anyone
from labeler.studies.labelling import reviewing
from labeler.studies.labelling.reviewing import Desk
from labeler.studies.labelling.sent_pictures import SentPictures
from labeler.studies.model import Task
from labeler.studies.store import Database, labels

MAX_CHECKED = 500  # number of event ids that a browser can check at once; a browser keeps fewer unconfirmed answers
MAX_EVENTS = 50  # number of answers that a browser can send at once
_UNREADABLE = "The browser sent a request that cannot be read. Reload the page to continue."


class Outcome(StrEnum):
    """The outcome of an answer."""

    SAVED = "saved"
    REFUSED = "refused"
    LATER = "later"  # the browser keeps the answer and sends it again


@dataclass(frozen=True)
class AnswerResult:
    """The outcome of one answer, with a sentence for the reviewer if the answer was not saved."""

    event_id: str | None
    outcome: Outcome
    message: str = ""


def store_answers(
    db: Database,
    reviewer_id: int,
    events: object,
    *,
    after: object = None,
    clock: Callable[[], datetime],
    session: str | None = None,
    pictures: SentPictures | None = None,
) -> tuple[list[AnswerResult], Desk | None]:
    """Store answers in the given order, each in its own transaction; return the outcomes, and the desk of the last one.

    The desk is None if none was stored.

    `after` is the event id of the last answer that the browser knows to be stored. If the study does not have that
    answer, because a backup was restored, the browser must first send it again. After an answer that cannot be stored
    now, the answers that follow are not stored either, because the order of answers is part of the data. `pictures`
    tells how long ago the picture of each item was sent, which is stored with the answer. Raises
    AnswerRefused if `events` is not a list of at most 50 events.
    """
    if not isinstance(events, list) or len(events) > MAX_EVENTS:
        raise AnswerRefused(_UNREADABLE)
    if isinstance(after, str) and _missing_events(db, reviewer_id, [after]):
        return [AnswerResult(_id_of(event), Outcome.LATER) for event in events], None
    reviewer = (db.path, reviewer_id)
    if pictures is not None and not pictures.has_met(reviewer):
        pictures.meet(reviewer, reviewing.codes_at(reviewing.desk(db, reviewer_id)))
    results, desk = list[AnswerResult](), None
    for event in events:
        if results and results[-1].outcome is Outcome.LATER:
            results.append(AnswerResult(_id_of(event), Outcome.LATER, results[-1].message))
        else:
            facts = {} if pictures is None else pictures.facts(reviewer, _code_of(event))
            result, used = _store(db, reviewer_id, event, clock(), session, facts)
            results.append(result)
            desk = used or desk
    return results, desk


def screen(db: Database, reviewer_id: int, check: object = None, desk: Desk | None = None) -> dict[str, Any]:
    """Return what the labelling screen needs except pictures: progress, the next items, and what U undoes.

    `desk` is a desk of this request, whose study and person are not read again. `check` holds event ids of answers that
    the browser believes to be stored; the field `missing` lists those that the study does not have. Raises
    AnswerRefused if `check` is neither None nor a list that a browser can send.
    """
    if check is not None and not (isinstance(check, list) and all(isinstance(each, str) for each in check)):
        raise AnswerRefused(_UNREADABLE)
    now = desk.read_again(db) if desk else reviewing.desk(db, reviewer_id)
    queue = reviewing.queue_of(now)
    offers = () if queue.closed else queue.offers
    return {
        "state": "closed" if queue.closed else "open" if offers else "done",
        "closed": queue.closed,
        "end": queue.end,
        "done": queue.progress.n_done,
        "total": queue.progress.n_assigned,
        "not_sure": queue.progress.n_not_sure,
        "offers": [reviewing.task_at(now, task) for task in offers],
        "last": reviewing.task_at(now, queue.last) if queue.last else None,
        "missing": None if check is None else _missing_events(db, reviewer_id, check),
        **asdict(reviewing.browser_mark(now)),
    }


def _missing_events(db: Database, reviewer_id: int, event_ids: Collection[str]) -> list[str]:
    """Return those of the given event ids for which the study has no answer, for example after a backup was restored.

    Raises AnswerRefused if there are more ids than a browser can keep.
    """
    if len(event_ids) > MAX_CHECKED:
        raise AnswerRefused(_UNREADABLE)
    stored = labels.known_events(db, reviewer_id, event_ids)
    return [event_id for event_id in event_ids if event_id not in stored]


def open_items(
    db: Database, reviewer_id: int, codes: Sequence[str], pictures: SentPictures | None = None, *, asked: bool = False
) -> list[dict[str, Any]]:
    """Return the pictures of items that are offered to the reviewer, by code.

    Unknown codes, codes of other reviewers and codes of items that are not offered now get the same reply, and no
    lookup depends on them. `pictures` notes what is sent, and whether the browser `asked` for it.
    """
    desk = reviewing.desk(db, reviewer_id)
    panels = reviewing.panels_on_offer(db, desk, codes)
    if pictures is not None:
        _note(db, desk, panels, pictures, asked=asked)
    return [
        {"code": code, "panels": panels[code]}
        if code in panels
        else {"code": code, "message": "You cannot open this item now."}
        for code in dict.fromkeys(codes)
    ]


def open_again(db: Database, reviewer_id: int, task: Task, pictures: SentPictures) -> Mapping[str, Any]:
    """Return the data and picture of an item that the reviewer answered; `pictures` notes that it is sent."""
    _note(db, reviewing.desk(db, reviewer_id), [task.code], pictures)
    return reviewing.task_data(db, task)


def _note(db: Database, desk: Desk, codes: Iterable[str], pictures: SentPictures, *, asked: bool = False) -> None:
    reviewer = (db.path, desk.person.person_id)
    pictures.meet(reviewer, reviewing.codes_at(desk))
    pictures.note(reviewer, codes, asked=asked)


def _store(
    db: Database, reviewer_id: int, event: object, now: datetime, session: str | None, facts: Mapping[str, int | None]
) -> tuple[AnswerResult, Desk | None]:
    event_id = _id_of(event)
    try:
        given = reviewing.submission_from(event)
        desk = reviewing.submit(db, reviewer_id, given, now=now, session=session, facts=facts)
    except LabelerError as error:
        if isinstance(error, StudyError):
            logging.getLogger(__name__).warning("%s", error)  # for the operator of the server
        is_later = isinstance(error, StudyError | NotAllowed)
        return AnswerResult(event_id, Outcome.LATER if is_later else Outcome.REFUSED, for_anyone(error)), None
    return AnswerResult(event_id, Outcome.SAVED), desk


def _id_of(event: object) -> str | None:
    event_id = event.get("event_id") if isinstance(event, dict) else None
    return event_id if isinstance(event_id, str) else None


def _code_of(event: object) -> str:
    code = event.get("code") if isinstance(event, dict) else None
    return code if isinstance(code, str) else ""
