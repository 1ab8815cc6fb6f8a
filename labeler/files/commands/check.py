"""The command that checks result files, for example in a build."""

import gc
import os
import shlex
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from math import ceil
from pathlib import Path
from typing import Any

import click

from analysis.text import counted
from labeler.cli import streams
from labeler.cli.common import json_option, now, out_option, remark, show, write_text
from labeler.cli.options import Share, options_of
from labeler.errors import InputError, LabelerError
from labeler.files import checking, gathering
from labeler.files.checking import PerRun, Rules
from labeler.files.commands.formats import read_files, reading_options, report_refused_files
from labeler.files.gathering import ReadOptions

FAILED = 2
STOPPED = "Stopped. Nothing was checked."
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
        thresholds = gc.get_threshold()
        gc.set_threshold(50_000, 20, 20)  # many runs, and none in a cycle: looking for cycles took a tenth of the time
        try:
            return super().invoke(ctx)
        except LabelerError as error:
            raise CheckFailed(str(error)) from error
        except KeyboardInterrupt:
            raise CheckFailed(STOPPED) from None
        finally:
            gc.set_threshold(*thresholds)


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


def output_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that write the result; the command gets the file of each output format as `outputs`."""

    @wraps(function)
    def command(**arguments: Any) -> None:
        function(outputs={form: arguments.pop(f"to_{form}") for form in OUTPUTS}, **arguments)

    for form in reversed(OUTPUTS):
        command = click.option(
            f"--{form}", f"to_{form}", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", default=None,
            is_flag=False, flag_value=STDOUT,
            help=f"Write {OUTPUTS[form]} to FILE, or to standard output if FILE is - or missing.",
        )(command)  # fmt: skip
    return command


@click.command(cls=CheckCommand, epilog="Example: labeler check new*.json --against old*.json --max-slowdown 5%")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(AGAINST, multiple=True, type=click.Path(path_type=Path), metavar="PATH...",
              help="Result files or folders of the baseline.")  # fmt: skip
@click.option("--against-version", default=None, metavar="VERSION",
              help="Version in the files to use as the baseline, such as a commit in asv results. Every other version "
                   "is compared with it.")  # fmt: skip
@click.option(BETWEEN, multiple=True, metavar="NAME...",
              help="Compare parts of the files: versions, benchmarks, or words in the names of benchmarks, such as old "
                   "and new. The first NAME is the baseline.")  # fmt: skip
@click.option("--renamed", "names_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", default=None,
              help='TOML file with lines "former name" = "name", for benchmarks that have another name in '
                   "the baseline.")  # fmt: skip
@click.option("--confirm", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
              help="Result file or folder of a second sample of the candidate. It decides about the changes that the "
                   "first sample shows. Repeatable.")  # fmt: skip
@click.option("--confirm-against", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
              help="Second sample of the baseline, for --confirm [default: the baseline]. Repeatable.")  # fmt: skip
@options_of(Rules, "rules")
@click.option("--limits", "limits_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              default=None, help="TOML file of limits for all or some benchmarks, for example from `labeler noise`. "
                                 "Options on the command line take precedence.")  # fmt: skip
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
@options_of(PerRun, "per_run", without=("aggregate",))
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
    paths: tuple[Path, ...], against: tuple[Path, ...], against_version: str | None, confirm: tuple[Path, ...],
    confirm_against: tuple[Path, ...], rules: Rules, limits_file: Path | None, classifier: str | None,
    theta: float | None, cut: float | None, model: Path | None, per_run: PerRun, known_file: Path | None,
    annotations: str | None, verbose: bool, between: tuple[str, ...], names_file: Path | None,
    read_options: ReadOptions, outputs: dict[str, Path | None],
) -> None:  # fmt: skip
    """Check the runs in result files and compare them with a baseline.

    Exit code 0: no findings. 1: a benchmark became worse according to the given rules or, without a baseline, has
    dissimilar runs. 2: a usage error, or a file that cannot be read. 3: the check is inconclusive: a benchmark is
    missing, failed, or has only one run; the runs are too few or vary too much; or a change was found that the machine
    can explain, because the versions were measured in blocks or on different machines.
    """
    written = _outputs(
        outputs, (*paths, *against, *filter(None, [known_file, limits_file, names_file])), verbose=verbose
    )
    with _saying_why(rules, annotations, written, paths):
        checked, gathered = _checked(
            paths, against, against_version, confirm, confirm_against, rules, limits_file, classifier, theta, cut,
            model, per_run, known_file, between, names_file, read_options,
            explain=bool(annotations or written.keys() & {"verbose", "json", "markdown", "html"}),
        )  # fmt: skip
    if annotations:
        _annotate(annotations, checked, paths)
    for form, path in sorted(written.items(), key=lambda output: output[1] == STDOUT):  # files first
        _write(path, checking.FORMS[form](checked))
    for source in gathered:
        report_refused_files(source)
    if checked.outcome:
        raise SystemExit(checked.outcome)


@contextmanager
def _saying_why(
    rules: Rules, annotations: str | None, written: Mapping[str, Path], paths: Sequence[Path]
) -> Iterator[None]:
    """If an error ends the check, write the outputs all the same, which say what the error was."""
    try:
        yield
    except (LabelerError, KeyboardInterrupt) as error:
        reason = str(error) if isinstance(error, LabelerError) else STOPPED
        result = checking.not_done(reason, rules)
        if annotations:
            _annotate(annotations, result, paths)
        for form, path in written.items():
            if path != STDOUT or form in OUTPUTS:
                _write(path, checking.FORMS[form](result))
        raise


def _checked(
    paths: tuple[Path, ...], against: tuple[Path, ...], against_version: str | None, confirm: tuple[Path, ...],
    confirm_against: tuple[Path, ...], rules: Rules, limits_file: Path | None, classifier: str | None,
    theta: float | None, cut: float | None, model: Path | None, per_run: PerRun, known_file: Path | None,
    between: tuple[str, ...], names_file: Path | None, read_options: ReadOptions, *, explain: bool,
) -> tuple[checking.CheckResult, list[checking.Gathered]]:  # fmt: skip
    """Read the files and check them; return the result and what was read."""
    known = checking.read_known(known_file, today=now().date()) if known_file else ()
    # one number per run is enough, and what failed is compared, too
    options = replace(read_options, accept_means=True, accept_failures=True, with_shares=True)
    rules = checking.with_classifier(_with_limits(rules, limits_file), classifier, theta=theta, cut=cut, model=model)
    if rules.model is not None:
        per_run = replace(per_run, warmup=checking.warmup_of(rules.model, per_run.warmup))
    _require_one_baseline({"--against": against, "--against-version": against_version, BETWEEN: between})
    names = checking.read_names(names_file) if names_file else {}

    def read(files: Sequence[Path]) -> checking.Gathered:
        return checking.with_former_names(read_files(files, options, checking.gather), names)

    candidate = read(paths)
    baseline = read(against) if against else None
    settings: dict[str, Any] = {
        "per_run": per_run, "options": options, "known": known,
        "explain": explain,
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
    return checking.with_refused(checking.naming_warmup(checked, per_run, gathered), gathered), gathered


def _with_limits(rules: Rules, limits_file: Path | None) -> Rules:
    """Return the rules with the limits of a file; rules that are given take precedence over those of the file."""
    if limits_file is None:
        return rules
    of_all, limits = checking.read_limits(limits_file)
    more = {name: value for name, value in of_all.items() if getattr(rules, name) is None}
    return replace(rules, limits=limits, **more)


def _require_one_baseline(values: Mapping[str, object]) -> None:
    ways = [option for option, value in values.items() if value]
    if len(ways) > 1:
        raise InputError(f"Give only one of {' and '.join(ways)}: each of them names the baseline.")


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


def _annotate(kind: str, checked: checking.CheckResult, paths: Sequence[Path]) -> None:
    """Write the annotations to the place where the build server reads them, and for GitHub the summary of the job.

    GitHub reads standard error, and GitLab reads a file.
    """
    text = checking.ANNOTATIONS[kind](checked, [str(path) for path in paths])
    if kind == "gitlab":
        write_text(GITLAB_REPORT, text)
        return
    click.echo(text, err=True, nl=False)
    if os.environ.get(STEP_SUMMARY):
        with Path(os.environ[STEP_SUMMARY]).open("a", encoding="utf-8") as summary:
            summary.write(checking.FORMS["markdown"](checked))


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


@click.command(epilog="Example: labeler noise same-version*.json --out limits.toml")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--false-alarms", "rate", type=Share(), default=0.05, metavar="SHARE",
              help="Wanted share of checks with a false alarm [default: 5%].")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Significance level of the check.")  # fmt: skip
@options_of(PerRun, "per_run", without=("aggregate",))
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed.")
@out_option(
    "FILE.toml", "Also write the limits for runs by turns to this file, for `labeler check --limits`.", required=False,
)  # fmt: skip
@json_option
@reading_options
def noise(
    paths: tuple[Path, ...], rate: float, alpha: float, per_run: PerRun, seed: int, out: Path | None, as_json: bool,
    read_options: ReadOptions,
) -> None:  # fmt: skip
    """Find the limits that keep false alarms of a check rare, from runs of one version.

    `labeler check` compares the runs with each other, by turns and in blocks. The table shows the share of false
    alarms, the share of other checks in which a change is inconclusive, the smallest --min-change that keeps the wanted
    share of false alarms, and the change that so many runs of each version detect. If a file was refused, the exit code
    is 1.
    """
    gathered = read_files(paths, read_options, gathering.from_files)
    report_refused_files(gathered)
    result = checking.noise_of(gathered, per_run, alpha=alpha, rate=rate, seed=seed)
    rows = [
        {
            "runs": row.n_runs, "measured": row.design, "false alarms": row.false_alarms, "undecided": row.undecided,
            "min-change": row.min_change, "detectable": row.detectable,
        }
        for row in result.rows
    ]  # fmt: skip
    percents = [
        {name: f"{100 * cell:.1f} %" if isinstance(cell, float) else cell for name, cell in row.items()} for row in rows
    ]
    show(rows if as_json else percents, as_json=as_json)
    for sentence in checking.warmup_left_out(gathered, per_run):
        remark(sentence)
    if result.n_left_out:
        remark(f"Left out: {counted(result.n_left_out, 'benchmark')} with a number of runs other than {result.n_runs}.")
    if out is not None:
        by_turns = [(row.min_change, row.n_runs) for row in result.rows if row.design == "by turns"]
        limits = [(limit, n_runs) for limit, n_runs in by_turns if limit is not None]
        if not limits:
            raise InputError(
                "No limit keeps false alarms rare, because values change from 0. Leave out these benchmarks."
            )
        limit, n_runs = min(limits, key=lambda row: (round(row[0], 3), -row[1]))
        share = max(1.0, ceil(1000 * limit) / 10)
        write_text(
            out,
            f"# from `labeler noise`: at most {100 * rate:g} % false alarms if the versions are measured by turns\n"
            f'min_change = "{share:g}%"\nruns = {n_runs}\n',
        )
        remark(f"Limits written to {out}. Next: labeler check NEW --against OLD --limits {shlex.quote(str(out))}")
    if gathered.refused:
        raise SystemExit(1)
