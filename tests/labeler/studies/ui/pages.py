"""Open pages under AppTest for a person, without unexpected errors; and read their content."""

import base64
import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from streamlit.testing.v1 import AppTest

from labeler.studies.model import Person, Role
from labeler.studies.people import identity
from labeler.studies.store import Database, open_database
from labeler.studies.ui import app
from labeler.studies.ui.coordinator.shared import address
from tests.labeler.studies.ui.clients import served_study

LIMIT_S = 300  # generous, for a busy machine


def coordinator_page(place: str, view: str, path: Path, person: str = "", **state: Any) -> AppTest:
    """A place of the coordinator with one of its views; for the study's creator unless a person is named."""
    return opened(_of_coordinator, place, path, person, view=view, **state)


def reviewer_page(module: str, path: Path, person: str, **state: Any) -> AppTest:
    """Return a single reviewer's page, by the name of its module."""
    return opened(_of_reviewer, module, path, person, **state)


def explore_page(method: str, path: Path, person: str) -> AppTest:
    """Return the view of a method in the place Tools."""
    return coordinator_page("Tools", method.capitalize(), path, person)


def app_page(path: Path, token: str) -> AppTest:
    """Return the whole application, as it opens on a study with this session."""
    return opened(_of_application, path, token)


def signed_in(path: Path, url: str = "", person: str = "carol", role: Role = Role.COORDINATOR, **state: Any) -> AppTest:
    """One page of the whole application, with messages for refusals, by its address; the first page has no address."""
    now = datetime.now(UTC)
    with open_database(path) as db:
        token = identity.sign_in(db, identity.invite(db, person, role, actor="test", now=now), now=now)
    page = app_page(path, token)
    place, _, query = url.partition("?view=")
    (page._page_hash,) = [key for key, info in page._registered_pages.items() if info["url_pathname"] == place]
    if query:
        page.query_params["view"] = query
    return _run(page, state)


def opened(script: Any, *arguments: Any, view: str = "", **state: Any) -> AppTest:
    """Return the page of a script, in a window whose address names `view` and whose session holds `state`."""
    plain = tuple(str(argument) if isinstance(argument, Path) else argument for argument in arguments)
    page = AppTest.from_function(script, args=plain, default_timeout=LIMIT_S)
    if view:
        page.query_params["view"] = address(view)
    return _run(page, state)


def _run(page: AppTest, state: dict[str, Any]) -> AppTest:
    for key, value in state.items():
        page.session_state[key] = value
    return checked(page.run())


def checked(page: AppTest) -> AppTest:
    """Run the page again, and check that it ended without an unexpected error."""
    assert [error.message for error in page.exception] == []
    return page


def button(page: AppTest, label: str) -> Any:
    """Return the button with this label, or the only button whose label begins so."""
    exact = [one for one in page.button if one.label == label]
    (found,) = exact or [one for one in page.button if one.label.startswith(label)]
    return found


def texts(page: AppTest) -> str:
    """Return all texts on the page."""
    kinds = ("title", "header", "subheader", "markdown", "text", "caption", "info", "warning", "error", "success",
             "code", "metric", "toast")  # fmt: skip
    shown = [str(element.value) for kind in kinds for element in getattr(page, kind)]
    return "\n".join([*shown, *(element.proto.body for element in page.get("html"))])


def shown_items(page: AppTest) -> list[str]:
    """Return the names of the plots on the page."""
    given = [json.loads(component.proto.json) for component in page.get("bidi_component")]
    return [one["item"] for one in given if "item" in one]


def press_key(page: AppTest, queue: str, key: str) -> AppTest:
    """Press a key on the plot of a queue: its event, for one page run."""
    (item,) = shown_items(page)
    page.session_state[f"{queue}-picture"] = {"pressed": {"item": item, "key": key}}
    return checked(page.run())


def pictures(page: AppTest) -> list[str]:
    """Return the SVG of every plot on the page; the names of clip paths are numbered across figures."""
    urls = [image.url for images in page.get("image") for image in images.proto.imgs]
    urls += [url for element in page.get("html") for url in re.findall(r'src="([^"]+)"', element.proto.body)]
    found = [base64.b64decode(url.removeprefix("data:image/svg+xml;base64,")).decode() for url in urls]
    return [re.sub(r"clip\d+", "clip", text) for text in found]


def drawings(page: AppTest) -> list[dict[str, Any]]:
    """Return the drawing data of every plot on the page."""
    given = [json.loads(component.proto.json) for component in page.get("bidi_component")]
    return [data for data in given if "panels" in data]


def documents(page: AppTest) -> list[str]:
    """Return the reports that are part of the page."""
    shown = [element.proto.body for element in page.get("html")]
    return [body for body in shown if body.startswith('<div class="report">')]


def report_written(page: AppTest) -> AppTest:
    """Return the page once the report is written, which a page starts in the background."""
    deadline = time.monotonic() + LIMIT_S
    while not page.get("download_button"):
        assert time.monotonic() < deadline, "the report is not written"
        time.sleep(0.1)  # polls in a bounded loop; the page says when the report is there
        checked(page.run())
    return page


def titles_of(monkeypatch: Any, db: Database, person: Person) -> dict[str, list[str]]:
    """Return the titles of the pages in each group of the navigation of a person."""
    with monkeypatch.context() as outside_of_a_page_run:
        outside_of_a_page_run.setattr("streamlit.Page", lambda _render, title, **_options: SimpleNamespace(title=title))
        return {
            group: [page.title for page in pages]
            for group, pages in app.navigation(db, person, served_study(db.path)).items()
        }


# Scripts of pages. AppTest runs the text of each function, so each has its own imports.


def _of_coordinator(place: str, path: str, person: str) -> None:
    from pathlib import Path

    import streamlit as st

    from labeler.errors import LabelerError
    from labeler.studies.model import Role
    from labeler.studies.store import open_database, people
    from labeler.studies.ui.coordinator.places import show

    with open_database(Path(path)) as db:
        coordinators = [one for one in people.all_people(db) if Role.COORDINATOR in one.roles]
        try:
            show(db, person or min(coordinators, key=lambda one: one.person_id).name, place)
        except LabelerError as error:  # as the application does
            st.error(str(error))


def _of_reviewer(module: str, path: str, person: str) -> None:
    from pathlib import Path

    from labeler.studies.store import open_database
    from labeler.studies.ui.reviewer import guide, label, my_labels
    from tests.making import id_of

    with open_database(Path(path)) as db:
        places = (guide, label, my_labels)
        render = next(getattr(place, f"render_{module}") for place in places if hasattr(place, f"render_{module}"))
        render(db, id_of(db, person))


def _of_application(path: str, token: str) -> None:
    from pathlib import Path

    from labeler.studies.ui import app
    from labeler.studies.ui.served import ServedStudy

    app.main(ServedStudy("of-a-test", Path(path), prefetches=False), token)
