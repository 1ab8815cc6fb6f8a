"""Convert the runs of one item to the data that a picture needs: bins, windows, and axis limits.

A bin has the lowest and the highest measurement of consecutive iterations. A window has the median and the quartiles of
consecutive iterations, and the share of iterations beyond the axis.

The data are computed once, at import, and stored. If a change of this module draws the same runs differently, raise
`VERSION`. Never change an axis rule: add a new version in `RULE_VERSIONS`, or a rule with a new name.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import Series
from labeler.studies.model import AXIS_RULES as AXIS_RULES, Protocol

VERSION = 4
RULE_VERSIONS: Mapping[str, int] = {"levels": 1, "core": 1, "pooled": 1, "full": 1}
VIEWS: Mapping[str, str] = {"close": "Close", "pooled": "0.5 to 99.5 %", "full": "All"}  # other views of every item
HIGHER_LEVELS = ("close-2", "close-3")  # views of items with several separate levels, the next higher level first
STANDARD = Protocol()
CLOSE_SPAN = 0.10
MAX_BINS = 300
WINDOW = 50
MAX_WINDOWS = 60
FEW_ITERATIONS = 50  # shorter runs are drawn as points
PERCENTILES = np.array([0, 1, 2, 3, 4, *np.arange(5, 96, 2.5), 96, 97, 98, 99, 100])
LASTING = 0.05  # share of a run; the axis shows all levels that last longer
MARGIN, TAIL = 0.04, 0.15  # shares of the distance between the lowest and the highest level
QUARTILES = np.array([25.0, 50.0, 75.0])
SHARE_OF_RUN, SHARE_OF_RUNS = 0.10, 0.5  # a level lasts if this share of iterations is on it in this share of the runs
THIN = 0.01  # share of all iterations that may lie between two separate levels
FLOAT32_SLACK = 1e-6  # a share of the axis that is larger than any rounding error
WHOLE = 255  # the code for a window that is completely beyond the axis, in one byte
SERIES = ("low", "high", "medians", "lower", "upper", "quantiles")  # numbers of a run that are packed as float32

LARGEST_FLOAT32, LARGEST_FLOAT64 = float(np.finfo(np.float32).max), float(np.finfo(np.float64).max)

Limits = tuple[float, float]
Block = NDArray[np.float64]


def payload(
    runs: Sequence[Series], unit: str, *, rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span
) -> dict[str, Any]:
    """Return the data that the labelling screen needs to draw the runs of an item.

    The data do not contain the name of the item.

    `runs` (shape (n_iterations,)): lengths may differ. All runs share one x axis, which is as long as the longest run.
    `unit`: "s" for times; the screen chooses between ns, µs, ms and s; `rule`: the main axis: one of `AXIS_RULES`;
    `min_span`: the main axis spans at least this share of the pooled median. Returns a JSON object. `axes` maps each
    view to its limits; the main axis comes first. `median` is the median of all runs together. `runs` has an object for
    each run. In this object, `n` is the number of iterations. `low` and `high` are the ends of at most 300 bins.
    `medians`, `lower` and `upper` are the median and the quartiles of at most 60 windows. `quantiles` are the quantiles
    at `percentiles`. All these arrays are base64 of little-endian float32. `beyond` maps each view to base64 with one
    byte per window for the share above the axis, in 255ths, and then one byte per window for the share below the axis.
    `beyond` is left out if nothing is beyond the axis. It is also left out for runs of fewer than 50 iterations,
    because their data contain all values. Floats are used instead of uint16 steps of the full range because a single
    outlier leaves very few steps for the other values (fewer than 200 for the main axis in 28 of 203 real benchmarks).
    """
    blocks = blocks_of(runs)
    ordered = [np.sort(block) for block in blocks]
    windows = [windows_of(block) for block in blocks]
    pooled = _pooled(ordered)
    axes = _limits(ordered, [middle for middle, _, _ in windows], pooled, rule, min_span)
    return {
        "version": VERSION,
        "rule": rule,
        "min_span": min_span,
        "unit": unit,
        "n": max(len(run) for run in runs),
        "median": _at(pooled, 50),
        "percentiles": PERCENTILES.tolist(),
        "axes": {view: list(limits) for view, limits in axes.items()},
        "runs": [
            drawn
            for block, in_order, middle_half in zip(blocks, ordered, windows, strict=True)
            for drawn in _drawn(block, in_order, middle_half, axes)
        ],
    }


def axis_limits(
    runs: Sequence[Series], *, rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span
) -> dict[str, Limits]:
    """Return the limits of the y axis for each view of an item; the main axis comes first.

    The rule `levels` keeps the median and the middle half of every run on the axis. This rule also keeps each level
    that lasts for more than 5 % of the windows of a run. A window has 50 iterations. A long run has 60 windows, which
    are longer. The levels of a run reach from the 5th to the 95th percentile of the window medians, and include the
    middle half of the run. Here, the 5th percentile is the lowest median for which more than 5 % of the medians are
    equal or lower. A margin is added to the range of the levels of all runs. The margin is 4 % of the range, or up to
    15 % if the 1st and 95th percentiles of runs reach further.

    `core` reaches from the lowest 1st percentile of any run to the highest 95th percentile of any run. `pooled` reaches
    from the 0.5th to the 99.5th percentile of all measurements. `full` shows all measurements. `close` reaches from the
    lowest lower quartile of any run to the highest upper quartile of any run. If iterations alternate between separate
    levels, `close` shows only the lowest level that lasts, in the same way, and `close-2` and `close-3` show the next
    higher levels. A level is separate if the gap above it is at least as long as the level. It lasts if at least half
    of the runs have at least 10 % of their iterations on it.

    If `levels` or `core` is the main axis, it spans at least `min_span` of the pooled median, so that small noise does
    not look large. The other views span at least 10 % of the median of what they show. If all runs are
    shorter than 50 iterations, `levels` equals `core`.

    `rule`: the main axis: one of `AXIS_RULES`. Returns view -> (low, high), with low < high even for runs without
    variation.
    """
    blocks = blocks_of(runs)
    ordered = [np.sort(block) for block in blocks]
    return _limits(ordered, [windows_of(block)[0] for block in blocks], _pooled(ordered), rule, min_span)


def blocks_of(runs: Sequence[Series]) -> list[Block]:
    """Stack runs of equal length into one block of shape (n_runs, n_iterations).

    If their lengths differ, return one block per run.
    """
    if len({len(run) for run in runs}) == 1:
        return [np.stack(runs)]
    return [run[np.newaxis] for run in runs]


def _pooled(blocks: Sequence[Block]) -> Series:
    """Return all values in ascending order, from blocks whose rows are in ascending order."""
    # a stable sort merges rows that are sorted already
    return np.sort(np.concatenate([block.ravel() for block in blocks]), kind="stable")


def _limits(
    ordered: Sequence[Block], medians: Sequence[Block], pooled: Series, rule: str, min_span: float
) -> dict[str, Limits]:
    size = abs(_at(pooled, 50))
    central, everything = (_at(pooled, 0.5), _at(pooled, 99.5)), (float(pooled[0]), float(pooled[-1]))
    if rule == "levels" and max(block.shape[1] for block in ordered) >= FEW_ITERATIONS:
        main = _at_least(_levels(ordered, medians), size * min_span)
    elif rule in ("levels", "core"):
        main = _at_least(_core(ordered), size * min_span)
    else:
        main = _at_least({"pooled": central, "full": everything}[rule], 0.0)
    views = {
        **_close(ordered, pooled),
        "pooled": _at_least(central, size * CLOSE_SPAN),
        "full": _at_least(everything, 0.0),
    }
    return {rule: main, **{view: limits for view, limits in views.items() if view != rule}}


def _close(ordered: Sequence[Block], pooled: Series) -> dict[str, Limits]:
    """Return the views of the lowest separate level that lasts and of the next higher levels."""
    runs = [run for block in ordered for run in block]
    views = {}
    for view, level in zip(("close", *HIGHER_LEVELS), _separate_levels(runs, pooled), strict=False):
        on_level = [run[slice(*_places_on(run, level))] for run in runs]
        of_runs = [part for part, run in zip(on_level, runs, strict=True) if len(part) >= SHARE_OF_RUN * len(run)]
        median = _at(np.sort(np.concatenate(of_runs)), 50)
        limits = _with_margin(_quartiles([part[np.newaxis] for part in of_runs]))
        views[view] = _at_least(limits, abs(median) * CLOSE_SPAN)
    return views


def _separate_levels(runs: Sequence[Series], pooled: Series) -> list[Limits]:
    """Return the lowest and the highest value of each separate level that lasts, in ascending order.

    If no gap separates levels, or the runs are short, all values are one level. `runs` and `pooled` are sorted.
    """
    n, lowest = len(pooled), 0
    step = max(1, int(np.ceil(THIN * n)))
    levels: list[Limits] = []
    while max(map(len, runs)) >= FEW_ITERATIONS:
        highest = np.arange(lowest + step, n - step, max(1, step // 2))
        length = pooled[highest] - pooled[lowest + (highest - lowest) // 20]
        length = np.maximum(length, CLOSE_SPAN * np.abs(pooled[(lowest + highest) // 2]))
        is_separate = pooled[highest + step] - pooled[highest] >= length
        ends = highest[is_separate & _lasts(runs, pooled[lowest], pooled[highest])]
        if not len(ends):
            break
        levels.append((float(pooled[lowest]), float(pooled[ends[0]])))
        lowest = int(ends[0]) + step
    if not levels or _lasts(runs, pooled[lowest], pooled[-1:]).all():
        levels.append((float(pooled[lowest]), float(pooled[-1])))
    return levels


def _lasts(runs: Sequence[Series], low: float, highs: Series) -> NDArray[np.bool_]:
    """Return whether at least half of the runs have at least 10 % of their iterations from `low` to each high value."""
    shares = [
        (np.searchsorted(run, highs, side="right") - np.searchsorted(run, low, side="left")) / len(run) for run in runs
    ]
    lasts: NDArray[np.bool_] = (np.array(shares) >= SHARE_OF_RUN).mean(axis=0) >= SHARE_OF_RUNS
    return lasts


def _places_on(run: Series, level: Limits) -> tuple[int, int]:
    low, high = level
    return int(np.searchsorted(run, low, side="left")), int(np.searchsorted(run, high, side="right"))


def _core(ordered: Sequence[Block]) -> Limits:
    low, high = (min(_core_end(block, 1).min() for block in ordered), max(_core_end(b, 95).max() for b in ordered))
    return float(low), float(high)


def _levels(ordered: Sequence[Block], medians: Sequence[Block]) -> Limits:
    """Return the range from the lowest to the highest level of any run, with a margin and a limited tail."""
    low, high = _quartiles(ordered)
    for block, middle in zip(ordered, medians, strict=True):
        lowest, highest = _level_ends(block, middle)
        low, high = min(low, float(lowest.min())), max(high, float(highest.max()))
    reach = high - low
    bottom = max(min(float(_core_end(block, 1).min()) for block in ordered), low - TAIL * reach)
    top = min(max(float(_core_end(block, 95).max()) for block in ordered), high + TAIL * reach)
    return min(low - MARGIN * reach, bottom), max(high + MARGIN * reach, top)


def _level_ends(ordered: Block, medians: Block) -> tuple[Series, Series]:
    """Return the lowest and the highest level of each run; for short runs, return the limits that `core` uses."""
    if ordered.shape[1] < FEW_ITERATIONS:
        return _core_end(ordered, 1), _core_end(ordered, 95)
    in_order, n_passed_over = np.sort(medians, axis=1), int(LASTING * medians.shape[1])
    return in_order[:, n_passed_over], in_order[:, -1 - n_passed_over]


def _quartiles(ordered: Sequence[Block]) -> Limits:
    """Return the lowest lower quartile and the highest upper quartile of any run."""
    quartiles = [_quantiles(block, QUARTILES) for block in ordered]
    return min(float(of[:, 0].min()) for of in quartiles), max(float(of[:, -1].max()) for of in quartiles)


def _with_margin(limits: Limits) -> Limits:
    low, high = limits
    reach = high - low
    return low - MARGIN * reach, high + MARGIN * reach


def _core_end(ordered: Block, percent: float) -> Series:
    """Return an interpolated percentile of each run.

    For short runs, return the next measurement outside the percentile, so that the axis does not cut off values.
    """
    n = ordered.shape[1]
    if n >= FEW_ITERATIONS:
        return _quantiles(ordered, np.array([percent]))[:, 0]
    at = percent / 100 * (n - 1)
    return ordered[:, int(np.floor(at) if percent < 50 else np.ceil(at))]


def _at(ordered: Series, percent: float) -> float:
    return float(_quantiles(ordered, np.array([percent]))[0])


def _quantiles(ordered: Block, percents: NDArray[np.float64]) -> Block:
    """Return percentiles along the last axis of sorted values, linearly interpolated as in numpy."""
    below, above, weight = _places(ordered.shape[-1], percents)
    # low + (high - low) * weight could overflow
    values: Block = ordered[..., below] * (1 - weight) + ordered[..., above] * weight
    return values


def _places(n: int, percents: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Series]:
    """Return between which of `n` sorted values each percentile lies, and the weight of the upper value."""
    at = percents / 100 * (n - 1)
    below = np.floor(at).astype(np.int64)
    return below, np.minimum(below + 1, n - 1), at - below


def _at_least(limits: Limits, span: float) -> Limits:
    """Widen the limits around their middle to at least the span.

    The result is finite, and its width is positive.
    """
    low, high = limits
    if high - low < span:
        middle = (low + high) / 2
        low, high = middle - span / 2, middle + span / 2
    if not low < high:
        pad = abs(low) * 0.05 or 0.5
        low, high = low - pad, high + pad
    elif low == np.nextafter(high, -np.inf):  # there is no number between the limits
        low, high = low - (high - low), high + (high - low)
    return max(low, -LARGEST_FLOAT64), min(high, LARGEST_FLOAT64)


def _drawn(
    block: Block, ordered: Block, windows: Sequence[Block], axes: Mapping[str, Limits]
) -> Iterator[dict[str, Any]]:
    """Yield the payload entry of each run in a block."""
    series = (*bins_of(block), *windows, _quantiles(ordered, PERCENTILES))
    shares = {view: beyond_of(block, limits) for view, limits in axes.items()}
    yield from packed_runs(block.shape[1], block.shape[1], series, shares)


def packed_runs(
    n: int, shown_n: int, series: Sequence[Block], shares: Mapping[str, NDArray[np.float64]], share_bytes: int = 1
) -> Iterator[dict[str, Any]]:
    """Yield the payload entries of runs with the same number of iterations.

    `series` has the arrays of `SERIES`, each of shape (n_runs, n_values); `shares` gives for each view the shares of
    the windows above and below the limits, of shape (n_runs, 2, n_windows).
    """
    texts = [packed_rows(values) for values in series]
    beyond = {
        view: packed_shares(of_view, share_bytes)
        for view, of_view in shares.items()
        if n >= FEW_ITERATIONS and of_view.any()
    }
    for run, of_run in enumerate(zip(*texts, strict=True)):
        yield {
            "n": shown_n,
            **dict(zip(SERIES, of_run, strict=True)),
            "beyond": {view: of_view[run] for view, of_view in beyond.items() if shares[view][run].any()},
        }


def bins_of(block: Block, phase: float = 1.0) -> tuple[Block, Block]:
    """Return the lowest and the highest measurement of each bin.

    Both have the shape (n_runs, n_bins). `phase` is the width of the first bin, in bins, in (0, 2).
    """
    starts = starts_of(block.shape[1], MAX_BINS, phase)
    return np.minimum.reduceat(block, starts, axis=1), np.maximum.reduceat(block, starts, axis=1)


def windows_of(block: Block, phase: float = 1.0) -> tuple[Block, Block, Block]:
    """Return the median, the lower quartile and the upper quartile of each window.

    In a short run, each iteration is a window. Each has the shape (n_runs, n_windows). `phase` is the width of the
    first window, in windows, in (0, 2).
    """
    n = block.shape[1]
    starts = starts_of(n, n_windows(n), phase)
    lengths = np.diff([*starts, n])
    quartiles = np.empty((len(QUARTILES), len(block), len(starts)))
    for length in np.unique(lengths):
        of_length = lengths == length
        pieces = np.sort(block[:, starts[of_length, np.newaxis] + np.arange(length)], axis=-1)
        quartiles[:, :, of_length] = np.moveaxis(_quantiles(pieces, QUARTILES), -1, 0)
    lower, medians, upper = quartiles
    return medians, lower, upper


def beyond_of(block: Block, limits: Limits, phase: float = 1.0) -> NDArray[np.float64]:
    """Return the share of each window that lies above the limits, and the share that lies below the limits.

    The shape is (n_runs, 2, n_windows).
    """
    n = block.shape[1]
    starts = starts_of(n, n_windows(n), phase)
    outside = np.stack([block > limits[1], block < limits[0]], axis=1)
    lengths = np.diff([*starts, n])
    if not outside.any():
        return np.zeros((*outside.shape[:-1], len(starts)))
    shares: NDArray[np.float64] = np.add.reduceat(outside.astype(float), starts, axis=-1) / lengths
    return shares


def n_windows(n: int) -> int:
    """Return the number of windows in a run.

    A run has one window per 50 iterations, at most 60. In a short run, each iteration is a window.
    """
    return n if n < FEW_ITERATIONS else min(n // WINDOW, MAX_WINDOWS)


@lru_cache
def starts_of(n: int, n_pieces: int, phase: float = 1.0) -> NDArray[np.int64]:
    """Divide a run of `n` iterations into at most `n_pieces` equal pieces; return the first iteration of each piece.

    If each piece is one iteration, the phase is ignored.
    """
    if n <= n_pieces:
        return np.arange(n)
    return np.array([0, *np.floor((np.arange(n_pieces - 1) + phase) * (n / n_pieces))], dtype=np.int64)


def series_of(payload: Mapping[str, Any], run: Mapping[str, Any], name: str) -> Series:
    """Return one series of a run in a payload, such as "medians", in the item's unit.

    Zeros are restored exactly, because a logarithmic axis marks them.
    """
    if "scale" not in payload:
        return unpacked(run[name])
    offset, factor = payload["scale"]
    values = offset + factor * unpacked(run[name])
    return np.where(np.abs(values) < 1e-6 * factor, 0.0, values)


def unpacked(text: str) -> Series:
    """Decode the numbers of one payload entry, with float32 precision."""
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float64)


def packed_rows(values: Block) -> list[str]:
    """Encode each row of numbers as a payload entry: base64 of little-endian float32."""
    drawable = np.clip(values, -LARGEST_FLOAT32, LARGEST_FLOAT32)
    return [base64.b64encode(row).decode("ascii") for row in np.ascontiguousarray(drawable, dtype="<f4")]


def spikes_of(low: Series, high: Series, lower: Series, upper: Series) -> tuple[NDArray[np.int64], Series]:
    """Return the ends of bins that lie outside the middle half of their window; they are drawn as dots.

    Returns the indices of the bins, and the values.
    """
    bins = np.arange(len(low))
    window = ((bins + 0.5) * len(lower) / len(low)).astype(int)
    above, below = high > upper[window], low < lower[window]
    return np.concatenate([bins[above], bins[below]]), np.concatenate([high[above], low[below]])


def largest_code(share_bytes: int) -> int:
    """Return the code for a window that is completely beyond the axis, with 1 or 2 bytes."""
    return int(256**share_bytes - 1)


def packed_shares(shares: NDArray[np.float64], share_bytes: int = 1) -> list[str]:
    """Encode the shares of each run as a payload entry: base64 with one or two bytes per share, little-endian.

    A share above 0 becomes at least 1.
    """
    largest = largest_code(share_bytes)
    steps = np.clip(np.rint(shares * largest), shares > 0, largest).astype(f"<u{share_bytes}")
    return [base64.b64encode(of_run.tobytes()).decode("ascii") for of_run in steps]


def shares_of(payload: Mapping[str, Any], run: Mapping[str, Any], view: str) -> NDArray[np.float64]:
    """Return the share of each window of a run that is beyond the limits of a view, with shape (2, n_windows).

    The first row is the share above the limits, and the second row is the share below. In a short run, each iteration
    is a window, so the shares are computed from the values in the payload.
    """
    text, values = run["beyond"].get(view), series_of(payload, run, "medians")
    if run["n"] < FEW_ITERATIONS:
        low, high = payload["axes"][view]
        slack = FLOAT32_SLACK * (high - low)
        return np.stack([values > high + slack, values < low - slack]).astype(float)
    if text is None:
        return np.zeros((2, len(values)))
    codes = base64.b64decode(text)
    share_bytes = len(codes) // (2 * len(values))
    shares: NDArray[np.float64] = np.frombuffer(codes, f"<u{share_bytes}").reshape(2, -1) / largest_code(share_bytes)
    return shares
