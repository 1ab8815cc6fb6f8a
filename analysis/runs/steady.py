"""Find the iteration at which a run becomes steady, by the rules of two papers and a quick variant; leave out warm-up.

The rule *published* is that of Traini et al. [1]_ as their replication package computes it; *barrett* is that of
Barrett et al. [2]_.

.. [1] Traini, Di Pompeo, Tucci and Cortellessa (2023), Towards effective assessment of steady state performance in Java
   software: are we there yet?, Empirical Software Engineering 28:13, doi:10.1007/s10664-022-10247-x
.. [2] Barrett, Bolz-Tereick, Killick, Mount and Tratt (2017), Virtual machine warmup blows hot and cold, OOPSLA,
   doi:10.1145/3133876
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from math import ceil, log, sqrt

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from analysis.arrays import Floats
from analysis.runs.segments import Segmentation, Segmenter

STEADY, NOT_STEADY, INCONSISTENT = "steady state", "no steady state", "inconsistent"
FLAT, WARMUP, SLOWDOWN = "flat", "warm-up", "slowdown"
GOOD_INCONSISTENT, BAD_INCONSISTENT = "good inconsistent", "bad inconsistent"

MIN_ITERATIONS = 1000
WINDOW, WINDOWS_PER_RUN = 200, 15  # windows of 200 iterations, or of one fifteenth of a run that is shorter than 3,000
MIN_STEADY = 500  # iterations that a run must be steady for
WIDTH = 3  # an outlier is further from the median than this many times the range between two percentiles
LOW_PENALTY, FIXED_PENALTY, HIGH_PENALTY = 4, 15, 100_000  # times log(n)
TOLERANCE = 0.05  # levels that differ by less are alike
N_DRAWS, LEVEL = 10_000, 0.95
MIN_FOR_NORMAL = 100  # from this length on, the bootstrap distribution of a mean is taken as normal
LEAST_DIFFERENCE = 0.001  # seconds; Barrett's delta
MEASURED_BY_INVOCATION = 0.1  # seconds that an iteration of the published measurements takes at least


@dataclass(frozen=True)
class SteadyRun:
    """When a run becomes steady."""

    # "steady state" or "no steady state"; with the rule *barrett* "flat", "warm-up", "slowdown" or "no steady
    # state". None if the rule cannot be applied.
    verdict: str | None = field(metadata={"key": "class"})
    # the last iteration before the steady state, counted from 0, or 0 if the whole run is steady; None if the run
    # never becomes steady, or if the rule cannot be applied
    start: int | None
    change_points: tuple[int, ...]  # the last iteration of each segment except the last one, counted from 0
    n_iterations: int
    n_outliers: int  # number of iterations that were left out before the run was split into segments
    reason: str | None = None  # why the rule cannot be applied

    @property
    def n_warmup(self) -> int:
        """Return the number of iterations before the steady state; 0 if the run never becomes steady."""
        return self.start + 1 if self.start else 0


def steady_run(run: ArrayLike, rule: str = "published", *, is_time: bool = True, seed: int = 1) -> SteadyRun:
    """Find when a run becomes steady.

    `run` (shape (n_iterations,)): the measurements in order, in seconds if they are times; `rule`: "published": change
    points by PELT with the penalty at the elbow of all penalties (CROPS); the run is steady from the last segment on
    whose mean differs by more than 5 % from that of the last segment. "quick": the same with the penalty 15 log n,
    about 30 times as fast and often different. "barrett": flat, warm-up, slowdown or no steady state. `is_time`:
    whether the measurements are times in seconds. Other measurements are divided by their median first. `seed`: seed of
    the bootstrap of segments with fewer than 100 iterations; means of longer segments are taken as normal. Raises
    ValueError if the rule is unknown, or the run is not a list of finite numbers.
    """
    find = RULES.get(rule)
    if find is None:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    values = np.asarray(run, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError("a run must be a list of finite numbers")
    n = len(values)
    if n < MIN_ITERATIONS:
        iterations = f"{n:,} iteration{'' if n == 1 else 's'}"
        reason = f"too short to find the end of warm-up ({iterations}; {MIN_ITERATIONS:,} needed)"
        return SteadyRun(None, None, (), n, 0, reason)
    middle = float(np.median(values))
    if middle <= 0 or values.mean() <= 0:
        return SteadyRun(None, None, (), n, 0, "a rule for the end of warm-up needs measurements above 0")
    return find(values if is_time else values / middle, np.random.default_rng(seed))


def class_of_benchmark(verdicts: Iterable[str | None]) -> str | None:
    """Return the class of a benchmark from the classes of its runs; None if no run has a class."""
    found = {verdict for verdict in verdicts if verdict is not None}
    if len(found) <= 1:
        return next(iter(found), None)
    if found == {FLAT, WARMUP}:
        return GOOD_INCONSISTENT
    return BAD_INCONSISTENT if found & {FLAT, WARMUP, SLOWDOWN} else INCONSISTENT


def _published(values: Floats, rng: np.random.Generator) -> SteadyRun:
    return _by_means(values, rng, _at_elbow)


def _quick(values: Floats, rng: np.random.Generator) -> SteadyRun:
    return _by_means(values, rng, _at_fixed_penalty)


def _by_means(values: Floats, rng: np.random.Generator, segment: Callable[[Segmenter], Segmentation]) -> SteadyRun:
    """Walk back from the last segment to the first whose mean differs from that of the last segment."""
    n = len(values)
    kept = np.flatnonzero(~outliers(values))
    ends = _ends(segment(Segmenter(values[kept])), kept)
    segments = np.split(values, [end + 1 for end in ends])
    last = segments[-1]
    start = next(
        (
            end
            for end, before in zip(reversed(ends), reversed(segments[:-1]), strict=True)
            if _differ(last, before, rng)
        ),
        0,
    )
    is_steady = start <= n - MIN_STEADY - 1
    return SteadyRun(STEADY if is_steady else NOT_STEADY, start if is_steady else None, ends, n, n - len(kept))


def _barrett(values: Floats, _rng: np.random.Generator) -> SteadyRun:
    n = len(values)
    kept = np.flatnonzero(~_centred_outliers(values))
    remaining = values[kept]
    found = _at_fixed_penalty(Segmenter(remaining))
    ends = _ends(found, kept)
    *before, last = np.split(remaining, found.starts)
    low = min(last.mean() - last.var(), last.mean() - LEAST_DIFFERENCE)
    high = max(last.mean() + last.var(), last.mean() + LEAST_DIFFERENCE)
    for end, segment in zip(reversed(ends), reversed(before), strict=True):
        if segment.mean() + segment.var() >= low and segment.mean() - segment.var() <= high:
            continue
        if end > n - MIN_STEADY:
            return SteadyRun(NOT_STEADY, None, ends, n, n - len(kept))
        return SteadyRun(SLOWDOWN if segment.mean() < low else WARMUP, end, ends, n, n - len(kept))
    return SteadyRun(FLAT, 0, ends, n, n - len(kept))


RULES: Mapping[str, Callable[[Floats, np.random.Generator], SteadyRun]] = {
    "published": _published,
    "quick": _quick,
    "barrett": _barrett,
}


def _at_elbow(segmenter: Segmenter) -> Segmentation:
    """Return the segmentation at the elbow of the number of changes against the penalty.

    At the penalty of the elbow, two segmentations cost the same; this is the one with fewer changes.
    """
    scale = log(segmenter.n)
    path = segmenter.path(LOW_PENALTY * scale, HIGH_PENALTY * scale)
    at = elbow([each.low for each in path], [len(each) for each in path])
    return segmenter.best(FIXED_PENALTY * scale) if at is None else path[at]


def _at_fixed_penalty(segmenter: Segmenter) -> Segmentation:
    return segmenter.best(FIXED_PENALTY * log(segmenter.n))


def _ends(found: Segmentation, kept: NDArray[np.intp]) -> tuple[int, ...]:
    """Return the last iteration of each segment but the last one, counted with the outliers."""
    return tuple(int(kept[start - 1]) for start in found.starts)


def elbow(penalties: Sequence[float], counts: Sequence[int]) -> int | None:
    """Return the position of the elbow of a convex decreasing curve (Kneedle, with sensitivity 1); None without one.

    The curve is read from the largest penalty down, as the published analysis does. Read in the other direction,
    Kneedle often finds another elbow.

    .. Satopää, Albrecht, Irwin and Raghavan (2011), Finding a "kneedle" in a haystack, doi:10.1109/ICDCSW.2011.20
    """
    x, y = np.array(penalties, dtype=np.float64)[::-1], np.array(counts, dtype=np.float64)[::-1]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    x, y = (x - x.min()) / np.ptp(x), (y - y.min()) / np.ptp(y)
    height = 1 - y - x
    before, after = np.concatenate((height[:1], height[:-1])), np.concatenate((height[1:], height[-1:]))
    is_peak, is_valley = (height >= before) & (height >= after), (height <= before) & (height <= after)
    step = abs(float(np.diff(x).mean()))
    peak, threshold = None, 0.0
    for at in range(len(x) - 1):
        if is_peak[at]:
            peak, threshold = at, height[at] - step
        if is_valley[at]:
            threshold = 0.0
        if peak is not None and height[at + 1] < threshold:
            return len(x) - 1 - peak
    return None


def _window(n: int) -> int:
    return min(WINDOW, n // WINDOWS_PER_RUN)


def outliers(values: Floats) -> NDArray[np.bool_]:
    """Return which iterations lie far outside the others in any window; early windows are not used."""
    n, window = len(values), _window(len(values))
    invocations = min(ceil(MEASURED_BY_INVOCATION / max(float(values.mean()), 1e-12)), 10**12)
    first = ceil(window / log(1 + invocations))
    is_outlier = np.zeros(n, dtype=bool)
    if first > n - window:
        return is_outlier
    low, high = _bounds(sliding_window_view(values[first:], window), 1, 99)
    ends = np.full(window - 1, np.inf)  # a window holds only iterations from its first to its last
    highest_low = sliding_window_view(np.concatenate((-ends, low, -ends)), window).max(axis=1)
    lowest_high = sliding_window_view(np.concatenate((ends, high, ends)), window).min(axis=1)
    is_outlier[first:] = (values[first:] < highest_low) | (values[first:] > lowest_high)
    return is_outlier


def _centred_outliers(values: Floats) -> NDArray[np.bool_]:
    """Return which iterations lie far outside the window around them; the first half of a window has no outliers."""
    n, half = len(values), _window(len(values)) // 2
    is_outlier = np.zeros(n, dtype=bool)
    low, high = _bounds(sliding_window_view(values, 2 * half), 10, 90)
    tested = values[half : n - half + 1]
    is_outlier[half : n - half + 1] = (tested < low) | (tested > high)
    for at in range(n - half + 1, n):
        (least,), (most,) = _bounds(values[None, at - half :], 10, 90)
        is_outlier[at] = not least <= values[at] <= most
    return is_outlier


def _bounds(windows: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return, for each window, the least and the largest value that is no outlier."""
    ordered = np.sort(windows, axis=1)

    def percentile(percent: float) -> Floats:
        place = (ordered.shape[1] - 1) * percent / 100
        below = int(place)
        above = min(below + 1, ordered.shape[1] - 1)
        found: Floats = ordered[:, below] + (ordered[:, above] - ordered[:, below]) * (place - below)
        return found

    middle, width = percentile(50), WIDTH * (percentile(high) - percentile(low))
    return middle - width, middle + width


def _differ(last: Floats, other: Floats, rng: np.random.Generator) -> bool:
    """Return whether the bootstrap interval of the ratio of two means lies outside 0.95 to 1.05."""
    low, high = 1 - TOLERANCE, 1 + TOLERANCE
    mean, of_other = float(last.mean()), float(other.mean())
    if low * of_other <= mean <= high * of_other:  # the interval contains the ratio of the means
        return False
    bound, sign = (low, 1) if mean < low * of_other else (high, -1)
    return _share_beyond(last, other, bound, sign, rng) >= (1 + LEVEL) / 2


def _share_beyond(last: Floats, other: Floats, bound: float, sign: int, rng: np.random.Generator) -> float:
    """Return the share of bootstrap draws with mean(last) below `bound` times mean(other), or above it for sign -1."""
    gap, variance = 0.0, 0.0
    draws: Floats = np.zeros(1)
    for segment, factor in ((last, -sign), (other, sign * bound)):
        if len(segment) >= MIN_FOR_NORMAL:
            gap += factor * float(segment.mean())
            variance += factor**2 * float(segment.var()) / len(segment)
        else:
            chosen = rng.integers(len(segment), size=(N_DRAWS, len(segment)))
            draws = draws + factor * segment[chosen].mean(axis=1)
    gaps = gap + draws
    if variance == 0:
        return float((gaps > 0).mean())
    return float(ndtr(gaps / sqrt(variance)).mean())


QUICK = "quick"
MOST_RESULTS = 100_000  # results that are remembered, because every method asks for the warm-up of a run several times
QUICK_CLASSES = (
    "The quick rule gives 149 of the 203 public benchmarks (73 %) the class of the publication (Traini et al. 2023); "
    "labeler steady --rule published gives more of them the same class, and takes longer."
)
_results: dict[tuple[bytes, bool], SteadyRun] = {}


def quick_rule(run: ArrayLike) -> SteadyRun:
    """Find when a run becomes steady by the quick rule; a run without an attribute `unit` has times in seconds."""
    values = np.ascontiguousarray(run, dtype=np.float64)
    is_time = getattr(run, "unit", "s") == "s"
    key = blake2b(values.tobytes(), digest_size=16).digest(), is_time
    found = _results.get(key)
    if found is None:
        found = steady_run(values, QUICK, is_time=is_time)
        if len(_results) >= MOST_RESULTS:
            _results.clear()
        _results[key] = found
    return found
