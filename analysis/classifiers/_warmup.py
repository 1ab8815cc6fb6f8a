"""Rules that say how a run develops: flat, warm-up, slowdown or no steady state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analysis.benchmark import HIGHER, Run
from analysis.classifiers._verdict import Verdict

FLAT, WARMUP, SLOWDOWN, NOT_STEADY = "flat", "warm-up", "slowdown", "no steady state"
WARMUP_CATEGORIES = (FLAT, WARMUP, SLOWDOWN, NOT_STEADY)


@dataclass(frozen=True)
class WarmupRule:
    """A registered rule; call it with one run.

    The score of its verdict is the number of iterations before the steady state; it is missing without a steady state.
    """

    name: str  # key in `WARMUP_RULES`
    title: str
    rule: str  # name in `analysis.steady.RULES`
    source: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    version: int = 1  # increased whenever a change of the code can change a verdict

    def __call__(self, run: ArrayLike | Run) -> Verdict:
        """Return the verdict on a run; raise ValueError if its values are not a list of finite numbers."""
        from analysis.steady import steady_run  # imported here because other classifiers do not need it

        values = np.asarray(run, dtype=np.float64)
        found = steady_run(values, self.rule, is_time=getattr(run, "unit", "s") == "s")
        sizes: dict[str, Any] = {"n_runs": 1, "n_iterations": found.n_iterations, "version": self.version}
        if found.verdict is None:
            return Verdict(self.name, None, reason=found.reason, **sizes)
        if found.start is None:
            return Verdict(self.name, NOT_STEADY, **sizes)
        if not found.n_warmup:
            return Verdict(self.name, FLAT, score=0.0, **sizes)
        segments = np.split(values, [end + 1 for end in found.change_points])
        before, last = segments[found.change_points.index(found.start)].mean(), segments[-1].mean()
        became_lower = bool(last < before)
        is_warmup = became_lower != (getattr(run, "better", "") == HIGHER)
        return Verdict(self.name, WARMUP if is_warmup else SLOWDOWN, score=float(found.n_warmup), **sizes)


WARMUP_RULES: dict[str, WarmupRule] = {
    rule.name: rule
    for rule in (
        WarmupRule("warmup-quick", "the quick rule of labeler steady", "quick", "doi:10.1007/s10664-022-10247-x"),
        WarmupRule("warmup-published", "the rule of Traini et al.", "published", "doi:10.1007/s10664-022-10247-x"),
        WarmupRule("warmup-barrett", "the rule of Barrett et al.", "barrett", "doi:10.1145/3133876"),
    )
}
