"""Shared parts of the benchmarks: repeated timing, memory, a description of the machine, tables that are kept."""

import argparse
import os
import platform
import resource
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy

RESULTS = Path(__file__).parents[2] / "docs" / "results"
_written: list[str] = []  # the tables of this process so far


def options(doc: str | None, **defaults: tuple[int, str]) -> argparse.Namespace:
    """Return the options of a command: whole numbers with their default and help."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, (default, words) in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{words} [default: {default}]")
    return parser.parse_args()


def seconds(
    function: Callable[[], object], *, repeats: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the median time of several calls; `time.process_time` as clock leaves out other work on the machine."""
    return timed({"": function}, repeats=repeats, clock=clock)[""]


def timed(
    functions: Mapping[str, Callable[[], object]], *, repeats: int = 3, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the median time of each function; they take turns, so that a slow minute of the machine affects all."""
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            begun = clock()
            function()
            taken[name].append(clock() - begun)
    return {name: statistics.median(times) for name, times in taken.items()}


def peak_mb() -> float:
    """Return the peak memory of this process; on Linux not that of its parent, which getrusage may report."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text(encoding="utf-8").partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def machine() -> dict[str, str | int]:
    """Return the class of machine, without its name."""
    model = "unknown"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def percentiles(values: Sequence[float], *levels: float) -> list[float]:
    """Interpolated percentiles; NaN if there are no values."""
    return np.percentile(values, levels).tolist() if values else [float("nan")] * len(levels)


def cpu_s(pid: int | str) -> float:
    """Processor time of a process so far, with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int | str) -> float:
    """Return the memory that a process uses now."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def busy_s() -> float:
    """Processor time of the whole machine so far: the share of other processes shows how noisy a measurement is."""
    user, nice, system, _idle, _wait, *interrupts = map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:])
    return (user + nice + system + sum(interrupts[:2])) / os.sysconf("SC_CLK_TCK")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a Markdown table; columns of numbers are aligned to the right."""
    header = list(rows[0])
    kinds = ("---:" if isinstance(rows[0][name], (int, float)) else "---" for name in header)
    lines = [header, kinds, *([_cell(row[name]) for name in header] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def print_table(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows as a Markdown table, and write all tables of this command so far to its file in docs/results."""
    _written.append(f"{title}\n\n{table(rows)}")
    print(f"\n{_written[-1]}", flush=True)
    script = Path(sys.argv[0])
    command = shlex.join(["python", "-m", ".".join(script.with_suffix("").parts[-3:]), *sys.argv[1:]])
    told = f"Written by `{command}` on " + ", ".join(f"{name} {value}" for name, value in machine().items())
    write_page(script.stem.replace("_", "-"), f"# Measured: {script.stem.replace('_', ' ')}", f"{told}.", *_written)


def write_page(name: str, *parts: str) -> None:
    (RESULTS / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
