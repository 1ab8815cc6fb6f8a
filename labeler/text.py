"""Which texts can be stored; paths and names in texts."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import PureWindowsPath

# a path on a computer, such as /home/ada/results.json
PATH = re.compile(
    r"(?<![\w/.:-])(?:/(?:home|Users|root|tmp|var|mnt|media|srv|opt|private|usr|etc)/[^\s\"',;)<]+"
    r"|[A-Za-z]:\\+(?:Users|Temp|home)[^\s\"',;)<]+)"
)
MAX_LENGTH = 100_000  # characters of a name, parameter or condition
_CHUNK = re.compile(r"[^\W_]+|[\W_]")  # letters and digits that belong together, or another character


def is_storable(text: str) -> bool:
    """Return whether the database can store a text.

    The database cannot store a text with NUL or a lone surrogate. Browsers may send both.
    """
    return "\0" not in text and (text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text))


def check_length(what: str, text: str) -> None:
    """Raise ValueError if a name is so long that a report with it would take minutes."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"{what} {text[:60]!r}… has {len(text):,} characters, and can have at most {MAX_LENGTH:,}")


def without_folders(text: str) -> str:
    """Return a text in which each path has only its last part, because folders tell about the computer.

    Examples
    --------
    >>> without_folders("OSError: /home/ada/model.json is missing")
    'OSError: model.json is missing'
    """
    return PATH.sub(lambda match: PureWindowsPath(match[0]).name, text)


class Words:
    """Names that are looked for in texts, in a time that does not grow with their number.

    A name is found only as whole words, in upper or lower case and in any Unicode form. Where two names overlap, the
    longer one is found.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._name_of: dict[str, str] = {}
        sizes: dict[str, set[int]] = {}  # first chunk -> numbers of chunks of the names that begin with it
        exact: dict[str, str] = {}
        for name in names:
            exact[composed(name)] = name
            for form in (name, name.casefold(), name.upper(), name.lower()):
                chunks = _CHUNK.findall(composed(form))
                if chunks:
                    self._name_of.setdefault(_alike(form), name)
                    sizes.setdefault(_alike(chunks[0]), set()).add(len(chunks))
        self._name_of |= exact  # of names that differ only in case, each is found as it is written
        self._sizes = {first: sorted(numbers, reverse=True) for first, numbers in sizes.items()}

    def found(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and name of each name in a composed text, from left to right."""
        spans = [match.span() for match in _CHUNK.finditer(text)]
        at = 0
        while at < len(spans):
            start = spans[at][0]
            for size in self._sizes.get(_alike(text[slice(*spans[at])]), ()) if not _is_letter(text, start - 1) else ():
                if at + size > len(spans):
                    continue
                end = spans[at + size - 1][1]
                name = self._name_of.get(text[start:end]) or self._name_of.get(_alike(text[start:end]))
                if name is not None and not _is_letter(text, end):
                    yield start, end, name
                    at += size - 1
                    break
            at += 1

    def replaced(self, text: str, new: Callable[[str], str]) -> str:
        """Return a text in which the result of a function replaces each name."""
        whole, parts, done = composed(text), list[str](), 0
        for start, end, name in self.found(whole):
            parts += [whole[done:start], new(name)]
            done = end
        return "".join([*parts, whole[done:]]) if parts else text

    def first(self, text: str) -> str:
        """Return the first name in a text; return "" if there is none."""
        return next((name for _, _, name in self.found(composed(text))), "")


def _is_letter(text: str, at: int) -> bool:
    """Return whether there is a letter or digit at this place, so that a name that ends beside it is no whole word."""
    return 0 <= at < len(text) and text[at].isalnum()


def composed(text: str) -> str:
    """Return a text in the Unicode form in which equal letters are equal characters."""
    return unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Return a text in the form in which equal texts in upper or lower case are equal."""
    return composed(composed(text).casefold())


def _alike(text: str) -> str:
    """Return a form that is equal for texts that differ only in case; some letters have several lower-case forms."""
    return folded(composed(text).upper())
