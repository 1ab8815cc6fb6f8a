"""The page People, which lists, adds and changes reviewers and coordinators.

The page also shows new sign-in links, and pauses, removes or replaces people.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import streamlit as st

from labeler.model import Person, Role
from labeler.service.people import identity
from labeler.service.study import coordinating, staffing
from labeler.store import Database
from labeler.ui.coordinator.escaping import escape_markdown
from labeler.ui.coordinator.shared import done, errors_here, fresh

ROLES = {
    "Reviewers": [Role.REVIEWER],
    "Coordinators": [Role.COORDINATOR],
    "Both (sees no labels before unblinding)": [*Role],
}
LINKS = "links-to-hand-over"  # key in the session state: the links, until they are hidden; the study has only hashes


class PeopleAction(NamedTuple):
    """A change to a person: its name, its button, and its consequence."""

    name: str
    button: str
    consequence: str
    needs_reason: bool = True


LINK = PeopleAction(
    "New sign-in link",
    "Make a new link for {}",
    "The previous link of {} stops working. Open sessions stay signed in.",
    needs_reason=False,
)
REVOKE = PeopleAction(
    "Sign out everywhere",
    "Sign out {}",
    "{} is signed out on all devices and needs a new link to sign in again. Labels are kept.",
    needs_reason=False,
)
PAUSE = PeopleAction("Pause", "Pause {}", "{} cannot label while paused. Open items stay assigned.")
RESUME = PeopleAction(
    "Resume",
    "Resume {}",
    "{} can label again. A reviewer who had left gets open items of other reviewers.",
    needs_reason=False,
)
REMOVE = PeopleAction(
    "Remove", "Remove {}", "{} can no longer sign in. Labels are kept; open items go to other reviewers."
)
REPLACE = PeopleAction(
    "Replace", "Replace {}", "{} can no longer sign in. Labels are kept; a successor takes over the open items."
)


def render(db: Database, person: str) -> None:
    """Show the new links and the list of people, and the forms to add people and to change a person."""
    st.write("Add reviewers and coordinators, hand over their sign-in links, and pause, remove or replace them.")
    hand_over(coordinating.get_study(db).name)
    everyone = identity.everyone(db)
    rows = [{"name": p.name, "role": " and ".join(sorted(p.roles)), "state": state_of(p)} for p in everyone]
    st.dataframe(rows, hide_index=True)
    add(db, person)
    if everyone:
        change_one(db, everyone, person)


def state_of(person: Person) -> str:
    """Return whether a person takes part, is paused, or has left, as text."""
    if not person.active:
        return "left"
    return "paused" if person.paused else "takes part"


def add(db: Database, actor: str) -> None:
    """Add several people at once.

    The field keeps the names until all of these people are added.
    """
    with st.form("add-people"):
        names = st.text_area("Names, one per line", key=fresh("names"))
        role = st.radio("Add as", list(ROLES), horizontal=True)
        look_alike = st.checkbox("Names that look alike are different people", key=fresh("look-alike"))
        if not st.form_submit_button("Add people", type="primary"):
            return
        with errors_here():
            added = staffing.add_all(
                db, names.splitlines(), ROLES[role], look_alike=look_alike, actor=actor, now=datetime.now(UTC)
            )
            keep_links(db, [name for name, _ in added], actor)
            changed = [change.describe(name) for name, change in added if change != staffing.StaffChange()]
            done(" ".join([f"Added {', '.join(name for name, _ in added)}. Send each person their link.", *changed]))


def change_one(db: Database, everyone: list[Person], actor: str) -> None:
    """Show a form to choose a person and a change.

    The consequence is shown above the button, and the button names the person.
    """
    st.subheader("Change one person", anchor=False)
    left, right = st.columns(2)
    chosen = left.selectbox("Person", everyone, None, format_func=lambda person: person.name, key=fresh("person"))
    if chosen is None:
        return
    changes = {change.name: change for change in changes_of(chosen)}
    change = changes[right.selectbox("Change", list(changes), key=fresh(f"change-{chosen.person_id}"))]
    with st.form(f"change-{chosen.person_id}-{change.name}"):
        st.write(escape_markdown(change.consequence.format(chosen.name)))
        successor = (
            st.text_input("Successor: a new name, or another reviewer", key=fresh("successor"))
            if change is REPLACE
            else ""
        )
        why = (
            st.text_input("Reason, kept in the log and shown in reports", key=fresh("why"))
            if change.needs_reason
            else ""
        )
        if st.form_submit_button(escape_markdown(change.button.format(chosen.name))):
            with errors_here():
                done(make(db, change, chosen, successor, why, actor))


def changes_of(person: Person) -> list[PeopleAction]:
    """Return the changes that are possible for a person now."""
    if Role.REVIEWER not in person.roles:
        return [LINK, REVOKE]
    if not person.active:
        return [RESUME]
    return [LINK, REVOKE, *([RESUME] if person.paused else [PAUSE]), REMOVE, REPLACE]


def make(db: Database, change: PeopleAction, chosen: Person, successor: str, why: str, actor: str) -> str:
    """Make a change and return a message.

    The message never reveals which reviewers share an item.
    """
    now, name, role = datetime.now(UTC), chosen.name, min(chosen.roles)
    if change is LINK:
        keep_links(db, [name], actor)
        return f"New link for {name}. The previous link no longer works."
    if change is REVOKE:
        identity.revoke(db, name, role, actor=actor, now=now)
        return f"{name} is signed out everywhere. Labels are kept."
    if change is PAUSE:
        staffing.pause(db, name, why=why, actor=actor, now=now)
        return f"{name} is paused. Open items stay assigned to {name}."
    if change is RESUME:
        return f"{name} takes part again. {staffing.resume(db, name, actor=actor, now=now).describe(name)}"
    if change is REMOVE:
        return f"{name} has left. {staffing.remove(db, name, why=why, actor=actor, now=now).describe(name)}"
    heir, result = staffing.replace(db, name, successor, why=why, actor=actor, now=now)
    if result.is_new:
        keep_links(db, [heir.name], actor)
    return f"{heir.name} takes over from {name}. {result.describe(name)}"


def keep_links(db: Database, names: list[str], actor: str) -> None:
    """Create new links for these people; this page shows them until they are hidden."""
    roles = {person.name: min(person.roles) for person in identity.everyone(db)}
    now, address = datetime.now(UTC), urlsplit(st.context.url or "")
    links = {
        name: f"{address.scheme}://{address.netloc}/join/{identity.invite(db, name, roles[name], actor=actor, now=now)}"
        for name in names
    }
    st.session_state[LINKS] = {**st.session_state.get(LINKS, {}), **links}


def hand_over(study: str) -> None:
    """Show the new links: all links to copy at once, and an email text for each person."""
    links: Mapping[str, str] = st.session_state.get(LINKS, {})
    if not links:
        return
    with st.container(border=True):
        st.write(
            "Send each link only to its person. The links are not shown again after you hide them or leave this page."
        )
        st.code("\n".join(f"{name}: {link}" for name, link in links.items()), language=None)
        for name, link in links.items():
            with st.expander(escape_markdown(f"Email to {name}")):
                text = mail(name, study, link)
                st.code(text, language=None, wrap_lines=True)
                st.link_button("Open in the email program", f"mailto:?subject={quote(study)}&body={quote(text)}")
        if st.button("Hide the links"):
            del st.session_state[LINKS]
            st.rerun()


def mail(name: str, study: str, link: str) -> str:
    """Return the text of an invitation email."""
    return (
        f"Dear {name},\n\nplease take part in the study “{study}”. You will see the runs of benchmarks and decide for "
        "each benchmark whether its runs are similar or dissimilar. Open this link in a browser. It signs you in, so "
        f"do not share it:\n\n{link}\n\nYou can stop at any time and continue later with the same link."
    )
