"""Find a row by the hash of a secret, in a time that does not reveal how much of a guess is correct."""

from collections.abc import Iterable
from hmac import compare_digest
from typing import Any

_N_FIRST = 16  # number of the 64 digits that the index compares; they are enough to find only a few rows


def nearby(secret_hash: str) -> tuple[str, str]:
    """Return a lower and an upper bound of all hashes that begin with the same digits as this hash."""
    first = secret_hash[:_N_FIRST]
    return first, first + "~"  # "~" sorts after all digits and letters


def matching(rows: Iterable[tuple[Any, ...]], secret_hash: str) -> tuple[Any, ...] | None:
    """Return the row whose first column is this hash, without this column; return None if there is no such row."""
    return next((tuple(rest) for stored_hash, *rest in rows if compare_digest(stored_hash, secret_hash)), None)
