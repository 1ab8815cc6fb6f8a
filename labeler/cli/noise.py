"""The command that finds the limits of a check from runs of one version."""

from math import ceil
from pathlib import Path

import click

from labeler.cli.common import json_option, out_option, remark, show, write_text
from labeler.cli.formats import read_files, reading_options, report_refused_files
from labeler.cli.options import Share, options_of
from labeler.service.files import checking, gathering
from labeler.service.files.checking import PerRun
from labeler.service.files.gathering import ReadOptions


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
    old="--write",
)  # fmt: skip
@json_option
@reading_options
def noise(
    paths: tuple[Path, ...], rate: float, alpha: float, per_run: PerRun, seed: int, out: Path | None, as_json: bool,
    read_options: ReadOptions,
) -> None:  # fmt: skip
    """Find the limits that keep false alarms of a check rare, from runs of one version.

    The runs are compared with each other, by turns and in blocks, as `labeler check` compares two versions. The table
    shows the share of false alarms, the smallest --min-change that keeps the wanted share, and the change that so many
    runs of each version detect. If a file was refused, the exit code is 1.
    """
    gathered = read_files(paths, read_options, gathering.from_files)
    result = checking.noise_of(gathered, per_run, alpha=alpha, rate=rate, seed=seed)
    rows = [
        {
            "runs": row.n_runs, "measured": row.design, "false alarms": row.false_alarms, "min-change": row.min_change,
            "detectable": row.detectable,
        }
        for row in result.rows
    ]  # fmt: skip
    percents = [
        {name: f"{100 * cell:.1f} %" if isinstance(cell, float) else cell for name, cell in row.items()} for row in rows
    ]
    show(rows if as_json else percents, as_json=as_json)
    report_refused_files(gathered)
    for sentence in checking.warmup_left_out(gathered, per_run):
        remark(sentence)
    if result.n_left_out:
        remark(f"Left out: {result.n_left_out} with another number of runs than {result.n_runs}.")
    if out is not None:
        by_turns = [row for row in result.rows if row.design == "by turns"]
        best = min(by_turns, key=lambda row: (round(row.min_change, 3), -row.n_runs))
        share = max(1.0, ceil(1000 * best.min_change) / 10)
        write_text(
            out,
            f"# from `labeler noise`: at most {100 * rate:g} % false alarms if the versions are measured by turns\n"
            f'min_change = "{share:g}%"\nruns = {best.n_runs}\n',
        )
        remark(f"Limits written to {out}. Next: labeler check NEW --against OLD --limits {out}")
    if gathered.refused:
        raise SystemExit(1)
