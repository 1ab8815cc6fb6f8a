"""Check the size of a file's content before the content is read, so that a small file cannot fill the memory.

A file of up to `FREELY` bytes has a fixed limit; the limit of a larger file depends on the size of the file.
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyarrow import parquet


FREELY, MAX_UNPACKED = 64 * 2**20, 2**30  # in bytes
MAX_UNPACKED_SMALL = 128 * 2**20  # for a file of at most FREELY bytes
MAX_RATIO = 100  # maximum compression ratio; the ratio of numbers as text is 3 to 30
MAX_VALUES, BYTES_PER_VALUE = 15_000_000, 2  # values in a table or text use about 50 bytes of memory each
MAX_RUNS = 200_000  # in one table
MAX_COLUMNS = 10_000
# number of values that each character of a JSON text counts for, because some characters use more memory
JSON_WEIGHTS = {b",": 1, b'"': 1, b"[": 6, b"{": 12}
XML_WEIGHTS = {b"<": 6, b"=": 10}  # tags and attributes
MAX_WEIGHT = max(*JSON_WEIGHTS.values(), *XML_WEIGHTS.values())

MAX_FOOTER_BYTES, MAX_PAGES = 4 * 2**20, 200_000
MAX_FIXED_BYTES = 16  # maximum size of a value with a fixed length: enough for a decimal, too short for a text
DELTA_BYTE_ARRAY = 7  # an encoding whose page headers do not show the size: a few bits can repeat the previous text
_DATA_PAGE, _DATA_PAGE_V2 = 5, 8  # fields of a page header
_STRUCT, _MAX_DEPTH = 12, 8


def most_unpacked(packed_size: int) -> int:
    """Return the largest size, in bytes, to which a compressed file of this size may unpack.

    Examples
    --------
    >>> [most_unpacked(size) // 2**20 for size in (1000, 2**20, 2**25, 2**40)]
    [64, 100, 128, 1024]
    """
    most = MAX_UNPACKED_SMALL if packed_size <= FREELY else MAX_UNPACKED
    return max(FREELY, min(MAX_RATIO * packed_size, most))


def check_values(n_values: int, size: int) -> None:
    """Raise ValueError if a file has too many values for its size in bytes."""
    most = max(MAX_VALUES, size // BYTES_PER_VALUE if size > FREELY else 0)
    if n_values > most:
        raise ValueError(f"the file has about {n_values:,} values, more than {most:,}. Split it into several files")


def check_text(content: bytes, size: int) -> None:
    """Raise ValueError if a text has too many values for a file of `size` bytes.

    If the file was compressed, `size` is the compressed size. Counting takes as long as parsing the text, so it is left
    out for texts that are too short to have too many values.
    """
    if MAX_WEIGHT * len(content) <= MAX_VALUES:
        return
    first = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first in (b"[", b"{", b"<"):
        weights = XML_WEIGHTS if first == b"<" else JSON_WEIGHTS
        n_values = sum(weight * content.count(sign) for sign, weight in weights.items())
    else:
        n_values = 2 * content.count(b"\n") + max(content.count(sign) for sign in (b",", b";", b"\t"))
    check_values(n_values, size)


def check_columns(n_columns: int) -> None:
    """Raise ValueError if a table has too many columns."""
    if n_columns > MAX_COLUMNS:
        raise ValueError(
            f"the table has {n_columns:,} columns, more than {MAX_COLUMNS:,}. Keep only the columns that you need"
        )


def check_runs(n_runs: int) -> None:
    """Raise ValueError if a table has too many runs."""
    if n_runs > MAX_RUNS:
        raise ValueError(
            f"the table has {n_runs:,} runs, more than {MAX_RUNS:,}. Split it into several files, or name the column "
            "of the run with --columns run=NAME"
        )


def check_parquet_footer(content: bytes) -> None:
    """Raise ValueError if the metadata of a Parquet file are too large to read."""
    n_bytes = int.from_bytes(content[-8:-4], "little")
    if n_bytes > MAX_FOOTER_BYTES:
        most = MAX_FOOTER_BYTES // 2**20
        raise ValueError(f"the Parquet file is damaged: it has {n_bytes / 2**20:.0f} MiB of metadata, more than {most}")


def check_parquet(content: bytes, metadata: "parquet.FileMetaData", names: Collection[str]) -> None:
    """Check the sizes of these columns without unpacking their pages.

    The function checks the page headers, because readers allocate the size that each page header states. The metadata
    at the end of the file could state other sizes. Raises ValueError if a column is nested, or the pages or the table
    would be too large.
    """
    check_columns(metadata.num_columns)
    kept = [at for at in range(metadata.num_columns) if metadata.schema.column(at).path.partition(".")[0] in names]
    for at in kept:
        column = metadata.schema.column(at)
        if column.max_repetition_level or column.path != column.name:
            raise ValueError(f"column {column.path.partition('.')[0]!r} is nested. Write one value into each cell")
        if column.physical_type == "FIXED_LEN_BYTE_ARRAY" and column.length > MAX_FIXED_BYTES:
            raise ValueError(f"column {column.name!r} holds values of {column.length} bytes. Write texts or numbers")
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    check_values(max(metadata.num_rows, sum(group.num_rows for group in groups)) * len(kept), len(content))
    limit, n_bytes, n_pages = most_unpacked(len(content)), 0, 0
    for group in groups:
        for at in kept if group.num_rows else ():
            for page_bytes, encoding in _pages(content, group.column(at)):
                n_bytes, n_pages = n_bytes + page_bytes, n_pages + 1
                if n_bytes > limit or n_pages > MAX_PAGES:
                    raise ValueError(f"the file unpacks to more than {limit // 2**20} MiB or {MAX_PAGES:,} pages")
                if encoding == DELTA_BYTE_ARRAY:
                    name = metadata.schema.column(at).name
                    raise ValueError(
                        f"column {name!r} has the encoding DELTA_BYTE_ARRAY. Use plain or dictionary encoding"
                    )


def _pages(content: bytes, chunk: Any) -> Iterator[tuple[int, int | None]]:
    """Yield the unpacked size and the encoding of each page of a column in a row group."""
    begins = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None:
        begins.append(chunk.dictionary_page_offset)
    at = min(begin for begin in begins if begin >= 0) if any(begin >= 0 for begin in begins) else -1
    end = at + chunk.total_compressed_size
    if not 0 <= at <= end <= len(content):
        raise ValueError("the Parquet file is damaged: a column lies outside the file")
    while at < end:
        header, at = _Thrift(content, at, end).read()
        unpacked, packed = header.get(2), header.get(3)
        if not isinstance(unpacked, int) or not isinstance(packed, int) or min(unpacked, packed) < 0:
            raise ValueError("the Parquet file is damaged: a page has no size")
        data, data_v2 = header.get(_DATA_PAGE), header.get(_DATA_PAGE_V2)
        yield unpacked, data.get(2) if isinstance(data, dict) else (data_v2 or {}).get(4)
        at += packed


class _Thrift:
    """A reader of one struct in Thrift's compact protocol, which Parquet uses for page headers."""

    def __init__(self, content: bytes, at: int, end: int) -> None:
        self._content, self._at, self._end = content, at, end

    def read(self) -> tuple[dict[int, Any], int]:
        """Return the fields by number and the position after the struct; raise ValueError if the struct has no end."""
        try:
            return self._struct(0), self._at
        except IndexError:
            raise ValueError("the Parquet file is damaged: a page header has no end") from None

    def _byte(self) -> int:
        if self._at >= self._end:
            raise IndexError
        self._at += 1
        return self._content[self._at - 1]

    def _length(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise IndexError
        return value | byte << shift

    def _number(self) -> int:
        length = self._length()
        return (length >> 1) ^ -(length & 1)

    def _struct(self, depth: int) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._number()
            fields[field] = self._value(head & 0x0F, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):  # true, false
            return kind == 1
        if kind == 3:  # a byte
            return self._byte()
        if kind in (4, 5, 6):  # whole numbers
            return self._number()
        if kind == 8:  # bytes
            n_bytes = self._length()
            self._at += n_bytes
            return None
        if kind == _STRUCT and depth < _MAX_DEPTH:
            return self._struct(depth + 1)
        raise ValueError("the Parquet file is damaged: a page header has an unknown field")
