"""The command `labeler measure`, which runs a measurement plan."""

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType

import click

from labeler.cli.common import (
    dry_run_option,
    json_option,
    remark,
    show_json,
    write_text,
)
from labeler.errors import InputError
from labeler.files.measuring import machine
from labeler.files.measuring.plan import MeasurementPlan, ScheduledRun, contexts_of, kinds_of_order, n_steps, schedule
from labeler.files.measuring.plan_file import example, read_plan, with_changes
from labeler.files.measuring.process import check_system
from labeler.files.measuring.session import (
    SessionProgress,
    SessionResult,
    done_so_far,
    measure as measure_plan,
    seconds_left,
)
from labeler.safe_text import one_line

PLAN = Path("plan.toml")
RESET_UNSAID = (
    "The plan does not say when the reset command runs, so it runs before each run. This "
    "removes the effects of order that `labeler order` looks for. To reset once before each pass of all benchmarks, "
    'write reset = "pass" at the top of the plan, and the command as reset_command. To keep the resets before each '
    'run, write reset = "run".'
)
N_SHOWN = 12  # number of runs that a dry run shows


@click.command(epilog="Example: labeler measure plan.toml --out results/")
@click.argument("plan", type=click.Path(path_type=Path, dir_okay=False), default=PLAN)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=Path("results"), show_default=True,
              metavar="DIR", help="Folder for the measurements.")  # fmt: skip
@click.option("--init", is_flag=True, help="Write an example plan that explains every key, and measure nothing.")
@dry_run_option("Show the runs, their expected time, and the questions that the plan can answer; measure nothing.")
@click.option("--max-runs", type=click.IntRange(min=1), default=None, metavar="N",
              help="Run at most N runs now.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=None, metavar="N",
              help="Number of runs of each benchmark; overrides the plan.")  # fmt: skip
@click.option("--interleave/--no-interleave", default=None,
              help="Alternate the versions, or measure one version after the other; overrides the plan.")  # fmt: skip
@json_option
def measure(
    plan: Path,
    out: Path,
    *,
    init: bool,
    dry_run: bool,
    max_runs: int | None,
    runs: int | None,
    interleave: bool | None,
    as_json: bool,
) -> None:
    """Run the benchmarks of a plan and record the conditions of every run.

    PLAN is a TOML file [default: plan.toml]. Each run is added to DIR/measurements.csv when it ends; after the
    last run, DIR/measurements.parquet has the same data. Stop with Ctrl+C; run the same command again to continue.
    The commands `labeler check`, `spread`, `order`, `contexts`, `trust` and `import` read DIR. The exit code is 1 if a
    benchmark failed too often, so that its other runs were left out.
    """
    if init:
        _write_example(plan)
        if as_json:
            show_json({"file": plan})
        return
    check_system()
    planned = with_changes(read_plan(plan), runs=runs, interleave=interleave)
    for text in machine.warnings():
        remark(f"Warning: {text}")
    if _has_reset(planned) and not planned.reset:
        remark(RESET_UNSAID)
    if dry_run:
        _show_plan(planned, out, as_json=as_json)
        return
    with _stopped_by_signals(), _progress(planned) as watch:
        try:
            outcome = measure_plan(planned, out, plan.resolve().parent, limit=max_runs, watch=watch)
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            remark("Stopped. The current run is not recorded. Run the same command again to continue.")
            raise SystemExit(130) from None
    _say_outcome(planned, outcome, out, as_json=as_json)


def _write_example(path: Path) -> None:
    if path.exists():
        raise InputError(f"{path} already exists. Choose another file name.")
    write_text(path, example(path.name))
    remark(f"{path} written. `labeler measure {shlex.quote(str(path))} --dry-run` shows its runs.")


def _show_plan(plan: MeasurementPlan, out: Path, *, as_json: bool) -> None:
    from labeler.files.measuring import design

    done = done_so_far(plan, out)
    n, contexts, kinds = n_steps(plan), contexts_of(plan), kinds_of_order(plan)
    left = seconds_left(plan, done)
    if as_json:
        show_json(
            {
                "n_runs": n, "n_done": len(done), "seconds_left": left, "max_seconds": _longest(plan),
                "questions": list(design.describe(plan, done)), "runs": [asdict(step) for step in schedule(plan)],
            }
        )  # fmt: skip
        return
    n_altered = len(plan.altered) + 1
    factors = [
        _counted(len(plan.benchmarks), "benchmark"),
        _counted(max(len(plan.versions), 1), "version"),
        *([f"baseline and {_counted(n_altered - 1, 'altered method')}"] if plan.altered else []),
        _counted(len(contexts) // n_altered, "context"),
        f"{_counted(plan.runs, 'run')} in {' and '.join(kinds)} order",
    ]
    click.echo(f"{n:,} runs: {' x '.join(factors)}")
    if done:
        failed = sum(bool(run.failure) for run in done)
        click.echo(f"{len(done):,} runs are done{f', {failed:,} of them failed' if failed else ''}.")
    click.echo(
        f"Time left: about {_duration(left)}, estimated from the runs so far."
        if left is not None
        else "The time is unknown before the first runs. Measure some runs with --max-runs N, then use --dry-run "
        f"again. With the timeouts of the plan, the time is at most {_duration(_longest(plan))}."
    )
    if plan.reset or _has_reset(plan):
        click.echo(f"Reset: {'once before each pass of all benchmarks' if plan.resets_passes else 'before each run'}.")
    click.echo("\nQuestions that this plan can answer:")
    for text in design.describe(plan, done):
        click.echo(f"- {text}")
    click.echo("\nThe first runs:")
    for step in schedule(plan):
        if step.number >= N_SHOWN:
            click.echo(f"… and {n - N_SHOWN:,} more")
            break
        click.echo(f"  {_describe(step)}")


def _describe(step: ScheduledRun) -> str:
    levels = [f"{name}={level}" for name, level in step.factors.items()]
    place = f"{step.order_type} order, position {step.position}"
    return one_line(", ".join([step.benchmark, *([step.version] if step.version else []), *levels, place]))


def _longest(plan: MeasurementPlan) -> float:
    per_round = n_steps(plan) // len(plan.benchmarks)
    return sum(per_round * (entry.timeout + plan.pause) for entry in plan.benchmarks)


def _has_reset(plan: MeasurementPlan) -> bool:
    return any(entry.reset for entry in plan.benchmarks)


@contextmanager
def _progress(plan: MeasurementPlan) -> Iterator[Callable[[SessionProgress], None]]:
    """Show a progress bar and report failures."""
    total = n_steps(plan)
    last_said: dict[str, str] = {}

    def shown(progress: SessionProgress | None) -> str:
        if progress is None:
            return ""
        left = "" if progress.seconds_left is None else f", about {_duration(progress.seconds_left)} left"
        return f"{progress.n_done} of {total}{left}"

    with click.progressbar(
        length=total, label="Measuring", file=sys.stderr, item_show_func=shown, show_eta=False
    ) as bar:

        def watch(progress: SessionProgress) -> None:
            bar.update(progress.n_done - bar.pos, progress)
            if progress.failure and last_said.get(progress.step.benchmark) != progress.failure:
                last_said[progress.step.benchmark] = progress.failure
                remark(f"\nFailed: {_describe(progress.step)}: {one_line(progress.failure)}")
            if progress.stopped:
                remark(f"Stopped: {one_line(progress.stopped)}")

        yield watch


def _say_outcome(plan: MeasurementPlan, outcome: SessionResult, out: Path, *, as_json: bool) -> None:
    say = remark if as_json else click.echo
    if as_json:
        show_json(asdict(outcome))
    n_done = outcome.n_before + outcome.n_made
    say(
        f"{n_done:,} of {outcome.n_steps:,} runs are in {outcome.path}"
        f"{f' ({outcome.n_made:,} of them are new)' if outcome.n_before else ''}."
    )
    if outcome.n_made:
        say(
            f"{_counted(outcome.n_made, 'run')} took {_duration(outcome.seconds)}, with "
            f"{1000 * outcome.overhead_s:.0f} ms of overhead per run."
        )
    if outcome.n_failed:
        say(f"{_counted(outcome.n_failed, 'run')} failed. The column `failure` gives the reasons.")
    if outcome.n_skipped:
        say(f"{_counted(outcome.n_skipped, 'run')} left out, because a benchmark failed too often.")
        for text in outcome.stopped:
            say(f"  {one_line(text)}")
    if not outcome.is_complete:
        say("Run the same command again to continue.")
        return
    say(f"Next: {', '.join(_next_commands(plan, out))}")
    if outcome.stopped or n_done == outcome.n_failed:
        raise SystemExit(1)


def _next_commands(plan: MeasurementPlan, out: Path) -> Iterator[str]:
    if plan.order == "both":
        yield f"labeler order {shlex.quote(str(out))}"
    if plan.factor_names and len(plan.versions) > 1:
        yield f"labeler contexts {shlex.quote(str(out))} --baseline {shlex.quote(next(iter(plan.versions)))}"
    yield f"labeler spread {shlex.quote(str(out))}"


def _counted(n: int, word: str) -> str:
    return f"{n:,} {word if n == 1 else word + 's'}"


def _duration(seconds: float) -> str:
    """Format a duration with suitable units.

    Examples
    --------
    >>> _duration(4.2), _duration(200), _duration(12000)
    ('4 s', '3 min 20 s', '3 hours 20 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return f"{int(seconds) // 3600} hours {int(seconds) % 3600 // 60} min"


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let a termination signal stop the measurement in the same way as Ctrl+C."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
