"""Draw Figures 1 to 3 of the paper from measurements, and the share of dissimilar benchmarks by threshold."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from analysis.document.figures import INK, SOFT, Chart
from analysis.methods.replication._checks import FIGURE_1_SEED
from analysis.methods.replication._counts import PUBLISHED_SHARES, TITLES
from analysis.methods.replication._measured import MEASURE_NAMES, OF_HEURISTIC, usual_threshold
from analysis.methods.replication._survey import Replication
from analysis.runs import measures, schemes


def charts(replication: Replication) -> Mapping[str, Chart]:
    """Return the figures by name: figure-1, figure-2, figure-3 and thresholds.

    If there are no verdicts, return only figure-1. The caller draws Figure 4, because it needs the measurements of the
    runs.
    """
    theta = usual_threshold("heuristic")
    pairs = schemes.figure_1_signals(rng=np.random.default_rng(FIGURE_1_SEED))
    found = {"figure-1": measures.schematic_pairs(pairs, measures=MEASURE_NAMES, theta=theta, unit=None)}
    if not replication.applications:
        return found
    by_application = pd.DataFrame(
        [
            {"application": row.application, "n": row.n, **{name: row.means[name] for name in MEASURE_NAMES}}
            for row in replication.applications
        ]
    )
    found["figure-2"] = measures.measures_by_application(by_application, theta=theta, keep_order=True)
    focus = replication.focus
    rows = [
        {
            "application": benchmark.application,
            "benchmark": f"{replication.numbers.get(benchmark.name, '')} {benchmark.benchmark}".strip(),
            **{name: benchmark.means[name] for name in MEASURE_NAMES},
        }
        for benchmark in sorted(replication.benchmarks, key=lambda one: -(one.overall or 0.0))
        if benchmark.application == focus and benchmark.means
    ]
    found["figure-3"] = measures.measures_by_benchmark(pd.DataFrame(rows), str(focus), theta=theta, keep_order=True)
    found["thresholds"] = _thresholds(replication)
    return found


def _thresholds(replication: Replication) -> Chart:
    n = replication.n_judged
    lines = pd.DataFrame(
        [
            {"theta": row.threshold, "share": count / n, "classifier": TITLES[name]}
            for row in replication.fine_thetas
            for name, count in row.n_dissimilar.items()
        ]
    )
    titles = [TITLES[name] for name in OF_HEURISTIC]
    dash = alt.StrokeDash("classifier:N", title=None, sort=titles, scale={"domain": titles, "range": [[1, 0], [4, 3]]})
    x = alt.X("theta:Q", title="threshold θ", scale={"domain": [0, 1]}, axis={"grid": False})
    y = alt.Y("share:Q", title="share of benchmarks called dissimilar", scale={"domain": [0, 1]},
              axis={"format": "%", "grid": False})  # fmt: skip
    layers: list[alt.Chart] = [alt.Chart(lines).mark_line(color=INK, strokeWidth=1.5).encode(x=x, y=y, strokeDash=dash)]
    if replication.scope.is_paper:
        count, of = PUBLISHED_SHARES["heuristic"]
        paper = pd.DataFrame([{"theta": usual_threshold("heuristic"), "share": count / of, "text": "the paper"}])
        point = alt.Chart(paper).encode(x=x, y=y)
        layers += [
            point.mark_point(shape="diamond", size=70, filled=True, color=INK, opacity=1),
            point.mark_text(align="left", dx=9, dy=-8, color=INK).encode(text=alt.Text("text:N")),
        ]
    rule = alt.Chart(pd.DataFrame([{"theta": usual_threshold("heuristic")}])).mark_rule(color=SOFT, strokeDash=[2, 2])
    return alt.layer(rule.encode(x=x), *layers).properties(width=420, height=240).configure_view(stroke=None)
