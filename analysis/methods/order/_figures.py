"""Draw the figures of the report on order."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.document import counted, shortened
from analysis.document.figures import INK, PAPER, SOFT, Chart, framed, heading, names_axis
from analysis.methods.order._compare import OrderComparison, Side
from analysis.methods.order._document import by_least_p, by_p
from analysis.methods.order._survey import OrderSurvey, Placed

LEAST_P = 1e-30  # smaller p values are drawn at this value
MOST_ROWS, MOST_PANELS, COLUMNS = 40, 12, 3
LONGEST, LONGEST_ABOVE = 56, 34  # maximum length of a name next to a panel, and above a panel
MOST_MEDIANS = 6  # if there are more positions, neighbouring positions share a median
CASES = {
    1: "intervals do not overlap: red flag",
    2: "a median inside the other interval",
    3: "intervals overlap: examine",
}
BOTH, ONE, NEITHER = "below α / |T|", "below α only", "not below α"
OUTCOMES = (BOTH, ONE, NEITHER)


def charts(survey: OrderSurvey) -> dict[str, Chart]:
    """Draw each figure that has data; return a dict from the file name of the figure to the figure."""
    charts: dict[str, Chart] = {}
    if survey.tests:
        charts["order-p-values"] = p_values(survey)
        charts["order-p-by-effect"] = p_by_effect(survey)
        charts["order-medians"] = medians(survey)
        if any(test.delta_percent.value is not None for test in survey.tests):
            charts["order-differences"] = differences(survey)
    if survey.positions:
        charts["order-positions"] = positions(survey)
    return charts


def p_values(survey: OrderSurvey) -> Chart:
    """Draw the p values of all tests in ascending order, with lines at alpha / |T| and alpha."""
    tests = by_p(survey)[:MOST_ROWS]
    rows = pd.DataFrame({"row": range(len(tests)), "p": [_p(test) for test in tests], "outcome": _outcomes(tests)})
    x = _p_axis(alt.X, survey, "p:Q")
    y = alt.Y("row:O", title=None, axis=_names(tests, survey))
    points = alt.Chart(rows).mark_point(color=INK, size=70, opacity=1).encode(x=x, y=y, **_marks(survey))
    subtitle = _cut("smallest p values", len(tests), survey.n_tests)
    return framed(
        [*_thresholds(survey, "x"), points], "Fixed against random order: p of each test", subtitle
    ).properties(width=420, height=alt.Step(22))


def p_by_effect(survey: OrderSurvey) -> Chart:
    """Draw the p and the effect size of each test.

    A small p together with a small effect means that there are many runs.
    """
    rows = pd.DataFrame(
        {
            "effect": [test.test.epsilon2 or 0.0 for test in survey.tests],
            "p": [_p(test) for test in survey.tests],
            "outcome": _outcomes(survey.tests),
        }
    )
    farthest = min(1.0, max(0.1, 1.15 * rows["effect"].max()))
    x = alt.X(
        "effect:Q",
        title="epsilon²: share of the variation of ranks between the orders",
        scale={"domain": [0, farthest]},
    )
    y = _p_axis(alt.Y, survey, "p:Q", reverse=True)
    points = alt.Chart(rows).mark_point(color=INK, size=60, opacity=1).encode(x=x, y=y, **_marks(survey))
    subtitle = "each mark is a test; p decreases upwards, and the effect increases to the right"
    chart = framed([*_thresholds(survey, "y"), points], "p and effect size of each test", subtitle)
    return chart.properties(width=420, height=280)


def differences(survey: OrderSurvey) -> Chart:
    """Draw the difference between the means, sorted by size.

    The difference is fixed minus random order, in percent of the fixed order.
    """
    with_difference = [test for test in survey.tests if test.delta_percent.value is not None]
    largest = sorted(with_difference, key=lambda test: -abs(_delta(test)))[:MOST_ROWS]
    tests = sorted(largest, key=_delta, reverse=True)
    rows = pd.DataFrame(
        {
            "row": range(len(tests)),
            "delta": [_delta(test) for test in tests],
            "differs": [test.differs for test in tests],
            "text": [f"{_delta(test):+.2f}{' ▲' if test.differs else ''}".replace("-", "−") for test in tests],
        }
    )
    low, high = min(0.0, *rows["delta"]), max(0.0, *rows["delta"])
    margin = 0.2 * (high - low or 1.0)  # space for the numbers at the ends of the bars
    scale = {"domain": [low - margin * (low < 0), high + margin * (high > 0 or low == 0)], "nice": False}
    x = alt.X("delta:Q", title="(mean fixed − mean random) / mean fixed (%)", scale=scale)
    y = alt.Y("row:O", title=None, axis=_names(tests, survey))
    shade = alt.Color("differs:N", scale={"domain": [False, True], "range": ["#c9d0da", INK]}, legend=None)
    base = alt.Chart(rows).encode(x=x, y=y)
    layers = [
        base.mark_bar(height=12).encode(color=shade),
        base.transform_filter("datum.delta >= 0")
        .mark_text(align="left", dx=4, color=INK)
        .encode(text=alt.Text("text:N")),
        base.transform_filter("datum.delta < 0")
        .mark_text(align="right", dx=-4, color=INK)
        .encode(text=alt.Text("text:N")),
        alt.Chart(pd.DataFrame({"delta": [0.0]})).mark_rule(color=INK).encode(x=x),
    ]
    subtitle = [
        "right of 0, values are smaller in random order; dark bars with ▲ have p below α / |T|",
        *([_cut("largest differences", len(tests), len(with_difference))] if len(tests) < len(with_difference) else []),
    ]
    return framed(layers, "Difference of the means", subtitle).properties(width=420, height=alt.Step(22))


def medians(survey: OrderSurvey) -> Chart:
    """Draw the runs, the median and the interval of each order, one panel per test, smallest p first."""
    tests = by_p(survey)[:MOST_PANELS]
    subtitle = [
        f"mark and line: median with its interval at {100 * (survey.level or 0):.4g} %; ticks: runs",
        *([_cut("smallest p values", len(tests), survey.n_tests)] if len(tests) < survey.n_tests else []),
    ]
    names = shortened(map(survey.title, tests), LONGEST_ABOVE)
    panels = [_panel(test, names[survey.title(test)]) for test in tests]
    return _grid(panels, "Medians in fixed and in random order", subtitle)


def positions(survey: OrderSurvey) -> Chart:
    """Draw the runs by position, one panel per benchmark, smallest p first."""
    ranked = by_least_p(survey)
    rows = ranked[:MOST_PANELS]
    subtitle = [
        "circles are runs not in fixed order; the line shows medians of the same or neighbouring positions",
        *([_cut("smallest p values", len(rows), len(ranked))] if len(rows) < len(ranked) else []),
    ]
    names = shortened(map(survey.title, rows), LONGEST_ABOVE)
    panels = [_over_positions(row, names[survey.title(row)]) for row in rows]
    return _grid(panels, "Values over the position in the run", subtitle)


def _p(test: OrderComparison) -> float:
    return max(LEAST_P, 1.0 if test.test.p is None else test.test.p)


def _delta(test: OrderComparison) -> float:
    return test.delta_percent.value or 0.0


def _outcomes(tests: Sequence[OrderComparison]) -> list[str]:
    return [BOTH if test.differs else ONE if test.differs_uncorrected else NEITHER for test in tests]


def _cut(noun: str, n_shown: int, n: int) -> str:
    return f"the {n_shown} {noun} of {n}" if n_shown < n else counted(n, "test")


_ROOMY = {"zero": False, "padding": 6}  # marks stay inside the frame, so that titles are aligned
_POWERS = "datum.value == 1 ? '1' : format(datum.value, '.0e')"


def _p_axis(kind: Any, survey: OrderSurvey, field: str, *, reverse: bool = False) -> Any:
    """Build a logarithmic axis for p with ticks at powers of ten; the axis ends at `LEAST_P`."""
    least = min([*(_p(test) for test in survey.tests), survey.threshold or 1.0, 0.01])
    lowest = floor(log10(least))
    step = max(1, -lowest // 6)
    axis = {"values": [10.0**power for power in range(0, lowest - 1, -step)], "labelExpr": _POWERS, "grid": False}
    return kind(
        field,
        title="p (Kruskal-Wallis)",
        axis=axis,
        scale={"type": "log", "domain": [10.0**lowest, 1], "nice": False, "reverse": reverse},
    )


def _marks(survey: OrderSurvey) -> dict[str, Any]:
    """Return the encoding of test outcomes as marks that differ in shape and fill."""
    present = [outcome for outcome in OUTCOMES if outcome in _outcomes(survey.tests)]
    shapes = dict(zip(OUTCOMES, ("triangle-up", "diamond", "circle"), strict=True))
    fills = dict(zip(OUTCOMES, (INK, SOFT, PAPER), strict=True))
    legend = {"orient": "bottom", "symbolSize": 80}
    return {
        "shape": alt.Shape(
            "outcome:N", title=None, legend=legend, scale={"domain": present, "range": [shapes[o] for o in present]}
        ),
        "fill": alt.Fill(
            "outcome:N", title=None, legend=legend, scale={"domain": present, "range": [fills[o] for o in present]}
        ),
    }


def _thresholds(survey: OrderSurvey, axis: str) -> list[alt.Chart]:
    """Draw labelled lines at alpha / |T| (dashed) and at alpha (dotted)."""
    kind = alt.X if axis == "x" else alt.Y
    scaled = _p_axis(kind, survey, "p:Q", reverse=axis == "y")
    lines = [("α / |T|", survey.threshold or survey.alpha, [5, 3]), ("α", survey.alpha, [1, 2])]
    layers = []
    for name, value, dash in lines[: 2 if survey.n_tests > 1 else 0] or lines[1:]:
        rows = pd.DataFrame({"p": [value], "name": [f"{name} = {value:.2g}"]})
        base = alt.Chart(rows).encode(**{axis: scaled})
        layers.append(base.mark_rule(color=INK, strokeDash=dash).encode())
        right = name == "α"
        if axis == "x":
            text = base.mark_text(align="left" if right else "right", dx=4 if right else -4, dy=-6, color=INK)
            layers.append(text.encode(text=alt.Text("name:N"), y=alt.value(0)))
        else:
            text = base.mark_text(align="right", dy=9 if right else -7, color=INK)
            layers.append(text.encode(text=alt.Text("name:N"), x=alt.value(418)))
    return layers


def _panel(test: OrderComparison, name: str) -> Chart:
    sides = (("fixed", test.fixed), ("random", test.random))
    factor, unit = _readable(test.unit, [*test.fixed.values, *test.random.values])
    runs = pd.DataFrame([{"order": order, "value": value * factor} for order, side in sides for value in side.values])
    middle = pd.DataFrame([{"order": order, **_ends(side, factor)} for order, side in sides])
    x = alt.X("order:N", title="order", axis={"labelAngle": 0, "ticks": False}, scale={"domain": ["fixed", "random"]})
    y = alt.Y("value:Q", title=f"runs ({unit})", scale=_ROOMY, axis={"tickCount": 4})
    shape = alt.Shape("order:N", legend=None, scale={"domain": ["fixed", "random"], "range": ["circle", "diamond"]})
    base = alt.Chart(middle).encode(x=x)
    return alt.layer(
        alt.Chart(runs).mark_tick(color=SOFT, thickness=1, width=22, opacity=0.6).encode(x=x, y=y),
        base.mark_rule(color=INK, strokeWidth=2.5).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        base.mark_point(color=INK, fill=INK, size=90, opacity=1).encode(y=y, shape=shape),
        title=_panel_title(name, CASES.get(test.case or 0, "no interval: too few runs")),
    ).properties(width=190, height=190)


def _ends(side: Side, factor: float) -> dict[str, float | None]:
    ends = {"value": side.median.value, "low": side.median.low, "high": side.median.high}
    return {name: None if value is None else value * factor for name, value in ends.items()}


def _readable(unit: str, values: Sequence[float]) -> tuple[float, str]:
    """Return a factor and a unit for display, so that short times are shown in ms, µs or ns."""
    largest = max(map(abs, values))
    if unit != "s" or largest >= 1 or largest == 0:
        return 1.0, unit or "no unit"
    return next(
        (10.0**power, name)
        for power, name in ((3, "ms"), (6, "µs"), (9, "ns"))
        if largest * 10**power >= 1 or power == 9
    )


def _over_positions(row: Placed, name: str) -> Chart:
    factor, unit = _readable(row.unit, row.values)
    runs = pd.DataFrame({"position": row.positions, "value": np.array(row.values) * factor})
    low, high = runs["position"].min(), runs["position"].max()
    margin = 0.06 * (high - low or 1)
    x = alt.X(
        "position:Q",
        title="position in the run",
        axis={"tickCount": min(5, int(high - low) or 1), "format": "~f", "grid": False},
        scale={"domain": [low - margin, high + margin], "nice": False},
    )
    y = alt.Y("value:Q", title=f"runs ({unit})", scale=_ROOMY, axis={"tickCount": 4})
    tau = row.trend.statistic
    subtitle = (
        row.trend.reason if tau is None else f"trend: tau = {tau:.2f}, p = {row.trend.p:.2g}".replace("= -", "= −")
    )
    line = alt.Chart(_middle(runs)).mark_line(
        color=INK, strokeWidth=1.5, point=alt.OverlayMarkDef(color=INK, fill=INK, size=50)
    )
    return alt.layer(
        alt.Chart(runs).mark_point(color=SOFT, size=28, opacity=0.8).encode(x=x, y=y),
        line.encode(x=x, y=y),
        title=_panel_title(name, subtitle or ""),
    ).properties(width=190, height=170)


def _middle(runs: pd.DataFrame) -> pd.DataFrame:
    """Compute the median at each position; if there are many positions, neighbouring positions share a median."""
    at = runs["position"]
    parts = at if at.nunique() <= MOST_MEDIANS else pd.cut(at, MOST_MEDIANS, labels=False)
    return runs.groupby(parts.to_numpy()).median()


def _panel_title(name: str, below: str) -> alt.TitleParams:
    return heading(name, below, frame="group", fontSize=11, subtitleFontSize=10, limit=230)


def _names(tests: Sequence[OrderComparison], survey: OrderSurvey) -> dict[str, Any]:
    """Build an axis at positions 0, 1, 2, ... with the names of the tests."""
    names = [survey.title(test) for test in tests]
    short = shortened(names, LONGEST)
    return names_axis([short[name] for name in names], domain=True, grid=False)


def _grid(panels: list[Chart], title: str, subtitle: Sequence[str]) -> Chart:
    # align panels by their frames ("flush"), so that wide labels do not move a panel
    grid = alt.concat(
        *panels, columns=COLUMNS, spacing={"row": 84, "column": 86}, bounds="flush", title=heading(title, subtitle)
    )
    return grid.resolve_scale(x="independent", y="independent", shape="independent").configure_view(stroke=None)
