"""Read the numbers that tools print: with a decimal point or a decimal comma, and one of them for a whole file.

`126,554` is 126554 in English and 126.554 in German. So all numbers of a file decide together which of the two a file
has. Tools that follow the language of the machine write both; all other tools write a point, so a file of these has
decimal commas only if its numbers cannot be read otherwise.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from labeler.files.formats.units import finite

_SPACES = "\u00a0\u202f\u2009"  # separators of thousands in French and other languages
_GROUPED = r"[1-9]\d{0,2}(?:%s\d{3})+"
_END = r"(?:[eE][-+]?\d{1,4})?"
_WITH_POINT = re.compile(rf"(?:\d+|{_GROUPED % ','}|{_GROUPED % f'[{_SPACES}]'})?(?:\.\d+|(?<=\d)\.)?{_END}", re.ASCII)
_WITH_COMMA = re.compile(rf"(?:\d+|{_GROUPED % '[.]'}|{_GROUPED % f'[{_SPACES}]'})(?:,\d+)?{_END}", re.ASCII)
_TOKEN = re.compile(rf"(?<![\w.,{_SPACES}])\d[\d.,{_SPACES}]*(?:[eE][-+]?\d+)?", re.ASCII)
NUMBER = rf"\d[\d.,{_SPACES}]*(?:[eE][-+]?\d+)?"  # how a number begins and ends, whatever its separators

IN_ENGLISH = (
    "the numbers can be read with decimal points and with decimal commas (such as {example}). Measure with "
    "LC_ALL=C in the environment, so that the tool writes decimal points"
)


@dataclass(frozen=True)
class Numerals:
    """How the numbers of a file are written."""

    has_commas: bool = False  # whether a comma separates the decimals

    def value(self, text: str, place: str) -> float:
        """Return a number; raise ValueError with the place if the text is not a number of this file."""
        pattern = _WITH_COMMA if self.has_commas else _WITH_POINT
        digits = text.strip()
        if not digits or not pattern.fullmatch(digits):
            raise ValueError(f"{place}: {text[:30]!r} is not a finite number")
        for sign in (*_SPACES, "." if self.has_commas else ","):
            digits = digits.replace(sign, "")
        return finite(digits.replace(",", "."), place)


def tokens(text: str) -> Iterator[str]:
    """Yield all numbers in a text, also in its remarks, because they show which separators the tool wrote.

    Examples
    --------
    >>> list(tokens("126,554 msec task-clock # 0,965 CPUs utilized"))
    ['126,554', '0,965']
    """
    return (match.group().rstrip(f".,{_SPACES}") for match in _TOKEN.finditer(text))


def numerals(found: Iterable[str], *, counts: Iterable[str] = (), follows_language: bool = False) -> Numerals:
    """Return how the numbers of a file are written.

    `counts` are those of the numbers that have no decimals. If the tool follows the language of the machine, raises
    ValueError if both ways fit and differ, or none fits.

    Examples
    --------
    >>> numerals(["126,554", "0,965"]), numerals(["126,554", "0.965"]), numerals(["126,554"])
    (Numerals(has_commas=True), Numerals(has_commas=False), Numerals(has_commas=False))
    """
    written = {text for text in found if re.search(rf"[.,{_SPACES}]", text)}
    with_point = {text for text in written if _WITH_POINT.fullmatch(text)}
    with_comma = {text for text in written if _WITH_COMMA.fullmatch(text)}
    whole = {text for text in counts if re.search("[.,]", text)}
    if follows_language:
        with_point -= {text for text in whole if "." in text}
        with_comma -= {text for text in whole if "," in text}
    fits_point, fits_comma = with_point == written, with_comma == written
    if follows_language and written and fits_point == fits_comma and any(set(text) & {".", ","} for text in written):
        if fits_point:
            raise ValueError(IN_ENGLISH.format(example=repr(min(written))))
        only_comma = min(written - with_point, default="")
        only_point = min(written - with_comma, default="")
        raise ValueError(
            f"some numbers have decimal points, and others decimal commas (such as {only_point or only_comma!r} and "
            f"{only_comma!r}). Measure again with LC_ALL=C in the environment"
        )
    return Numerals(has_commas=fits_comma and not fits_point)
