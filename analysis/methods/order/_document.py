"""Build the report on the order of benchmarks: sentences, tables and figures."""

from collections.abc import Iterable, Iterator
from typing import Any

from analysis import document as d
from analysis.methods.order._compare import PUBLISHED_LEVEL, RED_FLAG, OrderComparison, Side, count_flags
from analysis.methods.order._survey import OrderSurvey, Placed, mean_absolute
from analysis.runs.samples import Test
from analysis.statistics.intervals import Estimate

CASES = {1: "1: red flag", 2: "2: conclusions unlikely to change", 3: "3: examine"}
P_READ = (
    "p is the probability of a difference at least this large if order does not matter, so a small p is evidence that "
    "order matters. If there are many tests, some p are small by chance. The corrections of Bonferroni and Holm "
    "therefore take the number of tests into account."
)
EFFECT_READ = (
    "epsilon² is the effect size, from 0 (the values of both orders are mixed) to 1 (the values do not overlap). If "
    "there are many runs, p is small even for tiny effects."
)
DELTA_READ = (
    "Δ% is (mean fixed − mean random) / mean fixed. The last column states the change from fixed to random order."
)
CASE_READ = (
    "Case 1 is a red flag: the intervals of the two medians do not overlap. In case 2, a median is within the other "
    "interval, so order is unlikely to change a conclusion. In case 3, the intervals overlap, but neither median is "
    "within the other interval; examine the data."
)
PUBLISHED_READ = (
    f"The column As published has the case by the rule of the published tool, with {100 * PUBLISHED_LEVEL:g} % "
    "intervals for each single test, as in the experiments of 2021; those of 2022 used 1 − α / |T|."
)
SOURCE = (
    "Each run counts as one value, which summarises the iterations after the warm-up. The tests are Kruskal-Wallis "
    "tests, corrected for ties. Medians have exact, distribution-free intervals from order statistics. Source: "
    "Duplyakin et al. (2023), Avoiding the Ordering Trap in Systems Performance Measurement, USENIX ATC '23."
)


def document(survey: OrderSurvey) -> d.Document:
    """Build the report on the order of benchmarks."""
    sections: list[tuple[str, Iterable[d.Block]]] = []
    if survey.tests:
        sections.append(("Fixed against random order", _tests(survey)))
        sections.append(("Medians in both orders", _medians(survey)))
    if survey.conclusions:
        sections.append(("Two versions", _conclusions(survey)))
    if survey.positions:
        sections.append(("Position and previous benchmark (weaker tests)", _positions(survey)))
    return d.method_report(
        "Order of benchmarks",
        "Do the values of a benchmark change when the benchmarks run in a different order?",
        _in_short(survey),
        sections,
        _left_out(survey),
        survey.parameters,
        kind="order report",
        source=(d.Paragraph(SOURCE),),
    )


def _in_short(survey: OrderSurvey) -> Iterator[str]:
    if not survey.tests:
        yield (
            "No benchmark was measured both in fixed and in random order, so the two orders cannot be compared. "
            "Measure some runs in one fixed order and others in a new random order per run, and record fixed or "
            "random as order_type."
        )
    else:
        yield _verdict(survey)
        yield from _uncorrected(survey)
        yield from _mean_change(survey)
        yield from _affected(survey)
        yield from _red_flags(survey)
        yield from _too_few(survey)
    yield from _versions_in_short(survey)
    yield from _positions_in_short(survey)
    if not all([test.better for test in survey.tests] + [row.better for row in survey.positions]):
        yield (
            "For some values it is unknown whether lower or higher is better, so the report says higher and lower "
            "instead of faster and slower. To state the direction, use --unit or --better."
        )
    if survey.tests:
        yield (
            "Use a new random order for every run, and compare only runs in random order. More runs in the same order "
            "do not remove the effect of this order."
            if survey.matters
            else "To be safe, use a new random order for every run; this takes no extra time."
        )


def _verdict(survey: OrderSurvey) -> str:
    n_differing = sum(test.differs for test in survey.tests)
    verdict = (
        "Order matters" if survey.matters else "No effect of order was found, which does not prove that there is none"
    )
    return (
        f"{verdict}: {n_differing or 'none'} of {d.counted(survey.n_tests, 'test')} {_has(n_differing)} p below α / "
        f"|T| = {survey.threshold:.3g} (Bonferroni; Holm finds {sum(test.differs_holm for test in survey.tests)})."
    )


def _uncorrected(survey: OrderSurvey) -> Iterator[str]:
    n_small, expected = sum(test.differs_uncorrected for test in survey.tests), survey.alpha * survey.n_tests
    yield (
        f"Without a correction, {n_small} would be below α = {survey.alpha:g}; if order never mattered, {expected:.2g} "
        "would be expected by chance."
    )


def _mean_change(survey: OrderSurvey) -> Iterator[str]:
    if survey.mean_absolute_delta.value is None:
        return
    differing = [test for test in survey.tests if test.differs]
    of_differing = mean_absolute(differing).value
    some = "the test" if len(differing) == 1 else f"the {len(differing)} tests"
    more = (
        f", and by {of_differing:.3g} % over {some} with p below the threshold"
        if of_differing is not None and len(differing) < len(survey.tests)
        else ""
    )
    yield (
        f"Between the two orders, the mean changes by {survey.mean_absolute_delta.value:.3g} % on average over "
        f"{d.counted(survey.n_tests, 'test')} (mean of |Δ%|){more}."
    )


def _affected(survey: OrderSurvey) -> Iterator[str]:
    for test in [test for test in by_p(survey) if test.differs][: d.N_NAMED]:
        change = test.change or f"Δ% is undefined ({test.delta_percent.reason})"
        case = "" if test.case is None else f", case {CASES[test.case]}"
        yield f"{survey.title(test)}: {change} (p = {d.p_value(test.test.p)}{case})."


def _red_flags(survey: OrderSurvey) -> Iterator[str]:
    """Describe the red flags with the requested intervals, and the red flags that the paper's method would raise."""
    flagged = [survey.title(test) for test in by_p(survey) if test.case == RED_FLAG]
    published = [survey.title(test) for test in by_p(survey) if test.published_case == RED_FLAG]
    of_tests, level = f"of {d.counted(survey.n_tests, 'test')}", f"{100 * (survey.level or 0):.4g} %"
    if survey.parameters["compat"] and survey.level == PUBLISHED_LEVEL:
        names = f": {d.listed(published)}" if published else ""
        yield (
            f"By the rule of the published tool ({level} intervals for each single test), there is a red flag for "
            f"{len(published) or 'none'} {of_tests}{names}."
        )
        return
    if flagged:
        yield (
            f"Red flag (the {level} intervals of the medians do not overlap) for {len(flagged)} {of_tests}: "
            f"{d.listed(flagged)}."
        )
    else:
        yield f"No test has a red flag: the {level} intervals of the medians overlap."
    rest = [name for name in published if name not in flagged]
    if rest or len(published) < len(flagged):
        yield (
            "The method of the paper's experiments of 2021 would raise "
            f"{d.counted(len(published), 'red flag')}{f', also for {d.listed(rest)}' if rest else ''}, because it uses "
            f"intervals at {100 * PUBLISHED_LEVEL:g} % for each single test. The intervals here are at {level}, so a "
            f"false red flag among all {d.counted(survey.n_tests, 'test')} is rare. The tool of the paper also uses "
            "ranks that are one too high. To see the cases of the tool, use --compat ordersage."
        )


def _too_few(survey: OrderSurvey) -> Iterator[str]:
    n_unable = sum(test.min_attainable_p >= (survey.threshold or 0) for test in survey.tests)
    if n_unable:
        yield (
            f"{d.counted(n_unable, 'test')} cannot find an effect: with so few runs, p cannot be below α / |T|, even "
            "if the values of the two orders do not overlap. Add runs, or test fewer benchmarks."
        )


def _versions_in_short(survey: OrderSurvey) -> Iterator[str]:
    if survey.conclusions:
        counts = count_flags(survey.conclusions)
        first, n = survey.conclusions[0], len(survey.conclusions)
        few = f"; {counts['none']} have too few runs" if counts["none"] else ""
        yield (
            f"Comparison of {first.baseline} with {first.candidate}: the two orders lead to opposite conclusions for "
            f"{counts['red flag']} of {d.counted(n, 'benchmark')} (red flag). Only one order gives a conclusion for "
            f"{counts['amber']} (amber), and both orders agree for {counts['same']}{few}."
        )


def _positions_in_short(survey: OrderSurvey) -> Iterator[str]:
    if not survey.n_position_tests:
        return
    limit = survey.position_threshold or 0
    strongest = [(row, *_strongest(row)) for row in by_least_p(survey)]
    below = [entry for entry in strongest if (p := entry[1].p) is not None and p < limit]
    finding = (
        f"that the values of {len(below)} of {d.counted(len(survey.positions), 'benchmark')} depend on"
        if below
        else "no benchmark whose values depend on"
    )
    yield (
        f"Weaker tests use only runs that were not in fixed order. They find {finding} the position in the run or on "
        f"the previous benchmark (p below {limit:.3g})."
    )
    for row, test, effect in below[: d.N_NAMED]:
        yield f"{survey.title(row)}: {effect} (p = {d.p_value(test.p)})."


def _strongest(row: Placed) -> tuple[Test, str]:
    """Return the weaker test with the smaller p, and a description of its effect."""
    trend, after = row.trend.p, row.after.p
    if after is None or (trend is not None and trend <= after):
        return row.trend, row.change or "no trend"
    low, high = row.groups[0], row.groups[-1]
    return row.after, (
        f"median {_with_unit(low.median, row)} {_describe_predecessor(low.before)}, {_with_unit(high.median, row)} "
        f"{_describe_predecessor(high.before)}"
    )


def _with_unit(value: float, row: Placed) -> str:
    return f"{_value(value)} {row.unit}".strip()


def _describe_predecessor(before: str) -> str:
    return f"after {before}" if before else "at the start of a run"


def _tests(survey: OrderSurvey) -> Iterator[d.Block]:
    tests, alpha = survey.tests, survey.alpha
    rows = [
        ("Bonferroni", f"p < α / |T| = {survey.threshold:.3g}", sum(t.differs for t in tests)),
        ("Holm", f"corrected p < α = {alpha:g}", sum(t.differs_holm for t in tests)),
        ("none", f"p < α = {alpha:g}", sum(t.differs_uncorrected for t in tests)),
    ]
    yield d.table(
        f"Verdicts on {d.counted(survey.n_tests, 'test')}. The first row is the rule of the paper: order matters if "
        "any p is below the threshold.",
        ("Correction", "Rule", "Tests", "Order matters"),
        [(*row, "yes" if row[2] else "no") for row in rows],
        numeric=(2,),
    )
    yield d.Bullets((P_READ, EFFECT_READ, DELTA_READ))
    yield d.first_rows(
        "Tests of fixed against random order, smallest p first.",
        ("Benchmark", "Runs fixed", "random", "p", "Bonferroni", "Holm", "epsilon²", "Δ%", "Change"),
        [_test_row(test, survey) for test in by_p(survey)],
        numeric=(1, 2, 3, 4, 5, 6, 7),
    )
    yield d.Figure(
        "order-p-values",
        "p of each test on a logarithmic axis that is cut at 1e-30. The dashed line is α / |T|, the dotted line is α.",
    )
    yield d.Figure("order-p-by-effect", "p and effect size of each test.")
    yield d.Figure("order-differences", "Difference of the means. Dark bars with ▲ have p below α / |T|.")


def _test_row(test: OrderComparison, survey: OrderSurvey) -> tuple[Any, ...]:
    return (
        survey.title(test), len(test.fixed.values), len(test.random.values), d.p_value(test.test.p),
        d.p_value(test.p_bonferroni), d.p_value(test.p_holm), d.number(test.test.epsilon2),
        d.number(test.delta_percent.value, 2), _short(test.change) or f"undefined: {test.delta_percent.reason}",
    )  # fmt: skip


def _medians(survey: OrderSurvey) -> Iterator[d.Block]:
    ranks = (
        " The intervals use ranks that are one too high, as in the published tool."
        if survey.parameters["compat"]
        else ""
    )
    is_corrected = survey.n_tests > 1 and survey.level == 1 - (survey.threshold or 0)
    each = " (1 − α / |T|)" if is_corrected else " for each single test"
    yield d.Paragraph(f"{CASE_READ} {PUBLISHED_READ}")
    yield d.first_rows(
        f"Medians with intervals at {100 * (survey.level or 0):.4g} %{each}, and the coefficient of variation "
        f"(CV) of the runs; smallest p first.{ranks}",
        ("Benchmark", "Unit", "Fixed", "Random", "CV fixed", "CV random", "Case", "As published"),
        [
            (
                survey.title(test), test.unit or d.DASH, _median(test.fixed), _median(test.random),
                _cv(test.fixed), _cv(test.random), d.DASH if test.case is None else CASES[test.case],
                CASES[test.published_case],
            )
            for test in by_p(survey)
        ],
        numeric=(4, 5),
    )  # fmt: skip
    yield d.Figure(
        "order-medians", "Runs, median and interval of each order. Each panel shows one test in its own unit."
    )


def _conclusions(survey: OrderSurvey) -> Iterator[d.Block]:
    order = ("red flag", "amber", None, "same")
    ranked = sorted(survey.conclusions, key=lambda row: order.index(row.flag))
    first = ranked[0]
    yield d.Paragraph(
        "In each order, a version is faster or slower if the intervals of the two medians do not overlap; otherwise it "
        "is undecided. Opposite conclusions are a red flag; amber means that only one order gives a conclusion."
    )
    yield d.first_rows(
        f"{first.candidate} compared with {first.baseline}, flags first. The ratio is median of candidate / median of "
        "baseline.",
        ("Benchmark", "Fixed order", "Ratio", "Change", "Random order", "Ratio", "Change", "Flag"),
        [
            (
                row.benchmark, row.fixed, d.number(row.ratio_fixed.value), _short(row.change_fixed), row.random,
                d.number(row.ratio_random.value), _short(row.change_random), row.flag or row.reason,
            )
            for row in ranked
        ],
        numeric=(2, 5),
    )  # fmt: skip


def _positions(survey: OrderSurvey) -> Iterator[d.Block]:
    yield d.Paragraph(
        "These tests do not use runs in fixed order. Trend is Kendall's tau-b of values over positions, from −1 to 1 "
        "(preferred to Spearman's correlation because many runs share a position). Before is the Kruskal-Wallis test "
        "of values by the previous benchmark. Both tests are weaker than the comparison of two orders, because they "
        "detect only effects of the position or of the previous benchmark. They do not affect the verdict on order."
    )
    n, threshold = survey.n_position_tests, survey.position_threshold
    yield d.first_rows(
        f"Weaker tests, smallest p first. The significance level is corrected for all {n} tests: α / {n} = "
        f"{threshold:.3g}.",
        ("Benchmark", "Runs", "tau", "p trend", "Bonferroni", "Holm", "p before", "Bonferroni", "Holm", "Result"),
        [_position_row(row, survey) for row in by_least_p(survey)],
        numeric=(1, 2, 3, 4, 5, 6, 7, 8),
    )
    yield d.Figure(
        "order-positions", "Runs and medians by position in the run. Each panel shows one benchmark in its own unit."
    )


def _position_row(row: Placed, survey: OrderSurvey) -> tuple[Any, ...]:
    strongest, effect = _strongest(row)
    differs = strongest.p is not None and strongest.p < survey.alpha
    return (
        survey.title(row), len(row.values), d.number(row.trend.statistic, 2), d.p_value(row.trend.p),
        d.p_value(row.trend_bonferroni), d.p_value(row.trend_holm), d.p_value(row.after.p),
        d.p_value(row.after_bonferroni),
        d.p_value(row.after_holm), effect if differs else "no effect shown",
    )  # fmt: skip


def _left_out(survey: OrderSurvey) -> Iterator[d.Block]:
    if survey.dropped:
        yield d.first_rows(
            "Runs in which a benchmark failed. In fixed order, the whole run is dropped, because the failure changes "
            "the position of all later benchmarks. In random order, only the failed benchmark is dropped.",
            ("Run", "Order", "Version", "Failed", "Reason", "Other values dropped"),
            [
                (
                    row.run or d.DASH, row.order_type or d.DASH, row.version or d.DASH,
                    ", ".join(row.failed), "; ".join(filter(None, row.reasons)) or d.DASH, row.n_values,
                )
                for row in survey.dropped
            ],
            numeric=(5,),
        )  # fmt: skip
    if survey.left_out:
        rows = [(row.name, row.reason) for row in survey.left_out]
        yield d.first_rows("Left-out benchmarks and runs, with the reason.", ("What", "Reason"), rows)


def _short(change: str | None) -> str | None:
    """Remove the subject from a description of a change, because the column header contains the subject."""
    return None if change is None else change.partition(" is ")[2] or change


def _median(side: Side) -> str:
    median: Estimate = side.median
    if median.ends is None:
        return f"{_value(median.value or 0.0)} ({median.reason})"
    value, low, high = map(_value, median.ends)
    return f"{value} ({low} to {high})"


def _cv(side: Side) -> str:
    return d.percent(side.variation.value)


def _value(value: float) -> str:
    return f"{value:.6g}".replace("-", "−") if abs(value) >= 1e-4 or value == 0 else f"{value:.5g}"


def _has(n: int) -> str:
    return "has" if n < 2 else "have"


def by_p(survey: OrderSurvey) -> list[OrderComparison]:
    """Sort the tests by p, smallest first."""
    return sorted(survey.tests, key=lambda test: (1.0 if test.test.p is None else test.test.p, test.benchmark))


def by_least_p(survey: OrderSurvey) -> list[Placed]:
    """Sort the benchmarks by the smallest p of their weaker tests, smallest p first."""
    return sorted(survey.positions, key=lambda row: (_least(row), row.benchmark))


def _least(row: Placed) -> float:
    return min(1.0 if test.p is None else test.p for test in (row.trend, row.after))
