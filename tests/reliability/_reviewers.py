"""A reviewer who tries to reach coordinators' data: pages over HTTP and the websocket, files, service functions."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg

from labeler.errors import LabelerError
from labeler.model import Category, Submission
from labeler.service.labelling import reviewing
from labeler.service.study import staffing
from labeler.store import Database, open_database
from labeler.ui.coordinator.places import PLACES
from tests.performance.wire import is_saved
from tests.reliability._asking import ask
from tests.reliability._ground import COORDINATOR, LEFT, OWN, Ground
from tests.reliability._strangers import PAGES, routes
from tests.reliability._tally import Tally
from tests.reliability._window import FIGURES, ReviewersWindow, Window, demand
from tests.reliability.outcome import Case

FOR_EVERYONE = ("/_stcore/health", "/_stcore/host-config")
PROGRAM = ("/static/", "/review/")
MEDIA = re.compile(rb"/media/[0-9a-f]{32,}\.[a-z]{2,4}")
KINDS: Mapping[str, Any] = {
    "trigger_value": True, "bool_value": True, "int_value": 1, "double_value": 1.0, "string_value": COORDINATOR,
    "json_value": '{"selection": {"rows": [0]}}', "json_trigger_value": '[{"event": "event", "value": {}}]',
}  # fmt: skip


def cases(ground: Ground, *, quick: bool) -> Iterator[Case]:
    """Yield all attempts of a reviewer to reach coordinators' data."""
    with Window(ground.url, ground.sign_in(COORDINATOR)) as theirs:
        visit(theirs, step=3 if quick else 1)
        yield addresses(ground, quick=quick)
        yield files_and_uploads(ground, theirs)
        yield pages_over_the_websocket(ground, theirs, quick=quick)
        yield widgets_of_coordinators(ground, theirs, quick=quick)
    yield service_functions(ground)


def visit(window: Window, *, step: int) -> None:
    """Visit pages in turn, so that their widgets are known; the last page offers files."""
    window.open()
    for script in list(window.pages.values())[::step]:
        window.send(window.rerun(page_script_hash=script))
    window.send(window.rerun(page_script_hash=window.pages["Results"], query_string=FIGURES))


def addresses(ground: Ground, *, quick: bool) -> Case:
    """Every address gives a reviewer the page that everyone gets, or nothing."""
    tally, cookie = Tally("reviewer: coordinators' addresses", "requests"), ground.sign_in(OWN)
    program = ask(ground.url, "GET", "/", headers={"Cookie": cookie}).body
    for path in routes()[:: 2 if quick else 1]:
        for method in ("GET", "PUT") if quick else ("GET", "HEAD", "POST", "PUT", "DELETE"):
            answer = ask(ground.url, method, path, headers={"Cookie": cookie, "Origin": ground.url})
            is_page = method in ("GET", "HEAD") and answer.body in (program, b"")
            for_everyone = (
                path in FOR_EVERYONE or path.startswith(PROGRAM) or path.startswith("/sign-") or path == "/favicon.png"
            )
            told = answer.status >= 300 or for_everyone or (is_page and path.count("/") == 1)
            tally.check(told and not ground.leaks(answer.raw, person=OWN), f"{method} {path}: {answer.status}")
    return tally.case()


def files_and_uploads(ground: Ground, theirs: Window) -> Case:
    """Downloads of other people, uploads into another or the own session, metrics."""
    tally, cookie = Tally("reviewer: files, uploads, metrics", "requests"), ground.sign_in(OWN)
    token = ask(ground.url, "GET", "/_stcore/health").header("set-cookie").partition(";")[0]
    headers = {
        "Cookie": f"{cookie}; {token}", "Origin": ground.url, "X-Xsrftoken": token.partition("=")[2],
        "Content-Type": "multipart/form-data; boundary=x",
    }  # fmt: skip
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.json"\r\n\r\n[]\r\n--x--\r\n'
    with Window(ground.url, cookie).open() as own:
        media = sorted({found.decode() for found in MEDIA.findall(theirs.text)})
        for session in (theirs.session, own.session, "x"):
            for method in ("PUT", "DELETE", "OPTIONS"):
                answer = ask(ground.url, method, f"/_stcore/upload_file/{session}/x", headers=headers, body=body)
                tally.check(answer.status == 403, f"{method} upload: {answer.status}")
    for path in ("/_stcore/metrics", "/_stcore/metrics?families=active_sessions", "/media/x.csv", *media):
        answer = ask(ground.url, "GET", path, headers={"Cookie": cookie})
        tally.check(answer.status == 403, f"{path}: {answer.status}")
    return tally.case(f"{len(media)} addresses of files seen")


def pages_over_the_websocket(ground: Ground, theirs: Window, *, quick: bool) -> Case:
    """A page run that names a coordinator's page in any way shows a page of the reviewer."""
    tally = Tally("reviewer: coordinators' pages over the websocket", "page runs")
    hidden = {title: script for title, script in theirs.pages.items() if title.partition(" (")[0] in PLACES}
    before = ground.everything("events", "sessions")
    with Window(ground.url, ground.sign_in(OWN)).open() as window:
        for title, script in list(hidden.items())[:: 3 if quick else 1]:
            name = title.lower().replace(" ", "-")
            for asked in (
                {"page_script_hash": script},
                {"page_name": name},
                {"page_name": title},
                {"query_string": f"page={name}"},
            ):
                window.send(window.rerun(**asked))
                tally.check(
                    not ground.leaks(window.text, person=OWN), f"{asked}: {ground.leaks(window.text, person=OWN)}"
                )
                tally.check(set(window.pages) & set(PLACES) == set(), f"{asked}: pages {list(window.pages)}")
                window.frames.clear()
        tally.check(is_saved(window.label()), "the next label was not kept")
    same = ground.everything("events", "sessions", "labels", "links", "sqlite_sequence")
    changed = [name for name, rows in same.items() if before[name] != rows]
    tally.check(not changed, f"changed in the study: {changed}")
    return tally.case(f"{len(PAGES)} pages in all, {len(hidden)} hidden")


def widgets_of_coordinators(ground: Ground, theirs: Window, *, quick: bool) -> Case:
    """Values for the widgets of coordinators' pages, fragments, files and operations of their sessions."""
    tally = Tally("reviewer: coordinators' widgets, fragments and files", "messages")
    cookie, before = ground.sign_in(OWN), ground.everything("sessions", "sqlite_sequence")
    with ReviewersWindow(ground.url, cookie).open() as window:
        for message in widget_messages(theirs, window, quick=quick):
            window.send(message)
            tally.check(not ground.leaks(window.text, person=OWN), f"{ground.leaks(window.text, person=OWN)}")
            for made in set(MEDIA.findall(window.text)):
                got = ask(ground.url, "GET", made.decode(), headers={"Cookie": cookie}).status
                tally.check(got == 403, f"{made!r}: {got}")
            window.frames.clear()
        tally.check(not window.closed, "the window was closed")
    after = ground.everything("sessions", "sqlite_sequence")
    changed = [name for name in after if after[name] != before[name]]
    tally.check(not changed, f"changed in the study: {changed}")
    return tally.case(f"{len(theirs.ids)} widgets, {len(theirs.files)} deferred downloads")


def widget_messages(theirs: Window, window: Window, *, quick: bool) -> Iterator[BackMsg]:
    """Yield each widget with each kind of value, on its page and on no page; operations that name their session."""
    for number, widget in enumerate(sorted(theirs.ids)):
        for place, (kind, value) in enumerate(KINDS.items()):
            if quick and (number + place) % (3 * len(KINDS)):
                continue
            message = window.rerun(page_script_hash=list(theirs.pages.values())[number % len(theirs.pages)])
            message.rerun_script.widget_states.widgets.add(id=widget, **{kind: value})
            yield message
    for session in (theirs.session, window.session, ""):
        message = BackMsg()
        message.file_urls_request.session_id = session
        message.file_urls_request.file_names.append("x.csv")
        yield message
        for file in ("x", "../x", *theirs.files):
            yield demand(file, session)
    for fragment in ("x", *sorted(theirs.ids)[:3]):
        yield window.rerun(fragment_id=fragment)


def service_functions(ground: Ground) -> Case:
    """Functions that take a reviewer's number refuse a coordinator, a person who left, and an unknown number."""
    tally, now, left = Tally("service functions for reviewers", "calls"), datetime.now(UTC), ground.ids[LEFT]
    with open_database(ground.study) as db:
        task = reviewing.review_queue(db, left).offers[0]
        reviewing.submit(db, left, Submission("before", task.code, task.revision, Category.SIMILAR, 900), now=now)
        staffing.remove(db, LEFT, why="away", actor=COORDINATOR, now=now)
        given = {
            "code": task.code,
            "submission": Submission("after", task.code, 1, Category.DISSIMILAR, 900),
            "now": now,
        }
        given |= {"session": None, "event_ids": ["before"]}
        for name, function in inspect.getmembers(reviewing, inspect.isfunction):
            named = inspect.signature(function).parameters
            if "reviewer_id" not in named or name.startswith("_"):
                continue
            arguments = {one: given[one] for one in named if one not in ("db", "reviewer_id")}
            for who in (ground.ids[COORDINATOR], left, 10**6, -1):
                tally.check(refuses(function, db, who, arguments), f"{name} answers {who}")
    return tally.case()


def refuses(function: Callable[..., object], db: Database, who: int, arguments: Mapping[str, object]) -> bool:
    """Return whether it raises a LabelerError with a message for people."""
    try:
        function(db, who, **arguments)
    except LabelerError:
        return True
    return False
