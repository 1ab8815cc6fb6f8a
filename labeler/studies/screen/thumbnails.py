"""Small static pictures of the runs of one item, for lists, drawn by the same rules as on the labelling screen."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeler.studies.screen.binning import series_of, shares_of, spikes_of

INK, BAND, DOT, FRAME = "#12233d", "#9dbcd9", "#5f86ab", "#aab3c0"
LANE, LANE_EDGE, BEYOND = "#f1f2f4", "#c9ced6", "#b35806"
# in <img>, the picture follows the theme of the system; elsewhere, the page decides
DARK = (
    f'<style>@media (prefers-color-scheme: dark) {{ [stroke="{INK}"] {{ stroke: #e6eaf0 }} '
    f'[fill="{BAND}"] {{ fill: #3f648a }} [stroke="{FRAME}"] {{ stroke: #4b5563 }} '
    f'[fill="{LANE}"] {{ fill: #1c222b; stroke: #333c48 }} }}</style>'
)
GAP = 3
SHEET_GAP, TITLE = 14, 18  # pixels between items; height of their names
WIDE = 100  # panels of at least this width show dots
LANE_SHARE, LEAST_LANE, MOST_LANE = 0.06, 2, 12  # share of the panel height; smallest and largest height in pixels


def svg(
    payload: Mapping[str, Any],
    *,
    label: str,
    panel: tuple[int, int] = (34, 26),
) -> str:
    """Draw all runs as small panels with one y axis, as on the labelling screen but without numbers.

    Windows that do not fit into a panel (width and height in pixels) are joined.
    """
    width, height = panel
    runs, view = payload["runs"], payload["rule"]
    columns, rows = _grid(len(runs))
    shapes = "".join(
        f'<g transform="translate({(i % columns) * (width + GAP)} {(i // columns) * (height + GAP)})">'
        f"{_panel(payload, run, view, width, height)}</g>"
        for i, run in enumerate(runs)
    )
    full = (columns * (width + GAP) - GAP + 1, rows * (height + GAP) - GAP + 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" '
        f'width="{full[0]}" height="{full[1]}" viewBox="-0.5 -0.5 {full[0]} {full[1]}">'
        f"{DARK}{shapes}</svg>"
    )


def always_light(picture: str) -> str:
    """Return a picture that does not follow the theme, for use inside a page, to which its rules would apply."""
    return picture.replace(DARK, "")


def stacked(stills: Sequence[str], *, label: str, gap: int) -> str:
    """Return one picture with several small pictures below each other."""
    shapes, y = "", 0
    for still in stills:
        shapes += f'<g transform="translate(0 {y})">{always_light(still)}</g>'
        y += _size(still)[1] + gap
    full = (max(_size(still)[0] for still in stills), y - gap)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" '
        f'width="{full[0]}" height="{full[1]}" viewBox="0 0 {full[0]} {full[1]}">{DARK}{shapes}</svg>'
    )


def sheet(stills: Sequence[tuple[str, str]]) -> str:
    """Return one SVG picture with the small pictures of several items, in two columns, each with its name above."""
    width = max((_size(still)[0] for _name, still in stills), default=0) + GAP - 1 + SHEET_GAP
    height = max((_size(still)[1] for _name, still in stills), default=0) + GAP - 1 + TITLE + SHEET_GAP
    shapes = []
    for i, (name, still) in enumerate(stills):
        x, y = i % 2 * width, i // 2 * height
        shapes.append(
            f'<text x="{x}" y="{y + TITLE - 5}" font-size="11" font-family="sans-serif" fill="{INK}">'
            f"{escape(name)}</text>"
            f'<g transform="translate({x} {y + TITLE})">{always_light(still)}</g>'
        )
    full = (2 * width - SHEET_GAP, -(-len(stills) // 2) * height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full[0]}" height="{full[1]}" '
        f'viewBox="0 0 {full[0]} {full[1]}">{"".join(shapes)}</svg>'
    )


def _size(still: str) -> tuple[int, int]:
    """Return the width and the height of a picture in pixels."""
    found = re.search(r' width="(\d+)" height="(\d+)"', still)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _grid(n_runs: int) -> tuple[int, int]:
    """Return the number of columns and the number of rows for the panels of one item."""
    columns = min(5, n_runs) if n_runs != 4 else 4
    return columns, -(-n_runs // columns)


def _panel(payload: Mapping[str, Any], run: Mapping[str, Any], view: str, width: int, height: int) -> str:
    lane = min(max(round(height * LANE_SHARE), min(LEAST_LANE, height // 2)), MOST_LANE)
    limits, end = payload["axes"][view], width * run["n"] / payload["n"]
    names = ("low", "high", "medians", "lower", "upper")
    low, high, medians, lower, upper = (series_of(payload, run, name) for name in names)
    shares = shares_of(payload, run, view)
    n_fitting = max(int(end), 1)

    def heights(values: NDArray[np.float64]) -> list[float]:
        return _heights(values, limits, height, lane)

    tops, bottoms = heights(_fewer(upper, n_fitting, np.maximum)), heights(_fewer(lower, n_fitting, np.minimum))
    middles = heights(_averaged(medians, n_fitting))
    line = [((i + 0.5) * end / len(middles), y) for i, y in enumerate(middles)]
    lanes = f"M0 0h{width}v{lane}h{-width}zM0 {height - lane}h{width}v{lane}h{-width}z"
    ends = [(0.0, line[0][1]), *line, (end, line[-1][1])]
    drawn = [
        f'<path d="{lanes}" fill="{LANE}" stroke="{LANE_EDGE}" stroke-width="0.5"/>',
        f'<path d="{_path([*_steps(tops, end), *reversed(_steps(bottoms, end))])}z" fill="{BAND}"/>',
        f'<path d="{_path(ends)}" fill="none" stroke="{INK}" stroke-width="1.3"/>',
        *_bars(shares, end, height, lane),
        f'<rect width="{width}" height="{height}" fill="none" stroke="{FRAME}"/>',
    ]
    if width >= WIDE:
        at, values = spikes_of(low, high, lower, upper)
        on_axis = (values >= limits[0]) & (values <= limits[1])
        dots = zip(((at[on_axis] + 0.5) * end / len(low)).tolist(), heights(values[on_axis]), strict=True)
        marks = "".join(_path([(x, y), (x + 1, y)]) for x, y in dots)
        drawn.insert(1, f'<path d="{marks}" stroke="{DOT}" stroke-opacity="0.6"/>')
    return "".join(drawn)


def _bars(shares: NDArray[np.float64], end: float, height: int, lane: int) -> list[str]:
    """Return SVG paths for the bars in the lanes, which show the share of each window beyond the axis.

    If several windows share a pixel, the bar shows the highest of their shares.
    """
    bars = []
    for is_below, side in enumerate(shares):
        fewer = _fewer(side, max(int(end), 1), np.maximum)
        step, base = end / len(fewer), height - lane if is_below else lane
        bars_at, marks = np.flatnonzero(fewer), ""
        for at in np.split(bars_at, np.flatnonzero(np.diff(bars_at) > 1) + 1) if len(bars_at) else ():
            sizes = [max(size, min(1.5, lane)) for size in (fewer[at] * lane).tolist()]
            ends = [base + size if is_below else base - size for size in sizes]
            left, right = int(at[0]) * step, (int(at[-1]) + 1) * step
            marks += f"{_path([(left, base), *_steps(ends, right, left), (right, base)])}z"
        if marks:
            bars.append(f'<path d="{marks}" fill="{BEYOND}"/>')
    return bars


def _heights(values: NDArray[np.float64], limits: Sequence[float], height: int, lane: int) -> list[float]:
    """Return the y positions of values in a panel; values beyond the axis are at the edge of the panel."""
    low, high = limits
    with np.errstate(over="ignore"):  # an infinite distance also counts as outside
        shares = (values - low) / (high - low)
        places = lane + (1 - shares) * (height - 2 * lane)
    return list(np.clip(places, 0, height).tolist())


def _fewer(values: NDArray[np.float64], n_points: int, join: np.ufunc) -> NDArray[np.float64]:
    """Join neighbouring values to at most `n_points` values, and keep the extreme values."""
    if len(values) <= n_points or n_points < 1:
        return values
    starts = np.linspace(0, len(values), n_points, endpoint=False).astype(int)
    joined: NDArray[np.float64] = join.reduceat(values, starts)
    return joined


def _averaged(values: NDArray[np.float64], n_points: int) -> NDArray[np.float64]:
    """Average neighbouring values to at most `n_points` values, because the eye cannot distinguish more points."""
    if len(values) <= n_points:
        return values
    starts = np.linspace(0, len(values), n_points, endpoint=False).astype(int)
    means: NDArray[np.float64] = np.add.reduceat(values, starts) / np.diff([*starts, len(values)])
    return means


def _steps(heights: Sequence[float], end: float, begin: float = 0.0) -> list[tuple[float, float]]:
    """Return the corner points of a line with one step per height, from x = `begin` to `end`."""
    step, first = (end - begin) / len(heights), 0
    corners = []
    for i, y in enumerate(heights):
        if i + 1 == len(heights) or round(10 * y) != round(10 * heights[i + 1]):
            corners += [(begin + first * step, y), (begin + (i + 1) * step, y)]
            first = i + 1
    return corners


def _path(points: Iterable[tuple[float, float]]) -> str:
    """Return the commands of a line through the points, in steps of a tenth of a pixel, as short as possible."""
    places = [(round(10 * x), round(10 * y)) for x, y in points]
    text = f"M{_tenths(places[0][0])} {_tenths(places[0][1])}"
    for (x, y), (next_x, next_y) in pairwise(places):
        right, down = next_x - x, next_y - y
        if right and down:
            text += f"l{_tenths(right)}{'' if down < 0 else ' '}{_tenths(down)}"
        elif right or down:
            text += f"h{_tenths(right)}" if right else f"v{_tenths(down)}"
    return text


def _tenths(number: int) -> str:
    """Return a number of tenths as a decimal number, such as 12, -.5 or 3.1."""
    whole, tenth = divmod(abs(number), 10)
    return f"{'-' if number < 0 else ''}{whole or '' if tenth else whole}{f'.{tenth}' if tenth else ''}"
