"""Compute measures of the dissimilarity of two runs: M1 to M5 of the heuristic, and four measures of SAME.

Each measure is computed for all pairs i < j of k runs at once. `Runs` keeps the intermediate results that several
measures share: inner products of the runs, and the pooled order of their values.

References
----------
Bauer et al. (2023), ICPE '23 Companion, doi:10.1145/3578245.3584693 (M1 to M5) Leznik et al. (2022), ICPE '22,
doi:10.1145/3489525.3511677 (the four measures of SAME)
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats
from analysis.runs.runs import MeasurementError, Runs, ratio

__all__ = ["MEASURES", "MIN_ITERATIONS", "TOO_SHORT", "Measure", "MeasurementError", "Runs", "title_of"]

MIN_ITERATIONS = 50
TOO_SHORT = "too short for pattern measures"
ZLIB_LEVEL = 6


@dataclass(frozen=True)
class Measure:
    """A dissimilarity measure. The values are in [0, 1], and 0 means that two runs are equal."""

    name: str  # key in `MEASURES`, and display name
    title: str
    # Function that computes the measure for all pairs of runs: `Runs` -> ndarray of float, shape (k(k-1)/2,),
    # with the pairs i < j in row order.
    pairs: Callable[[Runs], Floats]
    symmetric: bool = True  # whether d(x, y) = d(y, x)
    # Whether the measure is unchanged if one of the runs is multiplied by a positive number, or shifted.
    scale_invariant: bool = False
    offset_invariant: bool = False
    # Whether the measure is unchanged if both runs are multiplied by the same positive number (another unit).
    common_scale_invariant: bool = True
    # Whether the measure is unchanged if the same strictly increasing function is applied to both runs.
    monotone_invariant: bool = False
    # Whether d(x, x) = 0. This is false for compression, because the compressor needs a few bytes to store a
    # repetition.
    zero_for_same: bool = True
    needs_nonnegative: bool = False  # whether the measure is defined only for measurements >= 0
    min_iterations: int = MIN_ITERATIONS  # minimum length of a run; classifiers give no verdict on shorter runs

    def function(self, x: ArrayLike, y: ArrayLike, *, drop: float = 0) -> float:
        """Compute the dissimilarity of two runs.

        Raises MeasurementError if a measurement is NaN or infinite, or negative although `needs_nonnegative` is true.

        `x` and `y` (shape (n_iterations,)): two runs of finite measurements; the longer run is cut to the length of the
        shorter run; `drop`: Warm-up to leave out: a number of iterations, or a share below 1. The result is in [0, 1].
        """
        return float(self.of_pairs(Runs([x, y], drop))[0])

    def of_pairs(self, runs: Runs) -> Floats:
        """Return the dissimilarities of all pairs i < j, shape (k(k-1)/2,); raise the same errors as `function`."""
        if self.name not in runs.computed:  # cached, because two classifiers may use the same measure
            if self.needs_nonnegative:
                runs.require_nonnegative()
            values = self.pairs(runs)
            values.setflags(write=False)  # read-only, because all callers share this array
            runs.computed[self.name] = values
        return runs.computed[self.name]

    __call__ = function


def correlation(runs: Runs) -> Floats:
    """Compute M1: 1 - max(rho, 0), where rho is Pearson's correlation.

    rho is 0 if one run is constant, and 1 if both are constant.
    """
    rho = _cosines(runs.centred_gram, runs)
    both_constant = runs.is_constant[runs.i] & runs.is_constant[runs.j]
    return 1 - _within_unit(np.where(both_constant, 1.0, rho))


def compression(runs: Runs) -> Floats:
    """Compute M2: 2 c(xy) / (c(x) + c(y)) - 1, limited to [0, 1]; c is the length of a compressed SAX string."""
    return _within_unit(compression_without_limits(runs))


def compression_without_limits(runs: Runs) -> Floats:
    """Compute M2 before it is limited to [0, 1]; real pairs of runs exceed 1 by a few percent."""
    lengths = np.zeros((runs.k, runs.k))
    for i, j, length in _compressed_lengths(runs.sax_strings):
        lengths[i, j] = length
    single, together = np.diag(lengths), lengths[runs.i, runs.j]
    unlimited: Floats = 2 * together / (single[runs.i] + single[runs.j]) - 1
    return unlimited


def fourier(runs: Runs) -> Floats:
    """Compute M3: ||X - Y|| / (||X|| + ||Y||), where X and Y are the Fourier coefficients without the mean.

    By Parseval's theorem, M3 is equal to the same ratio of the centred series, so no transform is needed.
    """
    return _normratio(runs, centred=True)


def fourier_with_mean(runs: Runs) -> Floats:
    """Compute M3 as printed in the paper, from all Fourier coefficients, including the mean."""
    return _normratio(runs, centred=False)


def cosine_clipped(runs: Runs) -> Floats:
    """Compute M4: 1 - max(<x, y> / (||x|| ||y||), 0)."""
    return 1 - _within_unit(_cosines(runs.gram, runs))


def cosine_with_sum(runs: Runs) -> Floats:
    """Compute M4 as printed in the paper: 1 - max(<x, y> / (||x|| + ||y||), 0); it depends on the unit."""
    norms = np.sqrt(np.square(runs.values).sum(axis=1))
    products = (runs.values @ runs.values.T)[runs.i, runs.j]
    return 1 - np.maximum(ratio(products, norms[runs.i] + norms[runs.j]), 0)


def kolmogorov_smirnov(runs: Runs) -> Floats:
    """Compute M5: the largest distance between the empirical distribution functions of two runs."""
    pooled = runs.values.ravel()
    order = np.argsort(pooled)
    ordered = pooled[order]
    is_end = np.append(ordered[1:] != ordered[:-1], True)  # compare only after the last value of each group of ties
    below = _counts_below(order // runs.n, np.flatnonzero(is_end), runs.k, runs.n)
    n_ends = below.shape[1]
    width = max(1, _BLOCK // runs.k)  # chunk size that fits into the processor's cache
    largest = np.zeros(len(runs.i), dtype=below.dtype)
    for first in range(0, n_ends, width):
        block = below[:, first : first + width]
        differences = (block[i + 1 :] - block[i] for i in range(runs.k - 1))
        within = [np.maximum(difference.max(axis=1), -difference.min(axis=1)) for difference in differences]
        np.maximum(largest, np.concatenate(within), out=largest)
    distances: Floats = largest / runs.n
    return distances


def cosine(runs: Runs) -> Floats:
    """Compute the cosine dissimilarity, a measure of SAME: 1 - <x, y> / (||x|| ||y||)."""
    return 1 - _within_unit(_cosines(runs.gram, runs))  # no cosine of non-negative runs is below 0


def wave_hedges(runs: Runs) -> Floats:
    """Compute the Wave-Hedges dissimilarity, a measure of SAME: the mean of |x_t - y_t| / max(x_t, y_t) over t.

    A term is 0 if both values are 0.
    """
    means = []
    for i in range(runs.k - 1):
        x, y = runs.values[i], runs.values[i + 1 :]
        larger = np.maximum(x, y)
        share = ratio(np.minimum(x, y), larger, otherwise=1.0)
        means.append(1 - share.mean(axis=1))
    return np.concatenate(means)


def kumar_hassebrook(runs: Runs) -> Floats:
    """Compute the Kumar-Hassebrook dissimilarity, a measure of SAME: 1 - <x, y> / (||x||^2 + ||y||^2 - <x, y>).

    The result is 0 if both runs are zero.
    """
    square = np.diag(runs.gram)
    squared_distance = _squared_distances(runs, centred=False)
    union = square[runs.i] + square[runs.j] - runs.gram[runs.i, runs.j]
    # 1 - xy / (xx + yy - xy) = ||x - y||^2 / (xx + yy - xy), without the cancellation
    return ratio(squared_distance, union)


def scaled_rmse(runs: Runs) -> Floats:
    """Compute the scaled RMSE, a measure of SAME: the root mean squared difference, divided by the range of both runs.

    The result is 0 if the range is 0.
    """
    low, high = runs.scaled.min(axis=1), runs.scaled.max(axis=1)
    span = np.maximum(high[runs.i], high[runs.j]) - np.minimum(low[runs.i], low[runs.j])
    rmse = np.sqrt(_squared_distances(runs, centred=False) / runs.n)
    return _within_unit(ratio(rmse, span))


def _registry(measures: Iterable[Measure]) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}


MEASURES: dict[str, Measure] = _registry(
    [
        Measure("m1", "correlation", correlation, scale_invariant=True, offset_invariant=True),
        Measure(
            "m2", "compression", compression,
            symmetric=False, scale_invariant=True, offset_invariant=True, zero_for_same=False,
        ),
        Measure("m3", "Fourier", fourier, offset_invariant=True),
        Measure("m3_with_mean", "Fourier with the mean", fourier_with_mean),
        Measure("m4", "clipped cosine", cosine_clipped, scale_invariant=True),
        Measure("m5", "Kolmogorov-Smirnov", kolmogorov_smirnov, monotone_invariant=True),
        Measure("cosine", "cosine", cosine, scale_invariant=True, needs_nonnegative=True),
        Measure("wave_hedges", "Wave-Hedges", wave_hedges, needs_nonnegative=True),
        Measure("kumar_hassebrook", "Kumar-Hassebrook", kumar_hassebrook, needs_nonnegative=True),
        Measure("scaled_rmse", "scaled RMSE", scaled_rmse, needs_nonnegative=True),
    ]
)  # fmt: skip


def title_of(measure: str) -> str:
    """Return the display name of a measure, such as "M1 correlation"; return the key if the measure is unknown.

    Examples
    --------
    >>> title_of("m1"), title_of("wave_hedges"), title_of("other")
    ('M1 correlation', 'Wave-Hedges', 'other')
    """
    if measure not in MEASURES:
        return measure
    number = measure[:2].upper() + " " if measure[:1] == "m" and measure[1:2].isdigit() else ""
    return f"{number}{MEASURES[measure].title}"


_BLOCK = 1 << 18  # number of counts to compare at a time


def _counts_below(
    owner: NDArray[np.intp], ends: NDArray[np.intp], k: int, n: int
) -> NDArray[np.int16] | NDArray[np.int32]:
    """Count how often each run occurs in `owner`, from the start to each of several ends.

    Return shape (k, len(ends)); entry [r, t] is the number of times that r occurs in owner[: ends[t] + 1].

    For speed, each cumulative sum counts four runs at once, because the counts of four runs share one 64-bit word.
    """
    if n > np.iinfo(np.int16).max:
        return np.stack([np.cumsum(owner == r, dtype=np.int32)[ends] for r in range(k)])
    counts = np.empty((k, len(ends)), dtype=np.int16)
    for first in range(0, k, 4):
        lanes = range(min(4, k - first))
        one_of = np.zeros(k, dtype="<u8")
        one_of[first : first + len(lanes)] = [1 << (16 * lane) for lane in lanes]
        sums = np.cumsum(np.take(one_of, owner))[ends].view("<i2")
        for lane in lanes:
            counts[first + lane] = sums[lane::4]
    return counts


def _within_unit(values: Floats) -> Floats:
    clipped: Floats = np.clip(values, 0, 1)
    return clipped


def _cosines(gram: Floats, runs: Runs) -> Floats:
    """Return <x, y> / (||x|| ||y||) of all pairs; 1 if both runs are zero, 0 if one of them is zero."""
    square = np.diag(gram)
    xx, yy = square[runs.i], square[runs.j]
    # sqrt(xx yy), not sqrt(xx) sqrt(yy): exactly xx for equal runs
    return np.where((xx == 0) & (yy == 0), 1.0, ratio(gram[runs.i, runs.j], np.sqrt(xx * yy)))


def _squared_distances(runs: Runs, *, centred: bool) -> Floats:
    """Return ||x - y||^2 of all pairs.

    The distances come from inner products if these are precise enough, and otherwise from the runs themselves.
    """
    gram = runs.centred_gram if centred else runs.gram
    square = np.diag(gram)
    total = square[runs.i] + square[runs.j]
    squared: Floats = total - 2 * gram[runs.i, runs.j]
    for pair in np.flatnonzero(
        squared < 1e-4 * total
    ):  # cancellation: the difference of two nearly equal sums loses digits
        difference = runs.scaled[runs.i[pair]] - runs.scaled[runs.j[pair]]
        if centred:
            difference = difference - difference.mean()
        squared[pair] = difference @ difference
    return squared


def _normratio(runs: Runs, *, centred: bool) -> Floats:
    norm = np.sqrt(np.diag(runs.centred_gram if centred else runs.gram))
    distance = np.sqrt(_squared_distances(runs, centred=centred))
    return _within_unit(ratio(distance, norm[runs.i] + norm[runs.j]))


def compression_exceeds(runs: Runs, theta: float) -> bool:
    """Return whether the mean of M2 across all pairs exceeds theta; stop as soon as the answer is certain.

    `theta`: threshold, exclusive. Returns the same as `compression(runs).mean() > theta`.
    """
    if theta not in runs.m2_exceeds:  # cached, because both heuristics need it
        runs.m2_exceeds[theta] = _compression_exceeds(runs, theta)
    return runs.m2_exceeds[theta]


def _compression_exceeds(runs: Runs, theta: float) -> bool:
    n_pairs = len(runs.i)
    single: dict[int, int] = {}
    total, n_done, tolerance = 0.0, 0, 1e-9 * n_pairs
    for i, j, length in _compressed_lengths(runs.sax_strings):
        if i == j:
            single[j] = length
            continue
        total += min(max(2 * length / (single[i] + single[j]) - 1, 0.0), 1.0)
        n_done += 1
        if total > theta * n_pairs + tolerance:
            return True
        if total + (n_pairs - n_done) < theta * n_pairs - tolerance:
            return False
    return bool(compression(runs).mean() > theta)  # the mean is too close to theta, so compute the exact sum


def _compressed_lengths(strings: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """Yield the compressed length of each string, and of each pair of strings.

    The results are (j, j, length of string j) for each j, then (i, j, length of string i followed by j) for i < j.

    All strings have the same length. String i is compressed only once: the compressor's state after string i is saved,
    and copied for each j. A window of 8 kB, instead of zlib's 32 kB, makes the copy fast. The lengths do not depend on
    the window as long as both strings fit into the window and into one block.
    """
    fits = 2 * len(strings[0]) + 262 <= 1 << _WINDOW_BITS
    started: list[tuple[int, Any]] = []  # bytes written so far, and the compressor's state
    for j, second in enumerate(strings):
        if not fits:
            yield j, j, len(zlib.compress(second, ZLIB_LEVEL))
            for i in range(j):
                yield i, j, len(zlib.compress(strings[i] + second, ZLIB_LEVEL))
            continue
        state = zlib.compressobj(ZLIB_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL)
        n_written = len(state.compress(second))
        yield j, j, n_written + len(state.copy().flush())
        for i, (head, before) in enumerate(started):
            compressor = before.copy()
            yield i, j, head + len(compressor.compress(second)) + len(compressor.flush())
        started.append((n_written, state))


_WINDOW_BITS, _MEMORY_LEVEL = 13, 6
