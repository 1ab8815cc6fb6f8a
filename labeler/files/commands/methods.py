"""Make the commands of the methods; what they share with other commands; and the command `variants`."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from analysis.text import counted
from labeler.cli.common import Function, json_option, remark, show, write_text
from labeler.cli.options import given_of
from labeler.files import exploring, gathering, outputs
from labeler.files.commands.formats import read_files, report_refused_files
from labeler.files.exploring import Gathered, MethodResult
from labeler.files.gathering import Advance, ReadOptions, Source
from labeler.files.methods import Method
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


PATHS = click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
# takes the method and the values of options, and yields the measurements to analyse
Measurements = Callable[..., AbstractContextManager[Gathered]]


@contextmanager
def measurements_of_files(method: Method, paths: Sequence[Path], read_options: ReadOptions) -> Iterator[Gathered]:
    """Yield the benchmarks of the files."""
    if not method.is_history:
        yield read_files(paths, read_options)
        return
    versions = gathering.folders_of_versions(paths)

    def gather_history(files: Sequence[Source], options: ReadOptions, *, advance: Advance) -> Gathered:
        return gathering.gather_history(files, versions, options, advance=advance)

    yield read_files(paths, read_options, gather_history)


def fail_on_option(function: Function) -> Function:
    """Add `--fail-on`: whether a change for the worse has an exit code of its own."""
    return click.option(
        "--fail-on", type=click.Choice(["worse"]), default=None,
        help="Exit with code 1 if a benchmark became worse, and with 3 if this is open.",
    )(function)  # fmt: skip


def unchanged(function: Function) -> Function:
    """Add no option."""
    return function


def command_of(method: Method, measurements: Measurements, measurement_options: Callable[[Any], Any]) -> click.Command:
    """Return the command of a method: its options are the fields of its options that have a help text.

    `measurement_options` adds the options whose values `measurements` takes after the method. If a file was refused,
    the exit code is 1, or 2 if 1 is a finding.
    """
    code = method.code()

    @click.command(method.name, help=method.help_text, epilog=method.example and f"Example: {method.example}")
    @measurement_options
    @given_of(code.options, "given")
    @(fail_on_option if code.exit_code else unchanged)
    @jobs_option
    @out_options
    def command(
        given: dict[str, Any],
        jobs: int,
        as_json: bool,
        html: Path | None,
        folder: Path | None,
        forms: Sequence[str],
        fail_on: str | None = None,
        **source: Any,
    ) -> None:
        for name, read in code.files.items():
            if name in given:
                given[name] = read(given[name])
        with measurements(method, **source) as gathered:
            report_refused_files(gathered)
            explored = _explore(method, gathered, given, jobs)
        put(explored, as_json=as_json, html=html, folder=folder, forms=forms)
        if gathered.refused:
            raise SystemExit(2 if code.exit_code else 1)
        if code.exit_code:
            raise SystemExit(code.exit_code(explored.result, is_gate=fail_on is not None))

    return command


def _explore(method: Method, gathered: Gathered, options: dict[str, Any], jobs: int) -> MethodResult:
    """Apply the method, in several processes if `jobs` is above 1, and show the progress."""
    with click.progressbar(length=len(gathered.benchmarks), label=method.title, file=sys.stderr) as bar:
        explore = partial(
            exploring.explore, method.name, gathered.benchmarks, **options,
            advance=lambda done, _total: bar.update(done - bar.pos),
        )  # fmt: skip
        if jobs == 1:
            return explore()
        from labeler.cli.workers import workers

        with workers(jobs) as pool:
            return explore(mapper=partial(pool.map, chunksize=8))


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
