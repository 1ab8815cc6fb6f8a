"""Estimate the true categories and the error matrix of each rater, for any number of categories."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.consensus._dawid_skene import DawidSkene, dawid_skene
from analysis.consensus._tests import NOT_CONTRADICTED, NOT_IDENTIFIED, REJECTED, UNTESTABLE
from analysis.document import counted
from analysis.results import Result
from analysis.tables import wide_labels

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

ALPHA = 0.05  # a model with a smaller p is rejected
MAX_PATTERNS = 4096  # of labels that the reviewers of one item can give
ENOUGH = 10  # labels per parameter
MIX = 0.2  # the rank is taken at a point away from 0 and 1, where the model is the same but derivatives exist
DRAWN = {"tolerance": 1e-6, "max_iterations": 500}  # how exactly the model is fitted to drawn labels


@dataclass(frozen=True, repr=False)
class ErrorMatrix(Result):
    """How often a reviewer gives each category, for each true category.

    Attributes
    ----------
    reviewer : str
        Name of the reviewer.
    n : int
        Number of labelled items.
    rows : tuple of tuple of float
        One row for each true category, one column for each given category; each row sums to 1.
    """

    reviewer: str
    n: int
    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, repr=False)
class TrueCategories(Result):
    """A fit of Dawid and Skene's model.

    Attributes
    ----------
    identified : bool
        Whether the labels can determine all shares and error matrices, by the rank of the design.
    words : str
        The result of this check as a sentence.
    prevalence : tuple of float
        Share of each true category; empty if the model is not identified.
    errors : tuple of ErrorMatrix
        One for each reviewer; empty if the model is not identified.
    state : str
        "not contradicted" or "rejected" by the test of fit, "untestable" without this test, or "not identified".
    g2, p : float or None
        Likelihood ratio statistic of the model against any distribution of the patterns of labels, and its p-value
        from labels drawn from the model.
    """

    identified: bool
    words: str
    prevalence: tuple[float, ...] = ()
    errors: tuple[ErrorMatrix, ...] = ()
    state: str = NOT_IDENTIFIED
    g2: float | None = None
    p: float | None = None


def true_categories(
    first: pd.DataFrame,
    categories: Sequence[str],
    *,
    n_draws: int = 0,
    rng: np.random.Generator | None = None,
) -> TrueCategories:
    """Fit Dawid and Skene's model to first labels, if the design identifies it, and test the fit.

    The rank is that of the derivatives of the probabilities of all patterns of labels, for each set of reviewers. The
    test of fit is a parametric bootstrap of the likelihood ratio statistic with `n_draws` draws; without draws or
    without `rng`, there is no test.
    """
    if not len(first):
        return TrueCategories(identified=False, words="There are no labels.")
    raters, codes = wide_labels(first, categories)
    k, n_raters = len(categories), len(raters)
    fit = dawid_skene(first, categories)
    if fit.prevalence is None or fit.error_matrices is None:
        return TrueCategories(identified=False, words=f"The model has no fit: {fit.reason}.")
    sets = sorted({tuple(np.flatnonzero(row >= 0).tolist()) for row in codes})
    if max(k ** len(members) for members in sets) > MAX_PATTERNS:
        return TrueCategories(
            identified=False, words="Too many reviewers label one item to check whether the model is identified."
        )
    n_parameters = (k - 1) + n_raters * k * (k - 1)
    rank = design_rank(sets, n_raters, fit.prevalence, fit.error_matrices)
    if rank < n_parameters:
        return TrueCategories(
            identified=False,
            words=f"The labels determine {rank} of the {n_parameters} parameters of the model, so it is not fitted. "
            "Three or more reviewers per item would help.",
        )
    errors = tuple(
        ErrorMatrix(name, int((codes[:, place] >= 0).sum()), tuple(tuple(row) for row in matrix.tolist()))
        for place, (name, matrix) in enumerate(zip(raters, fit.error_matrices, strict=True))
    )
    rough = (
        f" There are only {counted(len(first), 'label')} for them, so the estimates are rough."
        if len(first) < ENOUGH * n_parameters
        else ""
    )
    given = np.where(np.isnan(codes), -1, codes).astype(np.intp)
    g2, p = _fit_test(given, k, fit, n_draws, rng)
    return TrueCategories(
        identified=True,
        words=f"The labels determine all {n_parameters} parameters of the model.{rough} Models of dependent errors are "
        f"not tested for {k} categories.",
        prevalence=tuple(fit.prevalence.tolist()), errors=errors,
        state=UNTESTABLE if p is None else REJECTED if p <= ALPHA else NOT_CONTRADICTED, g2=g2, p=p,
    )  # fmt: skip


def _fit_test(
    codes: Ints, k: int, fit: DawidSkene, n_draws: int, rng: np.random.Generator | None
) -> tuple[float, float | None]:
    """Return the likelihood ratio statistic, and its p-value among statistics of labels drawn from the model."""
    observed = _g2(codes, fit)
    if not n_draws or rng is None or fit.prevalence is None or fit.error_matrices is None:
        return observed, None
    largest = 0
    for _ in range(n_draws):
        truth = rng.choice(k, len(codes), p=fit.prevalence)
        upto = fit.error_matrices[:, truth].cumsum(axis=2)  # of each rater and item
        drawn = (rng.random((*upto.shape[:2], 1)) > upto[:, :, :-1]).sum(axis=2).T
        labels = np.where(codes >= 0, drawn, -1)
        again = dawid_skene(labels[:, :, None] == np.arange(k), **DRAWN)  # type: ignore[arg-type]
        largest += _g2(labels, again) >= observed
    return observed, (1 + largest) / (1 + n_draws)


def _g2(codes: Ints, fit: DawidSkene) -> float:
    """Return twice the log likelihood ratio of any distribution of patterns, for each set of raters, to the model."""
    _, of_pattern, n = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    _, set_of_item = np.unique(codes >= 0, axis=0, return_inverse=True)
    n_of_set = np.bincount(set_of_item.ravel())[set_of_item.ravel()]
    saturated = float(np.log(n[of_pattern.ravel()] / n_of_set).sum())
    return max(0.0, 2 * (saturated - (fit.log_likelihood or 0.0)))


def design_rank(sets: Sequence[Sequence[int]], n_raters: int, prevalence: Floats, errors: Floats) -> int:
    """Return how many combinations of parameters the labels of these sets of raters determine."""
    k = len(prevalence)
    p = (1 - MIX) * prevalence + MIX / k
    # different for each rater and category, so that no symmetry of the point hides a parameter
    bend = 1 + 0.1 * np.sin(np.arange(n_raters * k * k) + 1.0).reshape(n_raters, k, k)
    e = ((1 - MIX) * errors + MIX * np.eye(k) / 2 + MIX / (2 * k)) * bend
    e /= e.sum(axis=2, keepdims=True)
    rows = []
    for members in sets:
        for pattern in product(range(k), repeat=len(members)):
            given = np.array([e[rater, :, label] for rater, label in zip(members, pattern, strict=True)])
            each = given.prod(axis=0)
            of_prevalence = each[:-1] - each[-1]
            of_errors = np.zeros((n_raters, k, k))
            for place, (rater, label) in enumerate(zip(members, pattern, strict=True)):
                of_errors[rater, :, label] += p * np.delete(given, place, axis=0).prod(axis=0)
            free = of_errors[:, :, :-1] - of_errors[:, :, -1:]
            rows.append(np.concatenate([of_prevalence, free.ravel()]))
    return int(np.linalg.matrix_rank(np.array(rows), tol=1e-8))
