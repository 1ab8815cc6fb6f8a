"""Words that texts of every part share, and which texts can be stored."""

from collections.abc import Sequence


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "item"), counted(0, "item"), counted(2, "person", "people")
    ('1 item', '0 items', '2 people')
    """
    return f"{n} {noun if n == 1 else plural or f'{noun}s'}"


def is_storable(text: str) -> bool:
    """Return whether the database can store a text.

    The database cannot store a text with NUL or a lone surrogate. Browsers may send both.
    """
    return "\0" not in text and (text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text))


def enumeration(names: Sequence[str], word: str = "or") -> str:
    """Return names as an enumeration in a sentence.

    Examples
    --------
    >>> enumeration(["regression", "noise", "improvement"])
    'regression, noise or improvement'
    """
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
