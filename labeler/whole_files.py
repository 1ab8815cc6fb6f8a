"""Files that are there whole or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from labeler.errors import InputError


@contextmanager
def in_place(out: Path) -> Iterator[Path]:
    """Where to write a file or folder: moved to `out` if nothing fails, and removed if something does.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    partial = out.with_name(f".{out.name}.partial")
    try:
        yield partial
        partial.replace(out)
    except OSError as error:
        raise InputError(f"{out} could not be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):
            partial.unlink()
