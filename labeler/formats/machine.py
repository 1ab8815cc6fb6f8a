"""Name the machine of a run by conditions that every format writes in the same way."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from analysis.benchmark import RECORDED
from labeler.model import is_storable

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


def members(holder: Any) -> Mapping[str, Any]:
    """Return an object of a JSON document, or an empty one if there is none."""
    return holder if isinstance(holder, dict) else {}


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
