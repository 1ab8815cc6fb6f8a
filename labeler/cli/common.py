"""Code that the commands share: common options, error messages and tables."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from labeler.config import settings
from labeler.errors import LabelerError, NoStudy
from labeler.safe_text import one_line
from labeler.whole_files import in_place

if TYPE_CHECKING:
    from labeler.store import Database

OWNER = "owner"  # commands act as the owner of the study file
COORDINATOR = "coordinator"  # default name of the first coordinator
FIGURE_FORMATS = ("svg", "png", "pdf")
WHY = "Reason, kept in the log and shown in reports."
DEFAULT_URL = "http://127.0.0.1:8501"
INTERIM = "Interim results: the study is not unblinded."

Function = TypeVar("Function", bound=Callable[..., Any])


class Commands(click.Group):
    """A group that lists its commands in the order in which they were added.

    If a command raises a `LabelerError`, the user sees one line instead of a traceback.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order in which they were added."""
        del ctx
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a `LabelerError` ends it with exit code 1."""
        try:
            return super().invoke(ctx)
        except LabelerError as error:
            raise click.ClickException(str(error)) from error


def study_option(function: Function) -> Function:
    """Add `--study`: the study file. The default is the environment variable LABELER_STUDY."""
    return click.option(
        "--study", type=click.Path(path_type=Path, dir_okay=False), default=lambda: settings().study,
        metavar="FILE", help="Study file [default: environment variable LABELER_STUDY].",
    )(function)  # fmt: skip


def json_option(function: Function) -> Function:
    """Add `--json`: print the table as JSON."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(function)


def _columns(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    if not all(ours and equals and theirs for ours, equals, theirs in pairs):
        raise click.BadParameter(f"{text!r} is incomplete. Write it as benchmark=NAME,run=NAME,value=NAME,...")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def format_option(function: Function) -> Function:
    """Add `--format`: the format of the files."""
    return click.option(
        "--format", "format_", default=None, help="Format of the files [default: detected from the content]."
    )(function)


def columns_option(function: Function) -> Function:
    """Add `--columns`: the names of the columns in a table."""
    return click.option(
        "--columns",
        callback=_columns,
        default=None,
        help="Names of the columns in a table: benchmark=NAME,run=NAME,value=NAME,...",
    )(function)


def figure_formats_option(function: Function) -> Function:
    """Add `--as`: the file formats of figures."""
    return click.option(
        "--as", "forms", type=click.Choice(FIGURE_FORMATS), multiple=True, default=["svg"], show_default=True,
        help="File format of the figures. Repeatable.",
    )(function)  # fmt: skip


def why_option(function: Function) -> Function:
    """Add `--why`: the reason, which is written to the log."""
    return click.option("--why", required=True, metavar="TEXT", help=WHY)(function)


def actor_option(function: Function) -> Function:
    """Add `--actor`: the person who started the command on a page."""
    return click.option(
        "--actor", default=OWNER, hidden=True, help="Person to record in the log, if the command was started on a page."
    )(function)


def url_option(function: Function) -> Function:
    """Add `--url`: the address of the browser application."""
    return click.option(
        "--url", default=DEFAULT_URL, show_default=True, help="Address of the browser application, used in links."
    )(function)


def named(study: Path | None) -> Path:
    """Return the path of the study file; raise NoStudy if no file is given."""
    if study is None:
        raise NoStudy("No study given. Use --study FILE, or set LABELER_STUDY.")
    return study


@contextmanager
def opened(study: Path | None) -> Iterator["Database"]:
    """Open the study file and yield its database; close it when the command ends."""
    from labeler.store import open_database  # imported here because help needs no study

    with open_database(named(study)) as db:
        yield db


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def remark(text: str) -> None:
    """Print a message for the user to standard error, separate from the data."""
    click.echo(text, err=True)


def say_if_interim(db: "Database") -> None:
    """If the study is not unblinded yet, print a reminder that pages would still hide these results."""
    from labeler.model import State
    from labeler.service.plan import coordinating

    if coordinating.get_study(db).phase is not State.UNBLINDED:
        remark(INTERIM)


def link(url: str, secret: str) -> str:
    """Return the sign-in link that contains this secret."""
    return f"{url.rstrip('/')}/join/{secret}"


def show(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rows as JSON or as an aligned table.

    In the table, numbers are right-aligned, and None is an empty cell.
    """
    if as_json:
        click.echo(json.dumps(list(rows), indent=1))  # ASCII, so that no name can control the terminal
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
    if isinstance(value, float):
        return f"{value:.4g}"
    return one_line(str(value))
