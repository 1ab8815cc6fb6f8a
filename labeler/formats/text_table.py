"""Read CSV as a table of texts that knows the line of each row in the file.

The reader does not move, guess or drop any cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import pandas as pd

from labeler.formats.bounds import check_columns

SEPARATORS = (",", ";", "\t")

csv.field_size_limit(2**31 - 1)  # a long cell is not an error


@dataclass(frozen=True)
class TextTable:
    """A table of texts, with the content of the file."""

    frame: pd.DataFrame
    content: bytes
    separator: str

    def line(self, row: int) -> int:
        """Return the line of the file, counted from 1, on which a row ends; rows are counted from 0."""
        return self.lines()[row]

    def lines(self) -> list[int]:
        """Return the line of every row; cells may contain newlines, and blank lines are not rows."""
        return [line for line, _cells in _records(_stream(self.content), self.separator)][1:]


def read_text_table(content: bytes, separators: Sequence[str] = SEPARATORS) -> TextTable:
    """Read a table with a header line.

    The content is UTF-8, with or without a byte order mark. The separator that splits the header into the most cells is
    used; spaces after it are skipped. Every cell is a text; empty cells are "". Raises ValueError if the content is not
    UTF-8, a column name is repeated, or a row is longer or shorter than the header. The message names the place.
    """
    import pandas as pd

    try:
        content.decode("utf-8-sig")  # the decoded text is not stored, because it can need four times as much memory
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: the file is not UTF-8 text") from None
    check_columns(max(content.partition(b"\n")[0].count(separator.encode()) for separator in separators))
    separator = max(separators, key=lambda s: len(_names(_stream(content), s)))
    columns = _names(_stream(content), separator)
    check_columns(len(columns))
    doubled = next((name for name in columns if columns.count(name) > 1), None)
    if doubled is not None:
        raise ValueError(f"two columns are called {doubled!r}")
    _check_lengths(islice(_records(_stream(content), separator), 2), len(columns))
    try:
        frame = pd.read_csv(
            io.BytesIO(content), sep=separator, skipinitialspace=True, dtype=str, keep_default_na=False,
            encoding="utf-8-sig",
        )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"this is not a table: {str(error).strip()}") from None
    frame.columns = pd.Index(columns)
    if (frame.iloc[:, -1] == "").any():  # pandas pads a short row and refuses a long one
        _check_lengths(_records(_stream(content), separator), len(columns))
    return TextTable(frame, content, separator)


def header(text: str, separator: str) -> list[str]:
    """Return the column names in the first line that is not blank."""
    return _names(io.StringIO(text, newline=""), separator)


def _names(stream: TextIO, separator: str) -> list[str]:
    return [cell.strip() for cell in next(_records(stream, separator), (0, []))[1]]


def _stream(content: bytes) -> TextIO:
    """Return the text of a table as a stream, decoded while it is read."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")


def _check_lengths(records: Iterable[tuple[int, list[str]]], expected: int) -> None:
    for line, cells in records:
        if len(cells) != expected:
            raise ValueError(f"line {line}: the row has {len(cells)} cells, but the header has {expected}")


def _records(stream: TextIO, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each record, except blank lines.

    Stop without an error if the text is not CSV.
    """
    reader = csv.reader(stream, delimiter=separator, skipinitialspace=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error:
        return
