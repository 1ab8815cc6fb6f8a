"""Scene: a reviewer labels by keyboard in a real browser on a real server; the answers given, seen and stored."""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError as TooLate, sync_playwright

from analysis.raters.tables import first_labels
from labeler.studies.screen.timing import IDLE_LIMIT_MS, time_on_task
from labeler.studies.store import labels, open_database
from tests.browser import studies
from tests.browser.conftest import (
    CHROMIUM_OPTIONS,
    Served,
    chromium_path,
    free_port,
    invited,
    serve_command,
    stop_server,
    wait_until_served,
)  # fmt: skip
from tests.browser.hands import SAVED, answers, coded_answers, is_sound, item_on_screen
from tests.reliability.cases import CannotTry, Case, Room, case
from tests.reliability.disks import CLOCKED, Clock, labeler, last_line, of_command, small_disk

ADA, BEN = "ada", "ben"
WORDS_LIMIT_S, BACK_LIMIT_S, POLL_S = 90.0, 180.0, 0.05
AWAKE_MS = 30_000  # in no row does the reviewer look at an item for so long
WITHDRAWN = "withdrawn"
SAYS = {"s": "similar", "d": "dissimilar"}
Command = Callable[[Path, int], list[str]]
UNFIT = re.compile(
    r"labeler |sqlite|database|traceback|errno|errors?\b.*\bline \d|example__app|bench_\d|\.study\b", re.I
)
KEPT = re.compile(r"kept (here|in (it|this window|this browser))\b|nothing is lost", re.I)

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
NO_DIALOG = "() => !document.querySelector('[role=\"dialog\"]')"


@dataclass(frozen=True)
class Seen:
    """The screen at one moment: the message about a problem, all text, and the number of waiting answers."""

    sentence: str
    everything: str
    is_review: bool
    shows_item: bool
    n_kept: int


@dataclass
class AtPage:
    """A reviewer who labels a served study."""

    room: Room
    served: Served
    page: Page
    log: Path
    clock: Clock
    pressed: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # the messages that the reviewer saw
    slept: list[tuple[str, int]] = field(default_factory=list)  # the item on the screen, and for how many ms
    gives_way: bool = False  # whether the review screen was replaced by a message

    @property
    def study(self) -> Path:
        return self.served.study

    @property
    def context(self) -> BrowserContext:
        """The reviewer's device."""
        return self.page.context

    @property
    def browser(self) -> Browser:
        return self.room.shared(chromium)

    def enter(self) -> None:
        """Sign in and answer one item."""
        self.page.goto(self.served.link(ADA))
        self.press("s", is_stored=True)
        item_on_screen(self.page)

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

    def undo(self) -> None:
        """Take the last answer back: the item is on the screen again."""
        code, _ = self.pressed[-1]
        self.pressed.append((code, WITHDRAWN))
        self.page.keyboard.press("u")
        self.page.wait_for_function("code => window.__review.code === code && window.__review.pending === 0", arg=code)

    def look(self) -> Seen:
        """The screen as it is now."""
        found = self.page.evaluate(LOOK)
        return Seen(found["sentence"], found["everything"], found["isHere"], found["shows"], found["kept"])

    def words(self, *, n_kept: int | None = 1) -> Seen:
        """The screen once it shows a problem; checks its text and that `n_kept` answers wait in the browser."""
        try:
            self.page.wait_for_function(IN_TROUBLE, timeout=1000 * WORDS_LIMIT_S)
        except TooLate:
            self.problems.append(f"nothing is said within {WORDS_LIMIT_S:.0f} s")
        seen = self.look()
        self.take(self.page)
        self.check_words(seen.everything)
        if n_kept is not None and seen.n_kept != n_kept:
            self.problems.append(f"{seen.n_kept} answers wait in the browser, not {n_kept}")
        if n_kept and not KEPT.search(seen.everything):
            self.problems.append("nothing says that what is not saved is kept")
        self.gives_way |= not seen.is_review
        self.told.append(seen.sentence)
        return seen

    def check_words(self, text: str) -> None:
        """Note text that is useless for reviewers: paths, commands, internals of the application, names of items."""
        own = [str(self.study), str(self.study.parent)]
        unfit = sorted({*UNFIT.findall(text), *(path for path in own if path in text)})
        if unfit:
            self.problems.append(f"not for a reviewer: {', '.join(map(repr, unfit))}")

    def take(self, page: Page) -> None:
        """Keep a picture of a page, if pictures are wanted."""
        if self.room.pictures:
            name = re.sub(r"[^a-z0-9]+", "-", f"{self.room.row} {time.monotonic_ns()}".lower())
            page.screenshot(path=self.room.pictures / f"{name}.png")

    def until(self, holds: Callable[[], bool], limit_s: float) -> bool:
        """Let the page run until a condition outside of it is true; returns whether it became true."""
        deadline = time.monotonic() + limit_s
        while not holds():
            if time.monotonic() > deadline:
                return False
            self.page.wait_for_timeout(1000 * POLL_S)  # a bounded loop
        return True

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


@contextmanager
def chromium(_room: Room) -> Iterator[Browser]:
    """The browser that all rows of a room share."""
    path = chromium_path()
    if path is None:
        raise CannotTry("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()


@contextmanager
def master(room: Room) -> Iterator[Path]:
    """A study of 24 items, all for both reviewers, to be copied."""
    path = room.new_folder() / "master.study"
    studies.make(path, studies.many(24), reviewers=(ADA, BEN))
    yield path


def copy_of_master(room: Room, folder: Path | None = None) -> Path:
    """A copy of the study, in a new folder unless one is named."""
    return Path(shutil.copy(room.shared(master), (folder or room.new_folder()) / "lab.study"))


def start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Return a server whose output goes to a file, so that a full pipe cannot block it."""
    with log.open("ab") as out:
        return subprocess.Popen(command, stdout=out, stderr=out)


def at_page(
    command: Command = serve_command, *, on_small_disk: bool = False, wrong_clock: bool = False, enter: bool = True
) -> Callable[[Room], AbstractContextManager[AtPage]]:
    """A server and a reviewer who has answered one item; both are stopped afterwards."""

    @contextmanager
    def scene(room: Room) -> Iterator[AtPage]:
        with ExitStack() as stack:
            disk = stack.enter_context(small_disk(room.folder)) if on_small_disk else None
            study, clock = copy_of_master(room, disk), Clock(room.new_folder())
            port, log = free_port(), Path(tempfile.mkdtemp(dir=room.folder)) / "server.log"
            secrets = invited(study)
            started = [*CLOCKED, str(clock.file), *command(study, port)[3:]] if wrong_clock else command(study, port)
            served = Served(study, f"http://127.0.0.1:{port}", secrets, start(started, log))
            stack.callback(lambda: stop_server(served.process))
            context = room.shared(chromium).new_context(viewport={"width": 1440, "height": 800})
            stack.callback(context.close)
            wait_until_served(served.process, port)
            one = AtPage(room, served, context.new_page(), log, clock)
            if enter:
                one.enter()
            yield one

    return scene


# Counts


def stored_once(one: AtPage) -> Case:
    """One more key press counts; then the study has the answers given, each once and in order, and is sound."""
    try:
        one.page.wait_for_function(NO_DIALOG, timeout=1000 * BACK_LIMIT_S)
        one.press("d", is_stored=True)
    except TooLate:
        one.problems.append("the next press does not count")
    stored = coded_answers(one.served, ADA)
    if stored != one.pressed:
        one.problems.append(f"pressed {one.pressed}, stored {stored}")
    if not is_sound(one.served):
        one.problems.append("the study is damaged")
    if "Traceback" in one.log.read_text(errors="replace"):
        one.problems.append("a traceback in the server's log")
    told = [f"“{words}”" for words in dict.fromkeys(one.told)]
    told += ["shown in place of the review screen"] if one.gives_way else []
    told += [f"{len(one.pressed)} answers given, {len(stored)} stored"]
    return case("", "; ".join(told), one.problems)


def sleep_not_counted(one: AtPage) -> Case:
    """No more of a sleep counts as time on task than of any other time without input."""
    problems, figures = [], []
    for code, asleep_ms in one.slept:
        answer = next(answer for answer in answers(one.served, ADA) if answer.code == code)
        dwell_ms = answer.dwell_ms or 0
        counted_ms = time_on_task(dwell_ms, answer.view) or 0
        figures.append(f"{counted_ms} of {dwell_ms} ms counted")
        if dwell_ms < asleep_ms:
            problems.append(f"only {dwell_ms} ms passed on the screen: it did not sleep")
        if counted_ms > min(asleep_ms, IDLE_LIMIT_MS) + AWAKE_MS:
            problems.append(f"{counted_ms} ms of {dwell_ms} count as time on task")
    return case("a sleep is not time on task", ", ".join(figures), problems or ([] if figures else ["nobody slept"]))


def in_order_of_presses(one: AtPage) -> Case:
    """The first labels follow the order of the key presses, although the times of saving do not."""
    with open_database(one.study) as db:
        table = labels.table(db)
    first = first_labels(table.rename(columns={"reviewer": "rater", "label": "answer"}))["answer"].tolist()
    nexts = [*one.pressed[1:], ("", "")]
    pairs = zip(one.pressed, nexts, strict=True)
    expected = [now[1] for now, after in pairs if WITHDRAWN not in (now[1], after[1])]
    problems = [] if first == expected else [f"first labels {first}, pressed {expected}"]
    if table["created_utc"].is_monotonic_increasing:
        problems.append("no clock stepped")
    return case("first labels in the order of the presses", f"{len(first)} labels", problems)


def commands_work(one: AtPage) -> Case:
    """The commands that read times work on answers with times that go back."""
    problems, out = [], one.room.new_folder()
    for arguments in (
        ("status",), ("plan", "--verify"), ("labels", "--out", out / "labels.csv"),
        ("report", "--quick", "--out", out / "report"), ("backup", "--out", out / "copy.study"),
    ):  # fmt: skip
        code, said = labeler(*arguments, "--study", one.study)
        found = of_command(code, said) + ([f"exit code {code}"] if code else [])
        problems += [f"labeler {arguments[0]}: {problem}; {last_line(said)}" for problem in found]
    return case("status, plan, labels, report and backup", "exit code 0" if not problems else "", problems)
