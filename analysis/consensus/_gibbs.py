"""Draw from the posterior of the latent class model by Gibbs sampling over label patterns.

Each sweep has two steps [1]_. The first step uses the current parameters: it draws the number of dissimilar items of
each pattern from a binomial distribution. The second step uses these numbers: it draws prevalence and rates from Beta
distributions. Se and Sp (sensitivity and specificity) are drawn in turn. Their distributions are truncated, so that the
sum of Se and Sp is at least 1.

References
----------
.. [1] Joseph, Gyorkos, Coupal (1995), Am. J. Epidemiol. 141:263-272, doi:10.1093/oxfordjournals.aje.a117428
"""

import numpy as np
from scipy import special

from analysis.consensus._model import (
    EPS,
    PREVALENCE_PRIOR,
    Theta,
    by_stratum,
    expected_counts,
    posterior,
    rater_priors,
)
from analysis.consensus._patterns import Floats, Patterns

_N_CHAINS = 4
_BURN_IN = 5  # at the start, each chain discards one sweep for every five sweeps that it keeps


def draws(start: Theta, patterns: Patterns, *, n_sweeps: int, rng: np.random.Generator) -> Theta:
    """Draw all parameters with several parallel chains that start at the posterior mode, which is one fit.

    Each chain keeps `n_sweeps` sweeps. The draws are along the first axis of the result, sweep by sweep, so their
    number is n_sweeps times the number of chains.
    """
    theta = start.repeated(_N_CHAINS)
    thetas = []
    for sweep in range(-(n_sweeps // _BURN_IN), n_sweeps):
        theta = _sweep(theta, patterns, rng)
        if sweep >= 0:
            thetas.append(theta)
    return Theta(*(np.concatenate([getattr(x, name) for x in thetas]) for name in ("pi", "se", "sp")))


def _sweep(theta: Theta, patterns: Patterns, rng: np.random.Generator) -> Theta:
    n = patterns.n.astype(float)
    dissimilar = rng.binomial(patterns.n, posterior(theta, patterns))
    q = dissimilar / n
    hit, miss, correct, false_alarm = expected_counts(q, patterns, n)
    a, b = rater_priors(patterns)
    se = _beta_above(a + hit, b + miss, 1 - theta.sp, rng)
    sp = _beta_above(a + correct, b + false_alarm, 1 - se, rng)
    first, second = PREVALENCE_PRIOR
    yes, no = by_stratum(n * q, patterns), by_stratum(n * (1 - q), patterns)
    return Theta(np.clip(rng.beta(first + yes, second + no), EPS, 1 - EPS), se, sp)


def _beta_above(a: Floats, b: Floats, low: Floats, rng: np.random.Generator) -> Floats:
    """Draw values above `low` from Beta(a, b) by inverting the upper tail; return `low` if the tail is too thin."""
    tail = special.betaincc(a, b, low)
    drawn = special.betainccinv(a, b, tail * rng.random(tail.shape))
    return np.clip(np.where(tail > 0, drawn, low), EPS, 1 - EPS)
