"""The application in the browser, which `page_run.py` starts for each click.

The application identifies the person, lists the pages that this person may open, and shows errors.
"""

import hmac
import logging
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from labeler.errors import LabelerError, StudyError, for_anyone
from labeler.studies import demo, overview
from labeler.studies.course import coordinating
from labeler.studies.labelling import own_result, reviewing
from labeler.studies.model import Person, Role, State
from labeler.studies.people import identity
from labeler.studies.store import Database
from labeler.studies.ui import component
from labeler.studies.ui.coordinator import places
from labeler.studies.ui.coordinator.clicks import by_click
from labeler.studies.ui.coordinator.places import ITEM, PLACES, show
from labeler.studies.ui.coordinator.shared import address, escape_markdown, go_to
from labeler.studies.ui.reviewer import guide, label, my_labels
from labeler.studies.ui.served import PERSON_HEADER, ServedStudy
from labeler.studies.ui.turns import TooManyWaiting

NAME = "Benchmark runs"
STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")  # of all pages
RETRY_S, RESULTS_S = 3.0, 1.0
NOT_SIGNED_IN = (
    "You are not signed in. Open your sign-in link again in this browser. Answers that are not saved yet are kept here."
)
NOT_SERVED = "This server no longer has this study. Ask your coordinator. Answers that are not saved yet are kept here."
TOO_MANY_WINDOWS = "Too many windows of yours are loading. Wait a moment, then reload this page."
Render = Callable[[], None]
log = logging.getLogger(__name__)
REVIEWER_PAGES: dict[str, Callable[[Database, int], None]] = {
    "Label": guide.render_first_visit, "My labels": my_labels.render_my_labels, "Guide": guide.render_guide,
    "Practice": guide.render_practice, "Feedback": my_labels.render_feedback,
}  # fmt: skip
OWN_RESULT = "Your result"
RESULT_SHOWN = "result-shown"  # key in the session state: whether the page Your result opened by itself
IN_MENU = frozenset(("Guide", "Practice", "Feedback"))  # pages of a reviewer who is also a coordinator
AS_REVIEWERS_SEE = "Guide as reviewers see it"
STUDIES, SIGN_OUT = "Studies", "Sign out"


def main(study: ServedStudy, token: str | None) -> None:
    """Show the page of a study that the person opened; `token` is the id of the person's session."""
    person = None
    try:
        with ExitStack() as turn:
            turn.enter_context(study.page_turns.turn(st.context.headers.get(PERSON_HEADER) or token))
            with study.open() as db:
                person = identity.person_of_session(db, token, now=datetime.now(UTC))
                if person is None:
                    begin_page()
                    st.error(NOT_SIGNED_IN)
                    return
                if Role.COORDINATOR in person.roles:
                    turn.close()  # coordinators' pages may take long and must not delay reviewers
                st.session_state[component.TOKEN] = request_token(token or "")
                run_page(study, db, person)
    except TooManyWaiting:
        begin_page()
        st.error(TOO_MANY_WINDOWS)
    except LabelerError as error:
        explain(error, person)
        if person is None:
            come_back(study)


def not_served() -> None:
    """Say that the server has lost the study of this window."""
    begin_page()
    st.error(NOT_SERVED)


def run_page(study: ServedStudy, db: Database, person: Person) -> None:
    """Show the navigation with this person's pages, and run the chosen page."""
    is_coordinator = Role.COORDINATOR in person.roles
    chosen = st.navigation(navigation(db, person, study), position="top")
    begin_page(chosen.title)
    is_visitor = not is_coordinator and demo.is_yours(db)
    is_open = is_visitor and own_result.is_open(db, person.person_id)
    if is_open and not st.session_state.get(RESULT_SHOWN):
        st.session_state[RESULT_SHOWN] = True
        go_to(OWN_RESULT)
    chosen.run()
    if is_coordinator and study.prefetches:
        places.begin_prefetch(db.path)
    elif is_visitor and not is_open:
        wait_for_result(study, person)


def navigation(db: Database, person: Person, study: ServedStudy) -> dict[str, list[StreamlitPage]]:
    """Return the pages that a person's roles allow, and a menu with the person's name.

    The first page opens after the person signs in. Coordinators who also label find Label first, as long as they can
    label.
    """
    menu: dict[str, Render] = {}
    listed: dict[str, Render] = {}
    if Role.REVIEWER in person.roles:
        own = {title: partial(render, db, person.person_id) for title, render in REVIEWER_PAGES.items()}
        if not reviewing.has_feedback(db, person.person_id):
            del own["Feedback"]
        if own_result.is_open(db, person.person_id):
            own = {
                OWN_RESULT: partial(
                    my_labels.render_result, db, person.person_id, study.demo_links.report, study.demo_links.more
                )
            } | own
        listed |= own
    if Role.COORDINATOR in person.roles:
        menu |= {title: listed.pop(title) for title in IN_MENU & listed.keys()}
        if "Guide" not in menu:
            menu[AS_REVIEWERS_SEE] = partial(guide.as_reviewers_see, db)
        own_places = {title: partial(show, db, person.name, title) for title in (*PLACES, ITEM)}
        is_over = coordinating.get_study(db).phase in (State.CLOSED, State.UNBLINDED)
        listed = own_places | listed if is_over else listed | own_places
    if not study.is_alone:
        menu[STUDIES] = list_studies
    menu[SIGN_OUT] = partial(sign_out, db, person)
    top = [_page(title, render, db, person) for title, render in listed.items()]
    if top[0].title in PLACES:  # each place keeps its own address, so the start page only leads to the first place
        first = partial(go_to, top[0].title)
        top.insert(0, st.Page(first, title="Start", url_path="start", default=True, visibility="hidden"))
    return {
        "": top,
        identity.own_name(db, person.name): [_page(title, render, db, person) for title, render in menu.items()],
    }


def _page(title: str, render: Render, db: Database, person: Person) -> StreamlitPage:
    n = overview.n_to_decide(db, person.name) if title == "Decide" else 0
    path = address("Guide" if title == AS_REVIEWERS_SEE else title)
    visibility: Literal["hidden", "visible"] = "hidden" if title == ITEM else "visible"
    return st.Page(render, title=f"{title} ({n})" if n else title, url_path=path, visibility=visibility)


def begin_page(title: str = "") -> None:
    """Set the title of the window and the style of the page.

    This is one element and one message, because each message of a page run takes processor time.
    """
    st.set_page_config(page_title=f"{title} · {NAME}" if title else NAME, layout="wide")
    st.html(f"<style>{component.PAGE_STYLE}{STYLE}</style>")


@st.fragment(run_every=RESULTS_S)
def wait_for_result(study: ServedStudy, person: Person) -> None:
    """In the demo, run the page again as soon as this reviewer has labelled all items, which opens Your result."""
    with study.open() as db:
        is_open = own_result.is_open(db, person.person_id)
    if is_open:
        st.rerun()


def request_token(session: str) -> str:
    """Return the token that a page puts into a header, so that only pages of this session can change something.

    The study stores neither the session nor the token, so nobody can compute the token from a copy of the study.
    """
    return hmac.new(session.encode(), b"labeler requests", "sha256").hexdigest()


def explain(error: LabelerError, person: Person | None) -> None:
    """Show an error on the page.

    Only coordinators see the path of the study on the server.
    """
    if person is None:
        begin_page()
    is_coordinator = person is not None and Role.COORDINATOR in person.roles
    st.error(
        escape_markdown(by_click(str(error)) if is_coordinator else for_anyone(error))
    )  # the error may contain names from files
    if isinstance(error, StudyError):
        log.warning("%s", error)
        st.write("Answers that are not saved yet are kept in this browser.")


@st.fragment(run_every=RETRY_S)
def come_back(study: ServedStudy) -> None:
    """Reload the page as soon as the study can be opened."""
    try:
        study.open().close()
    except LabelerError:
        return
    st.rerun()


def list_studies() -> None:
    """Show the link to the list of studies, which stands outside of all studies."""
    st.html('<a href="/" target="_self">Show all studies to which you are signed in</a>')


def sign_out(db: Database, person: Person) -> None:
    """Show the page for signing out, which also sends unsaved answers."""
    if Role.REVIEWER in person.roles:
        label.deliver(db, person.person_id, leaving=True)
    st.write(f"You are signed in as **{escape_markdown(identity.own_name(db, person.name))}**.")
    st.html('<a href="sign-out" target="_self">Sign out on this device</a>')
