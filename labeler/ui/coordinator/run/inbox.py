"""What reviewers flagged or commented, and answers to them; never a label, and no name before unblinding."""

from datetime import UTC, datetime

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service.people import inbox, visibility
from labeler.service.people.inbox import Message
from labeler.store import Database

PAGE_SIZE = 20


def render(db: Database, person: str) -> None:
    """How many messages wait for an answer; each message with its answers and a place for one more."""
    if visibility.reviews_too(db, person):
        st.info(
            "You are a reviewer of this study as well: what others flagged or commented is shown to you only once it "
            "is unblinded, so that it cannot sway your own labels."
        )
        return
    messages = inbox.messages(db)
    if not messages:
        st.info("Nobody has flagged or commented an item.")
        return
    n_unanswered = sum(not message.is_answered for message in messages)
    st.write(f"{n_unanswered} of {len(messages)} flags and comments wait for an answer.")
    st.caption("The reviewer reads an answer under My labels: name no benchmark, verdict or label of others in it.")
    n_pages = -(-len(messages) // PAGE_SIZE)
    number = st.number_input(f"Page of {n_pages}, unanswered first", 1, n_pages) if n_pages > 1 else 1
    with_names = not visibility.why_not(db, person, Action.SEE_NAMES)
    for message in messages[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]:
        text = shown(message, with_name=with_names)
        if text is not None:
            inbox.reply(db, message.code, text, actor=person, now=datetime.now(UTC))
            st.rerun()


def shown(message: Message, *, with_name: bool) -> str | None:
    """One message as plain text; what is answered to it, if it is."""
    with st.form(f"message-{message.code}"):
        st.text(f"Item {message.code}: {message.item}")
        sender = [message.reviewer] if with_name else []
        marks = [*(["flagged"] if message.flag else []), *([] if message.is_answered else ["not answered"])]
        st.text(" · ".join([minute(message.created_utc), *sender, *marks]))
        if message.comment:
            st.text(f"“{message.comment}”")
        for reply in message.replies:
            st.text(f"{reply.written_by}, {minute(reply.created_utc)}: {reply.text}")
        key = f"{message.code}-{len(message.replies)}"
        text = st.text_area("Answer", max_chars=inbox.MAX_REPLY_LENGTH, key=f"answer-{key}")
        return text if st.form_submit_button("Answer", key=f"send-{key}") else None


def minute(created_utc: str) -> str:
    """A time to the minute."""
    return f"{created_utc[:16].replace('T', ' ')} UTC"
