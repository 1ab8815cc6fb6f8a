"""Turn the log of a build into the text that the tool printed: without colours, and without what the log adds.

Build servers write a time stamp before each line, and sometimes the names of the job and of the step. They are cut if
every line has them. Lines are never joined, moved or dropped, so the number of a line stays the number in the file.
"""

import re
from collections.abc import Iterator

_BOM = "\ufeff"
# colours and other control sequences of a terminal; also links and the marks of Buildkite, which end with BEL or ST
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]_][^\x07\x1b\n]*(?:\x07|\x1b\\)|\([AB0])")
_DAY, _CLOCK, _ZONE = r"\d{4}-\d{2}-\d{2}", r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?", r"(?:Z|[+-]\d{2}:?\d{2})"
_MARKS = tuple(
    re.compile(mark)
    for mark in (
        rf"[^\t\n]*\t[^\t\n]*\t{_BOM}?{_DAY}T{_CLOCK}{_ZONE} ?",  # gh run view --log: job, step and time
        rf"{_DAY}T{_CLOCK}{_ZONE} \d{{2}}[OE]\+? ?",  # GitLab: time, stream, and + for the rest of a line
        rf"{_DAY}T{_CLOCK}{_ZONE}?(?: |(?=\r?$))",  # GitHub, Azure, and docker logs
        rf"\[{_DAY}[T ]{_CLOCK} ?{_ZONE}?\] ?",  # Jenkins
        rf"\[{_CLOCK}\](?:[A-Za-z]?: | |(?=\r?$))",  # Jenkins, TeamCity
        rf"{_DAY} {_CLOCK}(?: ?{_ZONE})? ?",
        rf"{_CLOCK}(?:  ?|(?=\r?$))",  # Jenkins
    )
)
_STAMP = re.compile(rf"\[?(?:{_DAY}[T ]{_CLOCK}|{_CLOCK}\b)")
_MOST_BEFORE = 4096  # bytes in which the first line that is not blank must begin


def plain_text(content: bytes) -> bytes:
    """Return printed text without colours, and without the marks of a build's log (see `without_marks`).

    Examples
    --------
    >>> plain_text(b"2024-05-01T10:00:00.1Z \\x1b[32mok\\x1b[0m\\n2024-05-01T10:00:01.2Z 1 ms\\n")
    b'ok\\n1 ms\\n'
    """
    return without_marks(_ESCAPES.sub(b"", content) if b"\x1b" in content else content)


def without_marks(content: bytes) -> bytes:
    """Return a text without the marks of a build's log, if every line has one; anything else stays as it is."""
    first = content[:_MOST_BEFORE].decode("utf-8", "replace").lstrip(f"{_BOM}\r\n ").partition("\n")[0]
    marks = [mark for mark in _MARKS if mark.match(first)]  # most files are no logs, and are looked at no further
    if not marks:
        return content
    try:
        lines = [line.lstrip(_BOM) for line in content.decode().split("\n")]
    except UnicodeDecodeError:
        return content
    for mark in marks:
        found = [mark.match(line) for line in lines]
        if all(match or not line.strip() for line, match in zip(lines, found, strict=True)):
            cut = (line[match.end() :] if match else line for line, match in zip(lines, found, strict=True))
            return "\n".join(cut).encode()
    return content


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield the number and the text of each line, counted from 1 as an editor does.

    What a carriage return overwrote in a terminal is a line of its own, with the same number.

    Examples
    --------
    >>> list(lines_of("a\r\nb\rc"))
    [(1, 'a'), (2, 'b'), (2, 'c')]
    """
    for number, line in enumerate(text.split("\n"), 1):
        for part in line.removesuffix("\r").split("\r"):
            yield number, part.lstrip(_BOM)


def begins_with_time(text: str) -> bool:
    """Return whether a text begins with a time stamp, which is no part of the name of a benchmark.

    Examples
    --------
    >>> begins_with_time("2024-05-01T10:00:00.1Z sort"), begins_with_time("sort 10:00")
    (True, False)
    """
    return _STAMP.match(text) is not None
