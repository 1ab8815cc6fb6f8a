"""Give answers that the server does not receive, cause an accident, and count lost answers: pause, sign-out, restore.

    python -m tests.reliability.pending [--rounds 9] [--answers 20] [--quick]

A real Chromium and a real server. In each round a reviewer gives several answers while nothing reaches the server
(before a restore they are acknowledged), and one accident of `tests/browser/pending.py` happens: the study is paused,
the reviewer signs out, an older backup replaces the study, another study runs at the same address, the window is
closed, or the reviewer reads the guide. At the end every answer must be stored once, in the order in which it was
given.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser import studies
from tests.browser.conftest import CHROMIUM_OPTIONS, Served, chromium_path, serving
from tests.browser.pending import MISHAPS, scene
from tests.reliability.outcome import Case, main, parser

NAMES = ("ada", "ben", "cleo", "dan", "eve", "fay")


def run(options: argparse.Namespace) -> Iterator[Case]:
    """One reviewer per accident, with all rounds one after another."""
    n_rounds, n_answers = (1, 5) if options.quick else (options.rounds, options.answers)
    path = chromium_path()
    if path is None:
        yield Case("answers that wait in a browser", "no Chromium found", passed=None)
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        study = Path(folder) / "pending.study"
        items = studies.many(n_rounds * n_answers + 2)
        studies.make(study, items, reviewers=NAMES, parameters=studies.EVERYTHING_BY_ALL)
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_OPTIONS)
        with serving(study) as served:
            for name, mishap in zip(NAMES, MISHAPS, strict=True):
                yield tried(browser, served, name, mishap, n_rounds, n_answers)
        browser.close()


def tried(browser: Browser, served: Served, name: str, mishap: str, n_rounds: int, n_answers: int) -> Case:
    with scene(browser, served, name) as one:
        for _ in range(n_rounds):
            MISHAPS[mishap](one, n_answers)
        stored = one.stored()
    n_lost = sum(answer not in stored for answer in one.pressed)
    n_twice = len(stored) - len(set(stored))
    order = "in the order pressed" if stored == one.pressed else "not in the order pressed"
    figures = f"{len(one.pressed)} answers in {n_rounds} rounds, {n_lost} lost, {n_twice} stored twice, {order}"
    return Case(mishap, figures, passed=stored == one.pressed)


if __name__ == "__main__":
    made = parser(__doc__)
    made.add_argument("--rounds", type=int, default=9, help="of each mishap")
    made.add_argument("--answers", type=int, default=20, help="pressed in each round")
    made.add_argument("--quick", action="store_true", help="one round of 5 answers")
    main(made, run)
