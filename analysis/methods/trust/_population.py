"""The runs of a benchmark as a population: draw from it, compute mean and variance of draws, and count values by size.

Either enumerate all multisets of runs with their probabilities, or draw at random.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.arrays import Floats
from analysis.runs.benchmark import PerRun

MAX_MULTISETS = 20_000  # maximum number of multisets to enumerate
MAX_PAIRED = 6_000  # maximum number of multisets for which all pairs are enumerated by default


@dataclass(frozen=True)
class Draws:
    """Several draws of runs with replacement."""

    # How often each of the m runs was drawn. The entries of a row are whole numbers with the sum n_runs.
    counts: Floats
    weights: Floats  # the probability of each draw; the sum is 1
    exact: bool  # whether these are all possible draws


def n_multisets(m: int, n_runs: int) -> int:
    """Return the number of multisets that contain n_runs of m runs: C(m + n_runs - 1, n_runs)."""
    return comb(m + n_runs - 1, n_runs)


@lru_cache(maxsize=16)
def all_draws(m: int, n_runs: int) -> Draws:
    """Return every multiset of n_runs out of m runs, with its probability n_runs! / (k_1! ... k_m!) / m^n_runs."""
    drawn = np.array(list(combinations_with_replacement(range(m), n_runs)))
    rows = np.arange(len(drawn))[:, None] * m
    counts = np.bincount((rows + drawn).ravel(), minlength=len(drawn) * m).reshape(-1, m).astype(np.float64)
    chances = np.exp(special.gammaln(n_runs + 1) - special.gammaln(counts + 1).sum(axis=1) - n_runs * np.log(m))
    draws = Draws(counts, chances / chances.sum(), True)
    for array in (draws.counts, draws.weights):
        array.setflags(write=False)  # read-only, because all callers share this object
    return draws


def some_draws(m: int, n_runs: int, n_draws: int, rng: np.random.Generator) -> Draws:
    """Return n_draws random draws of n_runs out of m runs, with equal weights."""
    counts = rng.multinomial(n_runs, np.full(m, 1 / m), size=n_draws).astype(np.float64)
    return Draws(counts, np.full(n_draws, 1 / n_draws), False)


MERGED, RUN_MEANS, ONE_SAMPLE = "merged", "run means", "one sample"
AGGREGATIONS = (MERGED, RUN_MEANS, ONE_SAMPLE)
TINY = 1e-300  # replaces a variance of 0; 0 / 0 then becomes 0, and any difference is significant


@dataclass(frozen=True)
class Moments:
    """The mean of each draw, and the variance of this mean, in the units of the population."""

    mean: Floats  # mean of the draw, and variance of the mean (not of the values)
    variance: Floats
    n: Floats  # number of values in the draw
    constant: NDArray[np.bool_]  # whether all values of the draw are equal

    def __getitem__(self, index: Any) -> "Moments":
        """Select draws by index, as in numpy; an index with None makes rows or columns for broadcasting."""
        return Moments(self.mean[index], self.variance[index], self.n[index], self.constant[index])

    def times(self, factor: float, zero: float) -> "Moments":
        """Return the moments after multiplying all values by a factor; `zero` is 0 in the population's units."""
        mean = factor * self.mean - (factor - 1) * zero
        return replace(self, mean=mean, variance=np.maximum(factor**2 * self.variance, TINY))

    def half_widths(self, level: float) -> Floats:
        """Return half the width of Student's interval for the mean of each draw."""
        sizes, which = np.unique(self.n, return_inverse=True)
        quantiles = special.stdtrit(sizes - 1, (1 + level) / 2)[which].reshape(self.n.shape)
        halves: Floats = np.where(self.constant, 0.0, quantiles * np.sqrt(self.variance))
        return halves


@dataclass(frozen=True)
class Population:
    """The runs from which samples are drawn. The scaled values have mean 0, and their largest distance from 0 is 1."""

    values: tuple[Floats, ...]  # values that a draw of each run contributes, in the unit of the benchmark
    scaled: tuple[Floats, ...]  # the same values after centring and scaling
    n: Floats  # number of values per run, their mean, and the sum of squared distances from the mean
    means: Floats
    squares: Floats
    zero: float  # the value 0 of the original unit, centred and scaled
    target: float  # the mean that an interval should contain

    @property
    def is_constant(self) -> bool:
        """Return whether all values of all runs are equal."""
        return not self.squares.any() and bool(self.means.min() == self.means.max())

    def moments(self, counts: Floats) -> Moments:
        """Compute the moments of all values of the drawn runs; the variance has no cancellation errors."""
        weights = counts * self.n
        n = weights.sum(axis=1)
        apart = np.square(self.means[:, None] - self.means)
        squares = counts @ self.squares + ((weights @ apart) * weights).sum(axis=1) / (2 * n)
        constant = squares == 0
        # if all values are equal, use the exact mean, because a sum has rounding errors
        mean = np.where(constant, self.means[counts.argmax(axis=1)], weights @ self.means / n)
        return Moments(mean, np.maximum(squares / ((n - 1) * n), TINY), n, constant)


def population(runs: Sequence[ArrayLike], aggregation: str, per_run: PerRun) -> Population:
    """Build the population of runs for an aggregation.

    A run contributes all its values ("merged"), one number ("run means") or one random value ("one sample"). The target
    is the mean of all values for "merged", and the mean of one number per run for "run means". For "one sample", the
    target is the mean of the run means, because every run is equally likely.
    """
    values = tuple(per_run.steady(run) for run in runs)
    if aggregation == RUN_MEANS:
        values = tuple(np.array([per_run.value(run)]) for run in runs)
    centre = float(np.mean([_mean(run) for run in values]))
    farthest = max(float(np.abs(run - centre).max()) for run in values)
    scaled = tuple((run - centre) / (farthest or 1.0) for run in values)
    n = np.array([len(run) for run in scaled], dtype=np.float64)
    means = np.array([_mean(run) for run in scaled])
    squares = np.array([np.square(run - mean).sum() for run, mean in zip(scaled, means, strict=True)])
    target = float(n @ means / n.sum()) if aggregation == MERGED else float(means.mean())
    return Population(values, scaled, n, means, squares, -centre / (farthest or 1.0), target)


def _mean(values: Floats) -> float:
    """Compute the mean; the result is exact if all values are equal."""
    return float(values[0]) if values.min() == values.max() else float(values.mean())


def value_moments(values: Floats) -> Moments:
    """Compute the moments of draws from their values; each row contains the values of one draw."""
    n = values.shape[1]
    constant = values.min(axis=1) == values.max(axis=1)
    mean = np.where(constant, values[:, 0], values.mean(axis=1))
    variance = np.where(constant, 0.0, values.var(axis=1, ddof=1) / n)
    return Moments(mean, np.maximum(variance, TINY), np.full(len(values), float(n)), constant)


def one_value_a_run(scaled: Sequence[Floats], n_runs: int, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw one random value from each of n_runs randomly chosen runs; return shape (n_draws, n_runs)."""
    n = np.array([len(run) for run in scaled])
    starts = np.cumsum(n) - n
    run = rng.integers(len(scaled), size=(n_draws, n_runs))
    drawn: Floats = np.concatenate(scaled)[starts[run] + rng.integers(n[run])]
    return drawn


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
