"""Rank of the Fisher information of a latent class design: how many of its parameters labels can tell at all.

The information of a combination of raters is exact: it sums over all patterns that these raters can give [1]_. More
items of the same combinations scale it and never raise its rank.

References
----------
.. [1] Jones et al. (2010), Biometrics 66:855-863, doi:10.1111/j.1541-0420.2009.01330.x
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.consensus._model import Theta, log_probability, posterior
from analysis.consensus._patterns import Floats, Ints, Patterns, distinct_rows

Bools = NDArray[np.bool_]

_MAX_RATERS = 8  # of a combination that is taken whole
_ZERO = 1e-10  # of the largest eigenvalue: far above rounding, far below what a usable design gives
_IN_NULL_SPACE = 1e-5
_EXPECTED = 5.0  # a pattern that never came up though this many were expected is one that the design does not produce


@dataclass(frozen=True)
class Design:
    """Which raters labelled items together: columns are raters, reviewers first.

    Attributes
    ----------
    seen : ndarray of bool, shape (n_combinations, n_raters)
    stratum : ndarray of int, shape (n_combinations,)
    n_strata, n_reviewers : int
    third_on_split : bool
        A further reviewer labels those items on which the combination is not of one mind.
    """

    seen: Bools
    stratum: Ints
    n_strata: int
    n_reviewers: int
    third_on_split: bool = False

    @property
    def n_parameters(self) -> int:
        """A prevalence for each stratum, two rates for each rater."""
        return self.n_strata + 2 * int(self.seen.shape[1])


def design_of(patterns: Patterns) -> tuple[Design, Ints]:
    """The combinations of raters in the data, and on how many items each occurs."""
    seen = patterns.seen.astype(np.int8)
    first, which, _ = distinct_rows(seen, patterns.stratum)
    n = np.bincount(which, weights=patterns.n, minlength=len(first)).astype(np.int64)
    return Design(seen[first] == 1, patterns.stratum[first], len(patterns.strata), patterns.n_reviewers), n


def cells_of(design: Design) -> tuple[Patterns, Ints]:
    """Every pattern that a design can produce, and the combination it belongs to.

    A combination of more than 8 raters is taken in overlapping windows of 8: three raters tell all their own rates,
    so that windows lose no rank.
    """
    rows, owner = [np.zeros((0, design.seen.shape[1]), dtype=np.int8)], []
    for c, seen in enumerate(design.seen):
        for raters in _windows(np.flatnonzero(seen)):
            block = _all_patterns(raters, len(seen))
            if design.third_on_split:
                block = _with_third(block, raters, design.n_reviewers)
            rows.append(block)
            owner += [c] * len(block)
    matrix, which = np.vstack(rows), np.array(owner, dtype=np.int64)
    none = np.zeros(len(matrix), dtype=np.int64)
    cells = Patterns(
        raters=tuple(range(matrix.shape[1])),
        n_reviewers=design.n_reviewers,
        strata=tuple(range(design.n_strata)),
        positive=(matrix == 1).astype(float),
        negative=(matrix == 0).astype(float),
        stratum=design.stratum[which],
        n=none,
        items=pd.Index([]),
        of_item=none,
    )
    return cells, which


def reachable(cells: Patterns, which: Ints, n: Ints, patterns: Patterns, theta: Theta) -> Patterns:
    """The cells without those that never came up though five or more were to be expected.

    Third labels on split items only leave such gaps: pairs never disagree there, and threes never all agree. The
    information of a pattern that cannot come up must not count.
    """
    seen = {key: int(m) for key, m in zip(_keys(patterns), patterns.n, strict=True)}
    observed = np.array([seen.get(key, 0) for key in _keys(cells)])
    expected = n[which] * np.exp(log_probability(theta, cells)[0])
    keep = (observed > 0) | (expected < _EXPECTED)
    parts = {name: getattr(cells, name)[keep] for name in ("positive", "negative", "stratum", "n")}
    return replace(cells, **parts)


def rank(cells: Patterns) -> tuple[int, Bools]:
    """Rank of the information at a generic point inside the parameter space, and the parameters not identified.

    Returns
    -------
    int
    ndarray of bool, shape (n_parameters,)
        Prevalences, then sensitivities, then specificities: true where a direction without any information moves the
        parameter.
    """
    theta = _generic_point(len(cells.strata), len(cells.raters))
    weighted = np.exp(log_probability(theta, cells)[0] / 2)[:, None] * _scores(theta, cells)
    norms = np.sqrt((weighted**2).sum(axis=0))
    weighted = weighted / np.where(norms > 0, norms, 1)
    values, vectors = np.linalg.eigh(weighted.T @ weighted)
    null = values <= _ZERO * max(values.max(initial=0), 1)
    return int((~null).sum()), (np.abs(vectors[:, null]) > _IN_NULL_SPACE).any(axis=1)


def _scores(theta: Theta, cells: Patterns) -> Floats:
    """Derivatives of log P(pattern) by each parameter, shape (n_cells, n_parameters)."""
    q = posterior(theta, cells)[0][:, None]
    of_pi = (q / theta.pi - (1 - q) / (1 - theta.pi)) * (cells.stratum[:, None] == np.arange(len(cells.strata)))
    of_se = q * (cells.positive / theta.se - cells.negative / (1 - theta.se))
    of_sp = (1 - q) * (cells.negative / theta.sp - cells.positive / (1 - theta.sp))
    return np.hstack([of_pi, of_se, of_sp])


def _generic_point(n_strata: int, n_raters: int) -> Theta:
    """Parameters without any relation among them: multiples of three irrational numbers, modulo 1."""
    raters = np.arange(1, n_raters + 1)
    pi = 0.3 + 0.4 * (np.arange(1, n_strata + 1) * np.sqrt(5) % 1)
    se, sp = (0.6 + 0.35 * (raters * np.sqrt(number) % 1) for number in (2, 3))
    return Theta(pi[None, :], se[None, :], sp[None, :])


def _windows(raters: Ints) -> list[Ints]:
    """Overlapping runs of at most 8 of the raters, around a circle."""
    if len(raters) <= _MAX_RATERS:
        return [raters]
    begins = range(0, len(raters), _MAX_RATERS // 2)
    return [np.sort(np.roll(raters, -begin)[:_MAX_RATERS]) for begin in begins]


def _all_patterns(raters: Ints, n_raters: int) -> NDArray[np.int8]:
    """All 2**r ways in which r raters can label an item, shape (2**r, n_raters); -1 for everyone else."""
    matrix = np.full((2 ** len(raters), n_raters), -1, dtype=np.int8)
    matrix[:, raters] = np.arange(len(matrix))[:, None] >> np.arange(len(raters)) & 1
    return matrix


def _with_third(block: NDArray[np.int8], raters: Ints, n_reviewers: int) -> NDArray[np.int8]:
    """Patterns of one combination, where each other reviewer in turn adds a label to those that are split."""
    of_reviewers = block[:, raters[raters < n_reviewers]]
    split = of_reviewers.min(axis=1, initial=1) != of_reviewers.max(axis=1, initial=0)
    others = np.setdiff1d(np.arange(n_reviewers), raters)
    if not len(others):
        return block
    parts = [block[~split]]
    for other, label in ((other, label) for other in others for label in (0, 1)):
        more = block[split].copy()
        more[:, other] = label
        parts.append(more)
    return np.vstack(parts)


def _keys(patterns: Patterns) -> list[tuple[int, bytes, bytes]]:
    rows = zip(patterns.stratum, patterns.positive, patterns.negative, strict=True)
    return [(int(stratum), positive.tobytes(), negative.tobytes()) for stratum, positive, negative in rows]


def all_sets(n_reviewers: int, k: int) -> Bools:
    """All k-subsets of the reviewers, shape (n_subsets, n_reviewers)."""
    sets = list(combinations(range(n_reviewers), k))
    seen = np.zeros((len(sets), n_reviewers), dtype=bool)
    seen[np.repeat(np.arange(len(sets)), k), np.array(sets, dtype=np.int64).reshape(-1)] = True
    return seen
