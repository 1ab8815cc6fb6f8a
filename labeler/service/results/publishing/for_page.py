"""Publishing from a page: answers kept beside the study, the data set made by a process of its own."""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labeler.errors import InputError
from labeler.service.data import folders
from labeler.service.results.files import write_files
from labeler.service.results.publishing import bundle
from labeler.service.results.publishing.answers import FILE_NAME, Answers
from labeler.service.verdicts import background
from labeler.store import Database


def answers_text(db: Database, today: date) -> str:
    """The text of publish.toml beside the study, or of a new one."""
    file = db.path.with_name(FILE_NAME)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return bundle.new_answers(db, today)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{FILE_NAME} beside the study could not be read: {error}.") from None


def save_answers(db: Database, text: str) -> None:
    """Keep the text of publish.toml beside the study; raises InputError if it cannot be used, and keeps nothing."""
    Answers.of_text(text)
    write_files({FILE_NAME: text}, db.path.parent)


def lacking(db: Database, text: str, options: bundle.Options) -> list[str]:
    """What still has to be answered, as `bundle.lacking`, of the text of publish.toml."""
    return bundle.lacking(db, Answers.of_text(text), options)


def publish(
    db: Database,
    name: str,
    options: bundle.Options,
    comments: bytes | None,
    *,
    actor: str,
    waiting: Callable[[float], object],
) -> Path:
    """Make the data set with the answers beside the study, in a folder of this name beside it; the zip file.

    Parameters
    ----------
    db : Database
    name : str
        Of the folder.
    options : Options
        `comments` is not looked at, and of `report` only whether anything is resampled.
    comments : bytes, optional
        The table of comments with yes or no in each row.
    actor : str
    waiting : callable
        As for `background.output_of`.

    Raises
    ------
    InputError
        If the data set cannot be made.
    """
    out = folders.beside(db.path, name, "")
    with TemporaryDirectory(prefix="labeler-") as folder:
        more: Mapping[str, Any] = {
            "--no-measurements": not options.measurements,
            "--unlicensed": options.unlicensed,
            "--quick": not options.report.resampling.n_bootstrap,
        }
        command = ["publish", str(out), "--study", str(db.path), "--actor", actor]
        command += [option for option, is_set in more.items() if is_set]
        command += ["--names-of-benchmarks", "keep" if options.keep_benchmarks else "drop"]
        command += ["--for", options.venue.value] if options.venue else []
        if comments is not None:
            (file,) = write_files({"comments.csv": comments}, Path(folder))
            command += ["--comments", str(file)]
        background.output_of(command, waiting=waiting)
    return out.with_name(f"{out.name}.zip")
