"""Find steps of the level of a history, with a noise estimate that excludes the steps.

A range is cut where its cumulated sums differ most from a straight line, as in circular binary segmentation [1]_: at
one place, or around an inner part. The rule differs from the published method: a t distribution with Bonferroni's
correction replaces permutations, changes without enough support are removed, and estimated correlation between
neighbours raises the limit.

.. [1] Olshen, Venkatraman, Lucito and Wigler (2004), Biostatistics 5(4):557-572, doi:10.1093/biostatistics/kxh008
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt

import numpy as np
from scipy import special

from analysis.arrays import Floats

LEAST_VERSIONS = 6  # a shorter range has no change
ALPHA = 0.02  # of a cut, after the correction for all places
N_LONG = 10  # a level with more versions than this needs no further support
SUPPORT = 2 / 3  # a shorter level needs more than this share of its versions on its own side of the midpoint
HIGHEST_R = 0.95  # the estimated correlation of neighbours is at most this
ROUNDING = 1e-12  # relative size of differences that are only rounding
LEAST_VARIANCE = 1e-300  # so that a history of zeros divides by a number


@dataclass(frozen=True)
class Levels:
    """The levels of a history of n versions.

    Attributes
    ----------
    starts : tuple of int
        The first version of each level but the first, counted from 0; empty if the history drifts.
    p : tuple of float
        p of the cut at each start, corrected for all places that were tried.
    r : float
        Estimated correlation of neighbours, from 0 to 0.95.
    residuals : ndarray of float, shape (n,)
        Distance of each version from its level, or from the line if the history drifts.
    line : tuple of (float, float) or None
        Values of the fitted line at the first and the last version if the history drifts; None if it has levels.
    """

    starts: tuple[int, ...]
    p: tuple[float, ...]
    r: float
    residuals: Floats
    line: tuple[float, float] | None = None

    @property
    def n_parameters(self) -> int:
        """Return the number of fitted means, or 2 for a line."""
        return 2 if self.line else len(self.starts) + 1

    @property
    def widening(self) -> float:
        """Return the factor by which correlation of neighbours widens the standard error of a level."""
        return _widening(self.r)


@dataclass(frozen=True)
class _Change:
    at: int
    p: float


def find_levels(values: Floats, variance: float = 0.0) -> Levels:
    """Return the levels of a history, or the line that fits it better.

    Parameters
    ----------
    values : ndarray of float, shape (n_versions,)
        One finite number per version, usually a logarithm.
    variance : float
        Lower limit of the variance of a version around its level, such as the one between runs of a version.

    Returns
    -------
    Levels
        Without changes if there are fewer than six versions.
    """
    if not len(values):
        return Levels((), (), 0.0, values)
    floor = max(variance, rounding_variance(values))
    changes: list[_Change] = []
    first: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    r, widening, is_settled = 0.0, 0.0, False
    while _widening(r) > widening and not is_settled:
        widening = _widening(r)
        changes = _supported(values, _segmented(values, 0, len(values), floor, widening), floor, widening)
        is_settled = widening > 1 and starts == tuple(change.at for change in changes)
        starts = tuple(change.at for change in changes)
        r = r if is_settled else max(r, neighbour_correlation(values, starts))
        first = starts if widening == 1 else first
    residuals = _residuals(values, starts)
    if first:
        line = _line(values)
        if all(_line_is_better(values - line, values, places) for places in ((), first, starts)):
            r = _correlation(values - line, (), n_fitted=2, scale=values)
            return Levels((), (), r, values - line, (float(line[0]), float(line[-1])))
    return Levels(starts, tuple(change.p for change in changes), r, residuals)


def on_log_scale(values: Floats) -> Floats:
    """Return the logarithms if all values are above 0, so that steps are ratios; otherwise the values."""
    return np.log(values) if len(values) and values.min() > 0 else values


def rounding_variance(values: Floats) -> float:
    """Return the variance below which differences between values are only rounding."""
    return max(float((ROUNDING * np.abs(values).max(initial=0.0)) ** 2), LEAST_VARIANCE)


def neighbour_correlation(values: Floats, starts: Sequence[int]) -> float:
    """Return the correlation of neighbouring versions within levels, corrected for the fitted means; from 0 to 0.95."""
    return _correlation(_residuals(values, starts), starts, n_fitted=len(starts) + 1, scale=values)


def _correlation(residuals: Floats, starts: Sequence[int], *, n_fitted: int, scale: Floats) -> float:
    n, total = len(residuals), float(residuals @ residuals)
    if n <= n_fitted or total <= n * rounding_variance(scale):
        return 0.0
    products = residuals[:-1] * residuals[1:]
    products[np.array(starts, dtype=np.intp) - 1] = 0  # neighbours of different levels
    r = float(products.sum()) / total * n / (n - n_fitted)
    r += (1 + 3 * max(r, 0.0)) * n_fitted / n
    return min(max(r, 0.0), HIGHEST_R)


def _widening(r: float) -> float:
    return sqrt((1 + r) / (1 - r))


def _segmented(values: Floats, start: int, end: int, floor: float, widening: float) -> list[_Change]:
    """Return the changes inside a range, found by cutting it and then its parts."""
    cut = best_cut(values[start:end], floor, widening)
    if cut is None or cut[1] >= ALPHA:
        return []
    places, p = cut
    bounds = [start, *(start + place for place in places), end]
    inside = [change for a, b in pairwise(bounds) for change in _segmented(values, a, b, floor, widening)]
    return sorted([*inside, *(_Change(at, p) for at in bounds[1:-1])], key=lambda change: change.at)


def best_cut(part: Floats, floor: float, widening: float) -> tuple[tuple[int, ...], float] | None:
    """Return the one or two places where a range is best cut, and the p of this cut; None if the range is too short."""
    n = len(part)
    if n < LEAST_VERSIONS:
        return None
    centred = part - part.mean()
    sums = np.concatenate(([0.0], np.cumsum(centred)))
    total = float(centred @ centred)
    places = np.arange(1, n)
    gains = sums[1:n] ** 2 * n / (places * (n - places))
    at = int(gains.argmax())
    one = (places[at : at + 1].tolist(), float(gains[at]), n - 1)
    two = _best_inner_part(sums[1:n], n)
    cuts = [(tuple(found), _p_of_cut(gain, total, n, tries, floor, widening)) for found, gain, tries in (one, two)]
    return min(cuts, key=lambda cut: cut[1])


def _best_inner_part(sums: Floats, n: int) -> tuple[list[int], float, int]:
    """Return the ends of the inner part that explains most, what it explains, and the number of such parts."""
    best, places, tries = -1.0, [1, 3], 0
    for length in range(2, n // 2 + 1):
        apart = np.abs(sums[length:] - sums[:-length])
        if not len(apart):
            break
        first = int(apart.argmax())
        gain = float(apart[first]) ** 2 * n / (length * (n - length))
        tries += len(apart)
        if gain > best:
            best, places = gain, [first + 1, first + 1 + length]
    return places, best, tries


def _p_of_cut(gain: float, total: float, n: int, tries: int, floor: float, widening: float) -> float:
    variance = max((total - gain) / (n - 2), floor)
    t = sqrt(max(gain, 0.0) / variance) / widening
    return min(float(4 * tries * special.stdtr(n - 2, -t)), 1.0)


def _supported(values: Floats, changes: list[_Change], floor: float, widening: float) -> list[_Change]:
    """Remove changes, the least supported first, until all have enough versions on both sides.

    Where levels became one, the remaining change must be clear between its new levels, too. Otherwise a change that an
    outlier made would remain at one of its sides.
    """
    kept = list(changes)
    while kept:
        bounds = [0, *(change.at for change in kept), len(values)]
        means = [float(values[a:b].mean()) for a, b in pairwise(bounds)]
        weak = []
        for number in range(len(kept)):
            before, after = (values[bounds[number + side] : bounds[number + side + 1]] for side in (0, 1))
            middle, rises = (means[number] + means[number + 1]) / 2, means[number] < means[number + 1]
            shares = [_share(before, middle, not rises), _share(after, middle, rises)]
            if min(len(before), len(after)) == 1 or min(shares) <= SUPPORT:
                weak.append((min(shares), abs(means[number + 1] - means[number]), number))
        if not weak:
            break
        removed = min(weak)[2]
        del kept[removed]
        kept = _clear_beside(values, kept, removed, floor, widening)
    return kept


def _clear_beside(values: Floats, kept: list[_Change], at: int, floor: float, widening: float) -> list[_Change]:
    """Return the changes without those before and after a removed one that are not clear any more."""
    bounds = [0, *(change.at for change in kept), len(values)]
    clear = list(kept)
    for number in (at - 1, at):
        if 0 <= number < len(kept):
            start, place, end = bounds[number : number + 3]
            p = _p_at(values[start:end], place - start, floor, widening)
            clear[number] = _Change(place, p)
    return [change for change in clear if change.p < ALPHA]


def _p_at(part: Floats, place: int, floor: float, widening: float) -> float:
    """Return the p of a cut at one place, corrected for all places; 1 if the part is too short to be cut."""
    n = len(part)
    if n < LEAST_VERSIONS:
        return 1.0
    centred = part - part.mean()
    gain = float(centred[:place].sum()) ** 2 * n / (place * (n - place))
    return _p_of_cut(gain, float(centred @ centred), n, n - 1, floor, widening)


def _share(level: Floats, middle: float, is_above: bool) -> float:
    """Return the share of a level on its own side of the midpoint; 1 for a long level."""
    if len(level) > N_LONG:
        return 1.0
    return float(np.mean(level > middle if is_above else level < middle))


def _residuals(values: Floats, starts: Sequence[int]) -> Floats:
    bounds = [0, *starts, len(values)]
    return np.concatenate([values[a:b] - values[a:b].mean() for a, b in pairwise(bounds)])


def _line(values: Floats) -> Floats:
    places = np.arange(len(values)) - (len(values) - 1) / 2
    line: Floats = values.mean() + places * (places @ values) / (places @ places)
    return line


def _line_is_better(from_line: Floats, values: Floats, starts: Sequence[int]) -> bool:
    """Compare a line with levels by Schwarz's criterion; each change counts as a mean and a place."""
    n, least = len(values), len(values) * rounding_variance(values)
    of_line, of_levels = (n * log(max(float(e @ e), least)) for e in (from_line, _residuals(values, starts)))
    return of_line + 2 * log(n) < of_levels + (2 * len(starts) + 1) * log(n)
