"""Read tables of JavaABS and GoABS, which slow down one method after another to compute the API benchmarking score.

The columns are `Run;Method altered;Microbenchmark;Result`, or for Go `Run-SuiteExecution-BenchmarkExecution?-?;Function
altered;Benchmark;Runtime in ns`. The tools write no header line. The first number of a Go run is the run; the other
numbers count the executions of the suite and of the benchmark. The table of JavaABS has no unit.
"""

import re
from collections.abc import Iterator, Mapping

from analysis.benchmark import Benchmark
from labeler.formats import json_text, long_table
from labeler.formats.text_table import Texts, header, read_text_table

COLUMNS = ("run", "altered", "benchmark", "value")
_JAVA = b"Run;Method altered;Microbenchmark;Result\n"
_GO = b"Run-SuiteExecution-BenchmarkExecution;Function altered;Benchmark;Runtime in ns%s\n"
_MEMORY = b";Memory;Allocations"  # columns of GoABS that are ignored
_ROW = re.compile(rb"\d+(-\d+-\d+)?;[^;\n]+;[^;\n]+;[^;\n]*\d[^;\n]*(;\d+;\d+)?\s*(\n|$)")
_RUN = re.compile(r"(\d+)(-\d+-\d+)?")


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content has the header line of one of the tools, or a first row of four or six such cells."""
    head = json_text.first_signs(content, 4096)
    columns = header(head.decode("utf-8", "replace").split("\n", 1)[0], ";")
    has_header = len(columns) >= len(COLUMNS) and columns[0].startswith("Run") and columns[1].endswith(" altered")
    return has_header or _ROW.match(head) is not None


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks, with the altered method as the condition `altered`.

    If the content is invalid, raise ValueError with the line.
    """
    row = _ROW.match(json_text.first_signs(content, 4096))
    if row:
        added = _GO % (_MEMORY if row[2] else b"") if row[1] else _JAVA
        content = added + content.removeprefix(json_text.BOM)
    table = read_text_table(content, separators=(";",))
    if len(table.names) < len(COLUMNS):
        raise ValueError(
            f"the table has {len(table.names)} columns. Expected four: run, altered method, benchmark, result"
        )
    unit = "ns" if table.names[3].endswith(" in ns") else ""
    lines = [line - bool(row) for line in table.lines()]
    given = table.columns([table.names[3]])
    columns = dict(zip(COLUMNS, given.values(), strict=False))
    runs = [_run(cell, line) for cell, line in zip(table.texts[table.names[0]], lines, strict=True)]
    yield from long_table.benchmarks(columns | {"run": Texts.of(runs)}, lambda at: f"line {lines[at]}", unit=unit)


def _run(cell: str, line: int) -> str:
    match = _RUN.fullmatch(cell.strip())
    if match is None:
        raise ValueError(f"line {line}: {cell!r} is not a run. Expected one whole number, or three, such as 0-0-0")
    return match[1]
