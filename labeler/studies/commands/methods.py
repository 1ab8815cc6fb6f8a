"""The commands spread, order, trust, contexts, steady and trend, which analyse result files or a study.

The command variants plans measurements for `contexts`.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from labeler.cli.options import given_of, options_of
from labeler.errors import InputError
from labeler.files import exploring, gathering
from labeler.files.commands.formats import read_files, reading_options, report_refused_files
from labeler.files.commands.methods import jobs_option, out_options, put, seed_option
from labeler.files.exploring import Gathered, Method, MethodResult, PerRun
from labeler.files.gathering import Advance, ReadOptions, Source
from labeler.studies.commands.opening import OWNER, log_look, open_study, study_option
from labeler.studies.items import measured

Function = TypeVar("Function", bound=Callable[..., Any])

PATHS = click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")


def measurement_options(function: Function) -> Function:
    """Add the options that choose the measurements."""
    return PATHS(study_option(reading_options(function)))


def in_options(function: Function) -> Function:
    """Add the options that choose the measurements and the statistic that represents each run."""
    for option in reversed([
        measurement_options,
        options_of(PerRun, "per_run"),
        click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05,
                     show_default=True, help="Significance level of the tests."),
        seed_option,
    ]):  # fmt: skip
        function = option(function)
    return function


@click.command(epilog="Example: labeler spread results/ --html spread.html")
@in_options
@click.option("--subset-runs", "per", type=click.IntRange(min=2), default=None, metavar="N",
              help="Average maxSpread across all subsets of N runs, to compare it with suites that have N "
                   "runs.")  # fmt: skip
@click.option("--baseline", default=None, metavar="NAME", help="Value in the column `altered` to use as the baseline.")
@click.option(
    "--altered-slowdown",
    "v",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    metavar="SHARE",
    help="How much slower the altered methods are (v in the paper). A benchmark detects an altered method whose times "
    "change by at least half of this [default: computed from the spreads].",
)
@click.option("--without", multiple=True, metavar="BENCHMARK", help="Benchmark to leave out of the score. Repeatable.")
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), default=None, metavar="MINUTES",
              help="Also show which part of the suite fits into this time, and which changes this part would "
                   "detect.")  # fmt: skip
@out_options
@click.pass_context
def spread(context: click.Context, /, **arguments: Any) -> None:
    """Measure how far apart the runs of each benchmark are, and which slowdown the suite would detect.

    PATHs are result files or folders; without any, the study's measurements are used. Files with altered methods
    (JavaABS, GoABS, a column `altered`) also get an API benchmarking score. Each measurement context is shown
    separately.
    """
    _answer(context, "spread", arguments, "per", "baseline", "v", "without", "budget")


@click.command(epilog="Example: labeler order experiment_results.csv --figures figures")
@in_options
@click.option("--baseline", default=None, metavar="VERSION", help="Baseline, if two versions were measured.")
@click.option("--candidate", default=None, metavar="VERSION", help="Candidate, if two versions were measured.")
@click.option(
    "--level",
    "ci_level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=None,
    metavar="X",
    help="Confidence level of the interval of each median [default: 1 - alpha / number of tests].",
)
@click.option("--compat", type=click.Choice(["ordersage"]), default=None,
              help="Classify each test as the published tool does: with a separate 95 % interval, and with the ranks "
                   "and the rule of the tool.")  # fmt: skip
@out_options
@click.pass_context
def order(context: click.Context, /, **arguments: Any) -> None:
    """Test whether the order of benchmarks affects their results.

    The benchmarks must be measured in a fixed and in a random order. Give results of `labeler measure` with
    order = "both", files of OrderSage, or a table with the columns run, order_type and order_position. If only
    positions are known, weaker tests are used.
    """
    _answer(context, "order", arguments, "baseline", "candidate", "ci_level", "compat")


@click.command(epilog="Example: labeler trust results/ --runs 5 --json")
@in_options
@click.option("--runs", "n_runs", type=click.IntRange(min=1), default=5, show_default=True, metavar="N",
              help="Number of runs per measurement.")  # fmt: skip
@jobs_option
@out_options
@click.pass_context
def trust(context: click.Context, /, jobs: int, **arguments: Any) -> None:
    """Estimate how reliable intervals and tests are.

    The result shows how often intervals contain the true value, how often tests raise false alarms, and which slowdowns
    they detect.
    """
    _answer_with(jobs, context, "trust", arguments, "n_runs")


@click.command(epilog="Example: labeler steady results/ --html steady.html")
@measurement_options
@click.option("--rule", type=click.Choice(exploring.STEADY_RULES), default="published", show_default=True,
              help="Rule that decides. published: change points with the penalty at the elbow. quick: with a fixed "
                   "penalty, about 30 times as fast and often different. barrett: flat, warm-up, slowdown or no steady "
                   "state.")  # fmt: skip
@seed_option
@jobs_option
@out_options
@click.pass_context
def steady(context: click.Context, /, jobs: int, **arguments: Any) -> None:
    """Find when each run becomes steady, and which runs never do.

    A run needs at least 1,000 iterations. PATHs are result files or folders; without any, the study's measurements are
    used. Starts and change points count iterations from 0.
    """
    _answer_with(jobs, context, "steady", arguments, "rule")


@click.command(epilog="Example: labeler contexts sweep/ --from-name '{version}-{context}.json' --baseline old")
@in_options
@click.option(
    "--baseline",
    default=None,
    metavar="VERSION",
    help="Version to use as the baseline [default: the first in sorted order].",
)
@click.option("--candidate", default=None, metavar="VERSION", help="Version to compare with the baseline.")
@click.option(
    "--instrumentation",
    default=None,
    metavar="NAME",
    help="Condition or factor that gives the amount of instrumentation. Also show its effect on each version.",
)
@click.option("--held-fixed", default=None, metavar="X",
              help="Level of the factor `intervention` at which the suspected cause is held fixed.")  # fmt: skip
@out_options
@click.pass_context
def contexts(context: click.Context, /, **arguments: Any) -> None:
    """Test whether the measurement context affects which version is faster.

    The versions must be measured in several contexts. Give results of `labeler measure`, a table with the columns
    version and context, or files whose names contain version and context (--from-name). `labeler variants` plans runs
    for other tools. With --instrumentation, one version is enough; the result shows whether measuring itself changes
    the times.
    """
    _answer(context, "contexts", arguments, "baseline", "candidate", "instrumentation", "held_fixed")


@click.command(epilog="Example: labeler trend history.csv --within 5 --fail-on worse")
@measurement_options
@options_of(PerRun, "per_run")
@click.option("--detector", type=click.Choice(exploring.DETECTORS), default=exploring.DEFAULT_DETECTOR,
              show_default=True, help="Detector of changes. Only steps judges the newest versions.")  # fmt: skip
@click.option("--within", type=click.IntRange(min=1), default=None, metavar="N",
              help="With --fail-on, only changes in the last N versions count [default: all]. Those of the newest "
                   "versions always count.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(["worse"]), default=None,
              help="Exit with code 1 if a benchmark became worse, and with 3 if this is open.")  # fmt: skip
@click.option("--marks", type=click.Path(path_type=Path, dir_okay=False, exists=True), default=None, metavar="FILE",
              help="Table with the columns benchmark, version and decision. An accepted change starts a new baseline; "
                   "a refused one is no change.")  # fmt: skip
@out_options
@click.pass_context
def trend(
    context: click.Context, /, paths: Sequence[Path], fail_on: str | None, marks: Path | None, **arguments: Any
) -> None:
    """Find at which version each benchmark became slower or faster.

    PATHs are tables with a column version or date, results of asv and other tools that keep versions, other files with
    --from-name, or a folder that has one folder per version, which are taken in natural order. Without a PATH, the
    study's measurements are used.

    Exit codes: 0 without --fail-on, or if nothing became worse; 1 if a benchmark became worse; 2 if a file cannot be
    read; 3 if no history has enough versions, or with --fail-on if the newest version must be measured again, a
    benchmark failed at it, or it is unknown whether lower or higher is better.
    """
    arguments |= {"paths": paths, "decisions": exploring.read_decisions(marks) if marks else ()}
    versions = gathering.versions_of(paths)

    def gather_history(files: Sequence[Source], options: ReadOptions, *, advance: Advance) -> Gathered:
        return gathering.gather_history(files, versions, options, advance=advance)

    explored = _answer(
        context, "trend", arguments, "detector", "within", "decisions", gather_as=gather_history, if_refused=2
    )
    code = exploring.exit_code(explored, is_gate=fail_on is not None)
    if code:
        raise SystemExit(code)


def command_of(method: Method[Any, Any]) -> click.Command:
    """Return the command of a method, with an option for each field of its options that has a help text."""

    @click.command(method.name, help=method.question)
    @measurement_options
    @given_of(method.options, "own")
    @out_options
    @click.pass_context
    def command(context: click.Context, /, own: dict[str, Any], **arguments: Any) -> None:
        _answer(context, method.name, {**arguments, **own}, *own)

    return command


def _answer_with(jobs: int, context: click.Context, name: str, arguments: dict[str, Any], *own: str) -> None:
    """Do the same as `_answer`, with several processes."""
    if jobs == 1:
        _answer(context, name, arguments, *own)
        return
    from labeler.cli.workers import workers

    with workers(jobs) as pool:
        _answer(context, name, {**arguments, "mapper": partial(pool.map, chunksize=8)}, *own, "mapper")


def _answer(
    context: click.Context,
    name: str,
    arguments: dict[str, Any],
    *own: str,
    gather_as: Callable[..., Gathered] = gathering.from_files,
    if_refused: int = 1,
) -> MethodResult:
    """Read the measurements, apply the method and write the result.

    If a file was refused, the exit code is `if_refused`.
    """
    options = {key: arguments.pop(key) for key in (*own, "per_run", "alpha", "seed") if key in arguments}
    out = {key: arguments.pop(key) for key in ("as_json", "html", "folder", "forms")}
    gathered = gather(context, **arguments, gather_as=gather_as)
    report_refused_files(gathered)
    with click.progressbar(length=len(gathered.benchmarks), label=name.title(), file=sys.stderr) as bar:
        explored = exploring.explore(
            name, gathered.benchmarks, advance=lambda done, _total: bar.update(done - bar.pos), **options,
        )  # fmt: skip
    if not arguments["paths"]:
        log_look(arguments["study"], name, OWNER)
    put(explored, **out)
    if gathered.refused:
        raise SystemExit(if_refused)
    return explored


def gather(
    context: click.Context,
    paths: Sequence[Path],
    study: Path | None,
    read_options: ReadOptions,
    gather_as: Callable[..., Gathered] = gathering.from_files,
) -> Gathered:
    """Read the benchmarks of the files, or of the study if no files are given."""
    if not paths:
        if read_options != ReadOptions():
            raise InputError("Options such as --format, --columns or --from-name need files. Give the files to read.")
        with open_study(study) as db:
            return measured.from_study(db)
    if context.get_parameter_source("study") is ParameterSource.COMMANDLINE:
        raise InputError("Files and --study FILE cannot be used together. Give only one of them.")
    return read_files(paths, read_options, gather_as)
