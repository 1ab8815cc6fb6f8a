"""Parse TOML that somebody else may have written."""

import re
from typing import Any

MAX_LENGTH = 1_000_000  # characters; the plan of a measurement with 1000 benchmarks has about 200,000
# Reading a name of many parts takes time that grows with the square of their number.
_LONG_NAME = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){50}""")


def parse(text: str) -> dict[str, Any]:
    """Return the entries of a TOML text; raise ValueError if it is not TOML, too long, or nested too deep.

    Examples
    --------
    >>> parse("seed = 1")
    {'seed': 1}
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the text has more than {MAX_LENGTH:,} characters")
    if _LONG_NAME.search(text):
        raise ValueError("a name has more than 50 parts")
    import tomllib  # most commands read no TOML

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("the entries are nested too deep") from None
