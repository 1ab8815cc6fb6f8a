"""Write results: tables as CSV text, and files in a folder."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from labeler.errors import InputError
from labeler.whole_files import in_place

if TYPE_CHECKING:
    import pandas as pd


def as_csv(table: "pd.DataFrame") -> str:
    """Return a table as CSV text that is safe to open in a spreadsheet."""
    from labeler.formats import tables  # imported here because some files do not need pandas

    return tables.write(table)


def write_files(files: Mapping[str, str | bytes], out: Path) -> list[Path]:
    """Write files into a folder by relative path.

    If writing fails, no partly written file remains.

    Raises
    ------
    InputError
        If the folder cannot be created or written to.
    """
    with ExitStack() as all_in_place:
        for name, content in reversed(list(files.items())):  # the files get their final names in the given order
            try:
                (out / name).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"{out / name} could not be written: {error.strerror}.") from None
            partial = all_in_place.enter_context(in_place(out / name))
            partial.write_bytes(content.encode() if isinstance(content, str) else content)
    return [out / name for name in files]
