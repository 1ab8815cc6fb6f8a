"""The command that lists flags and comments of reviewers, and answers them."""

from pathlib import Path
from typing import Any

import click

from labeler.cli.common import (
    OWNER,
    json_option,
    now,
    open_study,
    remark,
    say_if_interim,
    show,
    show_json,
    study_option,
)
from labeler.errors import InputError
from labeler.model import counted
from labeler.safe_text import one_line
from labeler.service.labelling import inbox
from labeler.service.labelling.inbox import Message


@click.command(epilog="Example: labeler flags --study cache.study --answer ITEM 'Judge the steady state.'")
@study_option
@click.option("--answer", nargs=2, default=None, metavar="ITEM TEXT",
              help="Answer the flags and comments on an item; reviewers read the answer under My labels.")  # fmt: skip
@click.option("--reviewer", default=None, metavar="NAME", help="With --answer: answer this reviewer only.")
@json_option
def flags(study: Path | None, answer: tuple[str, str] | None, reviewer: str | None, as_json: bool) -> None:
    """List flags and comments of reviewers, unanswered first, or answer them."""
    if reviewer is not None and answer is None:
        raise InputError("--reviewer can only be used with --answer ITEM TEXT.")
    with open_study(study) as db:
        if answer is not None:
            item, text = answer
            n_answered = inbox.reply_to_item(db, item, text, reviewer=reviewer, actor=OWNER, now=now())
            if as_json:
                show_json({"item": item, "n_answered": n_answered})
            answered = counted(n_answered, "flag or comment", "flags and comments")
            remark(f"Answered {answered} on {item}. Reviewers read the answer under My labels.")
            return
        messages = inbox.list_messages(db, actor=OWNER, now=now())
        say_if_interim(db)
    rows = [_row(message) for message in messages]
    show(rows if as_json else [_printable(row) for row in rows], as_json=as_json)
    if not rows:
        remark("No reviewer has flagged or commented on an item.")


def _row(message: Message) -> dict[str, Any]:
    texts = [reply.text for reply in message.replies]
    return {
        "item": message.item, "reviewer": message.reviewer, "flag": message.flag, "comment": message.comment,
        "created_utc": message.created_utc, "answered": message.is_answered, "answers": len(texts),
        "last answer": texts[-1] if texts else None,
    }  # fmt: skip


def _printable(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with each text on one line, without control characters."""
    return {name: " ".join(one_line(value).split()) if isinstance(value, str) else value for name, value in row.items()}
