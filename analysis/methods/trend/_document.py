"""Build the report on changes over versions: sentences, tables and figures."""

from collections.abc import Iterable, Iterator
from typing import Any

from analysis import document as d
from analysis.methods.points import DETECTORS
from analysis.methods.trend import BenchmarkTrend, TrendSurvey, VersionChange

BARS = "▁▂▃▄▅▆▇█"
N_BARS = 24  # characters of a small picture in a table
P_READ = (
    "The interval and p compare both levels with Welch's t test. A place is chosen because the levels differ there, so "
    "p is smaller and the interval narrower than for a place that was known before. Judge a detector by its false "
    "changes."
)


def document(survey: TrendSurvey) -> d.Document:
    """Build the report on changes over versions."""
    return d.method_report(
        "Trend",
        "At which version did a benchmark become slower or faster?",
        _in_short(survey),
        [("Changes", _changes(survey)), ("Benchmarks", _benchmarks(survey))],
        [d.Bullets(tuple(f"{row.name}: {row.reason}." for row in survey.left_out))] if survey.left_out else [],
        survey.parameters,
        kind="trend report",
        source=(d.Paragraph(f"{_detector(survey)} {P_READ}"),),
    )


def _in_short(survey: TrendSurvey) -> Iterator[str]:
    n = len(survey.benchmarks)
    changed = [trend for trend in survey.benchmarks if trend.changes]
    if not n:
        yield "No benchmark has versions or dates. Add a column version or date, or read them with --from-name."
        return
    n_changes = sum(len(trend.changes) for trend in changed)
    if changed:
        yield f"{d.counted(n_changes, 'change')} in {len(changed)} of {d.counted(n, 'benchmark')}."
    else:
        yield f"No change in {d.counted(n, 'benchmark')}."
    worse = [(trend, change) for trend in changed for change in trend.changes if change.is_worse]
    for trend, change in sorted(worse, key=lambda found: -abs(found[1].change))[:3]:
        yield f"{trend.name} became {_size(change)} at {change.version} (previous version {change.previous})."
    machines = [trend.name for trend in changed if any(change.machine_changed for change in trend.changes)]
    if machines:
        yield f"The recorded machine changed too, so the code may not be the cause: {d.listed(machines)}."
    if survey.n_recent is not None:
        state = "A benchmark became worse" if survey.is_worse else "No benchmark became worse"
        yield f"{state} within the last {d.counted(survey.n_recent, 'version')}."
    if not all(change.is_known for trend in changed for change in trend.changes):
        yield (
            "For some values it is unknown whether lower or higher is better, so no change of them counts as worse. To "
            "state the direction, use --unit or --better."
        )
    if survey.n_simulated_versions:
        yield _detector(survey)


def _detector(survey: TrendSurvey) -> str:
    title = DETECTORS[survey.detector].title
    return (
        f"Detector: {title}. It finds a false change in {survey.n_false or 'none'} of {survey.n_unchanged} simulated "
        f"histories of {d.counted(survey.n_simulated_versions, 'version')} with independent noise and no change."
    )


def _size(change: VersionChange) -> str:
    return f"{abs(100 * change.change):.3g} % {change.direction}"


def _changes(survey: TrendSurvey) -> Iterator[d.Block]:
    rows = [
        (abs(change.change) * (1 if change.is_worse else 1e-9), trend, change)
        for trend in survey.benchmarks
        for change in trend.changes
    ]
    ordered = [(trend, change) for _, trend, change in sorted(rows, key=lambda row: -row[0])]
    own = [row for row in ordered if not row[1].machine_changed]
    by_machine = [row for row in ordered if row[1].machine_changed]
    header = ("Benchmark", "First version", "Previous", "Change", "95 % interval", "p", "Accepted")
    if own:
        yield d.first_rows("Changes, the largest for the worse first.", header, list(map(_row, own)), (3, 4, 5))
    if by_machine:
        yield d.first_rows(
            "Changes where the recorded machine changed too.", header, list(map(_row, by_machine)), (3, 4, 5)
        )


def _row(found: tuple[BenchmarkTrend, VersionChange]) -> tuple[Any, ...]:
    trend, change = found
    interval = d.DASH
    if change.low is not None and change.high is not None:
        interval = f"{100 * change.low:+.3g} to {100 * change.high:+.3g} %".replace("-", "−")
    return (
        trend.name,
        change.version,
        change.previous,
        _size(change),
        interval,
        d.p_value(change.p),
        "yes" if change.accepted else "",
    )


def _benchmarks(survey: TrendSurvey) -> Iterable[d.Block]:
    if not survey.benchmarks:
        return
    yield d.first_rows(
        "All benchmarks, with their history from the lowest to the highest value.",
        ("Benchmark", "Versions", "Changes", "History"),
        [(trend.name, trend.n_versions, len(trend.changes), sparkline(trend.values)) for trend in survey.benchmarks],
        numeric=(1, 2),
    )
    yield d.Figure(
        "trend-histories",
        "One number per version (dots) and the level of each segment (line). A dashed line marks the first version of "
        "a new level.",
    )


def sparkline(values: tuple[float, ...]) -> str:
    """Draw values as a row of bars, the means of parts of the same length if there are many."""
    n = min(N_BARS, len(values))
    means = [
        sum(part) / len(part)
        for at in range(n)
        if (part := values[at * len(values) // n : (at + 1) * len(values) // n])
    ]
    low, high = min(means), max(means)
    if high == low:
        return BARS[0] * n
    return "".join(BARS[min(int((mean - low) / (high - low) * len(BARS)), len(BARS) - 1)] for mean in means)
