"""The runs of one item -> a small still picture, for lists and the guide; the labelling screen draws its own."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeler.screen.binning import MAX_BINS, series_of

INK, BAND, FRAME = "#12233d", "#9dbcd9", "#aab3c0"
GAP = 3


def svg(payload: Mapping[str, Any], *, rule: str, label: str, panel: tuple[int, int] = (34, 26)) -> str:
    """All runs as small panels with one y axis, as on the labelling screen but without numbers.

    Parameters
    ----------
    payload : mapping
        As `labeler.screen.binning.payload` makes it.
    rule : str
        "core", "pooled" or "full": the limits of the y axis.
    label : str
        The picture in words, for those who do not see it.
    panel : tuple of int
        Width and height of a panel, in pixels. No more bins are drawn than fit.

    Returns
    -------
    str
        An SVG document of its own.
    """
    width, height = panel
    runs = payload["runs"]
    columns = min(5, len(runs)) if len(runs) != 4 else 4
    rows = -(-len(runs) // columns)
    limits = payload["axes"][rule]
    shapes = "".join(
        f'<g transform="translate({(i % columns) * (width + GAP)} {(i // columns) * (height + GAP)})">'
        f"{_panel(payload, run, limits, width, height)}</g>"
        for i, run in enumerate(runs)
    )
    full = (columns * (width + GAP) - GAP + 1, rows * (height + GAP) - GAP + 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" '
        f'width="{full[0]}" height="{full[1]}" viewBox="-0.5 -0.5 {full[0]} {full[1]}">{shapes}</svg>'
    )


def _panel(payload: Mapping[str, Any], run: Mapping[str, Any], limits: Sequence[float], width: int, height: int) -> str:
    low, high, medians = (series_of(payload, run, name) for name in ("low", "high", "medians"))
    end = width * run["n"] / payload["n"]
    low, high = _fewer(low, int(end), np.minimum), _fewer(high, int(end), np.maximum)
    step = end / len(low)
    tops = [(i * step, y) for i, y in enumerate(_heights(high, limits, height))]
    bottoms = [(i * step, y) for i, y in enumerate(_heights(low, limits, height))]
    band = _path([*tops, (end, tops[-1][1]), (end, bottoms[-1][1]), *reversed(bottoms)])
    if run["n"] <= MAX_BINS:  # each bin is one iteration: show these, medians of 50 would be too few
        medians = series_of(payload, run, "low")
    medians = _averaged(medians, max(int(end), 1))
    middle = (np.arange(len(medians)) + 0.5) * end / len(medians)
    line = _path(list(zip(middle.tolist(), _heights(medians, limits, height), strict=True)))
    return (
        f'<path d="{band}Z" fill="{BAND}"/><path d="{line}" fill="none" stroke="{INK}" stroke-width="1.3"/>'
        f'<rect width="{width}" height="{height}" fill="none" stroke="{FRAME}"/>'
    )


def _heights(values: NDArray[np.float64], limits: Sequence[float], height: int) -> list[float]:
    low, high = limits
    with np.errstate(over="ignore"):  # infinitely far outside is outside
        shares = np.clip((values - low) / (high - low), 0, 1)
    return list(((1 - shares) * height).tolist())


def _fewer(values: NDArray[np.float64], n_points: int, join: np.ufunc) -> NDArray[np.float64]:
    """At most `n_points` values, neighbours joined so that no spike is lost."""
    if len(values) <= n_points or n_points < 1:
        return values
    starts = np.linspace(0, len(values), n_points, endpoint=False).astype(int)
    joined: NDArray[np.float64] = join.reduceat(values, starts)
    return joined


def _averaged(values: NDArray[np.float64], n_points: int) -> NDArray[np.float64]:
    """At most `n_points` values: means of neighbours. No more can be told apart."""
    if len(values) <= n_points:
        return values
    starts = np.linspace(0, len(values), n_points, endpoint=False).astype(int)
    means: NDArray[np.float64] = np.add.reduceat(values, starts) / np.diff([*starts, len(values)])
    return means


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
