"""Result files for the tests of the readers, generated without the code under test."""

import csv
import io
import json
from pathlib import Path

import pandas as pd

from labeler.errors import Refused
from labeler.formats import DEFAULTS, ReadOptions, Source, read

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
