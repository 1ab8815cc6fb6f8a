"""Commands that list the items of a study, and create a new study from an existing study."""

import shlex
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from analysis.text import counted
from labeler.cli.common import file_to_write, json_option, now, out_option, remark, show
from labeler.errors import InputError
from labeler.studies.commands.opening import (
    OWNER,
    link,
    open_study,
    say_if_interim,
    show_links,
    study_option,
    url_option,
)
from labeler.studies.course import coordinating
from labeler.studies.handover.template import make_template
from labeler.studies.items import browsing
from labeler.studies.items.browsing import Filter
from labeler.studies.people import identity


def _pair(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    classifier, _, verdict = text.rpartition("=")
    if not classifier or not verdict:
        raise click.BadParameter(f"{text!r} names no verdict. Write CLASSIFIER=VERDICT, such as heuristic=dissimilar")
    return classifier, verdict


def filter_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that filter items; the command gets their values as one `Filter`."""

    @wraps(function)
    def command(
        *, text: str, application: tuple[str, ...], verdict: tuple[str, str] | None, disagree: bool,
        min_range: float | None, max_range: float | None, min_iterations: int | None, max_iterations: int | None,
        **arguments: Any,
    ) -> None:  # fmt: skip
        medians, iterations = _limits(min_range, max_range), _limits(min_iterations, max_iterations)
        function(filters=Filter(text, application, verdict, disagree, medians, iterations), **arguments)

    for option in reversed((
        click.option("--text", default="", help="Words in the name, benchmark or application of the item."),
        click.option("--application", multiple=True, metavar="NAME", help="Application of the item. Repeatable."),
        click.option("--verdict", callback=_pair, default=None, metavar="CLASSIFIER=VERDICT",
                     help="Verdict of a classifier, such as heuristic=dissimilar."),
        click.option("--disagree", is_flag=True, help="Show only items on which classifiers disagree."),
        click.option("--min-range", type=float, default=None, metavar="SHARE",
                     help="Minimum range of medians: largest minus smallest median of a run, as a share of the overall "
                          "median."),
        click.option("--max-range", type=float, default=None, metavar="SHARE",
                     help="Maximum range of medians."),
        click.option("--min-iterations", type=int, default=None, help="Minimum number of iterations in the shortest "
                                                                      "run."),
        click.option("--max-iterations", type=int, default=None, help="Maximum number of iterations in the shortest "
                                                                      "run."),
    )):  # fmt: skip
        command = option(command)
    return command


def _limits(low: float | None, high: float | None) -> tuple[float, float] | None:
    if low is None and high is None:
        return None
    return (-float("inf") if low is None else low, float("inf") if high is None else high)


@click.command(epilog="Example: labeler browse --study cache.study --verdict heuristic=dissimilar --max-range 0.05")
@study_option
@filter_options
@json_option
def browse(study: Path | None, filters: Filter, as_json: bool) -> None:
    """List the items with their lengths, range of medians and verdicts.

    The list has the items that meet all options. Each run has a median; the range is the distance between the smallest
    and the largest of these medians, as a share of their median. In JSON, its key is `spread`.
    """
    with open_study(study) as db:
        table = browsing.catalogue(db, verdicts=True)
        matches = browsing.filtered(table, filters, coordinating.get_study(db).question.names)
        coordinating.log_look(db, "items with verdicts", actor=OWNER, now=now())
        say_if_interim(db)
    rows = browsing.json_rows(matches)
    named = [{"range of medians" if name == "spread" else name: value for name, value in row.items()} for row in rows]
    show(rows if as_json else named, as_json=as_json)
    n = counted(len(table), "item")
    remark(f"{len(matches)} of {n}." if len(table) else "The study has no items yet. Import measurements first.")


@click.command(epilog="Example: labeler template --study cache.study --out next.study")
@study_option
@out_option("FILE", "Study file to create.")
@click.option("--name", default=None, metavar="NAME", help="Name of the new study [default: the file's name].")
@click.option("--coordinator", default=None, metavar="NAME",
              help="Name of the first coordinator of the new study [default: that of this study].")  # fmt: skip
@url_option
@json_option
def template(study: Path | None, out: Path, name: str | None, coordinator: str | None, url: str, as_json: bool) -> None:
    """Create a new study with the question, guide and people of an existing study.

    The new study has the same question, protocol, required agreement of the calibration round, and the people who take
    part, but no items, plan or labels. The command prints the sign-in link of its coordinator; `labeler reviewers
    link` prints new links for the others.
    """
    is_printed = str(out) == "-"
    if is_printed and (as_json or name is None):
        why = "--json and the study file cannot both go" if as_json else "Give --name NAME for a study that goes"
        raise InputError(f"{why} to standard output.")
    with open_study(study) as db, file_to_write(out) as path:
        coordinator = coordinator or identity.first_coordinator(db)
        secret = make_template(db, path, name=name or out.stem, coordinator=coordinator, actor=OWNER, now=now())
        with open_study(path) as new:
            address = link(url, new, secret)
    if is_printed:
        remark(f"{coordinator}: {address}")
        return
    remark(f"Created {out}. Next: labeler import --study {shlex.quote(str(out))} FOLDER")
    show_links([(coordinator, address)], as_json=as_json)
