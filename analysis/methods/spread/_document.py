"""Build the report on the spread of runs: sentences, tables and figures."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from analysis import document as d
from analysis.methods.spread._score import Detection, Score, Variant
from analysis.methods.spread._survey import (
    ContextSpread,
    EnvironmentPair,
    PassTime,
    RangeRow,
    SpreadSurvey,
    SuitePart,
    SuiteTime,
)
from analysis.runs.spread import BUCKETS
from analysis.statistics.intervals import Estimate
from analysis.text import duration

FIRST, _, _, *WIDE = BUCKETS
SMALL_SUITE = 20  # benchmarks; in a smaller suite, 5 % is less than one benchmark


def document(survey: SpreadSurvey) -> d.Document:
    """Build the report on the spread of runs."""
    environments = [row for row in survey.environments if row.overall.n]
    sections: list[tuple[str, Iterable[d.Block]]] = []
    if environments:
        if len(survey.environments) > 1:
            sections.append(("Environments", _environments(survey)))
        sections.append(("Spread of the benchmarks", _buckets(survey, environments)))
        if survey.environment_pairs:
            sections.append(("Comparison of environments", _environment_pairs(survey)))
        sections.append(("Benchmarks, largest spread first", _benchmarks(survey, environments)))
    if any(environment.score for environment in survey.environments):
        sections.append(("What the suite notices", _scores(survey)))
    timed = [row for row in survey.environments if row.time]
    if len(survey.environments) > 1 and timed:
        sections.append(("How long the suite takes", _times(timed)))
    else:
        sections += [("How long the suite takes", _time(row)) for row in timed]
    return d.method_report(
        "Spread of runs",
        "How much do the runs of each benchmark differ, and which slowdowns can they show?",
        _in_short(survey, environments),
        sections,
        _left_out(survey),
        survey.parameters,
        kind="spread report",
        source=_source(survey),
    )


def _in_short(survey: SpreadSurvey, environments: Sequence[ContextSpread]) -> Iterator[str]:
    if not environments:
        yield "No benchmark has two or more runs with a defined spread, so the stability of the suite is unknown."
        yield "Measure every benchmark in several runs, each in its own process; five or more are usual."
    if len(environments) > 1:
        yield from _several_in_short(survey, environments)
    for environment in environments if len(environments) == 1 else ():
        yield from _level_in_short(survey, environment)
    yield from _environments_in_short(survey.environment_pairs)
    if environments:
        yield from _limits_in_short(survey)
    for environment in survey.environments if len(survey.environments) == 1 else ():
        if environment.score:
            yield from _score_in_short(environment.score)
        if environment.time and environment.time.smallest:
            yield from _time_in_short(environment.time)


def _describe_context(environment: ContextSpread, survey: SpreadSurvey) -> str:
    """Return a phrase such as ", in machine A" that names the environment; return "" if there is only one."""
    return f", in {_name(environment.name)}" if len(survey.environments) > 1 else ""


def _name(environment: str) -> str:
    return environment or "no context given"


def _several_in_short(survey: SpreadSurvey, environments: Sequence[ContextSpread]) -> Iterator[str]:
    ordered = sorted(environments, key=lambda row: row.overall.median or 0.0)
    first, last = ordered[0], ordered[-1]
    yield (
        f"Over {len(environments)} environments, the median spread is from {d.percent(first.overall.median)} "
        f"({_name(first.name)}) to {d.percent(last.overall.median)} ({_name(last.name)}). The table “Environments” has "
        "a row for each of them."
    )
    rows = [(row, environment) for environment in environments for row in survey.within(environment)]
    worst = sorted((pair for pair in rows if pair[0].bucket == WIDE[-1]), key=lambda pair: -(pair[0].judged or 0.0))
    if worst:
        names = ", ".join(
            f"{row.name} ({d.percent(row.judged)} in {_name(environment.name)})"
            for row, environment in worst[: d.N_NAMED]
        )
        yield f"Fix or remove these first, because their runs are more than 50 % apart: {names}."


def _environments(survey: SpreadSurvey) -> Iterator[d.Block]:
    is_scored = any(row.score for row in survey.environments)
    is_timed = any(row.time for row in survey.environments)
    rows = []
    for environment in survey.environments:
        of, share = environment.overall, None if environment.v.value is None else environment.v.value / 2
        score, time = environment.score, environment.time
        noticed = f"{len(score.variants['total'].covered)} of {len(score.methods)}" if score else d.DASH
        rows.append((
            _name(environment.name), counted_benchmarks(survey, environment), _range(of.n_runs) if of.n else d.DASH,
            d.percent(of.median), of.counts[FIRST], sum(of.counts[name] for name in WIDE), d.percent(share),
            *((_scored(score.variants["total"].score) if score else d.DASH, noticed) if is_scored else ()),
            *((describe_pass(time.one_pass) if time else d.DASH,) if is_timed else ()),
        ))  # fmt: skip
    score_titles, time_titles = ("Score", "Methods noticed"), ("One pass",)
    yield d.first_rows(
        "Each environment by itself. Within 5 % and more than 25 %: number of benchmarks whose runs are so far apart. "
        "Shows: the slowdown that all benchmarks except the 5 % with the largest spread can show."
        + (
            " One pass: mean and standard deviation of the time of one run of each benchmark (number of passes)."
            if is_timed
            else ""
        ),
        ("Environment", "Benchmarks", "Runs", "Median spread", "Within 5 %", "More than 25 %", "Shows",
         *(score_titles if is_scored else ()), *(time_titles if is_timed else ())),
        rows, numeric=range(1, 7),
    )  # fmt: skip


def counted_benchmarks(survey: SpreadSurvey, environment: ContextSpread) -> str:
    """Return the number of benchmarks, each version counted; if versions differ, also the number without versions."""
    n = len({(row.application, row.benchmark) for row in survey.within(environment)})
    return f"{environment.overall.n}" if n == environment.overall.n else f"{environment.overall.n} ({n} in versions)"


def describe_pass(one_pass: PassTime | None) -> str:
    """Return the mean and the standard deviation of the time of a complete pass, and the number of passes."""
    if one_pass is None:
        return "no complete pass"
    if one_pass.sd is None:
        return f"{_duration(one_pass.mean)} (1)"
    return f"{_duration(one_pass.mean)} ± {_duration(one_pass.sd)} ({one_pass.n})"


def _level_in_short(survey: SpreadSurvey, environment: ContextSpread) -> Iterator[str]:
    row = environment.overall
    stable, wide = row.shares[FIRST], sum(row.counts[name] for name in WIDE)
    share = None if environment.v.value is None else environment.v.value / 2
    if row.n == 1:
        yield f"The runs of the only benchmark are {d.percent(row.median)} apart ({_describe_runs(survey, row)})."
        yield (
            "By the rule of the paper, it can show only slowdowns of at least this spread, because smaller differences "
            "also occur between unchanged runs."
        )
        return
    far = f"the runs of {wide} ({d.percent(wide / row.n)}) are" if wide else "no benchmark has runs"
    near = f"The runs of {row.counts[FIRST]}" if row.counts[FIRST] else "The runs of none"
    yield (
        f"{near} of {d.counted(row.n, 'benchmark')} "
        f"({_counted_apart(survey, environment)}{d.percent(stable.value)}, interval {d.interval(stable)}) are within 5 "
        f"% of each other; {far} more than 25 % apart "
        f"({_describe_runs(survey, row)})."
    )
    yield (
        f"The median spread is {d.percent(row.median)}. By the rule of the paper, a benchmark can show a slowdown "
        "only if the slowdown is at least as large as the spread, because smaller differences also occur between "
        "unchanged runs."
    )
    if share is not None:
        yield (
            f"By this rule, all benchmarks except the 5 % with the largest spread can show a slowdown of "
            f"{d.percent(share)}."
        )
    worst = [spread for spread in survey.within(environment) if spread.bucket == WIDE[-1]][: d.N_NAMED]
    if worst:
        names = ", ".join(f"{spread.name} ({d.percent(spread.judged)})" for spread in worst)
        yield f"Fix or remove these first, because their runs are more than 50 % apart: {names}."


def _environments_in_short(pairs: Sequence[EnvironmentPair]) -> Iterator[str]:
    for pair in pairs[: d.N_NAMED]:
        if pair.ratio.value is None:
            yield f"{_name(pair.first)} and {_name(pair.second)} cannot be compared: {pair.ratio.reason}."
            continue
        p = "" if pair.p_holm is None else f"; p = {d.p_value(pair.p_holm)}"
        yield (
            f"Per benchmark, the spread in {_name(pair.second)} is {d.number(pair.ratio.value, 2)} times the spread in "
            f"{_name(pair.first)} ({_ends(pair.ratio, 2) or pair.ratio.reason}{p}); {pair.n_wider} of {pair.n} are "
            "larger."
        )


def _limits_in_short(survey: SpreadSurvey) -> Iterator[str]:
    per = survey.per
    some = [row for row in survey.spreads if row.bucket and row.n_runs > per and row.per_spread.value]
    grows = "The spread grows with the number of runs, although more runs make a comparison more exact"
    if some:
        over_all = median([row.max_spread.value or 0.0 for row in some])
        over_some = median([row.per_spread.value or 0.0 for row in some])
        grows += (
            f": the median spread is {d.percent(over_some)} over {per} runs, and {d.percent(over_all)} over all runs"
        )
    yield (
        f"{grows}. Compare spreads only for the same number of runs, and use spreads only as a rough guide. To decide "
        "whether two versions differ, compare the means of their runs."
    )


def _score_in_short(score: Score) -> Iterator[str]:
    total = score.variants["total"]
    if total.score.value is None:
        yield f"It is unknown which altered methods the suite notices: {total.score.reason}."
        return
    yield (
        f"The suite notices {len(total.covered)} of {d.counted(len(score.methods), 'altered method')}, so the API "
        f"benchmarking score is {d.number(total.score.value, 0)} ({_score_ends(total.score)}). A difference counts if "
        f"it is at least {d.percent(_half(score.v))} in every run."
    )
    missed = [method for method in score.methods if method not in total.covered]
    if missed:
        yield (
            f"Altered methods that no benchmark notices: {d.listed(missed)}. Add a benchmark that calls these methods, "
            "or make the benchmarks more stable."
        )
    once = [
        f"{row.method} (by {row.benchmark})"
        for row in score.detections
        if row.regression.found and score.redundancy[row.method] == 1
    ]
    if once:
        yield f"Altered methods that only one benchmark notices: {d.listed(once)}. Keep these benchmarks."


def _time_in_short(time: SuiteTime) -> Iterator[str]:
    smallest = time.smallest
    if smallest and len(smallest.benchmarks) < len(time.benchmarks):
        yield (
            f"{d.counted(len(smallest.benchmarks), 'benchmark')} of {len(time.benchmarks)} would notice the same "
            f"methods, in {_duration(smallest.seconds)} instead of {_duration(time.seconds)}: "
            f"{d.listed(smallest.benchmarks)}."
        )


def _buckets(survey: SpreadSurvey, environments: Sequence[ContextSpread]) -> Iterator[d.Block]:
    if survey.parameters["per"] is None:
        meaning = "over all runs of a benchmark"
    else:
        meaning = f"averaged over all choices of {survey.per} runs"
    several = len(survey.environments) > 1
    rows = [
        (*((_name(environment.name),) if several else ()), name, row.n, _range(row.n_runs), *row.counts.values(),
         d.percent(row.median))
        for environment in environments
        for name, row in _bucket_rows(environment)
    ]  # fmt: skip
    first = ("Environment", "Application") if several else ("Application",)
    yield d.first_rows(
        "Number of benchmarks in each range of spread. Spread is (slowest run − fastest run) / mean of the runs, "
        f"{meaning}. A spread equal to a limit is in the lower range, and 0 is in the first range."
        + (" The spreads of different environments are never combined." if several else ""),
        (*first, "Benchmarks", "Runs", *BUCKETS, "Median"),
        rows,
        numeric=range(len(first), len(first) + 3 + len(BUCKETS)),
    )
    yield d.Figure(
        "max-spread",
        "The further to the right a benchmark is, the larger a slowdown must be before the benchmark shows it. A row "
        "with strokes on both sides of a dashed line has stable and unstable benchmarks; the table lists their names.",
    )
    yield d.Figure(
        "spread-buckets", "Share of benchmarks in each range of spread. Lighter bars are more stable benchmarks."
    )


def _bucket_rows(environment: ContextSpread) -> list[tuple[str, RangeRow]]:
    rows = [("all", environment.overall)] if len(environment.applications) != 1 else []
    applications = sorted(environment.applications, key=lambda row: -(row.median or 0))
    return rows + [(row.application or "no application", row) for row in applications if row.n]


def _environment_pairs(survey: SpreadSurvey) -> Iterator[d.Block]:
    yield d.first_rows(
        "The same benchmarks in two environments. Ratio is the geometric mean of spread in the second / spread in the "
        "first over benchmarks, with its interval. The p values come from Wilcoxon's signed-rank test, corrected for "
        "the number of pairs of environments. “Without a pair” counts benchmarks that have no spread above 0 in one "
        "of the environments.",
        ("First", "Second", "Benchmarks", "Without a pair", "Ratio", "Larger in the second", "p", "Holm"),
        [
            (
                _name(pair.first), _name(pair.second), pair.n, pair.n_unpaired,
                d.estimate(pair.ratio, as_percent=False), f"{pair.n_wider} of {pair.n}", d.p_value(pair.test.p),
                d.p_value(pair.p_holm),
            )
            for pair in survey.environment_pairs
        ],
        numeric=(2, 3, 6, 7),
    )  # fmt: skip


def _benchmarks(survey: SpreadSurvey, environments: Sequence[ContextSpread]) -> Iterator[d.Block]:
    per, several = survey.per, len(survey.environments) > 1
    rows = [(row, environment) for environment in environments for row in survey.within(environment)]
    rows.sort(key=lambda pair: -(pair[0].judged or 0.0))
    yield d.first_rows(
        f"The first spread is over all runs. The second spread is the average over all choices of {per} runs, for "
        f"comparison with benchmarks that have {per} runs. CV is standard deviation / mean of the runs, which does not "
        "grow with the number of runs.",
        ("Benchmark", "Application", *(("Environment",) if several else ()), "Runs", "Spread", f"Over {per}", "CV",
         "Range"),
        [
            (
                row.name, row.application, *((_name(environment.name),) if several else ()), row.n_runs,
                d.percent(row.max_spread.value), d.percent(row.per_spread.value), d.percent(row.cv.value), row.bucket,
            )
            for row, environment in rows
        ],
        numeric=range(2 + several, 6 + several),
    )  # fmt: skip


def _scores(survey: SpreadSurvey) -> Iterator[d.Block]:
    scored = [(at, row, row.score) for at, row in enumerate(survey.environments) if row.score]
    several = len(survey.environments) > 1
    first = ("Environment",) if several else ()
    n = len(first)
    halves = dict.fromkeys(d.percent(_half(score.v)) + _describe_context(row, survey) for _, row, score in scored)
    yield d.Paragraph(
        "A benchmark notices an altered method if two conditions hold in every run: a rank-sum test finds a "
        "difference between iterations with and without the change, and the means differ by at least v / 2 = "
        f"{'; '.join(halves)}. Improvements count as well. The test treats the iterations of a run as "
        "independent, which makes p too small. The table also shows p corrected by Bonferroni and Holm."
    )

    def named(environment: ContextSpread) -> tuple[str, ...]:
        return (_name(environment.name),) if several else ()

    yield d.first_rows(
        "The API benchmarking score is the percentage of altered methods that at least one benchmark notices. Its "
        "interval treats the methods as a random sample. The relative score leaves out the 5 % of benchmarks with the "
        "largest baseline spread. The absolute score leaves out benchmarks whose baseline spread is above 50 %.",
        (*first, "Variant", "Score", "Interval", "Noticed", "Benchmarks", "Without"),
        [
            (*named(row), *_variant(name, variant))
            for _, row, score in scored
            for name, variant in score.variants.items()
        ],
        numeric=(n + 1, n + 3, n + 4),
    )
    with_detections = [entry for entry in scored if entry[2].detections]
    if not with_detections:
        return
    yield d.first_rows(
        "Altered methods; methods that no benchmark notices are first.",
        (*first, "Method", "Noticed by", "of", "Benchmarks"),
        [(*named(row), *cells) for _, row, score in with_detections for cells in _methods(score)],
        numeric=(n + 1, n + 2),
    )
    for at, _row, _score in with_detections:
        yield d.Figure(
            figure_name("noticed-by", at, survey),
            "Which benchmark notices which method. A row without squares is a benchmark that notices no method; a "
            "column without squares is a method that no benchmark notices.",
        )
        yield d.Figure(
            figure_name("redundancy", at, survey),
            "Methods by number of benchmarks that notice them. If many methods are far to the right, some benchmarks "
            "may be redundant.",
        )
    yield d.first_rows(
        "Every benchmark with every altered method, noticed methods first. Change is (altered − baseline) / baseline "
        "for each run; above 0, the altered version has larger values. p is the largest p of all runs.",
        (*first, "Benchmark", "Method", "Noticed", "Change per run", "p", "Bonferroni", "Holm", "Remark"),
        [
            (*named(environment), *_detection(row))
            for _, environment, score in with_detections
            for row in sorted(score.detections, key=lambda row: not row.regression.found)
        ],
        numeric=(n + 4, n + 5, n + 6),
    )


def _methods(score: Score) -> Iterator[tuple[Any, ...]]:
    of_method = {method: [row for row in score.detections if row.method == method] for method in score.methods}
    for name, rows in sorted(of_method.items(), key=lambda entry: score.redundancy[entry[0]]):
        noticing = [row.benchmark for row in rows if row.regression.found]
        yield name, score.redundancy[name], len(rows), d.listed(noticing)


def _variant(name: str, variant: Variant) -> tuple[Any, ...]:
    score = variant.score
    value = "undefined" if score.value is None else d.number(score.value, 0)
    return name, value, _score_ends(score), len(variant.covered), variant.n_benchmarks, d.listed(variant.without)


def _detection(row: Detection) -> tuple[Any, ...]:
    regression = row.regression
    changes = ", ".join(d.percent(pair.difference) for pair in regression.pairs[: d.N_NAMED])
    changes += ", …" if len(regression.pairs) > d.N_NAMED else ""
    p = (d.p_value(regression.p), d.p_value(row.p_bonferroni), d.p_value(row.p_holm))
    remark = f"cannot be detected: {regression.reason}" if regression.reason else ""
    return row.benchmark, row.method, "yes" if regression.found else "no", changes, *p, remark


def _time(environment: ContextSpread) -> Iterator[d.Block]:
    time = environment.time
    if time is None:
        return
    source = (
        "the condition duration of each run"
        if time.is_measured
        else (
            "the sum of its measured times; the real time is longer if runs have a setup or measure only some of their "
            "operations"
        )
    )
    unknown = f" {d.counted(time.n_unknown, 'benchmark')} without a known time were left out." if time.n_unknown else ""
    yield d.Paragraph(
        f"Time of all runs: {_duration(time.seconds)}. One complete pass, which is one run of each benchmark: "
        f"{_describe_pass(time)}. The time of a run is {source}.{unknown} A part of the "
        "suite includes all runs of the chosen benchmarks, so each benchmark notices the same methods as in the whole "
        "suite."
    )
    parts = [("smallest part that notices the same methods", time.smallest)] if time.smallest else []
    parts += [(f"in {_duration(part.limit or 0.0)}", part) for part in time.parts]
    is_scored = environment.score is not None
    rows = [("whole suite", *_suite(time, environment)), *((name, *_part(part, is_scored)) for name, part in parts)]
    score = ("Score",) if is_scored else ()
    chosen = "that notices the most altered methods in that time" if is_scored else "with the most benchmarks that fit"
    yield d.table(
        f"Parts of the suite for different time budgets. Each row is the part {chosen}.",
        ("Part", "Benchmarks", "Time", *score, "Selected"), rows, numeric=(1, 2),
    )  # fmt: skip
    yield d.first_rows(
        "Time of each benchmark, longest first.",
        ("Benchmark", "Application", "One run", "Runs", "All runs"),
        [
            (row.benchmark, row.application, _duration(row.seconds_per_run), row.n_runs, _duration(row.seconds))
            for row in time.benchmarks
        ],
        numeric=(2, 3, 4),
    )


def _describe_pass(time: SuiteTime) -> str:
    one_pass = time.one_pass
    if one_pass is None:
        return "unknown, because no run occurs in every benchmark"
    if one_pass.sd is None:
        return f"{_duration(one_pass.mean)} (a single pass)"
    return f"mean {_duration(one_pass.mean)}, standard deviation {_duration(one_pass.sd)} ({one_pass.n} passes)"


def _times(environments: Sequence[ContextSpread]) -> Iterator[d.Block]:
    """Build the tables of several environments: the parts of the suite, and the time of each benchmark."""
    yield d.Paragraph(
        "The time of a run is the condition duration, or the sum of its measured times if no run has this condition. A "
        "part of the suite includes all runs of the chosen benchmarks."
    )
    scored = any(environment.score for environment in environments)
    rows: list[tuple[Any, ...]] = []
    times: list[tuple[Any, ...]] = []
    for environment in environments:
        time, name = environment.time, _name(environment.name)
        if time is None:
            continue
        parts = [("smallest part that notices the same methods", time.smallest)] if time.smallest else []
        parts += [(f"in {_duration(part.limit or 0.0)}", part) for part in time.parts]
        rows.append((name, "whole suite", *_suite(time, environment)))
        rows += [(name, title, *_part(part, environment.score is not None)) for title, part in parts]
        times += [(name, row.benchmark, row.application, _duration(row.seconds_per_run), row.n_runs,
                   _duration(row.seconds)) for row in time.benchmarks]  # fmt: skip
    yield d.first_rows(
        "Parts of the suite for different time budgets.",
        ("Environment", "Part", "Benchmarks", "Time", *(("Score",) if scored else ()), "Selected"),
        rows,
        numeric=(2, 3),
    )
    yield d.first_rows(
        "Time of each benchmark.",
        ("Environment", "Benchmark", "Application", "One run", "Runs", "All runs"),
        times,
        numeric=(3, 4, 5),
    )


def _suite(time: SuiteTime, environment: ContextSpread) -> tuple[Any, ...]:
    score = (_scored(environment.score.variants["total"].score),) if environment.score else ()
    return len(time.benchmarks), _duration(time.seconds), *score, "all"


def _part(part: SuitePart, is_scored: bool) -> tuple[Any, ...]:
    score = (_scored(part.score),) if is_scored else ()
    return len(part.benchmarks), _duration(part.seconds), *score, d.listed(part.benchmarks) or d.DASH


def _scored(score: Estimate | None) -> str:
    return d.DASH if score is None or score.value is None else f"{d.number(score.value, 0)} ({_score_ends(score)})"


def _duration(seconds: float) -> str:
    return duration(seconds) if seconds else d.DASH


def _left_out(survey: SpreadSurvey) -> Iterator[d.Block]:
    rows = [(row.name, row.reason) for row in survey.left_out]
    scores = [row for environment in survey.environments if environment.score for row in environment.score.left_out]
    score = list(dict.fromkeys((row.name, row.reason) for row in scores))
    if rows:
        yield d.first_rows("Benchmarks that have no spread for the table of ranges.", ("Benchmark", "Reason"), rows)
    if score:
        yield d.first_rows(
            "Benchmarks that the API benchmarking score leaves out, entirely or in part.",
            ("Benchmark", "Reason"),
            score,
        )


def _source(survey: SpreadSurvey) -> Iterator[d.Block]:
    yield d.Paragraph(
        "Spread, ranges of spread, v and the score: Laaber and Leitner (2018), doi:10.1145/3196398.3196407. v is twice "
        "the largest spread, after the largest 5 % of the spreads are left out: "
        + "; ".join(
            f"{d.estimate(environment.v)}{_describe_context(environment, survey)}"
            + (f" (the score was computed with v = {d.estimate(environment.score.v)})" if environment.score else "")
            for environment in survey.environments
        )
        + "."
        + _few(survey.environments)
    )


def _few(environments: Sequence[ContextSpread]) -> str:
    """Say what the rule of 95 % leaves out of a small suite."""
    if not any(1 < environment.overall.n < SMALL_SUITE for environment in environments):
        return ""
    return f" In a suite of fewer than {SMALL_SUITE} benchmarks, this leaves out the noisiest benchmark."


def _describe_runs(survey: SpreadSurvey, row: RangeRow) -> str:
    runs = d.counted(row.n_runs[0], "run") + " each" if len(row.n_runs) == 1 else f"{_range(row.n_runs)} runs each"
    return runs if survey.parameters["per"] is None else f"{runs}, averaged over choices of {survey.per}"


def _counted_apart(survey: SpreadSurvey, environment: ContextSpread) -> str:
    """Count the benchmarks in words if versions are counted separately; otherwise, return ""."""
    benchmarks = [(row.application, row.benchmark) for row in survey.within(environment)]
    n = len(set(benchmarks))
    return "" if n == len(benchmarks) else f"{d.counted(n, 'benchmark')} with each version counted separately; "


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _ends(ratio: Estimate, digits: int) -> str:
    return "" if ratio.ends is None else f"{d.number(ratio.low, digits)} to {d.number(ratio.high, digits)}"


def _score_ends(score: Estimate) -> str:
    if score.low is None or score.high is None:
        return ""
    return d.interval(Estimate(score.value, low=score.low / 100, high=score.high / 100))


def _half(v: Estimate) -> float | None:
    return None if v.value is None else v.value / 2


def figure_name(name: str, at: int, survey: SpreadSurvey) -> str:
    """Return the file name of a figure, which ends in the number of the environment if there are several."""
    return f"{name}-{at + 1}" if len(survey.environments) > 1 else name
