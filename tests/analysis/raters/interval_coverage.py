"""Exact coverage of 95 % intervals of agreement with few items: every possible table is weighted by its probability.

Run as a program, it prints the tables of docs/consensus.md: python -m tests.analysis.raters.interval_coverage
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from analysis.raters.agreement import (
    brennan_prediger,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    specific_agreement,
)
from analysis.raters.tables import Counts
from analysis.statistics.intervals import Estimate

Floats = NDArray[np.float64]

KAPPAS, SHARES, BIASES = (0.0, 0.2, 0.4, 0.6, 0.8), (0.5, 0.3, 0.2, 0.1), (0.0, 0.1)
LEVEL, Z = 0.95, 1.959964


def probabilities(kappa: float, share: float, bias: float = 0.0) -> Floats | None:
    """P(cell) of two raters who use the rarer category for `share` -+ `bias` of the items; None if impossible."""
    a, b = share - bias, share + bias
    expected = a * b + (1 - a) * (1 - b)
    both = (kappa + (1 - kappa) * expected - 1 + a + b) / 2
    cells = np.array([[both, a - both], [b - both, 1 - a - b + both]])
    return cells if (cells >= 0).all() else None


def settings(n_items: int) -> Iterator[tuple[float, float, float, Floats]]:
    """Kappa, share, bias and P(cell) of each setting in which the rarer category is expected at least once."""
    for kappa, share, bias in product(KAPPAS, SHARES, BIASES):
        cells = probabilities(kappa, share, bias)
        if cells is not None and share * n_items >= 1:
            yield kappa, share, bias, cells


def chance_of(tables: Floats, cells: Floats) -> Floats:
    """Multinomial probability of each table, shape (n_tables, n_cells)."""
    n = tables[0].sum()
    log = special.gammaln(n + 1) - special.gammaln(tables + 1).sum(axis=1) + special.xlogy(tables, cells).sum(axis=1)
    return np.asarray(np.exp(log))


@cache
def cohen_intervals(n_items: int) -> tuple[Floats, Floats]:
    """Return all tables of two raters, and value, standard error, low and high of each, NaN if undefined."""
    tables, found = [], []
    ends: dict[tuple[int, ...], tuple[float, ...]] = {}
    for a, b, c in np.ndindex(n_items + 1, n_items + 1, n_items + 1):
        d = n_items - a - b - c
        if d < 0:
            continue
        key = (*sorted((a, d)), *sorted((b, c)))  # kappa does not depend on the order of raters or categories
        if key not in ends:
            estimate = cohen_kappa(Counts([[key[0], key[2]], [key[3], key[1]]]), level=LEVEL)
            numbers = (estimate.value, estimate.se, estimate.low, estimate.high)
            ends[key] = tuple(np.nan if number is None else number for number in numbers)
        tables.append((a, b, c, d))
        found.append(ends[key])
    return np.array(tables, dtype=float), np.array(found)


def cohen_coverage(n_items: int) -> list[tuple[float, float, float, float, float, float]]:
    """Kappa, share, bias, share of studies with an interval, its coverage, and that of value -+ 1.96 errors."""
    tables, (value, se, low, high) = cohen_intervals(n_items)[0], cohen_intervals(n_items)[1].T
    rows = []
    for kappa, share, bias, cells in settings(n_items):
        chance = chance_of(tables, cells.ravel())
        with_interval, with_se = chance * np.isfinite(low), chance * np.isfinite(se)
        holds = (low - 1e-9 <= kappa) & (kappa <= high + 1e-9)
        normal = np.abs(value - kappa) <= Z * se
        given = float(with_interval.sum() / chance.sum())
        rows.append((kappa, share, bias, given, _mean(holds, with_interval), _mean(normal, with_se)))
    return rows


def _dissimilar(counts: Any) -> Estimate:
    return specific_agreement(counts, level=LEVEL)["dissimilar"]


COEFFICIENTS: dict[str, tuple[Callable[..., Estimate], Callable[[float, float], float]]] = {
    "Percent agreement": (percent_agreement, lambda po, p: po),
    "Fleiss' kappa": (fleiss_kappa, lambda po, p: (po - 1 + 2 * p * (1 - p)) / (2 * p * (1 - p))),
    "Gwet's AC1": (gwet_ac1, lambda po, p: (po - 2 * p * (1 - p)) / (1 - 2 * p * (1 - p))),
    "Brennan-Prediger": (brennan_prediger, lambda po, p: 2 * po - 1),
    "Krippendorff's alpha": (krippendorff_alpha, lambda po, p: (po - 1 + 2 * p * (1 - p)) / (2 * p * (1 - p))),
    "Agreement on the rarer category": (_dissimilar, lambda po, p: 1 - (1 - po) / (2 * p)),
}


@cache
def count_intervals(name: str, n_items: int) -> tuple[Floats, Floats]:
    """All count tables of two raters, and low and high of each."""
    tables = np.array([(a, b, n_items - a - b) for a in range(n_items + 1) for b in range(n_items + 1 - a)])
    ends = []
    for table in tables:
        counts = Counts(np.repeat([[0, 2], [1, 1], [2, 0]], table, axis=0))
        found = COEFFICIENTS[name][0](counts)
        ends.append((np.nan, np.nan) if found.low is None else (found.low, found.high))
    return tables.astype(float), np.array(ends, dtype=float)


def count_coverage(name: str, n_items: int) -> list[tuple[float, float, float]]:
    """Kappa, share, and coverage of all intervals."""
    tables, ends = count_intervals(name, n_items)
    low, high = ends.T
    rows = []
    for kappa, share, bias, cells in settings(n_items):
        if bias:
            continue
        truth = COEFFICIENTS[name][1](float(np.trace(cells)), share)
        chance = chance_of(tables, np.array([cells[0, 0], cells[0, 1] + cells[1, 0], cells[1, 1]]))
        holds, weight = (low - 1e-9 <= truth) & (truth <= high + 1e-9), chance * np.isfinite(low)
        rows.append((kappa, share, _mean(holds, weight)))
    return rows


def _mean(values: Any, weights: Any) -> float:
    return float((values * weights).sum() / weights.sum())


def main() -> None:
    """Print both tables of docs/consensus.md."""
    print("| items | lowest coverage | mean coverage | normal interval, lowest | normal interval, mean |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for n_items in (5, 10, 15, 20, 30):
        *_, coverage, normal = np.array(cohen_coverage(n_items)).T
        print(
            f"| {n_items} | {coverage.min():.3f} | {coverage.mean():.3f} | {normal.min():.3f} | {normal.mean():.3f} |"
        )
    print("\n| coefficient | items | lowest coverage |")
    print("| --- | ---: | ---: |")
    for name, n_items in product(COEFFICIENTS, (20, 50)):
        _, _, coverage = np.array(count_coverage(name, n_items)).T
        print(f"| {name} | {n_items} | {coverage.min():.3f} |")


if __name__ == "__main__":
    main()
