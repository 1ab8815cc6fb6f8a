"""Rules that say whether a benchmark became slower or faster between two versions.

A rule of change takes the runs before and after the change, and returns a `Verdict`: "slower", "no change" or "faster".
The score is the relative change of the mean; it is positive if the benchmark became slower. `reason` says why, with
or without a verdict. Most rules use the mean of each run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Floats
from analysis.runs.benchmark import FASTER, HIGHER, LOWER, SLOWER
from analysis.runs.classifiers._verdict import Verdict
from analysis.runs.comparison import Pair, compare_benchmarks
from analysis.runs.runs import Warmup, n_warmup
from analysis.statistics.two_samples import MANN_WHITNEY, WELCH, p_values, superiority, t_tail

NO_CHANGE = "no change"
CHANGE_CATEGORIES = (SLOWER, NO_CHANGE, FASTER)
ALPHA = 0.05
MIN_CHANGE = 0.01  # the default of `labeler check` for times and rates


@dataclass(frozen=True)
class Sides:
    """The runs before and after a change, without warm-up."""

    before: tuple[Floats, ...]
    after: tuple[Floats, ...]
    lower_is_better: bool = True

    @property
    def means(self) -> tuple[Floats, Floats]:
        """Return the mean of each run, before and after."""
        before, after = (np.array([float(run.mean()) for run in side]) for side in (self.before, self.after))
        return before, after

    @property
    def change(self) -> float | None:
        """Return the relative change of the mean of the run means; None if the mean before is not positive."""
        before, after = (float(side.mean()) for side in self.means)
        return after / before - 1 if before > 0 else None

    def verdict(self, changed: bool, rise: float, reason: str) -> Verdict:
        """Return the verdict of a rule; `rise` is positive if the numbers after the change are higher."""
        is_slower = (rise > 0) == self.lower_is_better
        category = NO_CHANGE if not changed or rise == 0 else SLOWER if is_slower else FASTER
        return Verdict("", category, reason=reason)


@dataclass(frozen=True)
class ChangeRule:
    """A registered rule; call it with the runs before and after a change."""

    name: str  # key in `CHANGE_RULES`
    title: str
    function: Callable[..., Verdict]  # (Sides, **parameters) -> Verdict
    parameters: Mapping[str, float]
    source: str  # the tool or publication
    min_runs: int = 2  # on each side; with fewer there is no verdict
    version: int = 1  # increased whenever a change of the code can change a verdict

    def __call__(
        self, before: Sequence[ArrayLike], after: Sequence[ArrayLike], *, lower_is_better: bool = True, drop: Warmup = 0
    ) -> Verdict:
        """Return the verdict on a change.

        `drop` leaves out warm-up as for the classifiers of runs. Raises ValueError if a run is empty or has a value
        that is not finite, or if all its values are warm-up.
        """
        sides = Sides(_kept(before, drop, "before"), _kept(after, drop, "after"), lower_is_better)
        told: dict[str, Any] = {
            "classifier": self.name,
            "parameters": {**self.parameters, "drop": drop},
            "n_runs": len(sides.before) + len(sides.after),
            "n_iterations": min(map(len, (*sides.before, *sides.after)), default=0),
            "version": self.version,
        }
        fewest = min(len(sides.before), len(sides.after))
        if fewest < self.min_runs:
            n = f"{len(sides.before)} and {len(sides.after)}"
            return Verdict(verdict=None, reason=f"needs {self.min_runs} runs on each side, got {n}", **told)
        change = sides.change
        if change is None:
            return Verdict(verdict=None, reason="the mean before the change is not positive", **told)
        worse = change if lower_is_better else -change
        verdict = self.function(sides, **self.parameters)
        return replace(verdict, score=worse + 0.0, **told)


def _kept(runs: Sequence[ArrayLike], drop: Warmup, side: str) -> tuple[Floats, ...]:
    kept = []
    for number, run in enumerate(runs, start=1):
        values = np.asarray(run, dtype=np.float64)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError(f"run {number} {side} the change must be a series of finite measurements")
        kept.append(values[n_warmup(run, drop, f"run {number} {side} the change") :])
    return tuple(kept)


def check_rule(sides: Sides, *, alpha: float, min_change: float) -> Verdict:
    """Decide as `labeler check` does for one benchmark: the combined test, and a smallest change that counts."""
    before, after = sides.means
    better = LOWER if sides.lower_is_better else HIGHER
    found = compare_benchmarks([Pair("", before, after, better=better)], alpha=alpha, min_change=min_change)[0]
    return sides.verdict(found.is_finding, float(after.mean() - before.mean()), found.words)


def welch_rule(sides: Sides, *, alpha: float) -> Verdict:
    """Test the means of the runs with Welch's test, doi:10.1093/biomet/34.1-2.28."""
    before, after = sides.means
    p = float(p_values([after], [before], WELCH)[0])
    return sides.verdict(p <= alpha, float(after.mean() - before.mean()), f"p = {p:.3g}")


def rank_rule(sides: Sides, *, alpha: float) -> Verdict:
    """Test the means of the runs with the test of Mann and Whitney, as benchstat does, doi:10.1214/aoms/1177730491."""
    before, after = sides.means
    p = float(p_values([after], [before], MANN_WHITNEY)[0])
    return sides.verdict(p <= alpha, 0.5 - superiority(after, before), f"p = {p:.3g}")


def pooled_rule(sides: Sides, *, alpha: float) -> Verdict:
    """Test all values of all runs with Student's test, as pyperf does.

    The values of a run are treated as independent. If both sides have equally many values, this is pyperf's number;
    otherwise pyperf has none, and the usual formula for different sizes is used.
    """
    before, after = np.concatenate(sides.before), np.concatenate(sides.after)
    m, n = len(before), len(after)
    rise = float(after.mean() - before.mean())
    squares = float(((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum())
    if m + n < 3:
        return sides.verdict(rise != 0, rise, "one value on each side")
    se = (squares / (m + n - 2) * (1 / m + 1 / n)) ** 0.5
    if se == 0:
        return sides.verdict(rise != 0, rise, "no variation")
    p = t_tail(rise / se, m + n - 2)
    return sides.verdict(p <= alpha, rise, f"t = {rise / se:.3g}, p = {p:.3g}")


def bars_rule(sides: Sides, *, n_sd: float) -> Verdict:
    """Compare the intervals mean ± standard deviation that hyperfine prints: a change if they do not overlap."""
    before, after = sides.means
    reach = n_sd * (float(before.std(ddof=1)) + float(after.std(ddof=1)))
    rise = float(after.mean() - before.mean())
    overlap = "do not overlap" if abs(rise) > reach else "overlap"
    return sides.verdict(abs(rise) > reach, rise, f"the intervals {overlap}")


def mean_rule(sides: Sides, *, limit: float) -> Verdict:
    """Compare the relative change of the mean with a limit."""
    change = sides.change or 0.0
    return sides.verdict(abs(change) > limit, change, f"{100 * change:+.2f} %")


def ratio_rule(sides: Sides, *, alpha: float) -> Verdict:
    """Compute the interval of the ratio of means of Kalibera and Jones, doi:10.1145/2464157.2464160.

    The mean of each run is a value of the highest level, whose variance contains that of the lower levels. There is a
    change if the interval does not contain 1.
    """
    from scipy import special

    before, after = sides.means
    scale = float(before.mean())
    old, new = before / scale, after / scale
    t = special.stdtrit(np.array([len(old), len(new)]) - 1.0, 1 - alpha / 2)
    h_old, h_new = (float(q**2 * side.var(ddof=1) / len(side)) for q, side in zip(t, (old, new), strict=True))
    a, b = float(old.mean()), float(new.mean())
    leading = a**2 - h_old
    inside = (a * b) ** 2 - leading * (b**2 - h_new)
    if leading <= 0 or inside < 0:
        return sides.verdict(False, b - a, "the runs vary so much that the interval has no end")
    low, high = ((a * b + sign * inside**0.5) / leading for sign in (-1, 1))
    return sides.verdict(not low <= 1 <= high, b - a, f"ratio {low:.4g} to {high:.4g}")


CHANGE_RULES: dict[str, ChangeRule] = {
    rule.name: rule
    for rule in (
        ChangeRule(
            "change-check", "the rule of labeler check", check_rule, {"alpha": ALPHA, "min_change": MIN_CHANGE},
            "labeler check",
        ),
        ChangeRule("change-welch", "Welch's test", welch_rule, {"alpha": ALPHA}, "doi:10.1093/biomet/34.1-2.28"),
        ChangeRule("change-ranks", "Mann and Whitney's test", rank_rule, {"alpha": ALPHA}, "benchstat"),
        ChangeRule("change-values", "Student's test on all values", pooled_rule, {"alpha": ALPHA}, "pyperf"),
        ChangeRule("change-bars", "intervals of one standard deviation", bars_rule, {"n_sd": 1.0}, "hyperfine"),
        ChangeRule("change-ratio", "the ratio interval", ratio_rule, {"alpha": ALPHA}, "doi:10.1145/2464157.2464160"),
        *(
            ChangeRule(f"change-{limit:.0%}", f"a change of the mean above {100 * limit:.0f} %", mean_rule,
                       {"limit": limit}, "a limit", min_runs=1)
            for limit in (0.02, 0.05, 0.10)
        ),
    )
}  # fmt: skip
