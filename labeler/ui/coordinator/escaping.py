"""Escape untrusted text for pages that render Markdown."""

import re
from collections.abc import Iterable


def plain(text: str) -> str:
    """Escape a text so that it is shown literally, not as Markdown."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~$])", r"\\\1", text)


def points(texts: Iterable[str]) -> str:
    """Escaped texts as a Markdown list."""
    return "\n".join(f"- {plain(text)}" for text in texts)
