"""Code that the commands share: common options, error messages and tables."""

import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click

from analysis.text import joined
from labeler.atomic_files import in_place
from labeler.cli import streams
from labeler.errors import InputError, LabelerError
from labeler.program import as_started
from labeler.safe_text import multiline, one_line

ERROR, INTERRUPTED = 2, 130  # exit codes; 1 is a finding, or "done, but something was refused"
NUMBERS = {
    "auto|float range": "X|auto",
    "integer": "N",
    "integer range": "N",
    "float": "X",
    "float range": "X",
    "share": "SHARE",
}
Function = TypeVar("Function", bound=Callable[..., Any])


class CommandFailed(click.ClickException):
    """An error that ends a command."""

    exit_code = ERROR


class Commands(click.Group):
    """A group that lists its commands in the order in which they were added.

    Every error, expected or not, ends a command with one sentence and exit code 2. Exit code 1 is kept for a finding,
    and for "done, but something was refused".
    """

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; its numbers are called N or X in help, and its files must be regular files or folders.

        A device or pipe may never end.
        """
        command = super().get_command(ctx, cmd_name)
        for parameter in command.params if command else ():
            if type(parameter.type) is click.Path:
                parameter.type.__class__ = _RegularPath
            if parameter.metavar is None and isinstance(parameter, click.Option) and not parameter.is_flag:
                parameter.metavar = NUMBERS.get(parameter.type.name)
        return command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order in which they were added."""
        del ctx
        return list(self.commands)

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Read the options before the command; `--help` and `--version` print here."""
        try:
            return super().make_context(*arguments, **options)
        except OSError as error:
            if not streams.is_gone(error):
                raise
            streams.silence("stdout")
            raise click.exceptions.Exit(0) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error ends it with exit code 2, and a pipe whose reader has ended with exit code 0."""
        try:
            try:
                result = super().invoke(ctx)
            finally:
                streams.flush()
        except (click.exceptions.Exit, click.Abort):
            raise
        except click.ClickException as error:
            vars(error).update(exit_code=ERROR, message=multiline(_with_commands(error.message)))
            raise
        except KeyboardInterrupt:
            remark("Interrupted.")
            raise click.exceptions.Exit(INTERRUPTED) from None
        except Exception as error:
            if os.environ.get("LABELER_TRACEBACK") and not isinstance(error, LabelerError):
                raise
            if streams.is_gone(error):
                streams.silence("stdout")
                raise click.exceptions.Exit(0) from None
            if isinstance(error, OSError) and error.filename is None:
                streams.silence("stdout")  # what is left in its buffer cannot be written either
            raise CommandFailed(multiline(_with_commands(describe(error)))) from error
        return result

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the command line, also if standard output or standard error cannot be written to."""
        streams.prepare()
        try:
            return super().main(*arguments, **options)
        except OSError as error:
            with suppress(OSError):
                remark(f"Error: {describe(error)}")
            streams.silence("stdout", "stderr")
            raise SystemExit(0 if streams.is_gone(error) else ERROR) from None


class _RegularPath(click.Path):
    """The path of a file or folder that is neither a device, nor a pipe, nor a socket."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; refuse a path that reading could block on, or read from without end."""
        path = super().convert(value, param, ctx)
        try:
            mode = Path(os.fsdecode(path)).stat().st_mode
        except OSError as error:
            if error.errno == errno.ELOOP:
                self.fail(f"{one_line(str(path))} is a link that leads back to itself.", param, ctx)
        except ValueError:
            pass  # the command says what is wrong with the path
        else:
            if str(path) != "-" and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                what = "a pipe" if stat.S_ISFIFO(mode) else "a device or socket"
                self.fail(f"{one_line(str(path))} is {what}. Give a file, or - for standard input.", param, ctx)
        return path


def describe(error: Exception) -> str:
    """Return an error as a sentence that says what happened and what to do."""
    if isinstance(error, LabelerError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this input. Split the input, or use a computer with more memory."
    if isinstance(error, RecursionError):
        return "The input is nested too deep to be read."
    if isinstance(error, ModuleNotFoundError):
        return (
            f"This needs the package {error.name}, which is not installed. Install everything with: "
            "pip install benchmark-run-labeler"
        )
    if isinstance(error, OSError):
        if error.filename is None:
            return f"The output cannot be written, or a file cannot be read: {error.strerror or error}."
        return f"{error.filename}: {error.strerror}."
    return (
        f"The command failed unexpectedly ({short(error)}). If the input is right, please report this; "
        "LABELER_TRACEBACK=1 shows where it failed."
    )


def short(error: Exception) -> str:
    """Return the type and the message of an error, on one short line."""
    return one_line(f"{type(error).__name__}: {error}", 300).rstrip(". ")


def json_option(function: Function) -> Function:
    """Add `--json`: print the result as JSON."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(function)


def dry_run_option(help_text: str) -> Callable[[Function], Function]:
    """Add `--dry-run`: show what the command would do, without doing it."""
    return click.option("--dry-run", is_flag=True, help=help_text)


def out_option(
    metavar: str, help_text: str, *, required: bool = True, folder: bool | None = False
) -> Callable[[Function], Function]:
    """Add `--out`: the file or folder to write (`folder` None: either of them)."""
    path = click.Path(path_type=Path, dir_okay=folder is not False, file_okay=folder is not True)
    return click.option("--out", "-o", type=path, required=required, metavar=metavar, help=help_text)


def one_of(*options: tuple[str, bool]) -> None:
    """Raise InputError unless exactly one of these options is given; each comes with whether it is given."""
    given = [option for option, is_given in options if is_given]
    if len(given) > 1:
        raise InputError(f"{joined(given)} cannot be used together. Give only one of them.")
    if not given:
        raise InputError(f"Give {joined([option for option, _ in options], 'or')}.")


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def remark(text: str) -> None:
    """Print a message for the user to standard error, separate from the data."""
    click.echo(multiline(_with_commands(text)), err=True)


def _with_commands(text: str) -> str:
    """Return a text whose calls of commands can be copied into the shell that started this program."""
    context = click.get_current_context(silent=True)
    group = context.find_root().command if context else None
    return as_started(text, group.commands) if isinstance(group, click.Group) else text


def show_json(content: Any) -> None:
    """Print a result as JSON, in ASCII, so that no name can control the terminal; paths become texts."""
    click.echo(json.dumps(content, indent=1, default=str))


def show_files(paths: Iterable[Path], *, as_json: bool) -> None:
    """Print the names of the files that a command wrote, while it writes them; as JSON, at the end."""
    if as_json:
        show_json({"files": list(paths)})
        return
    for path in paths:
        click.echo(path)


def show(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rows as JSON or as an aligned table.

    In the table, numbers are right-aligned, and None is an empty cell.
    """
    if as_json:
        show_json(list(rows))
        return
    if not rows:
        return
    header = list(rows[0])
    cells = [header, *([_cell(row[name]) for name in header] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    to_the_right = [all(isinstance(row[name], (int, float, type(None))) for row in rows) for name in header]
    for line in cells:
        aligned = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, to_the_right, strict=True)
        )
        click.echo("  ".join(aligned).rstrip())


@contextmanager
def file_to_write(out: Path, *, is_text: bool = False) -> Iterator[Path]:
    """Yield the path of a file to create; if `out` is `-`, the file goes to standard output at the end.

    Raises InputError if standard output is a terminal and the file is not text.
    """
    if str(out) != "-":
        yield out
        return
    if sys.stdout.isatty() and not is_text:
        raise InputError("This file is not text. Send standard output to a file or a program, or give --out FILE.")
    with TemporaryDirectory(prefix="labeler-") as folder:
        path = Path(folder) / shown_path(out)
        yield path
        with path.open("rb") as file:
            while part := file.read(2**20):
                click.echo(part, nl=False)
        streams.flush()


def shown_path(path: Path) -> str:
    """Return a path as messages show it; `-` is standard output."""
    return "standard output" if str(path) == "-" else str(path)


def write_text(path: Path, text: str) -> None:
    """Write a text to a file, or to standard output if the path is `-`; raise InputError if writing fails."""
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    with in_place(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return one_line(str(value))
