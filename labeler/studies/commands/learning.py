"""The command that learns a classifier from labels."""

from pathlib import Path

import click

from labeler.cli.common import json_option, now, out_option, remark, write_text
from labeler.cli.options import options_of
from labeler.errors import InputError
from labeler.files.formats.label_tables import LabelReading
from labeler.files.outputs import write_files
from labeler.studies.commands.opening import actor_option, open_study, say_if_interim, study_option
from labeler.studies.results import learning
from labeler.studies.results.learning import LearnOptions, Material, WrittenResult


def _material(
    study: Path | None,
    label_file: Path | None,
    reading: LabelReading,
    verdict_file: Path | None,
    options: LearnOptions,
    actor: str,
) -> Material:
    if (label_file is None) != (verdict_file is None):
        raise InputError("Give both --labels and --verdicts, or neither.")
    if label_file is not None and verdict_file is not None:
        return learning.material_of_files(label_file, verdict_file, reading, say=remark)
    with open_study(study) as db:
        say_if_interim(db)
        return learning.material_of_study(db, options, actor=actor, now=now())


@click.command(epilog="Example: labeler learn --study cache.study --out learning")
@study_option
@click.option("--labels", "label_file", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
              help="Labels to use instead of a study: a CSV file with the columns item, reviewer, label, "
                   "application.")  # fmt: skip
@options_of(LabelReading, "label_reading")
@click.option(
    "--verdicts", "verdict_file", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
    help="With --labels: file of verdicts and measures that `labeler verdicts --out` wrote.",
)  # fmt: skip
@options_of(LearnOptions)
@out_option(
    "DIR|MODEL.json",
    "Folder for the model, the report, its figures, and the scores behind the figures; or a file for the model alone.",
    required=False, folder=None,
)  # fmt: skip
@click.option("--force", "even_if_useless", is_flag=True,
              help="Write the model even if the features do not predict the labels.")  # fmt: skip
@actor_option
@json_option
def learn(
    study: Path | None,
    label_file: Path | None,
    label_reading: LabelReading,
    verdict_file: Path | None,
    options: LearnOptions,
    out: Path | None,
    even_if_useless: bool,
    actor: str,
    as_json: bool,
) -> None:
    """Learn a classifier from labels, and compare it with the existing classifiers.

    All results are for held-out applications. The labels must give a category to 60 items, at least 10 items per
    category, from 5 applications. To use the model, give it to `labeler verdicts --model` or `labeler check --model`.
    """
    folder = None
    if out is not None and (out.is_dir() or not out.suffix) and str(out) != "-":
        folder, out = out, None
    learned = learning.learn(_material(study, label_file, label_reading, verdict_file, options, actor), options)
    is_useful = even_if_useless or learned.useless is None
    account = learning.written_result(learned, with_model=is_useful)
    if out is not None and not is_useful:
        _write(account, folder, as_json=as_json, quiet=str(out) == "-")
        raise InputError(
            f"No model was written, because these features do not predict the labels: {learned.useless}. "
            "To write it anyway, pass --force."
        )
    if out is not None:
        write_text(out, learned.model.to_text())
    _write(account, folder, as_json=as_json, quiet=str(out) == "-")


def _write(account: WrittenResult, folder: Path | None, *, as_json: bool, quiet: bool = False) -> None:
    if folder is not None:
        for path in write_files(account.files, folder):
            remark(str(path))
    if not quiet:
        click.echo(account.json if as_json else account.text, nl=False)
