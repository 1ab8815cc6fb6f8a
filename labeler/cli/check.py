"""The command that judges result files, as in a build."""

from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import click

from labeler.cli.common import json_option, remark
from labeler.cli.exploring import read_files, say_of_files
from labeler.cli.formats import read_options, reading_options
from labeler.errors import InputError, LabelerError
from labeler.service.data import exploring

FAILED = 2
AGAINST = "--against"


class CheckFailed(click.ClickException):
    """Nothing could be checked."""

    exit_code = FAILED


class Check(click.Command):
    """A command whose --against takes all names that follow it, and whose errors are exit code 2."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Write --against before each of the names that follow it; an empty name would be the folder one is in."""
        if "" in args:
            raise click.UsageError("One of the names is empty.", ctx)
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option) and not one.is_flag]
        return super().parse_args(ctx, spread_out(args, {name for one in options for name in one.opts}))

    def invoke(self, ctx: click.Context) -> Any:
        """Run; an error ends the command with exit code 2, for 1 means that something was found."""
        try:
            return super().invoke(ctx)
        except LabelerError as error:
            raise CheckFailed(str(error)) from error
        except KeyboardInterrupt:
            raise CheckFailed("Stopped; nothing was judged.") from None


def spread_out(args: Iterable[str], with_value: Collection[str]) -> list[str]:
    """`FILE --against A B` as `FILE --against A --against B`; with no file before it, only A is the baseline.

    Parameters
    ----------
    args : iterable of str
    with_value : collection of str
        The options that a value follows.

    Examples
    --------
    >>> spread_out(["new.json", "--against", "a.json", "b.json", "--json"], {"--against"})
    ['new.json', '--against', 'a.json', '--against', 'b.json', '--json']
    >>> spread_out(["--against", "old.json", "new.json"], {"--against"})
    ['--against', 'old.json', 'new.json']
    """
    written: list[str] = []
    has_file, of_baseline = False, False
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            return [*written, arg, *rest]
        if arg.startswith("-") and arg != "-":
            written += [arg, *islice(rest, int(arg in with_value))]
            of_baseline = has_file and arg == AGAINST
        elif of_baseline:
            written += [AGAINST, arg]
        else:
            written.append(arg)
            has_file = True
    return written


@click.command(
    cls=Check, epilog="Example: labeler check new.json --against old.json --markdown >> $GITHUB_STEP_SUMMARY"
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(AGAINST, multiple=True, type=click.Path(path_type=Path), metavar="BASE...",
              help="Result files or folders of the baseline.")  # fmt: skip
@click.option("--classifier", type=click.Choice(exploring.CLASSIFIERS), default="heuristic", show_default=True,
              help="Whose verdict counts. Runs under 50 iterations are judged by spread.")  # fmt: skip
@reading_options
@click.option("--warmup", type=click.FloatRange(min=0), default=0, show_default=True,
              help="Left out at the start of each run: iterations, or a share below 1.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(["change", "slower"]), default="change", show_default=True,
              help="With --against: what makes the exit code 1.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Level of the comparison, over all benchmarks.")  # fmt: skip
@json_option
@click.option("--markdown", is_flag=True, help="Print Markdown as GitHub shows it.")
def check(
    paths: tuple[Path, ...],
    against: tuple[Path, ...],
    classifier: str,
    warmup: float,
    fail_on: str,
    alpha: float,
    as_json: bool,
    markdown: bool,
    **given: Any,
) -> None:
    """Judge the runs in result files, and compare them with a baseline.

    Exit code 0: similar, or with --against nothing has changed. 1: a benchmark is dissimilar, or with --against one has
    changed (with --fail-on slower: has become slower). 2: an error, a file that was refused, or nothing could be
    judged. With a baseline the verdicts are information only.
    """
    if as_json and markdown:
        raise InputError("Give either --json or --markdown.")
    options = read_options(given)
    candidate = read_files(paths, options)
    baseline = read_files(against, options) if against else None
    found = exploring.checkup(
        candidate.benchmarks, baseline.benchmarks if baseline else None, classifier=classifier,
        only_slower=fail_on == "slower", sampling=exploring.sampling(warmup, "mean"), alpha=alpha,
    )  # fmt: skip
    written = exploring.as_json if as_json else exploring.as_markdown if markdown else exploring.as_text
    click.echo(written(found), nl=False)
    gathered = [candidate, baseline] if baseline else [candidate]
    for one in gathered:
        say_of_files(one)
    if any(one.refused for one in gathered):
        remark("Some files were refused, so the exit code is 2 whatever the others show.")
        raise SystemExit(FAILED)
    raise SystemExit(found.content["outcome"])
