"""Estimate sensitivity and specificity of classifiers by comparing them with the latent class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.consensus._fisher import Bools
from analysis.consensus._identifiability import identified_patterns
from analysis.consensus._model import EPS, Theta, posterior
from analysis.consensus._patterns import Floats, Ints, Patterns, verdict_table
from analysis.intervals import Estimate
from analysis.results import Result

_N_DRAWS = 400  # number of draws of the reviewers' parameters
_N_STEPS = 15  # steps of each classifier's chain for each draw
_TOLERANCE, _MAX_ITERATIONS = 1e-9, 10_000
_MANY_PATTERNS = 1_000  # the sum of so many binomial numbers is nearly normal
_MAX_CELLS = 1_000_000  # maximum number of draws times patterns, to limit memory


@dataclass(frozen=True, repr=False)
class RaterRates(Result):
    """Sensitivity and specificity of one rater."""

    rater: object  # name as in the table
    # Number of items that the rater labelled. For a classifier, number of items whose category the reviewers'
    # labels determine.
    n: int
    # Probability of calling a dissimilar item dissimilar, and probability of calling a similar item similar.
    sensitivity: Estimate
    specificity: Estimate


def rates_of_classifiers(
    patterns: Patterns,
    mode: Theta,
    drawn: Theta,
    is_known: Bools,
    reason: str,
    verdicts: pd.DataFrame,
    *,
    level: float,
    rng: np.random.Generator,
) -> tuple[RaterRates, ...]:
    """Estimate sensitivity and specificity of each classifier by two-step maximum likelihood, sorted by name.

    The reviewers' fit stays fixed, because a classifier must not change the truth with which it is compared. The rates
    maximise the likelihood of its verdicts; each item counts with its posterior probability. With the most probable
    category instead, both rates would be too low by 0.06 to 0.08. For each draw of the reviewers' parameters, a short
    chain draws the classifier's rates with Beta(1, 1) priors, so that verdicts do not influence the reviewers [1]_.

    References
    ----------
    .. [1] Plummer (2015), Statistics and Computing 25:37-43, doi:10.1007/s11222-014-9503-z
    """
    table = verdict_table(verdicts)
    names = sorted(pd.unique(verdicts["classifier"]), key=str)
    is_identified = identified_patterns(patterns, is_known)
    counts = np.array([_verdict_counts(patterns, table[table["rater"] == name]) * is_identified for name in names])
    counts = counts.reshape(len(names), 2, len(is_identified))
    n = counts.sum(axis=(1, 2)).tolist()
    if not any(n):
        undefined = Estimate(None, reason="no verdict on a labelled item" if is_identified.any() else reason)
        return tuple(RaterRates(name, 0, undefined, undefined) for name in names)
    value = two_step(posterior(mode, patterns), counts)
    every = max(len(drawn.pi) // _N_DRAWS, 1)
    of_draws = _drawn(posterior(drawn.rows(slice(None, None, every)), patterns), counts, value, rng)
    return tuple(_rates(name, n[c], value[:, 0, c], of_draws[:, :, c], level) for c, name in enumerate(names))


def two_step(q: Floats, counts: Ints) -> Floats:
    """Estimate Se and Sp of each classifier by maximum likelihood, with shape (2, n_fits, n_classifiers).

    `q`, with shape (n_fits, n_patterns), is the probability that an item is dissimilar, given the pattern of the
    reviewers. `counts`, with shape (n_classifiers, 2, n_patterns), has the numbers of verdicts dissimilar, then
    similar, on the items of each pattern. The likelihood is concave in (Se, Sp), so one start is enough.
    """
    rates = np.full((2, len(q), len(counts)), 0.7)
    for _ in range(_MAX_ITERATIONS):
        of_positive, of_negative = _dissimilar_share(q, rates)
        hit, miss = (counts[:, 0] * of_positive).sum(axis=2), (counts[:, 1] * of_negative).sum(axis=2)
        n_positive, n_negative = counts.sum(axis=2).T
        dissimilar, similar = hit + miss, n_positive + n_negative - hit - miss
        # A classifier without verdicts keeps its starting value, which no result uses.
        se = np.divide(hit, dissimilar, out=rates[0].copy(), where=dissimilar > 0)
        sp = np.divide(n_negative - miss, similar, out=rates[1].copy(), where=similar > 0)
        previous, rates = rates, np.clip(np.stack([se, sp]), EPS, 1 - EPS)
        if np.abs(rates - previous).max() <= _TOLERANCE:
            break
    return rates


def _drawn(q: Floats, counts: Ints, value: Floats, rng: np.random.Generator) -> Floats:
    """Draw Se and Sp of each classifier with one chain per row of `q`; return shape (2, n_fits, n_classifiers)."""
    rates = np.repeat(value, len(q), axis=1)
    positive, negative = ([np.flatnonzero(of_classifier) for of_classifier in counts[:, x]] for x in (0, 1))
    n_positive, n_negative = counts.sum(axis=2).T
    for _ in range(_N_STEPS):
        hit = _drawn_dissimilar(q, counts[:, 0], positive, rates[0], 1 - rates[1], rng)
        miss = _drawn_dissimilar(q, counts[:, 1], negative, 1 - rates[0], rates[1], rng)
        se = rng.beta(1 + hit, 1 + miss)
        sp = rng.beta(1 + n_negative - miss, 1 + n_positive - hit)
        rates = np.clip(np.stack([se, sp]), EPS, 1 - EPS)
    return rates


def _drawn_dissimilar(
    q: Floats, counts: Ints, chosen: Sequence[Ints], if_dissimilar: Floats, if_similar: Floats, rng: np.random.Generator
) -> Ints:
    """Draw how many items with one of the two verdicts are dissimilar; return shape (n_fits, n_classifiers).

    `chosen` lists the patterns with this verdict for each classifier. Other patterns are not used, because most
    patterns lack one of the verdicts.
    """
    drawn = np.zeros((len(q), len(chosen)), dtype=np.int64)
    for c, patterns in enumerate(chosen):
        if len(patterns) >= _MANY_PATTERNS:
            drawn[:, c] = _drawn_sum(q, counts[c], patterns, if_dissimilar[:, [c]], if_similar[:, [c]], rng)
    few = [c for c, patterns in enumerate(chosen) if len(patterns) < _MANY_PATTERNS]
    if not few:
        return drawn
    n = np.concatenate([counts[c, chosen[c]] for c in few])
    which, n_chosen = np.concatenate([chosen[c] for c in few]), [len(chosen[c]) for c in few]
    ends = np.cumsum(n_chosen)
    n_aside = max(_MAX_CELLS // max(len(which), 1), 1)
    for begin in range(0, len(q), n_aside):
        rows = slice(begin, begin + n_aside)
        yes = q[rows, which] * np.repeat(if_dissimilar[rows][:, few], n_chosen, axis=1)
        no = (1 - q[rows, which]) * np.repeat(if_similar[rows][:, few], n_chosen, axis=1)
        up_to = np.cumsum(rng.binomial(n, yes / (yes + no)), axis=1)
        drawn[rows, few] = np.diff(np.pad(up_to, ((0, 0), (1, 0)))[:, [0, *ends]], axis=1)
    return drawn


def _drawn_sum(
    q: Floats, n: Ints, patterns: Ints, if_dissimilar: Floats, if_similar: Floats, rng: np.random.Generator
) -> Ints:
    """Draw the sum of the binomial numbers of many patterns from the normal distribution with its mean and variance."""
    mean, variance = np.zeros(len(q)), np.zeros(len(q))
    n_aside = max(_MAX_CELLS // len(patterns), 1)
    of_pattern = n[patterns].astype(float)
    for begin in range(0, len(q), n_aside):
        rows = slice(begin, begin + n_aside)
        share = q[rows, patterns]
        yes = share * if_dissimilar[rows]
        share = yes / (yes + (1 - share) * if_similar[rows])
        mean[rows], variance[rows] = share @ of_pattern, (share * (1 - share)) @ of_pattern
    return np.clip(np.rint(rng.normal(mean, np.sqrt(variance))), 0, of_pattern.sum()).astype(np.int64)


def _dissimilar_share(q: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Compute P(dissimilar | pattern, verdict) for both verdicts, shape (n_fits, n_classifiers, n_patterns)."""
    yes, no = q[:, None, :], 1 - q[:, None, :]
    se, sp = rates[..., None]
    return yes * se / (yes * se + no * (1 - sp)), yes * (1 - se) / (yes * (1 - se) + no * sp)


def _verdict_counts(patterns: Patterns, verdicts: pd.DataFrame) -> Ints:
    """Count the dissimilar and similar verdicts of one classifier on each pattern, shape (2, n_patterns)."""
    of_item = verdicts.set_index("item")["category"].reindex(patterns.items)
    items = ((of_item == category).to_numpy() for category in (DISSIMILAR, SIMILAR))
    return np.array([np.bincount(patterns.of_item[of_verdict], minlength=len(patterns.n)) for of_verdict in items])


def _rates(name: object, n: int, value: Floats, drawn: Floats, level: float) -> RaterRates:
    if n == 0:
        undefined = Estimate(None, reason="no verdict on a labelled item")
        return RaterRates(name, 0, undefined, undefined)
    return RaterRates(name, n, *(estimate(float(v), column, level) for v, column in zip(value, drawn, strict=True)))


def check_settings(level: float, n_sweeps: int) -> None:
    """Raise ValueError unless 0 < level < 1 and there are at least 10 Gibbs sweeps."""
    if not 0 < level < 1:
        raise ValueError(f"level must be within (0, 1), got {level}")
    if n_sweeps < 10:
        raise ValueError(f"n_sweeps must be at least 10, got {n_sweeps}")


def estimate(value: float, draws: Floats, level: float) -> Estimate:
    """Return a value with the standard deviation and the equal-tailed interval of its draws.

    If the interval does not contain the value, the interval is extended to the value. This can happen because the value
    is a mode, which can be at a limit of the range.
    """
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(draws.std()), min(float(low), value), max(float(high), value))
