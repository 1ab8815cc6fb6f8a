"""Draw the figures of the reports on learned classifiers."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from analysis.document.figures import INK, SOFT, Chart, names_axis
from analysis.learning._compare import Arena
from analysis.learning._learn import Learned
from analysis.learning._multinomial import LearnedCategories
from analysis.statistics.intervals import Estimate

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
    }


def arena_charts(arena: Arena) -> dict[str, Chart]:
    """Draw the area under the ROC curve of each classifier; return the figures by name."""
    rows = [(row.name, row.auc_by_application) for row in arena.standings if row.auc_by_application.value is not None]
    return {"areas": _intervals(rows, "area under the ROC curve, interval by application", 0.5)}


def category_charts(learned: LearnedCategories) -> dict[str, Chart]:
    """Draw how well the learned classifier separates each category from all others; return the figures by name."""
    rows = [(area.category, area.auc) for area in learned.areas]
    return {"areas": _intervals(rows, "area under the ROC curve against all others, interval by application", 0.5)}


def _intervals(rows: Sequence[tuple[str, Estimate]], title: str, reference: float) -> Chart:
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
    return alt.layer(line, rules, marks).properties(width=WIDTH, height=ROW * max(len(rows), 1))


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
