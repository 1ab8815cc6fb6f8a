"""Assign items to cross-validation folds that keep groups together and balance both categories."""

import numpy as np
from numpy.typing import NDArray

from analysis.evaluation._inputs import Bools


def balanced_folds(
    dissimilar: Bools, group: NDArray[np.intp], n_folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Assign groups of items to folds, so that groups stay together and both categories are balanced.

    The largest group is assigned first. For each fold, the function computes a sum over both categories: the group's
    share of the items in the category, times the fold's share. The group goes to the fold with the smallest sum, so
    that both categories stay balanced.

    Parameters
    ----------
    dissimilar : ndarray of bool, shape (n_items,)
        Category of each item.
    group : ndarray of int, shape (n_items,)
        Index of each item's group, from 0 without gaps.
    n_folds : int
        Number of folds, from 1 to the number of groups, so no fold is empty.

    Returns
    -------
    ndarray of int, shape (n_items,)
        Index of each item's fold.
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
        # An empty fold grows by 0 and has the fewest items, so it is always filled first.
        fold = np.lexsort((n_in, filled @ shares[g]))[0]
        fold_of[g] = fold
        filled[fold] += shares[g]
        n_in[fold] += sizes[g].sum()
    return fold_of[group]
