"""A signed-in person who visits pages, without a browser, and everything that the server sends to this person.

Pages are requested as a browser does, over HTTP and the websocket; every response and message is kept unchanged.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from sqlite3 import connect as open_file
from typing import Any, Self
from urllib.parse import urlencode
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from labeler.studies.ui import component
from labeler.studies.ui.answers import ANSWERS, ITEMS, MAX_CODES, METHODS, TOKEN_HEADER
from labeler.studies.ui.coordinator.places import ITEM, PLACES
from labeler.studies.ui.served import SESSION_COOKIE
from tests.performance.wire import (
    acknowledgement,
    answer_to,
    body_of,
    events_of,
    is_saved,
    origin_of,
    page_run,
    trigger_of,
)
from tests.reliability._hidden import Hidden, leaves
from tests.reliability._window import AGAIN_S, LOOPBACK, Refused, Reply, ReviewersWindow, ask

NOBODY = "ffffffffffffffffffffffffffffffff"
NO_CODE = "ZZZZZZ"
REPORT_LIMIT_S = 180
FIGURES, REPORT, LOG = "results?view=figures", "results?view=report", "study?view=log"
OF_COORDINATORS = tuple(title.lower() for title in (*PLACES, ITEM))
OF_REVIEWERS = ("", "my-labels", "guide", "practice", "feedback")
BROWSED = (
    "study", LOG, "items?view=all-items", "people", "decide?view=comments",
    "decide?view=splits", "decide?view=calibration", "item", "results", "results?view=figures", "tools",
)  # fmt: skip
PATHS = (
    *(f"/{page}" for page in (*OF_REVIEWERS, *OF_COORDINATORS, "sign-out", "nowhere", "index.html")),
    *(f"/_stcore/{name}" for name in (
        "health", "script-health-check", "host-config", "metrics", "metrics?families=session_events", "stream",
        f"message?hash={NOBODY}", f"upload_file/{NOBODY}/{NOBODY}", "bidi-components/labeler_review/style.css",
        "bidi-components/labeler_review/..%2f..%2fapp.py", "allowed-message-origins", "agent", "nowhere",
    )),
    *(f"/api/{name}" for name in ("answers", "state", "decisions", "items", f"items?code={NO_CODE}", "nowhere")),
    f"/media/{NOBODY}.txt", "/component/labeler_review/index.html", "/component/x/..%2f..%2fapp.py",
    "/app/static/study.csv", "/auth/login", "/auth/logout", "/oauth2callback", "/sign-in", "/sign-in/provider",
    component.ASSETS, f"{component.ASSETS}/",
    *(f"{component.ASSETS}/{name}" for name in component.FILES),
)  # fmt: skip


class Unseen(Exception):
    """A page does not show its expected content, so searching it would prove nothing."""


@dataclass
class Heard:
    """Everything that was sent to a person, with the address it was sent for."""

    frames: list[tuple[str, bytes]] = field(default_factory=list)
    answers: list[tuple[str, bytes]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)  # the pictures that were sent by HTTP

    def sent(self) -> Iterator[tuple[str, str | bytes]]:
        """Each message as it was received, and its parts, in which words are separate from their surroundings."""
        yield from self.came
        for where, frame in self.frames:
            for leaf in leaves(ForwardMsg.FromString(frame)):
                yield where, leaf

    @property
    def came(self) -> list[tuple[str, bytes]]:
        """Each message as it was received."""
        return [*self.answers, *self.frames]

    def leaks(self, hidden: Hidden) -> dict[str, list[str]]:
        """The forbidden data that were found, by place."""
        places: dict[str | bytes, str] = {}
        for where, piece in self.sent():
            places.setdefault(piece, where)
        by_place: dict[str, list[str | bytes]] = {}
        for piece, where in places.items():
            by_place.setdefault(where, []).append(piece)
        found = {where: sorted(hidden.found_in(pieces)) for where, pieces in by_place.items()}
        return {where: names for where, names in found.items() if names}

    def texts(self) -> Iterator[str]:
        """The texts of all messages, without hashes, which are derived from the message."""
        for _, frame in self.frames:
            message = ForwardMsg.FromString(frame)
            message.hash = ""
            yield from (leaf for leaf in leaves(message) if isinstance(leaf, str))

    def page_hashes(self) -> set[str]:
        """Names that Streamlit derives from the titles of pages: two people may get the same page."""
        messages = (ForwardMsg.FromString(frame) for _, frame in self.frames)
        return {page.page_script_hash for message in messages for page in message.navigation.app_pages}

    def screens(self) -> list[dict[str, Any]]:
        """Return the data that the review component received."""
        messages = (ForwardMsg.FromString(frame) for _, frame in self.frames)
        handed = (message.delta.new_element.bidi_component.json for message in messages)
        return [*(json.loads(text) for text in handed if text), *({"offers": [item]} for item in self.items)]

    @property
    def n_places(self) -> int:
        return len({where for where, _ in self.came})

    @property
    def n_bytes(self) -> int:
        return sum(len(piece) for _, piece in self.came)


@dataclass(frozen=True)
class Caller:
    """A client: the address of the server, the cookie, and the client's address on this machine."""

    url: str
    heard: Heard
    cookie: str = ""
    source: str = LOOPBACK

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str) -> Reply:
        """Send an HTTP request and keep the response."""
        is_method = path.partition("?")[0] in METHODS
        given = {"Cookie": self.cookie, "Accept-Encoding": "identity" if is_method else "gzip", **headers}
        reply = ask(self.url, method, path, headers=given, body=body.encode(), source=self.source)
        self.heard.answers += [(f"{method} {path}", reply.head), (f"{method} {path}", reply.body)]
        if reply.status == HTTPStatus.TOO_MANY_REQUESTS and is_method:
            time.sleep(AGAIN_S)
            return self.ask(path, method, body, **headers)
        return reply

    def sign_in(self, secret: str) -> Self:
        """The same client with the cookie that a sign-in link gives."""
        self.ask(f"/join/{secret}")
        cookie = self.post_link(f"{self.url}/join/{secret}").header("set-cookie").partition(";")[0]
        if not cookie.startswith(SESSION_COOKIE):
            raise Unseen("the sign-in link gave no session")
        return type(self)(self.url, self.heard, cookie, self.source)

    def post_link(self, link: str) -> Reply:
        """Paste a link into the form of the sign-in page."""
        form = "application/x-www-form-urlencoded"
        return self.ask("/sign-in", "POST", f"link={link}", Origin=origin_of(self.url), **{"Content-Type": form})


class Visit(ReviewersWindow):
    """A window that visits pages; `data` and `elements` are those of the latest page, `seen` are its messages."""

    def __init__(self, caller: Caller, *, prefix: str = "", session: str = "", known: Iterable[str] = ()) -> None:
        super().__init__(caller.url, caller.cookie, session=session)
        self._caller, self._prefix, self._known = caller, prefix, list(known)
        self._at, self.took_s = f"{prefix}/", 0.0
        self.seen: list[ForwardMsg] = []
        self._pictures: dict[str, Any] = {}

    def go(self, page: str, must_show: str = "") -> Self:
        """Open a page by its address; raises Unseen if it does not show these words."""
        self._at, self.page = f"{self._prefix}/{page}", ""
        return self.run(page=page, must_show=must_show)

    def run(
        self, *, page: str = "", must_show: str = "", widgets: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Self:
        """One page run with changed widgets: id -> the fields of the widget's state."""
        begun = time.perf_counter()
        self.begin(page, widgets)
        self._listen()
        self.took_s = time.perf_counter() - begun
        if must_show not in self.words:
            raise Unseen(f"{self._at} does not show {must_show!r}")
        return self

    def begin(self, page: str, widgets: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Request a page run without waiting for it."""
        self.post(page_run(self._caller.url, self.page, page=page, known=self._known, widgets=widgets))

    def press(self, label: str, must_show: str = "") -> Self:
        return self.run(must_show=must_show, widgets={self.one("button", label).id: {"trigger_value": True}})

    def one(self, kind: str, label: str = "") -> Any:
        """The first widget of a kind with this label on the page."""
        found = [one for of_kind, one in self.elements if of_kind == kind and label in getattr(one, "label", "")]
        if not found:
            raise Unseen(f"{self._at} has no {kind} {label!r}")
        return found[0]

    def tell(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send an event of the review component; returns the acknowledgement, without a page run."""
        begun = time.perf_counter()
        headers = {
            TOKEN_HEADER: self.data["token"],
            "Content-Type": "application/json",
            "Origin": origin_of(self._caller.url),
        }
        came = self._caller.ask(ANSWERS, "POST", body_of(event), **headers)
        told = json.loads(came.body)
        if came.status == HTTPStatus.OK:
            self.data |= told
            self.look()
        self.took_s = time.perf_counter() - begun
        return acknowledgement(came.status, told)

    def look(self) -> None:
        """Request the pictures of the next items, as the component does."""
        codes = [offer["code"] for offer in self.data["offers"][:MAX_CODES] if offer["code"] not in self._pictures]
        if codes and not self.data["closed"]:
            came = self._caller.ask(f"{ITEMS}?{urlencode([('code', code) for code in codes])}")
            items = json.loads(came.body)["items"]
            self._caller.heard.items += items
            self._pictures |= {item["code"]: item.get("panels") for item in items}
        self._fill_in()

    def _fill_in(self) -> None:
        for offer in self.data.get("offers", ()):
            offer["panels"] = offer.get("panels") or self._pictures.get(offer["code"])

    def change(self, change: Mapping[str, Any]) -> Self:
        """Ask for a page run because of a change, as the component does."""
        component = [one for kind, one in self.elements if kind == "bidi_component"][-1]  # before it only sent data
        return self.run(widgets={events_of(component): {"json_trigger_value": trigger_of(change)}})

    def answer(self, answer: str, **other: Any) -> Mapping[str, Any]:
        """Answer the first offered item; `other` replaces fields that a browser would send."""
        return self.tell(answer_to(self.data["offers"][0], answer, **other))

    def request(self, payload: str, session: str, **fields: Any) -> None:
        """Request an operation of the server outside page runs, in the name of a session.

        The server drops the operations of reviewers, so a page run follows, and everything before its end is kept.
        """
        message = BackMsg()
        operation = message.backend_operation_request
        operation.request_id, operation.session_id = uuid4().hex, session
        getattr(operation, payload).SetInParent()
        for name, value in fields.items():
            setattr(getattr(operation, payload), name, value)
        self.post(message)
        self._listen()
        if any(message.WhichOneof("type") == "backend_operation_response" for message in self.seen):
            raise Unseen(f"{self._at} got a response to {payload}")

    @property
    def words(self) -> str:
        """All texts of the page."""
        return "\n".join(str(leaf) for message in self.seen for leaf in leaves(message))

    def keep(self, frame: bytes) -> ForwardMsg:
        self._caller.heard.frames.append((self._at, frame))
        self.seen.append(ForwardMsg.FromString(frame))
        return self.seen[-1]

    def _take(self, message: ForwardMsg) -> None:
        super()._take(message)
        if message.WhichOneof("type") == "delta":
            self.page = message.metadata.active_script_hash
            self.data = json.loads(message.delta.new_element.bidi_component.json or "null") or self.data
            self._fill_in()

    def _listen(self) -> None:
        """Read until the end of a page run and of the page runs that it requested."""
        self.seen, self.data = [], {}
        try:
            self.wait(b"")
        except TimeoutError as reason:
            raise Unseen(f"{self._at} was not sent to its end: {reason}") from reason
        if self.closed:
            raise Unseen(f"{self._at} was not sent to its end")
        if any(kind == "exception" for kind, _ in self.elements):
            raise Unseen(f"{self._at} ended with an error")


@dataclass
class Traces:
    """Names that the server assigned to a coordinator's windows, as these windows received them."""

    session: str = ""
    hashes: set[str] = field(default_factory=set)
    media: set[str] = field(default_factory=set)
    deferred: set[str] = field(default_factory=set)

    def note(self, window: Visit) -> None:
        """Store the names in the messages of a page."""
        self.session = window.session
        for message in window.seen:
            self.hashes.add(message.hash)
            self.media |= {str(text) for text in leaves(message) if str(text).startswith("/media/")}
            deferred = message.delta.new_element.download_button.deferred_file_id
            self.deferred |= {deferred} if deferred else set()


def browse(window: Visit) -> None:
    for page in BROWSED:
        window.go(page)


@contextmanager
def left_open(coordinator: Caller, pages: Iterable[str], *, everything: bool) -> Iterator[Traces]:
    """Open a coordinator's windows on pages with downloads, which the server keeps while the page is open.

    With `everything`, one of the windows visits every page.
    """
    traces = Traces()
    with ExitStack() as windows:
        for page in pages:
            window = windows.enter_context(Visit(coordinator))
            if page == LOG and everything:
                browse(window)
            window.go(page)
            if page == REPORT:
                deadline = time.monotonic() + REPORT_LIMIT_S
                while "Download report.html" not in window.words and time.monotonic() < deadline:
                    time.sleep(0.5)  # polls in a bounded loop; the page says when the report is there
                    window.go(page)
            traces.note(window)
        if not traces.media or (FIGURES in pages and not traces.deferred):
            raise Unseen("a coordinator is offered no downloads")
        yield traces


def see_addresses(caller: Caller) -> None:
    for path in PATHS:
        caller.ask(path)
    caller.ask("/_stcore/metrics", Accept="application/x-protobuf")
    caller.ask("/sign-out", "HEAD")


def see_pages(
    window: Visit, shows: str, own_words: str, *, absent: Iterable[str], made_up: bool, label: str = ""
) -> None:
    """Visit all pages of a reviewer, with `made_up` also the made-up items, and the pages that must be absent."""
    window.go(label, shows)
    see_own_labels(window, own_words)
    if made_up:
        window.go("guide", "The question for every item")
        practise(window)
    window.go("feedback")  # exists only after a calibration round
    window.go("sign-out", "You are signed in as")
    for page in absent:
        window.go(page)
        if not any(message.WhichOneof("type") == "page_not_found" for message in window.seen):
            raise Unseen(f"/{page} is there for a reviewer")


def see_own_labels(window: Visit, own_words: str) -> None:
    """Visit My labels with a filter and on another page, and revise a label if this is possible."""
    window.go("my-labels", "My labels")
    if "You have not labelled anything yet" in window.words:
        return
    window.run(widgets={window.one("radio").id: {"string_value": window.one("radio").options[1]}})
    if any(kind == "number_input" for kind, _ in window.elements):
        window.run(widgets={window.one("number_input").id: {"double_value": 2}})
    if "Look and revise" not in window.go("my-labels").words:  # nothing can be revised while the study is closed
        return
    window.press("Look and revise", "Press S or D to change it")
    if window.data["offers"]:
        code = window.data["offers"][0]["code"]
        if is_saved(window.answer("dissimilar", comment=own_words)):
            window.change({"saved": code})
    else:
        window.press("Back to my labels", "My labels")


def practise(window: Visit) -> None:
    """Do the whole practice round."""
    window.go("practice")
    codes = [item["code"] for item in window.data["items"]]
    answers = {code: ("similar", "dissimilar", "not sure")[number % 3] for number, code in enumerate(codes)}
    window.change({"round": window.data["round"], "answers": answers})
    if "Practise once more" not in window.words:
        raise Unseen("the practice round does not end")


def provoke(window: Visit, own: str, foreign: str, event_of_another: str) -> None:
    """Cause every refusal of an answer: each must happen, and its message must reveal nothing."""
    window.go("")
    first: dict[str, Any] = {"code": own, "revision": 0} | _first_offer(window)
    event = {"event_id": NOBODY, "answer": "similar", "dwell_ms": 900, **first}
    wrong: tuple[dict[str, Any], ...] = (
        {"code": foreign}, {"code": NO_CODE}, {"revision": first["revision"] + 7}, {"dwell_ms": 3},
        {"answer": "withdrawn"}, {"answer": "fresh"}, {"event_id": event_of_another, "dwell_ms": 0},
        {"comment": "x" * 9000}, {"revision": "0"}, {"code": None}, {"view": []},
    )  # fmt: skip
    for other in wrong:
        ack = window.tell(event | other)
        if ack.get("outcome") in (None, "saved") or not ack["message"]:
            raise Unseen(f"an answer with {other} was not refused in words: {ack}")
    window.tell({"nothing": "nothing"})
    window.go("")


def _first_offer(window: Visit) -> dict[str, Any]:
    return {key: offer[key] for offer in window.data["offers"][:1] for key in ("code", "revision")}


def label(window: Visit, own_words: str) -> list[dict[str, Any]]:
    """Answer, undo, answer again, and give one more answer; returns the offers that were seen.

    The plan is drawn from random bits, and may leave a person without items in a round.
    """
    window.go("")
    seen = list(window.data["offers"])
    if not seen:
        return seen
    last = seen[0]["code"]
    window.answer("similar", comment=own_words, flag=True)
    again = window.data["last"]
    window.tell({"event_id": NOBODY[:-1] + "0" + last, "code": last, "revision": again["revision"],
                 "answer": "withdrawn", "dwell_ms": 900})  # fmt: skip
    for answer in ("similar", "not sure"):
        seen += window.data["offers"]
        if window.data["offers"]:
            window.answer(answer)
    return [*seen, *window.data["offers"]]


def wait_for_a_busy_study(caller: Caller, study: Path) -> None:
    """Answer while another process writes longer than the server waits; the answer is refused and sent again later."""
    with Visit(caller) as window, closing(open_file(study, isolation_level=None)) as other:
        window.go("")
        other.execute("BEGIN IMMEDIATE")
        ack = window.answer("similar")
        other.execute("ROLLBACK")
    if ack.get("outcome") != "later":
        raise Unseen(f"the study was not busy: {ack}")


def ask_for_traces(caller: Caller, traces: Traces) -> None:
    """Request everything that a coordinator's window has left: downloads, uploads, known messages."""
    for path in sorted(traces.media):
        caller.ask(path)
    for method in ("PUT", "DELETE"):
        caller.ask(f"/_stcore/upload_file/{traces.session}/{NOBODY}", method)
    with Visit(caller, known=traces.hashes, prefix="knowing messages: ") as window:
        window.go("").go("study").go("results")
        for file_id in sorted(traces.deferred):
            window.request("deferred_file", window.session, file_id=file_id)
            window.request("deferred_file", traces.session, file_id=file_id)
        window.request("dataframe_chunk", window.session, source_id=NOBODY)


def take_over(caller: Caller, traces: Traces, coordinator: Caller) -> None:
    """Try to take over the session of a coordinator's window, idle or while its page is computed."""
    with Visit(caller, session=traces.session, prefix="taken over: ") as window:
        window.go("").go("study")
    left = Visit(coordinator)
    left.go("study")
    left.begin("item")
    session = left.session
    left.close()
    with Visit(caller, session=session, prefix="taken over while running: ") as window:
        window.go("").go("item")


def is_shut_out(caller: Caller, secret: str) -> bool:
    """Return whether a person with an ended session, and their link, gets no access."""
    answers = [caller.ask("/").status, caller.ask(f"/join/{secret}").status]
    try:
        Visit(caller)
    except Refused as refused:
        return answers == [303, 403] and "403" in str(refused)
    return False


def see_sign_in(caller: Caller, bad: Mapping[str, str], good: str) -> None:
    """Visit the sign-in pages with valid and invalid links."""
    caller.ask("/")
    caller.ask("/sign-in")
    for secret in bad.values():
        if caller.ask(f"/join/{secret}").status != 403:
            raise Unseen("a link that is not valid was not refused")
    caller.post_link(f"{caller.url}/join/{bad['wrong']}")
    caller.post_link("x" * 9000)
    caller.ask("/sign-in", "POST", "link=x", Origin="http://elsewhere.test")
    if caller.post_link(f"{caller.url}/join/{good}").status != 303:
        raise Unseen("a pasted link was refused")
    caller.sign_in(good).ask("/sign-out", "POST", Origin=origin_of(caller.url))
