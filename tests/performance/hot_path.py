"""Measure where the time of one label goes, from the key press to the acknowledgement, in a real browser.

    python -m tests.performance.hot_path [--labels 50] [--json FILE]

One reviewer with more than 500 assigned items, 300 of them already labelled. probe.js times the browser's part and
traced.py the server's part, each with its own clock; the time between them is the difference of two durations.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

from playwright.sync_api import sync_playwright

from labeler.model import Answer, Submission
from labeler.service import reviewing
from labeler.store import open_database, people
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, free_port
from tests.performance.labelling import N_WARM, label, opened
from tests.performance.measuring import machine, print_table
from tests.performance.rig import Made, make_study, running

N_ASSIGNED, N_BEFORE = 600, 300
REVIEWER = "r00"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--json", type=Path, default=None)
    arguments = parser.parse_args()
    print(f"Machine: {machine()}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        made = make_study(Path(folder) / "hot.study", 2, n_items=N_ASSIGNED)
        label_before(made)
        file = Path(folder) / "trace.json"
        with traced(made, file) as url:
            presses = at_work(f"{url}/join/{made.secrets[REVIEWER]}", arguments.labels)
        traces = {record["id"]: Steps(record["steps"]) for record in json.loads(file.read_bytes())}
    parts = [split(press, traces[press["id"]]) for press in presses]
    rows = [{"step": name, "ms": median(part[name] for part in parts)} for name in parts[0]]
    print_table(f"One label of {made.n_items} assigned, {N_BEFORE} labelled before: medians of {len(parts)}", rows)
    if arguments.json:
        result = {"machine": machine(), "rows": rows, "labels": parts}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def label_before(made: Made) -> None:
    with open_database(made.study) as db:
        reviewer = people.by_name(db, REVIEWER)
        assert reviewer is not None
        for _ in range(N_BEFORE):
            task = reviewing.review_queue(db, reviewer.person_id).offers[0]
            submission = Submission(uuid4().hex, task.code, task.revision, Answer.SIMILAR, dwell_ms=1000)
            reviewing.submit(db, reviewer.person_id, submission, now=datetime.now(UTC))


@contextmanager
def traced(made: Made, file: Path) -> Iterator[str]:
    """The server with its stopwatch, in a separate process."""
    port = free_port()
    command = [sys.executable, "-m", "tests.performance.traced", str(made.study), str(port), str(file)]
    with running(command, port) as url:
        yield url


def at_work(url: str, n_labels: int) -> list[dict[str, Any]]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        page = opened(browser, url)
        page.evaluate("() => { __probe.traces = true; }")
        label(page, N_WARM)
        presses = label(page, n_labels)
        page.evaluate("() => __probe.ready(500)")
        browser.close()
    return presses


class Steps:
    """The steps of the server for one label, in ms since the frame."""

    def __init__(self, steps: list[tuple[str, float, float]]) -> None:
        self._steps = [(name, 1e3 * begun, 1e3 * ended) for name, begun, ended in steps]

    def begin(self, name: str) -> float:
        return next(begun for step, begun, _ in self._steps if step == name)

    def end(self, name: str) -> float:
        return next(ended for step, _, ended in reversed(self._steps) if step == name)

    def spent(self, name: str, until: float = float("inf")) -> float:
        return sum(ended - begun for step, begun, ended in self._steps if step == name and begun < until)


def split(press: dict[str, Any], steps: Steps) -> dict[str, float]:
    """Return the time of one label, step by step; a dash before the name marks a part of the step above."""
    sent = steps.end("send component")
    return {
        "key -> handled (browser)": press["handled"],
        "handled -> sent (browser; Streamlit's)": press["sent"] - press["handled"],
        "browser -> Streamlit and back: sockets, queues of both": press["received"] - press["sent"] - sent,
        **on_the_server(steps),
        "received -> acknowledged (browser)": press["acked"] - press["received"],
        "= key -> acknowledged": press["acked"],
        "server in all, of these": sent,
        "garbage collection before sending": steps.spent("garbage", sent),
        "garbage collection after sending": steps.spent("garbage") - steps.spent("garbage", sent),
        "script run in all, also after sending": steps.spent("script run"),
    }


def on_the_server(steps: Steps) -> dict[str, float]:
    """From the frame with the label to the frame with the acknowledgement."""
    begin, end, spent = steps.begin, steps.end, steps.spent
    queued, inside = begin("enqueued"), sum(map(spent, ("submit", "queue", "brief", "shown")))
    return {
        "frame -> script thread": begin("script run"),
        "Streamlit prepares the run; app.py up to the study": begin("open database") - begin("script run"),
        "open the study": spent("open database"),
        "session lookup": spent("session lookup"),
        "st.Page and st.navigation": begin("page") - end("session lookup"),
        "submit": spent("submit"),
        "- its commit": spent("commit"),
        "queue: progress, offers, last": spent("queue"),
        "brief": spent("brief"),
        "shown: what was said, pictures": spent("shown"),
        "pictures, most of them after sending": spent("picture"),
        "rest of the page": begin("component") - begin("page") - inside,
        "component: JSON, id, hash, up to the event loop": queued - begin("component"),
        "queued -> sending begins": begin("serialise") - queued,
        "serialise": spent("serialise"),
        "write": end("send component") - end("serialise"),
    }


if __name__ == "__main__":
    main()
