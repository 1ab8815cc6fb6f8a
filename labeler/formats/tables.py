"""Label and verdict tables in CSV: the tidy files that the application writes, and those that others make by hand."""

import csv
import io
from collections.abc import Sequence

import pandas as pd

from labeler.errors import Refused
from labeler.formats.source import Source

LABEL_COLUMNS = ("item", "reviewer", "label")
VERDICT_COLUMNS = ("item", "verdict")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def read_labels(source: Source) -> pd.DataFrame:
    """A label table: every cell as text, empty cells as "", at least the columns item, reviewer, label.

    Raises
    ------
    Refused
        If it is no table or lacks a column.
    """
    return _read(source, LABEL_COLUMNS)


def read_verdicts(source: Source, classifier: str | None = None) -> pd.DataFrame:
    """A verdict table: columns item, classifier, verdict (None where empty) and score (None where empty).

    Parameters
    ----------
    source : Source
    classifier : str, optional
        The classifier's name for a file without that column.

    Raises
    ------
    Refused
        If it is no table, lacks a column, or holds a verdict or a score that is none.
    """
    table = _read(source, VERDICT_COLUMNS if classifier else (*VERDICT_COLUMNS, "classifier"))
    if "classifier" not in table:
        table["classifier"] = classifier
    for row, verdict in enumerate(table["verdict"], start=2):
        if verdict not in ("similar", "dissimilar", ""):
            raise Refused(source.name, f"verdict {verdict!r} is not similar, dissimilar or empty", f"line {row}")
    scores = table["score"] if "score" in table else pd.Series("", index=table.index)
    table["score"] = [_score(source, text, row) for row, text in enumerate(scores, start=2)]
    table["verdict"] = [verdict or None for verdict in table["verdict"]]
    return table[["item", "classifier", "verdict", "score"]]


def write(table: pd.DataFrame) -> str:
    """A table as CSV text, with cells that a spreadsheet would run as a formula made inert by an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.itertuples(index=False):
        writer.writerow(["" if pd.isna(value) else _inert(value) for value in row])
    return out.getvalue()


def _inert(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def _uninert(text: str) -> str:
    """Take back what `write` put before a formula sign, so that export and import round trip."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA_STARTS) else text


def _score(source: Source, text: str, row: int) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise Refused(source.name, f"score {text!r} is not a number", f"line {row}") from None


def _read(source: Source, required: Sequence[str]) -> pd.DataFrame:
    try:
        text = source.content().decode("utf-8-sig")
        table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, skipinitialspace=True)
    except UnicodeDecodeError as error:
        raise Refused(source.name, "not UTF-8 text", f"byte {error.start}") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise Refused(source.name, f"not a table: {str(error).strip()}") from None
    table.columns = [str(name).strip() for name in table.columns]
    missing = [name for name in required if name not in table]
    if missing:
        raise Refused(source.name, f"column {missing[0]!r} is missing; the table has {', '.join(table.columns)}")
    return table.map(_uninert)
