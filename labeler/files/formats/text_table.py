"""Read CSV as columns of texts and numbers, with the line of each row in the file.

The reader does not move, guess or drop any cell. A number is read by `float`, which gives the nearest double-precision
number for any text, with every version of every library.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from labeler.files.formats.bounds import check_columns

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = (",", ";", "\t")
N_ROWS = 10_000  # number of rows that are read at once
N_KEPT = 1_000_000  # number of cells without a number whose text is kept for messages

csv.field_size_limit(2**31 - 1)  # a long cell is not an error


@dataclass(frozen=True)
class Texts:
    """A column of texts; each distinct text is stored once."""

    codes: NDArray[np.int64]  # position in `levels` for each row
    levels: Sequence[str]  # distinct texts in order of first appearance

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Return a column of these texts.

        Examples
        --------
        >>> Texts.of(["a", "b", "a"]).levels, Texts.of(["a", "b", "a"]).codes.tolist()
        (['a', 'b'], [0, 1, 0])
        """
        builder = _Texts()
        builder.extend(list(texts))
        return builder.column()

    def __len__(self) -> int:
        return len(self.codes)

    def each(self) -> list[str]:
        """Return the text of each row."""
        levels = self.levels
        return [levels[code] for code in self.codes.tolist()]

    def mapped(self, function: Callable[[str], str]) -> Texts:
        """Return the column with a function applied to each text."""
        changed = Texts.of(map(function, self.levels))
        return Texts(changed.codes[self.codes], changed.levels)


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, and the cells that have no finite number."""

    values: NDArray[np.float64]
    others: Mapping[int, object] = field(default_factory=dict)  # the cell in each row whose value is not finite

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Numbers:
        """Return the numbers in these texts."""
        builder = _Numbers()
        builder.extend(list(texts))
        return builder.column()


Column = Texts | Numbers


@dataclass
class _Texts:
    """A column of texts that is being read."""

    codes: list[NDArray[np.int64]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def extend(self, cells: Sequence[str]) -> None:
        for text in dict.fromkeys(cells):
            self.numbers.setdefault(text, len(self.numbers))
        self.codes.append(np.fromiter(map(self.numbers.__getitem__, cells), dtype=np.int64, count=len(cells)))

    def column(self) -> Texts:
        return Texts(np.concatenate(self.codes) if self.codes else np.empty(0, np.int64), list(self.numbers))


@dataclass
class _Numbers:
    """A column of numbers that is being read."""

    values: list[NDArray[np.float64]] = field(default_factory=list)
    others: dict[int, object] = field(default_factory=dict)
    n: int = 0

    def extend(self, cells: Sequence[str]) -> None:
        try:
            values = np.array(list(map(_number, cells)), dtype=np.float64)
        except ValueError:
            values = np.array([_number_or_nan(text) for text in cells], dtype=np.float64)
        for at in np.flatnonzero(~np.isfinite(values)).tolist():
            if len(self.others) < N_KEPT:
                self.others[self.n + at] = cells[at]
        self.values.append(values)
        self.n += len(cells)

    def column(self) -> Numbers:
        return Numbers(np.concatenate(self.values) if self.values else np.empty(0), self.others)


def _number(text: str) -> float:
    """Return the number in a text as it is written in result files: not 1_000, and only ASCII digits."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def _number_or_nan(text: str) -> float:
    try:
        return _number(text)
    except ValueError:
        return np.nan


@dataclass(frozen=True)
class TextTable:
    """A table with a header line, whose columns are read on demand."""

    names: Sequence[str]
    content: bytes
    separator: str

    def line(self, row: int) -> int:
        """Return the line of the file, counted from 1, on which a row ends; rows are counted from 0."""
        return self.lines()[row]

    def lines(self) -> list[int]:
        """Return the line of every row; cells may contain newlines, and blank lines are not rows."""
        return [line for line, _cells in _records(_stream(self.content), self.separator)][1:]

    def columns(self, numbers: Collection[str] = ()) -> dict[str, Column]:
        """Read all columns; those in `numbers` as numbers, and the others as texts.

        Raises ValueError if the file is not a table, or a row is longer or shorter than the header; names the line.
        """
        builders = [_Numbers() if name in numbers else _Texts() for name in self.names]
        reader = _reader(_stream(self.content), self.separator)
        is_header = True
        while True:
            try:
                rows = list(islice(reader, N_ROWS))
            except csv.Error as error:
                why = "a quote is not closed" if "unexpected end" in str(error) else error
                raise ValueError(f"line {reader.line_num}: this is not a table ({why})") from None
            if not rows:
                return {name: builder.column() for name, builder in zip(self.names, builders, strict=True)}
            rows = [cells for cells in rows if not _is_blank(cells, len(self.names))]
            if is_header and rows:
                rows, is_header = rows[1:], False
            if not all(len(cells) == len(builders) for cells in rows):
                _check_lengths(_records(_stream(self.content), self.separator), len(builders))
            if rows:
                for builder, cells in zip(builders, zip(*rows, strict=True), strict=True):
                    builder.extend(cells)

    @cached_property
    def texts(self) -> dict[str, list[str]]:
        """The texts of each column."""
        return {name: column.each() for name, column in self.columns().items() if isinstance(column, Texts)}

    def records(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the line and the texts of each row."""
        texts = self.texts
        for line, cells in zip(self.lines(), zip(*texts.values(), strict=True), strict=True):
            yield line, dict(zip(texts, cells, strict=True))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table with texts in all cells."""
        import pandas as pd

        return pd.DataFrame(self.texts, columns=list(self.names), dtype=object)


def read_text_table(content: bytes, separators: Sequence[str] = SEPARATORS) -> TextTable:
    """Read the header line of a table; raises ValueError with the place if the content is no table in UTF-8.

    The separator that splits the header into the most cells is used; spaces after it are skipped. Empty cells are "".
    """
    try:
        content.decode("utf-8-sig")  # the decoded text is not stored, because it can need four times as much memory
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: the file is not UTF-8 text. Save it as UTF-8") from None
    check_columns(max(content.partition(b"\n")[0].count(separator.encode()) for separator in separators))
    separator = max(separators, key=lambda s: len(_names(_stream(content), s)))
    names = _names(_stream(content), separator)
    check_columns(len(names))
    if not names:
        raise ValueError("this is not a table: it has no columns")
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise ValueError(f"two columns are called {doubled!r}")
    _check_lengths(islice(_records(_stream(content), separator), 2), len(names))
    return TextTable(names, content, separator)


def header(beginning: bytes, separator: str) -> list[str]:
    """Return the column names in the first line, which may be cut off; empty if the line is blank."""
    first = beginning.decode("utf-8-sig", "replace").split("\n", 1)[0]
    return _names(io.StringIO(first, newline=""), separator)


def _names(stream: TextIO, separator: str) -> list[str]:
    return [cell.strip() for cell in next(_records(stream, separator), (0, []))[1]]


def _stream(content: bytes) -> TextIO:
    """Return the text of a table as a stream, decoded while it is read."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")


def _reader(stream: TextIO, separator: str) -> Any:
    return csv.reader(stream, delimiter=separator, skipinitialspace=True, strict=True)


def _is_blank(cells: Sequence[str], n_columns: int) -> bool:
    return not cells or (n_columns > 1 and len(cells) == 1 and not cells[0].strip())


def _check_lengths(records: Iterable[tuple[int, list[str]]], expected: int) -> None:
    for line, cells in records:
        if len(cells) != expected:
            raise ValueError(f"line {line}: the row has {len(cells)} cells, but the header has {expected}")


def _records(stream: TextIO, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each record, except blank lines.

    Stop without an error if the text is not CSV.
    """
    reader = _reader(stream, separator)
    n_columns = 0
    try:
        for cells in reader:
            if not _is_blank(cells, n_columns):
                n_columns = n_columns or len(cells)
                yield reader.line_num, cells
    except csv.Error:
        return
