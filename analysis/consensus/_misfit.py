"""Test the assumption that raters err independently if the true category of an item is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from analysis.consensus._fisher import all_cells, combinations_of, rank, with_rows
from analysis.consensus._model import Theta, climb, fit
from analysis.consensus._patterns import Floats, Ints, Patterns, distinct_rows, patterns_of
from analysis.results import Result

_MAX_CELLS = 2_000_000  # maximum number of parallel data sets times label patterns, to limit memory
WORDS_FIT = "no sign that raters share errors or that items differ in difficulty"
WORDS_MISFIT = "raters share errors or items differ in difficulty, so do not trust prevalence and rates of the model"
_TOLERANCE = 1e-4  # precision of the parameters fitted to a drawn data set; enough for the statistic
ENOUGH_POWER = 0.8  # required power to detect a copying rater; with less power, a large p value means little
COPIED = 0.75  # share of labels that the copying rater copies


@dataclass(frozen=True, repr=False)
class Misfit(Result):
    """Result of the test whether raters err independently if the true category is known. `p` is None if undefined.

    Attributes
    ----------
    x2 : float or None
        Sum of Pearson's X2 over the 2 x 2 tables of all pairs of raters.
    p : float or None
    n_draws : int
    words : str
    power : float or None
        Probability that the test detects a rater who copies three of four labels of another rater. It comes from
        simulated data sets of the same design and fit; pairs with more common items are drawn more often.
    """

    x2: float | None
    p: float | None
    n_draws: int
    words: str
    power: float | None = None


def misfit(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame | None = None,
    *,
    strata: "pd.Series | None" = None,
    alpha: float = 0.05,
    n_draws: int = 299,
    rng: np.random.Generator,
) -> Misfit:
    """Test whether pairs of raters agree as often as the latent class model predicts [1]_.

    The statistic is the sum of Pearson's X2 over the 2 x 2 tables of all pairs of raters, pooled over items. The
    distribution of the statistic comes from a parametric bootstrap. Data sets are drawn from the fitted model, with the
    same raters on the same items. The model is then fitted to each data set.

    If the test rejects, do not trust the prevalence and the rates of the model: raters share errors, or items differ in
    difficulty. If the test does not reject, this proves little, because no test can detect errors that all raters
    share.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels *only* (fresh and overlap). The plan must have assigned the reviewers before any
        label was known. Third labels are not allowed, because they belong to split items, on which pairs disagree by
        design.
    verdicts : DataFrame, optional
        Verdicts of classifiers, which count as additional raters: columns item, classifier, verdict (None if there is
        no verdict).
    strata : Series indexed by item, optional
        As in `latent_class`.
    alpha : float
        Significance level: if p is at most alpha, `words` reports misfit.
    n_draws : int
        Number of data sets drawn from the fit. To estimate the power, half as many data sets are drawn in which one
        rater copies another.
    rng : numpy.random.Generator

    Returns
    -------
    Misfit
        p = (1 + number of draws with at least this X2) / (1 + n_draws). Undefined if no item has two labels, or if only
        one category was used. Also undefined if the model always fits because it has as many parameters as there are
        free pattern shares (three raters, all on the same items).

    Raises
    ------
    ValueError
        If a table is invalid, `alpha` is not within (0, 1), or `n_draws` is below 19.

    References
    ----------
    .. [1] Oberski, van Kollenburg, Vermunt (2013), Advances in Data Analysis and Classification 7:267-279,
       doi:10.1007/s11634-013-0146-2
    """
    if not 0 < alpha < 1 or n_draws < 19:
        raise ValueError(f"alpha must be within (0, 1) and n_draws at least 19, got {alpha} and {n_draws}")
    patterns = patterns_of(labels, verdicts, strata)
    reason = _untestable(patterns)
    if reason is not None:
        return Misfit(None, None, 0, f"cannot be tested: {reason}")
    mode = fit(patterns)
    x2 = float(pair_x2(mode, patterns, patterns.n[None, :].astype(float))[0])
    drawn = _drawn_x2(mode, patterns, n_draws, rng)
    p = float((1 + (drawn >= x2).sum()) / (1 + n_draws))
    if p <= alpha:
        return Misfit(x2, p, n_draws, WORDS_MISFIT)
    copied = _drawn_x2(mode, patterns, max(n_draws // 2, 1), rng, copying=True)
    power = float((copied >= np.quantile(drawn, 1 - alpha)).mean())
    found = (
        f"the test detects a rater who copies three of four labels of another in {100 * power:.0f} % of such data sets"
    )
    return Misfit(x2, p, n_draws, f"{WORDS_FIT}; {'but ' * (power < ENOUGH_POWER)}{found}", power)


def pair_x2(theta: Theta, patterns: Patterns, n: Floats) -> Floats:
    """Compute the statistic of the test: the sum of Pearson's X2 over the 2 x 2 tables of all pairs of raters.

    Parameters
    ----------
    theta : Theta
        One fit for each data set.
    patterns : Patterns
    n : ndarray of float, shape (n_fits, n_patterns)
        Count of each pattern in each data set.

    Returns
    -------
    ndarray of float, shape (n_fits,)
    """
    pair = np.triu(np.ones((len(patterns.raters),) * 2, dtype=bool), 1)
    of_strata = (n * (patterns.stratum == stratum) for stratum in range(len(patterns.strata)))
    positive, negative = patterns.marks
    seen = positive + negative
    labelled = np.stack([_pair_counts(m, seen, seen)[:, pair] for m in of_strata])  # both raters labelled the item
    if_dissimilar, if_similar = (theta.se, 1 - theta.se), (1 - theta.sp, theta.sp)
    total = np.zeros(len(n))
    for x, first in enumerate((positive, negative)):
        for y, second in enumerate((positive, negative)):
            yes = (if_dissimilar[x][:, :, None] * if_dissimilar[y][:, None, :])[:, pair]
            no = (if_similar[x][:, :, None] * if_similar[y][:, None, :])[:, pair]
            pi = theta.pi.T[:, :, None]
            expected = (labelled * (pi * yes + (1 - pi) * no)).sum(axis=0)
            difference = _pair_counts(n, first, second)[:, pair] - expected
            total += np.divide(difference**2, expected, out=np.zeros_like(expected), where=expected > 0).sum(axis=1)
    return total


def _pair_counts(n: Floats, first: Any, second: Any) -> Floats:
    """Count the items of each pair of raters for which `first` is 1 for one rater and `second` is 1 for the other.

    The result has shape (n_fits, n_raters, n_raters).
    """
    if sparse.issparse(first):
        return np.stack([((first * row[:, None]).T @ second).toarray() for row in n])
    counted: Floats = n @ (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    return counted.reshape(len(n), first.shape[1], second.shape[1])


def _untestable(patterns: Patterns) -> str | None:
    if not (patterns.seen.sum(axis=1) >= 2).any():
        return "no item has two labels"
    if not patterns.positive.any() or not patterns.negative.any():
        return "only one category was used"
    combined, stratum, _ = combinations_of(patterns)
    n_free = sum(2.0**n_raters - 1 for n_raters in combined.sum(axis=1).tolist())
    if n_free <= patterns.n_parameters and n_free <= rank(all_cells(combined, stratum, patterns)[0])[0]:
        return "the model always fits, because it has as many parameters as there are free pattern shares"
    return None


def _drawn_x2(
    mode: Theta, patterns: Patterns, n_draws: int, rng: np.random.Generator, *, copying: bool = False
) -> Floats:
    """Draw data sets from a fit, and compute the statistic of each data set.

    If `copying` is true, one rater copies another in each data set.
    """
    n_aside = max(int(np.sqrt(_MAX_CELLS / len(patterns.items))), 1)
    sizes = [min(n_aside, n_draws - begin) for begin in range(0, n_draws, n_aside)]
    redrawn = [drawn for size in sizes for drawn in _drawn_patterns(mode, patterns, size, rng, copying)]
    x2 = []
    for own, n in _joined(redrawn):
        refitted = climb(mode.repeated(len(n)), own, n, tolerance=_TOLERANCE, together=False)
        x2.append(pair_x2(refitted, own, n))
    return np.concatenate(x2)


def _joined(drawn: list[tuple[Patterns, Floats]]) -> list[tuple[Patterns, Floats]]:
    """Join data sets that have the same label patterns, so that a single call can fit all of them."""
    joined: dict[bytes, tuple[Patterns, list[Floats]]] = {}
    for own, n in drawn:
        key = own.positive.tobytes() + own.negative.tobytes() + own.stratum.tobytes()
        joined.setdefault(key, (own, []))[1].append(n)
    return [(own, np.concatenate(counts)) for own, counts in joined.values()]


def _drawn_patterns(
    mode: Theta, patterns: Patterns, n_sets: int, rng: np.random.Generator, copying: bool
) -> list[tuple[Patterns, Floats]]:
    """Draw data sets in which the same raters label the same items.

    Return label patterns, and the number of items with each pattern in each data set. The data sets share one table of
    patterns; if patterns are stored as sparse matrices, there is one table for each data set.
    """
    # Draw for each pattern, not for each item, so that the draws do not depend on the order of the label table.
    stratum, has_label = (np.repeat(x, patterns.n, axis=0) for x in (patterns.stratum, patterns.seen == 1))
    dissimilar = rng.random((n_sets, len(stratum))) < mode.pi[0, stratum]
    drawn = rng.random((*dissimilar.shape, has_label.shape[1]))
    is_positive = drawn < 1 - mode.sp[0]
    is_positive |= (drawn < mode.se[0]) & dissimilar[:, :, None]  # Se >= 1 - Sp
    labels = is_positive.view(np.int8)
    labels[:, ~has_label] = -1
    if copying:
        _copy(labels, has_label, rng)
    if sparse.issparse(patterns.marks[0]):
        return [_counted_patterns(patterns, of_set[None], stratum) for of_set in labels]
    return [_counted_patterns(patterns, labels, stratum)]


def _copy(labels: NDArray[np.int8], has_label: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Simulate copying: in each data set, one rater copies three of four labels of another rater.

    Only labels of items that both raters labelled are copied.
    """
    shared = np.triu(has_label.T.astype(float) @ has_label.astype(float), 1)
    first, second = np.nonzero(shared)
    chosen = rng.choice(len(first), size=len(labels), p=shared[first, second] / shared.sum())
    for of_set, pair in zip(labels, chosen, strict=True):
        a, b = rng.permutation([first[pair], second[pair]])
        copied = has_label[:, a] & has_label[:, b] & (rng.random(len(has_label)) < COPIED)
        of_set[copied, b] = of_set[copied, a]


def _counted_patterns(like: Patterns, labels: NDArray[np.int8], stratum: Ints) -> tuple[Patterns, Floats]:
    """Collapse labels of shape (n_sets, n_items, n_raters) to patterns, and count each pattern in each data set."""
    n_sets, n_items, n_raters = labels.shape
    rows, strata = labels.reshape(-1, n_raters), np.tile(stratum, n_sets)
    first, which, _ = distinct_rows(rows, strata)
    of_set = np.repeat(np.arange(n_sets), n_items)
    n = np.bincount(of_set * len(first) + which, minlength=n_sets * len(first)).reshape(n_sets, -1)
    return with_rows(like, rows[first], strata[first]), n.astype(float)
