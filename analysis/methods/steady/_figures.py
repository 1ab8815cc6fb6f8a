"""Draw the figures of the report on the steady state of runs."""

from collections.abc import Iterator

import altair as alt
import numpy as np
import pandas as pd

from analysis.document import shortened
from analysis.document.figures import INK, SOFT, Chart, heading, names_axis, readable
from analysis.methods.steady._survey import DrawnBenchmark, SteadyBenchmark, SteadySurvey
from analysis.runs.steady import SteadyRun

N_ROWS = 40  # maximum number of benchmarks in the figure of starts
N_RUNS, N_COLUMNS = 10, 2  # maximum number of runs in a figure of runs, and of panels in a row
LONGEST = 60
WIDTH, PANEL_WIDTH, PANEL_HEIGHT = 440, 300, 70


def charts(survey: SteadySurvey) -> dict[str, Chart]:
    """Draw each figure that has data; return a dict from the file name of the figure to the figure."""
    found: dict[str, Chart] = {}
    classed = [benchmark for benchmark in survey.benchmarks if benchmark.verdict is not None]
    if classed:
        found["steady-starts"] = starts(classed)
    for at, drawn in enumerate(survey.drawn):
        found[f"steady-runs-{at + 1}"] = runs(drawn, survey.benchmarks[drawn.at])
    return found


def starts(benchmarks: list[SteadyBenchmark]) -> Chart:
    """Draw the start of the steady state of each run; benchmarks with the fewest steady runs come first."""
    ordered = sorted(benchmarks, key=lambda benchmark: benchmark.n_steady / len(benchmark.runs))[:N_ROWS]
    short = shortened([benchmark.name for benchmark in ordered], LONGEST)
    rows = pd.DataFrame(
        [
            {
                "at": at,
                "start": run.n_iterations if run.start is None else run.start,
                "state": "never steady" if run.start is None else "steady after",
            }
            for at, benchmark in enumerate(ordered)
            for run in benchmark.runs
            if run.verdict is not None
        ]
    )
    axis = names_axis(
        [short[benchmark.name] for benchmark in ordered], values=list(range(len(ordered))), grid=True, labelPadding=10
    )
    shapes = {"domain": ["steady after", "never steady"], "range": ["circle", "cross"]}
    more = f"; {N_ROWS} of {len(benchmarks)} benchmarks" if len(benchmarks) > N_ROWS else ""
    return (
        alt.Chart(rows)
        .mark_point(size=36, opacity=0.7, color=INK)
        .encode(
            x=alt.X("start:Q", title="iteration (never steady: at the end)"),
            y=alt.Y("at:Q", title=None, axis=axis, scale={"domain": [len(ordered) - 0.5, -0.5], "nice": False}),
            shape=alt.Shape("state:N", title=None, scale=shapes, legend={"orient": "bottom"}),
        )
        .properties(
            width=WIDTH,
            height=18 * len(ordered) + 20,
            title=heading("Start of the steady state", f"one mark per run; fewest steady runs first{more}"),
        )
        .configure_view(stroke=None)
    )


def runs(drawn: DrawnBenchmark, benchmark: SteadyBenchmark) -> Chart:
    """Draw the runs of a benchmark with the mean of each segment and the start of the steady state."""
    factor, unit = readable(float(np.median(drawn.runs[0].medians)), drawn.unit)
    panels = list(_panels(drawn, benchmark, factor, unit))
    name = shortened([benchmark.name], LONGEST)[benchmark.name]
    more = f"; the first {N_RUNS} of {len(drawn.runs)} runs" if len(drawn.runs) > N_RUNS else ""
    title = heading(name, f"{benchmark.verdict}; grey: medians of short parts, dark: mean of each segment{more}")
    grid = alt.concat(*panels, columns=N_COLUMNS, spacing={"row": 44, "column": 60}, bounds="flush", title=title)
    return grid.configure_view(stroke=None)


def _state(run: SteadyRun) -> str:
    if run.start is None:
        return "never steady"
    return f"steady after iteration {run.start:,}" if run.start else "steady from the start"


def _panels(drawn: DrawnBenchmark, benchmark: SteadyBenchmark, factor: float, unit: str) -> Iterator[Chart]:
    for label, found, run in list(zip(benchmark.labels, benchmark.runs, drawn.runs, strict=True))[:N_RUNS]:
        n = found.n_iterations
        middle = (np.arange(len(run.medians)) + 0.5) * n / len(run.medians)
        x = alt.X("iteration:Q", title=None, scale={"domain": [0, n], "nice": False}, axis={"grid": False})
        y = alt.Y("value:Q", title=unit or "no unit", scale={"zero": False}, axis={"tickCount": 3})
        line = pd.DataFrame({"iteration": middle, "value": np.array(run.medians) * factor})
        bounds = [0, *(end + 1 for end in found.change_points), n]
        segments = pd.DataFrame(
            {"iteration": bounds[:-1], "end": bounds[1:], "value": np.array(run.segment_means) * factor}
        )
        layers = [
            alt.Chart(line).mark_line(color=SOFT, strokeWidth=1).encode(x=x, y=y),
            alt.Chart(segments).mark_rule(color=INK, strokeWidth=2).encode(x=x, x2=alt.X2("end:Q"), y=y),
        ]
        if found.start:
            start = alt.Chart(pd.DataFrame({"iteration": [found.start + 1]}))
            layers.append(start.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x))
        state = _state(found)
        yield alt.layer(*layers).properties(
            width=PANEL_WIDTH, height=PANEL_HEIGHT, title=heading(f"run {label}", state, fontSize=11)
        )
