"""Accidents of machines and people while a reviewer labels, one after another.

    python -m tests.reliability.mishaps [--only NAME ...] [--list] [--quick] [--pictures FOLDER]

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
from tests.reliability import (
    _mishaps_clock,
    _mishaps_disk,
    _mishaps_file,
    _mishaps_people,
    _mishaps_permission,
    _mishaps_sleep,
)
from tests.reliability._mishaps_scene import CannotTry, Room, make_master
from tests.reliability.outcome import Case, main, parser

MISHAPS: dict[str, Callable[[Room], Iterator[Case]]] = {
    "full-labelling": _mishaps_disk.labelling,
    "full-start": _mishaps_disk.starting,
    "full-init": _mishaps_disk.making,
    "full-backup": _mishaps_disk.backing_up,
    "full-import": _mishaps_disk.importing,
    "readonly-file": _mishaps_permission.readonly_file,
    "readonly-folder": _mishaps_permission.readonly_folder,
    "readonly-disk": _mishaps_permission.readonly_disk,
    "removed": _mishaps_file.removed,
    "moved": _mishaps_file.moved,
    "replaced": _mishaps_file.replaced,
    "gone-reload": _mishaps_file.reloaded_meanwhile,
    "server-clock": _mishaps_clock.of_the_server,
    "server-clock-sign-in": _mishaps_clock.sign_in_under,
    "browser-clock": _mishaps_clock.of_the_browser,
    "server-asleep": _mishaps_sleep.of_the_server,
    "browser-asleep": _mishaps_sleep.of_the_browser,
    "hours-asleep": _mishaps_sleep.for_hours,
    "network-off": _mishaps_sleep.network_off,
    "line-dead": _mishaps_sleep.dead_line,
    "signed-out": _mishaps_people.signed_out_elsewhere,
    "revoked": _mishaps_people.revoked,
    "storage-full": _mishaps_people.storage_full,
    "storage-blocked": _mishaps_people.storage_blocked,
    "link-again": _mishaps_people.link_again,
    "two-tabs": _mishaps_people.two_tabs,
    "two-devices": _mishaps_people.two_devices,
}


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


def options() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = parser(__doc__)
    made.add_argument("--only", nargs="+", choices=MISHAPS, metavar="NAME", help="only these mishaps")
    made.add_argument("--list", action="store_true", help="name the mishaps and end")
    made.add_argument("--quick", action="store_true", help="shorter sleeps and fewer amounts of room")
    made.add_argument("--pictures", type=Path, default=None, metavar="FOLDER", help="keep a picture of each sentence")
    return made


def listed() -> Iterator[str]:
    """One line per test."""
    for name, mishap in MISHAPS.items():
        yield f"{name:22}{(mishap.__doc__ or '').strip()}"


if __name__ == "__main__":
    made = options()
    if made.parse_args().list:
        print("\n".join(listed()))
    else:
        main(made, run)
