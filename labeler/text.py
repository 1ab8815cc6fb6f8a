"""Which texts can be stored."""


def is_storable(text: str) -> bool:
    """Return whether the database can store a text.

    The database cannot store a text with NUL or a lone surrogate. Browsers may send both.
    """
    return "\0" not in text and (text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text))
