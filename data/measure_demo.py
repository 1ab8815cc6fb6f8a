"""Measure the demo study: two sets of 24 small benchmarks, ten new processes each.

    python data/measure_demo.py [--set demo] [--out data/demo] [--seed 20261120] [--iterations 3000]
    python data/measure_demo.py --set more --seed 20261124 --iterations 1500

Half of the benchmarks of each set get a known intervention in some of their ten runs. `interventions.csv` lists the
interventions of both sets; `demo.parquet` and `more.parquet` have the measurements. Every run is a separate process
and the 240 processes of a set start in shuffled order, so that a change of the machine over time affects all benchmarks
equally. A set takes about four minutes; leave the machine alone during that time.
"""

import argparse
import base64
import collections
import csv
import decimal
import difflib
import fractions
import gc
import hashlib
import heapq
import io
import itertools
import json
import os
import random
import re
import sqlite3
import statistics
import string
import struct
import subprocess
import sys
import textwrap
import time
import xml.etree.ElementTree as ET
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


def _base64(rng: random.Random) -> Operation:
    content = rng.randbytes(60_000)
    return lambda: base64.b64encode(content)


def _xml_parse(rng: random.Random) -> Operation:
    rows = "".join(f"<row x='{rng.random()}'>{i}</row>" for i in range(120))
    text = f"<rows>{rows}</rows>"
    return lambda: ET.fromstring(text)


def _textwrap(rng: random.Random) -> Operation:
    text = _text(rng, 150)
    return lambda: textwrap.wrap(text, 72)


def _difflib(rng: random.Random) -> Operation:
    one = [_text(rng, 3) for _ in range(40)]
    other = [line for line in one if rng.random() < 0.8] + [_text(rng, 3)]
    return lambda: difflib.SequenceMatcher(None, one, other).ratio()


def _template(rng: random.Random) -> Operation:
    words = _text(rng, 60).split()
    template, fields = string.Template(" ".join(f"$f{i}" for i in range(60))), {f"f{i}": w for i, w in enumerate(words)}
    return lambda: template.substitute(fields)


def _json_numbers(rng: random.Random) -> Operation:
    text = json.dumps([rng.random() for _ in range(600)])
    return lambda: json.loads(text)


def _json_floats(rng: random.Random) -> Operation:
    values = [rng.random() for _ in range(300)]
    return lambda: json.dumps(values)


def _deque(_rng: random.Random) -> Operation:
    queue = collections.deque(range(4000))

    def turn() -> None:
        for _ in range(40):
            queue.rotate(1999)

    return turn


def _set_union(rng: random.Random) -> Operation:
    one, other = ({rng.randrange(10**6) for _ in range(1500)} for _ in range(2))
    return lambda: one | other


def _dict_merge(rng: random.Random) -> Operation:
    one, other = ({f"key {rng.randrange(10**5)}": i for i in range(1200)} for _ in range(2))
    return lambda: {**one, **other}


def _combinations(_rng: random.Random) -> Operation:
    return lambda: sum(a * b for a, b, _ in itertools.combinations(range(22), 3))


def _zlib_decompress(rng: random.Random) -> Operation:
    content = zlib.compress(_text(rng, 2500).encode())
    return lambda: zlib.decompress(content)


def _crc32(rng: random.Random) -> Operation:
    content = rng.randbytes(250_000)
    return lambda: zlib.crc32(content)


def _sqlite_index(rng: random.Random) -> Operation:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE t (word TEXT)")
    db.executemany("INSERT INTO t VALUES (?)", [(word,) for word in _text(rng, 400).split()])

    def index() -> None:
        db.execute("CREATE INDEX by_word ON t (word)")
        db.execute("DROP INDEX by_word")

    return index


def _decimal(rng: random.Random) -> Operation:
    values = [decimal.Decimal(str(rng.random())) for _ in range(900)]
    return lambda: sum(values)


def _fractions(_rng: random.Random) -> Operation:
    values = [fractions.Fraction(1, i) for i in range(2, 40)]
    return lambda: sum(values)


def _collatz(_rng: random.Random) -> Operation:
    def steps() -> int:
        n, done = 97, 0
        while n != 1:
            n, done = (n // 2 if n % 2 == 0 else 3 * n + 1), done + 1
        return done

    return lambda: [steps() for _ in range(10)]


def _median(rng: random.Random) -> Operation:
    values = [rng.random() for _ in range(600)]
    return lambda: statistics.median(values)


def _numpy_cumsum(rng: random.Random) -> Operation:
    values = np.random.default_rng(rng.randrange(2**32)).random(40_000)
    return lambda: np.cumsum(values)


def _numpy_unique(rng: random.Random) -> Operation:
    values = np.random.default_rng(rng.randrange(2**32)).integers(0, 500, 5_000)
    return lambda: np.unique(values)


def _numpy_histogram(rng: random.Random) -> Operation:
    values = np.random.default_rng(rng.randrange(2**32)).random(4_000)
    return lambda: np.histogram(values, 20)


def _numpy_einsum(rng: random.Random) -> Operation:
    a = np.random.default_rng(rng.randrange(2**32)).random((60, 60))
    return lambda: np.einsum("ij,jk->ik", a, a)


def _numpy_svd(rng: random.Random) -> Operation:
    a = np.random.default_rng(rng.randrange(2**32)).random((24, 24))
    return lambda: np.linalg.svd(a)


def _numpy_det(rng: random.Random) -> Operation:
    a = np.random.default_rng(rng.randrange(2**32)).random((60, 60))
    return lambda: np.linalg.det(a)


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
    "base64.b64encode#bytes=60000": ("cpython/storage", _base64),
    "xml.etree.fromstring#rows=120": ("cpython/text", _xml_parse),
    "textwrap.wrap#words=150": ("cpython/text", _textwrap),
    "difflib.ratio#lines=40": ("cpython/text", _difflib),
    "string.Template#fields=60": ("cpython/text", _template),
    "json.loads_numbers#values=600": ("cpython/json", _json_numbers),
    "json.dumps_floats#values=300": ("cpython/json", _json_floats),
    "deque.rotate#length=4000": ("cpython/collections", _deque),
    "set.union#size=1500": ("cpython/collections", _set_union),
    "dict.merge#keys=1200": ("cpython/collections", _dict_merge),
    "itertools.combinations#n=22": ("cpython/collections", _combinations),
    "zlib.decompress#words=2500": ("cpython/storage", _zlib_decompress),
    "zlib.crc32#bytes=250000": ("cpython/storage", _crc32),
    "sqlite3.create_index#rows=400": ("cpython/storage", _sqlite_index),
    "decimal.sum#n=900": ("cpython/compute", _decimal),
    "fractions.sum#n=38": ("cpython/compute", _fractions),
    "collatz#start=97": ("cpython/compute", _collatz),
    "statistics.median#n=600": ("cpython/compute", _median),
    "numpy.cumsum#n=40000": ("numpy/arrays", _numpy_cumsum),
    "numpy.unique#n=5000": ("numpy/arrays", _numpy_unique),
    "numpy.histogram#n=4000": ("numpy/arrays", _numpy_histogram),
    "numpy.einsum#n=60": ("numpy/linalg", _numpy_einsum),
    "numpy.linalg.svd#n=24": ("numpy/linalg", _numpy_svd),
    "numpy.linalg.det#n=60": ("numpy/linalg", _numpy_det),
}
N_OF_SET = 24
SETS = {"demo": list(BENCHMARKS)[:N_OF_SET], "more": list(BENCHMARKS)[N_OF_SET:]}

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
    "base64.b64encode#bytes=60000": ("slowdown", 0.15, 4),
    "xml.etree.fromstring#rows=120": ("slowdown", 0.20, 5),
    "difflib.ratio#lines=40": ("slowdown", 0.03, 5),
    "json.loads_numbers#values=600": ("slowdown", 0.40, 3),
    "set.union#size=1500": ("slowdown", 0.30, 1),
    "dict.merge#keys=1200": ("drifting level", 0.60, 4),
    "zlib.decompress#words=2500": ("slowdown", 0.12, 5),
    "sqlite3.create_index#rows=400": ("competing process", 1, 3),
    "fractions.sum#n=38": ("slowdown", 0.25, 6),
    "statistics.median#n=600": ("slowdown", 0.08, 4),
    "numpy.histogram#n=4000": ("cold start", 1, 5),
    "numpy.linalg.svd#n=24": ("slowdown", 0.18, 2),
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


def _plan(names: list[str], seed: int) -> list[tuple[str, int, str, float]]:
    """(benchmark, run, intervention or '', amount) of all runs, in shuffled order."""
    rng = random.Random(seed)
    rows = []
    for name in names:
        intervention, amount, n_affected = INTERVENTIONS.get(name, ("", 0.0, 0))
        affected = set(rng.sample(range(N_RUNS), n_affected))
        rows += [(name, r, intervention, amount) if r in affected else (name, r, "", 0.0) for r in range(N_RUNS)]
    rng.shuffle(rows)
    return rows


def _write(
    out: Path, chosen: str, rows: list[tuple[str, int, str, float]], series: dict[tuple[str, int], "np.ndarray"]
) -> None:
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
        for name in SETS[chosen]
        for run in range(N_RUNS)
        for values in [series[name, run]]
    ]
    table = pd.concat(parts, ignore_index=True).astype(
        {"application": "category", "benchmark": "category", "unit": "category"}
    )
    table.to_parquet(
        out / f"{chosen}.parquet", index=False, compression="zstd", compression_level=19,
        use_dictionary=["application", "benchmark", "run", "unit"],
        column_encoding={"value": "BYTE_STREAM_SPLIT", "iteration": "DELTA_BINARY_PACKED"},
    )  # fmt: skip
    listed = out / "interventions.csv"
    header = ["benchmark", "run", "intervention", "amount"]
    others = []
    if listed.exists():
        with listed.open(newline="", encoding="utf-8") as file:
            others = [row for row in list(csv.reader(file))[1:] if row[0] not in SETS[chosen]]
    written = others + [[str(value) for value in row] for row in rows if row[2]]
    with listed.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [header, *sorted(written, key=lambda row: (row[0], int(row[1])))]
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="demo", help="the benchmarks to measure")
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
    rows, series, start = _plan(SETS[options.set], options.seed), {}, time.monotonic()
    for done, (name, run, intervention, amount) in enumerate(rows):
        series[name, run] = _run_in_fresh_process(name, intervention, amount, options.iterations, core)
        left = (time.monotonic() - start) / (done + 1) * (len(rows) - done - 1)
        print(f"\r{done + 1} of {len(rows)} runs, {left:.0f} s left ", end="", file=sys.stderr)
    options.out.mkdir(parents=True, exist_ok=True)
    _write(options.out, options.set, rows, series)
    print(f"\nWrote {options.out / f'{options.set}.parquet'} and interventions.csv.", file=sys.stderr)


if __name__ == "__main__":
    main()
