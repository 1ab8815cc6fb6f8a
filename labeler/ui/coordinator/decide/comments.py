"""The view Comments: coordinators read and answer the flags and comments of reviewers.

Labels are never shown, and names are shown only after unblinding.
"""

from datetime import UTC, datetime

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service.items import browsing
from labeler.service.labelling import inbox
from labeler.service.labelling.inbox import Message
from labeler.service.people import identity
from labeler.store import Database
from labeler.ui.coordinator import queue
from labeler.ui.coordinator.shared import done, errors_here

QUEUE = "inbox"
ANSWERS = ("Thank you. I have read this.", "Label it as you see it.", "The measurements are correct.")


def render(db: Database, person: str) -> None:
    """Show one message at a time with its picture and an answer form; the unanswered messages come first."""
    if identity.reviews_too(db, person):
        st.info(
            "You are also a reviewer of this study: you see the flags and comments of others only after the study is "
            "unblinded, so that they cannot influence your labels."
        )
        return
    messages = {message.code: message for message in inbox.messages(db)}
    if not messages:
        st.info("Nothing to decide. Flags and comments appear here when reviewers write them.")
        return
    n_unanswered = sum(not message.is_answered for message in messages.values())
    st.caption(f"Unanswered flags and comments: {n_unanswered} of {len(messages)}. They come first.")
    codes = list(messages)
    code = queue.current(QUEUE, codes)
    with_name = not identity.why_hidden(db, person, Action.SEE_NAMES)
    show(db, messages[code], codes, with_name=with_name)
    answer(db, messages[code], codes, person)


def show(db: Database, message: Message, codes: list[str], *, with_name: bool) -> None:
    """Show one message as plain text under the picture of its item."""
    item = browsing.item_named(db, message.item)
    title, where = f"Item {message.code}: {message.item}", queue.place(codes, message.code)
    pressed = queue.look(db, QUEUE, item, name=message.code, title=title, caption=where)
    queue.move(QUEUE, codes, message.code, pressed)
    sender = [message.reviewer] if with_name else []
    marks = [*(["flagged"] if message.flag else []), *([] if message.is_answered else ["not answered"])]
    st.text(" · ".join([minute(message.created_utc), *sender, *marks]))
    if message.comment:
        st.text(f"“{message.comment}”")
    for reply in message.replies:
        st.text(f"{reply.written_by}, {minute(reply.created_utc)}: {reply.text}")


def answer(db: Database, message: Message, codes: list[str], person: str) -> None:
    """Show the standard answers, which keys choose, and the field for own words.

    After the answer is sent, the next unanswered message is shown.
    """
    key = f"{message.code}-{len(message.replies)}"
    with st.container(horizontal=True):
        for number, words in enumerate(ANSWERS, 1):
            st.button(words, key=f"ready-{number}-{key}", shortcut=str(number), on_click=_choose, args=(key, words))
    text = st.text_area("Answer", max_chars=inbox.MAX_REPLY_LENGTH, key=f"answer-{key}")
    st.caption("The reviewer sees the answer under My labels. Do not mention benchmarks, verdicts or labels of others.")
    if st.button("Send the answer", type="primary", key=f"send-{key}"):
        with errors_here():
            inbox.reply(db, message.code, text.strip(), actor=person, now=datetime.now(UTC))
            left = [other.code for other in inbox.messages(db) if not other.is_answered]
            queue.put(QUEUE, left[0] if left else message.code)
            done(f"Answer sent. {len(left) or 'None'} of {len(codes)} left.", stays=True)


def _choose(key: str, words: str) -> None:
    """Put a standard answer before the own words."""
    own = st.session_state.get(f"answer-{key}", "").strip()
    st.session_state[f"answer-{key}"] = f"{words} {own}".strip()


def minute(created_utc: str) -> str:
    """Return a stored time as text, rounded down to the minute."""
    return f"{created_utc[:16].replace('T', ' ')} UTC"
