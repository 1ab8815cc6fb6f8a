"""Create the opaque codes under which reviewers see items.

The codes are random and do not depend on the seed of the plan, so nobody can derive a code from the seed and the items.
"""

import secrets
from collections.abc import Callable

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without 0, O, 1 and I, which look alike
LENGTH = 6


def new_code() -> str:
    """Return a random code for an item."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def new_codes(n: int, is_taken: Callable[[str], bool]) -> list[str]:
    """Return `n` different random codes that are not in use.

    Without this check, equal codes would be likely in a large study: among 30 000 random codes, the chance that two are
    equal is about one in three.
    """
    codes: dict[str, None] = {}
    while len(codes) < n:
        code = new_code()
        if not is_taken(code):
            codes[code] = None
    return list(codes)
