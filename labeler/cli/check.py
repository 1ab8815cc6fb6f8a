"""The command that checks result files, for example in a build."""

import os
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import click

from labeler.cli import streams
from labeler.cli.common import now, remark, write_text
from labeler.cli.formats import read_files, read_options, reading_options, say_of_files
from labeler.errors import InputError, LabelerError
from labeler.service.files import checking

FAILED = 2
AGAINST, BETWEEN = "--against", "--between"
N_WITHOUT_FILE = {AGAINST: 1, BETWEEN: 2}  # number of names that follow an option if no file comes before it
STDOUT = Path("-")
GITLAB_REPORT = Path("gl-code-quality-report.json")  # the name in GitLab's documentation
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"  # the variable that names the file of a job's summary
OUTPUTS = {
    "json": "all numbers as JSON", "markdown": "GitHub Markdown", "junit": "JUnit XML for a build server",
    "html": "an HTML page",
}  # fmt: skip


class CheckFailed(click.ClickException):
    """An error that means that the check could not be done."""

    exit_code = FAILED


class CheckCommand(click.Command):
    """A command whose options --against and --between take all names that follow them.

    If an error occurs, the exit code is 2.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat --against and --between before each of their names; refuse an empty name, which means this folder."""
        if "" in args:
            raise click.UsageError("One of the file names is empty. Remove it, or give the name of a file.", ctx)
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option) and not option.is_flag]
        with_value = {name for option in options for name in option.opts}
        return super().parse_args(ctx, spread_out(args, with_value, {f"--{form}" for form in OUTPUTS}))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. An error has exit code 2, because 1 means that the check has findings."""
        try:
            return super().invoke(ctx)
        except LabelerError as error:
            raise CheckFailed(str(error)) from error
        except KeyboardInterrupt:
            raise CheckFailed("Stopped. Nothing was checked.") from None


def spread_out(args: Iterable[str], with_value: Collection[str], may_have_value: Collection[str] = ()) -> list[str]:
    """Repeat --against and --between before each of their names.

    `FILE --against A B` becomes `FILE --against A --against B`. If no FILE comes first, only A is the baseline, and
    --between has two names. `with_value` lists the options that take a value; those in `may_have_value` also work
    without one.

    Examples
    --------
    >>> spread_out(["new.json", "--against", "a.json", "b.json", "--json"], {"--against"})
    ['new.json', '--against', 'a.json', '--against', 'b.json', '--json']
    >>> spread_out(["--against", "old.json", "new.json"], {"--against"})
    ['--against', 'old.json', 'new.json']
    >>> spread_out(["--between", "old", "new", "both.json"], {"--between"})
    ['--between', 'old', '--between', 'new', 'both.json']
    """
    written: list[str] = []
    has_file, names_of, n_left = False, "", 0
    rest = deque(args)
    while rest:
        arg = rest.popleft()
        if arg == "--":
            return [*written, arg, *rest]
        if arg.startswith("-") and arg != "-":
            written.append(arg)
            has_value = arg in with_value and rest
            if has_value and not (arg in may_have_value and rest[0].startswith("-") and rest[0] != "-"):
                written.append(rest.popleft())
            names_of = arg if arg in N_WITHOUT_FILE else ""
            n_left = len(rest) if has_file else N_WITHOUT_FILE.get(arg, 1) - 1
        elif names_of and n_left:
            written += [names_of, arg]
            n_left -= 1
        else:
            written.append(arg)
            has_file, names_of = True, ""
    return written


class Share(click.ParamType[float]):
    """A share, written as 2%, 2 % or 0.02."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the share as a number."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = inf
        if not 0 <= share < inf:
            self.fail(f"{value!r} is not a share. Write it as 2% or 0.02.", param, ctx)
        if share >= 1 and not text.endswith("%"):
            self.fail(f"{value!r} means {100 * share:g} %. If you mean {value} percent, write {value}%.", param, ctx)
        return share


def _kinds(_ctx: click.Context, _parameter: click.Parameter, text: str) -> tuple[str, ...]:
    kinds = tuple(filter(None, (kind.strip() for kind in text.split(","))))
    unknown = [kind for kind in kinds if kind not in checking.ALLOWED]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(checking.ALLOWED)}.")
    return kinds


def output_options(function: Any) -> Any:
    """Add the options that write the result of the check in one or more output formats."""
    for form in reversed(OUTPUTS):
        function = click.option(
            f"--{form}", f"to_{form}", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", default=None,
            is_flag=False, flag_value=STDOUT,
            help=f"Write {OUTPUTS[form]} to FILE, or to standard output if FILE is - or missing.",
        )(function)  # fmt: skip
    return function


@click.command(cls=CheckCommand, epilog="Example: labeler check new*.json --against old*.json --max-slowdown 5%")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(AGAINST, multiple=True, type=click.Path(path_type=Path), metavar="BASE...",
              help="Result files or folders of the baseline.")  # fmt: skip
@click.option("--against-version", default=None, metavar="VERSION",
              help="Version in FILE... to use as the baseline, such as a commit in asv results. Every other version is "
                   "compared with it.")  # fmt: skip
@click.option(BETWEEN, multiple=True, metavar="NAME...",
              help="Compare parts of FILE...: versions, benchmarks, or words in the names of benchmarks, such as old "
                   "and new. The first NAME is the baseline.")  # fmt: skip
@click.option("--renamed", "names_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", default=None,
              help='TOML file with lines "former name" = "name", for benchmarks that have another name in '
                   "the baseline.")  # fmt: skip
@click.option("--confirm", multiple=True, type=click.Path(path_type=Path), metavar="NEW",
              help="Result file or folder of a second sample of the candidate. It decides about the changes that the "
                   "first sample shows. Repeatable.")  # fmt: skip
@click.option("--confirm-against", multiple=True, type=click.Path(path_type=Path), metavar="BASE",
              help="Second sample of the baseline, for --confirm [default: the baseline]. Repeatable.")  # fmt: skip
@click.option("--min-change", type=Share(), default=None, metavar="SHARE",
              help="Smaller changes are not findings, such as 2% [default: 1% for times and rates; any change of "
                   "memory and allocations counts].")  # fmt: skip
@click.option("--max-slowdown", type=Share(), default=None, metavar="SHARE",
              help="Pass only if the interval of each change excludes a slowdown larger than this, such as "
                   "5%.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(checking.FAIL_ON), default="slower", show_default=True,
              help="Changes that are findings. slower: changes for the worse. change: all changes.")  # fmt: skip
@click.option("--limits", "limits_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              default=None, help="TOML file of limits for all or some benchmarks, for example from `labeler noise`. "
                                 "Options on the command line take precedence.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=2), default=None, metavar="N",
              help="Number of runs that each benchmark must have on both sides.")  # fmt: skip
@click.option(
    "--allow-blocks",
    is_flag=True,
    help="Decide about runs in blocks (all of one version, then all of the other) as if measured by turns.",
)
@click.option("--require-turns", is_flag=True, help="Pass only if the versions were measured by turns or in sessions.")
@click.option("--allow-different", default="", metavar="KINDS", callback=_kinds,
              help=f"Differences between the machines that do not matter, separated by commas: "
                   f"{', '.join(checking.ALLOWED)}.")  # fmt: skip
@click.option(
    "--require-same-machine",
    is_flag=True,
    help="Pass only if CPU, architecture, build type and runtime are the same, as far as the files say.",
)
@click.option("--allow-missing", is_flag=True, help="Pass even if benchmarks are missing or runs failed.")
@click.option("--allow-inconclusive", is_flag=True, help="Pass even if a comparison is inconclusive.")
@click.option("--test", type=click.Choice(checking.TESTS), default="combined", show_default=True,
              help="Statistical test for each benchmark.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Significance level for all benchmarks together.")  # fmt: skip
@click.option("--classifier", type=click.Choice(checking.CLASSIFIERS), default=None,
              help="Classifier that decides whether runs are similar; the spread is also shown "
              "[default: spread].")  # fmt: skip
@click.option("--theta", type=click.FloatRange(0, 1), default=None, metavar="X",
              help="Threshold of the heuristic. Selects the heuristic unless --classifier is given "
              "[default: 0.25].")  # fmt: skip
@click.option("--cut", type=click.FloatRange(0, 1), default=None, metavar="X",
              help="Height at which SAME cuts its tree of runs. Selects SAME as the classifier "
              "[default: 0.20].")  # fmt: skip
@click.option("--model", type=click.Path(path_type=Path), default=None, metavar="MODEL.json",
              help="Model file from `labeler learn` to use as the classifier.")  # fmt: skip
@click.option("--limit", type=Share(), default=0.10, metavar="SHARE",
              help="Spread above which runs are dissimilar [default: 10%].")  # fmt: skip
@click.option("--warmup", type=click.FloatRange(min=0), default=0, show_default=True,
              help="Warm-up to leave out of each run: a number of iterations, or a share below 1.")  # fmt: skip
@click.option("--ack", "known_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", default=None,
              help="File of known changes, each with a reason and an expiry date. Known changes are listed, but "
                   "are not findings.")  # fmt: skip
@click.option("--annotations", type=click.Choice(list(checking.ANNOTATIONS)), default=None,
              help=f"Report findings to the build server. github prints annotations and adds the check to the summary "
                   f"of the job; gitlab writes {GITLAB_REPORT}.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Print all benchmarks, the reasons and the next steps.")
@reading_options
@output_options
def check(
    paths: tuple[Path, ...], against: tuple[Path, ...], against_version: str | None, warmup: float,
    confirm: tuple[Path, ...], confirm_against: tuple[Path, ...], known_file: Path | None, limits_file: Path | None,
    annotations: str | None, verbose: bool, between: tuple[str, ...], names_file: Path | None, **arguments: Any,
) -> None:  # fmt: skip
    """Check the runs in result files and compare them with a baseline.

    Exit code 0: no findings. 1: a benchmark became worse according to the given rules or, without a baseline, has
    dissimilar runs. 2: a usage error, or a file that cannot be read. 3: the check is inconclusive: a benchmark is
    missing, failed, or has only one run; the runs are too few or vary too much; or a change was found that the machine
    can explain, because the versions were measured in blocks or on different machines.
    """
    outputs = _outputs(
        {form: arguments.pop(f"to_{form}") for form in OUTPUTS},
        (*paths, *against, *filter(None, [known_file, limits_file, names_file])),
        verbose=verbose,
    )
    known = checking.read_known(known_file, today=now().date()) if known_file else ()
    options = replace(read_options(arguments), accept_means=True)  # the comparison uses one number per run
    if limits_file is not None:
        of_all, arguments["limits"] = checking.read_limits(limits_file)
        arguments |= {name: value for name, value in of_all.items() if arguments.get(name) is None}
    rules = checking.rules(**arguments)
    if rules.model is not None:
        warmup = checking.warmup_of(rules.model, warmup)
    per_run = checking.per_run(warmup, "mean")
    sides = [("--against", against), ("--against-version", against_version), (BETWEEN, between)]
    ways = [option for option, value in sides if value]
    if len(ways) > 1:
        raise InputError(f"Give only one of {' and '.join(ways)}: each of them names the baseline.")
    names = checking.read_names(names_file) if names_file else {}

    def read(files: Sequence[Path]) -> checking.Gathered:
        return checking.with_former_names(read_files(files, options, checking.gather), names)

    candidate = read(paths)
    baseline = read(against) if against else None
    settings: dict[str, Any] = {
        "per_run": per_run, "options": options, "known": known,
        "explain": bool(annotations or outputs.keys() & {"verbose", "json", "markdown", "html"}),
    }  # fmt: skip
    if between or against_version is not None:
        candidates = (
            checking.separate(candidate, between) if between else checking.by_version(candidate, against_version or "")
        )
        checked = checking.check_candidates(candidates, rules, **settings)
    else:
        checked = checking.check_files(candidate, baseline, rules, **settings)
    gathered = [candidate, baseline] if baseline else [candidate]
    if confirm or confirm_against:
        if baseline is None or not confirm:
            raise InputError("--confirm needs a baseline (--against), and --confirm-against needs --confirm.")
        second = read(confirm)
        other = read(confirm_against) if confirm_against else baseline
        checked = checking.confirmed(checked, candidate, second, other, rules, per_run=per_run, known=known)
        gathered += [second, *([other] if confirm_against else [])]
    if annotations:
        _annotate(annotations, checking.ANNOTATIONS[annotations](checked, [str(path) for path in paths]))
        if annotations == "github" and os.environ.get(STEP_SUMMARY):
            with Path(os.environ[STEP_SUMMARY]).open("a", encoding="utf-8") as summary:
                summary.write(checking.FORMS["markdown"](checked))
    for form, path in sorted(outputs.items(), key=lambda output: output[1] == STDOUT):  # files first
        _write(path, checking.FORMS[form](checked))
    for source in gathered:
        say_of_files(source)
    if any(source.refused for source in gathered):
        remark("Some files were refused, so the exit code is 2, regardless of the other files.")
        raise SystemExit(FAILED)
    if checked.outcome:
        raise SystemExit(checked.outcome)


def _write(path: Path, text: str) -> None:
    """Write an output. If the reader of a pipe has ended, the check goes on, because its exit code is the result."""
    try:
        write_text(path, text)
        if path == STDOUT:
            streams.flush()
    except OSError as error:
        if not streams.is_gone(error):
            raise
        streams.silence("stdout")


def _annotate(kind: str, text: str) -> None:
    """Write the annotations to the place where the build server reads them.

    GitHub reads standard error, and GitLab reads a file.
    """
    if kind == "gitlab":
        write_text(GITLAB_REPORT, text)
    else:
        click.echo(text, err=True, nl=False)


def _outputs(targets: Mapping[str, Path | None], read: Sequence[Path], *, verbose: bool) -> dict[str, Path]:
    """Return the outputs to write.

    The text report is added if no other output goes to standard output. An output may not overwrite an input file.
    """
    outputs = {form: path for form, path in targets.items() if path is not None}
    printed = [f"--{form}" for form, path in outputs.items() if str(path) == str(STDOUT)]
    if len(printed) > 1:
        raise InputError(
            f"{' and '.join(printed)} cannot both be written to standard output. Give a file name for one of these "
            "options."
        )
    inputs = {path.resolve() for path in read}
    for form, path in outputs.items():
        if str(path) != str(STDOUT) and path.resolve() in inputs:
            raise InputError(f"--{form} {path}: this is an input file. Give the name of another file.")
    return outputs if printed else {"verbose" if verbose else "text": STDOUT, **outputs}
