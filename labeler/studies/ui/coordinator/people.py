"""The place People: who labels, and how far they are.

Coordinators invite people here, hand over links, write reminders, and pause, replace or remove people.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import Any
from urllib.parse import quote

import streamlit as st

from analysis.text import counted, joined
from labeler.config import settings
from labeler.studies.course import coordinating, progress, staffing
from labeler.studies.course.progress import Pace
from labeler.studies.labelling import own_result
from labeler.studies.model import Person, Role, State, describe_minutes
from labeler.studies.people import identity, mailing
from labeler.studies.people.mailing import Mail
from labeler.studies.plan.lifecycle import ALLOWED, Action
from labeler.studies.results import questionnaires
from labeler.studies.store import Database
from labeler.studies.ui import served
from labeler.studies.ui.coordinator.joining import one_link_for_all
from labeler.studies.ui.coordinator.shared import (
    PERSON,
    box,
    done,
    errors_here,
    escape_markdown,
    fold,
    fresh,
    go_to,
    table,
    warn_if_of_this_machine,
)

ROLES = {
    "Reviewers": [Role.REVIEWER],
    "Coordinators": [Role.COORDINATOR],
    "Both (sees no labels before unblinding)": [*Role],
}
LINKS = "links-to-hand-over"  # key in the session state: the new links; the study has only their hashes
INVITING, ACTION = "inviting", "person-action"  # keys in the session state: which forms are open
REPLACE, REMOVE, RENAME, REVOKE = "Replace", "Remove", "Rename", "Sign out everywhere"
EMAIL, REMINDER = "E-mail address", "A reminder"
ALLOW, WITHDRAW = "Allow own result", "Withdraw own result"
CONSEQUENCES = {
    REPLACE: "{} can no longer sign in. Labels are kept; a successor takes over the open items.",
    REMOVE: "{} can no longer sign in. Labels are kept; open items go to other reviewers.",
    RENAME: "Pages and invitations show the new name. The plan, the log, exports and reports keep the name {}.",
    ALLOW: "{} sees their own labels beside those of the other reviewers, without names, once the study is unblinded.",
    WITHDRAW: "{} no longer sees their own result.",
    EMAIL: "Messages to {} go to this address. With an identity provider, the person can also sign in with it.",
    REVOKE: "{} is signed out on all devices and needs a new link to sign in again. Labels are kept.",
}
ROW_PX = 48


def render_people(db: Database, person: str) -> None:
    """Show the form for invitations, the new links, the table of people, and the box of one person."""
    everyone = identity.everyone(db)
    reviewers = [member for member in everyone if Role.REVIEWER in member.roles and member.active]
    paces = {pace.reviewer: pace for pace in progress.reviewer_paces(db, now=datetime.now(UTC))}
    chosen = _chosen(everyone)
    invite(db, person, len(reviewers), is_first=chosen is None)
    hand_over(db, person)
    one_link_for_all(db, person)
    if reviewers:
        listing(reviewers, paces)
    else:
        st.info("Nobody is invited yet. Two reviewers are enough to begin.")
    remind_all(db, reviewers, paces, person)
    names = [member.name for member in everyone]
    shown = identity.shown_names(db)
    st.selectbox(
        "Person", names, None, lambda name: shown.get(name, name), key=PERSON, placeholder="Choose a person",
        help="A click on a row does the same.",
    )  # fmt: skip
    if chosen is not None:
        of_one(db, chosen, paces.get(chosen.name), person)
    offer_answers(db, person)
    groups = {
        "Coordinators": [member for member in everyone if Role.COORDINATOR in member.roles and member.active],
        "People who have left": [member for member in everyone if not member.active],
    }
    for title, group in groups.items():
        with fold(f"{title} ({len(group)})", f"fold-{title}") as part:
            if part.open and group:
                table(
                    [
                        {"Name": shown.get(member.name, member.name), "Role": " and ".join(sorted(member.roles))}
                        for member in group
                    ],
                    title,
                )


def offer_answers(db: Database, person: str) -> None:
    """Offer the answers to the questionnaire to coordinators who do not label."""
    if coordinating.get_study(db).question.ask and not identity.reviews_too(db, person):
        given = questionnaires.as_csv(questionnaires.answers(db))
        st.download_button("Download the questionnaire (CSV)", given, "questionnaire.csv", on_click="ignore")


def can_change_reviewers(db: Database) -> bool:
    """Return whether reviewers can join and leave: until the study is closed."""
    return coordinating.get_study(db).phase in ALLOWED[Action.PEOPLE]


def _chosen(everyone: list[Person]) -> Person | None:
    name = st.session_state.get(PERSON)
    return next((member for member in everyone if member.name == name), None)


def invite(db: Database, actor: str, n_reviewers: int, *, is_first: bool) -> None:
    """Show the form that invites several people at once; the field keeps the names until all of them are added."""
    status = coordinating.status(db)
    setting_up = status.study.phase is State.DRAFT
    if n_reviewers and not st.session_state.get(INVITING):
        can_plan = setting_up and status.n_items > 0 and n_reviewers > 1
        with st.container(horizontal=True):
            if can_plan and st.button("Next: make the plan", type="primary"):
                go_to("Study", "Plan")
            is_next = setting_up and is_first and not can_plan
            if st.button("Invite people", type="primary" if is_next else "secondary"):
                st.session_state[INVITING] = True
                st.rerun()
        return
    with st.container(border=True):
        text = st.text_area(
            "Names", key=fresh("names"), placeholder="Ada Lovelace <ada@example.org>",
            help="Separate people by lines, commas or semicolons. An address behind a name in angle brackets is used "
            "only for the invitation.",
        )  # fmt: skip
        roles = list(ROLES) if can_change_reviewers(db) else ["Coordinators"]
        role = st.radio("Invite as", roles, horizontal=True)
        wanted = identity.people_in(text)
        alike, n = identity.look_alikes(db, [name for name, _ in wanted]), len(wanted)
        look_alike = bool(alike) and st.checkbox(
            escape_markdown(f"{joined(alike)}: these names look like others, but are different people"),
            key=fresh("look-alike"),
        )
        if n > 1:
            st.caption(escape_markdown("; ".join(f"{name} ({email})" if email else name for name, email in wanted)))
        if st.button(
            f"Invite {counted(n, 'person', 'people')}" if n else "Invite people", type="primary", key="invite"
        ):
            with errors_here():
                now = datetime.now(UTC)
                added = staffing.add_all(db, text, ROLES[role], look_alike=look_alike, actor=actor, now=now)
                keep_links(db, [name for name, _ in added], actor)
                changed = [change.describe(name) for name, change in added if change != staffing.StaffChange()]
                st.session_state.pop(INVITING, None)
                send = "Send each their own link." if len(added) > 1 else "Send this person the link."
                done(" ".join([f"{counted(len(added), 'person', 'people')} invited. {send}", *changed]))


def listing(reviewers: list[Person], paces: Mapping[str, Pace]) -> None:
    """Show a row per reviewer; a click anywhere in a row chooses the person."""
    today = datetime.now(UTC).date()
    rows = [_row(member, paces[member.name], today) for member in reviewers]
    st.dataframe(
        rows, hide_index=True, row_height=ROW_PX, on_select=partial(_choose, [member.name for member in reviewers]),
        selection_mode="single-cell", key="people-table", alt="Reviewers with their progress", placeholder="—",
        column_config={"Share": st.column_config.ProgressColumn(format="%.0f %%", max_value=100)},
    )  # fmt: skip


def _choose(names: list[str]) -> None:
    cells = st.session_state["people-table"]["selection"]["cells"]
    if cells:
        st.session_state[PERSON] = names[cells[0][0]]


def _row(person: Person, pace: Pace, today: Any) -> dict[str, Any]:
    opened = "opened" if pace.last_seen_utc else "not opened"
    return {
        "Name": pace.name,
        "Share": 100 * pace.n_done / pace.n_assigned if pace.n_assigned else 0.0,
        "Labels": f"{pace.n_done} of {pace.n_assigned}" if pace.n_assigned else "none yet",
        "Left": describe_minutes(pace.minutes_left) if pace.n_left else progress.describe(pace),
        "Per label": "—" if pace.time_on_task_s is None else f"{pace.time_on_task_s:.0f} s",
        "Last seen": progress.describe_day(pace.last_seen_utc, today),
        "Link": "paused" if person.paused else opened,
    }


def of_one(db: Database, chosen: Person, pace: Pace | None, actor: str) -> None:
    """Show the box of one person: the reminder, a new link, a pause, and further actions."""
    is_reviewer, shown = Role.REVIEWER in chosen.roles, identity.shown_name(db, chosen.name)
    can_change = is_reviewer and can_change_reviewers(db)
    with box(shown):
        if pace is not None:
            st.caption(escape_markdown(describe(pace)))
        if is_reviewer and chosen.active:
            text = reminder(shown, coordinating.get_study(db).name, pace, actor)
            st.code(text, language=None, wrap_lines=True)
            emails = identity.emails(db)
            email = emails.get(chosen.name, "")
            with st.container(horizontal=True):
                st.link_button("Open the reminder in mail", _mail(REMINDER, text, email), type="primary")
                if email:
                    offer_to_send("the reminder", [Mail(shown, email, REMINDER, text, emails.get(actor, ""))])
        note = st.text_input("Note for the log (optional)", key=fresh(f"note-{chosen.person_id}"))
        with st.container(horizontal=True):
            if chosen.active and st.button("New link"):
                keep_links(db, [chosen.name], actor)
                done(f"New link for {chosen.name}. The previous link no longer works.")
            if can_change and chosen.active and not chosen.paused and st.button("Pause"):
                act(partial(pause, db, chosen, pace, note, actor))
            if can_change and (chosen.paused or not chosen.active) and st.button("Resume"):
                act(partial(resume, db, chosen, actor))
            if chosen.active:
                own = WITHDRAW if own_result.is_allowed(db, chosen.name) else ALLOW
                leaving = [REPLACE, REMOVE] if can_change else []
                choices = [*leaving, RENAME, EMAIL, *([own] if is_reviewer else []), REVOKE]
                picked = st.menu_button("More", choices, key=f"more-{chosen.person_id}")
                if picked:
                    st.session_state[ACTION] = chosen.person_id, picked
        whose, action = st.session_state.get(ACTION, (None, ""))
        if whose == chosen.person_id:
            confirm(db, chosen, action, note, actor)


def confirm(db: Database, chosen: Person, action: str, note: str, actor: str) -> None:
    """Say what will happen, and show the button that does it."""
    st.write(escape_markdown(CONSEQUENCES[action].format(chosen.name)))
    successor = st.text_input("Successor: a new name, or another reviewer") if action == REPLACE else ""
    new_name = st.text_input("New name") if action == RENAME else ""
    email = st.text_input(EMAIL, identity.emails(db).get(chosen.name, "")) if action == EMAIL else ""
    verb = {
        EMAIL: "Save the address of {}",
        REVOKE: "Sign out {}",
        ALLOW: "Allow {} to see their own result",
        WITHDRAW: "Withdraw the result of {}",
    }
    words = verb.get(action, f"{action} {{}}").format(chosen.name)
    if st.button(escape_markdown(words), key="confirm-person"):
        if action == REPLACE:
            act(partial(replace, db, chosen, successor, note, actor))
        elif action == RENAME:
            act(partial(rename, db, chosen, new_name, actor))
        elif action == EMAIL:
            act(partial(set_email, db, chosen, email, actor))
        elif action == REMOVE:
            act(partial(remove, db, chosen, note, actor))
        elif action in (ALLOW, WITHDRAW):
            act(partial(allow, db, chosen, action == ALLOW, actor))
        else:
            act(partial(revoke, db, chosen, actor))


def act(make: Callable[[], str]) -> None:
    """Make a change, and show its message, or the error."""
    with errors_here():
        message = make()
        st.session_state.pop(ACTION, None)
        done(message)


def pause(db: Database, chosen: Person, pace: Pace | None, note: str, actor: str) -> str:
    """Pause a reviewer, and return the message."""
    staffing.pause(db, chosen.name, why=note, actor=actor, now=datetime.now(UTC))
    n_left = pace.n_left if pace else 0
    waits = f" {counted(n_left, 'item')} {'waits' if n_left == 1 else 'wait'}." if n_left else ""
    return f"{chosen.name} is paused.{waits}"


def resume(db: Database, chosen: Person, actor: str) -> str:
    """Let a reviewer label again, and return the message."""
    change = staffing.resume(db, chosen.name, actor=actor, now=datetime.now(UTC))
    return f"{chosen.name} takes part again. {change.describe(chosen.name)}"


def remove(db: Database, chosen: Person, note: str, actor: str) -> str:
    """Remove a reviewer, and return a message that never reveals which reviewers share an item."""
    change = staffing.remove(db, chosen.name, why=note, actor=actor, now=datetime.now(UTC))
    return f"{chosen.name} has left. {change.describe(chosen.name)}"


def replace(db: Database, chosen: Person, successor: str, note: str, actor: str) -> str:
    """Replace a reviewer, and return a message that never reveals which reviewers share an item."""
    heir, change = staffing.replace(db, chosen.name, successor, why=note, actor=actor, now=datetime.now(UTC))
    if change.is_new:
        keep_links(db, [heir.name], actor)
    return f"{heir.name} takes over from {chosen.name}. {change.describe(chosen.name)}"


def rename(db: Database, chosen: Person, new_name: str, actor: str) -> str:
    """Show a person under another name, and return the message."""
    shown = identity.rename(db, chosen.name, min(chosen.roles), new_name, actor=actor, now=datetime.now(UTC))
    return f"Pages show {chosen.name} as {shown}."


def set_email(db: Database, chosen: Person, email: str, actor: str) -> str:
    """Save the e-mail address of a person, and return the message."""
    identity.set_email(db, chosen.name, min(chosen.roles), email, actor=actor, now=datetime.now(UTC))
    return f"Messages to {chosen.name} go to {email.strip()}." if email.strip() else f"{chosen.name} has no address."


def allow(db: Database, chosen: Person, allowed: bool, actor: str) -> str:
    """Allow a reviewer to see their own result, or withdraw this; return the message."""
    own_result.allow(db, chosen.name, allowed, actor=actor, now=datetime.now(UTC))
    return f"{chosen.name} {'sees' if allowed else 'does not see'} their own result once the study is unblinded."


def revoke(db: Database, chosen: Person, actor: str) -> str:
    """Sign a person out everywhere, and return the message."""
    identity.revoke(db, chosen.name, min(chosen.roles), actor=actor, now=datetime.now(UTC))
    return f"{chosen.name} is signed out everywhere. Labels are kept."


def keep_links(db: Database, names: list[str], actor: str) -> None:
    """Create new links for these people; this page shows them until the window is closed."""
    roles = {person.name: min(person.roles) for person in identity.everyone(db)}
    now, origin = datetime.now(UTC), served.address_for_others(st.context.url or "")
    links = {
        name: origin + identity.sign_in_path(db, identity.invite(db, name, roles[name], actor=actor, now=now))
        for name in names
    }
    st.session_state[LINKS] = {**st.session_state.get(LINKS, {}), **links}


def hand_over(db: Database, actor: str) -> None:
    """Show the new links, each with a message, and all of them as a table for mail merge."""
    links: Mapping[str, str] = st.session_state.get(LINKS, {})
    if not links:
        return
    study, shown = coordinating.get_study(db).name, identity.shown_names(db)
    day, emails = coordinating.finish_by(db), identity.emails(db)
    messages = {name: mail(shown.get(name, name), study, link, actor, day) for name, link in links.items()}
    with st.container(border=True, key="links"):
        st.write("Send each link only to its person. You can see these links until you close or reload this window, "
                 "and make new ones at any time.")  # fmt: skip
        warn_if_of_this_machine(links.values())
        for name, link in links.items():
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{escape_markdown(shown.get(name, name))}**", width=160)
                st.code(link, language=None, width="stretch", wrap_lines=True)
                st.link_button("Open in mail", _mail(study, messages[name], emails.get(name, "")), key=f"mail-{name}")
        with st.container(horizontal=True):
            merge = mail_merge(
                {shown.get(name, name): (emails.get(name, ""), link, messages[name]) for name, link in links.items()}
            )
            st.download_button("Download links for mail merge", merge, "links.csv", on_click="ignore")
            to_send = [
                Mail(shown.get(name, name), emails[name], study, messages[name], emails.get(actor, ""))
                for name in links
                if name in emails
            ]
            offer_to_send("the invitations", to_send)
            if st.button("Hide the links"):
                del st.session_state[LINKS]
                st.rerun()
        with fold("Messages", "messages") as part:
            if part.open:
                for text in messages.values():
                    st.code(text, language=None, wrap_lines=True)


def offer_to_send(what: str, mails: Sequence[Mail]) -> None:
    """Show the button that sends messages, if there is a mail server; their texts are shown on the page."""
    smtp = settings().smtp
    if smtp is None or not mails:
        return
    if st.button(f"Send {what} to {counted(len(mails), 'address', 'addresses')}", key=f"send-{what}"):
        with errors_here():
            refused = mailing.send(mailing.mail_server(smtp), mails)
            sent = f"{counted(len(mails) - len(refused), 'message')} sent."
            done(" ".join([sent, *(f"Not to {name}: {why}." for name, why in refused.items())]))


def remind_all(db: Database, reviewers: Sequence[Person], paces: Mapping[str, Pace], actor: str) -> None:
    """Offer to send a reminder to each reviewer who has open items and an address, with a preview."""
    emails, shown, study = identity.emails(db), identity.shown_names(db), coordinating.get_study(db).name
    waiting = [one for one in reviewers if one.name in emails and not one.paused and paces[one.name].n_left]
    if settings().smtp is None or not waiting:
        return
    with fold(f"Reminders to all who have open items ({len(waiting)})", "remind-all") as part:
        if part.open:
            names = {one.name: shown.get(one.name, one.name) for one in waiting}
            texts = {name: reminder(names[name], study, paces[name], actor) for name in names}
            for name, text in texts.items():
                st.code(f"To: {emails[name]}\n\n{text}", language=None, wrap_lines=True)
            own = emails.get(actor, "")
            offer_to_send("reminders", [Mail(name, emails[name], REMINDER, text, own) for name, text in texts.items()])


def mail_merge(messages: Mapping[str, tuple[str, str, str]]) -> str:
    """Return a table with the columns name, email, link and message."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["name", "email", "link", "message"])
    writer.writerows((name, *message) for name, message in messages.items())
    return text.getvalue()


def _mail(subject: str, text: str, email: str) -> str:
    return f"mailto:{quote(email, safe='@')}?subject={quote(subject)}&body={quote(text)}"


def mail(name: str, study: str, link: str, sender: str, finish_by: date | None = None) -> str:
    """Return the text of an invitation email."""
    until = f" Please finish by {finish_by:%-d %B %Y}." if finish_by else ""
    return (
        f"Dear {name},\n\nplease take part in the study “{study}”. You will see the runs of benchmarks and answer one "
        "question about each of them, with one key. Open this link in a browser. It signs you in, so do not share "
        f"it:\n\n{link}\n\nYou can stop at any time and continue later with the same link.{until}\n\n{sender}"
    )


def describe(pace: Pace) -> str:
    """Return the progress and the pace of one reviewer in one line."""
    parts = [f"{pace.n_done} of {counted(pace.n_assigned, 'label')}"] if pace.n_assigned else ["nothing assigned yet"]
    if pace.n_not_sure:
        parts.append(f"{pace.n_not_sure} “not sure”")
    if pace.time_on_task_s is not None:
        parts.append(f"{pace.time_on_task_s:.1f} s per label")
    if pace.labels_per_day is not None:
        parts.append(f"{pace.labels_per_day:.0f} labels per day")
    if pace.n_left and pace.minutes_left is not None:
        parts.append(f"about {describe_minutes(pace.minutes_left)} left")
    return ", ".join([*parts, progress.describe(pace)]) + "."


def reminder(name: str, study: str, pace: Pace | None, sender: str) -> str:
    """Return the text of a reminder."""
    left = (
        describe_minutes(pace.minutes_left) if pace is not None and pace.minutes_left is not None else "a few minutes"
    )
    if pace is None or not pace.n_done:
        began = f"you are invited to the study “{study}”, and have not labelled yet."
    else:
        began = f"thank you for your first {counted(pace.n_done, 'label')} in the study “{study}”."
        if pace.n_left:
            began += f" {counted(pace.n_left, 'item')} {'is' if pace.n_left == 1 else 'are'} left, about {left}."
    return (
        f"Dear {name},\n\n{began} You can stop at any time and continue later with the link that you have. If you no "
        f"longer have the link, write to me.\n\n{sender}"
    )
