"""Convert results to plain values for JSON. An undefined number becomes null and has a reason; it is never NaN."""

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def plain(value: Any) -> Any:
    """Convert a dataclass or mapping, and all values in it, to dictionaries of numbers, texts and None.

    Examples
    --------
    >>> from analysis.intervals import wilson
    >>> plain(wilson(0, 0))
    {'value': None, 'se': None, 'low': None, 'high': None, 'reason': 'no observations'}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value


def to_json(content: Mapping[str, Any]) -> str:
    """Return content as JSON text without terminal control characters; raise ValueError if a number is not finite.

    Examples
    --------
    >>> to_json({"name": "ü\\u202e\\x9b"})
    '{\\n "name": "ü\\\\u202e\\\\u009b"\\n}\\n'
    """
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return re.sub(r"[^\x20-\x7e\n]", lambda letter: _printable(letter[0]), text)


def _printable(letter: str) -> str:
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]
