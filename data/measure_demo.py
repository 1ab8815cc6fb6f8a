"""Measure the demo study: 24 small benchmarks, ten new processes each, 3000 iterations each.

    python data/measure_demo.py [--out data/demo] [--seed 20261120] [--iterations 3000]

Half of the benchmarks get a known intervention in some of their ten runs. `interventions.csv` lists
the interventions; `demo.parquet` has the measurements. Every run is a separate process, and the 240
processes start in shuffled order, so that a change of the machine over time affects all benchmarks
equally. This takes about four minutes; leave the machine alone during that time.
"""

import argparse
import collections
import csv
import gc
import hashlib
import heapq
import io
import json
import os
import random
import re
import sqlite3
import string
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

N_RUNS = 10
WARMUP = 100  # iterations before the measured ones, except in a cold start

Operation = Callable[[], object]


def _json_dumps(rng: random.Random) -> Operation:
    rows = [{"id": i, "name": f"row {i}", "values": [rng.random() for _ in range(5)]} for i in range(40)]
    return lambda: json.dumps(rows)


def _json_loads(rng: random.Random) -> Operation:
    text = json.dumps([{"id": i, "tags": ["a", "b"], "x": rng.random()} for i in range(120)])
    return lambda: json.loads(text)


def _json_nested(_rng: random.Random) -> Operation:
    nested: object = 0
    for _ in range(60):
        nested = {"child": nested, "text": "abcdefghij"}
    return lambda: json.loads(json.dumps(nested))


def _json_indented(rng: random.Random) -> Operation:
    table = {f"key {i}": rng.randrange(10**6) for i in range(60)}
    return lambda: json.dumps(table, indent=2, sort_keys=True)


def _text(rng: random.Random, n_words: int) -> str:
    return " ".join("".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))) for _ in range(n_words))


def _re_findall(rng: random.Random) -> Operation:
    text, pattern = _text(rng, 900), re.compile(r"\b[aeiou]\w+")
    return lambda: pattern.findall(text)


def _re_sub(rng: random.Random) -> Operation:
    text, pattern = _text(rng, 500), re.compile(r"(\w)(\w+)")
    return lambda: pattern.sub(r"\2\1", text)


def _str_split_join(rng: random.Random) -> Operation:
    text = _text(rng, 1800)
    return lambda: "-".join(text.split(" "))


def _csv_parse(rng: random.Random) -> Operation:
    text = "\n".join(",".join(str(rng.random()) for _ in range(6)) for _ in range(80))
    return lambda: list(csv.reader(io.StringIO(text)))


def _dict_count(rng: random.Random) -> Operation:
    words = _text(rng, 1500).split()
    return lambda: collections.Counter(words)


def _sort_floats(rng: random.Random) -> Operation:
    values = [rng.random() for _ in range(900)]
    return lambda: sorted(values)


def _heap_merge(rng: random.Random) -> Operation:
    parts = [sorted(rng.random() for _ in range(60)) for _ in range(6)]
    return lambda: list(heapq.merge(*parts))


def _linked_nodes(_rng: random.Random) -> Operation:
    class Node:
        def __init__(self, other: "Node | None") -> None:
            self.other, self.me = other, self  # a reference cycle: only the garbage collector can free it

    def build() -> None:
        node: Node | None = None
        for _ in range(250):
            node = Node(node)

    return build


def _zlib_compress(rng: random.Random) -> Operation:
    content = _text(rng, 900).encode()
    return lambda: zlib.compress(content)


def _sha256(rng: random.Random) -> Operation:
    content = rng.randbytes(100_000)
    return lambda: hashlib.sha256(content).digest()


def _sqlite_insert(rng: random.Random) -> Operation:
    rows = [(i, rng.random()) for i in range(120)]
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x REAL)")

    def insert() -> None:
        db.execute("BEGIN")
        db.executemany("INSERT INTO t VALUES (?, ?)", rows)
        db.execute("ROLLBACK")

    return insert


def _sqlite_select(rng: random.Random) -> Operation:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x REAL)")
    db.executemany("INSERT INTO t VALUES (?, ?)", [(i, rng.random()) for i in range(1500)])
    return lambda: db.execute("SELECT sum(x), max(x) FROM t WHERE id % 3 = 0").fetchone()


def _struct_pack(rng: random.Random) -> Operation:
    rows = [(i, rng.random(), i % 7) for i in range(600)]
    packer = struct.Struct("<idh")
    return lambda: b"".join(packer.pack(*row) for row in rows)


def _fibonacci(_rng: random.Random) -> Operation:
    def fibonacci(n: int) -> int:
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    return lambda: fibonacci(13)


def _sieve(_rng: random.Random) -> Operation:
    def sieve() -> int:
        flags = bytearray([1]) * 6000
        for i in range(2, 78):
            if flags[i]:
                flags[i * i :: i] = bytes(len(range(i * i, 6000, i)))
        return sum(flags)

    return sieve


def _numpy_sum(rng: random.Random) -> Operation:
    values = np.random.default_rng(rng.randrange(2**32)).random(60_000)
    return lambda: values.sum()


def _numpy_sort(rng: random.Random) -> Operation:
    values = np.random.default_rng(rng.randrange(2**32)).random(6_000)
    return lambda: np.sort(values)


def _numpy_matmul(rng: random.Random) -> Operation:
    a = np.random.default_rng(rng.randrange(2**32)).random((90, 90))
    return lambda: a @ a


def _numpy_solve(rng: random.Random) -> Operation:
    generator = np.random.default_rng(rng.randrange(2**32))
    a, b = generator.random((50, 50)) + 10 * np.eye(50), generator.random(50)
    return lambda: np.linalg.solve(a, b)


def _numpy_fft(rng: random.Random) -> Operation:
    values = np.random.default_rng(rng.randrange(2**32)).random(4096)
    return lambda: np.fft.rfft(values)


BENCHMARKS: dict[str, tuple[str, Callable[[random.Random], Operation]]] = {
    "json.dumps#rows=40": ("cpython/json", _json_dumps),
    "json.loads#rows=120": ("cpython/json", _json_loads),
    "json.round_trip#depth=60": ("cpython/json", _json_nested),
    "json.dumps_indented#keys=60": ("cpython/json", _json_indented),
    "re.findall#words=900": ("cpython/text", _re_findall),
    "re.sub#words=500": ("cpython/text", _re_sub),
    "str.split_join#words=1800": ("cpython/text", _str_split_join),
    "csv.reader#rows=80": ("cpython/text", _csv_parse),
    "collections.Counter#words=1500": ("cpython/collections", _dict_count),
    "sorted#floats=900": ("cpython/collections", _sort_floats),
    "heapq.merge#lists=6": ("cpython/collections", _heap_merge),
    "linked_nodes#nodes=250": ("cpython/collections", _linked_nodes),
    "zlib.compress#words=900": ("cpython/storage", _zlib_compress),
    "hashlib.sha256#bytes=100000": ("cpython/storage", _sha256),
    "sqlite3.insert#rows=120": ("cpython/storage", _sqlite_insert),
    "sqlite3.select#rows=1500": ("cpython/storage", _sqlite_select),
    "struct.pack#rows=600": ("cpython/compute", _struct_pack),
    "fibonacci#n=13": ("cpython/compute", _fibonacci),
    "sieve#limit=6000": ("cpython/compute", _sieve),
    "numpy.sum#n=60000": ("numpy/arrays", _numpy_sum),
    "numpy.sort#n=6000": ("numpy/arrays", _numpy_sort),
    "numpy.matmul#n=90": ("numpy/linalg", _numpy_matmul),
    "numpy.linalg.solve#n=50": ("numpy/linalg", _numpy_solve),
    "numpy.fft.rfft#n=4096": ("numpy/arrays", _numpy_fft),
}

# benchmark -> (intervention, amount, number of the ten runs that get it); which runs: drawn from the seed
INTERVENTIONS: dict[str, tuple[str, float, int]] = {
    "json.loads#rows=120": ("slowdown", 0.05, 5),
    "re.findall#words=900": ("slowdown", 0.10, 3),
    "sorted#floats=900": ("slowdown", 0.25, 2),
    "numpy.sort#n=6000": ("slowdown", 0.50, 1),
    "sqlite3.select#rows=1500": ("slowdown", 0.10, 5),
    "zlib.compress#words=900": ("competing process", 1, 2),
    "numpy.matmul#n=90": ("competing process", 1, 4),
    "linked_nodes#nodes=250": ("garbage collection off", 1, 4),
    "csv.reader#rows=80": ("cold start", 1, 5),
    "struct.pack#rows=600": ("environment size", 100_000, 5),
    "fibonacci#n=13": ("drifting level", 0.30, 3),
    "json.dumps#rows=40": ("drifting level", 0.10, 5),
}


def _spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _with_share_added(operation: Operation, share: Callable[[], float]) -> Operation:
    """Return the operation, followed by a wait of the given share of its time."""

    def slower() -> None:
        start = time.perf_counter()
        operation()
        _spin((time.perf_counter() - start) * share())

    return slower


def _measure(name: str, intervention: str, amount: float, n_iterations: int) -> "np.ndarray":
    """Measure one run in a separate process; return the seconds of each iteration."""
    operation = BENCHMARKS[name][1](random.Random(name))
    done = 0
    if intervention == "slowdown":
        operation = _with_share_added(operation, lambda: amount)
    elif intervention == "drifting level":
        operation = _with_share_added(operation, lambda: amount * done / n_iterations)
    elif intervention == "garbage collection off":
        gc.disable()
    for _ in range(0 if intervention == "cold start" else WARMUP):
        operation()
    times = np.empty(n_iterations)
    for done in range(n_iterations):
        start = time.perf_counter_ns()
        operation()
        times[done] = time.perf_counter_ns() - start
    return times * 1e-9


def _start_competitor(core: int) -> subprocess.Popen[bytes]:
    competitor = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    os.sched_setaffinity(competitor.pid, {core})
    return competitor


def _run_in_fresh_process(name: str, intervention: str, amount: float, n_iterations: int, core: int) -> "np.ndarray":
    environment = dict(os.environ, PYTHONHASHSEED="random", OPENBLAS_NUM_THREADS="1")
    if intervention == "environment size":
        environment["PADDING"] = "x" * int(amount)
    command = [sys.executable, __file__, "--one", name, intervention, str(amount), "--iterations", str(n_iterations)]
    competitor = _start_competitor(core) if intervention == "competing process" else None
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            check=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
    finally:
        if competitor is not None:
            competitor.kill()
            competitor.wait()
    return np.frombuffer(done.stdout, dtype="<f8")


def _plan(seed: int) -> list[tuple[str, int, str, float]]:
    """(benchmark, run, intervention or '', amount) of all runs, in shuffled order."""
    rng = random.Random(seed)
    rows = []
    for name in BENCHMARKS:
        intervention, amount, n_affected = INTERVENTIONS.get(name, ("", 0.0, 0))
        affected = set(rng.sample(range(N_RUNS), n_affected))
        rows += [(name, r, intervention, amount) if r in affected else (name, r, "", 0.0) for r in range(N_RUNS)]
    rng.shuffle(rows)
    return rows


def _write(out: Path, rows: list[tuple[str, int, str, float]], series: dict[tuple[str, int], "np.ndarray"]) -> None:
    import pandas as pd

    parts = [
        pd.DataFrame(
            {
                "application": BENCHMARKS[name][0],
                "benchmark": name,
                "run": np.int8(run),
                "iteration": np.arange(len(values), dtype=np.int16),
                "value": values.astype(np.float32),
                "unit": "s",
            }
        )
        for name in BENCHMARKS
        for run in range(N_RUNS)
        for values in [series[name, run]]
    ]
    table = pd.concat(parts, ignore_index=True).astype(
        {"application": "category", "benchmark": "category", "unit": "category"}
    )
    table.to_parquet(
        out / "demo.parquet", index=False, compression="zstd", compression_level=19,
        use_dictionary=["application", "benchmark", "run", "unit"],
        column_encoding={"value": "BYTE_STREAM_SPLIT", "iteration": "DELTA_BINARY_PACKED"},
    )  # fmt: skip
    with (out / "interventions.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["benchmark", "run", "intervention", "amount"])
        writer.writerows(sorted(row for row in rows if row[2]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "demo")
    parser.add_argument("--seed", type=int, default=20261120, help="random seed for the affected runs and the order")
    parser.add_argument("--iterations", type=int, default=3000)
    parser.add_argument("--one", nargs=3, metavar=("BENCHMARK", "INTERVENTION", "AMOUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, intervention, amount = options.one
        sys.stdout.buffer.write(_measure(name, intervention, float(amount), options.iterations).astype("<f8").tobytes())
        return
    core = max(os.sched_getaffinity(0))
    rows, series, start = _plan(options.seed), {}, time.monotonic()
    for done, (name, run, intervention, amount) in enumerate(rows):
        series[name, run] = _run_in_fresh_process(name, intervention, amount, options.iterations, core)
        left = (time.monotonic() - start) / (done + 1) * (len(rows) - done - 1)
        print(f"\r{done + 1} of {len(rows)} runs, {left:.0f} s left ", end="", file=sys.stderr)
    options.out.mkdir(parents=True, exist_ok=True)
    _write(options.out, rows, series)
    print(f"\nWrote {options.out / 'demo.parquet'} and interventions.csv.", file=sys.stderr)


if __name__ == "__main__":
    main()
