"""Decode text, and parse JSON text and lists of numbers, with clear error messages.

`place` says in error messages where a value stands. A function that raises an error raises ValueError with the place.
"""

import json
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, TypeVar

import numpy as np
import orjson

from analysis.arrays import Series

BOM = b"\xef\xbb\xbf"
MAX_DIGITS = 400  # maximum number of digits of an integer; measurements have at most 309
T = TypeVar("T")
_KINDS: dict[type, str] = {str: "a text", list: "a list", dict: "an object", int: "a whole number"}


def beginning(content: bytes, n: int = 200) -> bytes:
    """Return the first `n` bytes of the text, without a byte order mark and spaces at the start."""
    return content[:n].removeprefix(BOM).lstrip()


def is_object_with(content: bytes, *keys: str) -> bool:
    """Return whether the text begins like a JSON object and contains all these keys somewhere."""
    return beginning(content)[:1] == b"{" and contains_keys(content, *keys)


def begins_like_json(content: bytes) -> bool:
    """Return whether the text begins like JSON or XML, and not like the words in brackets of a log."""
    start = beginning(content)
    is_list = start[:1] == b"[" and (start[1:].lstrip()[:1] or b"]") in b'{["]-0123456789'
    return start[:1] in (b"{", b"<") or is_list


def contains_keys(content: bytes, *keys: str) -> bool:
    """Return whether the text contains all these keys, each in quotes."""
    return all(f'"{key}"'.encode() in content for key in keys)


def text_of(content: bytes) -> str:
    """Return the text of a file, without a byte order mark; refuse text that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: the file is not UTF-8 text. Save it as UTF-8") from None


def parse(content: bytes) -> Any:
    """Parse a JSON text; refuse other text with line and column."""
    content = content.removeprefix(BOM)
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        # also accepts NaN and Infinity, so that an error can name the measurement
        return json.loads(content, parse_int=_integer)
    except RecursionError:
        raise ValueError("the JSON is nested more deeply than any result file") from None
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8 text. Save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: the text is not JSON ({error.msg})") from None


def _integer(digits: str) -> int | float:
    """Parse an integer; one beyond the floating-point range becomes infinite, as Python limits the number of digits."""
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def series(values: list[Any], place: str, *, may_hold_booleans: bool = True) -> Series:
    """Convert the measurements of one run to an array; refuse entries that are not numbers.

    Unless `may_hold_booleans` is false, true and false are refused, which numpy would read as 1 and 0.
    """
    if not (may_hold_booleans and any(isinstance(value, bool) for value in values)):
        try:
            array = np.array(values)
        except ValueError:  # lists of different lengths among the numbers
            array = np.array(None)
        if array.ndim == 1 and (array.dtype.kind in "fiu" or not len(values)):
            return array.astype(np.float64, copy=False)
    return np.array([number(value, f"{place}, iteration {at}") for at, value in enumerate(values)])


def all_series(runs: Sequence[tuple[list[Any], str]]) -> list[Series]:
    """Convert the measurements of each run, given with its place, like `series`; floats of all runs share memory."""
    values = list(chain.from_iterable(of_run for of_run, _place in runs))
    if set(map(type, values)) != {float}:
        return [series(of_run, place) for of_run, place in runs]
    ends = list(accumulate(len(of_run) for of_run, _place in runs))
    every = np.array(values)
    return [every[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def shown(value: Any) -> str:
    """Return a value as a message shows it, with the words of JSON."""
    return json.dumps(value) if value is None or isinstance(value, bool) else reprlib.repr(value)


def number(value: Any, place: str) -> float:
    """Convert a number, also an integer of more than 64 bits; refuse any other value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{place}: {shown(value)} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{place}: {str(value)[:20]}... is not a finite measurement") from None


def whole_number(value: Any, name: str, place: str) -> int:
    """Return a value if it is a whole number; refuse any other value."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{place}: {name!r} is {shown(value)}, not a whole number")
    return value


def member(holder: Any, name: str, kind: type[T], place: str) -> T:
    """Return a member of an object; refuse a missing member, or a member of another type."""
    if not isinstance(holder, dict):
        raise ValueError(f"{place}: {shown(holder)} is not an object")
    if name not in holder:
        raise ValueError(f"{place}: {name!r} is missing")
    value: object = holder[name]
    if not isinstance(value, kind):
        raise ValueError(f"{place}: {name!r} is {shown(value)}, not {_KINDS[kind]}")
    return value


def used_up(entries: list[Any]) -> Iterator[Any]:
    """Yield the entries of a list and take each out, so that memory does not hold a file twice, as text and as runs."""
    for at, entry in enumerate(entries):
        entries[at] = None
        yield entry


def object_or_empty(value: Any) -> Mapping[str, Any]:
    """Return a value if it is an object, and otherwise an empty object."""
    return value if isinstance(value, dict) else {}
