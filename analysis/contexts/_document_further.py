"""The sections on what may be behind contexts: factors, the observer effect, a suspected cause held fixed."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from analysis.contexts import CausalCheck, FactorEffect, ObserverEffect, Spread, SpreadComparison, Survey, Sweep
from analysis.contexts._causal import NOT_SHOWN
from analysis.document import (
    DASH,
    Block,
    Figure,
    Paragraph,
    Table,
    estimate,
    number,
    p_value,
    percent,
    plain,
    table,
)
from analysis.intervals import Estimate

N_LISTED = 40
N_LEVELS = 4  # of a factor, in words


def cut(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Any],
    write: Callable[[Any], Sequence[Any]],
    numeric: Sequence[int] = (),
) -> Table:
    """A table of the first rows as `write` puts them, saying how many more there are."""
    more = len(rows) - N_LISTED
    said = f" The first {N_LISTED}; {more} more are in the output of --json." if more > 0 else ""
    return table(f"{caption}{said}", header, [write(row) for row in rows[:N_LISTED]], numeric)


def ratio(given: Estimate) -> str:
    """A speed-up with its interval, or the reason why one of them is missing."""
    return estimate(plain(given), as_percent=False)


def factors(survey: Survey) -> Iterator[Block]:
    """Which factor of the context goes with the speed-up."""
    rows = [(sweep, factor) for sweep in survey.benchmarks for factor in sweep.factors]
    if not rows:
        return
    yield cut(
        "Whether the speed-up goes with a factor: Kruskal and Wallis' test over its levels, corrected over the factors "
        "of the benchmark, and the share of the variation between contexts that lies between the levels (eta squared; "
        "epsilon squared is the same of ranks). Compare the share with what it is by chance: many levels explain a lot "
        "of anything.",
        ("Benchmark", "Factor", "Levels", "Share", "by chance", "Epsilon squared", "p", "Holm", "Bonferroni",
         "Speed-up by level"),
        sorted(rows, key=_share, reverse=True), _factor_row, (2, 3, 4, 5, 6, 7, 8),
    )  # fmt: skip


def _share(row: tuple[Sweep, FactorEffect]) -> float:
    return -1.0 if row[1].share is None else row[1].share - (row[1].share_by_chance or 0.0)


def _factor_row(row: tuple[Sweep, FactorEffect]) -> tuple[Any, ...]:
    sweep, factor = row
    shares = (factor.share, factor.share_by_chance, factor.test.epsilon2)
    ps = (factor.test.p, factor.p_holm, factor.p_bonferroni)
    if factor.test.p is None:
        said = f"undefined: {factor.test.reason}"
    else:
        ordered = sorted(factor.levels, key=lambda level: level.speedup.value or 0.0)
        ends = ordered if len(ordered) <= N_LEVELS else [ordered[0], ordered[-1]]
        between = ", " if len(ordered) <= N_LEVELS else " … "
        said = between.join(f"{level.level}: {number(level.speedup.value)}" for level in ends)
    return sweep.name, factor.name, len(factor.levels), *map(percent, shares), *map(p_value, ps), said


def observer(survey: Survey) -> Iterator[Block]:
    """Whether the instrumentation changes the speed-up."""
    by = survey.parameters.get("instrumentation")
    if by is None:
        return
    given = [(sweep, sweep.observer) for sweep in survey.benchmarks if sweep.observer]
    if not given:
        yield Paragraph(f"No context of any benchmark knows {by}, the instrumentation asked for.")
        return
    n = sum(effect.n_exceeding > 0 for _, effect in given)
    yield Paragraph(
        f"For {n} of {len(given)} {'benchmark' if len(given) == 1 else 'benchmarks'}, instrumentation ({by}) changes "
        "the speed-up by more than single runs at the least level differ: what is measured there is not what happens "
        "without it."
    )
    rows = [(sweep, effect, level) for sweep, effect in given for level in effect.levels or (None,)]
    yield cut(
        "Speed-up by level of instrumentation, against that in the same contexts at the least level. The inter-run "
        "range is what single runs at the least level could have shown.",
        ("Benchmark", "Instrumentation", "Contexts", "Speed-up", "Against the least", "Inter-run range", "Outside"),
        rows, _observer_row, (2, 4),
    )  # fmt: skip
    yield Figure("observer-effect", "Speed-up by instrumentation; grey: what runs alone explain.")


def _observer_row(row: tuple[Sweep, ObserverEffect, Any]) -> tuple[Any, ...]:
    sweep, effect, level = row
    if level is None:
        return sweep.name, effect.least, DASH, f"undefined: {effect.reason}", DASH, DASH, DASH
    span = DASH if level.low is None else f"{number(level.low)} to {number(level.high)}"
    outside = {True: "yes", False: "no", None: f"not known: {level.reason}"}[level.exceeds]
    return sweep.name, level.level, level.n_contexts, ratio(level.speedup), number(level.against_least), span, outside


def causal(survey: Survey) -> Iterator[Block]:
    """Whether contexts still differ once the suspected cause is held fixed."""
    given = [(sweep, sweep.causal) for sweep in survey.benchmarks if sweep.causal]
    if not given:
        return
    known = [(sweep, check.comparisons[0]) for sweep, check in given if check.comparisons]
    yield from (Paragraph(f"{sweep.name}: {_cause_in_words(found)}") for sweep, found in known[:N_LEVELS])
    rows = [(sweep, check, found) for sweep, check in given for found in check.comparisons or (None,)]
    yield cut(
        "How far contexts are apart as they come and with the suspected cause held fixed: the mean absolute deviation "
        "from the median (of logarithms), the highest over the lowest, and Brown and Forsythe's test of the two "
        "spreads, corrected over the three rows of a benchmark.",
        ("Benchmark", "Spread of", "As it comes", "highest / lowest", "Held fixed", "highest / lowest", "p", "Holm",
         "Bonferroni", "Spread is"),
        rows, _causal_row, (2, 3, 4, 5, 6, 7, 8),
    )  # fmt: skip
    yield Figure("intervention", "Speed-up over contexts as they come, and with the suspected cause held fixed.")


def _cause_in_words(found: SpreadComparison) -> str:
    if found.verdict is None:
        return f"the spreads of the speed-up cannot be compared: {found.test.reason}."
    free, fixed = percent(found.free.deviation), percent(found.fixed.deviation)
    said = {
        "smaller": "holding it fixed takes away variation between contexts: what is held fixed is a cause of it",
        "larger": "contexts differ more with it held fixed: the intervention brings variation of its own",
        "no difference shown": "contexts are not shown to differ less with it held fixed: look for another cause",
    }[found.verdict]
    return (
        f"{said} (spread of the speed-up {free} as it comes, {fixed} held fixed; p = {p_value(found.p_holm)} with "
        "Holm's correction)."
    )


def _causal_row(row: tuple[Sweep, CausalCheck, SpreadComparison | None]) -> tuple[Any, ...]:
    sweep, check, found = row
    if found is None:
        return sweep.name, *[DASH] * 8, f"undefined: {check.reason}"
    ps = map(p_value, (found.test.p, found.p_holm, found.p_bonferroni))
    said = found.verdict or f"undefined: {found.test.reason}"
    return sweep.name, found.of, *_spread(found.free), *_spread(found.fixed), *ps, said


def _spread(spread: Spread) -> tuple[str, str]:
    return percent(spread.deviation), number(spread.highest_over_lowest)


def cause_in_short(survey: Survey) -> Iterator[str]:
    """The factor that goes with the speed-up most surely, and what holding the suspected cause fixed did."""
    pairs = [(sweep, one) for sweep in survey.benchmarks for one in sweep.factors]
    shown = [pair for pair in pairs if pair[1].share and _is_shown(pair[1], survey)]
    if shown:
        sweep, factor = max(shown, key=_share)
        yield (
            f"The speed-up of {sweep.name} goes with the factor {factor.name}: {percent(factor.share)} of its "
            f"variation between contexts (by chance {percent(factor.share_by_chance)})."
        )
    for sweep in survey.benchmarks:
        for side in sweep.causal.comparisons[:1] if sweep.causal else ():
            if side.verdict is not None:
                changed = f"makes the spread of its speed-up {side.verdict}"
                effect = "does not show in the spread of its speed-up" if side.verdict == NOT_SHOWN else changed
                p = p_value(side.p_holm)
                yield f"For {sweep.name}, holding the suspected cause fixed {effect} (p = {p} by Holm)."


def _is_shown(factor: FactorEffect, survey: Survey) -> bool:
    return factor.p_holm is not None and factor.p_holm <= float(str(survey.parameters["alpha"]))
