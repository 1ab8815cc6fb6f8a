"""Measure the server while people work: memory, threads, files, sizes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.performance.measuring import memory_mb


@dataclass(frozen=True)
class Sample:
    """One look at the server, and at the study without opening it."""

    n_labels: int
    mb: float
    n_threads: int
    n_files: int
    study_mb: float
    log_mb: float


def look(pid: int, study: Path, n_labels: int) -> Sample:
    """Return the state of the server now."""
    log = study.with_name(study.name + "-wal")
    n_threads, n_files = (sum(1 for _ in Path(f"/proc/{pid}/{kind}").iterdir()) for kind in ("task", "fd"))
    return Sample(n_labels, memory_mb(pid), n_threads, n_files, size_mb(study), size_mb(log))


def size_mb(file: Path) -> float:
    """The size in MB; 0 if the file is missing: SQLite removes its log with the last connection."""
    try:
        return file.stat().st_size / 2**20
    except FileNotFoundError:
        return 0.0


def slope(samples: list[Sample]) -> float:
    """MB per 1000 labels, fitted over the second half of the labels; NaN if there are too few."""
    later = [sample for sample in samples if sample.n_labels >= samples[-1].n_labels / 2]
    labels = np.array([sample.n_labels for sample in later]) / 1000
    return float(np.polyfit(labels, [sample.mb for sample in later], 1)[0]) if np.ptp(labels) else float("nan")


def between(samples: list[Sample], first: int, last: int) -> float:
    """Return the difference in MB between two numbers of labels."""
    at = np.interp([first, last], [sample.n_labels for sample in samples], [sample.mb for sample in samples])
    return float(at[1] - at[0])
