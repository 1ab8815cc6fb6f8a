"""Publish a study from a page.

The answers are stored as publish.toml in the folder of the study, and a separate process writes the data set.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labeler.errors import InputError
from labeler.service import background
from labeler.service.handover.publishing import bundle
from labeler.service.handover.publishing.publish_file import FILE_NAME, PublishFile
from labeler.service.items import folders
from labeler.service.outputs import write_files
from labeler.store import Database


def answers_text(db: Database, today: date) -> str:
    """Return the text of publish.toml in the folder of the study; if there is no such file, return a new text."""
    file = db.path.with_name(FILE_NAME)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return bundle.new_answers(db, today)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{FILE_NAME} in the folder of the study could not be read: {error}.") from None


def save_answers(db: Database, text: str) -> None:
    """Save a text as publish.toml in the folder of the study.

    If the text is invalid, InputError is raised and nothing is saved.
    """
    PublishFile.of_text(text)
    write_files({FILE_NAME: text}, db.path.parent)


def lacking(db: Database, text: str, options: bundle.PublishOptions) -> list[str]:
    """Return the answers that are missing in the text of a publish.toml file, as `bundle.lacking` does."""
    return bundle.lacking(db, PublishFile.of_text(text), options)


def publish(
    db: Database,
    name: str,
    options: bundle.PublishOptions,
    comments: bytes | None,
    *,
    actor: str,
    waiting: Callable[[float], object],
) -> Path:
    """Write the data set into the folder of the study, and return the path of the zip file.

    The answers in publish.toml in the same folder are used. Raises InputError if the data set cannot be written.

    Parameters
    ----------
    name : str
        Name of the new folder for the data set.
    options : Options
        The options. `comments` is ignored. From `report`, only the level, the seed and the choice whether to resample
        are used.
    comments : bytes, optional
        The table of comments, in which a person wrote yes or no in each row.
    waiting : callable
        See `background.output_of`.
    """
    out = folders.path_in_study_folder(db.path, name, "")
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
