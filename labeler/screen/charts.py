"""The runs of one item -> chart, for coordinators and files; reviewers see the review component instead."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from labeler.screen.binning import MEDIAN_WINDOW, bin_starts, unpacked

INK, BAND, PAPER = "#1b2a41", "#a9b3c1", "#ffffff"
COLUMNS = 5
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def runs(payload: Mapping[str, Any], *, rule: str = "core", width: int = 170, height: int = 110) -> Any:
    """All runs of one benchmark as small panels with the same axes (the paper's Figure 4).

    Each panel shows the range from the smallest to the largest measurement of every bin as a band, so that no spike is
    lost, and the medians of windows of 50 iterations as a line.

    Parameters
    ----------
    payload : mapping
        As `labeler.screen.binning.payload` makes it.
    rule : str
        "core", "pooled" or "full": the limits of the y axis. What lies outside is counted in the panel's title.
    width, height : int
        Of a panel, in pixels.

    Returns
    -------
    altair.ConcatChart
    """
    factor, unit = _unit(payload)
    low, high = (limit / factor for limit in payload["axes"][rule])
    x = alt.X("iteration:Q", title="iteration", scale=alt.Scale(domain=[0, payload["n"]], nice=False), axis=_AXIS)
    y = alt.Y("low:Q", title=unit, scale=alt.Scale(domain=[low, high], zero=False), axis=_AXIS)
    panels = []
    for number, run in enumerate(payload["runs"], start=1):
        outside = sum(run["outside"][rule])
        title = f"run {number}" + (f" ({outside} outside)" if outside else "")
        band, medians = _band(run, factor), _medians(run, factor)
        layers = (
            alt.Chart(band)
            .mark_area(color=BAND, stroke=BAND, strokeWidth=1, clip=True, interpolate="step-after")
            .encode(x=x, y=y, y2="high:Q"),
            alt.Chart(medians).mark_line(color=INK, clip=True, strokeWidth=1.5).encode(x=x, y=alt.Y("median:Q")),
        )
        panels.append(alt.layer(*layers).properties(title=title, width=width, height=height))
    chart = alt.concat(*panels, columns=COLUMNS, spacing=14).configure_title(fontSize=11, fontWeight="normal")
    return chart.configure_view(stroke="#d5dae2")


_AXIS = alt.Axis(grid=False, tickCount=4, titleFontWeight="normal", labelFlush=True)


def _unit(payload: Mapping[str, Any]) -> tuple[float, str]:
    """What to divide by, and the axis title: times in the unit that suits their median."""
    if payload["unit"] != "s":
        return 1.0, payload["unit"] or "measurement"
    size = abs(payload["median"])
    factor, unit = next(((f, name) for f, name in SCALES if size >= f), SCALES[-1])
    return factor, f"time per iteration ({unit})"


def _band(run: Mapping[str, Any], factor: float) -> pd.DataFrame:
    low, high = unpacked(run["low"]) / factor, unpacked(run["high"]) / factor
    # the last bin once more where the run ends: a step needs somewhere to go
    table = {"iteration": [*bin_starts(run["n"]), run["n"]], "low": [*low, low[-1]], "high": [*high, high[-1]]}
    return pd.DataFrame(table)


def _medians(run: Mapping[str, Any], factor: float) -> pd.DataFrame:
    medians = unpacked(run["medians"]) / factor
    if run["n"] < MEDIAN_WINDOW:  # every iteration itself
        return pd.DataFrame({"iteration": np.arange(run["n"]), "median": medians})
    starts = np.arange(len(medians)) * MEDIAN_WINDOW
    ends = np.minimum(starts + MEDIAN_WINDOW, run["n"])
    return pd.DataFrame({"iteration": (starts + ends) / 2, "median": medians})
