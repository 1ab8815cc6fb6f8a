"""Words and numbers in sentences, as every part writes them."""

from collections.abc import Sequence

N_NAMED = 3  # names in a sentence before "and N more"
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³")}


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
    """Format a share as a percentage with a real minus sign, and 0 without a sign.

    `digits`: the number of decimals; None for as many as a share has that somebody chose, such as a level.

    Examples
    --------
    >>> percent(0.5), percent(-0.125, 1), percent(-0.0001, 1), percent(0.95, None), percent(0.025, None)
    ('50 %', '−12.5 %', '0.0 %', '95 %', '2.5 %')
    """
    number = f"{100 * share:.4g}" if digits is None else f"{100 * share:z.{digits}f}"
    return f"{number} %".replace("-", "−")


def significant(value: float, digits: int = 3) -> str:
    """Round to significant digits and write the number without an exponent, unless it is tiny or enormous.

    Examples
    --------
    >>> significant(999.6), significant(12345.6), significant(-0.01236), significant(1.5e-7)
    ('1000', '12300', '−0.0124', '1.5e-07')
    """
    return f"{float(f'{value:.{digits}g}'):.15g}".replace("-", "−", 1 if value < 0 else 0)


def duration(seconds: float, digits: int = 3) -> str:
    """Write a duration, >= 0, in the largest unit in which it is at least 1 after rounding.

    Examples
    --------
    >>> duration(0.0123), duration(0.9996), duration(5e-9), duration(90.0)
    ('12.3 ms', '1 s', '5 ns', '1.5 min')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if float(f"{seconds / size:.{digits}g}") >= 1:
            return f"{significant(seconds / size, digits)} {unit}"
    return f"{significant(seconds / 1e-9, digits)} ns"


def minute(at_utc: str) -> str:
    """Return the minute of an ISO 8601 time.

    Examples
    --------
    >>> minute("2026-11-20T12:00:59.5+00:00")
    '2026-11-20 12:00'
    """
    return at_utc[:16].replace("T", " ")


def is_device(file_name: str) -> bool:
    """Return whether Windows takes a file name for a device, which it does whatever the extension is.

    Examples
    --------
    >>> is_device("Aux.json"), is_device("con"), is_device("console.json")
    (True, True, False)
    """
    return file_name.partition(".")[0].rstrip().casefold() in DEVICES
