"""Draw the figures of the report on marks of people and detectors."""

import altair as alt
import pandas as pd

from analysis.document.figures import INK, Chart, heading, names_axis
from analysis.methods.points._survey import STARTS, PointsSurvey

WIDTH, ROW_HEIGHT = 300, 22


def charts(survey: PointsSurvey) -> dict[str, Chart]:
    """Draw each figure that has data; return a dict from the file name of the figure to the figure."""
    if survey.about == STARTS or not survey.detectors:
        return {}
    panels = [_panel(survey, at) for at in range(len(survey.detectors[0].scores))]
    title = heading("Detectors against people", f"mean over items with 95 % intervals; dashed: {survey.baseline}")
    grid = alt.concat(*panels, columns=1, spacing=40, title=title)
    return {"points-scores": grid.configure_view(stroke=None)}


def _panel(survey: PointsSurvey, at: int) -> Chart:
    names = [row.name for row in survey.detectors]
    rows = pd.DataFrame(
        [
            {"at": place, "value": mean.value, "low": mean.low, "high": mean.high}
            for place, row in enumerate(survey.detectors)
            if (mean := row.scores[at].mean).value is not None
        ]
    )
    axis = names_axis(names, values=list(range(len(names))), grid=False, labelPadding=10)
    y = alt.Y("at:Q", title=None, axis=axis, scale={"domain": [len(names) - 0.5, -0.5], "nice": False})
    x = {"domain": [0, 1]}
    base = alt.Chart(rows)
    layers = [
        base.mark_rule(color=INK).encode(x=alt.X("low:Q", title=None, scale=x), x2=alt.X2("high:Q"), y=y),
        base.mark_point(filled=True, size=50, color=INK, opacity=1).encode(
            x=alt.X("value:Q", title=None, scale=x), y=y
        ),
    ]
    baseline = next(row.scores[at].mean.value for row in survey.detectors if row.name == survey.baseline)
    line = alt.Chart(pd.DataFrame({"value": [baseline]}))
    layers.insert(0, line.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("value:Q", title=None, scale=x)))
    name = survey.detectors[0].scores[at].name
    return alt.layer(*layers).properties(width=WIDTH, height=ROW_HEIGHT * len(names), title=heading(name, ""))
