"""Texts from outside, on pages that read Markdown."""

import re
from collections.abc import Iterable


def plain(text: str) -> str:
    """A text from outside so that none of it is taken for Markdown."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~$])", r"\\\1", text)


def points(texts: Iterable[str]) -> str:
    """Texts from outside as the points of one list."""
    return "\n".join(f"- {plain(text)}" for text in texts)
