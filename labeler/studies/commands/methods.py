"""The commands of the methods, which analyse result files or the measurements of a study."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import ParameterSource

from labeler.cli.common import Function
from labeler.errors import InputError
from labeler.files.commands.formats import reading_options
from labeler.files.commands.methods import PATHS, command_of, measurements_of_files
from labeler.files.exploring import Gathered
from labeler.files.gathering import ReadOptions
from labeler.files.methods import METHODS, Method
from labeler.studies.commands.opening import OWNER, log_look, open_study, study_option
from labeler.studies.items import measured


def __getattr__(name: str) -> click.Command:
    """Return the command of a method by its name."""
    if name not in METHODS:
        raise AttributeError(f"there is no method {name!r}")
    return command_of(METHODS[name], measurements_of_files_or_study, file_or_study_options)


def file_or_study_options(function: Function) -> Function:
    """Add the options for the measurements of files, and `--study`."""
    return PATHS(study_option(reading_options(function)))


@contextmanager
def measurements_of_files_or_study(
    method: Method, paths: Sequence[Path], study: Path | None, read_options: ReadOptions
) -> Iterator[Gathered]:
    """Yield the benchmarks of the files, or of the study if no files are given.

    The log of the study has an entry if the result was computed.
    """
    if paths:
        if click.get_current_context().get_parameter_source("study") is ParameterSource.COMMANDLINE:
            raise InputError("Files and --study FILE cannot be used together. Give only one of them.")
        with measurements_of_files(method, paths, read_options) as gathered:
            yield gathered
        return
    if read_options != ReadOptions():
        raise InputError("Options such as --format, --columns or --from-name need files. Give the files to read.")
    with open_study(study) as db:
        gathered = measured.from_study(db)
    yield gathered
    log_look(study, method.name, OWNER)
