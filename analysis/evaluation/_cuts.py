"""Count right and wrong verdicts for every threshold that divides scored items in two."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.evaluation._inputs import Bools, Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cuts:
    """All cuts of a set of items, in order of the threshold. A cut divides the items by a threshold.

    The first cut calls all items dissimilar, and the last cut calls all items similar.
    """

    # Thresholds in ascending order; an item is called dissimilar if its score > theta. Thresholds are midpoints
    # between neighbouring scores, except that the first is just below the lowest score and the last is the
    # highest score.
    theta: Floats
    fp: Ints  # number of similar items called dissimilar, and number of dissimilar items called similar
    fn: Ints
    n_dissimilar: int  # number of items by category
    n_similar: int

    @property
    def tp(self) -> Ints:
        """Return the number of dissimilar items called dissimilar, for each cut."""
        return self.n_dissimilar - self.fn

    @property
    def tn(self) -> Ints:
        """Return the number of similar items called similar, for each cut."""
        return self.n_similar - self.fp


def cuts(dissimilar: Bools, scores: Floats) -> Cuts:
    """Compute all cuts of scored items; return no cuts if there are no items.

    Items with equal scores stay on the same side of a cut.
    """
    values, place = np.unique(scores, return_inverse=True)
    n_dissimilar = int(dissimilar.sum())
    n_similar = len(scores) - n_dissimilar
    if not len(values):
        return Cuts(values, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0, 0)
    fn = np.concatenate([[0], np.cumsum(np.bincount(place[dissimilar], minlength=len(values)))])
    fp = n_similar - np.concatenate([[0], np.cumsum(np.bincount(place[~dissimilar], minlength=len(values)))])
    with np.errstate(over="ignore"):  # the number below the lowest float is -inf
        just_below = np.nextafter(values, -np.inf)
    # Add halves, because the sum may overflow; rounding must not reach the upper neighbour.
    between = np.minimum(values[:-1] / 2 + values[1:] / 2, just_below[1:])
    return Cuts(np.concatenate([just_below[:1], between, values[-1:]]), fp, fn, n_dissimilar, n_similar)
