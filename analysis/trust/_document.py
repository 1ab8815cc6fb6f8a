"""How far intervals and tests can be believed, in words and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.document import (
    DASH,
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    clean,
    number,
    percent,
    plain,
    table,
    value_in_words,
    words,
)
from analysis.trust import MERGED, ONE_SAMPLE, RUN_MEANS, WELCH, Survey
from analysis.trust._figures import MIN_FOR_ALARMS, TITLES

Content = Mapping[str, Any]

N_ROWS = 40  # of a table; all are in the JSON
MEANINGS = {
    MERGED: "all iterations of the runs drawn are taken for one sample",
    RUN_MEANS: "one number a run, its {}",
    ONE_SAMPLE: "one random iteration of each run",
}


def document(survey: Survey) -> Document:
    """The report on how far intervals and tests can be believed.

    Parameters
    ----------
    survey : Survey
    """
    content = clean(plain(survey))
    sections = [Section("In short", (Bullets(tuple(_in_short(content))),))]
    if content["benchmarks"]:
        sections += [
            Section("Intervals: do they hold the mean?", tuple(_coverage(content))),
            Section("Tests: how often do they raise a false alarm?", tuple(_false_alarms(content))),
            Section("Tests: what slowdown do they see?", tuple(_slowdowns(content))),
            Section("Benchmarks, the most misleading first", tuple(_benchmarks(content))),
        ]
    sections += [
        Section("What was left out", tuple(_left_out(content))),
        Section("How it was computed", tuple(_parameters(content))),
    ]
    lead = "How far intervals and tests can be believed with the runs of each benchmark"
    return Document("Trust in intervals and tests", lead, "", tuple(sections), kind="trust report")


def _in_short(content: Content) -> Iterator[str]:
    if not content["benchmarks"]:
        yield "No benchmark has two runs or more: how far runs differ from each other cannot be seen."
        yield "Measure every benchmark in several runs, each in a process of its own; ten or more let this be judged."
        return
    rows = {row["aggregation"]: row for row in content["summaries"]}
    yield from _alarms_in_short(content, rows)
    yield from _intervals_in_short(content, rows)
    yield from _slowdowns_in_short(content)
    yield from _advice(rows)


def _alarms_in_short(content: Content, rows: Mapping[str, Content]) -> Iterator[str]:
    of = {name: row["type_1_error"].get(WELCH) for name, row in rows.items()}
    if of[MERGED] is None or of[MERGED]["median"] is None:
        return
    n, n_runs = len(content["benchmarks"]), content["parameters"]["n_runs"]
    median = "" if n == 1 else " (median over benchmarks)"
    single = f", and {percent(of[RUN_MEANS]['median'])} with one number a run" if of[RUN_MEANS]["n"] else ""
    yield (
        f"Two draws of {n_runs} runs each of the same benchmark, nothing changed: Welch's test tells them apart in "
        f"{percent(of[MERGED]['median'])} of the pairs with all iterations merged{median}{single}. "
        f"{_whole(content['parameters']['alpha'])} are asked for."
    )
    alarming = rows[MERGED]["n_alarming"][WELCH]
    if n > 1:
        yield (
            f"With merged iterations {_of(alarming, of[MERGED]['n'])} raise more than twice as many false alarms as "
            f"asked for, with one number a run {_of(rows[RUN_MEANS]['n_alarming'][WELCH], of[RUN_MEANS]['n'])}."
        )


def _intervals_in_short(content: Content, rows: Mapping[str, Content]) -> Iterator[str]:
    of = {name: row["coverage"] for name, row in rows.items()}
    if of[MERGED]["median"] is None:
        return
    single = f", from one number a run {percent(of[RUN_MEANS]['median'])}" if of[RUN_MEANS]["n"] else ""
    median = "" if len(content["benchmarks"]) == 1 else " (medians)"
    yield (
        f"A {_whole(content['parameters']['level'])} interval from merged iterations holds the mean of all runs in "
        f"{percent(of[MERGED]['median'])} of the draws{single}{median}."
    )


def _slowdowns_in_short(content: Content) -> Iterator[str]:
    rows = [row for row in content["slowdowns"] if (row["aggregation"], row["test"]) == (RUN_MEANS, WELCH)]
    for row in rows[:1]:
        typical = (
            f"is {_slower(row['median'])} for half of the benchmarks" if row["median"] else "is beyond the factors"
        )
        missed = row["n"] - row["n_reached"]
        behind = f"; in {_of(missed, row['n'])} it is not reached" if missed else ""
        if len(content["benchmarks"]) == 1:
            typical = f"is {_slower(row['median'])}" if row["median"] else "is not reached with the factors tried"
            behind = ""
        yield (
            f"The smallest slowdown that {content['parameters']['n_runs']} runs on each side show in "
            f"{_whole(row['power'])} of the cases, one number a run, {typical}{behind}."
        )


def _advice(rows: Mapping[str, Content]) -> Iterator[str]:
    asked = rows[MERGED]["type_1_error"].get(WELCH)
    if asked is None or not asked["n"]:
        yield "Compare one number a run: the iterations of a run are alike and no sample of independent values."
    elif rows[MERGED]["n_alarming"][WELCH]:
        yield (
            "Do not merge the iterations of several runs into one sample: they are alike within a run, which makes "
            "intervals too narrow and tests too ready. Compare one number a run."
        )
    else:
        yield "Runs differ little from each other here; comparing one number a run is right all the same."
    yield (
        "To see smaller slowdowns make more runs, not longer ones: what differs from run to run is not averaged out by "
        "more iterations."
    )


def _coverage(content: Content) -> Iterator[Block]:
    yield Paragraph(
        f"{content['parameters']['n_runs']} of a benchmark's runs are drawn with replacement, again and again; each "
        "draw gives an interval for the mean. Its coverage is the share of draws whose interval holds the mean of all "
        "runs. Far below the level, differences are believed that are none."
    )
    aggregate = content["parameters"]["aggregate"]
    yield Bullets(tuple(f"{name}: {meaning.format(aggregate)}." for name, meaning in MEANINGS.items()))
    rows = []
    for row in content["summaries"]:
        below = [f"{count}" for count in row["below"].values()]
        coverage = row["coverage"]
        rows.append((row["aggregation"], coverage["n"], *_three(coverage), *below))
    limits = [_whole(float(limit)) for limit in content["summaries"][0]["below"]]
    yield table(
        f"Coverage of {_whole(content['parameters']['level'])} intervals over benchmarks: median and middle half, and "
        "how many benchmarks are below a limit.",
        ("What is compared", "Benchmarks", "Median", "Middle half", *(f"Below {limit}" for limit in limits)),
        rows,
        numeric=(1, 2, *range(4, 4 + len(limits))),
    )
    yield Paragraph(_without_width(content), "note")
    if any(entry["by_n_runs"] for entry in content["benchmarks"]):
        yield Figure(
            "coverage",
            "How to read it: a line that stays below the dashed one does not get better with more runs; it treats what "
            "belongs together as independent.",
        )


def _without_width(content: Content) -> str:
    widths = {row["aggregation"]: row["zero_width"]["median"] for row in content["summaries"]}
    share = widths[RUN_MEANS]
    drawn = "" if share is None else f"; with one number a run that is {100 * share:.2g} % of the draws (median)"
    return (
        f"A draw of one run again and again has an interval of zero width, which counts as a miss{drawn}. Where all "
        "values are equal there is no variation: the interval is the mean itself, and p is 1."
    )


def _false_alarms(content: Content) -> Iterator[Block]:
    yield Paragraph(
        "Two draws of the same runs differ by chance only. The share of pairs that a test tells apart is its type I "
        f"error; it should be {_whole(content['parameters']['alpha'])}. The paper's text calls 1 − α ideal for the "
        "share of rejections (section 3.2, step 3); it must read α. Intervals that do not overlap are a far stricter "
        "criterion than α: few alarms there are no sign of a good test."
    )
    rows = []
    for row in content["summaries"]:
        for test, quartiles in row["type_1_error"].items():
            alarming = f"{row['n_alarming'][test]}"
            rows.append((row["aggregation"], TITLES[test], quartiles["n"], *_three(quartiles), alarming))
    yield table(
        "Type I error over benchmarks: median and middle half, and how many benchmarks have more than twice α.",
        ("What is compared", "Test", "Benchmarks", "Median", "Middle half", "Above 2 α"),
        rows,
        numeric=(2, 3, 5),
    )
    if len(content["benchmarks"]) >= MIN_FOR_ALARMS and WELCH in content["parameters"]["tests"]:
        yield Figure("false-alarms", "How to read it: a good procedure rises to 100 % at α, the dashed line.")


def _slowdowns(content: Content) -> Iterator[Block]:
    if not content["slowdowns"]:
        yield Paragraph("Not asked for, or undefined for all benchmarks.")
        return
    yield Paragraph(
        "The second draw is made slower by a factor. The smallest slowdown seen is the factor from which on a test "
        "tells the two apart in so many of the pairs. That of merged iterations counts for little: these are told "
        "apart without any slowdown as well."
    )
    yield table(
        "Smallest slowdown seen, over benchmarks; one that is not reached counts as larger than all others.",
        ("What is compared", "Test", "Power", "Median", "Reached in", "Benchmarks"),
        [
            (
                row["aggregation"], TITLES[row["test"]], _whole(row["power"]),
                _slower(row["median"]) if row["median"] else "not reached", row["n_reached"], row["n"],
            )
            for row in content["slowdowns"]
        ],
        numeric=(2, 3, 4, 5),
    )  # fmt: skip
    yield Figure(
        "rejections",
        "How to read it: a good test starts at α and rises steeply. One that starts high sees what is not there; one "
        "that rises late misses slowdowns.",
    )


def _benchmarks(content: Content) -> Iterator[Block]:
    test = WELCH if WELCH in content["parameters"]["tests"] else next(iter(content["parameters"]["tests"]), None)
    ordered = sorted(content["benchmarks"], key=lambda entry: _misleads(entry, test))
    powers = content["parameters"]["powers"] if content["slowdowns"] else []
    alarms = ("False alarms, merged", "One number a run") if test else ()
    seen = [f"Slowdown seen, {_whole(power)}" for power in powers]
    name = TITLES[test] if test else "no test"
    rows = [
        (
            entry["name"], entry["application"], entry["n_runs"],
            *(_rate(entry["coverage"][name]) for name in (MERGED, RUN_MEANS)),
            *(_rate(entry["type_1_error"][name][test]) for name in (MERGED, RUN_MEANS) if test),
            *(_seen(entry, test, power) for power in powers),
        )
        for entry in ordered
    ]  # fmt: skip
    yield _cut(
        f"Each benchmark: coverage and false alarms ({name}); the slowdown seen is that of one number a run. "
        "Benchmarks with several versions, contexts or alterations stand here once for each.",
        ("Benchmark", "Application", "Runs", "Coverage, merged", "One number a run", *alarms, *seen),
        rows,
        numeric=range(2, 5 + len(alarms) + len(seen)),
    )
    yield from _remarks(ordered)


def _remarks(benchmarks: Sequence[Content]) -> Iterator[Block]:
    """Why numbers are missing, or what is behind those of a benchmark without variation."""
    remarks = list(
        dict.fromkeys(
            f"{entry['name']}, {name}: {rate['reason']}"
            for entry in benchmarks
            for name, rate in entry["coverage"].items()
            if rate["reason"]
        )
    )
    if remarks:
        more = (f"and {len(remarks) - N_ROWS} more",) if len(remarks) > N_ROWS else ()
        yield Bullets((*remarks[:N_ROWS], *more))


def _misleads(entry: Content, test: str | None) -> tuple[float, float]:
    """What the table is sorted by: many false alarms of merged iterations first, then poor intervals."""
    alarms = entry["type_1_error"][MERGED][test]["value"] if test else None
    coverage = entry["coverage"][MERGED]["value"]
    return -1.0 * (alarms or 0.0), 1.0 if coverage is None else coverage


def _seen(entry: Content, test: str | None, power: float) -> str:
    asked = (RUN_MEANS, test, power)
    row = next(row for row in entry["slowdowns"] if (row["aggregation"], row["test"], row["power"]) == asked)
    return _slower(row["factor"]["value"]) if row["factor"]["value"] else row["factor"]["reason"]


def _left_out(content: Content) -> Iterator[Block]:
    left_out = content["left_out"]
    if not left_out:
        yield Paragraph("Nothing.")
        return
    rows = [(entry["name"], entry["reason"]) for entry in left_out]
    yield _cut("Left out, with the reason.", ("Benchmark", "Reason"), rows)


def _parameters(content: Content) -> Iterator[Block]:
    yield Paragraph(
        "What depends only on which runs were drawn is exact: every multiset of runs is enumerated with its chance. "
        "Random draws are used for one iteration a run, for the curves over slowdowns, and where there are too many "
        "multisets; the JSON gives the standard error of each. Draws are with replacement, so that there may be more "
        "runs in a draw than there are."
    )
    if any(len(entry["by_n_runs"]) for entry in content["benchmarks"]) and len(content["benchmarks"]) > 1:
        n_curve = sum(bool(entry["by_n_runs"]) for entry in content["benchmarks"])
        yield Paragraph(f"Coverage by number of runs was computed for {n_curve} benchmarks, evenly spread.", "note")
    yield table(
        "Parameters.",
        ("Parameter", "Value"),
        [(words(name), _parameter(value)) for name, value in content["parameters"].items()],
    )
    yield Paragraph(
        "Method: Bulej, Horky, Tuma (2017), Do We Teach Useful Statistics for Performance Evaluation?, ICPE '17 "
        "Companion, doi:10.1145/3053600.3053638.",
        "note",
    )


def _parameter(value: Any) -> str:
    if isinstance(value, list) and len(value) > 5:
        return f"{value_in_words(value[:2])}, ... {value_in_words(value[-1])} ({len(value)} values)"
    return value_in_words(value)


def _three(quartiles: Content) -> tuple[str, str]:
    if quartiles["median"] is None:
        return DASH, DASH
    low = percent(quartiles["low"]).removesuffix(" %")
    return percent(quartiles["median"]), f"{low} to {percent(quartiles['high'])}"


def _rate(rate: Content) -> str:
    if rate["value"] is None:
        return DASH
    return percent(rate["value"]) if rate["se"] is None else f"{percent(rate['value'])} ± {number(100 * rate['se'], 1)}"


def _whole(share: float) -> str:
    """A share that was asked for, with as many decimals as it has."""
    return f"{100 * share:g} %"


def _slower(factor: float) -> str:
    return f"{100 * (factor - 1):.3g} %"


def _of(count: int, n: int) -> str:
    return f"{count} of {n} benchmarks"


def _cut(caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Sequence[int] = ()) -> Table:
    """The first rows, saying how many more there are."""
    more = f" {N_ROWS} of {len(rows)} are shown; the JSON (--json) has all." if len(rows) > N_ROWS else ""
    return table(caption + more, header, rows[:N_ROWS], tuple(numeric))
