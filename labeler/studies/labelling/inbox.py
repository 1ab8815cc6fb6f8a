"""Read flags and comments of reviewers, and send replies of coordinators.

No label is ever shown together with a flag or comment.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from labeler.errors import InputError, NotAllowed
from labeler.studies.items.browsing import item_named
from labeler.studies.people import identity
from labeler.studies.store import Database, actions, events, replies
from labeler.studies.store.events import Deed
from labeler.studies.store.replies import Message as Message, Reply
from labeler.text import is_storable

MAX_REPLY_LENGTH = 2000


def messages(db: Database) -> list[Message]:
    """Return all current flags and comments, the unanswered messages before the others.

    In both groups, the newest message comes first.
    """
    entries = replies.flags_and_comments(db)
    answers = replies.of_assignments(db, [entry.assignment_id for entry in entries])
    unsorted = [replace(entry, replies=answers.get(entry.assignment_id, ())) for entry in entries]
    newest_first = sorted(unsorted, key=lambda message: message.created_utc, reverse=True)
    return sorted(newest_first, key=lambda message: message.is_answered)


def list_messages(db: Database, *, actor: str, now: datetime) -> list[Message]:
    """Return all current flags and comments as `messages` does, and log that a person saw the names of reviewers."""
    with events.by(db, actor, now) as deed:
        result = messages(db)
        deed.log(actions.LIST_FLAGS, messages=len(result))
    return result


def reply(db: Database, code: str, text: str, *, actor: str, now: datetime) -> None:
    """Reply to one flag or comment; the reviewer sees the reply on the page My labels.

    Raises InputError if the text cannot be stored, or the item with this code has no flag or comment. Raises NotAllowed
    if the coordinator is also a reviewer, and the study is not unblinded.
    """
    text = _checked(text)
    with events.by(db, actor, now) as deed:
        if identity.reviews_too(db, actor):
            raise NotAllowed(
                "You are also a reviewer of this study, so another coordinator must answer the other reviewers."
            )
        entries = [entry for entry in replies.flags_and_comments(db) if entry.code == code]
        if not entries:
            raise InputError(
                f"Item {code[:20]!r} has no flag or comment. Reload the page to see the current flags and comments."
            )
        _answer(deed, entries, text)


def reply_to_item(
    db: Database, item_name: str, text: str, *, reviewer: str | None = None, actor: str, now: datetime
) -> int:
    """Reply to all flags and comments on an item, or only to those of one reviewer; return the number of replies.

    Raises InputError if the text cannot be stored, the item does not exist, or the item has no flag or comment (of this
    reviewer).
    """
    text = _checked(text)
    with events.by(db, actor, now) as deed:
        item = item_named(db, item_name)
        entries = [
            entry
            for entry in replies.flags_and_comments(db)
            if entry.item == item.name and (reviewer is None or entry.reviewer.casefold() == reviewer.casefold())
        ]
        if not entries:
            subject = "No reviewer" if reviewer is None else f"No reviewer called {reviewer[:60]}"
            raise InputError(
                f"{subject} flagged or commented on {item.name}. To list flags and comments: labeler flags"
            )
        _answer(deed, entries, text)
    return len(entries)


def _answer(deed: Deed, entries: Sequence[Message], text: str) -> None:
    for entry in entries:
        replies.add(deed.db, entry.assignment_id, Reply(text, deed.actor, deed.at_utc))
    deed.log(actions.ANSWER_COMMENT, item=entries[0].item, messages=len(entries), characters=len(text))


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise InputError("The answer is empty. Write a text for the reviewer.")
    if len(text) > MAX_REPLY_LENGTH:
        raise InputError(f"The answer has {len(text)} characters. It can have at most {MAX_REPLY_LENGTH}.")
    if not is_storable(text):
        raise InputError("The answer contains a character that cannot be stored. Paste the answer as plain text.")
    return text
