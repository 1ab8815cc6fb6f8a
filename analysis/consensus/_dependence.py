"""Fit latent class models in which raters make dependent errors, and show how these models change the results.

There are three kinds of models, each with one parameter more than the independent model. Two raters can share errors,
as if one of them copied some labels of the other. Items can differ in difficulty, in the same way for all raters. Or a
share of the items is hard for all raters. If the additional parameter is 0, all models equal the independent model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import optimize, special

from analysis.consensus._fisher import all_cells, combinations_of
from analysis.consensus._latent import RaterRates
from analysis.consensus._model import PREVALENCE_PRIOR, Theta, by_stratum, fit, rater_priors
from analysis.consensus._patterns import Floats, Patterns, patterns_of
from analysis.intervals import Estimate
from analysis.multiple import holm
from analysis.results import Result

SHARED = "shared errors"
DIFFICULTY = "items differ in difficulty"
HARD = "some items are hard for all raters"
HARD_BY = 2.0  # decrease of the log odds on a hard item: 88 % correct labels become 50 %
# Largest strength to fit. For difficulty 1, errors of two raters have a correlation of 0.5; hard: half of the items.
MAX_STRENGTH = {DIFFICULTY: 1.0, HARD: 0.5}
# A fit is not excluded if twice the log likelihood decreases by less than this: a one-sided level of 95 %.
NOT_EXCLUDED = 2.71
MAX_PAIRS = 6  # maximum number of pairs to fit; pairs with the largest residual correlation come first
MAX_WORK = 60_000  # models of dependence are not fitted if patterns times raters exceed this number
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_STEP = 1e-5
_ROUGH, _FINE = 1e-6, 1e-9  # tolerances of the log posterior: for the choice of the best start, and for the final fit
_N_HALVINGS = 5  # number of steps in the search for the largest strength that the labels do not exclude
_SINGULAR = 1e-7  # tolerance relative to the largest eigenvalue of the information


@dataclass(frozen=True, repr=False)
class Dependence(Result):
    """A model of dependent errors, fitted to the same labels as the independent model.

    Attributes
    ----------
    kind : str
        "shared errors", "items differ in difficulty" or "some items are hard for all raters".
    raters : tuple
        The two raters that share errors; empty for the other kinds.
    strength : float or None
        Shared errors as a share of the largest possible number, in [0, 1]; for difficulty, the standard deviation on
        the probit scale, >= 0; for hard items, their share. None if not identified.
    lr : float or None
        Twice the gain in log likelihood over the independent model.
    p : float or None
        p of the likelihood ratio test of independence. Under independence, the parameter is at the limit of its range,
        so p is half of the chi-squared value with one degree of freedom [1]_.
    p_holm : float or None
        p after Holm's correction over all fitted models.
    prevalence : Estimate
    rates : tuple of RaterRates
        Posterior modes with normal intervals on the logit scale.
    shift : float or None
        Largest difference of a prevalence or rate from the independent model.
    reason : str or None
        Why there is no fit.
    possible_strength, possible_shift : float or None
        The largest strength that the labels do not exclude (profile likelihood, one-sided level of 95 %), and the
        largest difference of a prevalence or rate up to that strength. The search ends at a difficulty of 1, or at half
        of the items hard. None for shared errors.

    References
    ----------
    .. [1] Self, Liang (1987), JASA 82:605-610, doi:10.1080/01621459.1987.10478472
    """

    kind: str
    raters: tuple[object, ...]
    strength: float | None
    lr: float | None
    p: float | None
    p_holm: float | None
    prevalence: Estimate
    rates: tuple[RaterRates, ...]
    shift: float | None
    reason: str | None = None
    possible_strength: float | None = None
    possible_shift: float | None = None

    @property
    def words(self) -> str:
        """Describe the model in words."""
        return f"{' and '.join(map(str, self.raters))} share errors" if self.raters else self.kind


def dependence(
    labels: pd.DataFrame, verdicts: pd.DataFrame | None = None, *, level: float = 0.95
) -> tuple[Dependence, ...]:
    """Fit models of dependent errors, and compare them with independent errors [1]_, [2]_, [3]_.

    Shared errors: given the true category, the labels of two raters have a covariance. The model estimates this
    covariance as a share of the largest possible covariance; the share is the same for dissimilar and similar items.

    Difficulty: each item has a normal random effect on the probit of a correct label, the same for all raters.

    Hard items: for a share of the items, the log-odds of a correct label are lower by 2.

    The rates of a rater are means over all items.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels: columns item, rater, category. Reviewers must have been assigned before any label
        was known.
    verdicts : DataFrame, optional
        Columns item, classifier, verdict: classifiers as additional raters.
    level : float
        Level of the intervals.

    Returns
    -------
    tuple of Dependence
        Difficulty, hard items, and the pairs of raters with the largest residuals (six at most), by ascending p.
        Undefined with a reason if the design does not identify the model, or there are too many label patterns; empty
        if no item has two raters.

    References
    ----------
    .. [1] Vacek (1985), Biometrics 41:959-968, doi:10.2307/2530967
    .. [2] Dendukuri, Joseph (2001), Biometrics 57:158-167, doi:10.1111/j.0006-341X.2001.00158.x
    .. [3] Qu, Tan, Kutner (1996), Biometrics 52:797-810, doi:10.2307/2533043
    """
    patterns = patterns_of(labels, verdicts)
    if not (patterns.seen.sum(axis=1) >= 2).any() or not patterns.positive.any() or not patterns.negative.any():
        return ()
    if patterns.seen.size > MAX_WORK:
        return ()
    mode = fit(patterns)
    n = patterns.n.astype(float)
    independent = _unpacked(_packed(mode), patterns)
    base = float((n * _log_p(patterns, None)(_packed(mode)[None]))[0].sum())
    kinds: list[tuple[int, int] | str] = [DIFFICULTY, HARD, *_pairs(patterns, mode)]
    found = [_fitted(patterns, mode, which, base, independent, level) for which in kinds]
    corrected = holm([model.p for model in found])
    with_holm = [replace(model, p_holm=p) for model, p in zip(found, corrected, strict=True)]
    return tuple(sorted(with_holm, key=lambda model: 2.0 if model.p is None else model.p))


def residual_correlations(labels: pd.DataFrame, verdicts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compute the observed minus the expected correlation of each pair of raters under the independent model [1]_.

    Parameters
    ----------
    labels, verdicts
        As in `dependence`.

    Returns
    -------
    DataFrame
        Columns a, b, n, observed, expected, residual, se: one row per pair with common items. Correlations are of
        dissimilar labels; `se` is 1 / sqrt(n).

    References
    ----------
    .. [1] Qu, Tan, Kutner (1996), Biometrics 52:797-810, doi:10.2307/2533043
    """
    patterns = patterns_of(labels, verdicts)
    columns = ["a", "b", "n", "observed", "expected", "residual", "se"]
    if not len(patterns.items):
        return pd.DataFrame([], columns=columns)
    mode = fit(patterns)
    rows = []
    for i, j, n, observed, expected in _correlations(patterns, mode):
        rows.append((patterns.raters[i], patterns.raters[j], int(n), observed, expected, observed - expected, n**-0.5))
    return pd.DataFrame(rows, columns=columns)


def _correlations(patterns: Patterns, mode: Theta) -> list[tuple[int, int, float, float, float]]:
    """Return the number of common items, the observed and the expected correlation of each pair of raters.

    Pairs without common items are left out.
    """
    pi = float(mode.pi[0].mean())
    rows = []
    for i, j in combinations(range(len(patterns.raters)), 2):
        both = patterns.seen[:, i] * patterns.seen[:, j] * patterns.n
        n = both.sum()
        if n < 2:
            continue
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
    """Return the pairs of raters to fit.

    These are the pairs whose residual correlation is largest compared with its standard error.
    """
    ranked = sorted(_correlations(patterns, mode), key=lambda row: -(row[3] - row[4]) * row[2] ** 0.5)
    return [(i, j) for i, j, *_ in ranked[:MAX_PAIRS]]


def _packed(theta: Theta) -> Floats:
    """Return the prevalences, sensitivities and specificities of one fit as logits, in one array."""
    packed: Floats = special.logit(np.clip(np.hstack([theta.pi[0], theta.se[0], theta.sp[0]]), 1e-4, 1 - 1e-4))
    return packed


def _unpacked(x: Floats, patterns: Patterns) -> Floats:
    """Convert logits back: return the prevalence over all strata, then sensitivities and specificities."""
    weight = by_stratum(patterns.n[None, :].astype(float), patterns)[0]
    rates = special.expit(x)
    n_strata = len(patterns.strata)
    prevalence = rates[:n_strata] @ weight / max(weight.sum(), 1)
    values: Floats = np.r_[prevalence, rates[n_strata : n_strata + 2 * len(patterns.raters)]]
    return values


def _log_p(patterns: Patterns, which: tuple[int, int] | str | None) -> Callable[[Floats], Floats]:
    """Return a function that computes log P(pattern | raters) from the parameters.

    The function takes parameters of shape (n_fits, n_parameters) and returns shape (n_fits, n_patterns). `which`
    selects the model: None for the independent model, DIFFICULTY, HARD, or the positions of two raters that share
    errors.
    """
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    positive, negative = patterns.positive.T, patterns.negative.T
    shared = _shared(patterns, which) if isinstance(which, tuple) else None

    def log_p(x: Floats) -> Floats:
        rates = np.clip(special.expit(x[:, : n_strata + 2 * n_raters]), 1e-9, 1 - 1e-9)
        pi = rates[:, :n_strata][:, patterns.stratum]
        se, sp = rates[:, n_strata : n_strata + n_raters], rates[:, n_strata + n_raters :]
        if isinstance(which, str):
            strength = _strength(x[:, -1], which)
            if_yes = _given_effects(se, strength, positive, negative, which)
            if_no = _given_effects(sp, strength, negative, positive, which)
        else:
            called, not_called = np.concatenate([se, 1 - sp]), np.concatenate([1 - se, sp])
            given = np.exp(np.log(called) @ positive + np.log(not_called) @ negative)
            if shared is not None:
                part = special.expit(x[:, -1])
                given *= shared(called, np.concatenate([part, part]))
            if_yes, if_no = given[: len(x)], given[len(x) :]
        return np.asarray(np.log(np.maximum(pi * if_yes + (1 - pi) * if_no, 1e-300)))

    return log_p


def _shared(patterns: Patterns, pair: tuple[int, int]) -> Callable[[Floats, Floats], Floats]:
    """Return a function for the factor by which shared errors of two raters change the probability of each pattern."""
    i, j = pair
    one, other = patterns.positive[:, i] > 0, patterns.positive[:, j] > 0
    both = (patterns.seen[:, i] * patterns.seen[:, j]) > 0
    case = np.where(both, 1 + 2 * one + other, 0)  # 0 if one of the two labels is missing

    def factor(called: Floats, part: Floats) -> Floats:
        a, b = called[:, i], called[:, j]
        covariance = part * (np.minimum(a, b) - a * b)
        of_case = [np.ones_like(a)]
        of_case += [1 + sign * covariance / (x * y) for sign, x, y in (
            (1, 1 - a, 1 - b), (-1, 1 - a, b), (-1, a, 1 - b), (1, a, b)
        )]  # fmt: skip
        return np.stack(of_case, axis=1)[:, case]

    return factor


def _given_effects(right: Floats, strength: Floats, hits: Floats, misses: Floats, which: str) -> Floats:
    """Compute P(pattern | category) if items differ in difficulty by `strength`.

    `right` contains the mean share of correct labels over all items.
    """
    if which == DIFFICULTY:
        size = strength[:, None, None]
        at = special.ndtri(right)[:, :, None] * np.sqrt(1 + size**2) + size * _NODES
        log = hits.T @ special.log_ndtr(at) + misses.T @ special.log_ndtr(-at)
        return np.asarray(np.exp(log) @ (_WEIGHTS / _WEIGHTS.sum()))
    # The odds t of a correct label on easy items solve the equation right = (1 - h) t / (1 + t) + h c t / (1 + c t).
    h, c = strength[:, None], np.exp(-HARD_BY)
    a, b = c * (1 - right), (1 - h) + h * c - right * (1 + c)
    t = (np.sqrt(b**2 + 4 * a * right) - b) / (2 * a)
    easy, hard = (np.exp(np.log(odds) @ hits - np.log1p(odds) @ (hits + misses)) for odds in (t, c * t))
    return np.asarray((1 - h) * easy + h * hard)


def _strength(x: Floats, which: tuple[int, int] | str) -> Floats:
    """Convert the last parameter of each fit to the strength of dependence."""
    if which == DIFFICULTY:
        return np.asarray(np.exp(x))
    return np.asarray((MAX_STRENGTH[HARD] if which == HARD else 1.0) * special.expit(x))


def _log_prior(patterns: Patterns, which: tuple[int, int] | str) -> Callable[[Floats], Floats]:
    """Return a function for the log prior of each fit; as in the independent model, the prior applies to the rates."""
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    a, b = rater_priors(patterns)
    first = np.r_[np.full(n_strata, PREVALENCE_PRIOR[0]), a, a] - 1
    second = np.r_[np.full(n_strata, PREVALENCE_PRIOR[1]), b, b] - 1

    def log_prior(x: Floats) -> Floats:
        logits = x[:, : n_strata + 2 * n_raters]
        log_rate = special.log_expit(logits)
        log_rest = log_rate - logits
        prior = log_rate @ first + log_rest @ second
        rates = np.exp(log_rate[:, n_strata:])
        below = np.minimum(rates[:, :n_raters] + rates[:, n_raters:] - 1, 0.0)
        extra = -0.5 * np.exp(2 * x[:, -1]) / 2.25 if which == DIFFICULTY else 0.0
        return np.asarray(prior - 2000.0 * (below**2).sum(axis=1) + extra)

    return log_prior


def _fitted(
    patterns: Patterns, mode: Theta, which: tuple[int, int] | str, base: float, independent: Floats, level: float
) -> Dependence:
    kind, raters = (which, ()) if isinstance(which, str) else (SHARED, tuple(patterns.raters[k] for k in which))
    nothing = Estimate(None, reason="not identified")
    if not _is_identified(patterns, which):
        reason = "not identified by these labels"
        return Dependence(kind, raters, None, None, None, None, nothing, (), None, reason)
    n = patterns.n.astype(float)
    log_p, log_prior = _log_p(patterns, which), _log_prior(patterns, which)

    def loss(x: Floats) -> Floats:
        bounded = np.clip(x, -9, 9)
        value = (n * log_p(bounded)).sum(axis=1) + log_prior(bounded)
        return np.asarray(-value)

    rough = (_descended(loss, start, _ROUGH) for start in _starts(patterns, mode, which))
    best, _ = _descended(loss, min(rough, key=lambda found: found[1])[0], _FINE)

    def gain(x: Floats) -> float:
        """Return twice the difference between the log likelihoods of this fit and of the independent model."""
        return 2 * (float((n * log_p(x[None]))[0].sum()) - base)

    lr = max(gain(best), 0.0)
    values = _unpacked(best, patterns)
    low, high = _ends(best, loss, patterns, level)
    estimates = [Estimate(float(v), low=float(a), high=float(b)) for v, a, b in zip(values, low, high, strict=True)]
    n_raters = len(patterns.raters)
    seen = (patterns.n @ patterns.seen).astype(int).tolist()
    rates = tuple(
        RaterRates(name, seen[r], estimates[1 + r], estimates[1 + n_raters + r])
        for r, name in enumerate(patterns.raters)
    )
    strength, shift = float(_strength(best[-1:], which)[0]), float(np.abs(values - independent).max())
    p = 0.5 * float(special.chdtrc(1, lr)) if lr > 0 else 1.0
    fitted = Dependence(kind, raters, strength, lr, p, None, estimates[0], rates, shift)
    if not isinstance(which, str):
        return fitted
    strongest = _strongest(best, loss, lambda x: gain(x) >= lr - NOT_EXCLUDED, which)
    shifts = [shift, *(float(np.abs(_unpacked(x, patterns) - independent).max()) for x in strongest)]
    possible = max(float(_strength(x[-1:], which)[0]) for x in (best, *strongest))
    return replace(fitted, possible_strength=possible, possible_shift=max(shifts))


def _strongest(
    best: Floats, loss: Callable[[Floats], Floats], is_possible: Callable[[Floats], bool], which: str
) -> list[Floats]:
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


def _with_last(loss: Callable[[Floats], Floats], last: float, x: Floats) -> Floats:
    """Return the loss for parameters `x` and a fixed last parameter."""
    return loss(np.hstack([x, np.full((len(x), 1), last)]))


def _starts(patterns: Patterns, mode: Theta, which: tuple[int, int] | str) -> Sequence[Floats]:
    """Return starting points: the independent fit with weak dependence, and equal raters with strong dependence."""
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    packed = np.clip(_packed(mode), -4, 4)
    weak, strong = (np.log(0.3), np.log(1.2)) if which == DIFFICULTY else (-2.0, 1.5)
    share = (patterns.n @ patterns.positive).sum() / (patterns.n @ patterns.seen).sum()
    equal = np.r_[np.full(n_strata, special.logit(np.clip(share, 0.05, 0.95))), np.full(2 * n_raters, 1.2)]
    return [np.r_[packed, weak], np.r_[packed, strong], np.r_[equal, strong]]


def _descended(loss: Callable[[Floats], Floats], start: Floats, tolerance: float) -> tuple[Floats, float]:
    """Return the parameters with the smallest loss, and that loss.

    For a rough tolerance, one-sided differences are precise enough.
    """
    steps = _STEP * np.eye(len(start))

    def with_gradient(x: Floats) -> tuple[float, Floats]:
        if tolerance >= _ROUGH:
            values = loss(np.vstack([x, x + steps]))
            return float(values[0]), np.asarray((values[1:] - values[0]) / _STEP)
        k, values = len(x), loss(np.vstack([x, x + steps, x - steps]))
        return float(values[0]), np.asarray((values[1 : k + 1] - values[k + 1 :]) / (2 * _STEP))

    bounds = [(-9, 9)] * len(start)
    found = optimize.minimize(
        with_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 200, "ftol": tolerance},
    )
    return np.asarray(found.x), float(found.fun)


def _ends(x: Floats, loss: Callable[[Floats], Floats], patterns: Patterns, level: float) -> tuple[Floats, Floats]:
    """Return the ends of normal intervals on the logit scale, computed from the curvature at the mode."""
    k, h = len(x), 1e-3
    eye = h * np.eye(k)
    pairs = [(i, j) for i in range(k) for j in range(i, k)]
    points = [x + s * eye[i] + t * eye[j] for i, j in pairs for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    values = loss(np.array(points)).reshape(-1, 4)
    hessian = np.zeros((k, k))
    for (i, j), (pp, pm, mp, mm) in zip(pairs, values, strict=True):
        hessian[i, j] = hessian[j, i] = (pp - pm - mp + mm) / (4 * h * h)
    eigenvalues, vectors = np.linalg.eigh(hessian)
    variance = ((vectors**2) / np.maximum(eigenvalues, 0.05)).sum(axis=1)
    half = special.ndtri((1 + level) / 2) * np.sqrt(variance)
    low, high = x - half, x + half
    return _unpacked(low, patterns), _unpacked(high, patterns)


def _is_identified(patterns: Patterns, which: tuple[int, int] | str) -> bool:
    """Return whether the design determines all parameters: whether the information has full rank at a generic point."""
    combined, stratum, _ = combinations_of(patterns)
    if combined.sum(axis=1).max() > 8:
        return True  # As in the independent model, three raters already determine their rates.
    cells, _ = all_cells(combined, stratum, patterns)
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    k = n_strata + 2 * n_raters + 1
    x = np.r_[
        0.8 * np.sin(np.arange(1, n_strata + 1) * 5**0.5),
        1.2 + 0.7 * np.sin(np.arange(1, 2 * n_raters + 1) * 2**0.5),
        -0.3,
    ]
    steps = 1e-4 * np.eye(k)
    log_p = _log_p(cells, which)(np.vstack([x, x + steps, x - steps]))
    scores = (log_p[1 : k + 1] - log_p[k + 1 :]) / 2e-4 * np.exp(log_p[0] / 2)
    norms = np.sqrt((scores**2).sum(axis=1, keepdims=True))
    if (norms < 1e-12).any():
        return False
    values = np.linalg.eigvalsh((scores / norms) @ (scores / norms).T)
    return bool(values.min() > _SINGULAR * values.max())
