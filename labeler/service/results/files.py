"""Writing what comes out of a study: tables as CSV text, and files into a folder."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from labeler.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def as_csv(table: "pd.DataFrame") -> str:
    """A table as CSV text, safe to open in a spreadsheet."""
    from labeler.formats import tables  # here, as some files need no table

    return tables.write(table)


def write_files(files: Mapping[str, str | bytes], out: Path) -> list[Path]:
    """Write files into a folder, by name or path inside it; one that cannot be written is not there half.

    Raises
    ------
    InputError
        If the folder cannot be made or written to.
    """
    partials = {name: (out / name).with_name(f".{Path(name).name}.partial") for name in files}
    try:
        for name, content in files.items():
            partials[name].parent.mkdir(parents=True, exist_ok=True)
            partials[name].write_bytes(content.encode() if isinstance(content, str) else content)
        for name, partial in partials.items():
            partial.replace(out / name)
    except OSError as error:
        for partial in partials.values():
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        raise InputError(f"The files could not be written to {out}: {error.strerror}.") from None
    return [out / name for name in files]
