"""Measure how fast result files are imported, and how much memory that takes.

    LABELER_ICPE_DIR=... python -m tests.performance.importing [--files N]

Every row is measured in a separate process; its memory is the peak minus the memory after the imports. Without
LABELER_ICPE_DIR, the bundled demo data replace the files of the data challenge.
"""

import argparse
import json
import os
import random
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from labeler.config import bundled
from labeler.service.files import converting
from labeler.service.items import importing
from labeler.service.study import coordinating
from labeler.store import open_database
from tests.performance.measuring import peak_mb, print_table, seconds

N_BENCHMARKS, N_ITERATIONS = 50, 200  # per file with one run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000, help="files that are a run each")
    n = parser.parse_args().files
    named = os.environ.get("LABELER_ICPE_DIR")
    challenge = Path(named) / "timeseries" if named else bundled("data", "demo", "demo.parquet")
    with tempfile.TemporaryDirectory() as folder:
        few, many = (make_runs(Path(folder) / str(size), size) for size in (n // 10, n))
        rows = [
            measured("import of the data challenge", challenge, into_study),
            measured("its dry run", challenge, look),
            measured("its conversion to Parquet", challenge, partial(convert, form="parquet")),
            measured("its conversion to CSV", challenge, partial(convert, form="csv")),
            measured(f"import of {n // 10} runs of {N_BENCHMARKS} benchmarks", few, into_study),
            measured(f"import of {n} runs of {N_BENCHMARKS} benchmarks", many, into_study),
        ]
    print_table("Importing", rows)


def measured(what: str, path: Path, function: Callable[[Path], None]) -> dict[str, object]:
    """Time and memory of a function of a path, in a new process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        n_files, megabytes = pool.submit(size, path).result()
        before = pool.submit(peak_mb).result()
        taken_s = pool.submit(taken, function, path).result()
        memory = pool.submit(peak_mb).result() - before
    return {"what": what, "files": n_files, "MB": megabytes, "s": taken_s, "MB of memory": memory}


def size(path: Path) -> tuple[int, float]:
    files = list(importing.files_below([path]))
    return len(files), sum(file.size for file in files) / 1e6


def taken(function: Callable[[Path], None], path: Path) -> float:
    return seconds(lambda: function(path), repeats=1)


def into_study(path: Path) -> None:
    now = datetime.now(UTC)
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "s.study"
        coordinating.create_study(study, name="bench", question="Similar?", coordinator="bench", now=now)
        with open_database(study) as db:
            for result in importing.import_files(db, list(importing.files_below([path])), actor="bench", now=now):
                if result.refused:
                    raise RuntimeError(result.refused)


def look(path: Path) -> None:
    for result in importing.look_into_files(list(importing.files_below([path]))):
        if result.refused:
            raise RuntimeError(result.refused)


def convert(path: Path, form: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        converting.convert(list(importing.files_below([path])), form, Path(folder) / "out")


def make_runs(folder: Path, n: int) -> Path:
    """Files as pytest-benchmark writes them, one per run."""
    folder.mkdir()
    rng = random.Random(1)
    for run in range(n):
        level = 1e-3 * rng.lognormvariate(0, 0.02)
        benchmarks = [
            {
                "fullname": f"bench.py::test_{number}", "params": None,
                "stats": {"data": [level * rng.lognormvariate(0, 0.05) for _ in range(N_ITERATIONS)]},
            }
            for number in range(N_BENCHMARKS)
        ]  # fmt: skip
        content = {"machine_info": {}, "commit_info": {}, "benchmarks": benchmarks}
        (folder / f"run-{run}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


if __name__ == "__main__":
    main()
