"""Build the report on measurement contexts: sentences, tables and figures."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from analysis import document as d
from analysis.methods.contexts._observer import (
    NO_DIFFERENCE,
    ContextDispersion,
    DispersionComparison,
    Observation,
    ObservedLevel,
    ObserverEffect,
    SpeedupAtLevel,
    SpeedupByLevel,
    as_number,
)
from analysis.methods.contexts._ratios import describe_speedup
from analysis.methods.contexts._survey import CausalCheck, ContextSurvey, Sweep
from analysis.methods.contexts._sweep import Context, FactorEffect
from analysis.runs import comparison
from analysis.statistics.intervals import Estimate

MARK = "↔ marks ratios that depend on the context more than noise explains, and lie on both sides of 1."
T_TEST = "t test that includes the noise of the runs"
FEW = 8  # minimum number of contexts for a violin plot; with fewer, the shape would be misleading
N_LEVELS = 4  # maximum number of levels of a factor that the report lists
MIN_NUMBERS = 4  # minimum number of levels of a factor that is drawn on an axis


def figure_names(survey: ContextSurvey) -> list[str]:
    """Return the names of the figures that have data."""
    sweeps = survey.benchmarks
    effects = survey.observer.effects if survey.observer else ()
    has_data = {
        "violins": any(len(sweep.contexts) > 1 for sweep in sweeps),
        "contexts-sorted": any(len(sweep.contexts) > 1 for sweep in sweeps),
        "densities": any(len(sweep.contexts) >= FEW and varies(sweep) for sweep in sweeps),
        "speedup-by-level": bool(numeric_factors(survey)),
        "intervention": any(sweep.causal and sweep.causal.contexts for sweep in sweeps),
        "observer-effect": any(level.ratio.value for effect in effects for level in effect.levels),
        "speedup-by-instrumentation": any(
            sweep.by_instrumentation and sweep.by_instrumentation.levels for sweep in sweeps
        ),
    }
    return [name for name, has in has_data.items() if has]


def most_dependent(sweeps: Iterable[Sweep]) -> list[Sweep]:
    """Sort benchmarks by how much they depend on the context.

    Benchmarks that are faster in some contexts and slower in others come first, then benchmarks whose range of
    speed-ups includes 1. Within each group, benchmarks are sorted by the ratio of the highest to the lowest speed-up,
    largest first.
    """

    def order(sweep: Sweep) -> tuple[bool, bool, float]:
        ends = sweep.quartiles
        return sweep.both_directions, ends.straddles, (ends.highest or 1.0) / (ends.lowest or 1.0)

    return sorted(sweeps, key=order, reverse=True)


def is_marked(sweep: Sweep, survey: ContextSurvey) -> bool:
    """Return whether the speed-up depends on the context more than noise explains, and lies on both sides of 1."""
    return sweep.quartiles.straddles and _is_small(sweep.pooled.interaction_holm, survey)


def numeric_factors(survey: ContextSurvey) -> list[tuple[Sweep, FactorEffect]]:
    """Return the factors whose levels are numbers, such as the size of the environment, of each benchmark."""
    return [
        (sweep, factor)
        for sweep in most_dependent(survey.benchmarks)
        for factor in sweep.factors
        if len(factor.levels) >= MIN_NUMBERS and all(as_number(level.level) is not None for level in factor.levels)
    ]


def varies(sweep: Sweep) -> bool:
    """Return whether the values of both versions differ between contexts."""
    return all(np.ptp([getattr(context, side) for context in sweep.contexts]) > 0 for side in ("baseline", "candidate"))


def document(survey: ContextSurvey) -> d.Document:
    """Build the report on measurement contexts. Returns a document with the figures from `charts`."""
    sections = (
        (f"{_term(survey).capitalize()} over contexts", _speedups(survey)),
        ("Single contexts", _contexts(survey)),
        ("All estimates and tests", _estimates(survey)),
        ("Factors of the context", _factors(survey)),
        ("Observer effect", _observer(survey)),
        ("Causal check", _causal(survey)),
    )
    known = any(sweep.better for sweep in survey.benchmarks)
    lead = f"Does the measurement context decide which version looks {'faster' if known else 'higher or lower'}?"
    return d.method_report(
        "Measurement contexts",
        lead,
        _in_short(survey),
        sections,
        _left_out(survey),
        survey.parameters,
        kind="context report",
        figures=figure_names(survey),
    )


def _in_short(survey: ContextSurvey) -> Iterator[str]:
    observed = list(_observer_in_short(survey.observer)) if survey.observer else []
    if not survey.benchmarks and not observed:
        yield (
            "No benchmark could be compared; the reasons are listed below. A comparison needs runs of two versions in "
            "several contexts, so each run needs a version and a context."
        )
    yield from observed
    if survey.benchmarks:
        yield _overview(survey)
        yield from _pooled(survey)
        yield _depends(survey)
        yield _over_all(survey)
        yield from _cause_in_short(survey)
        yield _inflated(survey)
        yield _advice(survey)


def _observer_in_short(observation: Observation) -> Iterator[str]:
    """Summarise the effect of instrumentation on one version, and whether it changes the verdict on two versions."""
    effects = [effect for effect in observation.effects if effect.levels]
    if not effects:
        return
    if not observation.n_shown:
        yield (
            f"The data show no effect of instrumentation ({observation.by}) on the measured values. This does not "
            "prove that there is no effect."
        )
    else:
        yield (
            f"Instrumentation ({observation.by}) changes the measured values of {observation.n_shown} of "
            f"{_counted_effects(effects)}."
        )
    for row in observation.overall[-d.N_NAMED :]:
        over = f" over {row.n_benchmarks} benchmarks" if row.n_benchmarks > 1 else ""
        yield f"{observation.by} = {row.level} against the lowest level{over}: {row.words}, ratio {ratio(row.ratio)}."
    if observation.n_compared:
        yield (
            f"The verdict on the two versions differs between levels of {observation.by} for "
            f"{observation.n_changing or 'none'} of {d.counted(observation.n_compared, 'benchmark')}."
        )


def _overview(survey: ContextSurvey) -> str:
    sizes = [len(sweep.contexts) for sweep in survey.benchmarks]
    first = survey.benchmarks[0]
    versions = f"{first.candidate} (candidate) against {first.baseline} (baseline)"
    contexts = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    untested = (
        f" In {d.counted(survey.n_untested, 'context')} a version has only one run, so there is no test for that "
        "context alone."
        if survey.n_untested
        else ""
    )
    each = " each" if len(sizes) > 1 else ""
    return (
        f"{d.counted(len(sizes), 'benchmark')} in {contexts} {_plural(max(sizes), 'context')}{each}: {versions}. "
        f"{_meaning(survey)}{untested}"
    )


def _meaning(survey: ContextSurvey) -> str:
    """Explain what a ratio above 1 means."""
    known = [bool(sweep.better) for sweep in survey.benchmarks]
    faster = f"A {_term(survey)} above 1 means that the candidate is faster, for times and for rates."
    higher = (
        "the ratio is candidate / baseline, and a ratio above 1 means higher values. To state the direction, use "
        "--unit or --better."
    )
    if all(known):
        return faster
    if any(known):
        return f"{faster} If the better direction is unknown, {higher}"
    return f"The better direction is unknown, so {higher}"


def _depends(survey: ContextSurvey) -> str:
    varied = [sweep for sweep in survey.benchmarks if len(sweep.contexts) > 1]
    if not varied:
        return "One context cannot show how much the result depends on the context."
    tested = [sweep for sweep in varied if sweep.pooled.interaction.p is not None]
    straddling = [sweep for sweep in varied if sweep.quartiles.straddles]
    sides = (
        f"{_term(survey).capitalize()}s lie on both sides of 1 for {len(straddling) or 'none'} of "
        f"{d.counted(len(varied), 'benchmark')}"
    )
    if not tested:
        return f"{sides}. Whether noise explains this cannot be tested: {varied[0].pooled.interaction.reason}."
    depends = [sweep for sweep in tested if _is_small(sweep.pooled.interaction_holm, survey)]
    test = "test of interaction of version and context, Holm"
    if not depends:
        return (
            f"No benchmark shows that the {_term(survey)} depends on the context ({test}). {sides}, which noise of the "
            "runs can explain."
        )
    text = (
        f"For {len(depends)} of {d.counted(len(tested), 'benchmark')}, the {_term(survey)} depends on the context more "
        f"than noise of the runs explains ({test}: {d.listed([sweep.name for sweep in most_dependent(depends)])})."
    )
    marked = [sweep for sweep in depends if is_marked(sweep, survey)]
    of_these = f"For {len(marked) or 'none'} of these, {_term(survey)}s lie on both sides of 1{' (↔)' * bool(marked)}."
    in_both_directions = [sweep for sweep in depends if sweep.both_directions]
    if in_both_directions:
        text += (
            f" For {len(in_both_directions)} of these benchmarks, the context decides which version is better: some "
            f"contexts show the candidate {' and others '.join(_describe(in_both_directions))} "
            f"({_names(in_both_directions)})."
        )
    return f"{text} {of_these}"


def _pooled(survey: ContextSurvey) -> Iterator[str]:
    """Yield the verdict on all contexts together, which comes first."""
    known = [sweep for sweep in survey.benchmarks if sweep.pooled.speedup.value is not None]
    if not known:
        return
    if len(survey.benchmarks) == 1:
        (sweep,) = known
        result = (
            "no significant difference"
            if sweep.pooled.outcome == comparison.NOT_SHOWN
            else describe_speedup(sweep.pooled.speedup.value or 1.0, sweep.better)
        )
        p = d.p_value(sweep.pooled.test.p)
        yield f"Pooled over these contexts: {result} ({_term(survey)} {ratio(sweep.pooled.speedup)}; p = {p})."
        return
    parts = []
    for verdict in ("faster", "slower", "higher", "lower"):
        names = [f"{sweep.name} {ratio(sweep.pooled.speedup)}" for sweep in known if sweep.pooled.outcome == verdict]
        if names:
            parts.append(f"the candidate is {verdict} for {d.counted(len(names), 'benchmark')} ({d.listed(names)})")
    n_not_shown = sum(sweep.pooled.outcome == comparison.NOT_SHOWN for sweep in known)
    parts += [f"there is no significant difference for {d.counted(n_not_shown, 'benchmark')}"] if n_not_shown else []
    yield f"Pooled over these contexts (Holm): {'; '.join(parts)}."


def _is_small(p: float | None, survey: ContextSurvey) -> bool:
    return p is not None and p <= float(str(survey.parameters["alpha"]))


def _counted_effects(effects: Sequence[ObserverEffect]) -> str:
    """Count the benchmarks; if a benchmark has several versions, count the versions instead."""
    n_benchmarks = len({(effect.application, effect.benchmark) for effect in effects})
    if n_benchmarks == len(effects):
        return d.counted(n_benchmarks, "benchmark")
    return f"{len(effects)} versions of {d.counted(n_benchmarks, 'benchmark')}"


def _over_all(survey: ContextSurvey) -> str:
    if len(survey.benchmarks) == 1:
        (sweep,) = survey.benchmarks
        if sweep.outcome is None:
            return f"{_term(survey).capitalize()} {ratio(sweep.speedup)}; not tested: {sweep.t_with_noise.reason}."
        result = "no significant difference" if sweep.outcome == comparison.NOT_SHOWN else sweep.words
        p = d.p_value(sweep.t_with_noise.p)
        return f"Over contexts like these, {result}: {_term(survey)} {ratio(sweep.speedup)}; {T_TEST}: p = {p}."
    parts = []
    for verdict in ("faster", "slower", "higher", "lower", comparison.NOT_SHOWN):
        sweeps = [sweep for sweep in survey.benchmarks if sweep.outcome == verdict]
        if sweeps:
            n = d.counted(len(sweeps), "benchmark")
            if verdict == comparison.NOT_SHOWN:
                parts.append(f"there is no significant difference for {n}")
            else:
                parts.append(f"the candidate is {verdict} for {n} ({_names(sweeps)})")
    n_untested = sum(sweep.outcome is None for sweep in survey.benchmarks)
    if n_untested:
        parts.append(f"{d.counted(n_untested, 'benchmark')} with one context could not be tested")
    return f"Across all contexts ({T_TEST}, Holm's correction for the number of benchmarks), {'; '.join(parts)}."


def _inflated(survey: ContextSurvey) -> str:
    inflated = [sweep for sweep in survey.benchmarks if sweep.mean_ratios.both_faster]
    if not inflated:
        return ""
    means = inflated[0].mean_ratios
    return (
        f"Do not report the plain mean of the ratios. For {d.counted(len(inflated), 'benchmark')}, this mean makes "
        f"each version look {_describe(inflated)[0]} than the other. For {inflated[0].name}, it is "
        f"{d.number(means.of_candidate)} for the candidate and {d.number(means.of_baseline)} for the baseline. The "
        "geometric mean has no such bias."
    )


def _advice(survey: ContextSurvey) -> str:
    if any(is_marked(sweep, survey) for sweep in survey.benchmarks):
        return (
            "Do not judge these benchmarks by a single context. Measure both versions in many random contexts, and "
            "report the geometric mean with its interval. The sections below show which factor explains the "
            "differences."
        )
    if max(len(sweep.contexts) for sweep in survey.benchmarks) == 1:
        return "Measure both versions in several random contexts."
    return "Report the geometric mean with its interval over contexts. The result holds only for the measured contexts."


def _speedups(survey: ContextSurvey) -> Iterator[d.Block]:
    if not survey.benchmarks:
        return
    term = _term(survey).capitalize()
    yield d.first_rows(
        f"{term} of the candidate over the contexts. Benchmarks that depend most on the context are first; {MARK} "
        f"The column {term} has the geometric mean with its "
        f"interval. The column Overall has the verdict of a {T_TEST} with Holm's correction for the number of "
        "benchmarks. Interval and test use the larger of two standard errors: from the differences between contexts, "
        "as in the paired t test, or from the noise of the runs.",
        ("Benchmark", "Contexts", "Lowest", "Quartiles", "Highest", "", term, "Estimate", "p (Holm)",
         "Overall"),
        [_speedup_row(sweep, survey) for sweep in most_dependent(survey.benchmarks)], (1, 2, 4, 8),
    )  # fmt: skip
    yield d.Figure(
        "violins",
        f"{term}s over the contexts. If a shape crosses the line at 1 without a ↔, noise can explain it.",
    )


def _speedup_row(sweep: Sweep, survey: ContextSurvey) -> tuple[Any, ...]:
    at = sweep.quartiles
    middle = f"{d.number(at.q1)} {d.number(at.median)} {d.number(at.q3)}"
    mark = "↔" if is_marked(sweep, survey) else ""
    ends = (at.n, d.number(at.lowest), middle, d.number(at.highest), mark)
    verdict = sweep.outcome or f"not tested: {sweep.t_with_noise.reason}"
    return sweep.name, *ends, ratio(sweep.speedup), _short(sweep.words), d.p_value(sweep.t_p_holm), verdict


def _contexts(survey: ContextSurvey) -> Iterator[d.Block]:
    if not survey.benchmarks:
        return
    up, down = (word.capitalize() for word in _describe(survey.benchmarks))
    term = _term(survey)
    yield d.first_rows(
        "Number of contexts that show a change when each context is tested separately (Welch's test of its runs, "
        "corrected for the number of contexts). Both directions means that the context decides which version is "
        "better, and noise of the runs does not explain this.",
        ("Benchmark", f"{up} (Holm)", f"{down} (Holm)", f"{up} (Bonferroni)", f"{down} (Bonferroni)", "No change shown",
         "Not tested", "Both directions"),
        [(sweep.name, sweep.n_faster, sweep.n_slower, sweep.n_faster_bonferroni, sweep.n_slower_bonferroni,
                     sweep.n_not_shown, sweep.n_untested, d.describe_value(sweep.both_directions))
         for sweep in most_dependent(survey.benchmarks)],
        (1, 2, 3, 4, 5, 6),
    )  # fmt: skip
    rows = [row for sweep in most_dependent(survey.benchmarks) for row in _extremes(sweep)]
    yield d.first_rows(
        f"The contexts with the lowest and the highest {term}s. Intervals come from the runs of each context.",
        ("Benchmark", "Context", term.capitalize(), "Estimate", "Runs", "p", "Holm", "Bonferroni", "Alone"),
        [_context_row(row) for row in rows], (5, 6, 7),
    )  # fmt: skip
    yield d.Figure(
        "contexts-sorted", f"Contexts from the lowest to the highest {term}. The mark shows the verdict of the test."
    )
    yield d.Figure(
        "densities",
        "Measured values in the contexts. If the values of the versions overlap, contexts matter more than versions.",
    )


def _extremes(sweep: Sweep) -> list[tuple[Sweep, Context]]:
    """Return the two contexts with the lowest and the two contexts with the highest speed-ups.

    If there are at most four contexts, return all of them.
    """
    ordered = sorted(sweep.contexts, key=lambda context: context.speedup.value or 0.0)
    return [(sweep, context) for context in (ordered if len(ordered) <= 4 else [*ordered[:2], *ordered[-2:]])]


def _context_row(row: tuple[Sweep, Context]) -> tuple[Any, ...]:
    sweep, context = row
    runs = f"{len(context.baseline_runs)} and {len(context.candidate_runs)}"
    in_words = _short(describe_speedup(context.speedup.value, sweep.better)) if context.speedup.value else d.DASH
    ps = map(d.p_value, (context.test.p, context.p_holm, context.p_bonferroni))
    verdict = context.outcome or f"not tested: {context.test.reason}"
    return sweep.name, context.name, ratio(context.speedup), in_words, runs, *ps, verdict


def _estimates(survey: ContextSurvey) -> Iterator[d.Block]:
    if not survey.benchmarks:
        return
    yield d.first_rows(
        "The geometric mean gives every context the same weight; its bootstrap interval over contexts does not assume "
        "a normal distribution. In the ratio of means, contexts with larger values have more weight. Noise inflates "
        "the mean of the ratios, so the product of the means for candidate and baseline is above 1.",
        ("Benchmark", "Geometric mean", "Bootstrap", "Ratio of means (Fieller)", "Mean of ratios", "For the baseline"),
        [(sweep.name, ratio(sweep.speedup), ratio(sweep.bootstrap), ratio(sweep.ratio_of_means),
                     d.number(sweep.mean_ratios.of_candidate), d.number(sweep.mean_ratios.of_baseline))
         for sweep in most_dependent(survey.benchmarks)],
        (4, 5),
    )  # fmt: skip
    yield d.first_rows(
        "Do the versions differ over these contexts? Tests of the difference in each context, corrected for the number "
        f"of benchmarks. The verdict uses the {T_TEST}: the larger p of two t tests, one with the differences between "
        "contexts and one with the noise of the runs. The first of these alone is the paired t test.",
        ("Benchmark", "t with noise p", "Holm", "Bonferroni", "Paired t p", "Signed rank p", "Holm", "Bonferroni"),
        [(sweep.name, *map(d.p_value, (sweep.t_with_noise.p, sweep.t_p_holm, sweep.t_bonferroni, sweep.paired_t.p,
                                              sweep.signed_rank.p, sweep.rank_holm, sweep.rank_bonferroni)))
         for sweep in most_dependent(survey.benchmarks)],
        (1, 2, 3, 4, 5, 6, 7),
    )  # fmt: skip


def _factors(survey: ContextSurvey) -> Iterator[d.Block]:
    """Build the section on the factors of the context that are associated with the speed-up."""
    rows = [(sweep, factor) for sweep in survey.benchmarks for factor in sweep.factors]
    if not rows:
        return
    yield d.first_rows(
        f"Is a factor associated with the {_term(survey)}? The p values come from a Kruskal-Wallis test over the "
        "levels of the factor, corrected for the number of factors of the benchmark. The share is the part of the "
        "variation between contexts that the levels explain (eta squared; epsilon squared is the same share for "
        "ranks). Compare the share with the share by chance, which grows with the number of levels.",
        ("Benchmark", "Factor", "Levels", "Share", "by chance", "Epsilon squared", "p", "Holm", "Bonferroni",
         f"{_term(survey).capitalize()} by level"),
        [_factor_row(row) for row in sorted(rows, key=_share, reverse=True)], (2, 3, 4, 5, 6, 7, 8),
    )  # fmt: skip

    yield d.Figure(
        "speedup-by-level",
        f"{_term(survey).capitalize()} by the levels of a factor, such as the size of the environment. Points: "
        "contexts; line: geometric mean of each level.",
    )


def _share(row: tuple[Sweep, FactorEffect]) -> float:
    return -1.0 if row[1].share is None else row[1].share - (row[1].share_by_chance or 0.0)


def _factor_row(row: tuple[Sweep, FactorEffect]) -> tuple[Any, ...]:
    sweep, factor = row
    shares = (factor.share, factor.share_by_chance, factor.test.epsilon2)
    ps = (factor.test.p, factor.p_holm, factor.p_bonferroni)
    if factor.test.p is None:
        levels = f"undefined: {factor.test.reason}"
    else:
        ordered = sorted(factor.levels, key=lambda level: level.speedup.value or 0.0)
        ends = ordered if len(ordered) <= N_LEVELS else [ordered[0], ordered[-1]]
        between = ", " if len(ordered) <= N_LEVELS else " … "
        levels = between.join(f"{level.level}: {d.number(level.speedup.value)}" for level in ends)
    return sweep.name, factor.name, len(factor.levels), *map(d.percent, shares), *map(d.p_value, ps), levels


def _observer(survey: ContextSurvey) -> Iterator[d.Block]:
    """Build the section on instrumentation: its effect on one version, and on the verdict on two versions."""
    observation = survey.observer
    if observation is None:
        return
    if not observation.effects:
        yield d.Paragraph(f"No run has the condition {observation.by}, so the levels of instrumentation are unknown.")
        return
    yield d.Paragraph(
        "How instrumentation changes the measured values of one version. Each ratio divides the values at one level "
        "of instrumentation by the values at the lowest level in the same contexts. A ratio of 1 means no effect."
    )
    if len({(effect.application, effect.benchmark) for effect in observation.effects}) > 1:
        yield d.table(
            "Geometric mean of the ratios of all benchmarks, with its interval over benchmarks.",
            (observation.by, "Benchmarks", "Ratio to the lowest level", "In words"),
            [(row.level, row.n_benchmarks, ratio(row.ratio), row.words) for row in observation.overall], (1,),
        )  # fmt: skip
    yield d.first_rows(
        "Ratios of each benchmark and version. If there is one context, p comes from Welch's test of the runs; "
        "otherwise p comes from a t test of the logarithms over contexts. Both are corrected for all rows.",
        ("Benchmark", "Version", observation.by, "Contexts", "Ratio to the lowest level", "In words", "p", "Holm",
         "Bonferroni", "Verdict"),
        [_observed_row(effect, level) for effect in observation.effects for level in effect.levels or (None,)],
        (3, 6, 7, 8),
    )  # fmt: skip
    yield d.Figure(
        "observer-effect", "Ratio to the lowest level, with intervals. The dotted line at 1 means no effect."
    )
    yield from _speedups_by_level(survey, observation.by)


def _observed_row(effect: ObserverEffect, level: ObservedLevel | None) -> tuple[Any, ...]:
    first_cells = effect.benchmark, effect.version or d.DASH
    if level is None:
        return *first_cells, effect.least, d.DASH, f"undefined: {effect.reason}", *[d.DASH] * 5
    ps = map(d.p_value, (level.test.p, level.p_holm, level.p_bonferroni))
    verdict = level.outcome or f"not tested: {level.test.reason}"
    return *first_cells, level.level, level.n_contexts, ratio(level.ratio), level.words or d.DASH, *ps, verdict


def _speedups_by_level(survey: ContextSurvey, by: str) -> Iterator[d.Block]:
    compared = [(sweep, sweep.by_instrumentation) for sweep in survey.benchmarks if sweep.by_instrumentation]
    if not compared:
        return
    term = _term(survey)
    rows = [(sweep, speedups, level) for sweep, speedups in compared for level in speedups.levels or (None,)]
    yield d.first_rows(
        f"Is the verdict on the two versions the same at every level of instrumentation? {term.capitalize()} of the "
        f"candidate at each level, and the ratio of this {term} to the {term} at the lowest level in the same "
        f"contexts. The inter-run range contains the {term}s that single runs at the lowest level could have shown.",
        ("Benchmark", by, "Contexts", term.capitalize(), "Verdict", "Ratio to the lowest level", "Inter-run range",
         "Outside"),
        [_speedup_level_row(row) for row in rows], (2, 5),
    )  # fmt: skip
    yield d.Figure(
        "speedup-by-instrumentation",
        f"{term.capitalize()} by level of instrumentation. The noise of runs explains values in the grey range.",
    )


def _speedup_level_row(row: tuple[Sweep, SpeedupByLevel, SpeedupAtLevel | None]) -> tuple[Any, ...]:
    sweep, speedups, level = row
    if level is None:
        return sweep.name, speedups.least, d.DASH, f"undefined: {speedups.reason}", *[d.DASH] * 4
    span = d.DASH if level.low is None else f"{d.number(level.low)} to {d.number(level.high)}"
    outside = {True: "yes", False: "no", None: f"unknown: {level.reason}"}[level.exceeds]
    against = d.number(level.against_least)
    return (
        sweep.name, level.level, level.n_contexts, ratio(level.speedup), level.outcome or "not tested", against, span,
        outside,
    )  # fmt: skip


def _causal(survey: ContextSurvey) -> Iterator[d.Block]:
    """Build the section that shows whether contexts still differ when the suspected cause is held fixed."""
    checks = [(sweep, sweep.causal) for sweep in survey.benchmarks if sweep.causal]
    if not checks:
        return
    firsts = [(sweep, check.comparisons[0]) for sweep, check in checks if check.comparisons]
    yield from (
        d.Paragraph(f"{sweep.name}: {_describe_cause(compared, _term(survey))}")
        for sweep, compared in firsts[:N_LEVELS]
    )
    rows = [(sweep, check, compared) for sweep, check in checks for compared in check.comparisons or (None,)]
    yield d.first_rows(
        "How much contexts differ with the suspected cause free, and with the cause held fixed. The spread is the "
        "mean absolute deviation of logarithms from their median; the next column is the highest / lowest value. The "
        "p values come from Brown and Forsythe's test of the two spreads, corrected for the three rows of a "
        "benchmark.",
        ("Benchmark", "Spread of", "Cause free", "highest / lowest", "Held fixed", "highest / lowest", "p", "Holm",
         "Bonferroni", "Spread is"),
        [_causal_row(row, _term(survey)) for row in rows], (2, 3, 4, 5, 6, 7, 8),
    )  # fmt: skip
    words_of_figure = (
        f"{_term(survey).capitalize()} over contexts with the suspected cause free, and with the cause held fixed."
    )
    yield d.Figure("intervention", words_of_figure)


def _describe_cause(compared: DispersionComparison, term: str) -> str:
    if compared.outcome is None:
        return f"the spreads of the {term} cannot be compared: {compared.test.reason}."
    free, fixed = d.percent(compared.free.deviation), d.percent(compared.fixed.deviation)
    effect = {
        "smaller": "contexts differ less with the suspected cause held fixed, so it explains part of the variation",
        "larger": "contexts differ more with the suspected cause held fixed, so holding it fixed adds variation",
        "no difference shown": "the spread is not smaller with the suspected cause held fixed; look for another cause",
    }[compared.outcome]
    return (
        f"{effect} (spread of the {term}: {free} with the cause free, {fixed} held fixed; "
        f"p = {d.p_value(compared.p_holm)} with Holm's correction)."
    )


def _causal_row(row: tuple[Sweep, CausalCheck, DispersionComparison | None], term: str) -> tuple[Any, ...]:
    sweep, check, compared = row
    if compared is None:
        return sweep.name, *[d.DASH] * 8, f"undefined: {check.reason}"
    ps = map(d.p_value, (compared.test.p, compared.p_holm, compared.p_bonferroni))
    verdict = compared.outcome or f"undefined: {compared.test.reason}"
    of = term if compared.quantity == "speed-up" else compared.quantity
    return sweep.name, of, *_spread(compared.free), *_spread(compared.fixed), *ps, verdict


def _spread(spread: ContextDispersion) -> tuple[str, str]:
    return d.percent(spread.deviation), d.number(spread.highest_over_lowest)


def _cause_in_short(survey: ContextSurvey) -> Iterator[str]:
    """Yield sentences on the factor most associated with the speed-up, and on the effect of the suspected cause."""
    pairs = [(sweep, factor) for sweep in survey.benchmarks for factor in sweep.factors]
    significant = [pair for pair in pairs if pair[1].share and _is_shown(pair[1], survey)]
    if significant:
        sweep, factor = max(significant, key=_share)
        yield (
            f"The {_term(survey)} of {sweep.name} is associated with the factor {factor.name}, which explains "
            f"{d.percent(factor.share)} of the variation between contexts (by chance alone, "
            f"{d.percent(factor.share_by_chance)})."
        )
    for sweep in survey.benchmarks:
        for side in sweep.causal.comparisons[:1] if sweep.causal else ():
            if side.outcome is not None:
                changed = f"makes the spread of the {_term(survey)} {side.outcome}"
                effect = (
                    f"shows no effect on the spread of the {_term(survey)}"
                    if side.outcome == NO_DIFFERENCE
                    else changed
                )
                p = d.p_value(side.p_holm)
                yield f"For {sweep.name}, holding the suspected cause fixed {effect} (p = {p}, Holm)."


def _is_shown(factor: FactorEffect, survey: ContextSurvey) -> bool:
    return _is_small(factor.p_holm, survey)


def ratio(statistic: Estimate) -> str:
    """Format a ratio with its interval; if either is missing, return the reason."""
    return d.estimate(statistic, as_percent=False)


def _left_out(survey: ContextSurvey) -> Iterator[d.Block]:
    if survey.left_out:
        yield d.first_rows(
            "Benchmarks that were not compared.",
            ("Benchmark", "Reason"),
            [(row.name, row.reason) for row in survey.left_out],
        )
    rows = [(sweep.name, entry.name, entry.reason) for sweep in survey.benchmarks for entry in sweep.left_out]
    if rows:
        yield d.first_rows(
            "Contexts and runs that were left out, with the reason.", ("Benchmark", "Context or run", "Reason"), rows
        )


def _describe(sweeps: Sequence[Sweep]) -> tuple[str, str]:
    """Return the words for a ratio above 1 and for a ratio below 1."""
    known = {bool(sweep.better) for sweep in sweeps}
    if len(known) == 2:
        return "faster or higher", "slower or lower"
    return ("faster", "slower") if known == {True} else ("higher", "lower")


def _term(survey: ContextSurvey) -> str:
    """Return "speed-up" as the name of the ratio if the better direction is known, otherwise "ratio"."""
    return "speed-up" if all(sweep.better for sweep in survey.benchmarks) else "ratio"


def _names(sweeps: Sequence[Sweep]) -> str:
    """Return the first benchmarks and their speed-ups as text for a sentence."""
    return d.listed([f"{sweep.name} {d.number(sweep.speedup.value)}" for sweep in most_dependent(sweeps)])


def _short(change: str) -> str:
    """Remove the subject from a description of a change, because the column header contains the subject."""
    return change.removeprefix("the candidate is ")


def _plural(n: int, word: str) -> str:
    return word if n == 1 else f"{word}s"
