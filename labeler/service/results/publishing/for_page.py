"""Publish from a page.

The answers are stored in the folder of the study, and a separate process writes the data set.
"""

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
    """Return the text of publish.toml in the folder of the study, or of a new file if there is none."""
    file = db.path.with_name(FILE_NAME)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return bundle.new_answers(db, today)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{FILE_NAME} in the folder of the study could not be read: {error}.") from None


def save_answers(db: Database, text: str) -> None:
    """Save publish.toml in the folder of the study.

    If the text is invalid, raise InputError and save nothing.
    """
    Answers.of_text(text)
    write_files({FILE_NAME: text}, db.path.parent)


def lacking(db: Database, text: str, options: bundle.Options) -> list[str]:
    """Return the missing answers in the text of a publish.toml file, as `bundle.lacking` does."""
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
    """Write the data set into the folder of the study and return the zip file.

    The answers stored in this folder are used.

    Parameters
    ----------
    db : Database
    name : str
        Name of the folder.
    options : Options
        `comments` is ignored; of `report`, only level, seed and whether numbers are resampled are used.
    comments : bytes, optional
        The table of comments with yes or no in each row.
    actor : str
    waiting : callable
        Like `background.output_of`.

    Raises
    ------
    InputError
        If the data set cannot be written.
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
        command += ["--level", str(options.report.level), "--seed", str(options.report.resampling.seed)]
        command += ["--for", options.venue.value] if options.venue else []
        if comments is not None:
            (file,) = write_files({"comments.csv": comments}, Path(folder))
            command += ["--comments", str(file)]
        background.output_of(command, waiting=waiting)
    return out.with_name(f"{out.name}.zip")
