"""The change that the runs of each benchmark detect."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np

from analysis.check._changes import is_measured
from analysis.check._model import ONE_PROCESS, TOO_NOISY, Rules, Suite
from analysis.check._sides import BothSides, strata_of
from analysis.comparison import Change
from analysis.intervals import Estimate
from analysis.power import detectable_changes, smallest_difference, smallest_difference_by_strata
from analysis.runs import Floats

MAX_RESAMPLED = 50  # number of benchmarks whose detectable change is computed by resampling

MANY_RUNS = 200  # with more runs, normal theory is enough


def detectable_changes_of(compared: Sequence[BothSides], rules: Rules, *, is_paired: bool) -> list[Estimate]:
    """Return the change that the same numbers of runs detect with 80 % power, for each benchmark."""
    n_tests = Counter(one.after.family for one in compared)
    found = [_by_formula(one, rules.alpha, n_tests[one.after.family], is_paired=is_paired) for one in compared]
    by_shape: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    order = sorted(range(len(compared)), key=lambda at: -(found[at].value or 0.0))
    for at in order[:MAX_RESAMPLED]:
        one = compared[at]
        is_plain = strata_of(one, is_paired) is None and not one.step
        is_positive = found[at].value and min(one.new.min(), one.old.min()) > 0
        if is_plain and is_positive and 5 <= min(len(one.new), len(one.old)) <= MANY_RUNS:
            by_shape[len(one.new), len(one.old), one.after.family].append(at)
    for (_n, _m, family), rows in by_shape.items():
        a, b = np.sort([compared[at].new for at in rows]), np.sort([compared[at].old for at in rows])
        start = np.array([found[at].value or 1.0 for at in rows])
        level = rules.alpha / n_tests[family]
        for at, value in zip(rows, detectable_changes(a, b, start, level=level, test=rules.test), strict=True):
            if value < inf:
                found[at] = Estimate(float(value))
    return found


def _by_formula(one: BothSides, alpha: float, n_tests: int, *, is_paired: bool) -> Estimate:
    """Return the detectable change by the power of Welch's test, with strata if there are any."""
    if one.reason is not None or min(len(one.old), len(one.new)) < 2:
        return Estimate(None, reason=one.reason or ONE_PROCESS)
    strata = strata_of(one, is_paired)
    if strata is not None and min(one.old.min(), one.new.min()) > 0:
        value = smallest_difference_by_strata(one.new, one.old, strata, alpha / n_tests)
        if value is not None:
            return Estimate(value)
    sides = [_rounded(np.sort(side), one.step) for side in (one.new, one.old)]
    n = min(map(len, sides))
    limits = [smallest_difference(side, alpha=alpha, n_tests=n_tests, n_runs=n) for side in sides]
    squares = [limit.value**2 for limit in limits if limit.value is not None]
    root = (sum(squares) / len(squares)) ** 0.5 if squares else None
    base = abs(float(one.old.mean()))
    if root is not None and one.step and base:
        root = max(root, one.step / base)
    if root is None and not is_measured(one.after.benchmark):  # all counts are 0, so any other count is a change
        root = 0.0
    return limits[0] if root is None else Estimate(root, reason=limits[0].reason if not root else None)


def _rounded(values: Floats, step: float) -> Floats:
    """Return the values, with at least the variation that rounding to a step gives."""
    if values.std(ddof=1) >= step / 12**0.5:
        return values
    places = np.arange(len(values)) - (len(values) - 1) / 2
    return np.asarray(values.mean() + places / places.std(ddof=1) * step / 12**0.5, dtype=np.float64)


def with_detectable(
    suite: Suite, detectable: Sequence[Estimate], changes: Sequence[Change], compared: Sequence[BothSides]
) -> Suite:
    """Add the detectable changes of the benchmarks that were tested in their deciding unit."""
    known = sorted(
        (inf if limit.value is None else limit.value, change.name)
        for limit, change, one in zip(detectable, changes, compared, strict=True)
        if change.p is not None and one.after.family == ""
    )
    if not known:
        return suite
    value, name = known[-1]
    return replace(
        suite, detectable=known[len(known) // 2][0], largest=value, least_precise=name,
        too_noisy=tuple(name for value, name in known if value > TOO_NOISY),
    )  # fmt: skip
