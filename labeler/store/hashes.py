"""Finding a row by the hash of a secret in a time that does not reveal how much of a guess was right."""

from collections.abc import Iterable
from hmac import compare_digest
from typing import Any

_N_FIRST = 16  # of 64 hexadecimal digits: enough for the index to find only a few rows


def nearby(secret_hash: str) -> tuple[str, str]:
    """The smallest hash that begins like this one, and an upper bound for all of them."""
    first = secret_hash[:_N_FIRST]
    return first, first + "~"  # sorts after every digit and letter


def matching(rows: Iterable[tuple[Any, ...]], secret_hash: str) -> tuple[Any, ...] | None:
    """The other columns of the row whose first column is this hash; None if there is no such row."""
    return next((tuple(rest) for stored_hash, *rest in rows if compare_digest(stored_hash, secret_hash)), None)
