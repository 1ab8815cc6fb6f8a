"""Draw the figures of the report on the reliability of intervals and tests."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.document import shortened
from analysis.document.figures import INK, SOFT, Chart, framed, heading, readable
from analysis.methods.trust._document import MIN_FOR_ALARMS, TITLES, change_of
from analysis.methods.trust._pairs import INTERVALS, MANN_WHITNEY, WELCH
from analysis.methods.trust._population import AGGREGATIONS, MERGED, ONE_SAMPLE, RUN_MEANS, Distribution, densities
from analysis.methods.trust._survey import Trust, TrustSurvey

N_LETTERS = 14  # maximum number of characters of the name of a run
N_RUNS, N_COLUMNS = 20, 5  # maximum number of runs in the figure of measurements, and of panels in a row
LIGHT = "#a9b3c2"
LONGEST = 60  # maximum number of characters of a name
SHADES = {MERGED: INK, RUN_MEANS: "#5f6b80", ONE_SAMPLE: LIGHT}
SHAPES = {MERGED: "circle", RUN_MEANS: "square", ONE_SAMPLE: "triangle-up"}
DASHES = {WELCH: [1, 0], MANN_WHITNEY: [7, 3], INTERVALS: [2, 2]}


def charts(survey: TrustSurvey) -> dict[str, Chart]:
    """Draw each figure that has data; return a dict from the file name of the figure to the figure."""
    charts = {
        "measurements": measurements(survey),
        "coverage": coverage_against_runs(survey),
        "rejections": rejections(survey),
        "false-alarms": false_alarms(survey),
    }
    return {name: chart for name, chart in charts.items() if chart is not None}


def measurements(survey: TrustSurvey) -> Chart | None:
    """Draw the measurements of a single benchmark; return None if there are several benchmarks."""
    if len(survey.benchmarks) != 1 or survey.benchmarks[0].distribution is None:
        return None
    return distribution_chart(survey.benchmarks[0].distribution, survey.benchmarks[0].name, survey.benchmarks[0].unit)


def distribution_chart(distribution: Distribution, name: str, unit: str) -> Chart:
    """Draw measurements as histograms with densities (Figure 1 of the paper).

    The first panel has all runs merged; the others have one run each, with the same axis.
    """
    factor, shown_unit = readable(distribution.edges[len(distribution.edges) // 2], unit)
    edges = [edge * factor for edge in distribution.edges]
    shown = list(zip(distribution.names, distribution.runs, strict=True))[:N_RUNS]
    names = shortened((run for run, _ in shown), N_LETTERS)
    outside = (distribution.n_below + distribution.n_above) / distribution.n
    lines = [shortened([name], LONGEST)[name], "bars: histogram, line: density"]
    if outside:
        lines[1] += f"; {100 * outside:.2g} % of the measurements are outside the axis"
    if len(distribution.runs) > N_RUNS:
        lines[1] += f"; the first {N_RUNS} of {len(distribution.runs)} runs"
    title = f"measurement ({shown_unit})" if shown_unit else "measurement"
    merged = _histogram(distribution.merged, edges, title, 640, 150).properties(title=heading("all runs merged"))
    panels = [
        _histogram(counts, edges, title if at >= len(shown) - N_COLUMNS else None, 112, 70).properties(
            title=heading(f"run {names[run]}", fontSize=11)
        )
        for at, (run, counts) in enumerate(shown)
    ]
    grid = alt.concat(*panels, columns=N_COLUMNS, spacing={"row": 12, "column": 12})
    named = heading("Measurements of each run and of all runs merged", lines)
    return alt.vconcat(merged, grid, title=named, spacing=24).configure_view(stroke=None)


def _histogram(counts: Sequence[int], edges: Sequence[float], title: str | None, width: int, height: int) -> Chart:
    bars, line = densities(counts, edges)
    rows = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "share": bars, "density": line})
    rows["middle"] = (rows["from"] + rows["to"]) / 2
    scale = {"domain": [edges[0], edges[-1]], "nice": False, "zero": False}
    x = alt.X("from:Q", title=title, scale=scale, axis={"grid": False, "tickCount": 6 if width > 300 else 2})
    y = alt.Y("share:Q", title=None, axis={"labels": False, "ticks": False, "grid": False})
    base = alt.Chart(rows)
    return alt.layer(
        base.mark_rect(color=LIGHT).encode(x=x, x2=alt.X2("to:Q"), y=y, y2=alt.datum(0)),
        base.mark_line(color=INK, strokeWidth=1.5, interpolate="linear").encode(
            x=alt.X("middle:Q", title=title, scale=scale), y=alt.Y("density:Q", title=None)
        ),
    ).properties(width=width, height=height)


def coverage_against_runs(survey: TrustSurvey) -> Chart | None:
    """Draw how often the interval contains the mean, by the number of drawn runs (Figure 2 of the paper).

    The figure has the median over benchmarks, with the middle half as bars; return None if there are no data.
    """
    chosen = [trust for trust in survey.benchmarks if trust.by_n_runs]
    if not chosen:
        return None
    points = [
        {"x": at.n_runs, "aggregation": name, "value": rate.value}
        for trust in chosen
        for at in trust.by_n_runs
        for name, rate in at.coverage.items()
    ]
    rows = _over_benchmarks(points, ["x", "aggregation"])
    most = int(rows["x"].max())
    rows["x"] += rows["aggregation"].map({MERGED: 0.0, RUN_MEANS: -0.08, ONE_SAMPLE: 0.08}) * (len(chosen) > 1)
    level = survey.parameters["level"]
    x = alt.X(
        "x:Q",
        title="runs drawn",
        scale={"domain": [1.7, most + 0.3], "nice": False},
        axis={"values": list(range(2, most + 1, -(-most // 20))), "format": "d", "grid": False},
    )
    y = alt.Y("value:Q", title=_HELD, scale=_WHOLE, axis=_PERCENT)
    bars = alt.Chart(rows).mark_rule(strokeWidth=1.2)
    layers = [
        _rule(level, "", _HELD),
        bars.encode(x=x, y=alt.Y("low:Q", title=_HELD), y2=alt.Y2("high:Q"), color=_SHADE),
        alt.Chart(rows).mark_line(strokeWidth=2, interpolate="linear").encode(x=x, y=y, color=_SHADE),
        alt.Chart(rows).mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=_SHADE, shape=_SHAPE),
    ]
    subtitle = [_subject(chosen, "bars", survey), f"dashed: the requested level, {100 * float(str(level)):g} %"]
    return _with_legend(
        framed(layers, "Does the interval contain the mean?", subtitle).properties(width=420, height=280)
    )


def rejections(survey: TrustSurvey) -> Chart | None:
    """Draw how often a test finds a difference between two draws (Figures 3 and 4 of the paper).

    The x axis is the slowdown of the second draw. One panel per test has the median over benchmarks, and the middle
    half as a band; return None if there are no curves.
    """
    chosen = [trust for trust in survey.benchmarks if any(curve.power for curve in trust.curves)]
    if not chosen:
        return None
    points = [
        {"x": gamma - 1, "aggregation": curve.aggregation, "test": curve.test, "value": power}
        for trust in chosen
        for curve in trust.curves
        for gamma, power in zip(curve.gammas, curve.power, strict=bool(curve.power))
    ]
    rows = _over_benchmarks(points, ["x", "aggregation", "test"])
    alpha = survey.parameters["alpha"]
    tests = [test for test in TITLES if test in set(rows["test"])]
    slower = change_of(survey)[1]
    panels = [
        _panel(rows[rows["test"] == test], test, alpha, slower, first=test == tests[0], n=len(chosen)) for test in tests
    ]
    n_runs = survey.parameters["n_runs"]
    title = heading(
        f"Difference detected: {n_runs} runs against {n_runs} {slower} runs", _subject(chosen, "bands", survey)
    )
    return _with_legend(alt.hconcat(*panels, title=title, spacing=14).configure_view(stroke=None))


def _panel(rows: pd.DataFrame, test: str, alpha: Any, slower: str, *, first: bool, n: int) -> Chart:
    x = alt.X(
        "x:Q", title=f"the second sample is {slower} by", axis={"format": "%", "grid": False, "tickCount": 6},
        scale={"domain": [float(rows["x"].min()), float(rows["x"].max())], "nice": False},
    )  # fmt: skip
    title = "share of pairs with a detected difference" if first else None
    y = alt.Y("value:Q", title=title, scale=_WHOLE, axis={"format": "%", "tickCount": 5, "labels": first})
    steps = sorted(rows["x"].unique())[::5]
    lines = alt.Chart(rows).mark_line(strokeWidth=2, interpolate="linear", strokeDash=DASHES[test])
    marks = alt.Chart(rows[rows["x"].isin(steps)]).mark_point(filled=True, size=55, opacity=1)
    layers = [
        *_band(rows, x, n, title),
        _rule(alpha, f"α = {alpha:g}" if first else "", title),
        lines.encode(x=x, y=y, color=_SHADE),
        marks.encode(x=x, y=y, color=_SHADE, shape=_SHAPE),
    ]
    named = heading(TITLES[test], fontSize=11, anchor="middle")
    return alt.layer(*layers, title=named).properties(width=230, height=260)


def false_alarms(survey: TrustSurvey) -> Chart | None:
    """Draw the share of benchmarks that have at most a given share of false alarms of Welch's test.

    Return None if there are fewer than five benchmarks, or if Welch's test was not run.
    """
    rows: list[dict[str, Any]] = []
    for name in AGGREGATIONS:
        rates = [trust.type_1_error[name].get(WELCH) for trust in survey.benchmarks]
        values = sorted(rate.value for rate in rates if rate is not None and rate.value is not None)
        if len(values) >= MIN_FOR_ALARMS:
            shares = np.arange(1, len(values) + 1) / len(values)
            rows.append({"aggregation": name, "x": 0.0, "value": 0.0})
            rows += [{"aggregation": name, "x": x, "value": y} for x, y in zip(values, shares, strict=True)]
            rows.append({"aggregation": name, "x": 1.0, "value": 1.0})
    if not rows:
        return None
    table = pd.DataFrame(rows)
    tenths = pd.concat([_some_points(curve) for _, curve in table.groupby("aggregation", sort=False)])
    alpha = survey.parameters["alpha"]
    x = alt.X("x:Q", title="share of unchanged pairs with a detected difference", scale=_WHOLE, axis=_PERCENT)
    y = alt.Y("value:Q", title="share of benchmarks with at most so many", scale=_WHOLE, axis=_PERCENT)
    at_alpha = alt.Chart(pd.DataFrame({"x": [alpha]})).mark_rule(color=SOFT, strokeDash=[5, 3])
    word = alt.Chart(pd.DataFrame({"x": [alpha], "text": [f"α = {alpha:g}"]})).mark_text(color=INK)
    layers = [
        at_alpha.encode(x=x),
        word.encode(x=x, y=alt.datum(1.03), text=alt.Text("text:N")),
        alt.Chart(table).mark_line(strokeWidth=2, interpolate="step-after").encode(x=x, y=y, color=_SHADE),
        alt.Chart(tenths).mark_point(filled=True, size=55, opacity=1).encode(x=x, y=y, color=_SHADE, shape=_SHAPE),
    ]
    n_runs = survey.parameters["n_runs"]
    subtitle = f"two samples of {n_runs} runs each; {len(survey.benchmarks)} benchmarks; a line further left is better"
    return _with_legend(framed(layers, "False alarms of Welch's test", subtitle).properties(width=420, height=260))


def _some_points(curve: pd.DataFrame) -> pd.DataFrame:
    """Return the few points of a curve at which the figure draws a mark."""
    return curve.iloc[np.unique(np.linspace(0, len(curve) - 1, 10).round().astype(int))[1:-1]]


def _over_benchmarks(points: Sequence[dict[str, Any]], by: Sequence[str]) -> pd.DataFrame:
    """Return the median and the middle half of the defined values across all benchmarks."""
    grouped = pd.DataFrame(points).dropna(subset=["value"]).groupby(list(by), sort=False)["value"]
    quartiles = {"low": grouped.quantile(0.25), "value": grouped.median(), "high": grouped.quantile(0.75)}
    return pd.DataFrame(quartiles).reset_index()


def _band(rows: pd.DataFrame, x: alt.X, n: int, title: str | None) -> list[alt.Chart]:
    """Draw the middle half of the benchmarks; return an empty list for a single benchmark."""
    if n == 1:
        return []
    band = alt.Chart(rows).mark_area(opacity=0.18, interpolate="linear")
    layers = [band.encode(x=x, y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), color=_SHADE)]
    for end in ("low:Q", "high:Q"):
        line = alt.Chart(rows).mark_line(strokeWidth=0.6, interpolate="linear")
        layers.append(line.encode(x=x, y=alt.Y(end, title=title), color=_SHADE))
    return layers


def _rule(at: Any, text: str, title: str | None) -> Chart:
    y = alt.Y("y:Q", title=title)
    rule = alt.Chart(pd.DataFrame({"y": [at]})).mark_rule(color=SOFT, strokeDash=[5, 3]).encode(y=y)
    word = alt.Chart(pd.DataFrame({"y": [at], "text": [text]})).mark_text(
        align="right", baseline="bottom", dy=-2, color=INK
    )
    return alt.layer(rule, word.encode(x=alt.value("width"), y=y, text=alt.Text("text:N")))


def _subject(chosen: Sequence[Trust], mark: str, survey: TrustSurvey) -> str:
    if len(chosen) > 1:
        n = len(survey.benchmarks)
        some = f"{len(chosen)} of {n}" if len(chosen) < n else f"{n}"
        return f"median of {some} benchmarks, {mark}: middle half"
    return shortened([chosen[0].name], LONGEST)[chosen[0].name]


def _with_legend(chart: Any) -> Chart:
    return chart.configure_legend(orient="bottom", symbolSize=90, symbolOpacity=1)


_HELD = "share of intervals that contain the mean"
_WHOLE = {"domain": [0, 1]}
_PERCENT = {"format": "%", "tickCount": 5}
_ORDER = list(AGGREGATIONS)
_SHADE = alt.Color(
    "aggregation:N", title=None, sort=_ORDER, scale={"domain": _ORDER, "range": [SHADES[name] for name in _ORDER]}
)
_SHAPE = alt.Shape(
    "aggregation:N", title=None, sort=_ORDER, scale={"domain": _ORDER, "range": [SHAPES[name] for name in _ORDER]}
)
