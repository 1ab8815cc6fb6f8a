"""Escape untrusted text for pages that render Markdown."""

import re
from collections.abc import Iterable


def escape_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it literally."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~$])", r"\\\1", text)


def points(texts: Iterable[str]) -> str:
    """Return a Markdown list of texts, each escaped."""
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)
