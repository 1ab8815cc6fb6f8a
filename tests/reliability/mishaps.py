"""Accidents of machines and people while a reviewer labels, one after another.

    python -m tests.reliability.mishaps [--only NAME ...] [--quick] [--pictures FOLDER]

Each test has a real server, and a real browser in which a reviewer labels by keyboard. It checks the message that the
reviewer sees, that every answer is stored exactly once and in order at the end, that the next key press counts, and
that the study is sound.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import SubprocessError

from playwright.sync_api import Error as BrowserError, sync_playwright

from labeler.errors import LabelerError
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path
from tests.reliability._accidents import ACCIDENTS
from tests.reliability._disks import FULL_DISKS
from tests.reliability._scene import Room, make_master
from tests.reliability.outcome import CannotTry, Case, main, parser

MISHAPS: dict[str, Callable[[Room], Iterator[Case]]] = FULL_DISKS | ACCIDENTS


def run(options: argparse.Namespace) -> Iterator[Case]:
    """Run the requested tests."""
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mishaps-") as folder, sync_playwright() as playwright:
        Path(folder).chmod(0o755)  # a server that runs as another user must be able to enter
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        room = Room(browser, Path(folder), make_master(Path(folder)), options.pictures, options.quick)
        for name in options.only or MISHAPS:
            yield from tried(name, room)
        browser.close()


def tried(name: str, room: Room) -> Iterator[Case]:
    """The cases of one test; an unexpected error is a failed case."""
    try:
        yield from MISHAPS[name](room)
    except CannotTry as why:
        yield Case(name, str(why), None)
    except (AssertionError, BrowserError, OSError, SubprocessError, LabelerError) as error:
        yield Case(name, f"ended by {type(error).__name__}: {' '.join(str(error).split())[:300]}", False)


if __name__ == "__main__":
    made = parser(__doc__)
    made.add_argument(
        "--only", nargs="+", choices=MISHAPS, metavar="NAME", help=f"only these mishaps, of {', '.join(MISHAPS)}"
    )
    made.add_argument("--quick", action="store_true", help="shorter sleeps and fewer amounts of room")
    made.add_argument("--pictures", type=Path, default=None, metavar="FOLDER", help="keep a picture of each sentence")
    main(made, run)
