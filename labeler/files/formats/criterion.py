"""Read `sample.json` of criterion.rs: sample i is `iters[i]` executions, which took `times[i]` nanoseconds.

The file is in `target/criterion/<group>/<function>/<value>/new/`. The folders, not the file, name the benchmark. The
last folder is the version, which is new, base, or the name given to `--save-baseline`. A file is a run, because one
process writes it, and a sample is an iteration. The first releases wrote two lists (executions and times) instead of an
object.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import Benchmark
from labeler.files.formats import json_text
from labeler.files.formats.units import scaled
from labeler.text import is_storable

SAMPLE, ROOT = "sample.json", "criterion"
BESIDE = "benchmark.json"
N_FOLDERS = 3  # group, function and value; used if no folder is called `criterion`
NANOSECOND = 1e-9
_OLD = re.compile(r"(^|[/\\])(new|base)[/\\]sample\.json$", re.IGNORECASE)
_ESTIMATES = re.compile(rb'\{\s*"(mean|median|median_abs_dev|slope|std_dev)"\s*:\s*\{')
_OF_ESTIMATES = (b'"confidence_interval"', b'"point_estimate"', b'"standard_error"')


def detect(name: str, content: bytes) -> bool:
    """Also return True for estimates, which the reader refuses with an explanation."""
    head = json_text.beginning(content)
    if head[:1] == b"[":
        return _OLD.search(name) is not None and head[1:].lstrip()[:1] == b"["
    is_sample = head[:1] == b"{" and b'"iters"' in content and b'"times"' in content
    return is_sample or _is_estimates(content)


def read(name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the only benchmark of the file; `columns` may have `benchmark.json`, which criterion.rs writes beside it."""
    if _is_estimates(content):
        raise ValueError("this file has only averages. The measurements are in sample.json in the same folder")
    by_folders, version = _benchmark_and_version(name)
    benchmark = _full_id(columns.get(BESIDE, "")) or by_folders
    sample = json_text.parse(content)
    if isinstance(sample, list) and len(sample) == 2:
        sample = dict(zip(("iters", "times"), sample, strict=True))
    yield Benchmark.of_series(
        name=benchmark,
        series=(_run(sample, f"benchmark {benchmark!r}, run 0"),),
        conditions={"version": (version,)} if version else {},
        former_names=(by_folders,) if by_folders != benchmark else (),
    )


def _full_id(text: str) -> str:
    """Return the name in `benchmark.json`; return "" if there is none. Folders have `_` in place of some characters."""
    try:
        told = json_text.parse(text.encode()) if text else None
    except ValueError:
        return ""
    name = told.get("full_id") if isinstance(told, dict) else None
    return name if isinstance(name, str) and name.strip() and is_storable(name) else ""


def _is_estimates(content: bytes) -> bool:
    head = json_text.beginning(content)
    return _ESTIMATES.match(head) is not None and all(key in content for key in _OF_ESTIMATES)


def _benchmark_and_version(name: str) -> tuple[str, str]:
    """Return the name of the benchmark and its version, which are in the names of the folders.

    If the file was renamed or has no folders, return the file name and no version.

    Examples
    --------
    >>> _benchmark_and_version("target/criterion/Fibonacci/Iterative/20/new/sample.json")
    ('Fibonacci/Iterative/20', 'new')
    >>> _benchmark_and_version("fib.json")
    ('fib', '')
    """
    *folders, file = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")] or [name]
    if file.lower() != SAMPLE or not folders:
        return re.sub(r"\.json$", "", file, flags=re.IGNORECASE), ""
    *told, version = folders
    roots = [at for at, folder in enumerate(told[:-1]) if folder == ROOT]
    told = told[roots[-1] + 1 :] if roots else told[-N_FOLDERS:]
    return "/".join(told) or SAMPLE.removesuffix(".json"), version


def _run(sample: Any, place: str) -> Series:
    times, counts = (
        json_text.series(json_text.member(sample, key, list, "the file"), f"{place}, {key!r}")
        for key in ("times", "iters")
    )
    if len(times) != len(counts):
        raise ValueError(f"{place}: 'times' and 'iters' differ in length ({len(times)} and {len(counts)})")
    usable = (counts > 0) & np.isfinite(counts)
    if not usable.all():
        at = int(usable.argmin())
        raise ValueError(f"{place}, iteration {at}: the number of executions is {counts[at]}, but must be above 0")
    return scaled(scaled(times, NANOSECOND) / counts, 1.0)
