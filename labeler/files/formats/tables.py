"""Read and write tables in CSV, such as verdicts; `label_tables` reads labels."""

import json
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.text import joined
from labeler.errors import Refused
from labeler.files.formats.source import Source
from labeler.files.formats.text_table import read_text_table
from labeler.safe_text import as_written as as_written, csv_text, inert as inert
from labeler.text import check_length

VERDICT_COLUMNS = ("item", "verdict")
OF_HEURISTICS = ("m1", "m2", "m3", "m4", "m5")
OF_SAME = ("cosine", "wave_hedges", "kumar_hassebrook", "scaled_rmse")
MEASURES = (*OF_HEURISTICS, *OF_SAME)  # columns for the mean of each measure in a verdict table
LINE = "line"  # name of the index of a table that was read from a file: the line of each row


def read_table(source: Source, columns: Sequence[str]) -> pd.DataFrame:
    """Read a table of texts with at least these columns, indexed by line; raise Refused if this is not possible."""
    with source.refusing():
        table = read_text_table(source.content(), separators=",")
        frame = table.frame
    missing = [name for name in columns if name not in frame]
    if missing:
        raise Refused(source.name, f"column {missing[0]!r} is missing; the table has {', '.join(table.names)}")
    frame = frame.map(as_written).astype(object)
    frame.index = pd.Index(table.lines(), name=LINE)
    return frame


def read_verdicts(source: Source, categories: Sequence[str], classifier: str | None = None) -> pd.DataFrame:
    """Read a table of verdicts with the columns item, classifier, verdict, score and threshold; empty cells are None.

    The columns application, parameters (JSON) and version of exported and published files are returned too, and `means`
    maps the measures in `MEASURES` to their values, without empty ones. `classifier` is its name if the file has no
    column for it. Raises Refused if a value is missing or invalid, or a classifier has two verdicts on an item.
    """
    table = read_table(source, VERDICT_COLUMNS if classifier else (*VERDICT_COLUMNS, "classifier"))
    if "classifier" not in table:
        table["classifier"] = classifier
    for column in ("item", "classifier"):
        for line, name in table[column].items():
            if not name.strip():
                raise Refused(source.name, f"the {column} is empty", f"line {line}")
            with source.refusing():
                check_length(f"line {line}: the {column}", name)
    for line, verdict in table["verdict"].items():
        if verdict and verdict not in categories:
            raise Refused(
                source.name, f"verdict {verdict!r} is not {joined([*categories, 'empty'], 'or')}", f"line {line}"
            )
    for line in table.index[table.duplicated(["item", "classifier"])]:
        item, name = table.loc[line, ["item", "classifier"]]
        raise Refused(source.name, f"classifier {name!r} has two verdicts on item {item!r}", f"line {line}")
    numbers = {name: _numbers(source, table, name) for name in ("score", "threshold")}
    columns: dict[str, Any] = {
        "item": table["item"],
        "classifier": table["classifier"],
        "verdict": [verdict or None for verdict in table["verdict"]],
        **numbers,
    }
    if "application" in table:
        columns["application"] = table["application"]
    if {"parameters", "version"} <= set(table):
        columns["parameters"] = [_object(source, text, line) for line, text in table["parameters"].items()]
        columns["version"] = [_version(source, text, line) for line, text in table["version"].items()]
    means = {name: _numbers(source, table, name) for name in MEASURES if name in table}
    if means:
        rows = zip(*means.values(), strict=True)
        columns["means"] = [
            {name: mean for name, mean in zip(means, row, strict=True) if mean is not None} for row in rows
        ]
    return pd.DataFrame(columns, index=table.index, dtype=object).reset_index(drop=True)


def write(table: pd.DataFrame) -> str:
    """Write a table as CSV text that can be read back unchanged (see `labeler.safe_text`).

    Missing values are empty cells.
    """
    rows = table.astype(object).where(table.notna(), None)
    return csv_text(list(table.columns), rows.itertuples(index=False, name=None))


def _numbers(source: Source, table: pd.DataFrame, column: str) -> list[float | None]:
    texts = table[column] if column in table else [""] * len(table)
    return [_number(source, text, line, column) for text, line in zip(texts, table.index, strict=True)]


def _object(source: Source, text: str, line: Any) -> str:
    """Return the text of a cell if it is a JSON object; otherwise, raise Refused. An empty cell becomes "{}"."""
    try:
        is_object = isinstance(json.loads(text or "{}"), dict)
    except ValueError:
        is_object = False
    if not is_object:
        raise Refused(source.name, f"parameters {text[:60]!r} is not a JSON object", f"line {line}")
    return text or "{}"


def _version(source: Source, text: str, line: Any) -> int:
    if not text.isdecimal():
        raise Refused(source.name, f"version {text!r} is not a whole number", f"line {line}")
    return int(text)


def _number(source: Source, text: str, line: int, column: str) -> float | None:
    try:
        number = float(text) if text else None
    except ValueError:
        number = math.nan
    if number is not None and not math.isfinite(number):
        raise Refused(source.name, f"{column} {text!r} is not a number", f"line {line}")
    return number
