"""Find a row by the hash of a secret, in a time that does not reveal how much of a guess is right."""

from collections.abc import Iterable
from hmac import compare_digest
from typing import Any

_N_FIRST = 16  # digits of 64; enough that the index finds only a few rows


def nearby(secret_hash: str) -> tuple[str, str]:
    """Return the smallest hash with the same beginning, and an upper bound for all such hashes."""
    first = secret_hash[:_N_FIRST]
    return first, first + "~"  # "~" sorts after all digits and letters


def matching(rows: Iterable[tuple[Any, ...]], secret_hash: str) -> tuple[Any, ...] | None:
    """Return the other columns of the row whose first column is this hash, or None."""
    return next((tuple(rest) for stored_hash, *rest in rows if compare_digest(stored_hash, secret_hash)), None)
