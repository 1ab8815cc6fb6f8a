"""Measure how fast result files are imported, and how much memory that takes.

    LABELER_ICPE_DIR=... python -m tests.performance.importing [--files N]

Every row is measured in a separate process; its memory is the peak minus the memory after the imports. Without
LABELER_ICPE_DIR, the bundled demo data replace the files of the data challenge.
"""

import json
import random
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from labeler.files import gathering
from labeler.studies.items import importing
from tests.performance.measuring import options, peak_mb, print_table, seconds
from tests.performance.rig import challenge, new_study, sources

N_BENCHMARKS, N_ITERATIONS = 50, 200  # per file with one run


def main() -> None:
    n = options(__doc__, files=(1000, "files that are a run each")).files
    with tempfile.TemporaryDirectory() as folder:
        few, many = (make_runs(Path(folder) / str(size), size) for size in (n // 10, n))
        works: list[tuple[str, Path, Callable[[Path], None]]] = [
            ("import of the data challenge", challenge(), into_study),
            ("its dry run", challenge(), look),
            ("its conversion to Parquet", challenge(), partial(convert, form="parquet")),
            ("its conversion to CSV", challenge(), partial(convert, form="csv")),
            (f"import of {n // 10} runs of {N_BENCHMARKS} benchmarks", few, into_study),
            (f"import of {n} runs of {N_BENCHMARKS} benchmarks", many, into_study),
        ]
        print_table("Importing", [measured(*work) for work in works])


def measured(what: str, path: Path, work: Callable[[Path], None]) -> dict[str, object]:
    """Time and memory of work on a path, in a new process."""
    files = sources(path)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        before = pool.submit(peak_mb).result()
        taken_s = pool.submit(taken, work, path).result()
        memory = pool.submit(peak_mb).result() - before
    megabytes = sum(file.size for file in files) / 1e6
    return {"what": what, "files": len(files), "MB": megabytes, "s": taken_s, "MB of memory": memory}


def taken(work: Callable[[Path], None], path: Path) -> float:
    return seconds(lambda: work(path), repeats=1)


def into_study(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        new_study(Path(folder) / "s.study", sources(path))


def look(path: Path) -> None:
    for result in importing.look_into_files(sources(path)):
        if result.refused:
            raise RuntimeError(result.refused)


def convert(path: Path, form: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        gathering.convert(sources(path), form, Path(folder) / "out")


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
