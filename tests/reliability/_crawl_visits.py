"""An attacker who wants to know everything: requests every page, every address, every error, data of other people."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import connect as open_file
from typing import Any

from websockets.exceptions import InvalidStatus

from labeler.ui import component
from labeler.ui.coordinator.places import ITEM, MOVED, PLACES
from tests.performance.wire import is_saved
from tests.reliability._crawl_window import Caller, Unseen, Window
from tests.reliability._hidden import leaves

NOBODY = "ffffffffffffffffffffffffffffffff"
NO_CODE = "ZZZZZZ"
REPORT_LIMIT_S = 180
OF_COORDINATORS = (*(title.lower() for title in (*PLACES, ITEM)), *(page for page in MOVED if page not in PLACES))
OF_REVIEWERS = ("", "my-labels", "guide", "practice", "feedback")
BROWSED = (
    "study", "study?view=log", "items?view=all-items", "people", "decide?view=comments",
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


@dataclass
class Traces:
    """Names that the server assigned to a coordinator's windows, as these windows received them."""

    session: str = ""
    hashes: set[str] = field(default_factory=set)
    media: set[str] = field(default_factory=set)
    deferred: set[str] = field(default_factory=set)

    def note(self, window: Window) -> None:
        """Store the names in the messages of a page."""
        self.session = window.session
        for message in window.seen:
            self.hashes.add(message.hash)
            self.media |= {str(text) for text in leaves(message) if str(text).startswith("/media/")}
            deferred = message.delta.new_element.download_button.deferred_file_id
            self.deferred |= {deferred} if deferred else set()


def browse(window: Window) -> None:
    """Visit all pages of a coordinator."""
    for page in BROWSED:
        window.go(page)


@contextmanager
def left_open(coordinator: Caller, *, unblinded: bool, everything: bool) -> Iterator[Traces]:
    """Open a coordinator's windows on pages with downloads, which the server keeps while the page is open.

    With `everything`, one of the windows visits every page.
    """
    traces = Traces()
    with ExitStack() as windows:
        for page in ("results?view=figures", "results?view=report", "study?view=log")[0 if unblinded else -1 :]:
            window = windows.enter_context(Window(coordinator))
            if page == "study?view=log" and everything:
                browse(window)
            window.go(page)
            if page == "results?view=report":
                deadline = time.monotonic() + REPORT_LIMIT_S
                while "Download report.html" not in window.text and time.monotonic() < deadline:
                    time.sleep(0.5)  # polls in a bounded loop; the page says when the report is there
                    window.go(page)
            traces.note(window)
        if not traces.media or (unblinded and not traces.deferred):
            raise Unseen("a coordinator is offered no downloads")
        yield traces


def see_addresses(caller: Caller) -> None:
    """Request every address."""
    for path in PATHS:
        caller.ask(path)
    caller.ask("/_stcore/metrics", Accept="application/x-protobuf")
    caller.ask("/sign-out", "HEAD")


def see_pages(
    window: Window, shows: str, own_words: str, *, absent: Iterable[str], made_up: bool, label: str = ""
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


def see_own_labels(window: Window, own_words: str) -> None:
    """Visit My labels with a filter and on another page, and revise a label if this is possible."""
    window.go("my-labels", "My labels")
    if "You have not labelled anything yet" in window.text:
        return
    window.run(widgets={window.widget("radio").id: {"string_value": window.widget("radio").options[1]}})
    if any(kind == "number_input" for kind, _ in window.elements):
        window.run(widgets={window.widget("number_input").id: {"double_value": 2}})
    if "Look and revise" not in window.go("my-labels").text:  # nothing can be revised while the study is closed
        return
    window.press("Look and revise", "Press S or D to change it")
    if window.data["offers"]:
        code = window.data["offers"][0]["code"]
        if is_saved(window.answer("dissimilar", comment=own_words)):
            window.change({"saved": code})
    else:
        window.press("Back to my labels", "My labels")


def practise(window: Window) -> None:
    """Do the whole practice round."""
    window.go("practice")
    codes = [item["code"] for item in window.data["items"]]
    answers = {code: ("similar", "dissimilar", "not sure")[number % 3] for number, code in enumerate(codes)}
    window.change({"round": window.data["round"], "answers": answers})
    if "Practise once more" not in window.text:
        raise Unseen("the practice round does not end")


def provoke(window: Window, own: str, foreign: str, event_of_another: str) -> None:
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


def _first_offer(window: Window) -> dict[str, Any]:
    return {key: offer[key] for offer in window.data["offers"][:1] for key in ("code", "revision")}


def label(window: Window, own_words: str) -> list[dict[str, Any]]:
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
    with Window(caller) as window, closing(open_file(study, isolation_level=None)) as other:
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
    with Window(caller, known=traces.hashes, prefix="knowing messages: ") as window:
        window.go("").go("study").go("results")
        for file_id in sorted(traces.deferred):
            window.request("deferred_file", window.session, file_id=file_id)
            window.request("deferred_file", traces.session, file_id=file_id)
        window.request("dataframe_chunk", window.session, source_id=NOBODY)


def take_over(caller: Caller, traces: Traces, coordinator: Caller) -> None:
    """Try to take over the session of a coordinator's window, idle or while its page is computed."""
    with Window(caller, session=traces.session, prefix="taken over: ") as window:
        window.go("").go("study")
    left = Window(coordinator)
    left.go("study")
    left.begin("item", {})
    session = left.session
    left.leave()
    with Window(caller, session=session, prefix="taken over while running: ") as window:
        window.go("").go("item")


def is_shut_out(caller: Caller, secret: str) -> bool:
    """Return whether a person with an ended session, and their link, gets no access."""
    answers = [caller.ask("/").status, caller.ask(f"/join/{secret}").status]
    try:
        Window(caller)
    except InvalidStatus as refused:
        return [*answers, refused.response.status_code] == [303, 403, 403]
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
    caller.sign_in(good).ask("/sign-out", "POST", Origin=caller.url)
