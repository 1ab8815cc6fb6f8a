"""Judge the runs of each benchmark of the candidate."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.benchmark import Benchmark, PerRun
from analysis.categories import DISSIMILAR
from analysis.check._model import N_EXPLAINED, N_FEW, ONE_PROCESS, SPREAD, CheckedBenchmark, Rules
from analysis.check._sides import SideRuns
from analysis.classifiers import classifier_named
from analysis.comparison import Change
from analysis.intervals import Estimate
from analysis.power import smallest_difference
from analysis.runs import Floats, Runs, Warmup
from analysis.spread import max_spread

if TYPE_CHECKING:  # imported only for types, because the module loads pandas
    from analysis.reasons import Reasons


def judge(
    level: SideRuns, rules: Rules, per_run: PerRun, n_tests: int, detectable: Estimate | None
) -> CheckedBenchmark:
    benchmark, values = level.benchmark, np.sort(level.values)
    spread = max_spread(values) if len(values) else Estimate(None, reason="every run failed")
    verdict: str | None = None
    if spread.value is not None:
        verdict = DISSIMILAR if spread.value > rules.limit else "similar"
    verdicts, reason, n_left_out = {SPREAD: verdict}, spread.reason, 0
    if len(values) == 1:
        reason = ONE_PROCESS
    if rules.classifier != SPREAD:
        verdict, other, n_left_out = _other_verdict(rules, benchmark, per_run.warmup)
        verdicts[rules.classifier] = verdict
        reason = reason if len(values) < 2 else other
    smallest = Estimate(None, reason=ONE_PROCESS)
    if detectable is not None:
        smallest = detectable
    elif len(values) > 1:
        smallest = smallest_difference(np.sort(values), alpha=rules.alpha, n_tests=n_tests)
    return CheckedBenchmark(
        name=benchmark.name,
        unit=benchmark.unit,
        n_runs=len(values),
        n_failed=len(benchmark.failures),
        failures=Counter(failure.reason for failure in benchmark.failures),
        median=_median(benchmark, values, per_run),
        within=_within(benchmark, per_run) if len(values) == 1 else Estimate(None, reason="several runs"),
        verdict=verdict,
        reason=reason if verdict is None else None,
        verdicts=verdicts,
        max_spread=spread,
        smallest_difference=smallest,
        n_left_out=n_left_out,
    )


def _other_verdict(rules: Rules, benchmark: Benchmark, warmup: Warmup) -> tuple[str | None, str | None, int]:
    """Judge a benchmark with the chosen classifier.

    Return the verdict, the reason if there is no verdict, and the number of iterations that the classifier left out.
    """
    try:
        if rules.model is not None:
            learned = rules.model.judge_runs(Runs(benchmark.runs, warmup))
            return learned.verdict, learned.reason, learned.n_left_out
        classifier = classifier_named(rules.classifier)
        assert classifier is not None  # noqa: S101 - `Rules` has checked the name
        verdict = classifier(Runs(benchmark.runs, warmup), drop=warmup)
    except ValueError as error:  # for example a negative measurement
        return None, str(error), 0
    return verdict.verdict, verdict.reason, verdict.n_left_out


def _median(benchmark: Benchmark, values: Floats, per_run: PerRun) -> float | None:
    of_run = per_run.steady(benchmark.runs[0]) if len(values) == 1 else values
    return float(np.median(of_run)) if len(of_run) else None


def _within(benchmark: Benchmark, per_run: PerRun) -> Estimate:
    steady = per_run.steady(benchmark.runs[0])
    return max_spread(steady) if len(steady) > 1 else Estimate(None, reason="one value")


def reasons_of(level: SideRuns, rules: Rules, per_run: PerRun, n_tests: Mapping[str, int]) -> "Reasons | None":
    from analysis.reasons import reasons  # imported here because a short summary does not need it

    if not level.benchmark.runs:
        return None
    return reasons(level.benchmark, per_run=per_run, alpha=rules.alpha, n_tests=n_tests[level.family])


def rows_to_explain(checked: Sequence[CheckedBenchmark], changes: Sequence[Change]) -> list[CheckedBenchmark]:
    """Return the benchmarks to explain: changed benchmarks first, then dissimilar ones.

    If there are only a few benchmarks, return all of them.
    """
    changed = {change.name for change in changes if change.has_changed}
    several = [row for row in checked if row.n_runs > 1]
    ordered = sorted(several, key=lambda row: (row.name not in changed, -(row.max_spread.value or 0)))
    if len(ordered) > N_FEW:
        ordered = [row for row in ordered if row.name in changed or row.verdict == DISSIMILAR]
    return ordered[:N_EXPLAINED]
