"""Clocks that jump: the server's by a day and by ten years, back and forth, and the browser's."""

import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from analysis.tables import first_labels
from labeler.store import labels, open_database
from tests.browser.hands import SAVED
from tests.reliability._mishaps_disk import labeler, last_line, of_command
from tests.reliability._mishaps_scene import ADA, Room, Scene, case, command_of, scene
from tests.reliability.outcome import Case

DAY, DECADE = timedelta(days=1), timedelta(days=3650)
STEPS = (-DAY, DAY, -DECADE)
CLOCKED = (sys.executable, "-m", "tests.reliability._mishaps_clocked")


class Clock:
    """The clock of a server that is started with `command_of`."""

    def __init__(self, room: Room) -> None:
        self.file = Path(tempfile.mkdtemp(dir=room.folder)) / "offset"
        self.be_off(timedelta())

    def be_off(self, by: timedelta) -> None:
        """Set the server's clock wrong by this much from now on."""
        new = self.file.with_suffix(".new")
        new.write_text(str(by.total_seconds()))
        new.replace(self.file)

    def command_of(self, study: Path, port: int) -> list[str]:
        """Return the command `labeler serve` with this clock."""
        return [*CLOCKED, str(self.file), *command_of(study, port)[3:]]


def of_the_server(room: Room) -> Iterator[Case]:
    """Labels, an undo and reports while the server's clock jumps by a day and by ten years."""
    clock = Clock(room)
    with scene(room, room.copy(), clock.command_of) as one:
        for step in STEPS:
            clock.be_off(step)
            one.press("d", is_stored=True)
            _take_back(one)
            one.press("s", is_stored=True)
            clock.be_off(timedelta())
            one.press("d", is_stored=True)
        _check_order(one)
        yield one.judged(
            "the server's clock moved a day back, a day ahead and ten years back", one.page.inner_text(".status")
        )
        yield from reports(one)


def _take_back(one: Scene) -> None:
    """Undo: the item is on the screen again."""
    code, _ = one.pressed[-1]
    one.pressed.append((code, "withdrawn"))
    one.page.keyboard.press("u")
    one.page.wait_for_function("code => window.__review.code === code && window.__review.pending === 0", arg=code)
    one.page.wait_for_function(SAVED)


def _check_order(one: Scene) -> None:
    """Check that the first labels follow the order of the key presses, and that the clocks really were wrong."""
    with open_database(one.served.study) as db:
        table = labels.table(db)
    named = table.rename(columns={"reviewer": "rater", "label": "answer"})
    first = first_labels(named)["answer"].tolist()
    expected = [answer for at, (_, answer) in enumerate(one.pressed) if _stands(one.pressed, at)]
    if first != expected:
        one.problems.append(f"first labels {first}, pressed {expected}")
    if table["created_utc"].is_monotonic_increasing:
        one.problems.append("no clock stepped")


def _stands(pressed: list[tuple[str, str]], at: int) -> bool:
    return pressed[at][1] != "withdrawn" and pressed[at + 1 : at + 2] != [(pressed[at][0], "withdrawn")]


def reports(one: Scene) -> Iterator[Case]:
    """Every command that reads answers with such times succeeds."""
    study, out = one.served.study, Path(tempfile.mkdtemp(dir=one.room.folder))
    commands = {
        "status": ("status",),
        "plan --verify": ("plan", "--verify"),
        "labels --out": ("labels", "--out", out / "labels.csv"),
        "report": ("report", "--quick", "--out", out / "report"),
        "backup": ("backup", out / "copy.study"),
    }
    for name, arguments in commands.items():
        code, said = labeler(*arguments, "--study", study)
        problems = of_command(code, said) + ([f"exit code {code}"] if code else [])
        yield case(f"labeler {name} on answers with times that go back", last_line(said), problems)


def sign_in_under(room: Room) -> Iterator[Case]:
    """Sign-in links and sessions while the server's clock is ten years ahead, and ten years behind."""
    clock = Clock(room)
    with scene(room, room.copy(), clock.command_of) as one:
        clock.be_off(DECADE)
        one.press("d")
        ended = one.words("server's clock ten years ahead").sentence
        expired = follow_link(one)
        if "expired" not in expired:
            one.problems.append(f"an old link says {expired!r}")
        clock.be_off(timedelta())
        follow_link(one)
        one.comes_back()
        yield one.judged(
            "the server's clock ten years ahead, then right again", f"{ended}”; a sign-in link shows “{expired}"
        )
        clock.be_off(-DECADE)
        follow_link(one)
        one.press("s", is_stored=True)
        clock.be_off(timedelta())
        one.press("d")
        ended = one.words("signed in while the server's clock was late").sentence
        follow_link(one)
        one.comes_back()
        yield one.judged("signed in while the server's clock was ten years behind, then right again", ended)


def follow_link(one: Scene) -> str:
    """Open the sign-in link in the reviewer's window; returns the text of the page."""
    one.page.goto(one.served.link(ADA))
    return " ".join(one.page.inner_text("body").split())


def of_the_browser(room: Room) -> Iterator[Case]:
    """The browser's clock jumps by a day and ten years while an answer is given."""
    with scene(room, room.copy(), enter=False) as one:
        one.page.clock.install()
        one.page.goto(one.served.link(ADA))
        right = datetime.now(UTC)
        for step in (*STEPS, DECADE):
            one.press("s", is_stored=True)
            one.page.clock.set_system_time(right + step)
            one.press("d", is_stored=True)
        if not one.page.evaluate("ms => Date.now() - ms > 0", 1000 * (right + DAY).timestamp()):
            one.problems.append("no clock stepped")
        yield one.judged(
            "the browser's clock moved a day and ten years, back and ahead", one.page.inner_text(".status")
        )
