"""Conditions of a run, its machine and its time, which every format writes in the same way."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from analysis.runs.benchmark import RECORDED
from labeler.text import is_storable

MAX_TEXT = 200


def machine(**parts: Any) -> dict[str, str]:
    """Return the known parts (cpu, architecture, build, runtime, host, clock) as conditions of a run.

    The host name becomes a hash, because measurements are published.

    Examples
    --------
    >>> machine(cpu="Xeon", architecture=None, runtime=["CPython", "3.12"], clock=2400)
    {'recorded:cpu': 'Xeon', 'recorded:runtime': 'CPython 3.12', 'recorded:clock': '2400'}
    """
    texts = {name: _text(part) for name, part in parts.items()}
    if texts.get("host"):
        texts["host"] = hashlib.sha256(texts["host"].encode()).hexdigest()[:12]
    return {RECORDED + name: text for name, text in texts.items() if text}


def of_runs(conditions: Mapping[str, str], n: int) -> dict[str, tuple[str, ...]]:
    """Return conditions that are the same for n runs, one text per run."""
    return {name: (text,) * n for name, text in conditions.items()}


def of_each_run(runs: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return the conditions of each run as one list of texts per condition; an unknown one is ""."""
    return {name: [run.get(name, "") for run in runs] for name in dict.fromkeys(name for run in runs for name in run)}


def _text(part: Any) -> str:
    if isinstance(part, list):
        texts = [_text(each) for each in part]
        return " ".join(texts) if all(texts) else ""
    if isinstance(part, bool) or not isinstance(part, (str, int, float)):
        return ""
    return _shortened(str(part))


@lru_cache(maxsize=100)  # each run of a file repeats the texts of its machine
def _shortened(text: str) -> str:
    text = " ".join(text.split())[:MAX_TEXT]
    return text if is_storable(text) else ""


def time_in_utc(text: object) -> str:
    """Convert a time in a result file to ISO 8601 in UTC, so that texts sort by time; return "" if it is not a time.

    A time without a zone is treated as UTC, because the times are only used to order runs of one machine.

    Examples
    --------
    >>> time_in_utc("2024-05-01 10:00:00"), time_in_utc("2024-05-01T12:00:00.5+02:00"), time_in_utc(None)
    ('2024-05-01T10:00:00.000000', '2024-05-01T10:00:00.500000', '')
    """
    if text is None:
        return ""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return ""
    in_utc = time.astimezone(UTC) if time.tzinfo else time
    return in_utc.replace(tzinfo=None).isoformat(timespec="microseconds")


def time_from_seconds(seconds: float) -> str:
    """Convert a number of seconds since 1970 to ISO 8601; return "" if it is not a time."""
    try:
        return time_in_utc(datetime.fromtimestamp(seconds, UTC).isoformat())
    except (OverflowError, OSError, ValueError):
        return ""
