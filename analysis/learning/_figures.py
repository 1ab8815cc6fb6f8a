"""Draw the figures of the reports on learned classifiers."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from analysis.document import clean
from analysis.document.figures import INK, SOFT, Chart, names_axis
from analysis.intervals import Estimate
from analysis.learning._compare import Arena
from analysis.learning._learn import Learned
from analysis.learning._multinomial import LearnedCategories
from analysis.learning._reviewers import Habits, Response, aspect_title

WIDTH, ROW = 420, 24


def charts(learned: Learned) -> dict[str, Chart]:
    """Draw all figures of a learned classifier; return a dict from the name of the figure to the figure."""
    shown = [row for row in learned.coefficients if row.value.value or row.value.high]
    return {
        **arena_charts(learned.arena),
        "calibration": _calibration(learned),
        "coefficients": _intervals(
            [(row.title, row.value) for row in shown], "change of the log-odds per standard deviation", 0.0
        ),
        "learning-curve": _curve(learned),
    }


def arena_charts(arena: Arena) -> dict[str, Chart]:
    """Draw the area under the ROC curve of each classifier; return the figures by name."""
    rows = [(row.name, row.auc_by_application) for row in arena.standings if row.auc_by_application.value is not None]
    return {"areas": _intervals(rows, "area under the ROC curve, interval by application", 0.5)}


def category_charts(learned: LearnedCategories) -> dict[str, Chart]:
    """Draw how well the learned classifier separates each category from all others; return the figures by name."""
    rows = [(area.category, area.auc) for area in learned.areas]
    return {"areas": _intervals(rows, "area under the ROC curve against all others, interval by application", 0.5)}


def habit_charts(found: Habits) -> dict[str, Chart]:
    """Draw which measures predict the labels of each reviewer, with one panel per measure."""
    estimated = [habit for habit in found.habits if not habit.reason]
    panels = [
        _intervals(
            [(habit.reviewer, habit.joint.get(name) or habit.own[name]) for habit in estimated],
            aspect_title(name), 0.0, width=220,
        )
        for name in found.features
    ]  # fmt: skip
    return {"habits": alt.hconcat(*panels)} if estimated else {}


def dose_charts(rows: Sequence[Response]) -> dict[str, Chart]:
    """Draw the share of items called dissimilar by amount of change.

    There is one column per kind of change, and one row per rater.
    """
    changed = [row for row in rows if row.amount]
    if not changed:
        return {}
    points = pd.DataFrame(
        [
            {"kind": clean(row.kind), "rater": clean(row.rater), "amount": row.amount, "share": row.dissimilar.value,
             "low": row.dissimilar.low, "high": row.dissimilar.high}
            for row in changed
        ]
    )  # fmt: skip
    x = alt.X("amount:Q", title="amount", scale=alt.Scale(type="sqrt"), axis=alt.Axis(values=[0.01, 0.1, 0.2, 0.5]))
    axis = alt.Axis(values=[0, 0.5, 1])
    y = alt.Y("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=axis)
    base = alt.Chart(points)
    ends = base.mark_rule(color=SOFT).encode(x=x, y=alt.Y("low:Q", title="share", axis=axis), y2="high:Q")
    line = base.mark_line(color=INK, point={"filled": True, "color": INK, "size": 20}).encode(x=x, y=y)
    kinds, raters = (list(dict.fromkeys(points[name])) for name in ("kind", "rater"))
    layers = alt.layer(ends, line).properties(width=150, height=60)
    header = alt.Header(title=None, labelAngle=0, labelAlign="left")
    return {
        "dose-response": layers.facet(
            column=alt.Column("kind:N", sort=kinds, title=None), row=alt.Row("rater:N", sort=raters, header=header)
        )
    }


def _intervals(rows: Sequence[tuple[str, Estimate]], title: str, reference: float, *, width: int = WIDTH) -> Chart:
    """Draw one row per name: a point with its interval, and a line at the reference value."""
    points = pd.DataFrame(
        [{"row": n, "value": e.value, "low": e.low, "high": e.high} for n, (_, e) in enumerate(rows)],
        columns=["row", "value", "low", "high"],
    )
    axis = names_axis([name for name, _ in rows], values=list(range(len(rows))))
    scale = alt.Scale(domain=[-0.5, max(len(rows), 1) - 0.5], reverse=True, nice=False)
    y = alt.Y("row:Q", title=None, axis=axis, scale=scale)
    x = alt.X("value:Q", title=title, scale=alt.Scale(zero=False))
    line = alt.Chart(pd.DataFrame({"at": [reference]})).mark_rule(strokeDash=[4, 3], color=SOFT).encode(x="at:Q")
    base = alt.Chart(points)
    rules = base.mark_rule(color=INK).encode(x=alt.X("low:Q", title=title), x2="high:Q", y=y)
    marks = base.mark_point(filled=True, color=INK, size=50).encode(x=x, y=y)
    return alt.layer(line, rules, marks).properties(width=width, height=ROW * max(len(rows), 1))


def _calibration(learned: Learned) -> Chart:
    points = pd.DataFrame([
        {"probability": part.probability, "share": part.share.value, "low": part.share.low, "high": part.share.high}
        for part in learned.calibration.bins
    ])  # fmt: skip
    diagonal = alt.Chart(pd.DataFrame({"x": [0, 1], "y": [0, 1]})).mark_line(strokeDash=[4, 3], color=SOFT)
    x = alt.X("probability:Q", title="mean probability of dissimilar", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("share:Q", title="share of dissimilar items", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(points)
    return alt.layer(
        diagonal.encode(x="x:Q", y="y:Q"),
        base.mark_rule(color=INK).encode(x=x, y=alt.Y("low:Q", title="share of dissimilar items"), y2="high:Q"),
        base.mark_point(filled=True, color=INK, size=50).encode(x=x, y=y),
    ).properties(width=300, height=300)


def _curve(learned: Learned) -> Chart:
    points = pd.DataFrame(
        [{"n": p.n, "value": p.auc.value, "low": p.auc.low, "high": p.auc.high} for p in learned.curve.points],
        columns=["n", "value", "low", "high"],
    )
    x = alt.X("n:Q", title="number of training labels")
    y = alt.Y("value:Q", title="area under the ROC curve", scale=alt.Scale(zero=False))
    base = alt.Chart(points)
    options: Mapping[str, Any] = {"color": INK}
    return alt.layer(
        base.mark_rule(**options).encode(x=x, y=alt.Y("low:Q", title="area under the ROC curve"), y2="high:Q"),
        base.mark_line(point={"filled": True, "color": INK}, **options).encode(x=x, y=y),
    ).properties(width=WIDTH, height=240)
