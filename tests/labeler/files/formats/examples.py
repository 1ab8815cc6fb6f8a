"""Result files for the tests of the readers, generated without the code under test."""

import csv
import io
import json
from pathlib import Path

import pandas as pd

from labeler.errors import Refused
from labeler.files.formats import DEFAULTS, ReadOptions, Source, read

COMMITTED = Path(__file__).parent / "files"  # written by tools
COLUMNS = ("benchmark", "run", "value")


def csv_bytes(rows, columns=COLUMNS, delimiter=","):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([*filter(None, [columns]), *rows])
    return out.getvalue().encode()


def json_bytes(runs):
    return json.dumps(runs).encode()


def parquet_bytes(table, **options):
    out = io.BytesIO()
    pd.DataFrame(table).to_parquet(out, index=False, **options)
    return out.getvalue()


def read_bytes(name, content, /, **options):
    """Return the benchmarks of a file in memory."""
    return read(Source(name, data=content), ReadOptions(**options) if options else DEFAULTS)


def read_or_refusal(name, content, **options):
    """Return the benchmarks of a file, or the reason for refusing it."""
    try:
        return read_bytes(name, content, **options)
    except Refused as refused:
        return refused


def plain(benchmark):
    """Return the runs as lists of float."""
    return [run.tolist() for run in benchmark.values]


def jmh_entry(runs, *, benchmark="org.sample.Sort.sort", unit="s/op", mode="avgt", key="rawData", **more):
    """One benchmark as JMH 1.37 writes it; `more` replaces fields, and None removes a field."""
    entry = {
        "jmhVersion": "1.37", "benchmark": benchmark, "mode": mode, "threads": 1, "forks": len(runs),
        "jvm": "/usr/lib/jvm/java-17/bin/java", "jvmArgs": ["-Xmx1g"], "jdkVersion": "17.0.15",
        "vmName": "OpenJDK 64-Bit Server VM", "vmVersion": "17.0.15+6", "warmupIterations": 1, "warmupTime": "1 s",
        "warmupBatchSize": 1, "measurementIterations": 3, "measurementTime": "1 s", "measurementBatchSize": 1,
        "primaryMetric": {
            "score": 1.5, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"],
            "scorePercentiles": {"0.0": 0.125, "100.0": 3.5}, "scoreUnit": unit, key: runs,
        },
        "secondaryMetrics": {"gc.alloc.rate": {"score": 1.0, "scoreUnit": "MB/sec", "rawData": [[1.0]]}},
    } | more  # fmt: skip
    return {name: value for name, value in entry.items() if value is not None}


def pyperf_file(*benchmarks, metadata=None, version="1.0"):
    """Return a file as pyperf writes it: benchmarks of (metadata, runs)."""
    written = [{"metadata": said, "runs": runs} for said, runs in benchmarks]
    return json.dumps({"benchmarks": written, "metadata": metadata or {"unit": "second"}, "version": version}).encode()


def pyperf_runs(*runs):
    """Runs with these values after a run that only calibrated."""
    calibration = {"metadata": {"calibrate_loops": 8}, "warmups": [[1, 3e-6], [8, 2e-6]]}
    return [calibration, *({"metadata": {"duration": 0.1}, "values": run, "warmups": [[8, 9e-6]]} for run in runs)]


ORDERSAGE = (
    "run_uuid", "hostname", "run_num", "total_runs", "exp_command", "exp_number", "order_number", "order_type",
    "time_start", "time_stop", "completion_status", "result",
)  # fmt: skip


def ordersage_rows(trials, host="node1"):
    """Rows from (run, command, position, order type, result) and an optional status."""
    return [
        ("0-1", host, run, 2, command, 0, position, order, 1.5, 2.5, *(status or ["Success"]), result)
        for run, command, position, order, result, *status in trials
    ]


def asv_row(result=(0.25,), params=(), samples=((0.5, 0.25, 0.125),), repeat=(3,)):
    """Return a benchmark of asv 0.6: its cells in the order of `ASV_COLUMNS`."""
    return [result, params, "0", 1, 1.0, [0.1], [0.2], [0.1], [0.2], [1], repeat, samples]


ASV_COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "stats_q_25",
               "stats_q_75", "stats_number", "stats_repeat", "samples", "profile"]  # fmt: skip


def asv_file(results, **more):
    """Return a file of asv with these benchmarks by name; `more` replaces what it says of its run."""
    entry = {"commit_hash": "abc", "env_name": "py3", "params": {"machine": "host"}, "result_columns": ASV_COLUMNS,
             "results": results, "version": 2}  # fmt: skip
    return json.dumps(entry | more).encode()


def dotnet_measurement(
    launch=1, iteration=1, nanoseconds=500.0, operations=100, mode="Workload", stage="Actual", **more
):
    return {"IterationMode": mode, "IterationStage": stage, "LaunchIndex": launch, "IterationIndex": iteration,
            "Operations": operations, "Nanoseconds": nanoseconds} | more  # fmt: skip


def dotnet_entry(*measurements, name="N.T.M", **more):
    """One benchmark as BenchmarkDotNet 0.13 writes it; `...` removes a field."""
    entry = {"DisplayInfo": "T.M: DefaultJob", "FullName": name, "Parameters": "", "Statistics": {"Mean": 1},
             "Measurements": measurements or [dotnet_measurement()]} | more  # fmt: skip
    return {key: value for key, value in entry.items() if value is not ...}


def dotnet_file(*entries):
    return json.dumps({"Title": "T", "HostEnvironmentInfo": {}, "Benchmarks": entries}).encode()


def google_row(name="Sort/8", time=2.5, **more):
    """One repetition as Google Benchmark 1.7 writes it; None removes a field."""
    entry = {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
             "threads": 1, "iterations": 100, "real_time": time, "cpu_time": 99.0, "time_unit": "ns"}  # fmt: skip
    return {key: value for key, value in (entry | more).items() if value is not None}


def google_aggregate(name, kind, **more):
    more = {"run_type": "aggregate", "aggregate_name": kind, "repetition_index": None} | more
    return google_row(f"{name}_{kind}", run_name=name, **more)


def google_row_before_1_5(name, time=2.5, **more):
    absent = dict.fromkeys(("run_name", "run_type", "repetitions", "repetition_index", "threads"))
    return google_row(name, time, **absent, **more)


def google_file(*rows):
    return json.dumps({"context": {"date": "2024", "num_cpus": 8}, "benchmarks": rows}).encode()


CRITERION = "target/criterion/fib/20/new/sample.json"


def criterion_file(times=(10.0, 40.0), iters=(1.0, 2.0), **more):
    """Return a file as criterion.rs 0.5 writes it; None removes a field."""
    entry = {"sampling_mode": "Linear", "iters": iters, "times": times} | more
    return json.dumps({key: value for key, value in entry.items() if value is not None}).encode()


def julia_file(*results):
    return json.dumps([{"Julia": "1.10.4", "BenchmarkTools": "1.5.0"}, results]).encode()
