"""Prepare the runs of a benchmark once for all pairwise comparisons."""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats

Run = TypeVar("Run")

MAX_RUNS = 1000  # of more runs, a random sample is compared, because each run is compared with each other run
SEED = 0

AUTO = "auto"  # the warm-up that ends where the quick rule of `analysis.methods.steady` finds the steady state
Warmup = float | str  # a number of iterations, a share below 1, or AUTO

SAX_CUTS = (-0.6744897501960817, 0.0, 0.6744897501960817)  # the quartiles of the standard normal distribution


class MeasurementError(ValueError):
    """Raised if a measurement is NaN or infinite, or if it is negative and a measure requires numbers >= 0."""


def some_runs(runs: Sequence[Run]) -> Sequence[Run]:
    """Return the runs, or a random sample of 1000 runs (with a fixed seed) in their order if there are more."""
    if len(runs) <= MAX_RUNS:
        return runs
    chosen = np.sort(np.random.default_rng(SEED).choice(len(runs), MAX_RUNS, replace=False))
    return [runs[at] for at in chosen]


class Runs:
    """The runs of a benchmark, cut to the length of the shortest run, and intermediate results for measures.

    `runs` (shape (n_iterations,)): at least two runs of finite measurements in any unit; lengths may differ. If there
    are more than 1000 runs, a random sample of 1000 runs (with a fixed seed) is used. `drop`: Warm-up to leave out at
    the start of each run: a number of iterations, or, if below 1, a share of the length of the run (rounded down), or
    "auto" for the end of the warm-up that the quick rule finds. The default 0 leaves out nothing, as in the papers.
    `values` (shape (k, n)): the first n iterations of each run after its warm-up, where n is the length of the shortest
    run; `drop`: the parameter `drop`; `n_dropped`: number of warm-up iterations left out of each run; `n_left_out`:
    number of iterations that cutting left out, over all runs, not including the warm-up; `MeasurementError`: if a
    measurement is NaN or infinite. The message gives the run and the iteration, counted from 0 and including the
    warm-up. `ValueError`: if there are fewer than two runs, if a run is empty, not one-dimensional or has only warm-up,
    or if `drop` is negative.
    """

    def __init__(self, runs: Sequence[ArrayLike] | Floats, drop: Warmup = 0) -> None:
        series = [np.asarray(run, dtype=np.float64) for run in runs]
        if len(series) < 2:
            raise ValueError(f"at least two runs are needed, got {len(series)}")
        for index, run in enumerate(series):
            if run.ndim != 1 or not len(run):
                raise ValueError(f"run {index} must be a series of measurements, got shape {run.shape}")
            if not np.isfinite(run).all():
                at = int(np.flatnonzero(~np.isfinite(run))[0])
                raise MeasurementError(f"run {index}, iteration {at}: {run[at]} is not a finite measurement")
        self.drop = checked_drop(drop)
        self.n_dropped = [n_warmup(run, drop, f"run {index}") for index, run in enumerate(runs)]
        kept = some_runs([run[n_dropped:] for run, n_dropped in zip(series, self.n_dropped, strict=True)])
        n = min(len(run) for run in kept)
        self.values: Floats = np.stack([run[:n] for run in kept])
        self.values.setflags(write=False)  # read-only, because several classifiers share this object
        self.n_left_out = sum(len(run) for run in kept) - self.values.size
        self.k, self.n = self.values.shape
        self.i, self.j = np.triu_indices(self.k, 1)
        self.computed: dict[str, Floats] = {}  # measure -> values of all pairs
        self.m2_exceeds: dict[float, bool] = {}  # theta -> whether the mean of M2 exceeds it

    @classmethod
    def of(cls, runs: "Sequence[ArrayLike] | Runs", drop: Warmup = 0) -> "Runs":
        """Prepare the runs; return `runs` itself if they are already prepared.

        Raise ValueError if prepared runs have a different warm-up.
        """
        if not isinstance(runs, Runs):
            return cls(runs, drop)
        if runs.drop != drop:
            raise ValueError(f"the runs were prepared with drop = {runs.drop}, not {drop}")
        return runs

    @cached_property
    def is_constant(self) -> NDArray[np.bool_]:
        """Return which runs are constant."""
        constant: NDArray[np.bool_] = self.values.min(axis=1) == self.values.max(axis=1)
        return constant

    @cached_property
    def scaled(self) -> Floats:
        """Return the values, scaled so that the largest value is near 1.

        The factor is a power of two, so the scaling is exact and squares cannot overflow.
        """
        exponent = int(np.frexp(np.abs(self.values).max())[1])
        scaled: Floats = np.ldexp(self.values, -exponent)
        return scaled

    @cached_property
    def centred(self) -> Floats:
        """Return the scaled values minus the mean of the run; the result is exactly 0 for a constant run."""
        centred: Floats = self.scaled - self.scaled.mean(axis=1, keepdims=True)
        centred[self.is_constant] = 0.0
        return centred

    @cached_property
    def gram(self) -> Floats:
        """Return the inner products of the scaled runs, shape (k, k)."""
        return _gram(self.scaled)

    @cached_property
    def centred_gram(self) -> Floats:
        """Return the inner products of the centred runs, shape (k, k)."""
        residue = self.centred.mean(axis=1)  # rounding error of the mean, which is important if a run hardly varies
        products: Floats = _gram(self.centred) - self.n * np.outer(residue, residue)
        return products

    @cached_property
    def sax_strings(self) -> list[bytes]:
        """Return each run as a string of the letters a to d, one letter per iteration."""
        sd = self.centred.std(axis=1, ddof=1, keepdims=True) if self.n > 1 else np.zeros((self.k, 1))
        z = ratio(self.centred, np.broadcast_to(sd, self.centred.shape))
        letters = sum((z > cut).astype(np.uint8) for cut in SAX_CUTS) + np.uint8(ord("a"))
        return [row.tobytes() for row in np.asarray(letters, dtype=np.uint8)]

    def require_nonnegative(self) -> None:
        """Raise `MeasurementError` for the first negative measurement."""
        if (self.values < 0).any():
            run, at = (int(x) for x in np.argwhere(self.values < 0)[0])
            raise MeasurementError(
                f"run {run}, iteration {at + self.n_dropped[run]}: {self.values[run, at]} is negative"
            )


def checked_drop(drop: Warmup) -> Warmup:
    """Return the warm-up; raise ValueError if it is no number of iterations, no share below 1 and not "auto"."""
    if drop == AUTO:
        return drop
    if isinstance(drop, str) or not 0 <= drop < np.inf or (drop > 1 and drop != int(drop)):
        raise ValueError(f"drop must be a number of iterations or a share below 1, got {drop}")
    return drop


def n_warmup(run: ArrayLike, drop: Warmup, which: str = "a run") -> int:
    """Return the number of warm-up iterations of a run; raise ValueError if no other iteration remains."""
    if isinstance(drop, str):
        from analysis.runs.steady import quick_rule

        return quick_rule(run).n_warmup
    n_iterations = len(np.asarray(run))
    if drop < 1:
        return min(
            int(drop * n_iterations + 1e-9), n_iterations - 1
        )  # rounding must not change the number: 0.29 of 3000 is 870
    n_dropped = int(drop)
    if n_dropped >= n_iterations:
        raise ValueError(f"{which} has {n_iterations} iterations, all of them warm-up with drop = {drop}")
    return n_dropped


def _gram(values: Floats) -> Floats:
    products: Floats = values @ values.T
    return products


def ratio(numerator: Floats, denominator: Floats, *, otherwise: float = 0.0) -> Floats:
    """Return numerator / denominator where the denominator is > 0, and `otherwise` elsewhere."""
    if denominator.size and denominator.min() > 0:
        return numerator / denominator
    quotient = np.full(numerator.shape, otherwise)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient
