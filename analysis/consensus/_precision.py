"""Compute how precise the estimates of a latent class model will be, from a planned design and assumed rates."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from analysis.consensus._fisher import all_cells, parameter_se
from analysis.consensus._identifiability import NO_LABELS
from analysis.consensus._model import Theta, log_probability
from analysis.consensus._patterns import patterns_of
from analysis.consensus._rates import RaterRates
from analysis.intervals import Estimate, checked_level
from analysis.results import Result


@dataclass(frozen=True, repr=False)
class LatentPrecision(Result):
    """The intervals to expect from a latent class model if the assumptions hold."""

    prevalence: Estimate
    reviewers: tuple[RaterRates, ...]
    classifiers: tuple[RaterRates, ...]  # optimistic: as if the verdicts also helped to estimate the reviewers' rates


def latent_precision(
    blocks: Mapping[tuple[str, ...], int],
    rates: Mapping[str, tuple[float, float]],
    *,
    prevalence: float,
    classifiers: Mapping[str, tuple[float, float]] | None = None,
    level: float = 0.95,
) -> LatentPrecision:
    """Compute the intervals that a design will give, from the Fisher information at assumed rates.

    The intervals are normal, without priors, and cut at 0 and 1. An estimate that the design does not identify is
    undefined. Raises ValueError if a probability is not within (0, 1), or a reviewer has no rates.

    `blocks`: number of items of each set of reviewers that label items together; at most 8 reviewers per set; `rates`:
    assumed sensitivity and specificity of each reviewer; `prevalence`: assumed share of dissimilar items;
    `classifiers`: assumed rates of classifiers, each with a verdict on every item; each is considered alone.

    Examples
    --------
    >>> rates = dict.fromkeys("abc", (0.8, 0.8))
    >>> latent_precision({("a", "b", "c"): 400}, rates, prevalence=0.5).prevalence
    Estimate(0.5, 0.3929 to 0.6071)
    """
    checked_level(level)
    reviewers = sorted({reviewer for block in blocks for reviewer in block}, key=str)
    for name, value in (("prevalence", (prevalence,)), *rates.items(), *(classifiers or {}).items()):
        if not all(0 < x < 1 for x in value):
            raise ValueError(f"{name} must be within (0, 1), got {value}")
    missing = [reviewer for reviewer in reviewers if reviewer not in rates]
    if missing:
        raise ValueError(f"the reviewer {missing[0]!r} has no assumed rates")
    alone = _estimates(blocks, reviewers, [rates[r] for r in reviewers], prevalence, level, 0)
    n = {r: sum(m for block, m in blocks.items() if r in block) for r in reviewers}
    of_reviewers = tuple(
        RaterRates(r, n[r], alone[1 + i], alone[1 + len(reviewers) + i]) for i, r in enumerate(reviewers)
    )
    judged = []
    for name, own in (classifiers or {}).items():
        joint = _estimates(blocks, [*reviewers, name], [*(rates[r] for r in reviewers), own], prevalence, level, 1)
        m = len(reviewers) + 1
        judged.append(RaterRates(name, sum(blocks.values()), joint[m], joint[2 * m]))
    return LatentPrecision(alone[0], of_reviewers, tuple(judged))


def _estimates(
    blocks: Mapping[tuple[str, ...], int],
    raters: list[str],
    rates: list[tuple[float, float]],
    prevalence: float,
    level: float,
    n_classifiers: int,
) -> list[Estimate]:
    """Return the prevalence, all sensitivities and all specificities with their expected intervals."""
    judging = raters[len(raters) - n_classifiers :]
    has_label = np.array([[r in block or r in judging for r in raters] for block in blocks])
    like = replace(patterns_of(NO_LABELS), raters=tuple(raters), n_reviewers=len(raters) - n_classifiers)
    cells, which = all_cells(has_label.reshape(len(blocks), len(raters)), np.zeros(len(blocks), dtype=np.int64), like)
    se, sp = np.array(rates, dtype=float).reshape(-1, 2).T
    theta = Theta(np.array([[prevalence]]), se[None, :], sp[None, :])
    expected = np.array(list(blocks.values()), dtype=float)[which] * np.exp(log_probability(theta, cells)[0])
    z = float(special.ndtri((1 + level) / 2))
    found = []
    for value, error in zip((prevalence, *se, *sp), parameter_se(cells, expected, theta), strict=True):
        if np.isfinite(error):
            low, high = max(value - z * error, 0.0), min(value + z * error, 1.0)
            found.append(Estimate(float(value), float(error), float(low), float(high)))
        else:
            found.append(Estimate(None, reason="this design does not identify it"))
    return found
