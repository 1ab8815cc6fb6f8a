"""Check whether labels determine prevalence and error rates, and find changes to the design that would help."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.consensus._fisher import Bools, all_cells, all_sets, prevalence_se, rank, reachable, rows_of, with_rows
from analysis.consensus._model import PREVALENCE_PRIOR, Theta, by_stratum, fit
from analysis.consensus._patterns import Ints, Patterns, patterns_of
from analysis.results import Result

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

    Examples
    --------
    >>> cells = [(f"{pair}{x}{y}", rater, ("similar", "dissimilar")[label]) for pair in ("ab", "ac", "bc")
    ...          for x in (0, 1) for y in (0, 1) for rater, label in zip(pair, (x, y))]
    >>> answer = identifiability(pd.DataFrame(cells, columns=["item", "rater", "category"]))
    >>> answer.rank, answer.n_parameters, answer.identified
    (6, 7, False)
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
