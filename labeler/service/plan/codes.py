"""The opaque codes under which reviewers see their items.

They are drawn at random, not from the seed of the plan: nobody who knows the seed and the items can work them out.
"""

import secrets

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no 0, O, 1, I
LENGTH = 6


def new_code() -> str:
    """One code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def new_codes(n: int) -> list[str]:
    """n different codes, in random order."""
    codes: dict[str, None] = {}
    while len(codes) < n:
        codes[new_code()] = None
    return list(codes)
