"""How commands open a study: common options, the log of who looked at results, and sign-in links."""

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from labeler.cli.common import CommandFailed, Function, now, remark, short, show_json
from labeler.config import settings
from labeler.errors import LabelerError, NoStudy

if TYPE_CHECKING:
    from labeler.studies.store import Database

OWNER = "owner"  # commands act as the owner of the study file
COORDINATOR = "coordinator"  # default name of the first coordinator
WHY = "Reason, kept in the log and shown in reports."
DEFAULT_URL = "http://127.0.0.1:8501"
NOTHING_SAVED = "Nothing was saved, because --dry-run is given."
INTERIM = "Interim results: the study is not unblinded."


def study_option(function: Function) -> Function:
    """Add `--study`: the study file. The default is the environment variable LABELER_STUDY."""
    return click.option(
        "--study", type=click.Path(path_type=Path, dir_okay=False), default=lambda: settings().study,
        metavar="FILE", help="Study file [default: environment variable LABELER_STUDY].",
    )(function)  # fmt: skip


def reason_option(function: Function) -> Function:
    """Add `--reason`: the reason, which is written to the log."""
    return click.option("--reason", "why", required=True, metavar="TEXT", help=WHY)(function)


def actor_option(function: Function) -> Function:
    """Add `--actor`: the person who started the command on a page."""
    return click.option(
        "--actor", default=OWNER, hidden=True, help="Person to record in the log, if the command was started on a page."
    )(function)


def url_option(function: Function) -> Function:
    """Add `--url`: the address of the server."""
    return click.option(
        "--url", default=None, metavar="URL",
        help="Address of the server, with which sign-in links begin [default: the address of the study].",
    )(function)  # fmt: skip


def required_study(study: Path | None) -> Path:
    """Return the path of the study file; raise NoStudy if no file is given."""
    if study is None:
        raise NoStudy("No study given. Use --study FILE, or set LABELER_STUDY.")
    return study


@contextmanager
def open_study(study: Path | None, *, changed_schema: bool = False, dry_run: bool = False) -> Iterator["Database"]:
    """Open the study file and yield its database; close it when the command ends (see `open_database`).

    With `dry_run`, all changes are undone at the end.
    """
    from labeler.studies.store import open_database

    with open_database(required_study(study), changed_schema=changed_schema, long_texts=False) as db:
        try:
            with db.rehearsal() if dry_run else nullcontext():
                yield db
        except (LabelerError, OSError, MemoryError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if os.environ.get("LABELER_TRACEBACK"):
                raise
            raise CommandFailed(
                f"The command failed unexpectedly while it read {db.path} ({short(error)}). If another program "
                f"changed this file, labeler audit --study {shlex.quote(str(db.path))} shows what was changed. "
                "Otherwise, please report "
                "this; LABELER_TRACEBACK=1 shows where it failed."
            ) from error


def logged_if_written(db: "Database", out: Path) -> AbstractContextManager[None]:
    """Write and log an export together: if the file cannot be written, the log does not record the export.

    Standard output may wait for its reader, so the study is not locked meanwhile.
    """
    return nullcontext() if str(out) == "-" else db.atomic()


def say_if_interim(db: "Database") -> None:
    """If the study is not unblinded yet, print a reminder that pages would still hide these results."""
    from labeler.studies.course import coordinating
    from labeler.studies.model import State

    if coordinating.get_study(db).phase is not State.UNBLINDED:
        remark(INTERIM)


def log_look(study: Path | None, results: str, actor: str) -> None:
    """Log that a person sees these results, now that they were computed, and say if pages would still hide them."""
    from labeler.studies.course import coordinating

    with open_study(study) as db:
        coordinating.log_look(db, results, actor=actor, now=now())
        say_if_interim(db)


def link(url: str | None, db: "Database", secret: str) -> str:
    """Return the sign-in link of a study with this secret; `url` is the address of the server, if it is given."""
    from labeler.studies.course import coordinating
    from labeler.studies.people import identity

    start = url or coordinating.address(db) or DEFAULT_URL
    return f"{start.rstrip('/')}{identity.sign_in_path(db, secret)}"


def rows_of_links(links: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return a row for each person and sign-in link."""
    return [{"name": name, "link": secret_link} for name, secret_link in links]


def show_links(links: Sequence[tuple[str, str]], *, as_json: bool) -> None:
    """Print people and their sign-in links."""
    if as_json:
        show_json(rows_of_links(links))
        return
    for name, secret_link in links:
        click.echo(f"{name}: {secret_link}")
