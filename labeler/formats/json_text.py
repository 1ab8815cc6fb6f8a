"""JSON text -> values, and lists of numbers -> series, with words for what is neither."""

import json
import reprlib
from typing import Any, TypeVar

import numpy as np
import orjson

from labeler.model import Series

BOM = b"\xef\xbb\xbf"
MAX_DIGITS = 400  # of a whole number; measurements end at 309
T = TypeVar("T")
_KINDS: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}


def first_signs(content: bytes, n: int = 200) -> bytes:
    """What the text begins with, without blanks in front."""
    return content[:n].removeprefix(BOM).lstrip()


def parse(content: bytes) -> Any:
    """The value of a JSON text; raises ValueError naming line and column where it is none."""
    content = content.removeprefix(BOM)
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        # also reads NaN and Infinity, so that the measurement can be named
        return json.loads(content, parse_int=_integer)
    except RecursionError:
        raise ValueError("the JSON is nested more deeply than any result file") from None
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from None


def _integer(digits: str) -> int | float:
    """A whole number; one beyond all floating-point numbers is infinite, as Python limits the digits that it reads."""
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def series(values: list[Any], place: str, *, may_hold_booleans: bool = True) -> Series:
    """The measurements of one run.

    Parameters
    ----------
    values : list
    place : str
        What an error calls the run.
    may_hold_booleans : bool
        Whether to look for true and false, which numpy takes for 1 and 0.

    Raises
    ------
    ValueError
        If an entry is no number.
    """
    if not (may_hold_booleans and any(isinstance(value, bool) for value in values)):
        try:
            found = np.array(values)
        except ValueError:  # lists of different lengths among the numbers
            found = np.array(None)
        if found.ndim == 1 and (found.dtype.kind in "fiu" or not len(values)):
            return found.astype(np.float64)
    return np.array([number(value, f"{place}, iteration {at}") for at, value in enumerate(values)])


def number(value: Any, place: str) -> float:
    """The slow way, for whole numbers beyond 64 bits and to name what is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{place}: {reprlib.repr(value)} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{place}: {str(value)[:20]}... is not a finite measurement") from None


def member(holder: Any, name: str, kind: type[T], place: str) -> T:
    """What an object holds under a name; raises ValueError naming the place if it is of another kind."""
    if not isinstance(holder, dict):
        raise ValueError(f"{place}: {reprlib.repr(holder)} is not an object")
    if name not in holder:
        raise ValueError(f"{place}: {name!r} is missing")
    value: object = holder[name]
    if not isinstance(value, kind):
        raise ValueError(f"{place}: {name!r} is {reprlib.repr(value)}, not {_KINDS[kind]}")
    return value
