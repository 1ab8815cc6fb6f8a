"""Define the latent class model with two categories and conditional independence, and fit it by EM.

An item is dissimilar with probability pi, which depends on its stratum. Rater r calls a dissimilar item dissimilar with
probability Se_r (sensitivity), and a similar item similar with probability Sp_r (specificity). If the true category is
known, raters are independent [1]_, [2]_.

The priors are for a small study [3]_. They assume that reviewers are more often right than wrong, and assume nothing
about classifiers. For every rater, Se + Sp must be at least 1, because otherwise the two categories could be exchanged.

References
----------
.. [1] Dawid, Skene (1979), J. R. Stat. Soc. C 28:20-28, doi:10.2307/2346806
.. [2] Hui, Walter (1980), Biometrics 36:167-171, doi:10.2307/2530508
.. [3] Joseph, Gyorkos, Coupal (1995), Am. J. Epidemiol. 141:263-272, doi:10.1093/oxfordjournals.aje.a117428
.. [4] Varadhan, Roland (2008), Scand. J. Stat. 35:335-353, doi:10.1111/j.1467-9469.2007.00585.x
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from analysis.consensus._patterns import Floats, Ints, Patterns

PREVALENCE_PRIOR = (2.0, 2.0)
REVIEWER_PRIOR = (3.0, 1.5)
CLASSIFIER_PRIOR = (1.0, 1.0)

EPS = 1e-9  # probabilities keep this distance from 0 and 1, where logarithms are infinite
_TOLERANCE, _ROUGH, _MAX_ITERATIONS = 1e-8, 1e-3, 20_000
_MAX_LEAP = 64.0  # maximum length of an extrapolation, as a multiple of an EM step


@dataclass(frozen=True)
class Theta:
    """The parameters of several fits at once."""

    pi: Floats
    se: Floats
    sp: Floats

    def rows(self, which: slice | NDArray[np.bool_]) -> "Theta":
        """Return the selected fits."""
        return Theta(self.pi[which], self.se[which], self.sp[which])

    def repeated(self, n: int) -> "Theta":
        """Repeat each fit n times."""
        return Theta(*(np.repeat(x, n, axis=0) for x in (self.pi, self.se, self.sp)))

    @property
    def columns(self) -> Floats:
        """Return all parameters in one array, shape (n_fits, n_strata + 2 n_raters)."""
        return np.hstack([self.pi, self.se, self.sp])


def rater_priors(patterns: Patterns) -> tuple[Floats, Floats]:
    """Return the two parameters of the Beta priors of Se and Sp of each rater, each of shape (n_raters,)."""
    n, n_classifiers = patterns.n_reviewers, len(patterns.raters) - patterns.n_reviewers
    a, b = np.repeat([REVIEWER_PRIOR, CLASSIFIER_PRIOR], [n, n_classifiers], axis=0).T
    return a, b


def log_odds(theta: Theta, patterns: Patterns) -> Floats:
    """Return log P(dissimilar | pattern) - log P(similar | pattern), shape (n_fits, n_patterns)."""
    if_positive = np.log(theta.se / (1 - theta.sp))
    if_negative = np.log((1 - theta.se) / theta.sp)
    prior = special.logit(theta.pi)[:, patterns.stratum]
    positive, negative = patterns.marks
    odds: Floats = prior + if_positive @ positive.T + if_negative @ negative.T
    return odds


def posterior(theta: Theta, patterns: Patterns) -> Floats:
    """Return P(dissimilar | pattern), shape (n_fits, n_patterns)."""
    q: Floats = special.expit(log_odds(theta, patterns))
    return q


def log_probability(theta: Theta, patterns: Patterns) -> Floats:
    """Return log P(pattern | raters), shape (n_fits, n_patterns)."""
    prior = np.log(1 - theta.pi)[:, patterns.stratum]
    positive, negative = patterns.marks
    if_similar = prior + np.log(theta.sp) @ negative.T + np.log(1 - theta.sp) @ positive.T
    total: Floats = if_similar + np.logaddexp(0, log_odds(theta, patterns))
    return total


def log_posterior(theta: Theta, patterns: Patterns, n: Floats) -> Floats:
    """Return the log posterior of each fit, shape (n_fits,), for patterns with counts `n`.

    The constant of the log prior is left out.
    """
    likelihood = (n * log_probability(theta, patterns)).sum(axis=1)
    a, b = rater_priors(patterns)
    prior = _log_beta(theta.se, a, b) + _log_beta(theta.sp, a, b)
    total: Floats = likelihood + prior.sum(axis=1) + _log_beta(theta.pi, *PREVALENCE_PRIOR).sum(axis=1)
    return total


def expected_counts(q: Floats, patterns: Patterns, n: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Count the expected labels of each rater by true category and label.

    Return four arrays of shape (n_fits, n_raters): dissimilar items called dissimilar, dissimilar items called similar,
    similar items called similar, and similar items called dissimilar. `q`, shape (n_fits, n_patterns), is the share of
    dissimilar items among the `n` items of each pattern.
    """
    yes, no = n * q, n * (1 - q)
    positive, negative = patterns.marks
    return yes @ positive, yes @ negative, no @ negative, no @ positive


def step(q: Floats, patterns: Patterns, n: Floats) -> Theta:
    """Run the M-step: find the most probable parameters if the share of dissimilar items of each pattern is known.

    The step first finds Se and Sp of each rater separately. If Se + Sp < 1, the step then searches the line Se + Sp =
    1. The best values are on this line, because the objective is concave.
    """
    a, b = rater_priors(patterns)
    hit, miss, correct, false_alarm = expected_counts(q, patterns, n)
    hit, miss, correct, false_alarm = hit + a - 1, miss + b - 1, correct + a - 1, false_alarm + b - 1
    se, sp = _share(hit, miss), _share(correct, false_alarm)
    on_line = _share(hit + false_alarm, miss + correct)
    below = se + sp < 1
    se, sp = np.where(below, on_line, se), np.where(below, 1 - on_line, sp)
    first, second = PREVALENCE_PRIOR
    yes, every = by_stratum(n * q, patterns), by_stratum(np.broadcast_to(n, q.shape), patterns)
    pi = (yes + first - 1) / (every + first + second - 2)
    return Theta(pi, np.clip(se, EPS, 1 - EPS), np.clip(sp, EPS, 1 - EPS))


def by_stratum(values: Floats, patterns: Patterns) -> Floats:
    """Sum values over the patterns of each stratum, from shape (n_fits, n_patterns) to (n_fits, n_strata)."""
    in_stratum = patterns.stratum[:, None] == np.arange(len(patterns.strata))
    sums: Floats = values @ in_stratum.astype(float)
    return sums


def climb(
    start: Theta, patterns: Patterns, n: Floats, *, tolerance: float = _TOLERANCE, together: bool = True
) -> Theta:
    """Run EM from several starts until no parameter changes by more than `tolerance`.

    `n` has shape (n_patterns,), or (n_fits, n_patterns) if each fit has different data. The log posterior never
    decreases. If `together` is true, all fits run as many iterations as the slowest fit; otherwise each fit stops
    separately.

    An extrapolation step [4]_ follows every two iterations, unless it lowers the log posterior. Without extrapolation,
    EM would need thousands of iterations if labels hardly distinguish two parameters.
    """
    theta, n = start, np.broadcast_to(n, (len(start.pi), n.shape[-1]))
    reached, running = np.full(len(n), -np.inf), np.arange(len(n))
    stopped = [part.copy() for part in _parts(start)]
    for _ in range(_MAX_ITERATIONS):
        first = step(posterior(theta, patterns), patterns, n)
        second = step(posterior(first, patterns), patterns, n)
        moves = np.abs(first.columns - second.columns).max(axis=1, initial=0) > tolerance
        if not moves.any():
            return _put(stopped, running, second)
        theta, next_reached = _leapt(theta, first, second, patterns, n, reached)
        if not together and not moves.all():
            _put(stopped, running[~moves], second.rows(~moves))
            theta, n, next_reached, running = theta.rows(moves), n[moves], next_reached[moves], running[moves]
        reached = next_reached
    return _put(stopped, running, theta)


def _put(stopped: list[Floats], rows: Ints, theta: Theta) -> Theta:
    """Store finished fits in their rows of the array of all fits, and return all fits."""
    for part, values in zip(stopped, _parts(theta), strict=True):
        part[rows] = values
    return Theta(*stopped)


def _leapt(
    begin: Theta, first: Theta, second: Theta, patterns: Patterns, n: Floats, reached: Floats
) -> tuple[Theta, Floats]:
    """Extrapolate from two iterations, and return the parameters and their log posterior.

    If the extrapolation lowers the log posterior, return the second iteration.
    """
    here, there, beyond = (special.logit(theta.columns) for theta in (begin, first, second))
    way, bend = there - here, beyond - 2 * there + here
    length, bent = np.sqrt((way**2).sum(axis=1)), np.sqrt((bend**2).sum(axis=1))
    times = np.clip(np.divide(length, bent, out=np.ones_like(bent), where=bent > 0), 1, _MAX_LEAP)[:, None]
    rates = np.clip(special.expit(here + 2 * times * way + times**2 * bend), EPS, 1 - EPS)
    pi, se, sp = np.split(rates, np.cumsum([second.pi.shape[1], second.se.shape[1]]), axis=1)
    leap = Theta(pi, se, np.maximum(sp, 1 - se))
    height = log_posterior(leap, patterns, n)
    is_higher = height >= reached
    kept = [np.where(is_higher[:, None], *pair) for pair in zip(_parts(leap), _parts(second), strict=True)]
    return Theta(*kept), np.where(is_higher, height, reached)


def _parts(theta: Theta) -> tuple[Floats, Floats, Floats]:
    return theta.pi, theta.se, theta.sp


def starts(patterns: Patterns) -> Theta:
    """Return starting points of EM that do not depend on the order or names of raters.

    There are four kinds of starting points. The first uses the share of dissimilar labels of each item. The second has
    equal raters at a low, middle and high prevalence. The third has strict and lenient raters. The fourth has one start
    for each rater, at which only this rater is right.
    """
    n_raters, n_strata = len(patterns.raters), len(patterns.strata)
    share = _share(patterns.positive.sum(axis=1), patterns.negative.sum(axis=1))
    votes = step(share[None, :], patterns, patterns.n.astype(float))
    pi = np.array([0.2, 0.5, 0.8, 0.5, 0.5])
    se, sp = np.array([0.8, 0.8, 0.8, 0.95, 0.65]), np.array([0.8, 0.8, 0.8, 0.65, 0.95])
    one_right = np.where(np.eye(n_raters, dtype=bool), 0.95, 0.6)
    return Theta(
        np.vstack([votes.pi, np.repeat(np.r_[pi, np.full(n_raters, 0.5)][:, None], n_strata, axis=1)]),
        np.vstack([votes.se, np.repeat(se[:, None], n_raters, axis=1), one_right]),
        np.vstack([votes.sp, np.repeat(sp[:, None], n_raters, axis=1), one_right]),
    )


def fit(patterns: Patterns) -> Theta:
    """Fit the latent class model; return the posterior mode (one fit).

    EM first runs roughly from every start, and then continues from the best start until it converges.
    """
    n = patterns.n.astype(float)
    rough = climb(starts(patterns), patterns, n, tolerance=_ROUGH)
    best = int(np.argmax(log_posterior(rough, patterns, n)))
    return climb(rough.rows(slice(best, best + 1)), patterns, n)


def _log_beta(x: Floats, a: Floats | float, b: Floats | float) -> Floats:
    first, second = np.asarray(a) - 1, np.asarray(b) - 1
    return np.asarray(special.xlogy(first, x) + special.xlog1py(second, -x), dtype=float)


def _share(x: Floats, rest: Floats) -> Floats:
    """Return x / (x + rest), or 0.5 if both are 0."""
    total = x + rest
    return np.divide(x, total, out=np.full_like(total, 0.5), where=total > 0)
