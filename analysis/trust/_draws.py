"""Draw runs with replacement.

Either enumerate all multisets of runs with their probabilities, or draw at random.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from scipy import special

from analysis.runs import Floats

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
    """Return every multiset of n_runs out of m runs, with its probability n_runs! / (k_1! ... k_m!) / m^n_runs.

    Examples
    --------
    >>> all_draws(2, 2).counts.tolist(), all_draws(2, 2).weights.round(12).tolist()
    ([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], [0.25, 0.5, 0.25])
    """
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
