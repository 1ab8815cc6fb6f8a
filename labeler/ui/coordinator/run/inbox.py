"""The page Inbox, on which coordinators read and answer the flags and comments of reviewers.

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
    """Show the number of unanswered messages, then one message at a time with its picture and an answer form."""
    st.write("Read and answer the flags and comments of reviewers, each with the picture of its item.")
    if identity.reviews_too(db, person):
        st.info(
            "You are also a reviewer of this study: you see the flags and comments of others only after the study is "
            "unblinded, so that they cannot influence your labels."
        )
        return
    messages = {message.code: message for message in inbox.messages(db)}
    if not messages:
        st.info("There are no flags or comments yet. They appear here when reviewers write them.")
        return
    n_unanswered = sum(not message.is_answered for message in messages.values())
    st.write(f"Unanswered flags and comments: {n_unanswered} of {len(messages)}. They come first.")
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
    """Show the form for an answer.

    After the answer is sent, the page shows the next unanswered message.
    """
    key = f"{message.code}-{len(message.replies)}"
    with st.form(f"message-{message.code}"):
        ready = st.pills("Standard answer", ANSWERS, key=f"ready-{key}", default=None)
        text = st.text_area("Your text", max_chars=inbox.MAX_REPLY_LENGTH, key=f"answer-{key}")
        st.caption(
            "The reviewer sees the answer under My labels. Do not mention benchmarks, verdicts or labels of others."
        )
        if not st.form_submit_button("Send the answer", type="primary", key=f"send-{key}"):
            return
        with errors_here():
            words = " ".join(filter(None, (ready, text.strip())))
            inbox.reply(db, message.code, words, actor=person, now=datetime.now(UTC))
            left = [other.code for other in inbox.messages(db) if not other.is_answered]
            queue.put(QUEUE, left[0] if left else message.code)
            done(f"Answer to item {message.code} sent. Unanswered messages: {len(left)} of {len(codes)}.")


def minute(created_utc: str) -> str:
    """Return a stored time as text, rounded down to the minute."""
    return f"{created_utc[:16].replace('T', ' ')} UTC"
