"""Write tables as CSV text, and write files into a folder."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from labeler.atomic_files import in_place
from labeler.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def as_csv(table: "pd.DataFrame") -> str:
    """Return a table as CSV text that is safe to open in a spreadsheet."""
    from labeler.formats import tables  # imported here because writing other files does not need pandas

    return tables.write(table)


def write_files(files: Mapping[str, str | bytes], out: Path) -> list[Path]:
    """Write files, given as relative path -> content, into a folder; return their paths.

    If writing fails, no incomplete file remains. Raises InputError if the folder cannot be created or written to.
    """
    with ExitStack() as all_in_place:
        for name, content in reversed(list(files.items())):  # renamed in the given order
            try:
                (out / name).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"{out / name} could not be written: {error.strerror}.") from None
            partial = all_in_place.enter_context(in_place(out / name))
            partial.write_bytes(content.encode() if isinstance(content, str) else content)
    return [out / name for name in files]
