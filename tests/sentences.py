"""Check the facts in a text without its wording."""

import re

# between two parts: anything except the end of a sentence, a list item or a paragraph
_WITHIN = r"(?:(?![.!?][\"”)]*\s+[A-Z]|\n\s*\n|\n\s*[-*|] ).)*?"


def says(text: str, *parts: str) -> bool:
    """Return whether one sentence of the text contains these numbers, names and words, in this order.

    Line breaks count as spaces, so that it does not matter how the text is wrapped.
    """
    pattern = _WITHIN.join(r"\s+".join(map(re.escape, part.split())) for part in parts)
    return re.search(pattern, text, flags=re.DOTALL) is not None
