"""Charts of the runs of one item for files and reports, drawn by the same rules as on the labelling screen."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labeler.studies.screen.binning import MAX_BINS, series_of, shares_of, spikes_of, starts_of

INK, BAND, DOT, SOFT, PAPER = "#12233d", "#9dbcd9", "#5f86ab", "#5b6677", "#ffffff"
LANE, GRID, BEYOND = "#f1f2f4", "#e4e8ee", "#b35806"
LANE_SHARE, LEAST_BAR = 0.07, 1 / 8  # lane height as a share of the axis; minimum bar height as a share of the lane
COLUMNS = 5
PANEL, WIDE = (170, 110), (640, 290)  # pixels of the picture of a run, and of a series
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def runs(payload: Mapping[str, Any], *, rule: str | None = None) -> Any:
    """Return a chart of all runs of one benchmark, as small panels with the same axes (Figure 4 of the paper).

    Each panel shows the middle half of each window as a band and its median as a line. Dots are the ends of bins that
    lie outside the band. Bars in the grey lanes at the top and the bottom show the share of each window that is beyond
    the axis. `rule` is the view that gives the limits of the y axis, by default the main axis; the title of each panel
    names the share of the run outside them.
    """
    view = rule or payload["rule"]
    factor, unit = _unit(payload)
    low, high = (limit / factor for limit in payload["axes"][view])
    lane = (high - low) * LANE_SHARE
    x = alt.X("iteration:Q", title="iteration", scale={"domain": [0, payload["n"]], "nice": False}, axis=_AXIS)
    scale = {"domain": [low - lane, high + lane], "zero": False, "nice": False}
    y = alt.Y("low:Q", title=unit, scale=scale, axis=_AXIS)
    paper = pd.DataFrame({"iteration": [0, 0], "end": [payload["n"]] * 2, "low": [high, low - lane]})
    paper["high"] = paper["low"] + lane
    pooled = pd.DataFrame({"low": [payload["median"] / factor]})
    panels = []
    for number, run in enumerate(payload["runs"], start=1):
        tables = {name: series_of(payload, run, name) / factor for name in ("low", "high", "medians", "lower", "upper")}
        shares = shares_of(payload, run, view)
        layers = (
            alt.Chart(paper).mark_rect(color=LANE).encode(x=x, x2=alt.X2("end:Q"), y=y, y2=alt.Y2("high:Q")),
            alt.Chart(_dots(tables, low, high, run["n"])).mark_circle(color=DOT, opacity=0.6, size=3).encode(x=x, y=y),
            alt.Chart(_band(tables, run["n"]))
            .mark_area(color=BAND, clip=True, interpolate="step-after")
            .encode(x=x, y=y, y2=alt.Y2("high:Q")),
            alt.Chart(pooled).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(y=y),
            alt.Chart(_medians(tables, run["n"]))
            .mark_line(color=INK, clip=True, strokeWidth=1.5)
            .encode(x=x, y=alt.Y("median:Q")),
            alt.Chart(_bars(shares, low, high, lane, run["n"]))
            .mark_rect(color=BEYOND)
            .encode(x=x, x2=alt.X2("end:Q"), y=y, y2=alt.Y2("high:Q")),
        )
        outside = " ".join(
            f"{mark} {_percent(share)}" for mark, share in zip("▲▼", shares.mean(axis=1), strict=True) if share
        )
        title = f"run {number}" + (f" ({outside})" if outside else "")
        panels.append(alt.layer(*layers).properties(title=title, width=PANEL[0], height=PANEL[1]))
    chart = alt.concat(*panels, columns=COLUMNS, spacing=14).configure_title(fontSize=11, fontWeight="normal")
    return chart.configure_view(stroke="#d5dae2")


def points(
    payload: Mapping[str, Any],
    values: NDArray[np.float64],
    at: NDArray[Any],
    middles: NDArray[np.float64],
    *,
    rule: str | None = None,
) -> Any:
    """Return a chart of one series: a dot for each value at its position, and a line through the middles."""
    factor, unit = _unit(payload)
    low, high = (limit / factor for limit in payload["axes"][rule or payload["rule"]])
    n = payload["n"]
    scale = {"domain": [low, high], "zero": False, "nice": False}
    x = alt.X("position:Q", title="position", scale={"domain": [0, n], "nice": False}, axis=_AXIS)
    y = alt.Y("value:Q", title=unit, scale=scale, axis=_AXIS)
    dots = pd.DataFrame({"position": at + 0.5, "value": values / factor})
    line = pd.DataFrame({"position": (np.arange(len(middles)) + 0.5) * n / len(middles), "value": middles / factor})
    inside = dots[dots["value"].between(low, high)]
    return (
        alt.layer(
            alt.Chart(inside).mark_circle(color=DOT, opacity=0.6, size=8).encode(x=x, y=y),
            alt.Chart(line).mark_line(color=INK, clip=True, strokeWidth=1.5).encode(x=x, y=y),
        )
        .properties(width=WIDE[0], height=WIDE[1])
        .configure_view(stroke="#d5dae2")
    )


_AXIS = {"grid": False, "tickCount": 4, "titleFontWeight": "normal", "labelFlush": True}


def _unit(payload: Mapping[str, Any]) -> tuple[float, str]:
    """Return the number by which values are divided for display, and the axis title with the unit.

    Times are shown in the unit that suits their median.
    """
    if payload["unit"] != "s":
        return 1.0, payload["unit"] or "measurement"
    size = abs(payload["median"])
    factor, unit = next(((f, name) for f, name in SCALES if size >= f), SCALES[-1])
    return factor, f"time per iteration ({unit})"


def _percent(share: float) -> str:
    return "<1 %" if share < 0.01 else f"{share:.0%}".replace("%", " %")


def _band(series: Mapping[str, NDArray[np.float64]], n: int) -> pd.DataFrame:
    lower, upper = series["lower"], series["upper"]
    edges = [*starts_of(n, len(lower)), n]
    # repeat the last window at the end of the run, so that its step has a width
    return pd.DataFrame({"iteration": edges, "low": [*lower, lower[-1]], "high": [*upper, upper[-1]]})


def _dots(series: Mapping[str, NDArray[np.float64]], low: float, high: float, n: int) -> pd.DataFrame:
    at, values = spikes_of(series["low"], series["high"], series["lower"], series["upper"])
    edges = np.array([*starts_of(n, MAX_BINS), n])
    on_axis = (values >= low) & (values <= high)
    middles = (edges[:-1] + edges[1:]) / 2 if n > MAX_BINS else edges[:-1]
    return pd.DataFrame({"iteration": middles[at[on_axis]], "low": values[on_axis]})


def _medians(series: Mapping[str, NDArray[np.float64]], n: int) -> pd.DataFrame:
    edges = np.array([*starts_of(n, len(series["medians"])), n])
    middles = (edges[:-1] + edges[1:]) / 2 if len(series["medians"]) < n else edges[:-1]
    if len(middles) == 1 and n > 1:  # a line needs two points
        return pd.DataFrame({"iteration": [0, n], "median": np.repeat(series["medians"], 2)})
    return pd.DataFrame({"iteration": middles, "median": series["medians"]})


def _bars(shares: NDArray[np.float64], low: float, high: float, lane: float, n: int) -> pd.DataFrame:
    edges = np.array([*starts_of(n, shares.shape[1]), n])
    tables = []
    for side, at, sign in ((shares[0], high, 1), (shares[1], low, -1)):
        places = np.flatnonzero(side)
        heights = np.maximum(side[places], LEAST_BAR) * lane
        tables.append(
            pd.DataFrame({"iteration": edges[places], "end": edges[places + 1], "low": at, "high": at + sign * heights})
        )
    return pd.concat(tables)
