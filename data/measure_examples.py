"""Measure the three examples of docs/methods.md and docs/check.md, in a few minutes.

    python data/measure_examples.py check       # data/check: before.json and after.json, by pyperf
    python data/measure_examples.py order       # data/order: results.csv
    python data/measure_examples.py contexts    # data/contexts: sweep.csv, according to the plan in plan.csv

The first example needs pyperf (pip install pyperf), the others only Python. Every run is a separate process, and runs
to be compared alternate, so that a change of the machine over time affects all of them equally. All measurements are
seconds of CPU time. `--out FOLDER` writes to another folder; for contexts, put plan.csv there first.
"""

import argparse
import collections
import csv
import functools
import hashlib
import io
import json
import os
import random
import re
import statistics
import string
import subprocess
import sys
import time
import unicodedata
import uuid
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent

# check: four small tasks before and after a change


def _words(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))) for _ in range(n)]


WORDS = _words(600, 1)
TITLES = [" ".join(WORDS[i : i + 6]).title() for i in range(0, 240, 6)]
ROWS = [{"id": i, "name": word, "tags": [word[:2], word[2:]]} for i, word in enumerate(WORDS[:120])]
TABLE = "\n".join(f"{i},{word},{len(word)}" for i, word in enumerate(WORDS[:200]))
NOT_IN_A_SLUG = re.compile("[^a-z0-9]+")


def _slugs_before() -> object:
    return [NOT_IN_A_SLUG.sub("-", title.lower()) for title in TITLES]


def _slugs_after() -> object:
    """Like the old version, but removes accents from letters; these texts have no accents."""
    return [NOT_IN_A_SLUG.sub("-", unicodedata.normalize("NFKD", title).lower()) for title in TITLES]


def _count_words_before() -> object:
    counts: dict[str, int] = {}
    for word in WORDS:
        counts[word] = counts.get(word, 0) + 1
    return counts


def _count_words_after() -> object:
    return collections.Counter(WORDS)


def _to_json() -> object:
    return json.dumps(ROWS)


def _read_csv() -> object:
    return list(csv.reader(io.StringIO(TABLE)))


def _digest() -> object:
    return hashlib.sha256("".join(WORDS).encode()).hexdigest()


CHECK: dict[str, dict[str, Callable[[], object]]] = {
    "before": {"slugs": _slugs_before, "count_words": _count_words_before},
    "after": {"slugs": _slugs_after, "count_words": _count_words_after},
}
for _version in CHECK.values():
    _version.update(to_json=_to_json, read_csv=_read_csv, digest=_digest)
LOOPS = {"slugs": 400, "count_words": 800, "to_json": 150, "read_csv": 500, "digest": 3000}
VERSION = "EXAMPLE_VERSION"  # the environment variable that starts this script as a pyperf benchmark
KEPT = ("name", "unit", "loops", "perf_version", "python_version", "python_implementation")


def measure_check(out: Path, n_processes: int) -> None:
    """Measure both versions alternately, one pyperf process with three values each; remove data about the machine."""
    files = {version: out / f"{version}.json" for version in CHECK}
    for file in files.values():
        file.unlink(missing_ok=True)
    for done in range(n_processes):
        for version, file in files.items():
            _pyperf(version, file)
        _say(done + 1, n_processes)
    for file in files.values():
        suite = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps(_without_machine(suite), separators=(",", ":")) + "\n", encoding="utf-8")


def _pyperf(version: str, file: Path) -> None:
    command = [
        sys.executable, __file__, "--quiet", "--processes=1", "--values=3", "--warmups=1", "--loops=1",
        f"--append={file}", f"--inherit-environ={VERSION}",
    ]  # fmt: skip
    subprocess.run(command, check=True, env={**os.environ, VERSION: version}, stdout=subprocess.DEVNULL)


def run_under_pyperf(version: str) -> None:
    """Measure each task of a version in a separate process; CPU time, because other processes use the machine."""
    import pyperf

    runner = pyperf.Runner()
    for name, task in CHECK[version].items():
        runner.bench_time_func(name, _timed, task, LOOPS[name], inner_loops=LOOPS[name])


def _timed(_loops: int, task: Callable[[], object], n_calls: int) -> float:
    start = time.process_time()
    for _ in range(n_calls):
        task()
    return time.process_time() - start


def _without_machine(suite: dict) -> dict:
    """Return the same file with the values and how they were measured, without data about the machine."""
    common = {key: value for key, value in suite["metadata"].items() if key in KEPT}
    return {
        "benchmarks": [
            {
                "metadata": {key: value for key, value in entry.get("metadata", {}).items() if key in KEPT},
                "runs": [{"values": [float(f"{value:.6g}") for value in run["values"]]} for run in entry["runs"]],
            }
            for entry in suite["benchmarks"]
        ],
        "metadata": common,
        "version": suite["version"],
    }


# order: four tests one after another in one process


@functools.cache
def _index() -> dict[int, list[str]]:
    """Data that an application keeps in memory once it is built."""
    return {i: [WORDS[i % 600], str(i)] for i in range(200_000)}


def _build_index() -> object:
    _index.cache_clear()
    return len(_index())


def _parse_json() -> object:
    text = json.dumps([{"id": i, "at": [i, {"x": i}], "tags": ["a", "b"]} for i in range(20_000)])
    return len(json.loads(text))


def _sort_records() -> object:
    rng = random.Random(1)
    records = [(rng.random(), i) for i in range(60_000)]
    return sorted(records)[0]


def _hash_blocks() -> object:
    return hashlib.sha256(b"".join(i.to_bytes(8, "big") for i in range(60_000))).hexdigest()


ORDER = {
    "build_index": _build_index,
    "parse_json": _parse_json,
    "sort_records": _sort_records,
    "hash_blocks": _hash_blocks,
}
COLUMNS = (
    "run_uuid", "hostname", "run_num", "total_runs", "exp_command", "exp_number", "order_number", "order_type",
    "time_start", "time_stop", "completion_status", "result",
)  # fmt: skip


def run_in_order(names: list[str]) -> None:
    """Run the tests one after another in one process; print name, start, stop and CPU seconds of each."""
    for name in names:
        start, before = time.perf_counter(), time.process_time()
        ORDER[name]()
        took, stop = time.process_time() - before, time.perf_counter()
        print(name, f"{start:.6f} {stop:.6f} {took:.6f}")


def measure_order(out: Path, n_runs: int, seed: int) -> None:
    """Measure equally many runs in the order above and in random orders, alternating."""
    rng = random.Random(seed)
    numbers, tests, rows = {"fixed": 0, "random": 0}, list(ORDER), []
    for done in range(2 * n_runs):
        kind = ("fixed", "random")[done % 2]
        order = tests if kind == "fixed" else rng.sample(tests, len(tests))
        said = _fresh_process("--in-order", ",".join(order))
        run = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        for position, line in enumerate(said.splitlines()):
            name, start, stop, took = line.split()
            number = tests.index(name)
            rows.append((run, "vm", numbers[kind], n_runs, name, number, position, kind, start, stop, "Success", took))
        numbers[kind] += 1
        _say(done + 1, 2 * n_runs)
    rows.sort(key=lambda row: row[7])  # the order that OrderSage writes: first the fixed runs, then the random runs
    _write_csv(out / "results.csv", COLUMNS, rows)


# contexts: two versions of two functions, with several hash seeds and sizes of the environment


def _records_old() -> object:
    total = 0
    for i in range(100):
        record = {"id": i, "width": 2, "height": 3, "depth": 4, "weight": 5}
        total += record["id"] + record["width"] * record["height"] * record["depth"] + record["weight"]
    return total


def _records_new() -> object:
    """Like the old version, but the keys have other names."""
    total = 0
    for i in range(100):
        record = {"number": i, "x": 2, "y": 3, "z": 4, "mass": 5}
        total += record["number"] + record["x"] * record["y"] * record["z"] + record["mass"]
    return total


def _join_words_old() -> object:
    return " ".join(word.upper() for word in WORDS)


def _join_words_new() -> object:
    return " ".join([word.upper() for word in WORDS])


CONTEXTS = {
    "records": {"old": _records_old, "new": _records_new},
    "join_words": {"old": _join_words_old, "new": _join_words_new},
}
CALLS = {"records": 100, "join_words": 100}  # in a block
N_BLOCKS = 21


def run_one(benchmark: str, version: str) -> None:
    """Print CPU seconds per call in one process: the median of blocks of calls after one warm-up block."""
    task, n_calls = CONTEXTS[benchmark][version], CALLS[benchmark]
    blocks = []
    for _ in range(N_BLOCKS + 1):
        start = time.process_time()
        for _ in range(n_calls):
            task()
        blocks.append((time.process_time() - start) / n_calls)
    print(f"{statistics.median(blocks[1:]):.5g}")


def measure_contexts(out: Path) -> None:
    """Measure every run of the plan, in its order."""
    with (out / "plan.csv").open(newline="", encoding="utf-8") as file:
        plan = list(csv.DictReader(file))
    rows = []
    for done, row in enumerate(plan):
        environment = {"PYTHONHASHSEED": row["hashseed"], "PADDING": "x" * int(row["env"])}
        if row["intervention"] == "one-hash-seed":
            environment["PYTHONHASHSEED"] = "1"
        value = _fresh_process("--one", row["benchmark"], row["version"], **environment)
        rows.append([*(row[name] for name in SWEEP[:-2]), value.strip(), "s"])
        _say(done + 1, len(plan))
    rows.sort(key=lambda row: [row[0], row[4], row[1] == "new", row[2], int(row[3])])
    _write_csv(out / "sweep.csv", ["factor:intervention" if name == "intervention" else name for name in SWEEP], rows)


SWEEP = ("benchmark", "version", "context", "run", "intervention", "value", "unit")


def _fresh_process(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env={**os.environ, **environment}, capture_output=True, check=True,
        text=True,
    )  # fmt: skip
    return done.stdout


def _write_csv(path: Path, header: object, rows: list) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _say(done: int, n: int) -> None:
    print(f"\r{done} of {n} ", end="\n" if done == n else "", file=sys.stderr)


def main() -> None:
    if VERSION in os.environ:
        run_under_pyperf(os.environ[VERSION])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["check", "order", "contexts"])
    parser.add_argument("--out", type=Path, help="output folder [default: the folder beside this script]")
    parser.add_argument("--processes", type=int, default=20, help="check: number of processes of each version")
    parser.add_argument("--runs", type=int, default=25, help="order: number of runs in each kind of order")
    parser.add_argument("--seed", type=int, default=1, help="order: random seed for the random orders")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--in-order", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(*options.one)
    elif options.in_order:
        run_in_order(options.in_order.split(","))
    else:
        out = options.out or HERE / options.what
        out.mkdir(parents=True, exist_ok=True)
        if options.what == "check":
            measure_check(out, options.processes)
        elif options.what == "order":
            measure_order(out, options.runs, options.seed)
        else:
            measure_contexts(out)


if __name__ == "__main__":
    main()
