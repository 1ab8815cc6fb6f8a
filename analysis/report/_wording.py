"""A report is written from the numbers in its JSON: here a statistic becomes an `Estimate` again, and is worded."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from analysis import document
from analysis.intervals import Estimate


def estimate(content: Mapping[str, Any], *, as_percent: bool = True) -> str:
    """A statistic with its interval, or with the reason why it or its interval is missing.

    Examples
    --------
    >>> estimate({"value": 0.5, "low": 0.25, "high": 0.75, "reason": None})
    '50.0 % (25.0 to 75.0 %)'
    """
    return document.estimate(_read_back(content), as_percent=as_percent)


def interval(content: Mapping[str, Any], *, as_percent: bool = True) -> str:
    """The ends of an interval; empty where there is none."""
    return document.interval(_read_back(content), as_percent=as_percent)


def _read_back(content: Mapping[str, Any]) -> Estimate:
    """What `plain` made of an estimate, and perhaps more stands beside it, as an estimate."""
    return Estimate(**{field.name: content.get(field.name) for field in fields(Estimate)})
