"""Opaque codes that stand for items, shown to reviewers.

Codes are random and do not depend on the seed of the plan, so nobody can derive them from the seed and the items.
"""

import secrets

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no 0, O, 1, I
LENGTH = 6


def new_code() -> str:
    """A random code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def new_codes(n: int) -> list[str]:
    """n different codes, in random order."""
    codes: dict[str, None] = {}
    while len(codes) < n:
        codes[new_code()] = None
    return list(codes)
