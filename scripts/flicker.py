"""Run the fast tests many times, each time in another order, and list the tests that fail only sometimes.

    python scripts/flicker.py 20                   the whole suite, twenty times
    python scripts/flicker.py 5 tests/labeler/studies/ui   a part of it

Each repetition has its own seed for the order of modules and tests, for hashes of strings and for examples of property
tests, and its own number of processes. `--out FILE` writes the table as Markdown, again after each repetition. Exit
code 1 if a test failed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parent.parent
N_PROCESSES = (2, 1, 4, 3)  # in turn


def repeat(seed: int, tests: list[str], folder: Path) -> tuple[int, float, dict[str, str]]:
    """Run the tests once; return how many ran, the seconds, and the first line of each failure."""
    results = folder / f"{seed}.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--shuffle={seed}",
               "--hypothesis-profile=drawn", f"--hypothesis-seed={seed}", f"--junitxml={results}",
               "--numprocesses", str(N_PROCESSES[seed % len(N_PROCESSES)]), "--dist", "worksteal", *tests]  # fmt: skip
    began = time.monotonic()
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    taken_s = time.monotonic() - began
    if not results.exists() or done.returncode not in (0, 1):
        output = done.stdout[-2000:] + done.stderr[-2000:]
        raise SystemExit(f"pytest ended with exit code {done.returncode} with seed {seed}:\n{output}")
    failures, n_tests = {}, 0
    for case in ET.parse(results).iter("testcase"):
        n_tests += 1
        problem = next((case.find(kind) for kind in ("failure", "error") if case.find(kind) is not None), None)
        if problem is not None:
            message = " ".join(problem.get("message", "").split())
            failures[f"{case.get('classname')}::{case.get('name')}"] = message[:160]
    return n_tests, taken_s, failures


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("times", type=int, help="number of repetitions")
    options.add_argument("tests", nargs="*", help="files, folders or options for pytest (default: all tests)")
    options.add_argument("--first-seed", type=int, default=1, help="seed of the first repetition (default: 1)")
    options.add_argument("--out", type=Path, help="write the table to this Markdown file")
    given, rest = options.parse_known_args()
    lines = ["| seed | processes | tests | seconds | failed |", "|---:|---:|---:|---:|---:|"]
    failed: dict[str, dict[int, str]] = defaultdict(dict)
    command = " ".join(
        ["python scripts/flicker.py", str(given.times), *given.tests, *rest, f"--first-seed {given.first_seed}"]
    )
    with tempfile.TemporaryDirectory() as folder:
        for n_done, seed in enumerate(range(given.first_seed, given.first_seed + given.times), 1):
            n_tests, taken_s, failures = repeat(seed, given.tests + rest, Path(folder))
            for name, message in failures.items():
                failed[name][seed] = message
            lines.append(
                f"| {seed} | {N_PROCESSES[seed % len(N_PROCESSES)]} | {n_tests} | {taken_s:.0f} | {len(failures)} |"
            )
            print(lines[-1], flush=True)
            if given.out:
                text = ["# Repeated runs", "", f"Written by `{command}`.", "", *lines, "", *summary(failed, n_done), ""]
                given.out.parent.mkdir(parents=True, exist_ok=True)
                given.out.write_text("\n".join(text), encoding="utf-8")
    print("\n".join(summary(failed, given.times)))
    return 1 if failed else 0


def summary(failed: dict[str, dict[int, str]], n_done: int) -> list[str]:
    """Return a heading and one line per test that failed: in how many repetitions, with which seeds, and why."""
    if not failed:
        return [f"No test failed in {n_done} repetition{'s' if n_done > 1 else ''}."]
    lines = [f"{len(failed)} test{'s' if len(failed) > 1 else ''} failed:", ""]
    for name, found in sorted(failed.items()):
        seeds = f"seed{'s' if len(found) > 1 else ''} {', '.join(map(str, found))}"
        lines.append(f"- `{name}` failed in {len(found)} of {n_done}, with {seeds}: {next(iter(found.values()))}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
