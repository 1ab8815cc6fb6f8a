"""Draw the figures of the reports on learned classifiers."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from analysis.document.figures import INK, SOFT, Chart, names_axis
from analysis.learning._learn import Learned, PositiveLearned
from analysis.statistics.intervals import Estimate

WIDTH, ROW = 420, 24


def charts(learned: Learned) -> dict[str, Chart]:
    """Draw all figures of a learned classifier; return a dict from the name of the figure to the figure."""
    found = learned.positive
    if found is None:
        of_categories = [(area.category, area.auc) for area in learned.held_out.areas]
        title = "area under the ROC curve against all others, interval by application"
        return {"areas": _intervals(of_categories, title, 0.5)}
    areas = [
        (row.name, row.auc_by_application) for row in found.arena.standings if row.auc_by_application.value is not None
    ]
    shown = [row for row in found.coefficients if row.value.value or row.value.high]
    return {
        "areas": _intervals(areas, "area under the ROC curve, interval by application", 0.5),
        "calibration": _calibration(found),
        "coefficients": _intervals(
            [(row.title, row.value) for row in shown], "change of the log-odds per standard deviation", 0.0
        ),
    }


def _intervals(rows: Sequence[tuple[str, Estimate]], title: str, reference: float) -> Chart:
    """Draw one row per name: a point with its interval, and a line at the reference value."""
    points = pd.DataFrame(
        [{"row": n, "value": e.value, "low": e.low, "high": e.high} for n, (_, e) in enumerate(rows)],
        columns=["row", "value", "low", "high"],
    )
    axis = names_axis([name for name, _ in rows], values=list(range(len(rows))))
    scale = {"domain": [-0.5, max(len(rows), 1) - 0.5], "reverse": True, "nice": False}
    y = alt.Y("row:Q", title=None, axis=axis, scale=scale)
    x = alt.X("value:Q", title=title, scale={"zero": False})
    line = alt.Chart(pd.DataFrame({"at": [reference]})).mark_rule(strokeDash=[4, 3], color=SOFT).encode(x=alt.X("at:Q"))
    base = alt.Chart(points)
    rules = base.mark_rule(color=INK).encode(x=alt.X("low:Q", title=title), x2=alt.X2("high:Q"), y=y)
    marks = base.mark_point(filled=True, color=INK, size=50).encode(x=x, y=y)
    return alt.layer(line, rules, marks).properties(width=WIDTH, height=ROW * max(len(rows), 1))


def _calibration(found: PositiveLearned) -> Chart:
    points = pd.DataFrame([
        {"probability": part.probability, "share": part.share.value, "low": part.share.low, "high": part.share.high}
        for part in found.calibration.bins
    ])  # fmt: skip
    diagonal = alt.Chart(pd.DataFrame({"x": [0, 1], "y": [0, 1]})).mark_line(strokeDash=[4, 3], color=SOFT)
    x = alt.X("probability:Q", title=f"mean probability of {found.category}", scale={"domain": [0, 1]})
    share = f"share of items that are {found.category}"
    y = alt.Y("share:Q", title=share, scale={"domain": [0, 1]})
    base = alt.Chart(points)
    return alt.layer(
        diagonal.encode(x=alt.X("x:Q"), y=alt.Y("y:Q")),
        base.mark_rule(color=INK).encode(x=x, y=alt.Y("low:Q", title=share), y2=alt.Y2("high:Q")),
        base.mark_point(filled=True, color=INK, size=50).encode(x=x, y=y),
    ).properties(width=300, height=300)
