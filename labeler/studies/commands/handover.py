"""Commands that export and import labels, and anonymise or audit a study."""

from dataclasses import asdict
from pathlib import Path

import click

from analysis.text import counted
from labeler.cli.common import dry_run_option, json_option, now, one_of, out_option, remark, show_json, write_text
from labeler.cli.options import options_of
from labeler.errors import InputError
from labeler.files.formats.label_reading import LabelReading
from labeler.studies.audit.audit import audit as audit_study
from labeler.studies.commands.opening import OWNER, logged_if_written, open_study, say_if_interim, study_option
from labeler.studies.handover import anonymising, exchange


@click.command(epilog="Example: labeler labels --study cache.study --out labels.csv")
@study_option
@out_option("FILE", "Write all answers to FILE, one row per answer; - is standard output.", required=False)
@click.option("--import", "import_file", type=click.Path(path_type=Path), default=None, metavar="FILE",
              help="Import labels of another tool from FILE. Columns: item, reviewer, label, and any column that "
                   "--out writes.")  # fmt: skip
@click.option("--layout", "form", default=None,
              type=click.Choice(["long", "wide", "label-studio", "potato", "rater", "irrcac"]),
              help="Form of the file to write. long has all answers; the other forms have only first labels. With "
                   "--import, wide says that each column is a reviewer.  [default: long; a file that is imported shows "
                   "its layout]")  # fmt: skip
@options_of(LabelReading, "label_reading")
@click.option("--force", is_flag=True,
              help="With --import: add reviewers whose names only look like names of other people.")  # fmt: skip
@dry_run_option("With --import: show what would be imported, without importing it.")
@json_option
def labels(
    study: Path | None,
    out: Path | None,
    import_file: Path | None,
    form: str | None,
    label_reading: LabelReading,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Export labels as a table, or import labels from another tool.

    The forms are the tidy table (long), one column per reviewer (wide), tasks of Label Studio, lines of Potato, and the
    input of the R packages irrCAC and rater; that of rater can only be exported.
    """
    one_of(("--out FILE", out is not None), ("--import FILE", import_file is not None))
    if import_file is not None:
        with open_study(study, dry_run=dry_run) as db:
            done = exchange.import_label_file(
                db, import_file, form, label_reading, look_alike=force, actor=OWNER, now=now(), say=remark
            )
        if as_json:
            show_json(asdict(done))
        outcome = "would be imported" if dry_run else "imported"
        remark(f"{counted(done.n_new, 'label')} {outcome}, {done.n_already_there} already in the study.")
        if done.new_reviewers:
            remark(f"New reviewers: {', '.join(done.new_reviewers)}.")
        return
    if dry_run:
        raise InputError("--dry-run needs --import FILE.")
    assert out is not None  # noqa: S101 - checked by one_of
    with open_study(study) as db, logged_if_written(db, out):
        if form in (None, exchange.LONG):
            text, n_rows = exchange.export_label_file(db, actor=OWNER, now=now())
            sentence = f"{counted(n_rows, 'answer')} written."
        else:
            exported = exchange.export_as(db, str(form), actor=OWNER, now=now())
            text, n_rows = exported.text, exported.n_labels
            sentence = f"{counted(n_rows, 'first label')} written. {exported.legend}".rstrip()
        say_if_interim(db)
        write_text(out, text)
    if as_json and str(out) != "-":
        show_json({"file": out, "rows": n_rows})
    remark(sentence)


@click.command(epilog="Example: labeler anonymise --study cache.study --out published.study --keep-comments")
@study_option
@out_option("FILE", "Study file to create.")
@click.option("--keep-comments", is_flag=True,
              help="Keep comments. Known names and addresses in them are replaced, but other details can identify "
                   "people: read the comments before you publish them.")  # fmt: skip
@click.option("--names-of-benchmarks", "benchmarks", type=click.Choice(["keep", "drop"]), default="keep",
              show_default=True, help="Keep the names of items, applications and files, or replace them with "
                                      "numbers.")  # fmt: skip
@dry_run_option("Show what the copy would contain, without writing it.")
@json_option
def anonymise(
    study: Path | None, out: Path, keep_comments: bool, benchmarks: str, dry_run: bool, as_json: bool
) -> None:
    """Write an anonymised copy of a study.

    In the copy, reviewers are called R1, R2, ... and coordinators C1, C2, ..., in random order. Names in the log and in
    all texts are replaced. Sign-in links, e-mail addresses, and the seed and the secret of the plan are removed,
    because anyone who knows them and the names could identify reviewers. The numbers of the report stay the same,
    except those that rest on random draws: the draws follow the order of the names, so they can change slightly. The
    dates and times of answers stay too: anyone who knows when a person labelled can find this person in the copy.
    """
    with open_study(study) as db:
        done = anonymising.anonymise(
            db, out, keep_comments=keep_comments, keep_benchmarks=benchmarks == "keep", dry_run=dry_run, actor=OWNER,
            now=now(),
        )  # fmt: skip
    if as_json:
        show_json({"file": out} | asdict(done))
    outcome = "kept (check them before you publish)" if keep_comments else "left out"
    people = f"{counted(done.n_reviewers, 'reviewer')} and {counted(done.n_coordinators, 'coordinator')} renamed"
    written = "Would write" if dry_run else "Wrote"
    remark(f"{written} {out}: {people}, {counted(done.n_comments, 'comment')} {outcome}.")
    remark(anonymising.TIMES_STAY)


@click.command(epilog="Example: labeler audit --study cache.study --against report/report.json")
@study_option
@click.option("--against", default=None, metavar="FILE|CHAIN",
              help="Compare the study with this report.json, backup, or receipt of a reviewer, or with the end of the "
                   "chain that was printed earlier.")  # fmt: skip
@click.option("--verdicts", is_flag=True, help="Also compute the verdicts again, and name those that differ.")
@json_option
def audit(study: Path | None, against: str | None, verdicts: bool, as_json: bool) -> None:
    """Detect changed, removed, inserted or rolled-back records.

    A fault is a change that was made outside this application. Exit code 0: no fault found. 1: at least one fault
    found. The hash chain and the log cover all tables except verdicts, for which there is --verdicts, and the progress
    of computations. If someone has rebuilt the whole chain, only --against can detect this.
    """
    with open_study(study, changed_schema=True) as db:
        result = audit_study(db, against, verdicts=verdicts)
    if as_json:
        show_json(asdict(result))
    else:
        click.echo("\n".join(result.describe()))
    raise SystemExit(1 if result.faults else 0)
