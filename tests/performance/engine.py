"""Measure the speed of the analysis, compared with a plain loop over the pairs with library functions.

    python -m tests.performance.engine [--data FOLDER] [--json FILE] [--skip-growth]

FOLDER has result files; without it, LABELER_ICPE_DIR/timeseries is used, or the bundled demo data.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from labeler.cli.verdicts import workers
from labeler.config import bundled
from labeler.model import Series
from labeler.service.items import importing
from labeler.service.study import coordinating
from labeler.service.verdicts import computing
from labeler.service.verdicts.classifying import JudgeOptions, judge
from labeler.store import items, open_database, runs
from tests.analysis import plain
from tests.performance.measuring import machine, peak_mb, print_table, seconds

NAMES = ("heuristic", "heuristic-printed", "same")
N_WHOLE = 586  # the number of benchmarks in the whole data set, to which the goals refer
MODULES = (
    "analysis",
    "analysis.classifiers",
    "analysis.agreement",
    "analysis.report",
    "labeler.service.verdicts.computing",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=default_data())
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--skip-growth", action="store_true")
    arguments = parser.parse_args()
    result: dict[str, Any] = {"machine": machine(), "data": arguments.data.name}
    print(f"Machine: {result['machine']}\nData: {arguments.data.name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "bench.study"
        result["python_imports"] = python_imports()
        result["import"] = import_rate(study, arguments.data)
        result["verdicts"] = verdict_times(study)
        result["memory"] = memory_of_a_worker(study)
        result["against_plain_loop"] = against_plain_loop(study)
        if not arguments.skip_growth:
            result["growth"] = growth(study)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def default_data() -> Path:
    folder = os.environ.get("LABELER_ICPE_DIR")
    return Path(folder) / "timeseries" if folder else bundled("data/demo/demo.parquet")


def python_imports() -> list[dict[str, Any]]:
    """Return the time of a new interpreter with the import, minus the time without it."""

    def fresh(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), repeats=5)

    empty = fresh("pass")
    rows = [{"module": name, "import in s": fresh(f"import {name}") - empty} for name in MODULES]
    print_table("Python imports", rows)
    return rows


def import_rate(study: Path, data: Path) -> list[dict[str, Any]]:
    """Import result files into a new study, compressed and uncompressed, with bins and hash, one commit per file."""
    sources = list(importing.files_below([data]))
    n_bytes = sum(len(source.content()) for source in sources)
    with tempfile.TemporaryDirectory() as folder:
        for number, source in enumerate(sources):
            (Path(folder) / f"{number}{Path(source.plain_name).suffix}").write_bytes(source.content())
        rows = [
            {
                "files": kind,
                "number": len(sources),
                "MB unpacked": n_bytes / 1e6,
                "s": taken,
                "MB/s": n_bytes / 1e6 / taken,
            }
            for kind, taken in (
                ("as they are", seconds(lambda: new_study(study, data))),
                ("unpacked", seconds(lambda: new_study(study.with_name("unpacked.study"), Path(folder)))),
            )
        ]
    print_table("Import of result files", rows)
    return rows


def new_study(study: Path, data: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{study}{end}").unlink(missing_ok=True)
    now = datetime.now(UTC)
    coordinating.create_study(study, name="bench", question="Similar?", coordinator="bench", now=now)
    with open_database(study) as db:
        for result in importing.import_files(db, list(importing.files_below([data])), actor="bench", now=now):
            if result.refused:
                raise SystemExit(f"{result.file}: {result.refused}")


def verdict_times(study: Path) -> list[dict[str, Any]]:
    """Return the time from the opened study to stored verdicts, with workers already started."""
    rows = []
    for title, n_jobs, options in (
        ("all measures, one core", 1, JudgeOptions()),
        ("all measures, two cores", 2, JudgeOptions()),
        ("only verdicts, one core", 1, JudgeOptions(only_verdict=True)),
        ("only verdicts, two cores", 2, JudgeOptions(only_verdict=True)),
    ):
        with warm_workers(n_jobs) as pool:
            n_items, taken = judge_study(study, options, pool)
        rows.append(
            {"verdicts of all classifiers": title, "benchmarks": n_items, "s": taken,
             f"s for {N_WHOLE}": taken * N_WHOLE / n_items, "ms per benchmark": 1e3 * taken / n_items}
        )  # fmt: skip
    print_table("Verdicts, from the opened study to verdicts stored", rows)
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


def memory_of_a_worker(study: Path) -> dict[str, float]:
    """Return the peak of a worker's memory during verdicts, above the memory after its imports."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        idle = pool.submit(peak_mb).result()
        with open_database(study) as db:
            for item in items.all_items(db):
                pool.submit(judge, runs.of_item(db, item.item_id), NAMES).result()
        row = {"MB with the imports": idle, "MB above the imports": pool.submit(peak_mb).result() - idle}
    print_table("Peak memory of a worker", [row])
    return row


def against_plain_loop(study: Path, *, every: int = 4) -> list[dict[str, Any]]:
    """Return the same verdicts by a plain loop over pairs, by our code on one core, and by our code on two cores."""
    with open_database(study) as db:
        measured = [runs.of_item(db, item.item_id) for item in items.all_items(db)[::every]]
    plain_s = seconds(lambda: [plain.verdicts(np.stack(series)) for series in measured], repeats=3)
    rows = [row_beside("plain loop", plain_s, plain_s, len(measured))]
    one_s = seconds(lambda: [judge(series, NAMES) for series in measured], repeats=5)
    rows.append(row_beside("one core", one_s, plain_s, len(measured)))
    with warm_workers(2) as pool:
        assert pool is not None
        two_s = seconds(lambda: list(pool.map(judge, measured, [NAMES] * len(measured))), repeats=5)
    rows.append(row_beside("two cores", two_s, plain_s, len(measured)))
    print_table("Beside a plain loop over the pairs", rows)
    return rows


def row_beside(title: str, taken: float, plain_s: float, n: int) -> dict[str, Any]:
    return {"": title, "benchmarks": n, "ms per benchmark": 1e3 * taken / n, "times faster": plain_s / taken}


def growth(study: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the time by number of benchmarks, of runs and of iterations; all measures, one core."""
    with open_database(study) as db:
        measured = [runs.of_item(db, item.item_id) for item in items.all_items(db)]
    n_base = max(1, len(measured) // 4)
    few = measured[:: max(1, len(measured) // 8)][:8]
    tables = {
        "benchmarks": [grown(f"{n}", measured[:n]) for n in (n_base, 2 * n_base, 4 * n_base)],
        "runs": [grown(f"{k}", [stretched(series, k, len(series[0])) for series in few]) for k in (5, 10, 20, 40)],
        "iterations": [
            grown(f"{n}", [stretched(series, len(series), n) for series in few]) for n in (1000, 3000, 10_000, 30_000)
        ],
    }
    for name, rows in tables.items():
        print_table(f"Growth with the number of {name}", [{name: row.pop("size"), **row} for row in map(dict, rows)])
    return tables


def grown(size: str, measured: list[list[Series]]) -> dict[str, Any]:
    taken = seconds(lambda: [judge(series, NAMES) for series in measured])
    return {"size": size, "s": taken, "ms per benchmark": 1e3 * taken / len(measured)}


def stretched(series: list[Series], k: int, n: int) -> list[Series]:
    """Benchmarks of k runs with n iterations, resampled from real runs with noise, so that no two are equal."""
    rng = np.random.default_rng(k * n)
    drawn = []
    for run in range(k):
        again = np.resize(series[run % len(series)], n)
        drawn.append(np.abs(again * (1 + 0.001 * rng.normal(size=n))))
    return drawn


if __name__ == "__main__":
    main()
