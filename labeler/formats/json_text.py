"""Decode text, and parse JSON text and lists of numbers, with clear error messages."""

import json
import reprlib
from typing import Any, TypeVar

import numpy as np
import orjson

from labeler.model import Series

BOM = b"\xef\xbb\xbf"
MAX_DIGITS = 400  # maximum number of digits of an integer; measurements have at most 309
T = TypeVar("T")
_KINDS: dict[type, str] = {str: "a text", list: "a list", dict: "an object", int: "a whole number"}


def first_signs(content: bytes, n: int = 200) -> bytes:
    """Return the first `n` bytes of the text, without a byte order mark and spaces at the start."""
    return content[:n].removeprefix(BOM).lstrip()


def text_of(content: bytes) -> str:
    """Return the text of a file, without a byte order mark; raise ValueError with the place if it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: the file is not UTF-8 text") from None


def parse(content: bytes) -> Any:
    """Parse a JSON text; raise ValueError with line and column if it is not JSON."""
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
        raise ValueError("the file is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: the text is not JSON ({error.msg})") from None


def _integer(digits: str) -> int | float:
    """Parse an integer.

    An integer beyond the floating-point range becomes infinite, because Python limits the number of digits.
    """
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def series(values: list[Any], place: str, *, may_hold_booleans: bool = True) -> Series:
    """Convert the measurements of one run to an array.

    `place` names the run in error messages. Unless `may_hold_booleans` is false, true and false are refused, which
    numpy would read as 1 and 0. Raises ValueError if an entry is not a number.
    """
    if not (may_hold_booleans and any(isinstance(value, bool) for value in values)):
        try:
            found = np.array(values)
        except ValueError:  # lists of different lengths among the numbers
            found = np.array(None)
        if found.ndim == 1 and (found.dtype.kind in "fiu" or not len(values)):
            return found.astype(np.float64, copy=False)
    return np.array([number(value, f"{place}, iteration {at}") for at, value in enumerate(values)])


def number(value: Any, place: str) -> float:
    """Convert a value to a number, also an integer of more than 64 bits; raise ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{place}: {reprlib.repr(value)} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{place}: {str(value)[:20]}... is not a finite measurement") from None


def member(holder: Any, name: str, kind: type[T], place: str) -> T:
    """Return a member of an object.

    Raise ValueError with the place if the member is missing or has another type.
    """
    if not isinstance(holder, dict):
        raise ValueError(f"{place}: {reprlib.repr(holder)} is not an object")
    if name not in holder:
        raise ValueError(f"{place}: {name!r} is missing")
    value: object = holder[name]
    if not isinstance(value, kind):
        raise ValueError(f"{place}: {name!r} is {reprlib.repr(value)}, not {_KINDS[kind]}")
    return value
