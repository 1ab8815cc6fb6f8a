"""Marks: the answer to a question that asks where a series changes.

An answer is a JSON list with a mark per change. A mark is the first point of the new segment, counted from 0; a range
[first, last] if the reviewer is unsure about the place; or {"at": point or range, "kind": name} if it has a kind.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

CHANGES, CHANGE, START = "changes", "change", "start"
HOW_MANY = (CHANGES, CHANGE, START)  # any number; at most one; at most one, which may be the first point of the series
MAX_MARKS = 1000
MAX_LENGTH = 10_000  # characters of an answer
_UNREADABLE = "marks are written as a list of points such as [12, 80]"


@dataclass(frozen=True, order=True)
class Mark:
    """A marked point, or a range of points in which the change is; `first` and `last` belong to the range."""

    first: int
    last: int
    kind: str | None = None

    @property
    def at(self) -> int:
        """The marked point, or the middle of the range."""
        return (self.first + self.last) // 2

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the mark that a JSON value describes; raise ValueError if it describes none."""
        match value:
            case {"at": at, "kind": str(kind), **rest} if not rest:
                return cls(*_places(at), kind)
            case _:
                return cls(*_places(value))

    def json_value(self) -> Any:
        """Return the mark as it stands in an answer."""
        place = self.first if self.first == self.last else [self.first, self.last]
        return place if self.kind is None else {"at": place, "kind": self.kind}

    def __str__(self) -> str:
        """Describe the mark, such as "12", "10 to 14" or "12 (slower)"."""
        place = str(self.first) if self.first == self.last else f"{self.first} to {self.last}"
        return place if self.kind is None else f"{place} ({self.kind})"


def are_marks(answer: str) -> bool:
    """Return whether an answer consists of marks, which neither a category nor "not sure" does."""
    return answer.startswith("[")


def read(answer: str) -> tuple[Mark, ...]:
    """Return the marks of an answer; no marks for any other answer. Raise ValueError if they cannot be read."""
    if not are_marks(answer):
        return ()
    try:
        values = json.loads(answer) if len(answer) <= MAX_LENGTH else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or len(values) > MAX_MARKS:
        raise ValueError(f"{_UNREADABLE}, with at most {MAX_MARKS} points")
    return tuple(map(Mark.of, values))


def write(marks: Iterable[Mark]) -> str:
    """Return marks as the text of an answer."""
    return json.dumps([mark.json_value() for mark in marks], ensure_ascii=False)


def describe(answer: str) -> str:
    """Return an answer as reviewers read it, such as "2 marks: 12, 80"; other answers as they are."""
    marks = read(answer)
    number = "1 mark" if len(marks) == 1 else f"{len(marks)} marks"
    return f"{number}: {', '.join(map(str, marks))}" if marks else answer


def _places(value: object) -> tuple[int, int]:
    match value:
        case bool():
            pass
        case int():
            return value, value
        case [int(first), int(last)] if type(first) is type(last) is int:
            if first < last:
                return first, last
            raise ValueError(f"the range {first} to {last} does not end after it begins")
    raise ValueError(f"{_UNREADABLE}, not {json.dumps(value)[:40]}")


def check(marks: Iterable[Mark], *, how_many: str, ranges: bool, kinds: Iterable[str], n: int | None) -> None:
    """Raise ValueError unless the marks are possible in a series of `n` points; None if the length is not known."""
    marks, kinds = tuple(marks), tuple(kinds)
    if not marks:
        raise ValueError("there is no mark")
    if how_many != CHANGES and len(marks) > 1:
        raise ValueError(f"the question takes one mark, not {len(marks)}")
    lowest = 0 if how_many == START else 1
    for before, mark in zip((None, *marks), marks, strict=False):
        if mark.first != mark.last and not ranges:
            raise ValueError(f"the question takes no ranges, such as {mark.first} to {mark.last}")
        if mark.first < lowest or (n is not None and mark.last >= n):
            points = f"from {lowest}" if n is None else "none" if n <= lowest else f"{lowest} to {n - 1}"
            raise ValueError(f"point {mark} cannot be marked; the points are {points}")
        if before is not None and mark.first <= before.last:
            raise ValueError(f"the marks {before} and {mark} must be two points in ascending order")
        if mark.kind is None and kinds:
            raise ValueError(f"the mark {mark} has no kind: {', '.join(kinds)}")
        if mark.kind is not None and mark.kind not in kinds:
            raise ValueError(f"the mark {mark} has an unknown kind" + (f": {', '.join(kinds)}" if kinds else ""))
