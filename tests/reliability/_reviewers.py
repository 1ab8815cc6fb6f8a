"""A reviewer who tries to reach coordinators' data: pages over HTTP and the websocket, files, service functions."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg

from labeler.errors import LabelerError
from labeler.studies.course import course, staffing
from labeler.studies.labelling import reviewing
from labeler.studies.model import NewLabel, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.store import Database, open_database
from labeler.studies.ui.answers import PROTOCOL, PROTOCOL_HEADER, STATE, SUMMARY
from labeler.studies.ui.coordinator.places import PLACES
from tests.performance.wire import is_saved
from tests.reliability._ground import COORDINATOR, LEFT, OTHER, OWN, PAUSED, REMOVED, REVOKED, Ground
from tests.reliability._sites import MEDIA, upload, with_token
from tests.reliability._strangers import PAGES, opens, routes
from tests.reliability._window import FIGURES, LIMIT_S, LOG, Refused, ReviewersWindow, Window, ask, body, demand
from tests.reliability.cases import Tally

SILENCE_S = 2  # an answer takes a fraction of it


def n_times(ground: Ground) -> int:
    """How often an attempt that depends on the moment is made."""
    return 2 if ground.quick else 20


def two_tabs(ground: Ground) -> None:
    at_once(ground, 2 * [ground.sign_in(OWN)])


def two_devices(ground: Ground) -> None:
    at_once(ground, [ground.sign_in(OWN), ground.sign_in(OWN)])


def at_once(ground: Ground, cookies: list[str]) -> None:
    """Two windows answer one item at the same time: one event is saved once, and only one of two events is saved."""
    tally = ground.tally
    with Window(ground.url, cookies[0]).open() as one, Window(ground.url, cookies[1]).open() as two:
        for number in range(3 * n_times(ground)):
            same = one.event()
            first, second = ((same, same), (same, two.event()), (same, two.event("dissimilar")))[number % 3]
            before = ground.answers()
            sent = ((one, body(first)), (two, body(second)))
            for window, message in sent:
                window.post(message)
            for window, message in sent:
                window.wait(message)
            acks, new = [window.ack or {} for window in (one, two)], ground.answers()[len(before) :]
            n_saved = sum(map(is_saved, acks))
            right = len(new) == 1 and n_saved == (2 if first is second else 1)
            tally.check(right, f"{number}: kept {new}, told {acks}")
            for window in (one, two):
                window.send(window.rerun())


def planted_cookies(ground: Ground) -> None:
    """A cookie from before the sign-in has no effect afterwards; each sign-in creates a new cookie."""
    tally, stolen = ground.tally, ground.sign_in(OTHER)
    for planted in (f"{ground.cookie}=planted", f"{ground.cookie}={'a' * 43}", stolen):
        given = ground.sign_in(OWN, cookie=planted)
        tally.check(given != planted, f"{planted} is the session now")
        tally.check(
            ask(ground.url, "GET", "/", headers={"Cookie": planted}).status == 303, f"{planted[:24]} lets somebody in"
        )
        with Window(ground.url, given).open() as window:
            tally.check(
                window.data["reviewer"] == ground.mark(OWN), f"{planted[:24]}: shown to {window.data['reviewer']}"
            )
        for cookies in (f"{given}; {planted}", f"{planted}; {given}"):
            answer = ask(ground.url, "GET", "/", headers={"Cookie": cookies})
            tally.check(answer.status in (200, 303), f"two cookies: {answer.status}")


def of_another_study(ground: Ground) -> None:
    """A session of another study of the server opens nothing here, whoever has it and whatever its cookie is called."""
    tally = ground.tally
    for name in (OWN, COORDINATOR):
        token = ground.sign_in(name, beside=True).partition("=")[2]
        tally.check(_opens(ground.beside_url, ground.sign_in(name, beside=True)), f"{name} is not in the other study")
        for cookie in (f"{ground.cookie}={token}", f"{ground.cookie.rpartition('_')[0]}={token}", f"x={token}"):
            for path in ("/", "/people", "/my-labels", "/_stcore/metrics", STATE, SUMMARY):
                answer = ask(ground.url, "GET", path, headers={"Cookie": cookie, PROTOCOL_HEADER: PROTOCOL})
                tally.check(answer.status in (303, 401), f"{name}, {path}: {answer.status}")
                tally.none(ground.leaks(answer.raw), f"{name}, {path}")
            tally.check(not _opens(ground.url, cookie), f"{name} opened a window with {cookie[:24]}")


def _opens(url: str, cookie: str) -> bool:
    try:
        Window(url, cookie).close()
    except Refused:
        return False
    return True


def attached(ground: Ground) -> None:
    """A client that names another person's Streamlit session gets its own session, and acts as itself."""
    tally = ground.tally
    for number in range(n_times(ground)):
        victim = (OTHER, COORDINATOR)[number % 2]
        with Window(ground.url, ground.sign_in(victim)).open() as theirs:
            for script in list(theirs.pages.values())[:2]:
                theirs.send(theirs.rerun(page_script_hash=script))
            n_before = len(theirs.frames)
            intrude(ground, theirs, tally, victim, "connected")
            theirs.limit_s = SILENCE_S
            with suppress(TimeoutError):  # once another client took over the session, this window gets nothing
                theirs.send(theirs.rerun())
            after = b"\n".join(theirs.frames[n_before:])
            tally.check(ground.mark(OWN).encode() not in after, f"{victim} is shown what is {OWN}'s")
        intrude(ground, theirs, tally, victim, "gone")


def intrude(ground: Ground, theirs: Window, tally: Tally, victim: str, when: str) -> None:
    """Attach to a session as another person, also with a forged header; look around and label."""
    when, forged = f"{victim}, {when}", {"X_Labeler_Person": str(ground.ids[victim])}
    with ReviewersWindow(ground.url, ground.sign_in(OWN), session=theirs.session, **forged).open() as window:
        for script in list(theirs.pages.values())[::4]:
            window.send(window.rerun(page_script_hash=script))
        window.send(window.rerun())
        for fragment in sorted(theirs.ids)[:2]:
            window.send(window.rerun(fragment_id=fragment))
        for file in theirs.files:
            window.send(demand(file, theirs.session))
        tally.none(ground.leaks(window.text, person=OWN), f"{when}: told")
        tally.check(window.data.get("reviewer") == ground.mark(OWN), f"{when}: shown to {window.data.get('reviewer')}")
        tally.check(window.session != theirs.session, f"{when}: took the session over")
        n_before = len(ground.answers())
        window.label()
        new = ground.answers()[n_before:]
        tally.check([row[2] for row in new] == [ground.ids[OWN]], f"{when}: kept {new}")


def attached_while_busy(ground: Ground) -> None:
    """The same while the other person's page is being computed: no part of it reaches the wrong window."""
    tally = ground.tally
    cookie = ground.sign_in(OWN)
    for number in range(n_times(ground)):
        with Window(ground.url, ground.sign_in(COORDINATOR)).open() as theirs:
            its_own = theirs.session
            title = ("Items", "Results", "Item", "Study")[number % 4]
            theirs.post(theirs.rerun(page_script_hash=theirs.pages[title]))
            with Window(ground.url, cookie, session=theirs.session) as window:
                window.send(window.rerun())
                window.send(window.rerun())
                told = ground.leaks(window.text, person=OWN)
                taken = window.session == its_own
                tally.check(not told and not taken, f"{title}: told {told}, took the session over: {taken}")


def open_windows(ground: Ground) -> None:
    """If the person was signed out, revoked, removed or paused, an answer from the open window is refused."""
    tally = ground.tally
    for how, (name, end, words) in endings(ground).items():
        cookie = ground.sign_in(name)
        with Window(ground.url, cookie).open() as window:
            tally.check(is_saved(window.label()), f"{how}: could not label before")
            before, event = ground.answers(), window.event()
            with open_database(ground.study) as db:
                end(db, cookie)
            window.frames.clear()
            window.say(event)
            tally.check(ground.answers() == before and words in window.text, f"{how}: {window.ack}")
            tally.none(ground.leaks(window.text, person=name), f"{how}: told")
        lets_in = opens(ground, cookie)
        tally.check(lets_in == ("paused" in how), f"{how}: a new window opens: {lets_in}")
    with open_database(ground.study) as db:
        course.change_state(db, Step.OPEN, why="x", actor=COORDINATOR, now=datetime.now(UTC))


def endings(ground: Ground) -> dict[str, tuple[str, Callable[[Database, str], object], bytes]]:
    """Return the ways to end access: for whom, by which action, and the message in their window."""

    def signed_out(_: Database, cookie: str) -> None:
        ask(ground.url, "POST", "/sign-out", headers={"Cookie": cookie, "Origin": ground.origin})

    def told(act: Callable[..., object], **more: object) -> Callable[[Database, str], object]:
        return lambda db, _: act(db, actor=COORDINATOR, now=datetime.now(UTC), **more)

    return {
        "signed out": (OTHER, signed_out, b"not signed in"),
        "revoked": (REVOKED, told(identity.revoke, name=REVOKED, role=Role.REVIEWER), b"not signed in"),
        "removed": (REMOVED, told(staffing.remove, name=REMOVED, why="x"), b"not signed in"),
        "paused": (PAUSED, told(staffing.pause, name=PAUSED, why="x"), b"You are paused"),
        "study paused": (OWN, told(course.change_state, step=Step.PAUSE, why="x"), b"The study is paused"),
    }


def files_after_the_end(ground: Ground) -> None:
    """A coordinator's window after signing out: no page, and no deferred download."""
    tally, cookie = ground.tally, ground.sign_in(COORDINATOR)
    with Window(ground.url, cookie).open() as window:
        window.send(window.rerun(page_script_hash=window.pages["Results"], query_string=FIGURES))
        ask(ground.url, "POST", "/sign-out", headers={"Cookie": cookie, "Origin": ground.origin})
        window.frames.clear()
        window.limit_s = SILENCE_S
        with suppress(TimeoutError):
            window.send(demand(min(window.files), window.session))
        tally.check(b"/media/" not in window.text, "a file was made for nobody")
        window.limit_s = LIMIT_S
        window.send(window.rerun(page_script_hash=window.pages["Results"], query_string=FIGURES))
        tally.check(b"not signed in" in window.text, "a page was shown to nobody")


FOR_EVERYONE = ("/_stcore/health", "/_stcore/host-config", "/favicon.png")
PROGRAM = ("/static/", "/review/", "/sign-")
KINDS: Mapping[str, Any] = {
    "trigger_value": True, "bool_value": True, "int_value": 1, "double_value": 1.0, "string_value": COORDINATOR,
    "json_value": '{"selection": {"rows": [0]}}', "json_trigger_value": '[{"event": "event", "value": {}}]',
}  # fmt: skip


@contextmanager
def coordinators_window(ground: Ground) -> Iterator[Window]:
    """A window that has visited all pages, so that their widgets are known; the last page offers files."""
    with Window(ground.url, ground.sign_in(COORDINATOR)).open() as window:
        for script in list(window.pages.values())[:: 3 if ground.quick else 1]:
            window.send(window.rerun(page_script_hash=script))
        window.send(window.rerun(page_script_hash=window.pages["Results"], query_string=FIGURES))
        yield window


def addresses(ground: Ground) -> None:
    """Every address gives a reviewer the page that everyone gets, or nothing."""
    tally, cookie = ground.tally, ground.sign_in(OWN)
    program = ask(ground.url, "GET", "/", headers={"Cookie": cookie}).body
    for path in routes()[:: 2 if ground.quick else 1]:
        for method in ("GET", "PUT") if ground.quick else ("GET", "HEAD", "POST", "PUT", "DELETE"):
            answer = ask(ground.url, method, path, headers={"Cookie": cookie, "Origin": ground.origin})
            is_page = method in ("GET", "HEAD") and answer.body in (program, b"")
            for_everyone = path in FOR_EVERYONE or path.startswith(PROGRAM)
            told = answer.status >= 300 or for_everyone or (is_page and path.count("/") == 1)
            tally.check(told and not ground.leaks(answer.raw, person=OWN), f"{method} {path}: {answer.status}")


def files_and_uploads(ground: Ground) -> None:
    """Downloads of other people, uploads into another session or the same one, metrics."""
    tally, cookie = ground.tally, ground.sign_in(OWN)
    headers = with_token(ground, cookie)
    theirs = Window(ground.url, ground.sign_in(COORDINATOR)).open()
    theirs.send(theirs.rerun(page_script_hash=theirs.pages["Study"], query_string=LOG))
    with theirs, Window(ground.url, cookie).open() as own:
        media = sorted({found.decode() for found in MEDIA.findall(theirs.text)})
        tally.check(bool(media), "no address of a file was seen")
        for session in (theirs.session, own.session, "x"):
            for method in ("PUT", "DELETE", "OPTIONS"):
                status = upload(ground, session, headers, method=method)
                tally.check(status == 403, f"{method} upload: {status}")
        for path in ("/_stcore/metrics", "/_stcore/metrics?families=active_sessions", "/media/x.csv", *media):
            answer = ask(ground.url, "GET", path, headers={"Cookie": cookie})
            tally.check(answer.status == 403, f"{path}: {answer.status}")
    tally.more = f"{len(media)} addresses of files seen"


def pages_over_the_websocket(ground: Ground) -> None:
    """A page run that names a coordinator's page in any way shows a page of the reviewer."""
    tally = ground.tally
    with coordinators_window(ground) as theirs:
        hidden = {title: script for title, script in theirs.pages.items() if title.partition(" (")[0] in PLACES}
    before = ground.everything("events", "sessions")
    with Window(ground.url, ground.sign_in(OWN)).open() as window:
        for title, script in list(hidden.items())[:: 3 if ground.quick else 1]:
            name = title.lower().replace(" ", "-")
            for asked in (
                {"page_script_hash": script},
                {"page_name": name},
                {"page_name": title},
                {"query_string": f"page={name}"},
            ):
                window.send(window.rerun(**asked))
                tally.none(ground.leaks(window.text, person=OWN), f"{asked}: told")
                tally.check(set(window.pages) & set(PLACES) == set(), f"{asked}: pages {list(window.pages)}")
                window.frames.clear()
        tally.check(is_saved(window.label()), "the next label was not kept")
    same = ground.everything("events", "sessions", "labels", "links", "sqlite_sequence")
    tally.none([name for name, rows in same.items() if before[name] != rows], "changed in the study")
    tally.more = f"{len(PAGES)} pages in all, {len(hidden)} hidden"


def widgets_of_coordinators(ground: Ground) -> None:
    """Values for the widgets of coordinators' pages, fragments, files and operations of their sessions."""
    tally = ground.tally
    cookie = ground.sign_in(OWN)
    with coordinators_window(ground) as theirs, ReviewersWindow(ground.url, cookie).open() as window:
        before = ground.everything("sessions", "sqlite_sequence")
        for message in widget_messages(theirs, window, quick=ground.quick):
            window.send(message)
            tally.none(ground.leaks(window.text, person=OWN), "told")
            for made in set(MEDIA.findall(window.text)):
                got = ask(ground.url, "GET", made.decode(), headers={"Cookie": cookie}).status
                tally.check(got == 403, f"{made!r}: {got}")
            window.frames.clear()
        tally.check(not window.closed, "the window was closed")
    after = ground.everything("sessions", "sqlite_sequence")
    tally.none([name for name in after if after[name] != before[name]], "changed in the study")
    tally.more = f"{len(theirs.ids)} widgets, {len(theirs.files)} deferred downloads"


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


def service_functions(ground: Ground) -> None:
    """Functions that take a reviewer's number refuse a coordinator, a person who left, and an unknown number."""
    tally, now, left = ground.tally, datetime.now(UTC), ground.ids[LEFT]
    with open_database(ground.study) as db:
        task = reviewing.review_queue(db, left).offers[0]
        reviewing.submit(db, left, NewLabel("before", task.code, task.revision, "similar", 900), now=now)
        staffing.remove(db, LEFT, why="away", actor=COORDINATOR, now=now)
        given = {
            "code": task.code,
            "submission": NewLabel("after", task.code, 1, "dissimilar", 900),
            "now": now,
        }
        given |= {"session": None, "facts": {}, "event_ids": ["before"], "event_id": "before"}
        for name, function in inspect.getmembers(reviewing, inspect.isfunction):
            named = inspect.signature(function).parameters
            if "reviewer_id" not in named or name.startswith("_"):
                continue
            arguments = {one: given[one] for one in named if one not in ("db", "reviewer_id")}
            for who in (ground.ids[COORDINATOR], left, 10**6, -1):
                tally.check(refuses(function, db, who, arguments), f"{name} answers {who}")


def refuses(function: Callable[..., object], db: Database, who: int, arguments: Mapping[str, object]) -> bool:
    """Return whether it raises a LabelerError with a message for people."""
    try:
        function(db, who, **arguments)
    except LabelerError:
        return True
    return False
