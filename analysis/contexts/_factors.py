"""Test whether the speed-up depends on a factor of the context, such as the size of the environment."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.contexts._ratios import NOT_POSITIVE, TINY, geometric_mean, series
from analysis.intervals import Estimate
from analysis.runs import Floats
from analysis.samples import KruskalWallis, kruskal


@dataclass(frozen=True)
class LevelEffect:
    """The geometric mean of the speed-up over the contexts with one level of a factor."""

    level: str
    n_contexts: int
    speedup: Estimate


@dataclass(frozen=True)
class FactorEffect:
    """Association of the speed-up with the levels of a factor."""

    name: str
    n_contexts: int  # number of contexts with a known level
    levels: tuple[LevelEffect, ...]  # in order of first appearance
    # Test of the logarithms of the speed-ups by level. Its epsilon2 is the share of the variation of ranks that
    # lies between the levels.
    test: KruskalWallis
    # eta squared: the share of the variation (sum of squares) of the logarithms that lies between the levels.
    share: float | None = None
    share_by_chance: float | None = None  # (levels - 1) / (contexts - 1): the average share if the factor has no effect
    p_holm: float | None = None  # p corrected for the number of factors of the benchmark
    p_bonferroni: float | None = None


def parse_context(text: str) -> dict[str, str]:
    """Parse the factors of a context such as "k=v k2=v2" or "k=v,k2=v2"; return an empty dict for any other format.

    Examples
    --------
    >>> parse_context("env=1024, link=3"), parse_context("machine A"), parse_context("env=1 env=2")
    ({'env': '1024', 'link': '3'}, {}, {})
    """
    pairs = [part.partition("=") for part in re.split(r"[\s,]+", text.strip(" ,"))]
    factors = {name: level for name, sign, level in pairs if name and sign and level}
    return factors if len(factors) == len(pairs) else {}


def factor_effect(name: str, ratios: ArrayLike, levels: Sequence[str], *, level: float = 0.95) -> FactorEffect:
    """Test whether the speed-up depends on the levels of a factor, and compute how much the levels explain.

    Raises ValueError if the numbers of levels and ratios differ.

    `ratios` (shape (n_contexts,)); `levels`: the level in each context; contexts with an unknown level ("") are left
    out; `level`: confidence level of the speed-up at each level. There is no p and no shares if a ratio is not above
    zero, or if there are fewer than two levels. The same applies if each level occurs in only one context, because the
    variation between contexts of the same level is then unknown.

    Examples
    --------
    >>> effect = factor_effect("link", [1.0, 1.0, 2.0, 2.0], ["a", "a", "b", "b"])
    >>> effect.share, effect.share_by_chance, [level.speedup.value for level in effect.levels]
    (1.0, 0.333..., [1.0, 2.0])
    """
    values = series(ratios, "ratios")
    if len(values) != len(levels):
        raise ValueError(f"levels has {len(levels)} entries for {len(values)} ratios")
    of_level: Mapping[str, Floats] = {
        factor_level: values[[entry == factor_level for entry in levels]]
        for factor_level in dict.fromkeys(levels)
        if factor_level
    }
    n = sum(map(len, of_level.values()))
    effects = tuple(
        LevelEffect(factor_level, len(part), geometric_mean(part, level)) for factor_level, part in of_level.items()
    )
    reason = _why_untested(of_level, n)
    if reason:
        return FactorEffect(name, n, effects, KruskalWallis(None, reason=reason, n=n))
    logs = [np.log(part) for part in of_level.values()]
    by_chance = (len(logs) - 1) / (n - 1)
    return FactorEffect(name, n, effects, kruskal(logs), _between(logs), by_chance)


def _why_untested(of_level: Mapping[str, Floats], n: int) -> str | None:
    if any((part <= 0).any() for part in of_level.values()):
        return NOT_POSITIVE
    if len(of_level) < 2:
        return "the factor has one level" if of_level else "the factor is unknown in every context"
    return "each level occurs in only one context" if n == len(of_level) else None


def _between(groups: Sequence[Floats]) -> float:
    """Return the sum of squares between groups divided by the total sum of squares; 0 if nothing varies."""
    pooled = np.concatenate(groups)
    total = float(((pooled - pooled.mean()) ** 2).sum())
    if np.ptp(pooled) <= TINY:
        return 0.0
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    return min(1.0, max(0.0, 1 - within / total))
