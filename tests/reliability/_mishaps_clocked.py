"""`labeler` with a clock that is wrong by as many seconds as a file says, now: the system's own cannot be changed.

    python -m tests.reliability._mishaps_clocked OFFSET_FILE serve ...

What the application imports as `datetime` from here on reads the file at each look at the clock; the libraries are
imported before, and keep the right time.
"""

import datetime
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas  # noqa: F401 - before the clock is wrong
import streamlit.web.bootstrap  # noqa: F401 - the same

RIGHT = datetime.datetime


class _Kind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, RIGHT)


class Wrong(RIGHT, metaclass=_Kind):
    """The class `datetime` whose `now` is off."""

    file: Path

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """The right time and the seconds in the file."""
        return RIGHT.now(tz) + datetime.timedelta(seconds=float(cls.file.read_text()))


if __name__ == "__main__":
    Wrong.file = Path(sys.argv.pop(1))
    patch.object(datetime, "datetime", Wrong).start()
    from labeler.cli import main

    main()
