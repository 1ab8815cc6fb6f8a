"""Judge the newest versions of a history and single versions, and state which changes the history would show.

The levels come from `analysis.methods.points`; all numbers are on the scale on which the levels were found.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.arrays import Floats
from analysis.methods.points import ALPHA, LEAST_VERSIONS, Levels, rounding_variance

ALPHA_NEWEST = 0.01  # for all benchmarks together
ALPHA_SINGLE = 0.01  # for all versions of a history together
N_NEWEST = 3  # so many versions are judged as the newest
LEAST_BEFORE = 5  # versions before the newest ones
POWER = 0.8
LEVEL = 0.95
# The stated power is at least 80 % in each cell of docs/results/trend.md with these: the factors enlarge both changes.
LEAST_WIDENING = 1.15
LASTING_FACTOR = 1.05
LASTING_BY_VERSIONS, LASTING_BY_R = 5.0, 0.5  # short histories do not show how much neighbours are alike
LEAST_LASTING = 1.5  # standard deviations; a smaller lasting change is not stated
NEWEST_FACTOR = 1.2


@dataclass(frozen=True)
class VersionNumbers:
    """The numbers of a history, one per version, each of shape (n_versions,).

    `medians` are the medians of the runs of each version, or None if a version has fewer than three runs. `variance` is
    the lower limit of the variance of a version: the variance of runs within versions per run.
    """

    means: Floats
    medians: Floats | None
    variance: float

    def before(self, n: int) -> "VersionNumbers":
        """Return the numbers without those of the last n versions."""
        return VersionNumbers(self.means[:-n], None if self.medians is None else self.medians[:-n], self.variance)


@dataclass(frozen=True)
class NewestStep:
    """A step at the newest versions: how many they are, the step and its 95 % interval, and p for one benchmark."""

    n: int
    step: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class SingleVersion:
    """A version that stands out from the other versions of its level."""

    at: int
    step: float  # distance from the mean of the others
    p: float


@dataclass(frozen=True)
class StatedPower:
    """The smallest steps that the history would show with a probability of 80 %; None if there are too few versions."""

    lasting: float | None  # in the middle of the history
    newest: float | None  # at the newest version alone


def numbers_of(of_run: Floats, places: ArrayLike) -> VersionNumbers:
    """Return the numbers of a history from one number per run and the place of the version of each run."""
    at = np.asarray(places)
    counts = np.bincount(at)
    means = np.bincount(at, of_run) / counts
    n_within = len(of_run) - len(counts)
    within = float(((of_run - means[at]) ** 2).sum()) / n_within if n_within else 0.0
    medians = None
    if counts.min() >= 3:
        medians = np.array([np.median(of_run[at == version]) for version in range(len(counts))])
    return VersionNumbers(means, medians, max(within * float(np.mean(1 / counts)), rounding_variance(of_run)))


def newest_step(numbers: VersionNumbers, levels: Levels) -> NewestStep | None:
    """Return the step at the newest one, two or three versions that is least likely by chance.

    The p is the larger one of means and of medians, three times as large because three steps are tried. Return None if
    fewer than five versions of the last level come before the newest one, or no step is in one direction.
    """
    means, medians = _last_level(numbers, levels)
    tried = [_step(means, n, numbers.variance, levels) for n in range(1, N_NEWEST + 1)]
    if medians is not None:
        robust = [_step(medians, n, numbers.variance, levels) for n in range(1, N_NEWEST + 1)]
        tried = [
            NewestStep(step.n, step.step, step.low, step.high, max(step.p, other.p)) if step and other else None
            for step, other in zip(tried, robust, strict=True)
        ]
    steps = [step for step in tried if step]
    if not steps:
        return None
    best = min(steps, key=lambda step: step.p)
    return NewestStep(best.n, best.step, best.low, best.high, min(N_NEWEST * best.p, 1.0))


def n_of_last_level(numbers: VersionNumbers, levels: Levels) -> int:
    """Return the number of versions with which the newest one is compared, and the newest one itself."""
    return len(numbers.means) - (levels.starts[-1] if levels.starts else 0)


def single_versions(numbers: VersionNumbers, levels: Levels) -> list[SingleVersion]:
    """Return the versions that stand out from the others of their level, in order; levels of six versions or more."""
    n = len(numbers.means)
    bounds = [0, *levels.starts, n]
    found = []
    for start, end in pairwise(bounds):
        if end - start < LEAST_VERSIONS:
            continue
        distances, p = _against_others(_without_line(numbers.means, levels)[start:end], numbers.variance)
        if numbers.medians is not None:
            p = np.maximum(p, _against_others(_without_line(numbers.medians, levels)[start:end], numbers.variance)[1])
        found += [
            SingleVersion(start + at, float(distances[at]), float(n * p[at]))
            for at in np.flatnonzero(n * p <= ALPHA_SINGLE).tolist()
        ]
    return found


def stated_power(numbers: VersionNumbers, levels: Levels, n_benchmarks: int) -> StatedPower:
    """Return the smallest lasting step and the smallest step at the newest version that have a power of 80 %.

    `n_benchmarks`: number of benchmarks that the newest versions are judged for together.
    """
    n = len(numbers.means)
    if n < LEAST_VERSIONS:
        return StatedPower(None, None)
    sd = _sd(levels.residuals, levels, numbers.variance)
    quantile = t_quantile(1 - ALPHA / (4 * (n - 1)), n - 2) + t_quantile(POWER, n - 2)
    widening = max(levels.widening, LEAST_WIDENING)
    factor = LASTING_FACTOR * (1 + LASTING_BY_VERSIONS / n + LASTING_BY_R * levels.r)
    lasting = factor * max(LEAST_LASTING * sd, quantile * widening * sd * sqrt(4 / n))
    m = n_of_last_level(numbers, levels) - 1
    if m < LEAST_BEFORE:
        return StatedPower(lasting, None)
    if numbers.medians is not None:  # they vary more than means unless there are outliers, and both must differ
        sd = max(sd, _sd(residuals_from(numbers.medians, levels), levels, numbers.variance))
    quantile = t_quantile(1 - ALPHA_NEWEST / (2 * N_NEWEST * n_benchmarks), m - 1) + t_quantile(POWER, m - 1)
    return StatedPower(lasting, NEWEST_FACTOR * quantile * sd * sqrt(1 + 1 / m))


def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t distribution."""
    return float(special.stdtrit(df, p))


def residuals_from(values: Floats, levels: Levels) -> Floats:
    """Return the distances of numbers from their own means in given levels, or from a line with the same slope."""
    flat = _without_line(values, levels)
    bounds = [0, *levels.starts, len(values)]
    return np.concatenate([flat[a:b] - flat[a:b].mean() for a, b in pairwise(bounds)])


def _sd(residuals: Floats, levels: Levels, variance: float) -> float:
    return sqrt(max(float(residuals @ residuals) / (len(residuals) - levels.n_parameters), variance))


def _without_line(values: Floats, levels: Levels) -> Floats:
    if levels.line is None:
        return values
    return values - np.linspace(*levels.line, len(values))


def _last_level(numbers: VersionNumbers, levels: Levels) -> tuple[Floats, Floats | None]:
    start = levels.starts[-1] if levels.starts else 0
    medians = None if numbers.medians is None else _without_line(numbers.medians, levels)[start:]
    return _without_line(numbers.means, levels)[start:], medians


def _step(level: Floats, n: int, variance: float, levels: Levels) -> NewestStep | None:
    """Return the step at the last n versions of a level, with p of one test."""
    m = len(level) - n
    if m < LEAST_BEFORE:
        return None
    before, newest = level[:m], level[m:]
    step = float(newest.mean() - before.mean())
    if step == 0 or ((newest - before.mean()) * np.sign(step) < abs(step) / N_NEWEST).any():
        return None
    error = sqrt(max(float(before.var(ddof=1)), variance) * (1 / n + 1 / m))
    if n > 1:
        error *= levels.widening
    half = t_quantile((1 + LEVEL) / 2, m - 1) * error
    p = float(2 * special.stdtr(m - 1, -abs(step) / error))
    return NewestStep(n, step, step - half, step + half, p)


def _against_others(level: Floats, variance: float) -> tuple[Floats, Floats]:
    """Return the distance of each version from the mean of the others, and the two-sided p of this distance."""
    m = len(level)
    centred = level - level.mean()
    distances = centred * m / (m - 1)
    others = (float(centred @ centred) - centred * distances) / (m - 2)
    error = np.sqrt(np.maximum(others, variance) * (1 + 1 / (m - 1)))
    return distances, 2 * special.stdtr(m - 2, -np.abs(distances) / error)
