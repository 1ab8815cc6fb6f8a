"""What the commands of methods share: options, how a result is printed and written; and the command `variants`."""

from collections.abc import Sequence
from pathlib import Path

import click

from analysis.text import counted
from labeler.cli.common import Function, json_option, remark, show, write_text
from labeler.files import exploring, outputs
from labeler.files.exploring import MethodResult
from labeler.files.outputs import FIGURE_FORMATS, as_csv, write_files

seed_option = click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed.")
jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes."
)


def out_options(function: Function) -> Function:
    """Add the options that choose the output: JSON, an HTML page, or figures."""
    for option in reversed([
        json_option,
        click.option("--html", type=click.Path(path_type=Path, dir_okay=False), default=None, metavar="FILE",
                     help="Also write the report as an HTML page."),
        click.option("--figures", "folder", type=click.Path(path_type=Path, file_okay=False), default=None,
                     metavar="DIR", help="Also write the figures."),
        figure_formats_option,
    ]):  # fmt: skip
        function = option(function)
    return function


def put(explored: MethodResult, as_json: bool, html: Path | None, folder: Path | None, forms: Sequence[str]) -> None:
    """Print the result, and write the page and the figures."""
    click.echo(exploring.as_json(explored) if as_json else exploring.as_text(explored), nl=False)
    if html is not None:
        write_text(html, exploring.as_html(explored))
        remark(f"{html} written.")
    if folder is not None:
        figures = {
            f"{name}.{form}": outputs.as_file(chart, form) for name, chart in explored.charts.items() for form in forms
        }
        for path in write_files(figures, folder):
            remark(f"{path} written.")


def _levels(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, list[str]]:
    pairs = [text.partition("=") for text in texts]
    if not all(name and equals and levels for name, equals, levels in pairs):
        raise click.BadParameter("a factor has no levels. Write it as NAME=LEVEL,LEVEL,..., such as env=0,64,128")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise click.BadParameter("the same factor is given twice. Give all its levels in one --factor")
    return {name: levels.split(",") for name, _, levels in pairs}


@click.command(epilog="Example: labeler variants --factor version=old,new --factor env=0,64,128 --runs 5 > plan.csv")
@click.option("--factor", "factors", multiple=True, required=True, callback=_levels, metavar="NAME=LEVEL,LEVEL,...",
              help="Factor that varies between contexts, with its levels. Repeatable.")  # fmt: skip
@click.option(
    "--benchmark", "benchmarks", multiple=True, metavar="NAME", help="Benchmark to run in each context. Repeatable."
)
@click.option("--contexts", "n", type=click.IntRange(min=1), default=None, metavar="N",
              help="Number of combinations to draw at random [default: all].")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
              help="Number of runs in each context.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed.")
@json_option
def variants(
    factors: dict[str, list[str]], benchmarks: tuple[str, ...], n: int | None, runs: int, seed: int, as_json: bool
) -> None:
    """Plan measurements in many contexts.

    Prints a CSV table with one row per run, in random order. Measure the runs in this order, add a column with the
    measured values, and give the table to `labeler contexts`.
    """
    plan = exploring.variants(factors, benchmarks=benchmarks, n=n, runs=runs, seed=seed)
    if as_json:
        show(exploring.rows(plan), as_json=True)
    else:
        click.echo(as_csv(plan), nl=False)
    remark(f"{counted(len(plan), 'run')} to measure, in this order.")


def figure_formats_option(function: Function) -> Function:
    """Add `--figure-format`: the file formats of figures."""
    return click.option(
        "--figure-format", "forms", type=click.Choice(FIGURE_FORMATS), multiple=True,
        default=["svg"], show_default=True,
        help="File format of the figures. Repeatable.",
    )(function)  # fmt: skip
