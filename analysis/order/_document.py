"""What is said of the order of benchmarks, in words and tables."""

from collections.abc import Iterator
from typing import Any

from analysis.document import (
    DASH,
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    clean,
    number,
    p_value,
    percent,
    table,
    value_in_words,
    words,
)
from analysis.intervals import Estimate
from analysis.order import Comparison, Placed, Side, Survey, count_flags
from analysis.order._figures import by_least_p, by_p, title_of
from analysis.samples import Test

N_ROWS = 40  # of a table; all are in the JSON
N_NAMED = 3
CASES = {1: "1: red flag", 2: "2: conclusions unlikely to change", 3: "3: examine"}
P_READ = (
    "p: how likely a difference at least this large would be if order did not matter; small is evidence. Where many "
    "tests are made some p are small by chance, so that Bonferroni and Holm correct for their number."
)
EFFECT_READ = (
    "epsilon²: how large the effect is, from 0 (the orders are mixed) to 1 (they are wholly apart). With many runs p "
    "is small for tiny effects too."
)
DELTA_READ = "Δ%: (mean fixed − mean random) / mean fixed; beside it the same in words."
CASE_READ = (
    "Case 1: the intervals of the two medians have nothing in common, a red flag. Case 2: a median lies within the "
    "other's interval, order is unlikely to change a conclusion. Case 3: the intervals only overlap, look closer."
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
        yield from _too_few(survey)
    yield from _versions_in_short(survey)
    yield from _positions_in_short(survey)
    if any(not one.unit for one in survey.tests) or any(not one.unit for one in survey.positions):
        yield "Some values have no unit: whether lower or higher ones are better, and so what is faster, is a guess."
    if survey.tests:
        yield (
            "What to do: draw the order anew for every run, and compare only what was measured so. More runs in the "
            "same order repeat its effect, they do not remove it."
            if survey.matters
            else "What to do: to be sure, keep drawing the order anew for every run; it costs no more than a fixed one."
        )


def _verdict(survey: Survey) -> str:
    n_differing = sum(test.differs for test in survey.tests)
    said = (
        "Order matters" if survey.matters else "No effect of order was found, which does not prove that there is none"
    )
    return (
        f"{said}: {n_differing or 'none'} of {_count(survey.n_tests, 'test')} {_has(n_differing)} p below α / |T| = "
        f"{survey.threshold:.3g} (Bonferroni; Holm finds {sum(test.differs_holm for test in survey.tests)})."
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
        yield f"{_title(test, survey)}: {change} (p = {p_value(test.test.p)}{case})."
    n_flags = sum(test.case == 1 for test in survey.tests)
    if n_flags:
        yield f"Red flag for {_count(n_flags, 'test')}: the intervals of the medians in the two orders are disjoint."


def _too_few(survey: Survey) -> Iterator[str]:
    n_unable = sum(test.smallest_p >= (survey.threshold or 0) for test in survey.tests)
    if n_unable:
        yield (
            f"{_count(n_unable, 'test')} cannot get below α / |T| with so few runs even if the orders are wholly "
            "apart: nothing found there means nothing. Add runs, or ask fewer benchmarks."
        )


def _versions_in_short(survey: Survey) -> Iterator[str]:
    if survey.conclusions:
        counts = count_flags(survey.conclusions)
        first, n = survey.conclusions[0], len(survey.conclusions)
        few = f"; {counts['none']} have too few runs" if counts["none"] else ""
        yield (
            f"From {clean(first.baseline)} to {clean(first.candidate)}: the orders lead to opposite conclusions for "
            f"{counts['red flag']} of {_count(n, 'benchmark')} (red flag), only one of them decides for "
            f"{counts['amber']} (amber), both say the same for {counts['same']}{few}."
        )


def _positions_in_short(survey: Survey) -> Iterator[str]:
    if not survey.n_position_tests:
        return
    limit = survey.position_threshold or 0
    found = [(one, *_strongest(one)) for one in by_least_p(survey)]
    below = [entry for entry in found if (p := entry[1].p) is not None and p < limit]
    yield (
        f"Weaker tests, on runs that were not in fixed order: {len(below) or 'none'} of "
        f"{_count(len(survey.positions), 'benchmark')} {_has(len(below))} values that go along with the position in "
        f"the run or with the benchmark just before (p below {limit:.3g})."
    )
    for one, test, said in below[:N_NAMED]:
        yield f"{_title(one, survey)}: {said} (p = {p_value(test.p)})."


def _strongest(one: Placed) -> tuple[Test, str]:
    """Of both tests the one with the smaller p, and what it says."""
    trend, after = one.trend.p, one.after.p
    if after is None or (trend is not None and trend <= after):
        return one.trend, one.change or "no trend"
    low, high = one.groups[0], one.groups[-1]
    return one.after, (
        f"median {_with_unit(low.median, one)} {_behind(low.before)}, {_with_unit(high.median, one)} "
        f"{_behind(high.before)}"
    )


def _with_unit(value: float, one: Placed) -> str:
    return f"{_value(value)} {clean(one.unit)}".strip()


def _behind(before: str) -> str:
    return f"just after {clean(before)}" if before else "as the first in its run"


def _tests(survey: Survey) -> Iterator[Block]:
    tests, alpha = survey.tests, survey.alpha
    rows = [
        ("Bonferroni", f"p < α / |T| = {survey.threshold:.3g}", sum(t.differs for t in tests)),
        ("Holm", f"corrected p < α = {alpha:g}", sum(t.differs_holm for t in tests)),
        ("none", f"p < α = {alpha:g}", sum(t.differs_uncorrected for t in tests)),
    ]
    yield table(
        f"Verdicts on {_count(survey.n_tests, 'test')}. The first is the source's: order matters if any p is so small.",
        ("Correction", "A test differs if", "Tests", "Order matters"),
        [(*row, "yes" if row[2] else "no") for row in rows],
        numeric=(2,),
    )
    yield Bullets((P_READ, EFFECT_READ, DELTA_READ, CASE_READ))
    yield table(
        f"Fixed against random order, the smallest p first{_cut(len(tests))}.",
        ("Benchmark", "Runs fixed", "random", "p", "Bonferroni", "Holm", "epsilon²", "Δ%", "In words", "Case"),
        [_test_row(test, survey) for test in by_p(survey)[:N_ROWS]],
        numeric=(1, 2, 3, 4, 5, 6, 7),
    )
    yield Figure("order-p-values", "p of each test beside α / |T| (dashed) and α (dotted); a log axis, cut at 1e-30.")
    yield Figure("order-p-by-effect", "p against the size of the effect.")
    yield Figure("order-differences", "Difference of the means; ▲ and dark: p below α / |T|.")


def _test_row(test: Comparison, survey: Survey) -> tuple[Any, ...]:
    return (
        _title(test, survey), len(test.fixed.values), len(test.random.values), p_value(test.test.p),
        p_value(test.p_bonferroni), p_value(test.p_holm), number(test.test.epsilon2),
        number(test.delta_percent.value, 2), test.change or f"undefined: {test.delta_percent.reason}",
        DASH if test.case is None else CASES[test.case],
    )  # fmt: skip


def _medians(survey: Survey) -> Iterator[Block]:
    ranks = " with the ranks of the published tool, one too high" if survey.parameters["compat"] else ""
    yield table(
        f"Medians with intervals at {100 * (survey.level or 0):.4g} % (1 − α / |T|){ranks}, and the coefficient of "
        f"variation (CV) of the runs, the smallest p first{_cut(survey.n_tests)}.",
        ("Benchmark", "Unit", "Fixed", "Random", "CV fixed", "CV random", "Case"),
        [
            (
                _title(test, survey), clean(test.unit) or DASH, _median(test.fixed), _median(test.random),
                _cv(test.fixed), _cv(test.random), DASH if test.case is None else CASES[test.case],
            )
            for test in by_p(survey)[:N_ROWS]
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
    yield table(
        f"{clean(first.candidate)} against {clean(first.baseline)} (ratio: candidate / baseline of the medians), the "
        f"flags first{_cut(len(ranked))}.",
        ("Benchmark", "Fixed order", "Ratio", "In words", "Random order", "Ratio", "In words", "Flag"),
        [
            (
                clean(row.benchmark), row.fixed, number(row.ratio_fixed.value), row.change_fixed, row.random,
                number(row.ratio_random.value), row.change_random, row.flag or row.reason,
            )
            for row in ranked[:N_ROWS]
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
    yield table(
        f"Weaker tests, the smallest p first; corrected over all {n}: α / {n} = {threshold:.3g}"
        f"{_cut(len(survey.positions))}.",
        ("Benchmark", "Runs", "tau", "p trend", "Bonferroni", "Holm", "p before", "Bonferroni", "Holm", "Says"),
        [_position_row(one, survey) for one in by_least_p(survey)[:N_ROWS]],
        numeric=(1, 2, 3, 4, 5, 6, 7, 8),
    )
    yield Figure("order-positions", "Runs over their position, with medians; one panel a benchmark, each its unit.")


def _position_row(one: Placed, survey: Survey) -> tuple[Any, ...]:
    strongest, said = _strongest(one)
    differs = strongest.p is not None and strongest.p < survey.alpha
    return (
        _title(one, survey), len(one.values), number(one.trend.statistic, 2), p_value(one.trend.p),
        p_value(one.trend_bonferroni), p_value(one.trend_holm), p_value(one.after.p), p_value(one.after_bonferroni),
        p_value(one.after_holm), said if differs else "nothing seen",
    )  # fmt: skip


def _left_out(survey: Survey) -> Iterator[Block]:
    if not survey.dropped and not survey.left_out:
        yield Paragraph("Nothing: every benchmark and every run was used.")
    if survey.dropped:
        yield table(
            "Runs with a failed benchmark. In fixed order the whole run is dropped, since what follows a failure no "
            f"longer stands where it should; in random order only what failed{_cut(len(survey.dropped))}.",
            ("Run", "Order", "Version", "Failed", "Why", "Values dropped beside"),
            [
                (
                    clean(row.run) or DASH, clean(row.order_type) or DASH, clean(row.version) or DASH,
                    clean(", ".join(row.failed)), clean("; ".join(filter(None, row.reasons))) or DASH, row.n_values,
                )
                for row in survey.dropped[:N_ROWS]
            ],
            numeric=(5,),
        )  # fmt: skip
    if survey.left_out:
        rows = [(clean(row.name), clean(row.reason)) for row in survey.left_out[:N_ROWS]]
        yield table(f"Left out, and why{_cut(len(survey.left_out))}.", ("What", "Why"), rows)


def _parameters(survey: Survey) -> Iterator[Block]:
    rows = [(words(name), clean(value_in_words(value))) for name, value in survey.parameters.items()]
    yield table("Every option as it was used.", ("Option", "Value"), rows)
    yield Paragraph(
        "A run is one value, its aggregate behind the warm-up. Tests by Kruskal and Wallis, ties corrected; medians "
        "with exact intervals from order statistics, which assume no distribution. Source: Duplyakin et al. (2023), "
        "Avoiding the Ordering Trap in Systems Performance Measurement, USENIX ATC '23.",
        "note",
    )


def _title(one: Comparison | Placed, survey: Survey) -> str:
    return str(clean(title_of(one, survey)))


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


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _has(n: int) -> str:
    return "has" if n < 2 else "have"


def _cut(n: int) -> str:
    return f"; {n - N_ROWS} more are in the output of --json" if n > N_ROWS else ""
