"""Charts for coordinators that show how a study proceeds: phases, labels over time, and time per item."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

import altair as alt
import pandas as pd

INK, BAR, SOFT = "#1b2a41", "#3474b5", "#8a94a6"
LINES = (BAR, SOFT, "#c8691c")  # visible on a light and on a dark ground
SHADES = ("#eef2f7", "#dbe4ef")  # neighbouring phases also differ in greyscale
HEIGHT, BAND_HEIGHT = 190, 70
MIN_TICKS, MAX_TICKS, DAYS_OF_WEEK = 2, 9, 8
MINUTES_ON_AXIS = 48 * 60
STEPS_MIN = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)
TRADE_OFF_PX, LINE_PX = 300, 16  # height of the figure, and of a line of text
HEADROOM = 1.3  # space above the highest bar for the names of phases


def timeline(phases: Sequence[tuple[str, datetime, datetime]], counts: Sequence[tuple[datetime, int]]) -> Any:
    """Return a chart with the phases of the study as named bands, and the number of labels per hour or day as bars.

    There is at least one phase (name, start, end). A count belongs to the hour or day that starts at its time.
    """
    span = phases[-1][2] - phases[0][1]
    bands = pd.DataFrame(
        [
            {"phase": name, "begin": begin, "end": end, "shade": number % 2,
             "shown": name if end - begin >= span * (0.01 + 0.012 * len(name)) else ""}
            for number, (name, begin, end) in enumerate(phases)
        ]
    )  # fmt: skip
    domain = [1000 * moment.timestamp() for moment in (phases[0][1], phases[-1][2])]
    axis = _time_axis(phases[0][1], phases[-1][2])
    x = alt.X("begin:T", title=None, axis=axis, scale={"domain": domain})
    band = (
        alt.Chart(bands)
        .mark_rect(stroke="#ffffff")
        .encode(
            x=x, x2=alt.X2("end:T"),
            color=alt.Color("shade:N", scale={"domain": [0, 1], "range": list(SHADES)}, legend=None),
            tooltip=[alt.Tooltip("phase:N"), alt.Tooltip("begin:T", format="%e %b %Y %H:%M"),
                     alt.Tooltip("end:T", format="%e %b %Y %H:%M")],
        )
    )  # fmt: skip
    name = alt.Chart(bands).mark_text(align="left", dx=5, fontSize=12, color=INK).encode(
        x=x, y=alt.value(12), text=alt.Text("shown:N")
    )  # fmt: skip
    layers = [band, name]
    if len(counts) > 1:  # a single bar has no information and can be much wider than the phases
        layers.append(_bars(counts))
    return alt.layer(*layers).properties(height=HEIGHT if len(counts) > 1 else BAND_HEIGHT, width="container")


def labels_by_day(
    counts: Sequence[tuple[datetime, int]],
    n_all: int,
    end: date | None,
    between: tuple[date, date] | None,
    *,
    now: datetime,
) -> Any:
    """Return a chart of the labels given so far, with the number of all labels and the expected finish.

    `counts` has the labels per hour or day. `end` and `between` are the expected finish and its interval; None if they
    are unknown.
    """
    so_far = 0
    points: list[dict[str, Any]] = [{"time": counts[0][0], "labels": 0}]
    for at, n in counts:
        so_far += n
        points.append({"time": min(at + timedelta(hours=1), now), "labels": so_far})
    last = {"time": max(now, points[-1]["time"]), "labels": so_far}
    ahead = {day: _moment_of(day, last["time"]) for day in filter(None, [end, *(between or ())])}
    is_over = so_far >= n_all
    latest = last["time"] if is_over else max([last["time"], *ahead.values()])
    x = alt.X("time:T", title=None, axis=_time_axis(counts[0][0], latest))
    y = alt.Y("labels:Q", title=None, axis={"tickCount": 4}, scale={"domain": [0, max(n_all, so_far)]})
    line = alt.Chart(pd.DataFrame([*points, last])).mark_line(color=BAR, strokeWidth=2.5).encode(x=x, y=y)
    here = alt.Chart(pd.DataFrame([{**last, "words": f"{so_far} now"}]))
    layers = [
        line,
        here.mark_point(color=BAR, filled=True, size=60).encode(x=x, y=y),
        here.mark_text(align="left", dx=10, dy=12, fontSize=13, color=SOFT).encode(x=x, y=y, text=alt.Text("words:N")),
        alt.Chart(pd.DataFrame([{"labels": n_all}])).mark_rule(color=SOFT, strokeDash=[4, 4]).encode(y=y),
    ]
    if end is not None and not is_over:
        finish = [last, {"time": ahead[end], "labels": n_all}]
        layers.insert(0, alt.Chart(pd.DataFrame(finish)).mark_line(color=BAR, strokeDash=[2, 4]).encode(x=x, y=y))
    if between is not None and not is_over:
        low, high = (ahead[day] for day in between)
        area = [last, {"time": low, "labels": n_all}, {"time": high, "labels": n_all}]
        shade = alt.Chart(pd.DataFrame([{**point, "order": i} for i, point in enumerate([*area, last])]))
        layers.insert(0, shade.mark_line(color=BAR, filled=True, fill=BAR, fillOpacity=0.12, strokeWidth=0).encode(
            x=x, y=y, order=alt.Order("order:Q")))  # fmt: skip
    return alt.layer(*layers).properties(height=210, width="container")


def _moment_of(day: date, now: datetime) -> datetime:
    """Return the noon of a day that comes, or the end of today: a forecast never goes back in time."""
    noon, midnight = (datetime.combine(day, at, UTC) for at in (time(12), time(23, 59)))
    return noon if noon > now else max(midnight, now)


def _time_axis(begin: datetime, end: datetime) -> Any:
    """Return an axis with at most nine moments, on which each day is named once; within two days, it has hours."""
    minutes = max(1, -(-int((end - begin).total_seconds()) // 60))
    if minutes <= MINUTES_ON_AXIS:
        step = timedelta(minutes=next(step for step in STEPS_MIN if minutes / step < MAX_TICKS))
        words = "%H:%M" if begin.date() == end.date() else "%a %H:%M"
    else:
        days = (end.date() - begin.date()).days
        step = timedelta(days=-(-days // MAX_TICKS))
        words = "%a %e" if days < DAYS_OF_WEEK else "%e %b"
    first = datetime.combine(begin.date(), time(), UTC)
    n_steps = (end - first) // step + 1
    values = [value for number in range(n_steps) if begin <= (value := first + step * number) <= end]
    if len(values) < MIN_TICKS:  # all within a few minutes
        return {"grid": False, "tickCount": MIN_TICKS, "format": "%H:%M:%S"}
    moments = [alt.DateTime(year=at.year, month=at.month, date=at.day, hours=at.hour, minutes=at.minute, utc=True)
               for at in values]  # fmt: skip
    return {"grid": False, "values": moments, "format": words, "labelOverlap": True}


def time_per_item(seconds: Sequence[float]) -> Any:
    """Return a histogram of the time on task, in seconds on a logarithmic axis."""
    edges = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, float("inf"))
    binned = pd.cut(pd.Series(list(seconds), dtype=float), edges, right=False).value_counts(sort=False)
    names = [f"{low:g}–{high:g}" if high != float("inf") else f"{low:g} +" for low, high in pairwise(edges)]
    table = pd.DataFrame({"seconds": names, "answers": binned.to_numpy()})
    used = table.index[table["answers"] > 0]
    table = table.loc[used.min() : used.max()] if len(used) else table.iloc[:0]
    return (
        alt.Chart(table)
        .mark_bar(color=BAR)
        .encode(
            x=alt.X("seconds:N", sort=None, title="seconds per item", axis={"labelAngle": 0}),
            y=alt.Y("answers:Q", title="answers", axis={"grid": True, "tickMinStep": 1}),
            tooltip=[alt.Tooltip("seconds:N"), alt.Tooltip("answers:Q")],
        )
        .properties(height=170, width="container")
    )


def precision(rows: Sequence[Mapping[str, Any]], *, wanted: float, planned: int) -> Any:
    """Return a chart of the interval width against the number of items, with one line per quantity.

    Marks show the plan and the target width. Rows have the keys items, half-width and quantity.
    """
    line = (
        alt.Chart(pd.DataFrame(rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("items:Q", title="items", scale={"nice": False}, axis={"tickCount": 10}),
            y=alt.Y("half-width:Q", title="half-width of the 95 % interval", scale={"zero": True}),
            color=alt.Color("quantity:N", title=None, legend={"orient": "top", "labelLimit": 0, "columns": 1},
                            scale={"range": list(LINES)}),
            strokeDash=alt.StrokeDash("quantity:N", title=None, legend=None),
            tooltip=[alt.Tooltip("quantity:N"), alt.Tooltip("items:Q"), alt.Tooltip("half-width:Q", format=".3f")],
        )
    )  # fmt: skip
    rules = (
        alt.Chart(pd.DataFrame({"wanted": [wanted]}))
        .mark_rule(color=SOFT, strokeDash=[4, 3])
        .encode(y=alt.Y("wanted:Q"))
    )
    here = alt.Chart(pd.DataFrame({"planned": [planned]})).mark_rule(color=SOFT).encode(x=alt.X("planned:Q"))
    return alt.layer(line, rules, here).properties(height=300, width="container")


def trade_off(rows: Sequence[Mapping[str, Any]], here: Mapping[str, Any]) -> Any:
    """Return a chart of the half-width of the interval of kappa by minutes per reviewer, with a point for this plan.

    Rows have the keys minutes, half-width and quantity; `here` is such a row.
    """
    table = pd.DataFrame([{**row, "is here": row["quantity"] == here["quantity"]} for row in rows])
    last = table.loc[table.groupby("quantity")["minutes"].idxmax()].sort_values("half-width", ascending=False)
    low, high = table["half-width"].min(), table["half-width"].max()
    gap, places = (high - low) * LINE_PX / (TRADE_OFF_PX - len(last) * LINE_PX), list[float]()
    for at in last["half-width"]:  # from the top down, so that no name covers another
        places.append(min(at, places[-1] - gap) if places else at)
    scale = {"domain": [min(low, *places), high], "nice": False}
    x = alt.X("minutes:Q", title="minutes per reviewer", axis={"grid": False, "tickCount": 6})
    y = alt.Y("half-width:Q", title=None, axis={"tickCount": 4, "labelExpr": "'±' + datum.label"}, scale=scale)
    colour = alt.condition("datum['is here']", alt.value(BAR), alt.value(SOFT))
    line = alt.Chart(table).mark_line(strokeWidth=2.5).encode(x=x, y=y, detail=alt.Detail("quantity:N"), color=colour)
    name_y = alt.Y("place:Q", title=None, scale=scale)
    ends = alt.Chart(last.assign(place=places)).mark_text(align="left", dx=6, fontSize=13, color=SOFT).encode(
        x=x, y=name_y, text=alt.Text("quantity:N")
    )  # fmt: skip
    point = alt.Chart(pd.DataFrame([{**here, "words": "this plan"}]))
    return alt.layer(
        line, ends, point.mark_point(color=BAR, filled=True, size=80).encode(x=x, y=y),
        point.mark_text(align="left", dx=10, dy=-8, fontSize=13, color=BAR).encode(x=x, y=y, text=alt.Text("words:N")),
    ).properties(height=TRADE_OFF_PX, width="container")  # fmt: skip


def _bars(counts: Sequence[tuple[datetime, int]]) -> Any:
    hourly = any(at.hour for at, _ in counts) or len(counts) == 1
    step = timedelta(hours=1) if hourly else timedelta(days=1)
    table = pd.DataFrame([{"from": at, "to": at + step, "labels": n, "zero": 0} for at, n in counts])
    top = HEADROOM * max(n for _, n in counts)
    return (
        alt.Chart(table)
        .mark_rect(color=BAR, stroke="#ffffff", strokeWidth=1, clip=True)
        .encode(
            x=alt.X("from:T", title=None, axis=_time_axis(counts[0][0], counts[-1][0] + step)),
            x2=alt.X2("to:T"),
            y=alt.Y("labels:Q", title="labels per hour" if hourly else "labels per day",
                    scale={"domain": [0, top], "nice": False},
                    axis={"tickMinStep": 1, "tickCount": 4, "grid": False}),
            y2=alt.Y2("zero:Q"),
            tooltip=[alt.Tooltip("from:T", format="%e %b %Y %H:%M"), alt.Tooltip("labels:Q")],
        )
    )  # fmt: skip
