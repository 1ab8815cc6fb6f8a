"""Draw the figures of the report on contexts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.arrays import Floats
from analysis.document import shortened
from analysis.document.figures import INK, PAPER, SOFT, Chart, framed, heading, names_axis, readable
from analysis.methods.contexts._document import (
    FEW,
    MARK,
    figure_names,
    is_marked,
    most_dependent,
    numeric_factors,
    varies,
)
from analysis.methods.contexts._observer import ObserverEffect, SpeedupByLevel, as_number, by_size
from analysis.methods.contexts._survey import CausalCheck, ContextSurvey, Sweep
from analysis.methods.contexts._sweep import Context, FactorEffect

LIGHT = "#c9d0da"
NO_INTERVAL = "↕: no finite interval"
N_ROWS, N_PANELS, N_POINTS, N_LETTERS = 20, 4, 200, 44
WIDTH, HEIGHT = 330, 200
MARKS = {"faster": "triangle-up", "slower": "triangle-down", "no significant change": "circle", "not tested": "cross"}
UNKNOWN = {"higher": "triangle-up", "lower": "triangle-down"}  # the verdicts if the better direction is unknown


def charts(survey: ContextSurvey) -> dict[str, Chart]:
    """Draw each figure of a survey that has data; return a dict from the name of the figure to the figure.

    Returns some of the names "violins", "contexts-sorted", "densities", "speedup-by-level", "intervention",
    "observer-effect" and "speedup-by-instrumentation".
    """
    drawers: dict[str, Callable[[ContextSurvey], Chart | None]] = {
        "violins": violins,
        "contexts-sorted": contexts_sorted,
        "densities": densities,
        "speedup-by-level": speedup_by_level,
        "intervention": intervention,
        "observer-effect": observer_effect,
        "speedup-by-instrumentation": speedup_by_instrumentation,
    }
    charts = {name: drawers[name](survey) for name in figure_names(survey)}
    return {name: chart for name, chart in charts.items() if chart is not None}


def violins(survey: ContextSurvey) -> Chart | None:
    """Draw the speed-ups of each benchmark over its contexts, and a line at 1; return None if nothing varies."""
    varied = [sweep for sweep in survey.benchmarks if len(sweep.contexts) > 1]
    drawn = most_dependent(varied)[:N_ROWS]
    if not drawn:
        return None
    scale = _scale([(sweep.quartiles.lowest or 1.0, sweep.quartiles.highest or 1.0) for sweep in drawn])
    below, above = ("slower", "faster") if all(sweep.better for sweep in drawn) else ("lower", "higher")
    if len({bool(sweep.better) for sweep in drawn}) > 1:
        below, above = "slower or lower", "faster or higher"
    title = f"{_speedup_title(drawn)} (below 1: {below}, above 1: {above})"
    x = alt.X("speedup:Q", title=title, scale=scale)
    short = _names(drawn)
    names = [f"{short[sweep.name]} (n = {len(sweep.contexts)}){' ↔' * is_marked(sweep, survey)}" for sweep in drawn]
    axis = names_axis(names, values=list(range(len(drawn))), grid=False)
    y = alt.Y("row:Q", title=None, axis=axis, scale={"domain": [len(drawn) - 0.5, -0.5], "nice": False})
    boxes = alt.Chart(_boxes(drawn)).encode(y=y)
    layers = [
        *_bodies(drawn, x, y),
        alt.Chart(pd.DataFrame({"speedup": [1.0]})).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x),
        boxes.mark_rule(color=INK, strokeWidth=5).encode(x=alt.X("q1:Q", scale=scale), x2="q3:Q"),
        boxes.mark_point(color=INK, fill=PAPER, opacity=1, size=45).encode(x=alt.X("median:Q", scale=scale)),
    ]
    cut = (
        f"shows the {N_ROWS} of {len(varied)} benchmarks that depend most on the context; "
        if len(varied) > N_ROWS
        else ""
    )
    lines = [f"{cut}bar: middle half of the contexts, point: median", MARK]
    what = "Speed-up" if all(sweep.better for sweep in drawn) else "Ratio"
    return framed(layers, f"{what} over contexts", lines).properties(width=420, height=34 * len(drawn))


def contexts_sorted(survey: ContextSurvey) -> Chart | None:
    """Draw the contexts of some benchmarks by increasing speed-up, with intervals from their runs."""
    varied = [sweep for sweep in survey.benchmarks if len(sweep.contexts) > 1]
    sweeps = most_dependent(varied)[:N_PANELS]
    names = _names(sweeps)
    return _panels([_sorted(sweep, names[sweep.name]) for sweep in sweeps])


def densities(survey: ContextSurvey) -> Chart | None:
    """Draw densities of the measured values of both versions across all contexts; return None if nothing varies."""
    varying = [sweep for sweep in survey.benchmarks if len(sweep.contexts) >= FEW and varies(sweep)]
    sweeps = most_dependent(varying)[:N_PANELS]
    names = _names(sweeps)
    return _panels([_densities(sweep, names[sweep.name]) for sweep in sweeps])


def speedup_by_level(survey: ContextSurvey) -> Chart | None:
    """Draw the speed-up by the size of the environment [1]_, or by another factor whose levels are numbers.

    References
    ----------
    .. [1] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, Figure 6, doi:10.1145/1508244.1508275
    """
    drawn = numeric_factors(survey)[:N_PANELS]
    names = _names([sweep for sweep, _ in drawn])
    return _panels([_by_level(sweep, names[sweep.name], factor) for sweep, factor in drawn])


def intervention(survey: ContextSurvey) -> Chart | None:
    """Draw speed-ups with the suspected cause free and held fixed; return None if no runs have a cause held fixed."""
    checks = [(sweep, sweep.causal) for sweep in most_dependent(survey.benchmarks) if sweep.causal]
    panels = [(sweep, causal) for sweep, causal in checks if causal.contexts][:N_PANELS]
    names = _names([sweep for sweep, _ in panels])
    return _panels([_intervention(sweep, names[sweep.name], causal) for sweep, causal in panels])


def observer_effect(survey: ContextSurvey) -> Chart | None:
    """Draw the values at each level of instrumentation, divided by the values at the lowest level.

    Return None if the report does not compare levels.
    """
    effects: dict[tuple[str, str], list[ObserverEffect]] = {}
    for effect in survey.observer.effects if survey.observer else ():
        if any(level.ratio.value for level in effect.levels):
            effects.setdefault((effect.application, effect.benchmark), []).append(effect)
    panels = sorted(effects.items(), key=lambda row: max(map(_largest, row[1])), reverse=True)[:N_PANELS]
    names = shortened((benchmark for (_, benchmark), _ in panels), N_LETTERS)
    by = survey.observer.by if survey.observer else ""
    return _panels([_observer_effect(names[benchmark], versions, by) for (_, benchmark), versions in panels])


def speedup_by_instrumentation(survey: ContextSurvey) -> Chart | None:
    """Draw the speed-up by level of instrumentation, and the range that noise explains.

    Return None if the report does not compare levels.
    """
    compared = [
        (sweep, sweep.by_instrumentation) for sweep in most_dependent(survey.benchmarks) if sweep.by_instrumentation
    ]
    panels = [(sweep, speedups) for sweep, speedups in compared if speedups.levels][:N_PANELS]
    names = _names([sweep for sweep, _ in panels])
    return _panels([_by_instrumentation(sweep, names[sweep.name], speedups) for sweep, speedups in panels])


def _names(sweeps: Sequence[Sweep]) -> Mapping[str, str]:
    return shortened((sweep.name for sweep in sweeps), N_LETTERS)


def _largest(effect: ObserverEffect) -> float:
    return max((abs(np.log(level.ratio.value)) for level in effect.levels if level.ratio.value), default=0.0)


def _panels(charts: Sequence[Chart]) -> Chart | None:
    if not charts:
        return None
    grid = alt.concat(*charts, columns=min(2, len(charts)), spacing={"row": 30, "column": 40})
    return grid.configure_view(stroke=None).configure_legend(orient="top", symbolSize=120)


def _scale(ends: Sequence[tuple[float, float]]) -> Any:
    """Return a logarithmic scale if ratios are far apart, otherwise a linear scale; each scale includes 1."""
    lowest, highest = min(1.0, *(low for low, _ in ends)), max(1.0, *(high for _, high in ends))
    if highest / lowest > 4:
        return {"type": "log", "domain": [lowest / 1.1, highest * 1.1], "nice": False}
    margin = max(0.08 * (highest - lowest), 0.002)
    return {"domain": [lowest - margin, highest + margin], "nice": False, "zero": False}


def _boxes(sweeps: Sequence[Sweep]) -> pd.DataFrame:
    rows = [(row, at.q1, at.median, at.q3) for row, at in enumerate(sweep.quartiles for sweep in sweeps)]
    return pd.DataFrame(rows, columns=["row", "q1", "median", "q3"])


def _bodies(sweeps: Sequence[Sweep], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw a density shape if there are enough contexts; otherwise draw one point per context."""
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
        bodies.append(base.encode(x=x, y=y, y2=alt.Y2("below:Q"), detail=alt.Detail("benchmark:N")))
    if points:
        marks = alt.Chart(pd.concat(points)).mark_point(color=SOFT, filled=True, opacity=1, size=35, yOffset=-9)
        bodies.append(marks.encode(x=x, y=y))
    return bodies


def _density(values: Floats, *, reach: float = 3) -> tuple[Floats, Floats]:
    """Compute a kernel density with Scott's bandwidth, on a grid that extends a given number of bandwidths."""
    width = float(values.std(ddof=1)) * len(values) ** -0.2
    at = np.linspace(values.min() - reach * width, values.max() + reach * width, 101)
    near = np.exp(-0.5 * ((at[:, None] - values) / width) ** 2)
    return at, near.mean(axis=1) / (width * np.sqrt(2 * np.pi))


def _ratios(contexts: Sequence[Context]) -> Floats:
    return np.array([context.speedup.value for context in contexts], dtype=np.float64)


def _sorted(sweep: Sweep, name: str) -> Chart:
    ordered = sorted(sweep.contexts, key=lambda context: context.speedup.value or 0.0)
    picks = [int(at) for at in np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), N_POINTS)).round())]
    rows = _context_rows([ordered[at] for at in picks]).assign(place=[at + 1 for at in picks])
    ratios = rows["speedup"].to_numpy()
    reach = 2 * max(float(np.ptp(ratios)), 0.002)
    rows["low"] = rows["low"].clip(lower=max(float(ratios.min()) - reach, float(ratios.min()) / 2))
    rows["high"] = rows["high"].clip(upper=float(ratios.max()) + reach)
    numbers = rows[["speedup", "low", "high"]].to_numpy()
    scale = _scale([(float(np.nanmin(numbers)), float(np.nanmax(numbers)))])
    places = {"domain": [0, len(ordered) + 1], "nice": False}
    base = alt.Chart(rows).encode(
        x=alt.X(
            "place:Q",
            title=f"contexts, sorted by {'speed-up' if sweep.better else 'ratio'}",
            scale=places,
            axis=_FEW_TICKS,
        )
    )
    marks = MARKS if sweep.better else MARKS | UNKNOWN
    marks = {verdict: mark for verdict, mark in marks.items() if sweep.better or verdict not in ("faster", "slower")}
    shapes = {"domain": [*marks], "range": [*marks.values()]}
    shape = alt.Shape("alone:N", title="verdict for this context", scale=shapes)
    how_many = f"{len(ordered)} contexts" if len(picks) == len(ordered) else f"{len(picks)} of {len(ordered)} contexts"
    return alt.layer(
        _line_at_one(scale, sweep),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=SOFT)
        .encode(y=_speedup("low", scale, sweep), y2=alt.Y2("high:Q")),
        _without_interval(base, "low", _speedup("speedup", scale, sweep)),
        base.mark_point(color=INK, filled=True, opacity=1, size=28).encode(
            y=_speedup("speedup", scale, sweep), shape=shape
        ),
        title=heading(name, f"{how_many}; lines: intervals from their runs; {NO_INTERVAL}"),
    ).properties(width=WIDTH, height=HEIGHT)


def _without_interval(base: alt.Chart, low: str, y: alt.Y) -> alt.Chart:
    """Draw an arrow through each point without a finite interval, so that it does not look the most certain."""
    return base.transform_filter(f"!isValid(datum.{low})").mark_text(text="↕", fontSize=22, color=SOFT).encode(y=y)


def _context_rows(contexts: Sequence[Context]) -> pd.DataFrame:
    """Return one row per context: its speed-up, its interval, and the verdict for this context alone."""
    rows = [(at.speedup.value, at.speedup.low, at.speedup.high, at.outcome or "not tested") for at in contexts]
    table = pd.DataFrame(rows, columns=["speedup", "low", "high", "alone"])
    return table.astype({"speedup": float, "low": float, "high": float})


def _line_at_one(scale: Any, sweep: Sweep) -> alt.Chart:
    """Draw the line at 1, where both versions are equal."""
    line = alt.Chart(pd.DataFrame({"speedup": [1.0]})).mark_rule(color=INK, strokeDash=[1, 3])
    return line.encode(y=_speedup("speedup", scale, sweep))


def _speedup_title(sweeps: Sequence[Sweep]) -> str:
    titles = {"speed-up of the candidate" if sweep.better else "candidate / baseline" for sweep in sweeps}
    return " or ".join(sorted(titles, reverse=True))


def _speedup(field: str, scale: Any, sweep: Sweep) -> alt.Y:
    return alt.Y(f"{field}:Q", title=_speedup_title([sweep]), scale=scale, axis={"tickCount": 6})


def _densities(sweep: Sweep, name: str) -> Chart:
    typical = float(np.median([context.baseline for context in sweep.contexts]))
    factor, unit = readable(typical, sweep.unit or "no unit")
    versions = shortened((sweep.baseline, sweep.candidate), N_LETTERS // 2)
    sides = {"baseline": [c.baseline for c in sweep.contexts], "candidate": [c.candidate for c in sweep.contexts]}
    parts = []
    for version, values in sides.items():
        at, height = _density(np.array(values) * factor)
        parts.append(pd.DataFrame({"at": at, "height": height, "version": version}))
    base = alt.Chart(pd.concat(parts)).encode(
        x=alt.X("at:Q", title=f"mean of the runs in a context ({unit})", scale={"zero": False}, axis=_FEW_TICKS),
        y=alt.Y(
            "height:Q", stack=None, title="density over contexts", axis={"labels": False, "ticks": False, "grid": False}
        ),
    )
    shades = {"domain": [*sides], "range": [SOFT, INK]}
    dashes = {"domain": [*sides], "range": [[1, 0], [6, 3]]}
    return alt.layer(
        base.mark_area(color=SOFT, opacity=0.2, interpolate="linear").encode(detail=alt.Detail("version:N")),
        base.mark_line(interpolate="linear").encode(
            color=alt.Color("version:N", scale=shades, title=None, legend=_LINES),
            strokeDash=alt.StrokeDash("version:N", scale=dashes, title=None, legend=_LINES),
        ),
        title=heading(name, f"baseline {versions[sweep.baseline]}, candidate {versions[sweep.candidate]}"),
    ).properties(width=WIDTH, height=HEIGHT)


_LINES = {"symbolType": "stroke", "symbolSize": 400}
_FEW_TICKS = {"grid": False, "tickCount": 5}


def _by_level(sweep: Sweep, name: str, factor: FactorEffect) -> Chart:
    of_context = [(context.factors.get(factor.name, ""), context.speedup.value) for context in sweep.contexts]
    of_level = [(level.level, level.speedup.value) for level in factor.levels]
    points, means = (
        pd.DataFrame([(as_number(text), value) for text, value in rows if text], columns=["level", "speedup"])
        for rows in (of_context, of_level)
    )
    scale = _scale([(float(points["speedup"].min()), float(points["speedup"].max()))])
    x = alt.X("level:Q", title=factor.name, scale={"zero": False, "nice": False, "padding": 8}, axis=_FEW_TICKS)
    y = _speedup("speedup", scale, sweep)
    return alt.layer(
        _line_at_one(scale, sweep),
        alt.Chart(points).mark_point(color=SOFT, filled=True, opacity=0.6, size=18).encode(x=x, y=y),
        alt.Chart(means)
        .mark_line(color=INK, interpolate="linear", point=alt.OverlayMarkDef(color=INK))
        .encode(x=x, y=y),
        title=heading(name, f"points: contexts; line: geometric mean by {factor.name}"[: 2 * N_LETTERS]),
    ).properties(width=WIDTH, height=HEIGHT)


def _intervention(sweep: Sweep, name: str, causal: CausalCheck) -> Chart:
    names = {"cause free": sweep.contexts, "cause held fixed": causal.contexts}
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
        x=alt.X("place:Q", title=factor, axis=_FEW_TICKS, scale={"nice": False}),
        y=_speedup("speedup", scale, sweep),
        color=alt.Color("sweep:N", title=None, sort=None, scale={"domain": [*names], "range": [SOFT, INK]}),
    )
    lines = [
        base.transform_filter(alt.FieldEqualPredicate(field="sweep", equal=name)).mark_line(
            interpolate="linear", strokeDash=dash
        )
        for name, dash in zip(names, ([1, 0], [5, 3]), strict=True)
    ]
    shapes = {"domain": [*names], "range": ["circle", "square"]}
    points = base.mark_point(filled=True, opacity=1, size=24)
    return alt.layer(
        _line_at_one(scale, sweep),
        *lines,
        points.encode(shape=alt.Shape("sweep:N", title=None, sort=None, scale=shapes)),
        title=heading(name, f"cause held fixed: {causal.fixed[:N_LETTERS] or 'runs without a level'}"),
    ).properties(width=WIDTH, height=HEIGHT)


def _places(contexts: Sequence[Context]) -> tuple[str, Mapping[str, float]]:
    """Return the x positions of contexts.

    If contexts have a single numeric factor, the position is its value. Otherwise, contexts are in the order of their
    names.
    """
    factors = {name for context in contexts for name in context.factors}
    numbers = {context.name: as_number(next(iter(context.factors.values()), "")) for context in contexts}
    if len(factors) == 1 and all(number is not None for number in numbers.values()):
        return factors.pop(), {name: number or 0.0 for name, number in numbers.items()}
    return "contexts, sorted by name", {name: float(at + 1) for at, name in enumerate(numbers)}


def _observer_effect(name: str, versions: Sequence[ObserverEffect], by: str) -> Chart:
    columns = ["level", "version", "ratio", "low", "high"]
    levels = [
        (at.level, effect.version or "one version", at.ratio.value, at.ratio.low, at.ratio.high)
        for effect in versions
        for at in effect.levels
        if at.ratio.value is not None
    ]
    rows = pd.DataFrame(levels, columns=columns).astype(dict.fromkeys(columns[2:], float))
    scale = _scale([(float(rows[["ratio", "low"]].min().min()), float(rows[["ratio", "high"]].max().max()))])
    title = f"ratio to {by} = {versions[0].least}"
    y = alt.Y("ratio:Q", title=title, scale=scale, axis={"tickCount": 6})
    names = list(dict.fromkeys(rows["version"]))
    base = alt.Chart(rows).encode(
        x=alt.X("level:N", sort=by_size(rows["level"]), title=by, axis={"labelAngle": 0}),
        xOffset=alt.XOffset("version:N", sort=names),
    )
    line = alt.Chart(pd.DataFrame({"ratio": [1.0]})).mark_rule(color=INK, strokeDash=[1, 3]).encode(y=y)
    marks = base.mark_point(color=INK, filled=True, opacity=1, size=60)
    shape = alt.Shape("version:N", sort=names, title=None, legend={} if len(names) > 1 else None)
    return alt.layer(
        line,
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=SOFT)
        .encode(y=alt.Y("low:Q", title=title, scale=scale), y2=alt.Y2("high:Q")),
        _without_interval(base, "low", y),
        marks.encode(y=y, shape=shape),
        title=heading(name, f"lines: intervals; {NO_INTERVAL}; dotted: no effect"),
    ).properties(width=WIDTH, height=HEIGHT)


def _by_instrumentation(sweep: Sweep, name: str, speedups: SpeedupByLevel) -> Chart:
    names = ["level", "speedup", "from", "to", "low", "high", "against"]
    levels = [
        (at.level, at.speedup.value, at.speedup.low, at.speedup.high, at.low, at.high, _AGAINST[at.exceeds is True])
        for at in speedups.levels
    ]
    rows = pd.DataFrame(levels, columns=names).astype(dict.fromkeys(names[1:-1], float))
    numbers = rows[["speedup", "low", "high"]].to_numpy()
    scale = _scale([(float(np.nanmin(numbers)), float(np.nanmax(numbers)))])
    base = alt.Chart(rows).encode(x=alt.X("level:N", sort=None, title="instrumentation", axis={"labelAngle": 0}))
    shapes = {"domain": [*_AGAINST], "range": ["circle", "triangle-up"]}
    shape = alt.Shape("against:N", title="inter-run range", scale=shapes)
    with_range = base.transform_filter("isValid(datum.low)")
    return alt.layer(
        with_range.mark_bar(color=LIGHT, size=34).encode(y=_speedup("low", scale, sweep), y2=alt.Y2("high:Q")),
        base.transform_filter("isValid(datum.from)")
        .mark_rule(color=INK, clip=True)
        .encode(y=_speedup("from", scale, sweep), y2=alt.Y2("to:Q")),
        _without_interval(base, "from", _speedup("speedup", scale, sweep)),
        base.mark_point(color=INK, filled=True, opacity=1, size=70).encode(
            y=_speedup("speedup", scale, sweep), shape=shape
        ),
        title=heading(name, f"grey: range of single runs at the lowest level; {NO_INTERVAL}"),
    ).properties(width=WIDTH, height=HEIGHT)


_AGAINST = ("inside, or unknown", "outside")
