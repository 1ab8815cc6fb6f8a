"""The command that writes the agreement report, or checks the numbers of a written report."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from analysis.text import counted
from labeler.cli.common import json_option, now, one_of, out_option, remark, show_files, show_json
from labeler.cli.options import options_of
from labeler.cli.workers import workers
from labeler.errors import InputError
from labeler.files.formats.label_tables import LabelReading
from labeler.files.outputs import require_writable, write_files
from labeler.safe_text import one_line
from labeler.studies.commands.opening import (
    OWNER,
    actor_option,
    open_study,
    required_study,
    say_if_interim,
    study_option,
)
from labeler.studies.course import coordinating
from labeler.studies.results import reporting, written_reports
from labeler.studies.results.reporting import ReportOptions, Resampling


@click.command(epilog="Example: labeler report --study cache.study --out report")
@study_option
@click.option("--labels", "label_file", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
              help="File of labels to use instead of a study: a table with the columns item, reviewer, label, or "
                   "with one column per reviewer.")  # fmt: skip
@options_of(LabelReading, "label_reading")
@click.option("--verdicts", "verdict_file", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
              help="With --labels: file of verdicts (columns item, classifier, verdict).")  # fmt: skip
@click.option(
    "--question", default=None, metavar="FILE|NAME|TEXT",
    help="With --labels: the question whose categories the labels have [default: the categories in the file].",
)  # fmt: skip
@out_option("DIR", "Folder for the files of the report.", required=False, folder=True)
@click.option("--quick", is_flag=True, help="Skip all resampling: bootstrap and latent class.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed for the resampling."
)
@options_of(ReportOptions)
@click.option("--pdf", is_flag=True, help="Also write report.pdf, with Chromium or Chrome on this machine.")
@click.option("--paper-size", "paper", type=click.Choice(["a4", "letter"]), default="a4",
              show_default=True, help="Paper size of the PDF.")  # fmt: skip
@click.option("--verify", "check", type=click.Path(path_type=Path, dir_okay=False),
              default=None, metavar="FILE",
              help="Recompute the numbers of this report.json and show which differ; write nothing.")  # fmt: skip
@actor_option
@json_option
def report(
    study: Path | None,
    label_file: Path | None,
    label_reading: LabelReading,
    verdict_file: Path | None,
    question: str | None,
    out: Path | None,
    quick: bool,
    seed: int,
    options: ReportOptions,
    pdf: bool,
    paper: str,
    check: Path | None,
    actor: str,
    as_json: bool,
) -> None:
    """Write the agreement report.

    The folder gets the report as HTML, Markdown and JSON, its tables in LaTeX, its figures, and the labels as tables.
    With --verify, nothing is written. The command recomputes all numbers of a report.json with the same seed; the
    exit code is 1 if a number differs.
    """
    if verdict_file is not None and label_file is None:
        raise InputError("--verdicts needs --labels.")
    one_of(("--out DIR", out is not None), ("--verify FILE", check is not None))
    if check is not None:
        _check(check, study, label_file, label_reading, verdict_file, as_json)
        return
    assert out is not None  # noqa: S101 - checked by one_of
    options = replace(options, resampling=Resampling.none(seed) if quick else Resampling(seed))
    if label_file is not None:
        notes: list[str] = []  # shown after the progress bar
        with drawing_process(quick=quick) as executor, _progress() as progress:
            asked = None if question is None else coordinating.question_from(question)
            files = reporting.files_of_files(
                label_file,
                verdict_file,
                options=options,
                question=asked,
                reading=label_reading,
                say=notes.append,
                progress=progress,
                executor=executor,
            )
        for note in notes:
            remark(note)
    else:
        require_writable(out)
        with open_study(required_study(study)) as db:
            with drawing_process(quick=quick) as executor, _progress() as progress:
                files = reporting.files_of_study(
                    db, options, actor=actor, now=now(), progress=progress, executor=executor
                )
            say_if_interim(db)
    show_files(_written(files, out, paper if pdf else None), as_json=as_json)


def _written(files: Mapping[str, str | bytes], out: Path, paper: str | None) -> Iterator[Path]:
    """Write the files, and the PDF last, so that the other files are written even without a browser."""
    yield from write_files(files, out)
    if paper is not None:
        yield from write_files({"report.pdf": written_reports.to_pdf(str(files["report.html"]), paper=paper)}, out)


@contextmanager
def drawing_process(*, quick: bool) -> Iterator[Executor | None]:
    """Start the process that draws the figures; a quick report has no other work meanwhile."""
    if quick:
        yield None
        return
    with workers(1, next_step="Close other programs, and run the command again.") as pool:
        yield pool


@contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """Show a progress bar with the remaining time.

    Yield the function that updates the bar; its argument is the finished share.
    """
    with click.progressbar(length=100, label="Computing", file=sys.stderr) as bar:
        yield lambda share: bar.update(round(100 * share) - bar.pos)


def _check(
    file: Path,
    study: Path | None,
    label_file: Path | None,
    reading: LabelReading,
    verdict_file: Path | None,
    as_json: bool,
) -> None:
    if label_file is not None:
        differences = written_reports.check_files(label_file, verdict_file, file, reading)
    else:
        with open_study(required_study(study)) as db:
            differences = written_reports.check_study(db, file, actor=OWNER, now=now())
    if as_json:
        show_json([{"place": d.place, "in the file": d.reported, "recomputed": d.recomputed} for d in differences])
    else:
        for d in differences:
            click.echo(one_line(f"{d.place}: {_value(d.reported)} in the file, {_value(d.recomputed)} recomputed"))
    if differences:
        places = counted(len(differences), "place differs", "places differ")
        remark(f"{file}: {places} from the present data.")
        raise SystemExit(1)
    remark(f"All numbers in {file} match the recomputed values.")


def _value(value: Any) -> str:
    """Return a value with all digits, because a rounded value could hide the difference."""
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
