"""Count the measurements of each run and of all runs together by size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.runs import Floats

N_BINS = 20, 60  # minimum and maximum number of bins
OUTSIDE = 0.005  # share of the measurements at each end that the bins leave out at most


@dataclass(frozen=True)
class Distribution:
    """A histogram of all measurements of a benchmark after the warm-up, and one of each run, with the same bins."""

    edges: tuple[float, ...]  # limits of the bins, in the benchmark's unit
    merged: tuple[int, ...]  # number of measurements of all runs in each bin
    runs: tuple[tuple[int, ...], ...]  # the same for each run
    names: tuple[str, ...]  # name of each run
    n_below: int  # number of measurements of all runs below the first bin, and above the last bin
    n_above: int

    @property
    def n(self) -> int:
        """Return the number of measurements, with those outside the bins."""
        return sum(self.merged) + self.n_below + self.n_above


def distribution(runs: Sequence[Floats], names: Sequence[str]) -> Distribution:
    """Count measurements in bins of equal width by the rule of Freedman and Diaconis.

    The bins leave out up to half a percent of the measurements at each end, because a single outlier would otherwise
    hide the shape.
    """
    values = np.sort(np.concatenate(runs))
    n_out = int(OUTSIDE * len(values))
    low, high = float(values[n_out]), float(values[-1 - n_out])
    low, high = (float(values[0]), float(values[-1])) if low == high else (low, high)
    if low == high:
        margin = abs(low) / 100 or 1.0
        low, high = low - margin, high + margin
    middle = np.subtract(*np.quantile(values, [0.75, 0.25]))
    width = 2 * middle / len(values) ** (1 / 3)
    least, most = N_BINS
    n_bins = int(np.clip(np.ceil((high - low) / width), least, most)) if width > 0 else most
    edges = np.linspace(low, high, n_bins + 1)
    counts = [np.histogram(run, edges)[0] for run in runs]
    return Distribution(
        tuple(edges.tolist()), tuple(np.sum(counts, axis=0).tolist()),
        tuple(tuple(of_run.tolist()) for of_run in counts), tuple(names),
        int((values < low).sum()), int((values > high).sum()),
    )  # fmt: skip


def densities(counts: Sequence[int], edges: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the density in each bin, and a kernel density at the middle of each bin (Gaussian, Scott's bandwidth)."""
    at = np.asarray(edges)
    middles, width, n = (at[1:] + at[:-1]) / 2, at[1] - at[0], max(sum(counts), 1)
    shares = np.asarray(counts) / n
    mean = float(shares @ middles)
    bandwidth = max(float(np.sqrt(shares @ (middles - mean) ** 2)) * n**-0.2, width / 2)
    near = np.exp(-0.5 * ((middles[:, None] - middles) / bandwidth) ** 2)
    return shares / width, near @ shares / (bandwidth * np.sqrt(2 * np.pi))
