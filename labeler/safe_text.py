"""Make untrusted text safe for output.

A spreadsheet must not run the text, and the text must not control the terminal.
"""

import re
from collections.abc import Iterable, Sequence

# positions at which a spreadsheet could start a formula: the start of a cell, or after a character that is a separator
# in some countries, even after spaces and apostrophes; also with full-width characters
_FORMULA = re.compile(r"(^|[,;|\t\r\n])([^\S\t\r\n]*)('*)(?=[=+\-@＝＋－＠\t\r])")
_INERT = re.compile(r"(^|[,;|\t\r\n])([^\S\t\r\n]*)'('*)(?=[=+\-@＝＋－＠\t\r])")
# control characters except tab and line break, and characters that change the direction of writing
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
_QUOTED = re.compile(r'[,"\r\n]|^\s|\s$')


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows with a header as CSV text; None becomes an empty cell.

    A cell that a spreadsheet would run as a formula gets an apostrophe in front, which `as_written` removes.

    Examples
    --------
    >>> csv_text(["item", "n"], [("=1+1", 2), ("a, b", None)])
    'item,n\\n\\'=1+1,2\\n"a, b",\\n'
    """
    return "".join(",".join(_cell(value, len(columns)) for value in row) + "\n" for row in (columns, *rows))


def inert(text: str) -> str:
    """Return a cell that is safe for spreadsheets.

    A formula gets an apostrophe in front, which `as_written` removes.

    Examples
    --------
    >>> inert("=1+1"), inert("a;＝1"), inert("sort")
    ("'=1+1", "a;'＝1", 'sort')
    >>> as_written(inert("'=1+1; @x"))
    "'=1+1; @x"
    """
    return _FORMULA.sub(r"\1\2'\3", text)


def as_written(text: str) -> str:
    """Remove the apostrophes that `inert` put before formulas."""
    return _INERT.sub(r"\1\2\3", text)


def _cell(value: object, n_columns: int) -> str:
    text = "" if value is None else inert(value) if isinstance(value, str) else str(value)
    must_quote = _QUOTED.search(text) or (n_columns == 1 and not text)
    return '"' + text.replace('"', '""') + '"' if must_quote else text


def multiline(text: str) -> str:
    """Return a text without characters that control a terminal or the direction of writing; line breaks stay.

    Each such character becomes U+FFFD, so that a reader sees that something was there.

    Examples
    --------
    >>> multiline("a\\x1b]52;c;eA==\\x07b\\r\\nc\\u202ed")
    'a\ufffd]52;c;eA==\ufffdb\\r\\nc\ufffdd'
    """
    return _CONTROL.sub("\ufffd", text)


def one_line(text: str, most: int | None = None) -> str:
    """Return a text as one line without control characters.

    If it is longer than `most`, it is shortened in the middle.

    Examples
    --------
    >>> one_line("sort\\x1b[2J\\nfast"), one_line("abcdefghij", 6)
    ('sort [2J fast', 'ab…hij')
    """
    if most is not None and len(text) > most:
        half = most // 2
        text = f"{text[: half - 1]}…{text[-half:]}"
    return "".join(letter if letter.isprintable() else " " for letter in text)


def escape_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it literally, without characters that change the direction of writing."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~$])", r"\\\1", multiline(text))
