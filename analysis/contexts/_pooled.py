"""Pool the difference of two versions over contexts, and test whether it depends on the context."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.contexts._ratios import Noise
from analysis.contexts._sweep import Context
from analysis.intervals import Estimate
from analysis.runs import Floats
from analysis.samples import Test

FEW_RUNS = "no context has two runs of both versions"


@dataclass(frozen=True)
class Pooled:
    """The speed-up over all contexts as strata, and the test of interaction of version and context."""

    # Weighted geometric mean of the speed-ups of the contexts with two runs of both versions. Its interval comes from
    # the runs within the contexts, so it holds for these contexts and not for others.
    speedup: Estimate
    test: Test  # whether the pooled speed-up is 1
    interaction: Test  # whether the speed-up differs between contexts more than the noise of the runs explains
    n_contexts: int
    p_holm: float | None = None  # the p of both tests, corrected for the number of benchmarks
    interaction_holm: float | None = None
    outcome: str | None = None  # as for a context, by `p_holm`


def pooled(contexts: Sequence[Context], level: float) -> Pooled:
    """Pool the contexts by their numbers of runs, and test the interaction with Welch's F test [1]_ of log ratios.

    References
    ----------
    .. [1] Welch (1951), Biometrika 38:330-336, doi:10.1093/biomet/38.3-4.330
    """
    usable = [
        (float(np.log(context.speedup.value)), *_noise(context), _weight(context))
        for context in contexts
        if context.speedup.value and min(len(context.baseline_runs), len(context.candidate_runs)) > 1
    ]
    if not usable:
        nothing = Test(None, reason=FEW_RUNS)
        return Pooled(Estimate(None, reason=FEW_RUNS), nothing, nothing, 0)
    logs, variances, dfs, weights = np.array(usable).T
    shares = weights / weights.sum()
    centre, parts = float(shares @ logs), shares**2 * variances
    if not parts.sum():
        value = float(np.exp(centre))
        speedup, test = Estimate(value, 0.0, value, value), Test(float(abs(centre) < 1e-12))
    else:
        noise = Noise(float(np.sqrt(parts.sum())), float(parts.sum() ** 2 / (parts**2 / dfs).sum()))
        half = noise.half_width(level)
        low, value, high = (float(np.exp(centre + by)) for by in (-half, 0.0, half))
        speedup, test = Estimate(value, noise.se, low, high), Test(noise.p(centre), centre / noise.se)
    return Pooled(speedup, test, _interaction(logs, variances, dfs), len(logs))


def _interaction(logs: Floats, variances: Floats, dfs: Floats) -> Test:
    k = len(logs)
    if k < 2:
        return Test(None, reason="at least two contexts with two runs of both versions are needed")
    if not variances.min():
        return Test(None, reason="the runs of a context do not vary")
    weights = 1 / variances
    shares = weights / weights.sum()
    spread = float((((1 - shares) ** 2) / dfs).sum())
    between = float(weights @ (logs - shares @ logs) ** 2) / (k - 1)
    f = between / (1 + 2 * (k - 2) / (k**2 - 1) * spread)
    return Test(float(stats.f.sf(f, k - 1, (k**2 - 1) / (3 * spread))), f)


def _noise(context: Context) -> tuple[float, float]:
    """Return the variance of the log ratio of a context, and its degrees of freedom (delta method)."""
    parts = []
    for runs in (context.baseline_runs, context.candidate_runs):
        values = np.sort(runs)
        parts.append((float(values.var(ddof=1) / len(values) / values.mean() ** 2), len(values) - 1))
    total = sum(part for part, _ in parts)
    return total, total**2 / sum(part**2 / df for part, df in parts) if total else 1.0


def _weight(context: Context) -> float:
    a, b = len(context.baseline_runs), len(context.candidate_runs)
    return a * b / (a + b)
