"""Commands that export and import labels, merge copies, and anonymise or audit a study."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from labeler.cli.common import (
    OWNER,
    Renamed,
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
from labeler.model import counted
from labeler.service.handover import anonymising, merging
from labeler.service.labelling import auditing
from labeler.service.results import exchange


@click.command(epilog="Example: labeler labels --study cache.study --export labels.csv")
@study_option
@click.option("--export", "export", type=click.Path(path_type=Path), default=None, metavar="FILE",
              help="Write all answers to FILE, one row per answer; - is standard output.")  # fmt: skip
@click.option("--import", "import_file", type=click.Path(path_type=Path), default=None, metavar="FILE",
              help="Import labels of another tool from FILE. Columns: item, reviewer, label, and any column that "
                   "--export writes.")  # fmt: skip
@click.option("--layout", "form", cls=Renamed, old="--as",
              type=click.Choice(["long", "wide", "label-studio", "potato", "rater", "irrcac"]),
              default="long", show_default=True,
              help="Form of the file. long has all answers; the other forms have only first labels.")  # fmt: skip
@click.option("--force", is_flag=True,
              help="With --import: add reviewers whose names only look like names of other people.")  # fmt: skip
def labels(study: Path | None, export: Path | None, import_file: Path | None, form: str, force: bool) -> None:
    """Export labels as a table, or import labels from another tool.

    The forms are the tidy table (long), one column per reviewer (wide), tasks of Label Studio, lines of Potato, and the
    input of the R packages rater and irrCAC, which can only be exported.
    """
    if (export is None) == (import_file is None):
        raise InputError("Give either --export FILE or --import FILE, not both.")
    with opened(study) as db:
        if import_file is not None:
            done = exchange.import_label_file(db, import_file, form, look_alike=force, actor=OWNER, now=now())
            remark(f"{counted(done.n_new, 'label')} imported, {done.n_already_there} already in the study.")
            if done.new_reviewers:
                remark(f"New reviewers: {', '.join(done.new_reviewers)}.")
        if export is not None and form != exchange.LONG:
            exported = exchange.export_as(db, form, actor=OWNER, now=now())
            write_text(export, exported.text)
            remark(f"{counted(exported.n_labels, 'first label')} written. {exported.legend}".rstrip())
            say_if_interim(db)
        elif export is not None:
            text, n_answers = exchange.export_label_file(db, actor=OWNER, now=now())
            write_text(export, text)
            remark(f"{counted(n_answers, 'answer')} written.")
            say_if_interim(db)


@click.command(epilog="Example: labeler merge --study cache.study cache-of-ada.study --dry-run")
@click.argument("source", metavar="FROM", type=click.Path(path_type=Path, dir_okay=False))
@study_option
@click.option("--dry-run", is_flag=True, help="Show what the merge would add, without merging.")
@json_option
def merge(source: Path, study: Path | None, dry_run: bool, as_json: bool) -> None:
    """Add the labels from a copy of the study.

    FROM is a copy that was made with `labeler backup`; the merge does not change it. If the copy has a different answer
    of a reviewer to an item, this answer is listed and not merged, and the exit code is 1. If you merge the same copy
    again, nothing is added.
    """
    with opened(study) as db:
        merged = merging.merge(db, source, dry_run=dry_run, actor=OWNER, now=now())
    show([conflict.json_values() for conflict in merged.conflicts], as_json=as_json)
    done = "would be merged" if dry_run else "merged"
    remark(f"{counted(merged.n_new, 'answer')} {done}, {merged.n_already_there} already in the study.")
    if merged.conflicts:
        remark(f"Not merged: {counted(len(merged.conflicts), 'answer')} of {source}, listed above.")
        raise SystemExit(1)


@click.command(epilog="Example: labeler anonymise --study cache.study published.study --comments keep")
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@study_option
@click.option("--comments", type=click.Choice(["drop", "keep"]), default="drop", show_default=True,
              help="Keep or drop comments. In kept comments, known names and addresses are replaced, but other details "
                   "can identify people: read the comments before you publish them.")  # fmt: skip
@click.option("--names-of-benchmarks", "benchmarks", type=click.Choice(["keep", "drop"]), default="keep",
              show_default=True, help="Keep the names of items, applications and files, or replace them with "
                                      "numbers.")  # fmt: skip
def anonymise(out: Path, study: Path | None, comments: str, benchmarks: str) -> None:
    """Write an anonymised copy of a study.

    In the copy, reviewers are called R1, R2, ... and coordinators C1, C2, ..., in random order. Names in the log and in
    all texts are replaced. Sign-in links, e-mail addresses, and the seed and the secret of the plan are removed,
    because anyone who knows them and the names could identify reviewers. The numbers of the report stay the same,
    except those that rest on random draws: the draws follow the order of the names, so they can change slightly. The
    dates and times of answers stay too: anyone who knows when a person labelled can find this person in the copy.
    """
    with opened(study) as db:
        done = anonymising.anonymise(
            db, out, keep_comments=comments == "keep", keep_benchmarks=benchmarks == "keep", actor=OWNER, now=now()
        )
    outcome = "kept (check them before you publish)" if comments == "keep" else "left out"
    people = f"{counted(done.n_reviewers, 'reviewer')} and {counted(done.n_coordinators, 'other')} renamed"
    remark(f"Wrote {out}: {people}, {counted(done.n_comments, 'comment')} {outcome}.")
    remark(anonymising.TIMES_STAY)
    if done.reveals:
        remark(done.reveals)


@click.command(epilog="Example: labeler audit cache.study --against report/report.json")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--against", default=None, metavar="FILE|CHAIN",
              help="Compare the study with this report.json, backup, or receipt of a reviewer, or with the end of the "
                   "chain that was printed earlier.")  # fmt: skip
@json_option
def audit(file: Path, against: str | None, as_json: bool) -> None:
    """Detect changed, removed, inserted or rolled-back records.

    A problem is a change that was made outside this application. Exit code 0: no problems found. 1: at least one
    problem found. The hash chain covers answers, decisions, replies, the log, measurements and pictures. If someone has
    rebuilt the whole chain, only --against can detect this.
    """
    with opened(file, changed_schema=True) as db:
        result = auditing.audit(db, against)
    if as_json:
        click.echo(json.dumps(asdict(result), indent=1))
    else:
        click.echo("\n".join(result.describe()))
    raise SystemExit(1 if result.faults else 0)
