"""Fit the latent class model, test independent errors, and determine the status of the model.

The test is one with many parts, which share the significance level alpha. Models of dependent errors fitted to the
reviewers alone, and to the reviewers with each classifier, have 0.65 alpha. The same models of the reviewers, with a
stratum for each combination of verdicts, have 0.35 alpha: they use what all classifiers together say about an item, and
allow any dependence between classifiers, because the prevalence may differ between strata. In both parts, one half
belongs to the two models of items that differ in difficulty, and one half to the many models of pairs; in each half,
the smallest p counts, times the number of all models of this half that could have been fitted. The simulations of
docs/results/consensus.md show the size and the power of this test.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.arrays import Bools
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.document import p_value
from analysis.raters.consensus._dependence import MAX_WORK, OF_ITEMS, Alternative, Family, alternatives
from analysis.raters.consensus._model import Patterns, Theta, by_stratum, fit, patterns_of, posterior
from analysis.raters.consensus._rates import (
    Identifiability,
    RaterRates,
    check_settings,
    draws,
    estimate,
    identified,
    identified_patterns,
    rates_of_classifiers,
)
from analysis.raters.tables import checked_columns
from analysis.statistics.intervals import Estimate
from analysis.statistics.results import Result
from analysis.text import percent

NOT_CONTRADICTED, REJECTED, UNTESTABLE, NOT_IDENTIFIED = "not contradicted", "rejected", "untestable", "not identified"
STATES = (NOT_CONTRADICTED, REJECTED, UNTESTABLE, NOT_IDENTIFIED)
ALPHA = 0.05
SHARE_BY_VERDICTS = 0.35  # share of alpha of the models of the reviewers by verdicts; all others have the rest
SHARE_OF_DIFFICULTY = 0.5  # share of the models of difficulty, in both of these shares
SMALL_DIFFERENCE = 0.03  # a smaller difference between observed and expected agreement is not worth a sentence
ALONE, BY_VERDICTS = "reviewers", "reviewers by verdicts"
MOST_STRATA = 8
AFTER_REJECTION = ("more labels per item", "adjudication of split items")


@dataclass(frozen=True, repr=False)
class PairFit(Result):
    """How often two raters agree, and how often they would agree if the model were right."""

    raters_of: str  # "reviewers", "reviewers by verdicts", or the classifier that was fitted with the reviewers
    a: object
    b: object
    n: int  # items that both labelled
    observed: float
    expected: float


@dataclass(frozen=True, repr=False)
class ModelState(Result):
    """The status of a latent class model, which tells readers how far to trust its results."""

    state: str  # "not contradicted", "rejected", "untestable" or "not identified"
    words: str  # the reason for the status, as a clause
    remedies: tuple[str, ...] = ()  # possible remedies; empty if the model is not contradicted
    p: float | None = None  # p of the test of independent errors; rejected if it is at most 0.05
    pair_fit: PairFit | None = None  # agreement of the two raters whose shared errors reject the model


def check_independence(
    labels: pd.DataFrame, verdicts: pd.DataFrame | None, identifiability: Identifiability
) -> ModelState:
    """Test independent errors on first labels, and determine the status of the model.

    Each classifier is added alone. With two classifiers as raters of one model, similar errors of both could reject the
    model, although such errors do not contradict any printed number.
    """
    if not identifiability.identified:
        return ModelState(NOT_IDENTIFIED, identifiability.words, identifiability.remedies)
    every_family = [*_families(labels, verdicts), *_by_verdicts(labels, verdicts)]
    families = [
        family for family in every_family if (family.patterns.seen.sum(axis=1) >= 2).any()
        and family.patterns.positive.any() and family.patterns.negative.any()
    ]  # fmt: skip
    if any(family.patterns.seen.size > MAX_WORK for family in families):
        words = "there are too many different rows of labels to fit models of dependent errors"
        return ModelState(UNTESTABLE, words)
    by_verdicts = [family for family in families if family.name == BY_VERDICTS]
    others = [family for family in families if family.name != BY_VERDICTS]
    corrected = [*_corrected(others, 1 - SHARE_BY_VERDICTS), *_corrected(by_verdicts, SHARE_BY_VERDICTS)]
    if not corrected:
        words = "it rests on independence, which these data cannot test"
        return ModelState(UNTESTABLE, words, ("a fourth reviewer or a classifier on the same items",))
    p, strongest = min(corrected, key=lambda pair: pair[0])
    p = min(p, 1.0)
    if p > ALPHA + 1e-12:
        return ModelState(NOT_CONTRADICTED, "these numbers assume that reviewers err independently", (), p)
    found = _pair_fit(next(family for family in families if family.name == strongest.raters_of), strongest.raters)
    words = f"the labels contradict independent errors: {_words(strongest, found)} (p = {p_value(p)})"
    return ModelState(REJECTED, words, AFTER_REJECTION, p, found)


def _corrected(families: Sequence[Family], share: float) -> Iterator[tuple[float, Alternative]]:
    """Fit models of dependent errors to families that have a share of alpha together; yield each with its corrected p.

    The correction counts all models that could have been fitted. A family without an identified model counts no models.
    """
    fitted, n_pairs, n_difficulty = [], 0, 0
    for family in families:
        models, n_pairs_of_family = alternatives(family)
        if any(model.p is not None for model in models):
            fitted += models
            n_pairs += n_pairs_of_family
            n_difficulty += len(OF_ITEMS)
    for model in fitted:
        n_times = n_pairs / (1 - SHARE_OF_DIFFICULTY) if model.raters else n_difficulty / SHARE_OF_DIFFICULTY
        if model.p is not None:
            yield model.p * n_times / share, model


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


def _pair_fit(family: Family, pair: Sequence[object]) -> PairFit | None:
    """Compare observed and expected agreement of two raters with common items; None without two raters."""
    if not pair:
        return None
    patterns, mode = family.patterns, family.mode
    a, b = pair
    i, j = patterns.raters.index(a), patterns.raters.index(b)
    both = patterns.seen[:, i] * patterns.seen[:, j] * patterns.n
    n = int(both.sum())
    pi = float(both @ mode.pi[0][patterns.stratum]) / n
    observed = float((both * (patterns.positive[:, i] == patterns.positive[:, j])).sum() / n)
    expected = sum(
        share * (rate[i] * rate[j] + (1 - rate[i]) * (1 - rate[j]))
        for share, rate in ((pi, mode.se[0]), (1 - pi, mode.sp[0]))
    )
    return PairFit(family.name, a, b, n, observed, float(expected))


def _words(model: Alternative, found: PairFit | None) -> str:
    """Describe what contradicts independent errors."""
    if found is None:
        return f"a model in which {model.kind} fits better"
    if abs(found.observed - found.expected) < SMALL_DIFFERENCE:
        return f"a model in which {found.a} and {found.b} share errors fits better"
    return (
        f"{found.a} and {found.b} agree on {percent(found.observed)} of their items, and the model expects "
        f"{percent(found.expected)}"
    )


UNDECIDED = "undecided"
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
        How far to trust all numbers above, from the test of independent errors.
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
    rng: np.random.Generator,
) -> LatentClass:
    """Fit a latent class model with two categories and conditional independence [1]_, [2]_, and test it.

    The fit is Bayesian, as in [3]_. The prior of the prevalence is Beta(2, 2). The prior of sensitivity and specificity
    is Beta(3, 1.5) for reviewers and Beta(1, 1) for classifiers; their sum is at least 1 for every rater. The model
    therefore treats a rater who is worse than chance as random, and the tests detect such a rater.

    Rates of a classifier are computed in two steps: the reviewers' parameters are fixed, because a classifier must not
    change the truth with which it is compared, and the rates then maximise the likelihood of its verdicts. Their
    intervals include the uncertainty about the reviewers.

    The test of independent errors has a significance level of 0.05. Models of dependent errors [4]_ are fitted to the
    reviewers alone and with each classifier (0.65 of the level, half of it for items that differ in difficulty and half
    for pairs); the smallest p counts, times the number of all models that could have been fitted. The same models of
    the reviewers have a separate prevalence for each combination of verdicts (0.35), so that any dependence between
    classifiers is allowed. The smaller of the two corrected p is the p of the test.
    No test can see errors that all raters share: if m % of the items mislead everybody, each rate is too high by
    about m x (sensitivity - 0.1) percentage points.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels: columns item, rater, category; any number of labels per item.
    verdicts : DataFrame, optional
        Columns item, classifier, verdict (None if there is no verdict). Items without a label are left out.
    third_labels : DataFrame, optional
        Label table of further labels on split items. They are used for the estimates, but not for the test, because
        pairs disagree on split items by design.
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
    given = [rows for rows in (labels, third_labels) if rows is not None and len(rows)]
    columns = ("item", "rater", "category")
    tables = [checked_columns(rows, columns, "label table") for rows in given]
    patterns = patterns_of(pd.concat(tables, ignore_index=True) if tables else labels, strata=strata)
    mode = fit(patterns)
    judgement, is_known = identified(patterns, mode)
    drawn = draws(mode, patterns, n_sweeps=n_sweeps, rng=rng) if is_known.any() else mode
    estimates = _estimates(mode, drawn, is_known, level, judgement.words)
    n_strata = len(patterns.strata)
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
        state=check_independence(labels, verdicts, judgement),
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
