"""Account for the lines of printed output: each line that looks like a result is read, or named with a reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from analysis.text import counted
from labeler.files.formats.logs import begins_with_time
from labeler.safe_text import one_line

N_NAMED = 3  # maximum number of lines in a message
MAX_SHOWN = 80  # maximum characters of a line in a message


class Unread(ValueError):
    """A text has lines that look like results, but cannot be read; all other results were read."""


@dataclass
class ResultLines:
    """The lines of a text that look like results, but could not be read."""

    unread: list[str] = field(default_factory=list)
    have_numbers: bool = False  # whether one of them has a number

    def skip(self, number: int, line: str, reason: str) -> None:
        """Note that a line cannot be read."""
        self.have_numbers = self.have_numbers or any(map(str.isdecimal, line))
        self.unread.append(f"line {number}: {one_line(line.strip(), MAX_SHOWN)!r} is not read: {reason}")

    @contextmanager
    def line(self, number: int, line: str) -> Iterator[None]:
        """Note this line if a ValueError is raised inside."""
        try:
            yield
        except ValueError as error:
            self.skip(number, line, str(error))

    def check_name(self, name: str) -> None:
        """Raise ValueError if a name is none: it is empty, or begins with the time that a log wrote before the line."""
        if not name:
            raise ValueError("the line has no name of a benchmark")
        if begins_with_time(name):
            raise ValueError(
                "the name begins with a time, which is cut only if every line of the log has one. Keep only the lines "
                "of the tool"
            )

    def finish(self) -> None:
        """Raise Unread if a line could not be read."""
        if self.unread:
            more = f"; and {counted(len(self.unread) - N_NAMED, 'more line')}" if len(self.unread) > N_NAMED else ""
            raise Unread("; ".join(self.unread[:N_NAMED]) + more)
