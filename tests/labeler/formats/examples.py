"""Result files made for the tests of the readers, without the code under test."""

import csv
import io
import json

import pandas as pd

from labeler.errors import Refused
from labeler.formats import DEFAULTS, ReadOptions, Source, read

COLUMNS = ("benchmark", "run", "value")


def csv_bytes(rows, columns=COLUMNS, delimiter=","):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue().encode()


def json_bytes(runs):
    return json.dumps(runs).encode()


def parquet_bytes(table, **options):
    out = io.BytesIO()
    pd.DataFrame(table).to_parquet(out, index=False, **options)
    return out.getvalue()


def read_bytes(name, content, **options):
    """The benchmarks of a file that is only in memory."""
    return read(Source(name, data=content), ReadOptions(**options) if options else DEFAULTS)


def read_or_refusal(name, content, **options):
    """The benchmarks of a file, or why it was refused."""
    try:
        return read_bytes(name, content, **options)
    except Refused as refused:
        return refused


def plain(benchmark):
    """The runs as lists of float."""
    return [run.tolist() for run in benchmark.runs]
