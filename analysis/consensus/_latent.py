"""Estimate the true categories and the error rates of raters from labels, by latent class analysis."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.consensus import _gibbs
from analysis.consensus._dependence import Dependence
from analysis.consensus._fisher import Bools
from analysis.consensus._identifiability import Identifiability, identified, identified_patterns
from analysis.consensus._left_out import N_DRAWS, LeftOutRater
from analysis.consensus._model import Theta, by_stratum, fit, posterior
from analysis.consensus._patterns import Patterns, patterns_of
from analysis.consensus._rates import RaterRates, check_settings, estimate, rates_of_classifiers
from analysis.consensus._tests import ModelState, PairFit, check_independence
from analysis.intervals import Estimate
from analysis.results import Result
from analysis.tables import checked_columns

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
    >>> from analysis.simulation import Rater, SimulatedDesign, simulate
    >>> reviewers = [Rater("ada", 0.9, 0.9), Rater("ben", 0.8, 0.9), Rater("cleo", 0.8, 0.8)]
    >>> study = simulate(SimulatedDesign(n_items=500, k=3), reviewers, [], 0.4, rng=np.random.default_rng(1))
    >>> model = latent_class(study.labels, rng=np.random.default_rng(1))
    >>> round(model.prevalence.value, 2), round(float((study.truth == "dissimilar").mean()), 2)
    (0.46, 0.42)
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
    drawn = _gibbs.draws(mode, patterns, n_sweeps=n_sweeps, rng=rng) if is_known.any() else mode
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
