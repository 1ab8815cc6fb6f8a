"""Compute the rank of the Fisher information of a latent class design.

The rank is the number of parameters that the labels of the design can determine. For each combination of raters, the
information is computed exactly, as a sum over all label patterns that these raters can produce [1]_. More items with
the same combinations of raters multiply the information, but never increase its rank.

References
----------
.. [1] Jones et al. (2010), Biometrics 66:855-863, doi:10.1111/j.1541-0420.2009.01330.x
"""

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.consensus._model import Theta, log_probability, posterior
from analysis.consensus._patterns import Floats, Ints, Patterns, distinct_rows

Bools = NDArray[np.bool_]

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
    """Compute the rank of the information at a generic point, and find the parameters that labels cannot determine.

    The second result is true for each parameter (prevalences, then sensitivities, then specificities) that changes
    along a direction without information.
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
