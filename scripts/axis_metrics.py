"""Measure the axis rules on real benchmarks and update the tables in docs/results/axis.md.

    python scripts/axis_metrics.py FILE_OR_FOLDER... [--write]

Prints one Markdown row per rule; --write replaces the tables in docs/results/axis.md.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.arrays import Series
from labeler.files import formats
from labeler.studies.screen import binning

PAGE = Path(__file__).parent.parent / "docs" / "results" / "axis.md"
SPANS = {"core": 0.10, "levels": 0.15}  # of the pooled median, the default of new studies
APART, LOW, SHIFT, SMALL = 0.05, 0.15, 0.05, 0.01
BLOCKS, N_RESAMPLED, N_BOOTSTRAP = (1, 10, 50), 3, 1000  # lengths of blocks; runs of each benchmark; of benchmarks
SEED = 20261122
HEAD = (
    "| rule | height between run medians at least 5 % apart: median; benchmarks under 15 % | benchmarks where a 5 % "
    "shift gets under 10 % | iterations outside: median / 95th percentile / most | tallest 1 % difference | run "
    "medians off the axis |\n|---|---|---|---|---|---|"
)
NOTHING_HEAD = (
    "| rule | " + " | ".join(f"blocks of {block}" if block > 1 else "single iterations" for block in BLOCKS) + " |\n"
    "|---|" + "---|" * len(BLOCKS)
)

Runs = Sequence[Series]


def row(rule: str, items: Sequence[Runs]) -> str:
    """Return the row of the table for one rule on these benchmarks."""
    heights, shifts, outside, small, n_off = [], [], [], [], 0
    for runs in items:
        pooled = np.concatenate(runs)
        size, medians = abs(float(np.median(pooled))), np.array([np.median(run) for run in runs])
        low, high = limits(runs, rule)
        if np.ptp(medians) >= APART * size:
            heights.append(np.ptp(medians) / (high - low))
        shifts.append(SHIFT * size / (high - low))
        outside.append(((pooled < low) | (pooled > high)).mean())
        small.append(SMALL * size / (high - low))
        n_off += int(((medians < low) | (medians > high)).sum())
    return (
        f"| `{rule}` | {np.median(heights):.2f}; {share(np.array(heights) < LOW)} | {share(np.array(shifts) < 0.10)} | "
        f"{np.median(outside):.1%} / {np.percentile(outside, 95):.1%} / {max(outside):.0%} | {max(small):.3f} | "
        f"{n_off} |"
    ).replace("%", " %")


def nothing_there(items: Sequence[Runs]) -> str:
    """Return a table of the 95th percentile of the height between the medians of ten resamples, one row per rule."""
    cells: dict[str, list[str]] = {rule: [] for rule in SPANS}
    for block in BLOCKS:
        rng = np.random.default_rng(SEED)
        heights = {rule: np.zeros((len(items), N_RESAMPLED)) for rule in SPANS}
        for i, runs in enumerate(items):
            for j, chosen in enumerate(rng.choice(len(runs), N_RESAMPLED, replace=len(runs) < N_RESAMPLED).tolist()):
                again = [resampled(runs[chosen], block, rng) for _ in range(10)]
                apart = np.ptp([np.median(run) for run in again])
                for rule, of_rule in heights.items():
                    low, high = limits(again, rule)
                    of_rule[i, j] = apart / (high - low)
        drawn = rng.integers(0, len(items), (N_BOOTSTRAP, len(items)))
        for rule, of_rule in heights.items():
            low, high = np.percentile([np.percentile(of_rule[one], 95) for one in drawn], [2.5, 97.5])
            cells[rule].append(f"{np.percentile(of_rule, 95):.3f} ({low:.3f} to {high:.3f})")
    return "\n".join([NOTHING_HEAD, *(f"| `{rule}` | {' | '.join(found)} |" for rule, found in cells.items())])


def resampled(run: Series, block: int, rng: np.random.Generator) -> Series:
    """Return a resample of the run: blocks of consecutive iterations, drawn with replacement."""
    starts = rng.integers(0, max(len(run) - block, 0) + 1, -(-len(run) // block))
    return np.concatenate([run[start : start + block] for start in starts])[: len(run)]


def limits(runs: Runs, rule: str) -> tuple[float, float]:
    """Return the limits of the main axis under a rule."""
    return binning.axis_limits(runs, rule=rule, min_span=SPANS[rule])[rule]


def share(holds: np.ndarray) -> str:
    """Return the share of benchmarks for which the array is True, in per cent."""
    return f"{holds.mean():.1%}"


def tables(items: Sequence[Runs]) -> str:
    """Return both tables, with the paragraph between them."""
    return (
        "\n".join([HEAD, *(row(rule, items) for rule in SPANS)])
        + f"\n\nWe resampled {N_RESAMPLED} runs of each benchmark, each of them ten times. The ten resamples of a run "
        "do not differ systematically,\nso their medians should be close together on the plot. The table shows how far "
        "apart the medians are, as a share of\nthe axis. Each number is the 95th percentile over all resampled runs, "
        "with a 95 % interval from a bootstrap over\nbenchmarks."
        f"\n\n{nothing_there(items)}"
    )


def main() -> None:
    """Read the benchmarks, print the table, and write it with --write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("paths", nargs="+", type=Path)
    options.add_argument("--write", action="store_true", help="replace the tables in docs/results/axis.md")
    chosen = options.parse_args()
    items: list[Runs] = [
        benchmark.values
        for source in formats.sources(chosen.paths)
        for benchmark in formats.read(source)
        if len(benchmark.values) > 1
    ]
    words = f"On {len(items)} benchmarks:\n\n{tables(items)}\n"
    print(words)
    if chosen.write:
        pattern = r"(<!-- axis-metrics -->\n).*?(<!-- end -->)"
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(re.sub(pattern, lambda m: f"{m[1]}{words}{m[2]}", text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
