"""Draw the figures of the report on changes over versions."""

from collections.abc import Callable
from statistics import median

import altair as alt
import numpy as np
import pandas as pd

from analysis.document import shortened
from analysis.document.figures import INK, SOFT, Chart, heading, readable
from analysis.methods.trend._document import short_names
from analysis.methods.trend._survey import BenchmarkTrend, TrendSurvey

N_PANELS, N_COLUMNS = 24, 3
PANEL_WIDTH, PANEL_HEIGHT = 220, 70
LONGEST = 34


def charts(survey: TrendSurvey) -> dict[str, Chart]:
    """Draw each figure that has data; return a dict from the file name of the figure to the figure."""
    if not survey.benchmarks:
        return {}
    shown = survey.benchmarks[:N_PANELS]
    names = shortened([trend.name for trend in shown], LONGEST)
    called = short_names(survey)
    panels = [_panel(trend, names[trend.name], called) for trend in shown]
    more = (
        f"the first {len(shown)} of {len(survey.benchmarks)} benchmarks" if len(shown) < len(survey.benchmarks) else ""
    )
    title = heading("Histories", [f"detector: {survey.detector}; largest change for the worse first", more])
    grid = alt.concat(*panels, columns=N_COLUMNS, spacing={"row": 44, "column": 64}, bounds="flush", title=title)
    return {"trend-histories": grid.configure_view(stroke=None)}


def _panel(trend: BenchmarkTrend, name: str, called: Callable[[str], str]) -> Chart:
    factor, unit = readable(median(trend.values), trend.unit)
    rows = pd.DataFrame({
        "at": np.arange(trend.n_versions),
        "value": np.array(trend.values) * factor,
        "level": np.array(trend.levels) * factor,
    })  # fmt: skip
    first = sorted(trend.versions.index(change.version) for change in trend.changes)
    bounds = [0, *first, trend.n_versions]
    levels = pd.DataFrame({
        "at": np.array(bounds[:-1]) - 0.5,
        "end": np.array(bounds[1:]) - 0.5,
        "level": [trend.levels[start] * factor for start in bounds[:-1]],
        "last": [trend.levels[end - 1] * factor for end in bounds[1:]],  # another value if the history drifts
    })  # fmt: skip
    ends = {"domain": [-0.5, trend.n_versions - 0.5], "nice": False}
    x = alt.X("at:Q", title=None, scale=ends, axis={"labels": False, "ticks": False, "grid": False})
    y = {"zero": False}
    axis = {"tickCount": 3}
    layers: list[alt.Chart] = [
        alt.Chart(rows).mark_point(size=14, color=SOFT).encode(x=x, y=alt.Y("value:Q", title=unit, scale=y, axis=axis)),
        alt.Chart(levels)
        .mark_rule(color=INK, strokeWidth=2)
        .encode(x=x, x2=alt.X2("end:Q"), y=alt.Y("level:Q", scale=y), y2=alt.Y2("last:Q")),
    ]
    if first:
        marks = pd.DataFrame({"at": np.array(first) - 0.5})
        layers.append(alt.Chart(marks).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x))
    below = ", ".join(
        f"{'from 0' if change.change is None else f'{100 * change.change:+.3g} %'} at {called(change.version)}"
        for change in trend.changes[:2]
    )
    return alt.layer(*layers).properties(
        width=PANEL_WIDTH, height=PANEL_HEIGHT, title=heading(name, below.replace("-", "−") or "no change", fontSize=11)
    )
