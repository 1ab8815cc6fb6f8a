"""The command that lists the formats, and shared code to read files: options and progress."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from labeler.cli.common import columns_option, format_option, json_option, remark, show
from labeler.safe_text import one_line
from labeler.service.files import gathering
from labeler.service.files.gathering import Advance, Gathered, Source

Function = TypeVar("Function", bound=Callable[..., Any])

MAX_SHOWN = 80  # maximum characters of a name from a file, in a table


def reading_options(function: Function) -> Function:
    """Add the reading options, which are the same for every command that takes files."""
    for option in reversed([
        format_option,
        columns_option,
        click.option("--file-is", type=click.Choice(gathering.FILE_IS), default=None,
                     help="Content of each file. run: one run of its benchmarks. study: all runs of its benchmarks "
                     "[default: see `labeler formats`]."),
        click.option("--values-are", type=click.Choice(gathering.VALUES_ARE), default=None,
                     help="Meaning of the values. runs: each value is a separate run. iterations: if all runs have one "
                     "value, these values are the iterations of one run [default: see `labeler formats`]."),
        click.option("--unit", default="", help="Unit of values that have no unit in the file."),
        click.option("--better", type=click.Choice(gathering.BETTER), default=None,
                     help="Whether lower or higher values are better, if the file does not say so [default: lower "
                     "for times]."),
        click.option("--from-name", "pattern", default=None, metavar="PATTERN",
                     help="Pattern that reads conditions of the runs from file names, such as "
                     "{version}-{context}.json."),
    ]):  # fmt: skip
        function = option(function)
    return function


def read_options(arguments: dict[str, Any]) -> gathering.ReadOptions:
    """Remove the values of `reading_options` from a command's options and return them as reading options."""
    return gathering.read_options(
        arguments.pop("format_"), arguments.pop("columns"),
        **{name: arguments.pop(name) for name in ("file_is", "values_are", "unit", "better", "pattern")},
    )  # fmt: skip


@contextmanager
def reading(files: Sequence[Source], label: str) -> Iterator[Advance]:
    """Show a progress bar for the size of the files; yield the function that advances the bar after a file."""
    n_done, total = 0, sum(file.size for file in files)

    def shown(_item: Any) -> str:
        return f"{n_done} of {len(files)} files, {total / 1e6:.1f} MB"

    hidden = not sys.stderr.isatty()  # a log has no use for a progress bar
    with click.progressbar(length=total, label=label, file=sys.stderr, item_show_func=shown, hidden=hidden) as bar:

        def advance(source: Source) -> None:
            nonlocal n_done
            n_done += 1
            bar.update(source.size, source.name)

        yield advance


def read_files(
    paths: Sequence[Path], options: gathering.ReadOptions, gather: Callable[..., Gathered] = gathering.from_files
) -> Gathered:
    """Read result files and return their benchmarks; show a progress bar."""
    files = list(gathering.sources(paths))
    with reading(files, "Reading") as advance:
        return gather(files, options, advance=advance)


def say_of_files(gathered: Gathered) -> None:
    """Print all remarks about the files, and the reason for each refused file."""
    for text in gathered.remarks:
        remark(one_line(text, 1000))
    for error in gathered.refused:
        remark(f"Refused {error}")


@click.command(epilog="Example: labeler formats")
@json_option
def formats(as_json: bool) -> None:
    """List the formats that can be read, and the meaning of run, iteration and file in each format.

    If each file is one run, import the files of several runs together. Unless you give --format NAME, the format is
    detected from the content: the formats are tried in the order of this list. The last column shows the option that
    makes the tool save all values, because files with only averages are refused.
    """
    rows = gathering.formats_table()
    has_package = any(row["package"] for row in rows)
    shown_rows = [{key: row[key] for key in row if has_package or key != "package"} for row in rows]
    show(rows if as_json else shown_rows, as_json=as_json)
