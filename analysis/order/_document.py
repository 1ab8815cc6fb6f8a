"""What is said of the order of benchmarks, in words and tables."""

from collections.abc import Iterator
from typing import Any

from analysis.document import (
    DASH,
    N_NAMED,
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    counted,
    first_rows,
    listed,
    number,
    p_value,
    percent,
    table,
    value_in_words,
    words,
)
from analysis.intervals import Estimate
from analysis.order import Comparison, Placed, Side, Survey, count_flags
from analysis.order._compare import RED_FLAG
from analysis.order._figures import by_least_p, by_p
from analysis.order._medians import PUBLISHED_LEVEL
from analysis.samples import Test

CASES = {1: "1: red flag", 2: "2: conclusions unlikely to change", 3: "3: examine"}
P_READ = (
    "p: how likely a difference at least this large would be if order did not matter; small is evidence. Where many "
    "tests are made some p are small by chance, so that Bonferroni and Holm correct for their number."
)
EFFECT_READ = (
    "epsilon²: how large the effect is, from 0 (the orders are mixed) to 1 (they are wholly apart). With many runs p "
    "is small for tiny effects too."
)
DELTA_READ = "Δ%: (mean fixed − mean random) / mean fixed; beside it the change from fixed to random in words."
CASE_READ = (
    "Case 1: the intervals of the two medians have nothing in common, a red flag. Case 2: a median lies within the "
    "other's interval, order is unlikely to change a conclusion. Case 3: the intervals only overlap, look closer."
)
PUBLISHED_READ = (
    f"As published: the case by the rule of the published tool, with intervals at {100 * PUBLISHED_LEVEL:g} % for each "
    "test alone."
)


def document(survey: Survey) -> Document:
    """The report on order.

    Parameters
    ----------
    survey : Survey
    """
    sections = [Section("In short", (Bullets(tuple(_in_short(survey))),))]
    if survey.tests:
        sections.append(Section("Fixed against random order", tuple(_tests(survey))))
        sections.append(Section("Medians in both orders", tuple(_medians(survey))))
    if survey.conclusions:
        sections.append(Section("Two versions", tuple(_conclusions(survey))))
    if survey.positions:
        sections.append(Section("When, and after what (weaker)", tuple(_positions(survey))))
    sections.append(Section("What was left out", tuple(_left_out(survey))))
    sections.append(Section("How it was computed", tuple(_parameters(survey))))
    lead = "Whether a benchmark gives other values when the benchmarks run in another order"
    return Document("Order of benchmarks", lead, "", tuple(sections), kind="order report")


def _in_short(survey: Survey) -> Iterator[str]:
    if not survey.tests:
        yield (
            "No benchmark was measured both in a fixed and in a random order, so the two cannot be compared. Measure "
            "some runs in one order and some in an order drawn anew for each run, and record which in order_type."
        )
    else:
        yield _verdict(survey)
        yield from _uncorrected(survey)
        yield from _affected(survey)
        yield from _red_flags(survey)
        yield from _too_few(survey)
    yield from _versions_in_short(survey)
    yield from _positions_in_short(survey)
    if not all([test.better for test in survey.tests] + [row.better for row in survey.positions]):
        yield (
            "Nobody said of some values whether lower or higher ones are better, so they are called higher and lower, "
            "not faster and slower. Name the unit or the better direction (--unit, --better)."
        )
    if survey.tests:
        yield (
            "What to do: draw the order anew for every run, and compare only what was measured so. More runs in the "
            "same order repeat its effect, they do not remove it."
            if survey.matters
            else "What to do: to be sure, keep drawing the order anew for every run; it costs no more than a fixed one."
        )


def _verdict(survey: Survey) -> str:
    n_differing = sum(test.differs for test in survey.tests)
    verdict = (
        "Order matters" if survey.matters else "No effect of order was found, which does not prove that there is none"
    )
    return (
        f"{verdict}: {n_differing or 'none'} of {counted(survey.n_tests, 'test')} {_has(n_differing)} p below α / |T| "
        f"= {survey.threshold:.3g} (Bonferroni; Holm finds {sum(test.differs_holm for test in survey.tests)})."
    )


def _uncorrected(survey: Survey) -> Iterator[str]:
    n_small, expected = sum(test.differs_uncorrected for test in survey.tests), survey.alpha * survey.n_tests
    yield (
        f"Without correction {n_small} would be below α = {survey.alpha:g}; if order never mattered, {expected:.2g} "
        "would be expected by chance."
    )


def _affected(survey: Survey) -> Iterator[str]:
    for test in [test for test in by_p(survey) if test.differs][:N_NAMED]:
        change = test.change or f"Δ% is undefined ({test.delta_percent.reason})"
        case = "" if test.case is None else f", case {CASES[test.case]}"
        yield f"{survey.title(test)}: {change} (p = {p_value(test.test.p)}{case})."


def _red_flags(survey: Survey) -> Iterator[str]:
    """The red flags with the intervals asked for, beside those that the paper would have raised."""
    flagged = [survey.title(test) for test in by_p(survey) if test.case == RED_FLAG]
    published = [survey.title(test) for test in by_p(survey) if test.published_case == RED_FLAG]
    of_tests, level = f"of {counted(survey.n_tests, 'test')}", f"{100 * (survey.level or 0):.4g} %"
    if survey.parameters["compat"] and survey.level == PUBLISHED_LEVEL:
        names = f": {listed(published)}" if published else ""
        yield (
            f"Red flag, by the rule of the published tool ({level} intervals for each test alone), for "
            f"{len(published) or 'none'} {of_tests}{names}."
        )
        return
    yield f"Red flag (the {level} intervals of the medians are apart) for {len(flagged) or 'none'} {of_tests}" + (
        f": {listed(flagged)}." if flagged else "."
    )
    rest = [name for name in published if name not in flagged]
    if rest or len(published) < len(flagged):
        yield (
            f"The paper would have raised {counted(len(published), 'red flag')}"
            f"{f', also for {listed(rest)}' if rest else ''}: its intervals are at {100 * PUBLISHED_LEVEL:g} % for "
            f"each test alone, and those here at {level}, so that among all {counted(survey.n_tests, 'test')} a false "
            "red flag is rare; its tool also takes the ranks of intervals one too high. --compat ordersage shows its "
            "cases."
        )


def _too_few(survey: Survey) -> Iterator[str]:
    n_unable = sum(test.smallest_p >= (survey.threshold or 0) for test in survey.tests)
    if n_unable:
        yield (
            f"{counted(n_unable, 'test')} cannot get below α / |T| with so few runs even if the orders are wholly "
            "apart: nothing found there means nothing. Add runs, or ask fewer benchmarks."
        )


def _versions_in_short(survey: Survey) -> Iterator[str]:
    if survey.conclusions:
        counts = count_flags(survey.conclusions)
        first, n = survey.conclusions[0], len(survey.conclusions)
        few = f"; {counts['none']} have too few runs" if counts["none"] else ""
        yield (
            f"From {first.baseline} to {first.candidate}: the orders lead to opposite conclusions for "
            f"{counts['red flag']} of {counted(n, 'benchmark')} (red flag), only one of them decides for "
            f"{counts['amber']} (amber), both say the same for {counts['same']}{few}."
        )


def _positions_in_short(survey: Survey) -> Iterator[str]:
    if not survey.n_position_tests:
        return
    limit = survey.position_threshold or 0
    strongest = [(row, *_strongest(row)) for row in by_least_p(survey)]
    below = [entry for entry in strongest if (p := entry[1].p) is not None and p < limit]
    yield (
        f"Weaker tests, on runs that were not in fixed order: {len(below) or 'none'} of "
        f"{counted(len(survey.positions), 'benchmark')} {_has(len(below))} values that go along with the position in "
        f"the run or with the benchmark just before (p below {limit:.3g})."
    )
    for row, test, effect in below[:N_NAMED]:
        yield f"{survey.title(row)}: {effect} (p = {p_value(test.p)})."


def _strongest(row: Placed) -> tuple[Test, str]:
    """Of both tests the one with the smaller p, and its effect in words."""
    trend, after = row.trend.p, row.after.p
    if after is None or (trend is not None and trend <= after):
        return row.trend, row.change or "no trend"
    low, high = row.groups[0], row.groups[-1]
    return row.after, (
        f"median {_with_unit(low.median, row)} {_predecessor_in_words(low.before)}, {_with_unit(high.median, row)} "
        f"{_predecessor_in_words(high.before)}"
    )


def _with_unit(value: float, row: Placed) -> str:
    return f"{_value(value)} {row.unit}".strip()


def _predecessor_in_words(before: str) -> str:
    return f"just after {before}" if before else "as the first in its run"


def _tests(survey: Survey) -> Iterator[Block]:
    tests, alpha = survey.tests, survey.alpha
    rows = [
        ("Bonferroni", f"p < α / |T| = {survey.threshold:.3g}", sum(t.differs for t in tests)),
        ("Holm", f"corrected p < α = {alpha:g}", sum(t.differs_holm for t in tests)),
        ("none", f"p < α = {alpha:g}", sum(t.differs_uncorrected for t in tests)),
    ]
    yield table(
        f"Verdicts on {counted(survey.n_tests, 'test')}. The first is the source's: order matters if any p is so "
        "small.",
        ("Correction", "A test differs if", "Tests", "Order matters"),
        [(*row, "yes" if row[2] else "no") for row in rows],
        numeric=(2,),
    )
    yield Bullets((P_READ, EFFECT_READ, DELTA_READ))
    yield first_rows(
        "Fixed against random order, the smallest p first.",
        ("Benchmark", "Runs fixed", "random", "p", "Bonferroni", "Holm", "epsilon²", "Δ%", "Random order is"),
        [_test_row(test, survey) for test in by_p(survey)],
        numeric=(1, 2, 3, 4, 5, 6, 7),
    )
    yield Figure("order-p-values", "p of each test beside α / |T| (dashed) and α (dotted); a log axis, cut at 1e-30.")
    yield Figure("order-p-by-effect", "p against the size of the effect.")
    yield Figure("order-differences", "Difference of the means; ▲ and dark: p below α / |T|.")


def _test_row(test: Comparison, survey: Survey) -> tuple[Any, ...]:
    return (
        survey.title(test), len(test.fixed.values), len(test.random.values), p_value(test.test.p),
        p_value(test.p_bonferroni), p_value(test.p_holm), number(test.test.epsilon2),
        number(test.delta_percent.value, 2), _short(test.change) or f"undefined: {test.delta_percent.reason}",
    )  # fmt: skip


def _medians(survey: Survey) -> Iterator[Block]:
    ranks = ", with the ranks of the published tool, one too high" if survey.parameters["compat"] else ""
    is_corrected = survey.n_tests > 1 and survey.level == 1 - (survey.threshold or 0)
    each = " (1 − α / |T|)" if is_corrected else ", for each test alone"
    yield Paragraph(f"{CASE_READ} {PUBLISHED_READ}")
    yield first_rows(
        f"Medians with intervals at {100 * (survey.level or 0):.4g} %{each}{ranks}, and the coefficient of variation "
        "(CV) of the runs, the smallest p first.",
        ("Benchmark", "Unit", "Fixed", "Random", "CV fixed", "CV random", "Case", "As published"),
        [
            (
                survey.title(test), test.unit or DASH, _median(test.fixed), _median(test.random),
                _cv(test.fixed), _cv(test.random), DASH if test.case is None else CASES[test.case],
                CASES[test.published_case],
            )
            for test in by_p(survey)
        ],
        numeric=(4, 5),
    )  # fmt: skip
    yield Figure("order-medians", "Median and interval of each order, over the runs; one panel a test, each its unit.")


def _conclusions(survey: Survey) -> Iterator[Block]:
    order = ("red flag", "amber", None, "same")
    ranked = sorted(survey.conclusions, key=lambda row: order.index(row.flag))
    first = ranked[0]
    yield Paragraph(
        "A version is called faster or slower in an order if the intervals of the two medians are disjoint, else it is "
        "undecided. Opposite conclusions are a red flag; one order that decides and one that does not, amber."
    )
    yield first_rows(
        f"{first.candidate} against {first.baseline} (ratio: candidate / baseline of the medians), the flags first.",
        ("Benchmark", "Fixed order", "Ratio", "Candidate is", "Random order", "Ratio", "Candidate is", "Flag"),
        [
            (
                row.benchmark, row.fixed, number(row.ratio_fixed.value), _short(row.change_fixed), row.random,
                number(row.ratio_random.value), _short(row.change_random), row.flag or row.reason,
            )
            for row in ranked
        ],
        numeric=(2, 5),
    )  # fmt: skip


def _positions(survey: Survey) -> Iterator[Block]:
    yield Paragraph(
        "Runs in fixed order are left aside here. Trend: Kendall's tau-b of values over positions (chosen over "
        "Spearman's because many runs share a position), from −1 to 1. Before: Kruskal-Wallis over the benchmark just "
        "before. Both are weaker than the comparison of two orders: they see only effects that go along with the "
        "position or with the one benchmark before, and they do not enter the verdict on order."
    )
    n, threshold = survey.n_position_tests, survey.position_threshold
    yield first_rows(
        f"Weaker tests, the smallest p first; corrected over all {n}: α / {n} = {threshold:.3g}.",
        ("Benchmark", "Runs", "tau", "p trend", "Bonferroni", "Holm", "p before", "Bonferroni", "Holm", "Says"),
        [_position_row(row, survey) for row in by_least_p(survey)],
        numeric=(1, 2, 3, 4, 5, 6, 7, 8),
    )
    yield Figure("order-positions", "Runs over their position, with medians; one panel a benchmark, each its unit.")


def _position_row(row: Placed, survey: Survey) -> tuple[Any, ...]:
    strongest, effect = _strongest(row)
    differs = strongest.p is not None and strongest.p < survey.alpha
    return (
        survey.title(row), len(row.values), number(row.trend.statistic, 2), p_value(row.trend.p),
        p_value(row.trend_bonferroni), p_value(row.trend_holm), p_value(row.after.p), p_value(row.after_bonferroni),
        p_value(row.after_holm), effect if differs else "nothing seen",
    )  # fmt: skip


def _left_out(survey: Survey) -> Iterator[Block]:
    if not survey.dropped and not survey.left_out:
        yield Paragraph("Nothing: every benchmark and every run was used.")
    if survey.dropped:
        yield first_rows(
            "Runs with a failed benchmark. In fixed order the whole run is dropped, since what follows a failure no "
            "longer stands where it should; in random order only what failed.",
            ("Run", "Order", "Version", "Failed", "Why", "Values dropped beside"),
            [
                (
                    row.run or DASH, row.order_type or DASH, row.version or DASH,
                    ", ".join(row.failed), "; ".join(filter(None, row.reasons)) or DASH, row.n_values,
                )
                for row in survey.dropped
            ],
            numeric=(5,),
        )  # fmt: skip
    if survey.left_out:
        rows = [(row.name, row.reason) for row in survey.left_out]
        yield first_rows("Left out, and why.", ("What", "Why"), rows)


def _parameters(survey: Survey) -> Iterator[Block]:
    rows = [(words(name), value_in_words(value)) for name, value in survey.parameters.items()]
    yield table("Every option as it was used.", ("Option", "Value"), rows)
    yield Paragraph(
        "A run is one value, its aggregate behind the warm-up. Tests by Kruskal and Wallis, ties corrected; medians "
        "with exact intervals from order statistics, which assume no distribution. Source: Duplyakin et al. (2023), "
        "Avoiding the Ordering Trap in Systems Performance Measurement, USENIX ATC '23.",
        "note",
    )


def _short(change: str | None) -> str | None:
    """A change without its subject, which the header of its column names."""
    return None if change is None else change.partition(" is ")[2] or change


def _median(side: Side) -> str:
    median: Estimate = side.median
    if median.ends is None:
        return f"{_value(median.value or 0.0)} ({median.reason})"
    value, low, high = map(_value, median.ends)
    return f"{value} ({low} to {high})"


def _cv(side: Side) -> str:
    return percent(side.variation.value)


def _value(value: float) -> str:
    return f"{value:.6g}".replace("-", "−") if abs(value) >= 1e-4 or value == 0 else f"{value:.5g}"


def _has(n: int) -> str:
    return "has" if n < 2 else "have"
