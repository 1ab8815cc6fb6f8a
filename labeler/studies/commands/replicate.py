"""The command that compares the tables and claims of the published paper with the public measurements."""

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import click
from click.core import ParameterSource

from labeler.cli.common import json_option, out_option, remark, show, show_files
from labeler.cli.options import options_of
from labeler.cli.workers import workers
from labeler.config import bundled
from labeler.errors import InputError
from labeler.files.commands.formats import read_files, reading_options, report_refused_files
from labeler.files.exploring import PerRun
from labeler.files.formats.label_tables import LabelReading
from labeler.files.gathering import ReadOptions, from_files
from labeler.files.outputs import require_writable, write_files
from labeler.safe_text import one_line
from labeler.studies.commands.opening import actor_option, log_look, open_study, study_option
from labeler.studies.items import measured
from labeler.studies.questions import SIMILAR
from labeler.studies.results import replicating

WITHOUT_DATA = (
    "These numbers come from labels that were built from the counts in the paper. They test how the report computes "
    "its numbers, and show nothing about the data. To test the data, give the folder of the measurements."
)


@click.command(epilog="Example: labeler replicate timeseries --out replication --classes classes.json")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]")
@study_option
@out_option("DIR", "Folder for the page, Markdown, JSON and figures.", required=False, folder=True)
@click.option("--labels", type=click.Path(path_type=Path, dir_okay=False), default=None, metavar="FILE.csv",
              help="File with the reviewers' labels. Columns: item, reviewer, label; or item and one column per "
                   "reviewer.")  # fmt: skip
@options_of(LabelReading, "label_reading")
@click.option("--one-is", type=click.Choice(SIMILAR.names), default="dissimilar",
              show_default=True, help="With --labels: meaning of 1, if labels are 0 and 1.")  # fmt: skip
@click.option("--classes", type=click.Path(path_type=Path, dir_okay=False), default=None, metavar="FILE",
              help="JSON or CSV file with the class of each benchmark by another method: inconsistent or steady "
                   "state.")  # fmt: skip
@options_of(PerRun, "per_run", without=("aggregate",))
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@reading_options
@actor_option
@json_option
def replicate(
    paths: tuple[Path, ...],
    study: Path | None,
    out: Path | None,
    labels: Path | None,
    label_reading: LabelReading,
    one_is: str,
    classes: Path | None,
    actor: str,
    as_json: bool,
    read_options: ReadOptions,
    per_run: PerRun,
    jobs: int,
) -> None:
    """Compare the claims of the published paper with its measurements.

    FOLDER has the time series of the public data set, or a part of them. Without FOLDER, the study's measurements are
    used. The command recomputes every claim. The result is reproduced, reproduced by construction, differs, or cannot
    be known; the reason is given. Without FOLDER and study, the command takes a few seconds and compares only the
    numbers of Tables 1 to 3, with labels that were built from the published counts. With --warmup, the result also has
    the share of dissimilar benchmarks without the warm-up; --warmup auto finds its end and the class of each benchmark.
    """
    if paths and click.get_current_context().get_parameter_source("study") is ParameterSource.COMMANDLINE:
        raise InputError("FOLDER and --study FILE cannot be used together. Give only one of them.")
    if not paths and study is None:
        if labels is not None or classes is not None or per_run.warmup:
            raise InputError("--labels, --classes and --warmup need FOLDER, the folder of the measurements.")
        _tables(out, as_json)
        return
    if out is not None:
        require_writable(out)
    with workers(jobs) if jobs > 1 else nullcontext() as pool:
        n_workers = jobs if pool else replicating.N_THREADS
        measuring = replicating.Measuring(warmup=per_run.warmup, pool=pool, n_workers=n_workers)
        if not paths and study is not None:
            with open_study(study) as db:
                gathered = measured.from_study(db)
            with click.progressbar(gathered.benchmarks, label="Reading", file=sys.stderr) as benchmarks:
                for benchmark in benchmarks:
                    measuring.add(benchmark)
        else:
            reading = partial(from_files, use=measuring.add)
            gathered = replicating.without_revisions(read_files(paths, read_options, reading))
        with click.progressbar(length=measuring.n, label="Measuring", file=sys.stderr) as bar:
            written = replicating.replicate(
                measuring,
                bundled("data", "replication"),
                labels=labels,
                reading=label_reading,
                one_is=one_is,
                classes=classes,
                revisions=replicating.revisions_beside(paths),
                advance=lambda done, _total: bar.update(done - bar.pos),
            )
    if not paths:
        log_look(study, "replication", actor)
    report_refused_files(gathered)
    for text in written.remarks:
        remark(one_line(text, 1000))
    if out is None:
        rows = [vars(claim) for claim in written.replication.claims]
        show(rows if as_json else [{**row, "why": ""} for row in rows], as_json=as_json)
        remark("To write the reasons, the figures and all numbers, use --out DIR.")
        return
    show_files(write_files(written.files(), out), as_json=as_json)


def _tables(out: Path | None, as_json: bool) -> None:
    """Print the numbers of the paper's Tables 1 to 3 beside those of the built labels."""
    replication = replicating.replication(bundled("data", "replication"))
    report = replication.report()
    rows = replicating.published(report)
    remark(WITHOUT_DATA)
    show([{**row, "agrees": "yes" if row["agrees"] else "NO"} for row in rows], as_json=as_json)
    if out is not None:
        for path in write_files(replication.files(replicating.with_published(report)), out):
            remark(str(path))
    if not all(row["agrees"] for row in rows):
        raise InputError("Some numbers differ from the paper. The column `agrees` marks these numbers with NO.")
