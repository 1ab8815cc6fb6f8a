"""Detect changes in a series, by splitting it into segments with their own normal mean and variance at the least cost.

A split is the optimum that PELT finds [1]_, and all optima over a range of penalties as CROPS finds them [2]_. The
costs are those of the R package changepoint. Several penalties are solved in one pass over blocks of positions, in
which numpy does the work; first points that cannot be the best ones any more are left out, as in PELT.

.. [1] Killick, Fearnhead and Eckley (2012), JASA 107(500):1590-1598, doi:10.1080/01621459.2012.737745
.. [2] Haynes, Eckley and Fearnhead (2017), JCGS 26(1):134-143, doi:10.1080/10618600.2015.1116445
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.arrays import Floats
from analysis.methods.points._steps import LEAST_VERSIONS, find_levels, on_log_scale
from analysis.runs.segments import MIN_LENGTH, Segmenter

BIC_PARAMETERS = 3  # a change adds a mean, a variance and a place
NONE, STEPS = "none", "steps"


@dataclass(frozen=True)
class Detector:
    """A registered detector; call it with a series to get the first point of each new segment, counted from 0."""

    name: str
    title: str
    function: Callable[..., tuple[int, ...]]  # (values, **parameters) -> marks
    parameters: Mapping[str, float] = field(default_factory=dict)
    least: int = 1  # a series with fewer points never has marks, so their absence says nothing

    def __call__(self, values: ArrayLike, **overrides: float) -> tuple[int, ...]:
        """Return the marks of a series; raise ValueError if it is not a list of finite numbers."""
        series = np.asarray(values, dtype=np.float64)
        if series.ndim != 1 or not np.isfinite(series).all():
            raise ValueError("a series must be a list of finite numbers")
        return self.function(series, **{**self.parameters, **overrides})


def _none(_values: Floats) -> tuple[int, ...]:
    return ()


def _steps(values: Floats) -> tuple[int, ...]:
    return find_levels(on_log_scale(values)).starts if len(values) >= LEAST_VERSIONS else ()


def _pelt(values: Floats, factor: float) -> tuple[int, ...]:
    if len(values) < 2 * MIN_LENGTH:
        return ()
    return Segmenter(_scaled(values)).best(factor * log(len(values))).starts


def _binary_segmentation(values: Floats, factor: float) -> tuple[int, ...]:
    """Split at the best place as long as a split gains more than the penalty."""
    if len(values) < 2 * MIN_LENGTH:
        return ()
    segmenter, penalty = Segmenter(_scaled(values)), factor * log(len(values))

    def best(start: int, end: int) -> int | None:
        places = np.arange(start + MIN_LENGTH, end - MIN_LENGTH + 1)
        if not len(places):
            return None
        split = segmenter.cost(np.full(len(places), start), places) + segmenter.cost(places, end)
        at = int(split.argmin())
        return int(places[at]) if segmenter.cost(np.array([start]), end)[0] - split[at] > penalty else None

    return tuple(sorted(_splits(0, len(values), best)))


def _cusum(values: Floats, alpha: float) -> tuple[int, ...]:
    """Split where the cumulated distance from the mean is largest, if a Brownian bridge rarely reaches it."""
    limit = float(special.kolmogi(alpha))

    def best(start: int, end: int) -> int | None:
        part = values[start:end]
        spread = _noise(part)
        if len(part) < 2 * MIN_LENGTH or spread == 0:
            return None
        height = np.abs(np.cumsum(part - part.mean())[:-1]) / (spread * np.sqrt(len(part)))
        at = int(height.argmax())
        return start + at + 1 if height[at] > limit else None

    return tuple(sorted(_splits(0, len(values), best)))


def _e_divisive(values: Floats, window: float, p: float) -> tuple[int, ...]:
    """Split windows at the largest energy distance; then drop changes until each has a small p in a t test.

    The method is that of Matteson and James (2014), doi:10.1080/01621459.2013.849605, with a t test instead of
    permutations, as in tools for performance histories; within a window, changes may have ten times the p.
    """
    size = int(window)
    step = max(size // 2, 1)
    starts = range(0, max(len(values) - step, 1), step)
    found: set[int] = set()
    for start in starts:
        end = min(start + size, len(values))
        found.update(_splits(start, end, lambda low, high: _energy_split(values, low, high, 10 * p)))
    return _significant(values, sorted(found), p, size)


def _energy_split(values: Floats, start: int, end: int, p: float) -> int | None:
    part = values[start:end]
    if len(part) < 2 * MIN_LENGTH:
        return None
    at = _largest_energy(part)
    return start + at if _t_test(part[:at], part[at:]) < p else None


def _largest_energy(part: Floats) -> int:
    """Return the place at which the energy distance of the points before and of some points after is largest."""
    distances = np.abs(part[:, None] - part)
    n = len(part)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    within = np.diagonal(sums)  # sums of all distances among the first t points
    at, last = np.triu_indices(n + 1, MIN_LENGTH)
    valid = at >= MIN_LENGTH
    at, last = at[valid], last[valid]
    first, second = at.astype(float), (last - at).astype(float)
    across = sums[at, last] - within[at]
    inside = within[last] - 2 * sums[at, last] + within[at]
    energy = 2 * across / (first * second) - within[at] / first**2 - inside / second**2
    best = int((energy * first * second / (first + second)).argmax())
    return int(at[best])


def _significant(values: Floats, marks: list[int], p: float, window: int) -> tuple[int, ...]:
    """Remove the change with the largest p until all changes are significant."""
    kept = list(marks)
    while kept:
        bounds = [0, *kept, len(values)]
        found = [
            _t_test(values[max(a, b - window) : b], values[b : min(c, b + window)])
            for a, b, c in zip(bounds, bounds[1:], bounds[2:], strict=False)
        ]
        worst = int(np.argmax(found))
        if found[worst] < p:
            break
        del kept[worst]
    return tuple(kept)


def _shift_of_median(values: Floats, share: float, window: float) -> tuple[int, ...]:
    """Mark where the medians of the windows before and after differ most, by more than `share`."""
    size = int(window)
    if len(values) < 2 * size:
        return ()
    medians = np.median(np.lib.stride_tricks.sliding_window_view(values, size), axis=1)
    before, after = medians[:-size], medians[size:]
    shift = np.abs(after - before) / np.where(before == 0, np.inf, np.abs(before))
    marks, at = [], 0
    while at < len(shift):
        if shift[at] <= share:
            at += 1
            continue
        end = at
        while end < len(shift) and shift[end] > share:
            end += 1
        run = shift[at:end]
        marks.append(int(at + size + np.flatnonzero(run == run.max()).mean()))
        at = end
    return tuple(marks)


DETECTORS: dict[str, Detector] = {
    detector.name: detector
    for detector in (
        Detector(NONE, "no change at all", _none),
        Detector(STEPS, "steps of the mean", _steps, least=LEAST_VERSIONS),
        Detector("pelt-bic", "PELT, normal mean and variance, BIC", _pelt, {"factor": BIC_PARAMETERS}, least=4),
        Detector("pelt-15", "PELT, normal mean and variance, penalty 15 log n", _pelt, {"factor": 15}, least=4),
        Detector("binseg", "binary segmentation, BIC", _binary_segmentation, {"factor": BIC_PARAMETERS}, least=4),
        Detector("e-divisive", "E-divisive means in windows, t test", _e_divisive, {"window": 50, "p": 0.001}, least=4),
        Detector("cusum", "CUSUM of the mean", _cusum, {"alpha": 0.001}, least=4),
        Detector("median-shift", "shift of the median", _shift_of_median, {"share": 0.05, "window": 5}, least=10),
    )
}


def _splits(start: int, end: int, best: Callable[[int, int], int | None]) -> Iterator[int]:
    """Split a range and then its parts as long as `best` gives a place."""
    open_ranges = [(start, end)]
    while open_ranges:
        low, high = open_ranges.pop()
        at = best(low, high)
        if at is not None and low < at < high:
            yield at
            open_ranges += [(low, at), (at, high)]


def _scaled(values: Floats) -> Floats:
    """Divide by the standard deviation, so that the unit does not matter."""
    spread = float(values.std())
    return values / spread if spread > 0 else values


def _noise(values: Floats) -> float:
    """Estimate the standard deviation from neighbouring points, so that a change of the level does not count."""
    return float(np.sqrt(np.mean(np.diff(values) ** 2) / 2)) if len(values) > 1 else 0.0


def _t_test(first: Floats, second: Floats) -> float:
    """Return p of Student's t test; samples without variation differ if their means do."""
    if len(first) < MIN_LENGTH or len(second) < MIN_LENGTH:
        return 1.0
    if first.std() == 0 and second.std() == 0:
        return float(first.mean() == second.mean())
    n, of_second = len(first), len(second)
    freedom = n + of_second - 2
    variance = (n * first.var() + of_second * second.var()) / freedom
    t = (first.mean() - second.mean()) / np.sqrt(variance * (1 / n + 1 / of_second))
    return float(2 * special.stdtr(freedom, -abs(t)))
