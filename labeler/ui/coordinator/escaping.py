"""Texts from outside, on pages that read Markdown."""

import re


def plain(text: str) -> str:
    """A text from outside so that none of it is taken for Markdown."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~$])", r"\\\1", text)
