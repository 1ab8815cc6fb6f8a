"""Consensus by counting labels, and true categories with reviewers' errors by the model of Dawid and Skene."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.arrays import Bools, Floats, Indices
from analysis.categories import CATEGORIES
from analysis.document import counted
from analysis.raters.consensus._latent import NOT_CONTRADICTED, NOT_IDENTIFIED, REJECTED, UNTESTABLE
from analysis.raters.tables import count_table, declared_categories, is_label_table, wide_labels
from analysis.statistics.bootstrap import percentile_interval
from analysis.statistics.intervals import Estimate, Groups, group_numbers
from analysis.statistics.results import Result

AGREED, SPLIT, INCOMPLETE = "agreed", "split", "incomplete"
MAJORITY, ADJUDICATED = "majority", "adjudicated"
FIRST_LABELS, THIRD_LABELS = "first labels", "third labels"  # by which an item is split


def agreed_only(labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return the consensus as the paper defines it: the category of each item whose first labels are all equal.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels (fresh and overlap only): columns item, rater, category.
    categories : sequence of str
        The declared categories.

    Returns
    -------
    DataFrame
        Indexed by item, with the columns `status`, `category` (None unless agreed) and `n_labels`. An item is "agreed"
        if it has at least two labels and all are equal, "split" if it has at least two labels that are not all equal,
        and "incomplete" if it has fewer than two labels.

    Raises
    ------
    ValueError
        If the label table is invalid (`analysis.raters.tables.checked_labels`).

    References
    ----------
    Bauer et al. (2023), ICPE '23 Companion, doi:10.1145/3578245.3584693

    Examples
    --------
    >>> labels = pd.DataFrame({"item": ["a", "a", "b"], "rater": ["ada", "ben", "ada"], "category": ["similar"] * 3})
    >>> agreed_only(labels)["status"].to_dict()
    {'a': 'agreed', 'b': 'incomplete'}
    """
    counts = count_table(labels, categories)
    n_labels = counts.sum(axis=1)
    status = np.where(n_labels < 2, INCOMPLETE, np.where(counts.max(axis=1) == n_labels, AGREED, SPLIT))
    return _table(counts, status, AGREED)


def majority(
    labels: pd.DataFrame,
    third_labels: pd.DataFrame | None = None,
    decisions: Mapping[object, str] | None = None,
    categories: Sequence[str] = CATEGORIES,
) -> pd.DataFrame:
    """Return the majority of the first and third labels of each item, or the adjudicated category.

    The rules apply in this order. If an item was adjudicated, the decision counts. If an item has fewer than two
    labels, there is no majority. A category with more than half of the labels is the majority. If there is a tie, the
    item stays split until someone adjudicates it.

    Parameters
    ----------
    labels : DataFrame
        Label table of first labels: columns item, rater, category.
    third_labels : DataFrame, optional
        Label table of third labels, by raters without a first label on the item.
    decisions : mapping of item to str, optional
        Adjudicated categories. Items without a label are added.
    categories : sequence of str
        The declared categories.

    Returns
    -------
    DataFrame
        Indexed by item, with the columns `status`, `category` and `n_labels` (number of first and third labels). The
        status is "adjudicated" (a person decided), "majority", "split" (at least two labels, but no category has more
        than half) or "incomplete" (fewer than two labels). The category of split and incomplete items is None.

    Raises
    ------
    ValueError
        If a label table is invalid, a rater has both a first and a third label on an item, or a decision is not one of
        the categories.

    Examples
    --------
    >>> labels = pd.DataFrame({"item": ["a", "a"], "rater": ["ada", "ben"], "category": ["similar", "dissimilar"]})
    >>> third = pd.DataFrame({"item": ["a"], "rater": ["cleo"], "category": ["similar"]})
    >>> majority(labels, third)["category"].to_dict()
    {'a': 'similar'}
    >>> majority(labels, third, {"a": "dissimilar"})["status"].to_dict()
    {'a': 'adjudicated'}
    """
    decided = pd.Series(dict(decisions or {}), dtype=object)
    unknown = decided[~decided.isin(list(categories))]
    if len(unknown):
        raise ValueError(
            f"decision {unknown.iloc[0]!r} (item {unknown.index[0]!r}) is not one of: {', '.join(categories)}"
        )
    tables = [labels] if third_labels is None else [labels, third_labels]
    counts = count_table(pd.concat([rows for rows in tables if len(rows)] or [labels], ignore_index=True), categories)
    extra = [item for item in decided.index if item not in counts.index]
    counts = counts.reindex(pd.Index([*counts.index, *extra], name="item"), fill_value=0)
    n_labels, top = counts.sum(axis=1), counts.max(axis=1)
    table = _table(counts, np.where(n_labels < 2, INCOMPLETE, np.where(2 * top > n_labels, MAJORITY, SPLIT)), MAJORITY)
    table.loc[decided.index, "status"] = ADJUDICATED
    table.loc[decided.index, "category"] = decided
    return table


def outcomes(
    first: pd.DataFrame,
    third: pd.DataFrame | None = None,
    decisions: Mapping[object, str] | None = None,
    categories: Sequence[str] = CATEGORIES,
) -> pd.DataFrame:
    """Return whether each item is split, by which labels, and whether it is settled.

    The columns are `first` (status of `agreed_only`), `agreed` (its category), `majority` (category of `majority`
    without decisions), `decided`, and `split_by`. An item is split by its first labels, or else by third labels if they
    leave an item with two labels without a majority; otherwise `split_by` is "". A split item is settled if it has a
    majority or a decision. The parameters are those of `majority`.
    """
    agreed, counted = agreed_only(first, categories), majority(first, third, decisions, categories)
    voted = majority(first, third, {}, categories)
    table = pd.DataFrame(index=counted.index)
    table["first"] = agreed["status"].reindex(counted.index, fill_value=INCOMPLETE)
    table["agreed"] = agreed["category"].reindex(counted.index)
    table["majority"] = voted["category"].reindex(counted.index)
    table["decided"] = counted["category"].where(counted["status"] == ADJUDICATED)
    by_third = voted["status"].reindex(counted.index) == SPLIT
    table["split_by"] = np.where(table["first"] == SPLIT, FIRST_LABELS, np.where(by_third, THIRD_LABELS, ""))
    return table.astype(object).where(table.notna(), None)


def _table(counts: pd.DataFrame, status: NDArray[np.str_], with_category: str) -> pd.DataFrame:
    """Build the table of a consensus: status, category and number of labels of each item."""
    top = counts.idxmax(axis=1) if len(counts) else pd.Series(dtype=object)
    category = top.astype(object).where(status == with_category, None)
    columns = {"status": status, "category": category, "n_labels": counts.sum(axis=1)}
    return pd.DataFrame(columns, index=counts.index)


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


ALPHA = 0.05  # a model with a smaller p is rejected
MAX_PATTERNS = 4096  # of labels that the reviewers of one item can give
ENOUGH = 10  # labels per parameter
MIX = 0.2  # the rank is taken at a point away from 0 and 1, where the model is the same but derivatives exist
WIDTH_OF_NOTHING = 1e-3  # an interval that is narrower comes from draws that are all alike


@dataclass(frozen=True, repr=False)
class ErrorMatrix(Result):
    """How often a reviewer gives each category, for each true category."""

    reviewer: str  # name of the reviewer
    n: int  # number of labelled items
    # one row for each true category, one column for each given category; the values of each row sum to 1
    rows: tuple[tuple[Estimate, ...], ...]


@dataclass(frozen=True, repr=False)
class TrueCategories(Result):
    """A fit of Dawid and Skene's model."""

    identified: bool  # whether the labels can determine all shares and error matrices, by the rank of the design
    words: str  # the result of this check as a sentence
    prevalence: tuple[Estimate, ...] = ()  # share of each true category; empty if the model is not identified
    errors: tuple[ErrorMatrix, ...] = ()  # one for each reviewer; empty if the model is not identified
    # "not contradicted" or "rejected" by the test of fit, "untestable" without this test, or "not identified"
    state: str = NOT_IDENTIFIED
    # likelihood ratio statistic of the model against any distribution of the patterns of labels, and its p-value
    # from labels drawn from the model
    g2: float | None = None
    p: float | None = None


def true_categories(
    first: pd.DataFrame,
    categories: Sequence[str],
    *,
    n_draws: int = 0,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    groups: Mapping[Any, Hashable] | None = None,
) -> TrueCategories:
    """Fit Dawid and Skene's model to first labels, if the design identifies it, and test the fit.

    The rank is that of the derivatives of the probabilities of all patterns of labels, for each set of reviewers. The
    test of fit is a parametric bootstrap of the likelihood ratio statistic with `n_draws` draws; without draws or
    without `rng`, there is no test. Shares and matrices have percentile bootstrap intervals of as many draws of items,
    or of whole groups of items (`groups`: item -> group, such as its application).
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
    rough = (
        f" There are only {counted(len(first), 'label')} for them, so the estimates are rough."
        if len(first) < ENOUGH * n_parameters
        else ""
    )
    given = np.where(np.isnan(codes), -1, codes).astype(np.intp)
    drawing = None if rng is None else rng.spawn(1)[0]
    g2, p = _fit_test(given, k, fit, n_draws, rng)
    of_item = None if groups is None else [groups.get(item) for item in pd.unique(first["item"])]
    prevalence, matrices = _with_intervals(given, fit, n_draws, drawing, level, of_item)
    errors = tuple(
        ErrorMatrix(name, int((codes[:, place] >= 0).sum()), matrix)
        for place, (name, matrix) in enumerate(zip(raters, matrices, strict=True))
    )
    return TrueCategories(
        identified=True,
        words=f"The labels determine all {n_parameters} parameters of the model.{rough} Models of dependent errors are "
        f"not tested for {k} categories.",
        prevalence=prevalence, errors=errors,
        state=UNTESTABLE if p is None else REJECTED if p <= ALPHA else NOT_CONTRADICTED, g2=g2, p=p,
    )  # fmt: skip


def _fit_to_drawn(labels: Indices, k: int) -> DawidSkene:
    """Fit the model to drawn labels, as exactly as a draw needs."""
    return dawid_skene(labels[:, :, None] == np.arange(k), tolerance=1e-6, max_iterations=500)


def _with_intervals(
    codes: Indices, fit: DawidSkene, n_draws: int, rng: np.random.Generator | None, level: float, groups: Groups | None
) -> tuple[tuple[Estimate, ...], tuple[tuple[tuple[Estimate, ...], ...], ...]]:
    """Return the shares and the error matrices of a fit, with intervals from draws of items or groups."""
    if fit.prevalence is None or fit.error_matrices is None or fit.posterior is None:
        return (), ()
    n_items, n_raters, k = len(codes), codes.shape[1], len(fit.prevalence)
    of_item, n_groups = (np.arange(n_items), n_items) if groups is None else group_numbers(n_items, groups)
    members = [np.flatnonzero(of_item == group) for group in range(n_groups)]
    drawn = []
    if rng is not None and n_groups > 1:
        for _ in range(n_draws):
            rows = np.concatenate([members[group] for group in rng.integers(n_groups, size=n_groups)])
            again = _fit_to_drawn(codes[rows], k)
            if again.prevalence is not None and again.error_matrices is not None:
                drawn.append(np.concatenate([again.prevalence, again.error_matrices.ravel()]))
    values = np.concatenate([fit.prevalence, fit.error_matrices.ravel()])
    # the expected number of items behind each value: all, or those of a true category that the rater labelled
    of_rater = np.stack([fit.posterior[codes[:, rater] >= 0].sum(axis=0) for rater in range(n_raters)])
    n = np.concatenate([np.full(k, n_items), np.repeat(of_rater.ravel(), k)])
    columns = np.array(drawn).reshape(len(drawn), len(values)).T
    found = [_interval(*each, level) for each in zip(values.tolist(), columns, n.tolist(), strict=True)]
    rows_of = [tuple(found[at : at + k]) for at in range(k, len(found), k)]
    return tuple(found[:k]), tuple(tuple(rows_of[at : at + k]) for at in range(0, n_raters * k, k))


def _interval(value: float, draws: Floats, n: float, level: float) -> Estimate:
    """Return a share with its percentile interval; one of 0 or 1 in every draw has the one-sided bound of `n` items."""
    if not len(draws):
        return Estimate(value, reason="no draws: no interval")
    found = percentile_interval(value, draws, level)
    is_equal = len(draws) > 1 and np.ptp(draws) <= WIDTH_OF_NOTHING  # then `found` has no interval
    if not is_equal and (found.low is None or found.high is None or found.high - found.low > WIDTH_OF_NOTHING):
        return found
    rare = 1 - (1 - level) ** (1 / max(n, 1))
    return Estimate(
        value, None, max(0.0, value - rare), min(1.0, value + rare), reason="one-sided: alike in every draw"
    )


def _fit_test(
    codes: Indices, k: int, fit: DawidSkene, n_draws: int, rng: np.random.Generator | None
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
        largest += _g2(labels, _fit_to_drawn(labels, k)) >= observed
    return observed, (1 + largest) / (1 + n_draws)


def _g2(codes: Indices, fit: DawidSkene) -> float:
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
