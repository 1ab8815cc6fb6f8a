"""Results -> plain values for JSON; an undefined number is null beside its reason, never NaN."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def plain(value: Any) -> Any:
    """Dataclasses and mappings as dictionaries, down to numbers, texts and None.

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
    """The report as JSON text; raises ValueError on a number that is not finite."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
