"""The report of `trust` in words and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.document import (
    DASH,
    N_ROWS,
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    first_rows,
    number,
    percent,
    table,
    value_in_words,
    words,
)
from analysis.trust import MERGED, ONE_SAMPLE, RUN_MEANS, WELCH, Quartiles, Rate, Summary, Survey, Trust
from analysis.trust._figures import MIN_FOR_ALARMS, TITLES, change_of

MEANINGS = {
    MERGED: "all iterations of the runs drawn are taken for one sample",
    RUN_MEANS: "one number a run, its {}",
    ONE_SAMPLE: "one random iteration of each run",
}


def document(survey: Survey) -> Document:
    """The report on how far intervals and tests can be trusted.

    Parameters
    ----------
    survey : Survey
    """
    sections = [Section("In short", (Bullets(tuple(_in_short(survey))),))]
    if survey.benchmarks:
        sections += [
            Section("Intervals: do they hold the mean?", tuple(_coverage(survey))),
            Section("Tests: how often do they raise a false alarm?", tuple(_false_alarms(survey))),
            Section(f"Tests: what {change_of(survey)[0]} do they see?", tuple(_slowdowns(survey))),
            Section("Benchmarks, the most misleading first", tuple(_benchmarks(survey))),
        ]
    sections += [
        Section("What was left out", tuple(_left_out(survey))),
        Section("How it was computed", tuple(_parameters(survey))),
    ]
    lead = "How far intervals and tests can be believed with the runs of each benchmark"
    return Document("Trust in intervals and tests", lead, "", tuple(sections), kind="trust report")


def _in_short(survey: Survey) -> Iterator[str]:
    if not survey.benchmarks:
        yield "No benchmark has two runs or more: how far runs differ from each other cannot be seen."
        yield "Measure every benchmark in several runs, each in a process of its own; ten or more let this be judged."
        return
    rows = {row.aggregation: row for row in survey.summaries}
    yield from _alarms_in_short(survey, rows)
    yield from _intervals_in_short(survey, rows)
    yield from _slowdowns_in_short(survey)
    yield from _advice(survey, rows)


def _alarms_in_short(survey: Survey, rows: Mapping[str, Summary]) -> Iterator[str]:
    merged, single = (rows[name].type_1_error.get(WELCH) for name in (MERGED, RUN_MEANS))
    if merged is None or single is None or merged.median is None:
        return
    n = len(survey.benchmarks)
    median = "" if n == 1 else " (median over benchmarks)"
    of_single = f", and {percent(single.median)} with one number a run" if single.n else ""
    yield (
        f"Two draws of {survey.n_runs} runs each of the same benchmark, nothing changed: Welch's test tells them apart "
        f"in {percent(merged.median)} of the pairs with all iterations merged{median}{of_single}. "
        f"{_whole_percent(survey.alpha)} are asked for."
    )
    if n > 1:
        of_merged, of_means = (rows[name].n_alarming[WELCH] for name in (MERGED, RUN_MEANS))
        yield (
            f"With merged iterations {_of(of_merged, merged.n)} raise more than twice as many false alarms as asked "
            f"for, with one number a run {_of(of_means, single.n)}."
        )


def _intervals_in_short(survey: Survey, rows: Mapping[str, Summary]) -> Iterator[str]:
    merged, single = rows[MERGED].coverage, rows[RUN_MEANS].coverage
    if merged.median is None:
        return
    of_single = f", from one number a run {percent(single.median)}" if single.n else ""
    median = "" if len(survey.benchmarks) == 1 else " (medians)"
    yield (
        f"A {_whole_percent(survey.level)} interval from merged iterations holds the mean of all runs in "
        f"{percent(merged.median)} of the draws{of_single}{median}."
    )


def _slowdowns_in_short(survey: Survey) -> Iterator[str]:
    rows = [row for row in survey.slowdowns if (row.aggregation, row.test) == (RUN_MEANS, WELCH)]
    for row in rows[:1]:
        typical = f"is {_slower(row.median)} for half of the benchmarks" if row.median else "is beyond the factors"
        missed = row.n - row.n_reached
        behind = f"; in {_of(missed, row.n)} it is not reached" if missed else ""
        if len(survey.benchmarks) == 1:
            typical = f"is {_slower(row.median)}" if row.median else "is not reached with the factors tried"
            behind = ""
        yield (
            f"The smallest {change_of(survey)[0]} that {survey.n_runs} runs on each side show in "
            f"{_whole_percent(row.power)} of the cases, one number a run, {typical}{behind}."
        )


def _advice(survey: Survey, rows: Mapping[str, Summary]) -> Iterator[str]:
    rate = rows[MERGED].type_1_error.get(WELCH)
    if rate is None or not rate.n:
        yield "Compare one number a run: the iterations of a run are alike and no sample of independent values."
    elif rows[MERGED].n_alarming[WELCH]:
        yield (
            "Do not merge the iterations of several runs into one sample: they are alike within a run, which makes "
            "intervals too narrow and tests too ready. Compare one number a run."
        )
    else:
        yield "Runs differ little from each other here; comparing one number a run is right all the same."
    yield (
        f"To see smaller {change_of(survey)[0]}s make more runs, not longer ones: what differs from run to run is not "
        "averaged out by more iterations."
    )


def _coverage(survey: Survey) -> Iterator[Block]:
    yield Paragraph(
        f"{survey.n_runs} of a benchmark's runs are drawn with replacement, again and again; each "
        "draw gives an interval for the mean. Its coverage is the share of draws whose interval holds the mean of all "
        "runs. Far below the level, differences are believed that are none."
    )
    aggregate = survey.parameters["aggregate"]
    yield Bullets(tuple(f"{name}: {meaning.format(aggregate)}." for name, meaning in MEANINGS.items()))
    rows = [(row.aggregation, row.coverage.n, *_cells(row.coverage), *row.below.values()) for row in survey.summaries]
    limits = [_whole_percent(float(limit)) for limit in survey.summaries[0].below]
    yield table(
        f"Coverage of {_whole_percent(survey.level)} intervals over benchmarks: median and middle half, and "
        "how many benchmarks are below a limit.",
        ("What is compared", "Benchmarks", "Median", "Middle half", *(f"Below {limit}" for limit in limits)),
        rows,
        numeric=(1, 2, *range(4, 4 + len(limits))),
    )
    yield Paragraph(_without_width(survey), "note")
    if any(entry.by_n_runs for entry in survey.benchmarks):
        yield Figure(
            "coverage",
            "How to read it: a line that stays below the dashed one does not get better with more runs; it treats what "
            "belongs together as independent.",
        )


def _without_width(survey: Survey) -> str:
    share = next(row.zero_width.median for row in survey.summaries if row.aggregation == RUN_MEANS)
    drawn = "" if share is None else f"; with one number a run that is {100 * share:.2g} % of the draws (median)"
    return (
        f"A draw of one run again and again has an interval of zero width, which counts as a miss{drawn}. Where all "
        "values are equal there is no variation: the interval is the mean itself, and p is 1."
    )


def _false_alarms(survey: Survey) -> Iterator[Block]:
    yield Paragraph(
        "Two draws of the same runs differ by chance only. The share of pairs that a test tells apart is its type I "
        f"error; it should be {_whole_percent(survey.alpha)}. The paper's text calls 1 − α ideal for the "
        "share of rejections (section 3.2, step 3); it must read α. Intervals that do not overlap are a far stricter "
        "criterion than α: few alarms there are no sign of a good test."
    )
    rows = [
        (row.aggregation, TITLES[test], quartiles.n, *_cells(quartiles), row.n_alarming[test])
        for row in survey.summaries
        for test, quartiles in row.type_1_error.items()
    ]
    yield table(
        "Type I error over benchmarks: median and middle half, and how many benchmarks have more than twice α.",
        ("What is compared", "Test", "Benchmarks", "Median", "Middle half", "Above 2 α"),
        rows,
        numeric=(2, 3, 5),
    )
    if len(survey.benchmarks) >= MIN_FOR_ALARMS and WELCH in survey.tests:
        yield Figure("false-alarms", "How to read it: a good procedure rises to 100 % at α, the dashed line.")


def _slowdowns(survey: Survey) -> Iterator[Block]:
    if not survey.slowdowns:
        yield Paragraph("Not asked for, or undefined for all benchmarks.")
        return
    change, slower = change_of(survey)
    yield Paragraph(
        f"The second draw is made {slower} by a factor. The smallest {change} seen is the factor from which on a test "
        "tells the two apart in so many of the pairs. That of merged iterations counts for little: these are told "
        f"apart without any {change} as well."
    )
    yield table(
        f"Smallest {change} seen, over benchmarks; one that is not reached counts as larger than all others.",
        ("What is compared", "Test", "Power", "Median", "Reached in", "Benchmarks"),
        [
            (
                row.aggregation, TITLES[row.test], _whole_percent(row.power),
                _slower(row.median) if row.median else "not reached", row.n_reached, row.n,
            )
            for row in survey.slowdowns
        ],
        numeric=(2, 3, 4, 5),
    )  # fmt: skip
    yield Figure(
        "rejections",
        "How to read it: a good test starts at α and rises steeply. One that starts high sees what is not there; one "
        f"that rises late misses {change}s.",
    )


def _benchmarks(survey: Survey) -> Iterator[Block]:
    test = WELCH if WELCH in survey.tests else next(iter(survey.tests), None)
    ordered = sorted(survey.benchmarks, key=lambda entry: _misleads(entry, test))
    powers = survey.powers if survey.slowdowns else ()
    alarms = ("False alarms, merged", "One number a run") if test else ()
    change = change_of(survey)[0]
    powers_seen = [f"{change.capitalize()} seen, {_whole_percent(power)}" for power in powers]
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
    yield first_rows(
        f"Each benchmark: coverage and false alarms ({name}); the {change} seen is that of one number a run. "
        "Benchmarks with several versions, contexts or alterations stand here once for each.",
        ("Benchmark", "Application", "Runs", "Coverage, merged", "One number a run", *alarms, *powers_seen),
        rows,
        numeric=range(2, 5 + len(alarms) + len(powers_seen)),
    )
    yield from _remarks(ordered)


def _remarks(benchmarks: Sequence[Trust]) -> Iterator[Block]:
    """Why numbers are missing, or what a benchmark without variation means."""
    remarks = list(
        dict.fromkeys(
            f"{entry.name}, {name}: {rate.reason}"
            for entry in benchmarks
            for name, rate in entry.coverage.items()
            if rate.reason
        )
    )
    if remarks:
        more = (f"and {len(remarks) - N_ROWS} more",) if len(remarks) > N_ROWS else ()
        yield Bullets((*remarks[:N_ROWS], *more))


def _misleads(entry: Trust, test: str | None) -> tuple[float, float]:
    """The sort key of the table: most false alarms of merged iterations first, then poor intervals."""
    alarms = entry.type_1_error[MERGED][test].value if test else None
    coverage = entry.coverage[MERGED].value
    return -1.0 * (alarms or 0.0), 1.0 if coverage is None else coverage


def _smallest_seen(entry: Trust, test: str | None, power: float) -> str:
    key = (RUN_MEANS, test, power)
    row = next(row for row in entry.slowdowns if (row.aggregation, row.test, row.power) == key)
    return _slower(row.factor.value) if row.factor.value else row.factor.reason or DASH


def _left_out(survey: Survey) -> Iterator[Block]:
    left_out = survey.left_out
    if not left_out:
        yield Paragraph("Nothing.")
        return
    rows = [(entry.name, entry.reason) for entry in left_out]
    yield first_rows("Left out, with the reason.", ("Benchmark", "Reason"), rows)


def _parameters(survey: Survey) -> Iterator[Block]:
    yield Paragraph(
        "What depends only on which runs were drawn is exact: every multiset of runs is enumerated with its chance. "
        "Random draws are used for one iteration a run, for the curves over factors, and where there are too many "
        "multisets; the JSON gives the standard error of each. Draws are with replacement, so that there may be more "
        "runs in a draw than there are."
    )
    if any(len(entry.by_n_runs) for entry in survey.benchmarks) and len(survey.benchmarks) > 1:
        n_curve = sum(bool(entry.by_n_runs) for entry in survey.benchmarks)
        yield Paragraph(f"Coverage by number of runs was computed for {n_curve} benchmarks, evenly spread.", "note")
    yield table(
        "Parameters.",
        ("Parameter", "Value"),
        [(words(name), _parameter(value)) for name, value in survey.parameters.items()],
    )
    yield Paragraph(
        "Method: Bulej, Horky, Tuma (2017), Do We Teach Useful Statistics for Performance Evaluation?, ICPE '17 "
        "Companion, doi:10.1145/3053600.3053638.",
        "note",
    )


def _parameter(value: Any) -> str:
    if isinstance(value, tuple) and len(value) > 5:
        return f"{value_in_words(value[:2])}, ... {value_in_words(value[-1])} ({len(value)} values)"
    return value_in_words(value)


def _cells(quartiles: Quartiles) -> tuple[str, str]:
    if quartiles.median is None:
        return DASH, DASH
    low = percent(quartiles.low).removesuffix(" %")
    return percent(quartiles.median), f"{low} to {percent(quartiles.high)}"


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return DASH
    return percent(rate.value) if rate.se is None else f"{percent(rate.value)} ± {number(100 * rate.se, 1)}"


def _whole_percent(share: float) -> str:
    """A requested share, with only the decimals it has."""
    return f"{100 * share:g} %"


def _slower(factor: float) -> str:
    return f"{100 * (factor - 1):.3g} %"


def _of(count: int, n: int) -> str:
    return f"{count} of {n} benchmarks"
