"""Opaque codes that stand for items, shown to reviewers.

The codes are random and do not depend on the plan's seed, so nobody can derive a code from the seed and the items.
"""

import secrets
from collections.abc import Callable

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no 0, O, 1, I
LENGTH = 6


def new_code() -> str:
    """Return a random code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def new_codes(n: int, is_taken: Callable[[str], bool]) -> list[str]:
    """Create n different codes that are not in use, in random order.

    Codes that are already in use are skipped. In a set of 30 000 random codes, the chance that two codes are equal is
    about one in three.
    """
    codes: dict[str, None] = {}
    while len(codes) < n:
        code = new_code()
        if not is_taken(code):
            codes[code] = None
    return list(codes)
