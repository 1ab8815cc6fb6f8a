"""The part of the place People for one link for all: who waits to be admitted, and the link."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import streamlit as st

from analysis.text import counted, minute
from labeler import network
from labeler.studies.course import coordinating, joining
from labeler.studies.course.joining import MAX_DAYS, MAX_WAITING, Admitted, LinkForAll, Waiting
from labeler.studies.course.staffing import StaffChange
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import ALLOWED, Action
from labeler.studies.store import Database
from labeler.studies.ui import component, served
from labeler.studies.ui.coordinator.shared import (
    box,
    done,
    errors_here,
    fold,
    fresh,
    until_done,
    warn_if_of_this_machine,
)

OWN_LINK = "link-for-all"  # key in the session state: the new link by its hash, which is all that the study has
BY_COORDINATOR, BY_ITSELF = "A coordinator", "The link by itself"
USUAL_DAYS, USUAL_ADMITS = 14, 30


def one_link_for_all(db: Database, actor: str) -> None:
    """Show who waits to be admitted, and the link for all with what can be done with it."""
    can_join, waiting = coordinating.get_study(db).phase in ALLOWED[Action.PEOPLE], joining.waiting(db)
    if waiting:
        waiting_people(db, waiting, actor, can_join=can_join)
    if can_join:
        with fold("One link for all", "fold-link-for-all") as part:
            link = joining.current(db).link if part.open else None
            if link is not None:
                of_link(db, link, actor)
            elif part.open:
                create(db, actor)


def waiting_people(db: Database, waiting: Sequence[Waiting], actor: str, *, can_join: bool) -> None:
    """Show who waits, with the buttons that admit and turn away all of them, or those that are chosen."""
    with box(f"{counted(len(waiting), 'person waits', 'people wait')} to be admitted"):
        by_hash = {one.secret_hash: one for one in waiting}
        rows = [{"Name": one.name, "E-mail": one.email or "—", "Asked (UTC)": minute(one.asked_utc)} for one in waiting]
        st.dataframe(rows, hide_index=True, key="waiting-table", alt="People who wait to be admitted")
        some = st.multiselect(
            "Whom", list(by_hash), format_func=lambda secret: by_hash[secret].name, key=fresh("waiting"),
            placeholder="Everyone who waits",
        )  # fmt: skip
        chosen, now = some or list(by_hash), datetime.now(UTC)
        people = counted(len(chosen), "person", "people")
        with st.container(horizontal=True):
            if can_join and st.button(f"Admit {people}", type="primary", key="admit"):
                with errors_here():
                    advance = until_done("Admitting")
                    done(describe_admitted(joining.admit(db, chosen, actor=actor, now=now, advance=advance)))
            if st.button(f"Turn {people} away", key="turn-away"):
                with errors_here():
                    n = joining.turn_away(db, chosen, actor=actor, now=now)
                    done(f"{counted(n, 'person', 'people')} turned away.")


def describe_admitted(admitted: Sequence[Admitted]) -> str:
    """Return who was admitted, how the plan changed, and whose address was left out."""
    taken = [f"{one.name} ({one.email_of_other})" for one in admitted if one.email_of_other]
    return " ".join([
        f"{counted(len(admitted), 'person', 'people')} admitted.",
        *(one.change.describe(one.name) for one in admitted if one.change != StaffChange()),
        *([f"Without an address, because another person has it: {', '.join(taken)}."] if taken else []),
    ])  # fmt: skip


def of_link(db: Database, link: LinkForAll, actor: str) -> None:
    """Say what the link does, show it while this window knows it, and offer to end it."""
    st.write(describe(link, datetime.now(UTC)))
    url = st.session_state.get(OWN_LINK, {}).get(link.secret_hash)
    if url:
        st.code(url, language=None, wrap_lines=True)
        component.still(network.qr_svg(url), "QR code of the link, for cameras of phones")
        warn_if_of_this_machine([url])
    else:
        st.caption("Only the window that created the link shows it. For another one, end this link.")
    if st.button("End the link"):
        with errors_here():
            joining.end_link(db, actor=actor, now=datetime.now(UTC))
            done("The link for all has ended. Who waits can still be admitted.")


def describe(link: LinkForAll, now: datetime) -> str:
    """Return what the link does now."""
    day, came = f"{link.until:%-d %B %Y}", counted(link.n_asked, "person", "people")
    if now.date() > link.until:
        return f"The link ended after {day}; {came} used it."
    if link.admits and link.n_asked >= link.admits:
        return f"The link has admitted {came}, as many as it may, and lets nobody in any more."
    if link.admits:
        most = counted(link.admits, "person", "people")
        return f"Until {day}, the link admits up to {most} by itself; {link.n_asked} so far."
    address = ", perhaps an address," if link.asks_email else ""
    return f"Until {day}, people who open the link give a name{address} and wait to be admitted; {link.n_asked} so far."


def create(db: Database, actor: str) -> None:
    """Show the form that creates the link."""
    today = datetime.now(UTC).date()
    st.write("Send one link to many people, or show it in a room. Each person enters a name and gets a personal link.")
    by_itself = st.radio("Who admits", [BY_COORDINATOR, BY_ITSELF], horizontal=True, key="link-admits") == BY_ITSELF
    with st.container(horizontal=True):
        admits = st.number_input("Up to so many people", 1, MAX_WAITING, USUAL_ADMITS) if by_itself else 0
        until = st.date_input(
            "Last day (UTC)", today + timedelta(days=USUAL_DAYS), today, today + timedelta(days=MAX_DAYS)
        )
    asks_email = not by_itself and st.checkbox("Also ask for an e-mail address", key="link-asks-email")
    if st.button("Create the link", type="primary"):
        with errors_here():
            now = datetime.now(UTC)
            secret = joining.open_link(db, admits=admits, until=until, asks_email=asks_email, actor=actor, now=now)
            url = served.address_for_others(st.context.url or "") + identity.sign_in_path(db, secret)
            st.session_state[OWN_LINK] = {identity.hashed(secret): url}
            done("The link for all is created. It stands below.")
