"""The runs of one item -> what the screen draws: bins that keep every spike, and the limits of the axes.

Computed once, at import, and stored: raise `VERSION` whenever the same runs would be drawn differently.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeler.model import Series

VERSION = 2
AXIS_RULES = ("core", "pooled", "full")
MAX_BINS = 300
MEDIAN_WINDOW = 50
FEW_ITERATIONS = 50  # shorter runs are drawn as points
PERCENTILES = np.array([0, 1, 2, 3, 4, *np.arange(5, 96, 2.5), 96, 97, 98, 99, 100])

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)

MEDIAN = np.array([50.0])

Limits = tuple[float, float]
Block = NDArray[np.float64]


def payload(runs: Sequence[Series], unit: str, *, min_span: float = 0.10) -> dict[str, Any]:
    """Everything the screen needs to draw one item, and nothing that tells what it is.

    Parameters
    ----------
    runs : sequence of ndarray of float, each of shape (n_iterations,)
        Lengths may differ; all runs share one x axis, as long as the longest.
    unit : str
        "s" for times; the screen chooses ns, µs, ms.
    min_span : float
        The `core` axis spans at least this share of the pooled median.

    Returns
    -------
    dict
        Ready for JSON. `runs`: per run `n`, and as base64 of little-endian float32 `low` and `high` of at most 300
        bins, `medians` of windows of 50 iterations, and `quantiles` at `percentiles`. `axes`: rule -> limits, with
        `outside`: rule -> per run how many measurements lie above and below. `median` of all runs together.
        Floats and not uint16 steps of the full range: a single outlier leaves these hardly a step for the rest (fewer
        than 200 for the core axis in 28 of 203 real benchmarks).
    """
    blocks = blocks_of(runs)
    ordered = [np.sort(block) for block in blocks]
    pooled = _pooled(ordered)
    axes = _limits(ordered, pooled, min_span)
    return {
        "version": VERSION,
        "min_span": min_span,
        "unit": unit,
        "n": max(len(run) for run in runs),
        "median": _at(pooled, 50),
        "percentiles": PERCENTILES.tolist(),
        "axes": {rule: list(limits) for rule, limits in axes.items()},
        "runs": [run for block, in_order in zip(blocks, ordered, strict=True) for run in _drawn(block, in_order, axes)],
    }


def axis_limits(runs: Sequence[Series], *, min_span: float = 0.10) -> dict[str, Limits]:
    """The y limits of each axis rule.

    `core`: from the lowest 1st percentile of a run to the highest 95th, so that no single deviating run can vanish,
    and at least `min_span` of the pooled median wide, so that noise is not blown up. `pooled`: 0.5 to 99.5 % of all
    measurements. `full`: all of them.

    Parameters
    ----------
    runs : sequence of ndarray of float
    min_span : float

    Returns
    -------
    dict of str to (float, float)
        Low < high, also for runs without any variation.
    """
    ordered = [np.sort(block) for block in blocks_of(runs)]
    return _limits(ordered, _pooled(ordered), min_span)


def blocks_of(runs: Sequence[Series]) -> list[Block]:
    """All runs at once, shape (n_runs, n_iterations), where they are equally long, which is fast; else one by one."""
    if len({len(run) for run in runs}) == 1:
        return [np.stack(runs)]
    return [run[np.newaxis] for run in runs]


def _pooled(blocks: Sequence[Block]) -> Series:
    return np.sort(np.concatenate([block.ravel() for block in blocks]))


def _limits(ordered: Sequence[Block], pooled: Series, min_span: float) -> dict[str, Limits]:
    core = (min(_core_end(block, 1).min() for block in ordered), max(_core_end(block, 95).max() for block in ordered))
    core = (float(core[0]), float(core[1]))
    return {
        "core": _at_least(core, abs(_at(pooled, 50)) * min_span),
        "pooled": _at_least((_at(pooled, 0.5), _at(pooled, 99.5)), 0.0),
        "full": _at_least((float(pooled[0]), float(pooled[-1])), 0.0),
    }


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
    """The limits widened about their middle to the span; never of zero width."""
    low, high = limits
    if high - low < span:
        middle = (low + high) / 2
        low, high = middle - span / 2, middle + span / 2
    if high <= low:
        pad = abs(low) * 0.05 or 0.5
        low, high = low - pad, high + pad
    return low, high


def _drawn(block: Block, ordered: Block, axes: dict[str, Limits]) -> Iterator[dict[str, Any]]:
    """The payload of each run of a block."""
    low, high, medians = bins_of(block)
    quantiles = _quantiles(ordered, PERCENTILES)
    outside = {
        rule: [(block > top).sum(axis=1).tolist(), (block < bottom).sum(axis=1).tolist()]
        for rule, (bottom, top) in axes.items()
    }
    for run in range(len(block)):
        yield {
            "n": block.shape[1],
            "low": packed(low[run]),
            "high": packed(high[run]),
            "medians": packed(medians[run]),
            "quantiles": packed(quantiles[run]),
            "outside": {rule: [above[run], below[run]] for rule, (above, below) in outside.items()},
        }


def bins_of(block: Block, phase: float = 1.0) -> tuple[Block, Block, Block]:
    """Lowest and highest measurement of each bin, and the medians of windows.

    Parameters
    ----------
    block : ndarray of float, shape (n_runs, n_iterations)
    phase : float
        The width of the first bin and of the first window, in bins and windows, in (0, 2).

    Returns
    -------
    tuple of ndarray of float
        The first two of shape (n_runs, n_bins), the third of shape (n_runs, n_windows).
    """
    starts = bin_starts(block.shape[1], phase)
    low, high = np.minimum.reduceat(block, starts, axis=1), np.maximum.reduceat(block, starts, axis=1)
    return low, high, _window_medians(block, round(phase * MEDIAN_WINDOW))


@lru_cache
def bin_starts(n: int, phase: float = 1.0) -> NDArray[np.int64]:
    """Where each of at most 300 bins of a run of n iterations begins; bins of one iteration have no phase."""
    if n <= MAX_BINS:
        return np.arange(n)
    return np.array([0, *np.floor((np.arange(MAX_BINS - 1) + phase) * (n / MAX_BINS))], dtype=np.int64)


def _window_medians(block: Block, first: int) -> Block:
    """The median of each window of 50 iterations; the first and the last may be of another length.

    Of short runs every iteration itself.
    """
    k, n = block.shape
    if n < FEW_ITERATIONS:
        return block
    n_whole = max(n - first, 0) // MEDIAN_WINDOW
    end = first + n_whole * MEDIAN_WINDOW
    windows = np.sort(block[:, first:end].reshape(k, n_whole, MEDIAN_WINDOW))
    whole = _quantiles(windows, MEDIAN)[..., 0]
    ends = [_quantiles(np.sort(part), MEDIAN) for part in (block[:, :first], block[:, end:]) if part.shape[1]]
    return np.concatenate([ends[0], whole, *ends[1:]], axis=1)


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
