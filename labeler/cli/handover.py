"""Commands that export and import labels, merge and anonymise copies, and audit a study."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from labeler.cli.common import (
    OWNER,
    json_option,
    now,
    opened,
    remark,
    say_if_interim,
    show,
    study_option,
    write_text,
)
from labeler.errors import InputError
from labeler.service.results import anonymising, auditing, exchange, merging


@click.command(epilog="Example: labeler labels --study cache.study --export labels.csv")
@study_option
@click.option("--export", "export", type=click.Path(path_type=Path), default=None, metavar="FILE",
              help="Write every answer, one row each; - is standard output.")  # fmt: skip
@click.option("--import", "import_file", type=click.Path(path_type=Path), default=None, metavar="FILE",
              help="Append labels made elsewhere: item, reviewer, label, and any exported column.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(["long", "wide", "label-studio", "potato", "rater", "irrcac"]),
              default="long", show_default=True,
              help="Form of the file. All but long have the first labels that agreement is computed from.")  # fmt: skip
def labels(study: Path | None, export: Path | None, import_file: Path | None, form: str) -> None:
    """Write the labels as a table, or append labels made elsewhere.

    The forms are the tidy table (long), one column per reviewer (wide), tasks of Label Studio, lines of Potato, and
    what the R packages rater and irrCAC take; these two are only written.
    """
    if (export is None) == (import_file is None):
        raise InputError("Give either --export FILE or --import FILE.")
    with opened(study) as db:
        if import_file is not None:
            done = exchange.import_label_file(db, import_file, form, actor=OWNER, now=now())
            remark(f"{done.n_new} labels appended, {done.n_already_there} there already.")
            if done.new_reviewers:
                remark(f"New reviewers: {', '.join(done.new_reviewers)}.")
        if export is not None and form != exchange.LONG:
            exported = exchange.export_as(db, form, actor=OWNER, now=now())
            write_text(export, exported.text)
            remark(f"{exported.n_labels} first labels written. {exported.legend}".rstrip())
            say_if_interim(db)
        elif export is not None:
            text, n_answers = exchange.export_label_file(db, actor=OWNER, now=now())
            write_text(export, text)
            remark(f"{n_answers} answers written.")
            say_if_interim(db)


@click.command(epilog="Example: labeler merge --study cache.study cache-of-ada.study --dry-run")
@click.argument("source", metavar="FROM", type=click.Path(path_type=Path, dir_okay=False))
@study_option
@click.option("--dry-run", is_flag=True, help="Only say what would be merged.")
@json_option
def merge(source: Path, study: Path | None, dry_run: bool, as_json: bool) -> None:
    """Append the labels given in a copy of the study, FROM, made by `labeler backup`.

    If both have different answers of a reviewer to an item, none of that reviewer's answers to it are merged: they are
    listed, and the exit code is 1. FROM is not changed. Merging it again adds nothing.
    """
    with opened(study) as db:
        merged = merging.merge(db, source, dry_run=dry_run, actor=OWNER, now=now())
    show([conflict.plain() for conflict in merged.conflicts], as_json=as_json)
    done = "would be merged" if dry_run else "merged"
    remark(f"{merged.n_new} answers {done}, {merged.n_already_there} there already.")
    if merged.conflicts:
        remark(f"{len(merged.conflicts)} answers of {source} were left out: see the list.")
        raise SystemExit(1)


@click.command(epilog="Example: labeler anonymise --study cache.study published.study --comments keep")
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@study_option
@click.option("--comments", type=click.Choice(["drop", "keep"]), default="drop", show_default=True,
              help="Full names and addresses in them are replaced; read them all the same.")  # fmt: skip
@click.option("--names-of-benchmarks", "benchmarks", type=click.Choice(["keep", "drop"]), default="keep",
              show_default=True, help="Keep the names of items, applications and files, or number them.")  # fmt: skip
def anonymise(out: Path, study: Path | None, comments: str, benchmarks: str) -> None:
    """Write an anonymised copy of a study: reviewers as R1, R2, ..., coordinators as C1, ..., in random order.

    Names in the log and in all texts are replaced. Sign-ins and e-mail addresses are removed, and also the seed of the
    plan, from which anyone with the names could identify reviewers. Every number of the report stays the same.
    """
    with opened(study) as db:
        done = anonymising.anonymise(
            db, out, keep_comments=comments == "keep", keep_benchmarks=benchmarks == "keep", actor=OWNER, now=now()
        )
    outcome = "kept: read them before you publish" if comments == "keep" else "left out"
    people = f"{done.n_reviewers} reviewers and {done.n_coordinators} others under new names"
    remark(f"Wrote {out}: {people}, {done.n_comments} comments {outcome}.")


@click.command(epilog="Example: labeler audit cache.study --against report/report.json")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--against", type=click.Path(path_type=Path), default=None, metavar="FILE",
              help="A report.json, a backup, or a reviewer's receipt.")  # fmt: skip
@json_option
def audit(file: Path, against: Path | None, as_json: bool) -> None:
    """Detect changed, removed, inserted or rolled-back records that this application did not write.

    Exit code 0: no fault. 1: at least one. The checked chain covers answers, decisions, replies, the log, measurements
    and pictures. A completely rebuilt chain is detected only with --against.
    """
    with opened(file) as db:
        result = auditing.audit(db, against)
    if as_json:
        click.echo(json.dumps(asdict(result), indent=1))
    else:
        click.echo("\n".join(result.in_words()))
    raise SystemExit(1 if result.faults else 0)
