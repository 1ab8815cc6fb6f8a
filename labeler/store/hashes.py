"""Find a row by the hash of a secret.

The time for this does not reveal how much of a guess is correct.
"""

from collections.abc import Iterable
from hmac import compare_digest
from typing import Any

_N_FIRST = 16  # number of digits, of 64 in total, with which the index finds only a few rows


def nearby(secret_hash: str) -> tuple[str, str]:
    """Return the smallest hash that begins with the same digits, and an upper bound of all such hashes."""
    first = secret_hash[:_N_FIRST]
    return first, first + "~"  # "~" sorts after all digits and letters


def matching(rows: Iterable[tuple[Any, ...]], secret_hash: str) -> tuple[Any, ...] | None:
    """Return the other columns of the row whose first column is this hash; return None if there is no such row."""
    return next((tuple(rest) for stored_hash, *rest in rows if compare_digest(stored_hash, secret_hash)), None)
