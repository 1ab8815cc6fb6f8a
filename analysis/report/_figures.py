"""The figures of the report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from analysis.classifiers import classifier_named
from analysis.document.figures import INK, SOFT, Chart, to_svg
from analysis.measures import measures_by_application

MAX_STEPS = 500  # of a curve as it is drawn; more cannot be seen


def draw(content: Mapping[str, Any]) -> dict[str, str]:
    """The report's figures as SVG text by name; one that has nothing to show is left out."""
    charts = {
        "pair-agreement": pair_agreement(content),
        "measures-by-application": measure_figure(content),
        "roc": roc(content),
        "precision-recall": precision_recall(content),
    }
    return {name: to_svg(chart) for name, chart in charts.items() if chart is not None}


def measure_figure(content: Mapping[str, Any], classifier: str = "heuristic") -> Chart | None:
    """The classifier's measures by application; None where there are none."""
    rows = content["measures"].get(classifier)
    if not rows:
        return None
    known = classifier_named(classifier)
    table = pd.DataFrame([{"application": row["application"], "n": row["n"], **row["means"]} for row in rows])
    return measures_by_application(table, theta=known.parameters.get("theta") if known else None)


def pair_agreement(content: Mapping[str, Any]) -> Chart | None:
    """Agreement of each pair with its interval, beside the overall agreement; None without pairs."""
    pairs = content["agreement"]["pairs"]
    if not pairs:
        return None
    rows = pd.DataFrame(
        {
            "pair": [f"{pair['a']} – {pair['b']} (n = {pair['n']})" for pair in pairs],
            "value": [pair["percent"]["value"] for pair in pairs],
            "low": [pair["percent"]["low"] for pair in pairs],
            "high": [pair["percent"]["high"] for pair in pairs],
        }
    )
    base = alt.Chart(rows).encode(y=alt.Y("pair:N", title=None, sort=None, axis=alt.Axis(labelLimit=0)))
    overall = alt.Chart(pd.DataFrame({"value": [content["agreement"]["percent"]["value"]]}))
    chart = alt.layer(
        overall.mark_rule(color=SOFT, strokeDash=[4, 3]).encode(x=_share("value:Q")),
        base.mark_rule(color=INK).encode(x=_share("low:Q"), x2="high:Q"),
        base.mark_point(color=INK, filled=True, size=60, opacity=1).encode(x=_share("value:Q")),
    )
    drawn: Chart = chart.properties(width=420, height=alt.Step(26)).configure_view(stroke=None)
    return drawn


def roc(content: Mapping[str, Any]) -> Chart | None:
    """Sensitivity against the share of false alarms, a line a classifier; None where none has scores."""
    curves, points = [], []
    for name, row, scores in _scored(content):
        curves += _steps(name, scores["roc"]["false_positive_rate"], scores["roc"]["sensitivity"])
        if row["sensitivity"]["value"] is not None and row["specificity"]["value"] is not None:
            points.append({"classifier": name, "x": 1 - row["specificity"]["value"], "y": row["sensitivity"]["value"]})
    titles = ("share of similar items called dissimilar", "share of dissimilar items called so")
    return _curves(curves, points, pd.DataFrame({"x": [0, 1], "y": [0, 1]}), titles)


def precision_recall(content: Mapping[str, Any]) -> Chart | None:
    """Precision against sensitivity, a line a classifier; None where none has scores."""
    curves, points, shares = [], [], []
    for name, row, scores in _scored(content):
        curves += _steps(name, scores["precision_recall"]["recall"], scores["precision_recall"]["precision"])
        shares.append(scores["precision_recall"]["prevalence"])
        if row["sensitivity"]["value"] is not None and row["precision"]["value"] is not None:
            points.append({"classifier": name, "x": row["sensitivity"]["value"], "y": row["precision"]["value"]})
    titles = ("share of dissimilar items called so", "share of the items called dissimilar that are")
    return _curves(curves, points, pd.DataFrame({"x": [0, 1], "y": shares[:1] * 2}) if shares else None, titles)


def _scored(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """The classifiers whose scores make a curve: name, numbers, and what follows from the scores."""
    for name, row in content["classifiers"].items():
        if row["scores"] and row["scores"]["roc"]["threshold"]:
            yield name, row, row["scores"]


def _steps(name: str, x: Sequence[float], y: Sequence[float]) -> list[dict[str, Any]]:
    """A curve's points in order, no more of them than can be seen."""
    points = list(zip(x, y, strict=True))
    drawn = [*points[:: max(1, len(points) // MAX_STEPS)], points[-1]]
    return [{"classifier": name, "step": i, "x": x, "y": y} for i, (x, y) in enumerate(drawn)]


def _curves(
    curves: Sequence[Mapping[str, Any]],
    points: Sequence[Mapping[str, Any]],
    chance: pd.DataFrame | None,
    titles: tuple[str, str],
) -> Chart | None:
    """Lines told apart by their dashes, a mark at each classifier's own verdicts, and what guessing gives."""
    if not curves or chance is None:
        return None
    x = alt.X("x:Q", title=titles[0], scale=alt.Scale(domain=[0, 1]), axis=_PERCENT)
    y = alt.Y("y:Q", title=titles[1], scale=alt.Scale(domain=[0, 1]), axis=_PERCENT)
    dash = alt.StrokeDash("classifier:N", title=None, legend=alt.Legend(symbolSize=400, orient="right"))
    lines = alt.Chart(pd.DataFrame(curves)).mark_line(color=INK, strokeWidth=1.5, interpolate="linear")
    layers = [
        alt.Chart(chance).mark_line(color=SOFT, strokeWidth=0.7).encode(x=x, y=y),
        lines.encode(x=x, y=y, strokeDash=dash, order="step:Q"),
    ]
    if points:
        marks = alt.Chart(pd.DataFrame(points)).mark_point(color=INK, filled=True, size=90, opacity=1)
        layers.append(marks.encode(x=x, y=y, shape=alt.Shape("classifier:N", title=None)))
    return alt.layer(*layers).properties(width=320, height=320).configure_view(stroke=None)


_PERCENT = alt.Axis(format="%", tickCount=5)


def _share(field: str) -> alt.X:
    title = "share of the common items on which the pair agrees"
    return alt.X(field, title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
