"""What labels can identify, and the rates of reviewers and classifiers with their precision."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.arrays import Bools, Floats, Ints
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.raters.consensus._model import (
    EPS,
    PREVALENCE_PRIOR,
    Patterns,
    Theta,
    all_cells,
    all_sets,
    by_stratum,
    expected_counts,
    fit,
    log_probability,
    parameter_se,
    patterns_of,
    posterior,
    prevalence_se,
    rank,
    rater_priors,
    reachable,
    rows_of,
    verdict_table,
    with_rows,
)
from analysis.statistics.intervals import Estimate, checked_level
from analysis.statistics.results import Result

THIRD = "a third label on split items"
OVERLAP = "10 to 20 % of the items labelled by all reviewers"
OVERLAP_OF_THREE = "10 to 20 % of the items labelled by three reviewers"
THREE = "three labels on every item (k = 3)"
CLASSIFIER = "the verdicts of a classifier as an additional rater"
CLASSIFIERS = "the verdicts of two classifiers as additional raters"
WEAK = "the labels contain no more information about the prevalence than its prior, so intervals depend on the priors"
_A, _B = PREVALENCE_PRIOR
PRIOR_SD = (_A * _B / (_A + _B + 1)) ** 0.5 / (_A + _B)
STRATA = "strata of items that differ in prevalence, such as applications"


NO_LABELS = pd.DataFrame({"item": [], "rater": [], "category": []}, dtype=object)


@dataclass(frozen=True, repr=False)
class Identifiability(Result):
    """The result of a check whether the labels of a design can determine the parameters of a latent class model."""

    # Rank of the Fisher information: the number of parameters, or combinations of them, that can be estimated.
    rank: int
    # Number of parameters: one prevalence per stratum, and one sensitivity and one specificity per rater.
    n_parameters: int
    identified: bool  # whether all parameters can be estimated and the data are sufficient
    unknown: tuple[str, ...]  # the parameters that cannot be estimated
    words: str  # the result as a sentence
    remedies: tuple[str, ...] = ()  # changes of this design, each of which alone would identify all parameters
    # Standard error of the prevalence from the labels alone, without priors (Fisher information at the fit). None
    # for a plan, or if the prevalence is not identified.
    prevalence_se: float | None = None
    # Whether `prevalence_se` exceeds the standard deviation of the prior. In this case, intervals depend on the
    # priors.
    weak: bool = False


def identifiability(
    labels: pd.DataFrame, verdicts: pd.DataFrame | None = None, *, strata: "pd.Series | None" = None
) -> Identifiability:
    """Check whether the labels of a study can determine all parameters, by the rank of the information [1]_.

    Two labels per item are never enough, for any number of reviewers and items: prevalence and all error rates can
    change together without any effect on the labels. For example, with four reviewers, the rank is 8, but there are 9
    parameters. Raises ValueError if a table is invalid, or an item is in no stratum or in two.

    `labels`: label table of reviewers: columns item, rater, category; any number of labels per item. Third labels are
    allowed, because label patterns that the design cannot produce are recognised and ignored. `verdicts`: verdicts of
    classifiers, which count as additional raters: columns item, classifier, verdict (None if there is no verdict);
    `strata`: the stratum of each item. Prevalence may differ between strata; the error rates of a rater are the same in
    all strata [2]_. The parameters are also not identified if there are no labels, only one category, or fewer items
    than parameters; `words` gives the reason. If there are few items, or if reviewers are hardly better than chance, a
    design can be identified although the labels contain little information. The result is then called weak.

    References
    ----------
    .. [1] Jones et al. (2010), Biometrics 66:855-863, doi:10.1111/j.1541-0420.2009.01330.x
    .. [2] Hui, Walter (1980), Biometrics 36:167-171, doi:10.2307/2530508
    """
    patterns = patterns_of(labels, verdicts, strata)
    return identified(patterns, fit(patterns))[0]


def identifiability_of_plan(blocks: Sequence[Sequence[str]], *, n_classifiers: int = 0) -> Identifiability:
    """Check whether a planned design can determine all parameters, before anyone labels items.

    Raises ValueError if `n_classifiers` is negative.

    `blocks`: the sets of reviewers that label items together. If the plan has overlap, include the set of all
    reviewers. `n_classifiers`: number of classifiers that count as raters, each with a verdict on every item. The
    parameters are not identified if there is no block.
    """
    if n_classifiers < 0:
        raise ValueError(f"n_classifiers must be >= 0, got {n_classifiers}")
    reviewers = sorted({reviewer for block in blocks for reviewer in block}, key=str)
    has_label = np.ones((len(blocks), len(reviewers) + n_classifiers), dtype=bool)
    for row, block in zip(has_label, blocks, strict=True):
        row[: len(reviewers)] = [reviewer in block for reviewer in reviewers]
    names = (*reviewers, *(f"classifier {i + 1}" for i in range(n_classifiers)))
    nothing = replace(patterns_of(NO_LABELS), raters=names, n_reviewers=len(reviewers))
    return _judgement(all_cells(has_label, np.zeros(len(has_label), dtype=np.int64), nothing)[0], None)[0]


def identified(patterns: Patterns, mode: Theta) -> tuple[Identifiability, Bools]:
    """Return the identifiability, and whether each prevalence, sensitivity and specificity is identified.

    `mode` is the fit. It determines the expected patterns, and the precision of the prevalence from labels alone.
    """
    cells, expected = reachable(patterns, mode)
    reason = _too_little(patterns)
    judgement, unknown = _judgement(cells, reason)
    if judgement.identified:
        weight = by_stratum(patterns.n[None, :].astype(float), patterns)[0] / len(patterns.items)
        judgement = _with_precision(judgement, prevalence_se(cells, expected, mode, weight))
    return judgement, ~unknown if reason is None else np.zeros_like(unknown)


def _with_precision(judgement: Identifiability, se: float) -> Identifiability:
    weak = se > PRIOR_SD
    words = f"{judgement.words}, but weakly: {WEAK}" if weak else judgement.words
    return replace(judgement, prevalence_se=se, weak=weak, words=words)


def identified_patterns(patterns: Patterns, is_known: Bools) -> Bools:
    """Return which patterns have an identified posterior.

    The posterior of a pattern is identified if the prevalence and all rates of the raters in the pattern are
    identified.
    """
    pi, se, sp = np.split(is_known, np.cumsum([len(patterns.strata), len(patterns.raters)]))
    is_identified: Bools = pi[patterns.stratum] & (patterns.seen @ ~(se & sp) == 0)
    return is_identified


def _too_little(patterns: Patterns) -> str | None:
    """Return the reason if there are too few data for any design; None if there are enough."""
    n_items, n_parameters = len(patterns.items), patterns.n_parameters
    if n_items == 0:
        return "no labels"
    if not patterns.positive.any() or not patterns.negative.any():
        return "only one category was used"
    if n_items < n_parameters:
        return f"{n_items} {'item' if n_items == 1 else 'items'} cannot determine {n_parameters} parameters"
    return None


def _judgement(cells: Patterns, reason: str | None) -> tuple[Identifiability, Bools]:
    """Return the identifiability of a design from its possible patterns, and which parameters are not identified."""
    (n_identified, unknown), n = rank(cells), cells.n_parameters
    names = _parameter_names(cells.strata, cells.raters)
    if reason is not None:
        return Identifiability(n_identified, n, False, tuple(names), f"not identified: {reason}"), unknown
    if n_identified == n:
        return Identifiability(
            n_identified, n, True, (), f"identified: labels of this design determine all {n} parameters"
        ), unknown
    missing = tuple(name for name, is_unknown in zip(names, unknown, strict=True) if is_unknown)
    rest = "" if len(missing) == n else f"; unknown: {', '.join(missing)}"
    words = f"not identified: labels of this design determine only {n_identified} of {n} parameters{rest}"
    remedies = [remedy for remedy, other in _remedies(cells) if rank(other)[0] == other.n_parameters]
    if CLASSIFIER in remedies and CLASSIFIERS in remedies:
        remedies.remove(CLASSIFIERS)
    return Identifiability(n_identified, n, False, missing, words, tuple(remedies)), unknown


def _remedies(cells: Patterns) -> Iterator[tuple[str, Patterns]]:
    """Yield the name of each possible change of the design, and the label patterns that would then occur."""
    labels, stratum, n_reviewers = rows_of(cells), cells.stratum, max(cells.n_reviewers, 3)
    yield THIRD, with_rows(cells, *_with_third(labels, stratum, cells.n_reviewers))
    n_more = n_reviewers - cells.n_reviewers
    raters = (*range(n_reviewers), *cells.raters[cells.n_reviewers :])
    wide = np.insert(labels, [cells.n_reviewers] * n_more, -1, axis=1)
    wider = with_rows(cells, wide, stratum, raters=raters, n_reviewers=n_reviewers)
    for words, k in ((OVERLAP_OF_THREE if n_more else OVERLAP, n_reviewers), (THREE, 3)):
        sets = all_sets(n_reviewers, k)
        sets = np.hstack([sets, np.zeros((len(sets), len(raters) - n_reviewers), dtype=bool)])
        added = all_cells(sets, np.zeros(len(sets), dtype=np.int64), wider)[0]
        yield words, with_rows(wider, np.vstack([wide, rows_of(added)]), np.r_[stratum, added.stratum])
    for words, n in ((CLASSIFIER, 1), (CLASSIFIERS, 2)):
        verdicts = np.indices((2,) * n, dtype=np.int8).reshape(n, -1).T
        patterns = np.hstack([np.repeat(labels, 2**n, axis=0), np.tile(verdicts, (len(labels), 1))])
        yield words, with_rows(cells, patterns, np.repeat(stratum, 2**n), raters=(*cells.raters, *range(n)))
    if len(cells.strata) == 1:
        yield STRATA, with_rows(cells, np.vstack([labels, labels]), np.r_[stratum, stratum + 1], strata=(0, 1))


def _with_third(labels: NDArray[np.int8], stratum: Ints, n_reviewers: int) -> tuple[NDArray[np.int8], Ints]:
    """Add a third label to items on which two reviewers disagree.

    Return patterns for each other reviewer and both categories.
    """
    of_reviewers = labels[:, :n_reviewers]
    split = (of_reviewers == 0).any(axis=1) & (of_reviewers == 1).any(axis=1) & ((of_reviewers >= 0).sum(axis=1) == 2)
    rows, strata = [labels[~split]], [stratum[~split]]
    for reviewer, label in np.ndindex(n_reviewers, 2):
        is_added = split & (labels[:, reviewer] < 0)
        rows.append(labels[is_added])
        rows[-1][:, reviewer] = label
        strata.append(stratum[is_added])
    return np.vstack(rows), np.concatenate(strata)


def _parameter_names(strata: Sequence[object], raters: Sequence[object]) -> list[str]:
    prevalences = ["prevalence"] if len(strata) == 1 else [f"prevalence of {stratum}" for stratum in strata]
    return [*prevalences, *(f"sensitivity of {r}" for r in raters), *(f"specificity of {r}" for r in raters)]


_N_CHAINS = 4
_BURN_IN = 5  # at the start, each chain discards one sweep for every five sweeps that it keeps


def draws(start: Theta, patterns: Patterns, *, n_sweeps: int, rng: np.random.Generator) -> Theta:
    """Draw all parameters by Gibbs sampling, with several parallel chains that start at the posterior mode.

    Each sweep has two steps [1]_. The first draws the number of dissimilar items of each pattern from a binomial
    distribution, with the current parameters. The second draws prevalence and rates from Beta distributions; Se and Sp
    are drawn in turn, each truncated so that their sum is at least 1. Each chain keeps `n_sweeps` sweeps. The draws are
    along the first axis of the result, sweep by sweep, so their number is n_sweeps times the number of chains.

    References
    ----------
    .. [1] Joseph, Gyorkos, Coupal (1995), Am. J. Epidemiol. 141:263-272, doi:10.1093/oxfordjournals.aje.a117428
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


@dataclass(frozen=True, repr=False)
class LatentPrecision(Result):
    """The intervals to expect from a latent class model if the assumptions hold."""

    prevalence: Estimate
    reviewers: tuple[RaterRates, ...]
    classifiers: tuple[RaterRates, ...]  # optimistic: as if the verdicts also helped to estimate the reviewers' rates


def latent_precision(
    blocks: Mapping[tuple[str, ...], int],
    rates: Mapping[str, tuple[float, float]],
    *,
    prevalence: float,
    classifiers: Mapping[str, tuple[float, float]] | None = None,
    level: float = 0.95,
) -> LatentPrecision:
    """Compute the intervals that a design will give, from the Fisher information at assumed rates.

    The intervals are normal, without priors, and cut at 0 and 1. An estimate that the design does not identify is
    undefined. Raises ValueError if a probability is not within (0, 1), or a reviewer has no rates.

    `blocks`: number of items of each set of reviewers that label items together; at most 8 reviewers per set; `rates`:
    assumed sensitivity and specificity of each reviewer; `prevalence`: assumed share of dissimilar items;
    `classifiers`: assumed rates of classifiers, each with a verdict on every item; each is considered alone.
    """
    checked_level(level)
    reviewers = sorted({reviewer for block in blocks for reviewer in block}, key=str)
    for name, value in (("prevalence", (prevalence,)), *rates.items(), *(classifiers or {}).items()):
        if not all(0 < x < 1 for x in value):
            raise ValueError(f"{name} must be within (0, 1), got {value}")
    missing = [reviewer for reviewer in reviewers if reviewer not in rates]
    if missing:
        raise ValueError(f"the reviewer {missing[0]!r} has no assumed rates")
    alone = _estimates(blocks, reviewers, [rates[r] for r in reviewers], prevalence, level, 0)
    n = {r: sum(m for block, m in blocks.items() if r in block) for r in reviewers}
    of_reviewers = tuple(
        RaterRates(r, n[r], alone[1 + i], alone[1 + len(reviewers) + i]) for i, r in enumerate(reviewers)
    )
    judged = []
    for name, own in (classifiers or {}).items():
        joint = _estimates(blocks, [*reviewers, name], [*(rates[r] for r in reviewers), own], prevalence, level, 1)
        m = len(reviewers) + 1
        judged.append(RaterRates(name, sum(blocks.values()), joint[m], joint[2 * m]))
    return LatentPrecision(alone[0], of_reviewers, tuple(judged))


def _estimates(
    blocks: Mapping[tuple[str, ...], int],
    raters: list[str],
    rates: list[tuple[float, float]],
    prevalence: float,
    level: float,
    n_classifiers: int,
) -> list[Estimate]:
    """Return the prevalence, all sensitivities and all specificities with their expected intervals."""
    judging = raters[len(raters) - n_classifiers :]
    has_label = np.array([[r in block or r in judging for r in raters] for block in blocks])
    like = replace(patterns_of(NO_LABELS), raters=tuple(raters), n_reviewers=len(raters) - n_classifiers)
    cells, which = all_cells(has_label.reshape(len(blocks), len(raters)), np.zeros(len(blocks), dtype=np.int64), like)
    se, sp = np.array(rates, dtype=float).reshape(-1, 2).T
    theta = Theta(np.array([[prevalence]]), se[None, :], sp[None, :])
    expected = np.array(list(blocks.values()), dtype=float)[which] * np.exp(log_probability(theta, cells)[0])
    z = float(special.ndtri((1 + level) / 2))
    found = []
    for value, error in zip((prevalence, *se, *sp), parameter_se(cells, expected, theta), strict=True):
        if np.isfinite(error):
            low, high = max(value - z * error, 0.0), min(value + z * error, 1.0)
            found.append(Estimate(float(value), float(error), float(low), float(high)))
        else:
            found.append(Estimate(None, reason="this design does not identify it"))
    return found
