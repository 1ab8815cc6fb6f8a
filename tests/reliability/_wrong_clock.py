"""Run `labeler` with a wrong clock: the offset in seconds is in a file, because the system's clock must not change.

    python -m tests.reliability._wrong_clock OFFSET_FILE serve ...

The `datetime` that the application imports from here on reads the file each time it is asked for the time. The
libraries are imported before and keep the right time.
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
    """The class `datetime` with a wrong `now`."""

    file: Path

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """Return the right time plus the seconds in the file."""
        return RIGHT.now(tz) + datetime.timedelta(seconds=float(cls.file.read_text()))


if __name__ == "__main__":
    Wrong.file = Path(sys.argv.pop(1))
    patch.object(datetime, "datetime", Wrong).start()
    from labeler.cli import main

    main()
