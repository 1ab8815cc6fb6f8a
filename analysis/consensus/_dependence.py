"""Latent class models in which raters make dependent errors, and what changes without one rater.

There are three kinds of models. In the first, two raters share errors, as if one of them copied some labels of the
other. In the second, items differ in difficulty, and each item is equally difficult for all raters. In the third, a
share of the items is hard for all raters. Each kind has one more parameter than the independent model. If this
parameter is 0, both models are equal.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
from scipy import optimize, special

from analysis.consensus._model import (
    PREVALENCE_PRIOR,
    Floats,
    Patterns,
    Theta,
    all_cells,
    by_stratum,
    climb,
    combinations_of,
    log_probability,
    rank,
    rater_priors,
)
from analysis.consensus._rates import RaterRates
from analysis.intervals import Estimate, checked_level
from analysis.results import Result

N_DRAWS = 199
# Precision of refitted parameters. It is the same for the labels and for drawn data sets, because EM stops early.
_TOLERANCE = 1e-4
_MAX_CELLS = 4_000  # with more possible label patterns, the test takes too long
_MAX_RATERS = 8  # per item; combinations of more raters are not listed completely


@dataclass(frozen=True, repr=False)
class LeftOutRater(Result):
    """The largest change of the remaining parameters if the model is fitted without one rater."""

    raters_of: str  # "reviewers", or "reviewers by verdicts" with a prevalence for each combination of verdicts
    rater: object  # the rater that was left out
    parameter: str  # the parameter that changes most compared with its standard deviation
    value: float  # its value with and without the rater
    without: float
    z: float  # the change divided by its standard deviation in the bootstrap


@dataclass(frozen=True)
class Family:
    """A fitted model: of the reviewers, of the reviewers by verdicts, or of the reviewers and one classifier."""

    name: str
    patterns: Patterns
    mode: Theta


def leave_one_out(
    family: Family, *, n_draws: int = N_DRAWS, rng: np.random.Generator
) -> tuple[float | None, tuple[LeftOutRater, ...]]:
    """Return the p value of the largest change, and the change that each rater causes, by descending z.

    The distribution comes from a parametric bootstrap: label patterns are drawn from the fitted model, and the model is
    fitted again with all raters and without each of them. p is None if no rater can be left out.
    """
    patterns, mode = family.patterns, family.mode
    combined, stratum, n = combinations_of(patterns)
    if combined.sum(axis=1).max(initial=0) > _MAX_RATERS:
        return None, ()
    cells, which = all_cells(combined, stratum, patterns)
    if len(cells.stratum) > _MAX_CELLS:
        return None, ()
    drawn = _drawn(np.exp(log_probability(mode, cells)[0]), which, n, rng, n_draws)
    starts, largest = None, np.zeros(n_draws)
    changes: list[LeftOutRater] = []
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    for r, rater in enumerate(patterns.raters):
        fewer = _without(cells, r)
        kept = np.ones(patterns.n_parameters, dtype=bool)
        kept[[n_strata + r, n_strata + n_raters + r]] = False
        if rank(fewer)[1][kept].any():
            continue
        if starts is None:
            starts = climb(mode.repeated(n_draws), cells, drawn, tolerance=_TOLERANCE, together=False)
        alone = climb(mode, _without(patterns, r), patterns.n.astype(float), tolerance=_TOLERANCE)
        again = climb(starts, fewer, drawn, tolerance=_TOLERANCE, together=False)
        is_value = kept[n_strata - 1 :]
        difference = (_values(again, patterns) - _values(starts, patterns))[:, is_value]
        value, without = (_values(theta, patterns)[0, is_value] for theta in (mode, alone))
        sd = np.maximum(difference.std(axis=0), 1e-6)
        largest = np.maximum(largest, np.abs(difference / sd).max(axis=1))
        z = (without - value) / sd
        worst = int(np.abs(z).argmax())
        name = _names(patterns)[np.flatnonzero(is_value)[worst]]
        found = LeftOutRater(family.name, rater, name, float(value[worst]), float(without[worst]), float(abs(z[worst])))
        changes.append(found)
    if not changes:
        return None, ()
    changes.sort(key=lambda change: -change.z)
    return float((1 + (largest >= changes[0].z).sum()) / (1 + n_draws)), tuple(changes)


def _drawn(p: Floats, which: "np.ndarray", n: "np.ndarray", rng: np.random.Generator, n_draws: int) -> Floats:
    """Draw the number of items with each pattern for each combination of raters, shape (n_draws, n_cells)."""
    drawn = np.zeros((n_draws, len(p)))
    for combination, n_items in enumerate(n):
        cells = which == combination
        drawn[:, cells] = rng.multinomial(int(n_items), p[cells] / p[cells].sum(), size=n_draws)
    return drawn


def _without(patterns: Patterns, r: int) -> Patterns:
    """Remove the labels of one rater."""
    positive, negative = patterns.positive.copy(), patterns.negative.copy()
    positive[:, r] = negative[:, r] = 0
    return replace(patterns, positive=positive, negative=negative)


def _values(theta: Theta, patterns: Patterns) -> Floats:
    """Return the overall prevalence, all sensitivities and all specificities, shape (n_fits, 1 + 2 n_raters)."""
    weight = by_stratum(patterns.n[None, :].astype(float), patterns)[0]
    return np.hstack([theta.pi @ (weight / max(weight.sum(), 1))[:, None], theta.se, theta.sp])


def _names(patterns: Patterns) -> list[str]:
    return ["prevalence", *(f"{rate} of {r}" for rate in ("sensitivity", "specificity") for r in patterns.raters)]


SHARED = "shared errors"
DIFFICULTY = "items differ in difficulty"
HARD = "some items are hard for all raters"
OF_ITEMS = (DIFFICULTY, HARD)  # models in which items differ, not pairs of raters
HARD_BY = 2.0  # decrease of the log odds on a hard item: 88 % correct labels become 50 %
# Largest strength to fit. For difficulty 1, errors of two raters have a correlation of 0.5; hard: half of the items.
MAX_STRENGTH = {DIFFICULTY: 1.0, HARD: 0.5}
# A fit is not excluded if twice the log likelihood decreases by less than this: a one-sided level of 95 %.
NOT_EXCLUDED = 2.71
MAX_PAIRS = 6  # maximum number of pairs to fit; pairs with the largest residual correlation come first
MAX_WORK = 60_000  # models of dependence are not fitted if patterns times raters exceed this number
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_SIGNS = np.array([1.0, -1.0])[:, None, None, None]
_LOG_ROOT = 0.5 * np.log(2 * np.pi)
_STEP = 1e-4  # step of each parameter for the curvature at the mode
_ROUGH, _FINE = 1e-6, 1e-12  # tolerances of the log posterior: for the choice of the best start, and for the final fit
_NEAR = 0.1  # logits that differ by less than this are almost equal
_N_HALVINGS = 5  # number of steps in the search for the largest strength that the labels do not exclude
_SINGULAR = 1e-7  # tolerance relative to the largest eigenvalue of the information

Slope = Callable[[Floats], Floats]  # from one weight per pattern, the derivatives of a weighted sum by the parameters
Loss = Callable[[Floats], tuple[float, Floats]]  # the negative log posterior and its derivatives


@dataclass(frozen=True, repr=False)
class Dependence(Result):
    """A model of dependent errors, fitted to the same labels as the independent model.

    References
    ----------
    .. [1] Self, Liang (1987), JASA 82:605-610, doi:10.1080/01621459.1987.10478472
    """

    kind: str  # "shared errors", "items differ in difficulty" or "some items are hard for all raters"
    raters: tuple[object, ...]  # the two raters that share errors; empty for the other kinds
    # Strength of the dependence. For shared errors, the number of shared errors as a share of the largest
    # possible number, in [0, 1]. For difficulty, the standard deviation on the probit scale, >= 0. For hard
    # items, the share of hard items. None if not identified.
    strength: float | None
    lr: float | None  # twice the gain in log likelihood over the independent model
    # p of the likelihood ratio test of independence. If raters are independent, the parameter is at the limit of
    # its range, so p is half of the chi-squared p with one degree of freedom [1]_.
    p: float | None
    prevalence: Estimate
    rates: tuple[RaterRates, ...]  # posterior modes with normal intervals on the logit scale
    shift: float | None  # largest difference of a prevalence or rate from the independent model
    reason: str | None = None  # why there is no fit
    raters_of: str = "reviewers"  # "reviewers", or the classifier that was fitted with the reviewers
    # The largest strength that the labels do not exclude (profile likelihood, one-sided level of 95 %), and the
    # largest difference of a prevalence or rate up to that strength. The search ends at a difficulty of 1, or at
    # half of the items hard. None for shared errors.
    possible_strength: float | None = None
    possible_shift: float | None = None

    @property
    def words(self) -> str:
        """Describe the model in words."""
        return f"{' and '.join(map(str, self.raters))} share errors" if self.raters else self.kind


def alternatives(patterns: Patterns, mode: Theta, raters_of: str = "reviewers") -> tuple[list[Dependence], int]:
    """Fit models of dependent errors [1]_, [2]_, [3]_; also return the number of pairs that could have been fitted.

    Shared errors: among items of the same true category, the labels of two raters are still correlated. The model
    estimates their covariance as a share of the largest possible covariance, the same for both categories. Difficulty:
    each item has a normal random effect on the probit of a correct label, the same for all raters. Hard items: for a
    share of the items, the log-odds of a correct label are lower by 2. Rates are averages across all items.

    Pairs are fitted by descending residual correlation. The number counts all pairs, because any of them could have
    had the largest residual. The rates of a model are left out, because `with_rates` adds them where they are needed.

    References
    ----------
    .. [1] Vacek (1985), Biometrics 41:959-968, doi:10.2307/2530967
    .. [2] Dendukuri, Joseph (2001), Biometrics 57:158-167, doi:10.1111/j.0006-341X.2001.00158.x
    .. [3] Qu, Tan, Kutner (1996), Biometrics 52:797-810, doi:10.2307/2533043
    """
    n = patterns.n.astype(float)
    independent = _unpacked(_packed(mode), patterns)
    base = float(n @ _log_p(patterns, None)(_packed(mode))[0])
    pairs = _pairs(patterns, mode)
    kinds: list[tuple[int, int] | str] = [*OF_ITEMS, *pairs[:MAX_PAIRS]]
    found = [_fitted(patterns, mode, which, base, independent, None) for which in kinds]
    return [replace(model, raters_of=raters_of) for model in found], len(pairs)


def with_rates(model: Dependence, patterns: Patterns, mode: Theta, level: float) -> Dependence:
    """Fit one model again and add its rates with intervals."""
    n = patterns.n.astype(float)
    independent = _unpacked(_packed(mode), patterns)
    base = float(n @ _log_p(patterns, None)(_packed(mode))[0])
    i, *j = (patterns.raters.index(rater) for rater in model.raters) if model.raters else (0,)
    which: tuple[int, int] | str = (i, j[0]) if j else model.kind
    return replace(_fitted(patterns, mode, which, base, independent, level), raters_of=model.raters_of)


def _correlations(patterns: Patterns, mode: Theta) -> list[tuple[int, int, float, float, float]]:
    """Return the number of common items, the observed and the expected correlation of each pair of raters.

    Pairs without common items are left out.
    """
    rows, seen = [], patterns.seen
    for i, j in combinations(range(len(patterns.raters)), 2):
        both = seen[:, i] * seen[:, j] * patterns.n
        n = both.sum()
        if n < 2:
            continue
        pi = float(both @ mode.pi[0][patterns.stratum] / n)
        a, b = ((both * patterns.positive[:, k]).sum() / n for k in (i, j))
        ab = (both * patterns.positive[:, i] * patterns.positive[:, j]).sum() / n
        spread = (a * (1 - a) * b * (1 - b)) ** 0.5
        difference = [mode.se[0, k] + mode.sp[0, k] - 1 for k in (i, j)]
        covariance = pi * (1 - pi) * difference[0] * difference[1]
        model = [pi * mode.se[0, k] + (1 - pi) * (1 - mode.sp[0, k]) for k in (i, j)]
        scale = (model[0] * (1 - model[0]) * model[1] * (1 - model[1])) ** 0.5
        if spread > 0 and scale > 0:
            rows.append((i, j, float(n), float((ab - a * b) / spread), float(covariance / scale)))
    return rows


def _pairs(patterns: Patterns, mode: Theta) -> list[tuple[int, int]]:
    """Return the pairs of raters for which to fit shared errors.

    These are the pairs whose residual correlation is largest compared with its standard error.
    """
    ranked = sorted(_correlations(patterns, mode), key=lambda row: -(row[3] - row[4]) * row[2] ** 0.5)
    return [(i, j) for i, j, *_ in ranked]


def _packed(theta: Theta) -> Floats:
    """Return the prevalences, sensitivities and specificities of one fit as logits, in one array."""
    packed: Floats = special.logit(np.clip(np.hstack([theta.pi[0], theta.se[0], theta.sp[0]]), 1e-4, 1 - 1e-4))
    return packed


def _unpacked(x: Floats, patterns: Patterns) -> Floats:
    """Convert logits to probabilities: the prevalence across all strata, then sensitivities and specificities."""
    weight = by_stratum(patterns.n[None, :].astype(float), patterns)[0]
    rates = special.expit(x)
    n_strata = len(patterns.strata)
    prevalence = rates[:n_strata] @ weight / max(weight.sum(), 1)
    values: Floats = np.r_[prevalence, rates[n_strata : n_strata + 2 * len(patterns.raters)]]
    return values


def _log_p(patterns: Patterns, which: tuple[int, int] | str | None) -> Callable[[Floats], tuple[Floats, Slope]]:
    """Return a function that computes log P(pattern | raters), shape (n_patterns,), and its slope from the parameters.

    The slope is also a function. It takes one weight per pattern, and returns the derivatives of the weighted sum of
    log P with respect to the parameters. `which` selects the model: None for the independent model, DIFFICULTY, HARD,
    or the positions of two raters that share errors. In the arrays, the first axis is the category: dissimilar, then
    similar.
    """
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    positive, negative = patterns.positive, patterns.negative
    in_stratum = (np.arange(n_strata)[:, None] == patterns.stratum).astype(float)
    shared = _shared(patterns, which) if isinstance(which, tuple) else None

    def log_p(x: Floats) -> tuple[Floats, Slope]:
        rates = np.clip(special.expit(x[: n_strata + 2 * n_raters]), 1e-9, 1 - 1e-9)
        strength, right = _strength(x[-1:], which), rates[n_strata:].reshape(2, n_raters)
        share = rates[patterns.stratum] if n_strata > 1 else rates[0]
        shares = np.array([share, 1 - share]).reshape(2, -1)
        (hit, miss), weight, of_right, of_strength, of_weight = _nodes(right, strength, which)
        of_node = np.exp(positive @ _by_label(hit, miss) + negative @ _by_label(miss, hit))
        given = of_node @ weight
        factor, factor_slope = (1.0, None) if shared is None else shared(right, strength)
        if_either = given * factor
        p = np.maximum((shares * if_either).sum(axis=0), 1e-300)

        def slope(n: Floats) -> Floats:
            scaled = n / p * shares
            weighted = (scaled * factor)[:, :, None] * of_node
            if_positive, if_negative = positive.T @ (weighted * weight), negative.T @ (weighted * weight)
            by_label = np.array([_by_label(if_positive, if_negative), _by_label(if_negative, if_positive)])
            by_right = (by_label * of_right).sum(axis=(0, 3))
            by_strength = (by_label * of_strength).sum() + (weighted * of_weight).sum()
            if factor_slope is not None:
                of_raters, by_strength = factor_slope(scaled * given)
                by_right += of_raters
            by_pi = in_stratum @ (n / p * (if_either[0] - if_either[1]))
            by_logit = np.concatenate([by_pi, by_right.reshape(-1)]) * rates * (1 - rates)
            if which is None:
                return by_logit
            return np.concatenate([by_logit, by_strength * _strength_slope(strength, which)])

        return np.log(p), slope

    return log_p


def _by_label(if_dissimilar: Floats, if_similar: Floats) -> Floats:
    """Take the row of dissimilar items from the first array, and the row of similar items from the second."""
    return np.array([if_dissimilar[0], if_similar[1]])


def _nodes(
    right: Floats, strength: Floats, which: tuple[int, int] | str | None
) -> tuple[Floats, Floats, Floats, Floats | float, Floats | float]:
    """Compute log probabilities of a correct and of a wrong label at the difficulties (nodes) of a model.

    `right` has the shares of correct labels among all dissimilar items (Se) and among all similar items (Sp), with
    shape (2, n_raters), and `strength` has shape (1,). Return log_p, with shape (2, 2, n_raters, n_nodes), of a correct
    and of a wrong label; the share of items at each node; and the derivatives of log_p by `right`, of log_p by
    `strength`, and of the shares by `strength`.
    """
    right = right[:, :, None]
    if which == DIFFICULTY:
        scale, mean = np.sqrt(1 + strength**2), special.ndtri(right)
        at = mean * scale + strength * _NODES
        both = np.array([at, -at])
        log_p = special.log_ndtr(both)
        by_at = np.exp(-0.5 * at**2 - _LOG_ROOT - log_p) * _SIGNS
        at_by_right, at_by_strength = scale * np.exp(0.5 * mean**2 + _LOG_ROOT), mean * strength / scale + _NODES
        return log_p, _WEIGHTS, by_at * at_by_right, by_at * at_by_strength, 0.0
    if which == HARD:
        # The odds t of a correct label on easy items solve right = (1 - h) t / (1 + t) + h c t / (1 + c t).
        h, c = strength[0], np.exp(-HARD_BY)
        a, b = c * (1 - right), (1 - h) + h * c - right * (1 + c)
        odds = (np.sqrt(b**2 + 4 * a * right) - b) / (2 * a) * np.array([1.0, c])
        miss, weight = 1 / (1 + odds), np.array([1 - h, h])
        hit = odds * miss
        by_log_t = ((hit * miss) @ weight)[:, :, None]
        log_t_by_h = (hit[:, :, :1] - hit[:, :, 1:]) / by_log_t
        of_log_t = np.array([miss, -hit])
        return np.log([hit, miss]), weight, of_log_t / by_log_t, of_log_t * log_t_by_h, np.array([-1.0, 1.0])
    both = np.array([right, 1 - right])
    return np.log(both), np.ones(1), _SIGNS / both, 0.0, 0.0


def _shared(
    patterns: Patterns, pair: tuple[int, int]
) -> Callable[[Floats, Floats], tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]]:
    """Return a function that computes the factor by which shared errors of two raters change P(pattern | category).

    The factor has shape (2, n_patterns). Its slope returns the derivatives of the weighted sum of the log factor with
    respect to the rates and the strength.
    """
    i, j = pair
    both = (patterns.seen[:, i] * patterns.seen[:, j]) > 0
    case = np.where(both, 1 + 2 * patterns.positive[:, i] + patterns.positive[:, j], 0).astype(np.int64)
    in_case = (case[:, None] == np.arange(5)).astype(float)  # case 0: one of the two labels is missing
    sign, is_a, is_b = np.array([[0, 1, -1, -1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 0, 1]], dtype=float)

    def factor(right: Floats, part: Floats) -> tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]:
        called = np.array([right[0], 1 - right[1]])[:, :, None]  # P(label dissimilar | category)
        a, b = called[:, i], called[:, j]
        of_a, of_b = is_a * a + (1 - is_a) * (1 - a), is_b * b + (1 - is_b) * (1 - b)
        most = np.minimum(a, b) - a * b  # the largest possible covariance
        scale = sign / (of_a * of_b)

        def slope(weight: Floats) -> tuple[Floats, Floats]:
            of_case = weight @ in_case * scale
            by_called = np.zeros_like(right)
            most_by_a, most_by_b = np.where(a <= b, 1 - b, -b), np.where(a <= b, -a, 1 - a)
            by_called[:, i] = part * (of_case * (most_by_a - most * (2 * is_a - 1) / of_a)).sum(axis=1)
            by_called[:, j] = part * (of_case * (most_by_b - most * (2 * is_b - 1) / of_b)).sum(axis=1)
            return by_called * np.array([[1.0], [-1.0]]), (most * of_case).sum(keepdims=True)[0]

        return (1 + part * most * scale)[:, case], slope

    return factor


def _strength(x: Floats, which: tuple[int, int] | str | None) -> Floats:
    """Convert the last parameter of a fit to the strength of dependence."""
    if which == DIFFICULTY:
        return np.asarray(np.exp(x))
    return np.asarray((MAX_STRENGTH[HARD] if which == HARD else 1.0) * special.expit(x))


def _strength_slope(strength: Floats, which: tuple[int, int] | str | None) -> Floats:
    """Return the derivative of the strength of dependence with respect to the last parameter."""
    return strength if which == DIFFICULTY else strength * (1 - strength / (MAX_STRENGTH[HARD] if which == HARD else 1))


def _log_prior(patterns: Patterns, which: tuple[int, int] | str) -> Callable[[Floats], tuple[float, Floats]]:
    """Return a function that computes the log prior of the rates, as in the independent model, and its derivatives."""
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    a, b = rater_priors(patterns)
    first = np.r_[np.full(n_strata, PREVALENCE_PRIOR[0]), a, a] - 1
    second = np.r_[np.full(n_strata, PREVALENCE_PRIOR[1]), b, b] - 1

    def log_prior(x: Floats) -> tuple[float, Floats]:
        logits = x[: n_strata + 2 * n_raters]
        log_rate = special.log_expit(logits)
        rates = np.exp(log_rate)
        below = np.minimum(rates[n_strata : n_strata + n_raters] + rates[n_strata + n_raters :] - 1, 0.0)
        of_strength = -np.exp(2 * x[-1]) / 2.25 if which == DIFFICULTY else 0.0
        value = log_rate @ first + (log_rate - logits) @ second - 2000.0 * (below @ below) + 0.5 * of_strength
        slope = np.append(first * (1 - rates) - second * rates, of_strength)
        if below.any():
            slope[n_strata:-1] -= 4000.0 * np.tile(below, 2) * (rates * (1 - rates))[n_strata:]
        return float(value), slope

    return log_prior


def _fitted(
    patterns: Patterns, mode: Theta, which: tuple[int, int] | str, base: float, independent: Floats, level: float | None
) -> Dependence:
    kind, raters = (which, ()) if isinstance(which, str) else (SHARED, tuple(patterns.raters[k] for k in which))
    nothing = Estimate(None, reason="not identified")
    if not _is_identified(patterns, which):
        reason = "not identified by these labels"
        return Dependence(kind, raters, None, None, None, nothing, (), None, reason)
    n = patterns.n.astype(float)
    log_p, log_prior = _log_p(patterns, which), _log_prior(patterns, which)

    def loss(x: Floats) -> tuple[float, Floats]:
        of_patterns, slope = log_p(x)
        of_prior, prior_slope = log_prior(x)
        return -float(n @ of_patterns) - of_prior, -slope(n) - prior_slope

    rough = (_descended(loss, start, _ROUGH) for start in _starts(patterns, mode, which))
    best, reached = _descended(loss, min(rough, key=lambda found: found[1])[0], _FINE)
    if not isinstance(which, str):
        best = min([(best, reached), *_with_equal_rates(best, loss, patterns, which)], key=lambda found: found[1])[0]

    def gain(x: Floats) -> float:
        """Return twice the difference between the log likelihoods of this fit and of the independent model."""
        return 2 * (float(n @ log_p(x)[0]) - base)

    lr = max(gain(best), 0.0)
    values = _unpacked(best, patterns)
    n_raters, estimates = len(patterns.raters), [Estimate(float(values[0]))]
    rates: tuple[RaterRates, ...] = ()
    if level is not None:
        low, high = _ends(best, loss, patterns, level)
        estimates = [Estimate(float(v), low=float(a), high=float(b)) for v, a, b in zip(values, low, high, strict=True)]
        seen = (patterns.n @ patterns.seen).astype(int).tolist()
        rates = tuple(
            RaterRates(name, seen[r], estimates[1 + r], estimates[1 + n_raters + r])
            for r, name in enumerate(patterns.raters)
        )
    strength, shift = float(_strength(best[-1:], which)[0]), float(np.abs(values - independent).max())
    p = 0.5 * float(special.chdtrc(1, lr)) if lr > 0 else 1.0
    fitted = Dependence(kind, raters, strength, lr, p, estimates[0], rates, shift)
    if not isinstance(which, str):
        return fitted
    strongest = _strongest(best, loss, lambda x: gain(x) >= lr - NOT_EXCLUDED, which)
    shifts = [shift, *(float(np.abs(_unpacked(x, patterns) - independent).max()) for x in strongest)]
    possible = max(float(_strength(x[-1:], which)[0]) for x in (best, *strongest))
    return replace(fitted, possible_strength=possible, possible_shift=max(shifts))


def _strongest(best: Floats, loss: Loss, is_possible: Callable[[Floats], bool], which: str) -> list[Floats]:
    """Search by bisection for stronger dependence that the labels do not exclude.

    Return the fits in increasing strength.
    """
    low, high = float(_strength(best[-1:], which)[0]), MAX_STRENGTH[which]
    at, found, start = 0.99 * high, [], best
    for _ in range(_N_HALVINGS):
        if at <= low:
            break
        last = float(np.log(at) if which == DIFFICULTY else special.logit(at / MAX_STRENGTH[which]))
        x = np.r_[_descended(partial(_with_last, loss, last), start[:-1], _ROUGH)[0], last]
        if is_possible(x):
            found.append(x)
            low, start = at, x
        else:
            high = at
        at = (low + high) / 2
    return found


def _with_last(loss: Loss, last: float, x: Floats) -> tuple[float, Floats]:
    """Return the loss and its derivatives for parameters `x` if the last parameter is fixed at `last`."""
    value, slope = loss(np.append(x, last))
    return value, slope[:-1]


def _starts(patterns: Patterns, mode: Theta, which: tuple[int, int] | str) -> Sequence[Floats]:
    """Return two starting points: the independent fit with weak dependence, and equal raters with strong dependence."""
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    packed = np.clip(_packed(mode), -4, 4)
    weak, strong = (np.log(0.3), np.log(1.2)) if which == DIFFICULTY else (-2.0, 1.5)
    share = (patterns.n @ patterns.positive).sum() / (patterns.n @ patterns.seen).sum()
    equal = np.r_[np.full(n_strata, special.logit(np.clip(share, 0.05, 0.95))), np.full(2 * n_raters, 1.2)]
    return [np.r_[packed, weak], np.r_[packed, strong], np.r_[equal, strong]]


def _descended(loss: Loss, start: Floats, tolerance: float) -> tuple[Floats, float]:
    """Return the parameters with the smallest loss, and this loss."""
    found = optimize.minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-9, 9)] * len(start),
        options={"maxiter": 200, "ftol": tolerance},
    )
    return np.asarray(found.x), float(found.fun)


def _with_equal_rates(
    x: Floats, loss: Loss, patterns: Patterns, pair: tuple[int, int]
) -> Iterator[tuple[Floats, float]]:
    """Yield the best fit in which two raters have equal rates, if their rates are almost equal.

    At equal rates, the largest covariance has a kink, and a descent would stop there too early.
    """
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    merged = np.eye(len(x))
    for first in (n_strata, n_strata + n_raters):
        i, j = (first + rater for rater in pair)
        if abs(x[i] - x[j]) < _NEAR:
            merged[:, i] += merged[:, j]
            merged[:, j] = 0
    columns = merged[:, merged.any(axis=0)]

    def of_merged(y: Floats) -> tuple[float, Floats]:
        value, slope = loss(columns @ y)
        return value, slope @ columns

    if columns.shape[1] < len(x):
        y, reached = _descended(of_merged, x @ columns / columns.sum(axis=0), _FINE)
        yield columns @ y, reached


def _ends(x: Floats, loss: Loss, patterns: Patterns, level: float) -> tuple[Floats, Floats]:
    """Return the ends of normal intervals on the logit scale, computed from the curvature at the mode."""
    steps = _STEP * np.eye(len(x))
    hessian = np.array([(loss(x + step)[1] - loss(x - step)[1]) / (2 * _STEP) for step in steps])
    eigenvalues, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    variance = ((vectors**2) / np.maximum(eigenvalues, 0.05)).sum(axis=1)
    half = special.ndtri((1 + checked_level(level)) / 2) * np.sqrt(variance)
    low, high = x - half, x + half
    return _unpacked(low, patterns), _unpacked(high, patterns)


def _is_identified(patterns: Patterns, which: tuple[int, int] | str) -> bool:
    """Return whether the design determines all parameters, i.e. the information has full rank at a generic point."""
    combined, stratum, _ = combinations_of(patterns)
    if combined.sum(axis=1).max() > 8:
        return True  # As in the independent model, three raters already determine their rates.
    cells, _ = all_cells(combined, stratum, patterns)
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    x = np.r_[
        0.8 * np.sin(np.arange(1, n_strata + 1) * 5**0.5),
        1.2 + 0.7 * np.sin(np.arange(1, 2 * n_raters + 1) * 2**0.5),
        -0.3,
    ]
    log_p, steps = _log_p(cells, which), 1e-4 * np.eye(len(x))
    scores = np.array([log_p(x + step)[0] - log_p(x - step)[0] for step in steps]) / 2e-4 * np.exp(log_p(x)[0] / 2)
    norms = np.sqrt((scores**2).sum(axis=1, keepdims=True))
    if (norms < 1e-12).any():
        return False
    values = np.linalg.eigvalsh((scores / norms) @ (scores / norms).T)
    return bool(values.min() > _SINGULAR * values.max())
