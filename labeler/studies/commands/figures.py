"""The command that draws the figures of the paper from a study's measurements."""

from pathlib import Path

import click

from labeler.cli.common import json_option, now, out_option, remark, show_files
from labeler.files import outputs
from labeler.files.commands.methods import figure_formats_option
from labeler.files.outputs import write_files
from labeler.studies.commands.opening import OWNER, open_study, study_option
from labeler.studies.course import coordinating
from labeler.studies.verdicts import evidence


@click.command(epilog="Example: labeler figures --study cache.study --out figures --figure-format pdf")
@study_option
@out_option("DIR", "Output folder; it is created if needed.", folder=True)
@click.option("--application", "applications", multiple=True, metavar="NAME",
              help="Also draw the measures of this application's benchmarks (Figure 3). Repeatable.")  # fmt: skip
@click.option("--item", "items", multiple=True, metavar="NAME",
              help="Also draw the runs and evidence of this item (Figure 4). Repeatable.")  # fmt: skip
@figure_formats_option
@json_option
def figures(
    study: Path | None,
    out: Path,
    applications: tuple[str, ...],
    items: tuple[str, ...],
    forms: tuple[str, ...],
    as_json: bool,
) -> None:
    """Draw figures of the similarity measures: example pairs (Figure 1) and applications (Figure 2).

    --application adds the measures of each benchmark of an application; --item adds the runs of a benchmark. The
    command prints the names of the files that it wrote. It needs no browser.
    """
    with open_study(study) as db:
        charts = evidence.paper_figures(db, applications, items)
        reasons = {name: evidence.describe_reasons(db, name) for name in items}
        files = {f"{name}.{form}": outputs.as_file(chart, form) for name, chart in charts.items() for form in forms}
        with db.atomic():  # if the files cannot be written, nobody looked at them
            coordinating.log_look(db, "figures", actor=OWNER, now=now())
            written = write_files(files, out)
    show_files(written, as_json=as_json)
    for name, sentences in reasons.items():
        remark(f"{name}\n" + "\n".join(f"  {sentence}" for sentence in sentences))
