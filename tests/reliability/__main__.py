"""Run rows of the table (`rows.py`), and collect their figures: all of them, or groups and rows by name.

    python -m tests.reliability [NAME ...] [--quick] [--json FILE] [--table docs/results/reliability.md]
    python -m tests.reliability --list

All rows take about an hour; `--quick` takes a few minutes. Each group runs in a process of its own with a time limit.
Each case is PASS, FAIL, or SKIP with the reason; the exit code is 1 if any failed.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.performance.measuring import machine
from tests.reliability.cases import Case, Room
from tests.reliability.rows import TABLE

BEGIN, END = "<!-- figures: python -m tests.reliability -->", "<!-- end of figures -->"
MODULE = "tests.reliability"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is named, print each case when it is known, and a last line for all."""
    options = _parser().parse_args(arguments)
    if options.list:
        print("\n".join(f"{group}: {', '.join(row.name for row in rows)}" for group, (_, rows) in TABLE.items()))
        return
    wanted = chosen(options.names)
    if not wanted:
        sys.exit(f"no group or row is called {' or '.join(options.names)}; --list names all")
    begun, results = time.monotonic(), {}
    if len(wanted) == 1:
        ((group, names),) = wanted.items()
        results[group] = in_this_process(group, names, options)
    else:
        for group, names in wanted.items():
            results[group] = in_own_process(group, names, options)
    print(last_line([one for result in results.values() for one in cases(result)], time.monotonic() - begun))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.table:
        put_table(options.table, results)
    sys.exit(not all(result["passed"] for result in results.values()))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("names", nargs="*", metavar="NAME", help="of groups and rows; all without any")
    made.add_argument("--list", action="store_true", help="print the names and stop")
    made.add_argument("--quick", action="store_true", help="smaller numbers everywhere")
    made.add_argument("--seed", type=int, default=1, help="of everything that is drawn")
    made.add_argument("--json", type=Path, help="write the cases to this file as well")
    made.add_argument("--table", type=Path, help="write the figures into this page")
    made.add_argument("--pictures", type=Path, help="keep a picture of each message in this folder")
    return made


def chosen(names: Sequence[str]) -> dict[str, list[str]]:
    """The rows to run by group."""
    found = {
        group: [row.name for row in rows if not names or group in names or row.name in names]
        for group, (_, rows) in TABLE.items()
    }
    return {group: rows for group, rows in found.items() if rows}


def in_this_process(group: str, names: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Run rows of one group one after another."""
    print("Machine: " + ", ".join(f"{name} {value}" for name, value in machine().items()), flush=True)
    begun, found = time.monotonic(), []
    for one in run(group, names, options):
        print(f"{one.word}  {one.what}: {one.figures}", flush=True)
        found.append(one)
    return as_result(found, time.monotonic() - begun)


def run(group: str, names: Sequence[str], options: argparse.Namespace) -> Iterator[Case]:
    """Yield the cases of rows of one group, which share a room."""
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="reliability-") as folder:
        Path(folder).chmod(0o755)  # a server without the rights of root must be able to enter
        room = Room(Path(folder), options.quick, options.seed, options.pictures)
        with room.open:
            for row in TABLE[group][1]:
                if row.name in names:
                    yield from row.cases(room)


def in_own_process(group: str, names: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Run rows of one group to their end or to the limit of the group."""
    minutes = TABLE[group][0]
    print(f"\n== python -m {MODULE} {group}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        command: list[str | Path] = [sys.executable, "-m", MODULE, *names, "--json", file, "--seed", str(options.seed)]
        command += ["--quick"] * options.quick + (["--pictures", options.pictures] if options.pictures else [])
        begun, process = time.monotonic(), subprocess.Popen(command, start_new_session=True)
        try:
            process.wait(60 * minutes)
            why = f"exit code {process.returncode}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with the servers and browsers that it started
            process.wait()
            why = f"not at its end after {minutes} minutes"
        if file.exists():
            result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))[group]
            return result
        return as_result([Case(group, why, passed=False)], time.monotonic() - begun)


def as_result(found: Sequence[Case], seconds: float) -> dict[str, Any]:
    passed = all(one.passed is not False for one in found) and bool(found)
    return {
        "passed": passed, "seconds": round(seconds, 1), "machine": machine(), "cases": [asdict(one) for one in found],
    }  # fmt: skip


def cases(result: dict[str, Any]) -> list[Case]:
    return [Case(**one) for one in result["cases"]]


def last_line(found: Sequence[Case], seconds: float) -> str:
    """Return the outcome of all cases as a sentence."""
    n_skipped = sum(one.passed is None for one in found)
    skipped = f", {n_skipped} could not be tried" if n_skipped else ""
    word = "PASS" if found and all(one.passed is not False for one in found) else "FAIL"
    return f"{word}: {sum(one.passed is True for one in found)} of {len(found)} cases{skipped}, {seconds:.0f} s"


def put_table(page: Path, results: dict[str, dict[str, Any]]) -> None:
    """Replace the tables of these groups between the two marks of a page; the tables of others stay."""
    text = page.read_text(encoding="utf-8")
    before, begun, rest = text.partition(BEGIN)
    old, ended, after = rest.partition(END)
    if not begun or not ended:
        raise ValueError(f"{page} lacks the marks {BEGIN} and {END}")
    kept = parts(old) | {group: as_table(group, result) for group, result in results.items()}
    tables = "\n\n".join(kept[group].strip() for group in TABLE if group in kept)
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")


def parts(text: str) -> dict[str, str]:
    """Return the tables of a page by group."""
    return {part.partition("`")[0].rpartition(" ")[2]: f"### `{part}" for part in text.split("\n### `")[1:]}


def as_table(group: str, result: dict[str, Any]) -> str:
    about = ", ".join(f"{what} {value}" for what, value in result["machine"].items())
    rows: Iterable[str] = (f"| {one.what} | {one.figures.replace('|', '/')} | {one.word} |" for one in cases(result))
    took = f"Duration: {result['seconds']:.0f} s. Machine: {about}."
    return "\n".join(
        [f"### `python -m {MODULE} {group}`", "", took, "", "| case | figures | result |", "|---|---|---|", *rows]
    )


if __name__ == "__main__":
    main()
