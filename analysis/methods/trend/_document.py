"""Build the report on changes over versions: sentences, tables and figures."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Any

from analysis import document as d
from analysis.methods.points import DETECTORS, STEPS
from analysis.methods.trend._survey import BenchmarkTrend, TrendSurvey, VersionChange
from analysis.text import significant

BARS = "▁▂▃▄▅▆▇█"
N_BARS = 24  # characters of a small picture in a table
N_SAID = 3  # of a kind, in the sentences at the top
N_TO_SEE_R = 20  # versions without which the correlation of neighbours is not known
MUCH_R = 0.3  # from this correlation of neighbours on, changes are less certain
LEAST_SHOWN = 1e-8  # a smaller share is only rounding
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
PREFIXES = range(7, 13)  # characters of a commit that are shown
P_OF_STEPS = (
    "p is corrected for all places that were tried. The interval compares both levels with Welch's t test, and is "
    "wider if neighbouring versions are alike. A drift, and neighbours that are very much alike, cause more false "
    "changes."
)
P_READ = (
    "The interval and p compare both levels with Welch's t test. A place is chosen because the levels differ there, so "
    "p is smaller and the interval narrower than for a place that was known before. Judge a detector by its false "
    "changes."
)


def document(survey: TrendSurvey) -> d.Document:
    """Build the report on changes over versions."""
    called = short_names(survey)
    return d.method_report(
        "Trend",
        "At which version did a benchmark become slower or faster?",
        _in_short(survey, called),
        [
            ("Changes", _changes(survey, called)),
            ("Single versions", _single(survey, called)),
            ("Benchmarks", _benchmarks(survey)),
        ],
        [d.Bullets(tuple(f"{row.name}: {row.reason}." for row in survey.left_out))] if survey.left_out else [],
        survey.parameters,
        kind="trend report",
        source=(d.Paragraph(f"{_detector(survey)} {P_OF_STEPS if survey.detector == STEPS else P_READ}"),),
    )


def short_names(survey: TrendSurvey) -> Callable[[str], str]:
    """Return a function that shortens commits to their first 7 to 12 characters, as many as are unique."""
    names = (version for trend in survey.benchmarks for version in (*trend.versions, *trend.failed))
    commits = {version for version in names if COMMIT.fullmatch(version)}
    for n in PREFIXES:
        first = {version: version[:n] for version in commits}
        if len(set(first.values())) == len(commits):
            return lambda version: first.get(version, version)
    return lambda version: version


def _in_short(survey: TrendSurvey, called: Callable[[str], str]) -> Iterator[str]:
    if not survey.benchmarks:
        yield "No benchmark has versions, or times on several days. Add a column version, or read it with --from-name."
        return
    judged = [trend for trend in survey.benchmarks if trend.is_judged]
    changed = [trend for trend in survey.benchmarks if trend.changes]
    changes = [(trend, change) for trend in changed for change in trend.changes]
    if changed:
        n = d.counted(len(survey.benchmarks), "benchmark")
        yield f"{d.counted(len(changes), 'change')} in {len(changed)} of {n}."
    elif judged:
        yield f"No change in {d.counted(len(judged), 'benchmark')}."
    yield from _too_short(survey)
    for trend, change in _largest(changes, lambda change: change.n_newest > 0):
        yield _newest(trend, change, called)
    for trend, change in _largest(changes, lambda change: change.is_worse and not change.n_newest):
        at, previous = called(change.version), called(change.previous)
        yield f"{trend.name} became {_size(change)} at {at} (previous version {previous})."
    for trend in survey.benchmarks:
        if trend.failed:
            yield f"{trend.name} failed at {d.listed(list(map(called, trend.failed)))}, after its last measurement."
    yield from _gradual(survey, called)
    yield from _standing_out(survey, called)
    machines = [trend.name for trend in changed if any(change.machine_changed for change in trend.changes)]
    if machines:
        yield f"The recorded machine changed too, so the code may not be the cause: {d.listed(machines)}."
    if survey.n_recent is not None and judged:
        yield _recent(survey)
    if not all(change.is_known for _, change in changes):
        yield (
            "For some values it is unknown whether lower or higher is better, so no change of them counts as worse. To "
            "state the direction, use --unit or --better."
        )
    if survey.detector == STEPS and judged:
        yield from _certainty(judged)
        yield from _power(judged)
    if survey.n_simulated_versions and judged:
        yield _detector(survey)


Changes = Sequence[tuple[BenchmarkTrend, VersionChange]]


def _largest(changes: Changes, belongs: Callable[[VersionChange], bool]) -> Changes:
    """Return the largest changes of a kind, those for the worse first."""
    found = [(trend, change) for trend, change in changes if belongs(change)]
    return sorted(found, key=lambda each: (not each[1].is_worse, -each[1].size))[:N_SAID]


def _too_short(survey: TrendSurvey) -> Iterator[str]:
    least = DETECTORS[survey.detector].least
    short = [trend for trend in survey.benchmarks if not trend.is_judged]
    if short:
        names = d.listed([f"{trend.name} ({d.counted(trend.n_versions, 'version')})" for trend in short])
        yield f"Too few versions to find a change ({least} are needed): {names}."
    if survey.detector == STEPS:
        names = d.listed([trend.name for trend in survey.benchmarks if trend.is_judged and not trend.is_newest_judged])
        if names:
            yield f"Too few versions to judge the newest: {names}."


def _newest(trend: BenchmarkTrend, change: VersionChange, called: Callable[[str], str]) -> str:
    versions = [called(version) for version in trend.versions[-change.n_newest :]]
    newest = (
        f"the newest version {versions[0]} is"
        if change.n_newest == 1
        else f"the newest {change.n_newest} versions ({d.listed(versions)}) are"
    )
    before = f"{called(change.since)} to {called(change.previous)}"
    if change.since == change.previous:
        before = called(change.since)
    p = "" if change.p is None else f" (p {_p(change.p)})"
    again = f" One or two runs: measure {versions[0]} again." if change.is_open else ""
    return f"{trend.name}: {newest} {_size(change)} than {before}{p}.{again}"


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {d.p_value(p)}"


def _gradual(survey: TrendSurvey, called: Callable[[str], str]) -> Iterator[str]:
    drifting = [(trend, trend.gradual) for trend in survey.benchmarks if trend.gradual]
    for trend, gradual in sorted(drifting, key=lambda each: -_abs(each[1].change))[:N_SAID]:
        verb = "rises" if gradual.is_rising else "falls"
        size = "" if gradual.change is None else f" by {significant(abs(100 * gradual.change))} %"
        yield f"{trend.name} {verb} gradually{size} from {called(gradual.since)} to {called(gradual.until)}."
    if len(drifting) > N_SAID:
        yield f"{d.counted(len(drifting) - N_SAID, 'other benchmark')} also changed gradually."


def _standing_out(survey: TrendSurvey, called: Callable[[str], str]) -> Iterator[str]:
    single = [(trend, one) for trend in survey.benchmarks for one in trend.single]
    for trend, one in sorted(single, key=lambda each: -_abs(each[1].change))[:N_SAID]:
        size = "" if one.change is None else f" ({_signed(one.change)})"
        yield f"{trend.name}: {called(one.version)} alone stands out{size}."
    if len(single) > N_SAID:
        yield f"{d.counted(len(single) - N_SAID, 'other version')} also stand{'s' * (len(single) == N_SAID + 1)} out."


def _recent(survey: TrendSurvey) -> str:
    within = f"within the last {d.counted(survey.n_recent or 0, 'version')}"
    if survey.is_worse:
        return f"A benchmark became worse {within}."
    if survey.is_inconclusive:
        return f"It is open whether a benchmark became worse {within}."
    return f"No benchmark became worse {within}."


def _certainty(judged: Sequence[BenchmarkTrend]) -> Iterator[str]:
    """Say in which histories neighbouring versions are alike, and in which this cannot be seen."""
    few = [trend.name for trend in judged if trend.n_versions < N_TO_SEE_R]
    if few:
        names = "" if len(few) == len(judged) else f": {d.listed(few)}"
        yield f"Too few versions to see whether neighbours are alike{names}."
    alike = [
        f"{trend.name} (r = {trend.neighbour_r:.2g})"
        for trend in judged
        if trend.n_versions >= N_TO_SEE_R and trend.neighbour_r is not None and trend.neighbour_r >= MUCH_R
    ]
    if len(judged) == 1 and alike:
        yield f"Neighbours are alike (r = {judged[0].neighbour_r:.2g}): changes are less certain."
    elif alike:
        yield f"Neighbours are alike, so changes are less certain: {d.listed(alike)}."


def _power(judged: Sequence[BenchmarkTrend]) -> Iterator[str]:
    """Say which changes the histories show with a probability of 80 %."""
    lasting = sorted((trend.smallest_lasting, trend.name) for trend in judged if trend.smallest_lasting is not None)
    newest = sorted((trend.smallest_newest, trend.name) for trend in judged if trend.smallest_newest is not None)
    if not lasting:
        return
    is_one = len(lasting) == 1
    subject = "this history shows" if is_one else "these histories show"
    text = f"With 80 % probability {subject} a lasting change {_range(lasting)}"
    yield f"{text}, at the newest version alone {_range(newest)}." if newest else f"{text}."


def _range(sizes: Sequence[tuple[float, str]]) -> str:
    (low, first), (high, last) = sizes[0], sizes[-1]
    if len(sizes) == 1 or _share(low) == _share(high):
        return f"from {_share(low)}"
    return f"from {_share(low)} ({first}) to {_share(high)} ({last})"


def _share(share: float) -> str:
    if share >= 1:
        return f"{100 * share:.0f} %"
    return f"{100 * share:.2g} %" if share >= LEAST_SHOWN else "0 %"


def _abs(share: float | None) -> float:
    return inf if share is None else abs(share)


def _signed(share: float | None) -> str:
    if share is None:
        return d.DASH
    return f"{100 * share:+.3g} %".replace("-", "−")


def _detector(survey: TrendSurvey) -> str:
    title = DETECTORS[survey.detector].title
    if not survey.n_simulated_versions:
        return f"Detector: {title}."
    return (
        f"Detector: {title}. It finds a false change in {survey.n_false or 'none'} of {survey.n_unchanged} simulated "
        f"histories of {d.counted(survey.n_simulated_versions, 'version')} with independent noise and no change."
    )


def _size(change: VersionChange) -> str:
    """Return the size of a change in words; from 0, a change has no percentage."""
    if change.change is None:
        return f"{change.direction} (from 0)"
    return f"{significant(abs(100 * change.change))} % {change.direction}"


def _changes(survey: TrendSurvey, called: Callable[[str], str]) -> Iterator[d.Block]:
    rows = [
        ((not change.is_worse, -change.size), trend, change) for trend in survey.benchmarks for change in trend.changes
    ]
    ordered = [(trend, change) for _, trend, change in sorted(rows, key=lambda row: row[0])]
    own = [_row(trend, change, called) for trend, change in ordered if not change.machine_changed]
    by_machine = [_row(trend, change, called) for trend, change in ordered if change.machine_changed]
    header = ("Benchmark", "First version", "Previous", "Change", "95 % interval", "p", "Accepted")
    if own:
        yield d.first_rows("Changes, the largest for the worse first.", header, own, (3, 4, 5))
    if by_machine:
        yield d.first_rows("Changes where the recorded machine changed too.", header, by_machine, (3, 4, 5))


def _row(trend: BenchmarkTrend, change: VersionChange, called: Callable[[str], str]) -> tuple[Any, ...]:
    interval = d.DASH
    if change.low is not None and change.high is not None:
        interval = f"{100 * change.low:+.3g} to {100 * change.high:+.3g} %".replace("-", "−")
    return (
        trend.name,
        called(change.version),
        called(change.previous),
        _size(change),
        interval,
        d.p_value(change.p),
        "yes" if change.accepted else "",
    )


def _single(survey: TrendSurvey, called: Callable[[str], str]) -> Iterator[d.Block]:
    rows = [
        (trend.name, called(one.version), _signed(one.change), d.p_value(one.p))
        for trend in survey.benchmarks
        for one in trend.single
    ]
    if rows:
        yield d.first_rows(
            "Single versions that stand out from the others of their level. They are no changes.",
            ("Benchmark", "Version", "Difference", "p"), rows, (2, 3),
        )  # fmt: skip


def _benchmarks(survey: TrendSurvey) -> Iterable[d.Block]:
    if not survey.benchmarks:
        return
    states_power = survey.detector == STEPS
    caption = "All benchmarks, with their history from the lowest to the highest value."
    header = ["Benchmark", "Versions", "Changes"]
    if states_power:
        caption += (
            " A change as large as in the columns Lasting and Newest would be found with 80 % probability; r is the "
            "correlation of neighbouring versions."
        )
        header += ["Lasting", "Newest", "r"]
    yield d.first_rows(
        caption,
        (*header, "History"),
        [
            (
                trend.name, trend.n_versions, len(trend.changes), *(_sensitivity(trend) if states_power else ()),
                sparkline(trend.values),
            )
            for trend in survey.benchmarks
        ],
        numeric=tuple(range(1, len(header))),
    )  # fmt: skip
    yield d.Figure(
        "trend-histories",
        "One number per version (dots) and the level of each segment (line). A dashed line marks the first version of "
        "a new level.",
    )


def _sensitivity(trend: BenchmarkTrend) -> tuple[str, str, str]:
    lasting, newest, r = trend.smallest_lasting, trend.smallest_newest, trend.neighbour_r
    return (
        d.DASH if lasting is None else _share(lasting),
        d.DASH if newest is None else _share(newest),
        d.DASH if r is None or trend.n_versions < N_TO_SEE_R else f"{r:.2g}",
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
