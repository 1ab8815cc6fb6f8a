"""Shared parts of the benchmarks: repeated timing, a description of the machine, tables."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy


def seconds(function: Callable[[], object], *, repeats: int = 3) -> float:
    """Return the median time of several calls."""
    taken = []
    for _ in range(repeats):
        begun = time.perf_counter()
        function()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


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


def print_table(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows as a Markdown table for the documents."""
    print(f"\n{title}\n")
    header = list(rows[0])
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join("---:" if isinstance(rows[0][name], (int, float)) else "---" for name in header) + "|")
    for row in rows:
        print("| " + " | ".join(_cell(row[name]) for name in header) + " |", flush=True)


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
