"""Folds that keep groups together and are alike in both categories."""

import numpy as np
from numpy.typing import NDArray

from analysis.evaluation._inputs import Bools


def balanced_folds(
    dissimilar: Bools, group: NDArray[np.intp], n_folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Deal groups out to folds, the largest first, each to the fold that has least of what the group brings.

    "Least" is the sum over categories of (items of the group) x (items of the fold) / (items of the category)^2: the
    growth of the squared sizes, so folds become equal in both categories as far as whole groups allow.

    Parameters
    ----------
    dissimilar : ndarray of bool, shape (n_items,)
        Category of each item.
    group : ndarray of int, shape (n_items,)
        Number of each item's group, from 0 without gaps.
    n_folds : int
        At least 1, at most the number of groups; then no fold is empty.
    rng : Generator
        Order of groups of equal size.

    Returns
    -------
    ndarray of int, shape (n_items,)
        Number of each item's fold.
    """
    sizes = np.stack(
        [np.bincount(group[mask], minlength=group.max() + 1) for mask in (dissimilar, ~dissimilar)], axis=1
    )
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled].sum(axis=1), kind="stable")]
    filled, n_in = np.zeros((n_folds, 2)), np.zeros(n_folds)
    fold_of = np.empty(len(sizes), dtype=np.intp)
    for g in order:
        # An empty fold grows by 0 and has the fewest items, so it is always taken first.
        fold = np.lexsort((n_in, filled @ shares[g]))[0]
        fold_of[g] = fold
        filled[fold] += shares[g]
        n_in[fold] += sizes[g].sum()
    return fold_of[group]
