"""The command that compares marks of people with each other and with detectors."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from labeler.cli.common import out_option, remark, write_text
from labeler.cli.options import options_of
from labeler.errors import InputError
from labeler.files import gathering, marked
from labeler.files.commands.formats import reading, reading_options, report_refused_files
from labeler.files.commands.methods import out_options, put, seed_option
from labeler.files.formats.label_tables import LabelReading
from labeler.files.gathering import ReadOptions
from labeler.files.marked import Counting, Options


@click.command(epilog="Example: labeler points annotations.json --series datasets/ --html points.html")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MARKS...")
@click.option("--series", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
              help="The series that were marked: JSON of TCPD, histories as for `labeler trend`, or runs. "
                   "Repeatable.")  # fmt: skip
@click.option("--results", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
              help="What detectors found elsewhere: results of TCPDBench (JSON), or a table with the columns item, "
                   "detector and mark. Repeatable.")  # fmt: skip
@click.option("--about", type=click.Choice(marked.ABOUT), default="changes", show_default=True,
              help="What was marked: every change of a series, or the start of its steady state.")  # fmt: skip
@options_of(Counting, "counting")
@options_of(LabelReading, "label_reading")
@click.option("--detector", "detectors", multiple=True, metavar="NAME",
              help="Detector to compare with people, or rule of `labeler steady` for starts. Repeatable [default: all "
                   "detectors; the rule quick].")  # fmt: skip
@click.option("--margin", type=click.FloatRange(min=0), default=5, show_default=True,
              help="Largest distance of two marks that count as the same, in points.")  # fmt: skip
@click.option("--matching", type=click.Choice(marked.MATCHINGS), default="published", show_default=True,
              help="How marks are matched: as published, or with as many pairs as possible.")  # fmt: skip
@click.option("--permutations", type=click.IntRange(min=0), default=2000, show_default=True,
              help="Number of times that all marks are put at random places.")  # fmt: skip
@click.option("--epsilon", type=click.FloatRange(0, 1, max_open=True), default=0.2, show_default=True,
              help="How much better a person may be: .2 for experts, .15 if trained, .1 in a crowd.")  # fmt: skip
@seed_option
@click.option("--convert", "form", type=click.Choice(list(marked.FORMS)), default=None,
              help="Only write the marks in this form: annotations of TCPD, the export of AnnotateChange, or a "
                   "table.")  # fmt: skip
@reading_options
@out_option("FILE", "File for the converted marks.", required=False)
@out_options
def points(
    paths: Sequence[Path],
    series: Sequence[Path],
    results: Sequence[Path],
    counting: Counting,
    label_reading: LabelReading,
    detectors: Sequence[str],
    form: str | None,
    read_options: ReadOptions,
    out: Path | None,
    as_json: bool,
    html: Path | None,
    folder: Path | None,
    forms: Sequence[str],
    **options: Any,
) -> None:
    """Compare marked changes of several people with each other and with detectors.

    MARKS are annotations of TCPD (JSON), the export of AnnotateChange (CSV), or tables with the columns item, reviewer
    and mark; an empty mark means no change. A mark is the first point of a new segment, counted from 0, unless
    --index-is and --counted-from say otherwise. The result says how far people agree, which marks are left to decide,
    how near each detector is to them, and whether a detector may replace a person.
    """
    people = marked.read_people(list(gathering.sources(paths)), counting, label_reading, say=remark)
    if form is not None:
        if series or results:
            raise InputError("--convert needs only the marks. Leave out --series and --results.")
        write_text(out or Path("-"), marked.convert(people, form))
        return
    if out is not None:
        raise InputError("--out needs --convert. The report goes to standard output, --html FILE or --figures DIR.")
    if not series:
        raise InputError("Give the series that were marked: --series PATH. Their lengths are needed.")
    found, remarks = marked.read_results(list(gathering.sources(results)), counting)
    files = list(gathering.sources(series))
    with reading(files, "Reading") as advance:
        values, gathered = marked.read_series(
            files,
            gathering.folders_of_versions(series),
            gathering.checked_options(read_options),
            options["about"],
            advance=advance,
        )
    report_refused_files(gathered)
    for text in remarks:
        remark(text)
    with click.progressbar(length=1, label="Comparing", file=sys.stderr) as bar:

        def shown(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        explored = marked.compare(people, values, found, Options(**options), detectors, advance=shown)
    put(explored, as_json=as_json, html=html, folder=folder, forms=forms)
    if gathered.refused:
        raise SystemExit(1)
