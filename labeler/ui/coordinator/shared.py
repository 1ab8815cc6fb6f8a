"""Shared parts of the coordinator pages: links between pages, success messages and error messages."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import streamlit as st

from labeler.errors import LabelerError
from labeler.service import overview
from labeler.store import Database
from labeler.ui.coordinator.escaping import escape_markdown
from labeler.ui.input_queue import may_be_left

STUDY = "Study"
_MESSAGE, _ROUND = "message", "actions-done"


def address(title: str) -> str:
    """Return the path of a page."""
    return title.lower().replace(" ", "-")


def link(title: str, label: str | None = None, query: Mapping[str, str] | None = None) -> None:
    """Show a link to the page with this title."""
    st.page_link(_page(title), label=escape_markdown(label or title), query_params=dict(query or {}))


def go_to(title: str) -> None:
    """Switch to the page with this title."""
    st.switch_page(_page(title))


def done(message: str) -> None:
    """Reload the page with a message about the completed action at the top."""
    st.session_state[_MESSAGE] = message
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.rerun()


def fresh(key: str) -> str:
    """Return a widget key that changes after each successful action.

    The new key makes the widget empty.
    """
    return f"{key}-{st.session_state.get(_ROUND, 0)}"


def acknowledge() -> bool:
    """Show the message about the completed action once, on the page and as a toast.

    Return whether there was a message.
    """
    if _MESSAGE not in st.session_state:
        return False
    message = st.session_state[_MESSAGE]
    st.success(escape_markdown(message))
    first, stop, _ = message.partition(". ")
    st.toast(escape_markdown(first + stop.strip()))  # visible even if the page is scrolled down
    del st.session_state[_MESSAGE]  # only now, because the next request may stop this page run
    return True


def next_step(db: Database, person: str, here: str) -> None:
    """Show a link to the next step of the study.

    No link is shown if the step is on this page, or if reviewers must label first.
    """
    ahead = overview.overview(db, person).next
    page = ahead.page or STUDY
    if page not in (here, overview.WAITING):
        link(page, f"→ Next step: {ahead.words}")


@contextmanager
def errors_here() -> Iterator[None]:
    """Show errors at this place of the page, and leave the rest of the page unchanged."""
    try:
        yield
    except LabelerError as error:
        st.error(escape_markdown(str(error)))


def _page(title: str) -> st.Page:
    """Return a placeholder for a page.

    Streamlit identifies pages by path, so the function of the placeholder is never called.
    """
    return st.Page(lambda: None, title=title, url_path=address(title))


class Bar:
    """A progress bar that shows the estimated remaining time.

    While the bar is shown, the person may go to another page.
    """

    def __init__(self, words: str) -> None:
        may_be_left()
        self._words, self._bar = words, st.progress(0.0, f"{words} …")

    def show(self, done_s: float, whole_s: float) -> None:
        """Show the progress after `done_s` of about `whole_s` seconds."""
        left = whole_s - done_s
        words = f"about {max(left, 1):.0f} s left" if left > -1 else f"{done_s:.0f} s so far, longer than usual"
        self._bar.progress(min(done_s / whole_s, 0.97), f"{self._words}: {words}")

    def end(self) -> None:
        """Remove the bar."""
        self._bar.empty()
