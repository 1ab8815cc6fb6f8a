"""Figures of measurement contexts: speed-ups over contexts, sorted, as densities, with and without the cause."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.benchmark import FASTER, SLOWER
from analysis.comparison import NOT_SHOWN
from analysis.contexts import CausalCheck, Context, ObserverEffect, Survey, Sweep, as_number
from analysis.document import clean
from analysis.document.figures import INK, PAPER, SOFT, Chart
from analysis.runs import Floats

LIGHT = "#c9d0da"
FEW = 8  # contexts; a violin of fewer would show a shape that is not known
N_ROWS, N_PANELS, N_POINTS, N_LETTERS = 20, 4, 200, 44
WIDTH, HEIGHT = 330, 200
MARKS = {FASTER: "triangle-up", SLOWER: "triangle-down", NOT_SHOWN: "circle", "not tested": "cross"}


def charts(survey: Survey) -> dict[str, Chart]:
    """All figures of a survey by name; those with nothing to show are left out.

    Parameters
    ----------
    survey : Survey

    Returns
    -------
    dict of str to Chart
        Of "violins", "contexts-sorted", "densities", "intervention" and "observer-effect".
    """
    charts = {
        "violins": violins(survey),
        "contexts-sorted": contexts_sorted(survey),
        "densities": densities(survey),
        "intervention": intervention(survey),
        "observer-effect": observer(survey),
    }
    return {name: chart for name, chart in charts.items() if chart is not None}


def most_dependent(sweeps: Iterable[Sweep]) -> list[Sweep]:
    """Those first whose conclusion depends most on the context: both directions, straddling 1, wide."""

    def order(sweep: Sweep) -> tuple[bool, bool, float]:
        ends = sweep.quartiles
        return sweep.both_directions, ends.straddles, (ends.highest or 1.0) / (ends.lowest or 1.0)

    return sorted(sweeps, key=order, reverse=True)


def violins(survey: Survey) -> Chart | None:
    """The speed-ups of each benchmark over its contexts beside 1; None without benchmarks."""
    given = [sweep for sweep in survey.benchmarks if len(sweep.contexts) > 1]
    drawn = most_dependent(given)[:N_ROWS]
    if not drawn:
        return None
    scale = _scale([(sweep.quartiles.lowest or 1.0, sweep.quartiles.highest or 1.0) for sweep in drawn])
    x = alt.X("speedup:Q", title="speed-up of the candidate (below 1: slower, above 1: faster)", scale=scale)
    names = [f"{short(sweep.name)} (n = {len(sweep.contexts)}){' ↔' * sweep.quartiles.straddles}" for sweep in drawn]
    axis = alt.Axis(
        values=list(range(len(drawn))), labelExpr=f"{json.dumps(clean(names))}[datum.value]",
        labelLimit=0, labelOverlap=False, grid=False, ticks=False, domain=False,
    )  # fmt: skip
    y = alt.Y("row:Q", title=None, axis=axis, scale=alt.Scale(domain=[len(drawn) - 0.5, -0.5], nice=False))
    boxes = alt.Chart(_boxes(drawn)).encode(y=y)
    layers = [
        *_bodies(drawn, x, y),
        alt.Chart(pd.DataFrame({"speedup": [1.0]})).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x),
        boxes.mark_rule(color=INK, strokeWidth=5).encode(x=alt.X("q1:Q", scale=scale), x2="q3:Q"),
        boxes.mark_point(color=INK, fill=PAPER, opacity=1, size=45).encode(x=alt.X("median:Q", scale=scale)),
    ]
    cut = f"the {N_ROWS} of {len(given)} benchmarks that depend most on it; " if len(given) > N_ROWS else ""
    lines = [
        f"{cut}bar: middle half of the contexts, point: median",
        "↔: which version is faster depends on the context",
    ]
    title = alt.TitleParams("Speed-up over contexts", subtitle=lines, anchor="start", fontSize=12, offset=8)
    return alt.layer(*layers, title=title).properties(width=420, height=34 * len(drawn)).configure_view(stroke=None)


def contexts_sorted(survey: Survey) -> Chart | None:
    """The contexts of some benchmarks from the lowest to the highest speed-up, with intervals from their runs."""
    given = [sweep for sweep in survey.benchmarks if len(sweep.contexts) > 1]
    return _panels([_sorted(sweep) for sweep in most_dependent(given)[:N_PANELS]])


def densities(survey: Survey) -> Chart | None:
    """What was measured of both versions over all contexts, as two densities; None where nothing varies."""
    given = [sweep for sweep in survey.benchmarks if len(sweep.contexts) >= FEW and _varies(sweep)]
    return _panels([_densities(sweep) for sweep in most_dependent(given)[:N_PANELS]])


def intervention(survey: Survey) -> Chart | None:
    """Speed-ups over contexts as they come and with the suspected cause held fixed; None without such runs."""
    given = [(sweep, sweep.causal) for sweep in most_dependent(survey.benchmarks) if sweep.causal]
    return _panels([_intervention(sweep, causal) for sweep, causal in given if causal.contexts][:N_PANELS])


def observer(survey: Survey) -> Chart | None:
    """Speed-up by level of instrumentation, beside what runs alone explain; None where it was not asked for."""
    given = [(sweep, sweep.observer) for sweep in most_dependent(survey.benchmarks) if sweep.observer]
    return _panels([_observer(sweep, effect) for sweep, effect in given if effect.levels][:N_PANELS])


def short(name: str) -> str:
    """A name that fits beside a figure: its end, which tells benchmarks apart.

    Examples
    --------
    >>> short("b"), len(short("x" * 100))
    ('b', 44)
    """
    return name if len(name) <= N_LETTERS else f"…{name[1 - N_LETTERS :]}"


def _panels(charts: Sequence[Chart]) -> Chart | None:
    if not charts:
        return None
    grid = alt.concat(*charts, columns=min(2, len(charts)), spacing={"row": 30, "column": 40})
    return grid.configure_view(stroke=None).configure_legend(orient="top", symbolSize=120)


def _titled(sweep: Sweep, said: str) -> Any:
    return alt.TitleParams(
        short(sweep.name), subtitle=said, anchor="start", fontSize=12, limit=WIDTH + 20, offset=8
    )  # fmt: skip


def _scale(ends: Sequence[tuple[float, float]]) -> Any:
    """A logarithmic scale for ratios that are far apart, else a plain one; 1 is always on it."""
    lowest, highest = min(1.0, *(low for low, _ in ends)), max(1.0, *(high for _, high in ends))
    if highest / lowest > 4:
        return alt.Scale(type="log", domain=[lowest / 1.1, highest * 1.1], nice=False)
    room = max(0.08 * (highest - lowest), 0.002)
    return alt.Scale(domain=[lowest - room, highest + room], nice=False, zero=False)


def _boxes(sweeps: Sequence[Sweep]) -> pd.DataFrame:
    rows = [(row, at.q1, at.median, at.q3) for row, at in enumerate(sweep.quartiles for sweep in sweeps)]
    return pd.DataFrame(rows, columns=["row", "q1", "median", "q3"])


def _bodies(sweeps: Sequence[Sweep], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """A shape where there are enough contexts for one, else the contexts themselves."""
    shapes, points = [], []
    for row, sweep in enumerate(sweeps):
        ratios = _ratios(sweep.contexts)
        if len(ratios) < FEW or np.ptp(ratios) == 0:
            points.append(pd.DataFrame({"row": row, "speedup": ratios}))
            continue
        at, height = _density(ratios, reach=0)
        half = 0.42 * height / height.max()
        shapes.append(pd.DataFrame({"row": row - half, "below": row + half, "speedup": at, "benchmark": row}))
    bodies = []
    if shapes:
        base = alt.Chart(pd.concat(shapes)).mark_area(color=LIGHT, opacity=1, interpolate="linear")
        bodies.append(base.encode(x=x, y=y, y2="below:Q", detail="benchmark:N"))
    if points:
        marks = alt.Chart(pd.concat(points)).mark_point(color=SOFT, filled=True, opacity=1, size=35, yOffset=-9)
        bodies.append(marks.encode(x=x, y=y))
    return bodies


def _density(values: Floats, *, reach: float = 3) -> tuple[Floats, Floats]:
    """A smooth density with the width of Scott's rule, on a grid that reaches so many widths beyond the values."""
    width = float(values.std(ddof=1)) * len(values) ** -0.2
    at = np.linspace(values.min() - reach * width, values.max() + reach * width, 101)
    near = np.exp(-0.5 * ((at[:, None] - values) / width) ** 2)
    return at, near.mean(axis=1) / (width * np.sqrt(2 * np.pi))


def _ratios(contexts: Sequence[Context]) -> Floats:
    return np.array([context.speedup.value for context in contexts], dtype=np.float64)


def _sorted(sweep: Sweep) -> Chart:
    ordered = sorted(sweep.contexts, key=lambda context: context.speedup.value or 0.0)
    shown = [int(at) for at in np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), N_POINTS)).round())]
    rows = _context_rows([ordered[at] for at in shown]).assign(place=[at + 1 for at in shown])
    ratios = rows["speedup"].to_numpy()
    reach = 2 * max(float(np.ptp(ratios)), 0.002)
    rows["low"] = rows["low"].clip(lower=max(float(ratios.min()) - reach, float(ratios.min()) / 2))
    rows["high"] = rows["high"].clip(upper=float(ratios.max()) + reach)
    numbers = rows[["speedup", "low", "high"]].to_numpy()
    scale = _scale([(float(np.nanmin(numbers)), float(np.nanmax(numbers)))])
    places = alt.Scale(domain=[0, len(ordered) + 1], nice=False)
    base = alt.Chart(rows).encode(
        x=alt.X("place:Q", title="contexts, sorted by speed-up", scale=places, axis=_FEW_TICKS)
    )
    shapes = alt.Scale(domain=[*MARKS], range=[*MARKS.values()])
    shape = alt.Shape("alone:N", title="in this context alone", scale=shapes)
    said = f"{len(ordered)} contexts" if len(shown) == len(ordered) else f"{len(shown)} of {len(ordered)} contexts"
    return alt.layer(
        _one(scale),
        base.transform_filter("isValid(datum.low)").mark_rule(color=SOFT).encode(y=_speedup("low", scale), y2="high:Q"),
        base.mark_point(color=INK, filled=True, opacity=1, size=28).encode(y=_speedup("speedup", scale), shape=shape),
        title=_titled(sweep, f"{said}; lines: intervals from their runs"),
    ).properties(width=WIDTH, height=HEIGHT)


def _context_rows(contexts: Sequence[Context]) -> pd.DataFrame:
    """One row a context: its speed-up with its interval and what it shows alone."""
    rows = [(at.speedup.value, at.speedup.low, at.speedup.high, at.verdict or "not tested") for at in contexts]
    table = pd.DataFrame(rows, columns=["speedup", "low", "high", "alone"])
    return table.astype({"speedup": float, "low": float, "high": float})


def _one(scale: Any) -> alt.Chart:
    """The line where neither version is faster."""
    line = alt.Chart(pd.DataFrame({"speedup": [1.0]})).mark_rule(color=INK, strokeDash=[1, 3])
    return line.encode(y=_speedup("speedup", scale))


def _speedup(field: str, scale: Any) -> alt.Y:
    return alt.Y(f"{field}:Q", title="speed-up of the candidate", scale=scale, axis=alt.Axis(tickCount=6))


def _varies(sweep: Sweep) -> bool:
    return all(np.ptp([getattr(context, side) for context in sweep.contexts]) > 0 for side in ("baseline", "candidate"))


def _densities(sweep: Sweep) -> Chart:
    factor, unit = _readable(sweep)
    sides = {"baseline": [c.baseline for c in sweep.contexts], "candidate": [c.candidate for c in sweep.contexts]}
    parts = []
    for version, values in sides.items():
        at, height = _density(np.array(values) * factor)
        parts.append(pd.DataFrame({"at": at, "height": height, "version": version}))
    base = alt.Chart(pd.concat(parts)).encode(
        x=alt.X("at:Q", title=f"mean of the runs in a context ({unit})", scale=alt.Scale(zero=False), axis=_FEW_TICKS),
        y=alt.Y(
            "height:Q", stack=None, title="density over contexts", axis=alt.Axis(labels=False, ticks=False, grid=False)
        ),
    )
    shades = alt.Scale(domain=["baseline", "candidate"], range=[SOFT, INK])
    dashes = alt.Scale(domain=["baseline", "candidate"], range=[[1, 0], [6, 3]])
    shades = alt.Scale(domain=[*sides], range=[SOFT, INK])
    dashes = alt.Scale(domain=[*sides], range=[[1, 0], [6, 3]])
    return alt.layer(
        base.mark_area(color=SOFT, opacity=0.2, interpolate="linear").encode(detail="version:N"),
        base.mark_line(interpolate="linear").encode(
            color=alt.Color("version:N", scale=shades, title=None, legend=_LINES),
            strokeDash=alt.StrokeDash("version:N", scale=dashes, title=None, legend=_LINES),
        ),
        title=_titled(sweep, f"baseline {short(sweep.baseline)}, candidate {short(sweep.candidate)}"),
    ).properties(width=WIDTH, height=HEIGHT)


_LINES = alt.Legend(symbolType="stroke", symbolSize=400)
_FEW_TICKS = alt.Axis(grid=False, tickCount=5)


def _readable(sweep: Sweep) -> tuple[float, str]:
    """Seconds become ms, µs or ns where they are that small: the factor and the unit."""
    if sweep.unit != "s":
        return 1.0, sweep.unit or "no unit"
    typical = float(np.median([context.baseline for context in sweep.contexts]))
    return next(
        (by, unit)
        for by, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"))
        if typical * by >= 0.1 or by == 1e9
    )


def _intervention(sweep: Sweep, causal: CausalCheck) -> Chart:
    names = {"as it comes": sweep.contexts, "cause held fixed": causal.contexts}
    factor, places = _places([context for contexts in names.values() for context in contexts])
    rows = pd.DataFrame(
        [
            {"place": places[context.name], "speedup": context.speedup.value, "sweep": name}
            for name, contexts in names.items()
            for context in contexts
        ]
    )
    scale = _scale([(float(rows["speedup"].min()), float(rows["speedup"].max()))])
    base = alt.Chart(rows).encode(
        x=alt.X("place:Q", title=factor, axis=_FEW_TICKS, scale=alt.Scale(nice=False)),
        y=_speedup("speedup", scale),
        color=alt.Color("sweep:N", title=None, sort=None, scale=alt.Scale(domain=[*names], range=[SOFT, INK])),
    )
    lines = [
        base.transform_filter(alt.FieldEqualPredicate(field="sweep", equal=name)).mark_line(
            interpolate="linear", strokeDash=dash
        )
        for name, dash in zip(names, ([1, 0], [5, 3]), strict=True)
    ]
    shapes = alt.Scale(domain=[*names], range=["circle", "square"])
    points = base.mark_point(filled=True, opacity=1, size=24)
    return alt.layer(
        _one(scale),
        *lines,
        points.encode(shape=alt.Shape("sweep:N", title=None, sort=None, scale=shapes)),
        title=_titled(sweep, f"cause held fixed: {short(causal.fixed) or 'runs that name no level'}"),
    ).properties(width=WIDTH, height=HEIGHT)


def _places(contexts: Sequence[Context]) -> tuple[str, Mapping[str, float]]:
    """Where contexts stand: at the value of the only factor if that is a number, else in order of appearance."""
    factors = {name for context in contexts for name in context.factors}
    numbers = {context.name: as_number(next(iter(context.factors.values()), "")) for context in contexts}
    if len(factors) == 1 and all(number is not None for number in numbers.values()):
        return factors.pop(), {name: number or 0.0 for name, number in numbers.items()}
    return "contexts, in order of appearance", {name: float(at + 1) for at, name in enumerate(numbers)}


def _observer(sweep: Sweep, effect: ObserverEffect) -> Chart:
    names = ["level", "speedup", "from", "to", "low", "high", "against"]
    found = [
        (at.level, at.speedup.value, at.speedup.low, at.speedup.high, at.low, at.high, _AGAINST[at.exceeds is True])
        for at in effect.levels
    ]
    rows = pd.DataFrame(found, columns=names).astype(dict.fromkeys(names[1:-1], float))
    numbers = rows[["speedup", "low", "high"]].to_numpy()
    scale = _scale([(float(np.nanmin(numbers)), float(np.nanmax(numbers)))])
    base = alt.Chart(rows).encode(x=alt.X("level:N", sort=None, title="instrumentation", axis=alt.Axis(labelAngle=0)))
    shapes = alt.Scale(domain=[*_AGAINST], range=["circle", "triangle-up"])
    shape = alt.Shape("against:N", title="inter-run range", scale=shapes)
    known = base.transform_filter("isValid(datum.low)")
    return alt.layer(
        known.mark_bar(color=LIGHT, size=34).encode(y=_speedup("low", scale), y2="high:Q"),
        base.transform_filter("isValid(datum.from)")
        .mark_rule(color=INK, clip=True)
        .encode(y=_speedup("from", scale), y2="to:Q"),
        base.mark_point(color=INK, filled=True, opacity=1, size=70).encode(y=_speedup("speedup", scale), shape=shape),
        title=_titled(sweep, "grey: what single runs at the least level could have shown"),
    ).properties(width=WIDTH, height=HEIGHT)


_AGAINST = ("inside, or not known", "outside")
