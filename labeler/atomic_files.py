"""Write files completely or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from labeler.errors import InputError


@contextmanager
def in_place(out: Path) -> Iterator[Path]:
    """Yield a temporary path for a file or folder.

    It is moved to `out` on success and removed on failure. Raises InputError if the file or folder cannot be written.
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
