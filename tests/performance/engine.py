"""Measure the speed of the analysis, compared with a plain loop over the pairs with library functions.

    python -m tests.performance.engine [--data FOLDER] [--json FILE]

FOLDER has result files; without it, LABELER_ICPE_DIR/timeseries is used, or the bundled demo data.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from labeler.cli.workers import workers
from labeler.studies.course import coordinating
from labeler.studies.store import items, open_database, runs
from labeler.studies.verdicts import computing
from labeler.studies.verdicts.classifying import JudgeOptions, judge
from tests.analysis import plain
from tests.performance.measuring import machine, peak_mb, print_table, timed
from tests.performance.rig import challenge, new_study, sources

NAMES = ("heuristic", "heuristic-printed", "same")
N_WHOLE = 586  # the number of benchmarks in the whole data set, to which the goals refer
EVERY = 4  # the plain loop gets every fourth benchmark
MODULES = (
    "analysis", "analysis.runs.classifiers", "analysis.raters.agreement", "analysis.report",
    "labeler.studies.verdicts.computing",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=challenge())
    parser.add_argument("--json", type=Path, default=None)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"machine": machine(), "data": arguments.data.name}
    print(f"Machine: {result['machine']}\nData: {arguments.data.name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "bench.study"
        for name, title, rows in (
            ("python_imports", "Python imports", python_imports),
            ("import", "Import of result files", lambda: import_rate(study, arguments.data)),
            ("verdicts", "Verdicts, from the opened study to verdicts stored", lambda: verdict_times(study)),
            ("memory", "Peak memory of a worker", lambda: memory_of_a_worker(study)),
            ("against_plain_loop", "Beside a plain loop over the pairs", lambda: against_plain_loop(study)),
        ):
            result[name] = rows()
            print_table(title, result[name])
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def python_imports() -> list[dict[str, Any]]:
    """Return the time of a new interpreter with the import, minus the time without it."""

    codes = {"pass": "", **{f"import {name}": name for name in MODULES}}
    taken = timed(
        {code: partial(subprocess.run, [sys.executable, "-c", code], check=True) for code in codes}, repeats=5
    )
    return [{"module": name, "import in s": taken[code] - taken["pass"]} for code, name in codes.items() if name]


def import_rate(study: Path, data: Path) -> list[dict[str, Any]]:
    """Import result files into a new study, compressed and uncompressed, with bins and hash, one commit per file."""
    files = sources(data)
    n_bytes = sum(len(file.content()) for file in files)
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(files):
            (Path(folder) / f"{number}{Path(file.plain_name).suffix}").write_bytes(file.content())
        taken = timed(
            {
                "as they are": lambda: new_study(study, sources(data)),
                "unpacked": lambda: new_study(study.with_name("unpacked.study"), sources(Path(folder))),
            }
        )
    same = {"number": len(files), "MB unpacked": n_bytes / 1e6}
    return [{"files": kind, **same, "s": s, "MB/s": n_bytes / 1e6 / s} for kind, s in taken.items()]


def verdict_times(study: Path) -> list[dict[str, Any]]:
    """Return the time from the opened study to stored verdicts, with workers already started."""
    rows = []
    for what, options in (("all measures", JudgeOptions()), ("only verdicts", JudgeOptions(only_verdict=True))):
        for n_jobs, cores in ((1, "one core"), (2, "two cores")):
            with warm_workers(n_jobs) as pool:
                n_items, taken = judge_study(study, options, pool)
            rows.append(
                {"verdicts of all classifiers": f"{what}, {cores}", "benchmarks": n_items, "s": taken,
                 f"s for {N_WHOLE}": taken * N_WHOLE / n_items, "ms per benchmark": 1e3 * taken / n_items}
            )  # fmt: skip
    return rows


@contextmanager
def warm_workers(n_jobs: int) -> Iterator[Executor | None]:
    """The command's own workers, with all imports done; None for this process."""
    if n_jobs == 1:
        yield None
        return
    noise = [np.random.default_rng(0).normal(10, 1, 100) for _ in range(3)]
    with workers(n_jobs) as pool:
        for future in [pool.submit(judge, noise, NAMES) for _ in range(8 * n_jobs)]:
            future.result()
        yield pool


def judge_study(study: Path, options: JudgeOptions, pool: Executor | None, *, repeats: int = 3) -> tuple[int, float]:
    """Return the number of items, and the median time over copies of the study without verdicts."""
    n_items, taken = 0, []
    for _ in range(repeats):
        copy = study.with_name("copy.study")
        copy.unlink(missing_ok=True)
        with open_database(study) as db:
            coordinating.back_up(db, copy, actor="bench", now=datetime.now(UTC))
        with open_database(copy) as db:
            begun = time.perf_counter()
            n_items = computing.compute_verdicts(db, options=options, executor=pool, actor="bench").n_computed
            taken.append(time.perf_counter() - begun)
    return n_items, sorted(taken)[len(taken) // 2]


def memory_of_a_worker(study: Path) -> list[dict[str, float]]:
    """Return the peak of a worker's memory during verdicts, above the memory after its imports."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        idle = pool.submit(peak_mb).result()
        with open_database(study) as db:
            for item in items.all_items(db):
                pool.submit(judge, runs.of_item(db, item.item_id), NAMES).result()
        return [{"MB with the imports": idle, "MB above the imports": pool.submit(peak_mb).result() - idle}]


def against_plain_loop(study: Path) -> list[dict[str, Any]]:
    """Return the same verdicts by a plain loop over pairs, by our code on one core, and by our code on two cores."""
    with open_database(study) as db:
        measured = [runs.of_item(db, item.item_id) for item in items.all_items(db)[::EVERY]]
    with warm_workers(2) as pool:
        assert pool is not None
        taken = timed(
            {
                "plain loop": lambda: [plain.verdicts(np.stack(series)) for series in measured],
                "one core": lambda: [judge(series, NAMES) for series in measured],
                "two cores": lambda: list(pool.map(judge, measured, [NAMES] * len(measured))),
            }
        )
    n, plain_s = len(measured), taken["plain loop"]
    return [
        {"": how, "benchmarks": n, "ms per benchmark": 1e3 * s / n, "times faster": plain_s / s}
        for how, s in taken.items()
    ]


if __name__ == "__main__":
    main()
