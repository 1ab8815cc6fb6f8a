"""The runs of one item -> what the screen draws: bins, windows and what lies beyond them, and the limits of the axes.

Computed once, at import, and stored: raise `VERSION` whenever the same runs would be drawn differently. A rule for the
axis never changes what it does: another behaviour gets another version in `RULE_VERSIONS`, or another name.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeler.model import Protocol, Series

VERSION = 3
AXIS_RULES = ("levels", "core", "pooled", "full")  # what a study can begin its items with
RULE_VERSIONS: Mapping[str, int] = {"levels": 1, "core": 1, "pooled": 1, "full": 1}
VIEWS: Mapping[str, str] = {"close": "Close", "pooled": "0.5 to 99.5 %", "full": "All"}  # beside the study's own axis
STANDARD = Protocol()
CLOSE_SPAN = 0.10
MAX_BINS = 300
WINDOW = 50
MAX_WINDOWS = 60
FEW_ITERATIONS = 50  # shorter runs are drawn as points
PERCENTILES = np.array([0, 1, 2, 3, 4, *np.arange(5, 96, 2.5), 96, 97, 98, 99, 100])
LASTING = 0.05  # of a run: the shortest level that the axis keeps
MARGIN, TAIL = 0.04, 0.15  # beyond the levels, as shares of the distance between the lowest and the highest
QUARTILES = np.array([25.0, 50.0, 75.0])
FLOAT32_SLACK = 1e-6  # of an axis: more than a value can be wrong by
WHOLE = 255  # all of a window lies beyond the axis
SERIES = ("low", "high", "medians", "lower", "upper", "quantiles")  # of a run, packed as float32

LARGEST_FLOAT32, LARGEST_FLOAT64 = float(np.finfo(np.float32).max), float(np.finfo(np.float64).max)

Limits = tuple[float, float]
Block = NDArray[np.float64]


def payload(
    runs: Sequence[Series], unit: str, *, rule: str = STANDARD.axis_rule, min_span: float = STANDARD.min_span
) -> dict[str, Any]:
    """Everything the screen needs to draw one item, and nothing that tells what it is.

    Parameters
    ----------
    runs : sequence of ndarray of float, each of shape (n_iterations,)
        Lengths may differ; all runs share one x axis, as long as the longest.
    unit : str
        "s" for times; the screen chooses ns, µs, ms.
    rule : str
        The main axis: one of `AXIS_RULES`.
    min_span : float
        The main axis spans at least this share of the pooled median.

    Returns
    -------
    dict
        Ready for JSON. `axes`: view -> limits, the main one first. `median` of all runs together. `runs`: per run `n`;
        as base64 of little-endian float32 `low` and `high` of at most 300 bins, `medians`, `lower` and `upper` (the
        middle half) of at most 60 windows, and `quantiles` at `percentiles`; `beyond`: view -> base64 of one byte per
        window for the share above the axis, in 255ths, and then one for the share below it; left out where nothing is
        beyond, and of runs shorter than 50 iterations, whose values are all there.
        Floats and not uint16 steps of the full range: a single outlier leaves these hardly a step for the rest (fewer
        than 200 for the main axis in 28 of 203 real benchmarks).
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
    """The y limits of each view of an item, the main one first.

    `levels` keeps every run's median and middle half on the axis, and any level that lasts more than about 5 % of a
    run: more than 5 % of its windows of 50 iterations, or of its 60 longer windows. The levels of a run reach from the
    5th percentile of its window medians (the lowest value that more than 5 % of them do not exceed) to the 95th, and at
    least over its middle half. Beyond the levels of all runs comes a margin of 4 % of their distance, and at most 15 %
    where the 1st and 95th percentiles of runs reach further.

    `core` reaches from the lowest 1st percentile of a run to the highest 95th. `pooled`: 0.5 to 99.5 % of all
    measurements. `full`: all of them. `close`: from the lowest lower quartile of a run to the highest upper one.

    As main axis, `levels` and `core` span at least `min_span` of the pooled median, so that noise is not blown up; the
    views that a reviewer changes to span at least 10 % of it. Where all runs are shorter than 50 iterations, `levels`
    is `core`.

    Parameters
    ----------
    runs : sequence of ndarray of float
    rule : str
        The main axis: one of `AXIS_RULES`.
    min_span : float

    Returns
    -------
    dict of str to (float, float)
        Low < high, also for runs without any variation.
    """
    blocks = blocks_of(runs)
    ordered = [np.sort(block) for block in blocks]
    return _limits(ordered, [windows_of(block)[0] for block in blocks], _pooled(ordered), rule, min_span)


def blocks_of(runs: Sequence[Series]) -> list[Block]:
    """All runs at once, shape (n_runs, n_iterations), where they are equally long, which is fast; else one by one."""
    if len({len(run) for run in runs}) == 1:
        return [np.stack(runs)]
    return [run[np.newaxis] for run in runs]


def _pooled(blocks: Sequence[Block]) -> Series:
    return np.sort(np.concatenate([block.ravel() for block in blocks]))


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
        "close": _at_least(_with_margin(_quartiles(ordered)), size * CLOSE_SPAN),
        "pooled": _at_least(central, size * CLOSE_SPAN),
        "full": _at_least(everything, 0.0),
    }
    return {rule: main, **{view: limits for view, limits in views.items() if view != rule}}


def _core(ordered: Sequence[Block]) -> Limits:
    low, high = (min(_core_end(block, 1).min() for block in ordered), max(_core_end(b, 95).max() for b in ordered))
    return float(low), float(high)


def _levels(ordered: Sequence[Block], medians: Sequence[Block]) -> Limits:
    """From the lowest level of a run to the highest, with a margin, and a capped tail where measurements go further."""
    low, high = _quartiles(ordered)
    for block, middle in zip(ordered, medians, strict=True):
        lowest, highest = _level_ends(block, middle)
        low, high = min(low, float(lowest.min())), max(high, float(highest.max()))
    reach = high - low
    bottom = max(min(float(_core_end(block, 1).min()) for block in ordered), low - TAIL * reach)
    top = min(max(float(_core_end(block, 95).max()) for block in ordered), high + TAIL * reach)
    return min(low - MARGIN * reach, bottom), max(high + MARGIN * reach, top)


def _level_ends(ordered: Block, medians: Block) -> tuple[Series, Series]:
    """The lowest and the highest level of each run; in a short run the ends that `core` takes."""
    if ordered.shape[1] < FEW_ITERATIONS:
        return _core_end(ordered, 1), _core_end(ordered, 95)
    in_order, n_passed_over = np.sort(medians, axis=1), int(LASTING * medians.shape[1])
    return in_order[:, n_passed_over], in_order[:, -1 - n_passed_over]


def _quartiles(ordered: Sequence[Block]) -> Limits:
    """The lowest lower quartile of a run, and the highest upper one."""
    quartiles = [_quantiles(block, QUARTILES) for block in ordered]
    return min(float(of[:, 0].min()) for of in quartiles), max(float(of[:, -1].max()) for of in quartiles)


def _with_margin(limits: Limits) -> Limits:
    low, high = limits
    reach = high - low
    return low - MARGIN * reach, high + MARGIN * reach


def _core_end(ordered: Block, percent: float) -> Series:
    """Interpolated; in a short run the measurement beyond, so that the axis never ends between all of them."""
    n = ordered.shape[1]
    if n >= FEW_ITERATIONS:
        return _quantiles(ordered, np.array([percent]))[:, 0]
    at = percent / 100 * (n - 1)
    return ordered[:, int(np.floor(at) if percent < 50 else np.ceil(at))]


def _at(ordered: Series, percent: float) -> float:
    return float(_quantiles(ordered, np.array([percent]))[0])


def _quantiles(ordered: Block, percents: NDArray[np.float64]) -> Block:
    """Percentiles along the last axis, interpolated linearly, as numpy has them but without sorting again."""
    last = ordered.shape[-1] - 1
    at = percents / 100 * last
    below = np.floor(at).astype(int)
    above = np.minimum(below + 1, last)
    weight = at - below
    # not low + (high - low) * weight, which could overflow
    values: Block = ordered[..., below] * (1 - weight) + ordered[..., above] * weight
    return values


def _at_least(limits: Limits, span: float) -> Limits:
    """The limits widened about their middle to the span; finite, and never of zero width."""
    low, high = limits
    if high - low < span:
        middle = (low + high) / 2
        low, high = middle - span / 2, middle + span / 2
    if not low < high:
        pad = abs(low) * 0.05 or 0.5
        low, high = low - pad, high + pad
    elif low == np.nextafter(high, -np.inf):  # nothing would lie between
        low, high = low - (high - low), high + (high - low)
    return max(low, -LARGEST_FLOAT64), min(high, LARGEST_FLOAT64)


def _drawn(
    block: Block, ordered: Block, windows: Sequence[Block], axes: Mapping[str, Limits]
) -> Iterator[dict[str, Any]]:
    """The payload of each run of a block."""
    series = (*bins_of(block), *windows, _quantiles(ordered, PERCENTILES))
    shares = {view: beyond_of(block, limits) for view, limits in axes.items()}
    for run in range(len(block)):
        yield {
            "n": block.shape[1],
            **{name: packed(values[run]) for name, values in zip(SERIES, series, strict=True)},
            "beyond": {
                view: packed_shares(of_view[run])
                for view, of_view in shares.items()
                if block.shape[1] >= FEW_ITERATIONS and of_view[run].any()
            },
        }


def bins_of(block: Block, phase: float = 1.0) -> tuple[Block, Block]:
    """Lowest and highest measurement of each bin.

    Parameters
    ----------
    block : ndarray of float, shape (n_runs, n_iterations)
    phase : float
        The width of the first bin, in bins, in (0, 2).

    Returns
    -------
    tuple of ndarray of float, each of shape (n_runs, n_bins)
    """
    starts = starts_of(block.shape[1], MAX_BINS, phase)
    return np.minimum.reduceat(block, starts, axis=1), np.maximum.reduceat(block, starts, axis=1)


def windows_of(block: Block, phase: float = 1.0) -> tuple[Block, Block, Block]:
    """Median, lower and upper quartile of each window; of a short run every iteration itself.

    Parameters
    ----------
    block : ndarray of float, shape (n_runs, n_iterations)
    phase : float
        The width of the first window, in windows, in (0, 2).

    Returns
    -------
    tuple of ndarray of float, each of shape (n_runs, n_windows)
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
    """Which share of each window lies above the limits, and which below.

    Parameters
    ----------
    block : ndarray of float, shape (n_runs, n_iterations)
    limits : (float, float)
    phase : float
        As of `windows_of`.

    Returns
    -------
    ndarray of float, shape (n_runs, 2, n_windows)
    """
    n = block.shape[1]
    starts = starts_of(n, n_windows(n), phase)
    outside = np.stack([block > limits[1], block < limits[0]], axis=1)
    shares: NDArray[np.float64] = np.add.reduceat(outside.astype(float), starts, axis=-1) / np.diff([*starts, n])
    return shares


def n_windows(n: int) -> int:
    """Into how many windows a run of n iterations is cut: of 50 iterations, or 60 longer ones; a short run into n."""
    return n if n < FEW_ITERATIONS else min(n // WINDOW, MAX_WINDOWS)


@lru_cache
def starts_of(n: int, n_pieces: int, phase: float = 1.0) -> NDArray[np.int64]:
    """Where each of at most `n_pieces` equal pieces of a run begins; pieces of one iteration have no phase."""
    if n <= n_pieces:
        return np.arange(n)
    return np.array([0, *np.floor((np.arange(n_pieces - 1) + phase) * (n / n_pieces))], dtype=np.int64)


def series_of(payload: Mapping[str, Any], run: Mapping[str, Any], name: str) -> Series:
    """One series of a run of a payload, in the item's unit; zeros are exact again, which a logarithmic axis needs."""
    if "scale" not in payload:
        return unpacked(run[name])
    offset, factor = payload["scale"]
    values = offset + factor * unpacked(run[name])
    return np.where(np.abs(values) < 1e-6 * factor, 0.0, values)


def unpacked(text: str) -> Series:
    """The numbers of one entry of a payload: what was packed, as exact as float32."""
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float64)


def packed(values: NDArray[np.float64]) -> str:
    """Numbers as one entry of a payload: base64 of little-endian float32."""
    drawable = np.clip(values, -LARGEST_FLOAT32, LARGEST_FLOAT32)
    return base64.b64encode(drawable.astype("<f4").tobytes()).decode("ascii")


def spikes_of(low: Series, high: Series, lower: Series, upper: Series) -> tuple[NDArray[np.int64], Series]:
    """The ends of bins that reach beyond the middle half of their window, which are drawn as dots.

    Parameters
    ----------
    low, high : ndarray of float, shape (n_bins,)
    lower, upper : ndarray of float, shape (n_windows,)

    Returns
    -------
    tuple of ndarray, each of shape (n_spikes,)
        The number of the bin, and the value.
    """
    bins = np.arange(len(low))
    window = ((bins + 0.5) * len(lower) / len(low)).astype(int)
    above, below = high > upper[window], low < lower[window]
    return np.concatenate([bins[above], bins[below]]), np.concatenate([high[above], low[below]])


def packed_shares(shares: NDArray[np.float64]) -> str:
    """Shares as one entry of a payload: base64 of a byte each, in 255ths; what is not 0 is at least one of them."""
    steps = np.clip(np.rint(shares * WHOLE), shares > 0, WHOLE)
    return base64.b64encode(steps.astype(np.uint8).tobytes()).decode("ascii")


def shares_of(payload: Mapping[str, Any], run: Mapping[str, Any], view: str) -> NDArray[np.float64]:
    """Which share of each window of a run of a payload lies beyond the limits of a view, shape (2, n_windows).

    Above them, and below. Of a short run, where each iteration is a window, the values themselves tell.
    """
    text, values = run["beyond"].get(view), series_of(payload, run, "medians")
    if run["n"] < FEW_ITERATIONS:
        low, high = payload["axes"][view]
        slack = FLOAT32_SLACK * (high - low)
        return np.stack([values > high + slack, values < low - slack]).astype(float)
    if text is None:
        return np.zeros((2, len(values)))
    steps: NDArray[np.float64] = np.frombuffer(base64.b64decode(text), dtype=np.uint8).reshape(2, -1) / WHOLE
    return steps
