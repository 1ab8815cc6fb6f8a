"""What the commands share: the study option, errors in words, tables."""

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
COORDINATOR = "coordinator"  # what the first one is called unless another name is given
FIGURE_FORMATS = ("svg", "png", "pdf")
DEFAULT_URL = "http://127.0.0.1:8501"

Function = TypeVar("Function", bound=Callable[..., Any])


class Commands(click.Group):
    """A group that keeps the order of its commands and shows a `LabelerError` as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which they were added."""
        del ctx
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run; a `LabelerError` ends the command with exit code 1."""
        try:
            return super().invoke(ctx)
        except LabelerError as error:
            raise click.ClickException(str(error)) from error


def study_option(function: Function) -> Function:
    """`--study FILE`, or LABELER_STUDY."""
    return click.option(
        "--study", type=click.Path(path_type=Path, dir_okay=False), default=lambda: settings().study,
        metavar="FILE", help="The study file [or LABELER_STUDY].",
    )(function)  # fmt: skip


def json_option(function: Function) -> Function:
    """`--json`: the table as JSON."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(function)


def _columns(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    if not all(ours and equals and theirs for ours, equals, theirs in pairs):
        raise click.BadParameter("expected benchmark=NAME,run=NAME,value=NAME,...")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def format_option(function: Function) -> Function:
    """`--format`: the format of the files."""
    return click.option(
        "--format", "format_", default=None, help="Read the files as this format [default: detected from the content]."
    )(function)


def columns_option(function: Function) -> Function:
    """`--columns`: the meaning of a table's columns."""
    return click.option(
        "--columns", callback=_columns, default=None, help="For tables: benchmark=NAME,run=NAME,value=NAME,..."
    )(function)


def figure_formats_option(function: Function) -> Function:
    """`--as`: the file formats of figures."""
    return click.option(
        "--as", "forms", type=click.Choice(FIGURE_FORMATS), multiple=True, default=["svg"], show_default=True,
        help="File format of the figures. Repeatable.",
    )(function)  # fmt: skip


def why_option(function: Function) -> Function:
    """`--why`: the reason, kept in the log."""
    return click.option("--why", required=True, metavar="TEXT", help="The reason; kept in the log and in reports.")(
        function
    )


def actor_option(function: Function) -> Function:
    """`--actor`: the person who started the command on a page."""
    return click.option(
        "--actor", default=OWNER, hidden=True, help="The person who started this on a page, for the log."
    )(function)


def url_option(function: Function) -> Function:
    """`--url`: the address of the browser application."""
    return click.option(
        "--url", default=DEFAULT_URL, show_default=True, help="Address of the browser application, for the links."
    )(function)


def named(study: Path | None) -> Path:
    """The named study file; raises NoStudy if there is none."""
    if study is None:
        raise NoStudy("No study was named. Give --study FILE, or set LABELER_STUDY.")
    return study


@contextmanager
def opened(study: Path | None) -> Iterator["Database"]:
    """The named study, open for one command."""
    from labeler.store import open_database  # here, as the help of all commands needs no study

    with open_database(named(study)) as db:
        yield db


def now() -> datetime:
    """The time of a command."""
    return datetime.now(UTC)


def remark(text: str) -> None:
    """Print a remark for the person, which is not part of the data."""
    click.echo(text, err=True)


def say_if_interim(db: "Database") -> None:
    """Remark that commands show what pages hide until the study is unblinded."""
    from labeler.model import State
    from labeler.service.plan import coordinating

    if coordinating.get_study(db).phase is not State.UNBLINDED:
        remark("interim, not unblinded")


def link(url: str, secret: str) -> str:
    """A sign-in link."""
    return f"{url.rstrip('/')}/join/{secret}"


def show(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rows as JSON or as an aligned table, with numbers to the right and None as an empty cell."""
    if as_json:
        click.echo(json.dumps(list(rows), indent=1))  # ASCII: no terminal obeys a name
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
    """Write a complete file; `-` is standard output. Raises InputError if it cannot be written."""
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
