"""Events between a key press and the saving of its answer; none of them may lose the answer.

Each function takes a reviewer's page, gives answers while nothing reaches the server, causes one event, and returns to
the page. `tests/browser/test_pending.py` runs each with a few answers, `tests/reliability/pending.py` with many.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from labeler.studies.course import course
from labeler.studies.plan.lifecycle import Step
from labeler.studies.store import open_database
from labeler.studies.store.opening import discard
from labeler.studies.ui.answers import PROTOCOL, PROTOCOL_HEADER
from tests.browser import studies
from tests.browser.conftest import Served, invited, path_of, start_server, stop_server
from tests.browser.hands import coded_answers, item_on_screen

BACK_LIMIT_MS = 60_000
STREAM, REQUESTS = "**/_stcore/stream", "**/api/**"
PENDING = "() => (window.__review ? window.__review.owner.queue.length : window.__pending)"
SAVED = f"() => ({PENDING})() === 0"
# Like key presses, but without waiting until each item was seen.
PUSH = """events => events.forEach((event) => window.__review.owner.queue.push(event))"""
IN_STORAGE = "prefix => Object.keys(localStorage).filter((key) => key.startsWith(prefix)).length"


@dataclass
class Scene:
    """A reviewer at a page whose connection can be cut; `pressed` are the answers in order, by code."""

    served: Served
    name: str
    page: Page
    pressed: list[tuple[str, str]] = field(default_factory=list)
    is_cut: bool = False

    def connect(self, page: Page) -> None:
        """Connect the page so that nothing passes while the connection is cut."""

        def through(route: WebSocketRoute) -> None:
            server = route.connect_to_server()
            route.on_message(lambda message: None if self.is_cut else server.send(message))

        page.route_web_socket(STREAM, through)
        page.route(REQUESTS, lambda route: route.abort() if self.is_cut else route.continue_())

    def press(self, n: int) -> None:
        """Answer the next n items of the plan in the page."""
        item_on_screen(self.page)
        with open_database(self.served.study) as db:
            rows = db.execute(
                """SELECT code FROM assignments JOIN people USING (person_id)
                   WHERE name = ? ORDER BY position LIMIT ? OFFSET ?""",
                (self.name, n, len(self.pressed)),
            ).fetchall()
        assert len(rows) == n, "the plan has too few items for that many answers"
        new = [(code, ("similar", "dissimilar")[number % 2]) for number, (code,) in enumerate(rows)]
        same = {"revision": 0, "dwell_ms": 700, "flag": False, "comment": None, "confidence": None}
        events = [{**same, "view": {}, "event_id": uuid4().hex, "code": code, "answer": answer} for code, answer in new]
        self.page.evaluate(PUSH, events)
        self.pressed += new

    def press_in_vain(self, n: int) -> None:
        """The same while nothing reaches the server."""
        item_on_screen(self.page)
        self.is_cut = True
        before = len(self.stored())
        self.press(n)
        assert self.page.evaluate(PENDING) == n
        assert len(self.stored()) == before

    def stored(self) -> list[tuple[str, str]]:
        """Return the reviewer's answers in the study, in order."""
        return coded_answers(self.served, self.name)

    def wait_until_saved(self) -> None:
        """Wait until the page has nothing left to send."""
        self.page.wait_for_function(SAVED, timeout=BACK_LIMIT_MS)

    def wait_until_stored(self, n: int) -> None:
        for _ in range(BACK_LIMIT_MS // 100):
            if len(self.stored()) == n:
                return
            self.page.wait_for_timeout(100)  # polls in a bounded loop
        raise AssertionError(f"the study has {len(self.stored())} answers of {n}")

    def come_back(self) -> None:
        """Restore the connection, reload the page for labelling, and wait until everything is saved."""
        self.is_cut = False
        self.page.goto(self.served.url)
        self.wait_until_saved()

    def restart(self, study: Path, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Stop the server, do something, and restart it at the same address with a study."""
        stop_server(self.served.process)
        meanwhile()
        self.served.process = start_server(study, self.served.port)


def scene(page: Page, served: Served, name: str) -> Scene:
    """A reviewer who has just signed in."""
    one = Scene(served, name, page, coded_answers(served, name))
    one.connect(page)
    page.goto(served.link(name))
    return one


def move(one: Scene, step: Step) -> None:
    with open_database(one.served.study) as db:
        course.change_state(db, step, why="a test", actor="carol", now=datetime.now(UTC))


def paused(one: Scene, n: int) -> None:
    """The study is paused before the answers arrive, and continues later."""
    one.press_in_vain(n)
    move(one, Step.PAUSE)
    one.is_cut = False
    status = one.page.locator(".status")
    expect(status).to_contain_text("The study is paused", timeout=BACK_LIMIT_MS)
    expect(status).to_contain_text(f"Not saved yet: {n}")
    expect(one.page.locator(".outbox li")).to_have_count(n)
    move(one, Step.OPEN)
    one.wait_until_saved()


def signed_out(one: Scene, n: int) -> None:
    """The reviewer signs out although the page warns about unsaved answers, and signs in again."""
    one.press_in_vain(n)
    one.page.goto(f"{one.served.url}/sign-out")
    words = f"{n} answers are not saved yet" if n > 1 else "1 answer is not saved yet"
    expect(one.page.get_by_text(words)).to_be_visible()
    one.page.get_by_role("button", name="Sign out anyway").click()
    expect(one.page.get_by_text("You are signed out")).to_be_visible()
    assert one.page.evaluate(IN_STORAGE, "labeler-unsaved-") == n
    one.is_cut = False
    one.page.goto(one.served.link(one.name))
    one.wait_until_saved()


def restored(one: Scene, n: int) -> None:
    """The study is replaced by a backup without the last n answers, all but one of which were acknowledged."""
    backup = one.served.study.with_name("backup.study")
    backup.unlink(missing_ok=True)
    with open_database(one.served.study) as db:
        db.backup(backup)
    before = len(one.stored())
    one.press(n - 1)
    one.wait_until_saved()
    assert len(one.stored()) == before + n - 1

    def take_its_place() -> None:
        discard(one.served.study)
        backup.rename(one.served.study)
        assert len(one.stored()) == before

    one.restart(one.served.study, take_its_place)
    one.press(1)  # an idle page does not notice it
    one.wait_until_stored(before + n)
    one.wait_until_saved()


def other_study(one: Scene, n: int) -> None:
    """Another study runs at the same address for a while, with a reviewer of the same name."""
    one.press_in_vain(n)
    other = one.served.study.with_name("other.study")
    if not other.exists():
        studies.make(other, studies.many(4), reviewers=(one.name, "somebody"))
    own = one.served.study
    one.restart(other)
    try:
        secret = invited(other)[one.name]
        one.is_cut = False
        one.page.goto(f"{one.served.origin}{path_of(other)}/join/{secret}")
        item_on_screen(one.page)
        assert one.page.evaluate(PENDING) == 0
        assert one.page.locator(".outbox li").count() == 0
        with open_database(other) as db:
            assert db.execute("SELECT count(*) FROM labels").fetchone()[0] == 0
    finally:
        one.restart(own)
    one.page.goto(one.served.link(one.name))
    one.wait_until_saved()


def other_version(one: Scene, n: int) -> None:
    """The server is of another version than the page, which must be loaded again."""

    def renumbered(route: Route) -> None:
        route.continue_(headers={**route.request.headers, PROTOCOL_HEADER: f"{PROTOCOL}0"})

    one.page.route(REQUESTS, renumbered)
    one.press(n)
    status = one.page.locator(".status")
    expect(status).to_contain_text("Reload it to continue.", timeout=BACK_LIMIT_MS)
    expect(status).to_contain_text(f"Not saved yet: {n}")
    one.page.unroute(REQUESTS, renumbered)
    one.come_back()


def closed_window(one: Scene, n: int) -> None:
    """The window is closed with the answers in it, and another window is opened later."""
    one.press_in_vain(n)
    context = one.page.context
    one.page.close()
    one.page = context.new_page()
    one.connect(one.page)
    one.come_back()


def another_page(one: Scene, n: int) -> None:
    """The reviewer opens the guide instead of waiting."""
    one.press_in_vain(n)
    one.is_cut = False
    one.page.goto(f"{one.served.url}/guide")
    expect(one.page.get_by_text("The question for every item")).to_be_visible()
    one.wait_until_saved()
    one.page.goto(one.served.url)


MISHAPS: dict[str, Callable[[Scene, int], None]] = {
    "the server is of another version": other_version,
    "the study is paused": paused,
    "the reviewer signs out": signed_out,
    "an older backup is restored": restored,
    "another study runs at the same address": other_study,
    "the window is closed": closed_window,
    "the reviewer reads the guide": another_page,
}
