"""How far two runs of one benchmark are apart: M1 to M5 of the heuristic, the four of SAME, and their registry.

Every measure is computed for all pairs i < j of k runs at once. What several measures share (the inner
products of the runs, the pooled order of their values) is computed once and kept in `Runs`.

References
----------
Bauer et al. (2023), ICPE '23 Companion, doi:10.1145/3578245.3584693 (M1 to M5)
Leznik et al. (2022), ICPE '22, doi:10.1145/3489525.3511677 (the four of SAME)
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

MIN_ITERATIONS = 50
TOO_SHORT = "too short for pattern measures"
SAX_CUTS = (-0.6744897501960817, 0.0, 0.6744897501960817)
ZLIB_LEVEL = 6

Floats = NDArray[np.float64]


class MeasurementError(ValueError):
    """A measurement that cannot be judged: NaN, infinite, or negative where a measure forbids it."""


class Runs:
    """The runs of one benchmark, cut to the shortest, with everything that several measures share.

    Parameters
    ----------
    runs : sequence of array_like of float, each of shape (n_iterations,)
        At least two runs of finite measurements in any unit; lengths may differ.

    Attributes
    ----------
    values : ndarray of float, shape (k, n)
        The first n iterations of each run, n being the length of the shortest.
    n_left_out : int
        Iterations left out by cutting, over all runs.

    Raises
    ------
    MeasurementError
        If a measurement is NaN or infinite; run and iteration are counted from 0.
    ValueError
        If there are fewer than two runs, or a run is empty or not one-dimensional.
    """

    def __init__(self, runs: Sequence[ArrayLike] | Floats) -> None:
        series = [np.asarray(run, dtype=np.float64) for run in runs]
        if len(series) < 2:
            raise ValueError(f"at least two runs are needed, got {len(series)}")
        for index, run in enumerate(series):
            if run.ndim != 1 or not len(run):
                raise ValueError(f"run {index} must be a series of measurements, got shape {run.shape}")
            if not np.isfinite(run).all():
                at = int(np.flatnonzero(~np.isfinite(run))[0])
                raise MeasurementError(f"run {index}, iteration {at}: {run[at]} is not a finite measurement")
        n = min(len(run) for run in series)
        self.values: Floats = np.stack([run[:n] for run in series])
        self.n_left_out = sum(len(run) for run in series) - self.values.size
        self.k, self.n = self.values.shape
        self.i, self.j = np.triu_indices(self.k, 1)
        self.computed: dict[str, Floats] = {}  # measure -> its values for all pairs

    @cached_property
    def is_constant(self) -> NDArray[np.bool_]:
        """Which runs have no variation at all."""
        constant: NDArray[np.bool_] = self.values.min(axis=1) == self.values.max(axis=1)
        return constant

    @cached_property
    def scaled(self) -> Floats:
        """Values times a power of two that brings the largest near 1: exact, and their squares cannot overflow."""
        exponent = int(np.frexp(np.abs(self.values).max())[1])
        scaled: Floats = np.ldexp(self.values, -exponent)
        return scaled

    @cached_property
    def centred(self) -> Floats:
        """Scaled values less the mean of their run; exactly 0 for a constant run."""
        centred: Floats = self.scaled - self.scaled.mean(axis=1, keepdims=True)
        centred[self.is_constant] = 0.0
        return centred

    @cached_property
    def gram(self) -> Floats:
        """Inner products of the scaled runs, shape (k, k)."""
        return _gram(self.scaled)

    @cached_property
    def centred_gram(self) -> Floats:
        """Inner products of the centred runs, shape (k, k)."""
        return _gram(self.centred)

    @cached_property
    def sax_strings(self) -> list[bytes]:
        """Each run as a string of the letters a to d, one an iteration."""
        sd = self.centred.std(axis=1, ddof=1, keepdims=True) if self.n > 1 else np.zeros((self.k, 1))
        z = _ratio(self.centred, np.broadcast_to(sd, self.centred.shape))
        letters = sum((z > cut).astype(np.uint8) for cut in SAX_CUTS) + np.uint8(ord("a"))
        return [row.tobytes() for row in np.asarray(letters, dtype=np.uint8)]

    def require_nonnegative(self) -> None:
        """Raise `MeasurementError` at the first negative measurement."""
        if (self.values < 0).any():
            run, at = (int(x) for x in np.argwhere(self.values < 0)[0])
            raise MeasurementError(f"run {run}, iteration {at}: {self.values[run, at]} is negative")


@dataclass(frozen=True)
class Measure:
    """One dissimilarity: 0 for the same run, growing to 1.

    Attributes
    ----------
    name, title : str
        Key in `MEASURES`, and what people call it.
    pairs : callable
        `Runs` -> ndarray of float, shape (k(k-1)/2,): the pairs i < j in row order.
    symmetric : bool
        d(x, y) = d(y, x).
    scale_invariant, offset_invariant : bool
        Unchanged if either run alone is multiplied by a positive number, or shifted.
    common_scale_invariant : bool
        Unchanged if both runs are multiplied by the same positive number (the unit of measurement).
    monotone_invariant : bool
        Unchanged by any strictly increasing map applied to both runs.
    zero_for_same : bool
        d(x, x) = 0. Compression needs a few bytes to say "the same again".
    needs_nonnegative : bool
        Defined for measurements >= 0 only.
    min_iterations : int
        Shorter runs are refused by the classifiers.
    """

    name: str
    title: str
    pairs: Callable[[Runs], Floats]
    symmetric: bool = True
    scale_invariant: bool = False
    offset_invariant: bool = False
    common_scale_invariant: bool = True
    monotone_invariant: bool = False
    zero_for_same: bool = True
    needs_nonnegative: bool = False
    min_iterations: int = MIN_ITERATIONS

    def function(self, x: ArrayLike, y: ArrayLike) -> float:
        """The dissimilarity of two runs.

        Parameters
        ----------
        x, y : array_like of float, shape (n_iterations,)
            Two runs of finite measurements; the longer one is cut.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        MeasurementError
            If a measurement is NaN or infinite, or negative where `needs_nonnegative`.
        """
        return float(self.of_pairs(Runs([x, y]))[0])

    def of_pairs(self, runs: Runs) -> Floats:
        """The dissimilarities of all pairs i < j, shape (k(k-1)/2,); raises as `function` does."""
        if self.name not in runs.computed:  # two classifiers may use the same measure
            if self.needs_nonnegative:
                runs.require_nonnegative()
            runs.computed[self.name] = self.pairs(runs)
        return runs.computed[self.name]

    __call__ = function


def correlation(runs: Runs) -> Floats:
    """M1: 1 - max(rho, 0), Pearson; one constant run: rho = 0, two: rho = 1."""
    rho = _cosines(runs.centred_gram, runs)
    both_constant = runs.is_constant[runs.i] & runs.is_constant[runs.j]
    return 1 - _within_unit(np.where(both_constant, 1.0, rho))


def compression(runs: Runs) -> Floats:
    """M2: clip(2 c(xy) / (c(x) + c(y)) - 1, 0, 1), c = length of the compressed SAX string."""
    strings = runs.sax_strings
    alone = np.array([len(zlib.compress(s, ZLIB_LEVEL)) for s in strings], dtype=float)
    together = np.array(list(_concatenation_lengths(strings)), dtype=float)
    return _within_unit(2 * together / (alone[runs.i] + alone[runs.j]) - 1)


def fourier(runs: Runs) -> Floats:
    """M3: ||X - Y|| / (||X|| + ||Y||) of the Fourier coefficients without the mean.

    By Parseval's theorem this is the same ratio of the centred series, so nothing is transformed.
    """
    return _norm_ratio(runs.centred, runs.centred_gram, runs)


def fourier_with_mean(runs: Runs) -> Floats:
    """M3 as printed in the paper: all Fourier coefficients, the mean among them."""
    return _norm_ratio(runs.scaled, runs.gram, runs)


def cosine_clipped(runs: Runs) -> Floats:
    """M4: 1 - max(<x, y> / (||x|| ||y||), 0)."""
    return 1 - _within_unit(_cosines(runs.gram, runs))


def kolmogorov_smirnov(runs: Runs) -> Floats:
    """M5: the largest distance of the two empirical distribution functions, ties exact."""
    pooled = runs.values.ravel()
    order = np.argsort(pooled)
    ordered = pooled[order]
    is_end = np.append(ordered[1:] != ordered[:-1], True)  # compare only where a group of ties is complete
    owner = (order // runs.n).astype(np.int16)
    integer = np.int16 if runs.n <= np.iinfo(np.int16).max else np.int32
    # below[r, t]: how many measurements of run r are <= the t-th distinct value
    below = np.stack([np.cumsum(owner == r, dtype=integer)[is_end] for r in range(runs.k)])
    largest = [np.abs(below[i + 1 :] - below[i]).max(axis=1) for i in range(runs.k - 1)]
    distances: Floats = np.concatenate(largest) / runs.n
    return distances


def cosine(runs: Runs) -> Floats:
    """SAME: 1 - <x, y> / (||x|| ||y||)."""
    return 1 - _within_unit(_cosines(runs.gram, runs))  # no cosine of non-negative runs is below 0


def wave_hedges(runs: Runs) -> Floats:
    """SAME: mean over t of |x_t - y_t| / max(x_t, y_t), 0 where both are 0."""
    means = []
    for i in range(runs.k - 1):
        x, y = runs.values[i], runs.values[i + 1 :]
        larger = np.maximum(x, y)
        share = _ratio(np.minimum(x, y), larger, otherwise=1.0)
        means.append(1 - share.mean(axis=1))
    return np.concatenate(means)


def kumar_hassebrook(runs: Runs) -> Floats:
    """SAME: 1 - <x, y> / (||x||^2 + ||y||^2 - <x, y>), 0 where both are all 0."""
    square = np.diag(runs.gram)
    squared_distance = _squared_distances(runs.scaled, runs.gram, runs)
    union = square[runs.i] + square[runs.j] - runs.gram[runs.i, runs.j]
    # 1 - xy / (xx + yy - xy) = ||x - y||^2 / (xx + yy - xy), without the cancellation
    return _ratio(squared_distance, union)


def scaled_rmse(runs: Runs) -> Floats:
    """SAME: root of the mean squared difference over the range of both runs, 0 if the range is 0."""
    low, high = runs.scaled.min(axis=1), runs.scaled.max(axis=1)
    span = np.maximum(high[runs.i], high[runs.j]) - np.minimum(low[runs.i], low[runs.j])
    rmse = np.sqrt(_squared_distances(runs.scaled, runs.gram, runs) / runs.n)
    return _ratio(rmse, span)


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
        Measure("m4", "cosine, not below 0", cosine_clipped, scale_invariant=True),
        Measure("m5", "Kolmogorov-Smirnov", kolmogorov_smirnov, monotone_invariant=True),
        Measure("cosine", "cosine", cosine, scale_invariant=True, needs_nonnegative=True),
        Measure("wave_hedges", "Wave-Hedges", wave_hedges, needs_nonnegative=True),
        Measure("kumar_hassebrook", "Kumar-Hassebrook", kumar_hassebrook, needs_nonnegative=True),
        Measure("scaled_rmse", "scaled RMSE", scaled_rmse, needs_nonnegative=True),
    ]
)  # fmt: skip


def _within_unit(values: Floats) -> Floats:
    clipped: Floats = np.clip(values, 0, 1)
    return clipped


def _ratio(numerator: Floats, denominator: Floats, *, otherwise: float = 0.0) -> Floats:
    """numerator / denominator where the denominator is > 0, `otherwise` elsewhere."""
    ratio = np.full(numerator.shape, otherwise)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio


def _gram(values: Floats) -> Floats:
    products: Floats = values @ values.T
    return products


def _cosines(gram: Floats, runs: Runs) -> Floats:
    """<x, y> / (||x|| ||y||) of all pairs; two zero runs are alike, one zero run is like nothing."""
    square = np.diag(gram)
    xx, yy = square[runs.i], square[runs.j]
    # sqrt(xx yy), not sqrt(xx) sqrt(yy): exactly xx for equal runs
    return np.where((xx == 0) & (yy == 0), 1.0, _ratio(gram[runs.i, runs.j], np.sqrt(xx * yy)))


def _squared_distances(values: Floats, gram: Floats, runs: Runs) -> Floats:
    """||x - y||^2 of all pairs, from the inner products where that is precise and directly where it is not."""
    square = np.diag(gram)
    total = square[runs.i] + square[runs.j]
    squared: Floats = total - 2 * gram[runs.i, runs.j]
    for pair in np.flatnonzero(squared < 1e-6 * total):  # the difference of two nearly equal sums has lost its digits
        difference = values[runs.i[pair]] - values[runs.j[pair]]
        squared[pair] = difference @ difference
    return squared


def _norm_ratio(values: Floats, gram: Floats, runs: Runs) -> Floats:
    norm = np.sqrt(np.diag(gram))
    total = norm[runs.i] + norm[runs.j]
    distance = np.sqrt(_squared_distances(values, gram, runs))
    return _within_unit(_ratio(distance, total))


def _concatenation_lengths(strings: Sequence[bytes]) -> Iterable[int]:
    """Compressed length of run i followed by run j, for all i < j in row order.

    The compressor's state after run i is copied for every j. With a window of 8 kB, instead of zlib's 32 kB, the
    copy is cheap, and the length is the same as long as both runs fit into the window and into one block.
    """
    n = len(strings[0])
    for i, first in enumerate(strings[:-1]):
        if 2 * n + 262 <= 1 << _WINDOW_BITS:
            started = zlib.compressobj(ZLIB_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL)
            head = len(started.compress(first))
            for second in strings[i + 1 :]:
                both = started.copy()
                yield head + len(both.compress(second)) + len(both.flush())
        else:
            for second in strings[i + 1 :]:
                yield len(zlib.compress(first + second, ZLIB_LEVEL))


_WINDOW_BITS, _MEMORY_LEVEL = 13, 6
