"""Draw the dissimilarity measures, for example their means by application and their values by pair of runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from scipy.cluster import hierarchy

from analysis.arrays import Floats
from analysis.document.figures import INK, PAPER, SOFT, Chart, names_axis
from analysis.runs.dissimilarity import MEASURES, title_of
from analysis.runs.measures._tables import measures_of

HEURISTIC_MEASURES = ("m1", "m2", "m3", "m4", "m5")
DARK_FROM = 0.5  # cells above this value are dark and have white text


def schematic_pairs(
    pairs: Mapping[str, tuple[Floats, Floats]],
    *,
    measures: Sequence[str] = HEURISTIC_MEASURES,
    theta: float | None = 0.25,
    unit: str | None = "time per iteration (ms)",
) -> Chart:
    """Draw pairs of runs by title, side by side with their dissimilarities (the paper's Figure 1).

    Values above theta have a mark; None draws no threshold and no marks. `unit` is the title of the vertical axis; None
    for signals without a unit.
    """
    upper = [_two_runs(title, x, y, unit) for title, (x, y) in pairs.items()]
    lower = [
        _bars({name: MEASURES[name].function(x, y) for name in measures}, theta, width=180, title="dissimilarity")
        for x, y in pairs.values()
    ]
    # one flat grid, because PDF export does not support deeper nesting
    grid = alt.concat(*upper, *lower, columns=len(pairs), spacing={"row": 8, "column": 30})
    return grid.resolve_scale(color="independent", strokeDash="independent").configure_view(stroke=None)


def means(values: Mapping[str, float], *, theta: float | None) -> Chart:
    """Draw mean dissimilarities as bars, and the threshold; bars above the threshold are dark and have a mark.

    Theta is None if the threshold does not apply to single measures.
    """
    return _bars(values, theta).configure_view(stroke=None)


def measures_by_application(table: pd.DataFrame, *, theta: float | None, keep_order: bool = False) -> Chart:
    """Draw a heat map of the mean of each measure by application (the paper's Figure 2).

    Means above theta are marked. The row with the largest median is at the top, unless `keep_order` keeps the order of
    the table.
    """
    names = [f"{name or 'no application'} ({n})" for name, n in zip(table["application"], table["n"], strict=True)]
    values = table[measures_of(table)].set_axis(pd.Index(names))
    return _heat_map(values, theta, "Applications (benchmarks)", keep_order=keep_order)


def measures_by_benchmark(
    table: pd.DataFrame, application: str, *, theta: float | None, keep_order: bool = False
) -> Chart:
    """Draw a heat map of the mean of each measure for the benchmarks of one application (the paper's Figure 3).

    Raises ValueError if the table has no benchmark of this application.
    """
    rows = table[table["application"] == application]
    if not len(rows):
        raise ValueError(f"no benchmark has the application {application!r}")
    values = rows[measures_of(table)].set_axis(pd.Index(_without_common_start(list(rows["benchmark"]))))
    return _heat_map(values, theta, f"Benchmarks of {application or 'no application'}", keep_order=keep_order)


def pair_matrix(
    pairs: Floats, clusters: Sequence[int] = (), linkage: Floats | None = None, *, cut: float | None = None
) -> Chart:
    """Draw the dissimilarity of each pair of runs as a matrix, with the clustering tree and a frame per cluster.

    The pairs i < j are in row order. With `linkage`, the merges of the clustering, the runs are in the order of the
    leaves of the tree, which was cut at the height `cut`.
    """
    k = int((1 + np.sqrt(1 + 8 * len(pairs))) / 2)
    tree: Any = None if linkage is None else hierarchy.dendrogram(linkage, no_plot=True)
    order = list(range(k)) if tree is None else [int(leaf) for leaf in tree["leaves"]]
    matrix = _matrix(pairs, k, order, clusters)
    if tree is None:
        return matrix.configure_view(stroke=None)
    return alt.vconcat(_tree(tree, k, cut), matrix, spacing=4).configure_view(stroke=None)


def _two_runs(title: str, x: Floats, y: Floats, unit: str | None) -> Chart:
    lines = pd.DataFrame(
        {
            "iteration": np.tile(np.arange(len(x)), 2),
            "time": np.concatenate([x, y]),
            "run": np.repeat(["first run", "second run"], len(x)),
        }
    )
    return (
        alt.Chart(lines, title=title)
        .mark_line(strokeWidth=1.5, interpolate="linear")
        .encode(
            x=alt.X("iteration:Q", title="iteration", axis={"grid": False, "tickCount": 4}),
            y=alt.Y("time:Q", title=unit, scale={"zero": False}, axis={"tickCount": 4}),
            color=alt.Color("run:N", title=None, scale={"range": [INK, SOFT]}, legend=_LEGEND),
            strokeDash=alt.StrokeDash("run:N", title=None, scale={"range": [[1, 0], [4, 2]]}, legend=_LEGEND),
        )
        .properties(width=230, height=110)
    )


_LEGEND = {"orient": "bottom", "symbolSize": 300, "padding": 0, "offset": 4}


def _bars(
    values: Mapping[str, float], theta: float | None, *, width: int = 230, title: str = "mean over all pairs"
) -> Chart:
    exceeds = [theta is not None and value > theta for value in values.values()]
    rows = pd.DataFrame(
        {
            "measure": [title_of(name) for name in values],
            "value": list(values.values()),
            "exceeds": exceeds,
            "text": [
                f"{value:.2f}{' ▲' if above else ''}" for value, above in zip(values.values(), exceeds, strict=True)
            ],
        }
    )
    y = alt.Y("measure:N", sort=None, title=None, axis={"labelLimit": 0, "ticks": False, "domain": False})
    legend = title if theta is None else f"{title} (▲ above θ = {theta:g})"
    x = alt.X("value:Q", title=legend, scale={"domain": [0, 1]}, axis={"tickCount": 4, "grid": False})
    shade = alt.Color("exceeds:N", scale={"domain": [False, True], "range": ["#c9d0da", INK]}, legend=None)
    base = alt.Chart(rows).encode(y=y)
    layers = [
        base.mark_bar(height=9).encode(x=x, color=shade),
        base.mark_text(align="left", dx=4, color=INK).encode(x=alt.datum(1), text=alt.Text("text:N")),
    ]
    if theta is not None:
        layers.append(alt.Chart(pd.DataFrame({"value": [theta]})).mark_rule(color=INK, strokeDash=[3, 2]).encode(x=x))
    return alt.layer(*layers).properties(width=width, height=alt.Step(17))


def _heat_map(values: pd.DataFrame, theta: float | None, title: str, *, keep_order: bool) -> Chart:
    """Draw a heat map with one row per entry of the index and one column per measure.

    The row with the largest median is at the top, unless the rows keep their order.
    """
    ordered = values.astype(float)
    if not keep_order:
        ordered = ordered.iloc[np.argsort(-ordered.median(axis=1).fillna(0).to_numpy(), kind="stable")]
    names = [str(name).split("#") for name in ordered.index]
    titles = [_in_two_lines(title_of(str(name))) for name in ordered.columns]
    padding = 18 if len(titles[0]) > 1 else 4  # space for two lines of text
    header = names_axis(titles, orient="top", labelAngle=0, labelPadding=padding)
    base = alt.Chart(_cells(ordered, theta)).encode(
        x=alt.X("column:O", title=None, axis=header, scale={"domain": list(range(len(titles)))}),
        y=alt.Y("row:O", title=None, axis=names_axis(names), scale={"domain": list(range(len(names)))}),
    )
    readable = alt.Color("dark:N", scale={"domain": [False, True], "range": [INK, PAPER]}, legend=None)
    mark = base.transform_filter("datum.exceeds").encode(color=readable)
    above = "" if theta is None else f"; ▲ above θ = {theta:g}"
    legend = ["mean dissimilarity over all pairs of runs,", f"from 0 (equal) to 1{above}"]
    return (
        alt.layer(
            base.mark_rect(stroke=PAPER).encode(color=alt.Color("value:Q", scale=_SHADES, legend=None)),
            base.encode(text=alt.Text("value:Q", format=".2f"), color=readable).mark_text(),
            mark.mark_point(shape="triangle-up", filled=True, size=22, opacity=1, xOffset=24),
            title=alt.TitleParams(title, subtitle=legend, anchor="start", fontSize=12, offset=12),
        )
        .resolve_scale(color="independent")
        .properties(width=alt.Step(86), height=alt.Step(32 if any(len(lines) > 1 for lines in names) else 22))
        .configure_view(stroke=None)
    )


def _cells(values: pd.DataFrame, theta: float | None) -> pd.DataFrame:
    """Return one row per defined value: position, shade, and whether the value is above the threshold."""
    n_rows, n_columns = values.shape
    cells = pd.DataFrame(
        {
            "row": np.repeat(np.arange(n_rows), n_columns),
            "column": np.tile(np.arange(n_columns), n_rows),
            "value": values.to_numpy().ravel(),
        }
    ).dropna()
    return cells.assign(dark=cells["value"] > DARK_FROM, exceeds=False if theta is None else cells["value"] > theta)


_SHADES = {"domain": [0, 1], "range": ["#f4f6f9", INK]}


def _in_two_lines(title: str) -> list[str]:
    """Return the title of a measure in two lines: its number, if there is one, and the rest."""
    first, _, rest = title.partition(" ")
    return [first, rest] if first[:1] == "M" and first[1:].isdigit() else [title]


def _without_common_start(names: list[str]) -> list[str]:
    """Remove the packages and classes that all names share, up to the last common dot."""
    before = [name.partition("#")[0].split(".")[:-1] for name in names]
    n_common = 0
    for parts in zip(*before, strict=False):
        if len(set(parts)) > 1:
            break
        n_common += 1
    return [name.split(".", n_common)[n_common] for name in names]


def _matrix(pairs: Floats, k: int, order: list[int], clusters: Sequence[int]) -> Chart:
    square = np.zeros((k, k))
    i, j = np.triu_indices(k, 1)
    square[i, j] = square[j, i] = pairs
    square = square[np.ix_(order, order)]
    at, to = (part.ravel() for part in np.indices((k, k)))
    cells = pd.DataFrame({"y": at, "x": to, "y2": at + 1, "x2": to + 1, "value": square.ravel()})
    cells["dark"], cells["same"] = cells["value"] > DARK_FROM, at == to
    x, y = _run_axis(alt.X, "x", order), _run_axis(alt.Y, "y", order, reverse=True)
    base = alt.Chart(cells).encode(x=x, y=y)
    layers: list[alt.Chart] = [
        base.mark_rect(stroke=PAPER).encode(x2="x2", y2="y2", color=alt.Color("value:Q", scale=_SHADES, legend=None))
    ]
    cell = _CELL * max(k, MIN_CELLS) / k
    if k <= 20:  # with more runs, cells have no space for numbers
        dark = {"domain": [False, True], "range": [INK, PAPER]}
        layers.append(
            base.transform_filter("!datum.same")
            .mark_text(fontSize=10, dx=cell / 2, dy=cell / 2)
            .encode(text=alt.Text("value:Q", format=".2f"), color=alt.Color("dark:N", scale=dark, legend=None))
        )
    for first, last in _blocks([clusters[run] for run in order] if len(clusters) else []):
        frame = pd.DataFrame({"x": [first], "y": [first], "x2": [last + 1], "y2": [last + 1]})
        layers.append(
            alt.Chart(frame).mark_rect(fill=None, stroke=INK, strokeWidth=2.5).encode(x=x, y=y, x2="x2", y2="y2")
        )
    return alt.layer(*layers).resolve_scale(color="independent").properties(width=cell * k, height=cell * k)


_CELL, MIN_CELLS = 32, 3  # minimum width in pixels: the width of a matrix of three runs


def _run_axis(kind: Any, field: str, order: list[int], *, reverse: bool = False) -> Any:
    """Build an axis from 0 to k with a run number in the middle of each cell; numbers start at 1."""
    labels = "[" + ",".join(f"'{run + 1}'" for run in order) + "]"
    axis = {
        "values": [position + 0.5 for position in range(len(order))],
        "labelExpr": f"{labels}[floor(datum.value)]",
        "grid": False, "ticks": False, "domain": False, "labelAngle": 0, "labelOverlap": False,
    }  # fmt: skip
    scale = {"domain": [0, len(order)], "nice": False, "reverse": reverse}
    return kind(f"{field}:Q", title="run", axis=axis, scale=scale)


def _blocks(clusters: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last position of each cluster; the runs of a cluster are next to each other.

    Examples
    --------
    >>> _blocks([2, 1, 1])
    [(0, 0), (1, 2)]
    """
    starts = [at for at in range(len(clusters)) if at == 0 or clusters[at] != clusters[at - 1]]
    ends = [start - 1 for start in [*starts[1:], len(clusters)]]
    return list(zip(starts, ends, strict=False))  # if there are no clusters, there is one end too many


def _tree(tree: Mapping[str, Any], k: int, cut: float | None) -> Chart:
    """Draw the merges of the tree as lines, from bottom to top; SciPy places leaf i at 10 i + 5."""
    rows = pd.DataFrame(
        [
            {"merge": number, "corner": corner, "x": x / 10, "height": height}
            for number, (xs, heights) in enumerate(zip(tree["icoord"], tree["dcoord"], strict=True))
            for corner, (x, height) in enumerate(zip(xs, heights, strict=True))
        ]
    )
    x = alt.X("x:Q", axis=None, scale={"domain": [0, k], "nice": False})
    y = alt.Y("height:Q", title="dissimilarity at merge", axis={"tickCount": 4, "grid": False})
    lines = (
        alt.Chart(rows)
        .mark_line(color=INK, interpolate="linear")
        .encode(x=x, y=y, detail=alt.Detail("merge:N"), order=alt.Order("corner:Q"))
    )
    layers = [lines]
    if cut is not None:
        layers.append(alt.Chart(pd.DataFrame({"height": [cut]})).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(y=y))
    return alt.layer(*layers).properties(width=_CELL * max(k, MIN_CELLS), height=80)
