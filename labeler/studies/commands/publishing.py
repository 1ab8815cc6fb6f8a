"""The command that publishes a finished study as a data set."""

import shlex
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

import click

from analysis.text import counted
from labeler.atomic_files import in_place
from labeler.cli.common import dry_run_option, json_option, now, one_of, out_option, remark, show, show_json, write_text
from labeler.cli.options import options_of
from labeler.errors import InputError
from labeler.studies.commands.opening import actor_option, open_study, required_study, study_option
from labeler.studies.commands.report import drawing_process
from labeler.studies.handover.publishing import bundle
from labeler.studies.handover.publishing.publish_file import FILE_NAME, PublishFile, Venue, to_toml
from labeler.studies.results.reporting import ReportOptions, Resampling
from labeler.studies.store import Database


@click.command(epilog="Example: labeler publish --study cache.study --out cache-labels --for zenodo")
@study_option
@out_option("DIR", "Folder to create; the command also writes DIR.zip.", required=False, folder=True)
@click.option("--init", is_flag=True, help=f"Only write {FILE_NAME}, which you then fill in.")
@click.option("--publish-file", "answers_file", type=click.Path(path_type=Path, dir_okay=False), default=None,
              metavar="FILE",
              help=f"File with the facts that the study does not have [default: {FILE_NAME} in the study's "
                   "folder].")  # fmt: skip
@click.option("--for", "venue", type=click.Choice([venue.value for venue in Venue]), default=None,
              help="Refuse to publish if an answer that this venue requires is missing.")  # fmt: skip
@options_of(bundle.PublishOptions)
@click.option("--names-of-benchmarks", "benchmarks", type=click.Choice(["keep", "drop"]), default="keep",
              show_default=True, help="Keep the names of items and applications, or replace them with "
                                      "numbers.")  # fmt: skip
@click.option("--list-comments", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
              help="Only write all comments to a file; then enter yes or no in the column `publish`.")  # fmt: skip
@dry_run_option(f"Only list what {FILE_NAME} lacks; publish nothing.")
@click.option("--quick", is_flag=True, help="Skip all resampling: bootstrap and latent class.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Random seed for the resampling.")  # fmt: skip
@options_of(ReportOptions, "report", without=("show_rejected", "tables", "prevalences"))
@actor_option
@json_option
def publish(
    study: Path | None,
    out: Path | None,
    init: bool,
    answers_file: Path | None,
    venue: str | None,
    options: bundle.PublishOptions,
    benchmarks: str,
    list_comments: Path | None,
    dry_run: bool,
    quick: bool,
    seed: int,
    report: ReportOptions,
    actor: str,
    as_json: bool,
) -> None:
    """Publish a finished study as a data set.

    The command writes a folder and the same files as a zip file. Both are reproducible byte by byte. The data set has
    the labels, items, measurements and report, a codebook, a datasheet, and the metadata that archives and venues
    require. It contains no names of people. You write the facts that are not in the study, such as the licence, into a
    file. Create this file with --init.
    """
    file = answers_file or required_study(study).with_name(FILE_NAME)
    one_of(
        ("--out DIR", out is not None and not dry_run), ("--init", init),
        ("--list-comments FILE.csv", list_comments is not None), ("--dry-run", dry_run),
    )  # fmt: skip
    options = replace(
        options,
        venue=Venue(venue) if venue else None,
        keep_benchmarks=benchmarks == "keep",
        report=replace(report, resampling=Resampling.none(seed) if quick else Resampling(seed)),
    )
    with open_study(study) as db:
        if init:
            _write_publish_file(db, file, study, as_json=as_json)
        elif list_comments is not None:
            _write_comments(db, list_comments, as_json=as_json)
        elif dry_run:
            _check_publish_file(db, file, options, as_json=as_json)
        elif out is not None:
            with drawing_process(quick=quick) as executor:
                _publish(db, out, file, options, actor, executor, as_json=as_json)


def _write_publish_file(db: Database, file: Path, study: Path | None, *, as_json: bool) -> None:
    if file.exists():
        raise InputError(f"{file} exists already. Fill it in, or choose another file with --publish-file.")
    text = to_toml(bundle.new_answers(db, now().date()))
    with in_place(file) as partial:
        partial.write_text(text, encoding="utf-8")
    if as_json:
        show_json({"file": file})
    remark(
        f"Wrote {file}. Fill it in, then: labeler publish --study {shlex.quote(str(required_study(study)))} --out DIR"
    )


def _write_comments(db: Database, file: Path, *, as_json: bool) -> None:
    text, n_comments = bundle.comments_to_read(db)
    write_text(file, text)
    if as_json and str(file) != "-":
        show_json({"file": file, "n_comments": n_comments})
    remark(f"{counted(n_comments, 'comment')} written. Enter yes or no in the column publish.")


def _check_publish_file(db: Database, file: Path, options: bundle.PublishOptions, *, as_json: bool) -> None:
    missing = bundle.lacking(db, PublishFile.read(file), options)
    if as_json:
        show_json({"file": file, "missing": missing})
    if missing:
        lines = (f"  {place}: {why}" for place, why in missing.items())
        raise InputError("\n".join([f"{file} lacks:", *lines]))
    remark(f"{file} has everything that is required.")


def _publish(
    db: Database,
    out: Path,
    file: Path,
    options: bundle.PublishOptions,
    actor: str,
    executor: Executor | None,
    *,
    as_json: bool,
) -> None:
    done = bundle.publish(db, out, PublishFile.read(file), options, actor=actor, now=now(), executor=executor)
    rows = [{"file": each.path, "rows": each.rows, "bytes": each.size, "content": each.meaning}
            for each in done.files]  # fmt: skip
    show([{**row, "sha256": each.sha256} for row, each in zip(rows, done.files, strict=True)] if as_json
         else rows, as_json=as_json)  # fmt: skip
    for text in done.remarks:
        remark(text)
    remark(f"Wrote {done.folder} and {done.archive}, SHA-256 {done.sha256}.")
