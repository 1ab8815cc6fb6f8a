"""Commands that carry measurements, labels and reports in and out."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from labeler.cli.common import (
    OWNER,
    columns_option,
    format_option,
    json_option,
    named,
    now,
    opened,
    remark,
    say_if_interim,
    show,
    study_option,
    write_text,
)
from labeler.cli.formats import file_is_option, inert, reading, values_are_option
from labeler.config import bundled
from labeler.errors import InputError
from labeler.service.data import importing
from labeler.service.results import exchange, replicating, report_checking, reporting
from labeler.service.results.reporting import ReportOptions, Resampling


@click.command("import", epilog="Example: labeler import --study cache.study results/ more.csv")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@study_option
@format_option
@columns_option
@file_is_option
@values_are_option
@click.option("--as-new", is_flag=True, help="Keep a changed file under a known name as an item of its own.")
@click.option("--dry-run", is_flag=True, help="Only show what would come in; needs no study.")
@json_option
def import_(
    paths: tuple[Path, ...],
    study: Path | None,
    format_: str | None,
    columns: dict[str, str],
    file_is: str | None,
    values_are: str | None,
    as_new: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import benchmark results: files, folders, zip files, quoted patterns such as 'results/**/*.json', - for stdin.

    `labeler formats` lists what can be read; any file may be compressed (.gz, .zst). Where a file is a run, the files
    of several runs become one item a benchmark. Runs of several versions or altered methods become an item for each,
    NAME @ LEVEL. A bad file is refused with its reason and stops nothing; the exit code is then 1. A file that is
    there already adds nothing.
    """
    options = importing.read_options(format_, columns, file_is=file_is, values_are=values_are)
    files = list(importing.files_below(paths))
    with (
        nullcontext() if dry_run else opened(study) as db,
        reading(files, "Reading" if dry_run else "Importing") as advance,
    ):
        results = list(
            importing.import_files(db, files, options, as_new=as_new, advance=advance, actor=OWNER, now=now())
            if db
            else importing.look_into_files(files, options, as_new=as_new, advance=advance)
        )
    if dry_run or as_json:
        rows = [row for result in results for row in result.plain()]
        show(rows if as_json else list(map(_for_people, rows)), as_json=as_json)
    refused = [result for result in results if result.refused]
    for result in refused:
        remark(f"Refused {inert(result.file, 1000)}: {inert(result.refused, 1000)}")
    remark(importing.in_words(results) if not dry_run else f"{len(files)} files, {len(refused)} would be refused.")
    if refused:
        raise SystemExit(1)


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the dry run in a table: short, warnings as one text, refusals below it."""
    texts = {"warnings": inert("; ".join(row["warnings"]), 200), "refused": "yes" if row["refused"] else ""}
    return {name: inert(value) if isinstance(value, str) else value for name, value in row.items()} | texts


@click.command(epilog="Example: labeler labels --study cache.study --export labels.csv")
@study_option
@click.option("--export", "export", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
              help="Write every answer, one row each; - is standard output.")  # fmt: skip
@click.option("--import", "import_file", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
              help="Append labels made elsewhere: item, reviewer, label, and any exported column.")  # fmt: skip
def labels(study: Path | None, export: Path | None, import_file: Path | None) -> None:
    """Write the labels as a table, or append labels made elsewhere."""
    if (export is None) == (import_file is None):
        raise InputError("Give either --export FILE.csv or --import FILE.csv.")
    with opened(study) as db:
        if import_file is not None:
            done = exchange.import_label_file(db, import_file, actor=OWNER, now=now())
            remark(f"{done.n_new} labels appended, {done.n_already_there} there already.")
            if done.new_reviewers:
                remark(f"New reviewers: {', '.join(done.new_reviewers)}.")
        if export is not None:
            table = exchange.export_labels(db, actor=OWNER, now=now())
            write_text(export, reporting.as_csv(table))
            remark(f"{len(table)} answers written.")
            say_if_interim(db)


@click.command(epilog="Example: labeler report --study cache.study --out report")
@study_option
@click.option("--labels", "label_file", type=click.Path(path_type=Path), default=None, metavar="L.csv",
              help="Report on these labels instead of a study.")  # fmt: skip
@click.option("--verdicts", "verdict_file", type=click.Path(path_type=Path), default=None, metavar="V.csv",
              help="With --labels: item, classifier, verdict.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=None, metavar="DIR")
@click.option("--quick", is_flag=True, help="Without what is resampled: bootstrap, latent class, test of misfit.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of what is resampled.")
@click.option("--check", type=click.Path(path_type=Path, dir_okay=False), default=None, metavar="FILE.json",
              help="Recompute every number of this report instead, and say which differ.")  # fmt: skip
@click.option("--actor", default=OWNER, hidden=True, help="Who asked for it on a page, for the log.")
@json_option
def report(
    study: Path | None,
    label_file: Path | None,
    verdict_file: Path | None,
    out: Path | None,
    quick: bool,
    seed: int,
    check: Path | None,
    actor: str,
    as_json: bool,
) -> None:
    """Write the agreement report: HTML, Markdown, LaTeX, JSON, the labels as tables, and the figures.

    With --check nothing is written: every number of an earlier report is computed again with its own seed, and the exit
    code is 1 if one differs.
    """
    if verdict_file is not None and label_file is None:
        raise InputError("--verdicts goes with --labels.")
    if check is not None and out is None:
        _check(check, study, label_file, verdict_file, as_json)
        return
    if out is None or check is not None:
        raise InputError("Give either --out DIR or --check FILE.json.")
    resampling = Resampling.none(seed) if quick else Resampling(seed)
    options = ReportOptions(resampling=resampling)
    if label_file is not None:
        files = reporting.files_of_files(label_file, verdict_file, options=options)
    else:
        with opened(named(study)) as db:
            files = reporting.files_of_study(db, options, actor=actor, now=now())
            say_if_interim(db)
    for path in reporting.write_files(files, out):
        click.echo(path)


def _check(file: Path, study: Path | None, label_file: Path | None, verdict_file: Path | None, as_json: bool) -> None:
    if label_file is not None:
        found = report_checking.check_files(label_file, verdict_file, file)
    else:
        with opened(named(study)) as db:
            found = report_checking.check_study(db, file, actor=OWNER, now=now())
    rows = [{"place": d.place, "in the file": d.given, "recomputed": d.recomputed} for d in found]
    if not as_json:  # every digit: a table would round the difference away
        rows = [{name: value if isinstance(value, str) else repr(value) for name, value in row.items()} for row in rows]
    show(rows, as_json=as_json)
    if found:
        places = "1 place differs" if len(found) == 1 else f"{len(found)} places differ"
        raise InputError(f"{file}: {places} from what the data give now.")
    remark(f"Every number of {file} agrees.")


@click.command(epilog="Example: labeler replicate --out replication-report")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=None, metavar="DIR",
              help="Also write the report on the replication data.")  # fmt: skip
@json_option
def replicate(out: Path | None, as_json: bool) -> None:
    """Show every number of the paper's Tables 1 to 3, agreement and kappa beside ours.

    The data set has the published counts; what they do not fix is arbitrary, and the report says so.
    """
    replication = replicating.replication(bundled("data", "replication"))
    content = replication.content()
    compared = replicating.compare(content)
    show(
        [
            {"where": c.where, "what": c.what, "paper": c.paper, "ours": c.ours, "agrees": "yes" if c.agrees else "NO",
             "note": c.note}
            for c in compared
        ],
        as_json=as_json,
    )  # fmt: skip
    if out is not None:
        for path in reporting.write_files(replication.files(replicating.with_published(content)), out):
            remark(str(path))
    if not all(c.agrees for c in compared):
        raise InputError("Some numbers differ from the paper's.")
