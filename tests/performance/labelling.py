"""Measure the speed of labelling in a real browser, compared with a page that only changes a word.

That page has no server: no page can paint sooner in this browser.

    python -m tests.performance.labelling [--rounds 5] [--json FILE]

Uses the benchmarks of LABELER_ICPE_DIR, or the bundled demo data, several times with a little noise. probe.js
describes what is timed and how. Bytes are responses as they were sent, bodies of requests, and payloads of websocket
frames before compression, counted in a separate round.
"""

import argparse
import base64
import json
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, serving
from tests.performance.measuring import busy_s, machine, percentiles, print_table
from tests.performance.rig import make_study

PROBE = Path(__file__).with_name("probe.js")
VIEWPORT: ViewportSize = {"width": 1440, "height": 800}
PER_ROUND = 10
N_WARM = 3  # key presses before the timing starts
N_OPENINGS = 7
LOOKED_MS = 320  # time on the screen before an item is answered
ONLY_A_WORD = """data:text/html,<p></p><script>
let n = 0;
const show = () => {
  document.querySelector("p").textContent = `Item ${n}`;
  for (const pending of [1, 0]) window.__review = { code: `${n}`, pending };
};
addEventListener("keydown", () => { n += 1; show(); });
show();
</script>"""
GOALS = {
    "painted p50": 10, "painted p95": 50, "acknowledged p50": 15, "acknowledged p95": 40, "kB an item": 40,
    "first item": 1000,
}  # fmt: skip


@dataclass
class Subject:
    """A measured page."""

    name: str
    url: str
    presses: list[dict[str, Any]] = field(default_factory=list)
    first_ms: list[float] = field(default_factory=list)
    bytes_an_item: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help=f"of {PER_ROUND} items on every page, in turn")
    parser.add_argument("--json", type=Path, default=None)
    arguments = parser.parse_args()
    begun, busy = time.perf_counter(), busy_s()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        n_items = N_WARM + (arguments.rounds + 1) * PER_ROUND + 1  # the last round is for the bytes
        reviewer, *_ = make_study(study := Path(folder) / "bench.study", 2, n_items=n_items)
        subjects = [
            Subject("review component", stack.enter_context(serving(study)).link(reviewer)),
            Subject("only a word changes", ONLY_A_WORD),
        ]
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        measure(browser, subjects, arguments.rounds)
        browser.close()
    n_busy = (busy_s() - busy) / (time.perf_counter() - begun)
    result = report(subjects) | {"machine": machine(), "busy cores": n_busy, "goals": GOALS}
    print(f"\nOn average {n_busy:.1f} cores were busy, this benchmark and everything else together.")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def measure(browser: Browser, subjects: list[Subject], rounds: int) -> None:
    """Measure all pages in turn, so that disturbances of the machine affect all of them."""
    pages = [opened(browser, subject.url) for subject in subjects]
    for page in pages:
        label(page, N_WARM)
    for _ in range(rounds):
        for subject, page in zip(subjects, pages, strict=True):
            subject.presses += label(page, PER_ROUND)
    for subject, page in zip(subjects, pages, strict=True):
        subject.bytes_an_item = bytes_an_item(page)
        page.context.close()
    for _ in range(N_OPENINGS):
        for subject in subjects:
            page = opened(browser, subject.url)
            subject.first_ms.append(page.evaluate("() => __probe.firstPaint()"))
            page.context.close()


def opened(browser: Browser, url: str) -> Page:
    """Return a visit with an empty cache, up to the first item."""
    page = browser.new_context(viewport=VIEWPORT).new_page()
    page.add_init_script(path=PROBE)
    page.goto(url)
    page.evaluate("() => __probe.ready(0)")
    return page


def label(page: Page, n: int) -> list[dict[str, Any]]:
    """Label the next n items; returns the times of each press in ms since the key went down."""
    before = page.evaluate("() => __probe.times.length")
    for number in range(n):
        page.evaluate(f"() => __probe.ready({LOOKED_MS})")
        page.keyboard.press("sd"[number % 2])
    page.evaluate("() => __probe.ready(0)")
    return page.evaluate("before => __probe.times.slice(before)", before)


def bytes_an_item(page: Page) -> float:
    """Return the bytes that the network carries for one label, both directions together, without headers sent."""
    sizes: list[int] = []
    session = page.context.new_cdp_session(page)
    for name in ("Received", "Sent"):
        session.on(f"Network.webSocketFrame{name}", lambda event: sizes.append(payload_size(event["response"])))
    session.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    session.on("Network.requestWillBeSent", lambda event: sizes.append(len(event["request"].get("postData", ""))))
    session.send("Network.enable")
    label(page, PER_ROUND)
    page.evaluate("() => __probe.ready(500)")  # also the end of the last page run
    session.detach()
    return sum(sizes) / PER_ROUND


def payload_size(frame: dict[str, Any]) -> int:
    is_text = frame["opcode"] == 1
    return len(frame["payloadData"].encode() if is_text else base64.b64decode(frame["payloadData"]))


def report(subjects: list[Subject]) -> dict[str, Any]:
    """Print the measurements, and the ratio of the first page to the second."""
    rows = [row_of(subject) for subject in subjects]
    print_table("Labelling by keyboard; times in ms since the key went down, the first item since opening", rows)
    one, other = rows
    ratio = {name: one[name] / other[name] for name in GOALS if other[name]}
    print_table("The review component as multiples of the other page", [ratio])
    return {"rows": rows, "ratio": ratio, "presses": {subject.name: subject.presses for subject in subjects}}


def row_of(subject: Subject) -> dict[str, Any]:
    painted = percentiles([press["painted"] for press in subject.presses], 50, 95)
    acknowledged = percentiles([press["acked"] for press in subject.presses], 50, 95)
    return {
        "page": subject.name,
        "items": len(subject.presses),
        "painted p50": painted[0],
        "painted p95": painted[1],
        "acknowledged p50": acknowledged[0],
        "acknowledged p95": acknowledged[1],
        "kB an item": subject.bytes_an_item / 1000,
        "first item": float(median(subject.first_ms)),
    }


if __name__ == "__main__":
    main()
