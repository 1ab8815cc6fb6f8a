"""Compute bootstrap intervals by resampling items, or whole groups of items, with replacement."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats
from analysis.statistics.intervals import Estimate, Groups, group_numbers

N_DRAWS = 2000
EQUAL = 1e-12  # difference that is only rounding; of values above 1, relative to the value
CELLS_AT_ONCE = 4_000_000  # maximum number of elements of the weight matrix (32 MB), large enough for few calls


def bootstrap(
    statistic: Callable[[Floats], ArrayLike],
    n_items: int,
    *,
    rng: np.random.Generator,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
    groups: Groups | None = None,
    kinds: NDArray[np.int64] | None = None,
) -> Estimate:
    """Compute a statistic with its percentile bootstrap interval [1]_.

    Raises ValueError if there is not one group per item, or `n_draws` or `level` is out of range.

    `statistic`: a function that takes weights of shape (m, n_items), which say how often each item was drawn in each of
    m draws. It returns m values, which are not finite if the statistic is undefined; 0 / 0 is allowed. Weights of 1
    give the statistic itself. `n_items`: number of items, >= 0; `rng`: source of the draws; the same state gives the
    same interval; `n_draws`: number of draws, >= 1; `groups`: items of a group, such as the benchmarks of an
    application, are drawn together; each draw has as many groups as the data. Items without a group (None) form one
    group. By default, single items are drawn. `kinds` (shape (n_items,)): items of the same kind, 0, 1, ..., are equal:
    the weights then have shape (m, n_kinds), and are sums over the items of each kind. The result is the same, but
    there are fewer weights. `se` is the standard deviation over the draws. Undefined draws are treated as in
    `percentile_interval`. The result is undefined if there are no items, or if the statistic is undefined. A single
    item (or group) has no interval.

    References
    ----------
    .. [1] Efron, Tibshirani (1993), An Introduction to the Bootstrap, ch. 13, doi:10.1201/9780429246593
    """
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws}")
    of_item, n_groups = (np.arange(n_items), n_items) if groups is None else group_numbers(n_items, groups)
    if n_items == 0:
        return Estimate(None, reason="no items")
    whole = np.ones((1, n_items)) if kinds is None else np.bincount(kinds).astype(float)[None]
    value = float(_values(statistic, whole)[0])
    if not np.isfinite(value):
        return Estimate(None, reason="the statistic is undefined on these items")
    if n_groups < 2:
        return Estimate(value, reason=f"one {'item' if groups is None else 'group'}: no interval")
    at_once = max(1, CELLS_AT_ONCE // n_items)
    values = []
    for done in range(0, n_draws, at_once):
        n_rows = min(at_once, n_draws - done)
        if groups is None:
            weights = _weights(rng, n_rows, np.arange(n_items) if kinds is None else kinds)
        else:
            weights = _weights(rng, n_rows, np.arange(n_groups))[:, of_item]
            weights = weights if kinds is None else weights @ np.eye(kinds.max() + 1)[kinds]
        values.append(_values(statistic, weights))
    return percentile_interval(value, np.concatenate(values), level)


def percentile_interval(value: float, draws: ArrayLike, level: float = 0.95) -> Estimate:
    """Return a statistic with an interval that contains the central `level` of its bootstrap draws.

    Raises ValueError if `level` is not within (0, 1).

    `value`: the statistic on the items themselves; `draws` (shape (n_draws,)): values of the statistic on resampled
    items; not finite if undefined; `level`: in (0, 1). Undefined draws are left out of `se` and the interval, and
    `reason` states how many. If half of the draws or more are undefined, or all are equal, there is no interval.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be within (0, 1), got {level}")
    drawn = np.asarray(draws, dtype=float)
    defined = drawn[np.isfinite(drawn)]
    n_undefined = len(drawn) - len(defined)
    undefined = f"undefined in {n_undefined} of {len(drawn)} bootstrap draws" if n_undefined else None
    if len(defined) < 2 or 2 * n_undefined >= len(drawn):
        return Estimate(value, reason=f"{undefined or 'fewer than two bootstrap draws'}: no interval")
    if np.ptp(defined) <= EQUAL * max(abs(value), 1):  # an interval of width 0 would look certain
        return Estimate(value, reason="no variation between items: no interval")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(defined.std(ddof=1)), float(low), float(high), undefined and f"{undefined}, left out")


def _values(statistic: Callable[[Floats], ArrayLike], weights: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistic(weights), dtype=float)


def _weights(rng: np.random.Generator, n_draws: int, kinds: NDArray[np.int64]) -> Floats:
    """Draw as many units as there are, with replacement; return how often each kind of unit was drawn.

    The result has shape (n_draws, n_kinds).
    """
    n, n_kinds = len(kinds), int(kinds.max()) + 1
    cells = kinds[rng.integers(n, size=(n_draws, n))] + n_kinds * np.arange(n_draws)[:, None]
    return np.bincount(cells.ravel(), minlength=n_draws * n_kinds).reshape(n_draws, n_kinds).astype(float)
