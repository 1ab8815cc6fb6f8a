"""Whether labels can tell prevalence and error rates at all, and what would fix it where they cannot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.consensus._fisher import Bools, Design, all_sets, cells_of, design_of, rank, reachable
from analysis.consensus._model import Theta, fit
from analysis.consensus._patterns import Patterns, patterns_of

THIRD = "a third label on split items"
OVERLAP = "10 to 20 % of the items labelled by all reviewers"
THREE = "three labels on every item (k = 3)"
CLASSIFIER = "the verdicts of a classifier as a further rater"
CLASSIFIERS = "the verdicts of two classifiers as further raters"
STRATA = "strata of items that differ in prevalence, such as applications"


@dataclass(frozen=True)
class Identifiability:
    """Whether the parameters of a latent class model follow from labels of this design, however many.

    Attributes
    ----------
    rank : int
        Rank of the Fisher information: so many parameters, or combinations of them, can be told.
    n_parameters : int
        A prevalence for each stratum, a sensitivity and a specificity for each rater.
    identified : bool
        All of them can be told, and the data are enough to try.
    unknown : tuple of str
        The parameters that cannot.
    words : str
        The same as a sentence.
    remedies : tuple of str
        Changes of the design of which each alone would identify everything; computed, not guessed.
    """

    rank: int
    n_parameters: int
    identified: bool
    unknown: tuple[str, ...]
    words: str
    remedies: tuple[str, ...] = ()


def identifiability(
    labels: pd.DataFrame, verdicts: pd.DataFrame | None = None, *, strata: "pd.Series | None" = None
) -> Identifiability:
    """Rank of the Fisher information of the actual design and data [1]_, in numbers and words.

    Two labels an item of any number of reviewers leave one direction in which prevalence and all error rates can
    move together without any trace in the labels: rank 8 of 9 for four reviewers, for any number of items.

    Parameters
    ----------
    labels : DataFrame
        Label table of reviewers: columns item, rater, category; any number of labels an item. Third labels may be
        among them: label patterns that the design does not produce are recognised, and do not count.
    verdicts : DataFrame, optional
        Classifiers as further raters: columns item, classifier, verdict (None: no verdict).
    strata : Series indexed by item, optional
        Strata that may differ in prevalence while each rater's error rates are the same in all of them [2]_.

    Returns
    -------
    Identifiability
        Not identified as well where there is no label, where only one category was ever used, and where there are
        fewer items than parameters; `words` says so.

    Raises
    ------
    ValueError
        If a table is not one, or an item is in no stratum or in two.

    References
    ----------
    .. [1] Jones et al. (2010), Biometrics 66:855-863, doi:10.1111/j.1541-0420.2009.01330.x
    .. [2] Hui, Walter (1980), Biometrics 36:167-171, doi:10.2307/2530508

    Examples
    --------
    >>> cells = [(f"{pair}{x}{y}", rater, ("similar", "dissimilar")[label]) for pair in ("ab", "ac", "bc")
    ...          for x in (0, 1) for y in (0, 1) for rater, label in zip(pair, (x, y))]
    >>> told = identifiability(pd.DataFrame(cells, columns=["item", "rater", "category"]))
    >>> told.rank, told.n_parameters, told.identified
    (6, 7, False)
    """
    patterns = patterns_of(labels, verdicts, strata)
    return identified(patterns, fit(patterns))[0]


def identifiability_of_plan(blocks: Sequence[Sequence[str]], *, n_classifiers: int = 0) -> Identifiability:
    """The same before anything is labelled: which estimates a plan makes possible.

    Parameters
    ----------
    blocks : sequence of sequences of str
        The sets of reviewers that label items together; with overlap, the set of all reviewers is one of them.
    n_classifiers : int
        Classifiers that give a verdict on every item and are to count as raters.

    Returns
    -------
    Identifiability
        Not identified if there is no block.

    Raises
    ------
    ValueError
        If `n_classifiers` is negative.
    """
    if n_classifiers < 0:
        raise ValueError(f"n_classifiers must be >= 0, got {n_classifiers}")
    reviewers = sorted({reviewer for block in blocks for reviewer in block}, key=str)
    seen = np.ones((len(blocks), len(reviewers) + n_classifiers), dtype=bool)
    for row, block in zip(seen, blocks, strict=True):
        row[: len(reviewers)] = [reviewer in block for reviewer in reviewers]
    design = Design(seen, np.zeros(len(blocks), dtype=np.int64), 1, len(reviewers))
    names = [*reviewers, *(f"classifier {i + 1}" for i in range(n_classifiers))]
    return _judged(design, *rank(cells_of(design)[0]), _parameter_names(["all"], names), None)


def identified(patterns: Patterns, mode: Theta) -> tuple[Identifiability, Bools]:
    """The judgement, and for each parameter (prevalences, sensitivities, specificities) whether it is known.

    `mode` is the fit; it only tells which patterns ought to have come up.
    """
    design, n = design_of(patterns)
    cells, which = cells_of(design)
    told, unknown = rank(reachable(cells, which, n, patterns, mode))
    reason = _too_little(patterns, design.n_parameters)
    names = _parameter_names(patterns.strata, patterns.raters)
    judged = _judged(design, told, unknown, names, reason)
    return judged, ~unknown if reason is None else np.zeros_like(unknown)


def told_patterns(patterns: Patterns, known: Bools) -> Bools:
    """Patterns whose posterior is known: the prevalence of the stratum is, and so are the rates of all who labelled."""
    pi, se, sp = np.split(known, np.cumsum([len(patterns.strata), len(patterns.raters)]))
    told: Bools = pi[patterns.stratum] & (patterns.seen @ ~(se & sp) == 0)
    return told


def _too_little(patterns: Patterns, n_parameters: int) -> str | None:
    """Why these data cannot be tried at all, whatever the design."""
    n_items = len(patterns.items)
    if n_items == 0:
        return "no labels"
    if not patterns.positive.any() or not patterns.negative.any():
        return "only one category was used"
    if n_items < n_parameters:
        return f"{n_items} {'item' if n_items == 1 else 'items'} cannot tell {n_parameters} parameters"
    return None


def _judged(design: Design, told: int, unknown: Bools, names: Sequence[str], reason: str | None) -> Identifiability:
    n = design.n_parameters
    if reason is not None:
        return Identifiability(told, n, False, tuple(names), f"not identified: {reason}")
    if told == n and len(design.seen):
        return Identifiability(told, n, True, (), f"identified: labels of this design tell all {n} parameters")
    missing = tuple(name for name, is_unknown in zip(names, unknown, strict=True) if is_unknown)
    some = "" if len(missing) == n else f"; unknown: {', '.join(missing)}"
    words = f"not identified: however many items, labels of this design tell only {told} of {n} parameters{some}"
    remedies = [remedy for remedy, other in _remedies(design) if _suffices(other)]
    if CLASSIFIER in remedies:
        remedies = [remedy for remedy in remedies if remedy != CLASSIFIERS]
    return Identifiability(told, n, False, missing, words, tuple(remedies))


def _suffices(design: Design) -> bool:
    return rank(cells_of(design)[0])[0] == design.n_parameters


def _remedies(design: Design) -> Iterator[tuple[str, Design]]:
    """Designs a study could change over to."""
    n_reviewers = max(design.n_reviewers, 3)
    n_more = n_reviewers - design.n_reviewers
    n_classifiers = design.seen.shape[1] - design.n_reviewers
    reviewers, classifiers = np.hsplit(design.seen, [design.n_reviewers])
    wide = np.hstack([reviewers, np.zeros((len(design.seen), n_more), dtype=bool), classifiers])
    wider = replace(design, seen=wide, n_reviewers=n_reviewers)
    yield THIRD, replace(wider, third_on_split=True)
    for words, k in ((OVERLAP, n_reviewers), (THREE, 3)):
        sets = all_sets(n_reviewers, k)
        sets = np.hstack([sets, np.zeros((len(sets), n_classifiers), dtype=bool)])
        stratum = np.zeros(len(sets), dtype=np.int64)
        yield words, replace(wider, seen=np.vstack([wide, sets]), stratum=np.r_[design.stratum, stratum])
    column = np.ones((len(design.seen), 1), dtype=bool)
    for words, n in ((CLASSIFIER, 1), (CLASSIFIERS, 2)):
        yield words, replace(design, seen=np.hstack([design.seen, *[column] * n]))
    if design.n_strata == 1:
        twice = np.r_[design.stratum, design.stratum + 1]
        yield STRATA, replace(design, seen=np.vstack([design.seen, design.seen]), stratum=twice, n_strata=2)


def _parameter_names(strata: Sequence[object], raters: Sequence[object]) -> list[str]:
    prevalences = ["prevalence"] if len(strata) == 1 else [f"prevalence of {stratum}" for stratum in strata]
    return [*prevalences, *(f"sensitivity of {r}" for r in raters), *(f"specificity of {r}" for r in raters)]
