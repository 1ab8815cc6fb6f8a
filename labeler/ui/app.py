"""The application in the browser, which `page_run.py` starts for each click.

The application identifies the person, lists the pages that this person may open, and shows errors.
"""

import hmac
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from types import ModuleType

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from labeler.config import settings
from labeler.errors import InputError, LabelerError, StudyError, for_anyone
from labeler.model import Person, Role, State
from labeler.service import demo
from labeler.service.files.exploring import METHODS
from labeler.service.labelling import own_result, reviewing
from labeler.service.people import identity
from labeler.service.study import coordinating
from labeler.store import Database, open_database
from labeler.ui import component
from labeler.ui.coordinator import explore, pages as coordinator_pages, prefetch
from labeler.ui.coordinator.escaping import escape_markdown
from labeler.ui.coordinator.pages import GROUP_OF, empty_pages
from labeler.ui.coordinator.shared import address, go_to
from labeler.ui.limits import OTHER_TURNS
from labeler.ui.reviewer import feedback, first_visit, guide, label, my_labels, practice, result

NAME = "Benchmark runs"
SESSION_COOKIE = "labeler_session"  # the id of the study follows, because browsers send cookies to all ports of a host
STYLE = """<style>.stMainBlockContainer { padding-top: 3.6rem; padding-bottom: 1rem; }
.stAppToolbar { padding-right: 13rem; }
.stElementContainer:has(.signed-in) { position: fixed; top: 0; right: 1rem; z-index: 1000000; width: auto; }
h1 { font-size: 1.75rem !important; padding: 0 0 .5rem !important; }
h2 { font-size: 1.3rem !important; } h3 { font-size: 1.1rem !important; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p { color: #4d5868 !important; opacity: 1; }
.signed-in { background: #fff; padding-left: .5rem; font-size: .875rem; line-height: 3.75rem; display: block;
  max-width: 12rem; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; }</style>"""
SIDEBAR = """<style>[data-testid="stSidebar"] { width: 13rem !important; min-width: 13rem !important; }
.stMainBlockContainer { padding-left: 2.5rem; padding-right: 2.5rem; }</style>"""
RETRY_S, RESULTS_S = 3.0, 1.0
NOT_SIGNED_IN = (
    "You are not signed in. Open your sign-in link again in this browser. Answers that are not saved yet are kept here."
)
log = logging.getLogger(__name__)
REVIEWER_PAGES: dict[str, ModuleType] = {
    "Label": first_visit, "My labels": my_labels, "Guide": guide, "Practice": practice, "Feedback": feedback,
}  # fmt: skip
COORDINATOR_PAGES = coordinator_pages.PAGES
OWN_RESULT = "Your result"
RESULTS = "show-results"  # key in the session state: go to the page Your result
EXPLORE, ACCOUNT, OWN = "Explore", "Account", "Labelling"
EXPLORE_PAGES = {method.title: name for name, method in METHODS.items()}


def main(token: str | None) -> None:
    """Show the page that the person opened; `token` is the id of the person's session."""
    study, person = settings().study, None
    try:
        if study is None:
            raise InputError("No study given. Start the application with: labeler serve --study FILE")
        with ExitStack() as turn:
            turn.enter_context(OTHER_TURNS)
            with open_database(study) as db:
                person = identity.person_of_session(db, token, now=datetime.now(UTC))
                if person is None:
                    begin_page()
                    st.error(NOT_SIGNED_IN)
                    return
                if Role.COORDINATOR in person.roles:
                    turn.close()  # coordinators' pages may take long and must not delay reviewers
                st.session_state[component.TOKEN] = request_token(token or "")
                run_page(db, person)
    except LabelerError as error:
        explain(error, person)
        if study is not None and person is None:
            come_back(study)


def run_page(db: Database, person: Person) -> None:
    """Show the navigation with this person's pages, and run the chosen page."""
    listed = [
        st.Page(
            render, title=title, url_path=address(title),
            visibility="hidden" if title in coordinator_pages.WITHIN else "visible",
        )
        for title, render in pages(db, person).items()
    ]  # fmt: skip
    if Role.COORDINATOR not in person.roles:
        own = st.navigation(listed, position="top")
        begin_page(own.title, person)
        if st.session_state.pop(RESULTS, False):
            go_to(OWN_RESULT)
        own.run()
        if demo.is_yours(db) and not own_result.is_open(db, person.person_id):
            show_results(db.path, person)
        return
    grouped: dict[str, list[StreamlitPage]] = {}
    for page in listed:
        grouped.setdefault(group_of(page.title), []).append(page)
    chosen = st.navigation(grouped, position="sidebar", expanded=True)
    begin_page(chosen.title, person, SIDEBAR + quietened(empty_pages(coordinating.get_study(db))))
    chosen.run()
    prefetch.begin(db.path)


def begin_page(title: str = "", person: Person | None = None, style: str = "") -> None:
    """Set the title of the window and the style of the page, and show who is signed in.

    This is one element and one message, because each message of a page run takes processor time.
    """
    st.set_page_config(page_title=f"{title} · {NAME}" if title else NAME, layout="wide")
    name = escape(person.name) if person else ""
    signed_in = f'<span class="signed-in" title="{name}">Signed in as {name}</span>' if person else ""
    st.html(f"<style>{component.PAGE_STYLE}</style>{STYLE}{style}{signed_in}")


@st.fragment(run_every=RESULTS_S)
def show_results(study: Path, person: Person) -> None:
    """In the demo, open the page Your result as soon as this reviewer has labelled all items."""
    with open_database(study) as db:
        is_open = own_result.is_open(db, person.person_id)
    if is_open:
        st.session_state[RESULTS] = True
        st.rerun()


def group_of(title: str) -> str:
    """Return the name of the group that contains a page in the navigation of a coordinator."""
    if title in REVIEWER_PAGES or title == OWN_RESULT:
        return OWN
    return GROUP_OF.get(title) or (EXPLORE if title in EXPLORE_PAGES else ACCOUNT)


def quietened(titles: Iterable[str]) -> str:
    """Return a style that dims these pages in the navigation; the pages can still be opened."""
    links = ", ".join(f'[data-testid="stSidebarNavLink"][href$="/{address(title)}"]' for title in titles)
    return f"<style>{links} {{ opacity: .65; }}</style>" if links else ""


def request_token(session: str) -> str:
    """Return the token that a page puts into a header, so that only pages of this session can change something.

    The study stores neither the session nor the token, so nobody can compute the token from a copy of the study.
    """
    return hmac.new(session.encode(), b"labeler requests", "sha256").hexdigest()


@lru_cache
def session_cookie(study: Path) -> str:
    """Return the name of the session cookie for a study; raise LabelerError if the study cannot be opened."""
    with open_database(study) as db:
        return f"{SESSION_COOKIE}_{identity.study_id(db)}"


def session_of(cookies: Mapping[str, str], study: Path | None) -> str | None:
    """Return the session id from the cookies.

    Return None if there is no session cookie or the study cannot be opened.
    """
    try:
        return cookies.get(session_cookie(study)) if study else None
    except LabelerError:
        return None


def explain(error: LabelerError, person: Person | None) -> None:
    """Show an error on the page.

    Only coordinators see the path of the study on the server.
    """
    if person is None:
        begin_page()
    is_coordinator = person is not None and Role.COORDINATOR in person.roles
    st.error(
        escape_markdown(str(error) if is_coordinator else for_anyone(error))
    )  # the error may contain names from files
    if isinstance(error, StudyError):
        log.warning("%s", error)
        st.write("Answers that are not saved yet are kept in this browser.")


@st.fragment(run_every=RETRY_S)
def come_back(study: Path) -> None:
    """Reload the page as soon as the study can be opened."""
    try:
        open_database(study).close()
    except LabelerError:
        return
    st.rerun()


def pages(db: Database, person: Person) -> dict[str, Callable[[], None]]:
    """Return the pages that a person's roles allow, and the page for signing out, by title.

    The first of these pages opens after the person signs in.
    """
    own: dict[str, Callable[[], None]] = {}
    results: dict[str, Callable[[], None]] = {}
    if Role.REVIEWER in person.roles:
        own |= {title: partial(page.render, db, person.person_id) for title, page in REVIEWER_PAGES.items()}
        if not reviewing.has_feedback(db, person.person_id):
            del own["Feedback"]
        if own_result.is_open(db, person.person_id):
            links = settings().demo_report, settings().demo_more
            own = {OWN_RESULT: partial(result.render, db, person.person_id, *links)} | own
    if Role.COORDINATOR in person.roles:
        results |= {title: partial(coordinator_pages.show, db, person.name, title) for title in COORDINATOR_PAGES}
        results |= {title: partial(explore.render, db, person.name, name) for title, name in EXPLORE_PAGES.items()}
    is_over = coordinating.get_study(db).phase in (State.CLOSED, State.UNBLINDED)
    return (results | own if is_over else own | results) | {"Sign out": partial(sign_out, db, person)}


def sign_out(db: Database, person: Person) -> None:
    """Show the page for signing out, which also sends unsaved answers."""
    if Role.REVIEWER in person.roles:
        label.deliver(db, person.person_id, leaving=True)
    st.write(f"You are signed in as **{escape_markdown(person.name)}**.")
    st.html('<a href="/sign-out" target="_self">Sign out on this device</a>')
