"""The fields that say how to read result files, for pages that take files."""

from dataclasses import dataclass

import streamlit as st

from labeler.errors import InputError
from labeler.files.formats import FORMATS
from labeler.files.formats.reading import COLUMNS
from labeler.studies.items import folders, importing
from labeler.studies.items.importing import ReadOptions

VALUES = {None: "as usual for this tool", "iterations": "an iteration of a run", "runs": "a run"}


@dataclass(frozen=True)
class ReadingFields:
    """What the fields contain."""

    format_name: str | None
    columns: str
    file_is: str | None
    values_are: str | None
    unit: str
    name: str
    pattern: str
    better: str

    def options(self) -> ReadOptions:
        """Return the options; raise InputError if a field has an invalid value."""
        return importing.read_options(
            self.format_name, pairs(self.columns), file_is=self.file_is, values_are=self.values_are,
            unit=self.unit.strip(), name=self.name.strip(), pattern=self.pattern.strip(),
            better=tuple(filter(None, (text.strip() for text in self.better.split(",")))),
        )  # fmt: skip


def reading_fields(key: str) -> ReadingFields:
    """Show a field for each option of reading files, and return what the fields contain."""
    left, right = st.columns(2)
    with left:
        file_is = st.selectbox(
            "One file contains",
            (None, *importing.FILE_IS),
            format_func=folders.describe_file_state,
            key=f"{key}-file-is",
        )  # fmt: skip
        name = st.text_input("Name of the benchmark", key=f"{key}-name", help="For files that do not name it.")
        pattern = st.text_input(
            "Pattern of file names", placeholder="{version}-{context}.json", key=f"pattern-{key}",
            help="Reads conditions of the runs from the names of files.",
        )  # fmt: skip
        unit = st.text_input(
            "Unit", placeholder="ms", key=f"{key}-unit", help="Of values that have no unit in the file."
        )
    with right:
        values_are = st.selectbox(
            "Each value is", list(VALUES), format_func=VALUES.__getitem__, key=f"{key}-values-are"
        )
        format_name = st.selectbox(
            "Format", (None, *FORMATS), key=f"{key}-format",
            format_func=lambda name: "detected from the content" if name is None else FORMATS[name].title,
        )  # fmt: skip
        columns = st.text_input(
            "Columns of a table",
            placeholder="run=process,value=time",
            key=f"{key}-columns",
            help=f"Written as {COLUMNS}",
        )
        better = st.text_input(
            "Better", placeholder="ops/s=higher", key=f"{key}-better",
            help="Write lower or higher, or for one metric METRIC=lower or METRIC=higher; several with commas.",
        )  # fmt: skip
    return ReadingFields(format_name, columns, file_is, values_are, unit, name, pattern, better)


def pairs(text: str) -> dict[str, str]:
    """Return the names of columns, written as OURS=THEIRS,OURS=THEIRS; raise InputError if a pair is incomplete."""
    found = [[part.strip() for part in pair.partition("=")] for pair in text.split(",") if pair.strip()]
    if not all(ours and equals and theirs for ours, equals, theirs in found):
        raise InputError(f"Columns of a table: {text!r} is incomplete. Write it as {COLUMNS}.")
    return {ours: theirs for ours, _, theirs in found}
