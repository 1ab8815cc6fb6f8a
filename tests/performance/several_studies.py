"""Measure the memory of a server for each further study that people open.

    python -m tests.performance.several_studies [--studies 8] [--items 586] [--rounds 2]

In each study, a reviewer labels in one window and a coordinator opens every place; both windows then close. The memory
is that of the server's process. It includes what Streamlit keeps of closed windows for two minutes.
"""

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
from playwright.sync_api import sync_playwright

from labeler.studies.ui.coordinator.places import PLACES
from labeler.studies.ui.coordinator.shared import address
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, invited, path_of, serving
from tests.performance.measuring import options, print_table
from tests.performance.rig import ACTOR, make_study
from tests.performance.scale import LIMIT_MS, SETTLED
from tests.performance.wire import Visit

N_LABELS = 5


def main() -> None:
    given = options(__doc__, studies=(8, "number of studies"), items=(586, "items of each study"),
                    rounds=(2, "times that each study is opened"))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"study-{number}.study" for number in range(given.studies)]
        for path in paths:
            make_study(path, 2, n_items=given.items)
        with (
            serving(paths[0], with_others=True) as served,
            sync_playwright() as playwright,
            ThreadPoolExecutor(1) as pool,
        ):
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
            process = psutil.Process(served.process.pid)
            rows, before = [], process.memory_info().rss
            for turn in range(given.rounds):
                for number, path in enumerate(paths):
                    secrets = invited(path)
                    url = served.origin + path_of(path)
                    reviewer = next(secret for name, secret in secrets.items() if name != ACTOR)
                    pool.submit(asyncio.run, label(url, reviewer)).result()  # Playwright has a loop in this thread
                    page = browser.new_page()
                    page.goto(f"{url}/join/{secrets[ACTOR]}")
                    for place in PLACES:
                        page.goto(f"{url}/{address(place)}")
                        page.wait_for_function(SETTLED, arg=f"/{address(place)}", timeout=LIMIT_MS)
                    page.close()
                    now = process.memory_info().rss
                    rows.append(
                        {"round": turn + 1, "study": number + 1, "MB": now / 1e6, "more MB": (now - before) / 1e6}
                    )
                    before = now
            browser.close()
    print_table(f"Memory of a server of {given.studies} studies with {given.items} items each", rows)
    first = [row["more MB"] for row in rows[1 : given.studies]]
    print_table("Memory for each study after the first", [{"studies": len(first), "mean MB": sum(first) / len(first)}])


async def label(url: str, secret: str) -> None:
    """Open the page of a reviewer, and give some labels."""
    visit = await Visit.open(url, secret)
    for _ in range(N_LABELS):
        await visit.label("similar")
    await visit.close()


if __name__ == "__main__":
    main()
