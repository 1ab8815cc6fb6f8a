"""The latent class model: label patterns, the likelihood and its maximum by EM, and the rank of the information.

A pattern is the labels of all raters on an item, with the number of such items. The likelihood depends only on the
patterns, and there are far fewer patterns than items: 586 items labelled by three of four reviewers have at most 32.

An item is dissimilar with probability pi, which depends on its stratum. Rater r calls a dissimilar item dissimilar with
probability Se_r (sensitivity), and a similar item similar with probability Sp_r (specificity). If the true category is
known, raters are independent [1]_, [2]_.

The priors are for a small study [3]_. They assume that reviewers are more often right than wrong, and assume nothing
about classifiers. For every rater, Se + Sp must be at least 1, because otherwise the two categories could be exchanged.

The rank of the Fisher information is the number of parameters that the labels of a design can determine. For each
combination of raters, the information is computed exactly: all label patterns that these raters can produce are
summed [5]_. More items with the same combinations of raters multiply the information, but never increase its rank.

References
----------
.. [1] Dawid, Skene (1979), J. R. Stat. Soc. C 28:20-28, doi:10.2307/2346806
.. [2] Hui, Walter (1980), Biometrics 36:167-171, doi:10.2307/2530508
.. [3] Joseph, Gyorkos, Coupal (1995), Am. J. Epidemiol. 141:263-272, doi:10.1093/oxfordjournals.aje.a117428
.. [4] Varadhan, Roland (2008), Scand. J. Stat. 35:335-353, doi:10.1111/j.1467-9469.2007.00585.x
.. [5] Jones et al. (2010), Biometrics 66:855-863, doi:10.1111/j.1541-0420.2009.01330.x
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse, special

from analysis.arrays import Bools, Floats, Ints
from analysis.categories import DISSIMILAR
from analysis.raters.tables import checked_labels, checked_verdicts

ALL = "all items"
_MIN_RATERS, _MAX_SHARE = (
    16,
    0.25,
)  # use sparse matrices if there are so many raters, and if patterns have at most this share of possible labels
_LARGEST_COUNTED = 8  # codes up to this multiple of their number are counted, not sorted
_RATERS_A_CODE = 20  # 3**20 patterns times 2**31 items fit into 64 bits


@dataclass(frozen=True)
class Patterns:
    """Labels of two categories, collapsed to patterns."""

    raters: tuple[object, ...]  # names in the order of the columns: the reviewers, then the classifiers, each sorted
    n_reviewers: int  # number of raters that are reviewers
    strata: tuple[object, ...]  # names of the strata; a single stratum by default
    # 1 if the rater's label is dissimilar (`positive`) or similar (`negative`), otherwise 0. Both are 0 if there
    # is no label.
    positive: Floats
    negative: Floats
    stratum: Ints  # position in `strata`
    n: Ints  # number of items with the pattern
    items: pd.Index
    of_item: Ints  # the pattern of each item

    @property
    def seen(self) -> Floats:
        """Return whether each rater labelled the items of each pattern, as 1 or 0; shape (n_patterns, n_raters)."""
        return self.positive + self.negative

    @cached_property
    def marks(self) -> tuple[Any, Any]:
        """Return `positive` and `negative` for matrix products.

        Both are sparse if there are many raters and most entries are 0.
        """
        is_sparse = len(self.raters) >= _MIN_RATERS and self.seen.mean() <= _MAX_SHARE if self.seen.size else False
        if not is_sparse:
            return self.positive, self.negative
        return sparse.csr_array(self.positive), sparse.csr_array(self.negative)

    @property
    def n_parameters(self) -> int:
        """Return the number of parameters of the latent class model: one per stratum, two per rater."""
        return len(self.strata) + 2 * len(self.raters)


def patterns_of(
    labels: pd.DataFrame, verdicts: pd.DataFrame | None = None, strata: "pd.Series | None" = None
) -> Patterns:
    """Collapse a label table to patterns, with the items in order of first appearance.

    Classifiers with verdicts on the same items (columns item, classifier, verdict) count as additional raters; their
    verdicts on items without a label are left out. `strata` has the stratum of each item. All arrays are empty if there
    are no labels. Raises ValueError if a table is invalid, or an item is in no stratum or in two.
    """
    table = checked_labels(labels)
    items = pd.Index(pd.unique(table["item"]), name="item")
    reviewers, by_reviewer = _matrix(table, items)
    classifiers, by_classifier = _matrix(verdict_table(verdicts), items)
    matrix = np.hstack([by_reviewer, by_classifier])
    names, stratum_of_item = _strata(strata, items)
    first, of_item, n = distinct_rows(matrix, stratum_of_item)
    positive, negative = (matrix[first] == 1).astype(float), (matrix[first] == 0).astype(float)
    raters = (*reviewers, *classifiers)
    stratum = stratum_of_item[first]
    return Patterns(raters, len(reviewers), names, positive, negative, stratum, n, items, of_item)


def verdict_table(verdicts: pd.DataFrame | None) -> pd.DataFrame:
    """Convert verdicts to a label table, without items that have no verdict.

    Raises ValueError if a column is missing, a verdict is not a category, or a classifier has two verdicts on an item.
    """
    if verdicts is None:
        return pd.DataFrame({"item": [], "rater": [], "category": []}, dtype=object)
    return checked_verdicts(verdicts).dropna(subset="verdict").set_axis(["item", "rater", "category"], axis=1)


def distinct_rows(matrix: NDArray[np.int8], stratum: Ints) -> tuple[Ints, Ints, Ints]:
    """Find the distinct pairs of stratum and row of labels, which are -1 (no label), 0 (similar) or 1 (dissimilar).

    Return the first position of each distinct pair, the index of the pair of each row, and the count of each pair.
    """
    codes = stratum
    for start in range(0, matrix.shape[1], _RATERS_A_CODE):
        columns = matrix[:, start : start + _RATERS_A_CODE] + 1.0
        codes = _distinct(codes)[1] * 3 ** columns.shape[1]
        codes = codes + (columns @ 3.0 ** np.arange(columns.shape[1])).astype(np.int64)
    return _distinct(codes)


def _distinct(codes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the first position of each distinct code, the index of each entry's code, and the counts.

    The codes are >= 0. Small codes are counted, which is faster than sorting them.
    """
    largest = int(codes.max(initial=0))
    if largest > _LARGEST_COUNTED * max(len(codes), 1):
        _, first, inverse, n = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return first, inverse.reshape(-1), n
    counts = np.bincount(codes, minlength=largest + 1)
    distinct = np.flatnonzero(counts)
    index = np.zeros(len(counts), dtype=np.int64)
    index[distinct] = np.arange(len(distinct))
    inverse = index[codes]
    first = np.zeros(len(distinct), dtype=np.int64)
    first[inverse[::-1]] = np.arange(len(codes))[::-1]
    return first, inverse, counts[distinct]


def _matrix(table: pd.DataFrame, items: pd.Index) -> tuple[list[object], NDArray[np.int8]]:
    """Return the sorted raters, and their labels on these items: -1 no label, 0 similar, 1 dissimilar."""
    row = items.get_indexer(pd.Index(table["item"]))
    table, row = table[row >= 0], row[row >= 0]
    rater, names = pd.factorize(table["rater"])
    raters = sorted(names, key=str)
    column = pd.Index(raters, dtype=object).get_indexer(pd.Index(names, dtype=object))
    matrix = np.full((len(items), len(raters)), -1, dtype=np.int8)
    matrix[row, column[rater]] = (table["category"] == DISSIMILAR).to_numpy()
    return raters, matrix


def _strata(strata: "pd.Series | None", items: pd.Index) -> tuple[tuple[object, ...], Ints]:
    if strata is None:
        return (ALL,), np.zeros(len(items), dtype=np.int64)
    if not strata.index.is_unique:
        raise ValueError(f"item {strata.index[strata.index.duplicated()][0]!r} is in two strata")
    of_item = strata.reindex(items)
    if of_item.isna().any():
        raise ValueError(f"item {items[of_item.isna().to_numpy()][0]!r} is in no stratum")
    names = sorted(pd.unique(of_item), key=str)
    return tuple(names), pd.Index(names, dtype=object).get_indexer(of_item).astype(np.int64)


PREVALENCE_PRIOR = (2.0, 2.0)
REVIEWER_PRIOR = (3.0, 1.5)
CLASSIFIER_PRIOR = (1.0, 1.0)

EPS = 1e-9  # probabilities keep this distance from 0 and 1, where logarithms are infinite
_TOLERANCE, _ROUGH, _MAX_ITERATIONS = 1e-8, 1e-3, 20_000
_MAX_LEAP = 64.0  # maximum length of an extrapolation, as a multiple of an EM step


@dataclass(frozen=True)
class Theta:
    """The parameters of several fits at once."""

    pi: Floats
    se: Floats
    sp: Floats

    def rows(self, which: slice | NDArray[np.bool_]) -> "Theta":
        """Return the selected fits."""
        return Theta(self.pi[which], self.se[which], self.sp[which])

    def repeated(self, n: int) -> "Theta":
        """Repeat each fit n times."""
        return Theta(*(np.repeat(x, n, axis=0) for x in (self.pi, self.se, self.sp)))

    @property
    def columns(self) -> Floats:
        """Return all parameters in one array, shape (n_fits, n_strata + 2 n_raters)."""
        return np.hstack([self.pi, self.se, self.sp])


def rater_priors(patterns: Patterns) -> tuple[Floats, Floats]:
    """Return the two parameters of the Beta priors of Se and Sp of each rater, each of shape (n_raters,)."""
    n, n_classifiers = patterns.n_reviewers, len(patterns.raters) - patterns.n_reviewers
    a, b = np.repeat([REVIEWER_PRIOR, CLASSIFIER_PRIOR], [n, n_classifiers], axis=0).T
    return a, b


def log_odds(theta: Theta, patterns: Patterns) -> Floats:
    """Return log P(dissimilar | pattern) - log P(similar | pattern), shape (n_fits, n_patterns)."""
    if_positive = np.log(theta.se / (1 - theta.sp))
    if_negative = np.log((1 - theta.se) / theta.sp)
    prior = special.logit(theta.pi)[:, patterns.stratum]
    positive, negative = patterns.marks
    odds: Floats = prior + if_positive @ positive.T + if_negative @ negative.T
    return odds


def posterior(theta: Theta, patterns: Patterns) -> Floats:
    """Return P(dissimilar | pattern), shape (n_fits, n_patterns)."""
    q: Floats = special.expit(log_odds(theta, patterns))
    return q


def log_probability(theta: Theta, patterns: Patterns) -> Floats:
    """Return log P(pattern | raters), shape (n_fits, n_patterns)."""
    prior = np.log(1 - theta.pi)[:, patterns.stratum]
    positive, negative = patterns.marks
    if_similar = prior + np.log(theta.sp) @ negative.T + np.log(1 - theta.sp) @ positive.T
    total: Floats = if_similar + np.logaddexp(0, log_odds(theta, patterns))
    return total


def log_posterior(theta: Theta, patterns: Patterns, n: Floats) -> Floats:
    """Return the log posterior of each fit, shape (n_fits,), for patterns with counts `n`.

    The constant of the log prior is left out.
    """
    likelihood = (n * log_probability(theta, patterns)).sum(axis=1)
    a, b = rater_priors(patterns)
    prior = _log_beta(theta.se, a, b) + _log_beta(theta.sp, a, b)
    total: Floats = likelihood + prior.sum(axis=1) + _log_beta(theta.pi, *PREVALENCE_PRIOR).sum(axis=1)
    return total


def expected_counts(q: Floats, patterns: Patterns, n: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Count the expected labels of each rater by true category and label.

    Return four arrays of shape (n_fits, n_raters): dissimilar items called dissimilar, dissimilar items called similar,
    similar items called similar, and similar items called dissimilar. `q`, shape (n_fits, n_patterns), is the share of
    dissimilar items among the `n` items of each pattern.
    """
    yes, no = n * q, n * (1 - q)
    positive, negative = patterns.marks
    return yes @ positive, yes @ negative, no @ negative, no @ positive


def step(q: Floats, patterns: Patterns, n: Floats) -> Theta:
    """Run the M-step: find the most probable parameters if the share of dissimilar items of each pattern is known.

    The step first finds Se and Sp of each rater separately. If Se + Sp < 1, the step then searches the line Se + Sp =
    1. The best values are on this line, because the objective is concave.
    """
    a, b = rater_priors(patterns)
    hit, miss, correct, false_alarm = expected_counts(q, patterns, n)
    hit, miss, correct, false_alarm = hit + a - 1, miss + b - 1, correct + a - 1, false_alarm + b - 1
    se, sp = _share(hit, miss), _share(correct, false_alarm)
    on_line = _share(hit + false_alarm, miss + correct)
    below = se + sp < 1
    se, sp = np.where(below, on_line, se), np.where(below, 1 - on_line, sp)
    first, second = PREVALENCE_PRIOR
    yes, every = by_stratum(n * q, patterns), by_stratum(np.broadcast_to(n, q.shape), patterns)
    pi = (yes + first - 1) / (every + first + second - 2)
    return Theta(pi, np.clip(se, EPS, 1 - EPS), np.clip(sp, EPS, 1 - EPS))


def by_stratum(values: Floats, patterns: Patterns) -> Floats:
    """Sum values over the patterns of each stratum, from shape (n_fits, n_patterns) to (n_fits, n_strata)."""
    in_stratum = patterns.stratum[:, None] == np.arange(len(patterns.strata))
    sums: Floats = values @ in_stratum.astype(float)
    return sums


def climb(start: Theta, patterns: Patterns, n: Floats, *, tolerance: float = _TOLERANCE) -> Theta:
    """Run EM from several starts until no parameter of any fit changes by more than `tolerance`.

    `n` has shape (n_patterns,). The log posterior never decreases.

    An extrapolation step [4]_ follows every two iterations, unless it lowers the log posterior. Without extrapolation,
    EM would need thousands of iterations if labels hardly distinguish two parameters.
    """
    theta, reached = start, np.full(len(start.pi), -np.inf)
    for _ in range(_MAX_ITERATIONS):
        first = step(posterior(theta, patterns), patterns, n)
        second = step(posterior(first, patterns), patterns, n)
        if np.abs(first.columns - second.columns).max(initial=0) <= tolerance:
            return second
        theta, reached = _leapt(theta, first, second, patterns, n, reached)
    return theta


def _leapt(
    begin: Theta, first: Theta, second: Theta, patterns: Patterns, n: Floats, reached: Floats
) -> tuple[Theta, Floats]:
    """Extrapolate from two iterations, and return the parameters and their log posterior.

    If the extrapolation lowers the log posterior, return the second iteration.
    """
    here, there, beyond = (special.logit(theta.columns) for theta in (begin, first, second))
    way, bend = there - here, beyond - 2 * there + here
    length, bent = np.sqrt((way**2).sum(axis=1)), np.sqrt((bend**2).sum(axis=1))
    times = np.clip(np.divide(length, bent, out=np.ones_like(bent), where=bent > 0), 1, _MAX_LEAP)[:, None]
    rates = np.clip(special.expit(here + 2 * times * way + times**2 * bend), EPS, 1 - EPS)
    pi, se, sp = np.split(rates, np.cumsum([second.pi.shape[1], second.se.shape[1]]), axis=1)
    leap = Theta(pi, se, np.maximum(sp, 1 - se))
    height = log_posterior(leap, patterns, n)
    is_higher = height >= reached
    kept = [np.where(is_higher[:, None], *pair) for pair in zip(_parts(leap), _parts(second), strict=True)]
    return Theta(*kept), np.where(is_higher, height, reached)


def _parts(theta: Theta) -> tuple[Floats, Floats, Floats]:
    return theta.pi, theta.se, theta.sp


def starts(patterns: Patterns) -> Theta:
    """Return starting points of EM that do not depend on the order or names of raters.

    There are four kinds of starting points. The first uses the share of dissimilar labels of each item. The second has
    equal raters at a low, middle and high prevalence. The third has strict and lenient raters. The fourth has one start
    for each rater, at which only this rater is right.
    """
    n_raters, n_strata = len(patterns.raters), len(patterns.strata)
    share = _share(patterns.positive.sum(axis=1), patterns.negative.sum(axis=1))
    votes = step(share[None, :], patterns, patterns.n.astype(float))
    pi = np.array([0.2, 0.5, 0.8, 0.5, 0.5])
    se, sp = np.array([0.8, 0.8, 0.8, 0.95, 0.65]), np.array([0.8, 0.8, 0.8, 0.65, 0.95])
    one_right = np.where(np.eye(n_raters, dtype=bool), 0.95, 0.6)
    return Theta(
        np.vstack([votes.pi, np.repeat(np.r_[pi, np.full(n_raters, 0.5)][:, None], n_strata, axis=1)]),
        np.vstack([votes.se, np.repeat(se[:, None], n_raters, axis=1), one_right]),
        np.vstack([votes.sp, np.repeat(sp[:, None], n_raters, axis=1), one_right]),
    )


def fit(patterns: Patterns) -> Theta:
    """Fit the latent class model; return the posterior mode (one fit).

    EM first runs roughly from every start, and then continues from the best start until it converges.
    """
    n = patterns.n.astype(float)
    rough = climb(starts(patterns), patterns, n, tolerance=_ROUGH)
    best = int(np.argmax(log_posterior(rough, patterns, n)))
    return climb(rough.rows(slice(best, best + 1)), patterns, n)


def _log_beta(x: Floats, a: Floats | float, b: Floats | float) -> Floats:
    first, second = np.asarray(a) - 1, np.asarray(b) - 1
    return np.asarray(special.xlogy(first, x) + special.xlog1py(second, -x), dtype=float)


def _share(x: Floats, rest: Floats) -> Floats:
    """Return x / (x + rest), or 0.5 if both are 0."""
    total = x + rest
    return np.divide(x, total, out=np.full_like(total, 0.5), where=total > 0)


_MAX_RATERS = 8  # larger combinations are split into windows of this size
_MAX_SETS = 5000  # number of sets of three among 32 reviewers
_ZERO = 1e-10  # tolerance relative to the largest eigenvalue: above rounding errors, below the values of usable designs
_IN_NULL_SPACE = 1e-5
# If at least this many items were expected for a pattern and none occurred, the design excludes the pattern.
_EXPECTED = 5.0


def combinations_of(patterns: Patterns) -> tuple[Bools, Ints, Ints]:
    """Return the combinations of raters that label the same items, their strata, and the number of items of each.

    The combinations have shape (n_combinations, n_raters).
    """
    first, which, _ = distinct_rows(patterns.seen.astype(np.int8), patterns.stratum)
    n = np.bincount(which, weights=patterns.n, minlength=len(first)).astype(np.int64)
    return patterns.seen[first] == 1, patterns.stratum[first], n


def all_cells(has_label: Bools, stratum: Ints, like: Patterns) -> tuple[Patterns, Ints]:
    """Return all patterns that combinations of raters can produce, and the index of each pattern's combination.

    A combination of more than 8 raters is split into overlapping windows of 8 raters. The split does not reduce the
    rank, because three raters already determine their rates.
    """
    rows, owner = [np.zeros((0, has_label.shape[1]), dtype=np.int8)], []
    for c, of_combination in enumerate(has_label):
        for raters in _windows(np.flatnonzero(of_combination)):
            rows.append(_all_patterns(raters, has_label.shape[1]))
            owner += [c] * len(rows[-1])
    which = np.array(owner, dtype=np.int64)
    return with_rows(like, np.vstack(rows), stratum[which]), which


def with_rows(like: Patterns, labels: NDArray[np.int8], stratum: Ints, **changes: Any) -> Patterns:
    """Build patterns from rows of labels; `like` provides the raters and strata. No pattern has items.

    In a row, -1 means no label, 0 similar and 1 dissimilar.
    """
    none = np.zeros(len(labels), dtype=np.int64)
    positive, negative = (labels == 1).astype(float), (labels == 0).astype(float)
    parts = {"positive": positive, "negative": negative, "stratum": stratum, "n": none, "of_item": none[:0]}
    return replace(like, items=like.items[:0], **parts, **changes)


def rows_of(cells: Patterns) -> NDArray[np.int8]:
    """Convert patterns to rows of labels: -1 means no label, 0 similar and 1 dissimilar."""
    return np.where(cells.seen == 1, cells.positive, -1).astype(np.int8)


def reachable(patterns: Patterns, theta: Theta) -> tuple[Patterns, Floats]:
    """Return the label patterns that this design can produce, and the expected number of items of each pattern.

    A pattern is left out if at least five items were expected for it and none occurred. The design then probably cannot
    produce the pattern. For example, if only split items get third labels, two labels alone never disagree, and three
    labels never all agree.
    """
    combined, stratum, n = combinations_of(patterns)
    cells, which = all_cells(combined, stratum, patterns)
    n_of_pattern = {key: int(m) for key, m in zip(_keys(patterns), patterns.n, strict=True)}
    observed = np.array([n_of_pattern.get(key, 0) for key in _keys(cells)])
    p = np.exp(log_probability(theta, cells)[0])
    in_windows = combined.sum(axis=1) > _MAX_RATERS
    keep = (observed > 0) | (n[which] * p < _EXPECTED) | in_windows[which]
    total = np.bincount(which[keep], weights=p[keep], minlength=len(n))
    return with_rows(cells, rows_of(cells)[keep], cells.stratum[keep]), (n / total)[which[keep]] * p[keep]


def rank(cells: Patterns) -> tuple[int, Bools]:
    """Compute the rank of the Fisher information, and find the parameters that labels cannot determine.

    The rank is computed at a point that has no symmetry. The second result is true for each parameter (prevalences,
    then sensitivities, then specificities) that can change, together with others, without a change of the likelihood.
    """
    theta = _generic_point(len(cells.strata), len(cells.raters))
    values, vectors, _ = _information(cells, theta, np.exp(log_probability(theta, cells)[0]))
    null = values <= _ZERO * max(values.max(initial=0), 1)
    moved: Bools = np.abs(vectors[:, null]).max(axis=1, initial=0) > _IN_NULL_SPACE
    return int((~null).sum()), moved


def prevalence_se(cells: Patterns, expected: Floats, theta: Theta, weight: Floats) -> float:
    """Compute the standard error of the weighted mean prevalence, from labels alone and without a prior."""
    values, vectors, norms = _information(cells, theta, expected)
    direction = vectors.T @ (np.r_[weight, np.zeros(2 * len(cells.raters))] / norms)
    return float(np.sqrt((direction**2 / np.maximum(values, _ZERO)).sum()))


def parameter_se(cells: Patterns, expected: Floats, theta: Theta) -> Floats:
    """Return the standard error of each parameter, from labels alone; infinite if labels cannot determine it."""
    values, vectors, norms = _information(cells, theta, expected)
    null = values <= _ZERO * max(values.max(initial=0), 1)
    moved = np.abs(vectors[:, null]).max(axis=1, initial=0) > _IN_NULL_SPACE
    variances = (vectors[:, ~null] ** 2 / values[~null]).sum(axis=1) / norms**2
    return np.where(moved, np.inf, np.sqrt(variances))


def _information(cells: Patterns, theta: Theta, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute the eigenvalues and eigenvectors of the scaled information, and the scale.

    The information is scaled so that its diagonal is 1; the scale is the square root of the original diagonal.
    """
    weighted = np.sqrt(weight)[:, None] * _scores(theta, cells)
    norms = np.sqrt((weighted**2).sum(axis=0))
    norms = np.where(norms > 0, norms, 1)
    values, vectors = np.linalg.eigh((weighted / norms).T @ (weighted / norms))
    return values, vectors, norms


def _scores(theta: Theta, cells: Patterns) -> Floats:
    """Compute the derivative of log P(pattern) with respect to each parameter, shape (n_cells, n_parameters)."""
    q = posterior(theta, cells)[0][:, None]
    of_pi = (q / theta.pi - (1 - q) / (1 - theta.pi)) * (cells.stratum[:, None] == np.arange(len(cells.strata)))
    of_se = q * (cells.positive / theta.se - cells.negative / (1 - theta.se))
    of_sp = (1 - q) * (cells.negative / theta.sp - cells.positive / (1 - theta.sp))
    return np.hstack([of_pi, of_se, of_sp])


def _generic_point(n_strata: int, n_raters: int) -> Theta:
    """Return parameter values that have no special relation to each other."""
    raters = np.arange(1, n_raters + 1)
    pi = 0.3 + 0.4 * (np.arange(1, n_strata + 1) * np.sqrt(5) % 1)
    se, sp = (0.6 + 0.35 * (raters * np.sqrt(number) % 1) for number in (2, 3))
    return Theta(pi[None, :], se[None, :], sp[None, :])


def _windows(raters: Ints) -> list[Ints]:
    """Split raters into overlapping windows of at most 8; windows at the end continue with the first rater."""
    if len(raters) <= _MAX_RATERS:
        return [raters]
    begins = range(0, len(raters), _MAX_RATERS // 2)
    return [np.sort(np.roll(raters, -begin)[:_MAX_RATERS]) for begin in begins]


def _all_patterns(raters: Ints, n_raters: int) -> NDArray[np.int8]:
    """Return all 2**r label patterns of r raters, shape (2**r, n_raters); the other raters have -1 (no label)."""
    matrix = np.full((2 ** len(raters), n_raters), -1, dtype=np.int8)
    matrix[:, raters] = np.arange(len(matrix))[:, None] >> np.arange(len(raters)) & 1
    return matrix


def _keys(patterns: Patterns) -> list[tuple[int, bytes, bytes]]:
    rows = zip(patterns.stratum, patterns.positive, patterns.negative, strict=True)
    return [(int(stratum), positive.tobytes(), negative.tobytes()) for stratum, positive, negative in rows]


def all_sets(n_reviewers: int, k: int) -> Bools:
    """Return all sets of k reviewers, shape (n_sets, n_reviewers).

    If there are too many sets, return only sets of neighbouring reviewers, which contain as much information.
    """
    if comb(n_reviewers, k) <= _MAX_SETS:
        sets = list(combinations(range(n_reviewers), k))
    else:
        sets = [tuple((i + step) % n_reviewers for step in range(k)) for i in range(n_reviewers)]
    is_in_set = np.zeros((len(sets), n_reviewers), dtype=bool)
    is_in_set[np.repeat(np.arange(len(sets)), k), np.array(sets, dtype=np.int64).reshape(-1)] = True
    return is_in_set
