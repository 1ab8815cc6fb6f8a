"""Shared parts: a study, a real server, a reviewer in a real browser; answers given, seen and stored."""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError as TooLate

from tests.browser import studies
from tests.browser.conftest import Served, free_port, invited, serve_command, stop_server, wait_until_served
from tests.browser.hands import SAVED, coded_answers, is_sound, item_on_screen
from tests.reliability.outcome import Case, case

ADA, BEN = "ada", "ben"
WORDS_LIMIT_S, BACK_LIMIT_S, POLL_S = 90.0, 180.0, 0.05
WITHDRAWN = "withdrawn"
SAYS = {"s": "similar", "d": "dissimilar"}
Command = Callable[[Path, int], list[str]]
UNFIT = re.compile(
    r"labeler |sqlite|database|traceback|errno|errors?\b.*\bline \d|example__app|bench_\d|\.study\b", re.I
)

KEPT = re.compile(r"kept in (it|this window|this browser)\b|nothing is lost", re.I)

# All text on the page, also inside the review component, and the part of it that describes a problem.
LOOK = """() => {
  const root = window.__review?.owner?.root;
  const isHere = Boolean(root?.isConnected);
  const words = (element) => (element?.innerText ?? "").replace(/\\s+/g, " ").trim();
  const inside = isHere ? words(root.querySelector(".top")) + " " + words(root.querySelector(".message")) : "";
  const status = isHere ? root.querySelector(".status") : null;
  const alerts = document.querySelectorAll('[data-testid="stAlert"], [data-testid="stException"], [role="dialog"]');
  const trouble = [...alerts].map(words);
  if (status?.classList.contains("trouble")) trouble.push(words(status));
  if (!isHere && document.querySelector("body > h1")) trouble.push(words(document.body));
  const storage = (() => { try { return localStorage; } catch { return {}; } })();
  return {
    sentence: trouble.filter(Boolean).join(" | "),
    everything: [words(document.body), inside, words(status), location.href].join(" "),
    isHere,
    shows: isHere && root.querySelector(".stage").hidden === false,
    kept: Object.keys(storage).filter((name) => name.startsWith("labeler-unsaved-")).length,
  };
}"""
IN_TROUBLE = f"""() => {{
  const isRunning = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "running";
  return !isRunning && ({LOOK})().sentence !== "";
}}"""


@dataclass(frozen=True)
class Seen:
    """The screen at one moment: the message about a problem, all text, and the number of waiting answers."""

    sentence: str
    everything: str
    is_review: bool
    shows_item: bool
    n_kept: int


@dataclass
class Room:
    """The environment of the tests: one browser, a folder, and a study to copy."""

    browser: Browser
    folder: Path
    master: Path
    pictures: Path | None = None
    quick: bool = False

    def copy(self, folder: Path | None = None) -> Path:
        """A copy of the study for one test, in a new folder unless one is named."""
        folder = folder or Path(tempfile.mkdtemp(dir=self.folder))
        return Path(shutil.copy(self.master, folder / "lab.study"))

    def take(self, page: Page, name: str) -> None:
        if self.pictures:
            page.screenshot(path=self.pictures / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.png")


def make_master(folder: Path) -> Path:
    """Return a study of 24 items, all for both reviewers."""
    master = folder / "master.study"
    studies.make(master, studies.many(24), reviewers=(ADA, BEN))
    return master


@dataclass
class Scene:
    """A reviewer who labels a served study."""

    room: Room
    served: Served
    page: Page
    log: Path
    pressed: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    gives_way: bool = False  # whether the review screen was replaced by the message

    @property
    def context(self) -> BrowserContext:
        """The reviewer's device."""
        return self.page.context

    def press(self, key: str, *, is_stored: bool = False) -> str:
        """Answer the item on the screen; wait until the server has saved it, if it can."""
        code = item_on_screen(self.page)
        if dict(self.pressed).get(code, WITHDRAWN) != WITHDRAWN:
            self.problems.append(f"{code} is offered again though it was answered")
        self.pressed.append((code, SAYS[key]))
        self.page.keyboard.press(key)
        if is_stored:
            self.page.wait_for_function(SAVED)
        return code

    def look(self) -> Seen:
        """The screen as it is now."""
        found = self.page.evaluate(LOOK)
        return Seen(found["sentence"], found["everything"], found["isHere"], found["shows"], found["kept"])

    def words(self, what: str, *, n_kept: int | None = 1) -> Seen:
        """The screen once it shows a problem; checks its text and that `n_kept` answers wait in the browser."""
        try:
            self.page.wait_for_function(IN_TROUBLE, timeout=1000 * WORDS_LIMIT_S)
        except TooLate:
            self.problems.append(f"nothing is said within {WORDS_LIMIT_S:.0f} s")
        seen = self.look()
        self.room.take(self.page, what)
        self.check_words(seen.everything)
        if n_kept is not None and seen.n_kept != n_kept:
            self.problems.append(f"{seen.n_kept} answers wait in the browser, not {n_kept}")
        if n_kept and not KEPT.search(seen.everything):
            self.problems.append("nothing says that what is not saved is kept")
        self.gives_way |= not seen.is_review
        return seen

    def check_words(self, text: str) -> None:
        """Note text that is useless for reviewers: paths, commands, internals of the application, names of items."""
        own = [str(self.served.study), str(self.served.study.parent)]
        unfit = sorted({*UNFIT.findall(text), *(path for path in own if path in text)})
        if unfit:
            self.problems.append(f"not for a reviewer: {', '.join(map(repr, unfit))}")

    def until(self, holds: Callable[[], bool], limit_s: float) -> bool:
        """Let the page run until a condition outside of it is true; returns whether it became true."""
        deadline = time.monotonic() + limit_s
        while not holds():
            if time.monotonic() > deadline:
                return False
            self.page.wait_for_timeout(1000 * POLL_S)  # a bounded loop
        return True

    def kept(self) -> list[tuple[str, str]]:
        """Return the reviewer's answers in the study, in order of saving."""
        return coded_answers(self.served, ADA)

    def comes_back(self) -> None:
        """Wait until everything is saved; reload as the message asks if the page does not recover by itself."""
        if self._is_saved():
            return
        if "reload" not in self.look().everything.lower():
            self.problems.append(f"not saved {BACK_LIMIT_S:.0f} s after the end, and nothing says to reload")
        self.page.goto(self.served.url)
        if not self._is_saved():
            self.problems.append(f"not saved {BACK_LIMIT_S:.0f} s after a reload")

    def _is_saved(self) -> bool:
        try:
            self.page.wait_for_function(SAVED, timeout=1000 * BACK_LIMIT_S)
        except TooLate:
            return False
        return True

    def judged(self, what: str, sentence: str) -> Case:
        """End a test: one more key press, then compare the study with the keys pressed."""
        try:
            self.page.wait_for_function(
                "() => !document.querySelector('[role=\"dialog\"]')", timeout=1000 * BACK_LIMIT_S
            )
            self.press("d", is_stored=True)
        except TooLate:
            self.problems.append("the next press does not count")
        stored = self.kept()
        if stored != self.pressed:
            self.problems.append(f"pressed {self.pressed}, stored {stored}")
        if not is_sound(self.served):
            self.problems.append("the study is damaged")
        if "Traceback" in self.log.read_text(errors="replace"):
            self.problems.append("a traceback in the server's log")
        shown = " in place of the review screen" if self.gives_way else ""
        figures = f"“{sentence}”{shown}; {len(self.pressed)} answers given, {len(stored)} stored"
        return case(what, figures, self.problems)


def start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Return a server whose output goes to a file, so that a full pipe cannot block it."""
    with log.open("ab") as out:
        return subprocess.Popen(command, stdout=out, stderr=out)


@contextmanager
def scene(room: Room, study: Path, command: Command = serve_command, *, enter: bool = True) -> Iterator[Scene]:
    """A server with the study and a reviewer who has answered one item; both are stopped afterwards."""
    port, log = free_port(), Path(tempfile.mkdtemp(dir=room.folder)) / "server.log"
    secrets = invited(study)
    process = start(command(study, port), log)
    served = Served(study, f"http://127.0.0.1:{port}", secrets, process)
    context = room.browser.new_context(viewport={"width": 1440, "height": 800})
    try:
        wait_until_served(process, port)
        one = Scene(room, served, context.new_page(), log)
        if enter:
            one.page.goto(served.link(ADA))
            one.press("s", is_stored=True)
            item_on_screen(one.page)
        yield one
    finally:
        context.close()
        stop_server(served.process)


def poll(holds: Callable[[], bool], limit_s: float) -> bool:
    """Whether a condition becomes true within the limit."""
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)  # a bounded loop
    return True
