"""Estimate, before measuring, which questions a measurement plan can answer."""

from collections.abc import Iterator, Sequence
from math import prod

from scipy import stats

from analysis.runs.power import smallest_difference, smallest_effect
from analysis.text import counted
from labeler.files.measuring.plan import MeasurementPlan, contexts_of, kinds_of_order
from labeler.files.measuring.table import Done

ALPHA, WANTED = 0.05, 0.8
NOISE = (0.005, 0.02, 0.1)  # examples of how much runs may vary (coefficient of variation), used before the first run


def describe(plan: MeasurementPlan, done: Sequence[Done] = ()) -> Iterator[str]:
    """Yield sentences that say which questions this plan can answer, and what it lacks to answer the others.

    The content must not be empty.
    """
    kinds, contexts = kinds_of_order(plan), contexts_of(plan)
    yield from _versions(plan, done)
    if len(kinds) == 2:
        yield _order(plan)
    else:
        yield f'Order: cannot be tested, because all runs are in {kinds[0]} order. Set order = "both" to test it.'
    contexts = list({tuple((name, one[name]) for name in plan.factor_names): one for one in contexts}.values())
    n_all = prod(len(factor.levels) for factor in plan.factors if factor.name in plan.factor_names)
    if len(contexts) < 2:
        yield "Contexts: cannot be compared, because there is only one. Add [factors], such as the environment size."
    elif len(plan.versions) < 2:
        yield (
            f"Contexts: {len(contexts)} for one version. `labeler contexts --instrumentation FACTOR` and `labeler "
            "spread` compare them. The effect of the context on a comparison of versions needs a second version."
        )
    else:
        yield f"Contexts: {len(contexts)} with both versions each; `labeler contexts` compares them."
    if len(contexts) < n_all:
        yield f"Contexts: only {len(contexts)} of {n_all} combinations, so interactions of factors are not estimated."
    if plan.altered:
        yield (
            f"Score: {counted(len(plan.altered), 'altered method')} and the baseline. `labeler spread` computes the "
            "share of these methods that the benchmarks notice."
        )
    if plan.runs < 2:
        yield "One run does not show the noise between runs: no intervals and no tests. Set runs to 10 or more."


def _versions(plan: MeasurementPlan, done: Sequence[Done]) -> Iterator[str]:
    n_tests = len(plan.benchmarks)
    if len(plan.versions) < 2:
        yield "Versions: nothing to compare, because there is only one. Add [versions] to find out which is faster."
        return
    if plan.runs < 2:
        return
    n_runs = plan.runs * len(kinds_of_order(plan))
    known = list(_known(plan, done, n_runs))
    if known:
        yield f"Versions: detectable difference ({n_runs} runs per context, noise so far): {'; '.join(known)}."
        return
    effect = smallest_effect(n_runs, ALPHA / n_tests, WANTED)
    examples = ", ".join(f"{_percent(effect * noise)} if runs vary by {_percent(noise)}" for noise in NOISE)
    yield (
        f"Versions: with {n_runs} runs per version and context, the detectable difference ({_percent(WANTED)} power) "
        f"is {examples}. After the first runs, --dry-run uses their noise."
    )


def _known(plan: MeasurementPlan, done: Sequence[Done], n_runs: int) -> Iterator[str]:
    """Yield the name of each benchmark with the smallest difference that its test can detect.

    The difference is estimated from the completed runs of the first version that has enough runs.
    """
    for entry in plan.benchmarks:
        for version in plan.versions:
            values = [run.value for run in done if (run.benchmark, run.version) == (entry.name, version) and run.value]
            if len(values) > 2:
                smallest = smallest_difference(
                    values, alpha=ALPHA, wanted=WANTED, n_tests=len(plan.benchmarks), n_runs=n_runs
                )
                if smallest.value is not None:
                    yield f"{entry.name} {_percent(smallest.value)}"
                break


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _order(plan: MeasurementPlan) -> str:
    n_tests = len(plan.benchmarks) * max(len(plan.versions), 1) * len(contexts_of(plan))
    if plan.runs < 2:
        return "Order: cannot be tested with one run in each order."
    p = float(stats.kruskal(range(plan.runs), range(plan.runs, 2 * plan.runs)).pvalue)
    if p >= ALPHA / n_tests:
        return (
            f"Order: cannot be tested. The smallest possible p of {plan.runs} runs in each order is {p:.2g}, but "
            f"{n_tests} tests need p below {ALPHA / n_tests:.2g}. Add runs."
        )
    tests = counted(n_tests, "test")
    return f"Order: {tests} of {plan.runs} runs in fixed against {plan.runs} in random order."
