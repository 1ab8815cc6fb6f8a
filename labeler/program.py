"""How the command `labeler` was started, so that printed commands can be copied into the same shell."""

import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

NAME = "labeler"


def program() -> str:
    """Return what to type to call `labeler`: its name if the shell finds it, otherwise the path that was used.

    In other programs, such as tests, it is the name.
    """
    started = Path(sys.argv[0])
    if started.name == "__main__.py" and started.parent.name == NAME:
        return f"{_path(Path(sys.executable))} -m {NAME}"
    if started.stem not in (NAME, "benchmark-run-labeler"):
        return NAME
    found = shutil.which(started.stem)
    is_found = found is not None and started.exists() and Path(found).samefile(started)
    return started.stem if is_found else _path(started)


def as_started(text: str, commands: Iterable[str]) -> str:
    """Return a text in which each call of one of these commands begins as this program was started."""
    how = program()
    if how == NAME or NAME not in text:
        return text
    names = "|".join(map(re.escape, commands))
    return re.sub(rf"(?<![\w./-]){NAME} (?=(?:{names})(?![\w-]))", lambda _: f"{how} ", text)


def _path(path: Path) -> str:
    """Return a path for a shell, relative to the current folder if it is inside."""
    absolute, here = path.absolute(), Path.cwd()
    return shlex.quote(str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute))
