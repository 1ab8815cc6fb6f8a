"""Draw the figures of the report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import chain, cycle, islice, repeat
from typing import Any

import altair as alt
import pandas as pd

from analysis.document.figures import INK, SOFT, Chart, names_axis, to_svgs
from analysis.raters.agreement import PairAgreement
from analysis.report._classifiers import PositiveNumbers, Scores, main_rates
from analysis.report._report import Report
from analysis.report._settings import row_title
from analysis.runs.classifiers import CLASSIFIERS
from analysis.runs.measures import measures_by_application
from analysis.statistics.intervals import Estimate

# for categories without a colour; neighbours differ in lightness
SHADES = ("#d5dae2", INK, "#9aa5b5", "#5b6b80", "#e8c268", "#8a4b00", "#56b4e9", "#005b41", "#cc79a7")
MAX_STEPS = 200  # maximum number of points of a curve; more points would be invisible


def draw_charts(report: Report, executor: Executor | None = None) -> dict[str, str]:
    """Draw each chart that has data; return a dict from the name of the figure to its SVG text."""
    charts = {
        "classifiers": classifier_rates(report),
        "pair-agreement": pair_agreement(report.agreement.pairs, report.agreement.percent),
        "label-strip": label_strip(report),
        "measures-by-application": measure_figure(report),
        "roc": roc(report),
        "precision-recall": precision_recall(report),
    }
    return to_svgs({name: chart for name, chart in charts.items() if chart is not None}, executor)


def classifier_rates(report: Report) -> Chart | None:
    """Draw the rates of each classifier with intervals.

    Return None if there are no agreed items.
    """
    rows, rules = [], []
    scored = {name: row for name, row in report.classifiers.items() if row.against.n}
    for name, row in scored.items():
        for rate, value in main_rates(row, report.style.category_set).items():
            if value.value is not None:
                limits = {"value": value.value, "low": value.low, "high": value.high}
                rows.append({"classifier": row_title(name), "rate": rate, **limits})
        accuracy = row.majority_rule.accuracy.value
        rules.append({"classifier": row_title(name), "rate": "Accuracy", "value": accuracy})
    if not rows:
        return None
    y = alt.Y("classifier:N", title=None, sort=None, axis={"labelLimit": 0})
    x = alt.X("value:Q", title=None, scale={"domain": [0, 1]}, axis={"format": "%", "tickCount": 3})
    panels = []
    rates = list(dict.fromkeys(str(row["rate"]) for row in rows))
    for rate in rates:
        of_rate = [row for row in rows if row["rate"] == rate]
        base = alt.Chart(pd.DataFrame(of_rate or [{"classifier": None, "value": None, "low": None, "high": None}]))
        axis = y if rate == rates[0] else alt.Y("classifier:N", title=None, sort=None, axis=None)
        layers = [
            base.mark_rule(color=INK).encode(
                x=alt.X("low:Q", title=None, scale={"domain": [0, 1]}), x2=alt.X2("high:Q"), y=axis
            ),
            base.mark_point(color=INK, filled=True, size=60, opacity=1).encode(x=x, y=axis),
        ]
        if rate == "Accuracy":
            rule = alt.Chart(pd.DataFrame(rules)).mark_tick(color=SOFT, thickness=3, size=18)
            layers.insert(0, rule.encode(x=x, y=axis))
        panels.append(alt.layer(*layers).properties(width=170, height=alt.Step(26), title=rate.lower()))
    drawn: Chart = alt.hconcat(*panels, spacing=18).configure_view(stroke=None)
    return drawn


def measure_figure(report: Report) -> Chart | None:
    """Draw the measures of the heuristic by application; return None if there are no measures."""
    rows = report.measures.get("heuristic")
    if not rows:
        return None
    table = pd.DataFrame([{"application": row.application, "n": row.n, **row.means} for row in rows])
    return measures_by_application(table, theta=CLASSIFIERS["heuristic"].parameters["theta"])


def pair_agreement(pairs: Sequence[PairAgreement], total: Estimate) -> Chart | None:
    """Draw the agreement of each pair of reviewers with its interval; return None if there are no pairs."""
    if not pairs:
        return None
    rows = pd.DataFrame(
        {
            "pair": [f"{pair.a} – {pair.b} (n = {pair.n})" for pair in pairs],
            "value": [pair.percent.value for pair in pairs],
            "low": [pair.percent.low for pair in pairs],
            "high": [pair.percent.high for pair in pairs],
        }
    )
    base = alt.Chart(rows).encode(y=alt.Y("pair:N", title=None, sort=None, axis={"labelLimit": 0}))
    overall = alt.Chart(pd.DataFrame({"value": [total.value]}))
    chart = alt.layer(
        overall.mark_rule(color=SOFT, strokeDash=[4, 3]).encode(x=_share("value:Q")),
        base.mark_rule(color=INK).encode(x=_share("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(color=INK, filled=True, size=60, opacity=1).encode(x=_share("value:Q")),
    )
    drawn: Chart = chart.properties(width=420, height=alt.Step(26)).configure_view(stroke=None)
    return drawn


def label_strip(report: Report) -> Chart | None:
    """Draw the labels of all reviewers, with the items sorted by category. Return None if there are no labels."""
    disputed = report.agreement.disputed
    if not disputed.patterns:
        return None
    of = report.style.category_set
    names = (of.negative, str(of.positive)) if of.is_binary else of.names
    letter_of = {of.letters[name]: place for place, name in enumerate(names)}
    patterns = sorted(disputed.patterns, key=lambda row: (*_place(row.labels, letter_of), row.labels))
    n_items = sum(pattern.n for pattern in patterns)
    columns: Iterable[tuple[str, int]] = ((pattern.labels, pattern.n) for pattern in patterns)
    if disputed.drawn_every > 1:
        labels = chain.from_iterable(repeat(pattern.labels, pattern.n) for pattern in patterns)
        columns = ((of_item, disputed.drawn_every) for of_item in islice(labels, 0, None, disputed.drawn_every))
    rows: list[dict[str, Any]] = []
    last: list[dict[str, Any]] = [{"label": None}] * len(disputed.reviewers)  # equal neighbours are one rectangle
    begin = 0
    for of_item, width in columns:
        end = min(begin + width, n_items)
        for at, letter in enumerate(of_item):
            label = None if letter == "-" else names[letter_of[letter]]
            if label != last[at]["label"]:
                last[at] = {"reviewer": at, "label": label, "begin": begin}
                rows += [last[at]] if label else []
            last[at]["end"] = end
        begin = end
    asked = {row["name"]: row.get("colour") for row in (report.question or {}).get("category", ())}
    ramp = (
        ["#d5dae2", INK]
        if len(names) == 2
        else [asked.get(name) or shade for name, shade in zip(names, cycle(SHADES), strict=False)]
    )
    colour = {"domain": list(names), "range": ramp}
    order = f"all {names[0]} to all {names[-1]}" if of.is_binary or of.ordered else "category to category"
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_rect()
        .encode(
            x=alt.X("begin:Q", title=f"items, ordered from {order}", scale={"domain": [0, n_items], "nice": False}),
            x2=alt.X2("end:Q"),
            y=alt.Y("reviewer:O", title=None, axis=names_axis(disputed.reviewers)),
            color=alt.Color("label:N", title=None, scale=colour),
        )
    )
    drawn: Chart = chart.properties(width=520, height=alt.Step(22)).configure_view(stroke=None)
    return drawn


def _place(labels: str, letter_of: Mapping[str, int]) -> tuple[int, float]:
    """Return where an item stands: with more than two categories, by its most frequent one; then by the mean."""
    places = [letter_of[letter] for letter in labels if letter != "-"]
    most = 0 if len(letter_of) == 2 else max(range(len(letter_of)), key=places.count)
    return most, sum(places) / max(len(places), 1)


def roc(report: Report) -> Chart | None:
    """Draw the ROC curve of each classifier in its own panel; return None if no classifier has scores."""
    curves, points, chance = [], [], []
    of = report.style.category_set
    for name, rates, scores in _scored(report):
        curves += _steps(name, scores.roc.false_positive_rate, scores.roc.sensitivity)
        chance += [{"classifier": name, "x": end, "y": end} for end in (0, 1)]
        if rates.sensitivity.value is not None and rates.specificity.value is not None:
            points.append({"classifier": name, "x": 1 - rates.specificity.value, "y": rates.sensitivity.value})
    return _curves(curves, points, chance, (f"false alarms ({of.negative} items called {of.positive})", "sensitivity"))


def precision_recall(report: Report) -> Chart | None:
    """Draw precision against sensitivity, one panel per classifier; return None if no classifier has scores."""
    curves, points, chance = [], [], []
    for name, rates, scores in _scored(report):
        curves += _steps(name, scores.precision_recall.recall, scores.precision_recall.precision)
        share = scores.precision_recall.prevalence
        chance += [{"classifier": name, "x": end, "y": share} for end in (0, 1)]
        if rates.sensitivity.value is not None and rates.precision.value is not None:
            points.append({"classifier": name, "x": rates.sensitivity.value, "y": rates.precision.value})
    return _curves(curves, points, chance, ("sensitivity", "precision"))


def _scored(report: Report) -> Iterator[tuple[str, PositiveNumbers, Scores]]:
    """Yield name, rates and score numbers of each classifier whose scores give a curve."""
    for name, row in report.classifiers.items():
        if row.positive and row.scores and row.scores.roc.threshold:
            yield name, row.positive, row.scores


def _steps(name: str, x: Sequence[float], y: Sequence[float]) -> list[dict[str, Any]]:
    """Return the points of a curve in order, without points that readers could not distinguish."""
    points = list(zip(x, y, strict=True))
    drawn = [*points[:: max(1, len(points) // MAX_STEPS)], points[-1]]
    return [{"classifier": name, "step": i, "x": x, "y": y} for i, (x, y) in enumerate(drawn)]


def _curves(
    curves: Sequence[Mapping[str, Any]],
    points: Sequence[Mapping[str, Any]],
    chance: Sequence[Mapping[str, Any]],
    titles: tuple[str, str],
) -> Chart | None:
    """Draw one panel per classifier: the curve, a point for its verdicts, and a grey line for guessing."""
    panels = []
    x = alt.X("x:Q", title=titles[0], scale={"domain": [0, 1]}, axis=_PERCENT)
    y = alt.Y("y:Q", title=titles[1], scale={"domain": [0, 1]}, axis=_PERCENT)
    for name in dict.fromkeys(row["classifier"] for row in curves):
        line, guess, mark = ([row for row in rows if row["classifier"] == name] for rows in (curves, chance, points))
        layers = [
            alt.Chart(pd.DataFrame(guess)).mark_line(color=SOFT, strokeWidth=0.7).encode(x=x, y=y),
            alt.Chart(pd.DataFrame(line))
            .mark_line(color=INK, strokeWidth=1.5)
            .encode(x=x, y=y, order=alt.Order("step:Q")),
        ]
        if mark:
            shown = alt.Chart(pd.DataFrame(mark)).mark_point(color=INK, filled=True, size=70, opacity=1)
            layers.append(shown.encode(x=x, y=y))
        panels.append(alt.layer(*layers).properties(width=165, height=165, title=row_title(name)))
    if not panels:
        return None
    drawn: Chart = alt.concat(*panels, columns=3, spacing=14).configure_view(stroke=None)
    return drawn


_PERCENT = {"format": "%", "tickCount": 5}


def _share(field: str) -> alt.X:
    title = "percent agreement on common items"
    return alt.X(field, title=title, scale={"domain": [0, 1]}, axis={"format": "%"})
