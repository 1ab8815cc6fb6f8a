"""Measure how fast commands start, and how fast `labeler check` evaluates small and large suites.

    python -m tests.performance.startup [--repeats N] [--suites N ...]

Every row is a separate process. The commands alternate, so that a slow minute of the machine affects all of them;
values are medians. Goals are ratios to commands measured at the same time, and limits for large suites. CPU is the
processor time of the process, which other work on the machine disturbs least.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from labeler.config import bundled
from tests.performance.measuring import print_table

EMPTY, COMPARE = "python -c 'import click'", "pyperf compare_to, 5 benchmarks"
RATIO_GOALS = {  # command -> (compared with, maximum ratio)
    "labeler --help": (EMPTY, 4), "labeler --version": (EMPTY, 4), "labeler check, 5 benchmarks": (COMPARE, 4),
}  # fmt: skip
GOALS = {"labeler status": "0.5 s"} | {name: f"{most} times" for name, (_, most) in RATIO_GOALS.items()}
SUITES = (500, 10_000)
SUITE_GOALS = {500: "3 s", 10_000: "10 s, 300 MB"}
LABELER = (sys.executable, "-m", "labeler")
# A small process in between: the peak memory of a child includes that of the process that started it.
MEASURE = """
import json, resource, subprocess, sys, time
begun = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
wall_s, usage = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""


def main() -> None:
    """Measure, and print one table for the small commands and one for large suites."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="processes of each command")
    parser.add_argument("--suites", type=int, nargs="*", default=SUITES, help="sizes of large suites")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_table("Starting", startup_rows(Path(folder), options.repeats))
        if options.suites:
            print_table("Large suites", [suite_row(Path(folder), n) for n in options.suites])


def startup_rows(folder: Path, repeats: int) -> list[dict[str, object]]:
    """One row per command: medians, and the ratio to the command that it is compared with."""
    study = make_study(folder)
    before, after = (str(bundled("data", "check", name)) for name in ("before.json", "after.json"))
    commands: dict[str, Sequence[str]] = {
        EMPTY: [sys.executable, "-c", "import click"],
        "labeler --help": [*LABELER, "--help"],
        "labeler --version": [*LABELER, "--version"],
        "labeler status": [*LABELER, "status", "--study", study],
        "labeler labels": [*LABELER, "labels", "--study", study, "--out", "-"],
        COMPARE: [sys.executable, "-m", "pyperf", "compare_to", before, after],
        "labeler check, 5 benchmarks": [*LABELER, "check", after, "--against", before],
    }
    measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            measured[name].append(run(command))
    wall, cpu, peak = ({name: median(row[i] for row in rows) for name, rows in measured.items()} for i in range(3))
    rows = []
    for name in commands:
        other, _ = RATIO_GOALS.get(name, ("", 0))
        rows.append(
            {
                "command": name, "wall s": wall[name], "CPU s": cpu[name], "peak MB": peak[name],
                "compared with": other, "times its wall": wall[name] / wall[other] if other else "",
                "times its CPU": cpu[name] / cpu[other] if other else "", "goal": GOALS.get(name, ""),
            }
        )  # fmt: skip
    return rows


def suite_row(folder: Path, n: int) -> dict[str, object]:
    """Time and memory of `labeler check` on a suite of n benchmarks against its baseline."""
    before, after = (enlarged(folder, name, n) for name in ("before.json", "after.json"))
    wall_s, cpu_s, peak_mb = run([*LABELER, "check", str(after), "--against", str(before)])
    return {
        "benchmarks": n, "MB a file": after.stat().st_size / 1e6, "wall s": wall_s, "CPU s": cpu_s,
        "peak MB": peak_mb, "goal": SUITE_GOALS.get(n, ""),
    }  # fmt: skip


def run(command: Sequence[str]) -> tuple[float, float, float]:
    """Elapsed and processor time in s and peak memory in MB of a command that must not fail."""
    outcome = subprocess.run([sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, check=True)
    code, wall_s, cpu_s, peak_mb = json.loads(outcome.stdout)
    if code not in (0, 1):  # exit code 1: `check` found a change
        raise RuntimeError(f"{' '.join(command)} ended with exit code {code}: {outcome.stderr}")
    return wall_s, cpu_s, peak_mb


def make_study(folder: Path) -> str:
    """Return a planned study of the demo's measurements with two reviewers."""
    study = str(folder / "cache.study")
    for words in (
        ["init"],
        ["import", str(bundled("data", "demo", "demo.parquet"))],
        ["reviewers", "add", "ada", "ben"],
        ["plan", "--seed", "1", "--retest", "0"],
    ):
        subprocess.run([*LABELER, *words, "--study", study], capture_output=True, check=True)
    return study


def enlarged(folder: Path, name: str, n: int) -> Path:
    """A real result file of five benchmarks, repeated under other names and with noise until there are n benchmarks."""
    content = json.loads(bundled("data", "check", name).read_text(encoding="utf-8"))
    rng, originals = random.Random(n), content["benchmarks"]
    content["benchmarks"] = [
        {
            "metadata": original["metadata"] | {"name": f"{original['metadata']['name']}_{number}"},
            "runs": [
                {"values": [value * rng.lognormvariate(0, 0.01) for value in run["values"]]} for run in original["runs"]
            ],
        }
        for number, original in ((number, originals[number % len(originals)]) for number in range(n))
    ]
    path = folder / f"{n}-{name}"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
