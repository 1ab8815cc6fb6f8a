"""Latent class models in which raters make dependent errors, against which independent errors are tested.

There are three kinds of models. In the first, two raters share errors, as if one of them copied some labels of the
other. In the second, items differ in difficulty, and each item is equally difficult for all raters. In the third, a
share of the items is hard for all raters. Each kind has one more parameter than the independent model. If this
parameter is 0, both models are equal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import optimize, special

from analysis.arrays import Floats
from analysis.raters.consensus._model import PREVALENCE_PRIOR, Patterns, Theta, all_cells, combinations_of, rater_priors

SHARED = "shared errors"
DIFFICULTY = "items differ in difficulty"
HARD = "some items are hard for all raters"
OF_ITEMS = (DIFFICULTY, HARD)  # models in which items differ, not pairs of raters
HARD_BY = 2.0  # decrease of the log odds on a hard item: 88 % correct labels become 50 %
MOST_HARD = 0.5  # largest share of hard items
MAX_PAIRS = 6  # maximum number of pairs to fit; pairs with the largest residual correlation come first
MAX_WORK = 60_000  # models of dependence are not fitted if patterns times raters exceed this number
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_SIGNS = np.array([1.0, -1.0])[:, None, None, None]
# An item of a category (row) with a label (column: dissimilar, similar) has a correct (0) or a wrong label (1).
_OUTCOME, _CATEGORY = np.array([[0, 1], [1, 0]]), np.array([[0], [1]])
_ONE_NODE = np.ones(1)
_LOG_ROOT = 0.5 * np.log(2 * np.pi)
_ROUGH, _FINE = 1e-6, 1e-12  # tolerances of the log posterior: for the choice of the best start, and for the final fit
_SINGULAR = 1e-7  # tolerance relative to the largest eigenvalue of the information

Slope = Callable[[Floats], Floats]  # from one weight per pattern, the derivatives of a weighted sum by the parameters
Loss = Callable[[Floats], tuple[float, Floats]]  # the negative log posterior and its derivatives


@dataclass(frozen=True)
class Family:
    """A fitted model: of the reviewers, of the reviewers by verdicts, or of the reviewers and one classifier."""

    name: str
    patterns: Patterns
    mode: Theta


@dataclass(frozen=True)
class Alternative:
    """The test of independent errors against one model of dependent errors, fitted to the same labels."""

    raters_of: str  # name of the family
    kind: str  # SHARED, DIFFICULTY or HARD
    raters: tuple[object, ...]  # the two raters that share errors; empty for the other kinds
    # p of the likelihood ratio test. If raters are independent, the parameter is at the limit of its range, so p is
    # half of the chi-squared p with one degree of freedom [1]_. None if the labels do not identify the model.
    #
    # .. [1] Self, Liang (1987), JASA 82:605-610, doi:10.1080/01621459.1987.10478472
    p: float | None


def alternatives(family: Family) -> tuple[list[Alternative], int]:
    """Fit models of dependent errors [1]_, [2]_, [3]_; also return the number of pairs that could have been fitted.

    Shared errors: among items of the same true category, the labels of two raters are still correlated. The model
    estimates their covariance as a share of the largest possible covariance, the same for both categories. Difficulty:
    each item has a normal random effect on the probit of a correct label, the same for all raters. Hard items: for a
    share of the items, the log-odds of a correct label are lower by 2. Rates are averages across all items.

    Pairs are fitted by descending residual correlation. The number counts all pairs, because any of them could have
    had the largest residual.

    References
    ----------
    .. [1] Vacek (1985), Biometrics 41:959-968, doi:10.2307/2530967
    .. [2] Dendukuri, Joseph (2001), Biometrics 57:158-167, doi:10.1111/j.0006-341X.2001.00158.x
    .. [3] Qu, Tan, Kutner (1996), Biometrics 52:797-810, doi:10.2307/2533043
    """
    patterns, mode = family.patterns, family.mode
    base = float(patterns.n @ _log_p(patterns, None)(_packed(mode))[0])
    pairs = _pairs(patterns, mode)
    found = [Alternative(family.name, kind, (), _p(patterns, mode, kind, base)) for kind in OF_ITEMS]
    for pair in pairs[:MAX_PAIRS]:
        raters = tuple(patterns.raters[k] for k in pair)
        found.append(Alternative(family.name, SHARED, raters, _p(patterns, mode, pair, base)))
    return found, len(pairs)


def _pairs(patterns: Patterns, mode: Theta) -> list[tuple[int, int]]:
    """Return the pairs of raters for which to fit shared errors, largest residual correlation first.

    The residual, observed minus expected correlation, is compared with its standard error. Pairs without common items
    are left out.
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
            residual = (ab - a * b) / spread - covariance / scale
            rows.append((-float(residual * n**0.5), i, j))
    return [(i, j) for _, i, j in sorted(rows)]


def _packed(theta: Theta) -> Floats:
    """Return the prevalences, sensitivities and specificities of one fit as logits, in one array."""
    packed: Floats = special.logit(np.clip(np.hstack([theta.pi[0], theta.se[0], theta.sp[0]]), 1e-4, 1 - 1e-4))
    return packed


def _log_p(patterns: Patterns, which: tuple[int, int] | str | None) -> Callable[[Floats], tuple[Floats, Slope]]:
    """Return a function that computes log P(pattern | raters), shape (n_patterns,), and its slope from the parameters.

    The slope is also a function. It takes one weight per pattern, and returns the derivatives of the weighted sum of
    log P with respect to the parameters. `which` selects the model: None for the independent model, DIFFICULTY, HARD,
    or the positions of two raters that share errors. In the arrays, the first axis is the category: dissimilar, then
    similar.
    """
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    labels = np.hstack([patterns.positive, patterns.negative])
    in_stratum = (np.arange(n_strata)[:, None] == patterns.stratum).astype(float)
    shared = _shared(patterns, which) if isinstance(which, tuple) else None

    def log_p(x: Floats) -> tuple[Floats, Slope]:
        rates = special.expit(x[: n_strata + 2 * n_raters])
        strength, right = _strength(x[-1:], which), rates[n_strata:].reshape(2, n_raters)
        share = rates[patterns.stratum] if n_strata > 1 else rates[0]
        shares = np.array([share, 1 - share]).reshape(2, -1)
        of_outcome, weight, of_right, of_strength, of_weight = _nodes(right, strength, which)
        of_node = np.exp(labels @ of_outcome[_OUTCOME, _CATEGORY].reshape(2, 2 * n_raters, -1))
        given = of_node @ weight
        factor, factor_slope = (1.0, None) if shared is None else shared(right, strength)
        if_either = given * factor
        p = np.maximum((shares * if_either).sum(axis=0), 1e-300)

        def slope(n: Floats) -> Floats:
            scaled = n / p * shares
            weighted = (scaled * factor)[:, :, None] * of_node
            by_label = (labels.T @ (weighted * weight)).reshape(2, 2, n_raters, -1)
            by_outcome = by_label[_CATEGORY.T, _OUTCOME]
            by_right = (by_outcome * of_right).sum(axis=(0, 3))
            by_strength: Floats | float = 0.0
            if of_strength is not None:
                by_strength = (by_outcome * of_strength).sum()
            if of_weight is not None:
                by_strength += (weighted @ of_weight).sum()
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


def _nodes(
    right: Floats, strength: Floats, which: tuple[int, int] | str | None
) -> tuple[Floats, Floats, Floats, Floats | None, Floats | None]:
    """Compute log probabilities of a correct and of a wrong label at the difficulties (nodes) of a model.

    `right` has the shares of correct labels among all dissimilar items (Se) and among all similar items (Sp), with
    shape (2, n_raters), and `strength` has shape (1,). Return log_p, with shape (2, 2, n_raters, n_nodes), of a correct
    and of a wrong label; the share of items at each node; and the derivatives of log_p by `right`, of log_p by
    `strength`, and of the shares by `strength`; None if a derivative is 0.
    """
    right = right[:, :, None]
    if which == DIFFICULTY:
        scale, mean = np.sqrt(1 + strength**2), special.ndtri(right)
        at = mean * scale + strength * _NODES
        both = np.array([at, -at])
        log_p = special.log_ndtr(both)
        by_at = np.exp(-0.5 * at**2 - _LOG_ROOT - log_p) * _SIGNS
        at_by_right, at_by_strength = scale * np.exp(0.5 * mean**2 + _LOG_ROOT), mean * strength / scale + _NODES
        return log_p, _WEIGHTS, by_at * at_by_right, by_at * at_by_strength, None
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
    return np.log(both), _ONE_NODE, _SIGNS / both, None, None


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
    sign_a, sign_b, from_called = 2 * is_a - 1, 2 * is_b - 1, np.array([[1.0], [-1.0]])

    def factor(right: Floats, part: Floats) -> tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]:
        a, b = (np.array([[right[0, k]], [1 - right[1, k]]]) for k in pair)  # P(label dissimilar | category)
        of_a, of_b = 1 - is_a + sign_a * a, 1 - is_b + sign_b * b
        most = np.minimum(a, b) - a * b  # the largest possible covariance
        scale = sign / (of_a * of_b)

        def slope(weight: Floats) -> tuple[Floats, Floats]:
            of_case = weight @ in_case * scale
            by_called = np.zeros_like(right)
            most_by_a, most_by_b = (a <= b) - b, (a > b) - a
            by_called[:, i] = part * (of_case * (most_by_a - most * sign_a / of_a)).sum(axis=1)
            by_called[:, j] = part * (of_case * (most_by_b - most * sign_b / of_b)).sum(axis=1)
            return by_called * from_called, (most * of_case).sum(keepdims=True)[0]

        return (1 + part * most * scale)[:, case], slope

    return factor


def _strength(x: Floats, which: tuple[int, int] | str | None) -> Floats:
    """Convert the last parameter of a fit to the strength of dependence."""
    if which == DIFFICULTY:
        return np.asarray(np.exp(x))
    return np.asarray((MOST_HARD if which == HARD else 1.0) * special.expit(x))


def _strength_slope(strength: Floats, which: tuple[int, int] | str | None) -> Floats:
    """Return the derivative of the strength of dependence with respect to the last parameter."""
    return strength if which == DIFFICULTY else strength * (1 - strength / (MOST_HARD if which == HARD else 1))


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


def _p(patterns: Patterns, mode: Theta, which: tuple[int, int] | str, base: float) -> float | None:
    """Fit one model and return p of independent errors, whose log likelihood is `base`; None if not identified."""
    if not _is_identified(patterns, which):
        return None
    n = patterns.n.astype(float)
    log_p, log_prior = _log_p(patterns, which), _log_prior(patterns, which)

    def loss(x: Floats) -> tuple[float, Floats]:
        of_patterns, slope = log_p(x)
        of_prior, prior_slope = log_prior(x)
        return -float(n @ of_patterns) - of_prior, -slope(n) - prior_slope

    rough = (_descended(loss, start, _ROUGH) for start in _starts(patterns, mode, which))
    best, _ = _descended(loss, min(rough, key=lambda found: found[1])[0], _FINE)
    lr = 2 * (float(n @ log_p(best)[0]) - base)
    return 0.5 * float(special.chdtrc(1, lr)) if lr > 0 else 1.0


def _starts(patterns: Patterns, mode: Theta, which: tuple[int, int] | str) -> Sequence[Floats]:
    """Return starting points: the independent fit with weak and with strong dependence, and equal raters."""
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
