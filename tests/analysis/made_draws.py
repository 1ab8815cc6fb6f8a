"""Artificial runs, and the results of `analysis.trust` computed for one draw, or one pair of draws, at a time."""

import numpy as np
from scipy import stats

from analysis.samples import rank_sum, welch
from analysis.trust import MANN_WHITNEY, MERGED, RUN_MEANS, WELCH

EXACT = (MERGED, RUN_MEANS)


def rng(seed=1):
    return np.random.default_rng(seed)


def made(lengths, seed=1, between=1.0, decimals=6):
    """Generate runs with different levels; few decimals give ties."""
    random = rng(seed)
    return [np.round(10 + between * random.normal() + random.normal(size=n), decimals) for n in lengths]


def drawn(runs, which, aggregation):
    if aggregation == MERGED:
        return np.concatenate([runs[run] for run in which])
    return np.array([np.mean(runs[run]) for run in which])


def half_of(sample, level=0.95):
    sample = np.asarray(sample)
    if sample.min() == sample.max():
        return 0.0
    return stats.t.ppf((1 + level) / 2, len(sample) - 1) * stats.sem(sample)


def holds(sample, target, level=0.95):
    return sample.min() < sample.max() and abs(sample.mean() - target) <= half_of(sample, level)


def rejects(test, a, b, alpha=0.05):
    if test == WELCH:
        return welch(a, b).p <= alpha
    if test == MANN_WHITNEY:
        return rank_sum(a, b).p <= alpha
    return abs(np.mean(a) - np.mean(b)) > half_of(a) + half_of(b)
