"""Shared parts of the places: headings, views, links, the box, success messages and error messages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from html import escape
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from labeler.errors import LabelerError
from labeler.files.outputs import as_part_of_a_page
from labeler.network import is_of_this_machine_only
from labeler.safe_text import escape_markdown as escape_markdown
from labeler.studies.ui import served
from labeler.studies.ui.coordinator.clicks import by_click
from labeler.studies.ui.input_queue import may_be_left

MIN_CONTENTS = 4  # a document with fewer sections has no list of contents
# When a page is loaded, go to the section that its address names; when it is loaded again, go to where the reader was.
# Streamlit scrolls a part of the page, so browsers do not do this. Figures take a moment to get their height.
KEEP_PLACE = """<script>{
  const part = document.querySelector('[data-testid="stMain"]');
  const key = () => "place " + location.pathname + location.search;
  const wasReloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
  const before = wasReloaded && sessionStorage.getItem(key());
  const go = () => before ? part.scrollTo(0, Number(before))
    : document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  go();
  setTimeout(() => {
    go();
    part.onscroll = () => sessionStorage.setItem(key(), String(part.scrollTop));
  }, 400);
}</script>"""
VIEW = "view"  # the query parameter that names a view
PERSON = "chosen-person"  # key in the session state: the person that the page People shows
_MESSAGE, _ROUND = "message", "actions-done"


def address(title: str) -> str:
    """Return the path of a page, or the name of a view in an address."""
    return title.lower().replace(" ", "-")


def heading(
    title: str, facts: str, place: str, views: Sequence[str], first: str, name_of: Callable[[str], str] = str
) -> str:
    """Show the heading of a place with a line of facts and the choice of its views; return the chosen view.

    The address keeps the view; without a view in the address, it is `first`. `name_of` returns the text of a view, for
    example with a count.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="top", key="heading"):
        with st.container(width="content"):
            st.title(escape_markdown(title), anchor=False)
            st.html(f'<p class="facts">{escape(facts)}</p>')
        if len(views) < 2:
            return first
        key = f"view-{place}"
        asked = st.query_params.get(VIEW, "")
        st.session_state[key] = next((view for view in views if address(view) == asked), first)
        names = {view: name_of(view) for view in views}  # Streamlit asks for each text several times
        st.segmented_control(
            "View", views, key=key, format_func=names.__getitem__, required=True, label_visibility="collapsed",
            on_change=_keep_in_address, args=(key,),
        )  # fmt: skip
    return str(st.session_state[key])


def _keep_in_address(key: str) -> None:
    st.query_params[VIEW] = address(st.session_state[key])


def link(place: str, label: str, view: str = "") -> None:
    """Show a link to a place, or to one of its views."""
    st.page_link(_page(place), label=escape_markdown(label), query_params=_query(view))


def go_to(place: str, view: str = "") -> None:
    """Switch to a place, or to one of its views."""
    st.switch_page(_page(place), query_params=_query(view))


def _query(view: str) -> dict[str, str]:
    return {VIEW: address(view)} if view else {}


def _page(title: str) -> st.Page:
    """Return a placeholder for a page.

    Streamlit identifies pages by path, so the function of the placeholder is never called.
    """
    return st.Page(lambda: None, title=title, url_path=address(title))


def box(heading: str = "") -> AbstractContextManager[Any]:
    """Return the container for what the coordinator should do now."""
    container = st.container(border=True, key="box")
    if heading:
        container.header(escape_markdown(heading), anchor=False)
    return container


def numbers(values: Sequence[tuple[str, str, str]]) -> None:
    """Show up to three numbers, each with its label and a line below."""
    for column, (label, value, note) in zip(st.columns(len(values), wrap=False), values, strict=True):
        with column.container(gap=None):
            st.metric(escape_markdown(label), value)
            st.html(f'<p class="facts">{escape(note)}</p>')


def fold(label: str, key: str) -> Any:
    """Return a fold, whose content should be computed only while `.open` is true."""
    return st.expander(escape_markdown(label), type="compact", on_change="rerun", key=key)


def table(rows: Sequence[Mapping[str, object]], alt: str) -> None:
    """Show a short table for reading, in which all texts are shown as they are."""
    escaped = [
        {
            escape_markdown(name): escape_markdown(value) if isinstance(value, str) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    st.table(escaped, border="horizontal", hide_index=True, alt=alt)


def document(page: str, above: Callable[[], object] = lambda: None) -> None:
    """Show a written HTML page as part of this page, with its contents beside it; `above` shows its buttons."""
    contents, content = as_part_of_a_page(page)
    part: Any = st.container()
    if len(contents) >= MIN_CONTENTS:
        links = "".join(f'<li><a href="#{anchor}" target="_self">{title}</a></li>' for anchor, title in contents)
        left, part = st.columns([1, 4], gap="large")
        left.html(
            f'<nav class="contents" aria-label="Contents"><ul>{links}</ul></nav>'
            f'<details class="contents"><summary>Contents</summary><ul>{links}</ul></details>'
        )
    with part:
        above()
        st.html(f'<div class="report">{content}</div>')
        st.html(KEEP_PLACE, unsafe_allow_javascript=True)


def download(files: Mapping[str, str | bytes]) -> None:
    """Offer files for download, side by side."""
    with st.container(horizontal=True):
        for name, content in files.items():
            st.download_button(f"Download {name}", content, name, key=f"download-{name}", on_click="ignore")


def study_created(command: str, path: str) -> None:
    """Say that a new study was created, with the sign-in link of its coordinator, and how to serve the study."""
    if served.serves_folder():
        st.success("Study created. Open your sign-in link:")
        st.html(f'<a href="{escape(path)}" target="_self">{escape(path)}</a>')
    else:
        st.success("Study created. The first line starts its server; the second line is your sign-in link.")
        st.code(f"{command}\n{path}", language=None, wrap_lines=True)


def done(message: str, *, stays: bool = False) -> None:
    """Reload the page with a message about the completed action.

    If the person stays on an unchanged page, the message is a toast; otherwise, it is a line at the top of the page.
    """
    st.session_state[_MESSAGE] = message, stays
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.rerun()


def refresh() -> None:
    """Reload the page after an action, with empty fields and without a message."""
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.rerun()


def done_at(message: str, place: str, view: str = "") -> None:
    """Switch to another place, which shows a message about the completed action."""
    st.session_state[_MESSAGE] = message, False
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    go_to(place, view)


def fresh(key: str) -> str:
    """Return a widget key that changes after each successful action.

    The new key makes the widget empty.
    """
    return f"{key}-{st.session_state.get(_ROUND, 0)}"


def acknowledge() -> None:
    """Show the message about the completed action once."""
    if _MESSAGE not in st.session_state:
        return
    message, is_toast = st.session_state[_MESSAGE]
    if is_toast:
        st.toast(escape_markdown(message), duration="long")
    else:
        st.success(escape_markdown(message))
    del st.session_state[_MESSAGE]  # only now, because the next request may stop this page run


@contextmanager
def errors_here() -> Iterator[None]:
    """Show errors at this place of the page, and leave the rest of the page unchanged."""
    try:
        yield
    except LabelerError as error:
        st.error(escape_markdown(by_click(str(error))))


def warn_if_of_this_machine(links: Iterable[str]) -> None:
    """Warn if sign-in links open only on the computer of the server."""
    if any(is_of_this_machine_only(urlsplit(link).hostname) for link in links):
        st.warning("These links open only on this computer. So that others can open your links, start the server "
                   "with labeler serve --share.")  # fmt: skip


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


def until_done(words: str) -> Callable[[int, int], None]:
    """Show a bar, and return the function that moves it: it gets how many of how many are done."""
    bar, start = Bar(words), monotonic()

    def advance(n_done: int, n: int) -> None:
        if n_done:
            so_far = monotonic() - start
            bar.show(so_far, so_far * n / n_done)

    return advance


def markdown_list(texts: Iterable[str]) -> str:
    """Return a Markdown list of texts, each escaped."""
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)
