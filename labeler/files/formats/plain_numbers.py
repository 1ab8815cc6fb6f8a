"""Read a plain column of numbers, one per line, with or without one line of heading.

The file names no benchmark, so `--benchmark` must. The file is a run and its numbers are iterations, unless
`--values-are runs` says that each number was measured by another process. `#` begins a comment. The format has no
way to say that a run failed: a line that is not a number, such as `nan`, is refused.
"""

import math
import re
from collections.abc import Iterator, Mapping

import numpy as np

from analysis.runs.benchmark import UNKNOWN, Benchmark
from labeler.files.formats import json_text

NAME = "name"  # the name of the benchmark, among the columns that a reader gets
N_TRIED = 20  # number of lines that decide about the format
_HEADING = re.compile(r"[^\d\s,;|{}\[\]<>\"'=:#][^\s,;|{}\[\]<>\"'=:#]{0,40}")


def detect(_name: str, content: bytes) -> bool:
    """Return whether each of the first lines is a number, after at most one line of heading."""
    head = content[:4096].removeprefix(json_text.BOM)
    lines = head.decode("utf-8", "replace").splitlines()
    texts = [line.partition("#")[0].strip() for line in (lines if len(content) <= 4096 else lines[:-1])[:N_TRIED]]
    texts = [text for text in texts if text]
    if texts and _HEADING.fullmatch(texts[0]) and not _is_number(texts[0]):
        texts = texts[1:]
    return bool(texts) and all(map(_is_number, texts))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def read(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the numbers as one run; if a line is not a finite number, raise ValueError with the line."""
    if NAME not in columns:
        raise ValueError("the file does not name the benchmark. Give --benchmark NAME")
    values = []
    is_first = True
    for number, line in enumerate(json_text.text_of(content).splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if not (_is_number(text) and math.isfinite(float(text))):
            if is_first and _HEADING.fullmatch(text):
                is_first = False
                continue
            raise ValueError(f"line {number}: {text[:30]!r} is not a finite number")
        values.append(float(text))
        is_first = False
    if not values:
        raise ValueError("the file has no numbers")
    yield Benchmark.of_series(columns[NAME], (np.array(values),), unit="", better=UNKNOWN)
