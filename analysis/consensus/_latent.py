"""Estimate the true categories and the error rates of raters from labels, by latent class analysis."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.consensus import _gibbs
from analysis.consensus._fisher import Bools
from analysis.consensus._identifiability import Identifiability, identified, identified_patterns
from analysis.consensus._model import Theta, by_stratum, fit, posterior
from analysis.consensus._patterns import Floats, Patterns, patterns_of
from analysis.intervals import Estimate
from analysis.results import Result

UNDECIDED = "undecided"
_DRAWS_OF_ITEMS = 500  # number of parameter draws over which item posteriors are averaged


@dataclass(frozen=True, repr=False)
class RaterRates(Result):
    """Sensitivity and specificity of one rater.

    Attributes
    ----------
    rater : object
        Name as in the table.
    n : int
        Number of items that the rater labelled. For a classifier, number of items whose category the reviewers' labels
        determine.
    sensitivity, specificity : Estimate
        Probability of calling a dissimilar item dissimilar, and probability of calling a similar item similar.
    """

    rater: object
    n: int
    sensitivity: Estimate
    specificity: Estimate


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
        or undecided). Empty for the joint model of reviewers and classifiers, because a classifier must not influence
        the categories with which it is compared.
    identifiability : Identifiability
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

    @property
    def rates(self) -> tuple[RaterRates, ...]:
        """Return the rates of all reviewers, then the rates of all classifiers."""
        return (*self.reviewers, *self.classifiers)


def latent_class(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame | None = None,
    *,
    strata: "pd.Series | None" = None,
    undecided: tuple[float, float] = (0.1, 0.9),
    level: float = 0.90,
    n_sweeps: int = 1500,
    rng: np.random.Generator,
) -> LatentClass:
    """Fit a latent class model with two categories and conditional independence [1]_, [2]_.

    The fit is Bayesian, as in [3]_. The prior of the prevalence is Beta(2, 2). The prior of sensitivity and specificity
    is Beta(3, 1.5) for reviewers and Beta(1, 1) for classifiers; their sum is at least 1 for every rater. The model
    therefore treats a rater who is worse than chance as random, and `misfit` detects such a rater.

    Parameters
    ----------
    labels : DataFrame
        Label table of reviewers: columns item, rater, category; any number of labels per item. Third labels are
        allowed, because the assignment of raters may depend on labels (but not on the true category).
    verdicts : DataFrame, optional
        Columns item, classifier, verdict (None if there is no verdict). If given, the joint model of reviewers and
        classifiers is fitted. Use it only as a sensitivity analysis for `classifier_rates`, because it assumes that
        classifiers err independently of reviewers.
    strata : Series indexed by item, optional
        The stratum of each item. Prevalence may differ between strata; error rates are the same in all strata.
    undecided : (float, float)
        Items with a posterior in this closed interval are undecided.
    level : float
        Level of the credible intervals, in (0, 1).
    n_sweeps : int
        Number of sweeps to keep from each of four Gibbs chains.
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

    Examples
    --------
    >>> from analysis.simulation import Design, Rater, simulate
    >>> reviewers = [Rater("ada", 0.9, 0.9), Rater("ben", 0.8, 0.9), Rater("cleo", 0.8, 0.8)]
    >>> study = simulate(Design(n_items=500, k=3), reviewers, [], 0.4, rng=np.random.default_rng(1))
    >>> model = latent_class(study.labels, rng=np.random.default_rng(1))
    >>> round(model.prevalence.value, 2), round(float((study.truth == "dissimilar").mean()), 2)
    (0.46, 0.42)
    """
    check_settings(level, n_sweeps)
    if not 0 <= undecided[0] <= undecided[1] <= 1:
        raise ValueError(f"undecided must be two probabilities in ascending order, got {undecided}")
    patterns = patterns_of(labels, verdicts, strata)
    mode = fit(patterns)
    judgement, is_known = identified(patterns, mode)
    drawn = _gibbs.draws(mode, patterns, n_sweeps=n_sweeps, rng=rng) if is_known.any() else mode
    estimates = _estimates(mode, drawn, is_known, level, judgement.words)
    n_strata, n_reviewers = len(patterns.strata), patterns.n_reviewers
    rates = _rates(patterns, estimates[n_strata:])
    return LatentClass(
        n_items=len(patterns.items),
        level=level,
        prevalence=_overall(patterns, mode, drawn, is_known, level, judgement.words),
        strata={} if strata is None else dict(zip(patterns.strata, estimates[:n_strata], strict=True)),
        reviewers=rates[:n_reviewers],
        classifiers=rates[n_reviewers:],
        items=_items(patterns, drawn, is_known, undecided).iloc[: None if verdicts is None else 0],
        identifiability=judgement,
    )


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
