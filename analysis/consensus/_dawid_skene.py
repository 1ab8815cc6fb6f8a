"""Fit Dawid and Skene's model by EM, without priors, for any number of categories and ratings."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.categories import CATEGORIES
from analysis.results import Result
from analysis.tables import Floats, declared_categories, is_label_table, wide_labels

Bools = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class DawidSkene(Result):
    """A fit of Dawid and Skene's model.

    Attributes
    ----------
    prevalence : ndarray of float, shape (n_categories,)
        Share of each true category.
    error_matrices : ndarray of float, shape (n_raters, n_categories, n_categories)
        Probability that the rater chooses the column category if the row category is true. If the rater saw no item of
        the row category, the row is uniform.
    posterior : ndarray of float, shape (n_items, n_categories)
        Probability that each category is the true category. For an item without a rating, this is the prevalence.
    log_likelihood : float
        Log likelihood without the multinomial coefficients of repeated ratings.
    n_iterations : int
    converged : bool
    reason : str or None
        Why there is no fit. In this case, all other fields are None, 0 or False.
    """

    prevalence: Floats | None
    error_matrices: Floats | None
    posterior: Floats | None
    log_likelihood: float | None
    n_iterations: int = 0
    converged: bool = False
    reason: str | None = None


def dawid_skene(
    ratings: ArrayLike | pd.DataFrame,
    categories: Sequence[Hashable] = CATEGORIES,
    *,
    start: ArrayLike | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 10_000,
) -> DawidSkene:
    """Estimate the prevalence and the error matrix of each rater by maximum likelihood with EM [1]_.

    Parameters
    ----------
    ratings : DataFrame, or array_like of int, shape (n_items, n_raters, n_categories)
        A label table (columns item, rater, category), or the counts of ratings by item, rater and category. A rater may
        rate an item several times or not at all. Items of a label table are in order of first appearance, and raters
        are sorted.
    categories : sequence of hashable
        The declared categories of a label table.
    start : array_like of float, shape (n_items, n_categories), optional
        Initial probability of each category for each item; by default the shares of its ratings.
    tolerance : float
        EM stops when the log likelihood increases by at most this amount.
    max_iterations : int

    Returns
    -------
    DawidSkene
        Undefined if there are no ratings. EM finds a local maximum, so the result depends on the start if the design
        does not identify the model. For two categories, `identifiability` checks whether the design identifies the
        model.

    Raises
    ------
    ValueError
        If `ratings` is neither a label table nor a table of counts with at least two categories, or `start` does not
        contain probabilities.

    References
    ----------
    .. [1] Dawid, Skene (1979), J. R. Stat. Soc. C 28:20-28, doi:10.2307/2346806

    Examples
    --------
    >>> dawid_skene([[[3, 0], [1, 0]], [[0, 3], [0, 1]]]).prevalence.tolist()
    [0.5, 0.5]
    """
    counts = _checked(_of_labels(ratings, categories) if is_label_table(ratings) else ratings)
    n_given = counts.sum(axis=(1, 2))
    if not n_given.any():
        return DawidSkene(None, None, None, None, reason="no ratings")
    votes = np.full((len(counts), counts.shape[2]), 1 / counts.shape[2])
    np.divide(counts.sum(axis=1), n_given[:, None], out=votes, where=n_given[:, None] > 0)
    q = votes if start is None else _checked_start(start, votes.shape)
    before, converged, n_iterations = -np.inf, False, 0
    while not converged and n_iterations < max_iterations:
        prevalence, error_matrices = _m_step(counts, q, n_given > 0)
        q, log_likelihood = _e_step(counts, prevalence, error_matrices)
        converged = bool(log_likelihood - before <= tolerance)
        before, n_iterations = log_likelihood, n_iterations + 1
    return DawidSkene(prevalence, error_matrices, q, log_likelihood, n_iterations, converged)


def _of_labels(labels: pd.DataFrame, categories: Sequence[Hashable]) -> Floats:
    _, codes = wide_labels(labels, categories)
    counts: Floats = (codes[:, :, None] == np.arange(len(declared_categories(categories)))).astype(np.float64)
    return counts


def _m_step(counts: Floats, q: Floats, rated: Bools) -> tuple[Floats, Floats]:
    """Return the prevalence and error matrices that fit best, given the probability of each category of the items."""
    expected = np.einsum("ij,irl->rjl", q, counts)
    total = expected.sum(axis=2, keepdims=True)
    even = np.full_like(expected, 1 / expected.shape[2])
    return q[rated].mean(axis=0), np.divide(expected, total, out=even, where=total > 0)


def _e_step(counts: Floats, prevalence: Floats, error_matrices: Floats) -> tuple[Floats, float]:
    """Return the probability of each category for each item, and the log likelihood."""
    joint = special.xlogy(1, prevalence) + special.xlogy(counts[:, :, None, :], error_matrices).sum(axis=(1, 3))
    marginal = special.logsumexp(joint, axis=1)
    return np.exp(joint - marginal[:, None]), float(marginal.sum())


def _checked(ratings: ArrayLike | pd.DataFrame) -> Floats:
    try:
        counts = np.asarray(ratings, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"ratings must be whole numbers >= 0: {error}") from None
    if counts.ndim != 3 or counts.shape[2] < 2:
        raise ValueError(f"ratings must have shape (n_items, n_raters, n_categories >= 2), got {counts.shape}")
    bad = ~(np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts))).all(axis=(1, 2))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"ratings must be whole numbers >= 0, row {row} is {counts[row].tolist()}")
    return counts


def _checked_start(start: ArrayLike, shape: tuple[int, ...]) -> Floats:
    q = np.asarray(start, dtype=float)
    if q.shape != shape or not ((q >= 0).all() and np.allclose(q.sum(axis=1), 1)):
        raise ValueError(f"start must have one row of probabilities per item, shape {shape}, got shape {q.shape}")
    return q
