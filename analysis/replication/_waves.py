"""Measure how much of a run's variation is a wave: slow periods, compared with the same run in shuffled blocks."""

from dataclasses import dataclass

import numpy as np

from analysis.runs import Floats

PERIODS = (50, 500)  # length of a wave, in iterations
BLOCK = 25  # iterations that stay together when a run is shuffled; shorter than any wave
N_SHUFFLES = 199
LARGEST_P = 0.01
MIN_RATIO = 1.25  # a share that is less above the share by chance is a very weak wave
SEED = 1


@dataclass(frozen=True)
class Wave:
    """The wave pattern of one run."""

    # Share of the variance of the iterations with periods of 50 to 500 iterations, without longer periods, which are a
    # drift or a change of level.
    share: float
    by_chance: float  # mean of this share if blocks of 25 iterations are in random order
    p: float  # share of the random orders (and the run itself) with at least this share

    @property
    def is_visible(self) -> bool:
        """Return whether the run has a wave: significantly and clearly more than by chance."""
        return self.p <= LARGEST_P and self.share >= MIN_RATIO * self.by_chance


def waves(values: Floats) -> tuple[Wave, ...]:
    """Return the wave pattern of each run, shape (n_runs, n_iterations); empty if the runs are too short.

    Values are replaced by their ranks, so that single slow iterations do not decide.
    """
    n = values.shape[1] // BLOCK * BLOCK
    if n < 2 * PERIODS[1]:
        return ()
    rng = np.random.default_rng(SEED)
    ranks = values[:, :n].argsort(axis=1).argsort(axis=1).astype(np.float64)
    spectrum = np.fft.rfft(ranks, axis=1)
    spectrum[:, : -(-n // PERIODS[1])] = 0  # the mean and periods above 500
    return tuple(_wave(run, rng) for run in np.fft.irfft(spectrum, n, axis=1))


def _wave(run: Floats, rng: np.random.Generator) -> Wave:
    blocks = run.reshape(-1, BLOCK)
    shuffled = np.stack([blocks[rng.permutation(len(blocks))].ravel() for _ in range(N_SHUFFLES)])
    if not run.any():
        return Wave(0.0, 0.0, 1.0)
    share, *others = _shares(np.vstack([run, shuffled])).tolist()
    at_least = 1 + sum(other >= share for other in others)
    return Wave(round(share, 6), round(float(np.mean(others)), 6), at_least / (N_SHUFFLES + 1))


def _shares(runs: Floats) -> Floats:
    power = np.square(np.abs(np.fft.rfft(runs, axis=1)[:, 1:]))
    periods = runs.shape[1] / np.arange(1, power.shape[1] + 1)
    inside = (periods >= PERIODS[0]) & (periods <= PERIODS[1])
    shares: Floats = power[:, inside].sum(axis=1) / power.sum(axis=1)
    return shares
