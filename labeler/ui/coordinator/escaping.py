"""Escape untrusted text for pages that render Markdown."""

import re
from collections.abc import Iterable

from labeler.safe_text import multiline


def escape_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it literally, without characters that change the direction of writing."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~$])", r"\\\1", multiline(text))


def points(texts: Iterable[str]) -> str:
    """Return a Markdown list of texts, each escaped."""
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)
