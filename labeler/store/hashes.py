"""Finding a row by the hash of a secret without telling, by the time it takes, how much of a guess was right."""

from collections.abc import Iterable
from hmac import compare_digest
from typing import Any

_N_FIRST = 16  # of 64 hexadecimal digits: enough to look few rows up by the index


def nearby(secret_hash: str) -> tuple[str, str]:
    """The least hash that begins as this one does, and what comes after all of them."""
    first = secret_hash[:_N_FIRST]
    return first, first + "~"  # sorts after every digit and letter


def matching(rows: Iterable[tuple[Any, ...]], secret_hash: str) -> tuple[Any, ...] | None:
    """The rest of the row whose first column is this hash; None if there is none."""
    return next((tuple(rest) for stored_hash, *rest in rows if compare_digest(stored_hash, secret_hash)), None)
