"""Commands that import measurements into a study, or convert them."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from analysis.text import counted
from labeler.cli.common import (
    dry_run_option,
    file_to_write,
    json_option,
    now,
    out_option,
    remark,
    show,
    show_json,
    shown_path,
)
from labeler.errors import InputError
from labeler.files import gathering
from labeler.files.commands.formats import MAX_SHOWN, reading, reading_options
from labeler.files.gathering import FORMS
from labeler.safe_text import one_line
from labeler.studies.commands.opening import OWNER, open_study, study_option
from labeler.studies.items import importing
from labeler.studies.items.importing import ReadOptions

MAX_LEFT_OUT = 20  # lines about benchmarks that are left out


@click.command("import", epilog="Example: labeler import --study cache.study results/ more.csv")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="PATH...")
@study_option
@reading_options
@click.option(
    "--as-new", is_flag=True, help="If a benchmark already has other measurements, import it as a separate item."
)
@click.option("--undo", is_flag=True, help="Take the last import back, while the study has no plan.")
@click.option("--before", multiple=True, metavar="PATH|VERSION",
              help="For items that compare two versions: a file or folder with the runs before the change; with "
                   "PATH... the name of a version.")  # fmt: skip
@click.option("--after", multiple=True, metavar="PATH|VERSION", help="The same for the runs after the change.")
@click.option("--runs", "n_runs", type=click.IntRange(min=1), default=None, metavar="N",
              help="For items that show one run: use only N random runs of each benchmark.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of --runs.")
@dry_run_option("Show what the import would do, without importing anything. Needs no study.")
@json_option
def import_(
    paths: tuple[Path, ...],
    study: Path | None,
    read_options: ReadOptions,
    as_new: bool,
    undo: bool,
    before: tuple[str, ...],
    after: tuple[str, ...],
    n_runs: int | None,
    seed: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import benchmark results.

    PATH is a file, a folder, a zip file, a quoted pattern such as 'results/**/*.json', or - for standard input.
    `labeler formats` lists the formats; any file may be compressed (.gz, .zst). If each file is one run, the files of
    several runs are joined into one item per benchmark. Each version and each altered method becomes a separate item
    with the name NAME @ LEVEL. If the items of the study compare two versions, give the files of each version with
    --before and --after, or one table with a column version and the names of two versions. If a file cannot be used,
    the command refuses it with a reason, imports the other files, and ends with exit code 1. If you import the same
    file again, nothing is added.
    """
    if undo == bool(paths or before or after):
        raise InputError("Give the files to import, or --undo without files.")
    if undo:
        take_back(study, dry_run=dry_run)
        return
    options = importing.checked_options(read_options)
    _check_sides(paths, before, after)
    older, newer = (before[0], after[0]) if paths and before else (None, None)
    selection = importing.RunSelection(runs_per_benchmark=n_runs, seed=seed, before=older, after=newer)
    files = list(importing.files_below(paths or map(Path, before)))
    others = [] if paths else list(importing.files_below(map(Path, after)))
    with (
        nullcontext() if dry_run else open_study(study) as db,
        reading([*files, *others], "Reading" if dry_run else "Importing") as advance,
    ):
        if db is None:
            kind = importing.kind_of_import(selection, others)
            found = importing.look_into_files(
                files, options, after=others, kind=kind, as_new=as_new, selection=selection, advance=advance
            )
        else:
            found = importing.import_files(
                db, files, options, after=others, as_new=as_new, selection=selection, advance=advance, actor=OWNER,
                now=now(),
            )  # fmt: skip
        results = list(found)
    refused = _show_results(results, dry_run=dry_run, as_json=as_json)
    checked = f"{counted(len(files) + len(others), 'file')}, {len(refused)} would be refused."
    remark(checked if dry_run else importing.describe(results))
    if refused:
        raise SystemExit(1)


def _show_results(
    results: Sequence[importing.FileResult], *, dry_run: bool, as_json: bool
) -> list[importing.FileResult]:
    """Print what became of each file, or only what was left out; return the refused files, with their reasons said."""
    if dry_run or as_json:
        rows = [row for result in results for row in result.json_values()]
        show(rows if as_json else list(map(_for_people, rows)), as_json=as_json)
    else:
        left_out = [sentence for result in results for sentence in result.left_out()]
        for sentence in left_out[:MAX_LEFT_OUT]:
            remark(one_line(sentence, 1000))
        if len(left_out) > MAX_LEFT_OUT:
            remark(f"{len(left_out) - MAX_LEFT_OUT} more are left out. To list all, add --dry-run.")
    refused = [result for result in results if result.refused]
    for result in refused:
        remark(f"Refused {one_line(result.file, 1000)}: {one_line(result.refused, 1000)}")
    return refused


def take_back(study: Path | None, *, dry_run: bool) -> None:
    """Take the last import of a study back, or only say what it is."""
    with open_study(study) as db:
        if dry_run:
            refused, last = importing.why_not_taken_back(db), importing.last_import(db)
            if refused or last is None:
                raise InputError(refused)
            remark(f"Would be taken back: {last.describe()}.")
        else:
            remark(f"Taken back: {importing.take_back(db, actor=OWNER, now=now()).describe()}.")


def _check_sides(paths: tuple[Path, ...], before: tuple[str, ...], after: tuple[str, ...]) -> None:
    if bool(before) != bool(after):
        raise click.UsageError("Give both --before and --after.")
    if paths and len(before) + len(after) > 2:
        raise click.UsageError("With PATH..., --before and --after are the names of two versions, each given once.")


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    """Return one table row of the dry run, with shortened texts and all warnings in one text."""
    texts = {"warnings": one_line("; ".join(row["warnings"]), 200), "refused": "yes" if row["refused"] else ""}
    return {
        name: one_line(value, MAX_SHOWN) if isinstance(value, str) else value for name, value in row.items()
    } | texts


@click.command(epilog="Example: labeler convert results/ --to parquet --out runs.parquet")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--to", "form", type=click.Choice(FORMS), required=True,
              help="Output format. parquet, csv: a table with one row per measurement. icpe: a folder.")  # fmt: skip
@out_option("FILE|DIR", "Output file; for icpe, a new folder.", folder=None)
@reading_options
@json_option
def convert(paths: tuple[Path, ...], form: str, out: Path, read_options: ReadOptions, as_json: bool) -> None:
    """Convert measurements to a single table or folder that pandas, R and DuckDB can read.

    Each row of the table is one measurement. The columns are benchmark, application, run, iteration, value, unit,
    better, version, context, order_type, order_position, altered, and factor:NAME for every other condition. A failed
    run has no value, and a reason in the column failure. Times are in seconds. If a file cannot be used, the command
    refuses it with a reason, converts the other files, and ends with exit code 1.
    """
    if str(out) == "-" and (as_json or form in gathering.FOLDERS):
        why = "--json and the table cannot both go to standard output" if as_json else f"{form} is a folder of files"
        raise InputError(f"{why}. Give a name with --out.")
    options = importing.checked_options(read_options)
    files = list(importing.files_below(paths))
    with reading(files, "Reading") as advance, file_to_write(out, is_text=form == "csv") as path:
        done = gathering.convert(files, form, path, options, advance=advance)
    if as_json:
        show_json({"out": out} | asdict(done))
    for text in done.remarks:
        remark(one_line(text, 1000))
    for name, reason in done.refused:
        remark(f"Refused {one_line(name, MAX_SHOWN)}: {one_line(reason, 1000)}")
    runs, values = counted(done.n_runs, "run"), counted(done.n_values, "measurement")
    remark(f"{one_line(shown_path(out))} written: {counted(done.n_benchmarks, 'benchmark')}, {runs}, {values}.")
    if done.n_failures:
        where = "Not in the output" if form in gathering.FOLDERS else "In the column failure"
        remark(f"{where}: {counted(done.n_failures, 'run')} without a measurement.")
    if done.refused:
        raise SystemExit(1)
