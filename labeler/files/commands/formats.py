"""The command that lists the formats, and shared code to read files: options and progress."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from labeler.cli.common import json_option, remark, show
from labeler.cli.options import options_of
from labeler.files import gathering
from labeler.files.gathering import Advance, Gathered, ReadOptions, Source
from labeler.safe_text import one_line

reading_options = options_of(ReadOptions, "read_options")

MAX_SHOWN = 80  # maximum characters of a name from a file, in a table


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
    paths: Sequence[Path], options: ReadOptions, gather: Callable[..., Gathered] = gathering.from_files
) -> Gathered:
    """Read result files and return their benchmarks; show a progress bar."""
    options, files = replace(gathering.checked_options(options), accept_unread=True), list(gathering.sources(paths))
    with reading(files, "Reading") as advance:
        return gather(files, options, advance=advance)


def report_refused_files(gathered: Gathered) -> None:
    """Print all remarks about the files, and the reason for each refused file."""
    for text in gathered.remarks:
        remark(one_line(text, 1000))
    for error in gathered.refused:
        remark(f"Refused {one_line(str(error), 1000)}")


@click.command(epilog="Example: labeler formats")
@click.option("--directions", is_flag=True, help="List which values are better, lower or higher ones.")
@json_option
def formats(directions: bool, as_json: bool) -> None:
    """List the formats that can be read, and the meaning of run, iteration and file in each format.

    If each file is one run, import the files of several runs together. Unless you give --format NAME, the format is
    detected from the content: the formats are tried in the order of this list. The column keep shows the option that
    makes the tool save all values, because files with only averages are refused. The column failures shows what in a
    file says that a benchmark or an operation failed.
    """
    if directions:
        show([{"better": better or "unknown", "of": of} for better, of in gathering.BETTER_OF], as_json=as_json)
        return
    rows = gathering.formats_table()
    has_package = any(row["package"] for row in rows)
    shown_rows = [{key: row[key] for key in row if has_package or key != "package"} for row in rows]
    show(rows if as_json else shown_rows, as_json=as_json)
