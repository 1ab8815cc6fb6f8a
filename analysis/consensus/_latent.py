"""Fit the latent class model, test independent errors from one budget of errors, and determine the status of the model.

Three tests share the significance level alpha. Models of dependent errors fitted to the reviewers alone, and to the
reviewers with each classifier, have 0.6 alpha. Half of it belongs to the two models of items that differ in difficulty,
and half to the many models of pairs; in each half, the smallest p counts, times the number of all models of this half
that could have been fitted. The same models of the reviewers, with a stratum for each combination of verdicts, have 0.3
alpha. They use what all classifiers together say about an item, and allow any dependence between classifiers, because
the prevalence may differ between strata. The test that leaves out one reviewer at a time has 0.1 alpha and uses the
same strata. These shares had the most power in the simulations of docs/results/consensus.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import special

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.consensus._dependence import (
    MAX_WORK,
    N_DRAWS,
    OF_ITEMS,
    Dependence,
    Family,
    LeftOutRater,
    alternatives,
    leave_one_out,
    with_rates,
)
from analysis.consensus._model import (
    Bools,
    Floats,
    Patterns,
    Theta,
    all_cells,
    by_stratum,
    climb,
    combinations_of,
    fit,
    log_probability,
    patterns_of,
    posterior,
)
from analysis.consensus._rates import (
    Identifiability,
    RaterRates,
    check_settings,
    draws,
    estimate,
    identified,
    identified_patterns,
    rates_of_classifiers,
)
from analysis.document import p_value
from analysis.intervals import Estimate
from analysis.results import Result
from analysis.tables import checked_columns

NOT_CONTRADICTED, REJECTED, UNTESTABLE, WEAK, NOT_IDENTIFIED = (
    "not contradicted", "rejected", "untestable", "weak", "not identified",
)  # fmt: skip
STATES = (NOT_CONTRADICTED, REJECTED, UNTESTABLE, WEAK, NOT_IDENTIFIED)
ALPHA = 0.05
SHARE_OF_ALL, SHARE_OF_REVIEWERS, SHARE_OF_LEFT_OUT = 0.6, 0.3, 0.1  # shares of alpha
SHARE_OF_DIFFICULTY = 0.5  # share of the models of difficulty, in the first two of these shares
LARGE_SHIFT = 0.10  # an alternative that the labels do not exclude moves a printed number by this much or more
SMALL_DIFFERENCE = 0.03  # a smaller difference between observed and expected agreement is not worth a sentence
COPIED = 0.4  # share of labels that the copying reviewer copies, for the power
ALONE, BY_VERDICTS = "reviewers", "reviewers by verdicts"
MODELS, MODELS_OF_REVIEWERS, LEFT_OUT = "models of dependent errors", "models of the reviewers", "leave one out"
MOST_STRATA = 8
AFTER_REJECTION = (
    "a model with dependent errors of these raters",
    "more labels per item",
    "adjudication of split items",
)
_TOLERANCE = 1e-4


@dataclass(frozen=True, repr=False)
class ModelState(Result):
    """The status of a latent class model, which tells readers how far to trust its results."""

    state: str  # "not contradicted", "rejected", "untestable", "weak" or "not identified"
    words: str  # the reason for the status, as a clause
    remedies: tuple[str, ...] = ()  # possible remedies; empty if the model is not contradicted
    p: float | None = None  # smallest p of the tests, corrected for the budget; rejected if it is at most 0.05
    test: str | None = None  # the test with this p
    raters: tuple[object, ...] = ()  # the raters that the rejecting test names
    # Probability that these tests notice a reviewer who copies 40 % of the labels of another reviewer, from the
    # expected likelihood ratio; mean over pairs of reviewers.
    copying_power: float | None = None


@dataclass(frozen=True, repr=False)
class PairFit(Result):
    """How often two raters agree, and how often they would agree if the model were right."""

    raters_of: str
    a: object
    b: object
    n: int
    observed: float
    expected: float


@dataclass(frozen=True, repr=False)
class Tested(Result):
    """The tests of a latent class model and what they compared."""

    state: ModelState
    alternatives: tuple[Dependence, ...]  # by ascending p
    best: Dependence | None  # the best alternative with its rates, if the model is rejected
    left_out: tuple[LeftOutRater, ...]
    pairs: tuple[PairFit, ...]


def check_independence(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame | None,
    identifiability: Identifiability,
    *,
    n_draws: int,
    level: float,
    rng: np.random.Generator,
) -> Tested:
    """Run all tests on first labels, and determine the status of the model.

    Each classifier is added alone. With two classifiers as raters of one model, similar errors of both could reject the
    model, although such errors do not contradict any printed number.
    """
    every_family = [*_families(labels, verdicts), *_by_verdicts(labels, verdicts)]
    families = [
        family for family in every_family if (family.patterns.seen.sum(axis=1) >= 2).any()
        and family.patterns.positive.any() and family.patterns.negative.any()
    ]  # fmt: skip
    pairs = tuple(pair for family in families for pair in _pair_fits(family) if family.name in (ALONE, str(pair.b)))
    if not identifiability.identified:
        state = ModelState(NOT_IDENTIFIED, identifiability.words, identifiability.remedies)
        return Tested(state, (), None, (), pairs)
    if any(family.patterns.seen.size > MAX_WORK for family in families):
        words = "there are too many different rows of labels to fit models of dependent errors"
        return Tested(ModelState(UNTESTABLE, words), (), None, (), pairs)
    found, counts = [], []
    for family in families:
        models, n_pairs = alternatives(family.patterns, family.mode, family.name)
        found.append([model for model in models if model.p is not None])
        counts.append((n_pairs, len(OF_ITEMS)) if found[-1] else (0, 0))
    every = sorted((model for models in found for model in models), key=lambda model: (model.p, model.raters_of))
    if not every:
        words = "it rests on independence, which these data cannot test"
        remedies = ("a fourth reviewer or a classifier on the same items",)
        return Tested(ModelState(UNTESTABLE, words, remedies), (), None, (), pairs)
    p_left_out, left_out = leave_one_out(families[-1], n_draws=n_draws, rng=rng)
    if p_left_out is None:  # too many strata
        p_left_out, left_out = leave_one_out(families[0], n_draws=n_draws, rng=rng)
    p, test, rejecting = _smallest_p(every, families, counts)
    model: Dependence | None = rejecting
    if p_left_out is not None and p > ALPHA and p_left_out / SHARE_OF_LEFT_OUT < p:
        p, test, model = p_left_out / SHARE_OF_LEFT_OUT, LEFT_OUT, None
    p = min(p, 1.0)
    if p > ALPHA + 1e-12:
        state = _state_if_not_rejected(p, test, found, _copying_power(families, counts))
        return Tested(state, tuple(every), None, left_out, pairs)
    words, raters = _rejected_by(model, left_out, families)
    words = f"the labels contradict independent errors: {words} (p = {p_value(p)})"
    of = next(family for family in families if family.name == rejecting.raters_of)
    best = with_rates(rejecting, of.patterns, of.mode, level)
    return Tested(ModelState(REJECTED, words, AFTER_REJECTION, p, test, raters), tuple(every), best, left_out, pairs)


def _smallest_p(
    every: Sequence[Dependence], families: Sequence[Family], counts: Sequence[tuple[int, int]]
) -> tuple[float, str, Dependence]:
    """Return the smallest p, corrected for the number of models that could have been fitted, with test and model."""
    joint = families[-1].name  # the reviewers by verdicts, or alone if there are no classifiers
    candidates = []
    for test, share, names in (
        (MODELS, SHARE_OF_ALL, [family.name for family in families if family.name != BY_VERDICTS]),
        (MODELS_OF_REVIEWERS, SHARE_OF_REVIEWERS, [joint]),
    ):
        of_test = [count for family, count in zip(families, counts, strict=True) if family.name in names]
        n_pairs, n_difficulty = map(sum, zip(*of_test, strict=True))
        for tried in every:
            if tried.raters_of in names:
                n = n_pairs / (1 - SHARE_OF_DIFFICULTY) if tried.raters else n_difficulty / SHARE_OF_DIFFICULTY
                candidates.append((_p_of(tried) * n / share, test, tried))
    return min(candidates, key=lambda candidate: candidate[0])


def _state_if_not_rejected(
    p: float, test: str, found: Sequence[Sequence[Dependence]], power: float | None
) -> ModelState:
    """Return the status of a model that no test rejects: weak if a model that fits as well gives other rates."""
    shifts = [
        max(
            ((model.possible_shift or 0.0, model) for model in models if model.kind in OF_ITEMS),
            key=lambda pair: pair[0], default=None,
        )
        for models in found
    ]  # fmt: skip
    smallest = min((shift for shift in shifts if shift is not None), key=lambda pair: pair[0], default=None)
    noticed = (
        "these numbers assume that reviewers err independently; with these labels, a reviewer who copies "
        f"{100 * COPIED:.0f} % of the labels of another would be noticed in {100 * power:.0f} % of such studies"
        if power is not None else "these numbers assume that reviewers err independently"
    )  # fmt: skip
    if smallest is not None and smallest[0] >= LARGE_SHIFT:
        words = (
            f"a prevalence or rate would change by {smallest[0]:.2f} if {smallest[1].words}, which these labels do not "
            f"exclude; {noticed}"
        )
        return ModelState(WEAK, words, ("more items", "more labels per item"), p, test, copying_power=power)
    return ModelState(NOT_CONTRADICTED, noticed, (), p, test, copying_power=power)


def _p_of(model: Dependence) -> float:
    return 1.0 if model.p is None else model.p


def _families(labels: pd.DataFrame, verdicts: pd.DataFrame | None) -> list[Family]:
    """Fit the reviewers alone, and the reviewers with each classifier."""
    tables: list[tuple[str, pd.DataFrame | None]] = [(ALONE, None)]
    if verdicts is not None and len(verdicts):
        columns = ["item", "classifier", "verdict"]
        checked_columns(verdicts.head(0), columns, "verdict table")  # a verdict may be missing, a column may not
        rows = verdicts[columns]
        tables += [(str(name), of_one) for name, of_one in rows.groupby("classifier", sort=True)]
    patterns = [(name, patterns_of(labels, of_one)) for name, of_one in tables]
    return [Family(name, found, fit(found)) for name, found in patterns]


def _by_verdicts(labels: pd.DataFrame, verdicts: pd.DataFrame | None) -> list[Family]:
    """Fit the reviewers with a separate prevalence for items with the same verdicts of all classifiers.

    If there are more than eight combinations of verdicts, items with similar numbers of verdicts dissimilar are
    combined. Without verdicts, return no family.
    """
    if verdicts is None or not verdicts["verdict"].notna().any() or not len(labels):
        return []
    called = verdicts.pivot(index="item", columns="classifier", values="verdict")
    called = called.reindex(pd.unique(labels["item"]))
    names = called.astype(object).where(called.notna(), "-").agg("/".join, axis=1)
    if names.nunique() > MOST_STRATA:
        number = (called == DISSIMILAR).sum(axis=1) * MOST_STRATA // (called.shape[1] + 1)
        names = number.astype(str)
    patterns = patterns_of(labels, strata=names)
    return [Family(BY_VERDICTS, patterns, fit(patterns))]


def _pair_fits(family: Family) -> list[PairFit]:
    """Compare observed and expected agreement of each pair of raters with common items."""
    patterns, mode, seen = family.patterns, family.mode, family.patterns.seen
    rows = []
    for i, j in combinations(range(len(patterns.raters)), 2):
        both = seen[:, i] * seen[:, j] * patterns.n
        n = int(both.sum())
        if not n:
            continue
        pi = float(both @ mode.pi[0][patterns.stratum]) / n
        observed = float((both * (patterns.positive[:, i] == patterns.positive[:, j])).sum() / n)
        expected = sum(
            share * (rate[i] * rate[j] + (1 - rate[i]) * (1 - rate[j]))
            for share, rate in ((pi, mode.se[0]), (1 - pi, mode.sp[0]))
        )
        rows.append(PairFit(family.name, patterns.raters[i], patterns.raters[j], n, observed, float(expected)))
    return rows


def _rejected_by(
    model: Dependence | None, left_out: Sequence[LeftOutRater], families: Sequence[Family]
) -> tuple[str, tuple[object, ...]]:
    """Describe what the rejecting test found, and name the raters."""
    if model is None:
        worst = left_out[0]
        words = f"without {worst.rater}, the {worst.parameter} changes from {worst.value:.2f} to {worst.without:.2f}"
        return words, (worst.rater,)
    of_family = next(family for family in families if family.name == model.raters_of)
    of_pair = next((pair for pair in _pair_fits(of_family) if {pair.a, pair.b} == set(model.raters)), None)
    if of_pair is None or abs(of_pair.observed - of_pair.expected) < SMALL_DIFFERENCE:
        return f"a model in which {model.words} fits better", model.raters
    words = (
        f"{of_pair.a} and {of_pair.b} agree on {100 * of_pair.observed:.0f} % of their items, and the model expects "
        f"{100 * of_pair.expected:.0f} %"
    )
    return words, model.raters


def _copying_power(families: Sequence[Family], counts: Sequence[tuple[int, int]]) -> float | None:
    """Return the probability that the likelihood ratio tests notice a copying reviewer, as a mean over pairs.

    The likelihood ratio of labels with copying is computed from expected counts, and its square root is normal.
    """
    of_pairs: dict[tuple[int, int], float] = {}
    n_all = sum(n_pairs for family, (n_pairs, _) in zip(families, counts, strict=True) if family.name != BY_VERDICTS)
    for family, (n_pairs, _) in zip(families, counts, strict=True):
        if not n_pairs:
            continue
        of_joint = SHARE_OF_REVIEWERS / n_pairs if family is families[-1] else 0.0
        of_all = SHARE_OF_ALL / n_all if family.name != BY_VERDICTS else 0.0
        threshold = ALPHA * (1 - SHARE_OF_DIFFICULTY) * max(of_all, of_joint)
        critical = -float(special.ndtri(threshold))
        patterns = family.patterns
        combined, stratum, n = combinations_of(patterns)
        if combined.sum(axis=1).max(initial=0) > 8:
            continue
        cells, which = all_cells(combined, stratum, patterns)
        seen = patterns.seen
        names = [
            (i, j) for i, j in combinations(range(patterns.n_reviewers), 2) if (seen[:, i] * seen[:, j]).any()
        ]  # fmt: skip
        if not names or len(cells.stratum) * len(names) > MAX_WORK:
            continue
        drawn = np.array([_copied(family, cells, i, j) for i, j in names])
        expected: Floats = (drawn * n[which]).astype(np.float64)
        refitted = climb(family.mode.repeated(len(names)), cells, expected, tolerance=_TOLERANCE, together=False)
        log_p = log_probability(refitted, cells)
        ratio = 2 * (expected * (np.log(np.maximum(drawn, 1e-300)) - log_p)).sum(axis=1)
        for pair, value in zip(names, ratio, strict=True):
            power = float(special.ndtr(max(value, 0.0) ** 0.5 - critical))
            of_pairs[pair] = max(of_pairs.get(pair, 0.0), power)
    return float(np.mean(list(of_pairs.values()))) if of_pairs else None


def _copied(family: Family, cells: Patterns, i: int, j: int) -> Floats:
    """Return P(pattern | raters) if rater j copies 40 % of the labels of rater i."""
    mode = family.mode
    p = np.exp(log_probability(mode, cells)[0])
    q = posterior(mode, cells)[0]
    both = (cells.seen[:, i] * cells.seen[:, j]) == 1
    equal = cells.positive[:, i] == cells.positive[:, j]
    by_category = []
    for share, positive in ((q, mode.se[0, j]), (1 - q, 1 - mode.sp[0, j])):
        own = np.where(cells.positive[:, j] == 1, positive, 1 - positive)
        by_category.append(p * share * np.where(both, (1 - COPIED) + COPIED * equal / own, 1.0))
    both_categories: Floats = by_category[0] + by_category[1]
    return both_categories


UNDECIDED = "undecided"
LEAST_DRAWS = 19
_DRAWS_OF_ITEMS = 500  # number of parameter draws over which item posteriors are averaged


@dataclass(frozen=True, repr=False)
class LatentClass(Result):
    """A fitted latent class model.

    Attributes
    ----------
    n_items : int
    level : float
        Level of all intervals.
    prevalence : Estimate
        Share of dissimilar items: the mean over strata, weighted by their items.
    strata : dict of str to Estimate
        Prevalence by stratum; empty if there are no strata.
    reviewers, classifiers : tuple of RaterRates
    items : DataFrame
        Columns item, posterior (probability of dissimilar; None if not identified) and category (similar, dissimilar,
        or undecided). Classifiers do not influence them, because they are compared with them.
    identifiability : Identifiability
    state : ModelState
        How far to trust all numbers above, from the tests of independent errors.
    alternatives : tuple of Dependence
        The models of dependent errors that were fitted, by ascending p.
    best : Dependence or None
        The best of them with its rates, if independent errors are rejected.
    left_out : tuple of LeftOut
        For each rater, the largest change of another parameter without this rater, by descending z.
    pairs : tuple of PairFit
        Observed and expected agreement of each pair of raters.
    """

    rows_of = "rates"

    n_items: int
    level: float
    prevalence: Estimate
    strata: dict[object, Estimate]
    reviewers: tuple[RaterRates, ...]
    classifiers: tuple[RaterRates, ...]
    items: pd.DataFrame
    identifiability: Identifiability
    state: ModelState
    alternatives: tuple[Dependence, ...]
    best: Dependence | None
    left_out: tuple[LeftOutRater, ...]
    pairs: tuple[PairFit, ...]

    @property
    def rates(self) -> tuple[RaterRates, ...]:
        """Return the rates of all reviewers, then the rates of all classifiers."""
        return (*self.reviewers, *self.classifiers)


def latent_class(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame | None = None,
    *,
    third_labels: pd.DataFrame | None = None,
    strata: "pd.Series | None" = None,
    undecided: tuple[float, float] = (0.1, 0.9),
    level: float = 0.90,
    n_sweeps: int = 1500,
    n_draws: int = N_DRAWS,
    rng: np.random.Generator,
) -> LatentClass:
    """Fit a latent class model with two categories and conditional independence [1]_, [2]_, and test it.

    The fit is Bayesian, as in [3]_. The prior of the prevalence is Beta(2, 2). The prior of sensitivity and specificity
    is Beta(3, 1.5) for reviewers and Beta(1, 1) for classifiers; their sum is at least 1 for every rater. The model
    therefore treats a rater who is worse than chance as random, and the tests detect such a rater.

    Rates of a classifier are computed in two steps: the reviewers' parameters are fixed, because a classifier must not
    change the truth with which it is compared, and the rates then maximise the likelihood of its verdicts. Their
    intervals include the uncertainty about the reviewers.

    Three tests of independent errors share a significance level of 0.05. Models of dependent errors [4]_ are fitted to
    the reviewers alone and with each classifier (0.03, half of it for items that differ in difficulty and half for
    pairs); the smallest p counts, times the number of all models that could have been fitted. The same models of the
    reviewers have a separate prevalence for each combination of verdicts (0.015), so that any dependence between
    classifiers is allowed. Leaving out each reviewer in turn, the largest change of a remaining parameter is compared
    with a parametric bootstrap (0.005). The model is rejected if one of
    them rejects, and *weak* if items could differ in difficulty so much that a result would change by 0.10 or more in
    each of these models.
    No test can see errors that all raters share: if m % of the items mislead everybody, each rate is too high by
    about m x (sensitivity - 0.1) percentage points.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels: columns item, rater, category; any number of labels per item.
    verdicts : DataFrame, optional
        Columns item, classifier, verdict (None if there is no verdict). Items without a label are left out.
    third_labels : DataFrame, optional
        Label table of further labels on split items. They are used for the estimates, but not for the tests, because
        pairs disagree on split items by design.
    strata : Series indexed by item, optional
        The stratum of each item. Prevalence may differ between strata; error rates are the same in all strata.
    undecided : (float, float)
        Items with a posterior in this closed interval are undecided.
    level : float
        Level of the credible intervals, in (0, 1).
    n_sweeps : int
        Number of sweeps to keep from each of four Gibbs chains.
    n_draws : int
        Number of data sets that are drawn for the test that leaves out one rater, at least 19. With fewer than 199
        draws, this test can never reject.
    rng : numpy.random.Generator

    Returns
    -------
    LatentClass
        Each value is the posterior mode (EM), `se` is the posterior standard deviation, and the interval is
        equal-tailed (Gibbs). A value that the design does not determine is undefined and has a reason. All values are
        undefined if there are no labels, only one category, or fewer items than parameters. If `identifiability` is
        weak, or a category is rare (below 5 %), intervals depend mainly on the priors.

    Raises
    ------
    ValueError
        If a table is invalid, an item is in no stratum or in two, or `level`, `undecided` or `n_sweeps` is out of its
        range.

    References
    ----------
    .. [1] Dawid, Skene (1979), J. R. Stat. Soc. C 28:20-28, doi:10.2307/2346806
    .. [2] Hui, Walter (1980), Biometrics 36:167-171, doi:10.2307/2530508
    .. [3] Joseph, Gyorkos, Coupal (1995), Am. J. Epidemiol. 141:263-272, doi:10.1093/oxfordjournals.aje.a117428
    .. [4] Dendukuri, Joseph (2001), Biometrics 57:158-167, doi:10.1111/j.0006-341X.2001.00158.x

    Examples
    --------
    Ada, Ben and Cleo labelled 100 items; for example, all three gave the label dissimilar (d) to 36 items.

    >>> patterns = ["ddd"] * 36 + ["dds"] * 9 + ["dsd"] * 5 + ["sdd"] * 4 + ["ssd"] * 6 + ["sss"] * 40
    >>> names = {"d": "dissimilar", "s": "similar"}
    >>> rows = [(f"i{n}", rater, names[letter]) for n, letters in enumerate(patterns)
    ...         for rater, letter in zip(["ada", "ben", "cleo"], letters)]
    >>> labels = pd.DataFrame(rows, columns=["item", "rater", "category"])
    >>> model = latent_class(labels, rng=np.random.default_rng(1))
    >>> round(model.prevalence.value, 2), round(model.reviewers[2].sensitivity.value, 2)
    (0.54, 0.83)
    """
    check_settings(level, n_sweeps)
    if not 0 <= undecided[0] <= undecided[1] <= 1:
        raise ValueError(f"undecided must be two probabilities in ascending order, got {undecided}")
    if n_draws < LEAST_DRAWS:
        raise ValueError(f"n_draws must be at least {LEAST_DRAWS}, got {n_draws}")
    given = [rows for rows in (labels, third_labels) if rows is not None and len(rows)]
    columns = ("item", "rater", "category")
    tables = [checked_columns(rows, columns, "label table") for rows in given]
    patterns = patterns_of(pd.concat(tables, ignore_index=True) if tables else labels, strata=strata)
    mode = fit(patterns)
    judgement, is_known = identified(patterns, mode)
    drawn = draws(mode, patterns, n_sweeps=n_sweeps, rng=rng) if is_known.any() else mode
    estimates = _estimates(mode, drawn, is_known, level, judgement.words)
    n_strata = len(patterns.strata)
    checks = check_independence(labels, verdicts, judgement, n_draws=n_draws, level=level, rng=rng)
    return LatentClass(
        n_items=len(patterns.items),
        level=level,
        prevalence=_overall(patterns, mode, drawn, is_known, level, judgement.words),
        strata={} if strata is None else dict(zip(patterns.strata, estimates[:n_strata], strict=True)),
        reviewers=_rates(patterns, estimates[n_strata:]),
        classifiers=()
        if verdicts is None
        else rates_of_classifiers(patterns, mode, drawn, is_known, judgement.words, verdicts, level=level, rng=rng),
        items=_items(patterns, drawn, is_known, undecided),
        identifiability=judgement,
        state=checks.state,
        alternatives=checks.alternatives,
        best=checks.best,
        left_out=checks.left_out,
        pairs=checks.pairs,
    )


def _estimates(mode: Theta, drawn: Theta, is_known: Bools, level: float, reason: str) -> list[Estimate]:
    """Return one estimate for each parameter."""
    return [
        estimate(float(value), column, level) if is_identified else Estimate(None, reason=reason)
        for value, column, is_identified in zip(mode.columns[0], drawn.columns.T, is_known, strict=True)
    ]


def _rates(patterns: Patterns, estimates: list[Estimate]) -> tuple[RaterRates, ...]:
    n = (patterns.n @ patterns.seen).astype(int).tolist()
    se, sp = estimates[: len(n)], estimates[len(n) :]
    return tuple(RaterRates(*row) for row in zip(patterns.raters, n, se, sp, strict=True))


def _overall(patterns: Patterns, mode: Theta, drawn: Theta, is_known: Bools, level: float, reason: str) -> Estimate:
    if not is_known[: len(patterns.strata)].all():
        return Estimate(None, reason=reason)
    weight = by_stratum(patterns.n[None, :].astype(float), patterns)[0] / len(patterns.items)
    return estimate(float(mode.pi[0] @ weight), drawn.pi @ weight, level)


def _items(patterns: Patterns, drawn: Theta, is_known: Bools, undecided: tuple[float, float]) -> pd.DataFrame:
    """Compute the probability that each item is dissimilar, and its category.

    The probability is a mean over draws of the parameters, so it includes the uncertainty about the raters.
    """
    every = max(len(drawn.pi) // _DRAWS_OF_ITEMS, 1)
    q = posterior(drawn.rows(slice(None, None, every)), patterns).mean(axis=0)
    is_identified = identified_patterns(patterns, is_known)
    low, high = undecided
    category = np.where(is_identified & (q > high), DISSIMILAR, np.where(is_identified & (q < low), SIMILAR, UNDECIDED))
    of_pattern = pd.DataFrame({"posterior": q, "category": category}, dtype=object)
    of_pattern.loc[~is_identified, "posterior"] = None
    items = of_pattern.iloc[patterns.of_item].reset_index(drop=True)
    items.insert(0, "item", patterns.items)
    return items
