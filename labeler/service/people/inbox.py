"""Flags and comments of reviewers, and replies of coordinators.

Labels are never shown with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from labeler.errors import InputError, NotAllowed
from labeler.model import is_storable
from labeler.service.data.curating import item_named
from labeler.service.people import visibility
from labeler.store import Database, events, replies
from labeler.store.replies import FlagOrComment, Reply

MAX_REPLY_LENGTH = 2000


@dataclass(frozen=True)
class Message:
    """A reviewer's flag or comment on an item.

    Attributes
    ----------
    item : str
        The item's name.
    code : str
        The code of the item on this reviewer's screen.
    reviewer : str
        Must not be shown in the browser before the study is unblinded.
    flag : bool
    comment : str or None
    created_utc : str
        Time of the last change of flag or comment.
    replies : tuple of Reply
        In order of time.
    """

    item: str
    code: str
    reviewer: str
    flag: bool
    comment: str | None
    created_utc: str
    replies: tuple[Reply, ...]

    @property
    def is_answered(self) -> bool:
        """Whether a coordinator replied after the last change of flag or comment."""
        return any(reply.created_utc >= self.created_utc for reply in self.replies)


def messages(db: Database) -> list[Message]:
    """Return all current flags and comments.

    Unanswered messages come first, then the newest.
    """
    entries = replies.flags_and_comments(db)
    answers = replies.of_assignments(db, [entry.assignment_id for entry in entries])
    unsorted = [
        Message(
            entry.item, entry.code, entry.reviewer, entry.flag, entry.comment, entry.created_utc,
            answers.get(entry.assignment_id, ()),
        )
        for entry in entries
    ]  # fmt: skip
    newest_first = sorted(unsorted, key=lambda message: message.created_utc, reverse=True)
    return sorted(newest_first, key=lambda message: message.is_answered)


def list_messages(db: Database, *, actor: str, now: datetime) -> list[Message]:
    """Return the same as `messages`, for a person who also sees the names of reviewers; the call is logged."""
    with db.atomic():
        result = messages(db)
        events.add(db, now.isoformat(), actor, "list flags", {"messages": len(result)})
    return result


def reply(db: Database, code: str, text: str, *, actor: str, now: datetime) -> None:
    """Answer one message; the reviewer sees the answer under My labels.

    Raises
    ------
    InputError
        If the text cannot be stored, or nothing was flagged or commented under this code.
    NotAllowed
        If the coordinator also labels and the study is not unblinded.
    """
    text = _checked(text)
    with db.atomic():
        if visibility.reviews_too(db, actor):
            raise NotAllowed(
                "You are also a reviewer of this study, so another coordinator must answer the other reviewers."
            )
        entries = [entry for entry in replies.flags_and_comments(db) if entry.code == code]
        if not entries:
            raise InputError(
                f"There is no flag or comment under {code[:20]!r}. Reload the page to see the current ones."
            )
        _answer(db, entries, text, actor, now)


def reply_to_item(
    db: Database, item_name: str, text: str, *, reviewer: str | None = None, actor: str, now: datetime
) -> int:
    """Answer all messages on an item, or all messages of one reviewer on it; return the number of answered messages.

    Raises
    ------
    InputError
        If the text cannot be stored, the item does not exist, or it has no flag or comment (of this reviewer).
    """
    text = _checked(text)
    with db.atomic():
        item = item_named(db, item_name)
        entries = [
            entry
            for entry in replies.flags_and_comments(db)
            if entry.item == item.name and (reviewer is None or entry.reviewer.casefold() == reviewer.casefold())
        ]
        if not entries:
            subject = "Nobody" if reviewer is None else f"No reviewer called {reviewer[:60]}"
            raise InputError(
                f"{subject} flagged or commented on {item.name}. To list flags and comments: labeler flags"
            )
        _answer(db, entries, text, actor, now)
    return len(entries)


def _answer(db: Database, entries: Sequence[FlagOrComment], text: str, actor: str, now: datetime) -> None:
    for entry in entries:
        replies.add(db, entry.assignment_id, Reply(text, actor, now.isoformat()))
    details = {"item": entries[0].item, "messages": len(entries), "characters": len(text)}
    events.add(db, now.isoformat(), actor, "answer comment", details)


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise InputError("The answer is empty. Write a text for the reviewer.")
    if len(text) > MAX_REPLY_LENGTH:
        raise InputError(f"An answer can have at most {MAX_REPLY_LENGTH} characters, got {len(text)}.")
    if not is_storable(text):
        raise InputError("The answer contains a character that cannot be stored. Paste it as plain text.")
    return text
