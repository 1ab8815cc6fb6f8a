"""Writing files completely or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from labeler.errors import InputError


@contextmanager
def in_place(out: Path) -> Iterator[Path]:
    """A temporary path for a file or folder: moved to `out` on success, removed on failure.

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
