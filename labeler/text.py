"""Which texts can be stored, and paths of a computer in texts."""

import re
from pathlib import PureWindowsPath

# a path on a computer, such as /home/ada/results.json
PATH = re.compile(
    r"(?<![\w/.:-])(?:/(?:home|Users|root|tmp|var|mnt|media|srv|opt|private|usr|etc)/[^\s\"',;)<]+"
    r"|[A-Za-z]:\\+(?:Users|Temp|home)[^\s\"',;)<]+)"
)


def is_storable(text: str) -> bool:
    """Return whether the database can store a text.

    The database cannot store a text with NUL or a lone surrogate. Browsers may send both.
    """
    return "\0" not in text and (text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text))


def without_folders(text: str) -> str:
    """Return a text in which each path has only its last part, because folders tell about the computer.

    Examples
    --------
    >>> without_folders("OSError: /home/ada/model.json is missing")
    'OSError: model.json is missing'
    """
    return PATH.sub(lambda match: PureWindowsPath(match[0]).name, text)
