"""Measure the axis rules on real benchmarks and update the table in docs/labelling.md.

    python scripts/axis_metrics.py FILE_OR_FOLDER... [--write]

Prints one Markdown row per rule; --write replaces the table in docs/labelling.md.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from labeler import formats
from labeler.model import Series
from labeler.screen import binning

PAGE = Path(__file__).parent.parent / "docs" / "labelling.md"
SPANS = {"core": 0.10, "levels": 0.15}  # of the pooled median, the default of new studies
APART, LOW, SHIFT, SMALL = 0.05, 0.15, 0.05, 0.01
SEED = 20261122
HEAD = (
    "| rule | height between run medians at least 5 % apart: median; benchmarks under 15 % | benchmarks where a 5 % "
    "shift gets under 10 % | iterations outside: median / 95th percentile / most | tallest 1 % difference | ten "
    "resamples of one run, 95th percentile | run medians off the axis |\n|---|---|---|---|---|---|---|"
)

Runs = Sequence[Series]


def row(rule: str, items: Sequence[Runs], progress: Callable[[str], None] = lambda _: None) -> str:
    """The metrics of one rule on these benchmarks, as a row of the table."""
    heights, shifts, outside, small, nothing, n_off = [], [], [], [], [], 0
    rng = np.random.default_rng(SEED)
    for number, runs in enumerate(items, start=1):
        progress(f"{rule} {number}/{len(items)}")
        pooled = np.concatenate(runs)
        size, medians = abs(float(np.median(pooled))), np.array([np.median(run) for run in runs])
        low, high = limits(runs, rule)
        if np.ptp(medians) >= APART * size:
            heights.append(np.ptp(medians) / (high - low))
        shifts.append(SHIFT * size / (high - low))
        outside.append(((pooled < low) | (pooled > high)).mean())
        small.append(SMALL * size / (high - low))
        n_off += int(((medians < low) | (medians > high)).sum())
        one = runs[int(rng.integers(len(runs)))]
        again = [resampled(one, rng) for _ in runs]
        low, high = limits(again, rule)
        nothing.append(np.ptp([np.median(run) for run in again]) / (high - low))
    return (
        f"| `{rule}` | {np.median(heights):.2f}; {share(np.array(heights) < LOW)} | {share(np.array(shifts) < 0.10)} | "
        f"{np.median(outside):.1%} / {np.percentile(outside, 95):.1%} / {max(outside):.0%} | {max(small):.3f} | "
        f"{np.percentile(nothing, 95):.3f} | {n_off} |"
    ).replace("%", " %")


def resampled(run: Series, rng: np.random.Generator) -> Series:
    """A resampled run: blocks of 50 iterations of this run, so that levels and drifts remain."""
    starts = rng.integers(0, max(len(run) - binning.WINDOW, 0) + 1, -(-len(run) // binning.WINDOW))
    return np.concatenate([run[start : start + binning.WINDOW] for start in starts])[: len(run)]


def limits(runs: Runs, rule: str) -> tuple[float, float]:
    """The range of the main axis under a rule."""
    return binning.axis_limits(runs, rule=rule, min_span=SPANS[rule])[rule]


def share(holds: np.ndarray) -> str:
    """Share of the benchmarks, in per cent."""
    return f"{holds.mean():.1%}"


def table(items: Sequence[Runs], progress: Callable[[str], None]) -> str:
    """The whole table."""
    return "\n".join([HEAD, *(row(rule, items, progress) for rule in SPANS)])


def main() -> None:
    """Read the benchmarks, print the table, and write it with --write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("paths", nargs="+", type=Path)
    options.add_argument("--write", action="store_true", help="replace the table in docs/labelling.md")
    chosen = options.parse_args()
    items: list[Runs] = [
        benchmark.values
        for source in formats.sources(chosen.paths)
        for benchmark in formats.read(source)
        if len(benchmark.values) > 1
    ]
    words = f"On {len(items)} benchmarks:\n\n{table(items, lambda _: None)}\n"
    print(words)
    if chosen.write:
        pattern = r"(<!-- axis-metrics -->\n).*?(<!-- end -->)"
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(re.sub(pattern, lambda m: f"{m[1]}{words}{m[2]}", text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
