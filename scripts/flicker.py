"""Run the fast tests many times, each time in another order, and list the tests that fail only sometimes.

    python scripts/flicker.py 20                   the whole suite, twenty times
    python scripts/flicker.py 5 tests/labeler/ui   a part of it

Each repetition has its own seed for the order of modules and tests, for hashes of strings and for examples of property
tests, and its own number of processes. `--out FILE` writes the table as Markdown. Exit code 1 if a test failed.
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
    if not results.exists():
        raise SystemExit(f"pytest wrote no results with seed {seed}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    failures, n_tests = {}, 0
    for case in ET.parse(results).iter("testcase"):
        n_tests += 1
        problem = next((case.find(kind) for kind in ("failure", "error") if case.find(kind) is not None), None)
        if problem is not None:
            failures[f"{case.get('classname')}::{case.get('name')}"] = " ".join(problem.get("message", "").split())[
                :160
            ]
    return n_tests, taken_s, failures


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("times", type=int, help="number of repetitions")
    options.add_argument("tests", nargs="*", help="files, folders or options for pytest (default: all tests)")
    options.add_argument("--first-seed", type=int, default=1, help="seed of the first repetition (default: 1)")
    options.add_argument("--out", type=Path, help="write the table to this Markdown file")
    given, rest = options.parse_known_args()
    lines = ["| seed | processes | tests | seconds | failed |", "|---|---|---|---|---|"]
    failed: dict[str, dict[int, str]] = defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first_seed, given.first_seed + given.times):
            n_tests, taken_s, failures = repeat(seed, given.tests + rest, Path(folder))
            for name, message in failures.items():
                failed[name][seed] = message
            lines.append(
                f"| {seed} | {N_PROCESSES[seed % len(N_PROCESSES)]} | {n_tests} | {taken_s:.0f} | {len(failures)} |"
            )
            print(lines[-1], flush=True)
    flickered = [
        f"- `{name}` failed in {len(found)} of {given.times}, with seed {', '.join(map(str, found))}: "
        f"{next(iter(found.values()))}"
        for name, found in sorted(failed.items())
    ]
    heading = (
        "No test failed." if not flickered else f"{len(flickered)} test{'s' if len(flickered) > 1 else ''} failed:"
    )
    print("\n".join([heading, *flickered]))
    if given.out:
        command = " ".join(["python scripts/flicker.py", str(given.times), *given.tests, *rest])
        text = ["# Repeated runs", "", f"Written by `{command}`.", "", *lines, "", heading, "", *flickered]
        (ROOT / given.out).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / given.out).write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
