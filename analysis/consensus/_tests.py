"""Test independent errors, from one budget of errors, and determine the status of a latent class model.

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

from analysis.categories import DISSIMILAR
from analysis.consensus._dependence import (
    MAX_WORK,
    OF_ITEMS,
    Dependence,
    alternatives,
    with_rates,
)
from analysis.consensus._fisher import all_cells, combinations_of
from analysis.consensus._identifiability import Identifiability
from analysis.consensus._left_out import Family, LeftOutRater, leave_one_out
from analysis.consensus._model import climb, fit, log_probability, posterior
from analysis.consensus._patterns import Floats, Patterns, patterns_of
from analysis.document import p_value
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

    @property
    def is_marked(self) -> bool:
        """Return whether results of the model need a warning."""
        return self.state != NOT_CONTRADICTED


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
