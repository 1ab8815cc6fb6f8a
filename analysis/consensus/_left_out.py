"""Refit a latent class model without each rater, and test whether the other rates change more than by chance."""

from dataclasses import dataclass, replace

import numpy as np

from analysis.consensus._fisher import all_cells, combinations_of, rank
from analysis.consensus._model import Theta, by_stratum, climb, log_probability
from analysis.consensus._patterns import Floats, Patterns
from analysis.results import Result

N_DRAWS = 199
# Precision of refitted parameters. It is the same for the labels and for drawn data sets, because EM stops early.
_TOLERANCE = 1e-4
_MAX_CELLS = 4_000  # with more possible label patterns, the test takes too long
_MAX_RATERS = 8  # per item; combinations of more raters are not listed completely


@dataclass(frozen=True, repr=False)
class LeftOutRater(Result):
    """The largest change of the remaining parameters if the model is fitted without one rater."""

    raters_of: str  # "reviewers", or "reviewers by verdicts" with a prevalence for each combination of verdicts
    rater: object  # the rater that was left out
    parameter: str  # the parameter that changes most compared with its standard deviation
    value: float  # its value with and without the rater
    without: float
    z: float  # the change divided by its standard deviation in the bootstrap


@dataclass(frozen=True)
class Family:
    """A fitted model: of the reviewers, of the reviewers by verdicts, or of the reviewers and one classifier."""

    name: str
    patterns: Patterns
    mode: Theta


def leave_one_out(
    family: Family, *, n_draws: int = N_DRAWS, rng: np.random.Generator
) -> tuple[float | None, tuple[LeftOutRater, ...]]:
    """Return the p of the largest change over all raters, and the change of each rater by descending z.

    The distribution comes from a parametric bootstrap: label patterns are drawn from the fitted model, and the model is
    fitted again with all raters and without each of them. p is None if no rater can be left out.
    """
    patterns, mode = family.patterns, family.mode
    combined, stratum, n = combinations_of(patterns)
    if combined.sum(axis=1).max(initial=0) > _MAX_RATERS:
        return None, ()
    cells, which = all_cells(combined, stratum, patterns)
    if len(cells.stratum) > _MAX_CELLS:
        return None, ()
    drawn = _drawn(np.exp(log_probability(mode, cells)[0]), which, n, rng, n_draws)
    starts, largest = None, np.zeros(n_draws)
    changes: list[LeftOutRater] = []
    n_strata, n_raters = len(patterns.strata), len(patterns.raters)
    for r, rater in enumerate(patterns.raters):
        fewer = _without(cells, r)
        kept = np.ones(patterns.n_parameters, dtype=bool)
        kept[[n_strata + r, n_strata + n_raters + r]] = False
        if rank(fewer)[1][kept].any():
            continue
        if starts is None:
            starts = climb(mode.repeated(n_draws), cells, drawn, tolerance=_TOLERANCE, together=False)
        alone = climb(mode, _without(patterns, r), patterns.n.astype(float), tolerance=_TOLERANCE)
        again = climb(starts, fewer, drawn, tolerance=_TOLERANCE, together=False)
        is_value = kept[n_strata - 1 :]
        difference = (_values(again, patterns) - _values(starts, patterns))[:, is_value]
        value, without = (_values(theta, patterns)[0, is_value] for theta in (mode, alone))
        sd = np.maximum(difference.std(axis=0), 1e-6)
        largest = np.maximum(largest, np.abs(difference / sd).max(axis=1))
        z = (without - value) / sd
        worst = int(np.abs(z).argmax())
        name = _names(patterns)[np.flatnonzero(is_value)[worst]]
        found = LeftOutRater(family.name, rater, name, float(value[worst]), float(without[worst]), float(abs(z[worst])))
        changes.append(found)
    if not changes:
        return None, ()
    changes.sort(key=lambda change: -change.z)
    return float((1 + (largest >= changes[0].z).sum()) / (1 + n_draws)), tuple(changes)


def _drawn(p: Floats, which: "np.ndarray", n: "np.ndarray", rng: np.random.Generator, n_draws: int) -> Floats:
    """Draw the number of items with each pattern for each combination of raters, shape (n_draws, n_cells)."""
    drawn = np.zeros((n_draws, len(p)))
    for combination, n_items in enumerate(n):
        cells = which == combination
        drawn[:, cells] = rng.multinomial(int(n_items), p[cells] / p[cells].sum(), size=n_draws)
    return drawn


def _without(patterns: Patterns, r: int) -> Patterns:
    """Remove the labels of one rater."""
    positive, negative = patterns.positive.copy(), patterns.negative.copy()
    positive[:, r] = negative[:, r] = 0
    return replace(patterns, positive=positive, negative=negative)


def _values(theta: Theta, patterns: Patterns) -> Floats:
    """Return the overall prevalence, all sensitivities and all specificities, shape (n_fits, 1 + 2 n_raters)."""
    weight = by_stratum(patterns.n[None, :].astype(float), patterns)[0]
    return np.hstack([theta.pi @ (weight / max(weight.sum(), 1))[:, None], theta.se, theta.sp])


def _names(patterns: Patterns) -> list[str]:
    return ["prevalence", *(f"{rate} of {r}" for rate in ("sensitivity", "specificity") for r in patterns.raters)]
