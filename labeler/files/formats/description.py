"""Describe the content of a file of unknown format, for the person who chose the file."""

import csv

from labeler.files.formats import json_text
from labeler.files.formats.bounds import check_text
from labeler.safe_text import one_line

MAX_NAMES, MAX_SIGNS = 5, 60
_MARKS = {
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG picture",
    b"\x7fELF": "a program",
    b"<?xml": "XML",
    b"<!DOCTYPE html": "an HTML page",
    b"<html": "an HTML page",
}


_SIGHTGLASS = ("arch", "engine", "wasm", "process", "iteration", "phase", "event", "count")
_CATCH2_TEXT = (b"benchmark name", b"samples", b"iterations", b"mean")
_HOW_SIGHTGLASS = (
    "Keep the rows of one phase and one event, and give --format csv --columns "
    "benchmark=wasm,run=process,value=count,version=engine,ignore:arch=arch,ignore:phase=phase,ignore:event=event"
)


def hint_of(content: bytes) -> str:
    """Return how to get a file that can be read from a tool whose other output this is; "" for unknown tools."""
    start = content[:20_000]
    if all(word in start for word in _CATCH2_TEXT) and b"est run time" in start.replace(b"estimated", b"est run time"):
        return "This is text of Catch2. Write XML with --reporter xml --out FILE.xml"
    if json_text.contains_keys(start, *_SIGHTGLASS):
        return f"This is JSON of sightglass. Write CSV with --raw --output-format csv. {_HOW_SIGHTGLASS}"
    if ",".join(_SIGHTGLASS).encode() in start.partition(b"\n")[0].replace(b" ", b""):
        return f"This is CSV of sightglass. {_HOW_SIGHTGLASS}"
    if b" :: " in start and (b":: cycles ::" in start or b":: nanoseconds ::" in start):
        return f"This is a summary of sightglass. Write CSV with --raw --output-format csv. {_HOW_SIGHTGLASS}"
    return ""


def describe_content(content: bytes) -> str:
    """Return a noun phrase that describes the content of a file, which is not empty.

    JSON is described by its first keys, a table by its columns, and text by its beginning.

    Examples
    --------
    >>> describe_content(b'{"name": "x", "values": [1, 2]}')
    "JSON, an object with the keys 'name', 'values'"
    >>> describe_content(b"when,what\\n1,2\\n")
    "a table with the columns 'when', 'what'"
    >>> describe_content(b"hello there")
    "text that begins with 'hello there'"
    """
    start = json_text.beginning(content)
    for mark, words in _MARKS.items():
        if start.lower().startswith(mark.lower()):
            return words
    if start[:1] in (b"{", b"["):
        try:
            check_text(content, len(content))
        except ValueError:
            return "text that looks like JSON, with more values than a result file can have"
        try:
            return _json(json_text.parse(content))
        except ValueError as error:
            return _json_lines(content) or f"text that looks like JSON, but is not valid: {error}"
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return "binary data"
    first = text.strip().partition("\n")[0]  # a list of millions of lines would fill the memory
    line = (first.splitlines() or [""])[0]
    try:
        header = next(csv.reader([line]), [])
    except csv.Error:
        header = []
    if len(header) > 1:
        return f"a table with the columns {_names(header)}"
    return f"text that begins with {_quoted(line)}"


def _json_lines(content: bytes) -> str:
    """Describe the first of several lines of JSON; return "" for other text."""
    first, _, rest = content.strip().partition(b"\n")
    if not rest:
        return ""
    try:
        return f"lines of JSON, the first of which is {_json(json_text.parse(first)).removeprefix('JSON, ')}"
    except ValueError:
        return ""


def _json(value: object) -> str:
    if isinstance(value, dict):
        keys = "key" if len(value) == 1 else "keys"
        return f"JSON, an object with the {keys} {_names(list(value))}" if value else "JSON, an empty object"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return f"JSON, a list of {len(value)} objects with the keys {_names(list(value[0]))}"
    return f"JSON, a list of {len(value)} entries" if isinstance(value, list) else "JSON"


def _names(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(_quoted, names[:MAX_NAMES])) + more


def _quoted(text: str) -> str:
    shown = one_line(text)
    return f"'{shown[:MAX_SIGNS]}…'" if len(shown) > MAX_SIGNS else f"'{shown}'"
