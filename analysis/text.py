"""Words and numbers in sentences, as every part writes them."""

from collections.abc import Sequence

N_NAMED = 3  # names in a sentence before "and N more"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "item"), counted(0, "item"), counted(2, "person", "people")
    ('1 item', '0 items', '2 people')
    """
    return f"{n} {noun if n == 1 else plural or f'{noun}s'}"


def joined(names: Sequence[str], word: str = "and") -> str:
    """Join names for a sentence; "" without names.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else "".join(names)


def listed(names: Sequence[str], n_named: int = N_NAMED) -> str:
    """Join the first names for a sentence, and add how many names are left out.

    Examples
    --------
    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    rest = len(names) - n_named
    return ", ".join(names[:n_named]) + (f" and {rest} more" if rest > 0 else "")


def percent(share: float, digits: int | None = 0) -> str:
    """Format a share as a percentage with a real minus sign.

    `digits`: the number of decimals; None for as many as a share has that somebody chose, such as a level.

    Examples
    --------
    >>> percent(0.5), percent(-0.125, 1), percent(0.95, None), percent(0.025, None)
    ('50 %', '−12.5 %', '95 %', '2.5 %')
    """
    number = f"{100 * share:.4g}" if digits is None else f"{100 * share:.{digits}f}"
    return f"{number} %".replace("-", "−")
