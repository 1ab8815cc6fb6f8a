"""Build the report on the reliability of intervals and tests."""

from collections.abc import Iterator, Mapping, Sequence

from analysis import document as d
from analysis.methods.trust._pairs import INTERVALS, MANN_WHITNEY, WELCH
from analysis.methods.trust._population import MERGED, ONE_SAMPLE, RUN_MEANS
from analysis.methods.trust._rates import Rate
from analysis.methods.trust._survey import MAX_RUNS, MiddleHalf, Trust, TrustSummary, TrustSurvey
from analysis.text import counted, percent

MIN_FOR_ALARMS = 5  # minimum number of benchmarks for a curve
TITLES = {WELCH: "Welch's t test", MANN_WHITNEY: "Mann-Whitney U test", INTERVALS: "intervals without overlap"}
MEANINGS = {
    MERGED: "all iterations of the drawn runs form one sample",
    RUN_MEANS: "one number per run, its {}",
    ONE_SAMPLE: "one random iteration of each run",
}


def document(survey: TrustSurvey) -> d.Document:
    """Build the report on how reliable intervals and tests are."""
    shape = (("Measurements", _measurements()),) if len(survey.benchmarks) == 1 else ()
    sections = (
        *shape,
        ("Intervals: do they contain the mean?", _coverage(survey)),
        ("Tests: how often do they raise a false alarm?", _false_alarms(survey)),
        (f"Tests: which {change_of(survey)[0]} do they detect?", _slowdowns(survey)),
        ("Benchmarks, most misleading first", _benchmarks(survey)),
    )
    return d.method_report(
        "Trust in intervals and tests",
        "How reliable are intervals and tests with the runs of each benchmark?",
        _in_short(survey),
        sections if survey.benchmarks else (),
        _left_out(survey),
        survey.parameters,
        kind="trust report",
        source=_source(survey),
    )


def _in_short(survey: TrustSurvey) -> Iterator[str]:
    if not survey.benchmarks:
        yield "No benchmark has two or more runs, so the variation between runs is unknown."
        yield "Measure every benchmark in several runs, each in its own process; this report needs about ten runs."
        return
    rows = {row.aggregation: row for row in survey.summaries}
    yield from _alarms_in_short(survey, rows)
    yield from _intervals_in_short(survey, rows)
    yield from _slowdowns_in_short(survey)
    yield from _advice(survey, rows)
    few = [trust for trust in survey.benchmarks if trust.n_runs < survey.n_runs]
    if few:
        yield (
            f"{counted(len(few), 'benchmark')} {'has' if len(few) == 1 else 'have'} fewer than {survey.n_runs} runs, "
            "so every sample repeats runs, and these numbers say little about new runs. Measure about ten runs."
        )
    large = [trust for trust in survey.benchmarks if trust.n_used < trust.n_runs]
    if large:
        has, its = ("has", "Its samples") if len(large) == 1 else ("have", "The samples of each")
        yield (
            f"{counted(len(large), 'benchmark')} {has} more than {MAX_RUNS} runs. {its} use {MAX_RUNS} of them, drawn "
            "at random."
        )


def _alarms_in_short(survey: TrustSurvey, rows: Mapping[str, TrustSummary]) -> Iterator[str]:
    merged, single = (rows[name].type_1_error.get(WELCH) for name in (MERGED, RUN_MEANS))
    if merged is None or single is None or merged.median is None:
        return
    n = len(survey.benchmarks)
    median = "" if n == 1 else " (median over benchmarks)"
    of_single = f", and in {d.percent(single.median)} with one number per run" if single.n else ""
    yield (
        f"Two samples of {survey.n_runs} runs each come from the same unchanged benchmark. Welch's test finds a "
        f"difference in {d.percent(merged.median)} of such pairs with merged iterations{of_single}{median}. The share "
        f"should be {percent(survey.alpha, None)}."
    )
    if n > 1:
        of_merged, of_means = (rows[name].n_alarming[WELCH] for name in (MERGED, RUN_MEANS))
        if of_merged or of_means:
            yield (
                f"There are more than twice as many false alarms as expected for {_of(of_merged, merged.n)} with "
                f"merged iterations, and for {_of(of_means, single.n)} with one number per run."
            )
        else:
            yield (
                "No benchmark has more than twice as many false alarms as expected, neither with merged iterations "
                "nor with one number per run."
            )


def _intervals_in_short(survey: TrustSurvey, rows: Mapping[str, TrustSummary]) -> Iterator[str]:
    merged, single = rows[MERGED].coverage, rows[RUN_MEANS].coverage
    if merged.median is None:
        return
    of_single = f", and an interval from one number per run in {d.percent(single.median)}" if single.n else ""
    median = "" if len(survey.benchmarks) == 1 else " (medians)"
    yield (
        f"A {percent(survey.level, None)} interval from merged iterations contains the mean of all runs in "
        f"{d.percent(merged.median)} of the samples{of_single}{median}."
    )


def _slowdowns_in_short(survey: TrustSurvey) -> Iterator[str]:
    rows = [row for row in survey.slowdowns if (row.aggregation, row.test) == (RUN_MEANS, WELCH)]
    for row in rows[:1]:
        typical = (
            f"is {_slower(row.median)} for half of the benchmarks" if row.median else "is above all tested factors"
        )
        missed = row.n - row.n_reached
        behind = f"; for {_of(missed, row.n)} no tested factor is large enough" if missed else ""
        if len(survey.benchmarks) == 1:
            typical = f"is {_slower(row.median)}" if row.median else "is above all tested factors"
            behind = ""
        yield (
            f"The smallest {change_of(survey)[0]} that {survey.n_runs} runs on each side detect with a power of "
            f"{percent(row.power, None)}, using one number per run, {typical}{behind}."
        )


def _advice(survey: TrustSurvey, rows: Mapping[str, TrustSummary]) -> Iterator[str]:
    rate = rows[MERGED].type_1_error.get(WELCH)
    if rate is None or not rate.n:
        yield "Compare one number per run, because the iterations of a run are not independent."
    elif rows[MERGED].n_alarming[WELCH]:
        yield (
            "Do not merge the iterations of several runs into one sample. Iterations of a run are similar, so "
            "intervals become too narrow and tests find too many differences. Compare one number per run."
        )
    else:
        yield "These runs do not show that merging causes false alarms. Still, compare one number per run."
    yield (
        f"To detect a smaller {change_of(survey)[0]}, measure more runs instead of longer runs, because more "
        "iterations do not average out the variation between runs."
    )


def _measurements() -> Iterator[d.Block]:
    yield d.Paragraph(
        "If the panels of single runs have different shapes or places, a measurement depends on its run. The merged "
        "measurements are then not a sample of independent values, and an interval from them is too narrow."
    )
    yield d.Figure("measurements", "Histograms and densities of the measurements after the warm-up.")


def _coverage(survey: TrustSurvey) -> Iterator[d.Block]:
    yield d.Paragraph(
        f"Many samples of {survey.n_runs} runs are drawn with replacement from the runs of each benchmark. Each sample "
        "gives an interval for the mean. Coverage is the share of samples whose interval contains the mean of all "
        "runs. If coverage is far below the level, the intervals suggest differences that do not exist."
    )
    aggregate = survey.parameters["aggregate"]
    yield d.Bullets(tuple(f"{name}: {meaning.format(aggregate)}." for name, meaning in MEANINGS.items()))
    rows = [(row.aggregation, row.coverage.n, *_cells(row.coverage), *row.below.values()) for row in survey.summaries]
    limits = [percent(float(limit), None) for limit in survey.summaries[0].below]
    yield d.table(
        f"Coverage of {percent(survey.level, None)} intervals: median and middle half over benchmarks, and number of "
        "benchmarks with coverage below each limit.",
        ("Compared values", "Benchmarks", "Median", "Middle half", *(f"Below {limit}" for limit in limits)),
        rows,
        numeric=(1, 2, *range(4, 4 + len(limits))),
    )
    yield d.Paragraph(_without_width(survey), "note")
    if any(entry.by_n_runs for entry in survey.benchmarks):
        yield d.Figure(
            "coverage",
            "A line that stays below the dashed line does not improve with more runs, because the method treats "
            "dependent values as independent.",
        )


def _without_width(survey: TrustSurvey) -> str:
    share = next(row.zero_width.median for row in survey.summaries if row.aggregation == RUN_MEANS)
    drawn = (
        ""
        if share is None
        else f". With one number per run, {100 * share:.2g} % of the samples are of this kind (median)"
    )
    return (
        "A sample that contains only copies of one run has an interval of width 0, which counts as not containing "
        f"the mean{drawn}. If all values of a benchmark are equal, the interval is the mean itself, and p is 1."
    )


def _false_alarms(survey: TrustSurvey) -> Iterator[d.Block]:
    yield d.Paragraph(
        "Two samples of the same runs differ only by chance. The share of pairs for which a test finds a difference "
        f"is its type I error; it should be {percent(survey.alpha, None)}. The paper calls 1 − α the ideal share of "
        "rejections (section 3.2, step 3); α is correct. The criterion that intervals do not overlap is much stricter "
        "than α, so few false alarms do not mean that this criterion is good."
    )
    rows = [
        (row.aggregation, TITLES[test], quartiles.n, *_cells(quartiles), row.n_alarming[test])
        for row in survey.summaries
        for test, quartiles in row.type_1_error.items()
    ]
    yield d.table(
        "Type I error: median and middle half over benchmarks, and number of benchmarks with an error above 2 α.",
        ("Compared values", "Test", "Benchmarks", "Median", "Middle half", "Above 2 α"),
        rows,
        numeric=(2, 3, 5),
    )
    if len(survey.benchmarks) >= MIN_FOR_ALARMS and WELCH in survey.tests:
        yield d.Figure("false-alarms", "The line of a good method reaches 100 % at the dashed line, which is α.")


def _slowdowns(survey: TrustSurvey) -> Iterator[d.Block]:
    if not survey.slowdowns:
        yield d.Paragraph("The detected change was not requested, or is undefined for all benchmarks.")
        return
    change, slower = change_of(survey)
    yield d.Paragraph(
        f"The second sample is made {slower} by a factor. The smallest detected {change} is the smallest factor at "
        "which a test reaches the power in the table. The factor for merged iterations has little meaning, "
        f"because tests on them also find differences without any {change}."
    )
    yield d.table(
        f"Smallest detected {change}: median over benchmarks. If a test detects no tested factor, the value counts as "
        "larger than all others.",
        ("Compared values", "Test", "Power", "Median", "Reached in", "Benchmarks"),
        [
            (
                row.aggregation, TITLES[row.test], percent(row.power, None),
                _slower(row.median) if row.median else "not reached", row.n_reached, row.n,
            )
            for row in survey.slowdowns
        ],
        numeric=(2, 3, 4, 5),
    )  # fmt: skip
    yield d.Figure(
        "rejections",
        "The curve of a good test starts at α and rises steeply. A curve that starts high means false alarms; a curve "
        f"that rises late means missed {change}s.",
    )


def _benchmarks(survey: TrustSurvey) -> Iterator[d.Block]:
    test = WELCH if WELCH in survey.tests else next(iter(survey.tests), None)
    ordered = sorted(survey.benchmarks, key=lambda entry: _misleads(entry, test))
    powers = survey.powers if survey.slowdowns else ()
    alarms = ("False alarms, merged", "One number per run") if test else ()
    change = change_of(survey)[0]
    powers_seen = [f"{change.capitalize()} detected, {percent(power, None)}" for power in powers]
    name = TITLES[test] if test else "no test"
    rows = [
        (
            entry.name, entry.application, entry.n_runs,
            *(_rate(entry.coverage[name]) for name in (MERGED, RUN_MEANS)),
            *(_rate(entry.type_1_error[name][test]) for name in (MERGED, RUN_MEANS) if test),
            *(_smallest_seen(entry, test, power) for power in powers),
        )
        for entry in ordered
    ]  # fmt: skip
    yield d.first_rows(
        f"Coverage, false alarms ({name}) and detected {change} of each benchmark. The detected {change} uses one "
        "number per run. Each version, context and alteration of a benchmark has its own row.",
        ("Benchmark", "Application", "Runs", "Coverage, merged", "One number per run", *alarms, *powers_seen),
        rows,
        numeric=range(2, 5 + len(alarms) + len(powers_seen)),
    )
    yield from _remarks(ordered)


def _remarks(benchmarks: Sequence[Trust]) -> Iterator[d.Block]:
    """Explain missing numbers, and name the benchmarks without variation."""
    remarks = list(
        dict.fromkeys(
            f"{entry.name}, {name}: {rate.reason}"
            for entry in benchmarks
            for name, rate in entry.coverage.items()
            if rate.reason
        )
    )
    if remarks:
        more = (f"and {len(remarks) - d.N_ROWS} more",) if len(remarks) > d.N_ROWS else ()
        yield d.Bullets((*remarks[: d.N_ROWS], *more))


def _misleads(entry: Trust, test: str | None) -> tuple[float, float]:
    """Return a sort key for the table.

    Benchmarks with the most false alarms of merged iterations come first, then benchmarks with the lowest coverage.
    """
    alarms = entry.type_1_error[MERGED][test].value if test else None
    coverage = entry.coverage[MERGED].value
    return -1.0 * (alarms or 0.0), 1.0 if coverage is None else coverage


def _smallest_seen(entry: Trust, test: str | None, power: float) -> str:
    key = (RUN_MEANS, test, power)
    row = next(row for row in entry.slowdowns if (row.aggregation, row.test, row.power) == key)
    return _slower(row.factor.value) if row.factor.value else row.factor.reason or d.DASH


def _left_out(survey: TrustSurvey) -> Iterator[d.Block]:
    rows = [(entry.name, entry.reason) for entry in survey.left_out]
    if rows:
        yield d.first_rows("Benchmarks that were left out, with the reason.", ("Benchmark", "Reason"), rows)


def _source(survey: TrustSurvey) -> Iterator[d.Block]:
    yield d.Paragraph(
        "Rates that depend only on which runs are drawn are exact, because all possible draws are enumerated with "
        "their probabilities. Random draws are used for one iteration per run, for the curves over factors, and if "
        "there are too many possible draws; the JSON has the standard errors. Runs are drawn with replacement, so a "
        "sample may have more runs than the benchmark."
    )
    if any(len(entry.by_n_runs) for entry in survey.benchmarks) and len(survey.benchmarks) > 1:
        n_curve = sum(bool(entry.by_n_runs) for entry in survey.benchmarks)
        yield d.Paragraph(f"Coverage by number of runs was computed for {n_curve} evenly spaced benchmarks.", "note")
    yield d.Paragraph(
        "Method: Bulej, Horky, Tuma (2017), Do We Teach Useful Statistics for Performance Evaluation?, ICPE '17 "
        "Companion, doi:10.1145/3053600.3053638.",
        "note",
    )


def _cells(quartiles: MiddleHalf) -> tuple[str, str]:
    if quartiles.median is None:
        return d.DASH, d.DASH
    low = d.percent(quartiles.low).removesuffix(" %")
    return d.percent(quartiles.median), f"{low} to {d.percent(quartiles.high)}"


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return d.DASH
    return d.percent(rate.value) if rate.se is None else f"{d.percent(rate.value)} ± {d.number(100 * rate.se, 1)}"


def _slower(factor: float) -> str:
    return f"{100 * (factor - 1):.3g} %"


def _of(count: int, n: int) -> str:
    return f"{count or 'none'} of {n} benchmarks"


def change_of(survey: TrustSurvey) -> tuple[str, str]:
    """Return a noun and an adjective for the change: "slowdown" and "slower".

    If the better direction is unknown for all benchmarks, return "increase" and "higher".
    """
    return ("slowdown", "slower") if any(trust.better for trust in survey.benchmarks) else ("increase", "higher")
