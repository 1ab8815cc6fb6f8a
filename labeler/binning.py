"""The runs of one item -> what the screen draws: bins that keep every spike, and the limits of the axes.

Computed once, at import, and stored: raise `VERSION` whenever the same runs would be drawn differently.
"""

import base64
from collections.abc import Sequence
from typing import Any, Literal

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
    pooled = np.concatenate(list(runs))
    median = float(np.median(pooled))
    axes = axis_limits(runs, min_span=min_span)
    return {
        "version": VERSION,
        "unit": unit,
        "n": max(len(run) for run in runs),
        "median": median,
        "percentiles": PERCENTILES.tolist(),
        "axes": {rule: list(limits) for rule, limits in axes.items()},
        "runs": [_run_payload(run, axes) for run in runs],
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
    pooled = np.concatenate(list(runs))
    core = (min(_percentile(run, 1, "lower") for run in runs), max(_percentile(run, 95, "higher") for run in runs))
    wide = abs(float(np.median(pooled))) * min_span
    return {
        "core": _at_least(core, wide),
        "pooled": _at_least((np.percentile(pooled, 0.5), np.percentile(pooled, 99.5)), 0.0),
        "full": _at_least((pooled.min(), pooled.max()), 0.0),
    }


def _percentile(run: Series, percent: float, if_short: Literal["lower", "higher"]) -> float:
    """Interpolated; in a short run a measurement itself, so that the axis never ends between all of them."""
    return float(np.percentile(run, percent, method="linear" if len(run) >= FEW_ITERATIONS else if_short))


def _at_least(limits: tuple[Any, Any], span: float) -> Limits:
    """The limits widened about their middle to the span; never of zero width."""
    low, high = float(limits[0]), float(limits[1])
    if high - low < span:
        middle = (low + high) / 2
        low, high = middle - span / 2, middle + span / 2
    if high <= low:
        pad = abs(low) * 0.05 or 0.5
        low, high = low - pad, high + pad
    return low, high


def _run_payload(run: Series, axes: dict[str, Limits]) -> dict[str, Any]:
    starts = np.linspace(0, len(run), min(MAX_BINS, len(run)), endpoint=False).astype(int)
    windows = np.arange(0, len(run), MEDIAN_WINDOW) if len(run) >= FEW_ITERATIONS else np.arange(len(run))
    return {
        "n": len(run),
        "low": _packed(np.minimum.reduceat(run, starts)),
        "high": _packed(np.maximum.reduceat(run, starts)),
        "medians": _packed(np.array([np.median(part) for part in np.split(run, windows[1:])])),
        "quantiles": _packed(np.percentile(run, PERCENTILES)),
        "outside": {rule: [int((run > high).sum()), int((run < low).sum())] for rule, (low, high) in axes.items()},
    }


def _packed(values: NDArray[np.float64]) -> str:
    drawable = np.clip(values, -LARGEST_FLOAT32, LARGEST_FLOAT32)
    return base64.b64encode(drawable.astype("<f4").tobytes()).decode("ascii")
