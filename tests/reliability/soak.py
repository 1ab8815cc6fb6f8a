"""Run all scripts of this folder one after another, each in full; collect their figures in one table.

    python -m tests.reliability.soak [--only NAME ...] [--table docs/results/reliability.md]

Takes about an hour. Each script has a time limit, ends by itself, and reports PASS or FAIL, and so does this script.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.reliability.outcome import Case, cases, load, main, parser

MINUTES = {  # the time limit of each script
    "kills": 20, "mishaps": 20, "pending": 20, "load": 30, "flood": 10, "crawl": 10, "access": 15,
    "backups": 10, "round_trip": 15, "supply": 5,
}  # fmt: skip
BEGIN, END = "<!-- figures: python -m tests.reliability.soak -->", "<!-- end of figures -->"


def run(options: Namespace) -> Iterable[Case]:
    """A case for each script; the cases of a script are printed as they come."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only or MINUTES:
            print(f"\n== python -m tests.reliability.{name}", flush=True)
            result = Path(folder) / f"{name}.json"
            yield one(name, result)
            if result.exists():
                found[name] = load(result)
    if options.table:
        put_table(options.table, found)


def one(name: str, result: Path) -> Case:
    """Run one script to its end or its limit."""
    command: list[str | Path] = [sys.executable, "-m", f"tests.reliability.{name}", "--json", result]
    begun, process = time.monotonic(), subprocess.Popen(command, start_new_session=True)
    try:
        code = process.wait(60 * MINUTES[name])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the servers and browsers that it started
        process.wait()
        return Case(name, f"not at its end after {MINUTES[name]} minutes", passed=False)
    return Case(name, f"{(time.monotonic() - begun) / 60:.1f} minutes, exit code {code}", passed=code == 0)


def put_table(page: Path, found: dict[str, dict[str, Any]]) -> None:
    """Replace the rows of these scripts between the two marks of a page; the rows of others stay."""
    text = page.read_text(encoding="utf-8")
    before, old, after = text.partition(BEGIN)[0], text.partition(BEGIN)[2].partition(END)[0], text.partition(END)[2]
    if not after and END not in text:
        raise ValueError(f"{page} lacks the marks {BEGIN} and {END}")
    kept = parts(old) | {name: as_table(name, result) for name, result in found.items()}
    tables = "\n\n".join(kept[name].strip() for name in MINUTES if name in kept)
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")


def parts(text: str) -> dict[str, str]:
    """Return the tables of a page by script."""
    return {part.partition("`")[0].rpartition(".")[2]: f"### `{part}" for part in text.split("\n### `")[1:]}


def as_table(name: str, result: dict[str, Any]) -> str:
    machine = ", ".join(f"{what} {value}" for what, value in result["machine"].items())
    rows = [f"| {one.what} | {one.figures.replace('|', '/')} | {one.word} |" for one in cases(result)]
    took = f"Duration: {result['seconds']:.0f} s. Machine: {machine}."
    head = [f"### `python -m tests.reliability.{name}`", "", took, "", "| case | figures | result |", "|---|---|---|"]
    return "\n".join([*head, *rows])


if __name__ == "__main__":
    made = parser(__doc__)
    made.add_argument("--only", nargs="+", choices=sorted(MINUTES), default=[], metavar="NAME", help="of the scripts")
    made.add_argument("--table", type=Path, default=None, help="write the figures into this page")
    main(made, run)
