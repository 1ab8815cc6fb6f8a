"""Run on every click: finds out who is there, lists their pages, shows errors in words."""

from collections.abc import Callable
from functools import partial
from types import ModuleType

import streamlit as st

from labeler.config import settings
from labeler.errors import LabelerError, NoStudy
from labeler.model import Person, Role
from labeler.service import identity
from labeler.store import Database, open_database
from labeler.ui.coordinator import data, people, plan, progress, report, study, verdicts
from labeler.ui.reviewer import label, my_labels

SESSION_COOKIE = "labeler_session"
COORDINATOR_PAGES: dict[str, ModuleType] = {
    "Study": study, "Data": data, "People": people, "Plan": plan, "Progress": progress, "Verdicts": verdicts,
    "Report": report,
}  # fmt: skip


def main() -> None:
    """One page run."""
    st.set_page_config(page_title="Benchmark runs", layout="wide")
    st.html("<style>.stMainBlockContainer { padding-top: 3.6rem; padding-bottom: 1rem; }</style>")
    try:
        study = settings().study
        if study is None:
            raise NoStudy("No study was named. Start the application with: labeler serve --study FILE")
        with open_database(study) as db:
            person = identity.person_of_session(db, st.context.cookies.get(SESSION_COOKIE))
            if person is None:
                st.error("You are not signed in, or no longer. Open your sign-in link again.")
                return
            st.navigation(pages(db, person), position="top").run()
    except LabelerError as error:
        st.error(str(error))


def pages(db: Database, person: Person) -> list[st.Page]:
    """The pages of this person's roles, and signing out."""
    listed: list[st.Page] = []
    if Role.REVIEWER in person.roles:
        listed += [
            _page(partial(label.render, db, person.person_id), "Label"),
            _page(partial(my_labels.render, db, person.person_id), "My labels"),
        ]
    if Role.COORDINATOR in person.roles:
        listed += [_page(partial(module.render, db, person.name), title) for title, module in COORDINATOR_PAGES.items()]
    return [*listed, _page(partial(sign_out, person.name), "Sign out")]


def sign_out(name: str) -> None:
    """Who is signed in here, and the way out."""
    st.write(f"You are signed in as **{name}**.")
    st.html('<a href="/sign-out" target="_self">Sign out on this device</a>')


def _page(render: Callable[[], None], title: str) -> st.Page:
    return st.Page(render, title=title, url_path=title.lower().replace(" ", "-"))


if __name__ == "__main__":
    main()
