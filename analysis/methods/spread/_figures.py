"""Draw the figures of the report on spread."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from scipy import stats

from analysis.document import shortened
from analysis.document.figures import INK, PAPER, SOFT, Chart, framed, names_axis
from analysis.methods.spread._document import figure_name
from analysis.methods.spread._score import Detection, Score
from analysis.methods.spread._survey import RangeRow, SpreadSurvey
from analysis.runs.spread import BUCKETS

MAX_ROWS = 40  # maximum number of rows (applications or benchmarks) and of columns (methods)
LONGEST = 44  # maximum number of characters of a name in a figure
MIN_FOR_SHAPE = 5  # minimum number of values for a violin plot
LOWEST = 1e-4  # the axis is logarithmic, so 0 and smaller spreads are drawn at this value
WIDTH = 460
SHADES = ("#f1f3f6", "#cdd3dc", "#97a1b1", "#5b6779", INK)  # one colour per bucket, darkest for the largest spread
STATES = ("noticed", "not noticed", "cannot be detected")


def charts(survey: SpreadSurvey) -> dict[str, Chart]:
    """Draw each figure that has data; return a dict from the file name of the figure to the figure.

    The figures `max-spread` and `spread-buckets` exist if a benchmark is in a bucket. `noticed-by` and `redundancy`
    exist if the suite has altered methods; if there are several environments, these names end in a number.
    """
    charts: dict[str, Chart] = {}
    if any(environment.overall.n for environment in survey.environments):
        charts = {"max-spread": max_spread_chart(survey), "spread-buckets": range_chart(survey)}
    for at, environment in enumerate(survey.environments):
        if environment.score and environment.score.detections:
            charts[figure_name("noticed-by", at, survey)] = noticed_by(environment.score)
            charts[figure_name("redundancy", at, survey)] = redundancy(environment.score)
    return charts


def max_spread_chart(survey: SpreadSurvey) -> Chart:
    """Draw the spread of each benchmark in one row per application, or per environment if there are several.

    Each benchmark is a short vertical line. Each row also shows the median and the density of the spreads. The figure
    shows spreads instead of run values, because a density of run values would hide how many spreads are large.
    """
    rows = _rows(survey)
    values = [row.spreads for row in rows]
    axis = {"format": "~%", "values": [10.0**k for k in range(-4, 3)] + list(BUCKETS.values())[:-1], "grid": False}
    low, high = min(map(min, values)), max(max(map(max, values)), 0.6)
    title = "(slowest run − fastest run) / mean of the runs (logarithmic axis)"
    x = alt.X("x:Q", title=title, scale={"type": "log", "domain": [low / 1.2, high * 1.2], "nice": False}, axis=axis)
    names = _labels(rows)
    y = _row_axis("row", names)
    strokes = pd.DataFrame(
        [(row, value) for row, inside in enumerate(values) for value in inside], columns=["row", "x"]
    )
    medians = pd.DataFrame({"row": range(len(rows)), "x": [float(np.median(inside)) for inside in values]})
    layers: list[alt.Chart] = [
        alt.Chart(pd.DataFrame({"x": [b for b in list(BUCKETS.values())[:-1] if b > low]}))
        .mark_rule(color=SOFT, strokeDash=[3, 3])
        .encode(x=x),
        alt.Chart(_shapes(values))
        .mark_area(color="#dde2ea", stroke=SOFT, strokeWidth=0.7, interpolate="linear")
        .encode(x=x, y=_row_axis("bottom", names), y2=alt.Y2("top:Q"), detail=alt.Detail("row:N")),
        alt.Chart(strokes).mark_tick(color=INK, thickness=1, height=9).encode(x=x, y=y),
        alt.Chart(medians).mark_point(shape="diamond", filled=True, color=INK, size=55, opacity=1).encode(x=x, y=y),
    ]  # fmt: skip
    subtitle = [
        "Each short line is a benchmark; the diamond is the median; dashed lines separate ranges of spread.",
        *_cut(survey),
    ]
    subtitle += [f"Spreads below {100 * LOWEST:g} % are drawn at this value."] if low == LOWEST else []
    return framed(layers, "Spread of the runs of each benchmark", subtitle).properties(
        width=WIDTH, height=22 * len(rows) + 10
    )


def range_chart(survey: SpreadSurvey) -> Chart:
    """Draw one bar per application with the share of benchmarks in each range of spread; numbers in bars are counts."""
    rows = _rows(survey)
    pieces = pd.DataFrame([piece for row, of in enumerate(rows) for piece in _pieces(row, of.buckets)])
    names = _labels(rows)
    y = alt.Y("row:O", title=None, axis=names_axis(names), scale={"domain": list(range(len(rows)))})
    legend = {"orient": "top", "symbolStrokeColor": SOFT, "symbolType": "square", "titleLimit": 0}
    shade = alt.Color(
        "bucket:N", title="spread of the runs", legend=legend, sort=list(BUCKETS),
        scale={"domain": list(BUCKETS), "range": list(SHADES)},
    )  # fmt: skip
    share = alt.X("start:Q", title="share of the benchmarks", scale={"domain": [0, 1]}, axis={"format": "%"})
    readable = alt.condition("datum.dark", alt.value(PAPER), alt.value(INK))
    layers: list[alt.Chart] = [
        alt.Chart(pieces).mark_bar(stroke=SOFT, strokeWidth=0.6).encode(x=share, x2=alt.X2("end:Q"), y=y, color=shade),
        alt.Chart(pieces[pieces["end"] - pieces["start"] > 0.03])
        .mark_text(fontSize=10)
        .encode(x=alt.X("middle:Q"), y=y, text=alt.Text("count:Q"), color=readable),
    ]
    title = "Benchmarks by spread of their runs"
    return framed(layers, title, _cut(survey)).properties(width=WIDTH, height=alt.Step(20))


def redundancy(score: Score) -> Chart:
    """Draw how many methods are detected by zero, one, two or more benchmarks (Figure 3 of the paper)."""
    counts = Counter(score.redundancy.values())
    highest = max(counts)
    rows = pd.DataFrame({"n": range(highest + 1), "methods": [counts[n] for n in range(highest + 1)]})
    base = alt.Chart(rows).encode(
        x=alt.X("n:O", title="benchmarks that notice it", axis={"labelAngle": 0, "labelOverlap": True}),
        y=alt.Y("methods:Q", title="altered methods", axis={"tickMinStep": 1, "grid": False}),
    )
    fill = alt.condition("datum.n == 0", alt.value(PAPER), alt.value(SOFT))
    layers: list[alt.Chart] = [
        base.mark_bar(stroke=INK, strokeWidth=1).encode(color=fill),
        base.transform_filter("datum.methods > 0").mark_text(dy=-7, color=INK).encode(text=alt.Text("methods:Q")),
    ]
    return framed(
        layers,
        "Altered methods by number of benchmarks that notice them",
        ["White bars are methods that no benchmark notices."],
    ).properties(width=max(180, min(WIDTH, 40 * (highest + 1))), height=180)


def noticed_by(score: Score) -> Chart:
    """Draw which benchmark detects which altered method, sorted by number of detections."""
    per_benchmark = Counter(row.benchmark for row in score.detections if row.regression.found)
    benchmarks = sorted(dict.fromkeys(row.benchmark for row in score.detections), key=lambda b: -per_benchmark[b])
    methods = sorted(score.methods, key=lambda method: -score.redundancy[method])
    rows, columns = benchmarks[:MAX_ROWS], methods[:MAX_ROWS]
    cells = pd.DataFrame(
        [
            {"row": rows.index(row.benchmark), "column": columns.index(row.method), "state": _state(row)}
            for row in score.detections
            if row.benchmark in rows and row.method in columns
        ]
    )
    x = alt.X(
        "column:O", title="altered method", axis=_texts(columns, orient="top", labelAngle=-60),
        scale={"domain": list(range(len(columns)))},
    )  # fmt: skip
    y = alt.Y("row:O", title="benchmark", axis=_texts(rows), scale={"domain": list(range(len(rows)))})
    legend: Any = {"orient": "bottom", "columns": 1}
    shape = alt.Shape(
        "state:N", title=None, scale={"domain": list(STATES), "range": ["square", "circle", "cross"]}, legend=legend
    )
    shades = {"domain": list(STATES), "range": [INK, "#c9d0da", INK]}
    fill = alt.Color("state:N", scale=shades, title=None, legend=legend)
    marks = alt.Chart(cells).mark_point(filled=True, opacity=1, size=90).encode(x=x, y=y, shape=shape, color=fill)
    cut = len(benchmarks) > len(rows) or len(methods) > len(columns)
    extent = f"Shown: {len(rows)} of {len(benchmarks)} benchmarks, {len(columns)} of {len(methods)} methods."
    return framed([marks], "Which benchmark notices which altered method", [extent] if cut else []).properties(
        width=alt.Step(26), height=alt.Step(20)
    )


def _state(row: Detection) -> str:
    if row.regression.found:
        return STATES[0]
    return STATES[2] if row.regression.reason else STATES[1]


@dataclass(frozen=True)
class _Row:
    name: str
    buckets: RangeRow
    spreads: list[float]  # no ticks below `LOWEST`


def _rows(survey: SpreadSurvey) -> list[_Row]:
    """Return the rows of a figure: one row for all benchmarks, and one row per application, largest median first.

    If there are several environments, return one row per environment instead.
    """
    if len(survey.environments) > 1:
        environments = [environment for environment in survey.environments if environment.overall.n]
        return [
            _Row(row.name or "no context given", row.overall, _drawn([s.judged for s in survey.within(row)]))
            for row in environments
        ]
    (environment,) = survey.environments
    inside = survey.within(environment)
    everything = _Row("all", environment.overall, _drawn([row.judged for row in inside]))
    applications = sorted((row for row in environment.applications if row.n), key=lambda row: -(row.median or 0.0))
    if len(environment.applications) == 1:
        return [_Row(applications[0].application or "all", environment.overall, everything.spreads)]
    rows = [
        _Row(row.application, row, _drawn([s.judged for s in inside if s.application == row.application]))
        for row in applications[:MAX_ROWS]
    ]
    return [everything, *rows]


def _drawn(spreads: Sequence[float | None]) -> list[float]:
    return [max(spread, LOWEST) for spread in spreads if spread is not None]


def _labels(rows: Sequence[_Row]) -> list[str]:
    names = shortened((row.name for row in rows), LONGEST)
    return [f"{names[row.name] or 'no application'} ({row.buckets.n})" for row in rows]


def _cut(survey: SpreadSurvey) -> list[str]:
    n = sum(row.n > 0 for row in survey.applications)  # no rows for applications if there are several environments
    return [f"The figure shows the {MAX_ROWS} of {n} applications with the largest spread."] if n > MAX_ROWS else []


def _shapes(values: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return the density of the log-transformed spreads of each row as a shape around the line of the row.

    Rows with few values have no shape. If no row has a shape, return an empty table.
    """
    shapes = []
    for row, inside in enumerate(values):
        logs = np.log10(inside)
        if len(logs) < MIN_FOR_SHAPE or np.ptp(logs) < 1e-6:
            continue
        at = np.linspace(logs.min(), logs.max(), 80)
        density = stats.gaussian_kde(logs)(at)
        half = 0.42 * density / density.max()
        shapes.append(pd.DataFrame({"row": row, "x": 10**at, "bottom": row - half, "top": row + half}))
    return pd.concat(shapes) if shapes else pd.DataFrame({"row": [], "x": [], "bottom": [], "top": []})


def _pieces(row: int, of: RangeRow) -> list[dict[str, Any]]:
    ends = np.cumsum([0, *of.counts.values()]) / of.n
    return [
        {"row": row, "bucket": name, "count": count, "start": float(ends[i]), "end": float(ends[i + 1]),
         "middle": float(ends[i] + ends[i + 1]) / 2, "dark": i >= 3}
        for i, (name, count) in enumerate(of.counts.items()) if count
    ]  # fmt: skip


def _texts(names: Sequence[str], **more: Any) -> dict[str, Any]:
    """Build an axis with names; shorten long names."""
    short = shortened(names, LONGEST)
    return names_axis([short[name] for name in names], **more)


def _row_axis(field: str, names: Sequence[str]) -> alt.Y:
    scale = {"domain": [-0.6, len(names) - 0.4], "reverse": True, "nice": False}
    return alt.Y(
        f"{field}:Q", title=None, scale=scale, axis=names_axis(names, values=list(range(len(names))), grid=False)
    )
