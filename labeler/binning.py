"""The runs of one item -> what the screen draws: bins that keep every spike, and the limits of the axes.

Computed once, at import, and stored: raise `VERSION` whenever the same runs would be drawn differently.
"""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeler.model import Series

VERSION = 1
MAX_BINS = 300
MEDIAN_WINDOW = 50
FEW_ITERATIONS = 50  # shorter runs are drawn as points
PERCENTILES = np.array([0, 1, 2, 3, 4, *np.arange(5, 96, 2.5), 96, 97, 98, 99, 100])

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)

Limits = tuple[float, float]


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
    """
    ordered = [np.sort(run) for run in runs]
    pooled = np.sort(np.concatenate(ordered))
    axes = _limits(ordered, pooled, min_span)
    return {
        "version": VERSION,
        "unit": unit,
        "n": max(len(run) for run in runs),
        "median": _at(pooled, 50),
        "percentiles": PERCENTILES.tolist(),
        "axes": {rule: list(limits) for rule, limits in axes.items()},
        "runs": [_run_payload(run, in_order, axes) for run, in_order in zip(runs, ordered, strict=True)],
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
    ordered = [np.sort(run) for run in runs]
    return _limits(ordered, np.sort(np.concatenate(ordered)), min_span)


def _limits(ordered: Sequence[Series], pooled: Series, min_span: float) -> dict[str, Limits]:
    core = (min(_core_end(run, 1) for run in ordered), max(_core_end(run, 95) for run in ordered))
    return {
        "core": _at_least(core, abs(_at(pooled, 50)) * min_span),
        "pooled": _at_least((_at(pooled, 0.5), _at(pooled, 99.5)), 0.0),
        "full": _at_least((float(pooled[0]), float(pooled[-1])), 0.0),
    }


def _core_end(ordered: Series, percent: float) -> float:
    """Interpolated; in a short run the measurement beyond, so that the axis never ends between all of them."""
    if len(ordered) >= FEW_ITERATIONS:
        return _at(ordered, percent)
    at = percent / 100 * (len(ordered) - 1)
    return float(ordered[int(np.floor(at) if percent < 50 else np.ceil(at))])


def _at(ordered: Series, percent: float) -> float:
    return float(_quantiles(ordered, np.array([percent]))[0])


def _quantiles(ordered: Series, percents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Percentiles of values in order, interpolated linearly, as numpy has them but without sorting again."""
    at = percents / 100 * (len(ordered) - 1)
    below = np.floor(at).astype(int)
    above = np.minimum(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    weight = at - below
    values: NDArray[np.float64] = low * (1 - weight) + high * weight  # low + (high - low) * weight could overflow
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


def _run_payload(run: Series, ordered: Series, axes: dict[str, Limits]) -> dict[str, Any]:
    starts = np.linspace(0, len(run), min(MAX_BINS, len(run)), endpoint=False).astype(int)
    return {
        "n": len(run),
        "low": _packed(np.minimum.reduceat(run, starts)),
        "high": _packed(np.maximum.reduceat(run, starts)),
        "medians": _packed(_window_medians(run)),
        "quantiles": _packed(_quantiles(ordered, PERCENTILES)),
        "outside": {
            rule: [
                len(run) - int(np.searchsorted(ordered, high, side="right")),
                int(np.searchsorted(ordered, low, side="left")),
            ]
            for rule, (low, high) in axes.items()
        },
    }


def _window_medians(run: Series) -> NDArray[np.float64]:
    """The median of each window of 50 iterations, the last may be shorter; of a short run every iteration itself."""
    if len(run) < FEW_ITERATIONS:
        return run
    n_whole = len(run) // MEDIAN_WINDOW
    whole: NDArray[np.float64] = np.median(run[: n_whole * MEDIAN_WINDOW].reshape(n_whole, MEDIAN_WINDOW), axis=1)
    rest = run[n_whole * MEDIAN_WINDOW :]
    return np.append(whole, np.median(rest)) if len(rest) else whole


def _packed(values: NDArray[np.float64]) -> str:
    drawable = np.clip(values, -LARGEST_FLOAT32, LARGEST_FLOAT32)
    return base64.b64encode(drawable.astype("<f4").tobytes()).decode("ascii")
